"""A Dask cluster as an engine.

A shard is the result of a task that loads it. The scheduler knows its size, and so where a task on
it is at home, but nothing is pinned: when a worker goes, the shard is loaded by another one, from
its description or from the graph of the collection that it is a chunk of. What a round shares is
the result of a task, too, and held by the scheduler as long as the round lasts: it can be made
again, and is sent through the scheduler once. Nothing is scattered.

Without any worker, a run waits `rosenblatt.wait-for-workers` of Dask's configuration (a minute by
default), then gives up.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rosenblatt.cluster.engine import Done, Engine, Task, measured
from rosenblatt.cluster.inputs import Chunk, made
from rosenblatt.cluster.shards import Held, Shard, load
from rosenblatt.errors import ClusterError, MissingExtraError

AT_ONCE = 16  # results that are fetched together
LOOK_SECONDS = 1.0  # between two looks whether there is still a worker
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

    @classmethod
    def of(cls, client: Any) -> DaskEngine:
        """Take a client, an address or the name of a scheduler's file; None is the current one."""
        try:
            import distributed
        except ImportError:
            raise MissingExtraError("distributed", "cluster") from None
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
        self.shards = []
        if self.owned:
            self.client.close()

    def _put(self) -> None:
        from dask.delayed import delayed

        loads = []
        for description in self.descriptions:
            if isinstance(description, Chunk):
                parts = (description.name, description.X, description.y)
                loads.append(delayed(_held, pure=False)(*parts))
            else:
                loads.append(delayed(load, pure=False)(description))
        with _quietly(), self._connected():
            self.shards = self.client.compute(loads)
            # What is shared goes to the scheduler, then to each worker.
            self.copies = 1 + max(1, len(self.client.nthreads()))

    def _keep(self, places: Sequence[int]) -> None:
        self.shards = [self.shards[k] for k in places]

    def _results(self, task: Task, shared: Any, own: list[Any]) -> Iterator[Done]:
        name = f"{self.token}-{task.__name__}-{self.rounds}"
        with _quietly(), self._connected():
            given = self.client.submit(_given, shared, key=f"{name}-shared", pure=False)
            futures = self.client.map(
                _measured,
                self.shards,
                own,
                task=task,
                shared=given,
                key=[f"{name}-{k}" for k in range(len(own))],
                pure=False,
            )
        for start in range(0, len(futures), AT_ONCE):
            some = futures[start : start + AT_ONCE]
            with self._connected():
                self._wait(some)
                done = self.client.gather(some)
            futures[start : start + AT_ONCE] = [None] * len(some)  # the workers may forget them
            yield from done

    def _wait(self, futures: list[Any]) -> None:
        """Wait until futures are done, or no worker has been there for too long."""
        from dask import config
        from dask.utils import parse_timedelta
        from distributed import wait

        patience = parse_timedelta(config.get("rosenblatt.wait-for-workers", WAIT))
        since = time.monotonic()
        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=LOOK_SECONDS)
                return
            except TimeoutError:
                now = time.monotonic()
                since = now if self.client.nthreads() else since
                if now - since > patience:
                    raise ClusterError(
                        f"the cluster has had no worker for {patience:.0f} s; start one, or give "
                        "it more time: dask.config.set({'rosenblatt.wait-for-workers': '10m'})"
                    ) from None

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


def _connected(distributed: Any, name: str) -> Any:
    """Connect to a scheduler by its address, or by the file that it wrote."""
    where = {"scheduler_file": name} if name.endswith(".json") else {"address": name}
    if name.endswith(".json") and not os.path.exists(name):
        raise ClusterError(
            f"there is no file {name}; a scheduler writes it: dask scheduler --scheduler-file "
            f"{name}"
        )
    try:
        return distributed.Client(**where, timeout="10s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"no scheduler answers at {name}; check the address, or give local for processes of "
            "this machine"
        ) from error


@contextmanager
def _quietly() -> Iterator[None]:
    """Send weights and rows in memory without advice to scatter them, which would lose them."""
    from dask import config

    with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        yield


def _held(name: str, X: Any, y: Any) -> Shard:
    """Make a shard of a computed chunk."""
    shard = Shard(Held(name, made(X, y)))
    shard.examples  # noqa: B018 (which makes it usable)
    return shard


def _given(shared: Any) -> Any:
    return shared


def _measured(shard: Shard, own: Any, *, task: Task, shared: Any) -> Done:
    return measured(task, shard, shared, own)
