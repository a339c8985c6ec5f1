"""Newton steps on proximal problems, for many classes and few columns.

Problem     that of `joint`: min λ‖W‖² + Σ c·max_r g_r - c·g_y, with gains g_r = w_r·x + [r ≠ y]
Proximal    keep the duals q, which lie in simplices, near a centre: max over q of the dual minus
            ‖q - centre‖²/2σ. Its primal φ(W) is smooth, and has the slope 2λW - Σ (c·[r = y] - q)·x
            at the q of each row that is nearest, in its simplex, to centre + σ·g.
Method      Newton's on φ, with a search along each step. A row bends φ in those classes in which
            its q is above zero, if they are two or more, so the matrix is 2λI + σ Σ P ⊗ xxᵀ over
            few rows, where P takes the mean over these classes away. When the slope is small
            beside the gap, the centre moves to q and σ grows.
Damping     Columns that are zero in most rows may have no row that bends φ, and rows that do as
            soon as their weights move: a share of the squares of all rows is added to the
            diagonal, a larger one after short steps.
Gap         Σ (c·max g - q·g) + ‖slope‖²/4λ
Beginning   from the weights that suit a part of the rows, found in the same way
Cost        of a step, two products of all rows with W, and squares of few rows
Sources     as of `newton`
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.blocks import in_blocks
from rosenblatt.loops import loop, part
from rosenblatt.margin.class_products import class_scores, class_totals
from rosenblatt.margin.joint_sweeps import nearest
from rosenblatt.margin.pieces import added, solution
from rosenblatt.margin.problem import Effort, Problem
from rosenblatt.matrices import as_rows
from rosenblatt.rows import Rows, add, span

DAMPING = 0.01  # at first: share of all squares that is taken to bend φ
SHORT, WHOLE = 0.25, 0.9  # lengths of steps after which the damping changes
GROWTH = 4.0  # of σ, from centre to centre
SHARE = 10  # at first, one row in so many bends φ
LOOSE = 0.5  # share of the gap that the slope may leave when the centre moves
STALLED = 30  # steps without a better gap
PASS = 64  # a thread pays for so many times more products than elsewhere
SHORT_OF_ZERO = 0.2  # of the slope along a step, where a search may end
PART, PART_ROWS, PART_GAP = 8, 2000, 2.0  # how much smaller a part is, not below, how well


class Duals(NamedTuple):
    """The duals of all rows, in how many classes each of them is above zero, the largest gains."""

    q: np.ndarray
    held: np.ndarray
    tops: np.ndarray

    @classmethod
    def like(cls, q: np.ndarray) -> Duals:
        """Make room for others."""
        return cls(np.empty_like(q), np.empty(q.shape[0], np.int64), np.empty(q.shape[0]))


class Nearby(NamedTuple):
    """What the loops look at: rows, the sums of their q, and centre and σ."""

    rows: Rows
    caps: np.ndarray
    centre: np.ndarray
    sigma: float


@loop
def fill_duals(
    near: Nearby, gains: np.ndarray, ways: np.ndarray, length: float, duals: Duals
) -> float:
    """Write the duals at some length along the ways of the gains; give Σ q·way."""
    total = 0.0
    for i in range(gains.shape[0]):
        point, top, held = duals.q[i], -np.inf, 0
        for r in range(point.size):
            gain = gains[i, r] + length * ways[i, r]
            top = max(top, gain)
            point[r] = near.centre[i, r] + near.sigma * gain
        nearest(point, near.caps[i])
        for r in range(point.size):
            total += point[r] * ways[i, r]
            held += point[r] > 0.0
        duals.tops[i], duals.held[i] = top, held
    return total


class Square(NamedTuple):
    """The lower half of xxᵀ, row by row; and if x is mostly zeros, where its entries belong."""

    x: np.ndarray
    entries: np.ndarray
    places: np.ndarray

    @classmethod
    def of_width(cls, width: int) -> Square:
        """Make room for it."""
        size = width * (width + 1) // 2
        return cls(np.empty(width), np.empty(size), np.empty(size, np.int64))


@loop
def add_squares(near: Nearby, duals: Duals, square: Square, sums: np.ndarray) -> None:
    """Add σ Σ P ⊗ xxᵀ to sums: of classes s >= r, row by row, the lower half of each block."""
    for i in range(duals.held.size):
        if duals.held[i] > 1:
            square.x[:] = 0.0
            add(near.rows, i, 1.0, square.x)
            add_row(near, duals, i, square, take_square(square), sums)


@part
def take_square(square: Square) -> int:
    """Write xxᵀ: all of it and in its order, or so many entries."""
    x, filled, count = square.x, 0, 0
    for j in range(x.size):
        filled += x[j] != 0.0
    whole = 2 * filled >= x.size
    for j in range(x.size):
        if whole:
            for m in range(j + 1):
                square.entries[count + m] = x[j] * x[m]
            count += j + 1
        elif x[j] != 0.0:
            for m in range(j + 1):
                if x[m] != 0.0:
                    square.entries[count] = x[j] * x[m]
                    square.places[count] = j * (j + 1) // 2 + m
                    count += 1
    return count


@part
def add_row(
    near: Nearby, duals: Duals, i: int, square: Square, count: int, sums: np.ndarray
) -> None:
    """Add what row i bends, of whose square there are so many entries."""
    q, share = duals.q[i], near.sigma / duals.held[i]
    for s in range(q.size):
        for r in range(s + 1 if q[s] > 0.0 else 0):
            if q[r] > 0.0:
                factor = near.sigma - share if r == s else -share
                block = sums[s * (s + 1) // 2 + r]
                if count == block.size:
                    for t in range(count):
                        block[t] += factor * square.entries[t]
                else:
                    for t in range(count):
                        block[square.places[t]] += factor * square.entries[t]


class JointProximal:
    """Where the steps are: weights, gains of all rows, duals, centre and σ."""

    def __init__(self, problem: Problem, w: np.ndarray, q: np.ndarray) -> None:
        self.problem, self.rows = problem, as_rows(problem.X, problem.lift)
        self.own = np.arange(q.shape[0]), problem.labels
        self.costs = np.full(w.shape[1], 2 * problem.lam)
        if problem.intercept == "free":
            self.costs[-1] = 0.0
        self.w, self.duals = w, Duals.like(q)._replace(q=q)
        self.squares, self.damping = column_squares(problem), DAMPING
        self._begin()
        self._centre(self._width())

    def _width(self) -> float:
        """Give the σ at which one row in `SHARE` bends φ."""
        wrong = self.gains.copy()
        wrong[self.own] = -np.inf
        leads = np.abs(wrong.max(axis=1) - self.gains[self.own])
        width = np.partition(leads, leads.size // SHARE)[leads.size // SHARE]
        return float(self.problem.caps.max() / (2 * width)) if width > 0 else 1.0

    def _begin(self) -> None:
        """Compute anew what steps only add to."""
        self.gains = class_scores(self.problem.X, self.w, self.problem.lift) + 1.0
        self.gains[self.own] -= 1.0

    def _centre(self, sigma: float) -> None:
        """Put the centre where the duals are."""
        self.near = Nearby(self.rows, self.problem.caps, self.duals.q, sigma)
        self.duals = Duals.like(self.duals.q)
        self._fill(self.gains, 0.0, self.duals)
        self._pull()

    def _fill(self, ways: np.ndarray, length: float, duals: Duals) -> float:
        def work(start: int, stop: int) -> float:
            at = slice(start, stop)
            near = self.near._replace(caps=self.near.caps[at], centre=self.near.centre[at])
            mine = Duals(*(part[at] for part in duals))
            return float(fill_duals(near, self.gains[at], ways[at], length, mine))

        return sum(in_blocks(work, len(ways), ways.size, each=1))

    def _pull(self) -> None:
        """Find the slope."""
        pulls = -self.duals.q
        pulls[self.own] += self.problem.caps
        self.slope = self.costs * self.w - class_totals(self.problem.X, pulls, self.problem.lift)

    def primal(self) -> float:
        """Give the objective of the weights."""
        losses = self.problem.caps @ (self.duals.tops - self.gains[self.own])
        return float(losses + np.vdot(self.costs * self.w, self.w) / 2)

    def gap(self) -> float:
        """Give by how much the objective exceeds the value of the duals."""
        rows = self.problem.caps @ self.duals.tops - np.vdot(self.duals.q, self.gains)
        return float(rows) + self.lost()

    def lost(self) -> float:
        """Give the part of the gap that comes from the slope."""
        penalised = self.slope[:, :-1] if self.problem.intercept == "free" else self.slope
        free = np.abs(self.slope[:, -1]).sum() if self.problem.intercept == "free" else 0.0
        return float((penalised**2).sum() / (4 * self.problem.lam) + free)

    def recentre(self, gap: float) -> None:
        """Move the centre if the slope is small beside the gap; let the duals go further away."""
        if self.lost() <= LOOSE * gap:
            self._begin()
            self._centre(GROWTH * self.near.sigma)

    def step(self) -> None:
        """Make a Newton step."""
        way = -self._solve()
        way -= way.mean(axis=0)  # what moves all classes alike is rounding, and would add up
        ends = class_scores(self.problem.X, way, self.problem.lift)
        level = np.vdot(self.slope, way)
        rise = np.vdot(self.costs * way, way)
        length, self.duals = self._search(float(level), float(rise), ends)
        self.w = self.w + length * way
        if not SHORT <= length <= WHOLE:
            self.damping *= GROWTH if length < SHORT else 1 / GROWTH
        self.gains += length * ends
        self._pull()

    def _solve(self) -> np.ndarray:
        """Solve (costs + σ Σ P ⊗ xxᵀ) way = slope."""
        k, width = self.w.shape
        bent = np.flatnonzero(self.duals.held > 1)
        rows = as_rows(self.problem.X[bent], self.problem.lift)
        duals = Duals(*(part[bent] for part in self.duals))

        def work(start: int, stop: int) -> np.ndarray:
            square, near = Square.of_width(width), self.near._replace(rows=span(rows, start, stop))
            sums = np.zeros((k * (k + 1) // 2, square.entries.size))
            add_squares(near, Duals(*(part[start:stop] for part in duals)), square, sums)
            return sums

        sums = added(in_blocks(work, bent.size, bent.size * width**2 // PASS, each=1))
        H = unfolded(sums, k, width)
        H[np.diag_indices(k * width)] += np.tile(
            self.costs + self.damping * self.near.sigma * self.squares, k
        )
        return solution(H.T, self.slope.ravel()).reshape(k, width)

    def _search(self, level: float, rise: float, ends: np.ndarray) -> tuple[float, Duals]:
        """Give the length along a step at which φ is least, and the duals there."""
        here, there = float(np.vdot(self.duals.q, ends)), Duals.like(ends)

        def slope(length: float) -> float:
            return level + length * rise + self._fill(ends, length, there) - here

        low, high, at_low, at_high = 0.0, 1.0, level, slope(1.0)
        while at_high < -SHORT_OF_ZERO * abs(at_low) and high < 2.0**30:
            low, high, at_low, at_high = high, 2 * high, at_high, slope(2 * high)
        length, at_length = high, at_high
        for k in range(40):
            if abs(at_length) <= SHORT_OF_ZERO * abs(level):
                break
            length = (low + high) / 2
            if k % 2 == 0 and at_low < at_high:  # slopes that are mere rounding may be equal
                length = low - (high - low) * at_low / (at_high - at_low)
            at_length = slope(length)
            if at_length < 0:
                low, at_low = length, at_length
            else:
                high, at_high = length, at_length
        return length, there


def unfolded(sums: np.ndarray, k: int, width: int) -> np.ndarray:
    """Give the matrix, of whose blocks only those of classes s >= r are filled."""
    (s, r), (j, m) = np.tril_indices(k), np.tril_indices(width)
    places = np.empty((width, width), np.int64)
    places[j, m] = places[m, j] = np.arange(j.size)
    H = np.zeros((k, width, k, width))
    H[s, :, r] = sums[:, places]
    return H.reshape(k * width, k * width)


def joint_newton(
    problem: Problem, tol: float, effort: Effort, w: np.ndarray | None, q: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Give weights and duals with a relative gap of `tol`, or the best ones if that cannot be."""
    if w is None:
        w = _weights_of_a_part(problem, effort, seed)
    at = JointProximal(problem, w, q)
    best, least, since = (at.w, at.duals.q), np.inf, 0
    while True:
        gap, primal = at.gap(), at.primal()
        since = 0 if gap < 0.9 * least else since + 1
        if gap < least:
            best, least = (at.w, at.duals.q), gap
        if not gap > tol * primal or since > STALLED or effort.is_over():
            return best
        at.recentre(gap)
        at.step()
        effort.passes += 1


