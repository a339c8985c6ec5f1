"""`PolynomialFeatures`: polynomials of the columns as columns of their own (theory D16, F12).

Problem     a map φ with φ(x)·φ(z) = (c + x·z)^q for all rows x and z
Map         one feature for each product of columns that differs from the others (a monomial):
            of j factors, with exponents m_1, m_2, …, it is
                √( q!/(m_1! m_2! … (q - j)!) · c^(q - j) ) · x_1^m_1 · x_2^m_2 · …
            for all j from 0 to q, and for j = q only if c = 0
Size        C(d + q, q) features of d columns; C(d + q - 1, q) if c = 0. All d^q products with their
            factors in order would give the same inner products: equal ones are collected here, so
            many of them being worth one times the root of their number
Proof       the multinomial theorem for (c + x_1 z_1 + x_2 z_2 + …)^q

Loops of our own multiply: scikit-learn's `PolynomialFeatures`, times the coefficients by its
`powers_`, gives the same columns, but needs 2 to 17 times as long on dense rows of 12 to 60 columns
and on sparse ones (a9a, rcv1), forms all columns of sparse rows beyond degree 3, and its `powers_`
take a byte or more for each pair of features before and after.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations_with_replacement, groupby
from typing import Any, NamedTuple, cast

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from rosenblatt.blocks import cores, in_blocks
from rosenblatt.data.polynomial_loops import (
    FeatureRows,
    Monomials,
    expand_dense,
    expand_sparse,
    multinomials,
)
from rosenblatt.data.reading import checked_whole
from rosenblatt.data.transformer import Transformer
from rosenblatt.decide.equals import without_zeros
from rosenblatt.errors import InputError
from rosenblatt.matrices import (
    Matrix,
    as_matrix,
    as_rows,
    check_finite,
    without_duplicates,
    writable_alias,
)
from rosenblatt.memory import memory
from rosenblatt.options import from_zero
from rosenblatt.rows import Sparse, span

MOST_COLUMNS = 2**31 - 1
HIGHEST_DEGREE = 1000  # the coefficients of higher ones leave the range of floats
NAME_BYTES = 100  # of memory, about
UNFITTED = "the columns are not known yet; call fit first"
MOST_WRITTEN_OUT = 10**9  # under a root in a name; longer numbers are rounded


class Polynomials(NamedTuple):
    """All polynomials of a degree in some columns: the options, checked."""

    degree: int
    c: float
    columns: int

    def size(self, columns: int) -> int:
        """Count the features of a row with so many entries."""
        return math.comb(columns + self.degree - (self.c == 0), self.degree)

    def smaller(self, columns: int) -> int:
        """Count the monomials of all lower degrees."""
        return math.comb(columns + self.degree - 1, self.degree - 1)


class PolynomialFeatures(Transformer):
    """Products of features as new features, so that a linear classifier learns a polynomial.

    The inner product of two transformed samples is (c + x·z)^degree: a `Perceptron` on them makes
    the mistakes of the kernel perceptron with that kernel (theory F12), and has a weight for each
    monomial that you can inspect. A kernel needs no memory for them.

    Parameters
    ----------
    degree : int, default=2
        The degree of the polynomials, from 1 to 1000.
    c : float, default=0.0
        0 for the monomials of exactly that degree; a positive number for those of all degrees up
        to it: the larger c, the larger the weight of the lower ones.

    Attributes
    ----------
    n_features_in_ : int
        Features of the input.
    n_output_features_ : int
        Features of the output.
    feature_names_in_ : ndarray of str
        Names of the input's features, if they have any.

    See Also
    --------
    KernelPerceptron : The same mistakes without computing the features.

    Notes
    -----
    *Order of the features.* By degree, and within a degree as in a dictionary:
    1, x0, x1, x0^2, x0 x1, x1^2, x0^3, and so on, for dense and for sparse rows.
    `get_feature_names_out` names them, each with its coefficient.

    Sparse rows give sparse rows, in time proportional to the entries of the result; single
    precision stays single. A result of more than half of the available memory is refused.

    Examples
    --------
    >>> import numpy as np, rosenblatt as rb
    >>> exclusive_or = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
    >>> features = rb.PolynomialFeatures(degree=2, c=1.0)
    >>> Z = features.fit_transform(exclusive_or)
    >>> features.get_feature_names_out().tolist()
    ['1', '√2 x0', '√2 x1', 'x0^2', '√2 x0 x1', 'x1^2']
    >>> np.allclose(Z @ Z.T, (1 + exclusive_or @ exclusive_or.T) ** 2)
    True
    >>> rb.Perceptron(fit_intercept=False).fit(Z, [0, 1, 1, 0]).score(Z, [0, 1, 1, 0])
    1.0
    """

    def __init__(self, degree: int = 2, c: float = 0.0) -> None:
        self.degree = degree
        self.c = c

    def fit(self, X: Any, y: Any = None) -> PolynomialFeatures:
        """Remember the number of features and their names.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : ignored, default=None
            Present for scikit-learn's API.

        Returns
        -------
        PolynomialFeatures
            The transformer itself.
        """
        matrix = as_matrix(X)
        polynomials = self._polynomials(matrix.shape[1])
        check_finite(matrix)
        check_columns(polynomials, matrix)
        validate_data(self, X, reset=True, skip_check_array=True)
        self.n_output_features_: int = polynomials.size(matrix.shape[1])
        return self

    def transform(self, X: Any) -> Matrix:
        """Compute the products of features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray or csr_matrix of shape (n_samples, n_products)
            Dense for dense samples, sparse for sparse ones.
        """
        check_is_fitted(self, msg=UNFITTED)
        matrix = as_matrix(X)
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            raise InputError(str(error)) from error
        check_finite(matrix)
        polynomials = self._polynomials(self.n_features_in_)
        if sparse.issparse(matrix):
            return of_sparse(polynomials, without_zeros(without_duplicates(matrix)))
        return of_dense(polynomials, matrix)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the output features, such as ``"√3 x0^2 x3"``.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the input features; None for those seen in `fit`, or x0, x1, ….

        Returns
        -------
        ndarray of str
            A name for each output feature.
        """
        check_is_fitted(self, msg=UNFITTED)
        columns = _check_feature_names_in(self, input_features)
        polynomials = self._polynomials(self.n_features_in_)
        size = polynomials.size(polynomials.columns)
        if size * NAME_BYTES > memory() // 2:
            raise InputError(
                f"the names of {size:,} features need about {size * NAME_BYTES / 2**30:,.0f} GiB, "
                "more than this machine can spare; name those that matter by their order"
            )
        degrees = range(polynomials.degree if polynomials.c == 0 else 0, polynomials.degree + 1)
        factors = (combinations_with_replacement(columns, degree) for degree in degrees)
        names = (feature_name(some, polynomials) for some in chain.from_iterable(factors))
        return np.fromiter(names, object, size)

    def _polynomials(self, columns: int) -> Polynomials:
        degree = checked_whole("degree", self.degree, 1, HIGHEST_DEGREE)
        return Polynomials(degree, from_zero("c", self.c), columns)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_output_features_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def feature_name(factors: tuple[str, ...], polynomials: Polynomials) -> str:
    """Name a feature: its coefficient unless that is 1, then its columns, equal ones as a power."""
    powers = [(name, len(list(same))) for name, same in groupby(factors)]
    columns = [name if power == 1 else f"{name}^{power}" for name, power in powers]
    number = coefficient(tuple(sorted(power for _, power in powers)), polynomials)
    return " ".join([number, *columns] if number != "1" else columns) or number


