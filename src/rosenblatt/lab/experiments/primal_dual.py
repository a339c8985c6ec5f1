"""What a run costs in primal and in dual form, as rows and columns change."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from rosenblatt.kernel.functions import Linear
from rosenblatt.lab.counting import seconds_of
from rosenblatt.lab.drawing import band, mark
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.style import BOUND, COLOURS, MARKERS
from rosenblatt.learners.kernel_perceptron import KernelPerceptron
from rosenblatt.learners.perceptron import Perceptron

HIDDEN, LARGEST = 8, 64


def cases(quick: bool) -> list[Case]:
    """Rows against columns, each with several seeds."""
    rows = (16, 64, 256) if quick else (16, 32, 64, 128, 256, 512, 1024)
    columns, seeds = ((8, 128, 4096), 2) if quick else ((8, 64, 512, 4096), 3)
    return [
        {"n": n, "d": d, "time_at_least": 0.004 if quick else 0.1, "seed": seed}
        for d in columns
        for n in rows
        for seed in range(seeds)
    ]


def planted(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make rows of whole numbers that differ by class in one hidden column only: ±1.

    The others are noise up to ±64. Each hidden column is repeated d/8 times, which multiplies all
    products of rows by d/8: the mistakes do not depend on d.
    """
    y = np.where(np.arange(n) % 2, -1, 1)
    hidden = np.random.default_rng(seed).integers(-LARGEST, LARGEST + 1, (n, HIDDEN)).astype(float)
    hidden[:, 0] = y
    return np.tile(hidden, d // HIDDEN), y, np.tile(np.eye(HIDDEN)[0], d // HIDDEN)


def measure(n: int, d: int, time_at_least: float, seed: int) -> Row:
    """Run both forms to convergence in the same order."""
    X, y, w = planted(n, d, seed)
    primal = Perceptron(fit_intercept=False, max_iter=None)
    dual = KernelPerceptron(Linear(), fit_intercept=False, max_iter=None)
    seconds = [seconds_of(partial(form.fit, X, y), time_at_least) for form in (primal, dual)]
    run = primal.run_
    work = run.operations.multiply_adds, n * n * d + n * run.mistakes
    return {
        "mistakes": run.mistakes,
        "dual_mistakes": dual.run_.mistakes,
        "passes": run.passes,
        "dual_passes": dual.run_.passes,
        "bound": primal.bound(X, y, w).value,
        "primal_multiply_adds": work[0],
        "dual_multiply_adds": work[1],
        "primal_seconds": seconds[0],
        "dual_seconds": seconds[1],
        "ratio_of_multiply_adds": work[1] / work[0],
        "ratio_of_seconds": seconds[1] / seconds[0],
    }


MEASURES = {"ratio_of_multiply_adds": "multiply-adds", "ratio_of_seconds": "processor time"}


def draw(figure: Any, table: Table) -> None:
    """Draw the cost of the dual form over that of the primal one against n, a line for each d."""
    for axes, (column, title) in zip(
        figure.subplots(1, 2, sharey=True), MEASURES.items(), strict=True
    ):
        axes.set(xscale="log", yscale="log")
        axes.axhline(1, **BOUND)
        for k, (d, part) in enumerate(table.groups("d")):
            band(axes, part, "n", column, f"{d:,}", COLOURS[k], MARKERS[k])
        axes.set(title=title, xlabel="n, rows")
        mark(axes.xaxis, table.values("n"))
        axes.legend(title="d, columns", loc="upper left")
        axes.text(
            0.97, 0.03, "below 1 the dual form is cheaper", transform=axes.transAxes, ha="right"
        )
    figure.axes[0].set_ylabel("cost of the dual form / cost of the primal form")


def seen(table: Table) -> str:
    """Tell where the forms cost the same, and that they make the same mistakes."""
    same = int((table["mistakes"] == table["dual_mistakes"]).sum())
    sentences = [f"Both forms made the same number of mistakes in {same} of {len(table)} runs."]
    for column, title in MEASURES.items():
        found = "; ".join(f"d = {d:,}: {verdict(p, column)}" for d, p in table.groups("d"))
        sentences.append(f"The cheaper form in {title}, by the medians: {found}.")
    most = table.rows[int(np.argmax(table["passes"]))]
    sentences.append(
        f"The dual form pays where passes outnumber rows, as {most['passes']:,} passes over "
        f"{most['n']:,} rows do: once the Gram matrix is there, scores are free, and a mistake "
        "costs n instead of d."
        if most["passes"] > most["n"]
        else "The dual form pays where passes outnumber rows, which they did in none of these runs."
    )
    return " ".join(sentences)


def verdict(part: Table, column: str) -> str:
    """Say which form is cheaper at which n, for one d."""
    n, _, ratio, _ = part.spread("n", column)
    if (ratio < 1).all() or (ratio >= 1).all():
        return f"{'dual' if ratio[0] < 1 else 'primal'} throughout"
    steps = pairwise(zip(np.log(n), np.log(ratio), strict=True))
    turns = [a + (b - a) * u / (u - v) for (a, u), (b, v) in steps if (u < 0) != (v < 0)]
    places = " and ".join(f"n = {np.exp(turn):.0f}" for turn in turns)
    return f"{'dual' if ratio[0] < 1 else 'primal'} at first, changing near {places}"


EXPERIMENT = Experiment(
    name="primal-dual",
    title="Primal against dual form",
    question="When is it cheaper to keep counts of mistakes than a weight vector?",
    setup=f"Rows of whole numbers in {HIDDEN} hidden columns: one is the class, ±1, the "
    f"others are noise up to ±{LARGEST}, so that many passes are needed. Each is repeated "
    f"d/{HIDDEN} times, which changes the cost of a product but no mistake. Both forms cycle until "
    "they converge. A score and an update cost the primal form d multiply-adds each. The dual form "
    "multiplies out the Gram matrix, n²·d, and then adds a column of it at each mistake, n.",
    theorem="F11: in the same order, primal and dual runs make the same mistakes, and the counts "
    "add up to M. By F5, M ≤ (R/γ)².",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(
        ("mistakes", "bound"),
        ("mistakes", "dual_mistakes"),
        ("dual_mistakes", "mistakes"),
        ("passes", "dual_passes"),
        ("dual_passes", "passes"),
    ),
    size=(7.2, 4.0),
)
