"""What a training run is told: dataclasses, filled from a YAML file and `key=value` arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from agents import AgentError, make
from agents.base import nearest
from agents.neural import Sizes


class ConfigError(ValueError):
    """A configuration that can't be used; the message is one line and names the key."""


@dataclass
class Network:
    """Widths of the networks; the critic has the policy's trunk."""

    trunk: int = 192
    actions: int = 64
    slots: int = 32  # of the layer that reads one meld
    history: int = 0  # last public actions that the policy reads, 0 to 8

    def sizes(self) -> Sizes:
        return Sizes(**dataclasses.asdict(self))


@dataclass
class Rollout:
    """How much is played before each update."""

    deals: int = 512  # side by side, over all workers
    steps: int = 64  # of every deal, forced moves included
    workers: int = 2  # threads that play and learn; part of the result, so not taken from the machine


@dataclass
class Ppo:
    """The update. Pairs are values at the start and at the end of the run, straight in between."""

    epochs: int = 2
    minibatch: int = 4096  # decisions
    clip: float = 0.2
    kl_stop: float = 0.03  # no further epoch once the policy has moved so far
    learning_rate: list[float] = field(default_factory=lambda: [3e-4, 3e-5])
    entropy: list[float] = field(default_factory=lambda: [0.03, 0.003])
    gradient_clip: float = 0.5
    gae_lambda: float = 0.98
    value_weight: float = 0.5
    ema: float = 0.995  # of the averaged weights, each step of the optimiser


@dataclass
class Opponents:
    """Who sits against the learner, drawn for each deal and for a whole team; the rest is self-play."""

    scripted_share: float = 0.05
    scripted: list[str] = field(default_factory=lambda: ["greedy"])
    snapshot_share: float = 0.15
    snapshots: int = 4  # past selves kept, spaced by the logarithm of their age
    snapshot_every: int = 20  # updates


@dataclass
class Evaluation:
    """Duplicate deals against agents: on the way by validation deals, at the end by test deals."""

    every: float = 1.0  # minutes; 0: only at the end
    against: str = "greedy"
    pairs: int = 100
    final_against: list[str] = field(default_factory=lambda: ["random", "greedy"])
    final_pairs: int = 1000


@dataclass
class Config:
    """A training run. It ends after `minutes` of training or `updates` updates, whatever comes first; 0: no limit."""

    name: str = "quickstart"
    rules: list[str] = field(default_factory=lambda: ["classic"])  # of several, each deal draws one
    seed: int = 1
    minutes: float = 5.0
    updates: int = 0
    reward: str = "dense"  # or score_difference: all of it at the end of the deal
    save_every: float = 1.0  # minutes between checkpoints
    keep: int = 3  # newest checkpoints kept
    network: Network = field(default_factory=Network)
    rollout: Rollout = field(default_factory=Rollout)
    ppo: Ppo = field(default_factory=Ppo)
    opponents: Opponents = field(default_factory=Opponents)
    evaluation: Evaluation = field(default_factory=Evaluation)


# what a resumed run can't change: the saved networks and deals would not fit
FIXED = ("rules", "seed", "reward", "network", "rollout")


def load_config(path: str | Path, changes: Sequence[str] = ()) -> Config:
    """The configuration in a YAML file with changes like `ppo.clip=0.1`. Raises ConfigError, one line."""
    return _merge([(str(path), _read(Path(path))), *_changes(changes)])


def resume_config(path: Path, changes: Sequence[str]) -> Config:
    """The configuration of a run that goes on, with changes to what may change."""
    for _, change in _changes(changes):
        for key in change:
            if key in FIXED:
                raise ConfigError(f"{key} can't change in a run that goes on; start a new run")
    return load_config(path, changes)


