"""The joint soft margin of several classes (Crammer & Singer 2001).

Problem     min Σ c·max(0, max over wrong r of 1 + s_r - s_y) + λ Σ ‖w_r‖²,  s_r = w_r·x + b_r
            over k weight vectors and intercepts; y is the row's class
Dual        max Σ α_y - ‖Σ α·x‖² / 4λ  over α_r <= 0 for wrong r, α_y <= c, Σ_r α_r = 0 for each
            row, and Σ_i α_r = 0 for each class if intercepts are free;  w_r = Σ α_r·x / 2λ
Simplex     q = c·[r = y] - α: numbers >= 0 that sum to c, which is how the sweeps hold them
Method      sweeps over the rows (`joint_sweeps`): all rows, then those that still matter until
            their gap is a tenth, and again, until the gap of all is small
Intercept   none; lifted: rows are (x, lift), so that b_r = lift·v_r costs λv_r²; free: by proximal
            steps. Minimise with λ·ρ·(b_r - o_r)² in place of no cost, that is with offsets o and a
            lifted coordinate of size 1/√ρ; put o where b is; repeat. For the dual value, what the
            class sums still lack is moved within rows where it costs least.
Gap         no weights have an objective below the dual value; both are computed anew from the data
Two classes w_1 = -w_0, and w = w_1 - w_0 is the soft margin of λ/2: ‖w_0‖² + ‖w_1‖² = ‖w‖²/2
Memory      five arrays of n × k numbers (float64), and one more with free intercepts
Sources     Crammer & Singer 2001; Keerthi, Sundararajan, Chang, Hsieh & Lin 2008; Rockafellar 1976
            (proximal steps). LIBLINEAR solves the same problem, with C = 1/(2λ).
"""

from __future__ import annotations

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.margin import joint_sweeps
from rosenblatt.margin.class_rows import padded
from rosenblatt.margin.joint_sweeps import Dual, JointRows, Leaps, Turns
from rosenblatt.margin.problem import Effort, Problem, Solution, relative_gap
from rosenblatt.matrices import as_rows
from rosenblatt.rows import fill_squares

MOST_PASSES = 100_000
INNER = 0.1  # sweeps over the rows that matter end at this part of the gap of all rows
SLACK = 2.0  # a sweep adds up gaps from before its steps: the gap behind it is smaller
ROUNDING = 1e-13  # a smaller gap, relative to the objective, is lost in its rounding
LOOKS = 2**25  # multiplications between two looks at the clock


def joint_margin(
    task: Problem,
    *,
    tol: float = 1e-3,
    start: np.ndarray | None = None,
    max_seconds: float | None = None,
    max_passes: int | None = None,
    seed: int = 0,
) -> Solution:
    """Minimise the joint objective; `start` holds the duals of an earlier solution.

    It sweeps over all rows, then over those that matter, until the gap is small or time is up.
    """
    effort = Effort.within(max_passes or MOST_PASSES, max_seconds)
    descent = JointDescent(task, simplex_points(task, start), seed)
    while not effort.is_over():
        descent.look_at_all()
        descent.sweep_until(np.inf, effort)
        gap, primal = descent.found[joint_sweeps.GAP], descent.objective()
        lost = gap <= ROUNDING * primal
        result = judged(task, descent, tol) if lost or descent.promises(tol) else None
        if result is not None and (result.converged or lost):
            return result
        if task.intercept == "free":
            descent.shift_offsets()
        descent.sweep_until(max(INNER * gap, tol * primal), effort)
        if descent.promises(tol):
            result = judged(task, descent, tol)
            if result.converged:
                return result
    return judged(task, descent, tol)


