"""Exact weights of rows, in the forms that products with rows take: floats, integers, limbs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from rosenblatt.certificate_fields import Number
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.limbs import Limbs, cut
from rosenblatt.exact.rounding import SMALLEST_NORMAL


@dataclass(frozen=True)
class Weights:
    """Exact weights of the rows (x, 1): one for each column, and that of the added coordinate."""

    numbers: Sequence[Number]

    @classmethod
    def of(cls, w: Sequence[Number], width: int, lift: Number = 1) -> Weights:
        """Take the weights of rows (x, lift), or of rows x if w has no more numbers than those."""
        added = w[width] if len(w) > width else 0
        return cls([*w[:width], added if lift == 1 else Fraction(lift) * Fraction(added)])

    @cached_property
    def floats(self) -> np.ndarray:
        """The weights rounded to float64."""
        if set(map(type, self.numbers)) == {float}:
            return np.array(self.numbers)
        return np.array([float_or_nan(value) for value in self.numbers])

    @cached_property
    def whole(self) -> Rationals:
        """The weights as integers over one denominator."""
        return Rationals.of(self.numbers)

    @cached_property
    def limbs(self) -> Limbs:
        """The weights as integers for compiled code."""
        return cut(self.whole)


def float_or_nan(value: Number) -> float:
    """Round with a relative error of at most 2^-53, or give NaN, which decides nothing."""
    if isinstance(value, float):
        return value
    try:
        nearest = float(value)
    except OverflowError:
        return math.nan
    return nearest if abs(nearest) >= SMALLEST_NORMAL or not value else math.nan
