"""Dual coordinate descent: support vector machines over rows of any kind.

Problem     max over 0 <= β <= C of Σ p·β - ½‖Σ β·s·x‖²          (C infinite: the hard margin)
            the dual of min ½‖w‖² + Σ C·max(0, p - s(w·x)) with w = Σ β·s·x; p = 1 but see below
Method      one row after the other, in random order: move β to where the slope s(w·x) - p is zero,
            or to the end of its range, and w along with it. Rows that sit at an end and would be
            pushed beyond are left out (shrinking) until the rest is done. The first sweeps draw
            blocks of rows that lie together, which the memory gives in half of the time.
Gap         Σ β·slope over slopes above zero, plus Σ (β - C)·slope over those below: the sweep adds
            it up as it goes, and when the sum is small enough all rows are looked at again.
Intercept   a lifted coordinate is a column like others. A free one is found by proximal steps:
            minimise with a penalty (b - b₀)² in place of none, put b₀ where b is, and repeat. With
            b = b₀ + c·v that is the lifted problem with p = 1 - s·b₀.
Memory      of each row its dual, sign, ‖x‖² and place in the order, which is 17 bytes, and 8 for
            its score when the gap is computed: rows may be as short as 20 numbers
Sources     Hsieh, Chang, Lin, Keerthi & Sundararajan 2008; Rockafellar 1976 (proximal steps)
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rosenblatt.loops import loop
from rosenblatt.margin.intercepts import (
    Factors,
    balancing,
    best_intercept,
    middle_intercept,
    scaled,
)
from rosenblatt.margin.problem import Effort, Problem, Solution, are_one, total_loss
from rosenblatt.margin.sums import parts, rounding_of
from rosenblatt.margin.touching import Touching
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.online.plan import draw
from rosenblatt.rows import (
    Rows,
    add,
    combine,
    fill_squares,
    inner,
    prefetch,
    rows_ahead,
    scores,
    span,
    zeros_on_a_line,
)

LARGEST, SMALLEST, GAP, RISE = range(4)  # places in what a sweep found
MOST_PASSES = 10_000
SHRINKING = 0.5  # with 1, a sixth more rows are looked at on text; with 0.3, too many come back
RIPE = 10.0  # at so many times the gap asked for, rows that touch the margin may be all that is off
MOST_STEPS = 60  # towards it
MANY_STEPS = 30  # take so long that rows which were left out are looked at before
NEAR = 2**18  # bytes of values that stay in a cache
EARLY = 5  # sweeps that take rows from near by together: later ones would be slowed down by that
SHORT, LONG = 1e-30, 1e30  # squares that float32 has, with room
NEARLY = 2.0  # times the gap asked for is what a sweep adds up to when little is left to do
ENOUGH = 0.9  # share of the gap asked for that they may have: others have some too


class DualRows(NamedTuple):
    """What the loops look at: rows of so many columns, and for each its sign, ‖x‖² and C.

    The centre is b₀, where the penalty on a free intercept is least; a single C is that of all.
    """

    columns: int
    rows: Rows
    signs: np.ndarray
    centre: float
    squares: np.ndarray
    caps: np.ndarray

    @property
    def all_caps(self) -> np.ndarray:
        """C of every row."""
        return np.broadcast_to(self.caps, self.signs.shape)

    def targets(self, chosen: np.ndarray | slice) -> np.ndarray:
        """Give p = 1 - s·b₀ of some rows."""
        return np.asarray(1.0 - self.signs[chosen] * self.centre)

    def dual(self, w: np.ndarray, betas: np.ndarray) -> float:
        """Give Σ p·β - ½‖w‖²."""
        linear = sum(self.targets(part) @ betas[part] for part in parts(0, betas.size))
        return float(linear - w @ w / 2)


@loop
def shuffle_blocks(order: np.ndarray, width: int, seed: np.ndarray) -> None:
    """Put blocks of so many places into a random order, and each of them as well.

    What is left over behind them is not moved from there.
    """
    blocks = order.size // width
    for t in range(blocks - 1):
        other = t + draw(seed, blocks - t)
        for k in range(width):
            here, there = t * width + k, other * width + k
            order[here], order[there] = order[there], order[here]
    for start in range(0, order.size, width):
        stop = min(start + width, order.size)
        for here in range(start, stop - 1):
            there = here + draw(seed, stop - here)
            order[here], order[there] = order[there], order[here]


@loop
def sweep(
    problem: DualRows,
    active: np.ndarray,
    w: np.ndarray,
    betas: np.ndarray,
    bounds: tuple[float, float],
    found: np.ndarray,
) -> int:
    """Move the duals of the active rows, one after the other; give how many rows stay active.

    Rows at an end of their range whose slope lies outside the bounds go to the back of `active`.
    """
    _, rows, signs, centre, squares, caps = problem
    each = caps.size > 1
    count, ahead = active.size, rows_ahead(rows)
    largest, smallest, gap, rise = 0.0, 0.0, 0.0, 0.0
    k = 0
    while k < count:
        if k + ahead < count:
            prefetch(rows, np.int64(active[k + ahead]))
        i = np.int64(active[k])
        beta, cap = betas[i], caps[i if each else 0]
        slope = signs[i] * (inner(rows, i, w) + centre) - 1.0
        if slope > 0.0:
            gap += beta * slope
        elif beta != cap:
            gap += (beta - cap) * slope
        idle = (beta == 0.0 and slope > bounds[1]) or (beta == cap and slope < bounds[0])
        if idle:
            count -= 1
            active[k], active[count] = active[count], active[k]
            continue
        k += 1
        if (beta == 0.0 and slope >= 0.0) or (beta == cap and slope <= 0.0):
            continue
        largest, smallest = max(largest, slope), min(smallest, slope)
        step = slope / squares[i] if squares[i] > 0.0 else np.inf * slope
        moved = min(max(beta - step, 0.0), cap)
        if moved != beta:
            add(rows, i, (moved - beta) * signs[i], w)
            rise -= (moved - beta) * (slope + (moved - beta) * squares[i] / 2)
            betas[i] = moved
    found[LARGEST], found[SMALLEST], found[GAP], found[RISE] = largest, smallest, gap, rise
    return count


def are_mixed(signs: np.ndarray) -> bool:
    """Tell whether labels change from row to row at least half as often as in random order."""
    share = float(np.count_nonzero(signs > 0) / max(1, signs.size))
    changes = np.count_nonzero(signs[1:] != signs[:-1])
    return bool(changes > share * (1 - share) * signs.size)


class ActiveRows:
    """Sweeps over the rows that are worth looking at."""

    def __init__(self, problem: DualRows, w: np.ndarray, betas: np.ndarray, seed: int) -> None:
        self.problem, self.w, self.betas = problem, w, betas
        self.order = np.arange(betas.size, dtype=np.uint32)
        self.seed = np.array([seed], np.uint64)
        self.found = np.zeros(4)
        self.passes, self.ripe, self.violation, self.gap = 0, RIPE, np.inf, np.inf
        self.complete = False  # whether all rows were looked at again, late
        self.pace = 1.0  # what a sweep leaves of the gap, those before weighing less and less
        rows = betas.size
        if are_mixed(problem.signs):  # else blocks of one class would cost twice the sweeps
            rows = NEAR * rows // max(1, problem.rows.values.nbytes)
        self.near = max(1, rows)
        self.look_at_all()

    def look_at_all(self) -> None:
        """Make all rows active, and compute the dual value anew."""
        self.active, self.bounds = self.order.size, (-np.inf, np.inf)
        self.dual = self.problem.dual(self.w, self.betas)

    def centre(self, centre: float) -> None:
        """Put the centre of the penalty on the intercept."""
        self.problem = self.problem._replace(centre=centre)

    def sweep(self) -> None:
        """Make one sweep over the active rows."""
        active, before = self.order[: self.active], self.relative_gap()  # at first, NaN
        shuffle_blocks(active, self.near if self.passes < EARLY else self.order.size, self.seed)
        self.active = int(sweep(self.problem, active, self.w, self.betas, self.bounds, self.found))
        largest, smallest, self.gap, rise = self.found.tolist()
        # Slopes beyond half of those of the last sweep are not expected to turn.
        self.bounds = SHRINKING * smallest or -np.inf, SHRINKING * largest or np.inf
        self.violation = largest - smallest  # how far slopes were from where they should be
        self.dual += rise
        self.passes += 1
        gap = self.relative_gap()
        self.pace = math.sqrt(self.pace * gap / before) if gap < before else 1.0

    def touch(self, X: Matrix, tol: float) -> np.ndarray | None:
        """Give weights that seem good enough, with the rows that touch the margin nearer to it.

        That is tried when the gap is small, and then again when it has become so much smaller,
        unless as many sweeps would do.
        """
        estimate, wanted = self.relative_gap(), tol * self.dual
        steps = min(self.passes // 2, MOST_STEPS)
        soon = estimate * self.pace ** (steps + 3) <= tol
        if estimate > self.ripe * tol or (soon and estimate > NEARLY * tol):
            return None
        if steps > MANY_STEPS and not self.complete:
            self.look_at_all()
            self.complete = True
            return None
        touching = Touching(X, self.problem, self.w, self.betas)
        gap, better = touching.solve(ENOUGH * wanted, steps)
        self.dual = self.problem.dual(self.w, self.betas)
        share = ENOUGH * wanted / gap if gap else np.inf
        self.ripe = estimate / tol * min(max(share, 0.3), 0.8)
        return better if gap <= ENOUGH * wanted else None

    def relative_gap(self) -> float:
        """Estimate the duality gap from the last sweep, relative to the primal value."""
        return self.gap / (self.dual + self.gap) if self.gap > 0.0 else 0.0


def descend(
    two: Problem,
    tol: float,
    *,
    start: np.ndarray | None = None,
    effort: Effort | None = None,
    most: float = MOST_PASSES,
    seed: int = 0,
) -> Solution:
    """Descend until the true gap is relatively below `tol`, by so many sweeps at most.

    The problem has λ = ½; caps are infinite for the hard margin, whose objective is ‖w‖²/2.
    """
    hard, free = bool(np.isinf(two.caps.max())), two.intercept == "free"
    effort = effort or Effort()
    problem = _dual_rows(two)
    w, betas = _beginning(problem, start)
    sweeps = ActiveRows(problem, w, betas, seed)
    measure = _hard_gap if hard else _soft_gap
    wanted = 0.1 if hard else tol
    if free and start is not None:  # what it says of the intercept is too good to be lost
        answer = measure(problem, betas, free)
        if answer.gap <= tol:
            return replace(answer, converged=True)
        sweeps.centre(float(answer.w[-1]))
    while True:
        sweeps.sweep()
        effort.passes += 1
        over = sweeps.passes >= most or effort.is_over()
        better = None
        if (sweeps.violation if hard else sweeps.relative_gap()) > wanted and not over:
            better = None if hard or free else sweeps.touch(two.X, tol)
            if better is None:
                continue
        answer = measure(problem, betas, free, better)
        if answer.gap <= tol or over:
            return replace(answer, passes=sweeps.passes, converged=answer.gap <= tol)
        if free:
            sweeps.centre(sweeps.problem.centre + problem.rows.lift * float(w[-1]))
        wanted *= min(max(tol / (1.5 * answer.gap), 0.1), 0.8)
        sweeps.look_at_all()


def _dual_rows(two: Problem) -> DualRows:
    """Prepare the loops' view of the data."""
    X, signs, lift, squares = two.X, two.signs, two.lift, np.empty(two.signs.size)
    fill_squares(as_rows(X, 0.0), squares)
    if two.intercept == "free":  # the intercept then moves about as fast as the other weights do
        lift = float(np.sqrt(squares.mean())) or 1.0
    squares += lift * lift
    caps = two.caps[:1].copy() if are_one(two.caps) else two.caps
    return DualRows(X.shape[1], as_rows(X, lift), signs, 0.0, narrow_squares(squares), caps)


