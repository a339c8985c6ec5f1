"""All learners of a folder, and the one writer.

Each learner is a store in a folder of its own. One thread writes: it takes all changes of a learner
that wait, stores them in one transaction with one flush, and only then are they learned and
acknowledged. While it flushes, the next ones gather. Answers come from memory meanwhile. Clients
that were just answered get a moment to come back, so that all share the next flush: with eight of
them on a disk that takes 5 ms, that is nearly twice as many corrections a second.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rosenblatt.errors import InputError, RosenblattError, StoreError
from rosenblatt.serve.hosted import Hosted
from rosenblatt.serve.inbox import MOST
from rosenblatt.serve.keeper import Keeper
from rosenblatt.serve.refusals import RefusalError
from rosenblatt.store.journal import Correction, Lesson, Position, Undo
from rosenblatt.store.store import JOURNAL, Store, StoredLearner, new_learner

LOCK = "serve.lock"
AT_ONCE = 16  # corrections that are learned before other requests have their turn
MOST_PATIENCE = 0.005  # seconds to wait for clients that come back


class ServiceLimits(NamedTuple):
    """What a server takes at most."""

    learners: int = 100
    features: int = 1_000_000  # names of one learner
    body: int = 1 << 20  # bytes of a request
    rate: float = 1_000.0  # requests a second from another machine
    waiting: int = 10_000  # changes that wait to be written
    rows: int = 1_000_000  # numbers in the rows of /separate and /verify


LIMITS = ServiceLimits()


class Written(NamedTuple):
    """What became of changes, and what is to be learned: a new learner if some were undone."""

    results: list[Any]
    lessons: list[Lesson]
    position: Position
    held: StoredLearner | None


@dataclass
class Waiting:
    """The changes of one learner that wait for the writer."""

    changes: list[tuple[Sequence[Correction] | Undo, asyncio.Future[Any]]] = field(
        default_factory=list
    )
    writing: bool = False
    wanted: int = 0  # changes for which the writer waits a moment
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    async def gather(self, wanted: int, seconds: float) -> None:
        """Wait until so many changes are there, but not for long."""
        if len(self.changes) < wanted > 1:
            self.wanted = wanted
            self.enough.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.enough.wait()


class Commits:
    """What the writer did, for the metrics."""

    def __init__(self) -> None:
        self.count, self.changes, self.failed, self.seconds = 0, 0, 0, 0.0

    def note(self, changes: int, seconds: float) -> float:
        """Count a flush; give the seconds that it took."""
        self.count += 1
        self.changes += changes
        self.seconds += seconds
        return seconds


class Service:
    """The learners of a folder.

    Parameters
    ----------
    folder : path
        Holds a folder for each learner; it is made if it is not there.
    limits : ServiceLimits
        What is taken at most.
    """

    def __init__(self, folder: Path, limits: ServiceLimits = LIMITS) -> None:
        self.folder, self.limits = folder, limits
        self.learners: dict[str, Hosted] = {}
        self.broken: dict[str, str] = {}  # learners whose store cannot be read, and why
        self.commits, self.began = Commits(), time.time()
        self.closing = asyncio.Event()
        self._lock = _locked(folder)
        self._writer = ThreadPoolExecutor(1, "writer")
        self._stores: dict[str, Store] = {}  # of the writer
        self._waiting: dict[str, Waiting] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._making = asyncio.Lock()
        self._keeper: Keeper | None = None

    # ---- opening and closing

    async def open(self) -> None:
        """Load all learners."""
        await asyncio.to_thread(warm)
        loop = asyncio.get_running_loop()
        self._keeper = Keeper(lambda *said: loop.call_soon_threadsafe(self._prove, *said))
        for path in sorted(self.folder.glob(f"*/{JOURNAL}")):
            name = path.parent.name
            try:
                self._host(await self._in_writer(self._opened, name))
            except RosenblattError as error:
                self.broken[name] = str(error)

    async def close(self) -> None:
        """Write what waits, and a snapshot of each learner."""
        self.closing.set()
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._in_writer(self._close_stores)
        self._writer.shutdown()
        if self._keeper is not None:
            await asyncio.to_thread(self._keeper.close)
        if self._lock is not None:
            self._lock.close()

    def _close_stores(self) -> None:
        for store in self._stores.values():
            store.close()

    def _opened(self, name: str) -> Hosted:
        store = self._stores[name] = Store(self.folder / name)
        recent = store.journal.latest(MOST)
        return Hosted(name, store.facts(), store.hand_over(), recent)

    def _host(self, hosted: Hosted) -> None:
        self.learners[hosted.name] = hosted
        self._waiting[hosted.name] = Waiting()
        self._keep(hosted)

    async def _in_writer(self, work: Callable[..., Any], *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._writer, work, *given)

    # ---- learners

    def get(self, name: str) -> Hosted:
        """Give a learner by its name."""
        if name in self.broken:
            raise StoreError(self.broken[name])
        if name not in self.learners:
            raise RefusalError(404, f"there is no learner {name}; teach it something first")
        return self.learners[name]

    async def make(self, name: str, learner: str, options: dict[str, Any], **facts: Any) -> Hosted:
        """Make a learner, or give the one that has this name."""
        async with self._making:
            if name in self.learners or name in self.broken:
                return self.get(name)
            if len(self.learners) + len(self.broken) >= self.limits.learners:
                most = self.limits.learners
                raise RefusalError(400, f"there are {most} learners, and no more are taken")
            self._host(await self._in_writer(self._made, name, learner, options, facts))
        return self.learners[name]

    def _made(
        self, name: str, learner: str, options: dict[str, Any], facts: dict[str, Any]
    ) -> Hosted:
        Store.create(self.folder / name, learner, options, **facts).close()
        return self._opened(name)

    # ---- changes

    async def change(self, hosted: Hosted, change: Sequence[Correction] | Undo) -> Any:
        """Store corrections, or take one back; comes back when that is on disk and learned."""
        waiting = self._waiting[hosted.name]
        if len(waiting.changes) >= self.limits.waiting:
            raise RefusalError(503, "too many corrections wait to be written; try again soon")
        future = asyncio.get_running_loop().create_future()
        waiting.changes.append((change, future))
        if len(waiting.changes) >= waiting.wanted:
            waiting.enough.set()
        if not waiting.writing:
            waiting.writing = True
            task = asyncio.create_task(self._write(hosted, waiting))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _write(self, hosted: Hosted, waiting: Waiting) -> None:
        """Write what waits until nothing does."""
        while waiting.changes:
            batch, waiting.changes = waiting.changes, []
            changes, futures = zip(*batch, strict=True)
            begin, position = time.perf_counter(), hosted.held.position
            results: Sequence[Any]
            try:
                done = await self._in_writer(self._commit, hosted.name, changes, position)
                taken = self.commits.note(len(changes), time.perf_counter() - begin)
                await self._learn(hosted, done)
                results = done.results
            except Exception as error:
                self.commits.failed += 1
                results, taken = [error] * len(batch), 0.0
            for future, result in zip(futures, results, strict=True):
                _settle(future, result)
            self._keep(hosted)
            await waiting.gather(len(batch) + len(waiting.changes), min(taken / 2, MOST_PATIENCE))
        waiting.writing = False

    async def _learn(self, hosted: Hosted, done: Written) -> None:
        """Learn what is on disk; a learner that cannot is no longer served."""
        if done.held is not None:
            hosted.replace(done.held)
            return
        try:
            for k in range(0, len(done.lessons), AT_ONCE):
                if k:  # not after the last, so that nobody reads counts before the inbox has them
                    await asyncio.sleep(0)
                hosted.learn(done.lessons[k : k + AT_ONCE])
        except Exception as error:
            sentence = f"{hosted.name} cannot learn what its journal holds: {error}"
            self.broken[hosted.name] = sentence
            self.learners.pop(hosted.name, None)
            raise StoreError(sentence) from error
        hosted.held.position = done.position

    def _commit(self, name: str, changes: Sequence[Any], position: Position) -> Written:
        store = self._stores[name]
        store.check_writable()
        results = store.journal.write(changes)
        news = store.since(position)
        if news is None:
            held = store.hand_over()
            return Written(results, [], held.position, held)
        return Written(results, *news, None)

    # ---- what is done beside

    def _keep(self, hosted: Hosted) -> None:
        if self._keeper is not None:
            self._keeper.note(self.folder / hosted.name, hosted.held.position)

    def _prove(self, folder: Path, bound: float, corrections: int, revision: int) -> None:
        """Take a bound, unless something was undone since it was computed."""
        hosted = self.learners.get(folder.name)
        if hosted is not None and hosted.held.position.revision == revision:
            hosted.prove(bound, corrections)


def warm() -> None:
    """Have the loops loaded before the first request: that takes a second."""
    held = StoredLearner(new_learner("OnlineSVM", {"window": 2, "unsure": 0.1}))
    for seq, label in enumerate("abab"):
        held.learn(Lesson(seq, {label: 1.0}, label, 0.0))
    with suppress(ImportError):  # without the extra `mail` there are no messages
        from rosenblatt.mail.documents import documents
        from rosenblatt.mail.features import rows

        rows(documents([b"A: b\n\nc"]))


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    if future.done():  # the client is gone
        return
    if isinstance(result, BaseException):
        future.set_exception(result)
    else:
        future.set_result(result)


def _locked(folder: Path) -> sqlite3.Connection | None:
    """Take the folder for this server, until the process ends; None where nothing can be written.

    SQLite's lock works on every system, and nothing of it stays behind after a crash.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = sqlite3.connect(
            folder / LOCK, timeout=0, isolation_level=None, check_same_thread=False
        )
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise InputError(
                f"another server serves {folder} already; stop it, or give another folder"
            ) from error
        if not folder.is_dir():
            raise
        return None
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    return lock
