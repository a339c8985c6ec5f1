"""Products of rows and weights in float64, with bounds on their errors, in one pass over all rows.

Bound       m terms summed in any order err by at most m·u / (1 - m·u) of the sum of their sizes,
            u = 2^-53, and by 2^-1075 for each product that underflows; weights that are rounded
            add u for each term, and so do decimals. (m + 4)·2u of the computed sum of sizes is
            more than all of it, with the rounding of the bound itself. A float is above another
            one only if it is above the decimals that round to it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.exact.digest import distance, folded, placed, row_hash
from rosenblatt.loops import loop, part
from rosenblatt.matrices import Matrix
from rosenblatt.rows import Rows, by_kind, prefetch, primitive, size

TINY = 2.0**-1000  # far more than an underflow: numbers of that size take as long as a whole row
UNDECIDED = np.int8(2)

# Rows and entries that NumPy looks at: to compile the loops for them takes far longer. The bounds
# on errors hold for sums in any order.
FEW = 1 << 14


@primitive
def dot_and_sizes(rows: Rows, i: Any, w: np.ndarray) -> Any:
    """Give x·w and Σ |x||w| for the lifted row i, in one go."""

    def dense(rows, i, w):  # type: ignore[no-untyped-def]
        values = rows.values[i]
        total, sizes = 0.0, 0.0
        for j in range(values.size):
            product = values[j] * w[j]
            total += product
            sizes += abs(product)
        product = rows.lift * w[w.size - 1]
        return total + product, sizes + abs(product)

    def sparse(rows, i, w):  # type: ignore[no-untyped-def]
        total, sizes = 0.0, 0.0
        for k in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + 1])):
            product = rows.values[k] * w[rows.columns[k]]
            total += product
            sizes += abs(product)
        product = rows.lift * w[w.size - 1]
        return total + product, sizes + abs(product)

    return by_kind(rows, dense, sparse)


@primitive
def dot_sizes_and_hash(rows: Rows, i: Any, w: np.ndarray, factors: np.ndarray) -> Any:
    """Give what `dot_and_sizes` and `row_hash` give, reading the row once."""

    def dense(rows, i, w, factors):  # type: ignore[no-untyped-def]
        values = rows.values[i]
        total, sizes, hashed = 0.0, 0.0, np.uint64(0)
        for j in range(values.size):
            product = values[j] * w[j]
            total += product
            sizes += abs(product)
            hashed += folded(values[j]) * factors[j]
        product = rows.lift * w[w.size - 1]
        return total + product, sizes + abs(product), hashed

    def sparse(rows, i, w, factors):  # type: ignore[no-untyped-def]
        total, sizes = dot_and_sizes(rows, i, w)
        return total, sizes, row_hash(rows, i, factors)

    return by_kind(rows, dense, sparse)


@part
def enclosed(rows: Rows, i: Any, sign: Any, w: np.ndarray) -> tuple[float, float]:
    """Give a lower and an upper bound of sign·((x, lift)·w)."""
    total, sizes = dot_and_sizes(rows, i, w)
    return bounds(sign * total, sizes, size(rows, i))


@part
def bounds(score: Any, sizes: Any, terms: Any) -> tuple[float, float]:
    """Give a lower and an upper bound of a sum of so many products of these sizes."""
    error = (terms + 4.0) * 2.0**-52 * sizes + (terms + 4.0) * TINY
    if not (math.isfinite(score) and math.isfinite(error)):
        return -np.inf, np.inf
    return score - error, score + error


@loop
def look(
    rows: Rows,
    signs: np.ndarray,
    w: np.ndarray,
    thresholds: np.ndarray,
    hashing: tuple[np.ndarray, np.ndarray],
    span: tuple[int, int],
    out: np.ndarray,
) -> tuple[Any, float]:
    """Write what is certain about the rows of a block, and hash them if they have tags.

    Give the hash, and an upper bound of the smallest s·((x, lift)·w).
    """
    tags, factors = hashing
    total, at_most = np.uint64(0), np.inf
    ahead = distance(rows)
    for i in range(span[0], span[1]):
        if ahead and i + ahead < span[1]:
            prefetch(rows, i + ahead)
        if tags.size:
            score, sizes, hashed = dot_sizes_and_hash(rows, i, w, factors)
            total += placed(tags[i] + hashed, i)
        else:
            score, sizes = dot_and_sizes(rows, i, w)
        low, high = bounds(signs[i] * score, sizes, size(rows, i))
        threshold = thresholds[min(i, thresholds.size - 1)]
        out[i] = 1 if low > threshold else (-1 if high < threshold else UNDECIDED)
        at_most = min(at_most, high)
    return total, at_most


@loop
def hinge_losses(
    rows: Rows, signs: np.ndarray, weights: np.ndarray, w: np.ndarray, start: int, stop: int
) -> tuple[float, float]:
    """Bound Σ max(0, 1 - c·s·((x, lift)·w)) over a block, but for the rounding of the sum itself.

    No weights c are 1 each.
    """
    least, most = 0.0, 0.0
    for i in range(start, stop):
        low, high = enclosed(rows, i, signs[i], w)
        if weights.size:
            low, high = weights[i] * low, weights[i] * high
            low, high = low - abs(low) * 2.0**-52 - TINY, high + abs(high) * 2.0**-52 + TINY
        least += max(0.0, 1.0 - high)
        most += max(0.0, 1.0 - low)
    return least, most


def enclosed_few(
    X: Matrix, signs: np.ndarray, w: np.ndarray, lift: float
) -> tuple[np.ndarray, np.ndarray]:
    """Give what `enclosed` gives, for all rows."""
    terms, columns, added = sizes_of_rows(X, lift) + 4.0, w[: X.shape[1]], lift * w[-1]
    with np.errstate(all="ignore"):
        scores = signs * (flat(X @ columns) + added)
        sizes = flat(abs(X) @ abs(columns)) + abs(added)
        errors = terms * 2.0**-52 * sizes + terms * TINY
        certain = np.isfinite(scores) & np.isfinite(errors)
        low, high = scores - errors, scores + errors
    if certain.all():
        return low, high
    return np.where(certain, low, -np.inf), np.where(certain, high, np.inf)


def sizes_of_rows(X: Matrix, lift: float) -> np.ndarray:
    """Give the number of stored entries of each row, the lifted one included."""
    held = np.diff(X.indptr) if sparse.issparse(X) else np.full(X.shape[0], X.shape[1])
    return np.asarray(held + (lift != 0.0), np.float64)


def flat(values: Any) -> np.ndarray:
    """Give numbers as a vector of float64."""
    return np.asarray(values, np.float64).ravel()
