"""The hard margin: the widest separator, in floats (theory D10, D19).

Problem     min ‖w‖² s.t. s(w·x + b) >= 1, on data that some hyperplane separates
Dual        the same as that of the soft margin, without caps
Use         `decide.margins` makes a proven enclosure of the margin from the weights and the duals
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.margin.descent import MOST_PASSES, Limits, descend
from rosenblatt.margin.interior import interior
from rosenblatt.margin.soft import suits_interior
from rosenblatt.matrices import Matrix


class HardMargin(NamedTuple):
    """Weights with min s(w·x + b) = 1, duals, and the passes or Newton steps that it took."""

    w: np.ndarray
    alphas: np.ndarray
    passes: int


def hard_margin(
    X: Matrix,
    signs: np.ndarray,
    *,
    intercept: str = "free",
    lift: float = 1.0,
    tol: float = 1e-7,
    start: np.ndarray | None = None,
    near: np.ndarray | None = None,
    max_seconds: float | None = None,
) -> HardMargin:
    """Give the widest separator, up to `tol` relative to its margin if rounding allows.

    `start` holds the duals of an earlier solution, `near` numbers that are largest on the rows that
    are likely to matter, such as those near some other separator.
    """
    lift = {"free": 1.0, "lifted": lift, "none": 0.0}[intercept]
    if suits_interior(X):
        point = interior(
            X,
            signs,
            1.0,
            None,
            intercept=intercept,
            lift=lift,
            tol=tol,
            max_seconds=max_seconds,
            start=near if start is None else start,
        )
        return HardMargin(point.w, point.alphas, point.iterations)
    limits = Limits(MOST_PASSES, np.inf if max_seconds is None else max_seconds)
    unlimited = np.full(signs.size, np.inf)
    found = descend(
        X, signs, unlimited, intercept=intercept, lift=lift, tol=tol, start=start, limits=limits
    )
    return HardMargin(found.w, found.betas, found.passes)
