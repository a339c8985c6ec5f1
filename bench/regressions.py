"""Designs of logistic regressions with a planted answer: which coefficients diverge.

firthmodels' `detect_separation` solves a linear program in floats. A design is a random one in
which one column, hidden by a change of coordinates that rounds nothing, alone decides, by a gap:

separable     the column tells the classes apart, by the gap
weak          most rows are 0 in the column, and overlap in the others; some are off by the gap
inseparable   the same, but rows of a class are off to both sides
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache, partial

import numpy as np

import rosenblatt as rb
from bench.race import Contestant, Race, itself, race, ratio

DESIGNS, ROWS, COLUMNS = 200, 60, 5
GAPS = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
KINDS = ("separable", "weakly separable", "inseparable")
Design = tuple[np.ndarray, np.ndarray, str]


@race
def planted_gaps(scale: float) -> Race:
    """Answer designs with planted gaps of 1e-4 to 1e-12; wrong answers are counted."""
    entries = {
        "rosenblatt": partial(ours, scale),
        "firthmodels": partial(firthmodels, scale),
        "firthmodels, inseparable below 1e-6": partial(firthmodels, scale, KINDS[2:], GAPS[2:]),
    }
    figures = [itself("rosenblatt", at_most=0), *map(itself, list(entries)[1:])]
    return Race(entries, figures, unit="wrong", timed=False, repeats=1)


@race
def mixed_design(scale: float) -> Race:
    """Tell which coefficients of a design of 1,000 × 30, numbers and dummies, are finite."""
    entries = {"rosenblatt": our_coefficients, "firthmodels": their_coefficients}
    figures = [itself("rosenblatt", at_most=50), ratio("firthmodels", "rosenblatt")]
    return Race(entries, figures, unit="ms", factor=1000, timed=False)


# ---- designs


@cache
def designs(scale: float, gaps: tuple[float, ...] = GAPS) -> list[Design]:
    """Plant designs, the kinds and the gaps in turn."""
    count = max(len(gaps) * len(KINDS), int(DESIGNS * scale))
    return [
        planted(seed, KINDS[seed % len(KINDS)], gaps[seed // len(KINDS) % len(gaps)])
        for seed in range(count)
    ]


def planted(seed: int, kind: str, gap: float) -> Design:
    """Plant a design. All its numbers are multiples of a power of two near the gap."""
    random = np.random.default_rng(seed)
    gap = 2.0 ** np.round(np.log2(gap))
    y = np.arange(ROWS) % 2
    X = random.integers(-4, 5, (ROWS, COLUMNS)).astype(float)
    signs = np.where(y, 1.0, -1.0)
    if kind == "separable":
        X[:, 0] = np.where(y, gap, 0.0)
    else:
        corners = np.repeat(np.vstack([np.eye(COLUMNS), -np.eye(COLUMNS)])[:, 1:], 2, axis=0)
        X[: len(corners), 1:] = corners  # each in both classes
        X[:, 0] = 0.0
        off = slice(len(corners), len(corners) + 6)
        X[off, 0] = signs[off] * gap
        if kind == "inseparable":
            X[len(corners), 0] *= -1
            X[len(corners) + 1, 0] *= -1
    upper = np.triu(random.integers(-2, 3, (COLUMNS, COLUMNS)), 1) + np.eye(COLUMNS)
    return X @ upper, y, kind


def mixed() -> tuple[np.ndarray, np.ndarray]:
    """Make 12 columns of numbers and 18 dummies of three factors; a rare level has one outcome."""
    random = np.random.default_rng(0)
    numbers = random.standard_normal((1000, 12))
    factors = [random.integers(0, 7, 1000) for _ in range(3)]
    factors[0][:8] = 7
    dummies = [factor[:, None] == np.arange(1, 7) for factor in factors]
    dummies[0][:, 5] = factors[0] == 7
    X = np.column_stack([numbers, *dummies]).astype(float)
    y = (numbers[:, 0] + random.logistic(size=1000) > 0).astype(int)
    y[:8] = 1
    return X, y


# ---- contestants


def ours(scale: float) -> Contestant:
    """Enter rosenblatt: verdict and proof."""

    def run(_: None) -> float:
        wrong = 0
        for X, y, kind in designs(scale):
            found = rb.separate(X, y)
            proven = found.certificate is not None and rb.verify(found.certificate, X, y).ok
            wrong += found.verdict != kind or not proven
        return float(wrong)

    return Contestant(run)


def firthmodels(
    scale: float, kinds: tuple[str, ...] = KINDS, gaps: tuple[float, ...] = GAPS
) -> Contestant:
    """Enter firthmodels, which tells separation from none."""
    from firthmodels import detect_separation

    def wrong() -> Iterator[bool]:
        for X, y, kind in designs(scale, gaps):
            if kind in kinds:
                yield detect_separation(X, y).separation != (kind != "inseparable")

    return Contestant(lambda _: float(sum(wrong())))


def our_coefficients() -> Contestant:
    X, y = mixed()

    def run(_: None) -> float:
        began = time.process_time()
        found = rb.separate(X, y).coefficients or {}
        seconds = time.process_time() - began
        if [name for name, said in found.items() if said != "finite"] != [17]:
            raise AssertionError(f"not as planted: {found}")
        return seconds

    run(None)  # loads what is compiled
    return Contestant(run)


def their_coefficients() -> Contestant:
    from firthmodels import detect_separation

    X, y = mixed()

    def run(_: None) -> float:
        began = time.process_time()
        found = detect_separation(X, y)
        seconds = time.process_time() - began
        if np.count_nonzero(~np.asarray(found.is_finite)) != 1:
            raise AssertionError(f"not as planted: {found}")
        return seconds

    return Contestant(run)
