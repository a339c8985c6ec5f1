"""What is known of a margin: the best w, the best weights, and the two numbers that they prove.

Lower       the margin of w, rounded down
Upper       ‖Σ λ·z‖, rounded up; a λ of any size is first scaled to the shares of the hulls
Floats      a solver's numbers are taken for the exact ones that they are; its λ are rounded to
            multiples of 2^-53 that sum to 1
Beyond      the ends are floats where these are normal numbers, else fractions
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from scipy import sparse

from rosenblatt.certificates import Number
from rosenblatt.decide.widest.hulls import Hulls, Plane
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.numbers import is_exact
from rosenblatt.exact.products import (
    exact_product,
    first_look,
    rough_products,
    smallest,
    smallest_exactly,
)
from rosenblatt.exact.rounding import (
    SMALLEST_NORMAL,
    exponent,
    nearest_float,
    norm_above,
    root_rounded_up,
    rounded_down,
)
from rosenblatt.exact.weights import Weights
from rosenblatt.matrices import Matrix
from rosenblatt.pauses import pause

BITS = (96, 256)  # numbers as short as that often prove the same as exact ones of thousands
MODERATE = 64  # floats between 2^-64 and 2^64 have squares that are floats
SLACK = 1e-10  # share of a margin that spares rows on it the exact comparison
WHOLE = 2**53  # the sum of the weights, as integers


class Enclosure:
    """The best w and the best weights so far, and what they prove."""

    def __init__(self, hulls: Hulls) -> None:
        self.hulls = hulls
        self.w: list[Number] = []
        self.lower: Number = 0
        self.weights: dict[int, Number] = {}
        self.upper: Number = math.inf
        self.squared: Fraction | None = None

    @property
    def width(self) -> float:
        """How far apart the ends are, as a share of the upper one."""
        if self.upper == math.inf:
            return 1.0
        upper = Fraction(self.upper)
        return float((upper - Fraction(self.lower)) / upper)

    def offer_direction(self, w: np.ndarray, tol: float) -> None:
        """Take float weights that need not be of any length, nor have the best intercept."""
        for candidate in candidates(self.hulls, w):
            self.offer_w(candidate, min(tol / 8, SLACK))
            if self.width <= tol:
                return
            self.offer_w(candidate)

    def offer_w(self, w: Sequence[Number], slack: float = 0.0) -> None:
        """Take a w, its intercept last, if it leaves more than the best one did.

        With some slack, a share of the margin, floats alone prove it, or nothing is taken.
        """
        hulls = self.hulls
        if not any(hulls.measured(w)):
            return
        rounded = _least_with_slack(hulls, w, slack) if slack else smallest(hulls, w)[0]
        if rounded < 0:
            return
        coarse = rounded < SMALLEST_NORMAL
        least = smallest_exactly(hulls, w) if coarse else Fraction(rounded)
        margin = least / Fraction(norm_above(hulls.measured(w)))
        if margin > Fraction(self.lower):
            self.w = list(w)
            self.lower = rounded_down(margin) if margin >= SMALLEST_NORMAL else margin

    def offer_weights(self, weights: dict[int, Number]) -> None:
        """Take positive weights, if there are any, and their mean of rows is the shortest yet."""
        if not weights:
            return
        upper = _ends(self.hulls.square(weights))[1]
        if 0 < upper < self.upper:  # 0 is for `separate` to prove
            self.weights, self.upper = weights, upper

    def proofs(self) -> Iterator[tuple[list[Number], dict[int, Number]]]:
        """Give w and weights; where they are exact and long, first such as are rounded."""
        if self.squared is None:
            yield self.w, self.weights
            return
        numbers, _ = Rationals.of(self.w)
        divisor = math.gcd(*numbers)
        exact: list[Number] = [value // divisor for value in numbers]
        denominators = [share.as_integer_ratio()[1] for share in self.weights.values()]
        longest = max(value.bit_length() for value in (*numbers, *denominators))
        for bits in BITS if longest > max(BITS) else ():
            unit = Fraction(2) ** (bits - max(map(exponent, self.hulls.measured(self.w))))
            shares = {i: Fraction(round(y * 2**bits) or 1) for i, y in self.weights.items()}
            yield [round(value * unit) for value in self.w], dict(self.hulls.shared(shares))
        yield exact, self.weights

    def settle(self, plane: Plane) -> None:
        """Take the nearest point of the hulls: its w and weights prove the same number."""
        self.w, self.weights = plane.w, dict(zip(plane.rows, plane.weights, strict=True))
        self.squared = plane.squared
        self.lower, self.upper = _ends(self.squared)

    def unit(self) -> tuple[np.ndarray, float]:
        """Give the best w in floats, of norm 1, and the intercept that belongs to it."""
        hulls, measured = self.hulls, self.hulls.measured(self.w)
        power = max((exponent(value) for value in measured if value), default=exponent(0))
        floats = _scaled(measured, power)
        norm = math.sqrt(math.fsum((floats**2).tolist()))  # the same in any order of columns
        last = Fraction(hulls.added) * Fraction(self.w[-1]) / Fraction(2) ** power / Fraction(norm)
        return floats[: hulls.X.shape[1]] / norm + 0.0, nearest_float(last) + 0.0  # no -0.0


def _scaled(numbers: Sequence[Number], power: int) -> np.ndarray:
    """Give numbers over a power of two, rounded."""
    if set(map(type, numbers)) == {float}:
        return np.asarray(np.ldexp(np.array(numbers), -power))
    up, down = 1 << max(-power, 0), 1 << max(power, 0)
    whole, common = Rationals.of(numbers)
    return np.array([value * up / (common * down) for value in whole])


def _least_with_slack(hulls: Hulls, w: Sequence[Number], slack: float) -> float:
    """Give a number a little below the smallest z·w, if floats are certain that it is; else -1."""
    if is_exact(hulls.X):
        return -1.0
    weights = hulls.weights(w)
    below = float(rough_products(hulls, weights).min()) * (1 - slack)
    if not SMALLEST_NORMAL < below < math.inf:
        return -1.0
    signs = first_look(hulls, weights, np.array([below])).signs
    return below if signs.min() == 1 else -1.0


def _ends(square: Fraction) -> tuple[Number, Number]:
    """Enclose a root between neighbouring floats, or between fractions beyond all floats."""
    above = root_rounded_up(square)
    if SMALLEST_NORMAL < above < math.inf:
        exact = Fraction(above) ** 2 == square
        return above if exact else math.nextafter(above, 0.0), above
    p, q = square.as_integer_ratio()
    shift = max(0, 64 - (p.bit_length() - q.bit_length()) // 2)
    root = math.isqrt((p << 2 * shift) // q)
    below, unit = Fraction(root, 1 << shift), Fraction(1, 1 << shift)
    return below, below if below**2 == square else below + unit


# ---- to floats and back


def scaled_to_floats(hulls: Hulls) -> tuple[Matrix, float]:
    """Give rows and lift as floats of moderate size: themselves, or times a power of two."""
    X, lift = hulls.X, hulls.lift
    if is_exact(X):
        power = max(exponent(value) for value in (*X.flat, lift))
        moved = np.array([_row_over(x, power) for x in X])
        return moved, _over(lift, power)
    values = X.data if sparse.issparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    power = max(exponent(largest), exponent(lift))
    if abs(power) <= MODERATE:
        return X, float(lift)
    moved = np.ldexp(values.astype(np.float64), -power)
    if sparse.issparse(X):
        moved = sparse.csr_matrix((moved, X.indices, X.indptr), X.shape)
    return moved, _over(lift, power)


def _row_over(row: np.ndarray, power: int) -> list[float]:
    pause()
    return [_over(value, power) for value in row]


def _over(value: Number, power: int) -> float:
    """Give a number over a power of two, rounded once."""
    exact = Fraction(value)
    above, below = exact.numerator, exact.denominator
    return above / (below << power) if power >= 0 else (above << -power) / below


def lowest(hulls: Hulls, w: Weights) -> list[int]:
    """Name a row of each hull with the least z·w, as it is rounded."""
    products = rough_products(hulls, w)
    return [int(side[np.argmin(products[side])]) for side in hulls.sides]


def weights_from(hulls: Hulls, duals: np.ndarray) -> dict[int, Number]:
    """Round duals to floats that sum to the share of each hull; empty if a hull has none."""
    found: dict[int, Number] = {}
    share = WHOLE // len(hulls.sides)
    for side in hulls.sides:
        mine = duals[side]
        mine = np.where((mine > 0) & (mine < math.inf), mine, 0.0)
        used = np.flatnonzero(mine)
        if not used.size:
            return {}
        mine /= mine.max()
        shares = [round(dual * share) for dual in (mine[used] / mine.sum()).tolist()]
        shares[shares.index(max(shares))] += share - sum(shares)
        pairs = zip(side[used].tolist(), shares, strict=True)
        found |= {row: part / WHOLE for row, part in pairs if part > 0}
    return found


def candidates(hulls: Hulls, w: np.ndarray) -> Iterator[list[Number]]:
    """Give float weights of norm 1; where the intercept is free, with that in the middle.

    The middle is given as a float, and then exactly.
    """
    measured = w[: hulls.dimension]
    norm = float(np.linalg.norm(measured))
    if not 0 < norm < math.inf:
        return
    unit: list[Number] = (measured / norm).tolist()
    if not hulls.free:
        yield unit
        return
    weights, middle = hulls.weights([*unit, 0.0]), Fraction(0)
    for i in lowest(hulls, weights):
        middle -= int(hulls.signs[i]) * exact_product(hulls, i, weights) / 2
    nearest = nearest_float(middle)
    if math.isfinite(nearest):
        yield [*unit, nearest]
    yield [*unit, middle]
