"""Which side of a threshold each row lies on: certain, and fast where the answer is clear.

Problem     the sign of s·((x, c)·w) - t for every row x
First       a sum in float64 with a bound on its error, for all rows in one pass over the memory
Then        exact sums, for the rows that the bound leaves undecided: compiled for rows of floats
            and of decimals that a power of ten makes whole, in Python's integers for the rest
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.blocks import in_blocks
from rosenblatt.certificate_fields import Number
from rosenblatt.decimals import is_decimal, whole_rows
from rosenblatt.exact.digest import column_factors
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.limbs import Limbs, cut, exact_signs, scratch_for
from rosenblatt.exact.numbers import exact_list, exact_row, is_exact
from rosenblatt.exact.rounded import UNDECIDED, look
from rosenblatt.exact.rounding import rounded_down
from rosenblatt.exact.sums import exact_dot
from rosenblatt.matrices import Matrix, as_rows, refuse_unusable
from rosenblatt.rows import scores, span

SMALLEST_NORMAL = 2.0**-1022
NARROW = 4  # the share of the columns that are worth to be copied
FEW = 16  # rows that Python alone looks at, to spare the compiled code its preparations
FEW_ENTRIES = 1000  # that Python alone adds up in half a millisecond, and need no compiled code
LIMB_WORK = 8  # an entry costs about so many times as much exactly as in floats
NO_TAGS = np.empty(0, np.uint64)
ZERO = np.zeros(1)


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
        return np.array([_nearest(value) for value in self.numbers])

    @cached_property
    def whole(self) -> Rationals:
        """The weights as integers over one denominator."""
        return Rationals.of(self.numbers)

    @cached_property
    def limbs(self) -> Limbs:
        """The weights as integers for compiled code."""
        return cut(self.whole)


def _nearest(value: Number) -> float:
    """Round with a relative error of at most 2^-53, or give NaN, which decides nothing."""
    if isinstance(value, float):
        return value
    try:
        nearest = float(value)
    except OverflowError:
        return math.nan
    return nearest if abs(nearest) >= SMALLEST_NORMAL or not value else math.nan


class Comparison(NamedTuple):
    """How every row compares with its threshold, and what else a pass over them finds.

    `total` is that of the digest, if there were tags; `at_most` bounds the smallest s·((x, 1)·w).
    """

    signs: np.ndarray
    total: int
    at_most: float


def compare(
    X: Matrix,
    signs: np.ndarray,
    w: Weights,
    thresholds: np.ndarray,
    tags: np.ndarray = NO_TAGS,
) -> Comparison:
    """Give the exact sign of s·((x, 1)·w) - t for every row; a single t is that of all rows.

    Rows of Python numbers are not hashed.
    """
    if is_exact(X):
        products = _exact_products(X, signs, w)
        ends = exact_list(thresholds) * (X.shape[0] if thresholds.size == 1 else 1)
        out = [_sign(product, end) for product, end in zip(products, ends, strict=True)]
        return Comparison(np.array(out, np.int8), 0, math.inf)
    if not tags.size:
        X, w = _narrowed(X, w)
    floats = (
        np.array([_float_or_nan(t) for t in thresholds]) if is_exact(thresholds) else thresholds
    )
    found = first_look(X, signs, w, floats, tags)
    left = np.flatnonzero(found.signs == UNDECIDED)
    if _work(X, left.size) > FEW_ENTRIES:
        settle_at(left, X, signs, w, thresholds if is_decimal(X) else floats, found.signs)
        left = left[found.signs[left] == UNDECIDED]
    _settle_in_python(left, X, signs, w, thresholds, found.signs)
    return found


def first_look(
    X: Matrix, signs: np.ndarray, w: Weights, thresholds: np.ndarray, tags: np.ndarray = NO_TAGS
) -> Comparison:
    """Compare in float64, with UNDECIDED where the bound on the error says so."""
    rows, out = as_rows(X, 1.0), np.empty(X.shape[0], np.int8)
    hashing = tags, column_factors(X.shape[1])

    def work(start: int, stop: int) -> tuple[Any, float]:
        return look(rows, signs, w.floats, thresholds, hashing, (start, stop), out)

    totals, at_most = zip(*in_blocks(work, *shape_of_work(X)), strict=True)
    return Comparison(out, sum(map(int, totals)) % 2**64, min(at_most))


def _narrowed(X: Matrix, w: Weights) -> tuple[Matrix, Weights]:
    """Leave out the columns without a weight, if that is most of a dense matrix."""
    if sparse.issparse(X):
        return X, w
    columns = [j for j, value in enumerate(w.numbers[:-1]) if value] or [0]
    if NARROW * len(columns) > X.shape[1]:
        return X, w
    numbers = [w.numbers[j] for j in columns]
    return X[:, columns].copy(), Weights([*numbers, w.numbers[-1]])


def settle_at(
    places: np.ndarray,
    X: Matrix,
    signs: np.ndarray,
    w: Weights,
    thresholds: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the exact sign of some rows, save for rows and thresholds that are not finite."""
    if not places.size:
        return
    if is_decimal(X):
        _settle_decimals(places, X, signs, w, thresholds, out)
        return
    rows, weights = as_rows(X, 1.0), (w.limbs, w.floats)

    def work(start: int, stop: int) -> None:
        totals = scratch_for(w.limbs)
        exact_signs(rows, signs, weights, thresholds, places[start:stop], totals, out)

    in_blocks(work, places.size, LIMB_WORK * _work(X, places.size))


