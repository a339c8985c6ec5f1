"""Work on blocks of rows, in threads where it pays; the loops need no GIL."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

WORTH_A_THREAD = 2**16  # entries: tens of microseconds of work, as much as a thread costs
BLOCKS_PER_THREAD = 8


def cores() -> int:
    """Give the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_blocks(work: Callable[[int, int], T], rows: int, entries: int) -> list[T]:
    """Call `work` with the first row of each block and the one behind its last."""
    threads = min(cores(), rows, entries // WORTH_A_THREAD)
    if threads < 2:
        return [work(0, rows)]
    blocks = min(rows, threads * BLOCKS_PER_THREAD)
    cuts = [rows * k // blocks for k in range(blocks + 1)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, cuts[:-1], cuts[1:]))
