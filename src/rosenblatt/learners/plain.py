"""The perceptron itself, without scikit-learn, whose import takes longer than most commands.

The mathematics is in `rosenblatt.online.perceptron`; this module turns what people hand over into
rows and signs, and what was learned into attributes. `Perceptron` adds scikit-learn's manners.
"""

from __future__ import annotations

from collections.abc import Hashable
from inspect import signature
from typing import Any, Self

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.examples import (
    Matrix,
    as_labels,
    as_matrix,
    as_signs,
    check_finite,
    joint_classes,
    two_classes,
    without_duplicates,
)
from rosenblatt.learners.beginning import (
    begin,
    begin_again,
    check_options,
    check_stream,
    rule_of,
)
from rosenblatt.learners.one_row import RowReader, as_one_row_matrix, check_row
from rosenblatt.learners.options import random_numbers
from rosenblatt.margin.bounds import MistakeBound, lifted, theorem_one, unit
from rosenblatt.online.driver import Limits, Watch
from rosenblatt.online.halfspace import Halfspace, OneRow
from rosenblatt.run import Run

FIRST_WIDTH = 64  # columns that a learner has room for before it has seen any
MOST_COLUMNS = 2**31 - 1


class PlainPerceptron:
    """Learn a hyperplane from mistakes; `Perceptron` documents the options and attributes."""

    _halfspace: Halfspace
    _reader: RowReader
    _run: Run | None
    _tally: np.ndarray
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray  # where the columns have names

    def __init__(
        self,
        *,
        order: str = "cycle",
        initial: Any = "zero",
        eta0: float = 1.0,
        renormalize: bool = False,
        fit_intercept: bool = True,
        lift: float | str = 1.0,
        output: str = "last",
        max_iter: int | None = 1000,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        warm_start: bool = False,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        tie: str = "mistake",
    ) -> None:
        self.order = order
        self.initial = initial
        self.eta0 = eta0
        self.renormalize = renormalize
        self.fit_intercept = fit_intercept
        self.lift = lift
        self.output = output
        self.max_iter = max_iter
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.tie = tie

    # ---- learning

    def _fit(self, X: Any, y: Any, comparator: Any = None, watch: Watch | None = None) -> Self:
        """Learn from a data set, from the start or from the weights held; see `Perceptron.fit`."""
        check_options(self)
        warm = self.warm_start and self._is_fitted()
        matrix = self._take(X) if warm else as_matrix(X)
        labels = as_labels(y, matrix.shape[0])
        classes = joint_classes(labels, None, self.classes_) if warm else two_classes(labels)
        signs = as_signs(labels, classes)
        if warm:
            earlier = self._prepared(matrix.shape[1], classes)
            halfspace = begin_again(self, matrix, signs, classes, earlier)
        else:
            halfspace = begin(self, matrix, signs, classes)
        run = halfspace.fit(
            matrix,
            signs,
            order=self.order,
            seed=int(random_numbers(self.random_state).randint(2**31 - 1)),
            limits=Limits(self.max_iter, self.max_updates, self.max_seconds),
            watch=watch,
            comparator=_unit_or_none(comparator, halfspace),
        )
        if not warm:
            self._adopt_columns(X, matrix)
        self._hold(halfspace, classes, run)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Present new examples once, in the order given.

        Parameters
        ----------
        X, y : the new examples.
        classes : both labels, if they are known before the examples show them.
        """
        first = not self._is_fitted()
        matrix = as_matrix(X) if first else self._take(X)
        labels = as_labels(y, matrix.shape[0])
        known = joint_classes(labels, classes, None if first else self.classes_)
        signs = as_signs(labels, known)
        if first:
            check_stream(self, known)
            halfspace = begin(self, matrix, np.zeros(0, np.int8), known)
        else:
            halfspace = self._prepared(matrix.shape[1], known).copied()
        earlier = None if first else self._run_so_far()
        run = halfspace.once(matrix, signs)
        if first:
            self._adopt_columns(X, matrix)
        self._hold(halfspace, known, run if earlier is None else earlier.followed_by(run))
        return self

    def learn_one(self, x: Any, y: Hashable) -> bool:
        """Answer one row, learn its label, and tell whether the answer was a mistake.

        x is a dict from column to value, a (columns, values) pair, an array or a sparse row. A
        learner that has not been fitted learns its columns and classes as they come.
        """
        try:
            step = self._steps[y]
            row = self._reader.read(x)
            halfspace = self._halfspace
        except (AttributeError, KeyError, TypeError):
            row, step = self._meet(x, y)
            halfspace = self._halfspace
        if halfspace.plain:
            outcome = halfspace.learn(row, step)
            if outcome == outcome:
                return outcome > 0.0
        return self._learn_with_care(row, step)

    def _learn_with_care(self, row: OneRow, step: float) -> bool:
        """Learn a row that needs more columns or another rule than the short path knows."""
        needed = check_row(row, self._reader.width or MOST_COLUMNS)
        if needed > self._halfspace.width:
            width = max(2 * self._halfspace.width, needed)
            self._halfspace = self._halfspace.widened(width)
            self.n_features_in_ = width
        halfspace = self._halfspace
        if halfspace.plain:
            outcome = halfspace.learn(row, step)
            if outcome != outcome:
                raise InputError("the row is too large for float64; divide it by a constant")
            return outcome > 0.0
        sign = np.array([1 if step > 0 else -1], np.int8)
        learned = halfspace.copied()
        run = learned.once(as_one_row_matrix(row, halfspace.width), sign)
        self._halfspace = learned
        return run.mistakes > 0

    # ---- predicting

    def decision_function(self, X: Any) -> np.ndarray:
        """Give the score of each row, positive for ``classes_[1]``.

        That is ``x @ coef_[0] + intercept_[0]``, or for voted output the balance of the votes,
        between -1 and 1.
        """
        self._check_fitted()
        matrix = self._take(X)
        return self._prepared(matrix.shape[1], self.classes_).scores(matrix)

    def predict(self, X: Any) -> np.ndarray:
        """Give the label of each row; ``classes_[0]`` where the score is 0."""
        return self._answers(self.decision_function(X))

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        """Give the labels that scores stand for."""
        positive = scores >= 0 if self.tie == "positive" else scores > 0
        labels: np.ndarray = self.classes_[positive.astype(np.intp) % self.classes_.size]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the share of rows answered as y says; labels of any type."""
        answers = self.predict(X).tolist()
        labels = as_labels(y, len(answers)).tolist()
        right = [answer == label for answer, label in zip(answers, labels, strict=True)]
        return float(np.average(right, weights=sample_weight))

    def predict_one(self, x: Any) -> Any:
        """Give the label of one row, or None for *I don't know* (a score of 0).

        A learner that has seen nothing yet does not know.
        """
        try:
            halfspace = self._halfspace
        except AttributeError:
            return None
        row = self._reader.read(x)
        score = np.nan if halfspace.votes else halfspace.score(row)
        if not -np.inf < score < np.inf:
            row = self._known_part(row)
            score = halfspace.scores(as_one_row_matrix(row, halfspace.width))[0]
        if score == 0.0:
            return self._labels[1] if self.tie == "positive" else None
        return self._labels[bool(score > 0.0)]

    def bound(self, X: Any, y: Any, comparator: Any) -> MistakeBound:
        """Bound the mistakes of the run as it was made: its start, rate, lifting and weights.

        X and y hold every example that was presented; the comparator is any vector that separates
        them, such as a planted one: a number for each column, and possibly the intercept.
        """
        self._check_fitted()
        if self._halfspace.rule.renormalize:
            raise InputError("Theorem 1 does not speak of runs that renormalise their weights")
        matrix = self._take(X)
        check_finite(matrix)
        matrix = without_duplicates(matrix)
        halfspace = self._prepared(matrix.shape[1], self.classes_)
        return theorem_one(
            matrix,
            as_signs(as_labels(y, matrix.shape[0]), self.classes_),
            lifted(comparator, halfspace.width, halfspace.lift),
            halfspace.start,
            lift=halfspace.lift,
            eta=halfspace.rule.eta,
            weights=(halfspace.rule.negative_weight, halfspace.rule.positive_weight),
        )

    # ---- what was learned

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the columns, as one row: a copy, since learning goes on in place."""
        self._check_fitted()
        weights = self._halfspace.weights()[np.newaxis, :-1].copy()
        weights.flags.writeable = False
        return weights

    @property
    def intercept_(self) -> np.ndarray:
        """The constant term, in the coordinates of the rows as given."""
        self._check_fitted()
        return self._halfspace.weights()[-1:] * self._halfspace.lift

    @property
    def run_(self) -> Run:
        """What training did since the last `fit`, or since the first example of a stream."""
        self._check_fitted()
        run = self._run_so_far()
        if run is None:
            raise AttributeError("nothing has been presented to this learner yet")
        return run

    @property
    def n_iter_(self) -> int:
        """The passes of the run."""
        return self.run_.passes

    def _is_fitted(self) -> bool:
        return hasattr(self, "_halfspace")

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("the learner has seen no examples yet; call fit first")

    def _options(self) -> dict[str, Any]:
        """Give the options by name, as scikit-learn's `get_params` does."""
        return {name: getattr(self, name) for name in signature(PlainPerceptron).parameters}

    # ---- keeping

    def _hold(self, halfspace: Halfspace, classes: np.ndarray, run: Run | None) -> None:
        """Take over what was learned; until here, nothing of the learner has changed."""
        self._halfspace = halfspace
        self.n_features_in_ = halfspace.width
        self._name_classes(classes)
        self._run = run
        self._tally = halfspace.state.tally.copy()

    def _name_classes(self, classes: np.ndarray) -> None:
        self.classes_ = classes
        self._labels = [*classes.tolist(), None][:2]  # the other side of a single class is unknown
        rule = self._halfspace.rule
        steps = (-rule.eta * rule.negative_weight, rule.eta * rule.positive_weight)
        self._steps: dict[Any, float] = dict(zip(classes.tolist(), steps, strict=False))

    def _adopt_columns(self, X: Any, matrix: Matrix) -> None:
        """Make the columns of X, which is held as a matrix, those of the learner."""
        self._reader = RowReader(matrix.shape[1])

    def _open_columns(self) -> None:
        """Let the columns grow from here on, as those of a stream do."""
        self._reader = RowReader(None)

    def _conclude(self, run: Run) -> None:
        """End a stream: its columns are known now, and what is learned later is counted anew."""
        self._hold(self._halfspace, self.classes_, run)
        self._reader = RowReader(self.n_features_in_)

    def _take(self, X: Any) -> Matrix:
        """Take rows of the columns that the learner knows, or of any if they are open."""
        matrix = as_matrix(X)
        if self._reader.width is not None:
            self._check_columns(X, matrix)
        return matrix

    def _check_columns(self, X: Any, matrix: Matrix) -> None:
        if matrix.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {matrix.shape[1]} columns, but the learner knows {self.n_features_in_}"
            )

    def _run_so_far(self) -> Run | None:
        later = self._halfspace.learned_since(self._tally)
        if later is None or self._run is None:
            return later or self._run
        return self._run.followed_by(later)

    # ---- meeting new columns and classes in a stream

    def _prepared(self, width: int, classes: np.ndarray) -> Halfspace:
        """Give the half-space as it is for more columns, or for a second class.

        The first class counts as negative until the second one is known; it may have to turn.
        """
        halfspace = self._halfspace
        if width > halfspace.width:
            halfspace = halfspace.widened(width)
        if classes.size > self.classes_.size:
            if classes[-1] == self.classes_[0]:
                halfspace = halfspace.turned()
            halfspace = halfspace.ruled_by(rule_of(self, classes, np.zeros(0, np.int8)))
        return halfspace

    def _meet(self, x: Any, label: Hashable) -> tuple[OneRow, float]:
        """Read a row whose label is new; give it with the step of that label.

        The row comes first: one that cannot be used must not teach a class.
        """
        fitted = self._is_fitted()
        reader = self._reader if fitted else RowReader(None)
        row = reader.read(x)
        check_row(row, reader.width or MOST_COLUMNS)
        try:
            hash(label)
        except TypeError:
            raise InputError(f"the label {label!r} is not hashable") from None
        known = joint_classes(as_labels([label], 1), None, self.classes_ if fitted else None)
        if fitted:
            self._halfspace = self._prepared(self._halfspace.width, known)
            self._name_classes(known)
        else:
            check_stream(self, known)
            nothing = sparse.csr_matrix((1, FIRST_WIDTH))
            self._hold(begin(self, nothing, np.zeros(0, np.int8), known), known, None)
            self._reader = reader
        return row, self._steps[label]

    def _known_part(self, row: OneRow) -> OneRow:
        """Leave out the columns that a stream has not shown yet: their weights are 0."""
        if check_row(row, self._reader.width or MOST_COLUMNS) <= self._halfspace.width:
            return row
        columns, values, length = row
        known = np.flatnonzero(columns[:length] < self._halfspace.width)
        return columns[known], values[known], known.size


def _unit_or_none(comparator: Any, halfspace: Halfspace) -> np.ndarray | None:
    if comparator is None:
        return None
    return unit(lifted(comparator, halfspace.width, halfspace.lift))
