"""Largest margins of real data, proof included, against LIBSVM with C = 1e10, which has none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import rosenblatt as rb
from bench.margins import Labelled, hard_libsvm, timed
from bench.race import Contestant, Race, itself, race, ratio
from bench.sets import found

OURS, PEER = "rosenblatt", "LIBSVM, C = 1e10"
SECONDS = 60.0


@race
def margin_iris(scale: float) -> Race:
    """Largest margin with a proof: iris, setosa against the rest, 150 × 4."""
    return against_libsvm(cache(partial(bundled, "iris", (0,), (1, 2))))


@race
def margin_digits(scale: float) -> Race:
    """Largest margin with a proof: digits, 3 against 8, 357 × 64."""
    return against_libsvm(cache(partial(bundled, "digits", (3,), (8,))))


@race
def margin_sonar(scale: float) -> Race:
    """Largest margin with a proof: sonar, 208 × 60."""
    return against_libsvm(cache(lambda: tuple(rb.read(found("binary/sonar.svm")))))


@race
def margin_mushrooms(scale: float) -> Race:
    """Largest margin with a proof: mushrooms, 8,124 × 112, sparse."""
    return against_libsvm(cache(lambda: tuple(rb.read(found("binary/mushrooms.svm")))))


@race
def margin_mnist(scale: float) -> Race:
    """Largest margin with a proof: MNIST, 0 against 1, 12,665 × 784."""
    return against_libsvm(cache(zeros_and_ones))


@race
def margin_rcv1(scale: float) -> Race:
    """Seconds until the margin of rcv1, 23,749 × 47,236 sparse, is known to a share of 1e-3."""
    make = cache(lambda: tuple(rb.read(found("binary/rcv1_24k.svm.gz"))))
    return Race(
        entries={OURS: partial(closed, make)},
        figures=[itself(OURS, at_most=SECONDS)],
        timed=False,
        repeats=1,
    )


# ---- data


def bundled(name: str, negative: tuple[int, ...], positive: tuple[int, ...]) -> Labelled:
    """Take some classes of a data set of scikit-learn against others."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    kept = np.isin(y, negative + positive)
    return X[kept], np.where(np.isin(y[kept], positive), 1, -1)


def zeros_and_ones() -> Labelled:
    """Take the zeros and ones of MNIST, as float64."""
    X, y = rb.read(found("mnist/train-images-idx3-ubyte.gz"))
    y = np.asarray(y).astype(int)
    return np.asarray(X[y <= 1], np.float64), y[y <= 1]


# ---- contestants


def against_libsvm(make: Callable[[], Labelled]) -> Race:
    """Race to a width of 1e-6 against LIBSVM's default tolerance."""
    return Race(
        entries={OURS: partial(proven, make), PEER: partial(hard_libsvm, make)},
        figures=[ratio(OURS, PEER, at_most=2.0)],
        unit="ms",
        factor=1e3,
    )


def proven(make: Callable[[], Labelled]) -> Contestant:
    """Enter the certified enclosure of the margin, with all loops compiled."""
    X, y = make()
    rb.max_margin(X, y)
    return Contestant(lambda _: rb.max_margin(X, y))


def closed(make: Callable[[], Labelled]) -> Contestant:
    """Enter the seconds that the interval takes to close; more than allowed if it does not."""
    X, y = make()
    rb.max_margin(X[:100], y[:100])

    def run(_: Any) -> float:
        seconds, answer = timed(partial(rb.max_margin, X, y, tol=1e-3, max_seconds=2 * SECONDS))
        return seconds if answer.width <= 1e-3 else np.inf

    return Contestant(run)
