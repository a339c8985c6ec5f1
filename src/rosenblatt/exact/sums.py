"""Sums of rows of exact numbers times weights, without rounding.

Floats        are integers of 53 bits times powers of two. Where neither they nor the weights are
              very long, both are cut into digits of 21 bits, and products of digits summed in
              floats that hold every partial sum; else in Python's integers
Others        decimals, Python's own numbers and few floats, one row after the other
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.numbers import exact_row, is_plain
from rosenblatt.matrices import Matrix, stored

MANTISSA = 53
DIGIT, FEW_ROWS = 21, 2**10  # binary digits: sums of so many products are below 2^53
LAST_DIGIT, IN_CACHE = 2**DIGIT - 1, 64
MOST_DIGITS = 8 * DIGIT  # of longer numbers, Python's own integers are as quick
FEW_ENTRIES = 200  # that Python adds up in the time that NumPy needs to begin

Totals = dict[int, int]  # sums by column


def exact_dot(entries: Sequence[tuple[int, Number]], w: Sequence[Number] | Rationals) -> Fraction:
    """Give Σ value·w[column], exactly."""
    return Fraction(*whole_dot(entries, w if isinstance(w, Rationals) else Rationals.of(w)))


def whole_dot(entries: Sequence[tuple[int, Number]], w: Rationals) -> tuple[int, int]:
    """Give the same as an integer over a positive one, which may have a factor in common."""
    values, common = Rationals.of([value for _, value in entries])
    total = sum(map(mul, values, [w.numbers[column] for column, _ in entries]))
    return total, common * w.denominator


def exact_sum(terms: Iterable[tuple[int, Sequence[tuple[int, Number]]]]) -> tuple[Totals, int]:
    """Give Σ weight·row over pairs of an integer weight and a row, as `weighted_sum` does."""
    totals: dict[int, int] = {}
    scale = 1
    for weight, entries in terms:
        values, common = Rationals.of([value for _, value in entries])
        if scale % common:
            factor = common // math.gcd(scale, common)
            totals = {column: total * factor for column, total in totals.items()}
            scale *= factor
        weight *= scale // common
        for (column, _), value in zip(entries, values, strict=True):
            totals[column] = totals.get(column, 0) + weight * value
    return {column: total for column, total in totals.items() if total}, scale


def weighted_sum(X: Matrix, rows: Sequence[int], factors: Sequence[int]) -> tuple[Totals, int]:
    """Give Σ factor·x over some rows: integers by column, without the zeros, and a denominator."""
    if not is_plain(X) or len(rows) * (1 + stored(X) // X.shape[0]) <= FEW_ENTRIES:
        return exact_sum((y, exact_row(X, i)) for y, i in zip(factors, rows, strict=True))
    chosen, weights = X[np.asarray(rows, np.int64)], np.array(factors, object)
    if not sparse.issparse(chosen):
        added, common = _dense_sum(chosen, factors)
        pairs: Iterable[tuple[int, int]] = enumerate(added.tolist())
    else:
        integers, common = _integers(chosen.data)
        terms = integers * np.repeat(weights, np.diff(chosen.indptr))
        order = np.argsort(chosen.indices, kind="stable")
        columns, starts = np.unique(chosen.indices[order], return_index=True)
        added = np.add.reduceat(terms[order], starts).tolist() if order.size else []
        pairs = zip(columns.tolist(), added, strict=True)
    return {column: total for column, total in pairs if total}, common


def _dense_sum(X: np.ndarray, weights: Sequence[int]) -> tuple[np.ndarray, int]:
    """Give Σ weight·x and a denominator: digit by digit, in floats that hold all partial sums."""
    numbers, shifts, power = _parts(X)
    width = MANTISSA + int(shifts.max(initial=0))
    longest = max(map(abs, weights), default=0).bit_length()
    if max(width, longest) > MOST_DIGITS:
        integers, common = _integers(X)
        return np.asarray(np.array(weights, object) @ integers), common
    digits = np.array([[_digit(y, at) for y in weights] for at in range(0, longest, DIGIT)])
    totals = np.zeros(X.shape[1], object)
    for start in range(0, len(weights) if longest else 0, FEW_ROWS):
        sums = np.zeros((-(-width // DIGIT), len(digits), X.shape[1]))
        for first in range(start, min(start + FEW_ROWS, len(weights)), IN_CACHE):
            at = slice(first, min(first + IN_CACHE, start + FEW_ROWS))
            for place, found in enumerate(sums):
                found += digits[:, at] @ _digits_at(numbers[at], shifts[at], place * DIGIT)
        for place, found in enumerate(sums):
            for other, row in enumerate(found):
                totals += row.astype(np.int64).astype(object) << DIGIT * (place + other)
    return (totals << power, 1) if power > 0 else (totals, 1 << -power)


def _digit(value: int, at: int) -> float:
    digit = float((abs(value) >> at) & LAST_DIGIT)
    return digit if value > 0 else -digit


def _digits_at(numbers: np.ndarray, shifts: np.ndarray, at: int) -> np.ndarray:
    """Give the digits of numbers·2^shift from some place on, with the signs of the numbers."""
    sizes, down = np.abs(numbers), at - shifts
    above = sizes >> np.clip(down, 0, 63)
    below = (sizes & LAST_DIGIT) << np.clip(-down, 0, DIGIT)
    return np.asarray(np.copysign(np.where(down >= 0, above, below) & LAST_DIGIT, numbers))


def _parts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Give integers, and shifts to the left, that make floats over one power of two."""
    mantissas, powers = np.frexp(values.astype(np.float64))
    numbers = np.ldexp(mantissas, MANTISSA).astype(np.int64)
    used = numbers != 0
    lowest = int(powers.min(where=used, initial=1100))
    return numbers, np.where(used, powers - lowest, 0), lowest - MANTISSA if used.any() else 0


def _integers(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Give floats as Python's integers over one power of two."""
    numbers, shifts, power = _parts(values)
    if shifts.max(initial=0) < 63 - MANTISSA:
        scaled = (numbers << shifts).astype(object)
    else:
        scaled = numbers.astype(object) << shifts.astype(object)
    return (scaled << power, 1) if power > 0 else (scaled, 1 << -power)
