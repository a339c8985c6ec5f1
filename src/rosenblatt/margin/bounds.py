"""Mistake bounds: what a run can cost at most, given one good hyperplane (theory F5, F7, F9).

Problem     given examples and a comparator w* with y·(w*·x) > 0 on all of them
Bound       k·γ + c1 <= √(k·R² + c0), hence at most
            [R² - 2γ·c1 + √(R⁴ - 4γ·c1·R² + 4γ²·c0)] / (2γ²) mistakes, (R/γ)² from a zero start
Symbols     R = max ‖x‖; w* of norm 1; γ = min y·(w*·x); c0 = ‖w0‖², c1 = w0·w*, w0 = start / η
Lifting     R, γ and w* are those of the lifted rows (x, c)                          (F9)
Weights     the update η·c·y·x makes the mistakes of the plain one on rows c·x, so R and γ are
            those of the weighted rows
Rigour      every number is rounded so that the bound errs upwards only
Sources     Block 1962; Novikoff 1962
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.examples import (
    Matrix,
    as_labels,
    as_matrix,
    as_rows,
    as_signs,
    check_finite,
    two_classes,
    without_duplicates,
)
from rosenblatt.loops import loop
from rosenblatt.rows import Rows, absolute_dot, dot, size, sqnorm

UNIT = 2.0**-53  # unit round-off of float64


@dataclass(frozen=True)
class MistakeBound:
    """A bound on the mistakes of a run, with the quantities it rests on.

    Attributes
    ----------
    value : at most this many mistakes, in any order and along every prefix of the run.
    radius : R, the largest norm of a (lifted, weighted) row, rounded up.
    margin : γ, the smallest y·(w*·x), rounded down.
    hinge_loss : 0, since the comparator is right on every example.
    comparator : w*, scaled to norm 1, in the lifted space if rows are lifted.
    theorem : 1, for Theorem 1 (Block, Novikoff).
    """

    value: float
    radius: float
    margin: float
    hinge_loss: float
    comparator: np.ndarray
    theorem: int = 1

    def __str__(self) -> str:
        return (
            f"at most {math.floor(self.value):,} mistakes: no row is longer than "
            f"R = {self.radius:.6g} and the comparator leaves a margin of γ = {self.margin:.6g}"
        )


@loop
def extremes(
    rows: Rows, signs: np.ndarray, weights: tuple[float, float], w: np.ndarray
) -> tuple[float, float, int]:
    """Give an upper bound of max c·‖x‖, a lower bound of min c·y·(w·x), and where that one is."""
    largest, smallest, where = 0.0, np.inf, -1
    for i in range(signs.size):
        weight = weights[1] if signs[i] > 0 else weights[0]
        # m terms summed in any order err by at most m·u / (1 - m·u) of the sum of their sizes, and
        # by half the smallest number for each product that underflows.
        error = (size(rows, i) + 4) * 2.0**-52
        tiny = (size(rows, i) + 4) * 5e-324
        norm = math.sqrt(sqnorm(rows, i) + tiny) * (1 + error)
        score = signs[i] * dot(rows, i, w) - error * absolute_dot(rows, i, w) - tiny
        largest = max(largest, weight * norm)
        if weight * score < smallest:
            smallest, where = weight * score, i
    return largest, smallest, where


def theorem_one(
    X: Matrix,
    signs: np.ndarray,
    comparator: np.ndarray,
    start: np.ndarray,
    *,
    lift: float,
    eta: float,
    weights: tuple[float, float],
) -> MistakeBound:
    """Give the bound of F7 for a run from `start`; comparator and start are lifted vectors."""
    direction = unit(comparator)
    radius, margin, where = extremes(as_rows(X, lift), signs, weights, direction)
    if not margin > 0:
        raise InputError(
            f"the comparator leaves row {where} on the wrong side or on its boundary "
            f"(margin {margin:.3g}); Theorem 1 needs one that separates the data"
        )
    if not radius < 1e150:
        raise InputError("the rows are too long for their squares; divide X by a constant")
    slack = 1 + (comparator.size + 8) * 2 * UNIT  # its norm is 1 only up to rounding
    margin, start = margin / slack, start / eta
    if not np.abs(start).max() < 1e150:
        raise InputError("the start is too far away for its square; divide it by a constant")
    along = float(start @ direction) - slack_of(start, direction)
    square = float(start @ start) * slack
    value = largest_count(radius * (1 + 4 * UNIT), margin * (1 - 4 * UNIT), square, along)
    return MistakeBound(value, radius, margin, 0.0, direction)


def mistake_bound(
    X: Any,
    y: Any,
    comparator: Any,
    *,
    fit_intercept: bool = False,
    lift: float = 1.0,
    initial: Any = None,
    eta0: float = 1.0,
) -> MistakeBound:
    """Bound the mistakes of any perceptron run on these data by Theorem 1 (theory F5, F7).

    Parameters
    ----------
    X, y : the examples, of two classes; the second one, in sorted order, is positive.
    comparator : a vector that separates them, such as the planted one: a number for each column,
        and one more for the intercept if the run has one.
    fit_intercept, lift : whether, and with which constant, the run lifts its rows.
    initial, eta0 : starting weights (None for zero) and learning rate of the run.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(100, 4, margin=0.1, seed=0)
    >>> bound = rb.mistake_bound(X, y, w)
    >>> print(f"{bound.radius:.3f} {bound.margin:.3f} {bound.value:.1f}")
    1.000 0.100 100.0
    """
    X = as_matrix(X)
    check_finite(X)
    X = without_duplicates(X)
    labels = as_labels(y, X.shape[0])
    if not (0 < lift < math.inf and 0 < eta0 < math.inf):
        raise InputError(f"lift and eta0 must be positive numbers, got {lift!r} and {eta0!r}")
    constant = float(lift) if fit_intercept else 0.0
    start = np.zeros(X.shape[1]) if initial is None else initial
    return theorem_one(
        X,
        as_signs(labels, two_classes(labels)),
        lifted(comparator, X.shape[1], constant),
        lifted(start, X.shape[1], constant, name="initial"),
        lift=constant,
        eta=eta0,
        weights=(1.0, 1.0),
    )


def unit(comparator: np.ndarray) -> np.ndarray:
    """Scale a comparator to norm 1."""
    largest = float(np.abs(comparator).max(initial=0.0))
    if not 0 < largest < math.inf:
        raise InputError("the comparator must be a finite vector other than zero")
    scaled = comparator / largest  # squares of tiny or huge numbers would be lost
    return np.asarray(scaled / np.linalg.norm(scaled))


def slack_of(a: np.ndarray, b: np.ndarray) -> float:
    """Bound the rounding error of a·b, and of b's norm not being exactly 1."""
    return float((2 * a.size + 16) * UNIT * np.linalg.norm(a) * np.linalg.norm(b))


