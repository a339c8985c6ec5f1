"""Slow, obvious twins of the compiled loops, written from docs/theory.md.

Nothing here is lazy, blocked, fused or sparse: rows are dense float64 vectors, every vector that
was ever held is kept, and an order is a generator that is told about each mistake. On data of
small whole numbers all sums are exact, so a twin and its loop agree bit for bit.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf
from typing import NamedTuple

import numpy as np

ORDERS = ("cycle", "shuffle", "random", "first", "worst")
SIX_X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], float)
SIX_Y = np.array([-1, 1, 1, -1, -1, 1])


# ---- the learner: D1, D2, D3, D6, D7, weights, D17


class Mistake(NamedTuple):
    """An example learned from: its lead, then by what the weights were divided."""

    example: int
    lead: float
    norm: float
    seen: int  # examples finished before this one
    rival: int
    w: np.ndarray  # afterwards


@dataclass
class Learner:
    """A perceptron on rows (x, lift); without lifting the added coordinate is 0 and idle.

    y is a sign. `ClassLearner` says what differs where y is one of many classes.
    """

    w: np.ndarray
    eta: float = 1.0
    lift: float = 0.0
    weights: tuple[float, ...] = ()  # of the classes, the negative one first; 1 if there are none
    samples: tuple[float, ...] = ()  # weights of the examples, 1 if there are none
    renormalize: bool = False
    tie: str = "mistake"
    margin: float = 0.0  # D23
    sparse: bool = False  # whether zeros are not stored, hence not paid for
    held: list[np.ndarray] = field(default_factory=list)  # after each example presented
    log: list[Mistake] = field(default_factory=list)
    looks: int = 0
    multiply_adds: int = 0

    def lifted(self, x):
        return np.append(np.asarray(x, float), self.lift)

    def cost(self, x):
        return (np.count_nonzero(x) if self.sparse else len(x)) + (self.lift != 0)

    # ---- what differs

    def code(self, y):
        """The place of the class among the weights of classes."""
        return int(y > 0)

    def rival(self, x, y):
        """The place of the best wrong class."""
        return 1 - self.code(y)

    def lead(self, x, y):
        return float(y * (self.lifted(x) @ self.w))

    def direction(self, x, y):
        """What an update adds to w, up to a factor; and how many copies of x that takes."""
        return y * self.lifted(x), 1

    def vote(self, w, x):
        return np.sign(self.lifted(x) @ w)

    # ---- what does not

    def look(self, x, y):
        """Tell whether the example calls for an update: a mistake (D2), or inside the margin."""
        self.looks += 1
        self.multiply_adds += (self.w.size // self.w.shape[-1]) * self.cost(x)
        if self.tie == "positive" and self.lead(x, y) == 0:
            return y < 0
        return self.lead(x, y) <= self.margin

    def update(self, x, y, example=0):
        """Learn from a mistake (D3, D6, D18)."""
        lead, rival, (direction, copies) = self.lead(x, y), self.rival(x, y), self.direction(x, y)
        step = self.eta * (self.weights[self.code(y)] if self.weights else 1.0)
        w = self.w + step * (self.samples[example] if self.samples else 1.0) * direction
        norm = (np.linalg.norm(w) or 1.0) if self.renormalize else 1.0
        self.w = w / norm
        self.multiply_adds += copies * self.cost(x)
        self.log.append(Mistake(example, lead, norm, len(self.held), rival, self.w))

    def present(self, x, y, example=0):
        """Look at an example, learn from it if that is called for, and tell whether it was."""
        wrong = self.look(x, y)
        if wrong:
            self.update(x, y, example)
        self.held.append(self.w)
        return wrong

    def most_wrong(self, X, y):
        """Look at all; give the first of the mistaken examples with the smallest lead."""
        mistaken = [i for i in range(len(y)) if self.look(X[i], y[i])]
        return min(mistaken, key=lambda i: self.lead(X[i], y[i]), default=None)

    @property
    def mistakes(self):
        return sum(entry.lead <= 0 for entry in self.log)

    @property
    def coef(self):
        return self.w[:-1]

    @property
    def intercept(self):
        return self.lift * self.w[-1]

    def averaged(self):
        """The mean of the vectors held after each example (D17)."""
        return sum(self.held) / len(self.held) if self.held else self.w

    def voted(self, X):
        """The mean of their votes on each row (D17): signs, or one of the classes."""
        votes = [sum((self.vote(w, x) for w in self.held), np.zeros(self.w.shape[:-1])) for x in X]
        return np.array(votes) / max(len(self.held), 1)


class ClassLearner(Learner):
    """Discriminators: one row of w for each class, y is the place of one (D18)."""

    def code(self, y):
        return y

    def rival(self, x, y):
        """The best wrong class; of equally good ones, that of the smallest index."""
        scores = self.w @ self.lifted(x)
        return max((r for r in range(len(self.w)) if r != y), key=lambda r: (scores[r], -r))

    def lead(self, x, y):
        scores = self.w @ self.lifted(x)
        return float(scores[y] - scores[self.rival(x, y)])

    def direction(self, x, y):
        sides = np.zeros(len(self.w))
        sides[y], sides[self.rival(x, y)] = 1, -1
        return np.outer(sides, self.lifted(x)), 2

    def vote(self, w, x):
        """One for the best class, nothing where several tie."""
        scores = w @ self.lifted(x)
        best = scores == scores.max()
        return best * (best.sum() == 1.0)


def learner(width, start=None, classes=None, **options):
    """Begin from weights in the user's coordinates (the intercept last, if given), or from zero."""
    w = np.zeros((classes, width + 1) if classes else width + 1)
    lift = options.get("lift", 0.0)
    if start is not None:
        w[..., : np.shape(start)[-1]] = start
        w[..., -1] = w[..., -1] / lift if lift else 0.0
    return (ClassLearner if classes else Learner)(w, **options)


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


