"""Runs that renormalise their weights, which no mistake bound covers."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from rosenblatt.data.synthetic import make_separable
from rosenblatt.lab.drawing import band, bound_line
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.style import BLUE, GREEN, GREY, ORANGE
from rosenblatt.learners.perceptron import Perceptron

POINTS, COLUMNS, PATIENCE = 200, 5, 16
MANNERS = {
    "plain": ("plain", BLUE, "o"),
    "unit steps": ("renormalised, η = 1", ORANGE, "s"),
    "small steps": ("renormalised, η = γ", GREEN, "^"),
}


def cases(quick: bool) -> list[Case]:
    """Margins down to 1/32 or 1/128 of the radius, with and without renormalisation."""
    powers, seeds = (range(1, 6), 3) if quick else (range(1, 8), 20)
    return [
        {"manner": manner, "margin": 2.0**-power, "seed": seed}
        for manner in MANNERS
        for power in powers
        for seed in range(seeds)
    ]


def measure(manner: str, margin: float, seed: int) -> Row:
    """Run until no mistake is left, or until the limit on updates."""
    X, y, w = make_separable(POINTS, COLUMNS, margin=margin, seed=seed)
    limit = round(PATIENCE / margin**2)
    learner = Perceptron(
        fit_intercept=False,
        max_iter=None,
        max_updates=limit,
        renormalize=manner != "plain",
        eta0=margin if manner == "small steps" else 1.0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the column says it
        learner.fit(X, y)
    return {
        "inverse_margin": 1 / margin,
        "mistakes": learner.run_.mistakes,
        "converged": int(learner.run_.converged),
        "bound": learner.bound(X, y, w).value if manner == "plain" else None,
        "limit": limit,
    }


def draw(figure: Any, table: Table) -> None:
    """Draw mistakes, and below them the share of runs that converged."""
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    _mistakes(top, table)
    _converged(bottom, table)


def _mistakes(axes: Any, table: Table) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    x, *_, limit = table.spread("inverse_margin", "limit")
    label = f"stopped here: {PATIENCE}·(R/γ)² updates"
    axes.plot(x, limit, color=GREY, linestyle=":", label=label)
    bound_line(axes, table, "inverse_margin", "bound", "bound (R/γ)², of plain runs")
    for manner, (label, color, marker) in MANNERS.items():
        band(axes, table.where(manner=manner), "inverse_margin", "mistakes", label, color, marker)
    axes.set_ylabel("mistakes")
    axes.legend(loc="upper left")


def _converged(axes: Any, table: Table) -> None:
    sizes = (10, 7, 4)  # several manners may lie on one place
    for (manner, (_, color, marker)), size in zip(MANNERS.items(), sizes, strict=True):
        parts = list(table.where(manner=manner).groups("inverse_margin"))
        shares = [100 * part["converged"].mean() for _, part in parts]
        axes.plot(
            [value for value, _ in parts], shares, color=color, marker=marker, markersize=size
        )
    axes.set_ylim(-8, 108)
    axes.set_yticks([0, 50, 100])
    axes.set(ylabel="converged\n(% of runs)", xlabel="1/γ, the inverse of the margin (R = 1)")


def seen(table: Table) -> str:
    """Count the runs that converged."""
    told = []
    for manner, (label, *_) in MANNERS.items():
        part = table.where(manner=manner)
        told.append(f"{part['converged'].sum():,} of {len(part):,} ({label})")
    return (
        f"Converged: {', '.join(told)}. With η = 1 a renormalised w forgets: an update weighs as "
        "much as all earlier ones together, and near a narrow gap w can overshoot for ever, as in "
        "the example of D6. Steps of the size of the margin keep what was learned."
    )


EXPERIMENT = Experiment(
    name="renormalise",
    title="Renormalised weights",
    question="What happens if w is scaled to norm 1 after every update?",
    setup=f"{POINTS} points in the unit ball of {COLUMNS} dimensions, separated by a known "
    "hyperplane through the origin with exactly the margin γ. The same points in the same order "
    "are learned plainly, and with w ← w/‖w‖ after every update, at the rates η = 1 and η = γ. "
    f"Runs that have not converged after {PATIENCE}·(R/γ)² updates are stopped and counted.",
    theorem="F5, M ≤ (R/γ)², covers the plain runs. D6: F5 to F8 do not cover renormalised runs, "
    "and they need not converge on separable data. So none is drawn for them.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"),),
    size=(7.2, 5.6),
)
