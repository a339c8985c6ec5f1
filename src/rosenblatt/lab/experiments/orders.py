"""The five orders side by side: mistakes, and examples scored."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.data.synthetic import make_separable
from rosenblatt.lab.drawing import strip
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.style import BLUE, BOUND, ORANGE
from rosenblatt.learners.perceptron import Perceptron

POINTS, COLUMNS, MARGIN = 500, 10, 1 / 32
ORDERS = ("cycle", "shuffle", "random", "first", "worst")


def cases(quick: bool) -> list[Case]:
    """Take every order on the same problems."""
    return [
        {"order": order, "seed": seed} for order in ORDERS for seed in range(5 if quick else 40)
    ]


def measure(order: str, seed: int) -> Row:
    """Run until no mistake is left."""
    X, y, w = make_separable(POINTS, COLUMNS, margin=MARGIN, seed=seed)
    learner = Perceptron(fit_intercept=False, max_iter=None, order=order, random_state=seed).fit(
        X, y
    )
    bound = learner.bound(X, y, w).value
    return {
        "mistakes": learner.run_.mistakes,
        "bound": bound,
        "scored": learner.run_.operations.dot_products,
        "most_scored": (math.floor(bound) + 1) * POINTS,
        "multiply_adds": learner.run_.operations.multiply_adds,
    }


def draw(figure: Any, table: Table) -> None:
    """Draw a dot for each run, mistakes on the left and examples scored on the right."""
    panels = (
        ("mistakes", "bound", "bound (R/γ)²", BLUE),
        ("scored", "most_scored", "bound ((R/γ)² + 1)·n", ORANGE),
    )
    for axes, (of, bound, label, color) in zip(figure.subplots(1, 2), panels, strict=True):
        axes.set_yscale("log")
        axes.axhline(table[bound].max(), label=label, **BOUND)
        strip(axes, table, "order", of, ORDERS, color)
        axes.set_xlabel("order")
        axes.tick_params(axis="x", labelsize=9)
        axes.legend(loc="upper left", bbox_to_anchor=(0, 0.94))
    left, right = figure.axes
    left.set_ylabel("mistakes until convergence")
    right.set_ylabel("examples scored until convergence")


def seen(table: Table) -> str:
    """Compare the medians."""
    lucky = int((table["mistakes"] == 1).sum())
    luck = f" In {lucky} runs the first example alone gave a separator." if lucky else ""
    return (
        f"The medians of mistakes go from {_ends(table, 'mistakes')}; no run used more than "
        f"{table.share()} of the bound that holds for all. Those of examples scored go from "
        f"{_ends(table, 'scored')}: to find the most wrong example, all {POINTS} are scored for "
        f"each mistake.{luck}"
    )


def _ends(table: Table, of: str) -> str:
    """Name the orders with the smallest and the largest median."""
    middle = [(float(np.median(part[of])), order) for order, part in table.groups("order")]
    (least, short), (most, long) = min(middle), max(middle)
    return f"{least:,.0f} ({short}) to {most:,.0f} ({long})"


EXPERIMENT = Experiment(
    name="orders",
    title="The five orders",
    question="Which misclassified example should come next?",
    setup=f"{POINTS} points in the unit ball of {COLUMNS} dimensions, separated by a known "
    f"hyperplane through the origin with exactly the margin γ = 1/{1 / MARGIN:.0f}. The same "
    "problems are learned in the stored order (cycle), in a new order each pass (shuffle), from a "
    "random misclassified example (random), from the first example again after each update "
    "(first), and from the most wrong example (worst). Each dot is a run, each bar a median. To "
    "score an example is one dot product. Two of the points are ±γ·w*, which make the margin "
    "exact: a run that meets one of them first is lucky.",
    theorem="F5: M ≤ (R/γ)² for every order, because the proof only uses the updates. D4: a "
    "run that converges takes at most M + 1 passes of n examples scored, in every order.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"), ("scored", "most_scored")),
)
