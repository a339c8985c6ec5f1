"""Exact weights of few rows that sum to zero, told from floats.

Problem     rows z that some positive weights bring to zero; wanted are weights λ >= 0 of few rows,
            positive on those named
Method      non-negative least squares in floats names at most as many rows as their rank that
            balance the named ones, whose weights are 1 in units of their size. The weights of these
            few are then the solution of a square system of integers                   (theory D9)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy  # which loads its linalg when that is used

from rosenblatt.blocks import one_blas_thread
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.separability.projection import multipliers
from rosenblatt.exact.integers import Integers, Rationals
from rosenblatt.exact.linear import solved
from rosenblatt.exact.signed import SignedRows
from rosenblatt.exact.spans import Pivots, pivots

DEPENDENT = 1e-9  # a length, beside 1, that counts as zero


class Balance(NamedTuple):
    """Weights by row, some of the rows as integers, and a base of them."""

    weights: dict[int, Fraction]
    rows: Integers
    base: Pivots
    basis: np.ndarray  # the rows of the base


@dataclass(frozen=True)
class Balancing:
    """Rows, their floats in units of powers of two without unused columns, and those powers."""

    cone: SignedRows
    names: np.ndarray
    floats: np.ndarray
    powers: np.ndarray
    clock: Clock

    @cached_property
    def independent(self) -> np.ndarray:
        """Places of independent rows that span the others, as floats see it."""
        return independent(self.floats)

    def among(self, names: Iterable[int]) -> Balancing:
        """Give some of the rows only."""
        kept = np.isin(self.names, [*names])
        parts = self.names[kept], self.floats[kept], self.powers[kept]
        return Balancing(self.cone, *parts, self.clock)

    def spanning(self) -> Balance | None:
        """Give weights, positive on rows that span all others; None if floats fail."""
        support = self._support(self.independent)
        if support is None or support.size == self.independent.size:
            return support if support is None else self._balance(support, self.independent)
        places = np.array([*dict.fromkeys([*support, *self.independent])], np.int64)
        return self._balance(places, self.independent)

    def circuit(self) -> Balance | None:
        """Give weights, positive on no more rows than their rank and one more."""
        first = np.zeros(1, np.int64)
        support = self._support(first)
        return None if support is None else self._balance(support, first)

    def _support(self, named: np.ndarray) -> np.ndarray | None:
        """Give the places of few rows that balance the named ones."""
        with one_blas_thread:
            total = self.floats[named].sum(axis=0)
            found = multipliers(self.floats, total, self.clock.left)
        if found is None or not found.any():
            return None
        return np.flatnonzero(found > DEPENDENT * found.max())

    def _balance(self, chosen: np.ndarray, named: np.ndarray) -> Balance | None:
        """Weigh some rows so that they balance the named ones, whose weights are 1."""
        places = np.array([*dict.fromkeys([*chosen, *named])], np.int64)
        rows, factors = self.cone.integers(self.names[places])
        base = self._base(rows, chosen)
        triples = zip(places.tolist(), self.powers[places].tolist(), factors, strict=True)
        fixed = {*named.tolist()}
        given = [
            Fraction(2) ** power / factor if k in fixed else Fraction(0)
            for k, power, factor in triples
        ]
        shares = self._shares(rows, base, given)
        if shares is None:
            return None
        found = zip(self.names[places].tolist(), factors, shares, strict=True)
        weights = {i: factor * share for i, factor, share in found if share}
        return Balance(weights, rows, base, self.names[places[base.rows]])

    def _base(self, rows: Integers, chosen: np.ndarray) -> Pivots:
        """Give a base of the rows chosen, which come first, from floats if these are sure of it."""
        used, some = self.cone.used, self.floats[chosen]
        columns = np.arange(used.size) if chosen.size == used.size else independent(some.T)
        if columns.size < chosen.size:
            return pivots(rows, self.clock.left)
        return Pivots([*range(chosen.size)], np.sort(used[columns]).tolist())

    def _shares(self, rows: Integers, base: Pivots, given: list[Fraction]) -> list[int] | None:
        """Add what the base needs to the weights given, so that rows sum to zero."""
        columns = np.array(base.columns, np.int64)
        every, whole = np.arange(rows.size), Rationals.of(given).numbers
        right = rows.part(every, columns).transposed().times([-value for value in whole])
        K = rows.part(np.array(base.rows, np.int64), columns).transposed()
        found = solved(K, right, self.clock.left)
        if found is None:
            return None
        shares = [value * found.denominator for value in whole]
        for k, value in zip(base.rows, found.numbers, strict=True):
            shares[k] += value
        others = np.delete(np.arange(rows.width), columns)
        rest = rows.part(every, others).transposed().times(shares) if others.size else ()
        return None if min(shares) < 0 or any(rest) else shares


def independent(rows: np.ndarray) -> np.ndarray:
    """Give places of rows that span the others, as floats see it."""
    with one_blas_thread:
        corner, order = scipy.linalg.qr(rows.T, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(corner))
    return np.asarray(order[: np.count_nonzero(sizes > DEPENDENT * sizes[0])], np.int64)
