"""Slow, obvious twins of the loops that check certificates, and certificates that hold.

Data are lists of rows of exact numbers. The digest is written from its definition; everything else
is fractions.
"""

import hashlib
import math
import struct
from fractions import Fraction

import numpy as np
from scipy import sparse

from layouts import EVERY_LAYOUT
from rosenblatt import certificates as rc
from rosenblatt.checker import CLASS, Row, digest
from rosenblatt.exact.rounding import root_rounded_up

WORD = 2**64


# ---- the digest


def mix(k):
    k = (k + 0x9E3779B97F4A7C15) % WORD
    k = (k ^ k >> 30) * 0xBF58476D1CE4E5B9 % WORD
    k = (k ^ k >> 27) * 0x94D049BB133111EB % WORD
    return k ^ k >> 31


def bits(value):
    exact = Fraction(value)
    try:
        if Fraction(float(exact)) == exact:
            return int.from_bytes(struct.pack("<d", float(exact)), "little")
    except OverflowError:
        pass
    text = f"{exact.numerator}/{exact.denominator}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def hashed(tagged, columns):
    """The digest of pairs of a tag and the entries of a row."""
    total = 0
    for i, (tag, entries) in enumerate(tagged):
        h = tag
        for j, value in entries:
            if value != 0:
                b = bits(value)
                h += (b ^ b >> 32) * (mix(j) | 1)
        total += mix(h % WORD) * (mix(i ^ 0x5851F42D4C957F2D) | 1)
    return f"{mix(mix((total % WORD) ^ len(tagged)) ^ columns):016x}"


# ---- products


def product(x, sign, lift, w):
    """The exact s·((x, lift)·w); w may lack the number of the added coordinate."""
    exact = [Fraction(value) for value in [*x, lift]]
    return int(sign) * sum(a * Fraction(b) for a, b in zip(exact, w, strict=False))


def sign_of(value):
    return (value > 0) - (value < 0)


# ---- every form of the same data


def forms(X):
    """The same rows as lists, arrays of objects, and every layout that holds them exactly."""
    yield X
    yield np.array(X, object)
    floats = np.array([[math.inf if abs(v) >= 2**1024 else float(v) for v in x] for x in X])
    if [[Fraction(v) for v in x] for x in X] != [
        [Fraction(v) if math.isfinite(v) else None for v in x] for x in floats.tolist()
    ]:
        return
    for layout in EVERY_LAYOUT:
        with np.errstate(over="ignore"):
            matrix = layout.matrix(floats)
        back = matrix.toarray() if layout.sparse else matrix
        if np.array_equal(back.astype(float), floats):
            yield matrix
    yield scrambled(floats)


def scrambled(A):
    """A sparse matrix whose columns are in no order, and which stores its zeros."""
    d = A.shape[1]
    order = np.random.default_rng(0).permutation(d)
    starts = np.arange(0, A.size + 1, d)
    return sparse.csr_matrix((A[:, order].ravel(), np.tile(order, len(A)), starts), A.shape)


# ---- problems, and certificates that hold


class Problem:
    """Labelled rows; or a system if there are right-hand sides."""

    def __init__(self, X, signs=None, *, b=None, tags=None, bounds=None):
        self.X, self.signs, self.b, self.tags, self.bounds = X, signs, b, tags, bounds
        self.n, self.d = len(X), len(X[0])

    @property
    def y(self):
        return [7 if sign > 0 else 3 for sign in self.signs] if self.b is None else self.b

    def options(self):
        if self.b is None:
            return {}
        strict, equal = ([tag == kind for tag in self.tags] for kind in (4, 5))
        return {"strict": strict, "equal": equal, "bounds": self.bounds}

    def rows(self):
        entries = [[(j, value) for j, value in enumerate(x) if value] for x in self.X]
        if self.b is None:
            tags = [1 if sign > 0 else 2 for sign in self.signs]
            return [Row(*row) for row in zip(tags, entries, strict=True)]
        return [Row(*row) for row in zip(self.tags, entries, self.b, strict=True)]

    def data(self):
        named = digest(self.rows(), self.d, self.bounds)
        return rc.Data(rows=self.n, columns=self.d, digest=named)

    def labelled(self, kind, intercept, **fields):
        return kind(data=self.data(), classes=(3, 7), intercept=intercept, **fields)


