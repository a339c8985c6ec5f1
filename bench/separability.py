"""Real data: separable, weakly separable or neither? Ours with a proof, against SciPy's `linprog`.

`linprog` (HiGHS) is asked two questions, both of signed rows z with an intercept, and proves none:

three-way   max Σ s  subject to  s <= z·w,  0 <= s <= 1:  all three verdicts, as ours (theory D9)
strict      is there a w with  z·w >= 1  on all rows: separable or not

Seconds are processor time, which other work on the machine changes least; threads of ours add up.
All may run for SECONDS. Where `linprog` would run longer, its time is too short (noted);
ours counts as endless then. It ends when the certificate has been checked. Verdicts are noted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import rosenblatt as rb
from bench.race import Contestant, Figure, Race, itself, race, ratio
from bench.sets import found

SECONDS = 120.0
OURS, THREE_WAY, STRICT = CONTESTANTS = "rosenblatt", "three-way", "strict"
SEPARABLE, WEAKLY, INSEPARABLE = "separable", "weakly separable", "inseparable"
ENDINGS = {1: f"> {SECONDS:g} s", 2: "not separable", 4: "numerical difficulties"}  # of linprog
Labelled = tuple[Any, np.ndarray]
Make = Callable[[], Labelled]
answers: dict[str, str] = {}

SMALL = ("a1a", "fourclass", "german_number", "heart", "heart_scale", "ionosphere", "mushrooms")
SMALL += ("phishing", "sonar", "splice", "svmguide3")


# ---- races


@race
def separate_small(scale: float) -> Race:
    """Decide small data of two classes, with a proof."""
    cases = {name: partial(two_classes, f"{name}.svm") for name in SMALL}
    return duel(cases | {"spambase": partial(two_classes, "spambase.csv")}, repeats=5)


@race
def separate_census(scale: float) -> Race:
    """Decide a1a's test set, a9a and its test set: 16,281 to 32,561 × 123, sparse, with a proof."""
    names = ("a1a.test", "a9a", "a9a.test")
    cases = {name: partial(two_classes, f"{name}.svm") for name in names}
    return duel(cases, itself(f"{OURS}, a9a", at_most=1.5), repeats=3)


@race
def separate_news(scale: float) -> Race:
    """Decide rcv1, 23,749 × 47,236, sparse, with a proof."""
    return duel({"rcv1": partial(two_classes, "rcv1_24k.svm.gz")}, repeats=1)


@race
def separate_letters(scale: float) -> Race:
    """Decide a letter against the others, 20,000 × 16, with a proof."""
    return duel(rest("letter", ("A", "H", "I", "Z"), "multiclass/letter.csv", label=0), repeats=3)


@race
def separate_usps(scale: float) -> Race:
    """Decide a digit of USPS against the others, 7,291 × 256, with a proof."""
    name = "multiclass/usps.train.csv.gz"
    return duel(rest("USPS", (0, 1, 8), name, label=0, header=False), repeats=1)


@race
def separate_mnist(scale: float) -> Race:
    """Decide a digit of MNIST against the others, 60,000 × 784, with a proof."""
    return duel(rest("MNIST", (0, 8), "mnist/train-images-idx3-ubyte.gz"), repeats=1)


@race
def separate_covtype(scale: float) -> Race:
    """Decide covtype's class 2 against the others, 581,012 × 54, with a proof."""
    cases = rest("covtype", (2,), "multiclass/covtype.csv.gz")
    return duel(cases, itself(f"{OURS}, covtype 2", at_most=12), repeats=1)


# ---- data


def two_classes(name: str) -> Labelled:
    """Read data of two classes."""
    X, y = rb.read(found(f"binary/{name}"), dtype="float64")
    return X, np.where(y == np.unique(y)[1], 1, -1)


def rest(title: str, labels: tuple[Any, ...], name: str, **options: Any) -> dict[str, Make]:
    """Give the cases of some classes of a file, each against all others."""

    @cache
    def read() -> Labelled:
        X, y = rb.read(found(name), dtype="float64", **options)
        return X, np.asarray(y)

    def against(label: Any) -> Labelled:
        X, y = read()
        return X, np.where(y == label, 1, -1)

    return {f"{title} {label}": partial(against, label) for label in labels}


