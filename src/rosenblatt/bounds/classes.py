"""Mistake bounds for many classes: what a run can cost at most, given one W* (theory F15, F7).

Theorem     given examples and W* of Frobenius norm 1 with w*_y·x - w*_r·x >= γ > 0 for all of them
            and all wrong r: an update adds U with ‖U‖² = 2‖x‖² and U·W* >= γ, hence Theorem 1 of
            `bounds` with 2R² for R²: at most 2(R/γ)² mistakes from a zero start, and its form for
            any start
Symbols     R = max ‖x‖; c0 = ‖W0‖², c1 = W0·W*, W0 = start / η
Weights     the update η·c·U makes the mistakes of the plain one on rows c·x (F16)
Rigour      every number is rounded so that the bound errs upwards only
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.blocks import in_blocks
from rosenblatt.bounds.theorem import (
    MistakeBound,
    check_radius,
    largest_count,
    lifted,
    named_run,
    slack_of,
    unit,
)
from rosenblatt.errors import InputError
from rosenblatt.exact.extremes import TINY, UNIT, Extremes, joined, score_below, stored, weight_at
from rosenblatt.loops import loop
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.rows import Rows, size, span, sqnorm


@loop
def class_extremes(rows: Rows, codes: np.ndarray, weights: np.ndarray, W: np.ndarray) -> Extremes:
    """Give the extremes of c·‖x‖ and c·(lead of y), as `Extremes` says."""
    largest, smallest, where, steepest = 0.0, np.inf, -1, 0.0
    for i in range(codes.size):
        y, weight, least = codes[i], weight_at(weights, i), np.inf
        terms = size(rows, i) + 4.0
        norm = math.sqrt(sqnorm(rows, i) + terms * TINY) * (1 + terms * 2.0**-52)
        below = score_below(rows, i, 1.0, W[y])
        for r in range(W.shape[0]):
            if r == y:
                continue
            lead = below + score_below(rows, i, -1.0, W[r])
            least = min(least, lead - abs(lead) * 2.0**-51)
        largest = max(largest, weight * norm)
        if least > 0.0:
            steepest = max(steepest, weight * norm * (norm / least))
        if weight * least < smallest:
            smallest, where = weight * least, i
    return Extremes(largest, smallest, where, steepest)


def class_theorem(
    X: Matrix,
    codes: np.ndarray,
    comparator: np.ndarray,
    start: np.ndarray,
    *,
    lift: float,
    eta: float,
    weights: np.ndarray,
) -> MistakeBound:
    """Give the bound of F15 for a run from `start`; a row of each is that of a class, lifted."""
    direction = unit(comparator)
    found = _spread(X, codes, direction, lift, weights)
    radius, margin, where, _ = found
    if not margin > 0:
        raise InputError(
            f"the comparator leaves row {where} to a wrong class or to none (margin {margin:.3g}); "
            "the bound needs one that separates the classes"
        )
    check_radius(radius)
    slack = 1 + (comparator.size + 8) * 2 * UNIT  # its norm is 1 only up to rounding
    margin, start = margin / slack, start / eta
    if not np.abs(start).max() < 1e150:
        raise InputError("the start is too far away for its square; divide it by a constant")
    along = float(start.ravel() @ direction.ravel()) - slack_of(start, direction)
    square = float((start * start).sum()) * slack
    longest = found.effective_radius if weights.size else radius
    longest *= math.sqrt(2) * (1 + 8 * UNIT)
    value = largest_count(longest, margin * (1 - 4 * UNIT), square, along)
    run = named_run(lift, None, start, weights)
    return MistakeBound(value, radius, margin, 0.0, direction, run)


def _spread(
    X: Matrix, codes: np.ndarray, W: np.ndarray, lift: float, weights: np.ndarray
) -> Extremes:
    rows = as_rows(X, lift)

    def work(start: int, stop: int) -> Extremes:
        inside = slice(start, stop)
        found = class_extremes(span(rows, start, stop), codes[inside], weights[inside], W)
        return Extremes(*found[:2], start + found[2], found[3])

    return joined(in_blocks(work, codes.size, stored(X)))


def lifted_classes(
    rows: Any, classes: int, width: int, lift: float, name: str = "the comparator"
) -> np.ndarray:
    """Take weights of the user's coordinates, a row for each class, into the lifted space."""
    try:
        given = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers") from None
    if given.ndim != 2 or given.shape[0] != classes:
        raise InputError(
            f"{name} needs a row of weights for each of {classes} classes, got an array of shape "
            f"{given.shape}"
        )
    return np.stack([lifted(row, width, lift, name) for row in given])
