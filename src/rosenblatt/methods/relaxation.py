"""Perceptron passes that ask for more: every update carries the row to the right side at once.

Problem     w with z·w > 0 on all rows z = s·(x, c)
Method      look at the rows one after the other; where z·w < 1, add (1 - z·w) / ‖z‖² times z, which
            makes z·w = 1. The perceptron adds z itself. On separable data with many columns, a few
            passes do what takes the perceptron many.
Sources     Agmon 1954; Motzkin & Schoenberg 1954 (the relaxation method)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rosenblatt.loops import loop
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.rows import Rows, add, dot, fill_squares, scores

PATIENCE = 10  # passes at least that may be no better than before


class Relaxed(NamedTuple):
    """Weights of the lifted rows, Σ steps·z, and how the passes ended."""

    w: np.ndarray
    steps: np.ndarray
    wrong: int


@loop
def relax(
    rows: Rows,
    signs: np.ndarray,
    squares: np.ndarray,
    w: np.ndarray,
    steps: np.ndarray,
) -> int:
    """Make one pass; count the rows that it found on the wrong side."""
    wrong = 0
    for i in range(signs.size):
        score = signs[i] * dot(rows, i, w, True)
        if not score > 0.0:
            wrong += 1
        if score < 1.0 and squares[i] > 0.0:
            step = (1.0 - score) / squares[i]
            add(rows, i, signs[i] * step, w)
            steps[i] += step
    return wrong


def relaxed(
    X: Matrix, signs: np.ndarray, lift: float, passes: int, pause: Callable[[], object]
) -> Relaxed:
    """Make passes until one finds no row on the wrong side, or they stop getting better.

    They may be no better than before for an eighth of the passes; `pause` is called before each.
    """
    rows, n = as_rows(X, lift), X.shape[0]
    squares, steps, products = np.empty(n), np.zeros(n), np.empty(n)
    fill_squares(rows, squares)
    w, best, waited = np.zeros(X.shape[1] + 1), n + 1, 0
    for _ in range(passes):
        pause()
        wrong = int(relax(rows, signs, squares, w, steps))
        if not wrong:  # on the way; later updates may have undone earlier ones
            scores(rows, w, products)
            wrong = int(np.count_nonzero(~(products * signs > 0)))
        waited = 0 if wrong < best else waited + 1
        best = min(best, wrong)
        if not wrong or waited > max(PATIENCE, passes // 8) or not np.isfinite(w).all():
            break
    return Relaxed(w, steps, wrong)
