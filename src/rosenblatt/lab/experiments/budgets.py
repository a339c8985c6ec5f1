"""Kernel perceptrons that store at most B examples, on streams whose target rests or turns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from rosenblatt.kernel.functions import Gaussian
from rosenblatt.lab.drawing import band, mark, mark_round
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.style import BLACK, BLUE, GREEN, ORANGE
from rosenblatt.learners.kernel_perceptron import KernelPerceptron

COLUMNS, WIDTH, TURN = 5, 1.0, 20_000
TARGETS = ("still", "turning")
FORGET = {"oldest": (BLUE, "o"), "random": (ORANGE, "s"), "project": (GREEN, "^")}
KERNEL = Gaussian(WIDTH)
PASSES = 1000


def cases(quick: bool) -> list[Case]:
    """Budgets and ways to keep them, and no budget, for both targets."""
    budgets = (16, 32, 64, 128) if quick else (16, 32, 64, 128, 256, 512, 1024)
    length, seeds = (6000, 1) if quick else (20_000, 3)
    ways = [("project", b) for b in budgets] + [("none", None)]
    ways += [(forget, b) for forget in ("oldest", "random") for b in budgets]
    return [
        {"target": target, "forget": forget, "budget": budget, "examples": length, "seed": seed}
        for forget, budget in ways
        for target in TARGETS
        for seed in range(seeds)
    ]


def stream(target: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Give examples in their order: the exclusive or of the first two columns, which may turn."""
    random = np.random.default_rng(seed)
    signs = random.choice([-1, 1], (n, COLUMNS))
    X = random.uniform(0.1, 1, (n, COLUMNS)) * signs
    angle = 2 * np.pi * np.arange(n) / TURN * (target == "turning")
    x, z = X[:, 0].copy(), X[:, 1].copy()
    X[:, 0] = np.cos(angle) * x - np.sin(angle) * z
    X[:, 1] = np.sin(angle) * x + np.cos(angle) * z
    return X, signs[:, 0] * signs[:, 1]


def measure(target: str, forget: str, budget: int | None, examples: int, seed: int) -> Row:
    """Present a stream; rate and time are those of its second half."""
    X, y = stream(target, examples, seed)
    half = examples // 2
    options: dict[str, Any] = {"fit_intercept": False, "random_state": seed}
    if budget is not None:
        options |= {"budget": budget, "forget": forget}
    learner = KernelPerceptron(KERNEL, **options).partial_fit(X[:half], y[:half])
    early, begin = learner.run_.mistakes, time.process_time()
    learner.partial_fit(X[half:], y[half:])
    seconds = time.process_time() - begin
    row = {
        "mistakes": learner.run_.mistakes,
        "late_rate": (learner.run_.mistakes - early) / (examples - half),
        "seconds_each": seconds / (examples - half),
        "stored": learner.support_.size,
        "room": budget,
    }
    if budget is None and target == "still":
        row["bound"] = learner.bound(X, y, separator(X, y)).value
    return row


def separator(X: np.ndarray, y: np.ndarray) -> KernelPerceptron:
    """Find a comparator: one that goes through the stream until it makes no mistake."""
    return KernelPerceptron(KERNEL, fit_intercept=False, max_iter=PASSES).fit(X, y)


def draw(figure: Any, table: Table) -> None:
    """Draw the rate of mistakes for both targets, and the time, against the budget."""
    still, turning, clock = figure.subplots(1, 3)
    turning.sharey(still)
    draw_lines(still, table.where(target="still"), "late_rate", 100)
    draw_lines(turning, table.where(target="turning"), "late_rate", 100)
    draw_lines(clock, table.where(target="turning"), "seconds_each", 1e6)
    still.set_title("mistakes, still target", fontsize=10)
    turning.set_title("mistakes, turning target", fontsize=10)
    clock.set_title("time, turning target", fontsize=10)
    still.set_ylabel("mistakes, % of the second half")
    clock.set_ylabel("processor time, µs an example")
    figure.legend(*still.get_legend_handles_labels(), loc="outside upper center", ncols=4)


def draw_lines(axes: Any, part: Table, column: str, scale: float) -> None:
    """Draw a line for each way to forget, and one for no budget."""
    scaled = Table({**row, column: scale * row[column]} for row in part.rows)
    axes.set(xscale="log", yscale="log")
    free = scaled.where(forget="none")[column]
    if free.size:
        axes.axhline(np.median(free), color=BLACK, linestyle=":", linewidth=1.6, label="no budget")
    for forget, (color, marker) in FORGET.items():
        band(axes, scaled.where(forget=forget), "budget", column, forget, color, marker)
    axes.set_xlabel("B, most examples stored")
    mark(axes.xaxis, part.values("budget"), 4)
    mark_round(axes.yaxis)


def seen(table: Table) -> str:
    """Compare the best budget with no budget, for each target, and the times."""
    sentences = []
    for target in TARGETS:
        part = table.where(target=target)
        free = part.where(forget="none")
        if len(free):
            sentences.append(
                f"On the {target} target, a learner without a budget made "
                f"{np.median(free['late_rate']):.1%} mistakes in the second half of the stream and "
                f"ended with {np.median(free['stored']):,.0f} stored examples (medians)."
            )
        sentences.append(best(part))
    return " ".join([*sentences, *clocked(table.where(target="turning"))])


def best(part: Table) -> str:
    """Name the budgets with the fewest mistakes, among those that made the learner forget."""
    full = {way for way, rows in by_way(part) if (rows["stored"] == rows["budget"]).all()}
    rates = {way: rate for way, rate in medians(part, "late_rate").items() if way in full}
    if not rates:
        return "No budget was used up in every run."
    least = min(rates.values())
    ways = [f"B = {budget:,} ({forget})" for (forget, budget), r in rates.items() if r == least]
    return f"Of the budgets used up in every run, {' and '.join(ways)} made fewest: {least:.1%}."


def clocked(part: Table) -> list[str]:
    """Compare the times with and without a budget."""
    times, free = medians(part, "seconds_each").values(), part.where(forget="none")["seconds_each"]
    if not times or not free.size:
        return []
    return [
        f"An example of that target took between {1e6 * min(times):.1f} and "
        f"{1e6 * max(times):.1f} µs with a budget, and {1e6 * np.median(free):.1f} µs without one "
        "(medians)."
    ]


def medians(part: Table, column: str) -> dict[tuple[str, int], float]:
    """Give the median of a column for each budget and way to keep it."""
    return {way: float(np.median(rows[column])) for way, rows in by_way(part)}


def by_way(part: Table) -> Iterator[tuple[tuple[str, int], Table]]:
    """Give the rows of each way to forget and each budget."""
    for forget, group in part.groups("forget"):
        for budget, rows in group.groups("budget"):
            yield (forget, budget), rows


EXPERIMENT = Experiment(
    name="budgets",
    title="Budgets for streams",
    question="What does it cost to forget, and what does it cost to remember?",
    setup=f"A stream of points with {COLUMNS} columns, whose class is the exclusive or of the "
    f"first two; these either keep their meaning or turn, once around in {TURN:,} examples. Kernel "
    f"perceptrons with the kernel exp(−{WIDTH:g}·‖x − z‖²) see each example once. They store all "
    "mistakes, or at most B: a new one replaces the oldest or a random one, or is projected on the "
    "span of those stored.",
    theorem="F13: without a budget, M ≤ R²/γ² on a target that rests, γ being the margin in "
    "feature space. A budget gives that up, and keeps time and memory flat.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"), ("stored", "room")),
    size=(7.2, 3.6),
)
