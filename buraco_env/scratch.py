"""Scratch space for the kernel, which allocates nothing itself."""

from __future__ import annotations

import threading

import numpy as np

from buraco_env.kernel import actions as A
from buraco_env.kernel import batch as kernel
from buraco_env.kernel.state import NUM_CARDS_MAX

_local = threading.local()


class _Buffers:
    """What the kernel needs to play one deal: scratch space and lists, one set for each thread."""

    def __init__(self) -> None:
        self.work, self.lists = kernel.workspace()
        self.actions = np.zeros(1, np.int64)
        self.results = np.zeros(1, kernel.RESULT_DTYPE)
        self.offsets = np.zeros(2, np.int64)
        self.offsets_before = np.zeros(2, np.int64)
        self.legal = np.zeros(A.NUM_ACTIONS, np.int16)
        self.before = np.zeros(1, np.int16)
        self.options = np.zeros(kernel.NUM_OPTIONS, np.int64)
        self.nothing = np.zeros((0, 1), np.int8)
        self.pool = np.zeros(NUM_CARDS_MAX, np.int8)
        self.list = np.zeros(A.NUM_ACTIONS, np.int16)


def scratch() -> _Buffers:
    """This thread's buffers."""
    if not hasattr(_local, "buffers"):
        _local.buffers = _Buffers()
    return _local.buffers  # type: ignore[no-any-return]
