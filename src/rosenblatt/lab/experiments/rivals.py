"""The perceptron against a linear program and a support vector machine, in time and margin."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

from rosenblatt.bounds.mistakes import mistake_bound
from rosenblatt.decide.widest.margins import max_margin
from rosenblatt.lab.drawing import band
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, slope
from rosenblatt.lab.planted import make_slab
from rosenblatt.lab.style import BLUE, BOUND, GREEN, ORANGE
from rosenblatt.learners.hard_margin import HardMarginSVM
from rosenblatt.learners.perceptron import Perceptron

STYLES = {
    "perceptron": (BLUE, "o"),
    "linear program": (ORANGE, "s"),
    "hard-margin SVM": (GREEN, "^"),
}
COLUMNS, POINTS, MARGIN = 20, 1000, 0.05


def cases(quick: bool) -> list[Case]:
    """Let the points be more, and the margin smaller."""
    sizes = (100, 1000, 3000) if quick else (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
    margins = (0.1, 0.01, 0.003, 0.001) if quick else (0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4)
    varied = [("n", n, MARGIN) for n in sizes] + [("margin", POINTS, margin) for margin in margins]
    return [
        {"varied": what, "n": n, "margin": margin, "seed": seed}
        for what, n, margin in varied
        for seed in range(2 if quick else 5)
    ]


def measure(varied: str, n: int, margin: float, seed: int) -> list[Row]:
    """Let each find a hyperplane through the origin; measure processor time and margin."""
    _warm_up()
    X, y, _ = make_slab(n, COLUMNS, margin, seed)
    rows = []
    for method, find in RIVALS.items():
        began = time.process_time()
        w = find(X, y)
        seconds = time.process_time() - began
        rows.append(
            {
                "method": method,
                "seconds": seconds,
                "reached": mistake_bound(X, y, w, fit_intercept=False).margin,
            }
        )
    largest = max_margin(X, y, fit_intercept=False).upper
    return [{**row, "inverse_margin": 1 / margin, "largest": largest} for row in rows]


def _perceptron(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    learner = Perceptron(fit_intercept=False, max_iter=None).fit(X, y)
    return np.asarray(learner.coef_[0])


def _linear_program(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Find any w with y·(w·x) >= 1."""
    from scipy.optimize import linprog

    found = linprog(
        np.zeros(X.shape[1]), -y[:, None] * X, -np.ones(y.size), bounds=(None, None), method="highs"
    )
    if found.x is None:
        raise ArithmeticError(f"the linear program ended without a point: {found.message}")
    return np.asarray(found.x)


def _hard_margin(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(HardMarginSVM(intercept="none").fit(X, y).coef_[0])


RIVALS = dict(zip(STYLES, (_perceptron, _linear_program, _hard_margin), strict=True))


@cache
def _warm_up() -> None:
    """Compile and import before the clock runs."""
    X, y, _ = make_slab(50, COLUMNS, 0.1, 0)
    for find in RIVALS.values():
        find(X, y)


def draw(figure: Any, table: Table) -> None:
    """Draw time and margin against the number of points and against the margin."""
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    table = Table({**row, "share": row["reached"] / row["largest"]} for row in table.rows)
    _draw_column(panels[:, 0], table.where(varied="n"), "n")
    _draw_column(panels[:, 1], table.where(varied="margin"), "inverse_margin")
    panels[0, 0].legend(loc="upper left")
    panels[1, 0].legend(
        *([of[0]] for of in panels[1, 0].get_legend_handles_labels()), loc="lower left"
    )
    panels[0, 0].set(ylabel="processor time (s)", title=f"margin γ = {MARGIN}")
    panels[0, 0].set_ylim(top=10 * table["seconds"].max())  # room for the legend
    panels[0, 1].set_title(f"n = {POINTS:,} points")
    panels[1, 0].set(xlabel="points n", ylabel="margin reached / γ")
    panels[1, 1].set_xlabel("1/γ, the inverse of the margin")


def _draw_column(panels: Any, table: Table, by: str) -> None:
    panels[1].axhline(1, label="largest margin", zorder=1, **BOUND)
    for method, (color, marker) in STYLES.items():
        for axes, of in zip(panels, ("seconds", "share"), strict=True):
            band(axes, table.where(method=method), by, of, method, color, marker)
            axes.set(xscale="log", yscale="log")


def seen(table: Table) -> str:
    """Compare times at the ends, and the margins reached."""
    more, thinner = table.where(varied="n"), table.where(varied="margin")
    points, margin = max(more.values("n")), min(thinner.values("margin"))
    perceptron = thinner.where(method="perceptron")
    thin = Table(row for row in perceptron.rows if row["margin"] <= 0.01)
    s, error = slope(thin["inverse_margin"], thin["seconds"])
    return (
        f"Medians of processor time for {points:,} points: {_times(more.where(n=points))}. For a "
        f"margin of {margin:g}: {_times(thinner.where(margin=margin))}. From γ = 0.01 down, the "
        f"perceptron's time grows as (1/γ)^{s:.2f} (± {error:.2f}). {_shares(table)}"
    )


def _times(table: Table) -> str:
    middle = {method: np.median(table.where(method=method)["seconds"]) for method in STYLES}
    return ", ".join(f"{method} {1000 * seconds:,.1f} ms" for method, seconds in middle.items())


def _shares(table: Table) -> str:
    parts = {method: table.where(method=method) for method in STYLES}
    shares = {method: part["reached"] / part["largest"] for method, part in parts.items()}
    said = ", ".join(
        f"the {method} {np.median(found):.1%} (at worst {found.min():.2%})"
        for method, found in shares.items()
    )
    return f"Medians of the margin reached, as a share of the largest: {said}."


EXPERIMENT = Experiment(
    name="rivals",
    title="Against a linear program and an SVM",
    question="When is the perceptron the right tool to find a hyperplane, and what does it give "
    "up?",
    setup=f"Points in the unit ball of {COLUMNS} dimensions, all between γ and 2γ away from a "
    "known hyperplane through the origin. Each rival finds a w with y·(w·x) > 0 for all of them: "
    "the perceptron (stored order), a linear program (scipy's HiGHS: any w with y·(w·x) ≥ 1), the "
    "hard-margin SVM, which also proves its margin. Processor time of one call, after a warm-up. "
    "The largest margin is the upper end that max_margin proves; the margin reached is rounded "
    "down.",
    theorem="D10: γ(w) = min y·(w·x)/‖w‖ is at most the largest margin for every w; the SVM "
    "attains it. F5: the perceptron makes at most (R/γ)² mistakes, so its time may grow as 1/γ².",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("reached", "largest"),),
    size=(7.2, 5.4),
)
