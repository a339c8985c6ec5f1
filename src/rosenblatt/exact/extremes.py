"""What bounds want to know of rows, in floats, each number rounded to the safe side."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.blocks import in_blocks
from rosenblatt.loops import loop, part
from rosenblatt.matrices import Matrix, as_rows, stored
from rosenblatt.rows import Rows, absolute_dot, dot, size, span, sqnorm

UNIT = 2.0**-53  # unit round-off of float64
TINY = 2.0**-1000  # far more than an underflow: numbers of that size take as long as a whole row


class Extremes(NamedTuple):
    """What Theorem 1 wants to know of rows, each bounded on the safe side.

    Attributes
    ----------
    radius : max c·‖x‖.
    margin : min c·y·(w·x).
    where : the row of that margin.
    steepest : max c·‖x‖²/(y·(w·x)) over the rows on the right side.
    """

    radius: float
    margin: float
    where: int
    steepest: float

    @property
    def effective_radius(self) -> float:
        """An R that serves Theorem 1 as the radius does, and is no larger (F16)."""
        return min(self.radius, math.sqrt(self.margin) * math.sqrt(self.steepest) * (1 + 8 * UNIT))


def joined(found: list[Extremes]) -> Extremes:
    """Give the extremes of all blocks."""
    _, margin, where, _ = min(found, key=lambda block: block.margin)
    radius, steepest = (max(block[k] for block in found) for k in (0, 3))
    return Extremes(radius, margin, where, steepest)


@part
def weight_at(weights: np.ndarray, i: Any) -> float:
    """Give the weight of a row; no weights are 1 each."""
    weight: float = weights[i] if weights.size else 1.0
    return weight


@part
def score_below(rows: Rows, i: Any, sign: Any, w: np.ndarray) -> float:
    """Give a lower bound of y·(w·x).

    m terms summed in any order err by at most m·u / (1 - m·u) of the sum of their sizes, and by
    half the smallest number for each product that underflows.
    """
    terms = size(rows, i) + 4.0
    error = terms * 2.0**-52 * absolute_dot(rows, i, w) + terms * TINY
    below: float = sign * dot(rows, i, w) - error
    return below


@loop
def extremes(rows: Rows, signs: np.ndarray, weights: np.ndarray, w: np.ndarray) -> Extremes:
    """Give the extremes of c·‖x‖ and c·y·(w·x), as `Extremes` says."""
    largest, smallest, where, steepest = 0.0, np.inf, -1, 0.0
    for i in range(signs.size):
        weight = weight_at(weights, i)
        terms = size(rows, i) + 4.0
        norm = math.sqrt(sqnorm(rows, i) + terms * TINY) * (1 + terms * 2.0**-52)
        score = score_below(rows, i, signs[i], w)
        largest = max(largest, weight * norm)
        if score > 0.0:
            steepest = max(steepest, weight * norm * (norm / score))
        if weight * score < smallest:
            smallest, where = weight * score, i
    return Extremes(largest, smallest, where, steepest)


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


@loop
def weighted_loss(rows: Rows, signs: np.ndarray, weights: np.ndarray, w: np.ndarray) -> float:
    """Bound Σ max(0, 1 - c·y·(w·x)) from above, but for the rounding of the sum itself."""
    total = 0.0
    for i in range(signs.size):
        score = weight_at(weights, i) * score_below(rows, i, signs[i], w)
        total += max(0.0, 1.0 - (score - abs(score) * 2.0**-52 - TINY))
    return total


@loop
def write_margins(
    rows: Rows, signs: np.ndarray, weights: np.ndarray, w: np.ndarray, out: np.ndarray
) -> None:
    """Write c·y·(w·x) of every row, as it is rounded."""
    for i in range(signs.size):
        out[i] = weight_at(weights, i) * signs[i] * dot(rows, i, w)


def spread(
    X: Matrix, targets: np.ndarray, w: np.ndarray, lift: float, weights: np.ndarray
) -> Extremes:
    """Give the extremes of all rows; targets are signs, or codes if w has a row for each class."""
    rows, look = as_rows(X, lift), extremes if w.ndim == 1 else class_extremes

    def work(start: int, stop: int) -> Extremes:
        found = look(span(rows, start, stop), targets[start:stop], weights[start:stop], w)
        return Extremes(*found[:2], start + found[2], found[3])

    return joined(in_blocks(work, targets.size, stored(X)))


def loss_above(
    X: Matrix, signs: np.ndarray, w: np.ndarray, lift: float, weights: np.ndarray
) -> float:
    """Bound Σ max(0, 1 - c·y·(w·x)) from above."""
    rows = as_rows(X, lift)

    def work(start: int, stop: int) -> float:
        return weighted_loss(span(rows, start, stop), signs[start:stop], weights[start:stop], w)

    total = math.fsum(in_blocks(work, signs.size, stored(X)))
    return total * (1 + (signs.size + 8) * 2 * UNIT)


def margins_of(
    X: Matrix, signs: np.ndarray, w: np.ndarray, lift: float, weights: np.ndarray
) -> np.ndarray:
    """Give c·y·(w·x) of every row, as it is rounded."""
    rows, out = as_rows(X, lift), np.empty(signs.size)

    def work(start: int, stop: int) -> None:
        inside = slice(start, stop)
        write_margins(span(rows, start, stop), signs[inside], weights[inside], w, out[inside])

    in_blocks(work, signs.size, stored(X))
    return out
