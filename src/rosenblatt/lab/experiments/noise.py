"""Mistakes against the share of flipped labels, beside the bound of Theorem 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.bounds.mistakes import mistake_bound
from rosenblatt.lab.drawing import band, bound_line, mark
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, slope
from rosenblatt.lab.planted import make_noisy
from rosenblatt.lab.style import BLACK, BLUE, GREEN, GREY, ORANGE
from rosenblatt.learners.perceptron import Perceptron

POINTS, COLUMNS, MARGIN = 1000, 10, 0.1
SHOWN = {0.0: (BLUE, "o"), 0.02: (ORANGE, "s"), 0.2: (GREEN, "^")}  # over several passes


def cases(quick: bool) -> list[Case]:
    """Turn up to 40 % of the labels in one pass, and some of them in more passes."""
    shares = (
        (0.0, 0.02, 0.1, 0.2, 0.4) if quick else (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
    )
    once = [(share, 1) for share in shares]
    more = [(share, passes) for share in SHOWN for passes in (2, 5, 10, 20, 50, 100)]
    return [
        {"flipped": share, "passes": passes, "seed": seed}
        for share, passes in once + more[:: 2 if quick else 1]
        for seed in range(2 if quick else 20)
    ]


def measure(flipped: float, passes: int, seed: int) -> Row:
    """Present all examples in stored order, so many times."""
    X, y, w = make_noisy(POINTS, COLUMNS, MARGIN, flipped, seed)
    learner = Perceptron(fit_intercept=False)
    for _ in range(passes):
        learner.partial_fit(X, y)
    least = mistake_bound(X, y, fit_intercept=False, passes=passes)
    return {
        "mistakes": learner.run_.mistakes,
        "bound": least.value,
        "planted_bound": mistake_bound(X, y, w, False, passes=passes).value,
        "hinge_loss": least.hinge_loss,
        "scored": POINTS * passes,
    }


def draw(figure: Any, table: Table) -> None:
    """Draw one pass against the noise, and some noises against the passes."""
    left, right = figure.subplots(1, 2)
    _draw_one_pass(left, table.where(passes=1))
    _draw_passes(right, table)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _draw_one_pass(axes: Any, table: Table) -> None:
    table = Table({**row, "percent": 100 * row["flipped"]} for row in table.rows)
    bound_line(axes, table, "percent", "bound", "bound of Theorem 2")
    axes.axhline(POINTS, color=GREY, linestyle=":", linewidth=1.3, label="all misclassified")
    band(axes, table, "percent", "mistakes", "mistakes: median, range over seeds", BLACK, "D")
    axes.set(title="One pass", xlabel="flipped labels (%)", ylabel="mistakes")
    axes.set_ylim(bottom=0)


def _draw_passes(axes: Any, table: Table) -> None:
    for share, (color, marker) in SHOWN.items():
        part = table.where(flipped=share)
        bound_line(axes, part, "passes", "bound", None, color)
        band(axes, part, "passes", "mistakes", "", color, marker)
        _name_line(axes, part, "mistakes", f"{share:.0%} flipped", color)
        _name_line(axes, part, "bound", "its bound", color)
    axes.set(title="Several passes", xlabel="passes", ylabel="mistakes", xscale="log", yscale="log")
    mark(axes.xaxis, table.values("passes"))


def _name_line(axes: Any, table: Table, column: str, name: str, color: str) -> None:
    passes, _, middle, most = table.spread("passes", column)
    height = most[-1] if column == "bound" else middle[-1]
    beside = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(name, (passes[-1], height), color=color, fontsize=9, **beside)


def seen(table: Table) -> str:
    """Tell what noise costs, and what more passes do."""
    once = table.where(passes=1)
    first, last = min(once.values("flipped")), max(once.values("flipped"))
    return (
        f"In one pass, the median of mistakes is {_median(once, first):,.0f} with {first:.0%} of "
        f"the labels flipped and {_median(once, last):,.0f} with {last:.0%}.{_empty(once)} "
        f"Mistakes grow with the passes by these slopes, fitted to all runs: {_slopes(table)}. "
        "Without noise Theorem 1 caps them, whatever the number of passes; with noise only a bound "
        f"for each pass is left. No run, short or long, used more than {table.share()} of its "
        "bound."
    )


def _median(table: Table, share: float) -> float:
    return float(np.median(table.where(flipped=share)["mistakes"]))


def _empty(once: Table) -> str:
    """Say where the bound is above what can happen at all."""
    beyond = [share for share, part in once.groups("flipped") if part["bound"].min() > POINTS]
    if not beyond:
        return ""
    return (
        f" From {min(beyond):.0%} on, the bound exceeds the {POINTS:,} examples and says nothing."
    )


def _slopes(table: Table) -> str:
    parts = ((share, table.where(flipped=share)) for share in SHOWN)
    slopes = ((share, slope(part["passes"], part["mistakes"])[0]) for share, part in parts)
    return ", ".join(f"{round(s, 2) + 0.0:.2f} with {share:.0%} flipped" for share, s in slopes)


EXPERIMENT = Experiment(
    name="noise",
    title="Mistakes on noisy data",
    question="How many mistakes does noise cost, when no hyperplane is right about every example?",
    setup=f"{POINTS:,} points in the unit ball of {COLUMNS} dimensions, separated by a known "
    f"hyperplane through the origin with margin {MARGIN}; then a share of the labels is flipped. "
    "The perceptron starts at zero and meets the points in stored order, once or in several "
    "passes. The bound is the least that any comparator gives, as the soft-margin solver finds it.",
    theorem="F8: in P passes over any data, M ≤ R²‖w*‖² + 2·P·Σ max(0, 1 − y·(w*·x)) for every "
    "w*. Without noise some w* leaves no loss, and F5 holds: M ≤ (R/γ)² for any number of passes.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"), ("mistakes", "planted_bound")),
    size=(7.2, 3.6),
)