def numbers(random, shape, kind):
    """Exact numbers: small integers, floats of several sizes, long integers, or fractions."""
    whole = random.integers(-4, 5, shape)
    if kind == "whole":
        return whole.astype(float).tolist()
    if kind == "normal":
        return np.where(whole, random.standard_normal(shape), 0.0).tolist()
    if kind == "scaled":
        scales = 10.0 ** random.integers(-150, 151, shape)
        return np.where(whole, random.standard_normal(shape) * scales, -0.0).tolist()
    if kind == "subnormal":
        return (whole * 5e-324).tolist()
    if kind == "single":
        return random.standard_normal(shape).astype(np.float32).astype(float).tolist()
    factor = (2**70 + 1) if kind == "long" else Fraction(1, 3)
    return (whole.astype(object) * factor).tolist()


KINDS = ("whole", "normal", "scaled", "subnormal", "single", "long", "thirds")


def weights(random, size, kind):
    """Numbers of which not all are zero."""
    while True:
        found = numbers(random, (1, size), kind)[0]
        if any(found):
            return found


def margin_of(problem, w, added, measured=None):
    """The square of the margin of w, None if it does not separate."""
    products = [product(x, s, added, w) for x, s in zip(problem.X, problem.signs, strict=True)]
    norm = sum(Fraction(value) ** 2 for value in w[: measured or problem.d])
    return min(products) ** 2 / norm if min(products) > 0 and norm else None


def separable(random, kind, weight_kind, intercept):
    """A problem that w separates, and w; rows on the boundary are left out."""
    while True:
        n, d = random.integers(1, 9), random.integers(1, 5)
        X, w = numbers(random, (n, d), kind), weights(random, d + intercept, weight_kind)
        if intercept and random.random() < 0.5:
            w[-1] = 0  # the only one with both classes if all numbers in X are tiny
        signs = [sign_of(product(x, 1, intercept, w)) for x in X]
        X = [x for x, sign in zip(X, signs, strict=True) if sign]
        if X and any(w[:d]):
            return Problem(X, [sign for sign in signs if sign]), w


def separator(random, kind, weight_kind, intercept):
    problem, w = separable(random, kind, weight_kind, intercept)
    root = root_below(margin_of(problem, w, intercept))
    margin = [root, Fraction(root) / 2][random.integers(2)] if root else Fraction(1, 10**999)
    return problem, problem.labelled(rc.Separator, intercept, w=w, margin=margin)


def root_below(square):
    """The largest float whose square is at most a number."""
    above = root_rounded_up(square)
    return above if Fraction(above) ** 2 == square else float(np.nextafter(above, 0))


def contradictory(random, kind, intercept):
    """Pairs of the same row in both classes, which do not use column 0, and rows that do."""
    k, d, more = random.integers(1, 4), random.integers(2, 5), random.integers(1, 5)
    X = [[0, *x[1:]] for x in numbers(random, (k, d), kind)] * 2
    others = [x for x in numbers(random, (more, d), kind) if x[0]]
    signs = [1] * k + [-1] * k + [sign_of(x[0]) for x in others]
    problem = Problem(X + others, signs)
    return problem, list(range(2 * k)), [Fraction(1, 2 * k)] * (2 * k)


def non_separability(random, kind, weight_kind, intercept):
    problem, rows, parts = contradictory(random, kind, intercept)
    w = None
    if problem.n > len(rows) and random.random() < 0.7:
        w = [weights(random, 1, weight_kind)[0], *[0] * (problem.d - 1 + intercept)]
        w[0] = abs(w[0])
    fields = {"rows": rows, "weights": parts, "w": w}
    return problem, problem.labelled(rc.NonSeparability, intercept, **fields)


