"""`Perceptron`: the online and batch perceptron.

The mathematics is in `rosenblatt.online.perceptron` and `rosenblatt.online.discriminators`; this
module turns what people hand over into rows and marks (signs, or codes of more than two classes),
and what was learned into attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from rosenblatt import options
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples, Presented
from rosenblatt.labels import (
    ALL_ONE,
    as_labels,
    as_marks,
    as_signs,
    class_factors,
    joint_classes,
    moved_places,
    one_weight,
    several_classes,
    two_classes,
)
from rosenblatt.learners.one_row import as_one_row_matrix
from rosenblatt.learners.stream import StreamLearner
from rosenblatt.margin.bounds import MistakeBound, lifted, unit
from rosenblatt.margin.class_bounds import class_theorem, lifted_classes
from rosenblatt.matrices import Matrix, as_matrix, check_finite, without_duplicates
from rosenblatt.online.discriminators import ClassRule
from rosenblatt.online.driver import Limits, Watch
from rosenblatt.online.growth import Length, length_of
from rosenblatt.online.halfspace import Halfspace
from rosenblatt.online.partition import Partition
from rosenblatt.online.perceptron import LOST, Rule
from rosenblatt.online.separator import OneRow, check_room
from rosenblatt.run import Run, Stop

if TYPE_CHECKING:
    from rosenblatt.decide.mistakes import Problem

STARTS = ("zero", "unit", "random")
TIES = ("mistake", "positive")
UNKNOWN = np.zeros(0, np.int8)  # the marks of a stream, most of which are still to come


class Perceptron(StreamLearner):
    """Learn a hyperplane from mistakes (theory D1 to D8), or one for each of more classes (D18).

    By default `fit` passes over the data until a pass makes no mistake, which happens after at
    most (R/γ)² mistakes if a hyperplane separates the data with margin γ. With more than two
    classes, each has its own weights, and the largest score wins; a mistake adds the row to those
    of its class and takes it from those of the best wrong class.

    Parameters
    ----------
    order : which example comes next: ``"cycle"`` stored order, ``"shuffle"`` a new order each
        pass, ``"random"`` a random mistaken example, ``"worst"`` the most wrong one, ``"first"``
        from the first example again after every update.
    initial : starting weights: ``"zero"``, ``"unit"`` (all equal, norm 1), ``"random"`` (norm 1),
        or an array of one number for each column, and one more for the intercept if you like; for
        more than two classes, such a row for each.
    eta0 : learning rate. From a zero start it changes no mistake.
    renormalize : scale the weights to norm 1 after every update.
    fit_intercept : learn an affine separator, by lifting each row x to (x, lift).
    intercept : the SVMs' spelling of the same: ``"lifted"`` or ``"none"``; None leaves it to
        ``fit_intercept``.
    lift : the constant of the added coordinate, or ``"radius"`` for the largest norm of a row.
    output : predict with the ``"last"`` weights, the ``"averaged"`` ones, or by the weighted vote
        of all weights held (``"voted"``; keeps the mistaken rows). ``"auto"`` takes the last ones
        if the run converged, since they separate the data, else the averaged ones; after a run
        that stalled, the last ones if they misclassify clearly fewer training rows, as may happen
        where columns differ wildly in scale. Streams (`partial_fit`, `learn_one`) have no end to
        judge by: they answer with the last weights, or go on as the `fit` before them chose.
    max_iter : most passes, None for no limit. A pass is as many looks as there are examples.
    patience : end the run (``Stop.STALLED``) when this many passes made no progress: the weights
        jump about without growing (see `rosenblatt.online.growth`). None to go on up to the other
        limits, as do runs with ``max_iter=None``, with ``renormalize``, and in orders other than
        ``"cycle"`` and ``"shuffle"``.
    max_updates, max_seconds : most updates, most seconds of one `fit`.
    warm_start : let `fit` begin from the weights of the fit before.
    class_weight : None, ``"balanced"`` or a dict from label to a factor of the update.
    random_state : seed of ``order``, ``initial``: a number, None, or a NumPy `RandomState`.
    verbose : 1 to print a line now and then during `fit`.
    tie : what a score of 0 is: ``"mistake"``, whatever the label (*I don't know*), or
        ``"positive"``, as in some textbooks; of two classes only.

    Attributes
    ----------
    coef_, intercept_ : the hyperplane ``x @ coef_[0] + intercept_[0] = 0``; for more than two
        classes, one row for each. With voted output, the last weights; the vote is not a
        hyperplane.
    classes_ : the labels; of two, the second one is on the positive side.
    run_ : what training did, a `Run`. `fit` begins a new one; `partial_fit` and `learn_one` go on.
    n_iter_ : passes of the run.

    Notes
    -----
    *Boundary convention.* A row with score exactly 0 is a mistake while learning; `predict_one`
    answers None there, and `predict`, which must name a class, ``classes_[0]``. With more than two
    classes, the same holds for rows on which several tie for the largest score; `predict` then
    names the first of these, and of equally good wrong classes the first one is corrected.

    *Limits.* `fit` warns (`ConvergenceWarning`) if the run ended at the default `max_iter`, or at
    any limit with the output ``"last"``: these weights still change. Averages and votes that end
    at a limit of yours are what you asked for; ``run_.stop`` tells in any case.

    *Columns of a stream* are those met so far. They may be names: the keys of dicts get columns as
    they come, ``feature_names_in_`` tells them, and names not met yet weigh nothing in an answer.

    *Threads.* Any number may ask at once while none learns; those that learn take turns.

    *Classes of a stream* may appear at any time. When a third one does, the weights w become w for
    the positive and -w for the negative class, which answer all rows as before and are what
    discriminators would have learned (theory F14); a new class begins at 0.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(200, 5, margin=0.05, seed=1)
    >>> learner = rb.Perceptron().fit(X, y)
    >>> learner.score(X, y), learner.run_.converged
    (1.0, True)
    >>> learner.run_.mistakes <= learner.bound(X, y, w).value
    True
    >>> print(learner.run_.stop)
    Converged: the final weights classify every example correctly.
    """

    _learned: Halfspace | Partition

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

    def check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or learned."""
        super().check_options()
        options.one_of("tie", self.tie, TIES)
        if self.initial is None or isinstance(self.initial, str):
            options.one_of("initial", self.initial, STARTS)
        options.positive("eta0", self.eta0)
        options.flag("renormalize", self.renormalize)
        options.flag("warm_start", self.warm_start)
        options.limit("patience", self.patience)

    def _check_stream(self, classes: np.ndarray) -> None:
        super()._check_stream(classes)
        plain = isinstance(self.initial, str) and self.initial == "zero"
        if classes.size == 1 and not (plain and self.tie == "mistake"):
            raise InputError(
                "with this start or tie rule, both classes must be known from the first example "
                "on; call partial_fit with classes=[...] first"
            )

    def passes_without_progress(self) -> int | None:
        """Give the passes without progress that are allowed: no limit on passes means none."""
        return None if self.max_iter is None or self.renormalize else self.patience

    # ---- beginning

    def _begin(
        self,
        X: Matrix,
        classes: np.ndarray,
        output: str,
        marks: np.ndarray = UNKNOWN,
        weights: np.ndarray = ALL_ONE,
    ) -> Halfspace | Partition:
        """Begin at the chosen start; no marks where all that is to come is not known."""
        vectors = 1 if classes.size <= 2 else int(classes.size)  # one serves two classes
        check_room(X.shape[1], vectors)
        lift = self._lift_of(X)
        w = self._start(X.shape[1], lift, vectors)
        if vectors > 1 and sparse.issparse(X):  # as `rows.favoured` has it
            w = np.asfortranarray(w) if w.any() else np.zeros(w.shape, order="F")
        return _begun(w, lift, self._rule(classes, marks, weights), output)

    def _begin_again(
        self, shown: Presented, classes: np.ndarray, marks: np.ndarray
    ) -> Halfspace | Partition:
        """Begin from the last weights of an earlier run, in the same lifted space or another."""
        earlier = self._prepared(shown.X.shape[1], classes, shown.labels, marks)
        lift = self._lift_of(shown.X)
        w = earlier.state.w.copy()
        w[..., -1] = w[..., -1] * earlier.lift / lift if lift else 0.0
        return _begun(w, lift, self._rule(classes, marks, shown.weights), self.output)

    def _start(self, width: int, lift: float, vectors: int) -> np.ndarray:
        """Give the starting weights in the lifted space (theory D5): a row for each class."""
        if not isinstance(self.initial, str):
            if vectors == 1:
                return lifted(self.initial, width, lift, name="initial")
            return lifted_classes(self.initial, vectors, width, lift, name="initial")
        dimension = width + (lift != 0.0)
        w = np.zeros((vectors, width + 1))
        if self.initial == "unit":
            w[:, :dimension] = 1.0 / np.sqrt(vectors * dimension)
        if self.initial == "random":
            numbers = options.random_numbers(self.random_state)
            w[:, :dimension] = numbers.standard_normal((vectors, dimension))
            w /= np.linalg.norm(w)
        return w[0] if vectors == 1 else w

    def _rule(
        self, classes: np.ndarray, marks: np.ndarray, weights: np.ndarray = ALL_ONE
    ) -> Rule | ClassRule:
        """Give the rule of the updates; no marks where all that is to come is not known."""
        codes = marks if classes.size > 2 else (marks > 0).astype(np.intp)
        known = codes if marks.size else None
        factors = class_factors(self.class_weight, classes, known, weights)
        if classes.size > 2:
            if self.tie == "positive":
                raise InputError(
                    "Only binary classification is supported. The type of the target is "
                    f"multiclass: tie='positive' is about two classes, got {classes.size}; leave "
                    "tie out"
                )
            return ClassRule(float(self.eta0), factors, bool(self.renormalize))
        return Rule(
            eta=float(self.eta0),
            negative_weight=float(factors[0]),
            positive_weight=float(factors[-1]),
            renormalize=bool(self.renormalize),
            zero_is_positive=self.tie == "positive",
        )

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
            marks = as_marks(shown.labels, classes)
            separator = self._begin_again(shown, classes, marks)
        else:
            classes = several_classes(labels)
            shown.check_classes(classes)
            marks = as_marks(shown.labels, classes)
            separator = self._begin(shown.X, classes, self.output, marks, shown.weights)
        patience = self.passes_without_progress()
        run = separator.fit(
            shown.X,
            marks,
            weights=shown.weights,
            order=self.order,
            seed=self._draw_seed(),
            limits=Limits(self.max_iter, self.max_updates, self.max_seconds, patience),
            watch=watch,
            comparator=None if comparator is None else unit(_lifted(comparator, separator)),
        )
        if not warm:
            self._adopt_columns(X, matrix)
        self._hold(separator, classes, shown.told(run))
        self._weighted = shown.weighted
        return self

    def _present_once(
        self, learned: Halfspace | Partition, shown: Presented, classes: np.ndarray
    ) -> Run:
        marks = as_marks(shown.labels, classes)
        return shown.told(learned.once(shown.X, marks, shown.weights))

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
                separator = self._learned
            except (AttributeError, KeyError, TypeError):
                row, move = self._meet(x, y)
                separator = self._learned
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
        matrix, mark = as_one_row_matrix(row, separator.width), separator.mark_of(move)
        run = learned.once(matrix, mark, np.array([weight]))
        self._learned = learned
        return float(run.mistakes)

    def _meet(self, x: Any, label: Hashable) -> tuple[OneRow, Any]:
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

    def decision_function(self, X: Any) -> np.ndarray:
        """Give the score of each row, positive for ``classes_[1]``; or one for each class.

        That is ``x @ coef_[0] + intercept_[0]``, or for voted output the balance of the votes,
        between -1 and 1. With more than two classes, ``x @ coef_.T + intercept_``, or the share
        of the votes that each class gets.
        """
        return super().decision_function(X)

    def _scores(self, matrix: Matrix) -> np.ndarray:
        return self._widened(matrix.shape[1]).scores(matrix)

    def answers(self, scores: np.ndarray) -> np.ndarray:
        """Give the labels that scores stand for: of tied classes, the first."""
        if self.tie == "positive" and scores.ndim == 1:
            labels: np.ndarray = self.classes_[(scores >= 0).astype(np.intp)]
            return labels
        return super().answers(scores)

    def predict_one(self, x: Any) -> Any:
        """Give the label of one row, or None for *I don't know* (a score of 0, or a tie).

        A learner that has seen nothing yet does not know.
        """
        try:
            separator = self._learned
        except AttributeError:
            return None
        row = self._reader.read_known(x)
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

    def _known_part(self, row: OneRow) -> OneRow:
        """Leave out the columns that a stream has not shown yet: their weights are 0."""
        if self._reader.check(row) <= self._learned.width:
            return row
        columns, values, length = row
        known = np.flatnonzero(columns[:length] < self._learned.width)
        return columns[known], values[known], known.size

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
    def separator(self) -> Halfspace | Partition:
        """The state of the learner: last weights, start, rule and lifting."""
        self.check_fitted()
        return self._learned

    def _counters(self) -> np.ndarray:
        tally: np.ndarray = self._learned.state.tally
        return tally

    def _keep(self, learned: Halfspace | Partition, classes: np.ndarray) -> None:
        self._learned = learned
        self.n_features_in_ = learned.width
        self.classes_ = classes
        self._labels = classes.tolist()
        if classes.size == 1:
            self._labels.append(None)  # the other side is unknown
        # What the short path for single rows wants to know of each label.
        self._moves: dict[Any, Any] = dict(zip(classes.tolist(), learned.moves(), strict=False))

    def _widened(self, width: int) -> Halfspace | Partition:
        """Give what was learned, with room for rows of this width."""
        learned = self._learned
        return learned.widened(width) if width > learned.width else learned

    def _prepared(
        self, width: int, classes: np.ndarray, labels: np.ndarray, marks: np.ndarray = UNKNOWN
    ) -> Halfspace | Partition:
        """Give what was learned as it is for more columns, and for more classes, which begin at 0.

        The first class of a stream counts as negative until the second one is known, and may have
        to turn.
        """
        separator = self._widened(width)
        if classes.size == self.classes_.size:
            return separator
        rule = self._rule(classes, marks)
        moved = moved_places(self.classes_, labels, classes)
        if isinstance(rule, Rule):
            assert isinstance(separator, Halfspace)
            return (separator.turned() if moved[0] else separator).ruled_by(rule)
        check_room(separator.width, classes.size)
        if isinstance(separator, Halfspace):
            return Partition.of(separator, moved, classes.size, rule)
        return separator.with_classes(moved, classes.size, rule)

    # ---- passes over a stream

    def length(self) -> Length:
        """Give how long the last weights are, and what mistakes took from that."""
        state = self._learned.state
        return length_of(state.w, state.tally[LOST])

    def conclude(self, run: Run, blocks: Callable[[], Iterable[Examples]]) -> None:
        """End passes over a stream: its columns are known now, and what follows is counted anew."""
        if self._learned.output == "auto":
            stalled = run.stop is Stop.STALLED
            self._learned.settle(run, partial(self._errors, blocks) if stalled else None)
        self._hold(self._learned, self.classes_, run)
        self.close_columns()

    def _errors(self, blocks: Callable[[], Iterable[Examples]]) -> np.ndarray:
        """Give how many of these examples the last and the averaged weights misclassify."""
        wrong = np.zeros(2)
        for X, y, weights in ((block.X, block.y, block.weights) for block in blocks()):
            matrix = as_matrix(X)
            shown = Presented.of(matrix, as_labels(y, matrix.shape[0]), weights)
            marks = as_marks(shown.labels, self.classes_)
            wrong += self._learned.errors(shown.X, marks, shown.weights)
        return wrong

    # ---- bounds

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
        self.check_fitted()
        if self.classes_.size > 2:
            return self._class_bound(X, y, comparator, sample_weight)
        return self.mistake_problem(X, y, sample_weight).bound(comparator)

    def _class_bound(self, X: Any, y: Any, comparator: Any, sample_weight: Any) -> MistakeBound:
        if comparator is None:
            raise InputError(
                "with more than two classes the bound needs a comparator that separates them: a "
                "row of weights for each class"
            )
        shown = self._examples_of_the_run(X, y, sample_weight)
        partition = self._widened(shown.X.shape[1])
        assert isinstance(partition, Partition)
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

    def mistake_problem(self, X: Any, y: Any, sample_weight: Any = None) -> Problem:
        """Give the examples of the run, and the runs that are like it, to be bounded."""
        from rosenblatt.decide.mistakes import Problem, Runs  # learning starts without them

        self.check_fitted()
        shown = self._examples_of_the_run(X, y, sample_weight)
        halfspace = self._widened(shown.X.shape[1])
        if isinstance(halfspace, Partition):
            two_classes(self.classes_)  # which says what is wrong
        assert isinstance(halfspace, Halfspace)
        signs = as_signs(shown.labels, self.classes_)
        rule = halfspace.rule
        factors = np.where(signs > 0, rule.positive_weight, rule.negative_weight)
        most = self._most_on_a_row(signs.size)
        runs = Runs(halfspace.lift, halfspace.start, rule.eta, shown.times(factors), most)
        return Problem(shown.X, signs, self.classes_, runs)

    def _examples_of_the_run(self, X: Any, y: Any, sample_weight: Any) -> Presented:
        """Take examples that a bound may speak of."""
        if self._learned.rule.renormalize:
            raise InputError("neither theorem speaks of runs that renormalise their weights")
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.tie != "positive"
        return tags


def _begun(
    w: np.ndarray, lift: float, rule: Rule | ClassRule, output: str
) -> Halfspace | Partition:
    if isinstance(rule, Rule):
        return Halfspace.begin(w, lift, rule, output)
    return Partition.begin(w, lift, rule, output)


def _lifted(comparator: Any, separator: Halfspace | Partition) -> np.ndarray:
    width, lift = separator.width, separator.lift
    if isinstance(separator, Partition):
        return lifted_classes(comparator, separator.start.shape[0], width, lift)
    return lifted(comparator, width, lift)
