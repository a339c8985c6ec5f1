"""What bounds want to know of rows, in floats, each number rounded to the safe side."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.blocks import in_blocks
from rosenblatt.exact.enclosed import (
    FEW,
    TINY,
    enclosed,
    enclosed_few,
    flat,
    hinge_losses,
    sizes_of_rows,
)
from rosenblatt.exact.signed import products
from rosenblatt.loops import loop, part, pays
from rosenblatt.matrices import Matrix, as_rows, stored
from rosenblatt.rows import UNIT, Rows, size, span, sqnorm

NO_WEIGHTS = np.empty(0)


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
def norm_above(rows: Rows, i: Any) -> float:
    """Give an upper bound of ‖x‖."""
    terms = size(rows, i) + 4.0
    above: float = math.sqrt(sqnorm(rows, i) + terms * TINY) * (1 + terms * 2.0**-52)
    return above


@part
def widened(found: Extremes, rows: Rows, i: Any, weight: float, score: float) -> Extremes:
    """Give the extremes with those of one more row, whose score is at least the one given."""
    radius, margin, where, steepest = found
    norm = norm_above(rows, i)
    if score > 0.0:
        steepest = max(steepest, weight * norm * (norm / score))
    if weight * score < margin:
        margin, where = weight * score, i
    return Extremes(max(radius, weight * norm), margin, where, steepest)


@loop
def extremes(rows: Rows, signs: np.ndarray, weights: np.ndarray, w: np.ndarray) -> Extremes:
    """Give the extremes of c·‖x‖ and c·y·(w·x), as `Extremes` says."""
    found = Extremes(0.0, np.inf, -1, 0.0)
    for i in range(signs.size):
        score, _ = enclosed(rows, i, signs[i], w)
        found = widened(found, rows, i, weight_at(weights, i), score)
    return found


@loop
def class_extremes(rows: Rows, codes: np.ndarray, weights: np.ndarray, W: np.ndarray) -> Extremes:
    """Give the extremes of c·‖x‖ and c·(lead of y), as `Extremes` says."""
    found = Extremes(0.0, np.inf, -1, 0.0)
    for i in range(codes.size):
        y, least = codes[i], np.inf
        below, _ = enclosed(rows, i, 1.0, W[y])
        for r in range(W.shape[0]):
            if r != y:
                lead = below + enclosed(rows, i, -1.0, W[r])[0]
                least = min(least, lead - abs(lead) * 2.0**-51)
        found = widened(found, rows, i, weight_at(weights, i), least)
    return found


def spread(
    X: Matrix, targets: np.ndarray, w: np.ndarray, lift: float, weights: np.ndarray
) -> Extremes:
    """Give the extremes of all rows; targets are signs, or codes if w has a row for each class."""
    rows, look = as_rows(X, lift), extremes if w.ndim == 1 else class_extremes
    if w.ndim == 1 and not pays(extremes, targets.size + stored(X), FEW):
        return _extremes_of_few(X, targets, w, lift, weights)

    def work(start: int, stop: int) -> Extremes:
        found = look(span(rows, start, stop), targets[start:stop], weights[start:stop], w)
        return Extremes(*found[:2], start + found[2], found[3])

    return joined(in_blocks(work, targets.size, stored(X)))


def enclosed_loss(
    X: Matrix, signs: np.ndarray, w: np.ndarray, lift: float, weights: np.ndarray = NO_WEIGHTS
) -> tuple[Fraction, Fraction] | None:
    """Enclose Σ max(0, 1 - c·y·(w·x)); None if it is too large for float64."""
    rows, n = as_rows(X, lift), signs.size

    def work(start: int, stop: int) -> tuple[float, float]:
        return hinge_losses(rows, signs, weights, w, start, stop)

    if pays(hinge_losses, n + stored(X), FEW):
        blocks = in_blocks(work, n, stored(X))
    else:
        blocks = [_losses_of_few(X, signs, w, lift, weights)]
    if not np.isfinite(blocks).all():
        return None
    least, most = (sum(map(Fraction, ends)) for ends in zip(*blocks, strict=True))
    error = Fraction(n + 4, 2**52)  # of sums of so many terms, none of which is negative
    return Fraction(least * (1 - error)), Fraction(most * (1 + error))


def _extremes_of_few(
    X: Matrix, signs: np.ndarray, w: np.ndarray, lift: float, weights: np.ndarray
) -> Extremes:
    """Give what `extremes` gives."""
    low, _ = enclosed_few(X, signs, w, lift)
    terms, factors = sizes_of_rows(X, lift) + 4.0, weights if weights.size else np.ones(signs.size)
    with np.errstate(all="ignore"):
        doubles = X.astype(np.float64)
        squares = doubles.power(2) if sparse.issparse(X) else doubles**2
        lifted = flat(squares.sum(axis=1)) + lift * lift
        norms = np.sqrt(lifted + terms * TINY) * (1 + terms * 2.0**-52)
        steep = np.where(low > 0, factors * norms * (norms / low), 0.0)
        margins = factors * low
    where = int(margins.argmin())
    return Extremes(
        float((factors * norms).max()), float(margins[where]), where, float(steep.max())
    )


def _losses_of_few(
    X: Matrix, signs: np.ndarray, w: np.ndarray, lift: float, weights: np.ndarray
) -> tuple[float, float]:
    """Give what `hinge_losses` gives."""
    low, high = enclosed_few(X, signs, w, lift)
    with np.errstate(all="ignore"):
        if weights.size:
            low, high = weights * low, weights * high
            low, high = low - abs(low) * 2.0**-52 - TINY, high + abs(high) * 2.0**-52 + TINY
        return float(np.maximum(0.0, 1.0 - high).sum()), float(np.maximum(0.0, 1.0 - low).sum())


def loss_above(
    X: Matrix, signs: np.ndarray, w: np.ndarray, lift: float, weights: np.ndarray
) -> float:
    """Bound Σ max(0, 1 - c·y·(w·x)) from above."""
    found = enclosed_loss(X, signs, w, lift, weights)
    return math.inf if found is None else float(found[1]) * (1 + 4 * UNIT)


def margins_of(
    X: Matrix, signs: np.ndarray, w: np.ndarray, lift: float, weights: np.ndarray
) -> np.ndarray:
    """Give c·y·(w·x) of every row, as it is rounded."""
    found = products(X, signs, w, lift)
    return found * weights if weights.size else found
