"""A system of inequalities as linear programs, and Farkas' proof that it has no solution.

Strict      among the solutions, max t <= 1 with a·x - D t >= b on the strict rows. If the largest
            t is 0, its multipliers prove that no solution is strict on all of them
Inside      max t <= 1 with a·x - D t >= b on all rows: a point that rounding does not lead out
Proof       multiplied rows and bounds that add up to 0 >= b for some b > 0, or to 0 > 0
Symbols     D powers of two of about the size of the rows                          (theory D11)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.certificates import Number
from rosenblatt.check.subjects import System
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.circuits import circuit
from rosenblatt.decide.engine.elastic import Elastic
from rosenblatt.exact.digest import EQUAL, MORE_THAN
from rosenblatt.exact.integers import Integers, Rationals, whole_float_rows, whole_rows
from rosenblatt.exact.numbers import is_plain
from rosenblatt.exact.programs import End, Program
from rosenblatt.exact.spans import least_rank
from rosenblatt.pauses import pause

MANY = 300  # rows and bounds of a proof: to find fewer takes longer than to decide


class Contradiction(NamedTuple):
    """Multipliers of rows, of lower and of upper bounds, that add up to 0 >= b for some b > 0.

    If a strict row is among them, b = 0 is enough.
    """

    rows: dict[int, Fraction]
    lower: dict[int, Fraction]
    upper: dict[int, Fraction]


class ElasticSystem(Elastic):
    """Some rows of a system as integers (a, -b), each times a positive factor."""

    def __init__(self, system: System, rows: np.ndarray) -> None:
        self.rows = rows
        self.joined, self.factors = _with_right_sides(system, rows)
        pause()
        A = self.joined.part(np.arange(rows.size), np.arange(system.columns))
        pause()
        right = [-value for value in self.joined.times([0] * A.width + [1])]
        pause()
        pairs = system.pairs or [(None, None)] * A.width
        lower, upper = ([_fraction(pair[side]) for pair in pairs] for side in (0, 1))
        super().__init__(A, right, system.tags[rows] == EQUAL, (lower, upper))
        self.strict = np.flatnonzero(system.tags[rows] == MORE_THAN)

    def inside_program(self) -> Program:
        """Give the program for the largest t that all rows have to spare."""
        sizes = [-size for size in self.sizes]
        A = self.A.with_columns(np.arange(len(sizes)), np.zeros(len(sizes), np.int64), sizes)
        lower, upper = self.bounds
        return Program(A, [0] * self.width + [-1], self.row_ends, ([*lower, 0], [*upper, 1]))

    def vertex_digits(self) -> float:
        """Tell how many binary digits the numbers of a vertex may have."""
        sizes = self.A.sizes()
        return min(self.A.size, self.width) * float(sizes.sum()) / max(1, sizes.size)

    def strict_program(self, program: Program) -> Program:
        """Give the program for the largest t, in a column behind all others; rows stay rigid."""
        sizes = [-self.sizes[i] for i in self.strict.tolist()]
        A = program.A.with_columns(self.strict, np.zeros(len(sizes), np.int64), sizes)
        lower, upper = program.column_ends
        rigid = [*upper[: self.width], *[0] * (len(upper) - self.width), 1]
        return Program(A, [0] * len(upper) + [-1], program.row_ends, ([*lower, 0], rigid))

    def contradiction(self, y: Rationals, sums: list[int], clock: Clock) -> Contradiction:
        """Give multipliers of rows, and those of bounds, or some on fewer rows and bounds."""
        rows = {k: self.factors[k] * number for k, number in enumerate(y.numbers) if number}
        costs = [(j, Fraction(cost)) for j, cost in enumerate(sums[: self.width]) if cost]
        lower = {j: cost for j, cost in costs if cost > 0}
        upper = {j: -cost for j, cost in costs if cost < 0}
        every = Contradiction(rows, lower, upper)
        few = self._fewer(every, clock) or every
        named = {int(self.rows[k]): weight for k, weight in few.rows.items()}
        return few._replace(rows=named)

    def _fewer(self, given: Contradiction, clock: Clock) -> Contradiction | None:
        """Find multipliers on as few of some rows and bounds as there are columns, and some more.

        If the row (0, 1) of t > 0, which b belongs to, is one of them, the multiplied rows add up
        to zero in each column. A vertex of the multipliers of limited size with most on t and on
        the strict rows is not zero on few rows only.
        """
        places = np.array([*given.rows], np.int64)
        if sum(map(len, given)) > MANY:
            return None
        equations = np.flatnonzero(self.equal[places])  # whose multipliers may be negative
        sides = [*((j, 0) for j in given.lower), *((j, 1) for j in given.upper)]
        more, factors = whole_rows([*map(self._bound, sides), [(self.width, 1)]], self.width + 1)
        rows = self.joined.part(places, np.arange(self.width + 1)).above(more)
        if least_rank(rows, clock.left) == rows.size - 1:
            return None  # no other multipliers, so that none is zero on more rows
        negated = rows.part(equations, np.arange(self.width + 1)).negated()
        found = circuit(rows.above(negated), self._wanted(places, rows.size), clock)
        if found is None:
            return None
        numbers = found.numbers
        for k, number in zip(equations.tolist(), numbers[rows.size :], strict=True):
            numbers[k] -= number
        weights = [self.factors[k] * number for k, number in zip(places, numbers, strict=False)]
        bounds = [f * n for f, n in zip(factors, numbers[places.size : rows.size], strict=True)]
        pairs = list(zip(sides, bounds, strict=False))
        return Contradiction(
            {k: weight for k, weight in zip(places.tolist(), weights, strict=True) if weight},
            {j: weight for (j, side), weight in pairs if weight and side == 0},
            {j: weight for (j, side), weight in pairs if weight and side == 1},
        )

    def _wanted(self, places: np.ndarray, last: int) -> np.ndarray:
        """Give the places of strict rows, and of t > 0 behind the last row."""
        return np.append(np.flatnonzero(np.isin(places, self.strict)), last - 1)

    def _bound(self, side: tuple[int, int]) -> list[tuple[int, Number]]:
        """Give a bound as a row (1, -lower) or (-1, upper)."""
        column, which = side
        sign, end = 1 - 2 * which, self.bounds[which][column]
        return [(column, sign), (self.width, -sign * end)]  # type: ignore[operator]


def _fraction(end: Number | None) -> End:
    if end is None or isinstance(end, int):
        return end
    whole = Fraction(end)
    return whole.numerator if whole.denominator == 1 else whole


def _with_right_sides(system: System, rows: np.ndarray) -> tuple[Integers, list[Fraction]]:
    """Give rows (a, -b) times positive factors as integers, and the factors."""
    if is_plain(system.X) and is_plain(system.b):
        X, ends = sparse.csr_matrix(system.X[rows], dtype=np.float64), np.arange(rows.size + 1)
        columns = np.insert(X.indices, X.indptr[1:], system.columns)
        values = np.insert(X.data, X.indptr[1:], -system.b[rows])
        shape = rows.size, system.columns + 1
        return whole_float_rows(sparse.csr_matrix((values, columns, X.indptr + ends), shape))
    return whole_rows((_with_right_side(system, i) for i in rows.tolist()), system.columns + 1)


def _with_right_side(system: System, i: int) -> Sequence[tuple[int, Number]]:
    *entries, (column, right) = system.row(i)
    return [*entries, (column, -right)]
