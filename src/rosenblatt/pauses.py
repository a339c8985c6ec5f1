"""Pauses of long work, in which whoever asked for it may look at the clock.

Work on exact numbers takes seconds where there are many, in rooms that know no limits; it calls
`pause` between short pieces. What has no pieces, such as the compilation of a loop, is done in a
thread of its own, and waited for; if that takes long, somebody may be told.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from threading import Thread, Timer
from typing import TypeVar

Pause = Callable[[], object]  # may raise, which ends the work
Found = TypeVar("Found")
OFTEN = 0.05  # seconds between two pauses of whoever waits

LONG = 1.0  # seconds of waiting, all in all, from which on somebody is told


@dataclass
class Notice:
    """What is said, once, when waiting takes long, and the seconds that it took so far."""

    say: Callable[[], object]
    seconds: float = 0.0
    told: bool = False

    def tell(self) -> None:
        """Say it, unless it was said."""
        if not self.told:
            self.told = True
            self.say()

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """Count the time inside, and tell while it goes on."""
        began, timer = time.perf_counter(), Timer(max(LONG - self.seconds, 0.0), self.tell)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self.seconds += time.perf_counter() - began


_wanted: ContextVar[Pause | None] = ContextVar("pause", default=None)


class OutOfTimeError(Exception):
    """The seconds are over; what was found so far counts."""


@contextmanager
def pausing(wanted: Pause) -> Iterator[None]:
    """Let `wanted` be called in the pauses of all work inside."""
    before = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(before)


def until(seconds: float | None) -> AbstractContextManager[None]:
    """Let the pauses of all work inside end it after some seconds; None for no limit."""
    deadline = math.inf if seconds is None else time.perf_counter() + seconds

    def look() -> None:
        if time.perf_counter() >= deadline:
            raise OutOfTimeError

    return pausing(look)


def pause() -> None:
    """Make a pause."""
    wanted = _wanted.get()
    if wanted is not None:
        wanted()


def beside(work: Callable[[], Found]) -> Future[Found]:
    """Do work in a thread of its own, which goes on when nobody waits, but holds no process up."""
    found: Future[Found] = Future()

    def do() -> None:
        try:
            found.set_result(work())
        except BaseException as error:  # which whoever waits gets
            found.set_exception(error)

    Thread(target=do, daemon=True).start()
    return found


def as_here(work: Callable[..., Found]) -> Callable[..., Found]:
    """Give work that makes the pauses of this thread wherever it is called, once."""
    return partial(copy_context().run, work)


def in_threads(work: Callable[[int], Found], count: int, threads: int) -> list[Found]:
    """Give work(0), work(1), …, done by so many threads; whoever is interrupted begins no more."""
    if threads < 2:
        return [work(k) for k in range(count)]
    found: dict[int, Found] = {}
    turns = iter(range(count))

    def do() -> None:
        for k in turns:
            found[k] = work(k)

    workers = [beside(as_here(do)) for _ in range(threads)]
    try:
        for worker in workers:
            worker.result()
    finally:
        for _ in turns:
            pass
    return [found[k] for k in range(count)]


def waited(work: Callable[[], Found], notice: Notice | None = None) -> Found:
    """Do work that makes no pauses, making them meanwhile; at once if nobody wants any."""
    with notice.beginning() if notice is not None else nullcontext():
        if _wanted.get() is None:
            return work()
        found = beside(work)
        while not wait([found], OFTEN).done:
            pause()
        return found.result()
