"""Pictures of a run: its mistakes beside their bound, the hardest examples, the path of w."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.bounds.theorem import MistakeBound
from rosenblatt.errors import InputError
from rosenblatt.lab.pictures import (
    MOST_STEPS,
    Name,
    caption,
    last_step,
    legend,
    picture,
    several,
    shown,
    thinned,
    usable,
)
from rosenblatt.lab.style import BLUE, BOUND, GREY, ORANGE
from rosenblatt.labels import as_labels
from rosenblatt.matrices import Matrix
from rosenblatt.run import History, Run

FEW_PASSES = 60  # up to which each has a marker
FEW_STEPS = 400  # up to which lines are thick
FAR_ABOVE = 50  # times the mistakes: a bound beyond leaves them a flat line on a linear axis
MOST_POWERS = 7  # of ten that an axis has room for
LEAST_IMAGE = 8  # pixels to a side


def run_of(model: Any) -> Run:
    """Give the run of a model."""
    if isinstance(model, Run):
        return model
    last = last_step(model)
    name = (last if isinstance(last, type) else type(last)).__name__.removeprefix("Plain")
    if isinstance(last, type) or not hasattr(type(last), "run_"):
        raise InputError(f"a {name} has no run; give a perceptron that was fitted, or its run_")
    try:
        run: Run = last.run_
    except (AttributeError, ValueError):  # nothing was presented, or it was never fitted
        raise InputError(f"this {name} has learned nothing yet; call fit first") from None
    return run


# ---- mistakes and their bound


def plot_learning_curve(
    model: Any, bound: MistakeBound | None = None, path: Name | None = None, *, ax: Any = None
) -> Any:
    """Plot the mistakes of a run, pass by pass, below their bound.

    If the run has a history (``fit(X, y, comparator=w)``), the proof is drawn beside: w·w* and ‖w‖,
    and with a bound of Theorem 1 by the same w*, the lines between which they cannot stay for ever
    (theory F6): k·γ ≤ w·w* ≤ ‖w‖ ≤ R·√k.

    Parameters
    ----------
    model : fitted Perceptron or KernelPerceptron, or Run
        The learner, or its `run_`.
    bound : MistakeBound or None, default=None
        The result of the learner's `bound`, or of `mistake_bound`.
    path : str, path or None, default=None
        The file to write, .svg, .png or .pdf; None writes none.
    ax : matplotlib Axes or None, default=None
        Axes to draw the mistakes into, without the proof; None makes a new figure.

    Returns
    -------
    matplotlib Figure or Axes
        The new figure, or `ax`.

    See Also
    --------
    plot_path : Where the weights went.
    mistake_bound : A bound to draw.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(100, 2, margin=0.1, seed=0)
    >>> learner = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=w)
    >>> rb.plot_learning_curve(learner, learner.bound(X, y, w)).get_label()
    '4 mistakes in 2 passes; Theorem 1 allows 100'
    """
    run = run_of(model)
    if bound is not None and not isinstance(bound, MistakeBound):
        raise InputError(f"bound must be a MistakeBound, got a {type(bound).__name__}")
    if not run.mistakes_per_pass:
        raise InputError("the run has no passes to draw")
    sentence = f"{several(run.mistakes, 'mistake')} in {several(run.passes, 'pass')}"
    if bound is not None:
        sentence += f"; Theorem {bound.theorem} allows {np.floor(bound.value):,.0f}"
    width, panels = (7.2, 1) if run.history is None else (9.0, 2)
    draw = partial(_curves, run, bound)
    return picture(sentence, draw, path, (width, 4.0), ax, panels)


def _curves(run: Run, bound: MistakeBound | None, *axes: Any) -> None:
    _mistakes(axes[0], run, bound)
    if run.history is not None and len(axes) > 1:
        _proof(axes[1], run.history, bound)
        if run.history.k.size > MOST_STEPS:
            words = f"w at {MOST_STEPS:,} of {run.history.k.size:,} mistakes, evenly chosen"
            caption(axes[1], words)
    for some in axes:
        some.xaxis.set_major_locator(_whole())
        some.xaxis.set_major_formatter(_tick)
        legend(some, "above", ncols=2, columnspacing=1.2)


def _whole() -> Any:
    """Give what puts ticks at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6, integer=True, steps=[1, 2, 5, 10])


