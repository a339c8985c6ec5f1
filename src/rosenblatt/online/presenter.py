"""Rows that are presented to the rule by the compiled loops, for the driver."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rosenblatt.online.driver import PORTION
from rosenblatt.online.growth import Length, length_of, stalled
from rosenblatt.online.perceptron import (
    LOGGED,
    LOOKS,
    LOST,
    NO_LOG,
    WORK,
    Allowance,
    Log,
    Rule,
    State,
    correct_one,
    most_wrong,
    present,
)
from rosenblatt.online.plan import Plan
from rosenblatt.rows import Rows

FEWEST = 256  # looks in a portion
FIRST_ENTRIES = 1024  # of a log


class RowPresenter:
    """Examples, a rule, and the state and the log that its loops write into."""

    def __init__(
        self, rows: Rows, codes: np.ndarray, rule: Rule, state: State, logging: bool
    ) -> None:
        self.rows, self.codes, self.rule, self.state = rows, codes, rule, state
        self.tally, self.counts = state.tally, np.zeros(codes.size, np.uint32)
        self.room = Log.empty(FIRST_ENTRIES) if logging else NO_LOG
        self.before, self.lengths = state.tally.copy(), list[Length]()

    @property
    def log(self) -> Log:
        """The updates so far."""
        return self.room.first(int(self.tally[LOGGED]))

    def present(self, plan: Plan, allowance: Allowance) -> None:
        """Present examples from the cursor on, for about a portion."""
        looks = min(allowance.looks, self._affordable_looks())
        first = self.tally[LOOKS] - self.before[LOOKS] < self.codes.size
        state = self.state if first else self.state.without_band()
        self._go_on(plan, state, allowance._replace(looks=looks))
        self._make_room()

    def _go_on(self, plan: Plan, state: State, allowance: Allowance) -> None:
        rows, codes, rule = self.rows, self.codes, self.rule
        present(rows, codes, plan, rule, state, self.counts, self.room, allowance)

    def correct_worst(self) -> bool:
        """Look at all examples and learn from the worst; tell whether one called for it."""
        worst = most_wrong(self.rows, self.codes, self.rule, self.state)
        if worst < 0:
            return False
        y, rule, state = self.codes[worst], self.rule, self.state
        correct_one(self.rows, worst, y, rule, state, self.counts, self.room)
        self._make_room()
        return True

    def stalled(self, updates_per_pass: Sequence[int], patience: int) -> bool:
        """Tell, at the end of each pass, whether so many passes made no progress."""
        self.lengths.append(length_of(self.state.w, self.tally[LOST]))
        shape = (self.codes.size, self.state.w.shape[-1] - 1)
        return stalled(updates_per_pass, self.lengths, shape, patience)

    def _affordable_looks(self) -> int:
        """Give the looks that cost about a portion, judged by those so far, or by all rows."""
        gained = self.tally - self.before
        looks, work = gained[LOOKS], gained[WORK]
        if not looks:
            vectors = self.state.w.size // self.state.w.shape[-1]
            looks, work = self.codes.size, self.rows.values.size * vectors
        return max(FEWEST, int(PORTION * looks // max(work, 1)))

    def _make_room(self) -> None:
        if self.room.example.size and self.tally[LOGGED] == self.room.example.size:
            self.room = self.room.doubled()