# ---- contestants


def duel(cases: dict[str, Make], *more: Figure, repeats: int) -> Race:
    """Let all decide all cases."""
    entries, figures = {}, list(more)
    for name, make in cases.items():
        ours, shared = f"{OURS}, {name}", cache(make)
        entries[ours] = partial(our_decision, shared, ours)
        figures.append(ratio(ours, f"{THREE_WAY}, {name}", at_most=1))
        figures.append(ratio(ours, f"{STRICT}, {name}"))
        for who, ask in ((THREE_WAY, three_way), (STRICT, strict)):
            entries[f"{who}, {name}"] = partial(peer_decision, shared, f"{who}, {name}", ask)
    return Race(
        entries=entries,
        figures=figures,
        timed=False,  # a warm-up would double what the peers take
        repeats=repeats,
        note=partial(verdicts, list(cases)),
    )


def verdicts(names: list[str]) -> str:
    """Tell the verdicts, and what `linprog` answered where it took part."""
    each = ([f"{who} {answers.get(f'{who}, {name}')}" for who in CONTESTANTS] for name in names)
    return ". ".join(f"{name}: {', '.join(told)}" for name, told in zip(names, each, strict=True))


def our_decision(make: Make, name: str) -> Contestant:
    """Enter rosenblatt, certificate and its check included."""
    X, y = make()
    few = X[:200, :3]
    rb.separate(few, np.resize([-1, 1], few.shape[0]))  # loads what is compiled

    def run(_: None) -> float:
        began = time.process_time()
        answer = rb.separate(X, y, max_seconds=SECONDS)
        answers[name] = answer.verdict
        if answer.certificate is None:
            return math.inf
        checked = rb.verify(answer.certificate, X, y)
        seconds = time.process_time() - began
        if not checked:
            raise AssertionError(f"{name}: {checked}")
        return seconds

    return Contestant(run)


class Question(NamedTuple):
    """What linprog is asked: its arguments, and what its point says of the rows."""

    arguments: dict[str, Any]
    verdict: Callable[[np.ndarray], str]


def three_way(Z: sparse.csc_matrix) -> Question:
    """Ask for all verdicts; s says which rows a hyperplane can have on their right side."""
    n, d = Z.shape

    def verdict(point: np.ndarray) -> str:
        positive = point[d:] > 0.5
        return SEPARABLE if positive.all() else WEAKLY if positive.any() else INSEPARABLE

    A = sparse.hstack([-Z, sparse.identity(n)]).tocsc()
    bounds = np.repeat([(-np.inf, np.inf), (0, 1)], (d, n), axis=0)
    cost = np.repeat([0.0, -1.0], (d, n))
    return Question({"c": cost, "A_ub": A, "b_ub": np.zeros(n), "bounds": bounds}, verdict)


def strict(Z: sparse.csc_matrix) -> Question:
    """Ask for any separating hyperplane."""
    n, d = Z.shape
    free = (None, None)
    arguments = {"c": np.zeros(d), "A_ub": -Z, "b_ub": -np.ones(n), "bounds": free}
    return Question(arguments, lambda _: SEPARABLE)


def peer_decision(make: Make, name: str, ask: Callable[[Any], Question]) -> Contestant:
    """Enter linprog, its matrix made beforehand, sparse, as HiGHS keeps it."""
    from scipy.optimize import linprog

    X, y = make()
    lifted = sparse.hstack([sparse.csr_matrix(X), np.ones((X.shape[0], 1))])
    question = ask((sparse.diags(y.astype(np.float64)) @ lifted).tocsc())

    def run(_: None) -> float:
        began = time.process_time()
        found = linprog(**question.arguments, method="highs", options={"time_limit": SECONDS})
        seconds = time.process_time() - began
        answers[name] = ENDINGS.get(found.status) or question.verdict(found.x)
        return seconds

    return Contestant(run)