def inseparability(random, kind, weight_kind, intercept):
    """Rows (a, b, a, 0): column 2 is column 0 again, and column 3 is not used."""
    size = int(random.integers(1, 4))
    base = [[1, 0], [0, 1], *numbers(random, (size, 2), kind)]
    more = numbers(random, (int(random.integers(0, 4)), 2), kind)
    X = [[a, b, a, 0] for a, b in base * 2 + more]
    signs = [1] * len(base) + [-1] * len(base) + random.choice([-1, 1], len(more)).tolist()
    if intercept:  # two rows that differ in nothing but the added coordinate
        X, signs = [[0] * 4, [0] * 4, *X], [1, -1, *signs]
    problem, named = Problem(X, signs), 2 * (len(base) + intercept)
    factor = weights(random, 1, weight_kind)[0]
    return problem, problem.labelled(
        rc.Inseparability,
        intercept,
        rows=range(named),
        weights=[Fraction(1, named)] * named,
        complement=[[factor, 0, -factor, 0, *[0] * intercept]],
        unused=[3],
    )


def feasible(random, kind, weight_kind, intercept):
    n, d = random.integers(1, 7), random.integers(1, 5)
    A, w = numbers(random, (n, d), kind), numbers(random, (1, d), weight_kind)[0]
    values = [product(a, 1, 0, w) for a in A]
    tags = random.choice([3, 3, 4, 5], n).tolist()
    b = [as_number(v - 1 if tag == 4 else v) for v, tag in zip(values, tags, strict=True)]
    bounds = None if random.random() < 0.3 else [(value, value + 1) for value in w]
    if bounds:
        bounds[0] = (None, bounds[0][1])
    problem = Problem(A, b=b, tags=tags, bounds=bounds)
    return problem, rc.Feasible(data=problem.data(), w=w)


def as_number(value):
    """A float where that is exact, else the fraction."""
    return float(value) if abs(value) < 2**1000 and Fraction(float(value)) == value else value


def infeasible(random, kind, weight_kind, intercept):
    """Rows a·w >= b and -a·w >= 1 - b, or w_0 >= 1 and w_0 <= 0, or a·w = 0 and a·w > 0."""
    d = int(random.integers(1, 5))
    a, filler = weights(random, d, kind), numbers(random, (2, d), kind)
    minus, bounds, lower, upper = [-value for value in a], None, ((), ()), ((), ())
    tags, b, rows, parts = [3, 3, 3, 4], [0, 0, 1, 0], [2, 3], [1, 1]
    case = random.integers(3)
    if case == 1:
        bounds = [(1, 0), *[(None, 5)] * (d - 1)]
        rows, parts, lower, upper = [], [], ((0,), (Fraction(1, 3),)), ((0,), (Fraction(1, 3),))
    if case == 2:
        tags, b, minus, parts = [3, 3, 5, 4], [0, 0, 0, 0], a, [-1, 1]
    factor = abs(weights(random, 1, weight_kind)[0])
    parts = [Fraction(part) * Fraction(factor) for part in parts]
    problem = Problem([*filler, a, minus], b=b, tags=tags, bounds=bounds)
    fields = {"rows": rows, "weights": parts, "lower": lower, "upper": upper}
    return problem, rc.Infeasible(data=problem.data(), **fields)


def margin_interval(random, kind, weight_kind, intercept):
    while True:
        problem, w = separable(random, kind, weight_kind, intercept)
        if not intercept or len(set(problem.signs)) == 2:
            break
    lower = root_below(margin_of(problem, w, intercept)) or Fraction(1, 10**999)
    rows = list(range(problem.n))
    ones = {s: problem.signs.count(s) * (2 if intercept else 1) for s in (1, -1)}
    parts = [Fraction(1, ones[s] if intercept else problem.n) for s in problem.signs]
    total = [
        sum(p * s * Fraction(x[j]) for p, s, x in zip(parts, problem.signs, problem.X, strict=True))
        for j in range(problem.d)
    ]
    upper = root_rounded_up(sum(value**2 for value in total))
    fields = {"w": w, "lower": lower, "rows": rows, "weights": parts, "upper": upper}
    return problem, problem.labelled(rc.MarginInterval, intercept, **fields)


