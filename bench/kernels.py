"""Kernels: blocks against one example at a time, and what kernel perceptrons reach on real data.

The data are MNIST's and Fashion-MNIST's idx files, and a9a.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import rosenblatt as rb
from bench import sets
from bench.machine import SIDE
from bench.one_pass import quietly
from bench.race import Contestant, Figure, Race, itself, race, ratio

OURS, ONE_BY_ONE, PRODUCT = "rosenblatt", "NumPy, every 100th example", "product of matrices"
SHARE = 100  # of the examples, one in so many is timed one at a time
Split = tuple[Any, np.ndarray, Any, np.ndarray]
RIVALS = "one against all"
facts: dict[str, Any] = {}


@cache
def images(name: str) -> Split:
    """Read training and test images, scaled to [0, 1]."""
    X, y = rb.read(sets.found(f"{name}/train-images-idx3-ubyte.gz"))
    more, labels = rb.read(sets.found(f"{name}/t10k-images-idx3-ubyte.gz"))
    return X / np.float32(255), y, more / np.float32(255), labels


@cache
def census() -> Split:
    """Read a9a: training and test rows."""
    X, y = rb.read(sets.found("binary/a9a.svm"))
    more, labels = rb.read(sets.found("binary/a9a.test.svm"), width=X.shape[1])
    return X, y, more, labels


# ---- speed


@race
def mnist_kernel_pass(scale: float) -> Race:
    """One pass over MNIST's 60,000 × 784, ten classes, (1 + x·z)^4."""
    n = min(sets.scaled(60_000, scale), 60_000)
    return Race(
        entries={
            OURS: partial(blocked_pass, n),
            ONE_BY_ONE: partial(one_by_one, n),
            PRODUCT: product,
        },
        figures=[
            Figure(
                "one at a time, all examples / rosenblatt",
                (ONE_BY_ONE, OURS),
                lambda part, ours: SHARE * part / ours,
                at_least=20,
            ),
            Figure(
                f"share of the rate of {SIDE}×{SIDE} products",
                (OURS, PRODUCT),
                lambda ours, square: facts["operations"] / ours / (2 * SIDE**3 / square),
                at_least=0.6,
            ),
        ],
        note=lambda: (
            f"{facts['mistakes']:,} mistakes; {facts['operations'] / 1e9:,.0f} billion "
            "operations in products of examples with stored ones"
        ),
    )


def fourth_power(**options: Any) -> rb.KernelPerceptron:
    """Make a learner with the kernel (1 + x·z)^4."""
    return rb.KernelPerceptron(rb.Polynomial(4, 1), fit_intercept=False, **options)


def blocked_pass(n: int) -> Contestant:
    """Enter a pass in blocks."""
    X, y, *_ = images("mnist")

    def run(_: None) -> None:
        learned = quietly(fourth_power(max_iter=1), X[:n], y[:n])
        facts["operations"] = 2 * learned.run_.operations.multiply_adds
        facts["mistakes"] = learned.run_.mistakes

    return Contestant(run)


def one_by_one(n: int) -> Contestant:
    """Enter some of the examples of a pass, each beside those stored when its turn came."""
    X, y, *_ = images("mnist")
    learned = quietly(fourth_power(max_iter=1), X[:n], y[:n])
    stored, alphas = X[learned.support_], learned.alphas_.astype(np.float32)
    known = np.searchsorted(learned.support_, np.arange(0, n, SHARE))

    def run(_: None) -> None:
        for i, count in zip(range(0, n, SHARE), known, strict=True):
            values = 1 + stored[:count] @ X[i]
            values *= values
            values *= values
            (values @ alphas[:count]).argmax()

    return Contestant(run)


def product() -> Contestant:
    """Enter one product of two square matrices of float32."""
    square = np.random.default_rng(0).standard_normal((SIDE, SIDE), dtype=np.float32)
    return Contestant(lambda _: square @ square)


@race
def census_kernel_pass(scale: float) -> Race:
    """One pass over a9a in file order, Gaussian kernel 0.01, against training an SVC."""
    return Race(
        entries={OURS: partial(census_pass), "scikit-learn's SVC": partial(census_svc)},
        figures=[ratio("scikit-learn's SVC", OURS, at_least=10)],
        repeats=1,
        note=lambda: f"{facts['census']:,} mistakes of 32,561; the KOL package reports 6,887.",
    )


def census_pass() -> Contestant:
    """Enter a pass of the kernel perceptron."""
    X, y, *_ = census()

    def run(_: None) -> None:
        learned = quietly(rb.KernelPerceptron(rb.Gaussian(0.01), max_iter=1), X, y)
        facts["census"] = learned.run_.mistakes

    return Contestant(run)


def census_svc() -> Contestant:
    """Enter scikit-learn's support vector machine with the same kernel."""
    from sklearn.svm import SVC

    X, y, *_ = census()
    return Contestant(lambda _: SVC(kernel="rbf", gamma=0.01).fit(X, y))


