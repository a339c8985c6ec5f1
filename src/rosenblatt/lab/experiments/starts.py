"""Mistakes from different starts, each beside its own bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.synthetic import make_separable
from rosenblatt.lab.drawing import band, bound_line, strip
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.style import BLUE, BOUND, COLOURS, MARKERS
from rosenblatt.learners.perceptron import Perceptron

POINTS, COLUMNS, MARGIN = 200, 5, 1 / 32
NAMED = ("zero", "unit", "random")
NORMS = (1.0, 32.0, 1024.0)


def cases(quick: bool) -> list[Case]:
    """Take the named starts, and given ones of several norms and angles to the planted vector."""
    angles, seeds = (range(0, 181, 45), 2) if quick else (range(0, 181, 15), 20)
    given = [("given", norm, float(angle)) for norm in NORMS for angle in angles]
    return [
        {"start": start, "norm": norm, "angle": angle, "seed": seed}
        for start, norm, angle in [*((name, None, None) for name in NAMED), *given]
        for seed in range(seeds)
    ]


def measure(start: str, norm: float | None, angle: float | None, seed: int) -> Row:
    """Run until no mistake is left."""
    X, y, w = make_separable(POINTS, COLUMNS, margin=MARGIN, seed=seed)
    initial = start if norm is None or angle is None else norm * turned(w, angle, seed)
    learner = Perceptron(
        fit_intercept=False, max_iter=None, initial=initial, random_state=seed
    ).fit(X, y)
    return {"mistakes": learner.run_.mistakes, "bound": learner.bound(X, y, w).value}


def turned(w: np.ndarray, degrees: float, seed: int) -> np.ndarray:
    """Turn a unit vector by an angle towards a random side."""
    side = np.random.default_rng([seed, 1]).standard_normal(w.size)
    side -= (side @ w) * w
    side /= np.linalg.norm(side)
    radians = np.radians(degrees)
    return np.asarray(np.cos(radians) * w + np.sin(radians) * side)


def draw(figure: Any, table: Table) -> None:
    """Draw the named starts as dots, the given ones against their angle."""
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[1, 1.9])
    left.set_yscale("symlog", linthresh=1)
    _named(left, table)
    _given(right, table)


def _named(axes: Any, table: Table) -> None:
    strip(axes, table, "start", "mistakes", NAMED, BLUE)
    for place, name in enumerate(NAMED):
        bound = table.where(start=name)["bound"].max()
        axes.plot([place - 0.35, place + 0.35], [bound, bound], **BOUND)
    axes.set_xticks(range(3), ["zero", "ones", "random"])
    axes.set(ylabel="mistakes until convergence", title="starts of norm 0 or 1")


def _given(axes: Any, table: Table) -> None:
    given = table.where(start="given")
    for norm, color, marker in zip(NORMS, COLOURS, MARKERS, strict=False):
        part = given.where(norm=norm)
        bound_line(axes, part, "angle", "bound", None, color, marker)
        band(axes, part, "angle", "mistakes", f"‖w₀‖ = {norm:,.0f}", color, marker)
    axes.plot([], [], label="bound", **BOUND)  # one entry of the legend for all three
    axes.set_xticks(range(0, 181, 45))
    axes.set(xlabel="angle from w* to the start (degrees)", title="given starts w₀")
    axes.legend(loc="lower right", ncols=2)


def seen(table: Table) -> str:
    """Compare help and hindrance."""
    given, zero = table.where(start="given"), table.where(start="zero")
    along, against = given.where(angle=0.0), given.where(angle=180.0, norm=NORMS[-1])
    return (
        f"From zero the median is {np.median(zero['mistakes']):,.0f} mistakes. A start along w* "
        f"costs {along['mistakes'].max():,.0f} at most, whatever its norm up to {NORMS[-1]:,.0f}; "
        f"one of that norm against w* costs {np.median(against['mistakes']):,.0f} (median) and at "
        f"most {against.share()} of its bound of {against['bound'].max():,.0f}."
    )


EXPERIMENT = Experiment(
    name="starts",
    title="Where to start",
    question="What does a good or a bad start do?",
    setup=f"{POINTS} points in the unit ball of {COLUMNS} dimensions, separated by a known "
    f"hyperplane through the origin with unit normal w* and the margin γ = 1/{1 / MARGIN:.0f}. "
    "The perceptron starts at zero, at (1, …, 1)/√d, at a random unit vector, and at vectors w₀ "
    "of three norms and at all angles to w*: 0° is along w*, 180° is −‖w₀‖·w*. It cycles through "
    "the points until a whole pass makes no mistake.",
    theorem="F7: with c₀ = ‖w₀‖² and c₁ = w₀·w*, M ≤ [R² − 2γc₁ + √(R⁴ − 4γc₁R² + 4γ²c₀)] / (2γ²), "
    "with no condition on the norm of w₀. Along w* it falls to 0 once ‖w₀‖ ≥ R²/(2γ), "
    f"here {1 / (2 * MARGIN):.0f}.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"),),
)
