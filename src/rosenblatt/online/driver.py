"""The driver: one loop that owns order, limits, time, the log and interrupts (theory D4, D8).

`Training` drives the loops of two classes, `ClassTraining` those of many; the kernel perceptron
derives its own.

The compiled loops get work in portions of about ten milliseconds, so that a limit on time, a
progress display and Ctrl-C are served between two of them. All that is learned lies in arrays that
the loops write in place: whenever an interrupt strikes, nothing is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.online.discriminators import (
    ClassLog,
    ClassRule,
    ClassState,
    correct_one_of_many,
    furthest_behind,
    present_classes,
)
from rosenblatt.online.growth import Length, length_of, stalled
from rosenblatt.online.perceptron import (
    CLOCK,
    CURSOR,
    LOGGED,
    LOOKS,
    LOST,
    MISTAKES,
    SEEN,
    UNUSABLE,
    WORK,
    Allowance,
    Log,
    Plan,
    correct_one,
    most_wrong,
    present,
    shuffle,
)
from rosenblatt.rows import Rows
from rosenblatt.run import Operations, Run, Stop

ORDERS = ("cycle", "shuffle", "random", "worst", "first")
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
    mistakes_last_pass: int | None
    seconds: float
    latest: np.ndarray | None = None  # of a stream: mistakes on each example of the latest block


Watch = Callable[[Progress], None]


class UnusableRowError(Exception):
    """A row whose score is not finite; the caller, who knows the data, says what is wrong."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


