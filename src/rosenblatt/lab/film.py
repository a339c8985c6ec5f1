"""The animation of a run as GIF: what stays is drawn once, what moves is drawn for each image."""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.files import write_atomically
from rosenblatt.lab.frames import Frames, foot, number
from rosenblatt.lab.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    YELLOW,
    look,
    new_figure,
)

MOST_SHOWN_SLOWLY, MOST_SHOWN = 24, 60  # mistakes
SLOWLY = [(0, True, 250), (0, False, 150), (0, True, 250), (0.5, False, 80), (1, False, 700)]
QUICKLY = [(1, True, 250)]
WIDTH, HEIGHT, CAPTION, PIXELS_PER_INCH = 840, 520, 66, 100
OUTSIDE = 1.5  # times the reach of the picture: further away than its corners
LINE = 104  # characters of the caption in one line
LONGEST_HEADING = 48  # characters, beyond which smaller ones are taken
MOST_MARKS = 60  # mistakes that a curve has room to mark
WHITISH = 248  # parts of a colour above this become white, which the palette has mixed with others
HOLD = 4000  # milliseconds for the last image
BOUND: dict[str, Any] = {"color": GREY, "linewidth": 1.3}
RING: dict[str, Any] = {
    "marker": "o",
    "fillstyle": "none",
    "color": BLACK,
    "markersize": 13,
    "markeredgewidth": 1.5,
}
ADDED: dict[str, Any] = {"color": BLACK, "linestyle": ":", "linewidth": 1.6}


class Image(NamedTuple):
    """One image: the k-th mistake, how far w has turned, whether its point flashes, how long."""

    k: int
    turned: float
    flash: bool
    milliseconds: int

    @property
    def done(self) -> int:
        """How many mistakes w has learned from."""
        return self.k if self.turned == 1 else self.k - 1


def write_gif(frames: Frames, path: str | os.PathLike[str]) -> None:
    """Write the animation as GIF, which repeats for ever.

    Of a run of more than 24 mistakes there is one image for each, and of more than 60 some are
    left out.
    """
    images = plan(frames.mistakes)
    with look():
        pictures = list(_pictures(frames, images))
    buffer = io.BytesIO()
    first, *others = pictures
    first.save(
        buffer,
        format="GIF",
        save_all=True,
        append_images=others,
        duration=[image.milliseconds for image in images],
        loop=0,
    )
    write_atomically(path, buffer.getvalue())


def plan(mistakes: int) -> list[Image]:
    """Choose the images: all phases of each mistake if there are few, else fewer.

    Examples
    --------
    >>> [image.k for image in plan(2)]
    [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]
    >>> len(plan(300))
    61
    """
    few = mistakes <= MOST_SHOWN_SLOWLY
    phases = SLOWLY if few else QUICKLY
    shown = np.linspace(1, mistakes, min(mistakes, MOST_SHOWN)).round()
    images = [Image(int(k), *phase) for k in shown for phase in phases]
    return [Image(0, 1.0, False, 1000), *images[:-1], images[-1]._replace(milliseconds=HOLD)]


def _pictures(frames: Frames, images: list[Image]) -> Iterator[Any]:
    """Draw each image; all of them share the colours of the last one, which shows most."""
    from PIL import Image as Picture

    figure = new_figure(WIDTH / PIXELS_PER_INCH, HEIGHT / PIXELS_PER_INCH)
    backgrounds, movers = _compose(figure, frames)
    canvas = figure.canvas

    @lru_cache(4)  # a point that flashes is drawn once for all its flashes
    def picture(image: Image) -> Any:
        regions = [background(image) for background in backgrounds]  # painted on the same canvas
        for region in regions:
            canvas.restore_region(region)
        for artist in chain.from_iterable(mover(image) for mover in movers):
            figure.draw_artist(artist)
        return Picture.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())

    palette = picture(images[-1]._replace(flash=True)).quantize(128)
    palette.putpalette([255 if part > WHITISH else part for part in palette.getpalette()])
    for image in images:
        yield picture(image._replace(milliseconds=0)).quantize(
            palette=palette, dither=Picture.Dither.NONE
        )


