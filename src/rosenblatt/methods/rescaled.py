"""The rescaled perceptron: steps grow with log 1/γ, not with 1/γ² (theory D13).

Problem     find w with a·w > 0 for every unit row a of A
Phase       from y = 0, add the row b with the smallest b·y, until that is positive; λ are the
            counts of updates divided by their sum, so y is a multiple of Σ λ·b
Thin        if ε = ‖Σ λ·b‖ and j was added most often, every unit y in the cone has
            b_j·y <= ε / λ_j; the space is stretched along u = b_j once that is at most 1/(2√d):
            b ← (I - ½·u·uᵀ)·b for every row, scaled to norm 1 again; M ← M·(I - ½·u·uᵀ)
Answer      w = M·y, since a·M is a multiple of b
Guarantee   a stretch enlarges the cone's share of the sphere by 2 / (1 + 3/(4d))^(d/2) > 1.37,
            so O(d·log 1/γ) stretches suffice, and a phase needs at most 4·d·n² steps

M is as skew as the cone is thin, so rows and map are kept in pairs of floats, hi + lo, of about
106 bits: what float64 loses in stretching back and forth would else be the whole cone past
γ = 1e-12. Phases work on the rounded rows, whose cone is wide.

Sources     Dunagan & Vempala 2008 (random directions); Peña & Soheili 2016 (the rule above);
            Dekker 1971, Ogita, Rump & Oishi 2005 for pairs of floats.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.loops import exact_loop, exact_part, loop, part
from rosenblatt.matrices import Matrix
from rosenblatt.methods.cones import (
    NEGLIGIBLE,
    NO_LIMITS,
    Cone,
    Ending,
    Search,
    SearchLimits,
    search,
)
from rosenblatt.online.driver import PORTION
from rosenblatt.rows import Dense, Rows, add, dot

# The share grows by g = 2·exp(-1.5 / c²) at least if stretches wait for ε / λ_j <= 1/(c·√d), and a
# phase takes at most c²·d·n² steps: log(g) / c² is largest near c = 2.08.
THINNESS = 0.5
# Pairs carry 106 bits: rows shortened more than this, relative to the map, have few of them left.
SKEWEST = 2.0**-90
# A cone of margin 2^-90 takes up at least 2^-90(d-1) / √(2πd) of the sphere, and at most one half
# of it after growing 1.37-fold so many times for each dimension.
STRETCHES_PER_COLUMN = 200
# A point of the stretched cone may be off the original one by rounding; steps towards the middle
# help, unless no float64 vector is inside.
MOST_REFUSALS = 1000

POSITIVE, THIN, PAUSED = range(3)  # how a phase ends
STEPS, MOST = range(2)  # places in the tally: updates in all, most on one row in this phase


class Pairs(NamedTuple):
    """A matrix hi + lo, the entries of lo below half a unit in the last place of those of hi."""

    hi: np.ndarray
    lo: np.ndarray

    @classmethod
    def of(cls, A: np.ndarray) -> Pairs:
        """Copy a matrix of floats."""
        return cls(np.array(A, np.float64, order="C"), np.zeros(A.shape))


def rescaled(A: Matrix, limits: SearchLimits = NO_LIMITS) -> Search:
    """Search by the rescaled perceptron; for few columns, since rows and map become dense.

    Examples
    --------
    >>> import numpy as np
    >>> rescaled(np.array([[1.0, 1.0], [1.0, 0.0], [1e-15, 1.0], [0.0, -1.0]])).rescalings
    25
    """
    return search(A, Rescaled, limits)


class Rescaled:
    """The rescaled perceptron in progress."""

    def __init__(self, cone: Cone) -> None:
        n, d = cone.A.shape
        self.cone = cone
        self.point: np.ndarray | None = None
        self.rescalings = 0
        self.refusals = 0
        self.tally = np.zeros(2, np.int64)
        self.portion = max(1, PORTION // (n * d))
        self.rows = Pairs.of(cone.A.toarray() if sparse.issparse(cone.A) else cone.A)
        self.map = Pairs.of(np.eye(d))
        normalise(self.rows, np.ones(n))
        self.lengths = np.ones(n)  # of the unit rows, times the map
        self.refused = False
        self.best: np.ndarray | None = None
        self.shortest = math.inf
        self._begin_phase()

    @property
    def steps(self) -> int:
        """Count the updates so far."""
        return int(self.tally[STEPS])

    def advance(self, left: int) -> Ending | None:
        """Go on with the phase, and draw the conclusion if it ends."""
        steps = min(left, self.portion)
        rows = Dense(self.rows.hi, 0.0)
        thinness = THINNESS / math.sqrt(self.map.hi.shape[0])
        outcome = phase(rows, self.y, self.counts, self.tally, thinness, steps, self.refused)
        self.refused = self.refused and not steps
        if outcome == POSITIVE:
            return self._try_point()
        if outcome == THIN:
            return self._thin()
        return Ending.STEPS if steps == left else None

    def combination_weights(self) -> np.ndarray | None:
        """Give the shortest combination of the ends of all phases."""
        self._compare()
        return self.best

    def _begin_phase(self) -> None:
        self.y = self.cone.origin()
        self.counts = np.zeros(self.lengths.size, np.int64)
        self.tally[MOST] = 0
        self.refused = False

    def _try_point(self) -> Ending | None:
        w = self.cone.origin()
        multiply(self.map, self.y, w)
        self.point = self.cone.confirm(w)
        if self.point is not None:
            return Ending.FOUND
        self.refused = True
        self.refusals += 1
        return Ending.THIN if self.refusals > MOST_REFUSALS else None

    def _thin(self) -> Ending | None:
        """Stretch the space and begin anew, unless there is nothing to be found."""
        self._compare()
        if self.best is not None and self.shortest <= NEGLIGIBLE and self.cone.vanishes(self.best):
            return Ending.WITNESS
        u = self.rows.hi[self.counts.argmax()].copy()
        shorten(self.rows, u)
        shorten(self.map, u)
        normalise(self.rows, self.lengths)
        self.rescalings += 1
        self._begin_phase()
        return Ending.THIN if self._exhausted() else None

    def _exhausted(self) -> bool:
        d = self.map.hi.shape[0]
        largest = float(np.abs(self.map.hi).max())
        skew = float(self.lengths.min()) / largest
        if largest < 2.0**-100:  # far from underflow; only the ratio of the two matters
            for array in (*self.map, self.lengths):
                array *= 2.0**100
        return skew < SKEWEST or self.rescalings >= STRETCHES_PER_COLUMN * d

    def _compare(self) -> None:
        """Keep the weights of this phase if their combination of the unit rows is the shortest."""
        if not self.counts.any():
            return
        lam = self.counts / self.lengths
        lam /= lam.sum()
        length = float(np.linalg.norm(self.cone.combination(lam)))
        if length < self.shortest:
            self.best, self.shortest = lam, length


@part
def lowest(rows: Rows, n: int, y: np.ndarray) -> tuple[int, float]:
    """Give the row with the smallest b·y, and that."""
    worst, smallest = 0, np.inf
    for i in range(n):
        score = dot(rows, i, y)
        if score < smallest:
            worst, smallest = i, score
    return worst, smallest


@part
def squared(y: np.ndarray) -> float:
    """Give ‖y‖²."""
    total = 0.0
    for j in range(y.size):
        total += y[j] * y[j]
    return total


@loop
def phase(
    rows: Rows,
    y: np.ndarray,
    counts: np.ndarray,
    tally: np.ndarray,
    thinness: float,
    steps: int,
    refused: bool,
) -> int:
    """Add the most violated row until none is, or the cone is thin, or the steps are used up.

    If a positive y was `refused`, the row closest to being violated is added to it first.
    """
    for made in range(steps + 1):
        worst, smallest = lowest(rows, counts.size, y)
        if smallest > 0 and not (refused and made == 0):
            return POSITIVE
        if tally[MOST] > 0 and squared(y) <= (thinness * tally[MOST]) ** 2:
            return THIN
        if made == steps:
            break
        add(rows, worst, 1.0, y)
        counts[worst] += 1
        tally[STEPS] += 1
        tally[MOST] = max(tally[MOST], counts[worst])
    return PAUSED


@exact_part
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Give a + b rounded, and the rounding error (Knuth)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


@exact_part
def halves(a: float) -> tuple[float, float]:
    """Split a into two floats of at most 26 bits each (Veltkamp)."""
    shifted = 134217729.0 * a  # 2^27 + 1
    high = shifted - (shifted - a)
    return high, a - high


@exact_part
def two_product(a: float, b: float) -> tuple[float, float]:
    """Give a·b rounded, and the rounding error (Dekker)."""
    product = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


@exact_part
def pair_times(hi: float, lo: float, b: float) -> tuple[float, float]:
    """Give a pair times a float, as a pair."""
    product, error = two_product(hi, b)
    return two_sum(product, error + lo * b)


@exact_part
def pair_dot(pairs: Pairs, i: int, u: np.ndarray) -> tuple[float, float]:
    """Give row i times u, as a pair."""
    total, rest = 0.0, 0.0
    for j in range(pairs.hi.shape[1]):
        product, error = two_product(pairs.hi[i, j], u[j])
        total, lost = two_sum(total, product)
        rest += error + lost + pairs.lo[i, j] * u[j]
    return two_sum(total, rest)


@exact_loop
def shorten(pairs: Pairs, u: np.ndarray) -> None:
    """Multiply every row by I - ½·u·uᵀ."""
    for i in range(pairs.hi.shape[0]):
        hi, lo = pair_dot(pairs, i, u)
        for j in range(u.size):
            back_hi, back_lo = pair_times(hi, lo, -0.5 * u[j])
            total, lost = two_sum(pairs.hi[i, j], back_hi)
            rest = lost + back_lo + pairs.lo[i, j]
            pairs.hi[i, j], pairs.lo[i, j] = two_sum(total, rest)


@exact_loop
def normalise(pairs: Pairs, lengths: np.ndarray) -> None:
    """Divide every row by its norm, rounded, and multiply its length by that."""
    for i in range(pairs.hi.shape[0]):
        norm = math.sqrt(squared(pairs.hi[i]))
        lengths[i] *= norm
        for j in range(pairs.hi.shape[1]):
            pairs.hi[i, j], pairs.lo[i, j] = pair_times(pairs.hi[i, j], pairs.lo[i, j], 1 / norm)


@exact_loop
def multiply(pairs: Pairs, y: np.ndarray, out: np.ndarray) -> None:
    """Write every row times y, rounded, into `out`."""
    for i in range(pairs.hi.shape[0]):
        out[i] = pair_dot(pairs, i, y)[0]
