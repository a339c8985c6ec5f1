"""Where a kernel learner lives: a kernel, the lifting of rows, and how their values are computed.

Dense rows of single precision give values of single precision on request (`single=True` blocks),
with a bound of their error; all other values are float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.kernel.functions import (
    Custom,
    Kernel,
    Lengths,
    Precomputed,
    Rounding,
    check_squares,
    dense_product,
    squared_norms,
)
from rosenblatt.kernel.store import Block, KeptRows, dense_pays
from rosenblatt.kernel.zeros import Signs
from rosenblatt.matrices import Matrix, without_duplicates

SYMMETRIC = 1e-5  # of the largest value: what single precision leaves of symmetry, and more
TRIED = 16  # rows on which a function is tried, or asked for K(x, x)
TILE = 512  # stored rows, or rows, whose values are computed at a time


@dataclass(frozen=True)
class Space:
    """A kernel on lifted rows; `dense` says whether sparse rows are made dense block by block."""

    kernel: Kernel
    lift: float
    dense: bool

    @classmethod
    def around(cls, kernel: Kernel, lift: float, X: Matrix) -> Space:
        """Choose how rows like those of X are kept."""
        if not sparse.issparse(X) or not kernel.by_products:
            return cls(kernel, lift, dense=not sparse.issparse(X))
        return cls(kernel, lift, dense_pays(X.shape[0], X.shape[1], X.nnz))

    @property
    def precomputed(self) -> bool:
        """Whether rows are kernel values already."""
        return isinstance(self.kernel, Precomputed)

    @property
    def shift(self) -> float:
        """What is added to each product of two rows."""
        return self.kernel.shift(self.lift)

    def block(self, X: Matrix, places: Any, numbers: np.ndarray) -> Block:
        """Take rows out of a matrix: a slice of it or an array of places."""
        rows = X[places]
        if sparse.issparse(rows):
            rows = rows.toarray() if self.dense else without_duplicates(rows)
        squares = squared_norms(rows) if self.kernel.by_products else np.zeros(rows.shape[0])
        check_squares(rows, squares, numbers)
        self.kernel.check_lengths(float(squares.max(initial=0.0)))
        return Block(rows, squares, numbers)

    def kept(self, block: Block) -> Block:
        """Give what is stored of rows: of those that hold kernel values, their numbers suffice."""
        return block._replace(rows=block.rows[:, :0]) if self.precomputed else block

    def values(self, block: Block, others: Block) -> np.ndarray:
        """Give the kernel's values; single precision if both blocks are dense and single."""
        if self.precomputed:
            return np.ascontiguousarray(block.rows[:, others.numbers], np.float64)
        if isinstance(self.kernel, Custom):
            return called(self.kernel, block.rows, others.rows)
        left, right = block.rows, others.rows
        if sparse.issparse(left):
            left, right = (rows.astype(np.float64, copy=False) for rows in (left, right))
        return self.from_products(dense_product(left, right), block, others)

    def from_products(self, products: np.ndarray, block: Block, others: Block) -> np.ndarray:
        """Turn the products of rows into the kernel's values, in place."""
        self.kernel.from_products(products, block.squares, others.squares, self.shift)
        return products

    def on_itself(self, block: Block, places: np.ndarray) -> np.ndarray:
        """Give K(x, x) of each row; `places` are its columns where rows are kernel values."""
        if self.precomputed:
            return np.asarray(block.rows[np.arange(places.size), places], np.float64)
        if self.kernel.by_products:
            return self.kernel.on_itself(block.squares, self.shift)
        few = (block.picked(slice(i, i + TRIED)) for i in range(0, block.squares.size, TRIED))
        return np.concatenate([np.diagonal(self.values(rows, rows)) for rows in few])

    def rounding(self, block: Block, store: KeptRows) -> Rounding:
        """Bound the errors of single precision for rows beside those stored and each other."""
        longest = max(store.longest, float(block.squares.max(initial=0.0)))
        signs = Signs.of(block.rows)
        nonnegative = store.nonnegative and not signs.negative.any()
        lengths = Lengths(np.sqrt(block.squares), signs.entries, longest**0.5, nonnegative)
        return self.kernel.rounding(lengths, self.shift)


