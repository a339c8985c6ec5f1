"""The everyday case: real data that overlap, learners as they come, rows held out.

Rows that have no test set of their own are split at random, three quarters to learn from.
Accuracies are means over SPLITS: those of spambase differ by 20 points. scikit-learn's answers
depend on its seed, so SEEDS of them count on each split; ours are the same each time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import rosenblatt as rb
from bench.kernels import Split, census, images
from bench.one_pass import quietly
from bench.race import Contestant, Race, difference, race, ratio
from bench.sets import found

OURS, PERCEPTRON, SGD = "rosenblatt", "scikit-learn's Perceptron", "scikit-learn's SGDClassifier"
SEEDS = 3
SPLITS = {"rcv1": 8, "spambase": 24}  # of the others one: they are large, or come split


def ours(seed: int) -> Any:
    """Make our perceptron; nothing in it is drawn."""
    return rb.Perceptron()


def perceptron(seed: int) -> Any:
    """Make scikit-learn's perceptron."""
    from sklearn.linear_model import Perceptron

    return Perceptron(random_state=seed)


def sgd(seed: int) -> Any:
    """Make scikit-learn's linear classifier by stochastic gradients."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(random_state=seed)


MAKERS: dict[str, Callable[[int], Any]] = {OURS: ours, PERCEPTRON: perceptron, SGD: sgd}


@cache
def whole(name: str) -> tuple[Any, np.ndarray]:
    """Read a file."""
    X, y = rb.read(found(name))
    return X, y


def split(name: str, number: int) -> Split:
    """Hold a quarter of the rows of a file out."""
    X, y = whole(name)
    order = np.random.default_rng(number).permutation(X.shape[0])
    held = X.shape[0] // 4
    return X[order[held:]], y[order[held:]], X[order[:held]], y[order[:held]]


SETS: dict[str, Callable[[int], Split]] = {
    "a9a": lambda number: census(),
    "rcv1": partial(split, "binary/rcv1_24k.svm.gz"),
    "covtype": partial(split, "multiclass/covtype.csv.gz"),
    "mnist": lambda number: images("mnist"),
    "spambase": partial(split, "binary/spambase.csv"),
}


def time_of(name: str) -> Race:
    """Race whole fits."""
    X, y, *_ = SETS[name](0)
    return Race(
        entries={
            who: lambda make=make: Contestant(lambda _: quietly(make(0), X, y))
            for who, make in MAKERS.items()
        },
        figures=[ratio(PERCEPTRON, OURS, at_least=1), ratio(SGD, OURS, at_least=1)],
        unit="ms",
        factor=1e3,
        repeats=3,
        note=lambda: str(quietly(rb.Perceptron(), X, y).run_.stop),
    )


def accuracy_on(name: str) -> Race:
    """Compare the shares of rows held out that are classified correctly."""
    SETS[name](0)  # a file that is missing is told before the race

    def accuracy(make: Callable[[int], Any], number: int) -> float:
        X, y, more, labels = SETS[name](number)
        seeds = range(1 if make is ours else SEEDS)
        return float(np.mean([quietly(make(s), X, y).score(more, labels) for s in seeds]))

    def entered(make: Callable[[int], Any]) -> Contestant:
        splits = range(SPLITS.get(name, 1))
        return Contestant(lambda _: float(np.mean([accuracy(make, k) for k in splits])))

    return Race(
        entries={who: partial(entered, make) for who, make in MAKERS.items()},
        figures=[difference(OURS, PERCEPTRON, at_least=0), difference(OURS, SGD, at_least=0)],
        unit="%",
        factor=100,
        timed=False,
        repeats=1,
    )


@race
def defaults_a9a(scale: float) -> Race:
    """Fit with defaults, a9a, 32,561 × 123."""
    return time_of("a9a")


@race
def defaults_rcv1(scale: float) -> Race:
    """Fit with defaults, three quarters of rcv1's 23,749 × 47,236."""
    return time_of("rcv1")


@race
def defaults_covtype(scale: float) -> Race:
    """Fit with defaults, three quarters of covtype's 581,012 × 54, seven classes."""
    return time_of("covtype")


@race
def defaults_mnist(scale: float) -> Race:
    """Fit with defaults, MNIST, 60,000 × 784, ten classes."""
    return time_of("mnist")


@race
def defaults_spambase(scale: float) -> Race:
    """Fit with defaults, three quarters of spambase's 4,601 × 57."""
    return time_of("spambase")


@race
def held_out_a9a(scale: float) -> Race:
    """Accuracy of defaults on rows held out, a9a."""
    return accuracy_on("a9a")


@race
def held_out_rcv1(scale: float) -> Race:
    """Accuracy of defaults on rows held out, rcv1."""
    return accuracy_on("rcv1")


@race
def held_out_covtype(scale: float) -> Race:
    """Accuracy of defaults on rows held out, covtype."""
    return accuracy_on("covtype")


@race
def held_out_mnist(scale: float) -> Race:
    """Accuracy of defaults on rows held out, MNIST."""
    return accuracy_on("mnist")


@race
def held_out_spambase(scale: float) -> Race:
    """Accuracy of defaults on rows held out, spambase."""
    return accuracy_on("spambase")