def largest_count(radius: float, margin: float, c0: float, c1: float) -> float:
    """Give the largest k with k·γ + c1 <= √(k·R² + c0), rounded up.

    Fifty digits, because R² - 2γ·c1 may cancel.
    """
    if c0 == 0.0:
        c1 = 0.0  # the exact product with a zero start
    with localcontext() as context:
        context.prec = 50
        context.rounding = ROUND_CEILING
        r2, g, a, b = Decimal(radius) ** 2, Decimal(margin), Decimal(c0), Decimal(c1)
        root = (r2 * r2 - 4 * g * b * r2 + 4 * g * g * a).sqrt()
        exact = (r2 - 2 * g * b + root) / (2 * g * g)
        value = float(exact)
        return value if Decimal(value) >= exact else math.nextafter(value, math.inf)


def lifted(vector: Any, width: int, lift: float, name: str = "the comparator") -> np.ndarray:
    """Take weights of the user's coordinates into the lifted space (theory D7).

    One number for each column, and possibly one more for the intercept b in w·x + b.
    """
    try:
        given = np.asarray(vector, np.float64).ravel()
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers") from None
    if given.size not in (width, width + 1):
        raise InputError(
            f"{name} needs {width} numbers, one for each column, or {width + 1} with the "
            f"intercept; got {given.size}"
        )
    if not np.isfinite(given).all():
        raise InputError(f"{name} contains NaN or infinity")
    intercept = given[width] if given.size > width else 0.0
    if intercept and not lift:
        raise InputError(f"{name} has an intercept, but the rows are not lifted")
    return np.append(given[:width], intercept / lift if lift else 0.0)
