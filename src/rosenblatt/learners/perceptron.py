"""`Perceptron`: the online and batch perceptron.

Answer      the sign of w·x + b; with more classes than two, the class with the largest score
Update      on a mistake, and a tie is one: w ← w + η·y·x   (`rosenblatt.online.perceptron`)
Stop        after a pass without mistakes, without progress, or at a limit   (`online.driver`)
Guarantee   at most (R/γ)² mistakes if a hyperplane separates the rows with margin γ (F5)

This file has the options, how a run begins, and its bounds. `fit` and `partial_fit` stand in
`learners.stream`, `learn_one`, `predict_one` and the answers in `learners.online`: the other online
learners share them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from rosenblatt import options
from rosenblatt.bounds.theorem import MistakeBound, Runs, lifted, lifted_classes, theorem_one
from rosenblatt.errors import InputError
from rosenblatt.examples import Presented
from rosenblatt.labels import (
    ALL_ONE,
    as_few_codes,
    as_signs,
    class_factors,
    joint_classes,
    two_classes,
)
from rosenblatt.learners.online import UNKNOWN, OnlineLearner, lifted_comparator
from rosenblatt.matrices import Matrix
from rosenblatt.online.linear_machine import LinearMachine, check_start
from rosenblatt.online.perceptron import Rule

if TYPE_CHECKING:
    from rosenblatt.bounds.mistakes import BoundedRuns

STARTS = ("zero", "unit", "random")
TIES = ("mistake", "positive")


class Perceptron(OnlineLearner):
    """Perceptron classifier, for two classes (theory D1 to D8) or more (D18).

    By default `fit` passes over the data until a pass makes no mistake, which happens after at
    most (R/γ)² mistakes if a hyperplane separates the data with margin γ; otherwise it stops when
    passes make no more progress. With more than two classes, each has its own weights, and the
    largest score wins; on a mistake, the example is added to the weights of its class and
    subtracted from those of the best wrong class.

    Parameters
    ----------
    order : {"cycle", "shuffle", "random", "worst", "first"}, default="cycle"
        Which example comes next (theory D4): ``"cycle"`` in stored order, ``"shuffle"`` in a new
        random order each pass, ``"random"`` a random misclassified example, ``"worst"`` the most
        wrong one, ``"first"`` from the first example again after every update.
    initial : {"zero", "unit", "random"} or array-like, default="zero"
        Starting weights (D5): ``"unit"`` all equal and ``"random"``, both of norm 1; or an array of
        shape (n_features,), or (n_features + 1,) with an intercept; for more than two classes, a
        row for each.
    eta0 : float, default=1.0
        Learning rate. With a zero start it changes no mistake (F3).
    renormalize : bool, default=False
        Whether to scale the weights to norm 1 after every update (D6).
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of a constant feature that is added (D7).
    lift : float or "radius", default=1.0
        That constant; ``"radius"`` is the largest norm of a training example.
    output : {"auto", "last", "averaged", "voted"}, default="auto"
        Predict with the last weights, the average of all weight vectors, or their weighted vote,
        which stores the misclassified examples (D17). ``"auto"``: the last ones if the run
        converged, else the averaged ones; after a run that stalled, the last ones if they
        misclassify less than 0.9 times as many training examples. Streams (`partial_fit`,
        `learn_one`) predict with the last weights, or continue as the `fit` before them chose.
    margin : float, default=0.0
        Also update on correct answers whose score leads by at most this much (D23): more updates,
        and usually fewer mistakes on new examples. In units of scores: 0.3 is a good choice for
        rows of norm 1.
    unsure : float or None, default=None
        The share of wrong answers, such as 0.01, that `predict_one` may give. It answers None (*I
        don't know*) if the score is within `threshold_` of a tie: the smallest threshold that would
        have kept to this share on the examples so far, each predicted before it was learned (D25).
        Without it, only ties are answered None.
    max_iter : int or None, default=1000
        Maximum number of passes (epochs) of one `fit`; None for no limit.
    patience : int or None, default=5
        Stop (``Stop.STALLED``) after this many passes without progress (D8): the weights keep
        changing without growing, or, with as many features as examples, the mistakes are not
        halved. None turns this off, and so do ``max_iter=None``, `renormalize`, and orders other
        than ``"cycle"`` and ``"shuffle"``.
    max_updates : int or None, default=None
        Maximum number of updates of one `fit`.
    max_seconds : float or None, default=None
        The time limit of one `fit`.
    warm_start : bool, default=False
        Whether `fit` starts from the weights of the last fit.
    class_weight : dict, "balanced" or None, default=None
        A factor of the update for each class.
    random_state : int, RandomState or None, default=None
        Seed of `order` and `initial`.
    verbose : int, default=0
        1 prints a line of progress now and then during `fit`.
    tie : {"mistake", "positive"}, default="mistake"
        A score of 0 is a mistake whatever the label (D2), or, for two classes, counts as
        positive, as in some textbooks.
    intercept : {"lifted", "none"} or None, default=None
        The same choice as the SVMs spell it; None leaves it to `fit_intercept`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights; with voted output, the last ones, since a vote is not a hyperplane.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts: ``decision_function(X)`` is ``X @ coef_[0] + intercept_[0]``.
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
    threshold_ : float
        The lead of a score below which `predict_one` answers None; 0 without `unsure`.
    columns_ : Columns or None
        All that is known about the features: names, categories, hashing; model files keep it.

    See Also
    --------
    OnlineSVM : Fewer mistakes on noisy streams.
    SoftMarginSVM : The optimum of margin and errors, for classes that overlap.
    KernelPerceptron : The same rule with a kernel.
    separate : Decide whether a hyperplane separates the classes at all.

    Notes
    -----
    *Boundary convention.* A score of exactly 0 is a mistake while learning; `predict_one` gives
    None there, and `predict`, which must name a class, ``classes_[0]``. With more than two
    classes, the same holds when several tie for the largest score; `predict` then names the first
    of these, and of equally good wrong classes the first one is corrected.

    *Limits.* `fit` warns (`ConvergenceWarning`) if the default `max_iter` ended the run, or any
    limit with ``output="last"``, whose weights still change. No warning if you set the limit
    yourself and predict with averages or votes. ``run_.stop`` always says why the run ended.

    *Input.* Float32 and float64 arrays in C order and CSR matrices are used without a copy, also
    to add an intercept.

    *Streams.* A learner that begins with `learn_one` or `partial_fit` takes features and classes
    as they come. Features may have names: the keys of dicts; in predictions, unknown names are
    ignored. When a third class appears, the weights w become w for the positive and -w for the
    negative class, which changes no prediction (F14), and the new class starts at 0.

    *Threads.* Any number may predict at once while none learns; those that learn take turns.

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
        margin: float = 0.0,
        unsure: float | None = None,
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
        self.margin = margin
        self.unsure = unsure
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
        options.from_zero("margin", self.margin)
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
        codes: np.ndarray = UNKNOWN,
        weights: np.ndarray = ALL_ONE,
    ) -> LinearMachine:
        """Begin at the chosen start; no codes where all that is to come is not known."""
        vectors = 1 if classes.size <= 2 else int(classes.size)  # one serves two classes
        check_start(X.shape[1], vectors)
        lift = self._lift_of(X)
        w = self._start(X.shape[1], lift, vectors)
        if vectors > 1 and sparse.issparse(X):  # as `rows.favoured` has it
            w = np.asfortranarray(w) if w.any() else np.zeros(w.shape, order="F")
        return self._begun(w, lift, self._rule(classes, codes, weights), output)

    def _begin_again(
        self, shown: Presented, classes: np.ndarray, codes: np.ndarray
    ) -> LinearMachine:
        """Begin from the last weights of an earlier run, in the same lifted space or another."""
        earlier = self._prepared(shown.X.shape[1], classes, shown.labels, codes)
        lift = self._lift_of(shown.X)
        w = earlier.state.w.copy()
        w[..., -1] = w[..., -1] * earlier.lift / lift if lift else 0.0
        rule = self._rule(classes, codes, shown.weights)
        return self._begun(w, lift, rule, self.output)

    def _begun(self, w: np.ndarray, lift: float, rule: Rule, output: str) -> LinearMachine:
        if self.unsure is None:
            return LinearMachine.begin(w, lift, rule, output)
        return LinearMachine.begin(w, lift, rule, "last", calibrating=True)

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

    def _rule(self, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray = ALL_ONE) -> Rule:
        """Give the rule of the updates; no codes where all that is to come is not known."""
        factors = class_factors(self.class_weight, classes, codes if codes.size else None, weights)
        if classes.size > 2 and self.tie == "positive":
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"tie='positive' is about two classes, got {classes.size}; leave tie out"
            )
        return Rule(
            float(self.eta0),
            factors,
            bool(self.renormalize),
            self.tie == "positive",
            margin=float(self.margin),
        )

    # ---- answering

    def answers(self, scores: np.ndarray) -> np.ndarray:
        """Give the labels that scores stand for: of tied classes, the first."""
        if self.tie == "positive" and scores.ndim == 1:
            labels: np.ndarray = self.classes_[(scores >= 0).astype(np.intp)]
            return labels
        return super().answers(scores)

    # ---- bounds

    def bound(
        self, X: Any, y: Any, comparator: Any = None, sample_weight: Any = None
    ) -> MistakeBound:
        """Bound the mistakes of the run that was made: its passes, start, intercept and weights.

        With a margin, its updates are bounded, mistakes among them (F17).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The examples that were presented, all of them.
        y : array-like of shape (n_samples,)
            Their labels.
        comparator : array-like or None, default=None
            Any vector of shape (n_features,), or (n_features + 1,) with the intercept b of
            w·x + b. If it separates the examples, Theorem 1 gives the bound (F5, F7), else Theorem
            2 (F8). None finds the best one. With more than two classes it has a row for each, must
            separate them and cannot be left out: the bound is 2R²/γ² (F15).
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The weights with which the examples were presented, if there were any (F16).

        Returns
        -------
        MistakeBound
            The bound, and what it is computed from.
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
        separator = self._widened(shown.X.shape[1])
        joint_classes(shown.labels, self.classes_, None)  # which refuses strangers
        codes = as_few_codes(shown.labels, self.classes_)
        weights = shown.times(separator.rule.weights[codes])
        runs = self._runs(separator, weights, None)
        return theorem_one(shown.X, codes, lifted_comparator(comparator, separator), runs)

    def mistake_problem(self, X: Any, y: Any, sample_weight: Any = None) -> BoundedRuns:
        """Give the examples of the run, and the runs that are like it, to be bounded."""
        from rosenblatt.bounds.mistakes import BoundedRuns  # learning starts without it

        self.check_fitted()
        shown = self._examples_of_the_run(X, y, sample_weight)
        halfspace = self._widened(shown.X.shape[1])
        if not halfspace.is_halfspace:
            two_classes(self.classes_)  # which says what is wrong
        signs = as_signs(shown.labels, self.classes_)
        factors = halfspace.rule.weights[(signs > 0).astype(np.intp)]
        runs = self._runs(halfspace, shown.times(factors), self._most_on_a_row(signs.size))
        return BoundedRuns(shown.X, signs, self.classes_, runs)

    def _runs(self, learned: Any, weights: np.ndarray, passes: int | None) -> Runs:
        """Give the runs that are like the one made."""
        rule = learned.rule
        return Runs(learned.lift, learned.start, rule.eta, weights, passes, rule.margin)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.tie != "positive"
        return tags
