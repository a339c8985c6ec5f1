"""Mistakes against the number of examples, beside a bound that does not mention it."""

from __future__ import annotations

from typing import Any

from rosenblatt.lab.drawing import draw_bent, tell_bent
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
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
    draw_bent(figure, table, "n", "n, the number of examples")


def seen(table: Table) -> str:
    """Compare the growth at both ends."""
    return tell_bent(table, "n", so=", so the growth has to end")


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
