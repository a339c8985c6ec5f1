"""SVMs of few columns on shards: Newton steps on proximal problems.

Problem     that of `problems`
Method      that of `margin.newton`: the duals stay near a centre, which makes the primal a smooth
            φ(w) with the slope w - Σ β·z at β = clip(centre + σ(1 - z·w), 0, C), z = s·(x, lift).
            When the slope is small beside the gap, the centre moves to β and σ grows.
Rounds      one that adds up Σ β·z and, over the rows that bend φ (0 < β < C), Σ zzᵀ: half of d²
            numbers a worker; then one that tells the slope along Newton's step at many lengths.
            After a move of the centre the first one is made anew.
Ends        when the gap, which comes with each round of the first kind, is relatively below `tol`;
            at a limit; when rounding allows no more
Faults      a task is a function of its rows and of what all shards are told. Centres are told by
            the few w and σ that led to them, so that any worker can make those of its rows again
Sources     Rockafellar 1976 (proximal steps); Yan & Li 2020 (Newton's method for them)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from rosenblatt.blocks import one_blas_thread
from rosenblatt.cluster.problems import Signing, Solver
from rosenblatt.cluster.reproducible import ReproducibleSum, Summand, added_up
from rosenblatt.cluster.shards import Shard
from rosenblatt.margin.descent import DualRows
from rosenblatt.margin.pieces import solution, squares_of
from rosenblatt.margin.problem import Solution, relative_gap
from rosenblatt.rows import combine, scores

GROWTH = 2.0  # of σ, from centre to centre
LOOSE = 0.1  # share of the gap that the slope may leave when the centre moves
SHORT_OF_ZERO = 0.1  # of the slope along a step, where a search may end
SEARCHES = 3  # rounds at most for a length
LENGTHS = 2.0 ** -np.arange(-1, 15)  # that are tried first
STUCK = 20  # rounds without a better gap, after which σ was too large
STALLED = 60  # rounds without a better gap, after which rounding allows no more
LEAST_BENT = 1e-5  # share of rows that bend φ along a free intercept, if fewer do


class Centre(NamedTuple):
    """How duals move to a centre: to clip(duals + σ(1 - z·w)), times a factor for each class."""

    number: int  # the round that did it
    w: np.ndarray
    sigma: float
    factors: np.ndarray


class Point(NamedTuple):
    """What all shards are told; without a shift nobody wants the matrix."""

    basis: Signing
    centres: tuple[Centre, ...]
    at: Centre
    shift: np.ndarray | None


class Bent(NamedTuple):
    """Sums over rows: losses, β and β·z of each sign, and half of Σ zzᵀ of those that bend φ."""

    loss: np.ndarray
    sums: np.ndarray
    pulls: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, width: int) -> Bent:
        """Give the parts of the sum of all shards."""
        loss, sums, pulls, squares = np.split(values, np.cumsum([1, 2, 2 * width]))
        return cls(loss, sums, pulls.reshape(2, width), squares)


# ---- tasks


def moved(problem: DualRows, products: np.ndarray, centre: np.ndarray, sigma: float) -> np.ndarray:
    """Give clip(centre + σ(1 - z·w), 0, C)."""
    duals: np.ndarray = centre + sigma * (1 - products)
    np.maximum(duals, 0.0, out=duals)
    np.minimum(duals, problem.caps, out=duals)
    return duals


def products_of(problem: DualRows, w: np.ndarray) -> np.ndarray:
    """Give z·w of all rows."""
    out = np.empty(problem.signs.size)
    scores(problem.rows, w, out)
    out *= problem.signs
    return out


def centre_of(shard: Shard, basis: Signing, centres: tuple[Centre, ...]) -> np.ndarray:
    """Give the duals that moves of the centre led to; all but the last may be kept."""
    if not centres:
        return np.zeros(basis.of(shard).signs.size)
    *before, last = centres
    token = basis.token, last.number
    point = Point(basis, tuple(before), last, None)
    found: np.ndarray = shard.keep("centre", token, lambda: duals_of(shard, point, None))
    return found


def duals_of(shard: Shard, point: Point, _: None) -> np.ndarray:
    """Give the duals of all rows."""
    problem, at = point.basis.of(shard), point.at
    centre = centre_of(shard, point.basis, point.centres)
    duals = moved(problem, products_of(problem, at.w), centre, at.sigma)
    return np.asarray(duals * at.factors[(problem.signs > 0).astype(np.int8)])


def bend(shard: Shard, point: Point, _: None) -> Summand:
    """Add up what the slope, the gap and Newton's matrix are made of."""
    problem, at = point.basis.of(shard), point.at
    products = products_of(problem, at.w)
    duals = moved(problem, products, centre_of(shard, point.basis, point.centres), at.sigma)
    sums, pulls = np.zeros(2), np.zeros((2, at.w.size))
    for k, side in enumerate((problem.signs < 0, problem.signs > 0)):
        mine = np.where(side, duals, 0.0)
        combine(problem.rows, mine * problem.signs, pulls[k])
        sums[k] = mine.sum()
    loss = problem.caps @ np.maximum(0.0, 1 - products)
    half = np.zeros(0)
    if point.shift is not None:
        bent = np.flatnonzero((duals > 0) & (duals < problem.caps))
        X = point.basis.labelled.of(shard)[0].X
        with one_blas_thread:  # more would add up in another order
            whole = squares_of(X, bent, point.shift, point.basis.lift)
        half, _ = lapack.dtrttp(whole)
    found = np.concatenate([[loss], sums, pulls.ravel(), half])
    total = ReproducibleSum(found.size)
    total.add(found)
    return Summand(total)