def _tick(value: float, _: int | None = None) -> str:
    """Write a number at an axis: in full, or as a power of ten if it is long."""
    if abs(value) < 1e7:
        return f"{value:,.10g}".replace("-", "−")
    return f"$10^{{{np.log10(value):.0f}}}$" if _is_power(value) else f"{value:.3g}"


def _is_power(value: float) -> bool:
    return bool(value > 0 and float(f"1e{np.log10(value):.0f}") == value)


def _mistakes(axes: Any, run: Run, bound: MistakeBound | None) -> None:
    total = np.concatenate([[0], np.cumsum(run.mistakes_per_pass)])
    marker = "o" if run.passes <= FEW_PASSES else None
    axes.plot(total, color=BLUE, marker=marker, markersize=4, label="mistakes so far")
    axes.yaxis.set_major_locator(_whole())
    if bound is not None and np.isfinite(bound.value):
        label = f"bound of Theorem {bound.theorem}"
        axes.axhline(bound.value, label=label, **BOUND)
        if bound.value > FAR_ABOVE * max(run.mistakes, 1):
            _in_powers(axes, bound.value)
    axes.yaxis.set_major_formatter(_tick)
    axes.set(
        ylim=(0, None),
        xlim=(0, run.passes * 1.03),
        xlabel="passes over the data",
        ylabel="mistakes",
    )


def _in_powers(axes: Any, highest: float) -> None:
    """Let an axis grow by powers of ten from 1 on, with 0 below."""
    from matplotlib.ticker import FixedLocator, NullLocator

    axes.set_yscale("symlog", linthresh=1, linscale=0.5)
    powers = int(np.log10(highest)) + 1
    step = 1 + powers // MOST_POWERS
    parts = (1, 2, 5) if powers <= 2 else (1,)
    ticks = [part * 10.0**power for power in range(0, powers + 1, step) for part in parts]
    axes.yaxis.set_major_locator(FixedLocator([0.0, *(t for t in ticks if t <= 1.1 * highest)]))
    axes.yaxis.set_minor_locator(NullLocator())


def _proof(axes: Any, history: History, bound: MistakeBound | None) -> None:
    k, norm = history.k, np.sqrt(history.sqnorm)
    some = thinned(k.size)
    if bound is not None and bound.theorem == 1:
        both = 2.0 if bound.comparator.ndim == 2 else 1.0  # classes have two rows corrected (F15)
        above, below = bound.radius * np.sqrt(both * k), bound.margin * k
        # Another start, rate or comparator than the bound speaks of may break these lines.
        if np.all(norm <= above * (1 + 1e-9)) and np.all(history.projection >= below * (1 - 1e-9)):
            root = "√(2k)" if both == 2 else "√k"
            label = f"R·{root}, never below ‖w‖"
            axes.plot(k[some], above[some], color=GREY, linestyle="--", label=label)
            label = "k·γ, never above w·w*"
            axes.plot(k[some], below[some], color=GREY, linestyle=":", label=label)
    width = 1.6 if k.size <= FEW_STEPS else 0.8
    axes.plot(k[some], history.projection[some], color=BLUE, linewidth=width, label="w·w*")
    manner = {"linewidth": width, "linestyle": "-."}
    axes.plot(k[some], norm[some], color=ORANGE, label="‖w‖", **manner)
    axes.yaxis.set_major_formatter(_tick)
    axes.set(xlabel="mistake k", ylabel="length, in units of the rows")


# ---- the hardest examples