@dataclass
class Training:
    """A run in progress: the examples, the rule, and what the loops write into."""

    rows: Rows
    signs: np.ndarray
    rule: Any
    state: Any
    order: str = "cycle"
    seed: int = 0
    logging: bool = False
    limits: Limits = Limits()
    watch: Watch | None = None
    log: Any = field(init=False)
    counts: np.ndarray = field(init=False)
    mistakes_per_pass: list[int] = field(init=False, default_factory=list)
    lengths: list[Length] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        n = self.signs.size
        self.log = self._empty_log(1024 if self.logging else 0)
        self.counts = np.zeros(n, np.uint32)
        self.state.tally[[CURSOR, LOGGED]] = 0
        self.began = self.watched = time.perf_counter()
        self.tally_at_start = self.state.tally.copy()
        self.pass_began = self.state.tally.copy()
        sequence = np.arange(n if self.order in ("shuffle", "random") else 0, dtype=np.uint32)
        seed = np.array([self.seed], np.uint64)
        restart = self.order in ("random", "first")
        self.plan = Plan(sequence, restart, self.order == "random", seed)

    def run(self) -> Run:
        """Train until convergence, a limit or an interrupt."""
        self._load_loops()
        try:
            stop = self._train()
        except KeyboardInterrupt:
            stop = Stop.INTERRUPTED
        return self._report(stop)

    def _load_loops(self) -> None:
        """Have the loops compiled or loaded before the clock starts, by calls that do nothing."""
        state = self.state._replace(tally=self.state.tally.copy())
        if self.order == "worst":
            self._find_worst(self.signs[:0], state)
        else:
            self._go_on(state, Allowance(0, 0))
        self.began = self.watched = time.perf_counter()

    def once(self) -> Run:
        """Present each example once, in the order given."""
        self._begin_pass()
        while self.state.tally[CURSOR] < self.signs.size:
            self._portion()
        self._end_pass()
        return self._report(Stop.STREAM)

    def _train(self) -> Stop:
        step = self._scan if self.order == "worst" else self._portion
        self._begin_pass()
        while True:
            converged = step()
            ended = self._gained(LOOKS, self.pass_began) >= self.signs.size
            self._tell()
            if converged or (ended and not self._gained(MISTAKES, self.pass_began)):
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
        self.pass_began = self.state.tally.copy()
        if not self.plan.restart or not self.mistakes_per_pass:
            self.state.tally[CURSOR] = 0
        if self.order == "shuffle":
            shuffle(self.plan.sequence, self.plan.seed)

    def _end_pass(self) -> None:
        self.mistakes_per_pass.append(self._gained(MISTAKES, self.pass_began))
        if self.limits.patience is not None:
            self.lengths.append(length_of(self.state.w, self.state.tally[LOST]))

    def _stalled(self) -> bool:
        """Tell whether no progress is made; this is not known where passes begin anew."""
        if self.limits.patience is None or self.plan.restart or self.order == "worst":
            return False
        shape = (self.signs.size, self.state.w.shape[-1] - 1)
        return stalled(self.mistakes_per_pass, self.lengths, shape, self.limits.patience)

    def _portion(self) -> bool:
        """Let the loop work for a while; tell whether every example was seen without a mistake."""
        tally, n = self.state.tally, self.signs.size
        looks = min(n - self._gained(LOOKS, self.pass_began), self._affordable_looks())
        self._go_on(self.state, Allowance(looks, self._updates_left()))
        self._check_usable()
        self._grow_log()
        return self.plan.restart and bool(tally[CURSOR] == n)

    def _scan(self) -> bool:
        """Look at all examples and learn from the worst; tell whether none was a mistake."""
        worst = self._find_worst(self.signs, self.state)
        self._check_usable()
        if worst < 0:
            self.state.tally[[SEEN, CLOCK]] += self.signs.size
            return True
        self._learn_from(worst)
        self._grow_log()
        return False

    # ---- the loops of two classes

    def _empty_log(self, capacity: int) -> Any:
        return Log.empty(capacity)

    def _go_on(self, state: Any, allowance: Allowance) -> None:
        """Present examples from the cursor on."""
        rows, signs, plan, rule = self.rows, self.signs, self.plan, self.rule
        present(rows, signs, plan, rule, state, self.counts, self.log, allowance)

    def _find_worst(self, signs: np.ndarray, state: Any) -> int:
        """Look at all examples; give the most wrong one, or -1 for none."""
        return most_wrong(self.rows, signs, self.rule, state)

    def _learn_from(self, i: int) -> None:
        """Learn from an example that is known to be mistaken."""
        sign = float(self.signs[i])
        correct_one(self.rows, i, sign, self.rule, self.state, self.counts, self.log)

    # ---- limits, and what is told

    def _affordable_looks(self) -> int:
        """Give the looks that cost about a portion, judged by the cost of those so far."""
        looks = self._gained(LOOKS, self.tally_at_start)
        if not looks:
            return 256
        work = self._gained(WORK, self.tally_at_start)
        return max(256, PORTION * looks // max(work, 1))

    def _updates_left(self) -> int:
        if self.limits.updates is None:
            return UNLIMITED
        return self.limits.updates - self._gained(MISTAKES, self.tally_at_start)

    def _check_usable(self) -> None:
        row = int(self.state.tally[UNUSABLE]) - 1
        if row >= 0:
            self.state.tally[UNUSABLE] = 0
            raise UnusableRowError(row)

    def _grow_log(self) -> None:
        used = int(self.state.tally[LOGGED])
        if self.logging and used == self.log.example.size:
            self.log = type(self.log)(*(np.resize(column, 2 * used) for column in self.log))

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
        last = self.mistakes_per_pass[-1] if self.mistakes_per_pass else None
        mistakes = self._gained(MISTAKES, self.tally_at_start)
        self.watch(Progress(len(self.mistakes_per_pass) + 1, mistakes, last, now - self.began))

    def _gained(self, place: int, since: np.ndarray) -> int:
        return int(self.state.tally[place] - since[place])

    def _report(self, stop: Stop) -> Run:
        looks = self._gained(LOOKS, self.tally_at_start)
        mistakes = self._gained(MISTAKES, self.tally_at_start)
        counted = sum(self.mistakes_per_pass)
        per_pass = [*self.mistakes_per_pass]
        if looks > len(per_pass) * self.signs.size:  # an interrupt leaves a pass open
            per_pass.append(mistakes - counted)
        operations = Operations(looks, mistakes, self._gained(WORK, self.tally_at_start))
        return Run(
            mistakes=mistakes,
            updates=mistakes,
            passes=len(per_pass),
            mistakes_per_pass=tuple(per_pass),
            counts=self.counts,
            converged=stop is Stop.CONVERGED or (stop is Stop.STREAM and mistakes == 0),
            stop=stop,
            seconds=time.perf_counter() - self.began,
            operations=operations,
        )


class ClassTraining(Training):
    """A run in progress on many classes: `signs` holds the places of the classes."""

    rule: ClassRule
    state: ClassState

    def _empty_log(self, capacity: int) -> ClassLog:
        return ClassLog.empty(capacity)

    def _go_on(self, state: ClassState, allowance: Allowance) -> None:
        rows, codes, plan, rule = self.rows, self.signs, self.plan, self.rule
        present_classes(rows, codes, plan, rule, state, self.counts, self.log, allowance)

    def _find_worst(self, signs: np.ndarray, state: ClassState) -> int:
        return furthest_behind(self.rows, signs, state)

    def _learn_from(self, i: int) -> None:
        y, rule, state = self.signs[i], self.rule, self.state
        correct_one_of_many(self.rows, i, y, rule, state, self.counts, self.log)
