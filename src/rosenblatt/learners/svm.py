"""`SoftMarginSVM` and `HardMarginSVM`: support vector machines behind scikit-learn's interface."""

from __future__ import annotations

import warnings
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning

from rosenblatt.errors import levels_inside
from rosenblatt.learners.front import Front
from rosenblatt.learners.hard_margin import PlainHardMarginSVM
from rosenblatt.learners.soft_margin import PlainSoftMarginSVM


class SoftMarginSVM(Front, PlainSoftMarginSVM):
    """Minimise Σ max(0, 1 - y(w·x + b)) + λ‖w‖² to a proven gap (theory D19).

    Every fit carries dual variables, which prove how close its objective is to the smallest one.

    Parameters
    ----------
    lam : λ, how much the length of w costs against the hinge losses.
    intercept : ``"free"`` for a b that costs nothing (as LIBSVM has it), ``"lifted"`` for one that
        is part of w, rows being (x, lift) (as LIBLINEAR has it), ``"none"`` for b = 0.
    fit_intercept : scikit-learn's spelling: False for ``intercept="none"``; True, or None, leaves
        it to ``intercept``.
    tol : the relative gap, (objective - dual objective) / objective, to end with.
    C : if given, takes the place of ``lam``, whatever that is, as ``lam=1/(2C)``: for those who
        think in scikit-learn's C.
    lift : the constant of the added coordinate, for ``intercept="lifted"``.
    multiclass : with more than two classes, one ``"joint"`` problem (Crammer & Singer), or
        ``"one-vs-rest"``, a problem of two classes for each.
    class_weight : None, ``"balanced"``, or a dict from label to a factor of the hinge loss.
    warm_start : let `fit` begin from the dual variables of the fit before, if it had as many rows
        and classes. That changes how long it takes, not what is found.
    max_iter, max_seconds : most passes over the rows (Newton steps, where there are few columns),
        most seconds; None for no limit of yours. A fit that they end early says so by a
        `ConvergenceWarning`.
    random_state : seed of the order of the rows: a number, so that every fit gives the same answer,
        None for another order each time, or a NumPy `RandomState`.

    Attributes
    ----------
    coef_, intercept_ : the hyperplane, or one for each class if there are more than two.
    classes_ : the labels; of two, the second one is on the positive side.
    dual_ : the dual variables (also called `alphas_`), and `support_` : the rows where they are
        not 0.
    objective_, dual_objective_, gap_ : the objective, a bound below it, their relative distance.
    lam_ : the λ that was solved for.
    n_iter_ : passes of the solver.

    Notes
    -----
    *Boundary convention.* A row with score exactly 0, or with two classes on top, is answered None
    by `predict_one`; `predict`, which must name a class, answers the first of them.

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

    many_classes = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the problem of these examples.

        Parameters
        ----------
        X : rows; C-order float arrays and CSR matrices are used without a copy.
        y : labels of two or more classes, of any hashable type.
        sample_weight : a factor of each row's hinge loss, from 0 on.
        """
        self._fit(X, y, sample_weight)
        _warn(self)
        return self

    def path(self, X: Any, y: Any, lams: Any, sample_weight: Any = None) -> list[Self]:
        """Solve for several λ; give a fitted copy for each, in the order asked for.

        They are solved from the largest λ to the smallest, each from the dual variables of the one
        before; every copy meets `tol` as a fit of its own would.
        """
        found = self._path(X, y, lams, sample_weight)
        for copy in found:
            _warn(copy)
        return found


class HardMarginSVM(Front, PlainHardMarginSVM):
    """Find the hyperplane furthest from both classes, between proven bounds (theory D10, D19).

    Parameters
    ----------
    intercept : ``"free"`` for any hyperplane, ``"lifted"`` for one through the origin of the rows
        (x, lift), ``"none"`` for one through the origin.
    fit_intercept : scikit-learn's spelling: False for ``intercept="none"``; True, or None, leaves
        it to ``intercept``.
    tol : how far the two ends of `margin_` may be apart, relative to the margin.
    lift : the constant of the added coordinate, for ``intercept="lifted"``.
    max_seconds : most seconds; None for no limit.

    Attributes
    ----------
    coef_, intercept_ : the hyperplane, scaled such that the nearest rows have the scores -1 and 1.
    classes_ : the two labels; the second one is on the positive side.
    margin_ : a lower and an upper bound of the largest margin.
    dual_ : a dual variable α >= 0 for each row, which proves the upper bound: no w with
        y(w·x + b) >= 1 on all rows has ‖w‖² below Σ α - ‖Σ α·y·x‖²/4.
    gap_ : the share of ‖w‖² by which that of the hyperplane may be above the smallest one.
    certificate_ : the proof of these bounds, for `verify`; about the rows whose weight is not 0.
    support_ : the rows that the upper bound rests on.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]], [0, 1, 1]
    >>> learner = rb.HardMarginSVM().fit(X, y)
    >>> learner.decision_function(X).round(6).tolist()
    [-1.0, 1.0, 1.0]
    >>> rb.HardMarginSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 0])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    rosenblatt.errors.InseparableError: no hyperplane separates the classes 0 and 1...
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplane of the widest margin.

        A hard margin knows two weights only: rows of weight 0 are left out, and all others count
        alike, however large their weights.

        Raises `InseparableError`, which carries the proof, if no hyperplane separates the classes.
        """
        self._fit(X, y, sample_weight)
        _warn(self)
        return self


def _warn(learner: SoftMarginSVM | HardMarginSVM) -> None:
    """Warn, on the line of the caller, if the answer is not as good as was asked for."""
    complaint = learner._complaint()
    if complaint is not None:
        warnings.warn(complaint, ConvergenceWarning, stacklevel=levels_inside() + 1)
