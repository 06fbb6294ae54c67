"""What the tests share: how many deals to play, and hypothesis without a clock."""

import os

from hypothesis import settings

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

# The first example of a test may compile the kernel, so none has a deadline; the same examples every time.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")


def deals(n: int) -> int:
    """How many deals a test plays: n compiled, a fiftieth of that as plain Python, which is so much slower."""
    return max(1, n // 50) if INTERPRETED else n
