"""How loops are compiled: the four decorators, and the options that they share.

A *loop* is called from Python and cached on disk; a *part* is a piece of a loop, always inlined,
since passing rows on costs more than most pieces do. The exact kinds round as they are written.
Whoever waits for a loop to be compiled, which takes seconds, may give up: it is compiled to its
end, so that the next call finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core.caching import IndexDataCacheFile

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


class Index(IndexDataCacheFile):  # type: ignore[misc]
    """What is cached of a loop; an index by another version of this package holds nothing.

    It may name classes that are called otherwise now, and Numba reads it before it compares times.
    """

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (AttributeError, ImportError):
            return {}


def _cached(function: F, options: dict[str, Any]) -> F:
    try:
        compiled: Any = numba.njit(cache=True, **options)(function)
        compiled._cache._cache_file.__class__ = Index
    except RuntimeError:  # no folder can be written to: every process compiles for itself
        compiled = numba.njit(**options)(function)
    compile_for = compiled.compile
    compiled.compile = lambda signature: waited(lambda: compile_for(signature))
    found: F = compiled
    return found


def loop(function: F) -> F:
    """Compile a loop: cached on disk, without the GIL, reductions vectorised."""
    return _cached(function, FAST)


def part(function: F) -> F:
    """Compile a piece of a loop."""
    compiled: F = numba.njit(forceinline=True, **FAST)(function)
    return compiled


def exact_loop(function: F) -> F:
    """Compile a loop whose arithmetic must round as written."""
    return _cached(function, EXACT)


def exact_part(function: F) -> F:
    """Compile a piece of a loop whose arithmetic must round as written."""
    compiled: F = numba.njit(forceinline=True, **EXACT)(function)
    return compiled
