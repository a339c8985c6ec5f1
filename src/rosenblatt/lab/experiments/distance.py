"""The angle between the separator that was found and the one that was planted."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.synthetic import make_separable
from rosenblatt.decide.widest.margins import max_margin
from rosenblatt.lab.drawing import band, bound_line, mark, signed
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, slope
from rosenblatt.lab.style import BLUE, GREEN, ORANGE
from rosenblatt.learners.perceptron import Perceptron

POINTS, COLUMNS, MARGIN = 1024, 10, 1 / 64
ROUNDING = 1e-9  # degrees: far more than arccos and the angles err by
FOUND = {
    "angle_last": ("last weights", BLUE, "o"),
    "angle_averaged": ("averaged weights", ORANGE, "s"),
    "angle_widest": ("largest margin", GREEN, "^"),
}


def cases(quick: bool) -> list[Case]:
    """Vary n at one margin, and the margin at one n."""
    sizes, powers, seeds = (range(6, 11, 2), range(2, 7, 2), 3)
    if not quick:
        sizes, powers, seeds = range(4, 17), range(1, 10), 10
    pairs = [(2**k, MARGIN) for k in sizes]
    pairs += [(POINTS, 2.0**-k) for k in powers if 2.0**-k != MARGIN]
    return [{"n": n, "margin": margin, "seed": k} for n, margin in pairs for k in range(seeds)]


def measure(n: int, margin: float, seed: int) -> Row:
    """Find separators in three ways; compare each with the planted one."""
    X, y, w = planted(n, margin, seed)
    last = Perceptron(fit_intercept=False, max_iter=None).fit(X, y)
    averaged = Perceptron(fit_intercept=False, max_iter=None, output="averaged").fit(X, y)
    widest = max_margin(X, y, fit_intercept=False).coef
    assert widest is not None  # the problem was planted
    bound, mistakes = last.bound(X, y, w), last.run_.mistakes
    least_cosine = min(1.0, np.sqrt(mistakes) * bound.margin / bound.radius)
    return {
        "inverse_margin": 1 / margin,
        "mistakes": mistakes,
        "angle_last": angle(last.coef_, w),
        "angle_averaged": angle(averaged.coef_, w),
        "angle_widest": angle(widest, w),
        "angle_bound": float(np.degrees(np.arccos(least_cosine))) + ROUNDING,
    }


def planted(n: int, margin: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make a planted problem without the two rows ±γ·w*, which would give w* away."""
    X, y, w = make_separable(n + 2, COLUMNS, margin=margin, seed=seed)
    keep = np.sort(np.argsort(np.linalg.norm(X, axis=1))[2:])  # all others have norm 1
    return X[keep], y[keep], w


def angle(found: np.ndarray, w: np.ndarray) -> float:
    """Give the angle between a vector and a unit vector in degrees, accurate for small ones."""
    v = np.ravel(found) / np.linalg.norm(found)
    return float(np.degrees(2 * np.arctan2(np.linalg.norm(v - w), np.linalg.norm(v + w))))


def draw(figure: Any, table: Table) -> None:
    """Draw the angles against n and against the margin."""
    left, right = figure.subplots(1, 2, sharey=True)
    _angles(left, table.where(margin=MARGIN), "n")
    _angles(right, table.where(n=POINTS), "inverse_margin")
    left.set(
        xlabel="n, the number of examples",
        ylabel="angle to the planted w* (degrees)",
        title=f"γ = 1/{1 / MARGIN:.0f}",
    )
    right.set(xlabel="1/γ, the inverse of the margin (R = 1)", title=f"n = {POINTS:,}")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)


def _angles(axes: Any, table: Table, by: str) -> None:
    axes.set(xscale="log", yscale="log")
    bound_line(axes, table, by, "angle_bound", "bound for the last")
    for column, (label, color, marker) in FOUND.items():
        band(axes, table, by, column, label, color, marker)
    mark(axes.xaxis, table.values(by), most=5)


def seen(table: Table) -> str:
    """Compare how fast the angles close."""
    at_margin = table.where(margin=MARGIN)
    most = max(table.values("n"))
    widest = at_margin.where(n=most)
    falls, ends = [], []
    for column, (label, *_) in FOUND.items():
        falls.append(f"n^{signed(slope(at_margin['n'], at_margin[column])[0])} ({label})")
        ends.append(f"{np.median(widest[column]):.2g}°")
    return (
        f"At γ = 1/{1 / MARGIN:.0f} the angle to w* goes as {', '.join(falls)}. With {most:,} "
        f"examples the medians are {', '.join(ends)}, in the same order. The proof of Theorem 1 "
        f"alone promises no more than {np.median(widest['angle_bound']):.0f}° there."
    )


EXPERIMENT = Experiment(
    name="distance",
    title="From the found separator to the known one",
    question="How close does what is found come to what was planted?",
    setup=f"n points of norm 1 in {COLUMNS} dimensions, at a distance of at least γ from a known "
    "hyperplane with normal w*. The perceptron stops at the first hyperplane that separates them; "
    "shown are its last weights, the mean of all weights it held, and the hyperplane with the "
    "largest margin. The two rows ±γ·w* that usually make the planted margin the largest are left "
    "out: they would hand w* to the third method.",
    theorem="F6: at the k-th mistake w·w* ≥ kγ and ‖w‖ ≤ √k·R. So after M mistakes the cosine of "
    "the angle between w and w* is at least √M·γ/R. D20, D17, D10.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("angle_last", "angle_bound"),),
)
