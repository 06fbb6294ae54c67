"""Checkpoints of a run: `checkpoints/000042/` with the policy to play and all that is needed to go on.

    policy.json, policy.safetensors     what agents read: the averaged weights
    resume.json, resume.safetensors     counters, random states; all weights, the optimiser, past selves, deals

A checkpoint is written under another name and renamed when complete: a process killed while saving leaves the one
before.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor

from agents.neural import CheckpointError, Policy, checkpoint_folder, read_head, read_tensors, save_policy

RESUME_JSON, RESUME_TENSORS = "resume.json", "resume.safetensors"
_UNFINISHED = ".unfinished-"


def save_checkpoint(
    run: Path, number: int, policy: Policy, about: dict[str, Any], tensors: dict[str, Tensor], state: dict[str, Any]
) -> Path:
    """Write checkpoint `number` of a run, complete or not at all: its folder."""
    folder = run / "checkpoints" / f"{number:06d}"
    if folder.exists():  # saved at this update before
        return folder
    unfinished = folder.with_name(f"{_UNFINISHED}{folder.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    save_policy(unfinished, policy, about)
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, unfinished / RESUME_TENSORS)
    (unfinished / RESUME_JSON).write_text(json.dumps(state) + "\n", encoding="utf-8")
    for file in unfinished.iterdir():
        _flush(file)
    os.replace(unfinished, folder)
    _flush(folder.parent)
    return folder


def load_resume(run: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and state of the newest checkpoint of a run. Raises CheckpointError, one line."""
    folder = checkpoint_folder(run)
    return read_tensors(folder / RESUME_TENSORS), read_head(folder / RESUME_JSON)


def prune(run: Path, keep: int) -> None:
    """Remove all but the newest checkpoints, and what a killed process left unfinished."""
    folders = sorted((run / "checkpoints").glob("[0-9]*"), key=lambda folder: folder.name)
    for folder in [*folders[:-keep], *(run / "checkpoints").glob(f"{_UNFINISHED}*")]:
        shutil.rmtree(folder, ignore_errors=True)


def take(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    """The tensors `name.*`, without that beginning."""
    found = {key.removeprefix(name + "."): tensor for key, tensor in tensors.items() if key.startswith(name + ".")}
    if not found:
        raise CheckpointError(f"the checkpoint holds no {name}")
    return found


def named(name: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors with `name.` before their names."""
    return {f"{name}.{key}": tensor for key, tensor in tensors.items()}


def _flush(path: Path) -> None:
    """Have the system write a file or folder to the disk."""
    if os.name != "posix" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
