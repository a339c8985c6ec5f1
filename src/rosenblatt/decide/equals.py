"""Equal rows, and equal rows of different classes, in one pass over the data."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rosenblatt.exact.numbers import rows_of
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.rows import scores


def without_zeros(X: Matrix) -> Matrix:
    """Give X without the zeros that a sparse matrix may store: they make equal rows look unlike."""
    if not sparse.issparse(X) or X.data.all():
        return X
    X = X.copy()
    X.eliminate_zeros()
    return X


def first_of_equals(X: Matrix) -> np.ndarray:
    """Give, for each row, the number of the first row that is equal to it.

    Rows with equal checksums are compared entry by entry, so that nothing is claimed by chance.
    """
    if X.dtype == object:
        places: dict[tuple[object, ...], int] = {}
        return np.array([places.setdefault(tuple(row), i) for i, row in enumerate(rows_of(X))])
    _, starts, group = np.unique(checksums(X), return_index=True, return_inverse=True)
    first: np.ndarray = starts[group]
    later = np.flatnonzero(first != np.arange(X.shape[0]))
    block = max(1, 2**22 // X.shape[1])
    for begin in range(0, later.size, block):
        rows = later[begin : begin + block]
        different = ~equal_rows(X[rows], X[first[rows]])
        first[rows[different]] = rows[different]
    return first


def checksums(X: Matrix) -> np.ndarray:
    """Give a number for each row, the same for rows that have the same entries."""
    random, sums = np.random.default_rng(0), np.empty(X.shape[0])
    scores(as_rows(X, 0.0), np.append(random.standard_normal(X.shape[1]), 0.0), sums)
    return sums


def equal_rows(A: Matrix, B: Matrix) -> np.ndarray:
    """Tell which rows of two matrices are equal."""
    if sparse.issparse(A):
        return np.asarray(np.asarray((A != B).sum(axis=1)).ravel() == 0)
    return np.asarray((A == B).all(axis=1))


def contradictions(labels: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Give the rows whose label differs from that of the first row equal to them."""
    clashes: np.ndarray = np.flatnonzero(np.asarray(labels != labels[first], bool))
    return clashes
