"""The hard-margin SVM itself, without scikit-learn: the hyperplane furthest from both classes.

The mathematics is in `rosenblatt.decide.margins`; `HardMarginSVM` documents the options.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from rosenblatt.errors import InputError, InseparableError
from rosenblatt.examples import Matrix, as_labels, as_matrix, check_finite, two_classes
from rosenblatt.learners import options
from rosenblatt.learners.linear import PlainLinear
from rosenblatt.learners.problems import INTERCEPTS


class PlainHardMarginSVM(PlainLinear):
    """Find the widest margin; `HardMarginSVM` documents the options and attributes."""

    margin_: tuple[float, float]
    certificate_: Any
    support_: np.ndarray

    def __init__(
        self,
        intercept: str = "free",
        tol: float = 1e-6,
        *,
        lift: float = 1.0,
        max_seconds: float | None = None,
    ) -> None:
        self.intercept = intercept
        self.tol = tol
        self.lift = lift
        self.max_seconds = max_seconds

    def _check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or solved."""
        options.one_of("intercept", self.intercept, INTERCEPTS)
        options.positive("lift", self.lift)
        if options.positive("tol", self.tol) >= 1:
            raise InputError(f"tol must be a number between 0 and 1, got {self.tol!r}")
        if self.max_seconds is not None:
            options.positive("max_seconds", self.max_seconds)

    def _fit(self, X: Any, y: Any) -> Self:
        """Find the hyperplane, or raise the proof that there is none; see `HardMarginSVM.fit`."""
        self._check_options()
        matrix = as_matrix(X)
        check_finite(matrix)
        labels = as_labels(y, matrix.shape[0])
        classes = two_classes(labels)
        found = self._margin(matrix, labels)
        plane = np.append(found.coef, found.intercept) / found.lower
        if not np.isfinite(plane).all():
            raise InputError("the margin is too narrow for float64; multiply X by a constant")
        self._adopt_columns(X, matrix)
        self._hold(
            plane[np.newaxis],
            classes,
            (float(found.lower), float(found.upper)),
            found.certificate,
            np.asarray(found.support, np.int64),
        )
        return self

    def _margin(self, matrix: Matrix, labels: np.ndarray) -> Any:
        """Give the margin of separable classes."""
        from rosenblatt.decide.margins import max_margin

        found = max_margin(
            matrix,
            labels,
            fit_intercept=self.intercept != "none",
            tol=self.tol,
            lift=self.lift if self.intercept == "lifted" else None,
            max_seconds=self.max_seconds,
        )
        if found.verdict == "undecided":
            if self.max_seconds is None:
                raise KeyboardInterrupt  # nothing else leaves the question open
            raise InputError(
                f"in max_seconds={self.max_seconds:g} it was not decided whether a hyperplane "
                "separates the classes; allow more seconds"
            )
        if found.verdict != "separable":
            self._refuse(matrix, labels)
        return found

    def _refuse(self, matrix: Matrix, labels: np.ndarray) -> None:
        from rosenblatt.decide.separate import separate

        proof = separate(matrix, labels, fit_intercept=self.intercept != "none")
        a, b = (repr(label) for label in proof.classes)
        through = " through the origin" if self.intercept == "none" else ""
        raise InseparableError(
            f"no hyperplane{through} separates the classes {a} and {b}, as the certificate of this "
            f"error proves ({proof.verdict}); use SoftMarginSVM, which allows for mistakes",
            proof,
        )

    def _hold(
        self,
        planes: np.ndarray,
        classes: np.ndarray,
        margin: tuple[float, float],
        certificate: Any,
        support: np.ndarray,
    ) -> None:
        """Take over what was found; until here, nothing of the learner has changed."""
        self._planes = planes
        self.classes_ = classes
        self.margin_ = margin
        self.certificate_ = certificate
        self.support_ = support

    def _complaint(self) -> str | None:
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