def lifted_margin_interval(random, kind, weight_kind, intercept):
    """The rows (x, c), the mean of all of them, and a w whose length counts its last number."""
    problem, w = separable(random, kind, weight_kind, True)
    lift = [1, 2.5, Fraction(1, 3), 2.0**-40][random.integers(4)]
    w[-1] = Fraction(w[-1]) / Fraction(lift)
    lower = root_below(margin_of(problem, w, lift, problem.d + 1)) or Fraction(1, 10**999)
    signed = [
        [s * Fraction(v) for v in (*x, lift)] for x, s in zip(problem.X, problem.signs, strict=True)
    ]
    mean = [sum(column) / problem.n for column in zip(*signed, strict=True)]
    upper = root_rounded_up(sum(value**2 for value in mean)) or 1
    fields = {"w": w, "lower": lower, "upper": upper, "lift": lift}
    fields |= {"rows": range(problem.n), "weights": [Fraction(1, problem.n)] * problem.n}
    return problem, problem.labelled(rc.MarginInterval, False, **fields)


def hinge_bound(problem, w, lift, passes):
    radius = max(sum(Fraction(v) ** 2 for v in [*x, lift]) for x in problem.X)
    losses = (1 - product(x, s, lift, w) for x, s in zip(problem.X, problem.signs, strict=True))
    loss = sum(max(loss, Fraction(0)) for loss in losses)
    return radius * sum(Fraction(v) ** 2 for v in w) + 2 * passes * loss


def mistake_proof(random, kind, weight_kind, intercept):
    n, d = int(random.integers(1, 7)), int(random.integers(1, 5))
    problem = Problem(numbers(random, (n, d), kind), random.choice([-1, 1], n).tolist())
    lift = [0, 1, 2.5, Fraction(1, 3)][random.integers(4)]
    w = weights(random, d + 1, weight_kind)
    w[-1] = w[-1] if lift else 0
    passes = int(random.integers(1, 5))
    bound = hinge_bound(problem, w, lift, passes) * (1 + Fraction(int(random.integers(2)), 8))
    fields = {"lift": lift, "w": w, "passes": passes, "bound": bound}
    return problem, rc.MistakeProof(data=problem.data(), classes=(3, 7), **fields)


def mistake_proof_for_any_passes(random, kind, weight_kind, intercept):
    """A separator that is scaled until no row has a loss."""
    problem, w = separable(random, kind, weight_kind, True)
    pairs = zip(problem.X, problem.signs, strict=True)
    least = min(product(x, s, 1, w) for x, s in pairs)
    w = [Fraction(value) / least for value in w]
    fields = {"lift": 1, "w": w, "passes": None, "bound": hinge_bound(problem, w, 1, 0)}
    return problem, rc.MistakeProof(data=problem.data(), classes=(3, 7), **fields)


MAKERS = (
    separator, non_separability, inseparability, feasible, infeasible, margin_interval,
    lifted_margin_interval, mistake_proof, mistake_proof_for_any_passes
)  # fmt: skip


# ---- many classes at once


class JointProblem(Problem):
    """Rows of many classes, which are 3, 4, 5 and so on."""

    def __init__(self, X, codes, count):
        super().__init__(X)
        self.codes, self.count = codes, count

    @property
    def y(self):
        return [3 + code for code in self.codes]

    def rows(self):
        entries = [[(j, value) for j, value in enumerate(x) if value] for x in self.X]
        tags = [CLASS + code for code in self.codes]
        return [Row(*row) for row in zip(tags, entries, strict=True)]

    def certified(self, kind, intercept, **fields):
        return kind(
            data=self.data(), classes=[*range(3, 3 + self.count)], intercept=intercept, **fields
        )

    def pairs(self):
        """Samples and other classes, in the order of the certificates' rows."""
        return [(i, c) for i, own in enumerate(self.codes) for c in range(self.count) if c != own]


