"""How loops are compiled: the four decorators, and the options that they share.

A *loop* is called from Python and cached on disk; a *part* is a piece of a loop, always inlined,
since passing rows on costs more than most pieces do. The exact kinds round as they are written.
Whoever waits for a loop to be compiled, which takes seconds, may give up: it is compiled to its
end, so that the next call finds it, unless the process ends before. On a terminal they are told.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from hashlib import sha256
from types import CodeType, FunctionType
from typing import IO, Any, Never, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock

from rosenblatt.pauses import Notice, waited

try:
    from fcntl import LOCK_EX, flock
except ImportError:  # on Windows every process compiles for itself
    flock = None  # type: ignore[assignment]

F = TypeVar("F", bound=Callable[..., Any])

# Loops own no memory, so Numba's reference counts are switched off: left on, the atomic increments
# at every access to a field of the rows take longer than the dot product of a short row.
# `fastmath` is named even where it is off: a piece without it takes on that of its caller.
# No C program calls a loop, so none is compiled a second time for C.
EXACT: dict[str, Any] = {"nogil": True, "_nrt": False, "fastmath": False, "no_cfunc_wrapper": True}

# Reductions may be reordered and fused, which lets them use the vector unit; NaN and infinity keep
# their meaning, because the passes recognise unusable rows by them.
FAST: dict[str, Any] = {**EXACT, "fastmath": {"reassoc", "contract", "nsz", "arcp"}}


# So many times what is few take less time without a loop than it takes to compile: at once, and in
# all that a process does without it.
AT_ONCE, ALL_IN_ALL = 16, 128
COMPILING = Notice(lambda: print("rosenblatt: compiling, once", file=sys.stderr, flush=True))


class Whole(JITCodeLibrary):  # type: ignore[misc]
    """The code of a loop: optimised once, as a whole.

    Numba would optimise each function by itself before, and all of it for the sake of reference
    counts, which loops do not have: a tenth of the time that they take to compile.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, options = self._codegen._module_pass_manager()
        passes.run(self._final_module, options)


class Piece(Whole):
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


class LoopCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with another end for the code of loops."""

    kind: type[Whole] = Whole

    def define_pipelines(self) -> Any:
        """Give Numba's own passes."""
        state = self.state
        state.library = self.kind(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()  # which the cache of loops needs
        return super().define_pipelines()


class PieceCompiler(LoopCompiler):
    """The same for the code of parts."""

    kind = Piece


PIECE: dict[str, Any] = {
    "forceinline": True,
    "no_cpython_wrapper": True,
    "pipeline_class": PieceCompiler,
}


class Index(IndexDataCacheFile):  # type: ignore[misc]
    """What is cached of a loop: a file for each signature, named after all that it is made from.

    Numba looks at the loop's own file alone, and not at those of its parts. It numbers the files,
    and two processes that compile at once may take the same number. Workers of a cluster want the
    same loop at the same time: one of them compiles it, which is its turn, and the others wait.
    """

    loop: Any
    turn: IO[str] | None = None

    def load(self, key: Any) -> Any:
        """Give what is cached for a signature, or take the turn to compile it and give None."""
        name = self._name(key)
        found = self._found(name)
        if found is None:
            self.turn = _held(os.path.join(self._cache_path, f"{name}.lock"))
            found = self._found(name)
        return found

    def close(self) -> None:
        """Let others have their turn, who find what was compiled in the cache."""
        if self.turn is not None:
            with suppress(OSError), self.turn:
                os.unlink(self.turn.name)
            self.turn = None

    def _found(self, name: str) -> Any:
        try:
            return self._load_data(name)
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

    def any_kept(self) -> bool:
        """Tell whether anything is kept that was compiled from this source."""
        source = self._source()
        with suppress(OSError):
            return any(name.startswith(source) for name in os.listdir(self._cache_path))
        return False

    def _source(self) -> str:
        sources = sorted(set(_sources(self.loop.py_func, set())), key=str)
        return f"{self._index_name.removesuffix('.nbi')}.{_digest(self._version, sources)}"

    def _name(self, key: Any) -> str:
        return f"{self._source()}.{_digest(key)}.nbc"


class Cache(FunctionCache):  # type: ignore[misc]
    """The cache of a loop.

    Numba would load all that it knows of Python and NumPy before it looks into the cache, and all
    packages that extend it. Loops without reference counts need none of that to run: loaded
    without, they are there after a tenth of the time.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Give what is cached for a signature, or None."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def _held(path: str) -> IO[str] | None:
    """Wait for a file that one process at a time may hold, until it closes it."""
    with suppress(OSError):
        if flock is not None:
            file = open(path, "w")  # noqa: SIM115
            flock(file, LOCK_EX)
            return file
    return None


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
    turn: AbstractContextManager[Any] = nullcontext()
    try:
        options = {**options, "pipeline_class": LoopCompiler}
        compiled: Any = numba.njit(cache=True, **options)(function)
        index = compiled._cache._cache_file
        compiled._cache.__class__ = Cache
        index.__class__, index.loop = Index, compiled
        turn = closing(index)
    except RuntimeError:  # no folder can be written to: every process compiles for itself
        compiled = numba.njit(**options)(function)
    # Numba's own asks for packages that extend Numba.
    compiled._compilation_chain_init_hook = lambda: None
    compile_for = compiled.compile

    def compile_in_turn(signature: Any) -> Any:
        with global_compiler_lock, turn, _without_collections():
            return compile_for(signature)

    compiled.compile = lambda signature: waited(lambda: compile_in_turn(signature), _on_terminal())
    found: F = compiled
    return found


@contextmanager
def _without_collections() -> Iterator[None]:
    """Let no garbage be collected meanwhile.

    A compiler makes so many objects that Python looks for garbage hundreds of times, through all
    that other packages have loaded as well, and finds little: a sixth of the time that loops take
    to compile beside scikit-learn.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _on_terminal() -> Notice | None:
    """Give what is said on a terminal, once in a process; what programs read is left alone."""
    return COMPILING if sys.stderr is not None and sys.stderr.isatty() else None


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


def is_compiled(function: Any) -> bool:
    """Tell whether a loop was compiled before, for whatever types."""
    index = getattr(function._cache, "_cache_file", None)
    return bool(function.overloads) or (index is not None and index.any_kept())


_done_without: dict[Any, int] = {}  # what this process did without a loop


def is_wanted(function: Any, size: int, most: int) -> bool:
    """Tell whether a loop is compiled, or more than `most` would be done without it."""
    if is_compiled(function):
        return True
    _done_without[function] = _done_without.get(function, 0) + size
    return _done_without[function] > most


def pays(function: Any, size: int, few: int) -> bool:
    """Tell whether data want a loop: more than a few, and many more while it is not compiled."""
    return size > few and (size > AT_ONCE * few or is_wanted(function, size, ALL_IN_ALL * few))


def in_python(function: F, **primitives: Callable[..., Any]) -> F:
    """Give a loop as plain Python, with its parts as such, and primitives for its rows.

    Few numbers take it less time than to compile the loop.
    """
    compiled: Any = function
    plain = _plain(compiled.py_func, primitives, {})

    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):  # as in compiled loops
            return plain(*arguments)

    return cast(F, run)


def _plain(function: Any, primitives: dict[str, Any], rooms: dict[int, Any]) -> FunctionType:
    """Give a function that calls plain ones; each module of the package gets a room of its own."""
    room = rooms.get(id(function.__globals__))
    if room is None:
        room = rooms[id(function.__globals__)] = {**function.__globals__, **primitives}
        for name, value in function.__globals__.items():
            if hasattr(value, "py_func") and name not in primitives:
                room[name] = _plain(value.py_func, primitives, rooms)
    return FunctionType(function.__code__, room, function.__name__, function.__defaults__)
