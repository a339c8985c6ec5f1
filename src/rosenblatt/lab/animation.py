"""The animation of a run in the plane, as a page, as a piece of a page and as GIF.

The page is drawn by `animation.js` from the numbers and sentences of `Frames`; it needs nothing
from outside. Everything in a piece of a page lies under one element, and so do its styles.
"""

from __future__ import annotations

import html
import json
import os
import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

import rosenblatt as rb
from rosenblatt.data.files import write_atomically
from rosenblatt.errors import InputError
from rosenblatt.lab import style
from rosenblatt.lab.film import write_gif
from rosenblatt.lab.frames import Frames, number, record

__all__ = ["Frames", "animate", "attach", "fragment", "page", "record", "write_gif"]

TITLE = "A run of the perceptron, mistake by mistake"
PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
body { margin: 0 auto; padding: 16px; max-width: 1000px; background: #fff; color: #222;
  font-family: system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 12px; }
</style>
</head>
<body data-alone>
<h1>$title</h1>
$fragment
</body>
</html>
""")


def animate(
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    comparator: Any = None,
    *,
    fit_intercept: bool = False,
    names: Any = None,
) -> None:
    """Write an animation of the perceptron learning points of the plane, as .html or .gif.

    The run starts at zero and goes through the points in stored order. It is shown mistake by
    mistake: w turns, and ‖w‖² and w·w* grow between their bounds (theory F6). A run that does not
    end is shown up to its 300th mistake.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        Up to 5,000 points of the plane.
    y : array-like of shape (n_samples,)
        Their labels, of two classes; the second one, in sorted order, is positive.
    path : str or path
        The file to write: ``.html``, a page that needs no network, with play, step and speed; or
        ``.gif``, which needs ``pip install 'rosenblatt[lab]'``.
    comparator : array-like of shape (2,) or (3,), or None, default=None
        w*; None for the separator of largest margin, if there is one.
    fit_intercept : bool, default=False
        Whether to learn an intercept, as `Perceptron` does: the line then also moves, and lengths
        and products are those of (w, b).
    names : sequence of str or None, default=None
        Names of the features; those of a data frame are known.

    Examples
    --------
    >>> import os, tempfile, rosenblatt as rb
    >>> X, y, w = rb.make_separable(40, 2, margin=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rb.animate(X, y, os.path.join(folder, "run.html"), comparator=w)
    ...     os.listdir(folder)
    ['run.html']
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".html", ".gif"):
        raise InputError(
            f"an animation is written as .html or .gif, and {os.fspath(path)!r} ends in neither"
        )
    frames = record(X, y, comparator, fit_intercept=fit_intercept, names=names)
    if suffix == ".gif":
        write_gif(frames, path)
    else:
        write_atomically(path, page(frames).encode())


def page(frames: Frames, title: str = TITLE) -> str:
    """Give the animation as a page that needs no other file; it plays when it is opened."""
    return PAGE.substitute(title=html.escape(title), fragment=fragment(frames))


def fragment(frames: Frames, id: str = "run") -> str:
    """Give the animation as a piece of a page: one element with this id, which waits for play."""
    if not re.fullmatch(r"[A-Za-z][\w-]*", id):
        raise InputError(f"the id {id!r} is not a letter followed by letters, digits, '-' and '_'")
    negative, positive = map(html.escape, frames.names)
    shrink = frames.shrink
    return Template(_part("html").replace('id="run"', f'id="{id}"', 1)).substitute(
        css=_colours(id) + re.sub("#run\\b", f"#{id}", _part("css")),
        js=_part("js"),
        data=_data(frames),
        mistakes=frames.mistakes,
        score=frames.score,
        negative=negative,
        positive=positive,
        drawn="" if shrink == 1 else f", drawn at {number(shrink)} of its length",
        star=_star(frames),
    )


def attach(folder: Path) -> str:
    """Write the animation of a planted problem into a folder, as page and GIF; give a fragment."""
    frames = record(*planted())
    write_atomically(folder / "animation.html", page(frames).encode())
    write_gif(frames, folder / "animation.gif")
    return fragment(frames, "animation")


def planted(n: int = 40, margin: float = 0.08, seed: int = 25) -> Any:
    """Give points of the unit disc, labels, and the separator that they were planted around.

    The points of `make_separable` lie on the unit circle, except for two; they are drawn towards
    the origin by random factors, but no further than the margin allows.
    """
    X, y, w = rb.make_separable(n, 2, margin=margin, seed=seed)
    factors = np.sqrt(np.random.default_rng(seed).uniform(0.05, 1.0, n))
    X *= np.minimum(1.0, np.maximum(factors, margin / np.abs(X @ w)))[:, None]
    return X, y, w


def _part(suffix: str) -> str:
    """Read one of the files that the animation is made of."""
    return resources.files("rosenblatt.lab").joinpath(f"animation.{suffix}").read_text("utf-8")


def _colours(id: str) -> str:
    """Name the colours of the package for the style sheet."""
    names = ("blue", "orange", "green", "yellow", "black", "grey")
    return f"#{id} {{ {' '.join(f'--{n}: {getattr(style, n.upper())};' for n in names)} }}\n"


def _star(frames: Frames) -> str:
    """Give the entry of w* in the legend."""
    if frames.comparator is None:
        return ""
    picture = '<svg viewBox="0 0 28 16"><path class="star" d="M1 8H27"/></svg>'
    return f"<span>{picture}the line of w*</span>\n"


def _data(frames: Frames) -> str:
    """Give what the script draws, as JSON that no tag can end."""
    steps = range(frames.mistakes + 1)
    data = {
        "axes": frames.axes,
        "points": frames.X.tolist(),
        "positive": (frames.signs > 0).tolist(),
        "example": frames.example.tolist(),
        "w": frames.w.tolist(),
        "sqnorm": frames.sqnorm.tolist(),
        "projection": None if frames.projection is None else frames.projection.tolist(),
        "comparator": None if frames.comparator is None else frames.comparator.tolist(),
        "radius": frames.radius,
        "margin": frames.margin,
        "shrink": frames.shrink,
        "reach": frames.reach,
        "heights": frames.heights,
        "captions": [frames.caption(k) for k in steps],
        "squares": [frames.squares(k) for k in steps],
        "products": [frames.products(k) for k in steps],
    }
    return json.dumps(data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
