"""Two agents as partners: is a player good in a team, or only beside its twin?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents import registry
from agents.base import Array, takes_time

if TYPE_CHECKING:
    from buraco_env.batch_env import Views


class Partners:
    """An agent in the lower seat of each team, another in the upper: `partners:lower=steady,upper=(search:ms=9)`."""

    def __init__(self, lower: str, upper: str) -> None:
        self.players = registry.make(lower), registry.make(upper)
        self.takes_time = any(map(takes_time, self.players))

    def reset(self, seed: int) -> None:
        """Start both anew with this seed."""
        for player in self.players:
            player.reset(seed)

    def act(self, views: Views) -> Array:
        """What the agent of each seat plays: [n] int64."""
        chosen = np.zeros(len(views), np.int64)
        for half, player in enumerate(self.players):
            mine = np.flatnonzero(views.seat // 2 == half)
            if len(mine):
                chosen[mine] = player.act(views.only(mine))
        return chosen
