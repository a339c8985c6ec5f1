"""The three cases of rows z at once: an exact w, positive on as many rows as possible.

Program     max Σ p  subject to  Σ (p + q)·z = 0,  0 <= p <= 1,  q >= 0         (its dual is Konis')
Optimum     λ = p + q is positive exactly on the *face*: the rows on which every w with Z w >= 0
            vanishes. The multipliers of the equations are a w with Z w >= 0 that is positive on
            all other rows                                                            (theory D9)
Method      the program for a working set of rows in floats; rows that its w gets wrong join the
            set. Then its optimum in exact numbers, looked at on all rows: those that w gets wrong,
            or that are zero without lying in the span of the face, join the set, until none does.
Sources     Konis 2007 (the program); Kelley 1960 (constraint generation)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.certificates import Number
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.circuits import spanning
from rosenblatt.decide.floats import basis_of, load, run, solver_with
from rosenblatt.decide.optimum import optimum
from rosenblatt.decide.signed import SignedRows
from rosenblatt.exact.integers import Integers, row_sizes
from rosenblatt.exact.linear import entry_powers
from rosenblatt.exact.products import signs_of_products
from rosenblatt.exact.programs import AT_LOWER, BASIC, Basis, Program, Vertex, is_optimal, vertex
from rosenblatt.exact.spans import Span, pivots

# Problems with fewer rows, or fewer per coordinate, are looked at as a whole.
WHOLE, WHOLE_SHARE = 512, 8
AT_ONCE = 8000  # entries up to which overlap is looked for before anything else
ROWS_AT_A_TIME = 2**14
WRONG = 1e-9  # what a product of a scaled row and w is below zero if floats see it as wrong


@dataclass(frozen=True)
class Face:
    """Rows on which every w with Z w >= 0 vanishes, and such a w.

    Attributes
    ----------
    rows : rows that span the face.
    integers, factors : these rows as integers, and the factors that made them so.
    shares : positive weights of the integers that sum to zero.
    point : w, positive on all rows off the face; None if all rows lie in its span.
    """

    rows: np.ndarray
    integers: Integers
    factors: list[Fraction]
    shares: list[int]
    point: list[Number] | None

    def weights(self, shares: Sequence[int] | None = None) -> dict[int, Fraction]:
        """Give the weights of rows, Σ weight·z = 0, for the shares known or for others."""
        given = self.shares if shares is None else shares
        triples = zip(self.rows.tolist(), self.factors, given, strict=False)  # slacks may follow
        return {i: factor * share for i, factor, share in triples if share}


class FaceSearch:
    """The working set of rows, and what is known from it.

    Parameters
    ----------
    cone : the rows.
    hints : a number for each row, larger for those likely to matter.
    """

    def __init__(self, cone: SignedRows, hints: np.ndarray, clock: Clock) -> None:
        self.cone, self.clock = cone, clock
        self.taken = np.zeros(cone.size, bool)
        self.familiar: tuple[np.ndarray, np.ndarray] | None = None
        self.working = np.zeros(0, np.int64)
        self.rows, self.factors = cone.integers(self.working)
        self.take(self._first(hints))

    def _first(self, hints: np.ndarray) -> np.ndarray:
        """Choose the rows to begin with: all, or those with the largest hints, and some more."""
        size, count = self.cone.size, 2 * self.cone.dimension + 20
        if size <= max(WHOLE, WHOLE_SHARE * self.cone.dimension):
            return np.arange(size)
        hardest = np.argsort(-hints, kind="stable")[:count]
        return np.union1d(hardest, np.linspace(0, size - 1, count).astype(np.int64))

    def take(self, rows: np.ndarray) -> None:
        """Let rows join the working set."""
        fresh = np.unique(rows[~self.taken[rows]])
        self.taken[fresh], self.familiar = True, None
        self.working = np.concatenate([self.working, fresh])
        made, factors = self.cone.integers(fresh)
        self.rows, self.factors = self.rows.above(made), self.factors + factors

    def of_all_rows(self) -> Face | None:
        """Look for weights that are positive on rows that span all others, if those are few.

        Most small data overlap, and then no other program has to be solved.
        """
        if self.cone.size * self.cone.dimension > AT_ONCE or not self.taken.all():
            return None
        base = pivots(self.rows, self.clock.left).rows
        found = spanning(self.rows, base, self.clock) if base else None
        if found is None:
            return None
        held = np.flatnonzero([share > 0 for share in found.numbers])
        return self._face(held, found.numbers, [])

    # ---- in floats

    def guess(self) -> tuple[Basis, list[Number]]:
        """Let rows join until floats see no stranger; give their basis and w."""
        while True:
            basis, w, shares = self._solved()
            products = self.cone.products(w) / self.cone.norms
            near = WRONG * np.abs(w).max()
            signs = np.where(products > near, 1, np.where(products < -near, -1, 0))
            fresh = self._strangers(signs, products, np.flatnonzero(shares > WRONG))
            if not fresh.size:
                return basis, self.cone.unscaled(w.tolist())
            self.take(fresh)

    def _solved(self) -> tuple[Basis, np.ndarray, np.ndarray]:
        """Solve the program of the working set; give its basis, w in scaled coordinates, and λ."""
        rows = self.rows
        shifts = np.array([1 - size.bit_length() for size in row_sizes(rows)], np.int64)
        floats = rows.floats(entry_powers(rows, shifts, np.zeros(rows.width, np.int64)))
        n, d = floats.shape
        twice = sparse.hstack([floats.T, floats.T], format="csc")
        solver: Any = solver_with({"presolve": "off"})
        ends, nothing = (np.zeros(2 * n), np.repeat([1.0, np.inf], n)), np.zeros(d)
        load(solver, np.repeat([-1.0, 0.0], n), ends, (nothing, nothing), twice)
        run(solver, self.clock.left())
        found = solver.getSolution()
        shares = np.array(found.col_value)
        return basis_of(solver), -np.array(found.row_dual), shares[:n] + shares[n:]

    # ---- in exact numbers

    def face(self, basis: Basis) -> Face:
        """Go on from a basis of the working set to the face of all rows."""
        cone = self.cone
        while True:
            found = self._optimum(_program(self.rows), basis)
            point = cone.unscaled_direction([-value for value in found.y.numbers])
            shares = [p + q for p, q in zip(*_halves(found.x.numbers), strict=True)]
            held = np.flatnonzero([share > 0 for share in shares])
            fresh = np.zeros(0, np.int64)
            if not self.taken.all():
                signs = signs_of_products(cone.X, cone.signs, cone.lift, point)
                products = cone.products_with(cone.nearby(point)) / cone.norms
                fresh = self._strangers(signs, products, held)
            if not fresh.size:
                return self._face(held, shares, point)
            self.take(fresh)
            basis, _ = self.guess()

    def _face(self, held: np.ndarray, shares: list[int], point: list[int]) -> Face:
        return Face(
            self.working[held],
            self.rows.part(held, np.arange(self.cone.dimension)),
            [self.factors[k] for k in held.tolist()],
            [shares[k] for k in held.tolist()],
            _divided(point) if any(point) else None,
        )

    def _optimum(self, program: Program, basis: Basis) -> Vertex:
        found = vertex(program, basis, self.clock.left)
        if found is not None and is_optimal(program, found):
            return found
        start = Basis(
            np.full(program.A.width, AT_LOWER, np.int8), np.full(program.A.size, BASIC, np.int8)
        )
        return optimum(program, start, self.clock)[1]

    def _strangers(self, signs: np.ndarray, products: np.ndarray, face: np.ndarray) -> np.ndarray:
        """Find rows that the working set does not speak for, or some of them if they are many.

        They are negative; or zero, and off the span of the face, which is a part of the set.
        """
        if self.familiar is not None and all(map(np.array_equal, self.familiar, (signs, face))):
            return np.zeros(0, np.int64)  # exact numbers say what floats have said
        self.familiar, most = (signs, face), 2 * self.cone.dimension + 20
        wrong = np.flatnonzero((signs < 0) & ~self.taken)
        if wrong.size > most:
            wrong = wrong[np.argpartition(products[wrong], most)[:most]]
        zero = np.flatnonzero((signs == 0) & ~self.taken)
        if zero.size:
            span = Span(self.rows.part(face, np.arange(self.cone.dimension)), self.clock.left)
            full = span.rank == self.cone.used.size  # so that nothing lies outside
            zero = zero[:0] if full else zero[self._outside(span, zero)]
        return np.union1d(wrong, zero[:most])

    def _outside(self, span: Span, rows: np.ndarray) -> np.ndarray:
        """Tell which rows lie off a span, some thousands of rows at a time."""
        parts = np.array_split(rows, 1 + rows.size // ROWS_AT_A_TIME)
        return np.concatenate([span.outside(self.cone.integers(part)[0]) for part in parts])


def _program(rows: Integers) -> Program:
    """Give the program of some rows, in which p is at most about 1 for rows of about size 1."""
    sizes, nothing = row_sizes(rows), [0] * rows.size
    twice = rows.above(rows).transposed()
    upper = [*(Fraction(1, size) for size in sizes), *[None] * rows.size]
    zeros = [0] * rows.width
    cost = [*(-size for size in sizes), *nothing]
    return Program(twice, cost, (zeros, zeros), ([0] * twice.width, upper))


def _halves(values: list[int]) -> tuple[list[int], list[int]]:
    middle = len(values) // 2
    return values[:middle], values[middle:]


def _divided(point: list[int]) -> list[Number]:
    divisor = math.gcd(*point)
    return [value // divisor for value in point]
