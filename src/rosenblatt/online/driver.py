"""The driver: one loop that owns order, limits, time and interrupts (theory D4, D8).

A `Presenter` has the examples and what is learned; it presents some of them whenever it is asked,
in portions of about ten milliseconds, so that a limit on time, a progress display and Ctrl-C are
served between two of them. All that is learned lies in arrays that are written in place: whenever
an interrupt strikes, nothing is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rosenblatt.online.perceptron import (
    CLOCK,
    CURSOR,
    LOGGED,
    LOOKS,
    MISTAKES,
    SEEN,
    UNUSABLE,
    UPDATES,
    WORK,
    Allowance,
)
from rosenblatt.online.plan import Plan, shuffle
from rosenblatt.pauses import OutOfTimeError, until
from rosenblatt.run import Operations, Run, Stop

ORDERS = ("cycle", "shuffle", "random", "worst", "first")
DRAWN = ("shuffle", "random")  # those with random numbers
PORTION = 2**24  # multiply-adds given to a loop at a time, about 10 ms
UNLIMITED = 2**53
WATCH_SECONDS = 0.1


@dataclass(frozen=True)
class Limits:
    """Where a run ends at the latest; None for no limit."""

    passes: int | None = None
    updates: int | None = None
    seconds: float | None = None
    patience: int | None = None  # passes without progress, see `growth`


@dataclass(frozen=True)
class Progress:
    """What a watcher is told while a run goes on."""

    passes: int
    mistakes: int
    seconds: float
    # Of the latest block of a stream: its examples and mistakes, and those on each if known.
    block: tuple[int, int] = (0, 0)
    latest: np.ndarray | None = None


Watch = Callable[[Progress], None]


class UnusableRowError(Exception):
    """A row whose score is not finite; the caller, who knows the data, says what is wrong."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


class Presenter(Protocol):
    """Examples, and what is learned from them.

    Attributes
    ----------
    tally : the counters of `online.perceptron`, written in place.
    counts : the updates on each example of this run, written in place.
    """

    tally: np.ndarray
    counts: np.ndarray

    def present(self, plan: Plan, allowance: Allowance) -> None:
        """Present examples from the cursor on, as many as can be afforded before coming back."""

    def correct_worst(self) -> bool:
        """Look at all examples and learn from the worst; tell whether one called for it."""

    def stalled(self, updates_per_pass: Sequence[int], patience: int) -> bool:
        """Tell, at the end of each pass, whether so many passes made no progress."""