def _compose(figure: Any, frames: Frames) -> tuple[list[Any], list[Any]]:
    """Draw what stays; give what paints backgrounds, and what sets the artists that move."""
    figure.set_dpi(PIXELS_PER_INCH)
    figure.set_layout_engine("none")

    def axes(left: int, bottom: int, width: int, height: int) -> Any:
        place = np.array([left, bottom, width, height])
        added = figure.add_axes(place / [WIDTH, HEIGHT, WIDTH, HEIGHT])
        for axis in (added.xaxis, added.yaxis):
            axis.set_major_formatter(lambda value, _: _tick(value))
        return added

    movers = [
        _plane(axes(72, 112, 342, 342), frames),
        _squares(axes(475, 326, 345, 146), frames),
        _products(axes(475, 112, 345, 146), frames),
    ]
    return _backgrounds(figure, frames), movers


def _tick(value: float) -> str:
    """Write a number at an axis, such as −0.5 or 2e−7."""
    digits, _, power = f"{value:.6g}".partition("e")
    return (f"{digits}e{int(power)}" if power else digits).replace("-", "−")


def _backgrounds(figure: Any, frames: Frames) -> list[Any]:
    """Give what paints the backgrounds: the caption, and above it the rest with its headings.

    Text takes longest to draw, so a background is kept until its text changes.
    """
    from matplotlib.transforms import Bbox

    def text(left: int, top: int) -> Any:
        place = (left / WIDTH, top / HEIGHT)
        font = {"va": "top", "fontsize": 10, "linespacing": 1.5, "parse_math": False}
        return figure.text(*place, "", animated=True, **font)

    caption, squares = text(18, CAPTION - 4), text(475, 500)
    products = text(475, 240 if frames.projection is None else 288)
    figure.canvas.draw()
    empty = figure.canvas.copy_from_bbox(figure.bbox)

    def painted(artists: list[Any], bottom: int, top: int) -> Any:
        figure.canvas.restore_region(empty)
        for artist in artists:
            figure.draw_artist(artist)
        return figure.canvas.copy_from_bbox(Bbox([[0, bottom], [WIDTH, top]]))

    @lru_cache(1)
    def below(k: int) -> Any:
        caption.set_text(textwrap.fill(frames.caption(k), LINE))
        return painted([caption], 0, CAPTION)

    @lru_cache(1)
    def above(k: int) -> Any:
        squares.set_text(frames.squares(k))
        products.set_text(frames.products(k))
        long = max(map(len, frames.products(k).splitlines())) > LONGEST_HEADING
        products.set_fontsize(8 if long else 10)
        return painted([squares, products], CAPTION, HEIGHT)

    return [lambda image: below(image.k), lambda image: above(image.done)]


def _plane(axes: Any, frames: Frames) -> Any:
    """Draw the points and the line of w*; give what sets all that moves among them."""
    reach = frames.reach
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    for axis, name in zip((axes.xaxis, axes.yaxis), frames.axes, strict=True):
        axis.set_label_text(name, parse_math=False)
    axes.grid(False)
    axes.locator_params(nbins=5)
    _points(axes, frames)
    if frames.comparator is not None and frames.comparator[:2].any():
        ends = np.array([-3, 3]) * reach
        a, b = frames.comparator[:2] / np.hypot(*frames.comparator[:2])
        x, y = foot(frames.comparator, OUTSIDE * reach)
        star = {"color": GREEN, "dashes": (5, 2), "label": "line of w*", "zorder": 1}
        axes.plot(x - b * ends, y + a * ends, **star)
    size = "" if frames.shrink == 1 else f" (drawn at {number(frames.shrink)} of its length)"
    axes.plot([], [], color=BLACK, linewidth=2.6, label=f"w{size}")
    axes.plot([], [], linestyle="none", label="the mistake", **RING)
    axes.plot([], [], label="what it adds to w", **ADDED)
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "borderaxespad": 0.2}
    legend = axes.legend(ncols=2, columnspacing=1.2, labelspacing=0.3, **place)
    for text in legend.get_texts():
        text.set_parse_math(False)
    weights, mistake = _weights(axes, frames), _mistake(axes, frames)

    def move(image: Image) -> list[Any]:
        was, new = frames.w[max(image.k - 1, 0)], frames.w[image.k]
        w = was + image.turned * (new - was)
        return [
            *(weights(w) if w[:2].any() else []),
            *(mistake(image, was, new) if image.k else []),
        ]

    return move


