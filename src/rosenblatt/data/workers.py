"""Threads for work that needs no GIL: how many there are, and a `map` that runs on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from rosenblatt.errors import InputError

Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


def checked_threads(threads: int | None) -> int:
    """Give the number of threads asked for, or that of the cores that this process may use."""
    if threads is None:
        return cores()
    if threads < 1:
        raise InputError(f"threads must be at least 1, got {threads}")
    return threads


def cores() -> int:
    """Give the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def workers(threads: int) -> Iterator[Apply]:
    """Give a `map` that runs on so many threads; its results, and so its errors, come in order."""
    with ThreadPoolExecutor(threads) as pool:

        def apply(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            tasks = list(items)
            if threads == 1 or len(tasks) == 1:
                return map(function, tasks)
            # An error ends the pool's iterator, and that cancels the tasks not yet begun.
            return pool.map(function, tasks)

        yield apply
