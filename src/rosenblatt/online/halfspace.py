"""A half-space that is being learned: weights, lifting, and what its kind of output needs.

Front ends (the scikit-learn learner, the command line, a cluster) turn what they are given into
matrices and signs; from there on this is the whole learner.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.examples import Matrix, as_rows, check_finite, refuse_unusable, without_duplicates
from rosenblatt.online.averaging import Ballot, Votes, history, mean_weights, steps, trim
from rosenblatt.online.driver import Limits, Training, UnusableRowError, Watch
from rosenblatt.online.perceptron import (
    CLOCK,
    LOGGED,
    LOOKS,
    MISTAKES,
    SEEN,
    WORK,
    Rule,
    State,
    learn_row,
    score_row,
)
from rosenblatt.rows import scores
from rosenblatt.run import Operations, Run, Stop

OneRow = tuple[np.ndarray, np.ndarray, int]  # columns, values, how many of them count


@dataclass
class Halfspace:
    """The state of a two-class learner.

    Attributes
    ----------
    rule : what an update does.
    lift : the constant of the added coordinate, 0 for none (theory D7).
    state : weights w of the lifted rows, and counters.
    output : ``"last"``, ``"averaged"`` or ``"voted"`` (theory D17).
    start : the weights at the start of the run.
    votes : the weights held so far, for voted output.
    """

    rule: Rule
    lift: float
    state: State
    output: str
    start: np.ndarray
    votes: Votes | None = None
    plain: bool = field(init=False)

    def __post_init__(self) -> None:
        # Whether the short path for single rows serves this rule and output.
        self.plain = not (self.rule.renormalize or self.rule.zero_is_positive or self.votes)

    @classmethod
    def begin(cls, w: np.ndarray, lift: float, rule: Rule, output: str) -> Halfspace:
        """Begin from the weights w of the lifted rows."""
        state = State.start(w.copy(), output == "averaged")
        votes = Votes(w, lift, []) if output == "voted" else None
        return cls(rule, lift, state, output, w, votes)

    @property
    def width(self) -> int:
        """The number of columns of a row, not lifted."""
        return int(self.state.w.size) - 1

    def weights(self) -> np.ndarray:
        """Give the weights to predict with: the mean ones for averaged output, else the last."""
        return mean_weights(self.state) if self.output == "averaged" else self.state.w

    def fit(
        self,
        X: Matrix,
        signs: np.ndarray,
        *,
        order: str,
        seed: int,
        limits: Limits,
        watch: Watch | None = None,
        comparator: np.ndarray | None = None,
    ) -> Run:
        """Pass over the examples until convergence, a limit or an interrupt.

        With a unit comparator in the lifted space, the run carries its history (theory F6).
        """
        logging = self.votes is not None or comparator is not None
        training = Training(
            as_rows(X, self.lift),
            signs,
            self.rule,
            self.state,
            order=order,
            seed=seed,
            logging=logging,
            limits=limits,
            watch=watch,
        )
        run = self._train(training, X)
        if comparator is None:
            return run
        log = trim(training.log, int(self.state.tally[LOGGED]))
        frame = np.stack([self.start, comparator])
        rows = as_rows(without_duplicates(X), self.lift)
        return replace(run, history=history(rows, signs, self.rule, log, frame))

    def once(self, X: Matrix, signs: np.ndarray) -> Run:
        """Present each example once, in the order given."""
        check_finite(X)
        rows, logging = as_rows(X, self.lift), self.votes is not None
        training = Training(rows, signs, self.rule, self.state, order="once", logging=logging)
        return self._train(training, X)

    def _train(self, training: Training, X: Matrix) -> Run:
        before = float(self.state.tally[SEEN])
        try:
            run = training.once() if training.order == "once" else training.run()
        except UnusableRowError as unusable:
            refuse_unusable(X, unusable.row, scored=True)
            raise
        finally:
            if self.votes is not None:
                self._add_votes(training, X, before)
        if not (np.isfinite(self.state.w).all() and np.isfinite(self.state.drift).all()):
            raise InputError(
                "the weights grew too large for float64; divide X or eta0 by a constant"
            )
        return run

    def _add_votes(self, training: Training, X: Matrix, before: float) -> None:
        assert self.votes is not None
        log = trim(training.log, int(self.state.tally[LOGGED]))
        factors = steps(log, training.signs, self.rule)
        self.votes.append(Ballot.of(X, log, factors, (before, float(self.state.tally[SEEN]))))

    def scores(self, X: Matrix) -> np.ndarray:
        """Give the score of each row: w·x + b, or the share of votes."""
        if self.votes is not None:
            check_finite(X)
            return self.votes.scores(X)
        out = np.empty(X.shape[0])
        scores(as_rows(X, self.lift), self.weights(), out)
        if not np.isfinite(out).all():
            refuse_unusable(X, int(np.argmin(np.isfinite(out))), scored=True)
        return out

    def learn(self, row: OneRow, step: float) -> float:
        """Present one row to the plain rule: 1 for a mistake, 0 for none, NaN if unusable."""
        columns, values, length = row
        w, drift, tally = self.state
        return learn_row(columns, values, length, step, self.lift, w, drift, tally)

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

    def learned_since(self, tally: np.ndarray) -> Run | None:
        """Give the run made by single rows since the counters stood at `tally`, if any."""
        gained = self.state.tally - tally
        if not gained[LOOKS]:
            return None
        mistakes = int(gained[MISTAKES])
        return Run(
            mistakes=mistakes,
            updates=mistakes,
            passes=1,
            mistakes_per_pass=(mistakes,),
            counts=np.zeros(0, np.uint32),
            converged=False,
            stop=Stop.STREAM,
            seconds=0.0,
            operations=Operations(int(gained[LOOKS]), mistakes, int(gained[WORK])),
        )

    def copied(self) -> Halfspace:
        """Give a half-space that can learn apart from this one."""
        state = State(*(part.copy() for part in self.state))
        return replace(self, state=state, votes=self.votes and self.votes.copied())

    def ruled_by(self, rule: Rule) -> Halfspace:
        """Give the same half-space under another rule."""
        return replace(self, rule=rule)

    def widened(self, width: int) -> Halfspace:
        """Give the same half-space with room for more columns."""
        check_room(width)
        state = self.state
        drift = _widen(state.drift, width) if state.drift.size else state.drift
        start = _widen(self.start, width)
        votes = self.votes and self.votes.widened(start)
        wider = State(_widen(state.w, width), drift, state.tally)
        return replace(self, state=wider, start=start, votes=votes)

    def turned(self) -> Halfspace:
        """Give the half-space with its sides exchanged: as if every sign had been the other."""
        state = self.state
        votes = self.votes and self.votes.turned()
        turned = State(0.0 - state.w, 0.0 - state.drift, state.tally)
        return replace(self, state=turned, start=0.0 - self.start, votes=votes)


def _widen(w: np.ndarray, width: int) -> np.ndarray:
    """Move lifted weights into a longer array; the added coordinate stays last."""
    wide = np.zeros(width + 1)
    wide[: w.size - 1] = w[:-1]
    wide[-1] = w[-1]
    return wide


def check_room(columns: int) -> None:
    """Refuse a number of columns whose weights, held three times over, would fill the memory."""
    if not hasattr(os, "sysconf"):
        return  # not a POSIX system; it will say so itself
    needed, memory = 3 * 8 * columns, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > memory // 2:  # others, and the data, want some too
        raise InputError(
            f"weights for {columns:,} columns need about {needed / 2**30:,.0f} GiB, more than this "
            "machine can spare; number the columns densely, or hash them to fewer"
        )
