"""Mistakes against the learning rate, from zero and from elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.synthetic import make_separable
from rosenblatt.lab.drawing import band, bound_line
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.style import BLUE, ORANGE
from rosenblatt.learners.perceptron import Perceptron

POINTS, COLUMNS, MARGIN = 200, 5, 1 / 32
STARTS = {"zero": ("w₀ = 0", BLUE, "o"), "random": ("random w₀ of norm 1", ORANGE, "s")}


def cases(quick: bool) -> list[Case]:
    """Take powers of two, which scale floats exactly, for both starts."""
    powers, seeds = (range(-8, 5, 3), 3) if quick else (range(-12, 7), 20)
    return [
        {"start": start, "rate": 2.0**power, "seed": seed}
        for start in STARTS
        for power in powers
        for seed in range(seeds)
    ]


def measure(start: str, rate: float, seed: int) -> Row:
    """Run until no mistake is left."""
    X, y, w = make_separable(POINTS, COLUMNS, margin=MARGIN, seed=seed)
    learner = Perceptron(
        fit_intercept=False, max_iter=None, initial=start, eta0=rate, random_state=seed
    ).fit(X, y)
    return {"mistakes": learner.run_.mistakes, "bound": learner.bound(X, y, w).value}


def draw(figure: Any, table: Table) -> None:
    """Draw mistakes and bounds of both starts."""
    axes = figure.add_subplot()
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for start, (label, color, marker) in STARTS.items():
        part = table.where(start=start)
        bound_line(axes, part, "rate", "bound", f"bound, {label}", color, marker)
        band(axes, part, "rate", "mistakes", f"mistakes, {label}", color, marker)
    axes.set(xlabel="η, the learning rate", ylabel="mistakes until convergence")
    axes.legend(loc="upper right")


def seen(table: Table) -> str:
    """Say whether the rate changed anything from zero, and by how much from elsewhere."""
    zero, random = table.where(start="zero"), table.where(start="random")
    same = sum(len(part.values("mistakes")) == 1 for _, part in zero.groups("seed"))
    rates = table.values("rate")
    small, large = (np.median(random.where(rate=r)["mistakes"]) for r in (rates[0], rates[-1]))
    return (
        f"From zero, {same} of {len(zero.values('seed'))} problems cost the same number of "
        f"mistakes at all {len(rates)} rates. From a random start of norm 1, the median goes from "
        f"{large:,.0f} at η = {rates[-1]:g} to {small:,.0f} at η = 1/{1 / rates[0]:,.0f}: a small "
        "rate has to carry w away from a long start in short steps, and the bound knows it."
    )


EXPERIMENT = Experiment(
    name="rate",
    title="The learning rate",
    question="Does the learning rate matter?",
    setup=f"{POINTS} points in the unit ball of {COLUMNS} dimensions, separated by a known "
    f"hyperplane through the origin with the margin γ = 1/{1 / MARGIN:.0f}. The same points in "
    "the same order are learned at each rate η, from zero and from a random vector w₀ of norm 1. "
    "The rates are powers of two, by which floats are multiplied without rounding.",
    theorem="F3: from w = 0, η changes neither the mistakes nor the direction of w; a run from w₀ "
    "with rate η makes the mistakes of the run from w₀/η with rate 1. F7 with w₀/η bounds them: M "
    "≤ [R² − 2γc₁ + √(R⁴ − 4γc₁R² + 4γ²c₀)] / (2γ²), c₀ = ‖w₀/η‖², c₁ = (w₀/η)·w*.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"),),
)
