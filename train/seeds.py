"""Which deals are for training, for choosing a checkpoint, and for the final measure.

A `BatchEnv` that deals by itself derives its seeds by a hash into 0 to 2**62 - 1: these deals are for training. Deals
to measure by start from explicit seeds above, in two ranges of their own, so that no deal is in two of the three.
"""

from __future__ import annotations

import numpy as np

from agents.base import Array

_FIRST = {"validation": 2**62, "test": 2**62 + 2**61}


def deal_seeds(split: str, count: int, first: int = 0) -> Array:
    """`count` deal seeds of a split ("validation" or "test"), from number `first` on: [count] int64."""
    return _FIRST[split] + np.arange(first, first + count, dtype=np.int64)
