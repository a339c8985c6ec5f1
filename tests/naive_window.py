"""A slow, obvious twin of the online SVM, written from docs/theory.md, D24."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Held:
    """An example of the window; `alpha` has its share against each wrong class."""

    x: np.ndarray
    y: int
    box: float
    alpha: dict[int, float]


@dataclass
class WindowLearner:
    """Classes are numbers from 0 on; two of them share one vector, positive for the second."""

    width: int
    classes: int = 2
    C: float = 1.0
    window: int = 100
    lift: float = 1.0
    newest: list[Held] = field(default_factory=list)
    held: list[np.ndarray] = field(default_factory=list)  # weights after each example
    leads: list[float] = field(default_factory=list)

    def __post_init__(self):
        many = (self.classes,) if self.classes > 2 else ()
        self.w = np.zeros((*many, self.width + 1))

    def direction(self, held, rival):
        """U: what a step against a rival adds to the weights, up to a factor."""
        if self.classes == 2:
            return held.x if held.y else -held.x
        U = np.zeros_like(self.w)
        U[held.y], U[rival] = held.x, -held.x
        return U

    def lead(self, held, rival):
        return float(np.sum(self.direction(held, rival) * self.w))

    def best_rival(self, held):
        return min(held.alpha, key=lambda rival: (self.lead(held, rival), rival))

    def ascend(self, held, rival):
        U = self.direction(held, rival)
        best = held.alpha[rival] + (1 - self.lead(held, rival)) / np.sum(U * U)
        others = sum(share for r, share in held.alpha.items() if r != rival)
        share = float(np.clip(best, 0.0, max(held.box - others, 0.0)))
        self.w = self.w + (share - held.alpha[rival]) * U
        held.alpha[rival] = share

    def present(self, x, y, weight=1.0):
        """Predict, then learn; give the lead."""
        rivals = [r for r in range(self.classes) if r != y]
        x = np.append(x, self.lift)
        example = Held(x, int(y), self.C * weight, dict.fromkeys(rivals, 0.0))
        lead = self.lead(example, self.best_rival(example))
        self.newest = [*self.newest, example][-self.window :]
        for held in reversed(self.newest if lead < 1 else []):
            best = self.best_rival(held)
            self.ascend(held, best)
            for rival in held.alpha:
                if rival != best and held.alpha[rival] > 0:
                    self.ascend(held, rival)
        self.held.append(self.w)
        self.leads.append(lead)
        return lead
