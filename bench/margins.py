"""Margins: hard and soft support vector machines against LIBLINEAR and LIBSVM, and Theorem 2.

A race for the same objective: the peer solves once before the race, and rosenblatt is then asked
for the loosest gap that ends at or below the peer's objective.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import rosenblatt as rb
from bench import sets
from bench.race import Contestant, Race, itself, race, ratio

GAPS = 10.0 ** -np.arange(1.0, 8.0, 0.1)
GRID = np.logspace(3, -3, 10)
Labelled = tuple[Any, np.ndarray]


@race
def soft_text(scale: float) -> Race:
    """Soft margin, 100,000 × 47,236 sparse rows like text, C = 1, no intercept."""
    make = cache(lambda: sets.text_like(sets.scaled(100_000, scale)))
    entries, figures = {}, []
    for eps, bar in ((0.1, 2.5), (1e-3, 2.0)):
        ours, peer = f"rosenblatt, as good as eps {eps:g}", f"LIBLINEAR, eps {eps:g}"
        entries[peer] = partial(liblinear, make, eps)
        entries[ours] = partial(as_good_as, make, partial(liblinear_objective, make, eps), "none")
        figures.append(ratio(peer, ours, at_least=bar))
    return Race(entries=entries, figures=figures)


@race
def soft_dense(scale: float) -> Race:
    """Soft margin, 50,000 × 100 dense rows, one label in ten flipped, free intercept, C = 1."""
    make = cache(partial(flipped, sets.scaled(50_000, scale), 100))
    solved = cache(lambda: timed(partial(libsvm, make)))
    return Race(
        entries={
            "LIBSVM": lambda: Contestant(lambda _: solved()[0]),
            "rosenblatt": lambda: timed_contestant(as_good_as(make, lambda: solved()[1], "free")),
        },
        figures=[ratio("LIBSVM", "rosenblatt", at_least=20)],
        timed=False,
    )


@race
def hard_margin(scale: float) -> Race:
    """Hard margin, 20,000 × 50, margin 1e-2, to a relative width of 1e-6, certified."""
    make = cache(partial(separable, sets.scaled(20_000, scale), 50, 1e-2))
    return Race(
        entries={
            "rosenblatt": lambda: widest(make),
            "LIBSVM, C = 1e10": lambda: hard_libsvm(make),
        },
        figures=[ratio("LIBSVM, C = 1e10", "rosenblatt", at_least=10)],
    )


@race
def grid(scale: float) -> Race:
    """Ten values of λ from 1000 to 0.001 as a path, against ten solutions from nothing."""
    text = cache(lambda: sets.text_like(sets.scaled(20_000, scale)))
    dense = cache(partial(flipped, sets.scaled(20_000, scale), 50))
    entries, figures = {}, []
    for name, make, intercept in (("text", text, "none"), ("dense", dense, "free")):
        path, cold = f"rosenblatt, path, {name}", f"rosenblatt, cold, {name}"
        entries[path] = partial(along_path, make, intercept)
        entries[cold] = partial(one_by_one, make, intercept)
        bar = {"at_most": 0.5} if name == "dense" else {}
        figures.append(ratio(path, cold, **bar))
    return Race(entries=entries, figures=figures)


@race
def theorem_two(scale: float) -> Race:
    """Mistakes of all orders against the bound, and the bound against its minimum."""
    from sklearn.datasets import load_breast_cancer

    cases: dict[str, Callable[[], Labelled]] = {
        "breast cancer": cache(lambda: load_breast_cancer(return_X_y=True)),
        "noisy, 5,000 × 20": cache(partial(flipped, 5_000, 20)),
        "1,000,000 rows": cache(partial(flipped, sets.scaled(1_000_000, scale), 20)),
    }
    entries, figures = {}, []
    for name, make in cases.items():
        mistakes, tight = f"rosenblatt, mistakes / bound, {name}", f"rosenblatt, tightness, {name}"
        entries[mistakes] = partial(worst_share, make)
        entries[tight] = partial(tightness, make)
        figures += [itself(mistakes, at_most=1.0), itself(tight, at_most=1.01)]
    return Race(entries=entries, figures=figures, unit="", timed=False, repeats=1)


# ---- data


def flipped(n: int, d: int) -> Labelled:
    """Make rows that a hyperplane with an intercept tells apart, but for one label in ten."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    scores = X @ random.standard_normal(d) + 0.3 * np.sqrt(d)
    return X, np.where((scores > 0) == (random.random(n) > 0.1), 1, -1)


def separable(n: int, d: int, margin: float) -> Labelled:
    """Make rows with a known margin."""
    X, y, _ = rb.make_separable(n, d, margin, seed=0)
    return X, y


# ---- contestants


