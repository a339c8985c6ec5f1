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
from rosenblatt.cluster.engine import Done, Engine, Task, all_measured
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
        self.processes = self.copies = min(len(self.pools), len(self.keys))

    def _keep(self, places: Sequence[int]) -> None:
        self.keys = [self.keys[k] for k in places]

    def _results(self, task: Task, shared: Any, own: list[Any]) -> Iterator[Done]:
        places = range(min(self.processes, len(own)))
        call = (task, shared, own)
        futures = [self._submitted(place, *call) for place in places]
        for k in range(len(own)):
            place = k % self.processes
            if k < self.processes:
                futures[place] = self._finished(place, futures[place], call)
            yield futures[place].result()[k // self.processes]

    def _finished(self, place: int, future: Future, call: tuple[Any, ...]) -> Future:
        """Wait for a process; one that dies is replaced, and the new one does all of it again."""
        for _ in range(MOST_DEATHS + 1):
            if not isinstance(future.exception(), BrokenProcessPool):
                return future
            broken = self.pools[place]
            if broken is not None:
                broken.shutdown(cancel_futures=True)
            self.pools[place], self.known[place] = None, set()
            future = self._submitted(place, *call)
        raise self._gave_up(place)

    def _submitted(self, place: int, task: Task, shared: Any, own: list[Any]) -> Future:
        """Give a process its shards of a round, with those that it does not know yet."""
        pool, mine = self.pools[place], slice(place, None, self.processes)
        if pool is None:
            context = multiprocessing.get_context("spawn")
            pool = self.pools[place] = ProcessPoolExecutor(1, mp_context=context)
        keys, known = self.keys[mine], self.known[place]
        pairs = zip(keys, self.descriptions[mine], strict=True)
        unknown = {key: description for key, description in pairs if key not in known}
        try:
            future = pool.submit(_work, keys, unknown, task, shared, own[mine])
        except BrokenProcessPool as error:  # `_finished` deals with it
            future = Future()
            future.set_exception(error)
            return future
        known.update(keys)
        return future

    def _gave_up(self, place: int) -> ClusterError:
        names = [each.name for each in self.descriptions[place :: self.processes]]
        several = f" or {len(names) - 1} others" if len(names) > 1 else ""
        return ClusterError(
            f"{MOST_DEATHS + 1} processes died over {names[0]}{several}; a shard may need more "
            "memory than there is: give smaller ones. In a script, call this below "
            "`if __name__ == '__main__':`"
        )


def _work(
    keys: list[str], unknown: dict[str, Description], task: Task, shared: Any, own: list[Any]
) -> list[Done]:
    """Do a task in a worker, which gets to know a shard with its first task."""
    _shards.update((key, Shard(description)) for key, description in unknown.items())
    return all_measured(task, shared, own, [_shards[key] for key in keys])
