"""What is done beside the answers: snapshots, and bounds of the mistakes.

One thread with stores of its own follows the journals. A bound takes a pass over all corrections:
it is computed again when twenty times as long has passed as it took, so at most a twentieth of a
processor goes into it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rosenblatt.errors import RosenblattError
from rosenblatt.serve.logs import place_of, say
from rosenblatt.store.journal import Position
from rosenblatt.store.store import STEP, Store

PAUSE, SHARE, REST = 0.2, 20.0, 10.0  # seconds; REST: after a change, until a snapshot is written

NOWHERE = Position(-1, 0)


@dataclass
class Followed:
    """A store, the state that was noted last, and what was done for it."""

    store: Store
    noted: Position
    changed: float
    bounded: Position = NOWHERE
    next_bound: float = 0.0
    kept: int = 0


class Keeper:
    """The thread; `tell` is called with a folder, a bound, its corrections and its revision."""

    def __init__(self, tell: Callable[[Path, float, int, int], object]) -> None:
        self._tell = tell
        self._noted: dict[Path, Position] = {}
        self._followed: dict[Path, Followed] = {}
        self._loaded = False
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._thread.start()

    def note(self, folder: Path, position: Position) -> None:
        """Note how far a learner is."""
        self._noted[folder] = position

    def close(self) -> None:
        """Write the last snapshots."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(PAUSE):
            for folder, position in list(self._noted.items()):
                try:
                    self._look(self._follow(folder, position))
                except RosenblattError:
                    pass  # the writer will say it to those who wait
                except Exception as error:
                    say("failed", error=type(error).__name__, place=place_of(error))
        for followed in self._followed.values():
            with suppress(RosenblattError):
                followed.store.snapshot()
            followed.store.close()

    def _follow(self, folder: Path, position: Position) -> Followed:
        followed = self._followed.get(folder)
        if followed is None:
            store = Store(folder)
            followed = Followed(store, position, time.monotonic(), kept=store.kept())
            self._followed[folder] = followed
        if followed.noted != position:
            followed.noted, followed.changed = position, time.monotonic()
        return followed

    def _look(self, followed: Followed) -> None:
        now, behind = time.monotonic(), followed.noted.seq - followed.kept
        if behind >= 4 * STEP or (behind and now - followed.changed > REST):
            followed.kept = followed.noted.seq  # if there is no room for it, it is not tried again
            followed.store.snapshot()
        if followed.bounded < followed.noted and now >= followed.next_bound:
            loaded = self._loaded
            self._bound(followed)
            # The first one also loads or compiles its loops, which tells nothing about the next.
            took = time.monotonic() - now if loaded else 0.0
            followed.next_bound = now + (1 + SHARE) * took

    def _bound(self, followed: Followed) -> None:
        """Compute a bound, if a theorem gives one: for two labels, and without a base model."""
        store = followed.store
        held = store.held()
        followed.bounded = held.position
        if held.learner.is_fitted and held.learner.classes_.size == 2 and not store.facts()["base"]:
            X, y = store.examples()  # of the same state, or no bound is given
            bound = float(held.learner.bound(X, y).value)
            self._loaded = True
            self._tell(store.folder, bound, len(y), held.position.revision)
