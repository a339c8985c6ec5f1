"""Processes of this machine as an engine.

The same shards come to a process in every round, so that their rows stay where they are. A process
that dies is started again, and what it had not finished is done again: that costs the reading of
its shards. A call and its answer go through a pipe, whose end is seen when the other side is gone:
no thread stands between that could wait for ever.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import traceback
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from rosenblatt.blocks import cores
from rosenblatt.cluster.engine import Done, Engine, Task, all_measured
from rosenblatt.cluster.shards import Description, Shard
from rosenblatt.errors import ClusterError, RosenblattError

MOST_DEATHS = 3  # of processes over one task, which may be what kills them


class LocalEngine(Engine):
    """So many processes, by default one for each core."""

    def __init__(self, processes: int | None = None) -> None:
        super().__init__()
        self.most = self.processes = processes or cores()
        self.workers: dict[int, Worker] = {}
        self.keys: list[str] = []

    def close(self) -> None:
        """End the processes, also in mid-task."""
        for worker in self.workers.values():
            worker.end()
        self.workers = {}

    def _put(self) -> None:
        token = uuid.uuid4().hex
        self.keys = [f"{token}-{k}" for k in range(len(self.descriptions))]
        self.processes = self.copies = min(self.most, len(self.keys))

    def _keep(self, places: Sequence[int]) -> None:
        self.keys = [self.keys[k] for k in places]

    def _results(self, task: Task, shared: Any, own: list[Any]) -> Iterator[Done]:
        places = range(min(self.processes, len(own)))
        call = pickle.dumps((task, shared), protocol=5)
        for place in places:  # they start together
            self.workers[place] = self.workers.get(place) or Worker()
        for place in places:
            self._ask(place, call, own)
        return self._in_order(call, own)

    def _in_order(self, call: bytes, own: list[Any]) -> Iterator[Done]:
        """Wait for one process after the other."""
        done: dict[int, list[Done]] = {}
        for k in range(len(own)):
            place = k % self.processes
            if place not in done:
                done[place] = self._answer(place, call, own)
            yield done[place][k // self.processes]

    def _ask(self, place: int, call: bytes, own: list[Any]) -> None:
        """Give a process its shards of a round, with those that it does not know yet."""
        mine, worker = slice(place, None, self.processes), self.workers[place]
        keys = self.keys[mine]
        pairs = zip(keys, self.descriptions[mine], strict=True)
        unknown = {key: each for key, each in pairs if key not in worker.known}
        worker.ask(pickle.dumps((keys, unknown, own[mine], call), protocol=5))
        worker.known = set(keys)

    def _answer(self, place: int, call: bytes, own: list[Any]) -> list[Done]:
        """Wait for a process; one that dies is replaced, and the new one does all of it again."""
        for _ in range(MOST_DEATHS + 1):
            answer = self.workers[place].answer()
            if isinstance(answer, Exception):
                raise answer
            if answer is not None:
                return answer
            self.workers[place].end()
            self.workers[place] = Worker()
            self._ask(place, call, own)
        raise self._gave_up(place)

    def _gave_up(self, place: int) -> ClusterError:
        names = [each.name for each in self.descriptions[place :: self.processes]]
        several = f" or {len(names) - 1} others" if len(names) > 1 else ""
        return ClusterError(
            f"{MOST_DEATHS + 1} processes died over {names[0]}{several}; a shard may need more "
            "memory than there is: give smaller ones. In a script, call this below "
            "`if __name__ == '__main__':`"
        )


class Worker:
    """A process, and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, end = context.Pipe()
        self.process = context.Process(target=_serve, args=(end,), daemon=True)
        self.process.start()
        end.close()  # the process has it, and its end is the end of the pipe
        self.known: set[str] = set()
        self.asked = False

    def ask(self, call: bytes) -> None:
        """Send a call; that the process is gone is told by `answer`."""
        if self.asked:  # by a round that was given up: it would wait for us, and we for it
            self.answer()
        self.asked = True
        with suppress(OSError):
            self.pipe.send_bytes(call)

    def answer(self) -> list[Done] | Exception | None:
        """Wait for the answer; None if the process is gone."""
        try:
            self.pipe.poll(None)  # may be interrupted, and an answer should not
            found: list[Done] | Exception = self.pipe.recv()
        except (EOFError, OSError):
            return None
        self.asked = False
        return found

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


# ---- in a process


def _serve(pipe: Connection) -> None:
    """Answer calls until nobody is there to call."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides what ends
    shards: dict[str, Shard] = {}
    with suppress(EOFError, OSError):
        while True:
            call = pipe.recv_bytes()
            try:
                answer = pickle.dumps(_work(shards, *pickle.loads(call)), protocol=5)
            except Exception as error:  # which the caller raises
                answer = _told(error)
            pipe.send_bytes(answer)


def _work(
    shards: dict[str, Shard],
    keys: list[str],
    unknown: dict[str, Description],
    own: list[Any],
    call: bytes,
) -> list[Done]:
    """Do a task on shards, which are known from their first task on until one without them."""
    for key in shards.keys() - set(keys):
        del shards[key]
    shards.update((key, Shard(description)) for key, description in unknown.items())
    task, shared = pickle.loads(call)
    return all_measured(task, shared, own, [shards[key] for key in keys])


def _told(error: Exception) -> bytes:
    """Give an error as it is or, if it cannot be sent, in words."""
    if not isinstance(error, RosenblattError):
        error.add_note(traceback.format_exc())
    try:
        told = pickle.dumps(error)
        pickle.loads(told)
    except Exception:  # of whatever kind
        return pickle.dumps(ClusterError(f"{type(error).__name__}: {error}"))
    return told
