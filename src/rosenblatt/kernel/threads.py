"""Tiles of work in threads, each of which calls a BLAS of one thread.

Then the products of one tile and the kernel values of another are computed at the same time, and
nobody waits for all threads to meet, as two threads inside each product would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

import numpy as np

from rosenblatt.blocks import cores, one_blas_thread

S = TypeVar("S")
T = TypeVar("T")
FEW = 16  # rows that are not worth threads
Apply = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]


@contextmanager
def working() -> Iterator[Apply]:
    """Give a function that maps work over tiles, in as many threads as there are cores."""
    with one_blas_thread:
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
