"""The soft margin: the best compromise where no hyperplane does it all (theory D19).

Problem     min Σ c·max(0, 1 - s(w·x + b)) + λ‖w‖²
Dual        max Σ α - ‖Σ α·s·x‖² / 4λ  over 0 <= α <= c, with Σ α·s = 0 if b is free
Intercept   free: b costs nothing; lifted: rows are (x, lift), so that b = lift·v costs λv²; none
Method      an interior-point method where there are few columns, else dual coordinate descent
Gap         no hyperplane has an objective below the dual value, so (primal - dual) / primal says
            how good the answer is; both are computed anew from the data
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.margin.descent import MOST_PASSES, Limits, descend
from rosenblatt.margin.intercepts import balanced
from rosenblatt.margin.interior import interior
from rosenblatt.margin.sums import accurate_combination, rounding_of
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.rows import combine, fill_squares, scores

FEW_COLUMNS = 200
SOME_COLUMNS = 500
FEW_PRODUCTS = 1e10  # rows · columns²: seconds of work for each step of the interior-point method
DENSE_ENOUGH = 0.05
# The last steps of the interior-point method are its longest. One or two beyond what was asked for
# leave room to round its duals to the ends of their ranges (`pruning`).
ROOM = 0.01
NEGLIGIBLE = 0.01  # share of the gap asked for that rounding may have
SWEEPS_FROM_NEAR = 200
SWEEPS_TO_FINISH = 1000


@dataclass(frozen=True)
class SoftMargin:
    """A solution, with its proof of quality.

    Attributes
    ----------
    w : weights of the columns, and behind them that of the lifted coordinate, or a free intercept.
    alphas : the dual variables.
    primal, dual : the objective of w, and a number that no objective is below (up to rounding).
    passes : sweeps over the rows, or Newton steps.
    converged : whether the gap is as small as was asked for.
    method : "descent", "interior", or "earlier" if an earlier solution is good enough.
    """

    w: np.ndarray
    alphas: np.ndarray
    primal: float
    dual: float
    passes: int
    converged: bool
    method: str

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return relative_gap(self.primal, self.dual)


class Problem(NamedTuple):
    """What is to be minimised."""

    X: Matrix
    signs: np.ndarray
    lam: float
    caps: np.ndarray
    intercept: str
    lift: float

    def primal(self, w: np.ndarray) -> float:
        """Give the objective of weights."""
        products = np.empty(self.signs.size)
        scores(as_rows(self.X, self.lift), w, products)
        losses = np.maximum(0.0, 1.0 - self.signs * products)
        penalised = w[:-1] if self.intercept == "free" else w
        return float(self.caps @ losses + self.lam * (penalised @ penalised))

    def dual(self, alphas: np.ndarray, tol: float) -> float:
        """Give the value of duals in their range, balanced if the intercept is free.

        Where rows cancel and λ is tiny, the rounding of Σ α·s·x would matter beside `tol`: it is
        then added up without any.
        """
        rows = as_rows(self.X, 0.0 if self.intercept == "free" else self.lift)
        total, squares = np.zeros(self.X.shape[1] + 1), np.empty(alphas.size)
        combine(rows, alphas * self.signs, total)
        fill_squares(rows, squares)
        length, error = float(np.linalg.norm(total)), rounding_of(alphas, squares)
        doubt = (2 * length + error) * error / (4 * self.lam)
        if doubt > NEGLIGIBLE * tol * alphas.sum():
            total = accurate_combination(self.X, alphas * self.signs, rows.lift)
            length, doubt = float(np.linalg.norm(total)), 0.0
        return float(alphas.sum() - length**2 / (4 * self.lam) - doubt)

    def judged(
        self, w: np.ndarray, alphas: np.ndarray, passes: int, tol: float, method: str
    ) -> SoftMargin:
        """Compute anew what a solver says of its answer."""
        primal, dual = self.primal(w), self.dual(alphas, tol)
        done = relative_gap(primal, dual) <= tol
        return SoftMargin(w, alphas, primal, dual, passes, done, method)


def soft_margin(
    X: Matrix,
    signs: np.ndarray,
    lam: float,
    *,
    intercept: str = "free",
    lift: float = 1.0,
    caps: np.ndarray | None = None,
    tol: float = 1e-3,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    max_seconds: float | None = None,
    max_passes: int | None = None,
    seed: int = 0,
) -> SoftMargin:
    """Minimise Σ c·hinge + λ‖w‖²; `start` holds w and the duals of an earlier solution."""
    lift = {"free": 1.0, "lifted": lift, "none": 0.0}[intercept]
    caps = np.ones(signs.size) if caps is None else caps
    problem = Problem(X, signs, lam, caps, intercept, lift)
    end = np.inf if max_seconds is None else time.perf_counter() + max_seconds
    few = suits_interior(X)
    best, duals = None, None
    if start is not None:
        duals = np.clip(start[1], 0.0, caps)
        if intercept == "free":  # they may be those of other labels or caps
            duals = balanced(duals, signs)
        if few or intercept == "free":  # else a sweep tells as much, and gets on
            best = problem.judged(start[0], duals, 0, tol, "earlier")
            if best.converged:
                return best
    if not few or start is not None:
        # From near by, some sweeps cost less than a path through the interior.
        passes = max_passes or MOST_PASSES
        passes = min(passes, SWEEPS_FROM_NEAR) if few else passes
        best = _descended(problem, tol, duals, Limits(passes, end - time.perf_counter()), seed)
    left = None if max_passes is None else max_passes - (best.passes if best else 0)
    if few and left != 0 and (best is None or not best.converged):
        best = _through_interior(problem, tol, best, end, left, seed)
    assert best is not None
    return best


def _through_interior(
    problem: Problem,
    tol: float,
    known: SoftMargin | None,
    end: float,
    max_passes: int | None,
    seed: int,
) -> SoftMargin:
    """Solve by the interior-point method; where rounding stops it, sweeps go on from there.

    Newton steps and sweeps together are at most `max_passes`.
    """
    left = end - time.perf_counter()
    point = interior(
        problem.X,
        problem.signs,
        problem.lam,
        problem.caps,
        intercept=problem.intercept,
        lift=problem.lift,
        tol=ROOM * tol,
        max_seconds=None if left == np.inf else max(left, 0.0),
        max_steps=max_passes,
    )
    found = [problem.judged(point.w, point.alphas, point.iterations, tol, "interior")]
    left = end - time.perf_counter()
    sweeps = SWEEPS_TO_FINISH if max_passes is None else max_passes - point.iterations
    if not found[0].converged and left > 0 and sweeps > 0:
        found += [_descended(problem, tol, found[0].alphas, Limits(sweeps, left), seed)]
    found += [] if known is None else [known]
    return replace(min(found, key=_gap_of), passes=sum(each.passes for each in found))


def _gap_of(answer: SoftMargin) -> float:
    return answer.gap


def _descended(
    problem: Problem, tol: float, start: np.ndarray | None, limits: Limits, seed: int
) -> SoftMargin:
    scale = 2 * problem.lam
    found = descend(
        problem.X,
        problem.signs,
        problem.caps / scale,
        intercept=problem.intercept,
        lift=problem.lift,
        tol=tol,
        start=None if start is None else start / scale,
        limits=limits,
        seed=seed,
    )
    alphas = np.minimum(scale * found.betas, problem.caps)
    primal, dual = scale * found.above, scale * found.below
    if found.doubt * scale > NEGLIGIBLE * tol * primal:
        return problem.judged(found.w, alphas, found.passes, tol, "descent")
    done = relative_gap(primal, dual) <= tol
    return SoftMargin(found.w, alphas, primal, dual, found.passes, done, "descent")


def suits_interior(X: Matrix) -> bool:
    """Tell whether products of all columns with each other are cheap."""
    rows, columns = X.shape
    if columns > SOME_COLUMNS or (columns > FEW_COLUMNS and rows * columns**2 > FEW_PRODUCTS):
        return False
    return not sparse.issparse(X) or X.nnz >= DENSE_ENOUGH * rows * columns or rows * columns < 1e6


def relative_gap(primal: float, dual: float) -> float:
    """Give (primal - dual) / primal."""
    return max(primal - dual, 0.0) / primal if primal > 0.0 else 0.0
