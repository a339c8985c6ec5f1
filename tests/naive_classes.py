"""Slow, obvious twins of the discriminators, written from docs/theory.md, section 6.

A `ClassLearner` is driven by `naive.run`, as the learner of two classes is. Every W that was ever
held is kept. On data of small whole numbers all sums are exact.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Mistake(NamedTuple):
    """An example learned from: what it was, by how much it was behind, and W afterwards."""

    example: int
    rival: int
    lead: float
    norm: float
    w: np.ndarray


@dataclass
class ClassLearner:
    """Discriminators on rows (x, lift): one row of w for each class (D18)."""

    w: np.ndarray
    eta: float = 1.0
    lift: float = 0.0
    weights: tuple = ()
    samples: tuple = ()
    renormalize: bool = False
    sparse: bool = False
    held: list = field(default_factory=list)
    log: list = field(default_factory=list)
    looks: int = 0
    multiply_adds: int = 0

    def lifted(self, x):
        return np.append(np.asarray(x, float), self.lift)

    def cost(self, x):
        return (np.count_nonzero(x) if self.sparse else len(x)) + (self.lift != 0)

    def scores(self, x):
        return [float(self.lifted(x) @ w) for w in self.w]

    def rival(self, x, y):
        """The best wrong class; of equally good ones, that of the smallest index."""
        scores = self.scores(x)
        wrong = [r for r in range(len(self.w)) if r != y]
        return max(wrong, key=lambda r: (scores[r], -r))

    def lead(self, x, y):
        scores = self.scores(x)
        return scores[y] - scores[self.rival(x, y)]

    def look(self, x, y):
        """Tell whether the example is a mistake: a tie for the top is one (D2)."""
        self.looks += 1
        self.multiply_adds += len(self.w) * self.cost(x)
        return self.lead(x, y) <= 0

    def update(self, x, y, example=0):
        lead, r = self.lead(x, y), self.rival(x, y)
        step = self.eta * (self.weights[y] if self.weights else 1.0)
        step *= self.samples[example] if self.samples else 1.0
        w = self.w.copy()
        w[y] += step * self.lifted(x)
        w[r] -= step * self.lifted(x)
        norm = (np.linalg.norm(w) or 1.0) if self.renormalize else 1.0
        self.w = w / norm
        self.multiply_adds += 2 * self.cost(x)
        self.log.append(Mistake(example, r, lead, norm, self.w))

    def present(self, x, y, example=0):
        wrong = self.look(x, y)
        if wrong:
            self.update(x, y, example)
        self.held.append(self.w)
        return wrong

    def most_wrong(self, X, y):
        mistaken = [i for i in range(len(y)) if self.look(X[i], y[i])]
        return min(mistaken, key=lambda i: self.lead(X[i], y[i]), default=None)

    def averaged(self):
        return sum(self.held) / len(self.held) if self.held else self.w

    def voted(self, X):
        """The share of votes of each class: every W held votes for its best, ties for none."""
        out = np.zeros((len(X), len(self.w)))
        for i, x in enumerate(X):
            for w in self.held:
                scores = w @ self.lifted(x)
                if np.count_nonzero(scores == scores.max()) == 1:
                    out[i, scores.argmax()] += 1
        return out / max(len(self.held), 1)


def class_learner(classes, width, start=None, **options):
    """Begin from weights in the user's coordinates (the intercept last, if given), or from zero."""
    w = np.zeros((classes, width + 1))
    lift = options.get("lift", 0.0)
    if start is not None:
        w[:, : start.shape[1]] = start
        w[:, -1] = w[:, -1] / lift if lift else 0.0
    return ClassLearner(w, **options)


class GrowingLearner:
    """A stream whose classes appear one by one: two of them are learned by one vector (F14)."""

    def __init__(self, width, lift=1.0, eta=1.0):
        self.width, self.lift, self.eta, self.mistakes, self.w = width, lift, eta, 0, {}

    def present(self, x, label):
        x = np.append(x, self.lift)
        if label not in self.w:
            self.w[label] = np.zeros(self.width + 1)
        unknown = object()  # of a single class, the other side is unknown
        known = {**self.w, **({unknown: -self.w[label]} if len(self.w) == 1 else {})}
        scores = {name: float(w @ x) for name, w in known.items()}
        others = [name for name in scores if name != label]
        rival = min(others, key=lambda name: (-scores[name], "" if name is unknown else name))
        wrong = scores[label] <= scores[rival]
        if wrong:
            self.mistakes += 1
            self.w[label] = known[label] + self.eta * x
            if rival is not unknown:
                self.w[rival] = known[rival] - self.eta * x
        return wrong

    def met(self, label):
        """When the second class comes, it takes over the other side of the first."""
        if len(self.w) == 1 and label not in self.w:
            (first,) = self.w.values()
            self.w[label] = -first
