"""Farkas' proof from multipliers that floats found, where an exact basis would have long numbers.

Problem     rows a·x >= b or a·x = b, l <= x <= u. Multiplied by y, with y >= 0 on inequalities,
            they add up to -r·x >= b·y; r is to be >= 0 where x has no upper bound, <= 0 where it
            has no lower one. In floats it is nearly so
Shift       z with r clearly of these signs, wherever there is such a z, does not depend on y.
            A small multiple of it, added to y, mends r there
Projection  where r is to be zero, free columns among them, equations for some y make it zero
Source      Steffy & Wolter 2013
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy  # which loads its linalg when that is used
from scipy import sparse

from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.elastic import Elastic
from rosenblatt.decide.engine.floats import FloatProgram, added, scaled
from rosenblatt.decide.engine.solver import load, run, solver_with
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.linear import solved
from rosenblatt.exact.spans import pivots

CLEAR = 1e-3  # of r, beside rows of size 1, that z makes positive
MOST = 500  # columns where r is made zero: more of them are better left to an exact basis
TIMES = 5  # that y is projected and shifted
SPARE = 200  # binary digits


class Rays:
    """Multipliers that floats found for a system whose rows give way, and what proves from them."""

    def __init__(self, elastic: Elastic, floats: FloatProgram, clock: Clock) -> None:
        self.elastic, self.clock, self.across = elastic, clock, elastic.A.transposed()
        self.rows, self.columns = floats.rows, floats.columns[: elastic.width]
        self.matrix = floats.model[-1][:, : elastic.width]
        no_lower, no_upper = ([end is None for end in side] for side in elastic.bounds)
        self.free = np.array(no_lower, bool) & no_upper
        self.signs = np.array(no_upper, np.int8) - np.array(no_lower, np.int8)

    def near(self, y: Rationals) -> tuple[Rationals, list[int]] | None:
        """Give multipliers near those given that add up to a contradiction, and r; None if none."""
        y, rigid = self._allowed(y), self.free
        for _ in range(TIMES):
            if self._right_side(y, self._sums(y)) <= 0:
                return None
            found = self._projected(y, np.flatnonzero(rigid))
            if found is None:
                return None
            sums = self._sums(found)
            if self._proves(found, sums):
                return found, sums
            wrong = -self.signs * self._floats(sums, found.denominator)
            y = self._shifted(_dyadic(found), wrong)
            rigid = rigid | ((wrong > 0) & (self._inward[1] <= CLEAR))
        return None

    def _proves(self, y: Rationals, sums: list[int]) -> bool:
        signs = zip(self.signs.tolist(), self.free.tolist(), sums, strict=True)
        return (
            all(sign * r >= 0 and not (free and r) for sign, free, r in signs)
            and all(number >= 0 for number in self._inequalities(y))
            and self._right_side(y, sums) > 0
        )

    def _shifted(self, y: Rationals, wrong: np.ndarray) -> Rationals:
        """Add as much of z as mends r where z can."""
        z, room = self._inward
        mended = room > CLEAR
        most = float((wrong[mended] / room[mended]).max(initial=0.0))
        more = (z if most > 0 else 0 * z).tolist()
        return self._allowed(added(y, more, self.rows + math.frexp(most)[1]))

    def _inequalities(self, y: Rationals) -> list[int]:
        pairs = zip(y.numbers, self.elastic.equal.tolist(), strict=True)
        return [number for number, equal in pairs if not equal]

    def _allowed(self, y: Rationals) -> Rationals:
        pairs = zip(y.numbers, self.elastic.equal.tolist(), strict=True)
        return y._replace(numbers=[a if equal else max(a, 0) for a, equal in pairs])

    def _sums(self, y: Rationals) -> list[int]:
        """Give r over the denominator of y."""
        return [-value for value in self.across.times(y.numbers)]

    def _floats(self, sums: list[int], one: int) -> np.ndarray:
        pairs = zip(sums, self.columns.tolist(), strict=True)
        return np.array([scaled(value, power, one) for value, power in pairs])

    def _right_side(self, y: Rationals, sums: list[int]) -> Fraction:
        """Give what r·x + b·y is at least, times the denominator, if r has the right signs."""
        total = Fraction(sum(a * b for a, b in zip(y.numbers, self.elastic.right, strict=True)))
        for r, lower, upper in zip(sums, *self.elastic.bounds, strict=True):
            end = lower if r > 0 else upper
            total += r * end if end is not None else 0
        return total

    @cached_property
    def _inward(self) -> tuple[np.ndarray, np.ndarray]:
        """Give z, and by how much r has the right sign for it in each column, at most 1.

        An interior method gives both their room, and that in most columns, where it exists.
        """
        prone = np.flatnonzero(self.signs | self.free)
        bounded = self.signs[prone].astype(np.float64)
        turned = sparse.diags(-np.where(bounded, bounded, 1.0)) @ self.matrix[:, prone].T
        slack = np.flatnonzero(bounded)
        rooms = sparse.csr_matrix(
            (-np.ones(slack.size), (slack, np.arange(slack.size))), (prone.size, slack.size)
        )
        matrix = sparse.csr_matrix(sparse.hstack([turned, rooms]))
        count = self.rows.size
        cost = np.append(np.zeros(count), -np.ones(slack.size))
        lower = np.append(np.where(self.elastic.equal, -1.0, 0.0), np.zeros(slack.size))
        row_ends = np.zeros(prone.size), np.where(bounded, np.inf, 0.0)
        solver = solver_with({"solver": "ipm", "run_crossover": "off"})
        load(solver, cost, (lower, np.ones(cost.size)), row_ends, matrix)
        run(solver, self.clock.left())
        z = np.array(solver.getSolution().col_value[:count])
        if not np.isfinite(z).all():
            z = np.zeros(count)
        return z, self.signs * -(self.matrix.T @ z)

    def _projected(self, y: Rationals, rigid: np.ndarray) -> Rationals | None:
        """Change y on some rows so that r is zero in some columns."""
        if rigid.size > MOST:
            return None
        if not rigid.size:
            return y
        order = self._movable(y, rigid)
        part = self.elastic.A.part(order, rigid)
        base = pivots(part, self.clock.left)
        chosen = np.array(base.columns, np.int64)
        K = part.part(np.array(base.rows, np.int64), chosen).transposed()
        sums = self._sums(y)
        change = solved(K, [sums[j] for j in rigid[chosen].tolist()], self.clock.left)
        if change is None:
            return None
        numbers = [a * change.denominator for a in y.numbers]
        for i, more in zip(order[base.rows].tolist(), change.numbers, strict=True):
            numbers[i] += more
        return Rationals(numbers, y.denominator * change.denominator)

    def _movable(self, y: Rationals, rigid: np.ndarray) -> np.ndarray:
        """Give as many rows as there are columns, far from dependent, whose y may change most."""
        pairs = zip(y.numbers, self.rows.tolist(), strict=True)
        sizes = np.array([scaled(abs(a), -power, y.denominator) for a, power in pairs])
        weights = np.where(self.elastic.equal, 1.0, np.minimum(sizes / sizes.max(), 1.0))
        dense = self.matrix[:, rigid].multiply(weights[:, None]).toarray()
        return np.asarray(scipy.linalg.qr(dense.T, mode="r", pivoting=True)[1][: rigid.size])


def _dyadic(y: Rationals) -> Rationals:
    """Round to a binary fraction, with digits to spare beside those of the largest number."""
    digits = max(0, y.denominator.bit_length() - max(map(int.bit_length, y.numbers))) + SPARE
    return Rationals([(a << digits) // y.denominator for a in y.numbers], 1 << digits)
