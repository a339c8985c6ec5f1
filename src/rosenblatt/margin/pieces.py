"""What Newton steps are made of: products with rows and sums over them, in threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy  # which loads its linalg when that is used
from scipy import sparse

from rosenblatt.blocks import in_blocks
from rosenblatt.loops import loop
from rosenblatt.margin.sums import parts
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.rows import Rows, combine, scores, span

FILLED = 0.25  # share of entries above which few rows are copied as dense ones
PIECE = 2**14  # entries of rows in float64, which each thread has some of
SPARSE_PIECE = 2**17  # with 2^14, all of a9a takes a twentieth longer
PASS = 64  # a thread pays for a product with a vector at so many times more entries than else


def products(rows: Rows, w: np.ndarray, out: np.ndarray) -> None:
    """Write x·w of all rows."""

    def work(start: int, stop: int) -> None:
        scores(span(rows, start, stop), w, out[start:stop])

    in_blocks(work, out.size, rows.values.size // PASS)


def total(rows: Rows, count: int, factors: Callable[[slice], np.ndarray], width: int) -> np.ndarray:
    """Give Σ factor·x; the factors of a block of rows are made when it is their turn."""

    def work(start: int, stop: int) -> np.ndarray:
        out = np.zeros(width)
        for part in parts(start, stop):
            combine(span(rows, part.start, part.stop), factors(part), out)
        return out

    return added(in_blocks(work, count, rows.values.size // PASS))


def added(parts: list[np.ndarray]) -> np.ndarray:
    """Add up arrays in the first of them."""
    first, *others = parts
    for part in others:
        first += part
    return first


def float_rows(X: Matrix, chosen: np.ndarray | slice) -> Matrix:
    """Give some rows in float64; dense ones, unless most of their entries are zeros."""
    if isinstance(X, np.ndarray) and isinstance(chosen, np.ndarray):
        made, height = np.empty((chosen.size, X.shape[1])), max(1, PIECE // X.shape[1])
        for first in range(0, chosen.size, height):
            made[first : first + height] = X[chosen[first : first + height]]
        return made
    if isinstance(chosen, np.ndarray) and stored_in(X, chosen) >= FILLED * chosen.size * X.shape[1]:
        made = np.empty((chosen.size, X.shape[1]))
        fill_rows(as_rows(X, 0.0), chosen, np.zeros(X.shape[1]), made)
        return made
    X = X[chosen].astype(np.float64, copy=False)
    few = not sparse.issparse(X) or X.nnz < FILLED * X.shape[0] * X.shape[1]
    return X if few else X.toarray()


def stored_in(X: sparse.csr_matrix, chosen: np.ndarray) -> int:
    """Give the number of entries that some rows have."""
    return int((X.indptr[chosen + 1] - X.indptr[chosen]).sum())


@loop
def fill_rows(rows: Any, chosen: np.ndarray, begin: np.ndarray, out: np.ndarray) -> None:
    """Write begin + x for some sparse rows, whose columns are known to lie inside."""
    for r in range(chosen.size):
        for j in range(begin.size):
            out[r, j] = begin[j]
        i = np.uint64(chosen[r])
        for k in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + np.uint64(1)])):
            out[r, rows.columns[k]] += rows.values[k]


def squares(X: Matrix, chosen: np.ndarray, shift: np.ndarray, lift: float) -> np.ndarray:
    """Give Σ zzᵀ over some rows z = (x - shift, lift), of which the upper half is filled."""

    def work(start: int, stop: int) -> np.ndarray:
        return squares_of(X, chosen[start:stop], shift, lift)

    entries = chosen.size * (X.shape[1] + 1)
    return added(in_blocks(work, chosen.size, entries, each=1))


def squares_of(X: Matrix, chosen: np.ndarray, shift: np.ndarray, lift: float) -> np.ndarray:
    """Give Σ zzᵀ, added up in the order of the rows."""
    width = X.shape[1] + 1
    height = max(width, (SPARSE_PIECE if sparse.issparse(X) else PIECE) // width)
    sums = np.zeros((width, width), order="F")
    whole = np.full((min(height, chosen.size), width), lift)
    for first in range(0, chosen.size, height):
        some = chosen[first : first + height]
        block = whole[: some.size]
        if sparse.issparse(X):
            fill_rows(as_rows(X, lift), some, np.append(-shift, lift), block)
        else:
            np.subtract(X[some], shift, out=block[:, :-1])
        sums = scipy.linalg.blas.dsyrk(1.0, block.T, 1.0, sums, overwrite_c=True)
    return sums


def solution(H: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Solve H x = r; H itself is scaled to a unit diagonal, since columns differ in scale."""
    diagonal = np.diag(H)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled, goal, at = H, scale * r, np.diag_indices(scale.size)
    scaled *= scale
    scaled *= scale[:, None]
    diagonal, ridge = scaled[at], 1e-15
    while ridge < 1.0:
        scaled[at] = diagonal + ridge
        _, x, failed = scipy.linalg.lapack.dposv(scaled, goal)
        if not failed:
            return np.asarray(scale * x)
        ridge *= 10
    return np.full(r.size, np.nan)
