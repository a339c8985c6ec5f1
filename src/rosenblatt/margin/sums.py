"""Sums of rows that nearly cancel.

Problem     Σ factor·x, which may be tiny beside its terms
Method      a product is a float and an error, which is a float too (Dekker's splitting); Python's
            `fsum` adds up any number of floats with one rounding
Cost        a hundred times that of the plain sum, so only for those who need it
Sources     Dekker 1971; Shewchuk 1997
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from rosenblatt.matrices import Matrix

SPLITTER = 2.0**27 + 1
BLOCK = 2**14  # rows of which something is computed at a time, so that it stays in the cache


def parts(start: int, stop: int) -> Iterator[slice]:
    """Give the rows from one to another in blocks, of which vectors take next to no memory."""
    for first in range(start, stop, BLOCK):
        yield slice(first, min(first + BLOCK, stop))


def rounding_of(gathered: float, n: int) -> float:
    """Bound the rounding error of Σ dual·x over n rows, added up one after the other.

    Each of the sums rounds by 2^-53 of what it has gathered: Σ dual·‖x‖ in the end.
    """
    return (n + 4) * 2.0**-53 * gathered


def accurate_combination(X: Matrix, factors: np.ndarray, lift: float) -> np.ndarray:
    """Give Σ factor·(x, lift), each coordinate with a few roundings only.

    Examples
    --------
    >>> accurate_combination(np.array([[1e16], [1.0], [-1e16]]), np.ones(3), 0.0)
    array([1., 0.])
    """
    total = np.zeros(X.shape[1] + 1)
    used = np.flatnonzero(factors)
    chosen = factors[used]
    by_column = X[used].tocsc() if sparse.issparse(X) else None
    for j in range(X.shape[1]):
        if by_column is None:
            total[j] = _accurate_dot(X[used, j], chosen)
        else:
            inside = slice(by_column.indptr[j], by_column.indptr[j + 1])
            total[j] = _accurate_dot(by_column.data[inside], chosen[by_column.indices[inside]])
    total[-1] = lift * math.fsum(chosen)
    return total


def _accurate_dot(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(np.float64), b.astype(np.float64)
    products = a * b
    with np.errstate(all="ignore"):
        high_a, high_b = _high_half(a), _high_half(b)
        low_a, low_b = a - high_a, b - high_b
        errors = (high_a * high_b - products) + high_a * low_b + low_a * high_b + low_a * low_b
    errors[~np.isfinite(errors)] = 0.0  # of numbers too large to be split
    return math.fsum([*products.tolist(), *errors.tolist()])


def _high_half(a: np.ndarray) -> np.ndarray:
    scaled = SPLITTER * a
    high: np.ndarray = scaled - (scaled - a)
    return high
