"""`KernelPerceptron`: the perceptron in its dual form.

Answer      the sign of Σ c·y·K(x', x) over the stored examples x', those that were mistaken
Update      on a mistake, store the example, or count it once more   (`rosenblatt.kernel`)
Guarantee   that of the perceptron, in the feature space of the kernel (F13)

This file has the options, single rows and what was learned; `fit` stands in `learners.stream`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from rosenblatt import options
from rosenblatt.bounds.feature_space import mistake_bound
from rosenblatt.bounds.theorem import MistakeBound
from rosenblatt.errors import InputError
from rosenblatt.examples import Presented
from rosenblatt.kernel.budget import FORGETTING, Budget
from rosenblatt.kernel.expansion import Expansion
from rosenblatt.kernel.functions import Custom, Polynomial, Precomputed, as_kernel
from rosenblatt.kernel.runs import GRAM_BYTES, Manner, fit, once
from rosenblatt.kernel.space import TRIED, Space, check_function, check_gram, check_symmetry
from rosenblatt.kernel.store import dense_pays
from rosenblatt.labels import (
    as_codes,
    as_labels,
    joint_classes,
    moved_places,
    one_weight,
    several_classes,
)
from rosenblatt.learners.base import in_turn
from rosenblatt.learners.one_row import RowReader, as_one_row_matrix
from rosenblatt.learners.stream import Shown, StreamLearner
from rosenblatt.matrices import Matrix, as_matrix, check_finite
from rosenblatt.online.driver import Limits, Watch
from rosenblatt.online.perceptron import PLACES
from rosenblatt.run import Run


class KernelPerceptron(StreamLearner):
    """Perceptron classifier with a kernel, for two classes or more (theory D14, D15, D18).

    The misclassified examples x_j are stored; the score of x is Σ α_j K(x_j, x). With two classes,
    α_j is the sign of the label times the number of mistakes on x_j, times its weight. With more,
    each class has a score, and the largest wins; a mistake adds K(x, ·) to its own class and
    subtracts it from the best wrong one, of equally good ones the first in ``classes_``.

    Parameters
    ----------
    kernel : Linear, Polynomial, Gaussian, str or callable, default="linear"
        A kernel or its name, such as ``"polynomial:4:1"`` or ``"gaussian:0.02"``; a function, see
        Notes; or ``"precomputed"``: X then holds kernel values, of shape (n_samples, n_samples) in
        `fit` and (n_queries, n_samples) in `predict`.
    order : {"cycle", "shuffle", "random", "worst", "first"}, default="cycle"
        Which example comes next (theory D4): ``"cycle"`` in stored order, ``"shuffle"`` in a new
        random order each pass, ``"random"`` a random misclassified example, ``"worst"`` the most
        wrong one, ``"first"`` from the first example again after every update.
    fit_intercept : bool, default=True
        Whether to add a constant feature before the kernel: x·z becomes x·z + lift², and
        (c + x·z)^p becomes (c + lift² + x·z)^p. It changes neither kernels of differences, such as
        the Gaussian, nor your own functions or kernel matrices.
    lift : float or "radius", default=1.0
        That constant; ``"radius"`` is the largest norm of a training example.
    output : {"auto", "last", "averaged", "voted"}, default="auto"
        Predict with the last coefficients, their average over the run, or the weighted vote of all
        (D17). ``"auto"``: the last ones if the run converged, else the averaged ones; with a
        budget, and in streams, the last ones.
    budget : int or None, default=None
        Maximum number of examples to store; None for all mistakes. A budget rules out averaged and
        voted output, orders other than ``"cycle"`` and ``"shuffle"``, and `bound`.
    forget : {"oldest", "random", "project"}, default="oldest"
        What to do when the budget is full: drop the oldest example; drop a random one (the expected
        mistakes are at most (L + B·R·U) / ε for every comparator of norm U and hinge loss L with
        R·U <= (1 - ε)·√B); or project the new one onto the span of those stored (Projectron).
    max_iter : int or None, default=1000
        Maximum number of passes (epochs) of one `fit`; None for no limit.
    max_updates : int or None, default=None
        Maximum number of updates of one `fit`.
    max_seconds : float or None, default=None
        The time limit of one `fit`.
    gram_bytes : int, default=2**30
        Keep the Gram matrix of the training set, 8·n_samples² bytes, during a `fit` of several
        passes if it is no larger; 0 for never.
    random_state : int, RandomState or None, default=None
        Seed of `order` and `forget`.
    verbose : int, default=0
        1 prints a line of progress now and then during `fit`.
    intercept : {"lifted", "none"} or None, default=None
        The same choice as the SVMs spell it; None leaves it to `fit_intercept`.

    Attributes
    ----------
    support_ : ndarray of int
        The stored examples, in the order of their first mistakes: row numbers of the training set,
        or of the stream from its start. With a budget, in no order.
    counts_ : ndarray of int
        The number of mistakes on each of them. Without a budget, their sum is `run_.mistakes`
        (F11).
    alphas_ : ndarray of shape (n_stored,) or (n_stored, n_classes)
        Their coefficients.
    classes_ : ndarray of shape (n_classes,)
        The labels; of two, the second one has positive scores.
    run_ : Run
        What training did: mistakes, passes, why it stopped. `fit` begins a new run; `partial_fit`
        and `learn_one` continue it.
    n_iter_ : int
        Passes (epochs) of the run.
    n_features_in_ : int
        The number of features; in a stream, of those met so far.
    feature_names_in_ : ndarray of str
        Their names, if they have any.
    columns_ : Columns or None
        All that is known about the features: names, categories, hashing; model files keep it.

    See Also
    --------
    Perceptron : Without a kernel: much faster.
    PolynomialFeatures : The features of a polynomial kernel, explicitly.
    cheapest_counts : Decide whether a kernel separates two classes.

    Notes
    -----
    *A function as kernel* is called with two blocks of rows, both arrays, or both CSR matrices if
    X is sparse, and gives an array or sparse matrix: K(x, z) for each row x of the first and z of
    the second block. It must be symmetric. What it raises is the cause of an `InputError`.

    *A precomputed kernel in a stream:* each row given to `partial_fit` or `learn_one` has a column
    for every example of the whole stream, in the order in which they are presented.

    *Rounding.* Examples are compared with the stored ones in blocks, by matrix products; data in
    single precision are multiplied in single precision, and scores whose sign the rounding could
    change are computed again in double precision. The mistakes are those of one example at a time.

    *Boundary convention.* A score of exactly 0, or a tie of classes, is a mistake while learning;
    `predict_one` gives None there, and `predict` the first of the tied classes.

    *Limits.* `fit` warns (`ConvergenceWarning`) if the default `max_iter` ended the run, or any
    limit with ``output="last"``, whose weights still change. No warning if you set the limit
    yourself and predict with averages or votes. ``run_.stop`` always says why the run ended.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> learner = rb.KernelPerceptron(rb.Polynomial(2, c=1)).fit(X, y)
    >>> learner.predict(X).tolist(), learner.run_.converged
    ([0, 1, 1, 0], True)
    >>> int(learner.counts_.sum()) == learner.run_.mistakes <= learner.bound(X, y).value
    True
    """

    n_features_in_: int
    _learned: Expansion

    def __init__(
        self,
        kernel: Any = "linear",
        *,
        order: str = "cycle",
        fit_intercept: bool = True,
        lift: float | str = 1.0,
        output: str = "auto",
        budget: int | None = None,
        forget: str = "oldest",
        max_iter: int | None = 1000,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        gram_bytes: int = GRAM_BYTES,
        random_state: Any = None,
        verbose: int = 0,
        intercept: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.order = order
        self.fit_intercept = fit_intercept
        self.lift = lift
        self.output = output
        self.budget = budget
        self.forget = forget
        self.max_iter = max_iter
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.gram_bytes = gram_bytes
        self.random_state = random_state
        self.verbose = verbose
        self.intercept = intercept

    def check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or learned."""
        as_kernel(self.kernel)
        super().check_options()
        options.one_of("forget", self.forget, FORGETTING)
        options.limit("budget", self.budget)
        options.from_zero("gram_bytes", self.gram_bytes)
        self._check_budget()

    def _check_budget(self) -> None:
        if self.budget is None:
            return
        if self.output not in ("auto", "last"):
            raise InputError(
                f"output={self.output!r} needs all mistakes, but a budget forgets some; "
                "use output='last', or no budget"
            )
        if self.order not in ("cycle", "shuffle"):
            raise InputError(
                f"with a budget, examples are presented in the order 'cycle' or 'shuffle', "
                f"not {self.order!r}"
            )

    def _lifts(self) -> bool:
        return super()._lifts() and isinstance(as_kernel(self.kernel), Polynomial)

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
        if comparator is not None:
            raise InputError(
                "a kernel run records no history, so that fit takes no comparator; give bound a "
                "fitted KernelPerceptron to compare with"
            )
        self.check_options()
        matrix = self._as_given(as_matrix(X))
        labels = as_labels(y, matrix.shape[0])
        classes = several_classes(labels)
        shown = Presented.of(matrix, labels, sample_weight)
        shown.check_classes(classes)
        if isinstance(as_kernel(self.kernel), Precomputed):
            check_finite(matrix)
            check_gram(matrix)
        seed = self.draw_seed()
        output = self._stream_output() if self.budget is not None else self.output
        expansion = self._begin(shown.X, classes, output, seed)
        limits = Limits(self.max_iter, self.max_updates, self.max_seconds)
        manner = Manner(self.order, seed, limits, watch, int(self.gram_bytes))
        run = fit(expansion, shown, as_codes(shown.labels, classes), manner)
        expansion.settle(run.converged)
        self._adopt_columns(X, matrix)
        self._hold(expansion, classes, run)
        self._weighted = shown.weighted
        return self

    def _begin(
        self, X: Matrix, classes: np.ndarray, output: str, seed: int | None = None
    ) -> Expansion:
        """Begin with nothing stored, for rows like these."""
        matrix, kernel = self._as_given(X), as_kernel(self.kernel)
        if isinstance(kernel, Custom):
            check_function(kernel, matrix)
        space = Space.around(kernel, self._lift_of(matrix), matrix)
        seed = self.draw_seed() if seed is None else seed
        budget = None if self.budget is None else Budget.of(int(self.budget), self.forget, seed)
        return Expansion.begin(space, matrix, max(classes.size, 2), output, budget)

    def _present_once(self, learned: Expansion, shown: Presented, classes: np.ndarray) -> Run:
        return once(learned, self._fitted(learned, shown), as_codes(shown.labels, classes))

    @in_turn
    def learn_one(self, x: Any, y: Hashable, sample_weight: float | None = None) -> bool:  # noqa: D102 (in StreamLearner)
        weight = 1.0 if sample_weight is None else one_weight(sample_weight)
        if not weight:
            return False
        met, first = self._met(x, y), not self.is_fitted
        width = max(met.width, 1 if first else self.n_features_in_)
        matrix = as_one_row_matrix(met.row, width)
        if first:
            self._check_stream(met.classes)
            expansion = self._begin(_thin_or_not(matrix), met.classes, self._stream_output())
        else:
            expansion = self._prepared(width, met.classes, met.labels)
        shown = Presented(matrix, met.labels, np.array([weight]), 1)
        wrong = self._learn(expansion, shown, int(as_codes(met.labels, met.classes)[0]))
        self._weighted |= weight != 1.0
        self._keep(expansion, met.classes)
        if first:
            self._journal = Shown(None, np.zeros(PLACES))  # which has not seen this row yet
        # A row of kernel values tells how many examples there will be.
        self._reader = RowReader(width) if expansion.space.precomputed else met.reader
        self.n_features_in_ = width
        self._adopt_names(met.names)
        if wrong:
            self._learned_one()
        return wrong

    def _learn(self, expansion: Expansion, shown: Presented, code: int) -> bool:
        shown = self._fitted(expansion, shown)
        if expansion.budget is not None:
            return once(expansion, shown, np.array([code])).mistakes > 0
        number = np.array([expansion.presented])
        block = expansion.space.block(shown.X, slice(0, 1), number)
        kernel = expansion.space.kernel
        if isinstance(kernel, Custom) and 0 < expansion.size <= TRIED:
            check_symmetry(kernel, block.rows, expansion.store.span().rows)
        wrong = expansion.learn(block, code, float(shown.weights[0]))
        expansion.presented += 1
        return wrong

    def _fitted(self, expansion: Expansion, shown: Presented) -> Presented:
        """Give examples of a stream with rows as the expansion keeps them."""
        matrix = self._as_given(shown.X)
        last = expansion.presented + shown.rows
        if expansion.space.precomputed and last > matrix.shape[1]:
            raise InputError(
                f"with a precomputed kernel, each example of a stream has its column; example "
                f"{last - 1} has none among {matrix.shape[1]}"
            )
        return replace(shown, X=expansion.fitted_to(matrix))

    # ---- predicting

    def _scores(self, matrix: Matrix) -> np.ndarray:
        matrix, expansion = self._as_given(matrix), self._learned
        if matrix.shape[1] > self.n_features_in_:
            expansion = expansion.widened(matrix.shape[1])
        found = expansion.scores(expansion.fitted_to(matrix))
        if found.shape[1] > 2:
            return found
        return np.asarray(found[:, 1] - found[:, 0] if expansion.ballots else found[:, 1])

    def _as_given(self, matrix: Matrix) -> Matrix:
        """Give rows as the kernel wants them: Gram matrices are dense."""
        precomputed = isinstance(as_kernel(self.kernel), Precomputed)
        return matrix.toarray() if precomputed and sparse.issparse(matrix) else matrix

    def bound(
        self, X: Any, y: Any, comparator: Any = None, sample_weight: Any = None
    ) -> MistakeBound:
        """Bound the mistakes of a run on these examples, in any order (theory F13, F15, F16).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The examples that were presented, all of them.
        y : array-like of shape (n_samples,)
            Their labels.
        comparator : KernelPerceptron or None, default=None
            A fitted learner of the same kernel, lift and classes whose last or averaged output
            classifies all examples correctly; None for this one.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The weights with which the examples were presented, if there were any.

        Returns
        -------
        MistakeBound
            The bound, and what it is computed from.

        Notes
        -----
        The theorem needs a positive semidefinite kernel. Your own function is refused if
        K(x, x) < 0 or K(x, z)² > K(x, x)·K(z, z) for an example x and a stored z, or if its values
        on up to 512 of the examples have a negative eigenvalue; more cannot be checked.
        """
        self.check_fitted()
        if self.budget is not None:
            raise InputError("no theorem bounds this run, which forgets; fit without a budget")
        other = self if comparator is None else comparator
        if not isinstance(other, KernelPerceptron) or not other.is_fitted:
            raise InputError("the comparator must be a fitted kernel perceptron")
        space, given = self._learned.space, other._learned
        if (space.kernel, space.lift) != (given.space.kernel, given.space.lift):
            raise InputError("the comparator has another kernel or another lift")
        if given.ballots is not None:
            raise InputError("a vote cannot be a comparator; give a learner with another output")
        if other.classes_.tolist() != self.classes_.tolist():
            raise InputError("the comparator has other classes")
        if space.precomputed:
            raise InputError("the bound needs rows; a precomputed kernel has none")
        shown = self._presented_again(self._take(X), y, sample_weight)
        known = joint_classes(shown.labels, self.classes_, None)
        shown = replace(shown, X=given.fitted_to(shown.X))
        coefficients = given.coefficients()[:, : given.size]
        codes = as_codes(shown.labels, known)
        return mistake_bound(given.space, shown, codes, given.store, coefficients)

    # ---- what was learned

    @property
    def support_(self) -> np.ndarray:
        """The stored examples, as numbers of rows in the order in which they were given."""
        self.check_fitted()
        return self._learned.store.span().numbers.copy()

    @property
    def counts_(self) -> np.ndarray:
        """The number of mistakes on each stored example: how hard it was (theory D14)."""
        self.check_fitted()
        return self._learned.counts[: self._learned.size].copy()

    @property
    def alphas_(self) -> np.ndarray:
        """The coefficients of the stored examples: one each, or one for each class."""
        self.check_fitted()
        alphas = self._learned.coefficients()[:, : self._learned.size]
        return alphas[1].copy() if alphas.shape[0] == 2 else alphas.T.copy()

    def _counters(self) -> np.ndarray:
        return self._learned.tally

    def _keep(self, learned: Expansion, classes: np.ndarray) -> None:
        self._learned = learned
        self.classes_ = classes
        if not learned.space.precomputed:
            self.n_features_in_ = learned.store.width

    def _prepared(self, width: int, classes: np.ndarray, labels: np.ndarray) -> Expansion:
        """Give the expansion as it is for more columns and more classes."""
        expansion = self._learned
        if width > self.n_features_in_:
            expansion = expansion.widened(width)
        if classes.size > self.classes_.size:
            moved = moved_places(self.classes_, labels, classes)
            expansion = expansion.with_classes(moved, max(classes.size, 2))
        return expansion

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _thin_or_not(matrix: Matrix) -> Matrix:
    """Give a first row as dense as rows like it are best kept."""
    thin = not dense_pays(1, matrix.shape[1], matrix.nnz)
    return matrix if thin else matrix.toarray()
