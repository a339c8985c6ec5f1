"""Weights between sweeps: the rows that touch the margin, brought nearer to it.

Problem     rows with 0 < β < C have s(w·x) = p at the optimum. Sweeps bring the dual value within
            ε of it while those products are still off by √ε, and so is the primal value.
Method      w + m, m = Σ δ·s·x over these rows; the method of conjugate residuals chooses the δ that
            make Σ (p - s(w + m)·x)² fall fastest. Other rows keep their sides as long as m is
            short, so the gap is known after each step without a look at them: it grows by ½‖m‖²
            and what the hinges of these rows add.
Answer      the weights with the least gap; and the duals β + δ, as far as their ranges go, if their
            value is higher
Sources     Stiefel 1955 (conjugate residuals)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.rows import combine, scores

if TYPE_CHECKING:
    from rosenblatt.margin.descent import DualRows


class Touching:
    """The rows that touch the margin, what each misses to lie on it, and their share of the gap."""

    def __init__(self, X: Matrix, problem: DualRows, w: np.ndarray, betas: np.ndarray) -> None:
        self.places = np.flatnonzero((betas > 0.0) & (betas < problem.caps))
        self.rows = as_rows(X[self.places], problem.rows.lift)
        self.signs = problem.signs[self.places].astype(np.float64)
        self.caps, self.w = problem.all_caps[self.places], w
        self.betas, self.all_betas = betas[self.places], betas
        self.missing = problem.targets(self.places) - self._products(w)

    def solve(self, enough: float, steps: int) -> tuple[float, np.ndarray]:
        """Give the share of the gap, `enough` if the steps suffice, and the weights for it.

        The duals move as far as the last step would have them, if that raises their value.
        """
        left, moved = self.missing.copy(), np.zeros(self.w.size)
        moves, best = np.zeros(left.size), (self._gap(moved, left), self.w.copy())
        pull = self._total(left)
        way, pulled, bent = left.copy(), pull.copy(), self._products(pull)
        bend, square = bent.copy(), float(pull @ pull)
        for _ in range(steps):
            if best[0] <= enough or not square > 0.0:
                break
            length = square / float(bend @ bend)
            moves += length * way
            moved += length * pulled
            left -= length * bend
            gap = self._gap(moved, left)
            if gap < best[0]:
                best = gap, self.w + moved
            pull = self._total(left)
            bent = self._products(pull)
            before, square = square, float(pull @ pull)
            for kept, new in ((way, left), (pulled, pull), (bend, bent)):
                kept *= square / before
                kept += new
        self._take(moves)
        return best

    def _gap(self, moved: np.ndarray, left: np.ndarray) -> float:
        losses = self.caps @ np.maximum(left, 0.0)
        return float(losses - self.betas @ left + moved @ moved / 2)

    def _take(self, moves: np.ndarray) -> None:
        """Move duals and weights if that raises the dual value."""
        change = np.clip(self.betas + moves, 0.0, self.caps) - self.betas
        moved = self._total(change)
        if self.missing @ change > moved @ moved / 2:
            self.all_betas[self.places] = np.clip(self.betas + moves, 0.0, self.caps)
            self.w += moved

    def _products(self, w: np.ndarray) -> np.ndarray:
        """Give s(w·x)."""
        out = np.empty(self.places.size)
        scores(self.rows, w, out)
        return self.signs * out

    def _total(self, factors: np.ndarray) -> np.ndarray:
        """Give Σ factor·s·x."""
        out = np.zeros(self.w.size)
        combine(self.rows, factors * self.signs, out)
        return out
