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