# ---- orders: D4. A generator gives the next example, is sent whether that was a mistake, and
# ---- returns when every example was looked at under one and the same w without one.

Looks = Generator[int, bool, None]


def passes(arrange) -> Looks:
    """Whole passes in the arrangement made for each, until one is clean."""
    wrong = True
    while wrong:
        wrong = False
        for i in arrange():
            wrong |= yield i


def cycle(n, draws) -> Looks:
    return passes(lambda: list(range(n)))


def shuffle(n, draws) -> Looks:
    sequence = list(range(n))
    return passes(lambda: draws.shuffle(sequence))


def first(n, draws) -> Looks:
    i = 0
    while i < n:
        i = 0 if (yield i) else i + 1


def random(n, draws) -> Looks:
    """A random order, drawn only as far as it is used, and begun anew after each mistake."""
    sequence, place = list(range(n)), 0
    while place < n:
        other = place + draws.below(n - place)
        sequence[place], sequence[other] = sequence[other], sequence[place]
        place = 0 if (yield sequence[place]) else place + 1


class Draws:
    """Random whole numbers by splitmix64 (Steele, Lea & Flood 2014)."""

    def __init__(self, seed):
        self.state = int(seed)

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def below(self, bound):
        return self.word() % bound

    def shuffle(self, sequence):
        """Fisher & Yates, from the front: each place gets one of those not placed yet."""
        for place in range(len(sequence) - 1):
            other = place + self.below(len(sequence) - place)
            sequence[place], sequence[other] = sequence[other], sequence[place]
        return sequence


# ---- runs: D4, D8


@dataclass
class Ran:
    """What a run did; `wrong` holds one entry for each look."""

    n: int
    wrong: list[bool] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    converged: bool = False

    @property
    def mistakes(self):
        return sum(self.wrong)

    @property
    def mistakes_per_pass(self):
        """A pass is n looks."""
        starts = range(0, len(self.wrong), self.n)
        return tuple(sum(self.wrong[s : s + self.n]) for s in starts)


