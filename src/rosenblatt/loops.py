"""How loops are compiled: the four decorators, and the options that they share.

A *loop* is called from Python and cached on disk; a *part* is a piece of a loop, always inlined,
since passing rows on costs more than most pieces do. The exact kinds round as they are written.
Whoever waits for a loop to be compiled, which takes seconds, may give up: it is compiled to its
end, so that the next call finds it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from types import CodeType
from typing import Any, Never, TypeVar

import numba
import numpy as np
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from rosenblatt.pauses import waited

F = TypeVar("F", bound=Callable[..., Any])

# Loops own no memory, so Numba's reference counts are switched off: left on, the atomic increments
# at every access to a field of the rows take longer than the dot product of a short row.
# `fastmath` is named even where it is off: a piece without it takes on that of its caller.
# No C program calls a loop, so none is compiled a second time for C.
EXACT: dict[str, Any] = {"nogil": True, "_nrt": False, "fastmath": False, "no_cfunc_wrapper": True}

# Reductions may be reordered and fused, which lets them use the vector unit; NaN and infinity keep
# their meaning, because the passes recognise unusable rows by them.
FAST: dict[str, Any] = {**EXACT, "fastmath": {"reassoc", "contract", "nsz", "arcp"}}


class Piece(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part: optimised inside the loops that it is inlined into.

    Numba would make machine code of each part as well, and optimise that of parts inside parts as
    often as they are nested, which is a third of the time that loops take to compile. Parts
    without parts, such as products of rows, are small, and optimised before they are inlined.
    """

    def _optimize_final_module(self) -> None:
        if not self._linking_libraries:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Give none: a part cannot be called from Python."""
        return 0

    @property
    def codegen(self) -> Any:
        """What Numba tells about the environment of the machine code that there is not."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Ignore it."""


class PieceCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with another end for the code of parts."""

    def define_pipelines(self) -> Any:
        """Give Numba's own passes."""
        state = self.state
        state.library = Piece(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


PIECE: dict[str, Any] = {
    "forceinline": True,
    "no_cpython_wrapper": True,
    "pipeline_class": PieceCompiler,
}


class Index(IndexDataCacheFile):  # type: ignore[misc]
    """What is cached of a loop: a file for each signature, named after all that it is made from.

    Numba looks at the loop's own file alone, and not at those of its parts. It numbers the files,
    and two processes that compile at once, as workers of a cluster do, may take the same number.
    """

    loop: Any

    def load(self, key: Any) -> Any:
        """Give what is cached for a signature, or None."""
        try:
            return self._load_data(self._name(key))
        except OSError:
            return None

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled, and nothing that was compiled from an earlier source."""
        name = self._name(key)
        self._save_data(name, data)
        loop, source = name.rpartition("-")[0], name.rpartition(".")[0].rpartition(".")[0]
        for file in os.scandir(self._cache_path):
            if file.name.startswith(f"{loop}-") and not file.name.startswith(source):
                with suppress(OSError):  # another process did it
                    os.unlink(file)

    def _name(self, key: Any) -> str:
        sources = sorted(set(_sources(self.loop.py_func, set())), key=str)
        base = self._index_name.removesuffix(".nbi")
        return f"{base}.{_digest(self._version, sources)}.{_digest(key)}.nbc"


def _digest(*parts: Any) -> str:
    return sha256(repr(parts).encode()).hexdigest()[:16]


def _sources(function: Any, seen: set[Any]) -> Iterator[tuple[Any, ...]]:
    """Tell files by their times and sizes, and constants: all that a function is compiled from."""
    seen.add(function)
    file = os.stat(function.__code__.co_filename)
    yield function.__code__.co_filename, file.st_mtime, file.st_size
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        inner = getattr(value, "py_func", getattr(value, "__wrapped__", None))
        if inner is not None and inner not in seen:
            yield from _sources(inner, seen)
        elif isinstance(value, int | float | np.generic):
            yield name, repr(value)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _cached(function: F, options: dict[str, Any]) -> F:
    try:
        compiled: Any = numba.njit(cache=True, **options)(function)
        index = compiled._cache._cache_file
        index.__class__, index.loop = Index, compiled
    except RuntimeError:  # no folder can be written to: every process compiles for itself
        compiled = numba.njit(**options)(function)
    compile_for = compiled.compile
    compiled.compile = lambda signature: waited(lambda: compile_for(signature))
    found: F = compiled
    return found


def _piece(function: F, options: dict[str, Any]) -> F:
    def refuse(*arguments: Any) -> Never:
        raise TypeError(f"{function.__name__} is called from compiled loops")

    compiled: Any = numba.njit(**PIECE, **options)(function)
    compiled._compile_for_args = refuse  # what a call from Python leads to, if nothing is compiled
    compiled.add_overload = lambda made: compiled.overloads.update({made.signature.args: made})
    found: F = compiled
    return found


def loop(function: F) -> F:
    """Compile a loop: cached on disk, without the GIL, reductions vectorised."""
    return _cached(function, FAST)


def part(function: F) -> F:
    """Compile a piece of a loop."""
    return _piece(function, FAST)


def exact_loop(function: F) -> F:
    """Compile a loop whose arithmetic must round as written."""
    return _cached(function, EXACT)


def exact_part(function: F) -> F:
    """Compile a piece of a loop whose arithmetic must round as written."""
    return _piece(function, EXACT)
