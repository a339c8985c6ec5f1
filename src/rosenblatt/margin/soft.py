"""The soft margin of two classes: the best compromise where no hyperplane does it all (theory D19).

Problem     that of `problem`
Method      sweeps over the dual, which soon know the rows that are far from the margin; then, where
            there are few columns, Newton steps, which need few rows; small data, those at once
Gap         computed anew from the data, whatever the method says
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
from scipy import sparse

from rosenblatt.blocks import one_blas_thread
from rosenblatt.margin.descent import MOST_PASSES, descend
from rosenblatt.margin.newton import newton
from rosenblatt.margin.problem import NEGLIGIBLE, Effort, Problem, Solution, divided, relative_gap
from rosenblatt.margin.small import is_small, small_margin
from rosenblatt.margin.sums import parts

FEW_ROWS = 1000  # to hold BLAS back takes longer than they do
FEW_COLUMNS = 1000  # Newton's matrix takes a few milliseconds
CHEAP, SWEEPS_FOR_A_STEP = 300**3, 30  # products of which a Newton step may cost as many
FIRST_SWEEPS, MORE_SWEEPS = 12, 200  # the latter on few rows, where they cost next to nothing
SWEPT_ROWS = 5000
SWEEPS_TO_FINISH = 1000

Start = tuple[np.ndarray, np.ndarray]  # weights and duals of an earlier solution


def soft_margin(
    problem: Problem,
    *,
    tol: float = 1e-3,
    start: Start | None = None,
    max_seconds: float | None = None,
    max_passes: int | None = None,
    seed: int = 0,
) -> Solution:
    """Minimise Σ c·hinge + λ‖w‖²; `start` holds w and the duals of an earlier solution.

    Newton steps and sweeps together are at most `max_passes`.
    """
    effort = Effort.within(max_passes or MOST_PASSES, max_seconds)
    if sparse.issparse(problem.X) and problem.X.shape[1] > problem.X.nnz:
        return _on_used_columns(problem, tol, start, effort, seed)
    return _in_threads(problem, tol, start, effort, seed)


def _on_used_columns(
    problem: Problem, tol: float, start: Start | None, effort: Effort, seed: int
) -> Solution:
    """Solve without the many columns that no row has an entry in; their weights are 0.

    Vectors of all columns cost more than the rows do, for the memory has to find room for each.
    """
    used, indices = np.zeros(problem.X.shape[1] + 1, bool), problem.X.indices
    used[-1] = True
    for part in parts(0, indices.size):  # in half the time, with indices of 64 bits
        used[indices[part].astype(np.intp)] = True
    columns = np.flatnonzero(used)
    narrow = None if start is None else (start[0][columns], start[1])
    answer = _in_threads(problem.of_columns(columns[:-1]), tol, narrow, effort, seed)
    w = np.zeros(used.size)
    w[columns] = answer.w
    return replace(answer, w=w)


def _in_threads(
    problem: Problem, tol: float, start: Start | None, effort: Effort, seed: int
) -> Solution:
    # Products run in threads of their own. BLAS's wait for work by turning round: on the sums of
    # 10,000 numbers that a sweep ends with, they spend three times what all sweeps take.
    with one_blas_thread if problem.signs.size > FEW_ROWS else nullcontext():
        return _solved(problem, tol, start, effort, seed)


def _solved(
    problem: Problem, tol: float, start: Start | None, effort: Effort, seed: int
) -> Solution:
    few = newton_pays(problem.X.shape[1], problem.X.size)
    duals = None
    if start is not None:
        duals = problem.feasible(start[1])  # they may be those of other labels or caps
        if few or problem.intercept == "free":  # else a sweep tells as much, and gets on
            earlier = problem.judged(start[0], duals, 0, tol, "earlier")
            if earlier.converged:
                return earlier
    if is_small(problem):
        w, alphas, effort.passes = small_margin(problem, tol, effort.most)
        found = problem.judged(w, alphas, effort.passes, tol, "newton")
        if found.converged or effort.is_over():
            return found
        duals = alphas
    sweeps = effort.most
    if few:
        sweeps = MORE_SWEEPS  # from near by, they are all that is needed
        if start is None:
            sweeps = min(max(FIRST_SWEEPS, SWEPT_ROWS // problem.signs.size), MORE_SWEEPS)
    best = _descended(problem, tol, duals, effort, sweeps, seed)
    if few and not best.converged and not effort.is_over():
        best = _by_newton(problem, tol, best, effort, seed)
    return best


def newton_pays(columns: int, entries: int) -> bool:
    """Tell whether Newton steps are cheap, beside sweeps if not by themselves.

    Ten digits of MNIST against the rest take 5.3 s with them and 2.4 s without, of 10,000 images.
    """
    return columns <= FEW_COLUMNS and columns**3 <= max(CHEAP, SWEEPS_FOR_A_STEP * entries)


def _by_newton(
    problem: Problem, tol: float, known: Solution, effort: Effort, seed: int
) -> Solution:
    """Go on by Newton steps; where rounding stops them, sweeps go on from there."""
    w, alphas = newton(problem, tol, effort, known.w, known.alphas)  # in the memory of the duals
    over = effort.is_over()
    found = [problem.judged(w, alphas, effort.passes, tol, "newton", hurry=over)]
    if not found[0].converged and not over:
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
    caps = problem.caps if scale == 1.0 else divided(problem.caps, scale)
    halved = problem._replace(lam=0.5, caps=caps)
    start = None if start is None else start / scale
    found = descend(halved, tol, start=start, effort=effort, most=sweeps, seed=seed)
    alphas = found.alphas  # which nobody else has
    alphas *= scale
    np.minimum(alphas, problem.caps, out=alphas)
    primal, dual, doubt = scale * found.primal, scale * found.dual, scale * found.doubt
    done = relative_gap(primal, dual) <= tol
    if doubt > NEGLIGIBLE * tol * primal:
        if done:
            return problem.judged(found.w, alphas, effort.passes, tol, "descent")
        dual -= doubt  # sums without rounding would take seconds, and not close the gap
    return Solution(problem.lam, found.w, alphas, primal, dual, effort.passes, done, "descent")
