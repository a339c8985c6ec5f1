"""The rows of a decision: exact when asked for one by one, floats when asked for all.

Row i is z = s·(x, c), with the sign s of its class and the constant c of the added coordinate, 0
for none. Float arithmetic sees columns scaled by powers of two, so that their largest entries lie
between 1/2 and 1: a change of units that rounds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy import sparse

from rosenblatt.blocks import in_blocks
from rosenblatt.certificate_fields import Number
from rosenblatt.decimals import is_decimal
from rosenblatt.decimals import whole_rows as tenfold_rows
from rosenblatt.exact.integers import Integers, whole_float_rows, whole_rows
from rosenblatt.exact.numbers import exact_row, is_exact, rows_of
from rosenblatt.exact.rounding import (
    OF_ZERO,
    exponent,
    float_if_exact,
    floats_of,
    nearest_float,
)
from rosenblatt.exact.weights import Weights
from rosenblatt.matrices import Matrix, as_rows, stored
from rosenblatt.rows import scores, span

BLOCK_ENTRIES = 2**20
LARGE = 2**500  # weights beyond it are made smaller
LARGEST_SHIFT = 1000  # powers of two beyond it are no floats


@dataclass(frozen=True)
class SignedRows:
    """Rows z = s·(x, c), to be looked at from both sides.

    Attributes
    ----------
    X : rows x, floats or exact Python numbers.
    signs : +1 or -1 for each row.
    lift : the constant c.
    """

    X: Matrix
    signs: np.ndarray
    lift: Number

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def dimension(self) -> int:
        """The number of coordinates of a row."""
        return int(self.X.shape[1]) + bool(self.lift)

    @property
    def added(self) -> Number:
        """The constant behind x whose weight is the last number of w, 0 for none."""
        return self.lift

    def row(self, i: int) -> list[tuple[int, Number]]:
        """Give row i, exactly."""
        sign = int(self.signs[i])
        pairs = exact_row(self.X, int(i))
        entries: list[tuple[int, Number]] = [(j, sign * value) for j, value in pairs]
        if self.lift:
            entries.append((self.dimension - 1, sign * self.lift))
        return entries

    def weights(self, w: Sequence[Number]) -> Weights:
        """Take weights of the coordinates, or of the columns alone, as those of rows s·(x, 1)."""
        return Weights.of(w, self.X.shape[1], self.added)

    def integers(self, rows: np.ndarray) -> tuple[Integers, list[Fraction]]:
        """Give some rows, columns scaled, times positive factors as integers, and the factors."""
        chosen, tens = self.X[rows], np.ones(rows.size)
        fits = not is_exact(chosen)
        if is_decimal(chosen):
            joined, each = tenfold_rows(chosen, tens[:, None])
            chosen, tens, fits = joined[:, :-1], joined[:, [-1]], bool(each.all())
            tens = (tens.toarray() if sparse.issparse(tens) else tens).ravel()
        if not fits:
            return whole_rows(map(self._scaled_row, rows.tolist()), self.dimension)
        plain = self._signed(chosen, rows, np.ones(chosen.shape[1]), float(self.lift) * tens)
        made, factors = whole_float_rows(sparse.csr_matrix(plain, dtype=np.float64), self.powers)
        if is_decimal(self.X):
            factors = [factor * int(ten) for factor, ten in zip(factors, tens, strict=True)]
        return made, factors

    def _signed(
        self, chosen: Matrix, rows: np.ndarray, factors: np.ndarray, added: np.ndarray | float
    ) -> Matrix:
        """Give s·(x, c) of some rows in floats, columns times factors, and c as it is given."""
        signs = self.signs[rows].astype(np.float64)
        if sparse.issparse(chosen):
            data = chosen.data * factors[chosen.indices] * np.repeat(signs, np.diff(chosen.indptr))
            made = sparse.csr_matrix((data, chosen.indices, chosen.indptr), chosen.shape)
            if not self.lift:
                return made
            return sparse.csr_matrix(sparse.hstack([made, (signs * added)[:, None]]))
        made = chosen * (factors * signs[:, None])
        return np.column_stack([made, signs * added]) if self.lift else made

    def _scaled_row(self, i: int) -> list[tuple[int, Fraction]]:
        powers = self.powers
        return [(j, Fraction(value) * Fraction(2) ** int(powers[j])) for j, value in self.row(i)]

    @cached_property
    def powers(self) -> np.ndarray:
        """The powers of two that coordinates are multiplied by, 0 for unused ones."""
        most = 2**60 if is_exact(self.X) else LARGEST_SHIFT
        return np.where(self.largest > OF_ZERO, np.clip(-self.largest, -most, most), 0)

    @cached_property
    def largest(self) -> np.ndarray:
        """The binary exponents of the largest entry of each coordinate; tiny where it has none."""
        if is_exact(self.X):
            tops = [max(map(exponent, column)) for column in rows_of(self.X.T)]
        else:
            tops = _exponents(self.X).tolist()
        added = [math.frexp(self.lift)[1]] if self.lift else []
        return np.array([*tops, *added], np.int64)

    @cached_property
    def used(self) -> np.ndarray:
        """The coordinates in which some row is not zero."""
        return np.flatnonzero(self.largest > OF_ZERO)

    @cached_property
    def floats(self) -> Matrix:
        """Rows x as floats; exact numbers are rounded, after scaling."""
        if not is_exact(self.X):
            return self.X
        powers = [Fraction(2) ** power for power in self.powers[: self.X.shape[1]].tolist()]
        rounded = [
            [float(Fraction(v) * p) for v, p in zip(x, powers, strict=True)]
            for x in rows_of(self.X)
        ]
        return np.array(rounded)

    @cached_property
    def factors(self) -> np.ndarray:
        """What the columns of `floats` have to be multiplied by to be scaled."""
        if is_exact(self.X):  # whose columns, but not the added coordinate, are scaled already
            added = [2.0 ** int(self.powers[-1])] if self.lift else []
            return np.array([*np.ones(self.X.shape[1]), *added])
        return np.asarray(np.ldexp(1.0, self.powers))

    @cached_property
    def norms(self) -> np.ndarray:
        """The norms of the scaled rows, 1 for those that are zero."""
        found = np.empty(self.size)

        def work(start: int, stop: int) -> None:
            step = max(1, BLOCK_ENTRIES // max(1, self.X.shape[1]))
            for first in range(start, stop, step):
                part = slice(first, min(first + step, stop))
                found[part] = self._norms(part)

        in_blocks(work, self.size, self.entries)
        return np.asarray(np.where(found > 0, found, 1.0))

    def _norms(self, part: slice) -> np.ndarray:
        rows, factors = self.floats[part], self.factors[: self.X.shape[1]]
        if sparse.issparse(rows):
            scaled = rows.data * factors[rows.indices]
            squares = sparse.csr_matrix((scaled**2, rows.indices, rows.indptr), rows.shape)
            sums = np.asarray(squares.sum(axis=1)).ravel()
        else:
            scaled = rows * factors
            sums = np.einsum("ij,ij->i", scaled, scaled)
        added = (float(self.lift) * self.factors[-1]) ** 2 if self.lift else 0.0
        return np.asarray(np.sqrt(sums + added))

    @property
    def entries(self) -> int:
        """The number of stored entries."""
        return stored(self.X)

    def scaled(self, rows: np.ndarray) -> Matrix:
        """Give some rows, signed, scaled and lifted: floats of about unit size."""
        added = float(self.lift) * float(self.factors[-1])
        return self._signed(self.floats[rows], rows, self.factors[: self.X.shape[1]], added)

    def products(self, w: np.ndarray) -> np.ndarray:
        """Give z·w for all rows, in floats; w belongs to the scaled coordinates."""
        return self.products_with(w * self.factors)

    def products_with(self, w: np.ndarray) -> np.ndarray:
        """Give z·w for all rows, in floats; w belongs to `floats`."""
        weights = w if self.lift else np.append(w, 0.0)
        return products(self.floats, self.signs, weights, float(self.lift))

    def nearby(self, w: Sequence[Number]) -> np.ndarray:
        """Give exact weights as those of `floats`, rounded, up to a positive factor."""
        if max(w) > LARGE or min(w) < -LARGE:
            largest = max(abs(Fraction(value)) for value in w)
            w = [Fraction(value) / largest for value in w]
        if not is_exact(self.X):
            return floats_of(w)
        powers = (Fraction(2) ** power for power in self.powers.tolist())
        return np.array([nearest_float(Fraction(v) / p) for v, p in zip(w, powers, strict=True)])

    def unscaled_direction(self, vector: Sequence[int]) -> list[int]:
        """Give a vector of the scaled coordinates as one of the rows, up to a positive factor."""
        powers = self.powers.tolist()
        least = min((p for p, value in zip(powers, vector, strict=True) if value), default=0)
        pairs = zip(vector, powers, strict=True)
        return [value << (power - least) if value else 0 for value, power in pairs]

    def unscaled(self, w: Sequence[Number]) -> list[Number]:
        """Give weights of the scaled coordinates as those of the rows, exactly."""
        used, powers = (self.largest > OF_ZERO).tolist(), self.powers.tolist()
        w = [value if is_used else 0.0 for value, is_used in zip(w, used, strict=True)]
        if all(type(value) is float for value in w):
            floats, steps = np.array(w, np.float64), np.clip(powers, -2000, 2000)
            with np.errstate(over="ignore"):
                moved = np.ldexp(floats, steps)
                kept = np.array_equal(np.ldexp(moved, -steps), floats)
            if kept:  # no digit was lost on the way
                return list(moved.tolist())
        pairs = zip(w, powers, strict=True)
        return [float_if_exact(Fraction(value) * Fraction(2) ** power) for value, power in pairs]


def products(X: Matrix, signs: np.ndarray, w: np.ndarray, lift: float) -> np.ndarray:
    """Give s·((x, lift)·w) of every row, rounded."""
    rows, found = as_rows(X, lift), np.empty(X.shape[0])

    def work(start: int, stop: int) -> None:
        scores(span(rows, start, stop), w, found[start:stop])

    in_blocks(work, X.shape[0], stored(X))
    return np.asarray(found * signs)


def _exponents(X: Matrix) -> np.ndarray:
    """Give the binary exponents of the largest entries of the columns."""
    if sparse.issparse(X):
        highest = abs(X).max(axis=0).toarray().ravel()
    else:
        highest = np.maximum(X.max(axis=0), -X.min(axis=0))
    powers = np.frexp(highest.astype(np.float64))[1].astype(np.int64)
    return np.where(highest > 0, powers, OF_ZERO)