def run(learner, X, y, order="cycle", seed=0, max_looks=inf, max_updates=inf):
    """Train until every example is right under one w, or until a limit."""
    n = len(y)
    ran = Ran(n, counts=[0] * n)
    if order == "worst":
        return run_worst(learner, X, y, ran, max_looks, max_updates)
    orders = {"cycle": cycle, "shuffle": shuffle, "random": random, "first": first}
    looks = orders[order](n, Draws(seed))
    i = next(looks)
    while True:
        wrong = learner.present(X[i], y[i], i)
        ran.wrong.append(wrong)
        ran.counts[i] += wrong
        try:
            i = looks.send(wrong)
        except StopIteration:
            ran.converged = True
            return ran
        if len(ran.wrong) >= max_looks or ran.mistakes >= max_updates:
            return ran


def run_worst(learner, X, y, ran, max_looks, max_updates):
    """Look at all, learn from the worst: an update presents one example, the end all of them."""
    while len(ran.wrong) < max_looks and ran.mistakes < max_updates:
        worst = learner.most_wrong(X, y)
        ran.wrong += [False] * (ran.n - 1) + [worst is not None]
        if worst is None:
            learner.held += [learner.w] * ran.n
            ran.converged = True
            break
        learner.update(X[worst], y[worst], worst)
        learner.held.append(learner.w)
        ran.counts[worst] += 1
    return ran


# ---- bounds in exact arithmetic: F5, F7, F9, D10


def exact_dot(a, b):
    return sum(Fraction(p) * Fraction(q) for p, q in zip(a, b, strict=True))


def exact_rows(X, y, lift, weights=()):
    """The signed, lifted, weighted rows c·y·(x, lift), as fractions; no weights are 1 each."""
    for x, sign, weight in zip(X, y, weights if len(weights) else [1.0] * len(X), strict=True):
        factor = Fraction(float(weight)) * int(sign)
        yield [factor * Fraction(float(v)) for v in (*x, lift)]


def exact_extremes(X, y, u, lift=0.0, weights=()):
    """The largest ‖z‖² and the smallest z·u over the rows z of `exact_rows`."""
    rows = list(exact_rows(X, y, lift, weights))
    u = [Fraction(float(v)) for v in u]
    return max(exact_dot(z, z) for z in rows), min(exact_dot(z, u) for z in rows)


def exact_steepest(X, y, u, lift, weights):
    """The largest ‖z‖²/(y·(u·x)) over the rows z of `exact_rows`, times the weight: F16."""
    u = [Fraction(float(v)) for v in u]
    return max(exact_dot(z, z) / exact_dot(z, u) for z in exact_rows(X, y, lift, weights))


def exact_bound(X, y, u, start, eta=1.0, lift=0.0, weights=(), beta=0.0):
    """K of F7 to about 60 digits, with the R² of F16 if there are weights, and of F17.

    u and start are vectors of the lifted space. With w* = u/‖u‖, γ² and γ·c₁ are fractions, so only
    one root is taken.
    """
    square, g = exact_extremes(X, y, u, lift, weights)
    if len(weights):
        square = g * exact_steepest(X, y, u, lift, weights)
    heaviest = Fraction(max(map(float, weights), default=1.0))
    square += 2 * heaviest * Fraction(beta) / Fraction(float(eta))  # F17
    u = [Fraction(float(v)) for v in u]
    w0 = [Fraction(float(v)) / Fraction(float(eta)) for v in start]
    g2, gc1, c0 = g * g / exact_dot(u, u), g * exact_dot(w0, u) / exact_dot(u, u), exact_dot(w0, w0)
    discriminant = square**2 - 4 * gc1 * square + 4 * g2 * c0
    with localcontext() as context:
        context.prec = 60
        root = as_decimal(discriminant).sqrt()
        return (as_decimal(square - 2 * gc1) + root) / as_decimal(2 * g2)


def as_decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)