class JointDescent:
    """The state of the sweeps, and how far they may go."""

    def __init__(self, task: Problem, q: np.ndarray, seed: int) -> None:
        n, places = task.X.shape[0], padded(task.k)
        self.problem = lifted_problem(task)
        shape = (task.X.shape[1] + 1, places)
        self.dual = Dual(q, np.zeros(shape), *np.zeros((3, places)))
        joint_sweeps.fill_weights(self.problem, q, self.dual.steps, self.dual.weights)
        self.rows = settled(self.problem, q)
        self.sweeps = Turns(
            np.empty(n, np.int64), np.zeros(7, np.int64), np.zeros(4), np.array([seed], np.uint64)
        )
        self.sweeps.found[joint_sweeps.BOUND] = np.inf
        # Touched only when the sweeps are so many that they leap.
        self.leaps = Leaps(
            np.empty(n, np.int64),
            *(np.empty(q.shape) for _ in range(2)),
            *(np.empty(shape) for _ in range(3)),
        )
        self.looks = max(1, LOOKS // (places * (1 + task.X.size // n)))

    @property
    def found(self) -> np.ndarray:
        """What the last sweep found."""
        return self.sweeps.found

    @property
    def passes(self) -> int:
        """The number of sweeps."""
        return int(self.sweeps.tally[joint_sweeps.SWEEPS])

    def look_at_all(self) -> None:
        """Make all rows active."""
        tally = self.sweeps.tally
        self.sweeps.order[: self.rows.size] = self.rows
        (
            tally[joint_sweeps.ACTIVE],
            tally[joint_sweeps.CURSOR],
            tally[joint_sweeps.KEPT],
            tally[joint_sweeps.MEMBERS],
        ) = self.rows.size, 0, 0, 0

    def sweep_until(self, target: float, effort: Effort) -> None:
        """Sweep over the active rows until one sweep finds no more gap than the target."""
        tally = self.sweeps.tally
        tally[joint_sweeps.LAST] = effort.most
        ended = tally[joint_sweeps.ACTIVE] == 0 or tally[joint_sweeps.CURSOR] > 0
        while not ended and not effort.is_over():
            ended = joint_sweeps.descend(
                self.problem, self.dual, self.sweeps, self.leaps, target, self.looks
            )
            effort.passes = self.passes

    def objective(self) -> float:
        """Estimate the objective, proximal costs included, from the last sweep over all rows."""
        weights = self.dual.weights
        return float(
            self.found[joint_sweeps.LOSS] + self.problem.twice_lam / 2 * np.vdot(weights, weights)
        )

    def promises(self, tol: float) -> bool:
        """Tell whether the gap is small enough by what the last sweep found."""
        return bool(self.found[joint_sweeps.GAP] <= SLACK * tol * self.objective())

    def shift_offsets(self) -> None:
        """Make a proximal step: put the offsets where the intercepts are."""
        self.dual.offsets[:] = self.intercepts()

    def intercepts(self) -> np.ndarray:
        """Give the intercepts."""
        return np.asarray(self.dual.offsets + self.problem.rows.lift * self.dual.weights[-1])


def lifted_problem(task: Problem) -> JointRows:
    """Give the rows as the sweeps see them, lifted for a penalised or a proximal intercept."""
    squares = np.empty(task.X.shape[0])
    fill_squares(as_rows(task.X, task.penalised_lift), squares)
    if not squares.max() < np.inf:
        raise InputError("the rows are too long for their squares; divide X by a constant")
    lift = task.penalised_lift
    if task.intercept == "free":
        # Longer, it needs fewer proximal steps, but then all rows point in the same direction.
        lift = float(np.sqrt(squares.mean())) or 1.0
        squares += lift * lift
    return JointRows(as_rows(task.X, lift), task.labels, task.caps, squares, 2 * task.lam)


def settled(problem: JointRows, q: np.ndarray) -> np.ndarray:
    """Give the rows to look at; those of length zero are settled here, in any wrong classes."""
    zero = problem.squares <= problem.twice_lam * 1e-290
    q[zero] = (problem.caps[zero] / (q.shape[1] - 1))[:, None]
    q[zero, problem.classes[zero]] = 0.0
    return np.flatnonzero(~zero)


def simplex_points(task: Problem, alphas: np.ndarray | None) -> np.ndarray:
    """Give q = c·[r = y] - α, put back into the simplices if need be."""
    n = task.X.shape[0]
    q = np.zeros((n, task.k)) if alphas is None else -np.asarray(alphas, np.float64)
    q[np.arange(n), task.labels] += task.caps
    np.maximum(q, 0.0, out=q)
    return rescaled(q, task.caps)


def rescaled(q: np.ndarray, caps: np.ndarray) -> np.ndarray:
    """Scale each row to sum to c."""
    return np.asarray(q * (caps / q.sum(axis=1))[:, None])


def judged(task: Problem, descent: JointDescent, tol: float) -> Solution:
    """Compute anew, from the duals and the data, what the descent has reached."""
    q = rescaled(descent.dual.q, task.caps)
    problem = descent.problem._replace(rows=as_rows(task.X, task.penalised_lift))
    places = padded(task.k)
    offsets = descent.intercepts() if task.intercept == "free" else np.zeros(places)
    dual = Dual(q, np.zeros_like(descent.dual.weights), offsets, *np.zeros((2, places)))
    if task.intercept == "free":
        gains = np.empty(q.shape)
        joint_sweeps.fill_gains(problem, dual._replace(weights=descent.dual.weights), gains)
        balance(q, gains, np.bincount(task.labels, task.caps, task.k))
    joint_sweeps.fill_weights(problem, q, dual.steps, dual.weights)
    cost = task.lam * float(np.vdot(dual.weights, dual.weights))
    primal = joint_sweeps.total_loss(problem, dual) + cost
    alphas = -q
    alphas[np.arange(q.shape[0]), task.labels] += task.caps
    value = float(alphas[np.arange(q.shape[0]), task.labels].sum()) - cost
    W = np.ascontiguousarray(dual.weights[:, : task.k].T)
    if task.intercept == "free":
        W[:, -1] = offsets[: task.k]
    nothing = float(task.caps.sum())  # the objective of zero, which a search cut short may miss
    if not primal <= nothing:
        W, primal = np.zeros_like(W), nothing
    done = relative_gap(primal, value) <= tol
    return Solution(task.lam, W, alphas, primal, value, descent.passes, done, "joint")


def balance(q: np.ndarray, gains: np.ndarray, totals: np.ndarray) -> None:
    """Move q within rows until each class sums to its total, where the dual loses least.

    A free intercept costs nothing, so its class must hold as much in q as its rows have in caps.
    """
    surplus = q.sum(axis=0) - totals
    surplus[np.abs(surplus) <= 1e-15 * totals.sum()] = 0.0
    while surplus.max() > 0.0 > surplus.min():
        giver, taker = int(surplus.argmax()), int(surplus.argmin())
        amount = min(surplus[giver], -surplus[taker])
        rows = np.flatnonzero(q[:, giver] > 0.0)
        rows = rows[np.argsort(gains[rows, giver] - gains[rows, taker])]
        before = np.cumsum(q[rows, giver]) - q[rows, giver]
        moved = np.clip(amount - before, 0.0, q[rows, giver])
        q[rows, giver] -= moved
        q[rows, taker] += moved
        surplus[giver] -= amount
        surplus[taker] += amount
