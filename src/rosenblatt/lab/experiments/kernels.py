"""Kernels and polynomial threshold functions on circles, stripes and the exclusive or."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.lab.experiment import Case, Experiment, Row, Table
from rosenblatt.lab.style import BLACK, BLUE, ORANGE

DEGREES = {"degree 1": 1, "degree 2": 2, "degree 3": 3}
WIDTH = 4.0
KERNELS: dict[str, rb.Polynomial | rb.Gaussian] = {
    name: rb.Polynomial(degree, 1.0) for name, degree in DEGREES.items()
}
KERNELS["Gaussian"] = rb.Gaussian(WIDTH)
TITLES = {"degree 1": "1 + x·z", "degree 2": "(1 + x·z)²", "degree 3": "(1 + x·z)³"}
TITLES["Gaussian"] = f"exp(−{WIDTH:g}‖x − z‖²)"
PASSES, TESTED = 100, 1000
ROUNDED = 1 + 1e-9  # more than the few sums of a bound err by
PIXELS = 120
HOLLOW = {"markerfacecolor": "none", "alpha": 0.45, "rasterized": True}

Points = tuple[np.ndarray, np.ndarray]


def circles(n: int, random: np.random.Generator) -> Points:
    """Give points of a disc of radius 0.45, and of the ring from 0.65 to 1 around it."""
    y = random.choice([-1, 1], n)
    radius = np.where(y > 0, random.uniform(0, 0.45, n), random.uniform(0.65, 1, n))
    angle = random.uniform(0, 2 * np.pi, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def stripes(n: int, random: np.random.Generator) -> Points:
    """Give points of four upright stripes, 0.16 apart, of alternating classes."""
    stripe = random.integers(0, 4, n)
    across = -1 + 0.5 * stripe + random.uniform(0.08, 0.42, n)
    return np.column_stack([across, random.uniform(-1, 1, n)]), np.where(stripe % 2, 1, -1)


def exclusive_or(n: int, random: np.random.Generator) -> Points:
    """Give points of four squares, 0.2 apart; the class is the product of their signs."""
    signs = random.choice([-1, 1], (n, 2))
    return random.uniform(0.1, 1, (n, 2)) * signs, signs.prod(axis=1)


SHAPES: dict[str, Callable[[int, np.random.Generator], Points]] = {
    "circles": circles,
    "stripes": stripes,
    "XOR": exclusive_or,
}
SUBJECTS = {
    "circles": "The circles were",
    "stripes": "The stripes were",
    "XOR": "The exclusive or was",
}


def cases(quick: bool) -> list[Case]:
    """Every kernel on every shape, with several seeds."""
    n, seeds = (150, 2) if quick else (200, 20)
    return [
        {"data": data, "kernel": kernel, "n": n, "seed": seed}
        for kernel in KERNELS
        for data in SHAPES
        for seed in range(seeds)
    ]


def learned(learner: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Fit; that a limit ended the run is told by `run_`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(X, y)


def kernel_run(data: str, kernel: str, n: int, seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Learn a shape in kernel form."""
    X, y = SHAPES[data](n, np.random.default_rng([seed, 0]))
    learner = rb.KernelPerceptron(KERNELS[kernel], fit_intercept=False, max_iter=PASSES)
    return learned(learner, X, y), X, y


def measure(data: str, kernel: str, n: int, seed: int) -> Row:
    """Learn a shape by a kernel and, if there is one, by its explicit map."""
    learner, X, y = kernel_run(data, kernel, n, seed)
    run = learner.run_
    fresh, truth = SHAPES[data](TESTED, np.random.default_rng([seed, 1]))
    row: Row = {
        "mistakes": run.mistakes,
        "passes": run.passes,
        "converged": run.converged,
        "errors": int((learner.predict(X) != y).sum()),
        "test_error": float((learner.predict(fresh) != truth).mean()),
        "stored": learner.support_.size,
    }
    if kernel in DEGREES:
        Z = rb.PolynomialFeatures(DEGREES[kernel], 1.0).fit_transform(X)
        explicit = learned(rb.Perceptron(fit_intercept=False, max_iter=PASSES), Z, y)
        row |= {"features": Z.shape[1], "explicit_mistakes": explicit.run_.mistakes}
    if run.converged:
        row["bound"] = bound(KERNELS[kernel], X, y)
    return row


