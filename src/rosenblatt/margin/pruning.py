"""Duals with few rows: those of rows that do not matter, exactly zero.

An interior-point method ends with all duals strictly between 0 and c. Those that are close to an
end are put there; what is left is a dual vector like any other, and its value tells whether it
still proves what was asked for. The weights stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rosenblatt.margin.intercepts import balanced
from rosenblatt.margin.soft import Problem, SoftMargin, relative_gap

SHARES = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10)  # of c: how close to an end is close


def pruned(problem: Problem, found: SoftMargin, tol: float) -> SoftMargin:
    """Give the solution with the sparsest of such duals that prove a gap of `tol`."""
    if found.method != "interior" or not found.converged:
        return found
    for share in SHARES:
        low, high = found.alphas < share * problem.caps, found.alphas > (1 - share) * problem.caps
        alphas = np.where(low, 0.0, np.where(high, problem.caps, found.alphas))
        if problem.intercept == "free":
            alphas = balanced(alphas, problem.signs)
        dual = problem.dual(alphas, tol)
        if relative_gap(found.primal, dual) <= tol:
            return replace(found, alphas=alphas, dual=dual)
    return found
