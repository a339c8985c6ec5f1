"""Work on blocks of rows, in threads where it pays; the loops need no GIL."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")

WORTH_A_THREAD = 2**16  # entries: tens of microseconds of work, as much as a thread costs
BLOCKS_PER_THREAD = 8


def cores() -> int:
    """Give the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_blocks(
    work: Callable[[int, int], T], rows: int, entries: int, each: int = BLOCKS_PER_THREAD
) -> list[T]:
    """Call `work` with the first row of each block and the one behind its last.

    Threads get so many blocks `each`: more of them balance the load, fewer need less memory.
    """
    threads = min(rows, entries // WORTH_A_THREAD)
    if threads > 1:  # to ask for the cores takes microseconds
        threads = min(threads, cores())
    if threads < 2:
        return [work(0, rows)]
    blocks = min(rows, threads * each)
    cuts = [rows * k // blocks for k in range(blocks + 1)]
    if blocks > threads:
        return list(_pool(threads).map(work, cuts[:-1], cuts[1:]))
    # To wake a thread takes about as long as short work does: this one is awake.
    others = [_pool(threads).submit(work, *ends) for ends in pairwise(cuts[1:])]
    return [work(cuts[0], cuts[1]), *(other.result() for other in others)]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Keep threads for later: to start them takes longer than much of what they do."""
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of the threads


class OneBlasThread:
    """Holds BLAS to one thread as long as somebody asks for it: the last one out restores it.

    The limit is that of the process. Were each caller to restore what it found, two of them at a
    time could leave the limit behind for good.
    """

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.controller: Any = None
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if self.controller is None:  # looking for the libraries takes milliseconds
                from threadpoolctl import ThreadpoolController

                self.controller = ThreadpoolController()
            if not self.users:
                self._take_control()
                self.limit = self.controller.limit(limits=1, user_api="blas")
            self.users += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                self._take_control()
                self.limit.restore_original_limits()
                self._take_control()

    def _take_control(self) -> None:
        """Let this thread, and any later one, set limits: some libraries heed the first one only.

        Since threadpoolctl 3.8 the others are ignored without a word, so that the last one out
        would restore nothing if it came second.
        """
        for library in self.controller.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread(force=True)


one_blas_thread = OneBlasThread()