def as_good_as(
    make: Callable[[], Labelled], objective: Callable[[], float], intercept: str
) -> Contestant:
    """Enter rosenblatt with the loosest gap whose answer is as good as an objective."""
    X, y = make()
    wanted = objective()

    def solve(gap: float) -> Any:
        return rb.SoftMarginSVM(C=1.0, intercept=intercept, tol=gap).fit(X, y)

    # With C = 1, λ is 1/2: the objectives of LIBLINEAR and LIBSVM are ours.
    enough = next(gap for gap in GAPS if solve(gap).objective_ <= wanted)
    return Contestant(lambda _: solve(enough))


def liblinear_model(X: Any, y: np.ndarray, eps: float) -> Any:
    """Let LIBLINEAR solve the problem by its dual coordinate descent."""
    from sklearn.svm import LinearSVC

    learner = LinearSVC(loss="hinge", fit_intercept=False, tol=eps, max_iter=100_000)
    return learner.fit(X, y)


def liblinear(make: Callable[[], Labelled], eps: float) -> Contestant:
    """Enter LIBLINEAR; it works on float64."""
    X, y = make()
    double = X.astype(np.float64)
    return Contestant(lambda _: liblinear_model(double, y, eps))


def liblinear_objective(make: Callable[[], Labelled], eps: float) -> float:
    """Give the objective that LIBLINEAR ends with."""
    X, y = make()
    w = liblinear_model(X.astype(np.float64), y, eps).coef_[0]
    return hinge_objective(X, y, w, 0.0)


def libsvm(make: Callable[[], Labelled]) -> float:
    """Let LIBSVM solve the problem with a free intercept; give its objective."""
    from sklearn.svm import SVC

    X, y = make()
    learner = SVC(kernel="linear", C=1.0).fit(X, y)
    return hinge_objective(X, y, learner.coef_[0], learner.intercept_[0])


def hinge_objective(X: Any, y: np.ndarray, w: np.ndarray, b: float) -> float:
    """Give ½‖w‖² + Σ hinge."""
    return float(w @ w / 2 + np.maximum(0.0, 1.0 - y * (X @ w + b)).sum())


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Give the seconds that something takes, and its result."""
    from time import perf_counter

    began = perf_counter()
    result = run()
    return perf_counter() - began, result


def timed_contestant(contestant: Contestant) -> Contestant:
    """Let a contestant tell its seconds itself."""
    return Contestant(lambda fresh: timed(partial(contestant.run, fresh))[0], contestant.fresh)


def widest(make: Callable[[], Labelled]) -> Contestant:
    """Enter rosenblatt's certified enclosure of the margin."""
    X, y = make()
    rb.max_margin(X[:50, :3] + 9.0 * y[:50, None], y[:50])  # loads what is compiled
    return Contestant(lambda _: rb.max_margin(X, y, tol=1e-6))


def hard_libsvm(make: Callable[[], Labelled]) -> Contestant:
    """Enter LIBSVM with next to no room for losses, and a cache for all products."""
    from sklearn.svm import SVC

    X, y = make()
    return Contestant(lambda _: SVC(kernel="linear", C=1e10, cache_size=1000).fit(X, y))


def along_path(make: Callable[[], Labelled], intercept: str) -> Contestant:
    """Enter the path over the grid."""
    X, y = make()
    learner = rb.SoftMarginSVM(intercept=intercept)
    return Contestant(lambda _: learner.path(X, y, GRID))


def one_by_one(make: Callable[[], Labelled], intercept: str) -> Contestant:
    """Enter a fit for each value of the grid."""
    X, y = make()
    learners = [rb.SoftMarginSVM(lam=lam, intercept=intercept) for lam in GRID]
    return Contestant(lambda _: [learner.fit(X, y) for learner in learners])


def worst_share(make: Callable[[], Labelled]) -> Contestant:
    """Enter the largest share of the bound that a run of some order uses up."""
    X, y = make()
    orders = ("cycle", "shuffle") if X.shape[0] > 10**5 else ("cycle", "shuffle", "random", "first")

    def run(_: Any) -> float:
        bound = rb.mistake_bound(X, y, fit_intercept=False).value
        return max(mistakes(X, y, order) / bound for order in orders)

    return Contestant(run)


def mistakes(X: Any, y: np.ndarray, order: str) -> int:
    """Count the mistakes of one pass from zero."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = rb.Perceptron(order=order, max_iter=1, fit_intercept=False, random_state=0)
        return int(learner.fit(X, y).run_.mistakes)


def tightness(make: Callable[[], Labelled]) -> Contestant:
    """Enter the bound as a multiple of a number that its minimum is not below."""
    X, y = make()

    def run(_: Any) -> float:
        bound = rb.mistake_bound(X, y, fit_intercept=False)
        return bound.value / bound.minimum

    return Contestant(run)
