"""What an algorithm may ask of many machines, and nothing else.

put     shards, by descriptions from which any worker can load them
map     one task for each shard: task(shard, shared, own), where `shared` is the same for all and
        `own` belongs to the shard. Results come in the order of the shards, whatever ends first,
        so that what is added up is the same bit for bit on any number of workers. Large vectors
        are added up by the workers already, as `reproducible` sums, in whatever order (`Summand`)
keep    some of the shards from now on

A round is one `map`; `RoundFile` writes down what is known after it. An engine has
`_put`, `_results` and `close`, and sees to it that a task whose worker is lost is done again.
No algorithm knows which engine runs it.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import platform
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from rosenblatt.cluster.reproducible import MOST_TERMS, Summand
from rosenblatt.cluster.shards import Description, Shard
from rosenblatt.data.files import write_atomically
from rosenblatt.errors import InputError, ModelFileError

Task = Callable[[Shard, Any, Any], Any]


class Done(NamedTuple):
    """What a task gave, the seconds it took, and who did it."""

    value: Any
    seconds: float
    worker: str


class Round(NamedTuple):
    """What a round cost.

    Attributes
    ----------
    seconds : from the first task to the last result.
    busy, longest : the seconds of all tasks together, and of those of the busiest worker.
    slowest, slowest_seconds : the shard whose task took longest.
    moved : bytes that went to workers and came back.
    """

    seconds: float
    busy: float
    longest: float
    slowest: str
    slowest_seconds: float
    moved: int


class Engine:
    """Workers, and the shards that they know."""

    copies: int  # how often what is shared by all tasks of a round is sent

    def __init__(self) -> None:
        self.descriptions: list[Description] = []
        self.rounds = 0
        self.moved = 0
        self.latest: Round | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what the engine made."""
        raise NotImplementedError

    def put(self, descriptions: Sequence[Description]) -> None:
        """Make shards known."""
        if not descriptions:
            raise InputError("there are no shards; give at least one file, chunk or pair (X, y)")
        if len(descriptions) > MOST_TERMS:
            raise InputError(
                f"{len(descriptions):,} shards are more than can be added up; give at most "
                f"{MOST_TERMS:,} larger ones"
            )
        self.descriptions = list(descriptions)
        self._put()

    def keep(self, places: Sequence[int]) -> None:
        """Go on with some of the shards."""
        self.descriptions = [self.descriptions[k] for k in places]
        self._keep(places)

    def map(
        self,
        task: Task,
        shared: Any,
        own: Sequence[Any] | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Iterator[Any]:
        """Do a task for each shard; give the results in the order of the shards.

        What the tasks need not wait for is done meanwhile.
        """
        mine = [None] * len(self.descriptions) if own is None else list(own)
        began, slowest = time.perf_counter(), (0.0, "")
        busy: defaultdict[str, float] = defaultdict(float)
        done = self._results(task, shared, mine)
        moved = self.copies * size_of(shared) + (0 if own is None else size_of(mine))
        meanwhile()
        for description, (value, seconds, worker) in zip(self.descriptions, done, strict=True):
            busy[worker], slowest = (
                busy[worker] + seconds,
                max(slowest, (seconds, description.name)),
            )
            moved += size_of(value)
            yield value
        self.rounds, self.moved = self.rounds + 1, self.moved + moved
        total, longest = sum(busy.values()), max(busy.values())
        self.latest = Round(time.perf_counter() - began, total, longest, *slowest[::-1], moved)

    # ---- what differs

    def _put(self) -> None:
        raise NotImplementedError

    def _keep(self, places: Sequence[int]) -> None:
        raise NotImplementedError

    def _results(self, task: Task, shared: Any, own: list[Any]) -> Iterator[Done]:
        """Begin a round, and give its results as they are asked for."""
        raise NotImplementedError


def all_measured(task: Task, shared: Any, own: list[Any], shards: list[Shard]) -> list[Done]:
    """Do a task on several shards, one after the other; the last one has what they add up."""
    done: list[Done] = []
    worker = f"{platform.node()}-{os.getpid()}-{threading.get_ident()}"
    for shard, each in zip(shards, own, strict=True):
        began = time.perf_counter()
        value = _named(task, shard, shared, each)
        if done and isinstance(value, Summand):
            value.take_over(done[-1].value)
        done.append(Done(value, time.perf_counter() - began, worker))
    return done


def _named(task: Task, shard: Shard, shared: Any, own: Any) -> Any:
    """Do a task where the shard is; an error that names no file is given the shard's name."""
    try:
        return task(shard, shared, own)
    except InputError as error:
        if type(error) is not InputError or str(error).startswith(shard.description.name):
            raise
        raise InputError(f"{shard.description.name}: {error}") from error


def size_of(value: Any) -> int:
    """Give the bytes that something takes when it is sent."""
    parts: list[pickle.PickleBuffer] = []
    text = pickle.dumps(value, protocol=5, buffer_callback=parts.append)
    return len(text) + sum(part.raw().nbytes for part in parts)


@dataclass(frozen=True)
class RoundFile:
    """A file with what was known after a round, for a run that begins again.

    It names what the run is about: the learner, its options, the shards. All that happens after a
    round depends on that and on what is written here, so that a run that goes on from it ends with
    the same weights.
    """

    path: Path
    about: str

    @classmethod
    def of(cls, path: Any, about: Any) -> RoundFile | None:
        """Give the checkpoint of a run, None if nobody wants one."""
        if path is None:
            return None
        text = json.dumps(about, sort_keys=True, default=str)
        return cls(Path(path), hashlib.sha256(text.encode()).hexdigest())

    def write(self, arrays: dict[str, np.ndarray]) -> None:
        """Replace the checkpoint as a whole."""
        from safetensors.numpy import save

        laid = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
        write_atomically(self.path, save(laid, {"about": self.about}))

    def read(self) -> dict[str, np.ndarray] | None:
        """Give the arrays, None if there is no checkpoint yet."""
        from safetensors import SafetensorError, safe_open

        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, "np") as file:
                about = (file.metadata() or {}).get("about")
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise ModelFileError(f"{self.path} is not a checkpoint: {error}") from error
        if about != self.about:
            raise ModelFileError(
                f"{self.path} is a checkpoint of other data or of other options; delete it to "
                "start anew"
            )
        return arrays

    def remove(self) -> None:
        """Forget it, at the end of a run."""
        self.path.unlink(missing_ok=True)
