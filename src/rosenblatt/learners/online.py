"""Learners whose weights are moved by single examples: what `Perceptron` and `OnlineSVM` share.

Passes over a data set, blocks and single rows all end in a `LinearMachine`, which holds the weights
and what is needed to go on; a learner of this kind says how to begin one (`_begin`), and by which
rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse

from rosenblatt import options
from rosenblatt.bounds.theorem import lifted, lifted_classes, unit
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples, Presented
from rosenblatt.labels import (
    ALL_ONE,
    as_few_codes,
    as_labels,
    joint_classes,
    moved_places,
    one_weight,
    several_coded,
)
from rosenblatt.learners.one_row import as_one_row_matrix
from rosenblatt.learners.stream import StreamLearner
from rosenblatt.matrices import Matrix, as_matrix, check_finite, without_duplicates
from rosenblatt.online.driver import DRAWN, Limits, Watch
from rosenblatt.online.growth import Length, length_of
from rosenblatt.online.linear_machine import LinearMachine, Move, OneRow, check_room
from rosenblatt.online.perceptron import LOST, Rule, score_row
from rosenblatt.run import Run, Stop

NARROW = 2**14  # columns of rows that are faster dense than sparse, one at a time
INF = math.inf
UNKNOWN = np.zeros(0, np.int8)  # the codes of a stream, most of which are still to come


class OnlineLearner(StreamLearner):
    """A learner from single examples, by hyperplanes."""

    tie = "mistake"  # what a score of 0 counts as, and whether a fit goes on from the last one,
    warm_start = False  # unless there are options for it
    unsure: float | None = None
    n_features_in_: int
    _learned: LinearMachine

    def check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or learned."""
        super().check_options()
        if self.unsure is not None:
            options.share("unsure", self.unsure)
            if self.output not in ("auto", "last"):
                raise InputError(
                    "unsure is calibrated on the answers of the last weights; leave out "
                    f"output={self.output!r}, or unsure"
                )

    # ---- what differs

    def _begin(
        self,
        X: Matrix,
        classes: np.ndarray,
        output: str,
        codes: np.ndarray = UNKNOWN,
        weights: np.ndarray = ALL_ONE,
    ) -> LinearMachine:
        """Begin at the chosen start; no codes where all that is to come is not known."""
        raise NotImplementedError

    def _rule(self, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray = ALL_ONE) -> Rule:
        """Give the rule of the updates; no codes where all that is to come is not known."""
        raise NotImplementedError

    def _begin_again(
        self, shown: Presented, classes: np.ndarray, codes: np.ndarray
    ) -> LinearMachine:
        """Begin from the last weights of an earlier run."""
        raise NotImplementedError

    def passes_without_progress(self) -> int | None:
        """Give the passes without progress that are allowed, None for any number."""
        return None

    # ---- learning

    def train(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        comparator: Any = None,
        watch: Watch | None = None,
    ) -> Self:
        """Learn as `fit` does, without a warning at the end; `watch` is told of the progress."""
        self.check_options()
        warm = self.warm_start and self.is_fitted
        matrix = self._take(X) if warm else as_matrix(X)
        labels = as_labels(y, matrix.shape[0])
        shown = Presented.of(matrix, labels, sample_weight)
        if warm:
            classes = joint_classes(shown.labels, None, self.classes_)
            codes = as_few_codes(shown.labels, classes)
            separator = self._begin_again(shown, classes, codes)
        else:
            classes, codes = several_coded(labels)
            shown.check_classes(classes)
            codes = codes if shown.places is None else codes[shown.places]
            separator = self._begin(shown.X, classes, self.output, codes, shown.weights)
        patience = self.passes_without_progress()
        if comparator is not None:
            comparator = unit(lifted_comparator(comparator, separator))
        run = separator.fit(
            shown.X,
            codes,
            weights=shown.weights,
            order=self.order,
            seed=self.draw_seed() if self.order in DRAWN else 0,
            limits=Limits(self.max_iter, self.max_updates, self.max_seconds, patience),
            watch=watch,
            comparator=comparator,
        )
        if not warm:
            self._adopt_columns(X, matrix)
        self._hold(separator, classes, shown.told(run))
        self._weighted = shown.weighted
        return self

    def _present_once(self, learned: LinearMachine, shown: Presented, classes: np.ndarray) -> Run:
        codes = as_few_codes(shown.labels, classes)
        return shown.told(learned.once(shown.X, codes, shown.weights))

    def learn_one(self, x: Any, y: Hashable, sample_weight: float | None = None) -> bool:  # noqa: D102 (in StreamLearner)
        weight = 1.0 if sample_weight is None else one_weight(sample_weight)
        if not weight:
            return False
        with self._lock:
            try:
                move = self._moves[y]
                row = self._reader.read(x)
                separator = self._learned
            except (AttributeError, KeyError, TypeError):
                row, move = self._meet(x, y)
                separator = self._learned
            outcome = separator.learn(row, move, weight) if separator.plain else np.nan
            if outcome != outcome:
                outcome = self._learn_with_care(row, move, weight)
            if weight != 1.0:
                self._weighted = True
            if outcome != -1.0:
                self._learned_one()
            return outcome >= 0.0

    def _learn_with_care(self, row: OneRow, move: Move, weight: float) -> float:
        """Learn a row that needs more columns or another rule than the short path knows."""
        separator, needed = self._learned, self._reader.check(row)
        if needed > separator.width:
            separator.grow(needed)
            self.n_features_in_ = needed
        if separator.plain:
            outcome = separator.learn(row, move, weight)
            if outcome != outcome:
                raise InputError("the row is too large for float64; divide it by a constant")
            return outcome
        learned = separator.copied()
        matrix = as_one_row_matrix(row, separator.width)
        code = np.array([move[0]], np.int8 if separator.is_halfspace else np.int64)
        run = learned.once(matrix, code, np.array([weight]))
        self._learned = learned
        if run.mistakes:
            return 0.0
        return -2.0 if run.updates else -1.0

    def _meet(self, x: Any, label: Hashable) -> tuple[OneRow, Move]:
        """Take in a row whose label or names are new; give it with the move of that label."""
        met = self._met(x, label)
        if not self.is_fitted:
            self._check_stream(met.classes)
            nothing = sparse.csr_matrix((1, met.width))
            separator = self._begin(nothing, met.classes, self._stream_output())
            self._hold(separator, met.classes, None)
        elif met.classes is not self.classes_:
            width = self._learned.width
            self._keep(self._prepared(width, met.classes, met.labels), met.classes)
        self._reader = met.reader
        self._adopt_names(met.names)
        return met.row, self._moves[label]

    # ---- predicting

    def _scores(self, matrix: Matrix) -> np.ndarray:
        return self._widened(matrix.shape[1]).scores(matrix)

    def predict_one(self, x: Any) -> Any:  # noqa: D102 (in Learner)
        if self.unsure is None:
            return self.answer_one(x)[0]
        label, lead = self.answer_one(x)
        return None if label is None or lead < self.threshold_ else label

    def answer_one(self, x: Any) -> tuple[Any, float]:
        """Give the label of one example, whatever `unsure` says, and the lead of its score.

        Of two classes the lead is the size of the score, of more the distance to the second best.
        A tie is answered by None, as is everything before something is learned.
        """
        try:
            separator = self._learned
        except AttributeError:
            return None, 0.0
        reader, by_last = self._reader, separator.is_halfspace and separator.output == "last"
        if by_last and reader.places and type(x) is dict:
            score = reader.score(x, separator.lift, separator.state.w)
            if 0.0 < score < INF:
                return self._labels[1], score
            if -INF < score < 0.0:
                return self._labels[0], -score
        try:
            row = reader.read(x)
        except KeyError:
            row = reader.read_known(x)
        if not separator.is_halfspace:
            return self._best_class(separator, row)
        if by_last:  # as `score` would, without the price of another call
            score = score_row(row[0], row[1], separator.lift, separator.state.w)
        else:
            score = INF if separator.votes else separator.score(row)
        if not -INF < score < INF:
            row = self._known_part(row)
            score = float(separator.scores(_as_one_row(row, separator.width))[0])
        if score > 0.0:
            return self._labels[1], score
        if score < 0.0:
            return self._labels[0], -score
        return (self._labels[1] if self.tie == "positive" else None), 0.0

    def _best_class(self, separator: LinearMachine, row: OneRow) -> tuple[Any, float]:
        scores = np.full(1, np.nan) if separator.votes else separator.score(row)
        if not np.isfinite(scores).all():
            row = self._known_part(row)
            scores = separator.scores(_as_one_row(row, separator.width))[0]
        if StreamLearner.is_unsure(self, scores[np.newaxis])[0]:
            return None, 0.0
        second, best = np.partition(scores, -2)[-2:]
        return self._labels[scores.argmax()], float(best - second)

    def weigh_one(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """Give the known columns of one example, and what each adds to the score of two classes.

        Of more classes, to the lead of the best one.
        """
        columns, values = self._known_part(self._reader.read_known(x))
        columns = columns.copy()  # which rows may share
        weights = np.atleast_2d(self._learned.weights()[..., columns])
        if len(weights) > 1:
            scores = self._learned.scores(_as_one_row((columns, values), self._learned.width))[0]
            second, best = np.argsort(scores, kind="stable")[-2:]
            weights = weights[[best]] - weights[[second]]
        return columns, weights[0] * values

    def is_unsure(self, scores: np.ndarray) -> np.ndarray:
        """Tell for each row whether its scores mean *I don't know*: a tie, or inside the band."""
        unsure = super().is_unsure(scores)
        if self.unsure is None:
            return unsure
        if scores.ndim == 1:
            return np.asarray(unsure | (np.abs(scores) < self.threshold_))
        second, best = np.partition(scores, -2, axis=1)[:, -2:].T
        return np.asarray(unsure | (best - second < self.threshold_))

    @property
    def threshold_(self) -> float:
        """The lead of a score below which the answer is *I don't know*; 0 for ties alone."""
        self.check_fitted()
        return 0.0 if self.unsure is None else self._learned.threshold(self.unsure)

    def _known_part(self, row: OneRow) -> OneRow:
        """Leave out the columns that a stream has not shown yet: their weights are 0."""
        if self._reader.check(row) <= self._learned.width:
            return row
        columns, values = row
        known = np.flatnonzero(columns < self._learned.width)
        return columns[known], values[known]

    # ---- what was learned

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the columns, as one row, or one for each of more than two classes.

        They are a copy, since learning goes on in place.
        """
        self.check_fitted()
        weights = np.atleast_2d(self._learned.weights())[:, :-1].copy()
        weights.flags.writeable = False
        return weights

    @property
    def intercept_(self) -> np.ndarray:
        """The constant terms, in the coordinates of the rows as given."""
        self.check_fitted()
        return np.atleast_2d(self._learned.weights())[:, -1] * self._learned.lift

    @property
    def separator(self) -> LinearMachine:
        """The state of the learner: last weights, start, rule and lifting."""
        self.check_fitted()
        return self._learned

    def _counters(self) -> np.ndarray:
        return self._learned.state.tally

    def _keep(self, learned: LinearMachine, classes: np.ndarray) -> None:
        self._learned = learned
        self.n_features_in_ = learned.width
        self.classes_ = classes
        self._labels = classes.tolist()
        if classes.size == 1:
            self._labels.append(None)  # the other side is unknown
        # What the short path for single rows wants to know of each label.
        self._moves: dict[Any, Move] = dict(zip(classes.tolist(), learned.moves(), strict=False))

    def _widened(self, width: int) -> LinearMachine:
        """Give what was learned, with room for rows of this width."""
        learned = self._learned
        return learned.widened(width) if width > learned.width else learned

    def _prepared(
        self, width: int, classes: np.ndarray, labels: np.ndarray, codes: np.ndarray = UNKNOWN
    ) -> LinearMachine:
        """Give what was learned as it is for more columns, and for more classes, which begin at 0.

        The first class of a stream counts as negative until the second one is known, and may have
        to turn.
        """
        separator = self._widened(width)
        if classes.size == self.classes_.size:
            return separator
        rule = self._rule(classes, codes)
        moved = moved_places(self.classes_, labels, classes)
        if classes.size > 2:
            check_room(separator.width, classes.size)
        return separator.among(moved, classes.size, rule)

    # ---- learning elsewhere, as on a cluster

    def begin(self, like: Matrix, classes: np.ndarray, totals: np.ndarray) -> LinearMachine:
        """Begin as `fit` does on rows of which this is the longest; totals are those of classes."""
        return self._begin(like, classes, self.output, np.arange(classes.size), totals)

    def take_over(
        self, learned: LinearMachine, classes: np.ndarray, run: Run, like: Matrix
    ) -> None:
        """Hold what a run elsewhere learned, from rows with the columns of this one."""
        self._adopt_columns(like, like)
        self._hold(learned, classes, run)

    # ---- passes over a stream

    def length(self) -> Length:
        """Give how long the last weights are, and what mistakes took from that."""
        state = self._learned.state
        return length_of(state.w, state.tally[LOST])

    def calibrate(self, again: bool) -> None:
        """Let what follows count in the `unsure` band or not, as in later passes over a stream."""
        self._learned.calibrates = again

    def conclude(self, run: Run, blocks: Callable[[], Iterable[Examples]]) -> None:
        """End passes over a stream: its columns are known now, and what follows is counted anew."""
        if self._learned.output == "auto":
            stalled = run.stop is Stop.STALLED
            self._learned.settle(run, partial(self._errors, blocks) if stalled else None)
        self.calibrate(True)
        self._hold(self._learned, self.classes_, run)
        self.close_columns()

    def _errors(self, blocks: Callable[[], Iterable[Examples]]) -> np.ndarray:
        """Give how many of these examples the last and the averaged weights misclassify."""
        wrong = np.zeros(2)
        for X, y, weights in ((block.X, block.y, block.weights) for block in blocks()):
            matrix = as_matrix(X)
            shown = Presented.of(matrix, as_labels(y, matrix.shape[0]), weights)
            codes = as_few_codes(shown.labels, self.classes_)
            wrong += self._learned.errors(shown.X, codes, shown.weights)
        return wrong

    # ---- bounds

    def _examples_of_the_run(self, X: Any, y: Any, sample_weight: Any) -> Presented:
        """Take examples that a bound may speak of."""
        if self._learned.rule.renormalize:
            raise InputError("neither theorem covers runs that renormalise their weights")
        matrix, width = self._take(X), self._learned.width
        if matrix.shape[1] < width:
            raise InputError(
                f"X has {matrix.shape[1]} columns, but the learner knows {width}; the bound of a "
                "run needs all examples that were presented"
            )
        check_finite(matrix)
        return self._presented_again(without_duplicates(matrix), y, sample_weight)

    def _most_on_a_row(self, rows: int) -> int | None:
        """Give how often one of these rows was a mistake at most; None if that is not known.

        In passes over a data set, that is their number, or more where orders begin anew after a
        mistake. Of a stream it is known that the rows are all that was presented, each once, if
        there are as many of them as there were looks.
        """
        run = self.run_so_far()
        if run is None:
            return 1
        if run.stop is Stop.STREAM:
            return 1 if run.operations.dot_products == rows else None
        return max(run.passes, int(run.counts.max(initial=0)), 1)


def _as_one_row(row: OneRow, width: int) -> Matrix:
    """Give a row as a matrix: dense where that is faster to make."""
    if width > NARROW:
        return as_one_row_matrix(row, width)
    columns, values = row
    matrix = np.zeros((1, width))
    np.add.at(matrix[0], columns, values)
    return matrix


def lifted_comparator(comparator: Any, separator: LinearMachine) -> np.ndarray:
    """Take a comparator into the space of the lifted rows: one vector, or one for each class."""
    width, lift = separator.width, separator.lift
    if not separator.is_halfspace:
        return lifted_classes(comparator, separator.start.shape[0], width, lift)
    return lifted(comparator, width, lift)
