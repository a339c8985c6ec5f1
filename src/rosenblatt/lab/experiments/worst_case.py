"""Steps on the worst case of four points, by three perceptrons, beside the bound of each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.data.systems import solve
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, slope
from rosenblatt.lab.style import BLUE, BOUND, GREEN, ORANGE
from rosenblatt.learners.perceptron import Perceptron

STYLES = {"plain": (BLUE, "o"), "smoothed": (ORANGE, "s"), "rescaled": (GREEN, "^")}
REPEATS = 1000  # longer passes cost less each, and stored order stays what it was
SETTLED = 1000  # below, the start of the smoothed perceptron happens to be near a solution


def cases(quick: bool) -> list[Case]:
    """Let K grow as far as each method reaches: plain to 10⁴, smoothed to 10⁵, rescaled to 10¹⁵."""
    reach = {"plain": 1e3, "smoothed": 3e3} if quick else {"plain": 1e4, "smoothed": 1e5}
    powers = range(1, 16, 2 if quick else 1)
    steps = sorted({10.0, 100.0, 1e3, *(c * 10.0**p for p in powers for c in (1, 3))} - {3e15})
    return [
        {"method": method, "K": K}
        for method in reversed(STYLES)  # first what takes longest to compile
        for K in steps
        if reach.get(method, 1e15) >= K
    ]


def measure(method: str, K: float) -> Row:
    """Count updates until all four points are on their side."""
    X = np.array([[1.0, 1.0], [1.0, 0.0], [1 / K, 1.0], [0.0, 1.0]])
    y = np.array([1, 1, 1, -1])
    if method == "plain":
        return _plain(X, y, K)
    found = solve(X * y[:, None], method=method)
    bound = smoothed_bound(K) if method == "smoothed" else rescaled_bound(K)
    return {"verdict": found.verdict, "steps": found.steps, "bound": bound}


def _plain(X: np.ndarray, y: np.ndarray, K: float) -> Row:
    X, y = np.tile(X, (REPEATS, 1)), np.tile(y, REPEATS)
    learner = Perceptron(fit_intercept=False, max_iter=None).fit(X, y)
    verdict = "feasible" if learner.run_.converged else "undecided"
    # The widest margin is that of (2K, -1): the last two signed points are equally near to it.
    bound = learner.bound(X, y, [2 * K, -1.0]).value
    return {"verdict": verdict, "steps": learner.run_.updates, "bound": bound, "least": K}


def smoothed_bound(K: float) -> float:
    """Give 2·√(log n)/γ: the cone is the angle arctan(1/K), and γ the sine of its half."""
    return 2 * math.sqrt(math.log(4)) / math.sin(math.atan(1 / K) / 2)


def rescaled_bound(K: float) -> float:
    """Give 4·d·n² steps for each phase.

    A stretch enlarges the cone's share of the circle 16/11 times, and it ends at one half.
    """
    share = math.atan(1 / K) / (2 * math.pi)
    return (1 + math.log(0.5 / share) / math.log(16 / 11)) * 4 * 2 * 4**2


def draw(figure: Any, table: Table) -> None:
    """Draw all methods on logarithmic axes, and the rescaled one again, its steps as they are."""
    left, right = figure.subplots(1, 2, width_ratios=(1.7, 1))
    for method, (color, marker) in STYLES.items():
        part = table.where(method=method)
        left.plot(part["K"], part["bound"], **{**BOUND, "color": color})
        left.plot(part["K"], part["steps"], color=color, marker=marker, label=_label(method, part))
    left.plot([], [], label="proven bound of each", **BOUND)
    left.set(xscale="log", yscale="log", xlabel="K", ylabel="updates", title="Three perceptrons")
    left.legend(loc="upper right")
    _draw_rescaled(right, table.where(method="rescaled"))


def _draw_rescaled(axes: Any, table: Table) -> None:
    color, marker = STYLES["rescaled"]
    axes.plot(table["K"], table["steps"], color=color, marker=marker)
    axes.set(xscale="log", xlabel="K", ylabel="updates", title="The rescaled one")
    axes.set_ylim(bottom=0)


def _settled(table: Table, method: str) -> float:
    """Fit the slope where the method has settled."""
    rows = Table(row for row in table.where(method=method).rows if row["K"] >= SETTLED)
    return slope(rows["K"], rows["steps"])[0]


def _per_decade(table: Table) -> float:
    return float(np.polyfit(np.log10(table["K"]), table["steps"], 1)[0])


def _label(method: str, part: Table) -> str:
    if method == "rescaled":
        return f"rescaled: {_per_decade(part):+.0f} per factor 10"
    s = slope(part["K"], part["steps"])[0] if method == "plain" else _settled(part, method)
    return f"{method}: slope {s:.2f}" + (" (K ≥ 1000)" if method == "smoothed" else "")


def seen(table: Table) -> str:
    """Compare growth."""
    plain, rescaled = table.where(method="plain"), table.where(method="rescaled")
    s, error = slope(plain["K"], plain["steps"])
    times, largest = plain["steps"] / plain["K"] ** 2, plain["K"][-1]
    return (
        f"The plain perceptron needs updates that grow as K^{s:.2f} (± {error:.2f}): "
        f"{times[0]:.2f}·K² for K = {plain['K'][0]:,.0f}, {times[-1]:.2f}·K² for K = "
        f"{largest:,.0f}, which is {plain['steps'][-1]:,}. The smoothed one grows as "
        f"K^{_settled(table, 'smoothed'):.2f} from K = {SETTLED} on. The rescaled one adds "
        f"{_per_decade(rescaled):.0f} updates each time K is multiplied by 10, and has an answer "
        f"after {rescaled['steps'][-1]:,} for K = {rescaled['K'][-1]:.0e}. No run used more "
        f"than {table.share('steps')} of its bound."
    )


EXPERIMENT = Experiment(
    name="worst-case",
    title="The worst case, and past it",
    question="How long can four points keep a perceptron busy, and which methods get past them?",
    setup="Positives (1, 1), (1, 0), (1/K, 1) and the negative (0, 1). The plain perceptron "
    "starts at zero and cycles through them in this order; the smoothed and the rescaled one "
    "solve the same four inequalities, their rows scaled to length 1. An update of the smoothed "
    "one scores all points.",
    theorem="F10: from zero, every order makes more than K mistakes. F5: at most 8K² + 2, since "
    "the widest margin is 1/√(4K² + 1) and R² = 2. D13: the smoothed perceptron takes at most "
    "2·√(log n)/γ steps, the rescaled one 4·d·n² in each of at most 1 + "
    "log(π/arctan(1/K))/log(16/11) phases.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("steps", "bound"), ("least", "steps")),
    size=(7.2, 4.0),
)
