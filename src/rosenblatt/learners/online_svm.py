"""`OnlineSVM`: a support vector machine that learns from one example after another.

Update      an example inside the margin calls for a step of dual ascent on itself and on each of
            the other newest ones; with a window of 1 that is passive-aggressive I
            (`rosenblatt.online.window`)
Guarantee   F18, whatever the window

This file has the options, how a run begins, and its bound; the rest is that of `Perceptron`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt import options
from rosenblatt.bounds.theorem import MistakeBound
from rosenblatt.errors import InputError
from rosenblatt.examples import Presented
from rosenblatt.labels import ALL_ONE, as_few_codes, as_signs, class_factors, joint_classes
from rosenblatt.learners.online import UNKNOWN, OnlineLearner, lifted_comparator
from rosenblatt.matrices import Matrix
from rosenblatt.memory import check_memory
from rosenblatt.online.driver import Watch
from rosenblatt.online.linear_machine import LinearMachine, check_start
from rosenblatt.online.machine import Machine
from rosenblatt.online.perceptron import Rule
from rosenblatt.run import Run, Stop

ORDERS = ("cycle", "shuffle")
OUTPUTS = ("last", "averaged")


class OnlineSVM(OnlineLearner):
    """Online support vector machine, for two classes or more (theory D24).

    Each example is predicted, then learned: if its score leads by less than 1, one step of dual
    ascent is made on it and on each of the newest examples before it. Older ones keep the share in
    the weights that they have. ``window=1`` is the passive-aggressive algorithm PA-I (Crammer et
    al. 2006), 100 a relaxed online SVM (Sculley & Wachman 2007).

    Parameters
    ----------
    C : float, default=1.0
        The largest share of an example in the weights: smaller values are for noisier labels.
    window : int, default=100
        How many of the newest examples are learned again at each update.
    order : {"cycle", "shuffle"}, default="cycle"
        Which example comes next in `fit`: in stored order, or in a new random order each pass.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of a constant feature that is added (D7).
    lift : float or "radius", default=1.0
        That constant; ``"radius"`` is the largest norm of a training example.
    output : {"last", "averaged"}, default="last"
        Predict with the last weights, or with the average of all weight vectors (D17).
    unsure : float or None, default=None
        The share of wrong answers, such as 0.01, that `predict_one` may give. It answers None (*I
        don't know*) if the score is within `threshold_` of a tie: the smallest threshold that would
        have kept to this share on the examples so far, each predicted before it was learned (D25).
        Without it, only ties are answered None.
    max_iter : int or None, default=1
        Maximum number of passes (epochs) of one `fit`; None for no limit. Each pass presents the
        examples as if they were new.
    max_seconds : float or None, default=None
        The time limit of one `fit`.
    warm_start : bool, default=False
        Whether `fit` goes on from the last fit, as `partial_fit` does.
    class_weight : dict, "balanced" or None, default=None
        A factor of C for each class.
    random_state : int, RandomState or None, default=None
        Seed of `order`.
    verbose : int, default=0
        1 prints a line of progress now and then during `fit`.
    intercept : {"lifted", "none"} or None, default=None
        The same choice as the SVMs spell it; None leaves it to `fit_intercept`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts: ``decision_function(X)`` is ``X @ coef_[0] + intercept_[0]``.
    classes_ : ndarray of shape (n_classes,)
        The labels; of two, the second one has positive scores.
    run_ : Run
        What training did: mistakes, updates, passes. `fit` begins a new run; `partial_fit` and
        `learn_one` continue it.
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
    Perceptron : Cheaper updates, and the classical bound.
    SoftMarginSVM : The same loss, solved to the optimum on a data set.

    Notes
    -----
    *Boundary convention.* A score of exactly 0, or a tie for the best class, is a mistake while
    learning; `predict_one` gives None there, and `predict`, which must name a class, the first.

    *Scale.* Scores are learned up to a lead of 1, so that features should be of order 1: rows of
    norm 1 are a good choice for text.

    *Streams* and *threads* are as in `Perceptron`. Dense and sparse rows, whether they come alone
    or in blocks, are learned to the same bits.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(200, 5, margin=0.05, seed=1)
    >>> learner = rb.OnlineSVM(C=10.0)
    >>> sum(learner.learn_one(x, label) for x, label in zip(X, y, strict=True))  # mistakes
    15
    >>> learner.run_.updates, learner.score(X, y)
    (53, 1.0)
    """

    max_updates: int | None = None
    _learned: Machine

    def __init__(
        self,
        *,
        C: float = 1.0,
        window: int = 100,
        order: str = "cycle",
        fit_intercept: bool = True,
        lift: float | str = 1.0,
        output: str = "last",
        unsure: float | None = None,
        max_iter: int | None = 1,
        max_seconds: float | None = None,
        warm_start: bool = False,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        intercept: str | None = None,
    ) -> None:
        self.C = C
        self.window = window
        self.order = order
        self.fit_intercept = fit_intercept
        self.lift = lift
        self.output = output
        self.unsure = unsure
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.intercept = intercept

    def check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or learned."""
        super().check_options()
        options.positive("C", self.C)
        options.count("window", self.window)
        options.flag("warm_start", self.warm_start)
        options.one_of("order", self.order, ORDERS)
        options.one_of("output", self.output, OUTPUTS)

    def _begin(
        self,
        X: Matrix,
        classes: np.ndarray,
        output: str,
        codes: np.ndarray = UNKNOWN,
        weights: np.ndarray = ALL_ONE,
    ) -> Machine:
        vectors, shares = (int(classes.size),) * 2 if classes.size > 2 else (1, 2)
        needed = 2 * int(self.window) * 8 * (4 + shares)
        check_memory(needed, f"{self.window:,} newest examples", "make the window smaller")
        check_start(X.shape[1], vectors)
        width = X.shape[1] + 1
        w = np.zeros(width) if vectors == 1 else np.zeros((vectors, width), order="F")
        rule = self._rule(classes, codes, weights)
        calibrating, lift = self.unsure is not None, self._lift_of(X)
        return Machine.begin_with(w, lift, rule, output, int(self.window), calibrating)

    def _begin_again(
        self, shown: Presented, classes: np.ndarray, codes: np.ndarray
    ) -> LinearMachine:
        earlier = self._prepared(shown.X.shape[1], classes, shown.labels, codes)
        earlier.rule = self._rule(classes, codes, shown.weights)
        return earlier.copied()

    def _rule(self, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray = ALL_ONE) -> Rule:
        factors = class_factors(self.class_weight, classes, codes if codes.size else None, weights)
        return Rule(float(self.C), factors, renormalize=False)

    def train(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        comparator: Any = None,
        watch: Watch | None = None,
    ) -> OnlineSVM:
        """Learn as `fit` does; `watch` is told of the progress."""
        if comparator is not None:
            raise InputError("the proof of a comparator is recorded for a Perceptron only")
        return super().train(X, y, sample_weight, watch=watch)

    def _hold(self, learned: Any, classes: np.ndarray, run: Run | None) -> None:
        if run is not None and run.stop is Stop.PASSES and run.passes == 1:
            run = replace(run, stop=Stop.STREAM)  # one pass is no limit, but what was asked for
        super()._hold(learned, classes, run)

    @property
    def machine(self) -> Machine:
        """What was learned: weights, and the newest examples with their shares in them."""
        self.check_fitted()
        return self._learned

    def bound(
        self, X: Any, y: Any, comparator: Any = None, sample_weight: Any = None
    ) -> MistakeBound:
        """Bound the mistakes of the run that was made (theory F18).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The examples that were presented, all of them.
        y : array-like of shape (n_samples,)
            Their labels.
        comparator : array-like or None, default=None
            Any vector of shape (n_features,), or (n_features + 1,) with an intercept; None finds
            the best one. With more than two classes it has a row for each, must separate them and
            cannot be left out.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The weights with which the examples were presented, if there were any.

        Returns
        -------
        MistakeBound
            The bound, and what it is computed from.
        """
        from rosenblatt.bounds import dual  # learning starts without it

        self.check_fitted()
        shown = self._examples_of_the_run(X, y, sample_weight)
        machine = self._widened(shown.X.shape[1])
        joint_classes(shown.labels, self.classes_, None)  # which refuses strangers
        codes = as_few_codes(shown.labels, self.classes_)
        passes = self._most_on_a_row(codes.size)
        if passes is None:
            raise InputError("the bound needs all examples that were presented, each of them once")
        if comparator is not None:
            comparator = lifted_comparator(comparator, machine)
        elif not machine.is_halfspace:
            raise InputError(
                "with more than two classes the bound needs a comparator that separates them: a "
                "row of weights for each class"
            )
        factors = machine.rule.weights[codes]
        boxes = machine.rule.eta * (factors * shown.weights if shown.weights.size else factors)
        targets = as_signs(shown.labels, self.classes_) if machine.is_halfspace else codes
        run = dual.Boxed(shown.X, targets, boxes, machine.lift, passes)
        return run.bound(comparator)

    def complaint(self) -> str | None:
        """Say nothing: one pass is what was asked for, and its answer is as good as any."""
        return None
