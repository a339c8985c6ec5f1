"""Integers of any length: over one denominator, and in sparse rows with their products."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number
from rosenblatt.pauses import pause

WORD = 2**62  # sums up to this one are computed in machine words
AT_A_TIME = 2**18  # entries of floats that become integers between two pauses
FAR = 2**30  # in the place of the exponent of zero


class Rationals(NamedTuple):
    """Numbers as integers over one positive denominator."""

    numbers: list[int]
    denominator: int

    @classmethod
    def of(cls, values: Iterable[Number]) -> Rationals:
        """Bring exact numbers to their common denominator."""
        # Of hashed text nearly all weights are zero.
        ratios = [value.as_integer_ratio() if value else None for value in values]
        common = math.lcm(*{ratio[1] for ratio in ratios if ratio})
        return cls([ratio[0] * (common // ratio[1]) if ratio else 0 for ratio in ratios], common)

    def square(self) -> Fraction:
        """Give the sum of the squares."""
        return Fraction(sum(number * number for number in self.numbers), self.denominator**2)


class Integers(NamedTuple):
    """Rows of integers, stored as SciPy stores sparse rows.

    Attributes
    ----------
    starts, columns : where the entries of each row begin, and the columns of the entries.
    entries : their values, int64 if all of them fit, else Python's integers.
    width : the number of columns.
    """

    starts: np.ndarray
    columns: np.ndarray
    entries: np.ndarray
    width: int

    @classmethod
    def of(
        cls, starts: np.ndarray, columns: np.ndarray, entries: np.ndarray, width: int
    ) -> Integers:
        """Store entries in machine words if they fit."""
        if entries.dtype == object and largest(entries) < 2**63:
            entries = entries.astype(np.int64)
        return cls(np.asarray(starts, np.int64), np.asarray(columns, np.int64), entries, width)

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.starts.size - 1

    @property
    def owners(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(self.size), np.diff(self.starts))

    def row(self, i: int) -> tuple[list[int], list[int]]:
        """Give the columns and the values of a row."""
        inside = slice(self.starts[i], self.starts[i + 1])
        return self.columns[inside].tolist(), self.entries[inside].tolist()

    def times(self, vector: Sequence[int]) -> list[int]:
        """Give the product with a vector."""
        if not self.entries.size or not self.width:
            return [0] * self.size
        factors = as_integers(vector)
        widest = int(np.diff(self.starts).max())
        if largest(self.entries) * largest(factors) * widest >= WORD:
            factors = factors.astype(object)
        return sums(self.entries * factors[self.columns], self.starts)

    def part(self, rows: np.ndarray, columns: np.ndarray) -> Integers:
        """Give some rows and columns, in the order given."""
        places = np.full(self.width, -1, np.int64)
        places[columns] = np.arange(columns.size)
        lengths = np.diff(self.starts)[rows]
        chosen = np.repeat(self.starts[rows] - np.cumsum(lengths) + lengths, lengths)
        chosen += np.arange(chosen.size)
        renamed = places[self.columns[chosen]]
        kept = renamed >= 0
        owners = np.repeat(np.arange(rows.size), lengths)[kept]
        starts = np.append(0, np.cumsum(np.bincount(owners, minlength=rows.size)))
        return Integers.of(starts, renamed[kept], self.entries[chosen][kept], columns.size)

    def negated(self) -> Integers:
        """Give the rows with the opposite signs."""
        return self._replace(entries=-self.entries)

    def above(self, other: Integers) -> Integers:
        """Give these rows, and those of another matrix below."""
        starts = np.append(self.starts, self.starts[-1] + other.starts[1:])
        columns = np.append(self.columns, other.columns)
        return Integers(starts, columns, np.append(self.entries, other.entries), self.width)

    def transposed(self) -> Integers:
        """Give the transpose."""
        order = np.argsort(self.columns, kind="stable")
        rows = self.owners[order]
        counts = np.bincount(self.columns, minlength=self.width)
        return Integers(np.append(0, np.cumsum(counts)), rows, self.entries[order], self.size)

    def with_columns(
        self, rows: np.ndarray, columns: np.ndarray, entries: Sequence[int]
    ) -> Integers:
        """Give the matrix with further columns to the right, of the entries named."""
        owners = np.concatenate([self.owners, rows])
        order = np.argsort(owners, kind="stable")
        places = np.concatenate([self.columns, self.width + columns])[order]
        values = np.concatenate([self.entries.astype(object), np.array(entries, object)])[order]
        starts = np.append(0, np.cumsum(np.bincount(owners, minlength=self.size)))
        return Integers.of(starts, places, values, self.width + int(columns.max(initial=-1)) + 1)

    def sizes(self) -> np.ndarray:
        """Give the number of binary digits of each entry, or one more."""
        return sizes_of(self.entries)

    def with_scaled_columns(self, powers: np.ndarray) -> tuple[Integers, np.ndarray]:
        """Multiply columns by powers of two, and each row by one that makes it whole and odd.

        Gives the powers for the rows, too.
        """
        entries, lowest = _whole(self.entries, powers[self.columns], self.starts)
        return Integers.of(self.starts, self.columns, entries, self.width), -lowest

    def floats(self, powers: np.ndarray) -> sparse.csr_matrix:
        """Give the matrix in floats, each entry times a power of two."""
        try:
            values = np.ldexp(self.entries.astype(np.float64), powers)
        except OverflowError:
            pairs = zip(self.entries.tolist(), powers.tolist(), strict=True)
            values = np.array([nearest_float(value, power) for value, power in pairs])
        shape = (self.size, self.width)
        return sparse.csr_matrix((values, self.columns, self.starts), shape=shape)


def largest(values: np.ndarray) -> int:
    """Give the largest absolute value."""
    return max(int(values.max()), -int(values.min())) if values.size else 0


def sizes_of(values: np.ndarray) -> np.ndarray:
    """Give the number of binary digits of each value, or one more."""
    try:
        return np.frexp(np.abs(values.astype(np.float64)))[1].astype(np.int64)
    except OverflowError:
        return np.array([value.bit_length() for value in values.tolist()], np.int64)


def _odd(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give values without the zeros at the end of their binary digits, and how many there are."""
    if values.dtype == object:
        zeros = np.array([max(0, (v & -v).bit_length() - 1) for v in values.tolist()], np.int64)
        return values >> zeros.astype(object), zeros
    zeros = np.frexp(np.maximum(values & -values, 1).astype(np.float64))[1].astype(np.int64) - 1
    return values >> zeros, zeros


