"""One question: the simple ways of answering it first, then the way that always ends.

Contradictions   equal rows of both classes, and zeros, say at once that nothing separates
Passes           of the perceptron (`methods.relaxation`), which also tell the hard rows
Stumps           single columns that settle rows
Newton, floats   where products of matrices, or a program without an objective, are quick
Face             of the rows that are left (`faces`): all three verdicts, with a proof
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy import sparse

from rosenblatt.certificates import Number
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.solver import any_point
from rosenblatt.decide.equals import contradictions, first_of_equals, without_zeros
from rosenblatt.decide.separability.faces import FaceSearch
from rosenblatt.decide.separability.newton import by_newton
from rosenblatt.decide.separability.separation import Separation
from rosenblatt.decide.separability.stumps import Stumps, stumps
from rosenblatt.decide.separability.verdicts import Asked, Shares, Verdicts
from rosenblatt.decimals import SparseDecimals, marked
from rosenblatt.exact.numbers import is_exact
from rosenblatt.exact.signed import SignedRows
from rosenblatt.matrices import Matrix, radius
from rosenblatt.methods.relaxation import relaxed
from rosenblatt.pauses import OutOfTimeError, pausing

# Passes are cheap beside a linear program: some hundred, as long as they read so many entries.
FEW_PASSES, MANY_PASSES, PASS_ENTRIES = 12, 200, 5 * 10**7
AT_ONCE = 2 * 10**7  # rows times squared coordinates that take no longer than many passes
WIDE = 500  # coordinates
# Newton's method pays from so many columns on, up to so much work.
NEWTON_COLUMNS, NEWTON_WORK = 50, 4 * 10**9
TALL = 64  # rows for each coordinate, beyond which a part of them tells most
NEWTON_SHARE = 0.25  # of the entries that are not zero, at least
FEW_ROWS = 8  # for each of so many coordinates
FULL, SMALL = 4, 2**20  # sparse rows up to this size with an entry in four are no longer sparse

Tried = tuple[list[Number] | None, np.ndarray]  # a point that separates, and hints


def as_dense_if_full(X: Matrix) -> Matrix:
    """Give sparse rows that are small and nearly full as an array, which is quicker to look at."""
    cells = X.shape[0] * X.shape[1]
    if not sparse.issparse(X) or cells > min(SMALL, FULL * X.nnz):
        return X
    dense = X.toarray()
    return marked(dense, X.written) if isinstance(X, SparseDecimals) else dense


class Question:
    """One question, and what is known of its answer."""

    def __init__(self, asked: Asked, clock: Clock) -> None:
        rows, self.lifted, self.clock = asked.rows, asked.lifted, clock
        self.X, self.signs = rows.X, rows.signs
        self.cone = SignedRows(as_dense_if_full(rows.X), rows.signs, rows.lift)
        self.verdicts = Verdicts(asked, self.cone, clock)
        self.clashes: list[Shares] = []
        self.tried: list[Number] | None = None
        self.steps: np.ndarray | None = None

    def answer(self) -> Separation:
        """Decide in what is left of the time, or tell what is known by then."""
        try:
            with pausing(self.clock.left):
                return self.decide()
        except (OutOfTimeError, KeyboardInterrupt) as ended:
            clash = self.clashes[0] if self.clashes else None
            why = self.clock.stopped_by(ended)
            return self.verdicts.undecided(why, clash, self.tried, self.steps)

    def decide(self) -> Separation:
        """Try the simple ways first, then decide."""
        self.clashes = self._clashes()
        hints = np.zeros(self.cone.size)
        if not self.clashes:
            point, hints = self._by_passes(hints)
            if point is not None:
                return self.verdicts.separable(point)
        settled = stumps(self.cone, self.clock)
        if not settled.left.size:
            return self.verdicts.separable(self._shorter(settled.extended(None)))
        core, hints = settled.core(), hints[settled.left]
        for simple in () if self.clashes else (self._by_newton, self._of_wide_rows):
            w, hints = simple(core, hints)
            point = None if w is None else self._confirmed(settled.extended(core.unscaled(w)))
            if point is not None:
                return self.verdicts.separable(point)
        return self._by_face(settled, core, hints)

    def _by_face(self, settled: Stumps, core: SignedRows, hints: np.ndarray) -> Separation:
        """Decide by the face of the rows that single columns have left."""
        search, names = FaceSearch(core, hints, self.clock), settled.left
        clashing = [i for pair in self.clashes for i in pair]
        search.take(np.searchsorted(names, np.array(clashing, np.int64)))
        face = search.face()
        point = face.point
        if settled.rounds:
            point = settled.extended(point)
        if not face.weights:
            assert point is not None
            return self.verdicts.separable(self._shorter(point))
        few = face.weights if point is None else search.circuit(face)
        few = {int(names[i]): weight for i, weight in few.items()}
        basis = names[face.basis]
        if point is None:
            found = self.verdicts.inseparable(few, basis)
        else:
            found = self.verdicts.weakly(point, self.clashes[0] if self.clashes else few)
        return replace(found, design=found.design and replace(found.design, basis=basis.tolist()))

    def _by_newton(self, core: SignedRows, hints: np.ndarray) -> Tried:
        """Try Newton's method, which is quick where products of matrices are."""
        n, d = core.size, core.dimension
        suits = d >= NEWTON_COLUMNS and n <= TALL * d and n * d**2 <= NEWTON_WORK
        if not suits or core.entries < NEWTON_SHARE * n * d:
            return None, hints
        rows = core.scaled(np.arange(n))
        rows = (rows.toarray() if sparse.issparse(rows) else rows) / core.norms[:, None]
        found = by_newton(rows, self.clock.left)
        return found.w.tolist() if found.losses.max() < 1 else None, found.losses

    def _of_wide_rows(self, core: SignedRows, hints: np.ndarray) -> Tried:
        """Try a program without an objective, which is quick where there are many columns."""
        wide = core.dimension > WIDE and core.size < FEW_ROWS * core.dimension
        if not wide or not sparse.issparse(core.X):
            return None, hints
        rows = core.scaled(np.arange(core.size))
        w = any_point(sparse.diags(1 / core.norms) @ rows, self.clock.left())
        return None if w is None else w.tolist(), hints

    def _confirmed(self, point: list[Number]) -> list[Number] | None:
        return point if self.verdicts.least(point) > 0 else None

    def _shorter(self, point: list[Number]) -> list[Number]:
        """Give floats in place of long integers, if they do the same."""
        largest = max(abs(Fraction(value)) for value in point)
        rounded: list[Number] = [float(Fraction(value) / largest) for value in point]
        return rounded if self.verdicts.least(rounded) > 0 else point

    @cached_property
    def stored(self) -> Matrix:
        """The rows without the zeros that a sparse matrix may store."""
        return self.X if is_exact(self.X) else without_zeros(self.X)

    @cached_property
    def empty(self) -> np.ndarray:
        """Tell which rows are zero, which one proof settles for all."""
        X = self.stored
        if self.lifted:
            return np.zeros(self.cone.size, bool)
        filled = np.diff(X.indptr) if sparse.issparse(X) else (X != 0).any(axis=1)
        return np.asarray(filled == 0)

    def _clashes(self) -> list[Shares]:
        """Find rows that are zero, and rows that also occur in the other class."""
        found = [{int(i): Fraction(1)} for i in np.flatnonzero(self.empty)[:1]]
        first = first_of_equals(self.stored)
        twins = contradictions(self.signs, first)[: 4 * self.cone.dimension]
        pairs = {int(first[i]): int(i) for i in twins if not self.empty[i]}
        half = Fraction(1, 2)
        return found + [{one: half, other: half} for one, other in pairs.items()]

    def _by_passes(self, hints: np.ndarray) -> Tried:
        """Make some passes; give a point if it separates, and how hard each row was."""
        largest = 0.0 if is_exact(self.X) else radius(self.X)
        if not 1e-100 < largest < 1e100:
            return None, hints
        # A power of two keeps the weights of whole numbers whole, in this unit at least.
        lift = 2.0 ** (round(math.log2(largest)) - 2) if self.lifted else 0.0
        n, d = self.cone.size, self.cone.dimension
        passes = max(FEW_PASSES, min(MANY_PASSES, PASS_ENTRIES // max(1, self.cone.entries)))
        if n * d**2 <= AT_ONCE or n > TALL * d:
            passes = FEW_PASSES
        found = relaxed(self.X, self.signs, lift, passes, self.clock.left)
        self.steps = found.steps
        point: list[Number] = found.w[:-1].tolist()
        if self.lifted:
            point.append(float(found.w[-1]) * lift)
        self.tried = point
        wrong = found.wrong or self.verdicts.least(point) <= 0
        return None if wrong else point, found.steps
