"""Decimals: floats that stand for the numbers that were written, so that 0.1 is 1/10.

A decimal of up to 15 digits is the shortest one that rounds to its nearest float64, and Python
prints it again. A table of decimals is therefore one of float64 with another meaning, marked by its
class: whatever rounds may use it as floats, each of which errs by at most 2^-53 of itself, and what
is exact asks for the numbers. Equal floats are equal numbers, and -x is the opposite of x. Longer
decimals that are not the shortest, 0.10000000000000001 for instance, are kept beside the floats.

Slices and copies stay decimals; whatever is computed from them is plain floats again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number
from rosenblatt.errors import InputError
from rosenblatt.loops import exact_loop, exact_part

Written = dict[float, Fraction]  # numbers by the size of their nearest float

WHOLE = 2.0**53  # whole numbers up to this one are float64
SMALLEST = 2.0**-1000  # below about this, floats lose digits
CERTAIN = 1e15  # decimals with fewer digits are told from their floats
POWERS = 10.0 ** np.arange(23)  # those that are float64


class Decimals(np.ndarray):
    """An array of floats that stand for decimals: the shortest, or those in `written`."""

    written: Written = {}  # noqa: RUF012 (never changed in place)

    def __array_finalize__(self, source: Any) -> None:
        self.written = getattr(source, "written", {})

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute with plain floats."""
        plain = (np.asarray(x) if isinstance(x, Decimals) else x for x in inputs)
        return getattr(ufunc, method)(*plain, **options)


class SparseDecimals(sparse.csr_matrix):  # type: ignore[misc]
    """A CSR matrix of floats that stand for decimals."""

    written: Written = {}  # noqa: RUF012 (never changed in place)

    def __getitem__(self, key: Any) -> Any:
        return self._with_written(super().__getitem__(key))

    def copy(self) -> Any:
        """Copy the matrix."""
        return self._with_written(super().copy())

    def _with_written(self, part: Any) -> Any:
        return marked(part, self.written) if sparse.issparse(part) else part

    def _with_data(self, data: np.ndarray, copy: bool = True) -> Any:
        """Give what SciPy computes as plain floats."""
        return sparse.csr_matrix((data, self.indices, self.indptr), self.shape, copy=copy)


KINDS = (Decimals, SparseDecimals)  # a union would be made anew for each question


def is_decimal(X: Any) -> TypeGuard[Decimals | SparseDecimals]:
    """Tell whether the floats of an array or a matrix stand for decimals."""
    return isinstance(X, KINDS)


def marked(X: Any, written: Written | None = None) -> Any:
    """Give float64 numbers, a CSR matrix or an array, as decimals, in the same memory."""
    values = X.data if sparse.issparse(X) else X
    sizes = np.abs(np.asarray(values))
    if ((sizes < SMALLEST) & (sizes > 0)).any():
        small = float(np.asarray(values)[(sizes < SMALLEST) & (sizes > 0)][0])
        raise InputError(
            f"{small!r} is too small for decimals to be exact; multiply the numbers by a power of "
            "ten"
        )
    if sparse.issparse(X):
        found: Any = SparseDecimals((X.data, X.indices, X.indptr), X.shape)
    else:
        found = X.view(Decimals)
    found.written = written or {}
    return found


def is_whole(values: Any) -> bool:
    """Tell whether floats are whole numbers, which are the same as floats and as decimals."""
    numbers = np.asarray(values.data if sparse.issparse(values) else values)
    return bool((np.abs(numbers) <= WHOLE).all() and (numbers == np.rint(numbers)).all())


def numbers_in(X: Any, values: Iterable[float]) -> list[Number]:
    """Give the numbers that floats of an array or a matrix stand for."""
    if not is_decimal(X):
        return list(values)
    if not X.written:
        return [shortest(value) for value in values]
    return [_in(X.written, value) for value in values]


def _in(written: Written, value: float) -> Number:
    number = written.get(abs(value))
    if number is None:
        return shortest(value)
    return number if value > 0 else -number


@lru_cache(1 << 16)
def shortest(value: float) -> Number:
    """Give the shortest decimal that rounds to a float; itself if it is a whole number.

    Examples
    --------
    >>> shortest(0.1), shortest(-2.0)
    (Fraction(1, 10), -2.0)
    """
    if value.is_integer() and abs(value) <= WHOLE:
        return value
    return Fraction(*Decimal(repr(value)).as_integer_ratio())


def written_numbers(floats: Sequence[float], exact: Sequence[Number]) -> Written:
    """Give the numbers among those of nearest floats that are not the shortest."""
    known: dict[float, Fraction] = {}
    for value, number in zip(floats, exact, strict=True):
        size = abs(Fraction(number))
        other = known.setdefault(abs(value), size)
        if other != size:
            raise InputError(
                f"{other} and {size} differ by less than float64 can tell; write one of them as "
                "the other, or ask about floats"
            )
    return {size: number for size, number in known.items() if number != shortest(size)}


# ---- rows of whole numbers


@exact_part
def power_of(value: Any) -> Any:
    """Give the least k for which value·10^k is whole, -1 if no k is certain."""
    if abs(value) <= WHOLE and value == np.rint(value):
        return 0
    for k in range(1, POWERS.size):
        number = np.rint(value * POWERS[k])
        if abs(number) > CERTAIN:
            return -1
        if number / POWERS[k] == value:
            return k
    return -1


@exact_part
def scale_row(values: np.ndarray, out: np.ndarray) -> Any:
    """Multiply decimals by the power of ten that makes them whole numbers; False if none does.

    A number of up to 15 digits over 10^k, for k up to 22, is rounded once by a division; so that
    which a float is the nearest to is found by trial.
    """
    most = 0
    for j in range(values.size):
        power = power_of(values[j])
        if power < 0:
            return False
        most = max(most, power)
    for j in range(values.size):
        power = power_of(values[j])
        out[j] = np.rint(values[j] * POWERS[power]) * POWERS[most - power]
        if abs(out[j]) > WHOLE:
            return False
    return True


@exact_loop
def scale_rows(values: np.ndarray, starts: np.ndarray, out: np.ndarray, fits: np.ndarray) -> None:
    """Scale rows that lie one after the other."""
    for i in range(fits.size):
        part = slice(starts[i], starts[i + 1])
        fits[i] = scale_row(values[part], out[part])


def whole_rows(X: Any, added: np.ndarray) -> tuple[Any, np.ndarray]:
    """Give rows (x, added) times powers of ten as whole numbers, and tell for which it is possible.

    X are decimals, and so are the columns that are added.
    """
    n, width = X.shape
    fits = np.zeros(n, np.bool_)
    if sparse.issparse(X):
        joined = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(X), sparse.csr_matrix(added)]))
        starts, values = joined.indptr.astype(np.int64), joined.data
    else:
        joined = np.hstack([np.asarray(X), added])
        starts, values = np.arange(n + 1) * (width + added.shape[1]), joined.reshape(-1)
    if not X.written:
        scale_rows(values, starts, values, fits)
    return joined, fits
