"""The hinge-loss bound on mistakes (theory F8), checked by sums in float64 where these decide."""

from __future__ import annotations

import math
from fractions import Fraction

from rosenblatt.blocks import in_blocks
from rosenblatt.certificates import MistakeProof
from rosenblatt.check.subjects import Labelled
from rosenblatt.exact.enclosed import TINY
from rosenblatt.exact.extremes import enclosed_loss
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.numbers import exact_row, is_exact
from rosenblatt.exact.products import exact_product
from rosenblatt.exact.weights import Weights
from rosenblatt.matrices import Matrix, as_rows, stored
from rosenblatt.rows import largest_sqnorm, span

Interval = tuple[Fraction, Fraction]


def hinge_bound_holds(claim: MistakeProof, data: Labelled) -> bool:
    """Tell whether max‖z‖²·‖w‖² + 2·passes·Σ max(0, 1 - z·w) <= bound for z = s·(x, lift).

    Any number of passes leaves no room for a loss.
    """
    w = Weights.of(claim.w, data.columns, claim.lift)
    if not is_exact(data.X):
        radius, loss = enclosed_square(data.X), enclosed_loss(data.X, data.signs, w.floats, 1.0)
        if radius and loss:
            if holds(claim, radius[1], loss[1]):
                return True
            if not holds(claim, radius[0], loss[0]):
                return False
    return holds(claim, *exact_parts(data, w))


def holds(claim: MistakeProof, radius: Fraction, loss: Fraction) -> bool:
    """Tell whether the bound holds for max ‖x‖² and the loss."""
    norm = Rationals.of(claim.w).square()
    value = (radius + Fraction(claim.lift) ** 2) * norm + 2 * (claim.passes or 0) * loss
    return value <= claim.bound and not (claim.passes is None and loss)


def enclosed_square(X: Matrix) -> Interval | None:
    """Enclose max ‖x‖²; None if it is too large for float64."""
    rows, n = as_rows(X, 0.0), X.shape[0]
    largest = max(in_blocks(lambda a, b: largest_sqnorm(span(rows, a, b), b - a), n, stored(X)))
    if not math.isfinite(largest):
        return None
    error, tiny = Fraction(X.shape[1] + 4, 2**52), (X.shape[1] + 4) * Fraction(TINY)
    square = Fraction(largest)
    return max(square * (1 - error) - tiny, Fraction(0)), square * (1 + error) + tiny


def exact_parts(data: Labelled, w: Weights) -> tuple[Fraction, Fraction]:
    """Give max ‖x‖² and the loss."""
    n = data.X.shape[0]
    losses = (1 - exact_product(data.lifted(), i, w) for i in range(n))
    loss = sum((loss for loss in losses if loss > 0), Fraction(0))
    rows = ([value for _, value in exact_row(data.X, i)] for i in range(n))
    return max(Rationals.of(row).square() for row in rows), loss
