"""What is being learned, whatever the number of classes: weights, lifting, and its kind of output.

Front ends (the scikit-learn learner, the command line, a cluster) turn what they are given into
matrices and marks, which are signs or places of classes; from there on this is the whole learner:
a `Halfspace` for two classes, a `Partition` for more.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, Self

import numpy as np

from rosenblatt.errors import InputError, LargeModelWarning, levels_inside
from rosenblatt.matrices import Matrix, as_rows, check_finite, refuse_unusable, without_duplicates
from rosenblatt.memory import FEWER_COLUMNS, check_memory
from rosenblatt.online.averaging import Ballot, mean_weights, trim
from rosenblatt.online.driver import Limits, Training, UnusableRowError, Watch
from rosenblatt.online.perceptron import ALL_ONE, LOGGED, SEEN
from rosenblatt.rows import Rows
from rosenblatt.run import History, Run, Stop

OneRow = tuple[np.ndarray, np.ndarray, int]  # columns, values, how many of them count

# For each weight, measured: what fitting and saving hold (last, sum, start, copies, the file).
WEIGHT_BYTES = 64
LARGE = 2**30  # bytes from which on the size of weights is told

CLEARLY = 0.9  # the share of the errors of averages at which the last weights are preferred


@dataclass
class Separator:
    """The state of a learner.

    Attributes
    ----------
    rule : what an update does.
    lift : the constant of the added coordinate, 0 for none (theory D7).
    state : weights w of the lifted rows, and counters.
    output : ``"last"``, ``"averaged"`` or ``"voted"`` (theory D17); ``"auto"`` until the run ends,
        which is then settled as one of the first two.
    start : the weights at the start of the run.
    votes : the weights held so far, for voted output.
    """

    rule: Any
    lift: float
    state: Any
    output: str
    start: np.ndarray
    votes: Any = None
    plain: bool = field(init=False)
    room: tuple[np.ndarray, ...] = field(init=False, default=(), repr=False)

    def __post_init__(self) -> None:
        # Whether the short path for single rows serves this rule.
        self.plain = not self.rule.renormalize

    @property
    def width(self) -> int:
        """The number of columns of a row, not lifted."""
        return int(self.state.w.shape[-1]) - 1

    def weights(self) -> np.ndarray:
        """Give the weights to predict with: the mean ones for averaged output, else the last."""
        last: np.ndarray = self.state.w
        return mean_weights(self.state) if self.output == "averaged" else last

    # ---- what depends on the number of classes

    def _training(self, rows: Rows, marks: np.ndarray, rule: Any, **manner: Any) -> Training:
        """Give a run of a rule on examples."""
        raise NotImplementedError

    def _history(self, rows: Rows, training: Training, log: Any, frame: np.ndarray) -> History:
        """Replay a run by its log; `frame` holds the start and the comparator."""
        raise NotImplementedError

    def _ballot(self, X: Matrix, training: Training) -> Ballot:
        """Collect the mistakes of a run."""
        raise NotImplementedError

    def _linear_scores(self, X: Matrix, w: np.ndarray) -> np.ndarray:
        """Give the scores of each row by the weights w."""
        raise NotImplementedError

    def _wrong(self, scores: np.ndarray, marks: np.ndarray) -> np.ndarray:
        """Tell for each row whether its scores misclassify it."""
        raise NotImplementedError

    # ---- learning

    def fit(
        self,
        X: Matrix,
        marks: np.ndarray,
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
        logging = self.votes is not None or comparator is not None
        training = self._training(
            as_rows(X, self.lift),
            marks,
            self.rule._replace(sample_weight=weights),
            order=order,
            seed=seed,
            logging=logging,
            limits=limits,
            watch=watch,
        )
        run = self._train(training, X)
        if self.output == "auto":
            judged = run.stop is Stop.STALLED or order not in ("cycle", "shuffle")
            self.settle(run, (lambda: self.errors(X, marks, weights)) if judged else None)
        if comparator is None:
            return run
        log = trim(training.log, int(self.state.tally[LOGGED]))
        frame = np.stack([self.start, comparator])
        rows = as_rows(without_duplicates(X), self.lift)
        return replace(run, history=self._history(rows, training, log, frame))

    def once(self, X: Matrix, marks: np.ndarray, weights: np.ndarray = ALL_ONE) -> Run:
        """Present each example once, in the order given."""
        check_finite(X)
        rows, rule = as_rows(X, self.lift), self.rule._replace(sample_weight=weights)
        logging = self.votes is not None
        return self._train(self._training(rows, marks, rule, order="once", logging=logging), X)

    def _train(self, training: Training, X: Matrix) -> Run:
        try:
            run = training.once() if training.order == "once" else training.run()
        except UnusableRowError as unusable:
            refuse_unusable(X, unusable.row, scored=True)
            raise
        finally:
            if self.votes is not None:
                self.votes.append(self._ballot(X, training))
        if not (np.isfinite(self.state.w).all() and np.isfinite(self.state.drift).all()):
            raise InputError(
                "the weights grew too large for float64; divide X or eta0 by a constant"
            )
        return run

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

    def errors(self, X: Matrix, marks: np.ndarray, weights: np.ndarray = ALL_ONE) -> np.ndarray:
        """Give the (weighted) number of rows misclassified by the last and by the averaged w."""
        found = []
        for w in (self.state.w, mean_weights(self.state)):
            wrong = self._wrong(self._linear_scores(X, w), marks)
            found.append(weights[wrong].sum() if weights.size else np.count_nonzero(wrong))
        return np.array(found, np.float64)

    # ---- answering

    def scores(self, X: Matrix) -> np.ndarray:
        """Give the scores of each row: w·x + b, or the share of votes."""
        if self.votes is not None:
            check_finite(X)
            votes: np.ndarray = self.votes.scores(X, self.start, float(self.state.tally[SEEN]))
            return votes
        out = self._linear_scores(X, self.weights())
        if not np.isfinite(out).all():
            fine = np.isfinite(out.reshape(X.shape[0], -1)).all(axis=1)
            refuse_unusable(X, int(np.argmin(fine)), scored=True)
        return out

    # ---- changing shape

    def copied(self) -> Self:
        """Give one that can learn apart from this one."""
        state = type(self.state)(*(part.copy(order="K") for part in self.state))
        return replace(self, state=state, votes=self.votes and self.votes.copied())

    def ruled_by(self, rule: Any) -> Self:
        """Give the same under another rule."""
        return replace(self, rule=rule)

    def widened(self, width: int) -> Self:
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
    order: Any = "C" if w.flags.c_contiguous else "F"
    wide = np.zeros((*w.shape[:-1], width + 1), order=order)
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
