"""Naive twins of the margin solvers: plain Python and NumPy, no cleverness."""

from __future__ import annotations

import numpy as np


def naive_sweep(Z, targets, caps, active, w, betas, bounds):
    """Do what `descent.sweep` does, on signed lifted rows Z; give what it gives, as new lists."""
    active, w, betas = list(active), w.copy(), betas.copy()
    count, k, gap, moved = len(active), 0, 0.0, [0.0]
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
        w += (new - betas[i]) * Z[i]
        betas[i] = new
    return count, active, w, betas, (max(moved), min(moved), gap)


def objective(X, signs, lam, caps, w, b, penalised=0.0):
    """Give Σ c·hinge + λ(‖w‖² + penalised²)."""
    losses = np.maximum(0.0, 1.0 - signs * (X @ w + b))
    return float(caps @ losses + lam * (w @ w + penalised**2))


def dual_value(Z, lam, alphas):
    """Give Σ α - ‖Σ α·z‖² / 4λ."""
    total = alphas @ Z
    return float(alphas.sum() - total @ total / (4 * lam))


def kkt_violation(X, signs, lam, caps, w, b, alphas, free):
    """Give the largest violation of the optimality conditions, in units of the hinge."""
    worst = np.abs(w - (alphas * signs) @ X / (2 * lam)).max()
    slopes = signs * (X @ w + b) - 1.0
    for slope, alpha, cap in zip(slopes, alphas, caps, strict=True):
        if alpha < cap * (1 - 1e-6):
            worst = max(worst, -slope)
        if alpha > cap * 1e-6:
            worst = max(worst, slope)
    return max(worst, abs(alphas @ signs)) if free else worst
