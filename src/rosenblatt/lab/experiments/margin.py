"""Mistakes against the margin, beside the bound of Theorem 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.lab.drawing import growth
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, slope
from rosenblatt.lab.planted import until_convergence

POINTS, COLUMNS = 500, 10


def cases(quick: bool) -> list[Case]:
    """Margins down to 1/32 or 1/512 of the radius, several seeds each."""
    powers, seeds = (range(1, 6), 3) if quick else (range(1, 10), 20)
    return [{"margin": 2.0**-power, "seed": seed} for power in powers for seed in range(seeds)]


def measure(margin: float, seed: int) -> Row:
    """Run until no mistake is left."""
    found = until_convergence(POINTS, COLUMNS, margin, seed)
    return {"inverse_margin": 1 / margin, **found}


def draw(figure: Any, table: Table) -> None:
    """Draw mistakes and bound on logarithmic axes."""
    axes = figure.add_subplot()
    growth(axes, table, "inverse_margin", "mistakes", "bound", "bound (R/γ)²")
    axes.set(xlabel="1/γ, the inverse of the margin (R = 1)", ylabel="mistakes until convergence")


def seen(table: Table) -> str:
    """Compare the slopes."""
    s, error = slope(table["inverse_margin"], table["mistakes"])
    lucky = int(np.count_nonzero(table["mistakes"] == 1))
    told = (
        f"Mistakes grow as (1/γ)^{s:.2f} (± {error:.2f}), the bound as (1/γ)²: random points are "
        f"kinder than the worst ones. No run used more than {table.share()} of its bound."
    )
    if lucky:
        told += (
            f" In {lucky} of {len(table)} runs a single mistake was enough, as it is on the two "
            "points that lie on the normal of the planted hyperplane."
        )
    return told


EXPERIMENT = Experiment(
    name="margin",
    title="Mistakes against the margin",
    question="How does the number of mistakes grow as the gap between the classes closes?",
    setup=f"{POINTS} points in the unit ball of {COLUMNS} dimensions, separated by a known "
    "hyperplane through the origin with exactly the margin γ, which two of them attain on its "
    "normal. The perceptron starts at zero and cycles through them until a whole pass makes no "
    "mistake.",
    theorem="F5 (Block, Novikoff): if a unit vector w* has y·(w*·x) ≥ γ on all examples, then "
    "M ≤ (R/γ)², for every order.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"),),
)
