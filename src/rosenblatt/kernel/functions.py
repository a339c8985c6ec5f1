"""Kernels: K(x, z) = ⟨φ(x), φ(z)⟩ without ever forming φ (theory D15, D16).

Linear       x·z
Polynomial   (c + x·z)^p; homogeneous for c = 0
Gaussian     exp(-γ‖x - z‖²)
Custom       any symmetric function of two blocks of rows, which gives a matrix
Precomputed  the rows given *are* the values: a Gram matrix

Rows lifted to (x, lift) add lift² to x·z. The Gaussian kernel looks at differences only, so there
the lift cancels; functions and Gram matrices of yours are taken as they are.

Rounding     For d products in single precision, u = 2^-24, |fl(x·z) - x·z| <= ε·Σ|x||z| with
             ε = d·u/(1 - d·u), in whatever order they are added, and Σ|x||z| <= ‖x‖‖z‖, or = x·z
             where no entry is negative. Products with 0 do not count: they are 0, and to add 0
             takes no rounding; so d is the number of entries of x that are not 0. Each kernel
             turns that into a bound of its own error, |K̃ - K| <= relative·|K̃| + absolute, for
             all z no longer than a given length.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.kernel.pointwise import distances, multiply_in_double, raise_to
from rosenblatt.matrices import Matrix, as_matrix, check_finite, writable_alias
from rosenblatt.rows import Dense, fill_squares

SINGLE = 2.0**-24  # unit round-off of float32
LOST = 1e-4  # error of the exponent from which on a Gaussian kernel is refused
CUSHION = 1.25  # for terms of second order, as long as those of first order are below MOST
MOST = 0.1
FEW = 8  # rows
TINIEST = 2.0**-120  # more than single precision loses by underflow


class Lengths(NamedTuple):
    """What bounds rest on: some rows x, and the longest row z beside which they may be."""

    rows: np.ndarray  # ‖x‖
    entries: np.ndarray  # of x that are not 0
    longest: float  # ‖z‖
    nonnegative: bool  # whether no entry of any of them is negative


class Rounding(NamedTuple):
    """Bounds of |K̃ - K| in single precision, for each row: relative·|K̃| + absolute."""

    relative: np.ndarray
    absolute: np.ndarray


class Kernel:
    """A symmetric function of two rows; called on two blocks of rows, it gives a matrix."""

    by_products = True  # whether values come from products x·z and squared norms

    def shift(self, lift: float) -> float:
        """Give what is added to x·z."""
        return 0.0

    def from_products(
        self, products: np.ndarray, left: np.ndarray, right: np.ndarray, shift: float
    ) -> None:
        """Turn products x·z into values, in place; left and right hold the squared norms."""
        raise NotImplementedError

    def on_itself(self, squares: np.ndarray, shift: float) -> np.ndarray:
        """Give K(x, x) from ‖x‖²."""
        raise NotImplementedError

    def check_lengths(self, largest: float) -> None:
        """Refuse rows that are too long for the formula, given the largest ‖x‖²."""

    def rounding(self, lengths: Lengths, shift: float) -> Rounding:
        """Bound the error of values computed in single precision."""
        raise NotImplementedError

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Give the matrix of K(x, z) for the rows x of A and z of B, in float64."""
        left, right = (as_matrix(X).astype(np.float64) for X in (A, B))
        if left.shape[1] != right.shape[1]:
            raise InputError(
                f"the rows have {left.shape[1]} and {right.shape[1]} columns; a kernel compares "
                "rows of the same columns"
            )
        for X in (left, right):
            check_finite(X)
        squares = squared_norms(left), squared_norms(right)
        for X, found in zip((left, right), squares, strict=True):
            check_squares(X, found)
        self.check_lengths(float(max(each.max(initial=0.0) for each in squares)))
        products = dense_product(left, right)
        self.from_products(products, *squares, self.shift(0.0))
        return products


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel (c + x·z)^p: all products of p entries, or of up to p if c > 0.

    Parameters
    ----------
    degree : int
        p, from 1 to 64.
    c : float, default=0.0
        At least 0; 0 makes the kernel homogeneous.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> rb.Polynomial(2, c=1)([[1.0, 2.0]], [[3.0, 0.0], [0.0, 1.0]])
    array([[16.,  9.]])
    """

    degree: int
    c: float = 0.0

    def __post_init__(self) -> None:
        whole = isinstance(self.degree, Integral) and not isinstance(self.degree, bool)
        if not (whole and 1 <= int(self.degree) <= 64):
            raise InputError(
                f"the degree of a polynomial kernel is a whole number from 1 to 64, "
                f"got {self.degree!r}"
            )
        if not (_is_number(self.c) and 0 <= float(self.c) < math.inf):
            raise InputError(
                f"c of a polynomial kernel is a finite number from 0 on, got {self.c!r}"
            )

    def shift(self, lift: float) -> float:
        """Give c + lift²."""
        return float(self.c) + lift * lift

    def from_products(
        self, products: np.ndarray, left: np.ndarray, right: np.ndarray, shift: float
    ) -> None:
        """Raise the products to the power."""
        spare = np.empty(products.shape[1], products.dtype)
        raise_to(products, products.dtype.type(shift), int(self.degree), spare)

    def on_itself(self, squares: np.ndarray, shift: float) -> np.ndarray:
        """Give (‖x‖² + shift)^p."""
        return np.asarray((squares + shift) ** int(self.degree))

    def rounding(self, lengths: Lengths, shift: float) -> Rounding:
        """Bound the error: relative where no entry is negative, else by the largest |x·z|."""
        size = self.degree * (_product_error(lengths.entries) + 4 * SINGLE)
        reach = (lengths.rows * lengths.longest + shift) ** int(self.degree)
        tiny = self.degree * TINIEST * np.maximum(1.0, reach)
        known = size < MOST
        size = np.where(known, CUSHION * size, 0.0)
        if lengths.nonnegative:
            return Rounding(np.where(known, size, np.inf), tiny)
        return Rounding(np.where(known, 0.0, np.inf), size * reach + tiny)


@dataclass(frozen=True)
class Linear(Polynomial):
    """The linear kernel x·z: the dual form of the plain perceptron (theory D14).

    Examples
    --------
    >>> import rosenblatt as rb
    >>> rb.Linear()([[1.0, 2.0]], [[3.0, 1.0]])
    array([[5.]])
    """

    def __init__(self) -> None:
        super().__init__(1, 0.0)

    def __repr__(self) -> str:
        return "Linear()"


@dataclass(frozen=True)
class Gaussian(Kernel):
    """The Gaussian kernel exp(-γ‖x - z‖²), a function of the difference x - z.

    Parameters
    ----------
    gamma : float
        γ > 0, the inverse of a squared distance.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> rb.Gaussian(0.5)([[1.0, 2.0]], [[1.0, 2.0], [1.0, 4.0]]).round(4)
    array([[1.    , 0.1353]])
    """

    gamma: float

    def __post_init__(self) -> None:
        if not (_is_number(self.gamma) and 0 < float(self.gamma) < math.inf):
            raise InputError(
                f"gamma of a Gaussian kernel is a positive finite number, got {self.gamma!r}"
            )

    def from_products(
        self, products: np.ndarray, left: np.ndarray, right: np.ndarray, shift: float
    ) -> None:
        """Take exp of the distances; NumPy's is vectorised."""
        distances(products, left, right, float(self.gamma))
        np.exp(products, out=products)

    def check_lengths(self, largest: float) -> None:
        """Refuse rows so far from the origin that rounding would hide how far apart they are."""
        # What is not finite is refused elsewhere, by row and column.
        if LOST < float(self.gamma) * largest * 2.0**-50 < math.inf:
            raise InputError(
                f"the rows are too far from the origin for gamma={self.gamma:g} of a Gaussian "
                "kernel: rounding would hide how far they are from each other; subtract the means "
                "of the columns, or scale them"
            )

    def on_itself(self, squares: np.ndarray, shift: float) -> np.ndarray:
        """Give 1."""
        return np.ones(squares.size)

    def rounding(self, lengths: Lengths, shift: float) -> Rounding:
        """Bound the error: an error δ of the exponent is a factor e^δ of the value."""
        reach = lengths.rows * lengths.longest
        apart = (lengths.rows + lengths.longest) ** 2
        exponent = 2 * _product_error(lengths.entries) * reach + 2 * SINGLE * apart
        size = float(self.gamma) * exponent + 8 * SINGLE
        relative = np.where(size < MOST, CUSHION * size, np.inf)
        return Rounding(relative, np.full(reach.size, TINIEST))