def narrow_squares(squares: np.ndarray) -> np.ndarray:
    """Give squares in float32, unless they are beyond it: steps need not be that long exactly."""
    lengths = squares[squares > 0.0] if not squares.all() else squares
    if lengths.size and not (lengths.min() > SHORT and lengths.max() < LONG):
        return squares
    return squares.astype(np.float32)


def _beginning(problem: DualRows, start: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Begin with zero, or with the best multiple, at most 1, of the duals given."""
    w, betas = zeros_on_a_line(problem.columns + 1), np.zeros(problem.signs.size)
    if start is not None:
        betas = np.clip(start, 0.0, problem.caps)  # a copy, which sweeps change
        combine(problem.rows, betas * problem.signs, w)
        # Duals of a larger λ, taken as they are, would make w too long.
        best = min(1.0, float(betas.sum() / (w @ w))) if w.any() else 1.0
        betas *= best
        w *= best
    return w, betas


# Weights, ‖w‖, s(w·x + b), factors that balance the duals, and ‖Σ β·s·x‖ of those.
Candidate = tuple[np.ndarray, float, np.ndarray, Factors | None, float]


def _candidate(
    problem: DualRows, betas: np.ndarray, free: bool, better: np.ndarray | None = None
) -> Candidate:
    """Compute anew what duals stand for; a free intercept is the best one for the weights."""
    signs = problem.signs
    plain = problem.rows._replace(lift=0.0) if free else problem.rows
    weights = _combination(plain, betas, signs, problem.columns)
    norm = length = _norm(weights)
    if better is not None:
        weights, norm = better, _norm(better)
    products = np.empty(betas.size)
    scores(plain, weights, products)
    if not free:
        products *= signs
        return weights, norm, products, None, length
    if np.isinf(problem.caps).any():
        weights[-1] = middle_intercept(products, signs)
    else:
        weights[-1] = best_intercept(products, signs, problem.caps)
    factors = balancing(betas, signs)
    length = _norm(_combination(plain, betas, signs, problem.columns, factors))
    products += weights[-1]
    products *= signs
    return weights, norm, products, factors, length


def _soft_gap(
    problem: DualRows, betas: np.ndarray, free: bool, better: np.ndarray | None = None
) -> Solution:
    """Give the values of ½‖w‖² + Σ C·max(0, 1 - s(w·x + b)) and of its dual."""
    weights, norm, products, factors, length = _candidate(problem, betas, free, better)
    least = float(products.min())
    primal = norm**2 / 2 + total_loss(products, problem.all_caps)
    del products  # before there are two vectors of duals
    duals = betas if factors is None else scaled(betas, problem.signs, factors)
    if least > 0.0 and (norm / least) ** 2 / 2 < primal:
        # Losses that are mere rounding weigh much under large caps: longer weights have none.
        weights, primal = weights / least, (norm / least) ** 2 / 2
    lengths = (duals[part] @ np.sqrt(problem.squares[part]) for part in parts(0, duals.size))
    error = rounding_of(float(sum(lengths)), duals.size)
    doubt = (length + error / 2) * error
    return _solution(weights, duals, primal, float(duals.sum()) - length**2 / 2, doubt)


def _hard_gap(
    problem: DualRows, betas: np.ndarray, free: bool, better: np.ndarray | None = None
) -> Solution:
    """Give ½‖w‖² of weights with s(w·x) >= 1, and the highest dual value of multiples of β."""
    weights, norm, products, factors, length = _candidate(problem, betas, free)
    duals = betas if factors is None else scaled(betas, problem.signs, factors)
    least, total = float(products.min()), float(duals.sum())
    if not (least > 0.0 and total > 0.0):
        return _solution(weights, duals, np.inf, 0.0)
    return _solution(weights / least, duals, (norm / least) ** 2 / 2, (total / length) ** 2 / 2)


def _solution(
    w: np.ndarray, betas: np.ndarray, primal: float, dual: float, doubt: float = 0.0
) -> Solution:
    return Solution(0.5, w, betas, primal, dual, 0, False, "descent", doubt)


def _combination(
    rows: Rows,
    betas: np.ndarray,
    signs: np.ndarray,
    columns: int,
    factors: Factors | None = None,
) -> np.ndarray:
    """Give Σ β·s·x, without a vector of all β·s; β may have a factor for each class."""
    total = np.zeros(columns + 1)
    for part in parts(0, betas.size):
        duals = betas[part] if factors is None else scaled(betas[part], signs[part], factors)
        combine(span(rows, part.start, part.stop), duals * signs[part], total)
    return total


def _norm(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector))