@lru_cache(1000)
def coefficient(powers: tuple[int, ...], polynomials: Polynomials) -> str:
    """Write the root of q!/(m_1! m_2! … (q - j)!) · c^(q - j), exactly if that is whole.

    Examples
    --------
    >>> [coefficient(powers, Polynomials(2, 3.0, 2)) for powers in [(), (1,), (2,), (1, 1)]]
    ['3', '√6', '1', '√2']
    """
    rest = polynomials.degree - sum(powers)
    ways = math.factorial(polynomials.degree) // math.prod(map(math.factorial, (*powers, rest)))
    square = ways * Fraction(polynomials.c) ** rest
    if square.denominator > 1 or square > MOST_WRITTEN_OUT:
        return f"{(Decimal(square.numerator) / square.denominator).sqrt():.6g}"
    root = math.isqrt(int(square))
    return str(root) if root**2 == square else f"√{square}"


# ---- room


def check_columns(polynomials: Polynomials, X: Matrix) -> None:
    """Refuse a result with more columns than a matrix can number."""
    size = polynomials.size(X.shape[1])
    if size > MOST_COLUMNS:
        dense = X.shape[0] * size * X.dtype.itemsize
        limit = f"if dense, and no matrix may have more than {MOST_COLUMNS:,} columns"
        raise too_large(polynomials, X, dense, limit)


def check_room(polynomials: Polynomials, X: Matrix, entries: int, bytes_each: int) -> None:
    """Refuse a result that would take more than half of the memory."""
    # A row's coefficients are held three times over, and for each thread its lower degrees.
    widest = polynomials.size(polynomials.columns) if not sparse.issparse(X) else 0
    if (entries + (3 + cores()) * widest) * bytes_each > memory() // 2:
        limit = "which is more than this machine can spare"
        raise too_large(polynomials, X, entries * bytes_each, limit)


