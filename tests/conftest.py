"""What the tests share: how many deals to play."""

import os

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def deals(n: int) -> int:
    """How many deals a test plays: n compiled, a fiftieth of that as plain Python, which is so much slower."""
    return max(1, n // 50) if INTERPRETED else n