# ---- accuracy


def error(make: Callable[[], Any], split: Callable[[], Split]) -> Contestant:
    """Give the error on the test set in percent; the seconds are noted."""
    X, y, more, labels = split()

    def run(_: None) -> float:
        began = time.perf_counter()
        learner = quietly(make(), X, y)
        wrong = 100 * (1 - learner.score(more, labels))
        facts["seconds"] = time.perf_counter() - began
        return wrong

    return Contestant(run)


@race
def mnist_kernel_error(scale: float) -> Race:
    """MNIST's test error in percent, (x·z)^4 on unit rows, 6 passes, averaged."""
    return Race(
        entries={OURS: partial(error, six_passes, unit_digits)},
        figures=[itself(OURS, at_most=1.6)],
        unit="%",
        timed=False,
        repeats=1,
        note=lambda: f"{facts['seconds']:,.0f} s for training and testing.",
    )


def six_passes() -> rb.KernelPerceptron:
    """Make the learner of the race for accuracy."""
    kernel = rb.Polynomial(4)
    return rb.KernelPerceptron(kernel, fit_intercept=False, output="averaged", max_iter=6)


@cache
def unit_digits() -> Split:
    """Give MNIST's rows scaled to norm 1."""
    X, y, more, labels = images("mnist")
    scaled = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (X, more)]
    return scaled[0], y, scaled[1], labels


@cache
def clothes(n: int) -> Split:
    """Give the first training images of Fashion-MNIST, and all of its test images."""
    X, y, more, labels = images("fashion-mnist")
    return X[:n], y[:n], more, labels


# Test errors that a public reproduction of Freund and Schapire's experiment reports, as those of
# 12,000 images. A plain loop over the rule gives 18.5, 16.9, 16.8 and 15.1 there, as we do; on the
# first 4,000 it gives what is reported.
REPORTED = {(1, 1): 20.9, (1, 4): 19.1, (2, 1): 19.9, (2, 4): 17.6}


@race
def fashion_kernel_error(scale: float) -> Race:
    """Test errors in percent, images of Fashion-MNIST, voted, 1 and 4 passes."""
    entries, figures = {}, []
    for n, many in ((12_000, "discriminators"), (12_000, RIVALS), (4_000, RIVALS)):
        for (degree, passes), reported in REPORTED.items():
            name = f"{n:,} images, {many}, degree {degree}, passes {passes}"
            learner = partial(voting, degree, passes, many)
            entries[name] = partial(error, learner, partial(clothes, n))
            least = {"at_least": reported - 1.5} if n == 4_000 else {}
            figures.append(itself(name, at_most=reported + 1.5, **least))
    return Race(entries=entries, figures=figures, unit="%", timed=False, repeats=1)


def voting(degree: int, passes: int, many: str) -> Any:
    """Make a learner by vote, with joint discriminators or one learner for each class."""
    from sklearn.multiclass import OneVsRestClassifier

    kernel = rb.Polynomial(degree, 1)
    learner = rb.KernelPerceptron(kernel, fit_intercept=False, output="voted", max_iter=passes)
    return learner if many == "discriminators" else OneVsRestClassifier(learner)


# ---- budgets


@race
def budget_stream(scale: float) -> Race:
    """Stream 1,000,000 examples, at most 1,000 stored: the last tenth against the second."""
    tenths = 10
    n = sets.scaled(1_000_000, scale) // tenths
    entries, figures = {}, []
    for forget in ("oldest", "random", "project"):
        names = [f"{OURS}, {forget}, {which} tenth" for which in ("second", "last")]
        stream = cache(partial(Stream, forget, n, tenths))
        entries[names[0]] = partial(tenth, stream, 1)
        entries[names[1]] = partial(tenth, stream, tenths - 1)
        figures.append(ratio(names[1], names[0], at_most=1.2))
    return Race(
        entries=entries, figures=figures, unit="µs an example", factor=1e6, timed=False, repeats=1
    )


class Stream:
    """A run through a stream whose hyperplane turns, timed tenth by tenth."""

    def __init__(self, forget: str, n: int, tenths: int) -> None:
        learner = rb.KernelPerceptron("gaussian:0.05", budget=1_000, forget=forget, random_state=0)
        self.seconds = []
        for number in range(tenths):
            X, y = sets.dense(n, 20, seed=number)
            began = time.process_time()  # of all cores; what others do meanwhile does not count
            for start in range(0, n, 1_000):
                learner.partial_fit(X[start : start + 1_000], y[start : start + 1_000])
            self.seconds.append((time.process_time() - began) / n)


def tenth(stream: Callable[[], Stream], number: int) -> Contestant:
    """Give the seconds that an example of one tenth took."""
    return Contestant(lambda _: stream().seconds[number])
