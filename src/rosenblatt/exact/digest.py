"""The digest by which a certificate names its data: 64 bits, the same in every memory layout.

A row's hash is a sum over its entries, and the digest one over its rows, so that blocks of rows
can be hashed apart. All arithmetic is modulo 2^64. `rosenblatt.checker` says the same in plain
Python, and does the work for numbers that are not float64. Decimals count as their nearest floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from rosenblatt import checker
from rosenblatt.blocks import in_blocks
from rosenblatt.certificate_fields import Number
from rosenblatt.checker import Row, digest
from rosenblatt.decimals import is_decimal
from rosenblatt.exact.numbers import exact_row, is_exact
from rosenblatt.loops import exact_loop, exact_part, pays
from rosenblatt.matrices import Matrix, as_rows, stored
from rosenblatt.rows import Rows, Sparse, by_kind, prefetch, primitive

Bounds = Sequence[tuple[Number | None, Number | None]]

POSITIVE, NEGATIVE, AT_LEAST, MORE_THAN, EQUAL, LOWER, UPPER = range(1, 8)  # tags of rows

PLACES = np.uint64(0x5851F42D4C957F2D)
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
NONE, ONE, HALF_WORD = np.uint64(0), np.uint64(1), np.uint64(32)

# Bytes ahead of its turn at which a row is asked for. Measured on rows of 100 float64: 103 ms of
# processor time for a million of them without, 75 with 1600 bytes, 68 from 3200 on.
AHEAD = 4096

# Rows and entries, and columns, that NumPy hashes: to compile the loops takes far longer.
FEW, FEW_COLUMNS = 1 << 14, 1 << 20


@exact_part
def mix(k: Any) -> Any:
    """Scatter a word: the output function of SplitMix64."""
    k += STEP
    k = (k ^ (k >> np.uint64(30))) * FIRST_FACTOR
    k = (k ^ (k >> np.uint64(27))) * SECOND_FACTOR
    return k ^ (k >> np.uint64(31))


@exact_part
def folded(value: Any) -> Any:
    """Give the bits of a float64, its halves mixed; 0 for both zeros."""
    bits = np.float64(value).view(np.uint64)
    if value == 0.0:
        bits = np.uint64(0)
    return bits ^ (bits >> HALF_WORD)


@primitive
def row_hash(rows: Rows, i: int | np.int64, factors: np.ndarray) -> Any:
    """Give the sum over the entries of row i, without its tag."""

    def dense(rows, i, factors):  # type: ignore[no-untyped-def]
        values = rows.values[i]
        total = np.uint64(0)
        for j in range(values.size):
            total += folded(values[j]) * factors[j]
        return total

    def sparse(rows, i, factors):  # type: ignore[no-untyped-def]
        total = np.uint64(0)
        for k in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + 1])):
            total += folded(rows.values[k]) * factors[rows.columns[k]]
        return total

    return by_kind(rows, dense, sparse)


@primitive
def distance(rows: Rows) -> Any:
    """Give the number of rows after which one is asked for; 0 for never."""

    def dense(rows):  # type: ignore[no-untyped-def]
        return 1 + AHEAD // (rows.values.shape[1] * rows.values.itemsize)

    def sparse(rows):  # type: ignore[no-untyped-def]
        return 0

    return by_kind(rows, dense, sparse)


@exact_part
def placed(hashed: Any, i: Any) -> Any:
    """Give what row i adds to the total."""
    return mix(hashed) * (mix(np.uint64(i) ^ PLACES) | ONE)


@exact_loop
def fill_factors(factors: np.ndarray) -> None:
    """Write the factor of each column."""
    for j in range(factors.size):
        factors[j] = mix(np.uint64(j)) | ONE


@exact_loop
def total_of(
    rows: Rows, tags: np.ndarray, factors: np.ndarray, start: int, stop: int, first: int
) -> Any:
    """Hash a block of rows; a tag may have the hash of further entries added to it.

    Row 0 is the row `first` of the data.
    """
    total, ahead = np.uint64(0), distance(rows)
    for i in range(start, stop):
        if ahead and i + ahead < stop:
            prefetch(rows, i + ahead)
        total += placed(tags[i] + row_hash(rows, i, factors), first + i)
    return total


@exact_loop
def total_of_bounds(
    kinds: np.ndarray, columns: np.ndarray, values: np.ndarray, factors: np.ndarray, first: int
) -> Any:
    """Hash bounds, which count as the rows from `first` on, each with a 1 in its column."""
    total, right = np.uint64(0), factors[factors.size - 1]
    for k in range(kinds.size):
        entries = folded(1.0) * factors[columns[k]] + folded(values[k]) * right
        total += placed(kinds[k] + entries, first + k)
    return total


def labelled_digest(X: Matrix, signs: np.ndarray) -> str:
    """Identify labelled rows; signs are +1 for the positive class and -1 for the negative one."""
    return tagged_digest(X, label_tags(signs))


def tagged_digest(X: Matrix, tags: np.ndarray) -> str:
    """Identify rows, each with a tag for its class."""
    if is_exact(X):
        return digest(exact_rows(X, tags.tolist()), X.shape[1], None)
    return shown(total_of_rows(X, tags), *X.shape)


def labelled_total(X: Matrix, signs: np.ndarray, first: int) -> int:
    """Hash labelled rows of floats from row `first` on; totals of parts add up, modulo 2^64."""
    return total_of_rows(X, label_tags(signs), first)


def system_digest(A: Matrix, b: np.ndarray, tags: np.ndarray, bounds: Bounds | None = None) -> str:
    """Identify a system: rows a·w >= b (tag 3), > b (4) or = b (5), and bounds (lo, hi) of each w.

    No bound is None.
    """
    ends = listed(bounds or [])
    values = _as_floats([value for _, _, value in ends], is_decimal(A))
    if is_exact(A) or is_exact(b) or values is None:
        return digest(exact_rows(A, tags.tolist(), b), A.shape[1], bounds)
    factors = column_factors(A.shape[1] + 1)
    hashed = tags.astype(np.uint64) + _folded(b) * factors[-1]
    total = total_of_rows(A, hashed)
    if ends:
        kinds = np.array([kind for kind, _, _ in ends], np.uint64)
        columns = np.array([column for _, column, _ in ends], np.uint64)
        total += total_of_bounds(kinds, columns, values, factors, A.shape[0])
    return shown(total % 2**64, A.shape[0] + len(ends), A.shape[1])


def listed(bounds: Bounds) -> list[tuple[int, int, Number]]:
    """List the bounds that there are, as rows of the system: kind, column and number."""
    return [
        (kind, column, value)
        for column, pair in enumerate(bounds)
        for kind, value in zip((LOWER, UPPER), pair, strict=True)
        if value is not None
    ]


def exact_rows(X: Matrix, tags: Sequence[int], rights: Any = None) -> list[Row]:
    """Write data as the checker in plain Python takes it."""
    right = [0] * len(tags) if rights is None else rights.tolist()
    return [Row(tag, exact_row(X, i), right[i]) for i, tag in enumerate(tags)]


def label_tags(signs: np.ndarray) -> np.ndarray:
    """Give the tags of labelled rows."""
    return np.where(signs > 0, np.uint64(POSITIVE), np.uint64(NEGATIVE))


def column_factors(columns: int) -> np.ndarray:
    """Give the factor of each column."""
    if columns <= FEW:
        return _few_factors(0, columns)
    if columns <= FEW_COLUMNS:
        return _factors(0, columns)
    factors = np.empty(columns, np.uint64)
    fill_factors(factors)
    return factors


def shown(total: int, rows: int, columns: int) -> str:
    """Write a digest."""
    return f"{checker.mix(checker.mix(total ^ rows) ^ columns):016x}"


def total_of_rows(X: Matrix, tags: np.ndarray, first: int = 0) -> int:
    """Hash rows of floats from row `first` on, each with a tag."""
    rows, factors = as_rows(X, 0.0), column_factors(X.shape[1])
    if not pays(total_of, X.shape[0] + stored(X), FEW):
        return _total_of_few(rows, tags, factors, first)

    def work(start: int, stop: int) -> Any:
        return total_of(rows, tags, factors, start, stop, first)

    totals = in_blocks(work, X.shape[0], stored(X))
    return sum(map(int, totals)) % 2**64


def _total_of_few(rows: Rows, tags: np.ndarray, factors: np.ndarray, first: int) -> int:
    """Hash all rows, as `total_of` does."""
    if isinstance(rows, Sparse):
        sums = np.cumsum(
            _folded(np.append(0.0, rows.values)) * np.append(ONE, factors[rows.columns])
        )
        hashed = sums[rows.starts[1:]] - sums[rows.starts[:-1]]
    else:
        hashed = _folded(rows.values) @ factors
    places = _few_factors(first, first + tags.size, PLACES)
    return int((_mixed(tags + hashed) * places).sum())


def _factors(first: int, end: int, apart: np.uint64 = NONE) -> np.ndarray:
    """Scatter numbers in a row, each made odd."""
    return _mixed(np.arange(first, end, dtype=np.uint64) ^ apart) | ONE


_few_factors = lru_cache(8)(_factors)  # for small data, of which they are a large share


def _mixed(words: np.ndarray) -> np.ndarray:
    """Scatter each of some words."""
    in_python: Any = mix
    return np.asarray(in_python.py_func(words))


def _folded(values: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(values + 0.0, np.float64).view(np.uint64)  # -0.0 becomes 0.0
    return np.asarray(bits ^ (bits >> HALF_WORD))


def _as_floats(values: Sequence[Number], nearest: bool) -> np.ndarray | None:
    """Give exact numbers as float64; None if one of them is not, unless the nearest will do."""
    try:
        floats = np.array([float(value) for value in values], np.float64)
    except OverflowError:
        return None
    return floats if nearest or floats.tolist() == list(values) else None
