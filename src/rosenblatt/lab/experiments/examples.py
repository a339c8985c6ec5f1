"""Mistakes against the number of examples, beside a bound that does not mention it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.lab.drawing import bent_growth, bent_sentence
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, at_most
from rosenblatt.lab.planted import until_convergence

COLUMNS, MARGIN = 10, 1 / 64


def cases(quick: bool) -> list[Case]:
    """Take from 8 to 2¹⁷ or 2¹⁸ examples, several seeds each."""
    powers, seeds = (range(3, 18, 2), 3) if quick else (range(3, 19), 20)
    return [{"n": 2**power, "seed": seed} for power in powers for seed in range(seeds)]


def measure(n: int, seed: int) -> Row:
    """Run until no mistake is left."""
    return until_convergence(n, COLUMNS, MARGIN, seed)


def draw(figure: Any, table: Table) -> None:
    """Draw mistakes and bound on logarithmic axes."""
    axes = figure.add_subplot()
    bent_growth(axes, table, "n", "mistakes", "bound", "bound (R/γ)², the same for all n")
    axes.set(xlabel="n, the number of examples", ylabel="mistakes until convergence")
    axes.legend(loc="lower right")


def seen(table: Table) -> str:
    """Compare the growth at both ends."""
    share = float(np.max(table["mistakes"] / table["bound"]))
    return (
        f"{bent_sentence(table, 'n', 'mistakes')} "
        f"The bound, {table['bound'].max():,.0f}, is the same for all n, so the growth has to end. "
        f"No run used more than {at_most(share)} of it."
    )


EXPERIMENT = Experiment(
    name="examples",
    title="Mistakes against the number of examples",
    question="Do more examples cost more mistakes?",
    setup=f"n points in the unit ball of {COLUMNS} dimensions, separated by a known hyperplane "
    f"through the origin with exactly the margin γ = 1/{1 / MARGIN:.0f}. The perceptron starts at "
    "zero and cycles through them until a whole pass makes no mistake. While there are few "
    "points, each new one can be a surprise. Once the points near the hyperplane have fixed the "
    "direction of w, more of them bring little that is new: the count should level off.",
    theorem="F5 (Block, Novikoff): M ≤ (R/γ)². The number of examples does not occur in it: "
    "mistakes on an endless stream come to an end, too.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"),),
)