def plot_hardest(
    model: Any,
    X: Any = None,
    y: Any = None,
    k: int = 20,
    path: Name | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Plot how often the hardest examples of a run were misclassified (theory D14).

    Parameters
    ----------
    model : fitted Perceptron or KernelPerceptron, or Run
        The learner, or its `run_`.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The examples; square images of at least 8 × 8 pixels are shown.
    y : array-like of shape (n_samples,) or None, default=None
        The labels, shown beside the numbers of the rows.
    k : int, default=20
        How many examples at most.
    path : str, path or None, default=None
        The file to write, .svg, .png or .pdf; None writes none.
    ax : matplotlib Axes or None, default=None
        Axes to draw into; None makes a new figure.

    Returns
    -------
    matplotlib Figure or Axes
        The new figure, or `ax`.

    See Also
    --------
    Run : Its ``hardest`` gives the same rows.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(100, 2, margin=0.1, seed=0)
    >>> rb.plot_hardest(rb.Perceptron().fit(X, y)).get_label()
    '10 of 100 examples misclassified at some time; row 3 (from 0) most often, 2 times'
    """
    run = run_of(model)
    n = run.counts.size
    rows = run.hardest(k)
    if not n:
        raise InputError(
            "a stream that is read more than once, shuffled or resumed counts no mistakes of "
            "single examples; fit it as a data set"
        )
    if not rows.size:
        raise InputError("there is nothing to draw: no example was misclassified, or k is 0")
    images = None if X is None else _images(usable(X), n, rows)
    labels = None if y is None else _labels(y, n)
    ever, most = int(np.count_nonzero(run.counts)), int(run.counts[rows[0]])
    sentence = (
        f"{ever:,} of {several(n, 'example')} misclassified at some time; row {rows[0]} (from 0) "
        f"most often, {several(most, 'time')}"
    )
    words = [""] * rows.size if labels is None else [f": {shown(v)}" for v in labels[rows].tolist()]
    ticks = [f"row {row}{word}" for row, word in zip(rows, words, strict=True)]
    size = (7.2, 1.3 + 0.26 * rows.size * (1.0 if images is None else 1.4))
    part = f": the {rows.size:,} hardest of {ever:,}" if rows.size < ever else ""
    axis = f"times misclassified while learning{part}"
    counts = run.counts[rows]
    return picture(sentence, lambda axes: _bars(axes, counts, ticks, axis, images), path, size, ax)


def _labels(y: Any, n: int) -> np.ndarray:
    count = len(y) if hasattr(y, "__len__") else n
    if count != n:
        raise InputError(
            f"y has {count} labels, but the latest fit saw {n} rows; give their labels"
        )
    return as_labels(y, n)


def _images(matrix: Matrix, n: int, rows: np.ndarray) -> np.ndarray | None:
    """Give rows as square images; None if they are none."""
    if matrix.shape[0] != n:
        raise InputError(f"X has {matrix.shape[0]} rows, but the latest fit saw {n}; give these")
    side = int(np.sqrt(matrix.shape[1]))
    if side < LEAST_IMAGE or side * side != matrix.shape[1]:
        return None
    some = matrix[rows]
    return np.asarray(some.toarray() if sparse.issparse(some) else some).reshape(-1, side, side)


def _bars(
    axes: Any, counts: np.ndarray, ticks: list[str], axis: str, images: np.ndarray | None
) -> None:
    places = np.arange(counts.size)
    axes.barh(places, counts, color=BLUE, height=0.7)
    for place, count in zip(places, counts, strict=True):
        axes.annotate(f" {count:,}", (count, place), va="center", fontsize=9)
    axes.set_yticks(places, ticks)
    axes.set(ylim=(counts.size - 0.4, -0.6), xlim=(0, counts.max() * 1.1))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.xaxis.set_major_formatter(_tick)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(axis)
    if images is not None:
        _thumbnails(axes, images)


def _thumbnails(axes: Any, images: np.ndarray) -> None:
    """Put each image at the right end of its bar's line."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    darkest = float(images.max())
    for place, image in enumerate(images):
        picture = OffsetImage(
            image, zoom=24 / image.shape[0], cmap="gray_r", interpolation="nearest"
        )
        picture.image.set_clim(float(images.min()), darkest)
        where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "box_alignment": (0.0, 0.5)}
        axes.add_artist(AnnotationBbox(picture, (1.01, place), frameon=False, pad=0, **where))
