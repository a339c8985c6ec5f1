"""`SoftMarginSVM`: the least hinge losses, to a proven gap; solvers are in `rosenblatt.margin`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from rosenblatt import options
from rosenblatt.errors import InputError
from rosenblatt.labels import as_labels, example_weights, several_coded
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.margin.classes import MULTICLASS, ClassSettings, solve
from rosenblatt.margin.problem import Problem, Solution
from rosenblatt.matrices import Matrix, as_matrix, check_finite, radius, without_duplicates
from rosenblatt.online.linear_machine import check_start

LONGEST = 1e150  # a square of it is still a number
MOST_LAM, LEAST_LAM = 1e150, 1e-150


class SoftMarginSVM(LinearLearner):
    """Linear SVM: minimise Σ max(0, 1 - y(w·x + b)) + λ‖w‖² (theory D19).

    Every fit has dual variables, which prove how close its objective is to the minimum.

    Parameters
    ----------
    lam : float, default=1.0
        λ > 0, the strength of the penalty.
    intercept : {"free", "lifted", "none"}, default="free"
        A b without penalty (as in LIBSVM); one that is the weight of an added constant feature,
        and penalised (as in LIBLINEAR); or b = 0.
    tol : float, default=1e-3
        The relative gap, (objective - dual objective) / objective, to stop at.
    C : float or None, default=None
        scikit-learn's C; if given, it replaces `lam`: λ = 1/(2C).
    lift : float, default=1.0
        The constant feature of ``intercept="lifted"``.
    multiclass : {"joint", "one-vs-rest"}, default="joint"
        With more than two classes, one joint problem (Crammer & Singer), or a problem of two
        classes for each.
    class_weight : dict, "balanced" or None, default=None
        A factor of the hinge loss for each class.
    warm_start : bool, default=False
        Whether `fit` starts from the dual variables of the last fit, if that had as many samples
        and classes. It changes the time, not the result.
    max_iter : int or None, default=None
        Maximum number of passes over the samples (Newton steps, where there are few features).
    max_seconds : float or None, default=None
        The time limit. If it or `max_iter` ends a fit early, a `ConvergenceWarning` says so.
    random_state : int, RandomState or None, default=0
        Seed of the order of the samples; with a number, every fit gives the same answer.
    fit_intercept : bool or None, default=None
        scikit-learn's name: False for ``intercept="none"``; True or None leave it to `intercept`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    classes_ : ndarray of shape (n_classes,)
        The labels; of two, the second one has positive scores.
    dual_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The dual variables, also called `alphas_`; its own docstring says what they prove.
    support_ : ndarray of int
        The samples whose dual variables are not 0 (the support vectors).
    objective_ : float
        The value of the objective, computed from the data.
    dual_objective_ : float
        No hyperplane has a smaller objective, up to rounding.
    gap_ : float
        (objective_ - dual_objective_) / objective_.
    lam_ : float
        The λ that was used.
    n_iter_ : int
        Passes of the solver.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if they have any.
    columns_ : Columns or None
        All that is known about the features: names, categories, hashing; model files keep it.

    See Also
    --------
    HardMarginSVM : The maximum margin of separable classes.
    Perceptron : Faster, without an optimum.
    OnlineSVM : The same loss, one example at a time.

    Notes
    -----
    *Boundary convention.* Where the score is exactly 0, or classes tie, `predict_one` gives None;
    `predict`, which must name a class, gives the first of them.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(200, 5, margin=0.05, seed=1)
    >>> learner = rb.SoftMarginSVM(lam=1e-3).fit(X, y)
    >>> learner.score(X, y), learner.gap_ <= learner.tol
    (1.0, True)
    >>> [model.gap_ <= model.tol for model in learner.path(X, y, [1, 0.1, 0.01])]
    [True, True, True]
    """

    _answer: Solution

    def __init__(
        self,
        lam: float = 1.0,
        intercept: str = "free",
        tol: float = 1e-3,
        *,
        C: float | None = None,
        lift: float = 1.0,
        multiclass: str = "joint",
        class_weight: Any = None,
        warm_start: bool = False,
        max_iter: int | None = None,
        max_seconds: float | None = None,
        random_state: Any = 0,
        fit_intercept: bool | None = None,
    ) -> None:
        self.lam = lam
        self.intercept = intercept
        self.tol = tol
        self.C = C
        self.lift = lift
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.fit_intercept = fit_intercept

    # ---- learning

    def train(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve as `fit` does, and leave it to the caller to ask for the `complaint`."""
        settings = self.settings()
        problem, classes = self._problem(X, y, sample_weight)
        start = self._answer if self.warm_start and self.is_fitted else None
        answer = solve(problem, settings, start)
        self._adopt_columns(X, problem.X)
        self._hold(answer, classes)
        return self

    def path(self, X: Any, y: Any, lams: Any, sample_weight: Any = None) -> list[Self]:
        """Solve for several λ, from the largest to the smallest, each warm-started from the last.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            The labels.
        lams : array-like of float
            The values of λ.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A factor of the hinge loss of each sample.

        Returns
        -------
        list of SoftMarginSVM
            A fitted copy for each λ, in the order given; each meets `tol` as a fit of its own.
        """
        wanted = _lams(lams)
        settings = self.settings()
        problem, classes = self._problem(X, y, sample_weight)
        found: dict[float, Self] = {}
        start: Solution | None = None
        for lam in sorted(set(wanted), reverse=True):
            start = solve(problem._replace(lam=lam), settings, start)
            found[lam] = self._copy(lam)
            found[lam]._adopt_columns(X, problem.X)
            found[lam]._hold(start, classes)
        for learner in (path := [found[lam] for lam in wanted]):
            learner.warn()
        return path

    def _copy(self, lam: float) -> Self:
        """Give a learner of the same options for another λ."""
        return type(self)(**{**self.options(), "lam": lam, "C": None})

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> tuple[Problem, np.ndarray]:
        """Give what is to be solved, and the classes."""
        matrix = as_matrix(X)
        check_finite(matrix)
        matrix = without_duplicates(matrix)
        labels = as_labels(y, matrix.shape[0])
        classes, codes = several_coded(labels)
        check_start(matrix.shape[1], 1 if classes.size == 2 else classes.size)
        if not radius(matrix) < LONGEST:
            raise InputError("the rows are too long for their squares; divide X by a constant")
        caps = example_weights(sample_weight, self.class_weight, codes, classes)
        kind = self.wanted_intercept()
        lam, k = self.wanted_lam(), classes.size
        labels = codes if k > 2 else 2 * codes - np.int8(1)
        return Problem.of(matrix, labels, lam, caps, kind, float(self.lift), k), classes

    def check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or solved."""
        self.wanted_lam()
        self.wanted_intercept()
        options.one_of("multiclass", self.multiclass, MULTICLASS)
        options.positive("lift", self.lift)
        options.positive("tol", self.tol)
        options.flag("warm_start", self.warm_start)
        options.limit("max_iter", self.max_iter)
        if self.max_seconds is not None:
            options.positive("max_seconds", self.max_seconds)
        options.check_random_state(self.random_state)

    def settings(self) -> ClassSettings:
        """Give the options of the solver."""
        self.check_options()
        return ClassSettings(
            multiclass=self.multiclass,
            tol=float(self.tol),
            max_passes=self.max_iter,
            max_seconds=self.max_seconds,
            seed=options.seed(self.random_state),
        )

    def wanted_intercept(self) -> str:
        """Give the kind of intercept: none if scikit-learn's name says so."""
        return options.intercept_kind(self.intercept, self.fit_intercept)

    def wanted_lam(self) -> float:
        """Give λ: 1/(2C) if C is given, which then takes the place of lam."""
        lam = _lam("lam", self.lam)
        return lam if self.C is None else 1 / (2 * _lam("C", self.C))

    def take_over(self, answer: Solution, classes: np.ndarray, like: Matrix) -> None:
        """Hold what was solved elsewhere, for rows with the columns of this one."""
        self._adopt_columns(like, like)
        self._hold(answer, classes)

    def _hold(self, answer: Solution, classes: np.ndarray) -> None:
        """Take over what was solved; until here, nothing of the learner has changed."""
        self.classes_ = classes
        self._answer = answer
        self._planes = answer.w

    # ---- what was solved

    @property
    def dual_(self) -> np.ndarray:
        """The dual variables α, which prove `dual_objective_` and so `gap_` (theory D19).

        Two classes: one for each row, 0 <= α <= its weight c, with the value
        Σ α - ‖Σ α·s·x‖²/4λ, s being -1 for the first class. One against the rest: a column of
        those for each class; their values are summed. Joint: for each row and class, α_r <= 0 for
        wrong classes, each row sums to 0, and the value is Σ α_y - Σ_r ‖Σ α_r·x‖²/4λ. With
        ``intercept="lifted"`` the rows are (x, lift).
        """
        self.check_fitted()
        return self._answer.alphas

    @property
    def alphas_(self) -> np.ndarray:
        """The same as `dual_`, by the letter that the theory has for them."""
        return self.dual_

    @property
    def support_(self) -> np.ndarray:
        """The rows whose dual variables are not 0: the hyperplanes are made of them alone."""
        alphas = self.alphas_
        if alphas.ndim == 1:
            return np.flatnonzero(alphas)
        # Of a joint problem, wrong classes are exactly 0 where they should be; the own one is a
        # difference of roundings.
        return np.flatnonzero(
            (alphas < 0 if self._answer.method == "joint" else alphas).any(axis=1)
        )

    @property
    def objective_(self) -> float:
        """The objective of the hyperplanes found, computed from the data."""
        self.check_fitted()
        return self._answer.primal

    @property
    def dual_objective_(self) -> float:
        """A number that no hyperplane's objective lies below, up to rounding."""
        self.check_fitted()
        return self._answer.dual

    @property
    def gap_(self) -> float:
        """The fraction of the objective by which it may exceed the minimum."""
        self.check_fitted()
        return self._answer.gap

    @property
    def n_iter_(self) -> int:
        """The passes of the solver; of several problems, the most."""
        self.check_fitted()
        return self._answer.passes

    @property
    def lam_(self) -> float:
        """The λ that was solved for."""
        self.check_fitted()
        return self._answer.lam

    def complaint(self) -> str | None:
        """Say that the gap is larger than wanted, and what to do; None if it is not."""
        if self._answer.converged:
            return None
        return (
            f"the solver stopped after {self.n_iter_} passes with a relative gap of "
            f"{self.gap_:.2g}, above tol={self.tol:g}; raise max_iter or max_seconds, bring the "
            "columns to one scale, or ask for less with a larger tol or lam"
        )


def _lam(name: str, value: Any) -> float:
    number = options.positive(name, value)
    if not LEAST_LAM <= number <= MOST_LAM:
        raise InputError(f"{name} must lie between {LEAST_LAM:g} and {MOST_LAM:g}, got {value!r}")
    return number


def _lams(lams: Any) -> list[float]:
    try:
        wanted = list(lams)
    except TypeError:
        raise InputError(f"lams must be a list of positive numbers, got {lams!r}") from None
    if not wanted:
        raise InputError("lams is empty; give at least one positive number")
    return [_lam("a number of lams", lam) for lam in wanted]
