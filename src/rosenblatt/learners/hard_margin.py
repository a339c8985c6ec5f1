"""`HardMarginSVM`: the hyperplane furthest from both classes, by `decide.widest.margins`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

import numpy as np

from rosenblatt import options
from rosenblatt.errors import InputError, InseparableError
from rosenblatt.examples import Presented
from rosenblatt.labels import as_labels, as_signs, two_classes
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.matrices import Matrix, as_matrix, check_finite

SHORT = 1e-6  # share of the margin that weights may lose by being floats


class HardMarginSVM(LinearLearner):
    """Maximum-margin hyperplane of two separable classes, with proven bounds (theory D10, D19).

    Parameters
    ----------
    intercept : {"free", "lifted", "none"}, default="free"
        A b without penalty; one that is the weight of an added constant feature, and penalised; or
        b = 0.
    tol : float, default=1e-6
        How far the two bounds of `margin_` may be apart, relative to the margin.
    lift : float, default=1.0
        The constant feature of ``intercept="lifted"``.
    max_seconds : float or None, default=None
        The time limit.
    fit_intercept : bool or None, default=None
        scikit-learn's name: False for ``intercept="none"``; True or None leave it to `intercept`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights, scaled such that the support vectors have the scores -1 and 1.
    intercept_ : ndarray of shape (1,)
        The intercept.
    classes_ : ndarray of shape (2,)
        The labels; the second one has positive scores.
    margin_ : tuple of two floats
        A lower and an upper bound of the largest margin.
    dual_ : ndarray of shape (n_samples,)
        Dual variables α >= 0, which prove the upper bound: no w with y(w·x + b) >= 1 on all
        samples has ‖w‖² below Σ α - ‖Σ α·y·x‖²/4.
    gap_ : float
        The fraction of ‖w‖² by which it may exceed the minimum.
    certificate_ : Certificate
        The proof of these bounds, for `verify`; about the samples whose weight is not 0.
    support_ : ndarray of int
        The samples that prove the upper bound (the support vectors).
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if they have any.
    columns_ : Columns or None
        All that is known about the features: names, categories, hashing; model files keep it.

    See Also
    --------
    max_margin : The same hyperplane as an answer with a proof, not as a learner.
    SoftMarginSVM : For classes that overlap.

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

    many_classes = False
    margin_: tuple[float, float]
    certificate_: Any
    dual_: np.ndarray

    def __init__(
        self,
        intercept: str = "free",
        tol: float = 1e-6,
        *,
        lift: float = 1.0,
        max_seconds: float | None = None,
        fit_intercept: bool | None = None,
    ) -> None:
        self.intercept = intercept
        self.tol = tol
        self.lift = lift
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept

    def check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or solved."""
        self._kind()
        options.positive("lift", self.lift)
        if options.positive("tol", self.tol) >= 1:
            raise InputError(f"tol must be a number between 0 and 1, got {self.tol!r}")
        if self.max_seconds is not None:
            options.positive("max_seconds", self.max_seconds)

    def _kind(self) -> str:
        return options.intercept_kind(self.intercept, self.fit_intercept)

    def train(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve as `fit` does, and leave it to the caller to ask for the `complaint`."""
        self.check_options()
        matrix = as_matrix(X)
        check_finite(matrix)
        labels = as_labels(y, matrix.shape[0])
        classes = two_classes(labels)
        shown = Presented.of(matrix, labels, sample_weight)
        shown.check_classes(classes)
        matrix, labels = shown.X, shown.labels
        found = self._margin(matrix, labels)
        plane = _plane(found, self.lift if self._kind() == "lifted" else 1.0)
        signs = as_signs(labels, classes)
        scores = signs * (matrix @ plane[:-1] + plane[-1])
        if not (np.isfinite(plane).all() and scores.min() >= 1 - max(self.tol, SHORT)):
            raise InputError(
                "no hyperplane whose weights are floats has this margin, though the certificate of "
                "max_margin proves it; move the rows nearer to the origin, or scale the columns"
            )
        self._adopt_columns(X, matrix)
        self._hold(
            plane[np.newaxis],
            classes,
            (float(found.lower), float(found.upper)),
            found.certificate,
            _dual(found, shown.numbers(), shown.rows),
        )
        return self

    def _margin(self, matrix: Matrix, labels: np.ndarray) -> Any:
        """Give the margin of separable classes."""
        from rosenblatt.decide.answers import INTERRUPTED, REASONS
        from rosenblatt.decide.widest.margins import max_margin

        found = max_margin(
            matrix,
            labels,
            fit_intercept=self._kind() != "none",
            tol=self.tol,
            lift=self.lift if self._kind() == "lifted" else None,
            max_seconds=self.max_seconds,
        )
        if found.verdict == "undecided":
            if found.stop == INTERRUPTED:
                raise KeyboardInterrupt
            raise InputError(
                "it was not decided whether a hyperplane separates the classes: "
                f"{REASONS[found.stop]}"
            )
        if found.verdict != "separable":
            self._refuse(found)
        return found

    def _refuse(self, found: Any) -> None:
        a, b = (repr(label) for label in found.classes)
        through = " through the origin" if self._kind() == "none" else ""
        raise InseparableError(
            f"no hyperplane{through} separates the classes {a} and {b}, as the certificate of this "
            f"error proves ({found.verdict}); use SoftMarginSVM, which allows for mistakes",
            found.separation,
        )

    def _hold(
        self,
        planes: np.ndarray,
        classes: np.ndarray,
        margin: tuple[float, float],
        certificate: Any,
        dual: np.ndarray,
    ) -> None:
        """Take over what was found; until here, nothing of the learner has changed."""
        self._planes = planes
        self.classes_ = classes
        self.margin_ = margin
        self.certificate_ = certificate
        self.dual_ = dual

    @property
    def support_(self) -> np.ndarray:
        """The samples that prove the upper bound of the margin."""
        self.check_fitted()
        return np.flatnonzero(self.dual_)

    @property
    def gap_(self) -> float:
        """(‖w‖² - 1/upper²) / ‖w‖²: the fraction by which ‖w‖² may exceed the minimum."""
        self.check_fitted()
        lower, upper = self.margin_
        return 1 - (lower / upper) ** 2

    def complaint(self) -> str | None:
        """Say that the interval is wider than wanted, and what to do; None if it is not."""
        lower, upper = self.margin_
        width = (upper - lower) / upper
        if width <= self.tol:
            return None
        return (
            f"the margin is known to lie between {lower:.9g} and {upper:.9g}, which are "
            f"{width:.2g} of it apart, more than tol={self.tol:g}; allow more seconds, or a "
            "larger tol"
        )