def slopes_of(shard: Shard, given: tuple[Point, np.ndarray, np.ndarray], _: None) -> np.ndarray:
    """Give Σ β·z·way at w + length·way for some lengths."""
    point, way, lengths = given
    problem, at = point.basis.of(shard), point.at
    products, ends = products_of(problem, at.w), products_of(problem, way)
    centre = centre_of(shard, point.basis, point.centres)
    return np.array(
        [ends @ moved(problem, products + length * ends, centre, at.sigma) for length in lengths]
    )


# ---- the coordinator


class NewtonSteps(Solver):
    """Rounds of both kinds, in turn."""

    def begin(self) -> None:
        """Begin with weights and duals of zero."""
        self.basis_ = self.basis(1.0)
        self.costs = np.ones(self.survey.width + 1)
        self.costs[-1] = float(self.intercept == "lifted")
        self.w, self.sigma = np.zeros(self.costs.size), float(self.basis_.factors.max()) / 2
        self.centres: tuple[Centre, ...] = ()
        self.shift: np.ndarray | None = None
        self.above, self.below = np.inf, -np.inf
        self.best_w = self.w
        self.proof: tuple[tuple[Centre, ...], Centre] = (), self._point(np.ones(2)).at
        self.narrowest, self.since = np.inf, 0

    def advanced(self) -> Solution | None:
        """Look at the weights; move them or the centre."""
        bent = self._bent()
        gap = self._judged(bent)
        self.tell(relative_gap(self.above, self.below))
        stuck = self.since > STALLED or not np.isfinite(gap)
        if relative_gap(self.above, self.below) <= self.learner.tol or stuck or self.is_over():
            return self._answer()
        slope = self.costs * self.w - bent.pulls.sum(axis=0)
        if self.shift is None:
            free, total = self.intercept == "free", bent.pulls[1] - bent.pulls[0]
            self.shift = free * total[:-1] / bent.sums.sum()
        elif self.since and self.since % STUCK == 0:
            self.w, self.centres = self.best_w, (*self.proof[0], self.proof[1])
            self.sigma /= GROWTH**8
        elif self._left(slope) <= LOOSE * gap:
            self.centres = (*self.centres, self._point(np.ones(2)).at)
            self.sigma *= GROWTH
        else:
            self._step(slope, bent.squares)
        return None

    def _left(self, slope: np.ndarray) -> float:
        """Give what the slope leaves to gain."""
        square = self.costs * slope
        return float(square @ square / 2 + (abs(slope[-1]) if self.intercept == "free" else 0.0))

    def _point(self, factors: np.ndarray) -> Point:
        at = Centre(self.number, self.w, self.sigma, factors)
        return Point(self.basis_, self.centres, at, self.shift)

    def _bent(self) -> Bent:
        parts = self.engine.map(bend, self._point(np.ones(2)))
        found = added_up(parts)
        self.number += 1
        return Bent.of(found, self.w.size)

    def _judged(self, bent: Bent) -> float:
        """Keep the best weights and the best duals; give the gap between these ones."""
        primal = float(bent.loss[0]) + float((self.costs * self.w) @ self.w) / 2
        factors, sums = np.ones(2), bent.sums
        if self.intercept == "free":
            np.divide(sums.min(), sums, out=factors, where=sums > 0)
        pulled = self.costs * (factors @ bent.pulls)
        square, total = float(pulled @ pulled), float(factors @ sums)
        best = min(1.0, total / square) if square > 0 else 1.0
        dual = best * total - best**2 * square / 2
        if primal < self.above:
            self.above, self.best_w = primal, self.w
        if dual > self.below:
            self.below, self.proof = dual, (self.centres, self._point(best * factors).at)
        known = self.above - self.below
        self.since = 0 if known < 0.9 * self.narrowest else self.since + 1
        self.narrowest = min(self.narrowest, known)
        return primal - dual

    def _step(self, slope: np.ndarray, half: np.ndarray) -> None:
        way = -self._newton(slope, half)
        self.w = self.w + self._length(float(slope @ way), way) * way

    def _newton(self, slope: np.ndarray, half: np.ndarray) -> np.ndarray:
        """Solve (costs + σ Σ zzᵀ) x = slope; rows are shifted, so that columns differ more."""
        assert self.shift is not None
        H, _ = lapack.dtpttr(slope.size, self.sigma * half)
        H[np.diag_indices(slope.size)] += self.costs
        if self.intercept == "free":
            H[-1, -1] = max(H[-1, -1], self.sigma * max(1.0, LEAST_BENT * self.survey.rows))
        x = solution(H, np.append(slope[:-1] - self.shift * slope[-1], slope[-1]))
        x[-1] -= self.shift @ x[:-1]
        if self.intercept == "none":
            x[-1] = 0.0
        return x

    def _length(self, level: float, way: np.ndarray) -> float:
        """Give the length along a step at which φ, whose slope there is `level`, is least."""
        point = self._point(np.ones(2))._replace(shift=None)
        known = {0.0: level}
        tried = LENGTHS
        for _ in range(SEARCHES):
            rise = np.sum(list(self.engine.map(slopes_of, (point, way, tried))), axis=0)
            self.number += 1
            bent = (self.costs * way) @ (self.w + tried[:, None] * way).T - rise
            known |= dict(zip(tried.tolist(), bent.tolist(), strict=True))
            low = max(length for length, slope in known.items() if slope <= 0 or not length)
            above = [length for length, slope in known.items() if slope > 0 and length > low]
            if not above:
                return low
            high = min(above)
            share = known[low] / (known[low] - known[high])
            length = low + share * (high - low)
            if min(-known[low], known[high]) <= SHORT_OF_ZERO * abs(level):
                break
            tried = np.linspace(low, high, LENGTHS.size + 2)[1:-1]
        return length

    def _answer(self) -> Solution:
        centres, at = self.proof
        duals = list(self.engine.map(duals_of, Point(self.basis_, centres, at, None)))
        w = self.best_w.copy()
        w[-1] *= self.basis_.lift
        return self.answer(w, duals, self.above, self.below, "newton")

    # ---- checkpoints

    def state(self) -> dict[str, np.ndarray]:
        """Give what the rounds changed."""
        centres, proof = self.centres, (*self.proof[0], self.proof[1])
        numbers = [self.number, self.sigma, self.above, self.below, self.narrowest, self.since]
        return {
            "numbers": np.array([*numbers, len(centres), len(proof)], np.float64),
            "shift": np.zeros(0) if self.shift is None else self.shift,
            "w": self.w,
            "best_w": self.best_w,
            **{f"centre{k}": packed(each) for k, each in enumerate((*centres, *proof))},
        }

    def go_on_from(self, found: Mapping[str, np.ndarray]) -> None:
        """Take over what `state` gave."""
        number, self.sigma, self.above, self.below, *more = found["numbers"].tolist()
        self.narrowest, since, near, far = more
        self.number, self.since = int(number), int(since)
        self.w, self.best_w = found["w"].copy(), found["best_w"].copy()
        self.shift = found["shift"].copy() if found["shift"].size else None
        both = [unpacked(found[f"centre{k}"]) for k in range(int(near + far))]
        self.centres = tuple(both[: int(near)])
        self.proof = tuple(both[int(near) : -1]), both[-1]


def packed(centre: Centre) -> np.ndarray:
    """Give a centre as one array."""
    return np.concatenate([[centre.number, centre.sigma], centre.factors, centre.w])


def unpacked(values: np.ndarray) -> Centre:
    """Give the centre of an array."""
    return Centre(int(values[0]), values[4:].copy(), float(values[1]), values[2:4].copy())
