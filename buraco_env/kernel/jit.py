"""The one import of numba: two decorators, the cache folder, and a few machine instructions.

`kernel` marks an inner function, `entry` one that Python calls (cached on disk, runs without the interpreter lock).
Without numba, or with `NUMBA_DISABLE_JIT=1`, both return the function as it is: the same source runs as plain Python.

numba's cache notices a change in the file of the cached function only, while our entries freeze in all the files below
them; so the cache folder is named after a hash of every source that compiled code can contain.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

_CACHE_LINE = 64  # bytes

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
    from numba.core import cgutils
    from numba.core import types as numba_types
    from numba.core.compiler import Compiler, CompilerBase, PassManager
    from numba.core.compiler_machinery import AnalysisPass, register_pass
    from numba.core.typed_passes import NativeLowering, NoPythonBackend, NopythonTypeInference, PreLowerStripPhis
    from numba.core.types.functions import BaseFunction
    from numba.core.untyped_passes import FixupArgs, IRProcessing, ReconstructSSA, TranslateByteCode
    from numba.extending import intrinsic

    types: Any = numba_types
    _CACHE = _cache_folder()
    # nothing is allocated, so no references to arrays are counted: that was a third of a step
    _OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}

    def _as_int64(kind: Any) -> Any:
        """int64 for every small int type and every constant: one compiled version of a function serves them all."""
        kind = types.unliteral(kind)
        return types.int64 if isinstance(kind, types.Integer) and kind.bitwidth < 64 else kind

    _operations: dict[Any, Any] = {}  # (an operator or `int`, types of its operands) -> its typed form

    def _typed_once(search: Callable[..., Any]) -> Callable[..., Any]:
        """`BaseFunction.get_call_type` that looks an operation on ints up among all its forms the first time only."""

        def get_call_type(self: Any, context: Any, args: Any, keywords: Any) -> Any:
            plain = self.typing_key is int or getattr(self.typing_key, "__module__", "") == "_operator"
            kinds = tuple(map(types.unliteral, args))
            if not plain or keywords or not all(isinstance(kind, types.Integer | types.Boolean) for kind in kinds):
                return search(self, context, args, keywords)
            key = (self, kinds)
            if key not in _operations:
                _operations[key] = search(self, context, args, keywords)
            return _operations[key]

        return get_call_type

    @contextmanager
    def _remembered_operations() -> Iterator[None]:
        """While our code is compiled, numba remembers how it typed an operation: a sixth of the time to compile."""
        functions: Any = BaseFunction
        search = functions.get_call_type
        functions.get_call_type = _typed_once(search)
        try:
            yield
        finally:
            functions.get_call_type = search

    class _EntryCompiler(Compiler):  # type: ignore[misc]
        """numba's own pipeline."""

        def compile_extra(self, function: Any) -> Any:
            with _remembered_operations():
                return super().compile_extra(function)

    @register_pass(mutates_CFG=False, analysis_only=True)
    class _KeepUnoptimised(AnalysisPass):  # type: ignore[misc]
        """Give an inner function a library that is neither optimised nor turned into machine code on its own."""

        _name = "buraco_keep_unoptimised"

        def __init__(self) -> None:
            AnalysisPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
            library.enable_object_caching()

            def finalize() -> None:
                library._finalize_dynamic_globals()
                library._finalized = True

            library._optimize_final_module = lambda: None
            library._finalize_final_module = finalize
            state.library = library
            state.flags.no_compile = True
            state.type_annotation = None  # for people to read
            return False

    @register_pass(mutates_CFG=False, analysis_only=True)
    class _OfferForLinking(AnalysisPass):  # type: ignore[misc]
        """Let other compiled functions call it although it has no machine code of its own."""

        _name = "buraco_offer_for_linking"

        def __init__(self) -> None:
            AnalysisPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            # the dispatcher wants a builtin of its own as the key of each compiled version; nobody calls it
            lowered = state["cr"] = state["cr"]._replace(cfunc=[].append)
            state.library.finalize()
            state.targetctx.insert_user_function(lowered.cfunc, lowered.fndesc, [state.library])
            return False

    # of numba's steps those that this source needs: no closures, no `with`, no raising, no parallel loops
    _NEEDED = (
        *(TranslateByteCode, FixupArgs, IRProcessing, ReconstructSSA, NopythonTypeInference, PreLowerStripPhis),
        *(_KeepUnoptimised, NativeLowering, _OfferForLinking, NoPythonBackend),
    )

    class _InnerCompiler(CompilerBase):  # type: ignore[misc]
        """numba's pipeline for functions that are only linked into entries: optimised once, with the entry.

        numba optimises a function again in every function above it; in six layers that is most of the time to compile.
        """

        def define_pipelines(self) -> list[Any]:
            pipeline = PassManager("buraco")
            for step in _NEEDED:
                pipeline.add_pass(step, step._name)
            pipeline.finalize()
            return [pipeline]

    def kernel(function: F) -> F:
        """An inner function: callable from compiled code only, so no Python wrapper is built for it.

        numba would compile it anew for each constant and each size of int that it is called with, which doubles the
        time to compile; here its arguments are made int64 first.
        """
        dispatcher = numba.njit(
            **_OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_InnerCompiler
        )(function)
        template = dispatcher.get_call_template

        def widened(args: Any, keywords: Any) -> Any:
            return template(tuple(map(_as_int64, args)), keywords)

        dispatcher.get_call_template = widened
        return dispatcher  # type: ignore[no-any-return]

    def entry(function: F) -> F:
        """A function that Python calls: compiled once, cached in the folder of these sources."""
        before, numba_config.CACHE_DIR = numba_config.CACHE_DIR, _CACHE
        try:
            return numba.njit(  # type: ignore[no-any-return]
                **_OPTIONS, nogil=True, cache=True, no_cfunc_wrapper=True, pipeline_class=_EntryCompiler
            )(function)
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

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(typing_context: Any, array: Any, at: Any, first: Any, stop: Any) -> Any:
        """Ask the processor for bytes `first` to `stop` of `array[at]`, a record or a row: they are needed soon."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            byte, word, flag = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(32)
            stride = cgutils.unpack_tuple(builder, array.strides)[0]
            start = builder.gep(builder.bitcast(array.data, byte), [builder.mul(args[1], stride)])
            kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
            fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            with cgutils.for_range_slice(builder, args[2], args[3], word(_CACHE_LINE)) as (offset, _):
                builder.call(fetch, [builder.gep(start, [offset]), flag(1), flag(3), flag(1)])
            return context.get_dummy_value()

        return types.none(array, types.int64, types.int64, types.int64), code

    @intrinsic  # type: ignore[untyped-decorator]
    def copy_field(typing_context: Any, out: Any, at: Any, record: Any, offset: Any, size: Any) -> Any:
        """Copy `size` bytes of a record, from `offset` on, to `out[at:]` [int8]."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            target = builder.gep(builder.bitcast(array.data, ir.IntType(8).as_pointer()), [args[1]])
            source = builder.gep(builder.bitcast(args[2], ir.IntType(8).as_pointer()), [args[3]])
            cgutils.raw_memcpy(builder, target, source, args[4], 1)
            return context.get_dummy_value()

        return types.none(out, types.int64, record, types.int64, types.int64), code

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

    def prefetch(array: Any, at: int, first: int, stop: int) -> None:
        """Nothing to do."""

    def copy_field(out: Any, at: int, record: Any, offset: int, size: int) -> None:
        """Copy `size` bytes of a record, from `offset` on, to `out[at:]` [int8]."""
        out[at : at + size] = np.frombuffer(record.tobytes(), np.int8, size, offset)