@dataclass
class Training:
    """A run in progress."""

    presenter: Presenter
    order: str = "cycle"
    seed: int = 0
    limits: Limits = Limits()
    watch: Watch | None = None
    mistakes_per_pass: list[int] = field(init=False, default_factory=list)
    updates_per_pass: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.tally, self.examples = self.presenter.tally, self.presenter.counts.size
        self.tally[[CURSOR, LOGGED]] = 0
        self.began = self.watched = time.perf_counter()
        self.tally_at_start = self.tally.copy()
        self.pass_began = self.tally.copy()
        sequence = np.arange(self.examples if self.order in DRAWN else 0, dtype=np.uint32)
        seed = np.array([self.seed], np.uint64)
        restart = self.order in ("random", "first")
        self.plan = Plan(sequence, restart, self.order == "random", seed)

    def run(self) -> Run:
        """Train until convergence, a limit or an interrupt."""
        self.began = self.watched = time.perf_counter()
        try:
            with until(self.limits.seconds):  # for loops that are to be compiled
                stop = self._train()
        except OutOfTimeError:
            stop = Stop.SECONDS
        except KeyboardInterrupt:
            stop = Stop.INTERRUPTED
        return self._report(stop)

    def once(self) -> Run:
        """Present each example once, in the order given."""
        self._begin_pass()
        while self.tally[CURSOR] < self.examples:
            self._portion()
        self._end_pass()
        return self._report(Stop.STREAM)

    def _train(self) -> Stop:
        step = self._scan if self.order == "worst" else self._portion
        self._begin_pass()
        while True:
            converged = step()
            ended = self._gained(LOOKS, self.pass_began) >= self.examples
            self._tell()
            if converged or (ended and not self._gained(UPDATES, self.pass_began)):
                self._end_pass()
                return Stop.CONVERGED
            stop = self._limit(ended)
            if ended or stop:
                self._end_pass()
            if stop:
                return stop
            if ended and self._stalled():
                return Stop.STALLED
            if ended:
                self._begin_pass()

    def _begin_pass(self) -> None:
        self.pass_began = self.tally.copy()
        if not self.plan.restart or not self.mistakes_per_pass:
            self.tally[CURSOR] = 0
        if self.order == "shuffle":
            shuffle(self.plan.sequence, self.plan.seed)

    def _end_pass(self) -> None:
        self.mistakes_per_pass.append(self._gained(MISTAKES, self.pass_began))
        self.updates_per_pass.append(self._gained(UPDATES, self.pass_began))

    def _stalled(self) -> bool:
        """Tell whether no progress is made; this is not known where passes begin anew."""
        if self.limits.patience is None or self.plan.restart or self.order == "worst":
            return False
        return self.presenter.stalled(self.updates_per_pass, self.limits.patience)

    def _portion(self) -> bool:
        """Present some examples; tell whether every example was seen without an update."""
        looks = self.examples - self._gained(LOOKS, self.pass_began)
        self.presenter.present(self.plan, Allowance(looks, self._updates_left()))
        self._check_usable()
        return self.plan.restart and bool(self.tally[CURSOR] == self.examples)

    def _scan(self) -> bool:
        """Look at all examples and learn from the worst; tell whether none called for it."""
        corrected = self.presenter.correct_worst()
        self._check_usable()
        self.tally[[SEEN, CLOCK]] += 0 if corrected else self.examples
        return not corrected

    # ---- limits, and what is told

    def _updates_left(self) -> int:
        if self.limits.updates is None:
            return UNLIMITED
        return self.limits.updates - self._gained(UPDATES, self.tally_at_start)

    def _check_usable(self) -> None:
        row = int(self.tally[UNUSABLE]) - 1
        if row >= 0:
            self.tally[UNUSABLE] = 0
            raise UnusableRowError(row)

    def _limit(self, ended: bool) -> Stop | None:
        if self._updates_left() <= 0:
            return Stop.UPDATES
        passes = len(self.mistakes_per_pass) + 1
        if ended and self.limits.passes is not None and passes >= self.limits.passes:
            return Stop.PASSES
        elapsed = time.perf_counter() - self.began
        if self.limits.seconds is not None and elapsed >= self.limits.seconds:
            return Stop.SECONDS
        return None

    def _tell(self) -> None:
        now = time.perf_counter()
        if self.watch is None or now - self.watched < WATCH_SECONDS:
            return
        self.watched = now
        mistakes = self._gained(MISTAKES, self.tally_at_start)
        self.watch(Progress(len(self.mistakes_per_pass) + 1, mistakes, now - self.began))

    def _gained(self, place: int, since: np.ndarray) -> int:
        return int(self.tally[place] - since[place])

    def _report(self, stop: Stop) -> Run:
        looks = self._gained(LOOKS, self.tally_at_start)
        mistakes = self._gained(MISTAKES, self.tally_at_start)
        updates = self._gained(UPDATES, self.tally_at_start)
        counted = sum(self.mistakes_per_pass)
        per_pass = [*self.mistakes_per_pass]
        if looks > len(per_pass) * self.examples:  # an interrupt leaves a pass open
            per_pass.append(mistakes - counted)
        operations = Operations(looks, updates, self._gained(WORK, self.tally_at_start))
        return Run(
            mistakes=mistakes,
            updates=updates,
            passes=len(per_pass),
            mistakes_per_pass=tuple(per_pass),
            counts=self.presenter.counts,
            converged=stop is Stop.CONVERGED or (stop is Stop.STREAM and updates == 0),
            stop=stop,
            seconds=time.perf_counter() - self.began,
            operations=operations,
        )
