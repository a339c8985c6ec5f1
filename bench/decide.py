"""Deciding with a proof: against SciPy's `linprog` (HiGHS), which gives none.

The question put to `linprog` is the same: is there a (w, b) with y·(w·x + b) >= 1 on all rows? It
may end with status 4 (numerical difficulties), which is no answer; its time is taken all the same,
and a note says how often. A limit keeps it from running for hours; its time is then too short.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse

import rosenblatt as rb
from bench import sets
from bench.race import Contestant, Race, race, ratio

SECONDS = 40.0  # that linprog may take; ten times what we need and more
OURS, PEER = "rosenblatt", "linprog"
Labelled = tuple[Any, np.ndarray]
Make = Callable[[], Labelled]
endings: dict[str, int] = {}


def planted(n: int, d: int, margin: float, flipped: int = 0) -> Labelled:
    """Make separable data; one label in so many is then flipped."""
    X, y, _ = rb.make_separable(n, d, margin, seed=0)
    if flipped:
        chosen = np.random.default_rng(0).choice(n, max(1, n // flipped), replace=False)
        y[chosen] = -y[chosen]
    return X, y


def coins(n: int, d: int) -> Labelled:
    """Make rows whose labels mean nothing."""
    random = np.random.default_rng(0)
    return random.standard_normal((n, d)), random.choice([-1, 1], n)


def text(n: int) -> Labelled:
    """Make text-like rows that a hyperplane separates."""
    X, _ = sets.text_like(n)
    w = np.random.default_rng(1).standard_normal(X.shape[1])
    scores = X @ w
    return X, np.where(scores > np.median(scores), 1, -1)


def duel(cases: dict[str, Make], bar: dict[str, float], ours_first: bool, repeats: int) -> Race:
    """Let both decide all cases."""
    entries, figures = {}, []
    for name, make in cases.items():
        shared = cache(make)
        entries[f"{OURS}, {name}"] = partial(our_decision, shared)
        entries[f"{PEER}, {name}"] = partial(peer_decision, shared, name)
        pair = [f"{PEER}, {name}", f"{OURS}, {name}"]
        figures.append(ratio(*(reversed(pair) if ours_first else pair), **bar))
    return Race(
        entries=entries, figures=figures, unit="s", factor=1, repeats=repeats, note=statuses
    )


def statuses() -> str:
    """Tell where linprog did not answer."""
    silent = [f"{name} (status {status})" for name, status in endings.items() if status in (1, 4)]
    return "linprog gave no answer for: " + (", ".join(silent) or "none")


def our_decision(make: Make) -> Contestant:
    """Enter rosenblatt, certificate included."""
    X, y = make()
    rb.separate(X[:200, :3], np.resize([-1, 1], 200))  # loads what is compiled
    return Contestant(lambda _: rb.separate(X, y))


def peer_decision(make: Make, name: str) -> Contestant:
    """Enter linprog."""
    from scipy.optimize import linprog

    X, y = make()
    if sparse.issparse(X):
        lifted = sparse.hstack([X, np.ones((X.shape[0], 1))]).tocsr().astype(np.float64)
        A = sparse.diags(-y.astype(np.float64)) @ lifted
    else:
        A = np.column_stack([X, np.ones(len(X))]) * -y[:, None]
    right, nothing = -np.ones(A.shape[0]), np.zeros(A.shape[1])

    def run(_: None) -> None:
        limit = {"time_limit": SECONDS}
        found = linprog(nothing, A, right, bounds=(None, None), method="highs", options=limit)
        endings[name] = found.status

    return Contestant(run)


def tall(n: int, d: int) -> dict[str, Make]:
    """Give the cases of tall data."""
    cases: dict[str, Make] = {
        f"margin {margin:g}": partial(planted, n, d, margin) for margin in (1e-2, 1e-3, 1e-4)
    }
    cases["1 in 5,000 flipped"] = partial(planted, n, d, 1e-2, 5000)
    return cases


@race
def separate_20000x50(scale: float) -> Race:
    """Decide 20,000 × 50 dense rows, with a proof."""
    return duel(tall(sets.scaled(20_000, scale), 50), {"at_least": 10}, False, 3)


@race
def separate_200000x50(scale: float) -> Race:
    """Decide 200,000 × 50 dense rows, with a proof."""
    return duel(tall(sets.scaled(200_000, scale), 50), {"at_least": 10}, False, 1)


@race
def separate_1000000x20(scale: float) -> Race:
    """Decide 1,000,000 × 20 dense rows, with a proof."""
    return duel(tall(sets.scaled(1_000_000, scale), 20), {"at_least": 10}, False, 1)


@race
def separate_square(scale: float) -> Race:
    """Decide problems with 2 to 20 rows a column, and with more columns than rows."""
    cases: dict[str, Make] = {}
    for n, d in ((1000, 500), (1000, 300), (2000, 200), (4000, 200), (2000, 100), (800, 1600)):
        n = max(100, int(n * min(scale, 1)))
        cases[f"{n}×{d} margin 1e-3"] = partial(planted, n, d, 1e-3)
        cases[f"{n}×{d} coins"] = partial(coins, n, d)
        cases[f"{n}×{d} flipped"] = partial(planted, n, d, 1e-2, 50)
    return duel(cases, {"at_most": 1.5}, True, 1)


@race
def separate_sparse(scale: float) -> Race:
    """Decide 20,000 × 47,236 sparse rows like text, separable, with a proof."""
    return duel({"text": partial(text, sets.scaled(20_000, scale))}, {"at_least": 20}, False, 1)


@race
def verify_separator(scale: float) -> Race:
    """Check a separator of 1,000,000 × 100 float64 rows exactly, against one product X @ w."""
    n = sets.scaled(1_000_000, scale)
    shared = cache(partial(planted, n, 100, 1e-2))

    def product() -> Contestant:
        X, _ = shared()
        w = np.ones(100)
        return Contestant(lambda _: X @ w)

    def check() -> Contestant:
        X, y = shared()
        proof = rb.separate(X, y).certificate
        rb.verify(proof, X, y)
        return Contestant(lambda _: rb.verify(proof, X, y))

    return Race(
        entries={"rosenblatt": check, "X @ w": product},
        figures=[ratio("rosenblatt", "X @ w", at_most=3)],
        unit="s",
        factor=1,
    )