def _dual(found: Any, numbers: np.ndarray, rows: int) -> np.ndarray:
    """Give the dual variables of min ‖w‖² subject to s(w·x + b) >= 1, one for each row of X.

    They are the weights of the certificate, λ with Σ λ = 1 and ‖Σ λ·s·x‖ <= upper, times 2/upper²,
    which makes the value Σ α - ‖Σ α·s·x‖²/4 as large as it can be: 1/upper² or more.
    """
    proof, dual = found.certificate, np.zeros(rows)
    dual[numbers[list(proof.rows)]] = np.array(proof.weights, np.float64) * (2 / found.upper**2)
    return dual


def _plane(found: Any, lift: float) -> np.ndarray:
    """Give the hyperplane of a proof in floats, the nearest rows having scores of about ±1.

    Each number is rounded once: in between, weights of very different sizes would vanish.
    """
    from rosenblatt.exact.rounding import nearest_float, norm_above

    exact = [Fraction(value) for value in found.certificate.w]
    width = found.coef.size
    lifted = found.certificate.lift is not None
    norm = norm_above(exact if lifted else exact[:width])
    scale = 1 / (Fraction(found.lower) * Fraction(norm)) if found.lower > 0 else Fraction(0)
    intercept = exact[width] * (Fraction(lift) if lifted else 1) if len(exact) > width else 0
    plane = (*exact[:width], intercept)  # mostly zeros where text was hashed
    return np.array([nearest_float(value * scale) if value else 0.0 for value in plane])
