"""An interior-point method: support vector machines with few columns.

Problem     min λ‖w‖² + Σ c·max(0, 1 - s(w·x + b))
Method      the central path of central_path.py, with q = 2λ (0 for a free intercept), p = 0, e = 1
Tall data   only rows near the margin shape the answer. The problem is solved roughly first, which
            tells the rows that are far: α is put to 0 or to c there, and the rest is solved. All
            rows are looked at after each round.
Gap         (primal - dual) / primal, recomputed from all rows, not taken from the method
Sources     Ferris & Munson 2002; Joachims 1998 (rows at their bounds are left out)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.blocks import one_blas_thread
from rosenblatt.margin.central_path import Point, Quadratic, Signed, follow, products, sums
from rosenblatt.margin.intercepts import balanced, best_intercept
from rosenblatt.margin.two_classes import Effort, TwoClasses, relative_gap
from rosenblatt.matrices import Matrix

TALL = 2000  # rows, and
ROWS_PER_COLUMN = 20  # rows for each column, from which on few rows are solved by themselves
ROUGHLY = 1e-1  # gap after which rows far from the margin are known
SHARES = (8, 4, 2)  # one row in so many is taken for near the margin, round by round


class Centred(NamedTuple):
    """The parts of a problem of two classes, and the centre of the columns.

    It is 0 unless the intercept is free: then a shift of columns only shifts the intercept.
    """

    X: Matrix
    signs: np.ndarray
    lam: float
    caps: np.ndarray
    intercept: str
    lift: float
    centre: np.ndarray


# --- from data to programs ---------------------------------------------------------------------


def program_of(task: Centred, index: np.ndarray | None, fixed: np.ndarray) -> Quadratic:
    """Set up the problem on some rows (None for all), the duals of the others being fixed."""
    rows = signed_rows(task, index)
    outside = fixed * task.signs
    count, d = rows.signs.size, rows.centre.size
    p = np.concatenate([-sums(task.X, outside), np.zeros(rows.more.shape[1])])
    q = np.full(p.size, 2 * task.lam)
    if task.intercept == "lifted":
        p[d] = -task.lift * outside.sum()
    elif task.intercept == "free":
        p[:d] += task.centre * outside.sum()
        p[d], q[d] = -outside.sum(), 0.0
    caps = task.caps if index is None else task.caps[index]
    start = Point(np.zeros(p.size), caps / 2, caps / 2, np.ones(count), np.full(count, 2.0))
    return Quadratic(rows, q, p, 1.0, caps, float(fixed.sum()), start)


def signed_rows(task: Centred, index: np.ndarray | None) -> Signed:
    """Take rows with the columns of the intercept and of ρ; chosen rows are copied."""
    X, signs, centre = task.X, task.signs, task.centre
    if index is not None:
        X, signs = X[index], signs[index]
        if not sparse.issparse(X):
            X, centre = X - centre, np.zeros(centre.size)
    more = [signs * task.lift] if task.intercept != "none" else []
    return Signed(X, signs, centre, np.column_stack([np.empty((signs.size, 0)), *more]))


def weights(task: Centred, w: np.ndarray) -> np.ndarray:
    """Give the d + 1 weights of the data's own coordinates."""
    d = task.centre.size
    full = np.zeros(d + 1)
    full[:d] = w[:d]
    if task.intercept != "none":
        full[d] = w[d] - task.centre @ w[:d]
    return full


# --- from duals and weights to answers ---------------------------------------------------------


class Interior(NamedTuple):
    """Weights (d + 1 of them) and duals, their relative gap, and s(w·x + b) of all rows."""

    w: np.ndarray
    alphas: np.ndarray
    gap: float
    margins: np.ndarray


def pulled_by(task: Centred, alphas: np.ndarray) -> np.ndarray:
    """Give Σ α·s·(x, lift), without the last place unless the intercept is lifted."""
    signed = task.signs * alphas
    last = task.lift * signed.sum() if task.intercept == "lifted" else 0.0
    return np.append(sums(task.X, signed), last)


