"""The three cases of rows z at once: an exact w, positive on as many rows as possible.

Face        the rows on which every w with Z w >= 0 vanishes. Positive weights λ of rows that span
            it, Σ λ·z = 0, prove that they lie in it; a w with Z w >= 0 that is positive on all
            other rows proves that these do not                                       (theory D9)
Method      floats see the face of a working set of rows; rows that its w gets wrong join the set.
            Then in exact numbers: few weights from one square system, w from another one, zero on
            the face and near the floats in the columns that are left. Rows that w gets wrong, or
            that are zero without lying in the span of the face, join the set, until none does.
Program     where floats mislead: the optimum of  max Σ p, Σ (p + q)·z = 0, 0 <= p <= 1, q >= 0,
            for which λ = p + q, and w are the multipliers of the equations
Sources     Konis 2007 (its dual); Kelley 1960 (constraint generation)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np
from scipy import sparse

from rosenblatt.blocks import one_blas_thread
from rosenblatt.certificates import Number
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.circuits import circuit, spanning
from rosenblatt.decide.engine.optimum import optimum
from rosenblatt.decide.separability.balances import Balance, Balancing
from rosenblatt.decide.separability.projection import Glance, face_of
from rosenblatt.exact.integers import Integers, row_sizes, scattered
from rosenblatt.exact.linear import solved
from rosenblatt.exact.products import signs_of_products
from rosenblatt.exact.programs import AT_LOWER, BASIC, Basis, Program
from rosenblatt.exact.signed import SignedRows
from rosenblatt.exact.spans import Pivots, pivots

# Problems with fewer rows, or fewer per coordinate, are looked at as a whole.
WHOLE, WHOLE_SHARE = 512, 8
DENSE = 2**24  # entries of a working set that floats look at
WRONG = 1e-9  # what a product of a scaled row and w is below zero if floats see it as wrong
PRUNED = 2 * 10**5  # rows times their rank, up to which it pays to rest a proof on fewer
DIGITS, CHANCE = 36, 26  # binary digits of w that floats tell, and that are drawn at random


@dataclass(frozen=True)
class Face:
    """Rows on which every w with Z w >= 0 vanishes, and such a w.

    Attributes
    ----------
    weights : positive ones of rows that span the face, Σ weight·z = 0.
    basis : some of these rows, independent.
    point : w, positive on all rows off the face; None if all rows lie in its span.
    probe : a vector at random that is orthogonal to the basis; None if there is none, or w is one.
    """

    weights: dict[int, Fraction]
    basis: np.ndarray
    point: list[Number] | None
    probe: list[Number] | None = None


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
        self.working = np.zeros(0, np.int64)
        self.most = 2 * cone.dimension + 20  # rows that join at a time
        self.floats = np.zeros((0, cone.used.size))
        self.powers = np.zeros(0, np.int64)
        self.balancing: Balancing | None = None
        self.take(self._first(hints))

    def _first(self, hints: np.ndarray) -> np.ndarray:
        """Choose the rows to begin with: all, or those with the largest hints, and some more."""
        size = self.cone.size
        if size <= max(WHOLE, WHOLE_SHARE * self.cone.dimension):
            return np.arange(size)
        hardest = np.argsort(-hints, kind="stable")[: self.most]
        return np.union1d(hardest, np.linspace(0, size - 1, self.most).astype(np.int64))

    def take(self, rows: np.ndarray) -> None:
        """Let rows join the working set."""
        fresh = np.unique(rows[~self.taken[rows]])
        self.taken[fresh] = True
        self.working = np.concatenate([self.working, fresh])

    def face(self) -> Face:
        """Let rows join until the face of the working set is that of all rows."""
        while True:
            found = self._by_floats()
            wrong = self.working if found is None else self._wrong(found)
            if found is None or self.taken[wrong].any():  # floats were misled
                found = self._by_program()
                wrong = self._wrong(found)
            if not wrong.size:
                return found
            self.take(wrong[: self.most])

    def _wrong(self, face: Face) -> np.ndarray:
        """Find rows that are negative, or zero without lying in the span of the face."""
        signs = np.zeros(self.cone.size, np.int8)
        if face.point is not None:
            signs = self._signs(face.point)
        wrong = signs < 0
        if not face.weights:
            wrong |= signs == 0
        elif face.probe is not None:
            wrong |= (signs == 0) & (self._signs(face.probe) != 0)
        return np.flatnonzero(wrong)

    def _signs(self, point: list[Number]) -> np.ndarray:
        return signs_of_products(self.cone, point)

    # ---- in floats

    def _glance(self) -> Glance | None:
        """Let rows join until floats see none that w gets wrong; None where they see nothing."""
        while self.working.size * self.cone.dimension <= DENSE and self._see():
            with one_blas_thread:
                glance = face_of(self.floats, self.clock.left)
            w = np.zeros(self.cone.dimension)
            w[self.cone.used] = glance.w
            glance = glance._replace(w=w)
            if not w.any():
                return glance
            products = self.cone.products(glance.w) / self.cone.norms
            wrong = np.flatnonzero((products < -WRONG * np.abs(glance.w).max()) & ~self.taken)
            if not wrong.size:
                return glance
            if wrong.size > self.most:
                wrong = wrong[np.argpartition(products[wrong], self.most)[: self.most]]
            self.take(wrong)
        return None

    def _see(self) -> bool:
        """Turn rows that have joined into floats, their largest entries about 1, if they can."""
        made = self.cone.scaled(self.working[self.powers.size :])
        made = (made.toarray() if sparse.issparse(made) else made)[:, self.cone.used]
        powers = -np.frexp(np.abs(made).max(axis=1, initial=0.0))[1].astype(np.int64)
        self.powers = np.append(self.powers, powers)
        self.floats = np.vstack([self.floats, np.ldexp(made, powers[:, None])])
        return bool(np.isfinite(self.floats).all())

    # ---- in exact numbers

    def _by_floats(self) -> Face | None:
        """Give the face that floats see, made exact; None if they were misled."""
        glance, none = self._glance(), self.working[:0]
        if glance is None:
            return None
        if not glance.face.size:
            return Face({}, none, self.cone.unscaled(glance.w.tolist()))
        found: Balance | None = None
        if not glance.reasons.size:  # nothing but zeros, unless entries were lost as too small
            zeros = (i for i in self.working[glance.face].tolist() if not self.cone.row(i))
            zero = {i: Fraction(1) for i in islice(zeros, 1)}
            if zero:
                found = Balance(zero, self.cone.integers(none)[0], Pivots([], []), none)
        else:
            on = glance.reasons
            self.balancing = Balancing(
                self.cone, self.working[on], self.floats[on], self.powers[on], self.clock
            )
            found = self.balancing.spanning()
        if found is None or any(i not in found.weights for i in found.basis.tolist()):
            return None
        probe = self._orthogonal(found.rows, found.base, glance.w)
        if not glance.w.any():
            return Face(found.weights, found.basis, None, probe)
        return None if probe is None else Face(found.weights, found.basis, probe)

    def circuit(self, face: Face) -> dict[int, Fraction]:
        """Give weights of few rows of a face that sum to zero."""
        if self.balancing is not None:
            found = self.balancing.among(face.weights).circuit()
            if found is not None:
                return found.weights
        names = np.array([*face.weights], np.int64)
        rows, factors = self.cone.integers(names)
        few = circuit(rows, np.arange(rows.size), self.clock)
        if few is None:
            return face.weights
        triples = zip(names.tolist(), factors, few.numbers, strict=False)  # slacks may follow
        return {i: factor * share for i, factor, share in triples if share}

    def _orthogonal(self, rows: Integers, base: Pivots, w: np.ndarray) -> list[Number] | None:
        """Give a vector near w, with digits at random, that is orthogonal to the base."""
        columns = np.array(base.columns, np.int64)
        free = np.setdiff1d(self.cone.used, columns)
        if not free.size:
            return None
        shown = np.ldexp(w[free] / (np.abs(w).max() or 1.0), DIGITS)
        drawn = np.random.default_rng(0).integers(1, 2**CHANCE, free.size)
        values = ((np.rint(shown).astype(np.int64) << CHANCE) + drawn).tolist()
        held = np.array(base.rows, np.int64)
        right = rows.part(held, free).times(values)
        found = solved(rows.part(held, columns), [-v for v in right], self.clock.left)
        if found is None:
            return None
        scaled = [value * found.denominator for value in values]
        places = [*free.tolist(), *base.columns]
        return self._divided(scattered(places, [*scaled, *found.numbers], rows.width))

    def _divided(self, vector: list[int]) -> list[Number]:
        """Give a vector of the scaled coordinates as one of the rows, as short as can be."""
        wide = self.cone.unscaled_direction(vector)
        divisor = math.gcd(*wide)
        return [value // divisor for value in wide]

    def _by_program(self) -> Face:
        """Give the face of the working set by the exact optimum of a program."""
        rows, factors = self.cone.integers(self.working)
        program = _program(rows)
        start = Basis(
            np.full(program.A.width, AT_LOWER, np.int8), np.full(program.A.size, BASIC, np.int8)
        )
        found, self.balancing = optimum(program, start, self.clock)[1], None
        p, q = found.x.numbers[: rows.size], found.x.numbers[rows.size :]
        held = np.flatnonzero([a + b > 0 for a, b in zip(p, q, strict=True)])
        shares = [p[k] + q[k] for k in held.tolist()]
        face = rows.part(held, np.arange(rows.width))
        base, vector = pivots(face, self.clock.left), [-value for value in found.y.numbers]
        if base.rows and 2 * len(base.rows) < held.size <= PRUNED // len(base.rows):
            few = spanning(face, base.rows, self.clock, there_are=True)
            shares = shares if few is None else few.numbers
        triples = zip(self.working[held].tolist(), held.tolist(), shares, strict=False)
        return Face(
            {i: factors[k] * share for i, k, share in triples if share},
            self.working[held[base.rows]],
            self._divided(vector) if any(vector) else None,
            self._orthogonal(face, base, np.zeros(rows.width)),
        )


def _program(rows: Integers) -> Program:
    """Give the program of some rows, in which p is at most about 1 for rows of about size 1."""
    sizes, nothing = row_sizes(rows), [0] * rows.size
    twice = rows.above(rows).transposed()
    upper = [*(Fraction(1, size) for size in sizes), *[None] * rows.size]
    zeros = [0] * rows.width
    cost = [*(-size for size in sizes), *nothing]
    return Program(twice, cost, (zeros, zeros), ([0] * twice.width, upper))
