"""Mistakes of a stream beside the bound for what was seen so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.bounds.mistakes import mistake_bound
from rosenblatt.lab.drawing import band, bound_line
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, slope
from rosenblatt.lab.planted import make_noisy
from rosenblatt.lab.style import BLUE, GREY, ORANGE
from rosenblatt.learners.perceptron import Perceptron

COLUMNS, MARGIN = 10, 0.05
FLIPPED = {"separable": 0.0, "noisy": 0.1}
STYLES = {"separable": (BLUE, "o"), "noisy": (ORANGE, "s")}
FIRST = 32  # examples before the first look at the bound, which needs both classes


def cases(quick: bool) -> list[Case]:
    """Streams of 2,048 or 32,768 examples."""
    length, seeds = (2**11, 3) if quick else (2**15, 10)
    return [
        {"data": data, "length": length, "seed": seed} for data in FLIPPED for seed in range(seeds)
    ]


def measure(data: str, length: int, seed: int) -> list[Row]:
    """Learn one example at a time, and look at the bound whenever their number has doubled."""
    X, y, w = make_noisy(length, COLUMNS, MARGIN, FLIPPED[data], seed)
    learner = Perceptron(fit_intercept=False)
    rows, mistakes, checkpoint = [], 0, FIRST
    for i in range(length):
        mistakes += learner.learn_one(X[i], y[i])
        if i + 1 == checkpoint:
            rows.append(
                {"examples": checkpoint, "mistakes": mistakes, **_bounds(X, y, w, checkpoint)}
            )
            checkpoint *= 2
    return rows


def _bounds(X: np.ndarray, y: np.ndarray, w: np.ndarray, examples: int) -> Row:
    """Bound the mistakes on the examples seen so far, with and without knowing the hyperplane."""
    X, y = X[:examples], y[:examples]
    known, least = (mistake_bound(X, y, comparator, False) for comparator in (w, None))
    return {"planted_bound": known.value, "planted_theorem": known.theorem, "bound": least.value}


def draw(figure: Any, table: Table) -> None:
    """Draw a panel for each stream."""
    panels = figure.subplots(1, 2, sharey=True)
    x, *_, most = table.where(data="separable").spread("examples", "planted_bound")
    panels[0].plot(x, most, label="Theorem 1, hyperplane known", color=GREY, linestyle="-.")
    for axes, (data, (color, marker)) in zip(panels, STYLES.items(), strict=True):
        part = table.where(data=data)
        bound_line(axes, part, "examples", "bound", "least bound for these examples")
        band(axes, part, "examples", "mistakes", "mistakes: median, range", color, marker)
        axes.set(xscale="log", yscale="log", xlabel="examples so far", title=_title(data))
        axes.legend(loc="upper left")
    panels[0].set_ylabel("mistakes so far")
    panels[0].set_ylim(top=5 * table["bound"].max())  # room for the legends


def _title(data: str) -> str:
    return data.capitalize() + (f", {FLIPPED[data]:.0%} of labels flipped" if FLIPPED[data] else "")


def seen(table: Table) -> str:
    """Compare how the two streams go on."""
    said = [_seen(data, table.where(data=data)) for data in STYLES]
    return (
        f"{' '.join(said)} At no point had a stream used more than {table.share()} of its least "
        "bound."
    )


def _seen(data: str, table: Table) -> str:
    examples, _, mistakes, _ = table.spread("examples", "mistakes")
    *_, bounds = table.spread("examples", "bound")
    late = examples >= examples[-1] / 8
    s, _ = slope(examples[late], mistakes[late])
    return (
        f"After {examples[-1]:,} examples, the {data} stream has a median of {mistakes[-1]:,.0f} "
        f"mistakes, and the least bound is {bounds[-1]:,.0f}; over the last three doublings "
        f"mistakes grew as t^{s:.2f}, t being the number of examples."
    )


EXPERIMENT = Experiment(
    name="stream",
    title="A stream, and its bound as it goes",
    question="Can a learner say, at any moment of a stream, how many mistakes it may have made at "
    "most?",
    setup=f"Points in the unit ball of {COLUMNS} dimensions, on two sides of a known hyperplane "
    f"through the origin with margin {MARGIN}, come one by one (learn_one); in the noisy stream a "
    "tenth of the labels is flipped. Whenever the number of examples has doubled, the bound for "
    "all those so far is computed: the least over all comparators, and on the separable stream "
    "also that of the known hyperplane.",
    theorem="F5 holds along every prefix of a run: M ≤ (R/γ)² with the radius and the margin of "
    "the examples so far. So does F8: M ≤ R²‖w*‖² + 2·Σ max(0, 1 − y·(w*·x)), the sum over the "
    "examples so far, for every w*.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "planted_bound"), ("mistakes", "bound")),
    size=(7.2, 4.0),
)
