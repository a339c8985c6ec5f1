"""Which side of a threshold each row lies on: certain, and fast where the answer is clear.

Problem     the sign of z·w - t for every row z = s·(x, c)
First       a sum in float64 with a bound on its error, for all rows in one pass over the memory
Then        exact sums, for the rows that the bound leaves undecided: compiled for rows of floats
            and of decimals that a power of ten makes whole, in Python's integers for the rest
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from rosenblatt.blocks import in_blocks
from rosenblatt.certificate_fields import Number
from rosenblatt.decimals import is_decimal, whole_rows
from rosenblatt.exact import enclosed
from rosenblatt.exact.digest import column_factors, total_of_rows
from rosenblatt.exact.enclosed import UNDECIDED, enclosed_few, look
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.limbs import exact_signs, scratch_for
from rosenblatt.exact.numbers import exact_list, exact_row, is_exact
from rosenblatt.exact.rounding import floats_of, root_rounded_up, rounded_down
from rosenblatt.exact.signed import SignedRows, products
from rosenblatt.exact.sums import exact_dot, whole_dot
from rosenblatt.exact.weights import Weights, float_or_nan
from rosenblatt.loops import pays
from rosenblatt.matrices import as_rows, refuse_unusable

NARROW = 4  # the share of the columns that are worth to be copied
FEW = 16  # rows that Python alone looks at, to spare the compiled code its preparations
FEW_ENTRIES = 1000  # that Python alone adds up in half a millisecond, and need no compiled code
LIMB_WORK = 8  # an entry costs about so many times as much exactly as in floats
NO_TAGS = np.empty(0, np.uint64)
ZERO = np.zeros(1)
Found = TypeVar("Found")
Product = Callable[[SignedRows, int, Weights], Found]


class Comparison(NamedTuple):
    """How every row compares with its threshold, and what else a pass over them finds.

    `total` is that of the digest, if there were tags; `at_most` bounds the smallest z·w.
    """

    signs: np.ndarray
    total: int
    at_most: float


def compare(rows: SignedRows, w: Weights, thresholds: np.ndarray) -> Comparison:
    """Give the exact sign of z·w - t for every row z; a single t is that of all rows."""
    if is_exact(rows.X):
        exact = _exact_products(rows, w)
        ends = exact_list(thresholds) * (rows.size if thresholds.size == 1 else 1)
        out = [_sign(product, end) for product, end in zip(exact, ends, strict=True)]
        return Comparison(np.array(out, np.int8), 0, math.inf)
    rows, w = _narrowed(rows, w)
    floats = (
        np.array([_float_or_nan(t) for t in thresholds]) if is_exact(thresholds) else thresholds
    )
    found = first_look(rows, w, floats)
    left = np.flatnonzero(found.signs == UNDECIDED)
    if _work(rows, left.size) > FEW_ENTRIES:
        settle_at(left, rows, w, thresholds if is_decimal(rows.X) else floats, found.signs)
        left = left[found.signs[left] == UNDECIDED]
    _settle_in_python(left, rows, w, thresholds, found.signs)
    return found


def short_of_root(
    rows: SignedRows, w: Weights, square: Fraction, tags: np.ndarray = NO_TAGS
) -> tuple[int | None, int]:
    """Name a row with z·w < √square, if there is one; give the total of the digest, too.

    Rows of Python numbers are not hashed.
    """
    total, undecided, below = 0, list(range(rows.size)), list[int]()
    if not is_exact(rows.X):
        end = np.array([root_rounded_up(square)])  # so that a row below it may be long enough
        found = first_look(rows, w, end, tags)
        left = np.flatnonzero(found.signs == UNDECIDED)
        if _work(rows, left.size) > FEW_ENTRIES:
            settle_at(left, rows, w, end, found.signs)
        total, undecided = found.total, np.flatnonzero(found.signs == UNDECIDED).tolist()
        below = np.flatnonzero(found.signs == -1).tolist()
    p, q = square.as_integer_ratio()

    def is_short(i: int) -> bool:
        value, unit = _or_refusal(_whole_product, rows, i, w)
        return value < 0 or value**2 * q < p * unit**2

    short = [i for i in undecided if is_short(i)]  # a look at each: any may have to be refused
    short += islice(filter(is_short, below), 1)
    return min(short, default=None), total


def first_look(
    rows: SignedRows, w: Weights, thresholds: np.ndarray, tags: np.ndarray = NO_TAGS
) -> Comparison:
    """Compare in float64, with UNDECIDED where the bound on the error says so."""
    if not pays(look, rows.size + rows.entries, enclosed.FEW):
        return _first_look_at_few(rows, w, thresholds, tags)
    stored, out = as_rows(rows.X, 1.0), np.empty(rows.size, np.int8)
    hashing = tags, column_factors(rows.X.shape[1]) if tags.size else NO_TAGS

    def work(start: int, stop: int) -> tuple[Any, float]:
        return look(stored, rows.signs, w.floats, thresholds, hashing, (start, stop), out)

    totals, at_most = zip(*in_blocks(work, rows.size, rows.entries), strict=True)
    return Comparison(out, sum(map(int, totals)) % 2**64, min(at_most))


def _first_look_at_few(
    rows: SignedRows, w: Weights, thresholds: np.ndarray, tags: np.ndarray
) -> Comparison:
    """Give what `look` gives."""
    low, high = enclosed_few(rows.X, rows.signs, w.floats, 1.0)
    below = np.where(high < thresholds, np.int8(-1), UNDECIDED)
    total = total_of_rows(rows.X, tags) if tags.size else 0
    return Comparison(
        np.where(low > thresholds, np.int8(1), below), total, float(high.min(initial=np.inf))
    )


def _narrowed(rows: SignedRows, w: Weights) -> tuple[SignedRows, Weights]:
    """Leave out the columns without a weight, if that is most of a dense matrix."""
    if sparse.issparse(rows.X):
        return rows, w
    columns = [j for j, value in enumerate(w.numbers[:-1]) if value] or [0]
    if NARROW * len(columns) > rows.X.shape[1]:
        return rows, w
    numbers = [w.numbers[j] for j in columns]
    narrow = SignedRows(rows.X[:, columns].copy(), rows.signs, rows.lift)
    return narrow, Weights([*numbers, w.numbers[-1]])


def settle_at(
    places: np.ndarray, rows: SignedRows, w: Weights, thresholds: np.ndarray, out: np.ndarray
) -> None:
    """Write the exact sign of some rows, save for rows and thresholds that are not finite."""
    if not places.size:
        return
    if is_decimal(rows.X):
        _settle_decimals(places, rows, w, thresholds, out)
        return
    stored, weights = as_rows(rows.X, 1.0), (w.limbs, w.floats)

    def work(start: int, stop: int) -> None:
        totals = scratch_for(w.limbs)
        exact_signs(stored, rows.signs, weights, thresholds, places[start:stop], totals, out)

    in_blocks(work, places.size, LIMB_WORK * _work(rows, places.size))


def _settle_decimals(
    places: np.ndarray, rows: SignedRows, w: Weights, thresholds: np.ndarray, out: np.ndarray
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
        _settle_in_python(places, rows, w, thresholds, out)
        return
    signs = rows.signs[places]
    added = np.column_stack([np.ones(places.size), right * signs])
    whole, fits = whole_rows(rows.X[places], added)
    if fits.any():
        inside, found = np.flatnonzero(fits), np.full(places.size, UNDECIDED, np.int8)
        longer = Weights([*w.numbers, weight, 0])
        settle_at(inside, SignedRows(whole, signs, 0), longer, ZERO, found)
        out[places[fits]] = found[fits]
    _settle_in_python(places[~fits], rows, w, thresholds, out)


def _settle_in_python(
    places: np.ndarray, rows: SignedRows, w: Weights, thresholds: np.ndarray, out: np.ndarray
) -> None:
    ends = exact_list(thresholds if thresholds.size == 1 else thresholds[places])
    for place, i in enumerate(places.tolist()):
        product = _or_refusal(exact_product, rows, i, w)
        out[i] = _sign(product, ends[min(place, len(ends) - 1)])


def _or_refusal(product: Product[Found], rows: SignedRows, i: int, w: Weights) -> Found:
    """Give a product of row i; refuse the row if it has NaN or infinity, which are no ratios."""
    try:
        return product(rows, i, w)
    except (OverflowError, ValueError):
        refuse_unusable(rows.X, i)
        raise


def _exact_products(rows: SignedRows, w: Weights) -> list[Fraction]:
    return [exact_product(rows, i, w) for i in range(rows.size)]


def exact_product(rows: SignedRows, i: int, w: Weights) -> Fraction:
    """Give z·w for row i."""
    return Fraction(*_whole_product(rows, i, w))


def _whole_product(rows: SignedRows, i: int, w: Weights) -> tuple[int, int]:
    """Give z·w for row i as an integer over a positive one."""
    total, unit = whole_dot([*exact_row(rows.X, i), (rows.X.shape[1], 1)], w.whole)
    return int(rows.signs[i]) * total, unit


def _product_alone(rows: SignedRows, i: int, w: Weights) -> Fraction:
    """Give z·w for row i without turning all weights into integers."""
    entries = [*exact_row(rows.X, i), (rows.X.shape[1], 1)]
    numbers = Rationals.of([w.numbers[column] for column, _ in entries])
    total = exact_dot([(k, value) for k, (_, value) in enumerate(entries)], numbers)
    return int(rows.signs[i]) * total


def _work(rows: SignedRows, count: int) -> int:
    """Give the number of entries in so many rows, about."""
    return count * (rows.entries // max(rows.size, 1) + 1)


def _float_or_nan(value: Number) -> float:
    nearest = float_or_nan(value)
    return nearest if nearest == value else math.nan


def _sign(value: Fraction, threshold: Number) -> int:
    return int(value > threshold) - int(value < threshold)  # NumPy's bools have no minus


# ---- what others ask for


def signs_of_products(rows: SignedRows, w: Sequence[Number]) -> np.ndarray:
    """Give the exact sign of z·w for every row z = s·(x, lift), as int8."""
    return compare(rows, rows.weights(w), ZERO).signs


def rough_products(rows: SignedRows, w: Weights) -> np.ndarray:
    """Give z·w for every row, rounded."""
    if is_exact(rows.X):
        return floats_of(_exact_products(rows, w))
    return products(rows.X, rows.signs, w.floats, 1.0)


def smallest_exactly(rows: SignedRows, w: Sequence[Number]) -> Fraction:
    """Give min z·w where floats are too coarse for it."""
    return min(_exact_products(rows, rows.weights(w)))


def _guess(rows: SignedRows, w: Weights) -> float:
    """Give the smallest product, rounded, and a little more: some product is below it, probably."""
    least = float(rough_products(rows, w).min())
    return least + 1e-12 * abs(least)


def smallest(rows: SignedRows, w: Sequence[Number]) -> tuple[float, int]:
    """Give min z·w, rounded down to a float, and a row where it is attained."""
    weights = rows.weights(w)
    if is_exact(rows.X):
        exact = _exact_products(rows, weights)
        where = min(range(len(exact)), key=exact.__getitem__)
        return rounded_down(exact[where]), where
    guess = _guess(rows, weights)
    out = first_look(rows, weights, np.array([guess])).signs
    found = _least_of(rows, weights, np.flatnonzero(out != 1))
    if found is not None and found[0] <= guess:  # then no other row can be below it
        return rounded_down(found[0]), found[1]
    at_most = first_look(rows, weights, ZERO).at_most
    out = first_look(rows, weights, np.array([at_most])).signs
    places = np.flatnonzero(out != 1)
    while places.size:
        where = int(places[places.size // 2])
        bound = rounded_down(_or_refusal(exact_product, rows, where, weights))
        settle_at(places, rows, weights, np.array([bound]), out)
        places = places[(out[places] < 0) | (out[places] == UNDECIDED)]
        if bound == -math.inf:
            break
    return bound, where


def _least_of(rows: SignedRows, w: Weights, places: np.ndarray) -> tuple[Fraction, int] | None:
    """Give the smallest product of a few rows exactly, and its row; None for none, or for many."""
    if not 0 < places.size <= FEW:
        return None
    listed = places.tolist()
    return min((_or_refusal(_product_alone, rows, i, w), i) for i in listed)
