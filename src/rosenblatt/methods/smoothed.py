"""The smoothed perceptron: about √(log n) / γ steps in place of 1/γ² (theory D13).

Problem     find y with a·y > 0 for every unit row a of A
Idea        max over y of min over λ of (Aᵀλ)·y - ‖y‖²/2 is γ²/2, at y = Aᵀλ. The perceptron is a
            subgradient method for it. With the entropy of λ, times μ, in the inner minimum, that
            is attained at p(y, μ) ∝ exp(-A y / μ) and smooth in y; μ goes to 0 along the way
Step k      θ = 2 / (k + 3)
            y ← (1 - θ)·(y + θ·Aᵀλ) + θ²·Aᵀp
            μ ← (1 - θ)·μ,  p ← p(y, μ),  λ ← (1 - θ)·λ + θ·p
Start       y = Aᵀe / n, μ = 1, λ = p(y, μ)
Guarantee   A y > 0 after fewer than 2·√(log n) / γ steps; ‖Aᵀλ‖ goes to 0 if no such y exists

Sources     Soheili & Peña 2012; Nesterov 2005 for the excessive gap technique.
"""

from __future__ import annotations

import numpy as np

from rosenblatt.matrices import Matrix
from rosenblatt.methods.cones import (
    NEGLIGIBLE,
    NO_LIMITS,
    Cone,
    Ending,
    Search,
    SearchLimits,
    search,
)
from rosenblatt.rows import combine, scores


def smoothed(A: Matrix, limits: SearchLimits = NO_LIMITS) -> Search:
    """Search by the smoothed perceptron.

    Examples
    --------
    >>> import numpy as np
    >>> smoothed(np.array([[1.0, 1.0], [1.0, 0.0], [0.1, 1.0], [0.0, -1.0]])).steps
    2
    """
    return search(A, Smoothed, limits)


class Smoothed:
    """The smoothed perceptron in progress."""

    rescalings = 0

    def __init__(self, cone: Cone) -> None:
        n = cone.scales.size
        self.cone = cone
        self.point: np.ndarray | None = None
        self.steps = 0
        self.mu = 1.0
        self.y: np.ndarray = self._pulled(np.full(n, 1 / n))
        self.along = np.empty(n)
        self._respond()
        self.lam: np.ndarray = self.p
        self.combination: np.ndarray = self.pull

    def advance(self, left: int) -> Ending | None:
        """Make one step."""
        if self.along.min() > 0:
            self.point = self.cone.confirm(self.y)
            if self.point is not None:
                return Ending.FOUND
        if np.linalg.norm(self.combination) <= NEGLIGIBLE and self.cone.vanishes(self.lam):
            return Ending.WITNESS
        if left == 0:
            return Ending.STEPS
        self._step(2 / (self.steps + 3))
        return None

    def combination_weights(self) -> np.ndarray | None:
        """Give λ."""
        return self.lam

    def _step(self, theta: float) -> None:
        self.y = (1 - theta) * (self.y + theta * self.combination) + theta**2 * self.pull
        self.mu *= 1 - theta
        self._respond()
        self.lam = (1 - theta) * self.lam + theta * self.p
        self.combination = (1 - theta) * self.combination + theta * self.pull
        self.steps += 1

    def _respond(self) -> None:
        """Compute A y, p(y, μ) and Aᵀp."""
        scores(self.cone.rows, self.y, self.along)
        self.along *= self.cone.scales
        p = np.exp((self.along.min() - self.along) / self.mu)
        self.p = p / p.sum()
        self.pull = self._pulled(self.p)

    def _pulled(self, lam: np.ndarray) -> np.ndarray:
        total = self.cone.origin()
        combine(self.cone.rows, lam * self.cone.scales, total)
        return total
