"""What an agent is, and the few tools that agents share.

Letters: n deals that wait for a decision, L legal actions of all of them together.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from buraco_env.batch_env import Views

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


STYLES_FOLDER = Path(__file__).parent / "styles"
STYLES = sorted(path.stem for path in STYLES_FOLDER.glob("*.toml"))


class AgentError(ValueError):
    """An agent that can't be made or that fails; the message is one line, and names what is known where that helps."""


@runtime_checkable
class Agent(Protocol):
    """A player of any seat, for many deals at once.

    A choice should depend on the seed and the view alone, never on what was asked before: then a deal goes the same
    in any batch, and an agent against itself scores exactly zero. `uniform` gives randomness that keeps to this. Views
    are refused after the next step of their deals. An agent with an attribute `takes_time` that is true, a person, is
    put on no clock and asked in the process of the command.
    """

    def reset(self, seed: int) -> None:
        """Start anew with this seed."""

    def act(self, views: Views) -> Array:
        """A legal id for each view: [n] int64."""


def takes_time(agent: Agent) -> bool:
    """A person answers, who has no limit of time and one terminal."""
    return bool(getattr(agent, "takes_time", False))


def checked_ids(answer: Any, n: int) -> Array:
    """What an agent answered to n views, if it is n ids; else TypeError."""
    chosen = np.asarray(answer)
    if chosen.shape != (n,) or chosen.dtype.kind not in "iu":
        raise TypeError(f"expected {n} ids, got shape {chosen.shape} of {chosen.dtype}")
    return chosen


def title_of(style: str) -> str:
    """What a style that comes with the kit does, in a line."""
    return str(tomllib.loads((STYLES_FOLDER / f"{style}.toml").read_text(encoding="utf-8"))["title"])


def nearest(given: str, known: Iterable[str]) -> str:
    """The end of an error message: the known name that resembles what was given, else all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(names)}" if names else "there are none"


def best(scores: Array, offsets: Array) -> Array:
    """Where the highest score of each segment stands in `scores` [L], the first of equals: [n] int64.

    Segment i is `scores[offsets[i]:offsets[i + 1]]` and is not empty.
    """
    highest = np.maximum.reduceat(scores, offsets[:-1])
    at = np.flatnonzero(scores == np.repeat(highest, np.diff(offsets)))
    return at[np.searchsorted(at, offsets[:-1])]


def _mix(x: Array) -> Array:
    """A 64-bit hash of each 64-bit number (multiply and shift)."""
    x = (x ^ (x >> np.uint64(31))) * np.uint64(0x9E6C63D0676A9A99)
    x = (x ^ (x >> np.uint64(29))) * np.uint64(0x9E6D62D06F6A9A9B)
    return x ^ (x >> np.uint64(32))


def view_keys(observation: Array, seed: int) -> Array:
    """A 64-bit number for each row [n, OBS] int8 that depends on the row and the seed alone: [n] uint64."""
    n, size = observation.shape
    words = np.zeros((n, -(-size // 8) * 8), np.int8)
    words[:, :size] = observation
    odd = np.random.default_rng(seed % 2**64).integers(2**64, size=words.shape[1] // 8, dtype=np.uint64) | np.uint64(1)
    return _mix(words.view(np.uint64) @ odd)


def uniform(observation: Array, seed: int) -> Array:
    """A random number in [0, 1) for each row of an observation, the same for the same row and seed: [n] float64."""
    return (view_keys(observation, seed) >> np.uint64(11)) * 2.0**-53


def segments(offsets: Array, index: Array) -> tuple[Array, Array]:
    """Where the entries of the chosen segments stand, [K] int64, and the offsets of the list they make, [m + 1]."""
    counts = np.diff(offsets)[index]
    ends = np.cumsum(counts)
    at = np.arange(ends[-1] if len(ends) else 0) + np.repeat(offsets[:-1][index] - (ends - counts), counts)
    return at, np.concatenate(([0], ends))
