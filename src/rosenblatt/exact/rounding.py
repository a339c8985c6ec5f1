"""Exact numbers as floats: the nearest, or rounded so that what is said of them stays true."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context
from fractions import Fraction

import numpy as np

from rosenblatt.certificate_fields import Number
from rosenblatt.exact.integers import Rationals

SMALLEST_NORMAL = 2.0**-1022  # smaller floats have fewer digits
OF_ZERO = -(2**20)  # in the place of the exponent of zero


def exponent(value: Number) -> int:
    """Give the power of two that a number is near to; tiny for zero."""
    p, q = value.as_integer_ratio()
    return p.bit_length() - q.bit_length() if p else OF_ZERO


def nearest_float(value: Number) -> float:
    """Round a number, to infinity if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def floats_of(numbers: Sequence[Number]) -> np.ndarray:
    """Round numbers."""
    if set(map(type, numbers)) == {float}:
        return np.array(numbers)
    return np.array([nearest_float(value) for value in numbers])


def float_if_exact(value: Number) -> Number:
    """Give a number as a float, if nothing is lost by that."""
    nearest = nearest_float(value)
    return nearest if nearest == value else value


def six_digits(value: Number, rounding: str) -> str:
    """Write six digits, rounded so that what is said of them stays true."""
    return str(Context(6, rounding, MIN_EMIN, MAX_EMAX).divide(*value.as_integer_ratio()))


def rounded_down(value: Fraction) -> float:
    """Give the largest float that is not above a number."""
    p, q = value.as_integer_ratio()  # fractions are slow to compare with floats
    try:
        nearest = p / q
    except OverflowError:
        return math.nextafter(math.inf, 0.0) if p > 0 else -math.inf
    top, bottom = nearest.as_integer_ratio()
    return nearest if top * q <= p * bottom else math.nextafter(nearest, -math.inf)


def root_rounded_up(square: Fraction) -> float:
    """Give the smallest float whose square is at least a number; infinity if there is none."""
    p, q = square.as_integer_ratio()
    shift = max(0, 64 - (p.bit_length() - q.bit_length()) // 2)
    below = Fraction(math.isqrt((p << 2 * shift) // q), 1 << shift)
    root = max(rounded_down(below), 0.0)
    while root < math.inf and _square_is_below(root, p, q):
        root = math.nextafter(root, math.inf)
    return root


def _square_is_below(root: float, p: int, q: int) -> bool:
    top, bottom = root.as_integer_ratio()
    return top * top * q < p * bottom * bottom


def norm_above(numbers: Sequence[Number]) -> Number:
    """Give a number that is at least the norm of a vector, and hardly more."""
    if set(map(type, numbers)) == {float}:
        with np.errstate(over="ignore"):
            squares = np.array(numbers, np.float64) ** 2
        if 1e-200 < squares.max() < 1e200:
            # Squares err by 2^-53 of themselves, or vanish below 1e-308; their sum is rounded once.
            total = math.fsum(squares.tolist()) + len(numbers) * 1e-300
            return math.sqrt(total) * (1 + 2.0**-50)
    square = Rationals.of(numbers).square()
    root = root_rounded_up(square)
    if 0 < root < math.inf:
        return root
    p, q = square.as_integer_ratio()  # beyond all floats
    return Fraction(math.isqrt(p * q) + 1, q)
