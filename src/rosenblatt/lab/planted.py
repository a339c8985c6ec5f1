"""Planted problems: run to the end, with flipped labels or points near the hyperplane."""

from __future__ import annotations

import numpy as np

from rosenblatt.data.synthetic import make_separable
from rosenblatt.lab.experiment import Row
from rosenblatt.learners.perceptron import Perceptron  # that of `rb` would load scikit-learn


def until_convergence(n: int, d: int, margin: float, seed: int) -> Row:
    """Let a perceptron without an intercept cycle through a planted problem; give what it cost."""
    X, y, w = make_separable(n, d, margin=margin, seed=seed)
    learner = Perceptron(fit_intercept=False, max_iter=None).fit(X, y)
    return {
        "mistakes": learner.run_.mistakes,
        "passes": learner.run_.passes,
        "bound": learner.bound(X, y, w).value,
    }


def make_noisy(
    n: int, d: int, margin: float, flipped: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make a planted problem and flip this share of its labels, at random rows.

    Examples
    --------
    >>> X, y, w = make_noisy(200, 5, margin=0.1, flipped=0.05, seed=0)
    >>> int((y * (X @ w) < 0).sum())
    10
    """
    X, y, w = make_separable(n, d, margin=margin, seed=seed)
    random = np.random.default_rng([seed, 1])  # not the numbers that made the rows
    y[random.choice(n, round(flipped * n), replace=False)] *= -1
    return X, y, w


def make_slab(
    n: int, d: int, margin: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make a planted problem whose points are all within two margins of the hyperplane.

    A planted problem of margin 1/2 is flattened along w. Its two nearest points stay those that
    prove that no hyperplane has a wider margin.

    Examples
    --------
    >>> X, y, w = make_slab(200, 5, margin=0.01, seed=0)
    >>> distances = y * (X @ w)
    >>> round(float(distances.min()), 12), round(float(distances.max()), 3)
    (0.01, 0.02)
    """
    X, y, w = make_separable(n, d, margin=0.5, seed=seed)
    return X - np.outer((1 - 2 * margin) * (X @ w), w), y, w