def soft_answer(task: Centred, w: np.ndarray, alphas: np.ndarray) -> Interior:
    """Give the better of the two weight vectors that a soft-margin path ends with."""
    alphas = np.clip(alphas, 0.0, task.caps)
    if task.intercept == "free":
        alphas = balanced(alphas, task.signs)
    pulled = pulled_by(task, alphas)
    best = 2 * task.lam * alphas.sum() / (pulled @ pulled)  # multiple of these duals
    if best < 1 - 1e-9:
        alphas, pulled = best * alphas, best * pulled
    dual = alphas.sum() - (pulled @ pulled) / (4 * task.lam)
    choices = [soft_primal(task, w), soft_primal(task, pulled / (2 * task.lam))]
    primal, margins, w = min(choices, key=lambda choice: choice[0])
    return Interior(w, alphas, relative_gap(primal, dual), margins)


def soft_primal(task: Centred, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Give the primal value of weights, with the best of intercepts if it is free."""
    scores = products(task.X, w[:-1])
    square = float(w[:-1] @ w[:-1])
    if task.intercept == "free":
        w = np.append(w[:-1], best_intercept(scores, task.signs, task.caps))
    else:
        square += w[-1] ** 2
    margins = task.signs * (scores + task.lift * w[-1])
    return float(task.caps @ np.maximum(0.0, 1 - margins)) + task.lam * square, margins, w


# --- rows near the margin first ----------------------------------------------------------------


def interior(problem: TwoClasses, tol: float, effort: Effort) -> Interior:
    """Solve the soft-margin problem on data with few columns.

    If the effort is over or rounding allows no more, the best point so far is given, and its gap
    says how good it is.
    """
    largest = float(problem.caps.max())
    n, d = problem.X.shape
    # The products run in threads of their own, which wait for each other less often than BLAS's.
    with np.errstate(all="ignore"), one_blas_thread:
        free = problem.intercept == "free"
        centre = sums(problem.X, np.full(n, 1 / n)) if free else np.zeros(d)
        lam, caps = problem.lam / largest, problem.caps / largest
        scaled = problem._replace(signs=problem.signs.astype(float), lam=lam, caps=caps)
        found = solve(Centred(*scaled, centre), tol, effort)
    return found._replace(alphas=found.alphas * largest)


def solve(task: Centred, tol: float, effort: Effort) -> Interior:
    """Solve on few rows if there are many, and on all of them where that does not do."""
    n, d = task.X.shape
    answer = None
    if n >= max(TALL, ROWS_PER_COLUMN * d):
        answer = soft_rounds(task, tol, effort)
    if answer is None or (answer.gap > tol and not effort.is_over()):
        last = improved(task, None, np.zeros(n), tol, effort)
        answer = last if answer is None or last.gap < answer.gap else answer
    return answer


def soft_rounds(task: Centred, tol: float, effort: Effort) -> Interior:
    """Solve roughly, then exactly on rows near the margin, the duals of the others being fixed."""
    n = task.signs.size
    answer = improved(task, None, np.zeros(n), ROUGHLY, effort)
    for share in SHARES:
        if answer.gap <= tol or effort.is_over():
            break
        chosen = near_margin(task, answer.margins, n // share)
        answer = improved(task, *chosen, tol, effort)
    return answer


def improved(
    task: Centred, index: np.ndarray | None, fixed: np.ndarray, tol: float, effort: Effort
) -> Interior:
    """Solve on some rows, and look at all of them."""
    program = program_of(task, index, fixed)
    w, duals = follow(program, tol / 2, effort)
    alphas = fixed.copy()
    alphas[slice(None) if index is None else index] = duals
    return soft_answer(task, weights(task, w), alphas)


def near_margin(task: Centred, margins: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose the rows nearest to the margin, and fix the duals of the others."""
    index = np.sort(np.argpartition(np.abs(margins - 1), count)[:count])
    fixed = np.where(margins < 1, task.caps, 0.0)
    fixed[index] = 0.0
    return index, fixed