def called(kernel: Custom, left: Matrix, right: Matrix) -> np.ndarray:
    """Call a function of two blocks of rows, and look at what it gives."""
    shape = (left.shape[0], right.shape[0])
    if not min(shape):  # people's functions need not know what to do
        return np.zeros(shape)
    if sparse.issparse(left) or sparse.issparse(right):  # such as new rows beside those stored
        left, right = sparse.csr_matrix(left), sparse.csr_matrix(right)
    values = _as_values(kernel, _given_by(kernel, left, right))
    if values.shape != shape:
        raise InputError(
            f"the kernel {kernel} gives an array of shape {values.shape} for {shape[0]} and "
            f"{shape[1]} rows; it must give one row for each of the former, one column for each "
            "of the latter"
        )
    if not np.isfinite(values).all():
        raise InputError(
            f"the kernel {kernel} gives NaN or infinity; look at its formula, or scale X"
        )
    return values


def _given_by(kernel: Custom, left: Matrix, right: Matrix) -> Any:
    try:
        return kernel.function(left, right)
    except RosenblattError:  # a kernel of this package inside of it says what is wrong
        raise
    except Exception as error:
        kind, advice = "arrays", "the error that caused this one says where"
        if sparse.issparse(left):
            kind, advice = "CSR matrices", "let it take these, or learn from X.toarray()"
        message = " ".join(str(error).split())
        raise InputError(
            f"the kernel {kernel} failed on two blocks of rows, {kind} of shape {left.shape} and "
            f"{right.shape}, with {type(error).__name__}: {message}; {advice}"
        ) from error


def _as_values(kernel: Custom, given: Any) -> np.ndarray:
    """Give a copy, since values are worked on in place."""
    try:
        array = np.asarray(given.toarray() if sparse.issparse(given) else given)
        values = array.real.astype(np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(
            f"the kernel {kernel} gives something that is not a matrix of numbers"
        ) from None
    if np.iscomplexobj(array):
        raise InputError(f"the kernel {kernel} gives complex numbers; its values must be real")
    return values


def check_function(kernel: Custom, X: Matrix) -> None:
    """Try a function on a few rows: it must give a symmetric matrix of finite numbers."""
    some = X[:TRIED]
    called(kernel, some, some[:1])
    check_symmetry(kernel, some, some)


def check_symmetry(kernel: Custom, some: Matrix, others: Matrix) -> None:
    """Refuse a function whose values change when rows change places."""
    values, turned = called(kernel, some, others), called(kernel, others, some)
    if not _nearly_equal(values, turned.T, float(np.abs(values).max())):
        raise InputError(
            f"the kernel {kernel} is not symmetric: K(x, z) must be K(z, x) for all rows"
        )


def check_gram(K: Matrix) -> None:
    """Refuse what cannot be the Gram matrix of a training set."""
    if K.shape[0] != K.shape[1]:
        raise InputError(
            f"a precomputed kernel needs a square matrix to fit on, one row and one column for "
            f"each example; got {K.shape[0]} × {K.shape[1]}"
        )
    largest = max(float(np.abs(K[start : start + TILE]).max()) for start in _tiles(K))
    for start in _tiles(K):
        inside = slice(start, start + TILE)
        if not _nearly_equal(K[inside, start:], K[start:, inside].T, largest):
            raise InputError("the precomputed kernel is not symmetric: K[i, j] must be K[j, i]")


def _tiles(K: Matrix) -> range:
    return range(0, K.shape[0], TILE)


def _nearly_equal(A: np.ndarray, B: np.ndarray, largest: float) -> bool:
    return bool(np.abs(A - B).max() <= SYMMETRIC * largest)
