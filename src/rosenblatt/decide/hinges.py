"""The hinge-loss bound on mistakes (theory F8), checked by sums in float64 where these decide."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from rosenblatt.blocks import in_blocks
from rosenblatt.certificates import MistakeProof
from rosenblatt.decide.exact import exact_row, is_exact
from rosenblatt.decide.hand import Labelled
from rosenblatt.decide.products import Weights, exact_product, shape_of_work
from rosenblatt.decide.rounded import TINY, hinge_losses
from rosenblatt.examples import Matrix, as_rows
from rosenblatt.rows import largest_sqnorm

Interval = tuple[Fraction, Fraction]


def hinge_bound_holds(claim: MistakeProof, data: Labelled) -> bool:
    """Tell whether max‖z‖²·‖w‖² + 2·passes·Σ max(0, 1 - z·w) <= bound for z = s·(x, lift)."""
    w = Weights.of(claim.w, data.columns, claim.lift)
    norm = sum((Fraction(value) ** 2 for value in claim.w), Fraction(0))
    lift = Fraction(claim.lift) ** 2

    def value(radius: Fraction, loss: Fraction) -> Fraction:
        return (radius + lift) * norm + 2 * claim.passes * loss

    rounded = None if is_exact(data.X) else _rounded(data, w)
    if rounded:
        radius, loss = rounded
        if value(radius[1], loss[1]) <= claim.bound:
            return True
        if value(radius[0], loss[0]) > claim.bound:
            return False
    return value(*_exact(data, w)) <= claim.bound


def _rounded(data: Labelled, w: Weights) -> tuple[Interval, Interval] | None:
    """Enclose max ‖x‖² and the loss; None if they are too large for float64."""
    n, entries = shape_of_work(data.X)
    rows = as_rows(data.X, 1.0)
    blocks = in_blocks(lambda a, b: hinge_losses(rows, data.signs, w.floats, a, b), n, entries)
    radius = largest_sqnorm(as_rows(data.X, 0.0), n)
    if not all(map(math.isfinite, [radius, *np.ravel(blocks)])):
        return None
    least, most = (sum(map(Fraction, ends)) for ends in zip(*blocks, strict=True))
    losses = _widened((least, most), n)
    return _widened((Fraction(radius), Fraction(radius)), data.columns), losses


def _widened(ends: tuple[Fraction | int, Fraction | int], terms: int) -> Interval:
    """Make up for the rounding of a sum of so many terms that are not negative."""
    error, tiny = Fraction(terms + 4, 2**52), (terms + 4) * Fraction(TINY)
    return max(ends[0] * (1 - error) - tiny, Fraction(0)), ends[1] * (1 + error) + tiny


def _exact(data: Labelled, w: Weights) -> tuple[Fraction, Fraction]:
    """Give max ‖x‖² and the loss."""
    n = data.X.shape[0]
    losses = (1 - exact_product(data.X, i, int(data.signs[i]), w) for i in range(n))
    loss = sum((loss for loss in losses if loss > 0), Fraction(0))
    return max(_square(data.X, i) for i in range(n)), loss


def _square(X: Matrix, i: int) -> Fraction:
    return sum((Fraction(value) ** 2 for _, value in exact_row(X, i)), Fraction(0))
