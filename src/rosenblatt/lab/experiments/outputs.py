"""Test error of the last, averaged and voted perceptron against the number of passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.lab.drawing import mark
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.planted import make_noisy
from rosenblatt.lab.style import BLUE, GREEN, GREY, ORANGE
from rosenblatt.learners.perceptron import Perceptron

# Colour, marker, and a factor for the place on the axis: two of them are about the same.
STYLES = {
    "last": (ORANGE, "s", 0.9),
    "averaged": (BLUE, "o", 1.0),
    "voted": (GREEN, "^", 1.11),
}
TITLES = {"planted": "Planted, 10% of labels flipped", "digits": "Digits, odd against even"}
COLUMNS, MARGIN, FLIPPED, SPLIT = 20, 0.05, 0.1, (1000, 2000)


def cases(quick: bool) -> list[Case]:
    """Two data sets, several seeds, up to 8 or 64 passes."""
    most, seeds = (8, 3) if quick else (64, 20)
    return [{"data": data, "most": most, "seed": seed} for data in TITLES for seed in range(seeds)]


def measure(data: str, most: int, seed: int) -> list[Row]:
    """Pass over shuffled examples, and test after 1, 2, 4, … passes."""
    (X, y), (X_test, y_test), floor = _planted(seed) if data == "planted" else _digits(seed)
    learners = {output: Perceptron(output=output) for output in STYLES}
    random = np.random.default_rng([seed, 2])
    rows = []
    for passes in range(1, most + 1):
        order = random.permutation(y.size)
        for output, learner in learners.items():
            learner.partial_fit(X[order], y[order])
            if passes & (passes - 1) == 0:
                error = 1 - learner.score(X_test, y_test)
                rows.append({"passes": passes, "output": output, "error": error, "floor": floor})
    return rows


def _planted(seed: int) -> tuple[Any, Any, float | None]:
    train, test = SPLIT
    X, y, w = make_noisy(train + test, COLUMNS, MARGIN, FLIPPED, seed)
    floor = float(np.mean(y[train:] * (X[train:] @ w) < 0))
    return (X[:train], y[:train]), (X[train:], y[train:]), floor


def _digits(seed: int) -> tuple[Any, Any, float | None]:
    from sklearn.datasets import load_digits

    X, digits = load_digits(return_X_y=True)
    X, y = X / 16, np.where(digits % 2 == 1, 1, -1)
    order = np.random.default_rng(seed).permutation(y.size)
    train, test = np.array_split(order, 2)
    return (X[train], y[train]), (X[test], y[test]), None


def draw(figure: Any, table: Table) -> None:
    """Draw a panel for each data set."""
    panels = figure.subplots(1, 2, sharey=True)
    floor = 100 * np.median(table["floor"])
    panels[0].axhline(floor, color=GREY, linestyle=":", label="planted hyperplane", linewidth=1.3)
    for axes, (data, title) in zip(panels, TITLES.items(), strict=True):
        for output in STYLES:
            _draw_output(axes, table.where(data=data, output=output), output)
        axes.set(title=title, xlabel="passes", xscale="log")
        mark(axes.xaxis, table.values("passes"))
    panels[0].set_ylim(0, 120 * table["error"].max())  # room for the legend
    panels[0].set_ylabel("test error (%)")
    named = panels[0].get_legend_handles_labels()
    panels[1].legend(*named, title="median, range over seeds", loc="upper right")


def _draw_output(axes: Any, table: Table, output: str) -> None:
    color, marker, factor = STYLES[output]
    x, least, middle, most = table.spread("passes", "error")
    axes.errorbar(
        factor * x,
        100 * middle,
        100 * np.array([middle - least, most - middle]),
        color=color,
        marker=marker,
        elinewidth=1,
        linewidth=1.2,
        label=output,
    )


def seen(table: Table) -> str:
    """Compare the outputs after the last pass, on both data sets."""
    last = max(table.values("passes"))
    return " ".join(
        _seen(title, table.where(data=data, passes=last), last) for data, title in TITLES.items()
    ) + _alike(table)


def _seen(title: str, table: Table, passes: int) -> str:
    errors = {output: table.where(output=output)["error"] for output in STYLES}
    said = ", ".join(
        f"{output} {np.median(found):.1%} (from {found.min():.1%} to {found.max():.1%})"
        for output, found in errors.items()
    )
    return f"{title}: medians of the test error after {passes} passes, with ranges: {said}."


def _alike(table: Table) -> str:
    # Both have rows of the same cases and passes, in the same order.
    averaged, voted = (table.where(output=output)["error"] for output in ("averaged", "voted"))
    apart = 100 * float(np.max(np.abs(averaged - voted)))
    return f" The largest difference between averaged and voted is {apart:.1f} percentage points."


EXPERIMENT = Experiment(
    name="outputs",
    title="Last, averaged and voted",
    question="Which of the many hyperplanes of a run should predict: the last one, their mean, or "
    "their vote?",
    setup=f"Planted: {SPLIT[0]:,} points in {COLUMNS} dimensions with margin {MARGIN}, and "
    f"{SPLIT[1]:,} more for the test, a tenth of all labels flipped. Digits: one half of "
    "scikit-learn's 1,797 digits, 8 × 8 grey values, for training, the other for the test. Every "
    "pass has a new order, the same one for all three.",
    theorem="D17 (Freund & Schapire): the voted score of x is Σ c_k·sign(w_k·x) over all "
    "intermediate w_k, c_k being the number of examples that w_k survived; the averaged one drops "
    "the sign. On data that no hyperplane separates, the last w is one of many that never settle, "
    "and F8 bounds only how often it errs on the way.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    size=(7.2, 3.8),
)
