"""The perceptron itself, without scikit-learn, whose import takes longer than most commands.

The mathematics is in `rosenblatt.online.perceptron` and `rosenblatt.online.discriminators`; this
module turns what people hand over into rows and marks (signs, or places of more than two classes),
and what was learned into attributes. `Perceptron` adds scikit-learn's manners.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.examples import Examples, Presented
from rosenblatt.labels import (
    as_label,
    as_labels,
    as_marks,
    as_signs,
    joint_classes,
    one_weight,
    several_classes,
    two_classes,
)
from rosenblatt.learners.base import in_turn
from rosenblatt.learners.beginning import (
    begin,
    begin_again,
    check_options,
    check_stream,
    stream_output,
    with_classes,
)
from rosenblatt.learners.one_row import RowReader, as_one_row_matrix
from rosenblatt.learners.stream import Journal, StreamLearner
from rosenblatt.margin.bounds import MistakeBound, lifted, unit
from rosenblatt.margin.class_bounds import class_theorem, lifted_classes
from rosenblatt.matrices import as_matrix, check_finite, without_duplicates
from rosenblatt.online.driver import Limits, Watch
from rosenblatt.online.growth import Length, length_of
from rosenblatt.online.halfspace import Halfspace
from rosenblatt.online.partition import Partition
from rosenblatt.online.perceptron import LOST
from rosenblatt.online.separator import OneRow
from rosenblatt.options import random_numbers
from rosenblatt.run import Run, Stop

if TYPE_CHECKING:
    from rosenblatt.decide.mistakes import Problem

UNKNOWN = np.zeros(0, np.int8)  # the marks of a stream, most of which are still to come


class PlainPerceptron(StreamLearner):
    """Learn hyperplanes from mistakes; `Perceptron` documents the options and attributes."""

    _separator: Halfspace | Partition

    def __init__(
        self,
        *,
        order: str = "cycle",
        initial: Any = "zero",
        eta0: float = 1.0,
        renormalize: bool = False,
        fit_intercept: bool = True,
        lift: float | str = 1.0,
        output: str = "auto",
        max_iter: int | None = 1000,
        patience: int | None = 5,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        warm_start: bool = False,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        tie: str = "mistake",
        intercept: str | None = None,
    ) -> None:
        self.order = order
        self.initial = initial
        self.eta0 = eta0
        self.renormalize = renormalize
        self.fit_intercept = fit_intercept
        self.lift = lift
        self.output = output
        self.max_iter = max_iter
        self.patience = patience
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.tie = tie
        self.intercept = intercept

    # ---- learning

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        comparator: Any = None,
        watch: Watch | None = None,
    ) -> Self:
        """Learn from a data set, from the start or from the weights held; see `Perceptron.fit`."""
        check_options(self)
        warm = self.warm_start and self._is_fitted()
        matrix = self._take(X) if warm else as_matrix(X)
        labels = as_labels(y, matrix.shape[0])
        shown = Presented.of(matrix, labels, sample_weight)
        if warm:
            classes = joint_classes(shown.labels, None, self.classes_)
        else:
            classes = several_classes(labels)
            shown.check_classes(classes)
        marks = as_marks(shown.labels, classes)
        if warm:
            earlier = self._prepared(matrix.shape[1], classes, shown.labels, marks)
            separator = begin_again(self, shown.X, marks, classes, shown.weights, earlier)
        else:
            separator = begin(self, shown.X, marks, classes, shown.weights)
        run = separator.fit(
            shown.X,
            marks,
            weights=shown.weights,
            order=self.order,
            seed=int(random_numbers(self.random_state).randint(2**31 - 1)),
            limits=Limits(self.max_iter, self.max_updates, self.max_seconds, self._patience()),
            watch=watch,
            comparator=None if comparator is None else unit(_lifted(comparator, separator)),
        )
        if not warm:
            self._adopt_columns(X, matrix)
        self._hold(separator, classes, shown.told(run))
        self._weighted = shown.weighted
        return self

    @in_turn
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Present new examples once, in the order given; classes may appear at any time.

        Parameters
        ----------
        X, y : the new examples.
        classes : all labels, if they are known before the examples show them. A class that is not
            known yet cannot be mistaken for another: from the third class on, knowing them
            beforehand may change what is learned.
        sample_weight : a factor of the update on each row, from 0 on; rows of weight 0 are left
            out.
        """
        return self._present(X, y, classes, sample_weight, stream_output(self))

    def _present(self, X: Any, y: Any, classes: Any, sample_weight: Any, output: str) -> Self:
        """Present examples once; those that come first begin with this kind of output."""
        first = not self._is_fitted()
        new = [] if first else self._reader.new_names(X)
        matrix = as_matrix(X) if first else self._take(X, new)
        shown = Presented.of(matrix, as_labels(y, matrix.shape[0]), sample_weight)
        if not shown.labels.size:
            return self
        known = joint_classes(shown.labels, classes, None if first else self.classes_)
        marks = as_marks(shown.labels, known)
        if first:
            check_stream(self, known)
            separator = begin(self, shown.X, UNKNOWN, known, output=output)
        else:
            separator = self._prepared(matrix.shape[1], known, shown.labels).copied()
        run = shown.told(separator.once(shown.X, marks, shown.weights))
        if first:
            self._adopt_columns(X, matrix)
        self._hold(separator, known, run, goes_on=True)
        self._weighted |= shown.weighted
        self._adopt_names(new)
        return self

    def learn_one(self, x: Any, y: Hashable, sample_weight: float | None = None) -> bool:
        """Answer one row, learn its label, and tell whether the answer was a mistake.

        x is a dict from column to value, a (columns, values) pair, an array or a sparse row. A
        learner that has not been fitted learns its columns and classes as they come; columns may
        be numbers from 0 on, or names, which `feature_names_in_` then tells. The weight is
        a factor of the update, from 0 on; a row of weight 0 is left out, and is no mistake.

        Several threads may call it: they take turns.
        """
        weight = 1.0 if sample_weight is None else one_weight(sample_weight)
        if not weight:
            return False
        with self._lock:
            try:
                move = self._moves[y]
                row = self._reader.read(x)
                separator = self._separator
            except (AttributeError, KeyError, TypeError):
                row, move = self._meet(x, y)
                separator = self._separator
            outcome = separator.learn(row, move, weight) if separator.plain else np.nan
            if outcome != outcome:
                outcome = self._learn_with_care(row, move, weight)
            if weight != 1.0:
                self._weighted = True
            if outcome > 0.0:
                self._missed_one()
                return True
            return False

    def _learn_with_care(self, row: OneRow, move: Any, weight: float) -> float:
        """Learn a row that needs more columns or another rule than the short path knows."""
        separator, needed = self._separator, self._reader.check(row)
        if needed > separator.width:
            separator.grow(needed)
            self.n_features_in_ = needed
        if separator.plain:
            outcome = separator.learn(row, move, weight)
            if outcome != outcome:
                raise InputError("the row is too large for float64; divide it by a constant")
            return outcome
        learned = separator.copied()
        matrix, mark = as_one_row_matrix(row, separator.width), separator.mark_of(move)
        run = learned.once(matrix, mark, np.array([weight]))
        self._separator = learned
        return float(run.mistakes)

    def _patience(self) -> int | None:
        """Give the passes without progress that are allowed: no limit on passes means none."""
        return None if self.max_iter is None or self.renormalize else self.patience

    # ---- predicting

    def decision_function(self, X: Any) -> np.ndarray:
        """Give the score of each row, positive for ``classes_[1]``; or one for each class.

        That is ``x @ coef_[0] + intercept_[0]``, or for voted output the balance of the votes,
        between -1 and 1. With more than two classes, ``x @ coef_.T + intercept_``, or the share
        of the votes that each class gets.
        """
        self._check_fitted()
        matrix = self._take(X)
        return self._widened(matrix.shape[1]).scores(matrix)

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        """Give the labels that scores stand for: of tied classes, the first."""
        if scores.ndim > 1:
            best: np.ndarray = self.classes_[scores.argmax(axis=1)]
            return best
        positive = scores >= 0 if self.tie == "positive" else scores > 0
        labels: np.ndarray = self.classes_[positive.astype(np.intp) % self.classes_.size]
        return labels

    def predict_one(self, x: Any) -> Any:
        """Give the label of one row, or None for *I don't know* (a score of 0, or a tie).

        A learner that has seen nothing yet does not know.
        """
        try:
            separator = self._separator
        except AttributeError:
            return None
        try:
            row = self._reader.read(x)
        except KeyError:
            row = self._reader.known(x)
        if isinstance(separator, Partition):
            return self._best_class(separator, row)
        score = np.nan if separator.votes else separator.score(row)
        if not -np.inf < score < np.inf:
            row = self._known_part(row)
            score = separator.scores(as_one_row_matrix(row, separator.width))[0]
        if score == 0.0:
            return self._labels[1] if self.tie == "positive" else None
        return self._labels[bool(score > 0.0)]

    def _best_class(self, partition: Partition, row: OneRow) -> Any:
        scores = np.full(1, np.nan) if partition.votes else partition.score(row)
        if not np.isfinite(scores).all():
            row = self._known_part(row)
            scores = partition.scores(as_one_row_matrix(row, partition.width))[0]
        best = scores.argmax()
        return None if np.count_nonzero(scores == scores[best]) > 1 else self._labels[best]

    def bound(
        self, X: Any, y: Any, comparator: Any = None, sample_weight: Any = None
    ) -> MistakeBound:
        """Bound the mistakes of the run as it was made: its passes, start, lifting and weights.

        X and y hold every example that was presented; the comparator is any vector, such as a
        planted one: a number for each column, and possibly the intercept. If it separates them,
        Theorem 1 gives the bound, else Theorem 2. None for the best comparator there is.

        With more than two classes, the comparator has such a row for each of them, must separate
        them, and cannot be left out: the bound is 2R²/γ² (theory F15). The weights are those that
        the examples were presented with; theory F16 says what then holds.
        """
        self._check_fitted()
        if isinstance(self._separator, Partition):
            return self._class_bound(self._separator, X, y, comparator, sample_weight)
        return self._mistake_problem(X, y, sample_weight).bound(comparator)

    def _class_bound(
        self, partition: Partition, X: Any, y: Any, comparator: Any, sample_weight: Any
    ) -> MistakeBound:
        if comparator is None:
            raise InputError(
                "with more than two classes the bound needs a comparator that separates them: a "
                "row of weights for each class"
            )
        shown = self._examples_of_the_run(X, y, sample_weight)
        partition = partition.widened(max(partition.width, shown.X.shape[1]))
        joint_classes(shown.labels, self.classes_, None)  # which refuses strangers
        codes = as_marks(shown.labels, self.classes_)
        return class_theorem(
            shown.X,
            codes,
            _lifted(comparator, partition),
            partition.start,
            lift=partition.lift,
            eta=partition.rule.eta,
            weights=shown.times(partition.rule.weights[codes]),
        )

    def _examples_of_the_run(self, X: Any, y: Any, sample_weight: Any) -> Presented:
        """Take examples that a bound may speak of."""
        if self._separator.rule.renormalize:
            raise InputError("neither theorem speaks of runs that renormalise their weights")
        matrix = self._take(X)
        if matrix.shape[1] < self._separator.width:
            raise InputError(
                f"X has {matrix.shape[1]} columns, but the learner knows {self._separator.width}; "
                "the bound of a run needs all examples that were presented"
            )
        self._check_presented(matrix.shape[0])
        check_finite(matrix)
        labels = as_labels(y, matrix.shape[0])
        shown = Presented.of(without_duplicates(matrix), labels, sample_weight)
        self._check_weighted(shown)
        return shown

    def _mistake_problem(self, X: Any, y: Any, sample_weight: Any = None) -> Problem:
        """Give the examples, and the runs that are like the one that was made."""
        from rosenblatt.decide.mistakes import Problem, Runs  # learning starts without them

        self._check_fitted()
        shown = self._examples_of_the_run(X, y, sample_weight)
        halfspace = self._widened(shown.X.shape[1])
        if isinstance(halfspace, Partition):
            two_classes(self.classes_)  # which says what is wrong
        assert isinstance(halfspace, Halfspace)
        signs = as_signs(shown.labels, self.classes_)
        rule = halfspace.rule
        factors = np.where(signs > 0, rule.positive_weight, rule.negative_weight)
        runs = Runs(
            halfspace.lift,
            halfspace.start,
            rule.eta,
            shown.times(factors),
            self._most_on_a_row(signs.size),
        )
        return Problem(shown.X, signs, self.classes_, runs)

    def _most_on_a_row(self, rows: int) -> int | None:
        """Give how often one of these rows was a mistake at most; None if that is not known.

        In passes over a data set, that is their number, or more where orders begin anew after a
        mistake. Of a stream it is known that the rows are all that was presented, each once, if
        there are as many of them as there were looks.
        """
        run = self._run_so_far()
        if run is None:
            return 1
        if run.stop is Stop.STREAM:
            return 1 if run.operations.dot_products == rows else None
        return max(run.passes, int(run.counts.max(initial=0)), 1)

    # ---- what was learned

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the columns, as one row, or one for each of more than two classes.

        They are a copy, since learning goes on in place.
        """
        self._check_fitted()
        weights = np.atleast_2d(self._separator.weights())[:, :-1].copy()
        weights.flags.writeable = False
        return weights

    @property
    def intercept_(self) -> np.ndarray:
        """The constant terms, in the coordinates of the rows as given."""
        self._check_fitted()
        return np.atleast_2d(self._separator.weights())[:, -1] * self._separator.lift

    def _is_fitted(self) -> bool:
        return hasattr(self, "_separator")

    # ---- keeping

    def _counters(self) -> np.ndarray:
        tally: np.ndarray = self._separator.state.tally
        return tally

    def _hold(
        self,
        separator: Halfspace | Partition,
        classes: np.ndarray,
        run: Run | None,
        *,
        goes_on: bool = False,
    ) -> None:
        """Take over what was learned; until here, nothing of the learner has changed."""
        if goes_on and run is not None:
            self._go_on(run, separator.state.tally)
        else:
            self._journal = Journal(run, separator.state.tally)
        self._separator = separator
        self.n_features_in_ = separator.width
        self._name_classes(classes)

    def _name_classes(self, classes: np.ndarray) -> None:
        self.classes_ = classes
        self._labels = classes.tolist()
        if classes.size == 1:
            self._labels.append(None)  # the other side is unknown
        # What the short path for single rows wants to know of each label.
        moves = self._separator.moves()
        self._moves: dict[Any, Any] = dict(zip(classes.tolist(), moves, strict=False))

    def _open_columns(self) -> None:
        """Let the columns grow from here on, as those of a stream do."""
        self._reader = RowReader(None)

    def _length(self) -> Length:
        """Give how long the last weights are, and what mistakes took from that."""
        state = self._separator.state
        return length_of(state.w, state.tally[LOST])

    def _errors(self, blocks: Callable[[], Iterable[Examples]]) -> np.ndarray:
        """Give how many of these examples the last and the averaged weights misclassify."""
        wrong = np.zeros(2)
        for X, y, weights in ((block.X, block.y, block.weights) for block in blocks()):
            matrix = as_matrix(X)
            shown = Presented.of(matrix, as_labels(y, matrix.shape[0]), weights)
            marks = as_marks(shown.labels, self.classes_)
            wrong += self._separator.errors(shown.X, marks, shown.weights)
        return wrong

    def _conclude(self, run: Run, blocks: Callable[[], Iterable[Examples]]) -> None:
        """End a stream: its columns are known now, and what is learned later is counted anew."""
        if self._separator.output == "auto":
            stalled = run.stop is Stop.STALLED
            self._separator.settle(run, partial(self._errors, blocks) if stalled else None)
        self._hold(self._separator, self.classes_, run)
        self._reader = RowReader(self.n_features_in_, getattr(self, "feature_names_in_", None))

    # ---- meeting new columns and classes in a stream

    def _widened(self, width: int) -> Halfspace | Partition:
        """Give what was learned, with room for rows of this width."""
        separator = self._separator
        return separator.widened(width) if width > separator.width else separator

    def _prepared(
        self, width: int, classes: np.ndarray, labels: np.ndarray, marks: np.ndarray = UNKNOWN
    ) -> Halfspace | Partition:
        """Give what was learned as it is for more columns, and for more classes."""
        separator = self._widened(width)
        if classes.size > self.classes_.size:
            separator = with_classes(self, separator, self.classes_, labels, classes, marks)
        return separator

    def _meet(self, x: Any, label: Hashable) -> tuple[OneRow, Any]:
        """Read a row whose label or names are new; give it with the move of that label.

        The row comes first: one that cannot be used must not teach a class.
        """
        fitted = self._is_fitted()
        begins = not fitted or self._reader.undecided
        reader = RowReader.of_stream(x) if begins else self._reader
        row, new = reader.meet(x)
        needed = reader.check(row, new)
        labels = as_label(label)
        known = joint_classes(labels, None, self.classes_ if fitted else None)
        if not fitted:
            check_stream(self, known)
            nothing = sparse.csr_matrix((1, needed))
            separator = begin(self, nothing, UNKNOWN, known, output=stream_output(self))
            self._hold(separator, known, None)
        elif known is not self.classes_:
            self._separator = self._prepared(self._separator.width, known, labels)
            self._name_classes(known)
        self._reader = reader
        self._adopt_names(new)
        return row, self._moves[label]

    def _known_part(self, row: OneRow) -> OneRow:
        """Leave out the columns that a stream has not shown yet: their weights are 0."""
        if self._reader.check(row) <= self._separator.width:
            return row
        columns, values, length = row
        known = np.flatnonzero(columns[:length] < self._separator.width)
        return columns[known], values[known], known.size


def _lifted(comparator: Any, separator: Halfspace | Partition) -> np.ndarray:
    width, lift = separator.width, separator.lift
    if isinstance(separator, Partition):
        return lifted_classes(comparator, separator.start.shape[0], width, lift)
    return lifted(comparator, width, lift)
