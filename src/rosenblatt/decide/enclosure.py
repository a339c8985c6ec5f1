"""What is known of a margin: the best w, the best weights, and the two numbers that they prove.

Lower       the margin of w, rounded down
Upper       ‖Σ λ·z‖, rounded up; a λ of any size is first scaled to the shares of the hulls
Beyond      floats where these are normal numbers, else fractions
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from rosenblatt.certificates import Number
from rosenblatt.decide.exact import root_rounded_up, rounded_down, whole
from rosenblatt.decide.hulls import Hulls, Plane
from rosenblatt.decide.margin_floats import exponent
from rosenblatt.decide.products import Weights, exact_product, smallest
from rosenblatt.decide.separate import norm_above

SMALLEST_NORMAL = 2.0**-1022
BITS = (96, 256)  # numbers as short as that often prove the same as exact ones of thousands


class Enclosure:
    """The best w and the best weights so far, and what they prove."""

    def __init__(self, hulls: Hulls) -> None:
        self.hulls = hulls
        self.w: list[Number] = []
        self.lower: Number = 0
        self.weights: dict[int, Fraction] = {}
        self.upper: Number = math.inf
        self.squared: Fraction | None = None

    @property
    def width(self) -> float:
        """How far apart the ends are, as a share of the upper one."""
        if self.upper == math.inf:
            return 1.0
        upper = Fraction(self.upper)
        return float((upper - Fraction(self.lower)) / upper)

    def offer_w(self, w: Sequence[Number]) -> None:
        """Take a w, its intercept last, if it leaves more than the best one did."""
        hulls = self.hulls
        if not any(hulls.measured(w)):
            return
        rounded, _ = smallest(hulls.X, hulls.signs, hulls.added, w)
        if rounded < 0:
            return
        coarse = rounded < SMALLEST_NORMAL
        least = _smallest_exactly(hulls, w) if coarse else Fraction(rounded)
        margin = least / Fraction(norm_above(hulls.measured(w)))
        if margin > Fraction(self.lower):
            self.w = list(w)
            self.lower = rounded_down(margin) if margin >= SMALLEST_NORMAL else margin

    def offer_weights(self, weights: dict[int, Fraction]) -> None:
        """Take positive weights, scaled here, if their mean of rows is shorter than the best."""
        shares = self.hulls.shared(weights)
        mean = self.hulls.mean(list(shares), list(shares.values()))
        upper = _ends(sum((v * v for v in mean.values()), Fraction(0)))[1]
        if upper < self.upper:
            self.weights, self.upper = shares, upper

    def proofs(self) -> Iterator[tuple[list[Number], dict[int, Fraction]]]:
        """Give w and weights; where they are exact and long, first such as are rounded."""
        if self.squared is None:
            yield self.w, self.weights
            return
        numbers, _ = whole(self.w)
        divisor = math.gcd(*numbers)
        exact: list[Number] = [value // divisor for value in numbers]
        denominators = [share.denominator for share in self.weights.values()]
        longest = max(value.bit_length() for value in (*numbers, *denominators))
        top = max(map(exponent, self.hulls.measured(self.w)))
        for bits in BITS if longest > max(BITS) else ():
            unit = Fraction(2) ** (bits - top)
            shares = {i: Fraction(round(y * 2**bits) or 1) for i, y in self.weights.items()}
            yield [round(value * unit) for value in self.w], self.hulls.shared(shares)
        yield exact, self.weights

    def settle(self, plane: Plane) -> None:
        """Take the nearest point of the hulls: its w and weights prove the same number."""
        mean = self.hulls.mean(plane.rows, plane.weights)
        self.squared = sum((v * v for v in mean.values()), Fraction(0))
        self.w, self.weights = plane.w, dict(zip(plane.rows, plane.weights, strict=True))
        self.lower, self.upper = _ends(self.squared)


def _smallest_exactly(hulls: Hulls, w: Sequence[Number]) -> Fraction:
    """Give the smallest z·w where floats are too coarse for it."""
    X, weights = hulls.X, Weights.of(w, hulls.X.shape[1], hulls.added)
    return min(exact_product(X, i, s, weights) for i, s in enumerate(hulls.signs.tolist()))


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
