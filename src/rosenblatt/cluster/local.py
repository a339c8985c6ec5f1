"""Processes of this machine as an engine.

Each process is a pool of its own, to which the same shards come in every round, so that their rows
stay where they are. A process that dies is started again, and what it had not finished is done
again: that costs the reading of its shards.
"""

from __future__ import annotations

import multiprocessing
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from rosenblatt.blocks import cores
from rosenblatt.cluster.engine import Done, Engine, Task, measured
from rosenblatt.cluster.shards import Description, Shard
from rosenblatt.errors import ClusterError

MOST_DEATHS = 3  # of processes over one task, which may be what kills them

_shards: dict[str, Shard] = {}  # in a worker: those that came to it


class LocalEngine(Engine):
    """So many processes, by default one for each core."""

    def __init__(self, processes: int | None = None) -> None:
        super().__init__()
        self.processes = processes or cores()
        self.pools: list[ProcessPoolExecutor | None] = [None] * self.processes
        self.known: list[set[str]] = [set() for _ in self.pools]
        self.keys: list[str] = []

    def close(self) -> None:
        """End the processes, also in mid-task."""
        for pool in self.pools:
            if pool is not None:
                for process in list((pool._processes or {}).values()):
                    process.terminate()
                pool.shutdown(cancel_futures=True)
        self.pools = [None] * self.processes

    def _put(self) -> None:
        token = uuid.uuid4().hex
        self.keys = [f"{token}-{k}" for k in range(len(self.descriptions))]
        self.copies = len(self.keys)
        self.processes = min(self.processes, len(self.keys))

    def _keep(self, places: Sequence[int]) -> None:
        self.keys = [self.keys[k] for k in places]
        self.copies = len(self.keys)

    def _results(self, task: Task, shared: Any, own: list[Any]) -> Iterator[Done]:
        calls = [(task, shared, each) for each in own]
        futures: dict[int, Future] = {k: self._submitted(k, calls[k]) for k in range(len(calls))}
        deaths = [0] * len(calls)
        for k in range(len(calls)):
            while True:
                try:
                    yield futures[k].result()
                    break
                except BrokenProcessPool:
                    deaths[k] += 1
                    if deaths[k] > MOST_DEATHS:
                        raise self._gave_up(k) from None
                    self._restart(k, calls, futures)

    def _restart(self, k: int, calls: list[Any], futures: dict[int, Future]) -> None:
        """Replace the process of a shard, and give the new one what the old one left undone."""
        place = k % self.processes
        broken = self.pools[place]
        if broken is not None:
            broken.shutdown(cancel_futures=True)
        self.pools[place], self.known[place] = None, set()
        for other in range(k, len(calls)):
            if other % self.processes == place and not _is_good(futures[other]):
                futures[other] = self._submitted(other, calls[other])

    def _submitted(self, k: int, call: tuple[Task, Any, Any]) -> Future:
        place, key = k % self.processes, self.keys[k]
        pool = self.pools[place]
        if pool is None:
            context = multiprocessing.get_context("spawn")
            pool = self.pools[place] = ProcessPoolExecutor(1, mp_context=context)
        unknown = None if key in self.known[place] else self.descriptions[k]
        try:
            future = pool.submit(_work, key, unknown, *call)
        except BrokenProcessPool as error:  # `result` is where that is dealt with
            future = Future()
            future.set_exception(error)
            return future
        self.known[place].add(key)
        return future

    def _gave_up(self, k: int) -> ClusterError:
        return ClusterError(
            f"{MOST_DEATHS + 1} processes died over {self.descriptions[k].name}; it may need more "
            "memory than there is: give smaller shards. In a script, call this below "
            "`if __name__ == '__main__':`"
        )


def _is_good(future: Future) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _work(key: str, description: Description | None, task: Task, shared: Any, own: Any) -> Done:
    """Do a task in a worker, which gets to know a shard with its first task."""
    if description is not None:
        _shards[key] = Shard(description)
    return measured(task, _shards[key], shared, own)
