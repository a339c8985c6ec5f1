"""Mistakes against the number of columns, beside a bound that does not mention it."""

from __future__ import annotations

from typing import Any

from rosenblatt.lab.drawing import draw_bent, tell_bent
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.planted import until_convergence

POINTS, MARGIN = 500, 1 / 32


def cases(quick: bool) -> list[Case]:
    """Take from 2 to 2⁹ or 2¹² columns, several seeds each."""
    powers, seeds = (range(1, 10, 2), 3) if quick else (range(1, 13), 20)
    return [{"d": 2**power, "seed": seed} for power in powers for seed in range(seeds)]


def measure(d: int, seed: int) -> Row:
    """Run until no mistake is left."""
    return until_convergence(POINTS, d, MARGIN, seed)


def draw(figure: Any, table: Table) -> None:
    """Draw mistakes and bound on logarithmic axes."""
    draw_bent(figure, table, "d", "d, the number of columns")


def seen(table: Table) -> str:
    """Compare the growth at both ends."""
    return tell_bent(table, "d")


EXPERIMENT = Experiment(
    name="dimension",
    title="Mistakes against the number of columns",
    question="Do more columns cost more mistakes?",
    setup=f"{POINTS} points in the unit ball of d dimensions, separated by a known hyperplane "
    f"through the origin with exactly the margin γ = 1/{1 / MARGIN:.0f}. The perceptron starts at "
    "zero and cycles through them until a whole pass makes no mistake. Each new direction is one "
    "more in which w can err, so counts grow at first. In many dimensions random points are "
    "nearly at right angles to each other: what is learned from one hardly disturbs the others, "
    "and only the direction that they share adds up.",
    theorem="F5 (Block, Novikoff): M ≤ (R/γ)². The number of columns does not occur in it, and so "
    "the theorem also serves kernels, whose features may be without number (F13).",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"),),
)
