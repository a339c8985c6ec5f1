"""The joint soft margin of several classes (Crammer & Singer 2001).

Problem     min Σ c·max(0, max over wrong r of 1 + s_r - s_y) + λ Σ ‖w_r‖²,  s_r = w_r·x + b_r
            over k weight vectors and intercepts; y is the row's class
Dual        max Σ α_y - ‖Σ α·x‖² / 4λ  over α_r <= 0 for wrong r, α_y <= c, Σ_r α_r = 0 for each
            row, and Σ_i α_r = 0 for each class if intercepts are free;  w_r = Σ α_r·x / 2λ
Simplex     q = c·[r = y] - α: numbers >= 0 that sum to c, which is how the sweeps hold them
Method      where there are few columns, Newton steps (`joint_newton`); else, or where rounding
            stops them, sweeps over the rows (`joint_sweeps`): all rows, then those that still
            matter until their gap is a tenth, and again, until the gap of all is small
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

from rosenblatt.blocks import one_blas_thread
from rosenblatt.errors import InputError
from rosenblatt.margin import joint_sweeps
from rosenblatt.margin.class_products import class_scores, class_totals
from rosenblatt.margin.class_rows import class_weights, padded
from rosenblatt.margin.joint_newton import joint_newton
from rosenblatt.margin.joint_sweeps import Dual, JointRows, Leaps, Turns
from rosenblatt.margin.problem import Effort, Problem, Solution, relative_gap
from rosenblatt.matrices import as_rows
from rosenblatt.rows import fill_squares

MOST_PASSES = 100_000
FEW_NUMBERS = 1000  # weights of all classes: Newton's matrix is solved in some ten milliseconds
# At 100 sweeps they are about level on covtype; digits, at 235, take 2 to 35 times less by sweeps.
SWEEPS_FOR_A_STEP = 100
INNER = 0.1  # sweeps over the rows that matter end at this part of the gap of all rows
SLACK = 2.0  # a sweep adds up gaps from before its steps: the gap behind it is smaller
ROUNDING = 1e-13  # a smaller gap, relative to the objective, is lost in its rounding
LOOKS = 2**25  # multiplications between two looks at the clock

Start = tuple[np.ndarray, np.ndarray]  # weights and duals of an earlier solution


def joint_margin(
    task: Problem,
    *,
    tol: float = 1e-3,
    start: Start | None = None,
    max_seconds: float | None = None,
    max_passes: int | None = None,
    seed: int = 0,
) -> Solution:
    """Minimise the joint objective; `start` holds weights and duals of an earlier solution."""
    effort = Effort.within(max_passes or MOST_PASSES, max_seconds)
    # Products run in threads of their own. With BLAS's beside them, the gap of letter, which is
    # computed once, takes three times what all Newton steps do.
    with one_blas_thread:
        return _solved(task, tol, start, effort, seed)


def _solved(task: Problem, tol: float, start: Start | None, effort: Effort, seed: int) -> Solution:
    """Make Newton steps where they pay; sweep elsewhere, and where rounding stops them."""
    problem = lifted_problem(task)
    q = simplex_points(task, None if start is None else start[1])
    if not newton_pays(task):
        return _swept(task, problem, q, tol, effort, seed)
    w = None if start is None else start[0]
    with np.errstate(all="ignore"):
        planes, q = joint_newton(task, tol, effort, w, q, seed)
    q = balanced(task, planes, q)
    best = judged(task, planes, q, weights_of(task, q, task.penalised_lift), effort.passes, tol)
    if best.converged or effort.is_over():
        return best
    more = _swept(task, problem, rescaled(q, task.caps), tol, effort, seed)
    return min(best, more, key=lambda answer: answer.gap)


def newton_pays(task: Problem) -> bool:
    """Tell whether Newton steps are cheap: their matrix, and beside sweeps.

    A step takes the third power of the numbers that are sought, a sweep these times the rows.
    """
    numbers, rows = task.k * (task.X.shape[1] + 1), task.X.shape[0]
    return bool(numbers <= min(FEW_NUMBERS, rows) and numbers**2 <= SWEEPS_FOR_A_STEP * rows)


def _swept(
    task: Problem, problem: JointRows, q: np.ndarray, tol: float, effort: Effort, seed: int
) -> Solution:
    """Sweep over all rows, then over those that matter, until the gap is small or time is up."""
    descent = JointDescent(task, problem, q, seed)
    while not effort.is_over():
        descent.look_at_all()
        descent.sweep_until(np.inf, effort)
        gap, primal = descent.found[joint_sweeps.GAP], descent.objective()
        lost = gap <= ROUNDING * primal
        result = descent.judged(effort, tol) if lost or descent.promises(tol) else None
        if result is not None and (result.converged or lost):
            return result
        if task.intercept == "free":
            descent.shift_offsets()
        descent.sweep_until(max(INNER * gap, tol * primal), effort)
        descent.found[joint_sweeps.REACH] = np.inf  # few duals have a long way to go from here on
        if descent.promises(tol):
            result = descent.judged(effort, tol)
            if result.converged:
                return result
    return descent.judged(effort, tol)


class JointDescent:
    """The state of the sweeps, and how far they may go."""

    def __init__(self, task: Problem, problem: JointRows, q: np.ndarray, seed: int) -> None:
        n, places = task.X.shape[0], padded(task.k)
        self.task, self.problem = task, problem
        shape = task.X.shape[1], task.k
        self.rows = settled(self.problem, q)
        self.dual = Dual(q, class_weights(*shape), *np.zeros((3, places)))
        self.dual.weights[:, : task.k] = weights_of(task, q, problem.rows.lift).T
        self.sweeps = Turns(
            np.empty(n, np.int64), np.zeros(7, np.int64), np.zeros(5), np.array([seed], np.uint64)
        )
        self.sweeps.found[joint_sweeps.BOUND] = np.inf
        self.sweeps.found[joint_sweeps.REACH] = joint_sweeps.FIRST_REACH
        # Touched only when the sweeps are so many that they leap.
        self.leaps = Leaps(
            np.empty(n, np.int64),
            *(np.empty(q.shape) for _ in range(2)),
            *(class_weights(*shape) for _ in range(3)),
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
        tally, before = self.sweeps.tally, effort.passes - self.passes
        tally[joint_sweeps.LAST] = effort.most - before
        ended = tally[joint_sweeps.ACTIVE] == 0 or tally[joint_sweeps.CURSOR] > 0
        while not ended and not effort.is_over():
            ended = joint_sweeps.descend(
                self.problem, self.dual, self.sweeps, self.leaps, target, self.looks
            )
            effort.passes = before + self.passes

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

    def judged(self, effort: Effort, tol: float) -> Solution:
        """Compute anew how good the answer is, with the weights that balanced duals stand for.

        Those of the sweeps still have the cost of the proximal intercepts in them.
        """
        task, planes = self.task, np.array(self.dual.weights[:, : self.task.k].T, order="C")
        if task.intercept == "free":
            planes[:, -1] = self.intercepts()[: task.k]
        q = balanced(task, planes, self.dual.q)
        kept = -1 if task.intercept == "free" else None
        combined = weights_of(task, q, task.penalised_lift)
        planes[:, :kept] = combined[:, :kept]
        return judged(task, planes, q, combined, effort.passes, tol)


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
    own = np.arange(task.X.shape[0]), task.labels
    if alphas is None:
        q = np.zeros((task.labels.size, task.k))
        q[own] = task.caps
        return q
    q = -np.asarray(alphas, np.float64)
    q[own] += task.caps
    np.maximum(q, 0.0, out=q)
    return rescaled(q, task.caps)


def rescaled(q: np.ndarray, caps: np.ndarray) -> np.ndarray:
    """Scale each row to sum to c."""
    return np.asarray(q * (caps / q.sum(axis=1))[:, None])


def weights_of(task: Problem, q: np.ndarray, lift: float) -> np.ndarray:
    """Give the weights Σ α·x / 2λ that duals stand for."""
    return class_totals(task.X, alphas_of(task, q), lift) / (2 * task.lam)


def alphas_of(task: Problem, q: np.ndarray) -> np.ndarray:
    """Give α = c·[r = y] - q."""
    alphas = -q
    alphas[np.arange(q.shape[0]), task.labels] += task.caps
    return alphas


def gains_of(task: Problem, planes: np.ndarray) -> np.ndarray:
    """Give score_r + [r ≠ y] of all rows and classes."""
    gains = class_scores(task.X, planes, task.lift) + 1.0
    gains[np.arange(task.labels.size), task.labels] -= 1.0
    return gains


def balanced(task: Problem, planes: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Give duals that have the sums they must have, changed where the weights make it cheapest."""
    q = rescaled(q, task.caps)
    if task.intercept == "free":
        balance(q, gains_of(task, planes), np.bincount(task.labels, task.caps, task.k))
    return q


def judged(
    task: Problem,
    planes: np.ndarray,
    q: np.ndarray,
    combined: np.ndarray,
    passes: int,
    tol: float,
) -> Solution:
    """Compute anew, from the data, how good weights and balanced duals are.

    `combined` holds the penalised weights that the duals stand for.
    """
    own, gains = (np.arange(q.shape[0]), task.labels), gains_of(task, planes)
    penalised = planes[:, :-1] if task.intercept == "free" else planes
    losses = task.caps @ (gains.max(axis=1) - gains[own])
    primal = float(losses + task.lam * np.vdot(penalised, penalised))
    alphas = alphas_of(task, q)
    value = float(alphas[own].sum() - task.lam * np.vdot(combined, combined))
    nothing = float(task.caps.sum())  # the objective of zero, which a search cut short may miss
    if not primal <= nothing:
        planes, primal = np.zeros_like(planes), nothing
    done = relative_gap(primal, value) <= tol
    return Solution(task.lam, planes, alphas, primal, value, passes, done, "joint")


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