def joint_separator(random, kind, weight_kind, intercept):
    """Rows of the class that scores most by random weights; those of several are left out."""
    while True:
        n, d, count = (int(random.integers(*ends)) for ends in ((1, 9), (1, 4), (2, 5)))
        X, each = numbers(random, (n, d), kind), numbers(random, (count, d + 1), weight_kind)
        W = [[0] * (d + 1), *([*w[:-1], w[-1] * intercept] for w in each[1:])]
        scores = [[product(x, 1, 1, w) for w in W] for x in X]
        kept = [i for i, s in enumerate(scores) if s.count(max(s)) == 1]
        norm = sum(Fraction(value) ** 2 for w in W for value in w[:-1])
        if not kept or not norm:
            continue
        problem = JointProblem(
            [X[i] for i in kept], [scores[i].index(max(scores[i])) for i in kept], count
        )
        leads = [max(scores[i]) - sorted(scores[i])[-2] for i in kept]
        margin = root_below(min(leads) ** 2 / norm) or Fraction(1, 10**999)
        w = [value for one in W[1:] for value in one[:-1]] + [one[-1] for one in W[1:]] * intercept
        return problem, problem.certified(rc.JointSeparator, intercept, w=w, margin=margin)


def joint_non_separability(random, kind, weight_kind, intercept):
    """The same rows in two classes, which do not use column 0, and rows that do."""
    d, count = int(random.integers(2, 5)), int(random.integers(2, 5))
    X = [[0, *x[1:]] for x in numbers(random, (int(random.integers(1, 4)), d), kind)]
    twins = [random.choice(count, 2, replace=False).tolist() for _ in X]
    others = [x for x in numbers(random, (int(random.integers(0, 4)), d), kind) if x[0]]
    sides = [count - 1 if x[0] > 0 else int(random.integers(count - 1)) for x in others]
    codes = [a for a, _ in twins] + [b for _, b in twins]
    problem = JointProblem(X * 2 + others, codes + sides, count)
    rivals = [b for _, b in twins] + [a for a, _ in twins]
    rows = [problem.pairs().index(pair) for pair in enumerate(rivals)]
    w = None
    if others and random.random() < 0.7:
        w = [0] * ((count - 1) * (d + intercept))
        w[(count - 2) * d] = abs(weights(random, 1, weight_kind)[0])
    fields = {"rows": rows, "weights": [Fraction(1, len(rows))] * len(rows), "w": w}
    return problem, problem.certified(rc.JointNonSeparability, intercept, **fields)


def joint_inseparability(random, kind, weight_kind, intercept):
    """Rows (a, b, a, 0) in all classes: column 2 is column 0 again, and column 3 is not used."""
    count, size = int(random.integers(2, 5)), int(random.integers(1, 3))
    base = [[1, 0], [0, 1], [0, 0], *numbers(random, (size, 2), kind)]
    more = numbers(random, (int(random.integers(0, 4)), 2), kind)
    codes = [c for c in range(count) for _ in base]
    X = [[a, b, a, 0] for a, b in base * count + more]
    problem = JointProblem(X, codes + random.integers(count, size=len(more)).tolist(), count)
    named = len(codes) * (count - 1)
    factor, zeros = weights(random, 1, weight_kind)[0], [0] * (count - 1) * (4 + intercept)
    places = range(0, 4 * (count - 1), 4)
    pairs = [[*zeros[:j], factor, 0, -factor, *zeros[j + 3 :]] for j in places]
    fields = {"rows": range(named), "weights": [Fraction(1, named)] * named}
    fields |= {"complement": pairs, "unused": [j + 3 for j in places]}
    return problem, problem.certified(rc.JointInseparability, intercept, **fields)


JOINT_MAKERS = joint_separator, joint_non_separability, joint_inseparability
EVERY_MAKER = MAKERS + JOINT_MAKERS