def _whole(
    values: np.ndarray, powers: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give integers times powers of two, each row in a unit that makes it whole and odd; the units.

    These are powers of two, too.
    """
    odd, zeros = _odd(values)
    tops = np.where(odd != 0, zeros + powers, FAR)
    owners = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    lowest = np.full(starts.size - 1, FAR, np.int64)
    np.minimum.at(lowest, owners, tops)
    lowest[lowest == FAR] = 0
    shifts = np.where(odd != 0, tops - lowest[owners], 0)
    if odd.dtype != object and (sizes_of(odd) + shifts).max(initial=0) >= 63:
        odd = odd.astype(object)
    return odd << (shifts.astype(object) if odd.dtype == object else shifts), lowest


def as_integers(values: Sequence[int]) -> np.ndarray:
    """Give an array of machine words if all values fit, else of Python's integers."""
    if isinstance(values, np.ndarray):
        return values
    found = np.array(values, object)
    return found.astype(np.int64) if largest(found) < 2**63 else found


def scattered(places: Iterable[int], values: Iterable[int], size: int) -> list[int]:
    """Give a vector with values at some places, and zeros elsewhere."""
    vector = [0] * size
    for place, value in zip(places, values, strict=True):
        vector[place] = value
    return vector


def sums(terms: np.ndarray, starts: np.ndarray) -> list[int]:
    """Add up the terms of each row."""
    filled = np.diff(starts) > 0
    totals = np.zeros(filled.size, object)
    if filled.any():
        totals[filled] = np.add.reduceat(terms, starts[:-1][filled])
    return list(map(int, totals))


def nearest_float(value: int, power: int) -> float:
    """Give value·2^power in floats."""
    shift = max(0, value.bit_length() - 64)
    return math.ldexp(value >> shift, power + shift)


# ---- rows of numbers as integers


def whole_rows(
    rows: Iterable[Sequence[tuple[int, Number]]], width: int
) -> tuple[Integers, list[Fraction]]:
    """Give rows of exact numbers times positive factors as integers, and the factors."""
    starts, columns, entries, factors = [0], [], [], []
    for row in rows:
        pause()
        whole, common = Rationals.of(value for _, value in row)
        divisor = math.gcd(*whole) or 1
        columns += [column for column, _ in row]
        entries += [value // divisor for value in whole]
        starts.append(len(entries))
        factors.append(Fraction(common, divisor))
    made = Integers.of(
        np.array(starts), np.array(columns, np.int64), np.array(entries, object), width
    )
    return made, factors


def whole_float_rows(
    matrix: sparse.csr_matrix, powers: np.ndarray | None = None
) -> tuple[Integers, list[Fraction]]:
    """Give rows of floats times powers of two as integers, and these factors.

    The powers, if given, are such that columns are multiplied by them first.
    """
    if matrix.nnz <= AT_A_TIME:
        return _whole_float_rows(matrix, powers)
    cuts = np.unique(np.searchsorted(matrix.indptr, np.arange(0, matrix.nnz, AT_A_TIME)))
    parts = []
    for first, last in pairwise([*cuts.tolist(), matrix.shape[0]]):
        pause()
        parts.append(_whole_float_rows(matrix[first:last], powers))
    made = [part for part, _ in parts]
    starts = np.append(0, np.cumsum(np.concatenate([np.diff(part.starts) for part in made])))
    columns = np.concatenate([part.columns for part in made])
    entries = np.concatenate([part.entries for part in made])
    joined = Integers(starts, columns, entries, matrix.shape[1])
    return joined, [factor for _, factors in parts for factor in factors]


def _whole_float_rows(
    matrix: sparse.csr_matrix, powers: np.ndarray | None
) -> tuple[Integers, list[Fraction]]:
    mantissas, exponents = np.frexp(matrix.data.astype(np.float64))
    exponents = exponents.astype(np.int64) - 53
    if powers is not None:
        exponents += powers[matrix.indices]
    entries, lowest = _whole(np.ldexp(mantissas, 53).astype(np.int64), exponents, matrix.indptr)
    units = {power: Fraction(2) ** -power for power in set(lowest.tolist())}
    factors = [units[power] for power in lowest.tolist()]
    return Integers.of(matrix.indptr, matrix.indices, entries, matrix.shape[1]), factors


def row_sizes(rows: Integers) -> list[int]:
    """Give powers of two of about the size of the rows."""
    tops = np.zeros(rows.size, np.int64)
    np.maximum.at(tops, rows.owners, rows.sizes())
    return [1 << max(0, top - 1) for top in tops.tolist()]
