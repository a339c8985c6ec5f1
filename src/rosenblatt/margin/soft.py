"""The soft margin of two classes: the best compromise where no hyperplane does it all (theory D19).

Problem     that of `problem`
Method      sweeps over the dual, which soon know the rows that are far from the margin; then, where
            there are few columns, Newton steps, which need few rows
Gap         computed anew from the data, whatever the method says
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from rosenblatt.blocks import one_blas_thread
from rosenblatt.margin.descent import MOST_PASSES, descend
from rosenblatt.margin.newton import newton
from rosenblatt.margin.problem import NEGLIGIBLE, Effort, Problem, Solution, relative_gap

FEW_ROWS = 1000  # to hold BLAS back takes longer than they do
FEW_COLUMNS = 1000  # Newton's matrix takes a few milliseconds
FIRST_SWEEPS, MORE_SWEEPS = 20, 200  # the latter on few rows, where they cost next to nothing
SWEPT_ROWS = 20_000
SWEEPS_TO_FINISH = 1000


def soft_margin(
    problem: Problem,
    *,
    tol: float = 1e-3,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    max_seconds: float | None = None,
    max_passes: int | None = None,
    seed: int = 0,
) -> Solution:
    """Minimise Σ c·hinge + λ‖w‖²; `start` holds w and the duals of an earlier solution.

    Newton steps and sweeps together are at most `max_passes`.
    """
    effort = Effort.within(max_passes or MOST_PASSES, max_seconds)
    # Products run in threads of their own. BLAS's wait for work by turning round: on the sums of
    # 10,000 numbers that a sweep ends with, they spend three times what all sweeps take.
    with one_blas_thread if problem.signs.size > FEW_ROWS else nullcontext():
        return _solved(problem, tol, start, effort, seed)


def _solved(
    problem: Problem,
    tol: float,
    start: tuple[np.ndarray, np.ndarray] | None,
    effort: Effort,
    seed: int,
) -> Solution:
    few = problem.X.shape[1] <= FEW_COLUMNS
    duals = None
    if start is not None:
        duals = problem.feasible(start[1])  # they may be those of other labels or caps
        if few or problem.intercept == "free":  # else a sweep tells as much, and gets on
            earlier = problem.judged(start[0], duals, 0, tol, "earlier")
            if earlier.converged:
                return earlier
    sweeps = effort.most
    if few:
        sweeps = MORE_SWEEPS  # from near by, they are all that is needed
        if start is None:
            sweeps = min(max(FIRST_SWEEPS, SWEPT_ROWS // problem.signs.size), MORE_SWEEPS)
    best = _descended(problem, tol, duals, effort, sweeps, seed)
    if few and not best.converged and not effort.is_over():
        best = _by_newton(problem, tol, best, effort, seed)
    return best


def _by_newton(
    problem: Problem, tol: float, known: Solution, effort: Effort, seed: int
) -> Solution:
    """Go on by Newton steps; where rounding stops them, sweeps go on from there."""
    w, alphas = newton(problem, tol, effort, known.w, known.alphas)
    found = [known, problem.judged(w, alphas, effort.passes, tol, "newton")]
    if not found[1].converged and not effort.is_over():
        found += [_descended(problem, tol, alphas, effort, SWEEPS_TO_FINISH, seed)]
    return replace(min(found, key=lambda answer: answer.gap), passes=effort.passes)


def _descended(
    problem: Problem,
    tol: float,
    start: np.ndarray | None,
    effort: Effort,
    sweeps: float,
    seed: int,
) -> Solution:
    scale = 2 * problem.lam
    halved = problem._replace(lam=0.5, caps=problem.caps / scale)
    start = None if start is None else start / scale
    found = descend(halved, tol, start=start, effort=effort, most=sweeps, seed=seed)
    alphas = np.minimum(scale * found.betas, problem.caps)
    primal, dual = scale * found.above, scale * found.below
    if found.doubt * scale > NEGLIGIBLE * tol * primal:
        return problem.judged(found.w, alphas, effort.passes, tol, "descent")
    done = relative_gap(primal, dual) <= tol
    return Solution(problem.lam, found.w, alphas, primal, dual, effort.passes, done, "descent")
