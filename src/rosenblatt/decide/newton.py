"""A second float oracle, for dense problems with about as many rows as coordinates.

Problem     min ½·ε‖w‖² + ½·Σ max(0, 1 - z_i·w)² over unit rows z, for smaller and smaller ε
Why         its minimum is smooth and takes a few Newton steps, products of matrices at full speed,
            where the simplex method makes thousands of pivots
Answer      z·w > 0 on all rows: w. Or the losses ξ_i = max(0, 1 - z_i·w), for which
            Σ ξ·z = ε·w becomes tiny: multipliers, positive on too many rows. `vertex` moves them
            to the d + 1 rows that the exact step wants.
Sources     Mangasarian 2002 (Newton's method); Bixby & Saltzman 1994 (crossover)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr

from rosenblatt.blocks import one_blas_thread
from rosenblatt.decide.answers import Answer

WEIGHTS = [10.0**-k for k in (2, 5, 8, 11, 13)]
MOST_STEPS = 60
TINY = 1e-11
ROUNDS_BEFORE_INVERTING = 100


def by_newton(Z: np.ndarray, pause: Callable[[], object], *, corner: bool = True) -> Answer | None:
    """Ask about unit rows; None if neither answer shows.

    Multipliers are moved to few rows, unless no corner is wanted.
    """
    # Products of this size gain little by a second thread, and on a busy machine lose everything.
    with one_blas_thread:
        return _asked(Z, pause, corner)


def _asked(Z: np.ndarray, pause: Callable[[], object], corner: bool) -> Answer | None:
    w = np.zeros(Z.shape[1])
    for weight in WEIGHTS:
        w = minimum(Z, w, weight, pause)
        products = Z @ w
        if products.min() > 0:
            return Answer(w / np.abs(w).max(), {})
        losses = np.maximum(0.0, 1.0 - products)
        if np.linalg.norm(losses @ Z) < TINY * losses.sum():
            return Answer(None, vertex(Z, losses) if corner else dict(enumerate(losses.tolist())))
    return None


def minimum(Z: np.ndarray, w: np.ndarray, weight: float, pause: Callable[[], object]) -> np.ndarray:
    """Take Newton steps; each is exact as long as the same rows have a loss."""
    products = Z @ w
    for _ in range(MOST_STEPS):
        pause()
        active = np.flatnonzero(products < 1)
        if not active.size or products.min() > 0:
            return w
        rows = Z[active]
        hessian = rows.T @ rows
        hessian[np.diag_indices_from(hessian)] += weight
        try:
            target = cho_solve(cho_factor(hessian, overwrite_a=True), rows.sum(axis=0))
        except np.linalg.LinAlgError:
            return w
        w, step = w + 0.0, target - w
        along = Z @ step
        length = best_length(w, step, products, along, weight)
        w, products = w + length * step, products + length * along
        if length == 1.0 and np.array_equal(active, np.flatnonzero(products < 1)):
            return w
    return w


def best_length(
    w: np.ndarray, step: np.ndarray, products: np.ndarray, along: np.ndarray, weight: float
) -> float:
    """Halve the step until the objective falls enough."""

    def objective(length: float) -> float:
        losses = np.maximum(0.0, 1.0 - products - length * along)
        moved = w + length * step
        return float(0.5 * weight * (moved @ moved) + 0.5 * (losses @ losses))

    slope = float(weight * (w @ step) - np.maximum(0.0, 1.0 - products) @ along)
    start, length = objective(0.0), 1.0
    while length > 1e-6 and objective(length) > start + 1e-4 * length * slope:
        length /= 2
    return length


def vertex(Z: np.ndarray, multipliers: np.ndarray) -> dict[int, float]:
    """Move positive multipliers to no more rows than coordinates + 1, their sum of rows kept."""
    names = np.flatnonzero(multipliers > 0)
    rows = np.column_stack([Z[names], np.ones(names.size)])
    size = rows.shape[1]
    order = qr(rows.T, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(order[0]))
    if names.size <= size or diagonal.size < size or diagonal[-1] < 1e-9 * diagonal[0]:
        return dict(zip(names.tolist(), multipliers[names].tolist(), strict=True))
    basis, others = order[1][:size].copy(), order[1][size:]
    values = multipliers[names].copy()
    inverse = np.linalg.inv(rows[basis].T)
    for count, entering in enumerate(others, 1):
        column = inverse @ rows[entering]
        share, place = _room(values[basis], column)
        if share >= values[entering]:
            values[basis] += values[entering] * column
            values[entering] = 0.0
            continue
        values[basis] += share * column
        values[entering] -= share
        values[basis[place]] = 0.0
        basis[place] = entering
        if count % ROUNDS_BEFORE_INVERTING == 0:
            inverse = np.linalg.inv(rows[basis].T)
        else:
            inverse[place] /= column[place]
            rest = np.delete(np.arange(size), place)
            inverse[rest] -= np.outer(column[rest], inverse[place])
    kept = np.sort(basis[values[basis] > 0])
    return dict(zip(names[kept].tolist(), values[kept].tolist(), strict=True))


def _room(values: np.ndarray, column: np.ndarray) -> tuple[float, int]:
    """Give how far values can move along a column until one is zero, and which."""
    falling = np.flatnonzero(column < -1e-12)
    if not falling.size:
        return np.inf, -1
    ratios = values[falling] / -column[falling]
    place = int(np.argmin(ratios))
    return float(ratios[place]), int(falling[place])
