"""Small data: what a call costs before numbers do, on the 100 flowers of two kinds of iris."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rosenblatt as rb
from bench.hard_margins import bundled
from bench.race import Contestant, Race, itself, race, ratio

OURS, PEER, LARGEST = "rosenblatt", "scikit-learn", "rosenblatt, max_margin"
TIMES = 20  # calls that are timed together: the clock is too coarse for one


@cache
def flowers(kinds: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Give two kinds of iris, 100 × 4."""
    return bundled("iris", kinds[:1], kinds[1:])


def repeated(call: Any) -> Contestant:
    """Enter a call, made several times."""

    def run(_: None) -> None:
        for _ in range(TIMES):
            call()

    return Contestant(run)


def milliseconds(entries: dict[str, Any], figures: list[Any]) -> Race:
    """Race calls that take less than the clock tells."""
    return Race(entries, figures=figures, unit="ms", factor=1e3 / TIMES, repeats=25)


@race
def small_soft(scale: float) -> Race:
    """Fit a soft margin on 100 × 4, beside LinearSVC."""
    from sklearn.svm import LinearSVC

    X, y = flowers((1, 2))
    entries = {
        OURS: lambda: repeated(lambda: rb.SoftMarginSVM().fit(X, y)),
        PEER: lambda: repeated(lambda: LinearSVC(max_iter=10**5).fit(X, y)),
    }
    return milliseconds(entries, [itself(OURS, at_most=1), ratio(PEER, OURS, at_least=1)])


@race
def small_perceptron(scale: float) -> Race:
    """Fit a perceptron on 100 × 4, which are separable, beside scikit-learn's."""
    from sklearn.linear_model import Perceptron

    X, y = flowers((0, 1))
    entries = {
        OURS: lambda: repeated(lambda: rb.Perceptron().fit(X, y)),
        PEER: lambda: repeated(lambda: Perceptron().fit(X, y)),
    }
    return milliseconds(entries, [itself(OURS, at_most=1), ratio(PEER, OURS, at_least=1)])


@race
def small_hard(scale: float) -> Race:
    """Find and prove the largest margin of 100 × 4."""
    X, y = flowers((0, 1))
    entries = {LARGEST: lambda: repeated(lambda: rb.max_margin(X, y))}
    return milliseconds(entries, [itself(LARGEST, at_most=2)])


@race
def small_csv(scale: float) -> Race:
    """Read a CSV of 100 lines, beside Polars, which has no labels to find."""
    path = Path(tempfile.mkdtemp()) / "flowers.csv"
    X, y = flowers((0, 1))
    rows = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,label", *rows]) + "\n")

    def polars() -> Contestant:
        from polars import read_csv

        return repeated(lambda: read_csv(path))

    entries = {OURS: lambda: repeated(lambda: rb.read(path)), "Polars": polars}
    return milliseconds(entries, [ratio(OURS, "Polars", at_most=1.5)])