def _settle_decimals(
    places: np.ndarray,
    X: Matrix,
    signs: np.ndarray,
    w: Weights,
    thresholds: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the exact sign of some rows of decimals, times powers of ten where that helps.

    A threshold becomes the last coordinate: that of all rows as its weight, others as its values.
    """
    right, weight = np.ones(places.size), Fraction(-1)
    if thresholds.size == 1:
        weight = -Fraction(exact_list(thresholds)[0])
    elif is_decimal(thresholds) and not thresholds.written:
        right = np.asarray(thresholds)[places]
    else:
        _settle_in_python(places, X, signs, w, thresholds, out)
        return
    added = np.column_stack([np.ones(places.size), right * signs[places]])
    rows, fits = whole_rows(X[places], added)
    if fits.any():
        inside, found = np.flatnonzero(fits), np.full(places.size, UNDECIDED, np.int8)
        settle_at(inside, rows, signs[places], Weights([*w.numbers, weight, 0]), ZERO, found)
        out[places[fits]] = found[fits]
    _settle_in_python(places[~fits], X, signs, w, thresholds, out)


def _settle_in_python(
    places: np.ndarray,
    X: Matrix,
    signs: np.ndarray,
    w: Weights,
    thresholds: np.ndarray,
    out: np.ndarray,
) -> None:
    for i in places.tolist():
        _refuse_if_unusable(X, i)
        place = min(i, thresholds.size - 1)
        (threshold,) = exact_list(thresholds[place : place + 1])
        out[i] = _sign(exact_product(X, i, int(signs[i]), w), threshold)


def _refuse_if_unusable(X: Matrix, i: int) -> None:
    if not all(math.isfinite(value) for _, value in exact_row(X, i)):
        refuse_unusable(X, i)


def _exact_products(X: Matrix, signs: np.ndarray, w: Weights) -> list[Fraction]:
    return [exact_product(X, i, sign, w) for i, sign in enumerate(signs.tolist())]


def exact_product(X: Matrix, i: int, sign: int, w: Weights) -> Fraction:
    """Give s·((x, 1)·w) for row i."""
    return sign * exact_dot([*exact_row(X, i), (X.shape[1], 1)], w.whole)


def _product_alone(X: Matrix, i: int, sign: int, w: Weights) -> Fraction:
    """Give s·((x, 1)·w) without turning all weights into integers."""
    entries = [*exact_row(X, i), (X.shape[1], 1)]
    numbers = Rationals.of([w.numbers[column] for column, _ in entries])
    return sign * exact_dot([(k, value) for k, (_, value) in enumerate(entries)], numbers)


def shape_of_work(X: Matrix) -> tuple[int, int]:
    """Give the number of rows, and that of the entries stored."""
    return X.shape[0], int(X.nnz if sparse.issparse(X) else X.size)


def _work(X: Matrix, rows: int) -> int:
    """Give the number of entries in so many rows, about."""
    n, entries = shape_of_work(X)
    return rows * (entries // max(n, 1) + 1)


def _float_or_nan(value: Number) -> float:
    nearest = _nearest(value)
    return nearest if nearest == value else math.nan


def _sign(value: Fraction, threshold: Number) -> int:
    return int(value > threshold) - int(value < threshold)  # NumPy's bools have no minus


# ---- what others ask for


def signs_of_products(
    X: Matrix, signs: np.ndarray, lift: Number, w: Sequence[Number]
) -> np.ndarray:
    """Give the exact sign of s·((x, lift)·w) for every row, as int8.

    X is a matrix as `exact_matrix` gives it; w has a number for each column, and one more for the
    added coordinate unless rows are not lifted.
    """
    return compare(X, signs, Weights.of(w, X.shape[1], lift), ZERO).signs


def rough_products(X: Matrix, signs: np.ndarray, w: Weights) -> np.ndarray:
    """Give s·((x, 1)·w) for every row of floats, rounded."""
    rows, found = as_rows(X, 1.0), np.empty(X.shape[0])

    def work(start: int, stop: int) -> None:
        scores(span(rows, start, stop), w.floats, found[start:stop])

    in_blocks(work, *shape_of_work(X))
    return np.asarray(found * signs)


def _guess(X: Matrix, signs: np.ndarray, w: Weights) -> float:
    """Give the smallest product, rounded, and a little more: some product is below it, probably."""
    least = float(rough_products(X, signs, w).min())
    return least + 1e-12 * abs(least)


def smallest(X: Matrix, signs: np.ndarray, lift: Number, w: Sequence[Number]) -> tuple[float, int]:
    """Give min s·((x, lift)·w), rounded down to a float, and a row where it is attained."""
    weights = Weights.of(w, X.shape[1], lift)
    if is_exact(X):
        products = _exact_products(X, signs, weights)
        where = min(range(len(products)), key=products.__getitem__)
        return rounded_down(products[where]), where
    guess = _guess(X, signs, weights)
    out = first_look(X, signs, weights, np.array([guess])).signs
    found = _least_of(X, signs, weights, np.flatnonzero(out != 1))
    if found is not None and found[0] <= guess:  # then no other row can be below it
        return rounded_down(found[0]), found[1]
    at_most = first_look(X, signs, weights, ZERO).at_most
    out = first_look(X, signs, weights, np.array([at_most])).signs
    places = np.flatnonzero(out != 1)
    while places.size:
        where = int(places[places.size // 2])
        _refuse_if_unusable(X, where)
        bound = rounded_down(exact_product(X, where, int(signs[where]), weights))
        settle_at(places, X, signs, weights, np.array([bound]), out)
        places = places[(out[places] < 0) | (out[places] == UNDECIDED)]
        if bound == -math.inf:
            break
    return bound, where


def _least_of(
    X: Matrix, signs: np.ndarray, w: Weights, places: np.ndarray
) -> tuple[Fraction, int] | None:
    """Give the smallest product of a few rows exactly, and its row; None for none, or for many."""
    if not 0 < places.size <= FEW:
        return None
    for i in places.tolist():
        _refuse_if_unusable(X, i)
    return min((_product_alone(X, i, int(signs[i]), w), i) for i in places.tolist())
