"""The film of a run: one picture for each moment, drawn by Matplotlib."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.lab.frames import Frames, foot, number
from rosenblatt.lab.style import BLACK, BLUE, GREEN, GREY, ORANGE, look, new_figure

MOST_SHOWN = 60  # mistakes
WIDTH, HEIGHT, DOTS_PER_INCH = 8.4, 5.2, 100
OUTSIDE = 1.5  # times the reach of the picture: further away than its corners
LINE = 104  # characters of the caption in one line
LONGEST_HEADING = 48  # characters, beyond which smaller ones are taken
MANY_POINTS = 300  # beyond which they are small, and pixels also in SVG
MOST_MARKS = 60  # mistakes that a curve has room to mark
HEADING: dict[str, Any] = {"loc": "left", "fontsize": 10, "parse_math": False}
RING: dict[str, Any] = {"marker": "o", "fillstyle": "none", "color": BLACK, "markersize": 13}
ADDED: dict[str, Any] = {"color": BLACK, "linestyle": ":", "linewidth": 1.6}


def moments(mistakes: int) -> list[int]:
    """Choose the mistakes to show; of very many some are left out.

    Examples
    --------
    >>> moments(3)
    [0, 1, 2, 3]
    >>> len(moments(300)), moments(300)[-1]
    (61, 300)
    """
    shown = np.linspace(1, mistakes, min(mistakes, MOST_SHOWN)).round().astype(int)
    return [0, *shown.tolist()]


def shoot(frames: Frames, writer: Any, path: Path, last: int = 1) -> None:
    """Let a writer of Matplotlib write a run as a film; its last picture is shown some times."""
    shown = moments(frames.mistakes)
    with look():
        figure = new_figure(WIDTH, HEIGHT, layout="none")  # others would let the charts tremble
        with writer.saving(figure, path, DOTS_PER_INCH):
            for k in shown:
                draw(figure, frames, k)
                writer.grab_frame()
            for _ in range(last - 1):
                writer.grab_frame()


def draw(figure: Any, frames: Frames, k: int) -> None:
    """Draw the k-th mistake: the plane, both quantities of the proof, and what is said of it."""
    figure.clear()
    _plane(figure.add_axes((0.086, 0.215, 0.381, 0.615)), frames, k)
    squares = figure.add_axes((0.565, 0.627, 0.411, 0.281))
    products = figure.add_axes((0.565, 0.215, 0.411, 0.281))
    times, radius = np.linspace(0, frames.mistakes, 100), frames.radius
    bounds = [(times * radius**2, "--", "k·R²")]
    _grow(squares, frames.sqnorm[: k + 1], BLACK, "s", times, bounds)
    squares.set_ylim(0, frames.heights[0])
    squares.set_title(frames.squares(k), **HEADING)
    if frames.projection is None:
        products.axis("off")
    else:
        bounds = [(radius * np.sqrt(times), ":", "R·√k")]
        bounds += [] if frames.margin is None else [(times * frames.margin, "--", "k·γ")]
        _grow(products, frames.projection[: k + 1], GREEN, "o", times, bounds)
        products.set_ylim(frames.heights[1:])
    words = frames.products(k)
    long = max(map(len, words.splitlines())) > LONGEST_HEADING
    products.set_title(words, **{**HEADING, "fontsize": 8 if long else 10})
    caption = textwrap.fill(frames.caption(k), LINE)
    figure.text(0.021, 0.12, caption, va="top", linespacing=1.5, parse_math=False)


def _grow(
    axes: Any, values: np.ndarray, color: str, marker: str, times: np.ndarray, bounds: list[Any]
) -> None:
    """Draw a curve as far as it has come, and its bounds."""
    for bound, style, label in bounds:
        axes.plot(times, bound, color=GREY, linewidth=1.3, linestyle=style, label=label)
    axes.legend(loc="upper left", handlelength=2.4)
    marks = {"marker": marker if times[-1] <= MOST_MARKS else "", "markersize": 4}
    axes.plot(values, color=color, clip_on=False, **marks)
    axes.set(xlim=(0, times[-1]), xlabel="mistakes k")
    axes.locator_params(axis="x", integer=True)


def _plane(axes: Any, frames: Frames, k: int) -> None:
    """Draw the points, the line of w*, the mistake, and w before and after it."""
    reach, many = frames.reach, len(frames.X) > MANY_POINTS
    for sign, mark in ((-1, {"marker": "o"}), (1, {"marker": "s", "markerfacecolor": "white"})):
        axes.plot(
            *frames.X[frames.signs == sign].T,
            color=BLUE if sign < 0 else ORANGE,
            linestyle="none",
            markersize=3 if many else 5,
            rasterized=many,
            label=f" {frames.names[sign > 0]}",  # legends leave out what begins with _
            **mark,
        )
    if frames.comparator is not None and frames.comparator[:2].any():
        near, along = line_of(frames.comparator, reach)
        style = {"color": GREEN, "dashes": (5, 2), "label": "line of w*", "zorder": 1}
        axes.plot(*np.transpose([near - along, near + along]), **style)
    size = "" if frames.shrink == 1 else f" (drawn at {number(frames.shrink)} of its length)"
    for color, words in ((GREY, "w before"), (BLACK, f"w{size}")):
        axes.plot([], [], color=color, linewidth=2.6, label=words)
    axes.plot([], [], linestyle="none", label="the mistake", **RING)
    axes.plot([], [], label="what it adds to w", **ADDED)
    if k:
        _weights(axes, frames, frames.w[k - 1], GREY)
        axes.plot(*frames.X[frames.example[k - 1]], **RING)
        axes.plot(*(frames.shrink * frames.w[k - 1 : k + 1, :2]).T, **ADDED)
    _weights(axes, frames, frames.w[k], BLACK)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    for axis, name in zip((axes.xaxis, axes.yaxis), frames.axes, strict=True):
        axis.set_label_text(name, parse_math=False)
    axes.grid(False)
    axes.locator_params(nbins=5)
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "borderaxespad": 0.2}
    legend = axes.legend(ncols=2, columnspacing=1.2, labelspacing=0.3, **place)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _weights(axes: Any, frames: Frames, w: np.ndarray, color: str) -> None:
    """Draw w as an arrow, its line, and the positive side of the new one."""
    if not w[:2].any():
        return
    near, along = line_of(w, frames.reach)
    normal = np.array([along[1], -along[0]])
    corners = [near - along, near + along, near + along + normal, near - along + normal]
    if color == BLACK:
        axes.fill(*np.transpose(corners), color=ORANGE, alpha=0.12, linewidth=0)
    axes.plot(*np.transpose(corners[:2]), color=color, linewidth=1.2)
    head = {"arrowstyle": "-|>,head_width=0.28,head_length=0.6", "linewidth": 2.2, "color": color}
    tip = tuple(w[:2] * frames.shrink)
    axes.annotate("", tip, (0, 0), arrowprops={**head, "shrinkA": 0, "shrinkB": 0})


def line_of(w: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Give a point of the line w·x + b = 0, and how far to go from it along the line."""
    a, b = 3 * reach * w[:2] / np.hypot(*w[:2])
    return foot(w, OUTSIDE * reach), np.array([-b, a])
