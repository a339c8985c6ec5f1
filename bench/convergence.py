"""Convergence on separable data, and the promise of Theorem 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rosenblatt as rb
from bench.race import Contestant, Race, itself, race

ROWS, COLUMNS = 300, 10
MARGINS = (0.1, 0.03, 0.01, 0.003)
SEEDS = range(10)
RUNS = len(MARGINS) * len(SEEDS)
OURS, PEER = "rosenblatt, no training error", "scikit-learn, no training error"
WITHIN = "rosenblatt, mistakes within the bound"

Judgement = Callable[[Any, Any, Any], bool]  # of rows, labels and the planted vector


@race
def separable(scale: float) -> Race:
    """Separable sets of 300 × 10, margins from 0.1 to 0.003."""
    return Race(
        entries={
            OURS: lambda: counted(ours_separates),
            PEER: lambda: counted(peer_separates()),
            WITHIN: lambda: counted(ours_keeps_bound),
        },
        figures=[itself(OURS, at_least=RUNS), itself(PEER), itself(WITHIN, at_least=RUNS)],
        unit=f"runs of {RUNS}",
        timed=False,
        repeats=1,
    )


def counted(judgement: Judgement) -> Contestant:
    """Count the sets on which a learner does what is asked."""
    sets = [rb.make_separable(ROWS, COLUMNS, margin, seed) for margin in MARGINS for seed in SEEDS]
    return Contestant(lambda _: sum(bool(judgement(*one)) for one in sets))


def ours_separates(X: Any, y: Any, w: Any) -> bool:
    """Tell whether rosenblatt's perceptron ends without a training error."""
    return rb.Perceptron().fit(X, y).score(X, y) == 1


def ours_keeps_bound(X: Any, y: Any, w: Any) -> bool:
    """Tell whether a run makes no more mistakes than Theorem 1 allows."""
    learner = rb.Perceptron().fit(X, y)
    return learner.run_.mistakes <= learner.bound(X, y, w).value


def peer_separates() -> Judgement:
    """Give the same judgement of scikit-learn's perceptron."""
    from sklearn.linear_model import Perceptron

    return lambda X, y, w: Perceptron().fit(X, y).score(X, y) == 1
