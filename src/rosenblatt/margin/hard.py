"""The hard margin: the widest separator, in floats (theory D10, D19).

Problem     min ‖w‖² s.t. s(w·x + b) >= 1, on data that some hyperplane separates
Method      by its support vectors (`support`); if there are more than thousands, by sweeps over
            the dual, which is that of the soft margin without caps
Use         `decide.margins` makes a proven enclosure of the margin from the weights and the duals
"""

from __future__ import annotations

import math
import time

import numpy as np

from rosenblatt.margin.descent import MOST_PASSES, descend
from rosenblatt.margin.problem import Effort, Problem
from rosenblatt.margin.support import HardMargin, SupportSearch
from rosenblatt.matrices import Matrix


def hard_margin(
    X: Matrix,
    signs: np.ndarray,
    *,
    intercept: str = "free",
    lift: float = 1.0,
    tol: float = 1e-7,
    max_seconds: float | None = None,
) -> HardMargin:
    """Give the widest separator, up to `tol` relative to its margin if rounding allows."""
    left = np.inf if max_seconds is None else max_seconds
    end = time.perf_counter() + left
    found = SupportSearch(X, signs, intercept, lift).run(tol, left)
    left = end - time.perf_counter()
    if found.interrupted:
        raise KeyboardInterrupt
    if found.gap <= tol or left <= 0:
        return found
    swept = by_sweeps(X, signs, intercept, lift, found.alphas, tol, left)
    return min(found, swept, key=lambda answer: answer.gap)


def by_sweeps(
    X: Matrix,
    signs: np.ndarray,
    intercept: str,
    lift: float,
    start: np.ndarray,
    tol: float,
    max_seconds: float,
) -> HardMargin:
    """Go on from duals, by sweeps over all rows."""
    without_caps = np.full(signs.size, np.inf)
    problem = Problem.of(X, signs, 0.5, without_caps, intercept, lift)
    effort = Effort.within(MOST_PASSES, max_seconds)
    # The margin is 1/‖w‖, so that its relative gap is about half of that of ‖w‖².
    found = descend(problem, tol * (2 - tol), start=start, effort=effort)
    return HardMargin(found.w, found.alphas, 1 - math.sqrt(1 - found.gap))
