"""The two quantities of the proof of Theorem 1, during one run.

All rows and the planted vector u are of whole numbers, so that the run is exact. The unit vector of
the theorem is w* = u/‖u‖: w·w* is a whole number divided by ‖u‖, and so is kγ. Both are rounded
in the same way, which cannot turn <= into >.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.lab.animation import attach
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.style import BLUE, BOUND, GREY, ORANGE
from rosenblatt.learners.perceptron import Perceptron

POINTS, COLUMNS, REACH = 200, 8, 9
MOST_ROWS = 400


def cases(quick: bool) -> list[Case]:
    """Take one run: a short one, or one on a narrower gap."""
    return [{"gap": 12 if quick else 4, "seed": 0}]


def planted(gap: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make rows x and a vector u, all of whole numbers, with y·(u·x) >= gap."""
    random = np.random.default_rng(seed)
    u = random.permutation(np.arange(1, COLUMNS + 1)) * random.choice([-1, 1], COLUMNS)
    X = random.integers(-REACH, REACH + 1, (20 * POINTS, COLUMNS))
    X = X[np.abs(X @ u) >= gap][:POINTS]
    return X.astype(float), np.sign(X @ u), u


def measure(gap: int, seed: int) -> list[Row]:
    """Record both quantities at each mistake."""
    X, y, u = planted(gap, seed)
    learner = Perceptron(fit_intercept=False, max_iter=None).fit(X, y, comparator=u)
    history = learner.run_.history
    assert history is not None  # there was a comparator
    norm, squared_radius = float(np.sqrt(u @ u)), int((X * X).sum(axis=1).max())
    smallest = int((y * (X @ u)).min())
    whole = np.rint(history.projection * norm).astype(int)  # w·u, which rounding has blurred
    kept = np.unique(np.linspace(0, len(history.k) - 1, MOST_ROWS).round().astype(int))
    return [
        {
            "k": int(history.k[i]),
            "example": int(history.example[i]),
            "lower_projection": int(history.k[i]) * smallest / norm,
            "projection": int(whole[i]) / norm,
            "sqnorm": int(history.sqnorm[i]),
            "upper_sqnorm": int(history.k[i]) * squared_radius,
            "bound": squared_radius * int(u @ u) / smallest**2,
        }
        for i in kept
    ]


def draw(figure: Any, table: Table) -> None:
    """Draw each quantity beside its bound, and both between kγ and √k·R."""
    places = figure.add_gridspec(2, 2, height_ratios=[1, 1.35])
    _projection(figure.add_subplot(places[0, 0]), table)
    _square(figure.add_subplot(places[0, 1]), table)
    _squeeze(figure.add_subplot(places[1, :]), table)


def _projection(axes: Any, table: Table) -> None:
    axes.plot(table["k"], table["projection"], color=BLUE, label="w·w*")
    axes.plot(table["k"], table["lower_projection"], label="kγ", **BOUND)
    axes.set(title="w·w* stays above kγ", ylabel="w·w*", xlabel="mistake k")
    axes.legend(loc="upper left")


def _square(axes: Any, table: Table) -> None:
    axes.plot(table["k"], table["upper_sqnorm"], label="kR²", **BOUND)
    axes.plot(table["k"], table["sqnorm"], color=ORANGE, label="‖w‖²")
    axes.set(title="‖w‖² stays below kR²", ylabel="‖w‖²")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("mistake k")
    axes.legend(loc="upper left")


def _squeeze(axes: Any, table: Table) -> None:
    k, bound = table["k"], float(table["bound"][0])
    ends = np.array([1.0, 2 * bound])
    gamma, radius = table["lower_projection"][0] / k[0], np.sqrt(table["upper_sqnorm"][0] / k[0])
    axes.set(xscale="log", yscale="log")
    axes.plot(ends, radius * np.sqrt(ends), label="√k·R", **BOUND)
    axes.plot(k, np.sqrt(table["sqnorm"]), color=ORANGE, label="‖w‖")
    axes.plot(k, table["projection"], "-.", color=BLUE, label="w·w*")
    axes.plot(ends, gamma * ends, label="kγ", **{**BOUND, "linestyle": ":"})
    _limit(axes, bound, gamma, f"(R/γ)² = {bound:,.0f} ", "right")
    side = "left" if k[-1] ** 2 < bound else "right"  # where there is more room
    _limit(axes, k[-1], gamma, f" end of the run: {k[-1]:,} mistakes \n", side)
    axes.set(
        title="kγ ≤ w·w* ≤ ‖w‖ ≤ √k·R: no room is left after (R/γ)²",
        xlabel="mistake k",
        ylabel="length",
    )
    axes.legend(loc="upper left")


def _limit(axes: Any, k: float, height: float, text: str, side: str) -> None:
    axes.axvline(k, color=GREY, linewidth=1)
    axes.text(k, height, text, ha=side, va="bottom")


def seen(table: Table) -> str:
    """Compare both quantities with their bounds at the end."""
    last = table.rows[-1]
    cosine = last["projection"] / np.sqrt(last["sqnorm"])
    return (
        f"The run ended after {last['k']:,} mistakes, {last['k'] / last['bound']:.0%} of the "
        f"{last['bound']:,.0f} that the theorem allows. By then w·w* was "
        f"{last['projection'] / last['lower_projection']:.1f} times kγ, and ‖w‖² was "
        f"{last['sqnorm'] / last['upper_sqnorm']:.0%} of kR². w and w* were "
        f"{np.degrees(np.arccos(min(1.0, cosine))):.0f}° apart."
    )


def more(table: Table, folder: Path) -> str:
    """Animate a run in the plane, where w can be seen turning."""
    return (
        "<p>Another run, of points in the plane, mistake by mistake (also as "
        '<a href="proof/animation.html">a page</a> and as <a href="proof/animation.gif">GIF</a>):'
        f"</p>{attach(folder)}"
    )


EXPERIMENT = Experiment(
    name="proof",
    title="The proof, watched",
    question="What do the two quantities of the proof do during a run?",
    setup=f"{POINTS} points with whole coordinates between −{REACH} and {REACH} in {COLUMNS} "
    "dimensions, separated by a known hyperplane through the origin with unit normal w*. At each "
    "mistake of one run from zero, w·w* and ‖w‖² are recorded. All numbers are whole, or whole "
    "numbers divided by one and the same norm: nothing is blurred by rounding. Of more than "
    f"{MOST_ROWS} mistakes, that many are kept, evenly spaced.",
    theorem="F6: after the k-th mistake w·w* ≥ kγ, because each mistake adds at least γ, and "
    "‖w‖² ≤ kR², because a misclassified row does not point along w. As w·w* ≤ ‖w‖, it follows "
    "that kγ ≤ √k·R, and k ≤ (R/γ)² (F5).",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("lower_projection", "projection"), ("sqnorm", "upper_sqnorm"), ("k", "bound")),
    more=more,
    size=(7.2, 6.4),
)
