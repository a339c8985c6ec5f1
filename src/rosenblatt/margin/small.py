"""Small problems of two classes: the Newton steps of `newton`, all in one compiled loop.

On a few hundred rows NumPy spends more time on being called than on numbers: 100 × 4 take it a
millisecond, and 30 microseconds here; of half a million entries it is still half the time. Problem,
proximal problems and steps are those of `newton`, with z = s·(x - mean, lift): a mean is taken out
where the intercept is free, since columns far from 0 would drown it. All rows are looked at in
every step. Where rounding stops the steps, the caller goes on with other methods.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rosenblatt.loops import in_python, loop, part
from rosenblatt.margin.problem import Problem

MOST_ENTRIES, MOST_COLUMNS = 2**19, 128  # beyond, threads and BLAS are quicker
FILLED = 1 / 8  # share of entries of sparse rows below which they are better left sparse
FEW_ENTRIES = 64  # of rows up to which Python's milliseconds are better than to compile the loop
MOST_STEPS = 200
FIRST_SIGMA = 0.5  # at w = 0 all rows are as far from the margin, and half of their caps is tried
GROWTH, LOOSE, SHORT_OF_ZERO = 4.0, 0.1, 0.1  # as in `newton`
MOST_LENGTHS = 60  # of a step that are tried
LEAST_PIVOT = 1e-13  # share of a diagonal entry that is as good as 0

CAPS, SIGNS, CENTRE, ALPHAS, PRODUCTS, ENDS, BEST_ALPHAS = range(7)  # what is kept of each row
COSTS, W, SLOPE, WAY, NEGATIVE, POSITIVE, BEST_W = range(7)  # and of each column


def is_small(problem: Problem) -> bool:
    """Tell whether a problem is so small that the loop pays."""
    n, columns = problem.X.shape
    dense = problem.X.size >= FILLED * n * columns
    return bool(dense and n * columns <= MOST_ENTRIES and columns <= MOST_COLUMNS)


def small_margin(problem: Problem, tol: float, most: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Give weights, duals, and the number of steps, at most `most`."""
    X = problem.X.toarray() if sparse.issparse(problem.X) else problem.X
    n, width, free = X.shape[0], X.shape[1] + 1, problem.intercept == "free"
    rows, of_rows, of_columns = np.empty((n, width)), np.zeros((7, n)), np.zeros((7, width))
    shift = X.mean(axis=0, dtype=np.float64) if free else np.zeros(width - 1)
    np.subtract(X, shift, out=rows[:, :-1])
    rows[:, -1] = problem.lift
    rows *= problem.signs[:, np.newaxis]
    largest = float(problem.caps.max())
    of_rows[CAPS], of_rows[SIGNS] = problem.caps / largest, problem.signs
    of_columns[COSTS] = 2 * problem.lam / largest
    if free:
        of_columns[COSTS, -1] = 0.0
    steps = int(min(most, MOST_STEPS))
    take_steps = in_python(newton_steps) if rows.size <= FEW_ENTRIES else newton_steps
    with np.errstate(all="ignore"):  # as in the loop
        steps = take_steps(rows, of_rows, of_columns, np.empty((width, width)), tol, steps)
    w = of_columns[BEST_W].copy()
    w[-1] -= shift @ w[:-1]
    return w, np.minimum(of_rows[BEST_ALPHAS] * largest, problem.caps), steps


@loop
def newton_steps(
    rows: np.ndarray,
    of_rows: np.ndarray,
    of_columns: np.ndarray,
    H: np.ndarray,
    tol: float,
    most: int,
) -> int:
    """Make Newton steps until the gap is small, or nothing better is found; give their number."""
    n, width = rows.shape
    lam, sigma = of_columns[COSTS, 0] / 2.0, FIRST_SIGMA
    above, below, steps, centred = np.inf, -np.inf, 0, False
    while True:
        sums = take_duals(rows, of_rows, of_columns, sigma)
        if not centred:
            primal = primal_value(of_rows, of_columns)
            dual, negative, positive = dual_value(of_columns, sums, lam)
            if primal < above:
                above = primal
                copy(of_columns, W, BEST_W)
            if dual > below:
                below = dual
                for i in range(n):
                    factor = positive if of_rows[SIGNS, i] > 0.0 else negative
                    of_rows[BEST_ALPHAS, i] = of_rows[ALPHAS, i] * factor
            known = primal - dual < np.inf
            if above - below <= tol * above or steps == most or not known:
                return steps
        lost = slope_of(of_columns, lam)
        if not centred and lost <= LOOSE * (primal - dual):
            copy(of_rows, ALPHAS, CENTRE)
            sigma *= GROWTH
            centred = True
            continue
        centred = False
        fill_matrix(rows, of_rows, of_columns, H, sigma)
        solve(H, of_columns)
        length = step_length(rows, of_rows, of_columns, sigma)
        for j in range(width):
            of_columns[W, j] += length * of_columns[WAY, j]
        for i in range(n):
            of_rows[PRODUCTS, i] += length * of_rows[ENDS, i]
        steps += 1


@part
def copy(table: np.ndarray, source: int, target: int) -> None:
    """Copy one kind of numbers to the place of another."""
    for k in range(table.shape[1]):
        table[target, k] = table[source, k]


@part
def dual_at(of_rows: np.ndarray, i: int, sigma: float, product: float) -> float:
    """Give the dual of a row for a value of z·w."""
    moved = of_rows[CENTRE, i] + sigma * (1.0 - product)
    return float(min(max(moved, 0.0), of_rows[CAPS, i]))


