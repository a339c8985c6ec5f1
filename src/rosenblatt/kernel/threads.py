"""Tiles of work in threads, each of which calls a BLAS of one thread.

Then the products of one tile and the kernel values of another are computed at the same time, and
nobody waits for all threads to meet, as two threads inside each product would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from rosenblatt.blocks import cores

S = TypeVar("S")
T = TypeVar("T")
FEW = 16  # rows that are not worth threads
Apply = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]


class _OneThread:
    """Holds BLAS to one thread as long as somebody asks for it: the last one out restores it.

    The limit is that of the process. Were each caller to restore what it found, two of them at a
    time could leave the limit behind for good.
    """

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.controller: ThreadpoolController | None = None
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if self.controller is None:  # looking for the libraries takes milliseconds
                self.controller = ThreadpoolController()
            if not self.users:
                self.limit = self.controller.limit(limits=1, user_api="blas")
            self.users += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                self.limit.restore_original_limits()


_one_blas_thread = _OneThread()


@contextmanager
def working() -> Iterator[Apply]:
    """Give a function that maps work over tiles, in as many threads as there are cores."""
    with _one_blas_thread:
        if cores() < 2:
            yield in_turn
            return
        with ThreadPoolExecutor(cores()) as pool:
            yield lambda work, tiles: list(pool.map(quietly(work), tiles))


def working_on(rows: int) -> AbstractContextManager[Apply]:
    """Give `working` threads where there are enough rows for them."""
    return working() if rows > FEW else nullcontext(in_turn)


def in_turn(work: Callable[[S], T], tiles: Iterable[S]) -> list[T]:
    """Map work over tiles in this thread."""
    return list(map(quietly(work), tiles))


def quietly(work: Callable[[S], T]) -> Callable[[S], T]:
    """Let work overflow in silence, in whatever thread; scores are looked at afterwards."""

    def silent(tile: S) -> T:
        with np.errstate(over="ignore", invalid="ignore"):
            return work(tile)

    return silent
