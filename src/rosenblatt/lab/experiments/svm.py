"""The soft margin against λ, beside the hard margin that it tends to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.lab.drawing import band
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.planted import make_noisy
from rosenblatt.lab.style import BLUE, BOUND, ORANGE
from rosenblatt.learners.hard_margin import HardMarginSVM
from rosenblatt.learners.soft_margin import SoftMarginSVM

TRAIN, TEST, COLUMNS, MARGIN = 200, 2000, 30, 0.05
FLIPPED = {"separable": 0.0, "noisy": 0.1}
STYLES = {"separable": (BLUE, "o"), "noisy": (ORANGE, "s")}
TOL = 1e-4
PANELS = {
    "margin": "margin 1/‖w‖",
    "hinge": "training hinge loss per row",
    "error": "test error (%)",
    "support": "support vectors",
}


def cases(quick: bool) -> list[Case]:
    """Separable and noisy data; λ from 0.001 to 100, several steps a decade."""
    steps, seeds = (1, 3) if quick else (4, 10)
    return [
        {"data": data, "steps": steps, "seed": seed} for data in FLIPPED for seed in range(seeds)
    ]


def measure(data: str, steps: int, seed: int) -> list[Row]:
    """Solve for every λ, and for the hard margin if there is one."""
    X, y, _ = make_noisy(TRAIN + TEST, COLUMNS, MARGIN, FLIPPED[data], seed)
    train, test = (X[:TRAIN], y[:TRAIN]), (X[TRAIN:], y[TRAIN:])
    hard = _hard(train, test) if data == "separable" else {}
    lams = [10.0 ** (k / steps) for k in range(-3 * steps, 2 * steps + 1)]
    models = SoftMarginSVM(tol=TOL, random_state=seed).path(*train, lams)
    return [{**_soft(model, train, test), **hard} for model in models]


def _soft(model: Any, train: Any, test: Any) -> Row:
    X, y = train
    return {
        "lam": model.lam_,
        "margin": 1 / float(np.linalg.norm(model.coef_)),
        "hinge": float(np.mean(np.maximum(0, 1 - y * model.decision_function(X)))),
        "error": 1 - model.score(*test),
        "support": model.support_.size,
        "gap": model.gap_,
        "tol": TOL,
    }


def _hard(train: Any, test: Any) -> Row:
    model = HardMarginSVM().fit(*train)
    lower, _ = model.margin_
    return {
        "hard_margin": lower,
        "hard_hinge": 0.0,
        "hard_error": 1 - model.score(*test),
        "hard_support": model.support_.size,
        # λ‖w‖² is at most the objective, and (1 - gap) times that at most λ/γ²
        "least_margin": lower * math.sqrt(1 - TOL),
    }


def draw(figure: Any, table: Table) -> None:
    """Draw four panels against λ, the data sets in each, and the hard margin as a line."""
    panels = figure.subplots(2, 2, sharex=True)
    for axes, (column, name) in zip(panels.flat, PANELS.items(), strict=True):
        factor = 100.0 if column == "error" else 1.0
        for data, (color, marker) in STYLES.items():
            part = Table({**r, column: factor * r[column]} for r in table.where(data=data).rows)
            band(axes, part, "lam", column, data, color, marker)
        hard = factor * np.median(table["hard_" + column])
        axes.axhline(hard, label="hard margin (separable)", **BOUND)
        axes.set(xscale="log", ylabel=name)
    panels[0, 0].set_yscale("log")
    panels[0, 0].legend(loc="upper left")
    for axes in panels[1]:
        axes.set_xlabel("λ")


def seen(table: Table) -> str:
    """Compare the ends of the range of λ, and tell where the test error is least."""
    separable, noisy = table.where(data="separable"), table.where(data="noisy")
    least = separable.where(lam=min(separable.values("lam")))
    apart = float(np.max(np.abs(least["margin"] / least["hard_margin"] - 1)))
    margins = separable.spread("lam", "margin")[2]
    return (
        f"With λ = {least['lam'][0]:g}, the largest difference of the margin on separable data "
        f"from the hard one is a share of {apart:.1e}; there are "
        f"{np.median(least['support']):.0f} support vectors against "
        f"{np.median(least['hard_support']):.0f} (medians). As λ grows to {max(table['lam']):g}, "
        f"the median margin on these data widens from {margins[0]:.3f} to {margins[-1]:.2f}, and "
        f"loss is accepted for it. {_best('separable', separable)} {_best('noisy', noisy)} The "
        f"largest duality gap is {table['gap'].max():.1e}, where {TOL:g} was asked for."
    )


def _best(data: str, table: Table) -> str:
    lams, _, errors, _ = table.spread("lam", "error")
    best = " and ".join(f"{lam:.2g}" for lam in lams[errors == errors.min()])
    return (
        f"The median test error on {data} data is least, {errors.min():.1%}, at λ = {best}; it is "
        f"{errors[0]:.1%} at the smallest λ and {errors[-1]:.1%} at the largest."
    )


EXPERIMENT = Experiment(
    name="svm",
    title="Hard and soft margin",
    question="What does λ trade, and what is left of it in the limit of the hard margin?",
    setup=f"{TRAIN} points in {COLUMNS} dimensions, separated by a known hyperplane with margin "
    f"{MARGIN}, and {TEST:,} more for the test; in the noisy data a tenth of all labels is "
    "flipped. The soft margin minimises the sum of hinge losses + λ‖w‖², the intercept free, to a "
    f"relative duality gap of {TOL:g}.",
    theorem="D19: as λ → 0, the soft margin on separable data tends to the hard one, min ‖w‖² "
    "subject to y·(w·x + b) ≥ 1. Its margin 1/‖w‖ is never below the hard one, γ: since that "
    "hyperplane has no loss, λ‖w‖² ≤ λ/γ² at the minimum, and ‖w‖² ≤ 1/((1 − gap)·γ²) near it.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("gap", "tol"), ("least_margin", "margin")),
    size=(7.2, 5.4),
)
