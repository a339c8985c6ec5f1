"""What an online support vector machine has learned: a separator, and the newest examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rosenblatt.matrices import Matrix, as_rows, without_duplicates
from rosenblatt.online.driver import PORTION
from rosenblatt.online.linear_machine import LinearMachine, Move, OneRow
from rosenblatt.online.perceptron import LOOKS, NO_LOG, WORK, Allowance, Rule, State
from rosenblatt.online.plan import Plan
from rosenblatt.online.presenter import FEWEST
from rosenblatt.online.window import Window, learn_newest_row, present_newest
from rosenblatt.rows import Rows, Single


@dataclass
class Machine(LinearMachine):
    """A separator that moves by dual steps over a window; C is the rate of its rule."""

    window: Window = field(kw_only=True)

    @classmethod
    def begin_with(
        cls,
        w: np.ndarray,
        lift: float,
        rule: Rule,
        output: str,
        size: int,
        calibrating: bool = False,
    ) -> Machine:
        """Begin from the weights w of the lifted rows, with an empty window."""
        state = State.start(w.copy(order="K"), output == "averaged", calibrating)
        classes = w.shape[0] if w.ndim > 1 else 2
        window = Window.empty(size, classes, lift)
        return cls(rule, lift, state, output, w, window=window)

    def _shown(
        self, X: Matrix, codes: np.ndarray, weights: np.ndarray, logging: bool = False
    ) -> Any:
        """Give examples to be presented."""
        rows = as_rows(without_duplicates(X), self.lift)
        return WindowPresenter(self, rows, codes, self.rule._replace(sample_weight=weights))

    def learn(self, row: OneRow, move: Move, weight: float) -> float:
        """Learn one row; give 0 for a mistake, -2 for another update, -1 for none, else NaN."""
        code, box, lift, _ = move
        single = Single(*_distinct(*row), lift)
        lead = learn_newest_row(single, code, box * weight, self.state, self.window)
        if lead == np.inf:
            self.window = self.window.with_room(row[0].size)
            return self.learn(row, move, weight)
        if lead != lead:
            return lead
        return 0.0 if lead <= 0.0 else -2.0 if lead < 1.0 else -1.0

    def copied(self) -> Machine:
        """Give one that can learn apart from this one."""
        state = State(*(part.copy(order="K") for part in self.state))
        return replace(self, state=state, window=self.window.with_room(0))

    def among(self, places: np.ndarray, classes: int, rule: Rule) -> Machine:
        """Give the same among more classes: class r moves to places[r], new ones begin at 0.

        Where two classes become more, each gets half of w, with its sign: so all leads remain.
        """
        wider: Any = super().among(places, classes, rule)
        if self.is_halfspace and classes > 2:
            for part in (wider.state.w, wider.state.drift, wider.start):
                part *= 0.5
        moved: Machine = replace(wider, window=self.window.among(places, classes))
        return moved


def _distinct(columns: np.ndarray, values: np.ndarray) -> OneRow:
    """Give a row in the order of its columns, those that are there twice added up."""
    if columns.size < 2 or (columns[1:] > columns[:-1]).all():
        return columns, values
    kept, places = np.unique(columns, return_inverse=True)
    return kept, np.bincount(places, values)


class WindowPresenter:
    """Examples that a machine takes into its window, for the driver."""

    def __init__(self, machine: Machine, rows: Rows, codes: np.ndarray, rule: Rule) -> None:
        self.machine, self.rows, self.codes, self.rule = machine, rows, codes, rule
        self.tally, self.counts = machine.state.tally, np.zeros(codes.size, np.uint32)
        self.before, self.log = self.tally.copy(), NO_LOG

    def present(self, plan: Plan, allowance: Allowance) -> None:
        """Present examples from the cursor on, for about a portion."""
        gained = self.tally - self.before
        affordable = int(PORTION * gained[LOOKS] // max(gained[WORK], 1))
        looks = min(allowance.looks, max(FEWEST, affordable))
        first = self.machine.calibrates and gained[LOOKS] < self.codes.size
        wanted = self._go_on(plan, allowance._replace(looks=looks), first)
        if wanted:
            self.machine.window = self.machine.window.with_room(wanted)

    def _go_on(self, plan: Plan, allowance: Allowance, first: bool = False) -> int:
        state, window = self.machine.state, self.machine.window
        state = state if first else state.without_band()
        rows, codes, rule = self.rows, self.codes, self.rule
        return present_newest(rows, codes, plan, rule, state, window, self.counts, allowance)

    def correct_worst(self) -> bool:
        """Learn from the worst example: not where examples are presented one after another."""
        raise NotImplementedError

    def stalled(self, updates_per_pass: Sequence[int], patience: int) -> bool:
        """Tell whether passes made no progress: these are not judged by that."""
        return False