def _weights(axes: Any, frames: Frames) -> Any:
    """Give what sets the arrow of w, its line and the positive side."""
    (line,) = axes.plot([], [], color=BLACK, linewidth=1.5, animated=True)
    (side,) = axes.fill([0], [0], color=ORANGE, alpha=0.12, linewidth=0, animated=True)
    head = {"arrowstyle": "-|>,head_width=0.28,head_length=0.6", "color": BLACK, "linewidth": 2.4}
    arrow = axes.annotate(
        "", (0, 0), (0, 0), arrowprops={**head, "shrinkA": 0, "shrinkB": 0}, animated=True
    )

    def turn(w: np.ndarray) -> list[Any]:
        normal = 3 * frames.reach * w[:2] / np.hypot(*w[:2])
        along, near = np.array([-normal[1], normal[0]]), foot(w, OUTSIDE * frames.reach)
        line.set_data(*np.transpose([near - along, near + along]))
        corners = [-along, along, along + normal, normal - along]
        side.set_xy([near + corner for corner in corners])
        arrow.xy = tuple(w[:2] * frames.shrink)
        return [side, line, arrow]

    return turn


def _mistake(axes: Any, frames: Frames) -> Any:
    """Give what sets the ring around the misclassified point, and what it adds to w."""
    glow = {**RING, "color": YELLOW, "markersize": 18, "markeredgewidth": 6}
    (halo,) = axes.plot([], [], animated=True, **glow)
    (ring,) = axes.plot([], [], animated=True, **RING)
    (added,) = axes.plot([], [], animated=True, **ADDED)

    def flash(image: Image, was: np.ndarray, new: np.ndarray) -> list[Any]:
        place = frames.X[frames.example[image.k - 1]]
        for mark in (halo, ring):
            mark.set_data([place[0]], [place[1]])
        added.set_data(*np.transpose([was[:2], new[:2]]) * frames.shrink)
        return [halo, ring, added] if image.flash else [ring, added]

    return flash


def _points(axes: Any, frames: Frames) -> None:
    size = 3.0 if len(frames.X) > 300 else 5.0
    marks: dict[int, dict[str, Any]] = {
        -1: {"marker": "o", "color": BLUE},
        1: {"marker": "s", "color": ORANGE, "markerfacecolor": "white", "markeredgewidth": 1.4},
    }
    for sign, mark in marks.items():
        chosen = frames.X[frames.signs == sign]
        # Without the space, Matplotlib leaves a name such as _a out of the legend.
        name = f" {frames.names[sign > 0]}"
        axes.plot(*chosen.T, linestyle="none", markersize=size, label=name, **mark)


def _squares(axes: Any, frames: Frames) -> Any:
    """Draw the bound of ‖w‖²; give what lets it grow."""
    k = np.arange(frames.mistakes + 1)
    axes.plot(k, k * frames.radius**2, linestyle="--", label="k·R²", **BOUND)
    axes.set_ylim(0, frames.heights[0])
    if frames.projection is None:
        axes.set_xlabel("mistakes k")
    return _growing(axes, frames.sqnorm, BLACK, "s")


def _products(axes: Any, frames: Frames) -> Any:
    """Draw the bounds of w·w*; give what lets it grow."""
    if frames.projection is None:
        axes.set_axis_off()
        return lambda _: []
    k = np.linspace(0, frames.mistakes, 200)
    axes.plot(k, frames.radius * np.sqrt(k), linestyle=":", label="R·√k", **BOUND)
    if frames.margin is not None:
        axes.plot(k, k * frames.margin, linestyle="--", label="k·γ", **BOUND)
    axes.set(ylim=frames.heights[1:], xlabel="mistakes k")
    return _growing(axes, frames.projection, GREEN, "o")


def _growing(axes: Any, values: np.ndarray, color: str, marker: str) -> Any:
    """Prepare a curve that grows with k."""
    axes.set_xlim(0, len(values) - 1)
    axes.locator_params(axis="x", integer=True)
    axes.legend(loc="upper left", handlelength=2.4)
    marks = {"marker": marker if len(values) <= MOST_MARKS else "", "markersize": 4}
    (curve,) = axes.plot([], [], color=color, animated=True, clip_on=False, **marks)

    def grow(image: Image) -> list[Any]:
        seen = values[: image.done + 1]
        curve.set_data(np.arange(seen.size), seen)
        return [curve]

    return grow
