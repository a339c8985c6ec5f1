"""Mistake bounds: what a run can cost at most, given one comparator (theory F5, F7 to F9, F15).

Theorem 1   given examples and a comparator w* with y·(w*·x) > 0 on all of them:
            k·γ + c1 <= √(k·R² + c0), hence at most
            [R² - 2γ·c1 + √(R⁴ - 4γ·c1·R² + 4γ²·c0)] / (2γ²) mistakes, (R/γ)² from a zero start
Theorem 2   from a zero start and for any w*: R²‖w*‖² + 2·P·L, if no row is a mistake more than P
            times. For a direction w*, the best length t minimises a parabola with a kink at
            each 1/m, m = y·(w*·x): sorted, they show where its slope turns positive
Classes     of more than two, w* has a row for each, and y·(w*·x) becomes the lead w*_y·x - w*_r·x
            over the best wrong r. An update adds U with ‖U‖² = 2‖x‖² and U·w* >= γ, hence
            Theorem 1 with 2R² for R²                                                   (F15)
Symbols     R = max ‖x‖; w* of norm 1; γ = min y·(w*·x); c0 = ‖w0‖², c1 = w0·w*, w0 = start / η;
            L = Σ max(0, 1 - y·(w*·x)), where w* is of any length
Margin      updates on leads of at most β > 0 make ‖w‖² grow by η²c²‖x‖² + 2ηcβ at most: all of
            this holds of updates, mistakes among them, with R² + 2·max c·β/η for R²     (F17)
Lifting     R, γ and w* are those of the lifted rows (x, c)                          (F9)
Weights     the update η·c·y·x makes the mistakes of the plain one on rows c·x, so R and γ are
            those of the weighted rows; and R² may be γ·max ‖x‖²/(y·(w*·x)), which is less (F16)
Rigour      every number is rounded so that the bound errs upwards only
Sources     Block 1962; Novikoff 1962
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.matrices import Matrix
from rosenblatt.online.perceptron import ALL_ONE
from rosenblatt.rows import UNIT

if TYPE_CHECKING:
    from rosenblatt.certificates import MistakeProof
    from rosenblatt.exact.extremes import Extremes


@dataclass(frozen=True)
class MistakeBound:
    """A bound on the mistakes of a run, with the quantities it rests on.

    Attributes
    ----------
    value : float
        At most this many mistakes, in any order and at every moment of the run; of a run with a
        margin, at most this many updates, mistakes among them. Samples of weight 0 are neither.
    radius : float
        R, the largest norm of a (lifted, weighted) sample, rounded up.
    margin : float
        γ, the smallest y·(w*·x) with w* of norm 1, rounded down; negative if w* misclassifies a
        sample, NaN if it is zero.
    hinge_loss : float
        L, the sum of max(0, 1 - y·(w*·x)) over the samples, rounded up; 0 for Theorem 1.
    comparator : ndarray
        w*, with the weight of the constant feature last if there is one; of norm 1 for Theorem 1,
        scaled to make the bound smallest for Theorem 2.
    run : str
        The runs that the bound is about: "one pass in any order, from zero, …".
    theorem : {1, 2, 3}
        1 for (R/γ)², or its form for any start (Block, Novikoff), or 2(R/γ)² for more than two
        classes, where γ is the smallest lead of a class (F15); 2 for R²‖w*‖² + 2·passes·L; 3 for
        max(R², 1/C)·(‖w*‖² + 2C·passes·L) of an online SVM (F18), whose `hinge_loss` is C·L.
    passes : int or None
        How often a sample is presented at most; None for any number of times (Theorem 1).
    minimum : float or None
        No comparator gives a bound below this one, by Theorem 2 in so many passes (or by Theorem 1
        if passes is None), up to rounding; None if no comparator was searched for.
    certificate : MistakeProof or None
        The proof, for `verify`; None for any other start than zero, for sample or class weights,
        and for labels that JSON cannot hold.
    """

    value: float
    radius: float
    margin: float
    hinge_loss: float
    comparator: np.ndarray
    run: str
    theorem: int = 1
    passes: int | None = None
    minimum: float | None = None
    certificate: MistakeProof | None = None

    def __str__(self) -> str:
        most = f"at most {math.floor(self.value):,} mistakes in {self.run}: rows have norm at most "
        if self.theorem == 1:
            return (
                f"{most}R = {self.radius:.6g} and the comparator has a margin of "
                f"γ = {self.margin:.6g}"
            )
        return (
            f"{most}R = {self.radius:.6g}, and the comparator, of norm "
            f"{float(np.linalg.norm(self.comparator)):.6g}, has a hinge loss of "
            f"{self.hinge_loss:.6g}"
        )


@dataclass(frozen=True)
class Runs:
    """The runs that a bound is for.

    Attributes
    ----------
    lift : the constant of the added coordinate, 0 for none (theory D7).
    start : the weights at the start, in the lifted space.
    eta : the learning rate.
    weights : the factors of the updates on each row, `ALL_ONE` if all of them are 1.
    passes : how often a row is looked at, or a mistake, at most; None for any number of times.
    margin : leads up to this one call for updates, too (theory F17).
    """

    lift: float
    start: np.ndarray
    eta: float = 1.0
    weights: np.ndarray = field(default_factory=lambda: ALL_ONE)
    passes: int | None = 1
    margin: float = 0.0

    @property
    def from_zero(self) -> bool:
        """Whether they start from zero."""
        return not self.start.any()

    @property
    def weighted(self) -> bool:
        """Whether updates differ in size."""
        return self.weights.size > 0

    def reach(self, radius: float) -> float:
        """Give what takes the place of R where leads up to the margin call for updates."""
        if not self.margin:
            return radius
        largest = float(self.weights.max(initial=0.0)) if self.weighted else 1.0
        excess = 2.0 * (self.margin / self.eta) * largest
        return math.sqrt(radius * radius + excess) * (1 + 8 * UNIT)

    def described(self, passes: int | None) -> str:
        """Say which runs a bound is about."""
        often = "any number of passes in any order"
        if passes is not None:
            often = (
                "one pass in any order"
                if passes == 1
                else f"a run that errs at most {passes:,} times on a row, such as {passes:,} passes"
            )
        begun = "zero" if self.from_zero else "the given start"
        how = "with weighted updates, " if self.weighted else ""
        if self.margin:
            how += f"with updates up to a margin of {self.margin:g} counted as mistakes, "
        added = f"the intercept as a lifted coordinate of {self.lift:g}"
        return f"{often}, from {begun}, {how}with {added if self.lift else 'no intercept'}"


def best_length(margins: np.ndarray, square: float, factors: float | np.ndarray) -> float:
    """Give the t >= 0 that minimises square·t² + Σ factor·max(0, 1 - t·m), up to rounding.

    Examples
    --------
    >>> best_length(np.array([1.0, 1.0, -1.0]), 1.0, 2.0)
    1.0
    """
    order = np.argsort(-margins, kind="stable")[: np.count_nonzero(margins > 0)]
    pulls = factors * margins
    # Behind the k-th kink, rows k + 1, … of those still count, and all rows of margin <= 0.
    pull = pulls.sum() - np.concatenate([[0.0], np.cumsum(pulls[order])])
    bottoms = pull / (2 * square)
    with np.errstate(over="ignore"):
        kinks = np.append(1 / margins[order], np.inf)
    piece = int(np.argmax(bottoms <= kinks))  # the first piece whose slope turns positive
    reached = kinks[piece - 1] if piece else 0.0
    return float(max(bottoms[piece], reached))


def theorem_one(X: Matrix, targets: np.ndarray, comparator: np.ndarray, runs: Runs) -> MistakeBound:
    """Give the bound of F7, of F15 for more classes, or of F17 with a margin.

    Comparator and start are lifted vectors of two classes, or have a row for each of more.
    """
    from rosenblatt.exact.extremes import spread  # learning starts without it

    direction = unit(comparator)
    return theorem_one_of(spread(X, targets, direction, runs.lift, runs.weights), direction, runs)


def theorem_one_of(found: Extremes, direction: np.ndarray, runs: Runs) -> MistakeBound:
    """Give the bound by a unit vector of which the extremes of all rows are known."""
    radius, margin, where, _ = found
    many = direction.ndim == 2
    if not margin > 0:
        wrong = "to a wrong class or to none" if many else "on the wrong side or on its boundary"
        raise InputError(
            f"the comparator leaves row {where} {wrong} (margin {margin:.3g}); Theorem 1 needs one "
            f"that separates the {'classes' if many else 'data'}"
        )
    check_radius(radius)
    slack = 1 + (direction.size + 8) * 2 * UNIT  # its norm is 1 only up to rounding
    margin, start = margin / slack, runs.start / runs.eta
    if not np.abs(start).max() < 1e150:
        raise InputError("the start is too far away for its square; divide it by a constant")
    along = float(np.vdot(start, direction)) - slack_of(start, direction)
    square = float(np.vdot(start, start)) * slack
    longest = (found.effective_radius if runs.weighted else radius) * (1 + 4 * UNIT)
    if many:
        longest *= math.sqrt(2) * (1 + 4 * UNIT)
    value = largest_count(runs.reach(longest), margin * (1 - 4 * UNIT), square, along)
    return MistakeBound(value, radius, margin, 0.0, direction, runs.described(None))


def check_radius(radius: float) -> None:
    """Refuse rows whose squares are beyond float64."""
    if not radius < 1e150:
        raise InputError("the rows are too long for their squares; divide X by a constant")


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


def lifted_classes(
    rows: Any, classes: int, width: int, lift: float, name: str = "the comparator"
) -> np.ndarray:
    """Take weights of the user's coordinates, a row for each class, into the lifted space."""
    try:
        given = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers") from None
    if given.ndim != 2 or given.shape[0] != classes:
        raise InputError(
            f"{name} needs a row of weights for each of {classes} classes, got an array of shape "
            f"{given.shape}"
        )
    return np.stack([lifted(row, width, lift, name) for row in given])
