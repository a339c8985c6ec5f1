"""Threads for work that needs no GIL: how many, a `map` that runs on them, and running ahead."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

from rosenblatt.blocks import cores
from rosenblatt.pauses import as_here

T = TypeVar("T")
R = TypeVar("R")
Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


@contextmanager
def workers(threads: int | None) -> Iterator[Apply]:
    """Give a `map` that runs on so many threads, by default one for each core that may be used.

    Its results, and so its errors, come in order.
    """
    threads = cores() if threads is None else threads
    with ThreadPoolExecutor(threads) as pool:

        def apply(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            tasks = list(items)
            if threads == 1 or len(tasks) == 1:
                return map(function, tasks)
            # An error ends the pool's iterator, and that cancels the tasks not yet begun.
            return pool.map(_call, [as_here(function) for _ in tasks], tasks)

        yield apply


def _call(function: Callable[[Any], Any], item: Any) -> Any:
    return function(item)


def in_order(work: Callable[[T], R], items: Iterator[T], jobs: int) -> Iterator[R]:
    """Give what the work makes of each item, on so many threads, a few items at a time."""
    if jobs == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(jobs) as threads:
        under_way = deque(threads.submit(as_here(work), item) for item in islice(items, 2 * jobs))
        while under_way:
            yield under_way.popleft().result()
            under_way.extend(threads.submit(as_here(work), item) for item in islice(items, 1))


def ahead(items: Iterator[T], room: int = 2) -> Iterator[T]:
    """Give the items of an iterator that another thread runs, a few items ahead."""
    ready: queue.Queue[tuple[str, Any]] = queue.Queue(maxsize=room)
    abandoned = threading.Event()

    def put(kind: str, item: Any) -> None:
        while not abandoned.is_set():
            with suppress(queue.Full):
                ready.put((kind, item), timeout=0.1)
                return

    def run() -> None:
        try:
            for item in items:
                put("item", item)
                if abandoned.is_set():
                    return
            put("end", None)
        except BaseException as error:
            put("error", error)

    threading.Thread(target=as_here(run), daemon=True).start()
    try:
        while True:
            kind, item = ready.get()
            if kind == "error":
                raise item
            if kind == "end":
                return
            yield item
    finally:
        abandoned.set()
