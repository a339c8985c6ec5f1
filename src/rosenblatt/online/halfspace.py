"""A half-space that is being learned: the state of a two-class learner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.online.averaging import AVERAGING, Ballot, Votes, history, steps, trim
from rosenblatt.online.driver import Training
from rosenblatt.online.perceptron import CLOCK, LOGGED, SEEN, Rule, State, learn_row, score_row
from rosenblatt.online.separator import OneRow, Separator
from rosenblatt.rows import Rows, scores
from rosenblatt.run import History


@dataclass
class Halfspace(Separator):
    """The state of a two-class learner; marks are signs."""

    rule: Rule
    state: State
    votes: Votes | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.plain = self.plain and not self.rule.zero_is_positive

    @classmethod
    def begin(cls, w: np.ndarray, lift: float, rule: Rule, output: str) -> Halfspace:
        """Begin from the weights w of the lifted rows."""
        state = State.start(w.copy(), output in AVERAGING)
        votes = Votes(lift) if output == "voted" else None
        return cls(rule, lift, state, output, w, votes)

    def _training(self, rows: Rows, marks: np.ndarray, rule: Rule, **manner: Any) -> Training:
        return Training(rows, marks, rule, self.state, **manner)

    def _history(self, rows: Rows, training: Training, log: Any, frame: np.ndarray) -> History:
        return history(rows, training.signs, training.rule, log, frame)

    def _ballot(self, X: Matrix, training: Training) -> Ballot:
        log = trim(training.log, int(self.state.tally[LOGGED]))
        return Ballot.of(X, log, steps(log, training.signs, training.rule))

    def _linear_scores(self, X: Matrix, w: np.ndarray) -> np.ndarray:
        out = np.empty(X.shape[0])
        scores(as_rows(X, self.lift), w, out)
        return out

    def _wrong(self, scores: np.ndarray, marks: np.ndarray) -> np.ndarray:
        return np.asarray(marks * scores <= 0)

    def moves(self) -> tuple[float, float]:
        """Give what `learn` wants to know of the label: the steps η·c·y of the two classes."""
        return -self.rule.eta * self.rule.negative_weight, self.rule.eta * self.rule.positive_weight

    def mark_of(self, move: float) -> np.ndarray:
        """Give the mark of one example of the class with this move."""
        return np.array([1 if move > 0 else -1], np.int8)

    def learn(self, row: OneRow, step: float, weight: float) -> float:
        """Present one row to the plain rule: 1 for a mistake, 0 for none, NaN if unusable."""
        columns, values, length = row
        w, drift, tally = self.state
        step *= weight
        outcome = learn_row(columns, values, length, step, self.lift, w, drift, tally)
        if self.votes is not None and outcome > 0.0:
            self.votes.note(row, step, tally[SEEN] - 1)
        return outcome

    def score(self, row: OneRow) -> float:
        """Give the score of one row, for last and averaged output; NaN if it is unusable."""
        columns, values, length = row
        state = self.state
        last = score_row(columns, values, length, self.lift, state.w)
        if self.output != "averaged" or not state.tally[SEEN]:
            return last
        late = score_row(columns, values, length, self.lift, state.drift)
        if not (abs(last) < np.inf and abs(late) < np.inf):
            return np.nan
        return float((state.tally[CLOCK] * last - late) / state.tally[SEEN])

    def turned(self) -> Halfspace:
        """Give the half-space with its sides exchanged: as if every sign had been the other."""
        state = self.state
        votes = self.votes and self.votes.turned()
        turned = State(0.0 - state.w, 0.0 - state.drift, state.tally)
        return replace(self, state=turned, start=0.0 - self.start, votes=votes)