@dataclass(frozen=True)
class Custom(Kernel):
    """A kernel of the user's own: any symmetric function of two blocks of rows."""

    function: Callable[[Any, Any], Any]
    by_products = False

    def __repr__(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Rows that are kernel values already."""

    by_products = False

    def __repr__(self) -> str:
        return "precomputed"


def as_kernel(kernel: Any) -> Kernel:
    """Give the kernel that a value stands for: a kernel, a function, or a name with numbers."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        return _named(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel)
    raise InputError(f"kernel must be a kernel, a function of two blocks of rows, or {NAMES}")


NAMES = "one of 'linear', 'polynomial:DEGREE:C', 'gaussian:GAMMA' and 'precomputed'"


def _named(text: str) -> Kernel:
    name, *numbers = text.split(":")
    try:
        if name == "polynomial" and 1 <= len(numbers) <= 2:
            return Polynomial(_degree(numbers[0]), *map(float, numbers[1:]))
        if name == "gaussian" and len(numbers) == 1:
            return Gaussian(float(numbers[0]))
    except InputError:
        raise
    except ValueError:
        pass
    if not numbers and name in ("linear", "precomputed"):
        return Linear() if name == "linear" else Precomputed()
    raise InputError(f"kernel must be {NAMES}, with numbers such as polynomial:4:1; got {text!r}")


def _degree(text: str) -> Any:
    """Read a degree; one that is no whole number is left to the kernel to refuse."""
    number = float(text)
    return int(number) if number.is_integer() else number


def squared_norms(X: Matrix) -> np.ndarray:
    """Give ‖x‖² of each row, in float64."""
    if sparse.issparse(X):
        return np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    squares = np.empty(X.shape[0])
    fill_squares(Dense(writable_alias(np.ascontiguousarray(X)), 0.0), squares)
    return squares


def check_squares(X: Matrix, squares: np.ndarray, numbers: np.ndarray | None = None) -> None:
    """Refuse finite rows whose ‖x‖² is not; rows that are not finite are refused elsewhere."""
    bad = np.flatnonzero(~np.isfinite(squares))
    for i in bad[:1]:
        row = X[i].data if sparse.issparse(X) else X[i]
        if np.isfinite(row).all():
            raise InputError(
                f"row {i if numbers is None else numbers[i]} is so long that the square of its "
                "length is too large for float64; divide X by a constant"
            )


def dense_product(A: Matrix, B: Matrix) -> np.ndarray:
    """Give the products of the rows of A and B as a C-order array."""
    if not sparse.issparse(A) and not sparse.issparse(B):
        return _product(A, B)
    found = A @ B.T if sparse.issparse(A) else (B @ A.T).T
    dense = found.toarray() if sparse.issparse(found) else found
    return np.ascontiguousarray(dense)


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Multiply dense rows; a few of them beside many of single precision without a copy of those.

    Measured with 784 columns: copying 3,000 rows takes as long as 10 products with each of them.
    """
    if A.dtype == B.dtype:
        return np.asarray(np.matmul(A, B.T))
    if B.dtype == np.float32 and A.shape[0] <= FEW and B.flags.c_contiguous:
        products = np.empty((A.shape[0], B.shape[0]))
        multiply_in_double(np.ascontiguousarray(A), writable_alias(B), products)
        return products
    return np.asarray(np.matmul(A.astype(np.float64), B.astype(np.float64).T))


def _product_error(entries: np.ndarray) -> np.ndarray:
    """Give ε, infinity if there are too many entries for single precision."""
    size = (entries + 1) * SINGLE
    return np.where(size < MOST, size / (1 - np.minimum(size, MOST)), np.inf)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