@part
def take_duals(
    rows: np.ndarray, of_rows: np.ndarray, of_columns: np.ndarray, sigma: float
) -> tuple[float, float]:
    """Fill in the duals, and the sums Σ α·z of each class; give those of the duals."""
    negative, positive = 0.0, 0.0
    for j in range(rows.shape[1]):
        of_columns[NEGATIVE, j], of_columns[POSITIVE, j] = 0.0, 0.0
    for i in range(rows.shape[0]):
        alpha = dual_at(of_rows, i, sigma, of_rows[PRODUCTS, i])
        of_rows[ALPHAS, i] = alpha
        side = NEGATIVE
        if of_rows[SIGNS, i] > 0.0:
            side = POSITIVE
            positive += alpha
        else:
            negative += alpha
        if alpha > 0.0:
            for j in range(rows.shape[1]):
                of_columns[side, j] += alpha * rows[i, j]
    return negative, positive


@part
def primal_value(of_rows: np.ndarray, of_columns: np.ndarray) -> float:
    """Give the objective of the weights."""
    value = 0.0
    for j in range(of_columns.shape[1]):
        value += of_columns[COSTS, j] * of_columns[W, j] * of_columns[W, j] / 2.0
    for i in range(of_rows.shape[1]):
        value += of_rows[CAPS, i] * max(0.0, 1.0 - of_rows[PRODUCTS, i])
    return value


@part
def dual_value(
    of_columns: np.ndarray, sums: tuple[float, float], lam: float
) -> tuple[float, float, float]:
    """Give the value of the duals times a factor for each class, and the factors."""
    negative, positive, penalised = 1.0, 1.0, of_columns.shape[1]
    if of_columns[COSTS, -1] == 0.0:  # then duals of both classes have to have the same sum
        penalised -= 1
        least = min(sums[0], sums[1])
        negative = least / sums[0] if sums[0] > 0.0 else 1.0
        positive = least / sums[1] if sums[1] > 0.0 else 1.0
    linear, square = negative * sums[0] + positive * sums[1], 0.0
    for j in range(penalised):
        pull = negative * of_columns[NEGATIVE, j] + positive * of_columns[POSITIVE, j]
        square += pull * pull
    best = min(1.0, 2.0 * lam * linear / square) if square > 0.0 else 1.0
    value = best * linear - best * best * square / (4.0 * lam)
    return value, best * negative, best * positive


@part
def slope_of(of_columns: np.ndarray, lam: float) -> float:
    """Fill in the slope of φ, and give what it may cost that it is not 0."""
    lost, last = 0.0, of_columns.shape[1] - 1
    for j in range(last + 1):
        pull = of_columns[NEGATIVE, j] + of_columns[POSITIVE, j]
        slope = of_columns[COSTS, j] * of_columns[W, j] - pull
        of_columns[SLOPE, j] = slope
        free = of_columns[COSTS, j] == 0.0
        lost += abs(slope) if free else slope * slope / (4.0 * lam)
    return lost


@part
def fill_matrix(
    rows: np.ndarray, of_rows: np.ndarray, of_columns: np.ndarray, H: np.ndarray, sigma: float
) -> None:
    """Fill in the lower half of costs + σ Σ zzᵀ over the rows that bend φ."""
    for j in range(H.shape[0]):
        for k in range(j):
            H[j, k] = 0.0
        H[j, j] = of_columns[COSTS, j]
    for i in range(rows.shape[0]):
        if 0.0 < of_rows[ALPHAS, i] < of_rows[CAPS, i]:
            for j in range(H.shape[0]):
                z = sigma * rows[i, j]
                for k in range(j + 1):
                    H[j, k] += z * rows[i, k]


@part
def solve(H: np.ndarray, of_columns: np.ndarray) -> None:
    """Fill in the way -H⁻¹·slope, by Cholesky's method; pivots that are rounding are mended."""
    width, way = H.shape[0], of_columns[WAY]
    for j in range(width):
        least = LEAST_PIVOT * H[j, j]
        way[j] = -of_columns[SLOPE, j]
        for k in range(j + 1):
            entry = H[j, k]
            for m in range(k):
                entry -= H[j, m] * H[k, m]
            if k < j:
                H[j, k] = entry / H[k, k]
                way[j] -= H[j, k] * way[k]
            else:
                pivot = max(entry, least)
                H[j, j] = np.sqrt(pivot) if pivot > 0.0 else 1.0
        way[j] /= H[j, j]
    for j in range(width - 1, -1, -1):
        for m in range(j + 1, width):
            way[j] -= H[m, j] * way[m]
        way[j] /= H[j, j]


@part
def step_length(
    rows: np.ndarray, of_rows: np.ndarray, of_columns: np.ndarray, sigma: float
) -> float:
    """Give the length along a step at which φ is about least."""
    level, rise = 0.0, 0.0
    for j in range(rows.shape[1]):
        way = of_columns[WAY, j]
        level += of_columns[SLOPE, j] * way
        rise += of_columns[COSTS, j] * way * way
    for i in range(rows.shape[0]):
        end = 0.0
        for j in range(rows.shape[1]):
            end += rows[i, j] * of_columns[WAY, j]
        of_rows[ENDS, i] = end
    low, high, at_low, at_high, length = 0.0, np.inf, level, np.inf, 1.0
    for k in range(MOST_LENGTHS):
        slope = level + length * rise
        for i in range(rows.shape[0]):
            end = of_rows[ENDS, i]
            moved = dual_at(of_rows, i, sigma, of_rows[PRODUCTS, i] + length * end)
            slope -= end * (moved - of_rows[ALPHAS, i])
        if abs(slope) <= SHORT_OF_ZERO * abs(level):
            break
        if slope < 0.0:
            low, at_low = length, slope
        else:
            high, at_high = length, slope
        if high == np.inf:
            length = 2.0 * low
        elif k % 2 == 0:
            length = (low + high) / 2.0
        else:
            length = low - (high - low) * at_low / (at_high - at_low)
    return length
