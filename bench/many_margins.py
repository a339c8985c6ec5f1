"""Soft margins of many classes of real data, C = 1: one joint problem, and one against the rest.

LIBLINEAR (in scikit-learn's LinearSVC) solves once, to a tolerance of its own; rosenblatt is asked
for the loosest gap that ends at or below that objective, found before the race. Time is by the
clock: classes are solved side by side where there are several cores.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import rosenblatt as rb
from bench.defaults import whole
from bench.kernels import images
from bench.race import Contestant, Race, race, ratio
from bench.sets import found as path_of
from bench.soft_margins import Labelled, standardised

GAPS = 10.0 ** -np.arange(1.0, 8.0, 0.25)
EPS = 0.1  # LIBLINEAR's own default, and less would take hours
LAMBDAS = np.logspace(2, -2, 20)
PEERS = {"joint": "crammer_singer", "one-vs-rest": "ovr"}
BARS = {"joint": 5.0, "one-vs-rest": 1.5}


def letters() -> Labelled:
    """Give letter, 20,000 × 16, scaled."""
    X, y = rb.read(path_of("multiclass/letter.csv"), label=0)
    return standardised(X), np.asarray(y)


def usps() -> Labelled:
    """Give the training images of USPS."""
    X, y = rb.read(path_of("multiclass/usps.train.csv.gz"), label=0, header=False)
    return np.ascontiguousarray(X, np.float64), np.asarray(y)


def mnist() -> Labelled:
    """Give the training images of MNIST."""
    X, y, *_ = images("mnist")
    return X.astype(np.float64), y


def forests() -> Labelled:
    """Give 50,000 rows of covtype, scaled."""
    X, y = whole("multiclass/covtype.csv.gz")
    chosen = np.random.default_rng(0).choice(len(y), 50_000, replace=False)
    return standardised(X[chosen]), np.asarray(y)[chosen]


def peer(data: Labelled, multiclass: str, C: float) -> Any:
    """Let LIBLINEAR solve the problem of many classes."""
    from sklearn.svm import LinearSVC

    learner = LinearSVC(loss="hinge", multi_class=PEERS[multiclass], C=C, tol=EPS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(*data)


def ours(data: Labelled, multiclass: str, gap: float) -> Any:
    """Solve the same problem to a proven gap."""
    made = rb.SoftMarginSVM(C=1.0, intercept="lifted", multiclass=multiclass, tol=gap)
    return made.fit(*data)


def objective(data: Labelled, learner: Any, multiclass: str, C: float = 1.0) -> float:
    """Give ½‖W‖² + C Σ losses, intercepts among the weights, as LIBLINEAR has it."""
    X, y = data
    own = y[:, None] == learner.classes_
    scores = X @ learner.coef_.T + learner.intercept_
    cost = (np.vdot(learner.coef_, learner.coef_) + learner.intercept_ @ learner.intercept_) / 2
    if multiclass == "joint":
        return float(cost + C * ((scores + ~own).max(axis=1) - scores[own]).sum())
    return float(cost + C * np.maximum(0.0, 1.0 - np.where(own, scores, -scores)).sum())


def seconds(work: Callable[[], Any]) -> float:
    """Give the time that something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def against_liblinear(make: Callable[[], Labelled]) -> Race:
    """Race to LIBLINEAR's objective, jointly and one against the rest."""
    data = cache(make)
    entries, figures = {}, []
    for kind, bar in BARS.items():
        solved = cache(lambda kind=kind: _solved(data(), kind))
        names = f"LIBLINEAR, {kind}", f"rosenblatt, {kind}"
        entries[names[0]] = lambda solved=solved: Contestant(lambda _: solved()[0])
        entries[names[1]] = lambda solved=solved, kind=kind: _entered(data(), kind, solved()[1])
        figures.append(ratio(*names, at_least=bar))
    return Race(entries=entries, figures=figures, timed=False, repeats=3)


def _solved(data: Labelled, kind: str, C: float = 1.0) -> tuple[float, float]:
    """Give how long LIBLINEAR takes, once, and its objective."""
    found: list[Any] = []
    took = seconds(lambda: found.append(peer(data, kind, C)))
    return took, objective(data, found[0], kind, C)


def _entered(data: Labelled, kind: str, least: float) -> Contestant:
    """Enter rosenblatt with the loosest gap that is good enough."""
    enough = next(gap for gap in GAPS if objective(data, ours(data, kind, gap), kind) <= least)
    return _timed(partial(ours, data, kind, enough))


def _timed(work: Callable[[], Any]) -> Contestant:
    """Enter something that tells its own time."""
    return Contestant(lambda _: seconds(work))


@race
def many_letter(scale: float) -> Race:
    """Soft margins of 26 classes against LIBLINEAR, letter, 20,000 × 16, scaled."""
    return against_liblinear(letters)


@race
def many_usps(scale: float) -> Race:
    """Soft margins of ten classes against LIBLINEAR, USPS, 7,291 × 256."""
    return against_liblinear(usps)


@race
def many_mnist(scale: float) -> Race:
    """Soft margins of ten classes against LIBLINEAR, MNIST, 60,000 × 784."""
    return against_liblinear(mnist)


@race
def many_covtype(scale: float) -> Race:
    """Soft margins of seven classes against LIBLINEAR, 50,000 rows of covtype, scaled."""
    return against_liblinear(forests)


@race
def many_path(scale: float) -> Race:
    """Twenty λ from 100 to 0.01, USPS, ten classes, as a path, one by one, and by LIBLINEAR."""
    data = cache(usps)
    entries, figures = {}, []
    for kind, bar in BARS.items():
        path, cold, theirs = (
            f"{who}, {kind}"
            for who in ("rosenblatt, path", "rosenblatt, one by one", "LIBLINEAR, one by one")
        )
        solved = cache(lambda kind=kind: [_solved(data(), kind, price(lam)) for lam in LAMBDAS])
        made = cache(lambda kind=kind, solved=solved: _enough(data(), kind, solved()))
        entries[path] = lambda made=made: _timed(partial(made().path, *data(), LAMBDAS))
        entries[cold] = lambda made=made: _timed(partial(_one_by_one, made(), data()))
        entries[theirs] = lambda solved=solved: Contestant(lambda _: sum(t for t, _ in solved()))
        figures += [ratio(path, cold, at_most=1), ratio(theirs, path, at_least=bar)]
    return Race(entries=entries, figures=figures, timed=False, repeats=3)


def _one_by_one(made: rb.SoftMarginSVM, data: Labelled) -> None:
    """Solve for all λ, each from nothing."""
    for lam in LAMBDAS:
        made.set_params(lam=lam).fit(*data)


def price(lam: float) -> float:
    """Give what LIBLINEAR calls C."""
    return 1 / (2 * lam)


def _enough(data: Labelled, kind: str, solved: list[tuple[float, float]]) -> rb.SoftMarginSVM:
    """Give a learner of the loosest gap with which all of a path is as good as LIBLINEAR."""
    tried = (rb.SoftMarginSVM(intercept="lifted", multiclass=kind, tol=gap) for gap in GAPS)
    return next(made for made in tried if _as_good(data, kind, made, solved))


def _as_good(
    data: Labelled, kind: str, made: rb.SoftMarginSVM, solved: list[tuple[float, float]]
) -> bool:
    """Tell whether a learner's path has no larger objective than LIBLINEAR at any λ."""
    reached = [objective(data, at, kind, price(at.lam)) for at in made.path(*data, LAMBDAS)]
    return all(ours <= theirs for ours, (_, theirs) in zip(reached, solved, strict=True))
