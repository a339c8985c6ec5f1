"""Mistakes and errors against the number of classes, beside two groups of the same rows."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.kernel.functions import Linear
from rosenblatt.lab.drawing import band, bound_line, mark
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, slope
from rosenblatt.lab.style import BLUE, ORANGE
from rosenblatt.learners.kernel_perceptron import KernelPerceptron

COLUMNS, LEAD = 40, 0.1
TESTED = 2000
PASSES = 300
ROUNDED = 1 + 1e-9  # more than the few sums of a bound err by
LABELS = {"classes": ("k classes", BLUE, "o"), "groups": ("two groups of them", ORANGE, "s")}


class Split(NamedTuple):
    """Rows to learn, rows to test, and what is known beforehand: W*, a row for each class."""

    X: np.ndarray
    y: np.ndarray
    fresh: np.ndarray
    truth: np.ndarray
    planted: np.ndarray | None


def cases(quick: bool) -> list[Case]:
    """Numbers of classes, for planted data and for digits."""
    rows, planted, seeds = (400, (2, 8, 32), 2) if quick else (1000, (2, 4, 8, 16, 32), 10)
    digits, splits = ((2, 6, 10), 1) if quick else (tuple(range(2, 11)), 5)
    return [
        {"data": data, "k": k, "labels": labels, "n": n, "seed": seed}
        for data, ks, n, number in (
            ("planted", planted, rows, seeds),
            ("digits", digits, None, splits),
        )
        for k in ks
        for labels in LABELS
        for seed in range(number)
    ]


def planted_rows(n: int, k: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Give rows whose class is the largest of k columns, by a lead of at least LEAD.

    Column 0 has the sign of the group, the first or the second half of the classes, and at least
    LEAD/√2: then both problems have the same bound for k = 2.
    """
    X = random.standard_normal((n, COLUMNS)) / np.sqrt(COLUMNS)
    y = X[:, 1 : k + 1].argmax(axis=1)
    X[np.arange(n), 1 + y] += LEAD
    X[:, 0] = np.where(y < k // 2, -1, 1) * (np.abs(X[:, 0]) + LEAD / np.sqrt(2))
    return X, y


def planted_problem(k: int, labels: str, n: int, seed: int) -> Split:
    """Plant discriminators for the classes, or a hyperplane for the groups."""
    X, y = planted_rows(n, k, np.random.default_rng([seed, 0]))
    fresh, truth = planted_rows(TESTED, k, np.random.default_rng([seed, 1]))
    if labels == "groups":
        sides = np.outer([-1, 1], np.eye(COLUMNS)[0])
        return Split(X, (y >= k // 2) * 1, fresh, (truth >= k // 2) * 1, sides)
    discriminators = np.zeros((k, COLUMNS))
    discriminators[:, 1 : k + 1] = np.eye(k) - 1 / k
    return Split(X, y, fresh, truth, discriminators)


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Give scikit-learn's images of 8 × 8 pixels, between 0 and 1."""
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def digits_problem(k: int, labels: str, seed: int) -> Split:
    """Split the images of the first k digits into halves; the groups are even and odd digits."""
    X, y = digits()
    order = np.random.default_rng(seed).permutation(np.flatnonzero(y < k))
    learned, tested = order[: order.size // 2], order[order.size // 2 :]
    names = y if labels == "classes" else y % 2
    return Split(X[learned], names[learned], X[tested], names[tested], None)


def measure(data: str, k: int, labels: str, n: int | None, seed: int) -> Row:
    """Learn the classes, or the groups, until no mistake is left or the passes are used up."""
    if data == "planted" and n is not None:
        problem = planted_problem(k, labels, n, seed)
    else:
        problem = digits_problem(k, labels, seed)
    lifted = problem.planted is None
    learner = KernelPerceptron(Linear(), fit_intercept=lifted, max_iter=PASSES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(problem.X, problem.y)
    run = learner.run_
    row = {
        "rows": problem.y.size,
        "mistakes": run.mistakes,
        "mistakes_first_pass": run.mistakes_per_pass[0],
        "passes": run.passes,
        "converged": run.converged,
        "test_error": float((learner.predict(problem.fresh) != problem.truth).mean()),
    }
    if problem.planted is not None:
        row["bound"] = bound(problem.X, problem.y, problem.planted)
    elif run.converged:
        row["bound"] = learner.bound(problem.X, problem.y).value
    return row


def bound(X: np.ndarray, y: np.ndarray, W: np.ndarray) -> float:
    """Give 2R²/γ² (F15) for discriminators W, which need not have norm 1."""
    scores = X @ W.T
    own = scores[np.arange(y.size), y]
    scores[np.arange(y.size), y] = -np.inf
    margin = (own - scores.max(axis=1)).min() / np.linalg.norm(W)
    return float(2 * (X**2).sum(axis=1).max() / margin**2 * ROUNDED)


def draw(figure: Any, table: Table) -> None:
    """Draw mistakes and errors against k, for planted data and for digits."""
    grid = figure.subplots(2, 3)
    for row, data in zip(grid, ("planted", "digits"), strict=True):
        part = table.where(data=data)
        row[1].sharey(row[0])
        for axes, labels in zip(row, LABELS, strict=False):
            draw_mistakes(axes, part.where(labels=labels), labels, data)
        draw_errors(row[2], part)
        row[0].set_ylabel("mistakes")
        row[1].tick_params(labelleft=False)
        row[2].set_title(f"{data}: errors", fontsize=10)
        for axes in row:
            if data == "planted":
                axes.set_xscale("log")
            mark(axes.xaxis, part.values("k"), 5)
            axes.set_xlabel("k, classes")
    bounded = grid[0, 0].get_lines()[:1]
    named = grid[0, 2].get_lines()
    words = ["bound", *(name for name, _, _ in LABELS.values())]
    figure.legend([*bounded, *named], words, loc="outside upper center", ncols=3)


def draw_mistakes(axes: Any, part: Table, labels: str, data: str) -> None:
    """Draw the mistakes until the end of the run, each kind in a panel with its own bound."""
    name, color, marker = LABELS[labels]
    axes.set_yscale("log")
    if data == "planted":
        bound_line(axes, part, "k", "bound", "bound")
    band(axes, part, "k", "mistakes", name, color, marker)
    axes.set_title(f"{data}: {name}", fontsize=10)


def draw_errors(axes: Any, part: Table) -> None:
    """Draw the share of errors on rows that were not learned."""
    percent = Table({**row, "test_error": 100 * row["test_error"]} for row in part.rows)
    for labels, (name, color, marker) in LABELS.items():
        band(axes, percent.where(labels=labels), "k", "test_error", name, color, marker)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("errors on other rows, %")


def seen(table: Table) -> str:
    """Compare k classes with two groups, by mistakes and errors at the largest k."""
    sentences = []
    planted = table.where(data="planted")
    learned = planted.where(labels="classes")
    if len(learned.values("k")) > 1:
        s, error = slope(learned["k"], learned["mistakes"])
        sentences.append(
            f"On planted data, mistakes on k classes grow as k^{s:.2f} (± {error:.2f}, fitted to "
            "all runs), their bound as k − 1."
        )
    parts = [planted.where(labels=labels) for labels in LABELS]
    if all(map(len, parts)):
        classes, groups = (part.share() for part in parts)
        sentences.append(
            f"There no run on k classes used more than {classes} of its bound, and none on two "
            f"groups more than {groups}."
        )
    for data in ("planted", "digits"):
        part = table.where(data=data)
        if len(part.values("labels")) == 2:
            sentences.append(compared(part, data))
    return " ".join(sentences)


def compared(part: Table, data: str) -> str:
    """Say what k classes and two groups cost at the largest k."""
    most = part.where(k=part.values("k")[-1])
    told = []
    for labels, (name, _, _) in LABELS.items():
        group = most.where(labels=labels)
        mistakes, error = np.median(group["mistakes"]), np.median(group["test_error"])
        ended = "" if group["converged"].all() else f", not converged in {PASSES} passes,"
        told.append(f"{name}: {mistakes:,.0f} mistakes{ended} and {error:.1%} errors")
    return f"At k = {most.rows[0]['k']} ({data}, medians), {'; '.join(told)}."


EXPERIMENT = Experiment(
    name="classes",
    title="Many classes",
    question="What do more classes cost, and are two groups of them easier to learn?",
    setup=f"Planted rows of {COLUMNS} columns belong to the class whose column is largest, by a "
    f"lead of at least {LEAD}; a further column separates the first half of the classes from the "
    "second. The digits are scikit-learn's, the first k of them, half of the images to learn "
    "from and half to test; their groups are even and odd digits. Both problems on the same rows "
    "are learned by the perceptron in dual form with a linear kernel, which makes the mistakes of "
    f"the primal form (F11), until it converges or has made {PASSES} passes.",
    theorem="F15: if ‖W*‖ = 1 and w*_y·x − w*_r·x ≥ γ for every example and every wrong class r, "
    "then M ≤ 2R²/γ². The planted W* has γ = lead/√(k − 1), so that the bound grows as k − 1; for "
    "two groups it is F5.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(("mistakes", "bound"),),
    size=(7.2, 5.8),
)
