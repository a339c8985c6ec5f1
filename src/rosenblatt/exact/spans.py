"""Spans of rows of integers: which rows and columns are independent, and what is orthogonal.

A rank modulo a prime is never above the rank, and below it only if the prime divides certain
determinants, which happens by chance or by design. So what a prime says is used where nothing wrong
can come of it, or else confirmed by a product in integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rosenblatt.exact.integers import Integers
from rosenblatt.exact.linear import solved
from rosenblatt.exact.modular import PRIMES, eliminated, remainders
from rosenblatt.pauses import Pause


class Pivots(NamedTuple):
    """Rows and columns, as many as the rank, whose common part can be inverted."""

    rows: list[int]
    columns: list[int]


def pivots(rows: Integers, pause: Pause) -> Pivots:
    """Give independent rows that span all of them, and independent columns, first ones first."""
    most, best = min(rows.size, rows.width), Pivots([], [])
    for prime in PRIMES:
        found, _ = _reduced(rows, prime, pause)
        best = max(found, best, key=lambda base: len(base.rows))
        if len(best.rows) == most:
            break
    return best


def _reduced(rows: Integers, prime: int, pause: Pause) -> tuple[Pivots, np.ndarray]:
    """Give pivots modulo a prime, and rows of the same span that begin with 1, in this order."""
    dense = remainders(rows, prime)
    kept, leading = eliminated(dense, prime, pause)
    return Pivots(kept.tolist(), sorted(leading.tolist())), dense[kept]


def orthogonal(rows: Integers, pause: Pause) -> Iterator[tuple[int, list[int]]]:
    """Give independent vectors v with z·v = 0 on all rows, as many as there are.

    Each comes with a column that depends on those before it, the last in which v is not zero; in
    the dependent columns of the others, it is.
    """
    found = _orthogonal(rows, pivots(rows, pause), pause)
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
    """The span of some rows modulo primes, by a vector at random that is orthogonal to it."""

    def __init__(self, rows: Integers, pause: Pause) -> None:
        random = np.random.default_rng(0)
        made = [_orthogonal_at_random(rows, prime, random, pause) for prime in PRIMES[:2]]
        self.vectors, self.rank = [vector for vector, _ in made], max(rank for _, rank in made)

    def outside(self, rows: Integers) -> np.ndarray:
        """Tell which rows do not lie in the span; a row that does not is missed by chance only."""
        found = np.zeros(rows.size, bool)
        for prime, vector in zip(PRIMES, self.vectors, strict=False):
            terms = (rows.entries % prime).astype(np.int64) * vector[rows.columns] % prime
            sums = np.add.reduceat(np.append(terms, 0), rows.starts[:-1])
            found |= (sums % prime != 0) & (np.diff(rows.starts) > 0)
        return found


def _orthogonal_at_random(
    rows: Integers, prime: int, random: np.random.Generator, pause: Pause
) -> tuple[np.ndarray, int]:
    """Draw a vector modulo a prime, orthogonal to rows, and give their rank.

    The columns in which reduced rows begin follow from the others.
    """
    vector, echelon = random.integers(0, prime, rows.width), _reduced(rows, prime, pause)[1]
    leading = (echelon != 0).argmax(axis=1) if rows.width else np.zeros(0, np.int64)
    for k in np.argsort(-leading):
        column = leading[k]
        later = echelon[k, column + 1 :].astype(np.int64) * vector[column + 1 :] % prime
        vector[column] = -int(later.sum()) % prime
    return vector, len(echelon)
