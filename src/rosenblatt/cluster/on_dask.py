"""A Dask cluster as an engine.

A shard is the result of a task that loads it. A round is one task for each thread of a worker, over
the shards that are in that worker's memory: what they share is sent once for all of them. The
scheduler knows where the shards are, but nothing is pinned: when a worker goes, its shards are
loaded by others, from their descriptions or from the graph of the collection that they are chunks
of, and a worker that comes is given shards of those that hold more than their part. What a round
shares is an argument of its tasks or, for many workers, the result of a task, which they hand on to
one another. Nothing is scattered. Results come from the workers themselves where they can be
reached, else through the scheduler.

Without any worker, a run waits `rosenblatt.wait-for-workers` of Dask's configuration (a minute by
default), then gives up.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED
from concurrent.futures import wait as wait_in_threads
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from rosenblatt.cluster.engine import Done, Engine, Task, all_measured
from rosenblatt.cluster.inputs import DaskChunk, made
from rosenblatt.cluster.shards import RowsShard, Shard, load
from rosenblatt.errors import ClusterError, optional_module

AT_ONCE = 16  # results that are fetched at a time, and tasks that are sent what they share
TOGETHER = 64  # shards at most that are one task
CONNECT_SECONDS = 10.0  # that a scheduler may take to answer
REACH_SECONDS = 5.0  # that workers may take to answer, or the scheduler fetches their results
LOOK_SECONDS = 1.0  # between two looks at which workers there are, and what they hold
WAIT = "60s"
GONE = (
    "the scheduler went away; connect again, and give the same call a checkpoint= to go on from "
    "the last round"
)


class DaskEngine(Engine):
    """The workers of a client's cluster."""

    def __init__(self, client: Any, owned: bool = False) -> None:
        super().__init__()
        self.client, self.owned = client, owned
        self.token = f"rosenblatt-{uuid.uuid4().hex[:12]}"
        self.shards: list[Any] = []
        self.moving: dict[int, tuple[str, Any]] = {}
        self.fetched: list[Any] = []  # of the last round
        self.groups: list[list[int]] = []  # the shards of each task
        self.looked = -math.inf
        self.known: set[str] = set()  # workers that were asked whether they can be reached
        self.direct = True

    @classmethod
    def of(cls, client: Any) -> DaskEngine:
        """Take a client, an address or the name of a scheduler's file; None is the current one."""
        distributed = optional_module("distributed", "cluster")
        if client is None:
            try:
                return cls(distributed.default_client())
            except ValueError:
                raise ClusterError(
                    "there is no current client; make one by dask.distributed.Client(address), or "
                    "give client='local' for processes of this machine"
                ) from None
        if not isinstance(client, str | os.PathLike):
            return cls(client)
        return cls(_connected(distributed, os.fsdecode(client)), owned=True)

    def close(self) -> None:
        """Let the cluster forget the shards; a client that was made here is closed."""
        _release([*self.shards, *self.fetched, *(future for _, future in self.moving.values())])
        self.shards, self.moving, self.fetched = [], {}, []
        if self.owned:
            self.client.close()

    def _put(self) -> None:
        with _quietly(), self._connected():
            # Nothing we wait for is restricted to workers: were all lost, new ones would not do.
            _release(self.shards)
            self.shards = self.client.compute([_lazy(each) for each in self.descriptions])
            self.groups = []
            # What is shared goes to the scheduler, then to each worker.
            self.copies = 1 + max(1, len(self._threads()))

    def _threads(self) -> dict[str, int]:
        return dict(self.client.nthreads())

    def _keep(self, places: Sequence[int]) -> None:
        self.shards, self.groups = [self.shards[k] for k in places], []

    def _find_groups(self) -> None:
        """Find out the shards of each task, those that a worker holds, if they may have moved."""
        if not self.groups or not self._are_loaded():
            self._wait(self.shards)
            self.groups = self._held_together()

    def _look_again(self) -> None:
        """See which workers came and went, now and then: it costs a round some milliseconds."""
        if time.monotonic() - self.looked > LOOK_SECONDS and self._are_loaded():
            self.groups = self._held_together()

    def _are_loaded(self) -> bool:
        return all(shard.done() for shard in self.shards)

    def _held_together(self) -> list[list[int]]:
        self.looked = time.monotonic()
        threads, holders = self._threads(), self.client.who_has(self.shards)
        self._look_for(set(threads))
        where = [holders.get(shard.key, ()) for shard in self.shards]
        held, moves = shared_out(where, threads)
        for k, home in moves.items():
            if k not in self.moving or self.moving[k][0] != home:
                self.moving[k] = home, self._moved_to(k, home)
        groups = []
        for worker, mine in held.items():
            count = max(threads.get(worker, 1), -(-len(mine) // TOGETHER))
            cuts = [len(mine) * k // count for k in range(count + 1)]
            groups += [mine[a:b] for a, b in pairwise(cuts) if a < b]
        return sorted(groups)

    def _look_for(self, workers: set[str]) -> None:
        """Fetch results from the workers themselves as long as all of them can be reached."""
        new = workers - self.known
        if self.direct and new:
            self.direct = self.client.sync(_all_answer, self.client, new)
        self.known |= new

    def _moved_to(self, k: int, home: str) -> Any:
        """Let a worker fetch a shard, while rounds go on; Dask drops what is then held twice."""
        key, where = f"{self.token}-{uuid.uuid4().hex}", {"workers": [home]}
        return self.client.submit(
            _fetch, self.shards[k], key=key, pure=False, allow_other_workers=True, **where
        )

    def _results(self, task: Task, shared: Any, own: list[Any]) -> Iterator[Done]:
        name = f"{self.token}-{task.__name__}-{self.rounds}"
        with _quietly(), self._connected():
            self._find_groups()
            groups, given = self.groups, shared
            if len(groups) > AT_ONCE:
                given = self.client.submit(_given, shared, key=f"{name}-shared", pure=False)
            futures = self.client.map(
                all_measured,
                [task] * len(groups),
                [given] * len(groups),
                [[own[k] for k in group] for group in groups],
                [[self.shards[k] for k in group] for group in groups],
                key=[f"{name}-{k}" for k in range(len(groups))],
                pure=False,
            )
            coming = self._coming(groups, futures)
            # Only now may workers forget the results of the round before: told so earlier, Dask
            # would keep the new tasks back for 5 to 10 ms, for it sends messages in batches.
            _release(self.fetched)
            self.fetched = [*futures, given] if given is not shared else list(futures)
            self._look_again()
        return self._in_order(coming)

    def _coming(self, groups: list[list[int]], futures: list[Any]) -> dict[Any, list[int]]:
        """Begin to fetch results, each as soon as it is there, on the thread of Dask's messages."""
        loop, turns = self.client.loop.asyncio_loop, asyncio.Semaphore(AT_ONCE)
        coming = (_fetched(self.client, future, self.direct, turns) for future in futures)
        begun = (asyncio.run_coroutine_threadsafe(each, loop) for each in coming)
        return dict(zip(begun, groups, strict=True))

    def _in_order(self, coming: dict[Any, list[int]]) -> Iterator[Done]:
        """Give results in the order of the shards."""
        arrived: dict[int, Done] = {}
        following = 0
        try:
            while coming:
                with self._connected():
                    self._be_patient(lambda seconds: _is_one_done(coming, seconds))
                    ready = [each for each in coming if each.done()]
                    for each in ready:
                        arrived.update(zip(coming.pop(each), each.result(), strict=True))
                while following in arrived:
                    yield arrived.pop(following)
                    following += 1
        finally:
            for each in coming:
                each.cancel()

    def _wait(self, futures: list[Any]) -> None:
        """Wait until futures are done."""
        from distributed import wait

        def are_done(seconds: float) -> bool:
            try:
                with self.client.as_current():
                    wait(futures, timeout=seconds)
            except TimeoutError:
                return False
            return True

        self._be_patient(are_done)

    def _be_patient(self, is_done: Callable[[float], bool]) -> None:
        """Wait until something is done, or no worker has been there for too long."""
        from dask import config
        from dask.utils import parse_timedelta

        patience = parse_timedelta(config.get("rosenblatt.wait-for-workers", WAIT))
        since = time.monotonic()
        while not is_done(LOOK_SECONDS):
            now = time.monotonic()
            since = now if self.client.nthreads() else since
            if now - since > patience:
                raise ClusterError(
                    f"the cluster has had no worker for {patience:.0f} s; start one, or give "
                    "it more time: dask.config.set({'rosenblatt.wait-for-workers': '10m'})"
                )

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Say in a sentence that the scheduler, or too many workers, are gone."""
        from concurrent.futures import CancelledError

        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise ClusterError(
                f"worker after worker died over the same shard ({error.task}); it may need more "
                "memory than they have: give smaller shards"
            ) from error
        except (CommClosedError, CancelledError, OSError, RuntimeError) as error:
            if isinstance(error, ClusterError) or self._is_there():
                raise
            raise ClusterError(GONE) from error

    def _is_there(self) -> bool:
        return bool(self.client.status == "running" and self.client.scheduler.status == "running")


async def _fetched(client: Any, future: Any, direct: bool, turns: asyncio.Semaphore) -> Any:
    """Fetch a result; one that is lost on the way is computed again, if there is a worker."""
    from distributed import wait

    with client.as_current():
        await wait([future])
    async with turns:
        return await client.gather(future, direct=direct, asynchronous=True)


def _is_one_done(coming: Iterable[Any], seconds: float) -> bool:
    return bool(wait_in_threads(coming, seconds, FIRST_COMPLETED).done)


async def _all_answer(client: Any, workers: set[str]) -> bool:
    """Tell whether all workers answer soon."""
    asked = (client.rpc(worker).identity() for worker in workers)
    try:
        found = await asyncio.wait_for(
            asyncio.gather(*asked, return_exceptions=True), REACH_SECONDS
        )
    except TimeoutError:
        return False
    return not any(isinstance(each, Exception) for each in found)


def _connected(distributed: Any, name: str) -> Any:
    """Connect to a scheduler by its address, or by the file that it wrote."""
    where = {"scheduler_file": name} if name.endswith(".json") else {"address": name}
    if name.endswith(".json") and not os.path.exists(name):
        raise ClusterError(
            f"there is no file {name}; a scheduler writes it: dask scheduler --scheduler-file "
            f"{name}"
        )
    try:
        return distributed.Client(**where, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"no scheduler answers at {name}; check the address, or give local for processes of "
            "this machine"
        ) from error


def _release(futures: Iterable[Any]) -> None:
    """Let workers forget results at once: futures may stay in cycles of Dask's until collected."""
    for future in futures:
        future.release()


@contextmanager
def _quietly() -> Iterator[None]:
    """Send weights and rows in memory without advice to scatter them, which would lose them."""
    from dask import config

    with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        yield


def shared_out(
    holders: Sequence[Sequence[str]], threads: Mapping[str, int]
) -> tuple[dict[str, list[int]], dict[int, str]]:
    """Give the shards of each worker, and the workers that should fetch some of them.

    A shard that nobody holds goes to the worker with the fewest. One should move if its worker has
    more than its part of all shards while another has less.
    """
    held: dict[str, list[int]] = {name: [] for name in threads}
    if not held:
        return {"": list(range(len(holders)))}, {}
    count = dict.fromkeys(threads, 0)

    def busy(name: str) -> float:
        return count[name] / threads[name]

    for k, names in enumerate(holders):
        name = min([name for name in names if name in held] or held, key=busy)
        held[name].append(k)
        count[name] += 1
    moves: dict[int, str] = {}
    part = -(-len(holders) // sum(threads.values()))
    for name, mine in held.items():
        for k in mine[part * threads[name] :]:
            least = min(held, key=busy)
            if busy(least) < part:
                moves[k] = least
                count[least] += 1
    return held, moves


def _lazy(description: Any) -> Any:
    """Give the task that loads a shard."""
    from dask.delayed import delayed

    whole = not isinstance(description, DaskChunk)
    parts = (description,) if whole else (description.name, description.X, description.y)
    task: Any = delayed(load if whole else _held, pure=False)
    return task(*parts)


def _held(name: str, X: Any, y: Any) -> Shard:
    """Make a shard of a computed chunk."""
    shard = Shard(RowsShard(name, made(X, y)))
    shard.examples  # noqa: B018 (which makes it usable)
    return shard


def _fetch(shard: Shard) -> None:
    shard.examples  # noqa: B018 (which loads it)


def _given(shared: Any) -> Any:
    return shared
