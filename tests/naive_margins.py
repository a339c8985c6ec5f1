"""Naive twins of the margin solvers: plain Python and NumPy, no cleverness."""

import itertools
from fractions import Fraction

import numpy as np


def naive_sweep(Z, targets, caps, active, w, betas, bounds):
    """Do what `descent.sweep` does, on signed lifted rows Z; give what it gives, as new lists."""
    active, w, betas = list(active), w.copy(), betas.copy()
    count, k, gap, rise, moved = len(active), 0, 0.0, 0.0, [0.0]
    while k < count:
        i = active[k]
        slope = Z[i] @ w - targets[i]
        at_zero, at_cap = betas[i] == 0.0, betas[i] == caps[i]
        if slope > 0:
            gap += betas[i] * slope
        elif not at_cap:
            gap += (betas[i] - caps[i]) * slope
        if (at_zero and slope > bounds[1]) or (at_cap and slope < bounds[0]):
            count -= 1
            active[k], active[count] = active[count], active[k]
            continue
        k += 1
        if (at_zero and slope >= 0) or (at_cap and slope <= 0):
            continue
        moved.append(slope)
        square = Z[i] @ Z[i]
        step = slope / square if square else np.inf * slope
        new = min(max(betas[i] - step, 0.0), caps[i])
        before = targets @ betas - w @ w / 2
        w += (new - betas[i]) * Z[i]
        betas[i] = new
        rise += targets @ betas - w @ w / 2 - before
    return count, active, w, betas, (max(moved), min(moved), gap, rise)


def objective(X, signs, lam, caps, w, b, penalised=0.0):
    """Give Σ c·hinge + λ(‖w‖² + penalised²)."""
    losses = np.maximum(0.0, 1.0 - signs * (X @ w + b))
    return float(caps @ losses + lam * (w @ w + penalised**2))


def dual_value(Z, lam, alphas):
    """Give Σ α - ‖Σ α·z‖² / 4λ."""
    total = alphas @ Z
    return float(alphas.sum() - total @ total / (4 * lam))


def naive_newton_steps(Z, signs, caps, costs, tol, most):
    """Do what `small.newton_steps` does; give the best weights and duals, and the steps."""
    lam, sigma, free = costs[0] / 2, 0.5, costs[-1] == 0
    w, centre = np.zeros(Z.shape[1]), np.zeros(len(Z))
    above, below, steps, centred = np.inf, -np.inf, 0, False

    def duals(w):
        return np.clip(centre + sigma * (1 - Z @ w), 0, caps)

    def slope(w):
        return costs * w - duals(w) @ Z

    while True:
        alphas = duals(w)
        sums = np.array([alphas[signs < 0].sum(), alphas[signs > 0].sum()])
        factors = (
            np.where(sums > 0, sums.min() / np.where(sums > 0, sums, 1), 1) if free else [1, 1]
        )
        scaled = alphas * np.where(signs < 0, *factors)
        pulled = (scaled @ Z)[: -1 if free else None]
        scaled *= min(1, 2 * lam * scaled.sum() / (pulled @ pulled)) if pulled.any() else 1
        primal = caps @ np.maximum(0, 1 - Z @ w) + costs @ w**2 / 2
        dual = dual_value(Z[:, : -1 if free else None], lam, scaled)
        if not centred:
            if primal < above:
                above, best_w = primal, w
            if dual > below:
                below, best_alphas = dual, scaled
            if above - below <= tol * above or steps == most:
                return best_w, best_alphas, steps
            squares = slope(w) ** 2 / (4 * lam)
            if free:
                squares[-1] = abs(slope(w)[-1])
            if squares.sum() <= 0.1 * (primal - dual):
                centre, sigma, centred = alphas, 4 * sigma, True
                continue
        bent = Z[(alphas > 0) & (alphas < caps)]
        way = -np.linalg.lstsq(np.diag(costs) + sigma * bent.T @ bent, slope(w), rcond=1e-14)[0]
        w = w + _length(lambda length, w=w, way=way: slope(w + length * way) @ way) * way
        steps, centred = steps + 1, False


def _length(slope):
    """Search along a step for a slope of a tenth: twice as far, then halves and secants in turn."""
    low, high, length = 0.0, np.inf, 1.0
    for k in range(60):
        if abs(slope(length)) <= 0.1 * abs(slope(0.0)):
            break
        low, high = (length, high) if slope(length) < 0 else (low, length)
        if high == np.inf:
            length = 2 * low
        elif k % 2 == 0:
            length = (low + high) / 2
        else:
            length = low - (high - low) * slope(low) / (slope(high) - slope(low))
    return length


# ---- the largest margin, by every set of rows


def solution(matrix, right):
    """Solve equations in fractions by elimination; None if the matrix is singular."""
    rows = [
        [*map(Fraction, row), Fraction(value)] for row, value in zip(matrix, right, strict=True)
    ]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


def signed_rows(X, signs, lift=None, **_):
    added = [] if lift is None else [lift]
    return [[s * Fraction(v) for v in (*x, *added)] for x, s in zip(X, signs, strict=True)]


def squared_length(rows, groups, whole):
    """Give ‖Σ λ·z‖² where it is least on the affine hulls; None unless it lies in the hulls."""
    names = sorted(set(groups))
    if names != whole:
        return None
    borders = [[int(group == name) for group in groups] for name in names]
    matrix = [[0] * len(names) + border for border in borders]
    matrix += [
        [border[k] for border in borders] + [dot(z, other) for other in rows]
        for k, z in enumerate(rows)
    ]
    found = solution(matrix, [Fraction(1, len(names))] * len(names) + [0] * len(rows))
    weights = found and found[len(names) :]
    if not weights or min(weights) < 0:
        return None
    mean = [dot(weights, column) for column in zip(*rows, strict=True)]
    return dot(mean, mean)


def naive_square(X, signs, fit_intercept=True, lift=None):
    """Try every set of rows; 0 if the hulls meet."""
    rows = signed_rows(X, signs, lift)
    free = fit_intercept and lift is None
    groups = [s if free else 0 for s in signs]
    most = len(rows[0]) + 1 + free
    sets = (
        chosen
        for size in range(1, most + 1)
        for chosen in itertools.combinations(range(len(rows)), size)
    )
    squares = (
        squared_length([rows[i] for i in chosen], [groups[i] for i in chosen], sorted(set(groups)))
        for chosen in sets
    )
    return min(square for square in squares if square is not None)