def too_large(polynomials: Polynomials, X: Matrix, needed: int, limit: str) -> InputError:
    """Say how large the result would be, and what to do."""
    degree, c, columns = polynomials
    return InputError(
        f"polynomials of degree {degree} in {columns:,} columns make {X.shape[0]:,} rows × "
        f"{polynomials.size(columns):,} columns, {needed / 2**30:,.1f} GiB, {limit}; "
        f"use a kernel instead, Polynomial({degree}, {c:g}), which never forms them"
    )


# ---- rows to features


def of_dense(polynomials: Polynomials, X: np.ndarray) -> np.ndarray:
    """Multiply the rows of a dense matrix out."""
    width = polynomials.size(X.shape[1])
    check_room(polynomials, X, X.shape[0] * width, X.itemsize)
    expansion = expanding(polynomials, X, X.shape[1])
    out, X = np.empty((X.shape[0], width), X.dtype), writable_alias(X)

    def work(start: int, stop: int) -> None:
        below = np.empty(polynomials.smaller(X.shape[1]), X.dtype)
        expand_dense(X[start:stop], expansion, below, out[start:stop])

    in_blocks(work, X.shape[0], out.size)
    return out


def of_sparse(polynomials: Polynomials, X: Matrix) -> Matrix:
    """Multiply the rows of a sparse matrix out: their columns ascend, and no zero is stored."""
    lengths = np.diff(X.indptr)
    longest = max(1, int(lengths.max()))
    sizes = np.array([polynomials.size(k) for k in range(longest + 1)], np.int64)
    starts = np.append(0, np.cumsum(sizes[lengths]))
    entries, width = int(starts[-1]), polynomials.size(X.shape[1])
    kind = np.int32 if entries <= MOST_COLUMNS else np.int64
    check_room(polynomials, X, entries, X.dtype.itemsize + np.dtype(kind).itemsize)
    expansion = expanding(polynomials, X, longest)
    shifts, rows = column_shifts(polynomials), as_rows(X, 0.0)
    columns, values = np.empty(entries, kind), np.empty(entries, X.dtype)

    def work(start: int, stop: int) -> None:
        below = np.empty(polynomials.smaller(longest), X.dtype)
        numbers = np.empty(expansion.factors.size, kind)
        part = FeatureRows(starts[start : stop + 1], columns, values)
        some = cast(Sparse, span(rows, start, stop))
        expand_sparse(some, expansion, shifts, below, numbers, part)

    in_blocks(work, X.shape[0], entries)
    result = type(X)((values, columns, starts.astype(kind)), shape=(X.shape[0], width))
    result.has_canonical_format = True
    return result


def expanding(polynomials: Polynomials, X: Matrix, longest: int) -> Monomials:
    """Prepare the loops for rows with so many entries, and refuse what floats cannot hold."""
    degree, c, _ = polynomials
    sizes = monomials(degree, longest)
    counts = sizes[:, longest]
    coefficients = np.empty(int(counts.sum()))
    multinomials(sizes, np.empty_like(coefficients), coefficients)
    degrees = np.arange(degree + 1)
    with np.errstate(over="ignore", under="ignore"):
        powers = np.float64(c) ** (degree - degrees)
        coefficients *= np.repeat(
            [math.comb(degree, j) for j in range(degree + 1)] * powers, counts
        )
        factors = np.sqrt(coefficients).astype(X.dtype)
        heaviest = np.maximum.reduceat(factors, np.cumsum(counts) - counts)
        values = X.data if sparse.issparse(X) else X
        largest = np.float64(max(values.max(initial=0), -values.min(initial=0)))
        bound = (largest**degrees * heaviest).max() * (1 + degree * 1e-6)
    if not bound < np.finfo(X.dtype).max:
        raise InputError(
            f"polynomials of degree {degree} in numbers up to {largest:g} leave the range of "
            f"{X.dtype}; lower the degree, or divide X by a constant and c by its square"
        )
    return Monomials(sizes, factors, degree if c == 0 else 0)


def monomials(degree: int, columns: int) -> np.ndarray:
    """Count the monomials of each degree in 0, 1, … columns."""
    sizes = np.zeros((degree + 1, columns + 1), np.int64)
    sizes[0] = 1
    for j in range(1, degree + 1):
        sizes[j, 1:] = np.cumsum(sizes[j - 1, 1:])
    return sizes


def column_shifts(polynomials: Polynomials) -> np.ndarray:
    """Tell for degrees from 2 on how far a further first factor moves a product's column."""
    degree, c, columns = polynomials
    if degree == 1:
        return np.zeros((0, 0), np.int64)  # there may be very many columns
    sizes = monomials(degree, columns)
    larger, smaller = sizes[2:, ::-1], sizes[1:-1, ::-1]
    skipped = larger[:, :1] - larger[:, :-1] + smaller[:, :-1]
    return np.ascontiguousarray(skipped - smaller[:, :1] if c == 0 else skipped)
