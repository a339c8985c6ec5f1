"""Affine separators: lifting rows to (x, c), with c = 1 and with c = R."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.synthetic import make_separable
from rosenblatt.lab.drawing import band, bound_line
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, slope
from rosenblatt.lab.style import BLACK, BLUE, ORANGE
from rosenblatt.learners.perceptron import Perceptron

POINTS, COLUMNS, MARGIN = 200, 5, 1 / 16
LIFTS = {"1": ("lifted, c = 1", BLUE, "o"), "R": ("lifted, c = R", ORANGE, "s")}


def cases(quick: bool) -> list[Case]:
    """Move the points away from the origin, and change their unit of length."""
    offsets, scales, seeds = (2.0 ** np.arange(-1, 4), 4.0 ** np.arange(-2, 3), 3)
    if not quick:
        offsets, scales, seeds = 2.0 ** np.arange(-2, 6), 2.0 ** np.arange(-6, 7), 10
    moved = [("offset", float(offset), 1.0) for offset in offsets]
    moved += [("scale", 1.0, float(scale)) for scale in scales]
    places = [(*place, lift) for place in moved for lift in LIFTS]
    places += [("offset", 0.0, 1.0, lift) for lift in ("none", *LIFTS)]
    return [
        {"sweep": sweep, "offset": offset, "scale": scale, "lift": lift, "seed": seed}
        for sweep, offset, scale, lift in places
        for seed in range(seeds)
    ]


def measure(sweep: str, offset: float, scale: float, lift: str, seed: int) -> Row:
    """Run until no mistake is left."""
    X, y, w = make_separable(POINTS, COLUMNS, margin=MARGIN, seed=seed)
    X = scale * (X + offset * w)
    learner = Perceptron(
        fit_intercept=lift != "none", lift="radius" if lift == "R" else 1.0, max_iter=None
    ).fit(X, y)
    comparator = w if lift == "none" else np.append(w, -scale * offset)
    bound = learner.bound(X, y, comparator)
    return {
        "mistakes": learner.run_.mistakes,
        "bound": bound.value,
        "radius": bound.radius,
        "margin": bound.margin,
    }


def draw(figure: Any, table: Table) -> None:
    """Draw mistakes and bounds against the offset and against the unit of length."""
    left, right = figure.subplots(1, 2, sharey=True)
    away = table.where(sweep="offset")
    left.set_xscale("symlog", base=2, linthresh=0.25)
    _runs(left, away, "offset")
    _unlifted(left, away.where(lift="none"))
    right.set_xscale("log", base=2)
    _runs(right, table.where(sweep="scale"), "scale")
    left.set(
        xlabel="b, from origin to hyperplane (R₀ = 1)",
        ylabel="mistakes until convergence",
        title="moved away from the origin",
    )
    right.set(xlabel="factor of all coordinates (b = R₀)", title="in another unit of length")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _runs(axes: Any, table: Table, by: str) -> None:
    axes.set_yscale("log")
    for lift, (label, color, marker) in LIFTS.items():
        part = table.where(lift=lift)
        bound_line(axes, part, by, "bound", f"bound, {label}", color, marker)
        band(axes, part, by, "mistakes", f"mistakes, {label}", color, marker)


def _unlifted(axes: Any, table: Table) -> None:
    middle, bound = np.median(table["mistakes"]), table["bound"].max()
    axes.plot(0, middle, "X", color=BLACK, markersize=8, label="mistakes, not lifted")
    axes.plot(0, bound, "_", color=BLACK, markersize=12, label="bound, not lifted")


def seen(table: Table) -> str:
    """Compare the growth for both constants."""
    away = table.where(sweep="offset")
    far = Table(row for row in away.rows if row["offset"] >= 1)
    slopes = {lift: _growth(part) for lift, part in far.groups("lift")}
    scales = table.where(sweep="scale", lift="R")
    same = sum(len(part.values("mistakes")) == 1 for _, part in scales.groups("seed"))
    ends = table.where(sweep="scale", lift="1").spread("scale", "mistakes")[2]
    return (
        f"From b = 1 on, the medians of mistakes grow as b^{slopes['1']:.2f} with c = 1 and as "
        f"b^{slopes['R']:.2f} with c = R; the bounds grow as b⁴ and b² in the end. In other units "
        f"of length, c = R leaves the count as it is in {same} of {len(scales.values('seed'))} "
        f"problems (F4); with c = 1 its median goes from {ends.min():,.0f} up to "
        f"{ends.max():,.0f}."
    )


def _growth(table: Table) -> float:
    offsets, _, middle, _ = table.spread("offset", "mistakes")
    return slope(offsets, middle)[0]


EXPERIMENT = Experiment(
    name="lifting",
    title="Lifting: hyperplanes away from the origin",
    question="What does an intercept cost, and which constant should be added to the rows?",
    setup=f"{POINTS} points in a unit ball of {COLUMNS} dimensions (R₀ = 1) around the point "
    f"b·w*, separated by the hyperplane w*·x = b with exactly the margin γ = 1/{1 / MARGIN:.0f}. "
    "The rows x are lifted to (x, c), with c = 1 and with c = R, the largest norm of a row. Left, "
    "the points are moved away from the origin. Right, b = R₀ and all coordinates are multiplied. "
    "Without lifting only b = 0 is learned: farther out than γ, two of the points lie on one ray "
    "from the origin, on different sides of the hyperplane.",
    theorem="F9: in the lifted space R'² = R² + c² and γ' = γ/√(1 + b²/c²), so "
    "M ≤ (R² + c²)·(1 + b²/c²)/γ². With c = R that is at most four times R²/γ²; with c = 1 it "
    "grows as b⁴. F4: multiplying whole rows, c included, changes no mistake.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"),),
    size=(7.2, 4.6),
)
