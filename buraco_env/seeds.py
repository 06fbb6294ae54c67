"""Seeds of deals, as a user may give them."""

from __future__ import annotations

import secrets

import numpy as np

from buraco_env.kernel.deal import MAX_DERIVED_SEED, MAX_SEED


def check_seed(seed: int | None) -> int:
    """The seed as the kernel takes it; a random one for None."""
    if seed is None:
        return secrets.randbelow(MAX_DERIVED_SEED)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= int(seed) <= MAX_SEED:
        raise ValueError(f"seed = {seed!r} is not allowed; allowed: an int from 0 to {MAX_SEED}")
    return int(seed)


def next_seed(seed: int) -> int:
    """The seed that follows one: a step of MMIX's linear congruential generator, below what `mix_seed` gives."""
    return (seed * 6364136223846793005 + 1442695040888963407) & MAX_DERIVED_SEED
