"""The soft margin of two classes: the best compromise where no hyperplane does it all (theory D19).

Problem     that of `two_classes`
Method      an interior-point method where there are few columns, else dual coordinate descent
Gap         computed anew from the data, whatever the method says
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from rosenblatt.margin.descent import MOST_PASSES, descend
from rosenblatt.margin.interior import interior
from rosenblatt.margin.two_classes import NEGLIGIBLE, Effort, SoftMargin, TwoClasses, relative_gap
from rosenblatt.matrices import Matrix

FEW_COLUMNS = 200
SOME_COLUMNS = 500
FEW_PRODUCTS = 1e10  # rows · columns²: seconds of work for each step of the interior-point method
DENSE_ENOUGH = 0.05
# The last steps of the interior-point method are its longest. One or two beyond what was asked for
# leave room to round its duals to the ends of their ranges (`TwoClasses.pruned`).
ROOM = 0.01
SWEEPS_FROM_NEAR = 200
SWEEPS_TO_FINISH = 1000


def soft_margin(
    problem: TwoClasses,
    *,
    tol: float = 1e-3,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    max_seconds: float | None = None,
    max_passes: int | None = None,
    seed: int = 0,
) -> SoftMargin:
    """Minimise Σ c·hinge + λ‖w‖²; `start` holds w and the duals of an earlier solution.

    Newton steps and sweeps together are at most `max_passes`.
    """
    effort = Effort.within(max_passes or MOST_PASSES, max_seconds)
    few = suits_interior(problem.X)
    best, duals = None, None
    if start is not None:
        duals = problem.feasible(start[1])  # they may be those of other labels or caps
        if few or problem.intercept == "free":  # else a sweep tells as much, and gets on
            best = problem.judged(start[0], duals, 0, tol, "earlier")
            if best.converged:
                return best
    if not few or start is not None:
        # From near by, some sweeps cost less than a path through the interior.
        sweeps = SWEEPS_FROM_NEAR if few else effort.most
        best = _descended(problem, tol, duals, effort, sweeps, seed)
    if few and effort.passes < effort.most and (best is None or not best.converged):
        best = _through_interior(problem, tol, best, effort, seed)
    assert best is not None
    return best


def _through_interior(
    problem: TwoClasses, tol: float, known: SoftMargin | None, effort: Effort, seed: int
) -> SoftMargin:
    """Solve by the interior-point method; where rounding stops it, sweeps go on from there."""
    point = interior(problem, ROOM * tol, effort)
    found = [problem.judged(point.w, point.alphas, effort.passes, tol, "interior")]
    if not found[0].converged and not effort.is_over():
        found += [_descended(problem, tol, found[0].alphas, effort, SWEEPS_TO_FINISH, seed)]
    found += [] if known is None else [known]
    return replace(min(found, key=lambda answer: answer.gap), passes=effort.passes)


def _descended(
    problem: TwoClasses,
    tol: float,
    start: np.ndarray | None,
    effort: Effort,
    sweeps: float,
    seed: int,
) -> SoftMargin:
    scale = 2 * problem.lam
    halved = problem._replace(lam=0.5, caps=problem.caps / scale)
    start = None if start is None else start / scale
    found = descend(halved, tol, start=start, effort=effort, most=sweeps, seed=seed)
    alphas = np.minimum(scale * found.betas, problem.caps)
    primal, dual = scale * found.above, scale * found.below
    if found.doubt * scale > NEGLIGIBLE * tol * primal:
        return problem.judged(found.w, alphas, effort.passes, tol, "descent")
    done = relative_gap(primal, dual) <= tol
    return SoftMargin(problem.lam, found.w, alphas, primal, dual, effort.passes, done, "descent")


def suits_interior(X: Matrix) -> bool:
    """Tell whether products of all columns with each other are cheap."""
    rows, columns = X.shape
    if columns > SOME_COLUMNS or (columns > FEW_COLUMNS and rows * columns**2 > FEW_PRODUCTS):
        return False
    return not sparse.issparse(X) or X.nnz >= DENSE_ENOUGH * rows * columns or rows * columns < 1e6
