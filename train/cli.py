"""The command line of training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from train.command import one_line_errors
from train.config import ConfigError, load_config, resume_config, save_config
from train.display import Display
from train.report import show
from train.run import Run, Trainer

QUICKSTART = Path(__file__).parent.parent / "configs" / "quickstart.yaml"


@one_line_errors
def main(
    changes: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE…", help="settings to change, as minutes=10 ppo.clip=0.1")
    ] = None,
    config: Annotated[
        Path, typer.Option(metavar="FILE", help="the settings of the run", show_default="configs/quickstart.yaml")
    ] = QUICKSTART,
    resume: Annotated[Path | None, typer.Option(metavar="RUN", help="the folder of a run to go on with")] = None,
) -> None:
    """Train agents by self-play, then measure them on deals they never saw."""
    if resume and not (resume / "config.yaml").exists():
        raise ConfigError(f"{resume} is not the folder of a run: it holds no config.yaml")
    settings = resume_config(resume / "config.yaml", changes or []) if resume else load_config(config, changes or [])
    run = Run(resume) if resume else Run.new(settings)
    if resume:
        save_config(settings, resume / "config.yaml")
    with Display(run.folder.as_posix(), settings.evaluation.against) as display:
        display.tell(f"{run.folder.as_posix()}: {', '.join(settings.rules)}; compiling and dealing …")
        trainer = Trainer(settings, run, display, resume=bool(resume))
        trainer.train()
    if trainer.stopped:
        display.tell(f"saved. Go on with: python -m train --resume {run.folder.as_posix()}")
        return
    show(trainer.evaluate(), display.console)
    display.tell(f"The agent: {run.folder.as_posix()}, as in: python -m train.evaluate {run.folder.as_posix()} greedy")
