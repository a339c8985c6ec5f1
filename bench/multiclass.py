"""More than two classes: one pass of the discriminators against scikit-learn's one-versus-rest.

MNIST is found as the data of `kernels` are; the text is made from a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import rosenblatt as rb
from bench import sets
from bench.kernels import Split, images
from bench.one_pass import OURS, PEER, UNSHUFFLED, our_pass, peer_pass, quietly
from bench.race import Contestant, Race, difference, race, ratio

TEXT_ROWS, CLASSES = 20_000, 20
AVERAGED = f"{OURS}, averaged"


@race
def mnist_pass(scale: float) -> Race:
    """One pass over MNIST's 60,000 × 784, ten classes."""
    return a_pass(mnist(scale))


@race
def topics_pass(scale: float) -> Race:
    """One pass over 20,000 × 47,236 sparse float32 rows, twenty classes."""
    return a_pass(text(scale))


@race
def mnist_error(scale: float) -> Race:
    """Errors after one pass over MNIST."""
    return errors(mnist(scale))


@race
def topics_error(scale: float) -> Race:
    """Errors after one pass over text of twenty classes."""
    return errors(text(scale))


def mnist(scale: float) -> Split:
    """Give training and test images."""
    X, y, more, labels = images("mnist")
    n = min(sets.scaled(60_000, scale), 60_000)
    return X[:n], y[:n], more, labels


def text(scale: float) -> Split:
    """Give rows to learn from, and half as many to test."""
    n = sets.scaled(TEXT_ROWS, scale)
    X, y = sets.topics(n + n // 2, CLASSES)
    return X[:n], y[:n], X[n:], y[n:]


def a_pass(split: Split) -> Race:
    """Race one pass; scikit-learn makes one for each class."""
    X, y, *_ = split
    return Race(
        entries={
            OURS: lambda: our_pass(X, y),
            AVERAGED: lambda: Contestant(lambda _: quietly(averaged(), X, y)),
            PEER: lambda: peer_pass(X, y),
            UNSHUFFLED: lambda: peer_pass(X, y, shuffle=False),
        },
        figures=[
            ratio(PEER, OURS, at_least=3),
            ratio(PEER, AVERAGED, at_least=3),
            ratio(UNSHUFFLED, OURS),
        ],
        unit="ms",
        factor=1e3,
        note=lambda: described(X, y),
    )


def averaged() -> rb.Perceptron:
    """Make a learner that answers with the mean of its weights: what one calls for few passes."""
    return rb.Perceptron(max_iter=1, output="averaged")


def errors(split: Split) -> Race:
    """Compare what one pass leaves wrong, on the rows learned from and on others."""
    X, y, more, labels = split

    def entered(make: Callable[[], Any], rows: Any, marks: np.ndarray) -> Contestant:
        learner = quietly(make(), X, y)
        return Contestant(lambda _: 1 - learner.score(rows, marks))

    makers = {
        OURS: lambda: rb.Perceptron(max_iter=1, output="last"),
        AVERAGED: averaged,
        PEER: peer,
    }
    sides = {"training": (X, y), "test": (more, labels)}
    return Race(
        entries={
            f"{name}, {side}": partial(entered, make, *rows)
            for side, rows in sides.items()
            for name, make in makers.items()
        },
        figures=[
            difference(f"{AVERAGED}, test", f"{PEER}, test", at_most=0),
            difference(f"{OURS}, test", f"{PEER}, test"),
            difference(f"{AVERAGED}, training", f"{PEER}, training"),
            difference(f"{OURS}, training", f"{PEER}, training"),
        ],
        unit="%",
        factor=100,
        timed=False,
        repeats=1,
    )


def peer() -> Any:
    """Make scikit-learn's perceptron, one against the rest."""
    from sklearn.linear_model import Perceptron

    return Perceptron(max_iter=1, tol=None, random_state=0)


def described(X: Any, y: np.ndarray) -> str:
    """Tell how much there is to learn."""
    run = quietly(rb.Perceptron(max_iter=1), X, y).run_
    share = run.mistakes / X.shape[0]
    classes = np.unique(y).size
    return f"{X.shape[0]:,} × {X.shape[1]:,}, {classes} classes; mistakes in the pass: {share:.1%}."