def save_config(config: Config, path: Path) -> None:
    """Write every key of a configuration as YAML."""
    path.write_text(yaml.safe_dump(dataclasses.asdict(config), sort_keys=False), encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        known = sorted(file.as_posix() for file in Path("configs").glob("*.yaml"))
        raise ConfigError(f"can't read {path}: {error.strerror}; {nearest(path.as_posix(), known)}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path} should hold keys and values, as in `minutes: 5`")
    return values


def _changes(changes: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each `key=value` as (itself, nested values)."""
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not key:
            raise ConfigError(f"{change!r} is no setting: write key=value, as in minutes=5 or ppo.clip=0.1")
        try:
            nested: Any = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ConfigError(f"{change!r}: the value is no YAML") from error
        for part in reversed(key.strip().split(".")):
            nested = {part: nested}
        yield change, nested


def _merge(sources: list[tuple[str, dict[str, Any]]]) -> Config:
    config = OmegaConf.structured(Config)
    for source, values in sources:
        _check_keys(source, values, Config)
        if isinstance(values.get("rules"), str):
            values["rules"] = [values["rules"]]
        try:
            config = OmegaConf.merge(config, values)
        except OmegaConfBaseException as error:
            raise ConfigError(f"{source}: {str(error).splitlines()[0]}") from error
    made: Config = OmegaConf.to_object(config)  # type: ignore[assignment]
    _check_values(made)
    return made


def _check_keys(source: str, values: Mapping[Any, Any], kind: type, above: str = "") -> None:
    """Refuse a key that is no field, and a section that is no section."""
    known = {one.name: one for one in dataclasses.fields(kind)}
    for key, value in values.items():
        if key not in known:
            raise ConfigError(f"{source}: unknown key {above + str(key)!r}; {nearest(str(key), known)}")
        section = known[key].default_factory
        if dataclasses.is_dataclass(section):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{source}: {above}{key} is a section, write {key}.KEY=VALUE")
            _check_keys(source, value, section, f"{key}.")  # type: ignore[arg-type]


def _check_values(c: Config) -> None:
    """Refuse values out of range, and agents that can't be made."""
    for holds, message in (*_run_demands(c), *_section_demands(c)):
        if not holds:
            raise ConfigError(message)
    for spec in {*c.opponents.scripted, c.evaluation.against, *c.evaluation.final_against}:
        try:
            make(spec)
        except AgentError as error:
            raise ConfigError(str(error)) from error


def _run_demands(c: Config) -> list[tuple[bool, str]]:
    """What must hold of a run's own keys, each with what to say if it doesn't."""
    times = {"minutes": c.minutes, "updates": c.updates, "save_every": c.save_every}
    return [
        (min(times.values()) >= 0, f"{', '.join(times)} can't be below 0"),
        (c.minutes > 0 or c.updates > 0, "minutes and updates: one of them must be above 0"),
        (bool(c.name) and Path(c.name).name == c.name, "name should be the name of a folder"),
        (bool(c.rules), "rules should name at least one game"),
        (c.seed >= 0, "seed should be 0 or more"),
        (c.reward in ("dense", "score_difference"), "reward should be dense or score_difference"),
        (c.keep >= 1, "keep should be 1 or more"),
    ]


def _section_demands(c: Config) -> list[tuple[bool, str]]:
    """The same of the sections' keys."""
    n, r, p, o, e = c.network, c.rollout, c.ppo, c.opponents, c.evaluation
    widths, shares = (n.trunk, n.actions, n.slots), (o.scripted_share, o.snapshot_share)
    return [
        (min(widths) >= 1 and max(widths) <= 65_536, "widths of network should be 1 to 65536"),
        (0 <= n.history <= 8, "network.history should be 0 to 8"),
        (min(r.deals, r.steps, r.workers) >= 1, "deals, steps and workers of rollout should be 1 or more"),
        (r.workers >= 1 and r.deals % r.workers == 0, "rollout.deals should be a multiple of rollout.workers"),
        (min(p.epochs, p.minibatch) >= 1, "ppo.epochs and ppo.minibatch should be 1 or more"),
        (
            len(p.learning_rate) == len(p.entropy) == 2,
            "ppo.learning_rate and ppo.entropy should be pairs, [start, end]",
        ),
        (0 <= p.gae_lambda <= 1 and 0 <= p.ema < 1, "ppo.gae_lambda should be 0 to 1, ppo.ema below 1"),
        (min(p.clip, p.kl_stop, p.gradient_clip) > 0, "ppo.clip, kl_stop and gradient_clip should be above 0"),
        (min(shares) >= 0 and sum(shares) <= 1, "opponents: shares should be 0 or more, together 1 at most"),
        (bool(o.scripted) or not o.scripted_share, "opponents.scripted is empty, so scripted_share should be 0"),
        (min(o.snapshots, o.snapshot_every) >= 1, "opponents.snapshots and snapshot_every should be 1 or more"),
        (e.every >= 0 and min(e.pairs, e.final_pairs) >= 2, "evaluation needs 2 pairs or more, and every 0 or more"),
    ]
