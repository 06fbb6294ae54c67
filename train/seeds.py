"""Which deals are for training, for choosing a checkpoint, and for the final measure.

A `BatchEnv` that deals by itself draws its seeds by a hash from all 2**62: these deals are for training. Deals to
measure by are started from explicit seeds in two ranges that nothing else starts from. A hash could fall into them: for
a million training deals and a million test deals the chance that one is in both is below one in four million.
"""

from __future__ import annotations

import numpy as np

from agents.base import Array

_FIRST = {"validation": 2**61, "test": 2**61 + 2**60}


def deal_seeds(split: str, count: int, first: int = 0) -> Array:
    """`count` deal seeds of a split ("validation" or "test"), from number `first` on: [count] int64."""
    return _FIRST[split] + np.arange(first, first + count, dtype=np.int64)
