"""Spans of rows of integers: which rows and columns are independent, and what is orthogonal.

A rank modulo a prime is never above the rank, and below it only if the prime divides certain
determinants, which those below do not, but by chance or by design. So what a prime says is used
where nothing wrong can come of it, or else confirmed by a product in integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import flint
import numpy as np

from rosenblatt.exact.integers import Integers
from rosenblatt.exact.linear import Pause, solved

PRIMES = (2**31 - 1, 2**31 - 19, 2**31 - 61)  # products of remainders fit into machine words


class Pivots(NamedTuple):
    """Rows and columns, as many as the rank, whose common part can be inverted."""

    rows: list[int]
    columns: list[int]


def pivots(rows: Integers) -> Pivots:
    """Give independent rows that span all of them, and independent columns, first ones first."""
    most, best = min(rows.size, rows.width), Pivots([], [])
    for prime in PRIMES[: 3 if most else 0]:
        found = _pivots(rows, prime)
        best = max(found, best, key=lambda base: len(base.rows))
        if len(best.rows) == most:
            break
    return best


def _pivots(rows: Integers, prime: int) -> Pivots:
    chosen = _leading(_modulo(rows.transposed(), prime))
    part = rows.part(np.array(chosen, np.int64), np.arange(rows.width))
    return Pivots(chosen, _leading(_modulo(part, prime)) if chosen else [])


def _modulo(rows: Integers, prime: int) -> flint.nmod_mat:
    dense = np.zeros((rows.size, rows.width), np.int64)
    owners = np.repeat(np.arange(rows.size), np.diff(rows.starts))
    dense[owners, rows.columns] = (rows.entries % prime).astype(np.int64)
    return flint.nmod_mat(*dense.shape, dense.ravel().tolist(), prime)


def _leading(matrix: flint.nmod_mat) -> list[int]:
    """Give the columns in which a row of the reduced form begins."""
    reduced, rank = matrix.rref()
    found, column = [], 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        found.append(column)
    return found


def orthogonal(rows: Integers, pause: Pause) -> Iterator[tuple[int, list[int]]]:
    """Give independent vectors v with z·v = 0 on all rows, as many as there are.

    Each comes with a column that depends on those before it, the last in which v is not zero; in
    the dependent columns of the others, it is.
    """
    found = _orthogonal(rows, pivots(rows), pause)
    if found is None:
        raise ArithmeticError("three primes have hidden the rank of a matrix")
    return iter(found)


def _orthogonal(rows: Integers, base: Pivots, pause: Pause) -> list[tuple[int, list[int]]] | None:
    places, columns = np.array(base.rows, np.int64), np.array(base.columns, np.int64)
    K, others = rows.part(places, columns), np.setdiff1d(np.arange(rows.width), columns)
    held = rows.part(places, others).transposed()
    found = []
    for k, column in enumerate(others.tolist()):
        right = [0] * places.size
        for i, value in zip(*held.row(k), strict=True):
            right[i] = -value
        x = solved(K, right, pause) if places.size else None
        vector = [0] * rows.width
        vector[column] = 1 if x is None else x.denominator
        for j, value in zip(base.columns, x.numbers if x else (), strict=True):
            vector[j] = value
        if (x is None and places.size) or any(rows.times(vector)):
            return None
        found.append((column, vector))
    return found


class Span:
    """The span of some rows modulo a prime, by vectors at random that are orthogonal to it."""

    def __init__(self, rows: Integers, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.vectors = [_orthogonal_at_random(rows, prime, random) for prime in PRIMES[:2]]

    def outside(self, rows: Integers) -> np.ndarray:
        """Tell which rows are certain not to lie in the span."""
        found = np.zeros(rows.size, bool)
        for prime, vector in zip(PRIMES, self.vectors, strict=False):
            terms = (rows.entries % prime).astype(np.int64) * vector[rows.columns] % prime
            sums = np.add.reduceat(np.append(terms, 0), rows.starts[:-1]) if rows.size else terms
            found |= (sums % prime != 0) & (np.diff(rows.starts) > 0)
        return found


def _orthogonal_at_random(rows: Integers, prime: int, random: np.random.Generator) -> np.ndarray:
    vector = random.integers(0, prime, rows.width)
    if not rows.size:
        return vector
    reduced, rank = _modulo(rows, prime).rref()
    table = np.array([[int(v) for v in row] for row in reduced.tolist()[:rank]], np.int64)
    leading = [int(np.flatnonzero(row)[0]) for row in table]
    vector[leading] = 0
    for row, column in zip(table, leading, strict=True):
        vector[column] = -int((row * vector % prime).sum()) % prime
    return vector
