"""Spans of rows of integers: which rows and columns are independent, and what is orthogonal.

A rank modulo a prime is never above the rank, and below it only if the prime divides certain
determinants, which happens by chance or by design. So what a prime says is used where nothing wrong
can come of it, or else confirmed by a product in integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rosenblatt.exact.integers import Integers, scattered
from rosenblatt.exact.linear import solved
from rosenblatt.exact.modular import PRIMES, eliminated, remainders
from rosenblatt.pauses import Pause


class Pivots(NamedTuple):
    """Rows and columns, as many as the rank, whose common part can be inverted."""

    rows: list[int]
    columns: list[int]


def pivots(rows: Integers, pause: Pause) -> Pivots:
    """Give independent rows that span all of them, and independent columns, first ones first."""
    most, best = min(rows.size, np.unique(rows.columns).size), Pivots([], [])
    for prime in PRIMES if most else ():
        kept, leading = eliminated(remainders(rows, prime), prime, pause)
        found = Pivots(kept.tolist(), sorted(leading.tolist()))
        agreed = len(found.rows) == len(best.rows)
        best = max(found, best, key=lambda base: len(base.rows))
        if agreed or len(best.rows) == most:
            break
    return best


def least_rank(rows: Integers, pause: Pause) -> int:
    """Give a number that the rank is not below, and, but for bad luck with a prime, is."""
    return int(eliminated(remainders(rows, PRIMES[0]), PRIMES[0], pause)[0].size)


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
        right = [-value for value in scattered(*held.row(k), places.size)]
        x = solved(K, right, pause)
        if x is None:
            return None
        vector = scattered([column, *base.columns], [x.denominator, *x.numbers], rows.width)
        if any(rows.times(vector)):
            return None
        found.append((column, vector))
    return found
