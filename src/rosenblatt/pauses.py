"""Pauses of long work in Python, in which whoever asked for it may look at the clock.

Work on exact numbers takes seconds where there are many, in rooms that know no limits; it calls
`pause` between short pieces. Code that compiled loops do is quick, and gets a pause handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Pause = Callable[[], object]  # may raise, which ends the work

_wanted: ContextVar[Pause] = ContextVar("pause", default=lambda: None)


@contextmanager
def pausing(wanted: Pause) -> Iterator[None]:
    """Let `wanted` be called in the pauses of all work inside."""
    before = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(before)


def pause() -> None:
    """Make a pause."""
    _wanted.get()()
