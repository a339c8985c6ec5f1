"""A partition of the space that is being learned: the state of a learner of many classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.online.averaging import AVERAGING, trim
from rosenblatt.online.class_votes import ClassBallot, ClassVotes, class_history, class_steps
from rosenblatt.online.discriminators import (
    ClassRule,
    ClassState,
    learn_class_row,
    score_class_row,
)
from rosenblatt.online.driver import ClassTraining, Training
from rosenblatt.online.halfspace import Halfspace
from rosenblatt.online.perceptron import CLOCK, LOGGED, SEEN
from rosenblatt.online.separator import OneRow, Separator
from rosenblatt.rows import Rows, class_scores, favoured
from rosenblatt.run import History


@dataclass
class Partition(Separator):
    """The state of a learner of many classes; marks are places of classes.

    The weights have one row for each class. They lie in memory as the rows that were learned from
    last want it (`rows.favoured`).
    """

    rule: ClassRule
    state: ClassState
    votes: ClassVotes | None = None

    @classmethod
    def begin(cls, w: np.ndarray, lift: float, rule: ClassRule, output: str) -> Partition:
        """Begin from the weights w of the lifted rows."""
        state = ClassState.start(w.copy(order="K"), output in AVERAGING)
        votes = ClassVotes(lift) if output == "voted" else None
        return cls(rule, lift, state, output, w, votes)

    @classmethod
    def of(
        cls, halfspace: Halfspace, places: np.ndarray, classes: int, rule: ClassRule
    ) -> Partition:
        """Go on from two classes, whose places among more are those given.

        The positive class gets w and the negative one -w: that is what discriminators would have
        learned (F14), but for renormalisation. Other classes begin at 0.
        """

        def both(w: np.ndarray) -> np.ndarray:
            wide = np.zeros((classes, w.size), order="F")
            wide[places] = 0.0 - w, w
            return wide

        state, start = halfspace.state, np.ascontiguousarray(both(halfspace.start))
        votes = halfspace.votes
        among = None if votes is None else ClassVotes.of_signs(votes, places)
        wide = ClassState(both(state.w), both(state.drift), state.tally.copy(), np.zeros(classes))
        return cls(rule, halfspace.lift, wide, halfspace.output, start, among)

    def with_classes(self, places: np.ndarray, classes: int, rule: ClassRule) -> Partition:
        """Give the same among more classes: class r moves to places[r], new ones begin at 0."""

        def moved(w: np.ndarray) -> np.ndarray:
            wide = np.zeros((classes, w.shape[1]), order="C" if w.flags.c_contiguous else "F")
            wide[places] = w
            return wide

        state, start = self.state, moved(self.start)
        votes = self.votes and self.votes.with_classes(places)
        wide = ClassState(moved(state.w), moved(state.drift), state.tally, np.zeros(classes))
        return replace(self, rule=rule, state=wide, start=start, votes=votes)

    def _training(self, rows: Rows, marks: np.ndarray, rule: ClassRule, **manner: Any) -> Training:
        state = self.state
        w, drift = favoured(rows, state.w), favoured(rows, state.drift)
        self.state = state._replace(w=w, drift=drift)
        return ClassTraining(rows, marks, rule, self.state, **manner)

    def _history(self, rows: Rows, training: Training, log: Any, frame: np.ndarray) -> History:
        return class_history(rows, training.signs, training.rule, log, frame)

    def _ballot(self, X: Matrix, training: Training) -> ClassBallot:
        log = trim(training.log, int(self.state.tally[LOGGED]))
        factors = class_steps(log, training.signs, training.rule)
        return ClassBallot.of_classes(X, log, training.signs, factors)

    def _linear_scores(self, X: Matrix, w: np.ndarray) -> np.ndarray:
        rows, out = as_rows(X, self.lift), np.empty((X.shape[0], self.state.scores.size))
        class_scores(rows, favoured(rows, w), out)
        return out

    def _wrong(self, scores: np.ndarray, marks: np.ndarray) -> np.ndarray:
        return np.asarray(scores.argmax(axis=1) != marks)

    def moves(self) -> tuple[int, ...]:
        """Give what `learn` wants to know of the label: the place of its class."""
        return tuple(range(self.state.scores.size))

    def mark_of(self, move: int) -> np.ndarray:
        """Give the mark of one example of the class with this move."""
        return np.array([move], np.int64)

    def learn(self, row: OneRow, code: int, weight: float) -> float:
        """Present one row to the plain rule: 1 for a mistake, 0 for none, NaN if unusable."""
        columns, values, length = row
        step = self.rule.eta * self.rule.weights[code] * weight
        outcome = learn_class_row(columns, values, length, code, step, self.lift, self.state)
        if self.votes is not None and outcome > 0.0:
            self.state.scores[code] = -np.inf  # the rival is the best of the others
            rival = int(self.state.scores.argmax())
            self.votes.note(row, step, self.state.tally[SEEN] - 1, code, rival)
        return outcome

    def score(self, row: OneRow) -> np.ndarray:
        """Give the scores of one row, for last and averaged output; NaN if it is unusable."""
        columns, values, length = row
        state, last = self.state, np.empty(self.state.scores.size)
        score_class_row(columns, values, length, self.lift, state.w, last)
        if self.output != "averaged" or not state.tally[SEEN]:
            return last
        late = np.empty(last.size)
        score_class_row(columns, values, length, self.lift, state.drift, late)
        mean: np.ndarray = (state.tally[CLOCK] * last - late) / state.tally[SEEN]
        return mean
