"""The one import of numba: two decorators, the cache folder, and three machine instructions.

`kernel` marks an inner function, `entry` one that Python calls (cached on disk, runs without the interpreter lock).
Without numba, or with `NUMBA_DISABLE_JIT=1`, both return the function as it is and the same source runs as plain Python.

numba's cache notices a change in the file of the cached function only, while our entries freeze in all the files below
them; so the cache folder is named after a hash of every source that compiled code can contain.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

try:
    import numba
    from numba.core import config as numba_config
except ImportError:  # pragma: no cover - a machine without numba: slow, but the same game
    numba = None

COMPILED: bool = numba is not None and not numba_config.DISABLE_JIT


def _cache_folder() -> str:
    """The folder for compiled code of exactly these sources, under `NUMBA_CACHE_DIR` or the user's cache."""
    here = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for source in [here.parent / "cards.py", here.parent / "rules.py", *sorted(here.glob("*.py"))]:
        digest.update(source.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "buraco_env"
    )
    return os.path.join(base, digest.hexdigest()[:16])


if COMPILED:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    _CACHE = _cache_folder()

    def _as_int64(kind: Any) -> Any:
        """int64 for every small int type and every constant: one compiled version of a function serves them all."""
        kind = types.unliteral(kind)
        return types.int64 if isinstance(kind, types.Integer) and kind.bitwidth < 64 else kind

    def kernel(function: F) -> F:
        """An inner function: callable from compiled code only, so no Python wrapper is built for it.

        numba would compile it anew for each constant and each size of int that it is called with, which doubles the
        time to compile; here its arguments are made int64 first.
        """
        dispatcher = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
        template = dispatcher.get_call_template

        def widened(args: Any, keywords: Any) -> Any:
            return template(tuple(map(_as_int64, args)), keywords)

        dispatcher.get_call_template = widened
        return dispatcher  # type: ignore[no-any-return]

    def entry(function: F) -> F:
        """A function that Python calls: compiled once, cached in the folder of these sources."""
        before, numba_config.CACHE_DIR = numba_config.CACHE_DIR, _CACHE
        try:
            return numba.njit(error_model="numpy", nogil=True, cache=True, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]
        finally:
            numba_config.CACHE_DIR = before

    @intrinsic  # type: ignore[untyped-decorator]
    def lowest_bit(typing_context: Any, x: Any) -> Any:
        """Index of the lowest set bit of x (x is not 0)."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.int64), code

    @intrinsic  # type: ignore[untyped-decorator]
    def highest_bit(typing_context: Any, x: Any) -> Any:
        """Index of the highest set bit of x (x is not 0)."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
            return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

        return types.int64(types.int64), code

    @intrinsic  # type: ignore[untyped-decorator]
    def count_bits(typing_context: Any, x: Any) -> Any:
        """Number of set bits of x."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.int64), code

    @intrinsic  # type: ignore[untyped-decorator]
    def copy_record(typing_context: Any, target: Any, source: Any) -> Any:
        """Copy all bytes of one record over another of the same type."""
        size = source.size

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            cgutils.raw_memcpy(builder, args[0], args[1], ir.Constant(ir.IntType(64), size), 1)
            return context.get_dummy_value()

        return types.none(target, source), code

else:

    def kernel(function: F) -> F:
        """The function as it is: plain Python."""
        return function

    def entry(function: F) -> F:
        """The function as it is: plain Python."""
        return function

    def lowest_bit(x: int) -> int:
        """Index of the lowest set bit of x (x is not 0)."""
        return (x & -x).bit_length() - 1

    def highest_bit(x: int) -> int:
        """Index of the highest set bit of x (x is not 0)."""
        return x.bit_length() - 1

    def count_bits(x: int) -> int:
        """Number of set bits of x."""
        return x.bit_count()

    def copy_record(target: Any, source: Any) -> None:
        """Copy all bytes of one record over another of the same type."""
        target.setfield(source, target.dtype)