def bound(kernel: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Give R²·‖w*‖² (F13) for w* = Σ a_i y_i φ(x_i), a the cheapest counts: y·⟨w*, φ(x)⟩ ≥ 1."""
    counts = rb.cheapest_counts(X, y, kernel=kernel).counts
    values = kernel(X, X)
    products = y * (values @ (counts * y))
    square = np.diag(values).max() * (counts @ products) / products.min() ** 2
    return float(square * ROUNDED)


def draw(figure: Any, table: Table) -> None:
    """Draw what each kernel learned of each shape, for the first seed."""
    seeds, n = table.values("seed"), table.values("n")[0]
    grid = figure.subplots(len(SHAPES), len(KERNELS), sharex=True, sharey=True)
    for axes_of_shape, data in zip(grid, SHAPES, strict=True):
        for axes, kernel in zip(axes_of_shape, KERNELS, strict=True):
            learner, X, y = kernel_run(data, kernel, n, seeds[0])
            draw_regions(axes, learner, X, y)
            axes.set_xlabel(outcome(learner, X, y), fontsize=9)
        axes_of_shape[0].set_ylabel(data)
    for axes, title in zip(grid[0], TITLES.values(), strict=True):
        axes.set_title(title, fontsize=10)
    figure.supxlabel(
        f"the first of {len(seeds)} problems of each shape; filled: misclassified at some time, "
        "and stored; hollow: never misclassified",
        fontsize=9,
    )


def draw_regions(axes: Any, learner: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the regions of a learner, as an image, and the examples, the stored ones filled."""
    side = np.linspace(-1.08, 1.08, PIXELS)
    plane = np.column_stack([part.ravel() for part in np.meshgrid(side, side)])
    scores = learner.decision_function(plane).reshape(PIXELS, PIXELS)
    shades = np.where(scores[..., None] > 0, (0.80, 0.89, 0.95), (0.98, 0.88, 0.80))
    corners = (side[0], side[-1], side[0], side[-1])
    axes.imshow(shades, origin="lower", extent=corners, interpolation="nearest")
    if scores.min() < 0 < scores.max():
        axes.contour(side, side, scores, levels=[0.0], colors=BLACK, linewidths=1.0)
    stored = np.isin(np.arange(y.size), learner.support_)
    for sign, marker, colour in ((1, "o", BLUE), (-1, "s", ORANGE)):
        for filled in (False, True):
            chosen = X[(y == sign) & (stored == filled)]
            face = {} if filled else HOLLOW
            axes.plot(*chosen.T, marker, color=colour, markersize=2.6, markeredgewidth=0.6, **face)
    axes.set_xticks([])
    axes.set_yticks([])


def outcome(learner: Any, X: np.ndarray, y: np.ndarray) -> str:
    """Say how a run went, in a few words."""
    run = learner.run_
    if not run.converged:
        return f"{(learner.predict(X) != y).sum()} of {y.size} wrong"
    return f"{run.mistakes} mistakes, {learner.support_.size} stored"


def seen(table: Table) -> str:
    """Tell which kernels separate which shapes, and how the runs compare with theory."""
    sentences = []
    for data, subject in SUBJECTS.items():
        found = [(k, table.where(data=data, kernel=k)) for k in KERNELS]
        able = [(k, part) for k, part in found if len(part) and part["converged"].all()]
        told = [f"{k} ({np.median(part['mistakes']):.0f} mistakes)" for k, part in able]
        sentences.append(f"{subject} separated in every run by: {', '.join(told) or 'none'}.")
    number = len(table.values("seed"))
    sentences.append(f"These numbers are medians of {number} problems of each shape.")
    explicit = Table(row for row in table.rows if row.get("explicit_mistakes") is not None)
    differ = int((explicit["mistakes"] != explicit["explicit_mistakes"]).sum())
    bounded = Table(row for row in table.rows if row.get("bound") is not None)
    sentences.append(
        f"Kernel and explicit features made different numbers of mistakes in {differ or 'none'} of "
        f"{len(explicit)} runs."
    )
    if len(bounded):
        sentences.append(f"No run that converged used more than {bounded.share()} of its bound.")
    return " ".join(sentences)


EXPERIMENT = Experiment(
    name="kernels",
    title="Kernels on circles, stripes and the exclusive or",
    question="Which shapes can a perceptron learn once its products are kernel values?",
    setup="Points in the square from −1 to 1: a disc inside a ring, four stripes of alternating "
    "classes, and the four squares of the exclusive or, with gaps between the classes. The kernel "
    f"perceptron cycles through them until it converges, or for {PASSES} passes. For a polynomial "
    "kernel, the plain perceptron runs on the explicit features, too. The bound is that of the "
    "cheapest counts that separate the points (D12). The figure shows the first "
    "problem of each shape.",
    theorem="F12: the explicit run and the kernel run make the same mistakes. F13: if some w* has "
    "y·⟨w*, φ(x)⟩ ≥ 1 on all examples, then M ≤ R²·‖w*‖² with R² = max K(x, x).",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=(
        ("mistakes", "bound"),
        ("mistakes", "explicit_mistakes"),
        ("explicit_mistakes", "mistakes"),
    ),
    size=(7.2, 6.2),
)