def column_squares(problem: Problem) -> np.ndarray:
    """Give Σ x² of each column, and of the added coordinate, at least 1."""
    X = problem.X
    squares = X.multiply(X).sum(axis=0) if sparse.issparse(X) else np.einsum("ij,ij->j", X, X)
    return np.append(np.asarray(squares).ravel(), max(problem.lift**2 * X.shape[0], 1.0)).astype(
        np.float64
    )


def _weights_of_a_part(problem: Problem, effort: Effort, seed: int) -> np.ndarray:
    """Give weights to begin with."""
    n = problem.labels.size
    if n <= 2 * PART_ROWS:
        pulls = np.full((n, problem.k), -1.0 / problem.k)
        pulls[np.arange(n), problem.labels] += 1.0
        w = class_totals(problem.X, pulls, problem.lift)
        spread = class_scores(problem.X, w, problem.lift).std()
        return w / spread if spread > 0 else w
    size = max(PART_ROWS, n // PART)
    chosen = np.sort(np.random.default_rng(seed).choice(n, size, replace=False))
    some = problem.of_rows(chosen)._replace(lam=problem.lam * size / n)
    q = np.zeros((size, problem.k))
    q[np.arange(size), some.labels] = some.caps
    return joint_newton(some, PART_GAP, effort, None, q, seed)[0]
