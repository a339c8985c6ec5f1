"""The margin without rounding: the nearest points of two hulls, or that of one to the origin.

Problem     γ = min ‖Σ λ·z‖ over λ >= 0 with z = s·x and class sums 1/2 each (free intercept), or
            z = s·x or s·(x, c) and Σ λ = 1                                         (theory D10)
Method      `nearest.descend`, each class a group of its own where the intercept is free. Floats
            propose the row with the least z·w; that no row has less than the least is certain.
End         w = p and b with s(x·p + b) >= t on all rows and = t on those with weight, which proves
            that γ = t/‖p‖; γ² is a fraction
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import flint
import numpy as np
from scipy import sparse

from rosenblatt.certificates import Number
from rosenblatt.decide.widest.nearest import Corral, Nearest, descend
from rosenblatt.exact.enclosed import UNDECIDED
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.numbers import is_exact
from rosenblatt.exact.products import (
    FEW,
    exact_product,
    first_look,
    rough_products,
    settle_at,
)
from rosenblatt.exact.rounding import rounded_down
from rosenblatt.exact.signed import SignedRows
from rosenblatt.exact.sums import weighted_sum
from rosenblatt.exact.weights import Weights

# A rank modulo a prime is never above the rank, and below it only by a coincidence that somebody
# may have planned; not for all of these. They fit the words that FLINT computes with.
PRIMES = (2**61 - 1, 2**63 - 25, 2**64 - 59)


class Plane(NamedTuple):
    """A w that is a multiple of Σ λ·z, its intercept last; the rows with their λ; ‖Σ λ·z‖²."""

    w: list[Number]
    rows: list[int]
    weights: list[Fraction]
    squared: Fraction


@dataclass(frozen=True)
class Hulls(SignedRows):
    """Signed rows whose hulls are looked at; all their coordinates count in lengths.

    Attributes
    ----------
    free : whether the intercept is free: each class then has a hull of its own.
    """

    free: bool
    known: dict[int, tuple[list[int], Rationals]] = field(default_factory=dict, repr=False)

    @property
    def added(self) -> Number:
        """The constant behind x whose weight is the last number of w, 0 for none."""
        return 1 if self.free else self.lift

    @cached_property
    def sides(self) -> list[np.ndarray]:
        """Name the rows of each hull."""
        if not self.free:
            return [np.arange(self.signs.size)]
        return [np.flatnonzero(self.signs < 0), np.flatnonzero(self.signs > 0)]

    def group(self, i: int) -> int:
        """Tell which hull a row belongs to."""
        return int(self.signs[i] > 0) if self.free else 0

    def measured(self, w: Sequence[Number]) -> Sequence[Number]:
        """Give the part of w that counts in its length."""
        return w[: self.dimension]

    def square(self, weights: dict[int, Number]) -> Fraction:
        """Give ‖Σ λ·z‖²."""
        numbers, common = Rationals.of(weights.values())
        signed = [int(self.signs[i]) * y for i, y in zip(weights, numbers, strict=True)]
        totals, unit = weighted_sum(self.X, list(weights), signed)
        total = Rationals([*totals.values()], unit).square()
        return (total + (Fraction(self.lift) * sum(signed)) ** 2) / common**2

    def shared(self, weights: Mapping[int, Number]) -> dict[int, Fraction]:
        """Scale positive weights so that each hull has its share of a whole."""
        numbers, _ = Rationals.of(weights.values())
        sums: dict[int, int] = {}
        for i, weight in zip(weights, numbers, strict=True):
            sums[self.group(i)] = sums.get(self.group(i), 0) + weight
        pairs = zip(weights, numbers, strict=True)
        return {i: Fraction(weight, sums[self.group(i)] * len(sums)) for i, weight in pairs}

    def nearest(self, start: dict[int, Number], watch: Callable[[Plane], None]) -> Plane | None:
        """Find the nearest point, exactly, from some weights; None if it is the origin.

        `watch` sees every step.
        """
        plane = None

        def propose(found: Nearest) -> int | None:
            nonlocal plane
            plane = None
            if not any(found.point):
                return None
            plane, least = self._plane(found)
            watch(plane)
            return self._below(plane, least)

        descend(self._table, self._corral(start), propose, self.group)
        return plane

    def _integers(self, i: int) -> tuple[list[int], Rationals]:
        if i not in self.known:
            entries = self.row(i)
            self.known[i] = [j for j, _ in entries], Rationals.of([value for _, value in entries])
        return self.known[i]

    def _columns(self, rows: Sequence[int]) -> Sequence[int]:
        if not sparse.issparse(self.X):
            return range(self.dimension)
        return sorted(set[int]().union(*(self._integers(i)[0] for i in rows))) or [0]

    def _table(self, rows: Sequence[int]) -> flint.fmpz_mat:
        """Give some rows as integers, all in one unit, on the columns that they use."""
        columns = self._columns(rows)
        places = {j: k for k, j in enumerate(columns)}
        unit = math.lcm(*(self._integers(i)[1].denominator for i in rows))
        listed = []
        for i in rows:
            used, (numbers, denominator) = self._integers(i)
            dense, factor = [0] * len(columns), unit // denominator
            for j, value in zip(used, numbers, strict=True):
                dense[places[j]] = value * factor
            listed.append(dense)
        return flint.fmpz_mat(listed)

    def _corral(self, start: dict[int, Number]) -> Corral:
        """Choose independent rows, those with most weight first, and share out the whole."""
        order = sorted(start, key=lambda i: start[i], reverse=True)
        groups = sorted({self.group(i) for i in order})
        marks = [[int(self.group(i) == name) for name in groups] for i in order]
        table = self._table(order).tolist()
        joined: list[list[Any]] = [[*row, *mark] for row, mark in zip(table, marks, strict=True)]
        kept = [order[k] for k in _independent(flint.fmpz_mat(joined))]
        shares = self.shared({i: start[i] for i in kept})
        return Corral(kept, [shares[i] * len(groups) for i in kept])

    def _plane(self, found: Nearest) -> tuple[Plane, Fraction]:
        """Give the hyperplane of a point, and the product that its rows have with it."""
        rows, weights = found.corral
        direction = [0] * self.dimension
        divisor = math.gcd(*found.point)  # whichever rows led here, w is the same
        for j, value in zip(self._columns(rows), found.point, strict=True):
            direction[j] = value // divisor
        unit = 1 << max(abs(value).bit_length() for value in direction)
        w: list[Number] = [Fraction(value, unit) for value in direction]
        some = {self.group(i): i for i in rows}  # all rows of a group have the same product
        products = {group: self._product(i, direction, unit) for group, i in some.items()}
        if self.free:
            w.append((products[0] - products[1]) / 2)
        least = sum(products.values(), Fraction(0)) / len(products)
        shares = [weight / len(products) for weight in weights]
        # Σ λ·z is a multiple of w, and its product with w is the least.
        squared = least**2 / Rationals(direction, unit).square()
        return Plane(w, list(rows), shares, squared), least

    def _product(self, i: int, direction: Sequence[int], unit: int) -> Fraction:
        """Give z·w for row i and integers over a unit."""
        used, (numbers, denominator) = self._integers(i)
        total = sum(value * direction[j] for j, value in zip(used, numbers, strict=True))
        return Fraction(total, denominator * unit)

    def _below(self, plane: Plane, least: Fraction) -> int | None:
        """Name a row with less z·w than the least, nearly the one with the least of all, or None.

        The rows of the corral have the least itself, so floats alone cannot tell.
        """
        weights = self.weights(plane.w)
        if is_exact(self.X):
            return self._lowest(range(self.X.shape[0]), weights, least)
        above = np.array([-rounded_down(-least)])
        signs = first_look(self, weights, above).signs
        signs[plane.rows] = 1
        if np.count_nonzero(signs != 1) > FEW:
            guess = int(np.argmin(rough_products(self, weights)))
            if exact_product(self, guess, weights) < least:
                return guess
            undecided = np.flatnonzero(signs == UNDECIDED)
            settle_at(undecided, self, weights, above, signs)
        return self._lowest(np.flatnonzero(signs != 1).tolist(), weights, least)

    def _lowest(self, rows: Sequence[int], weights: Weights, least: Fraction) -> int | None:
        products = [(exact_product(self, i, weights), i) for i in rows]
        lowest, i = min(products, default=(least, 0))
        return i if lowest < least else None


def _independent(rows: flint.fmpz_mat) -> list[int]:
    """Give rows that are linearly independent, the first ones first, and span the others."""
    best: list[int] = []
    for prime in PRIMES:
        reduced, rank = flint.nmod_mat(rows.transpose(), prime).rref()
        if rank == rows.nrows():
            return list(range(rank))
        if rank > len(best):
            best = _pivots(reduced, rank)
    return best


def _pivots(reduced: flint.nmod_mat, rank: int) -> list[int]:
    """Give the columns in which the rows of an echelon form begin."""
    found, column = list[int](), 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        found.append(column)
    return found
