"""Slow, obvious twins of the kernel learners: a whole Gram matrix, one example at a time.

Coefficients of all n examples are kept as an n × k table, and every table ever held is kept. On
whole numbers polynomial kernels are exact, so a twin and its learner agree bit for bit.
"""

from dataclasses import dataclass, field

import numpy as np

import naive


def polynomial(A, B, degree, c=0.0):
    return np.array([[(c + float(x @ z)) ** degree for z in B] for x in A])


def gaussian(A, B, gamma):
    return np.array([[np.exp(-gamma * float((x - z) @ (x - z))) for z in B] for x in A])


@dataclass
class Dual:
    """Discriminators in dual form (D18); an example is its number, its class a code."""

    K: np.ndarray
    classes: int
    weights: np.ndarray = None  # of the examples, 1 if there are none
    alphas: np.ndarray = None
    held: list = field(default_factory=list)  # after each example presented
    order: list = field(default_factory=list)  # examples in the order of their first mistakes
    looks: int = 0

    def __post_init__(self):
        self.alphas = np.zeros((len(self.K), self.classes))

    def scores(self, values):
        """The score of each class, for the values of a row beside all examples."""
        return values @ self.alphas

    def rival(self, i, y):
        """The best wrong class, of equal ones the first, and the lead of class y (D2 for it)."""
        scores = self.scores(self.K[i])
        wrong = [r for r in range(self.classes) if r != y]
        best = max(wrong, key=lambda r: scores[r])
        return best, scores[y] - scores[best]

    def look(self, i, y):
        self.looks += 1
        return self.rival(i, y)[1] <= 0

    def update(self, i, y, example=0):
        best, _ = self.rival(i, y)
        self.alphas = self.alphas.copy()
        self.alphas[i, y] += 1 if self.weights is None else self.weights[i]
        self.alphas[i, best] -= 1 if self.weights is None else self.weights[i]
        if i not in self.order:
            self.order.append(i)

    def present(self, i, y, example=0):
        wrong = self.look(i, y)
        if wrong:
            self.update(i, y)
        self.held.append(self.alphas)
        return wrong

    def most_wrong(self, X, y):
        mistaken = [i for i in range(len(y)) if self.look(i, y[i])]
        return min(mistaken, key=lambda i: self.rival(i, y[i])[1], default=None)

    @property
    def w(self):
        return self.alphas

    def answers(self, values, output):
        """What is answered for rows of values: scores, mean scores, or shares of votes (D17)."""
        if output == "last":
            return values @ self.alphas
        if output == "averaged":
            return values @ (sum(self.held) / len(self.held))
        votes = np.zeros((len(values), self.classes))
        for alphas in self.held:
            for row, scores in zip(votes, values @ alphas, strict=True):
                best = np.flatnonzero(scores == scores.max())
                if best.size == 1:
                    row[best[0]] += 1
        return votes / len(self.held)


def learn(K, codes, classes, **options):
    """Train a dual learner; give it and what its run did."""
    dual = Dual(K, classes)
    return dual, naive.run(dual, range(len(codes)), codes, **options)


def as_decision(answers, output):
    """Scores as a learner gives them: those of two classes are one number."""
    if answers.shape[1] > 2:
        return answers
    return answers[:, 1] - answers[:, 0] if output == "voted" else answers[:, 1]


# ---- budgets


@dataclass
class Budgeted:
    """At most `most` examples, each with a coefficient for each class."""

    K: np.ndarray
    classes: int
    most: int
    forget: str
    draws: naive.Draws
    slots: list = field(default_factory=list)
    alphas: dict = field(default_factory=dict)
    oldest: int = 0

    def scores(self, i):
        total = np.zeros(self.classes)
        for j in self.slots:
            total += self.K[i, j] * self.alphas[j]
        return total

    def present(self, i, y):
        scores = self.scores(i)
        best = max((r for r in range(self.classes) if r != y), key=lambda r: scores[r])
        if scores[y] > scores[best]:
            return False
        step = np.zeros(self.classes)
        step[y], step[best] = 1, -1
        if i in self.slots:
            self.alphas[i] += step
        elif self.forget == "project":
            self.project(i, step)
        else:
            self.make_room(i)
            self.alphas[i] = step
        return True

    def make_room(self, i):
        if len(self.slots) < self.most:
            self.slots.append(i)
            return
        if self.forget == "random":
            slot = self.draws.below(self.most)
        else:
            slot, self.oldest = self.oldest, (self.oldest + 1) % self.most
        del self.alphas[self.slots[slot]]
        self.slots[slot] = i

    def project(self, i, step):
        d, apart = np.zeros(0), self.K[i, i]
        if self.slots:
            among, beside = self.K[np.ix_(self.slots, self.slots)], self.K[self.slots, i]
            d = np.linalg.solve(among, beside)
            apart = self.K[i, i] - beside @ d
        if len(self.slots) < self.most and apart > 1e-9 * self.K[i, i]:
            self.slots.append(i)
            self.alphas[i] = step
            return
        for j, share in zip(self.slots, d, strict=True):
            self.alphas[j] = self.alphas[j] + share * step
