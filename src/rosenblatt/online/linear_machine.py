"""What is being learned, whatever the number of classes: weights, lifting, and its kind of output.

Front ends (the scikit-learn learner, the command line, a cluster) turn what they are given into
matrices and codes, which are the places of the classes; from there on this is the whole learner.
Two classes share one vector, the second one on its positive side; of more, each has its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import numpy as np

from rosenblatt.errors import InputError, LargeModelWarning, levels_inside
from rosenblatt.matrices import Matrix, as_rows, check_finite, refuse_unusable, without_duplicates
from rosenblatt.memory import FEWER_COLUMNS, check_memory
from rosenblatt.online.averaging import (
    AVERAGING,
    Ballot,
    Votes,
    history,
    linear_scores,
    mean_weights,
)
from rosenblatt.online.band import threshold
from rosenblatt.online.driver import Limits, Training, UnusableRowError, Watch
from rosenblatt.online.perceptron import (
    ALL_ONE,
    CLOCK,
    SEEN,
    Rule,
    State,
    learn_row,
    order_of,
    score_class_row,
    score_row,
)
from rosenblatt.online.presenter import RowPresenter
from rosenblatt.rows import copy_on_a_line, favoured
from rosenblatt.run import Run, Stop

OneRow = tuple[np.ndarray, np.ndarray]  # columns, values
Move = tuple[int, float, float, float]  # what a loop knows of a label: code, η·c, lift, margin

# For each weight, measured: what fitting and saving hold (last, sum, start, copies, the file).
WEIGHT_BYTES = 64
LARGE = 2**30  # bytes from which on the size of weights is told

CLEARLY = 0.9  # the share of the errors of averages at which the last weights are preferred


@dataclass
class LinearMachine:
    """The state of a learner: classes told apart by linear scores, and how these are learned.

    Attributes
    ----------
    rule : what an update does.
    lift : the constant of the added coordinate, 0 for none (theory D7).
    state : weights w of the lifted rows, and counters.
    output : ``"last"``, ``"averaged"`` or ``"voted"`` (theory D17); ``"auto"`` until the run ends,
        which is then settled as one of the first two.
    start : the weights at the start of the run.
    votes : the weights held so far, for voted output.
    calibrates : whether what is presented counts in the band of the state: not if it was before.
    """

    rule: Rule
    lift: float
    state: State
    output: str
    start: np.ndarray
    votes: Votes | None = None
    calibrates: bool = True
    plain: bool = field(init=False)
    is_halfspace: bool = field(init=False)
    room: tuple[np.ndarray, ...] = field(init=False, default=(), repr=False)

    def __post_init__(self) -> None:
        # Whether the short path for single rows serves this rule, and one vector two classes.
        self.plain = not (self.rule.renormalize or self.rule.zero_is_positive)
        self.is_halfspace = self.state.w.ndim == 1

    @classmethod
    def begin(
        cls, w: np.ndarray, lift: float, rule: Rule, output: str, calibrating: bool = False
    ) -> LinearMachine:
        """Begin from the weights w of the lifted rows, with a band of leads or without."""
        state = State.start(copy_on_a_line(w), output in AVERAGING, calibrating)
        return cls(rule, lift, state, output, w, Votes(lift) if output == "voted" else None)

    @property
    def width(self) -> int:
        """The number of columns of a row, not lifted."""
        return int(self.state.w.shape[-1]) - 1

    def weights(self) -> np.ndarray:
        """Give the weights to predict with: the mean ones for averaged output, else the last."""
        return mean_weights(self.state) if self.output == "averaged" else self.state.w

    def threshold(self, share: float) -> float:
        """Give the lead below which *I don't know* keeps wrong answers to such a share (D25)."""
        band = self.state.band
        return threshold(band, share) if band.size else 0.0

    # ---- learning

    def fit(
        self,
        X: Matrix,
        codes: np.ndarray,
        *,
        weights: np.ndarray = ALL_ONE,
        order: str,
        seed: int,
        limits: Limits,
        watch: Watch | None = None,
        comparator: np.ndarray | None = None,
    ) -> Run:
        """Pass over the examples until convergence, a limit or an interrupt.

        With a unit comparator in the lifted space, the run carries its history (theory F6).
        """
        shown = self._shown(X, codes, weights, comparator is not None)
        run = self._train(Training(shown, order, seed, limits, watch), shown, X)
        if self.output == "auto":
            judged = run.stop is Stop.STALLED or order not in ("cycle", "shuffle")
            self.settle(run, (lambda: self.errors(X, codes, weights)) if judged else None)
        if comparator is None:
            return run
        frame = np.stack([self.start, comparator])
        rows = as_rows(without_duplicates(X), self.lift)
        return replace(run, history=history(rows, codes, shown.rule, shown.log, frame))

    def once(self, X: Matrix, codes: np.ndarray, weights: np.ndarray = ALL_ONE) -> Run:
        """Present each example once, in the order given."""
        check_finite(X)
        shown = self._shown(X, codes, weights)
        return self._train(Training(shown, "once"), shown, X)

    def _shown(
        self, X: Matrix, codes: np.ndarray, weights: np.ndarray, logging: bool = False
    ) -> RowPresenter:
        """Give examples to be presented; the weights move to where rows like these want them."""
        rows, state = as_rows(X, self.lift), self.state
        w, drift = favoured(rows, state.w), favoured(rows, state.drift)
        self.state = state._replace(w=w, drift=drift)
        rule = self.rule._replace(sample_weight=weights)
        state = self.state if self.calibrates else self.state.without_band()
        return RowPresenter(rows, codes, rule, state, logging or self.votes is not None)

    def _train(self, training: Training, shown: RowPresenter, X: Matrix) -> Run:
        try:
            run = training.once() if training.order == "once" else training.run()
        except UnusableRowError as unusable:
            refuse_unusable(X, unusable.row, scored=True)
            raise
        finally:
            if self.votes is not None:
                self.votes.append(Ballot.of(X, shown.log, shown.codes, shown.rule))
        learned = [part for part in (self.state.w, self.state.drift) if part.size]
        if not all(np.isfinite(part).all() for part in learned):
            raise InputError(
                "the weights grew too large for float64; divide X or eta0 by a constant"
            )
        return run

    # ---- learning from single rows

    def moves(self) -> tuple[Move, ...]:
        """Give what `learn` wants to know of each label."""
        steps = (self.rule.eta * self.rule.weights).tolist()
        margin = self.rule.margin
        return tuple((code, step, self.lift, margin) for code, step in enumerate(steps))

    def learn(self, row: OneRow, move: Move, weight: float) -> float:
        """Present one row to the plain rule.

        Gives what `learn_row` does: the rival of a mistake, -1 if nothing was learned.
        """
        columns, values = row
        w, drift, tally, scores, band = self.state
        if weight != 1.0:
            move = (move[0], move[1] * weight, *move[2:])
        outcome = learn_row(columns, values, move, w, drift, tally, scores, band)
        if self.votes is not None and outcome == outcome and outcome != -1.0:
            rival = outcome if outcome >= 0.0 else -2.0 - outcome
            self.votes.note(row, move[1], tally[SEEN] - 1, move[0], rival)
        return outcome

    def settle(self, run: Run, errors: Callable[[], np.ndarray] | None) -> None:
        """End a run of automatic output: choose the last weights if they separate, else averages.

        If `errors` are given, the last weights are chosen all the same if they are clearly better:
        where columns differ wildly in scale, averages come late, and orders that return to the
        first or the worst example do not show all of them alike.
        """
        last = run.converged
        if errors is not None and not last:
            of_last, of_averaged = errors()
            last = of_last < CLEARLY * of_averaged
        self.output = "last" if last else "averaged"
        if last:
            self.state = self.state._replace(drift=self.state.drift[..., :0].copy(order="K"))

    def errors(self, X: Matrix, codes: np.ndarray, weights: np.ndarray = ALL_ONE) -> np.ndarray:
        """Give the (weighted) number of rows misclassified by the last and by the averaged w."""
        found = []
        for w in (self.state.w, mean_weights(self.state)):
            wrong = _wrong(linear_scores(X, w, self.lift), codes)
            found.append(weights[wrong].sum() if weights.size else np.count_nonzero(wrong))
        return np.array(found, np.float64)

    # ---- answering

    def scores(self, X: Matrix) -> np.ndarray:
        """Give the scores of each row: w·x + b, or the share of votes."""
        if self.votes is not None:
            check_finite(X)
            return self.votes.scores(X, self.start, float(self.state.tally[SEEN]))
        out = linear_scores(X, self.weights(), self.lift)
        if not np.isfinite(out).all():
            fine = np.isfinite(out.reshape(X.shape[0], -1)).all(axis=1)
            refuse_unusable(X, int(np.argmin(fine)), scored=True)
        return out

    def score(self, row: OneRow) -> Any:
        """Give the score of one row, or one for each of many classes; NaN if it is unusable.

        For last and averaged output.
        """
        state = self.state
        if self.is_halfspace and self.output == "last":
            return score_row(row[0], row[1], self.lift, state.w)
        last = self._row_scores(row, state.w)
        if self.output != "averaged" or not state.tally[SEEN]:
            return last
        late = self._row_scores(row, state.drift)
        if self.is_halfspace and not (abs(last) < np.inf and abs(late) < np.inf):
            return np.nan
        return (state.tally[CLOCK] * last - late) / state.tally[SEEN]

    def _row_scores(self, row: OneRow, w: np.ndarray) -> Any:
        columns, values = row
        if self.is_halfspace:
            return score_row(columns, values, self.lift, w)
        out = np.empty(w.shape[0])
        score_class_row(columns, values, self.lift, w, out)
        return out

    # ---- changing shape

    def copied(self) -> LinearMachine:
        """Give one that can learn apart from this one."""
        state = State(*(part.copy(order="K") for part in self.state))
        return replace(self, state=state, votes=self.votes and self.votes.copied())

    def among(self, places: np.ndarray, classes: int, rule: Rule) -> LinearMachine:
        """Give the same among more classes: class r moves to places[r], new ones begin at 0.

        Where two classes become more, the positive one gets w and the negative one -w: that is what
        discriminators would have learned (F14), but for renormalisation.
        """
        w, drift, start = (
            _moved(part, places, classes) for part in (self.state.w, self.state.drift, self.start)
        )
        scores = np.zeros(w.shape[:-1] or 1)
        state = self.state._replace(w=w, drift=drift, scores=scores)
        votes = self.votes and self.votes.renamed(places)
        return replace(self, rule=rule, state=state, start=start, votes=votes)

    def widened(self, width: int) -> LinearMachine:
        """Give the same with room for more columns."""
        check_room(width, self.state.w.size // self.state.w.shape[-1])
        state = self.state
        drift = _widen(state.drift, width) if state.drift.size else state.drift
        start = _widen(self.start, width)
        wider = state._replace(w=_widen(state.w, width), drift=drift)
        return replace(self, state=wider, start=start)

    def grow(self, width: int) -> None:
        """Take more columns in place.

        Those of a stream come one by one: room for twice as many is made whenever it is used up,
        so that each of them costs little.
        """
        check_room(width, self.state.w.size // self.state.w.shape[-1])
        parts = (self.state.w, self.state.drift, self.start)
        if not self._has_room(parts, width):
            self.room = tuple(_roomy(part, 2 * width) for part in parts)
        w, drift, start = map(_grown, parts, self.room, repeat(width))
        self.state, self.start = self.state._replace(w=w, drift=drift), start

    def _has_room(self, parts: tuple[np.ndarray, ...], width: int) -> bool:
        """Tell whether the weights lie in longer arrays; passes may have moved them elsewhere."""
        within = (part.base is room for part, room in zip(parts, self.room, strict=False))
        return bool(self.room) and self.room[0].shape[-1] > width and all(within)


def _wrong(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Tell for each row whether its scores misclassify it."""
    if scores.ndim == 1:
        return np.asarray(np.where(codes, scores, -scores) <= 0)
    return np.asarray(scores.argmax(axis=1) != codes)


def _moved(w: np.ndarray, places: np.ndarray, classes: int) -> np.ndarray:
    """Give weights of some classes among more of them."""
    if classes <= 2:
        return 0.0 - w if places[0] else w
    if w.ndim == 1:
        w = np.asfortranarray((0.0 - w, w))
    wide = np.zeros((classes, w.shape[-1]), order=order_of(w))
    wide[places] = w
    return wide


def _roomy(w: np.ndarray, width: int) -> np.ndarray:
    """Give an array for more columns that begins with lifted weights; none where there are none.

    Columns lie together, so that the weights of the first ones are contiguous.
    """
    room = np.zeros((*w.shape[:-1], width + 1 if w.size else 0), order="F")
    room[..., : w.shape[-1]] = w
    return room


def _grown(w: np.ndarray, room: np.ndarray, width: int) -> np.ndarray:
    """Give the beginning of an array as lifted weights; the added coordinate moves to the end."""
    grown, last = room[..., : width + 1], w.shape[-1] - 1
    if w.size and width > last:
        grown[..., width] = grown[..., last]
        grown[..., last] = 0.0
    return grown


def _widen(w: np.ndarray, width: int) -> np.ndarray:
    """Move lifted weights into a longer array; the added coordinate stays last."""
    wide = np.zeros((*w.shape[:-1], width + 1), order=order_of(w))
    wide[..., : w.shape[-1] - 1] = w[..., :-1]
    wide[..., -1] = w[..., -1]
    return wide


def check_room(columns: int, classes: int = 1) -> None:
    """Refuse a number of columns whose weights, with all copies of them, would fill the memory."""
    check_memory(WEIGHT_BYTES * columns * classes, _weights(columns, classes), FEWER_COLUMNS)


def check_start(columns: int, classes: int = 1) -> None:
    """Refuse such a number where learning begins, and warn of one that takes much memory."""
    check_room(columns, classes)
    needed = WEIGHT_BYTES * columns * classes
    if needed >= LARGE:
        warnings.warn(
            f"{_weights(columns, classes)} need about {needed / 2**30:,.1f} GiB; {FEWER_COLUMNS}",
            LargeModelWarning,
            stacklevel=levels_inside() + 1,
        )


def _weights(columns: int, classes: int) -> str:
    each = f" in each of {classes:,} classes" if classes > 1 else ""
    return f"weights for {columns:,} columns{each}"
