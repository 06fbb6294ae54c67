"""An agent that plays any legal action."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents.base import Array, uniform

if TYPE_CHECKING:
    from buraco_env.batch_env import Views


class Random:
    """Each legal action with the same chance."""

    def __init__(self) -> None:
        self.seed = 0

    def reset(self, seed: int) -> None:
        self.seed = seed

    def act(self, views: Views) -> Array:
        """A random legal id for each view: [n] int64."""
        first, counts = views.offsets[:-1], np.diff(views.offsets)
        chosen = (uniform(views.observation, self.seed) * counts).astype(np.int64)
        return views.legal[first + chosen].astype(np.int64)
