"""Planted problems: data that come with their answer (theory D20)."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from rosenblatt.errors import InputError


def make_separable(
    n: int, d: int, margin: float, seed: int | None = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make two classes that a known hyperplane through the origin separates with a known margin.

    All rows lie in the unit ball (R = 1). The unit vector w has y·(w·x) >= margin on all of them,
    and no hyperplane does better, through the origin or not: one row of each class is ±margin·w
    itself, and the midpoint between these two is nowhere farther from both than along w. The
    margin is exact up to the rounding of the rows to float64. A seed gives the same numbers on
    every processor.

    Parameters
    ----------
    n : int
        The number of samples, at least 2.
    d : int
        The number of features.
    margin : float
        Between 0 and 1.
    seed : int or None, default=0
        Seed of the random numbers; None for different data each time.

    Returns
    -------
    X : ndarray of shape (n, d)
        The samples.
    y : ndarray of shape (n,)
        The labels -1 and +1.
    w : ndarray of shape (d,)
        The planted unit vector.

    See Also
    --------
    mistake_bound : The bound that such data meet.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(1000, 20, margin=0.01)
    >>> round(float((y * (X @ w)).min()), 12)
    0.01
    """
    whole = all(isinstance(size, Integral) for size in (n, d))
    if not whole or n < 2 or d < 1 or not isinstance(margin, Real) or not 0 < margin < 1:
        raise InputError(
            "a planted problem needs n >= 2, d >= 1 and a margin between 0 and 1, "
            f"got n={n!r}, d={d!r}, margin={margin!r}"
        )
    if seed is not None and not (isinstance(seed, Integral) and seed >= 0):
        raise InputError(f"seed must be None or a whole number from 0 on, got {seed!r}")
    random = np.random.default_rng(seed)
    w = random.standard_normal(d)
    w /= np.sqrt(_sums(w * w))
    X = random.standard_normal((n, d))
    X /= np.sqrt(_sums(X * X))[:, None]
    y = np.where(random.random(n) < 0.5, 1, -1)
    along = _sums(X * w)
    X -= np.outer(along, w)
    height = margin + (1 - margin) * np.abs(along)
    sideways = np.sqrt(_sums(X * X))
    X *= np.divide(np.sqrt(1 - height**2), sideways, out=np.zeros(n), where=sideways > 0)[:, None]
    X += np.outer(y * height, w)
    pair = random.choice(n, 2, replace=False)
    y[pair] = 1, -1
    X[pair] = margin * w, -margin * w
    return X, y, w


def _sums(table: np.ndarray) -> np.ndarray:
    """Add up each row, in an order that is NumPy's own: that of a BLAS hangs on the processor."""
    return np.asarray(table.sum(axis=-1))
