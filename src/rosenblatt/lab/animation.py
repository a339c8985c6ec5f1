"""The animation of a run in the plane, as a page, as a piece of a page and as GIF.

Matplotlib makes its player, of pictures that are part of the page. The player would fetch the signs
on its buttons from the network; here they are letters. Screen readers get names for the picture
and the slider.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import rosenblatt as rb
from rosenblatt.data.files import write_atomically
from rosenblatt.errors import InputError, optional_module
from rosenblatt.lab.film import shoot
from rosenblatt.lab.frames import Frames, record

FRAMES_PER_SECOND = 1
HELD = 5  # times that the last picture of a GIF is shown
TITLE = "A run of the perceptron, mistake by mistake"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0 auto; padding: 16px; max-width: 1000px; font-family: system-ui, sans-serif; }}
h1 {{ font-size: 22px; }}
</style>
</head>
<body>
<h1>{title}</h1>
{player}
</body>
</html>
"""
STYLE = """<style>
.animation { max-width: 100%; }
.animation img { width: 100%; height: auto; }
.anim-slider { max-width: 100%; }
.anim-buttons { display: flex; flex-wrap: wrap; justify-content: center; }
</style>"""
NETWORK = re.compile(r"<link[^>]*>")
NAMELESS = {
    "<img id=": f'<img alt="{TITLE}" id=',
    '<input id="_anim_slider': '<input aria-label="mistakes" id="_anim_slider',
}
SIGN = re.compile(r'<i class="fa fa-([^"]+)"></i>')
SIGNS = {
    **{"minus": "−", "plus": "+", "pause": "❚❚", "play": "▶", "play fa-flip-horizontal": "◀"},
    **{"fast-backward": "|◀", "step-backward": "◁", "step-forward": "▷", "fast-forward": "▶|"},
}


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
    end is shown up to its 300th mistake; of more than 60 mistakes only some are shown.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        Up to 5,000 points of the plane.
    y : array-like of shape (n_samples,)
        Their labels, of two classes; the second one, in sorted order, is positive.
    path : str or path
        The file to write: ``.html``, a page that needs no network, with play, step and speed; or
        ``.gif``. Both need ``pip install 'rosenblatt[lab]'``.
    comparator : array-like of shape (2,) or (3,), or None, default=None
        w*; None for the separator of largest margin, if there is one.
    fit_intercept : bool, default=False
        Whether to learn an intercept, as `Perceptron` does: the line then also moves, and lengths
        and products are those of (w, b).
    names : sequence of str or None, default=None
        Names of the features; those of a data frame are known.

    See Also
    --------
    playground : Points that can be dragged.
    plot_learning_curve : The same quantities for any number of features.

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
    optional_module("matplotlib", "lab")
    frames = record(X, y, comparator, fit_intercept=fit_intercept, names=names)
    if suffix == ".gif":
        write_gif(frames, path)
    else:
        write_atomically(path, page(player(frames)).encode())


def page(player: str) -> str:
    """Give a player as a page that needs no other file."""
    return PAGE.format(title=TITLE, player=player)


def player(frames: Frames) -> str:
    """Give the animation as a piece of a page."""
    from matplotlib import rc_context
    from matplotlib.animation import HTMLWriter

    with TemporaryDirectory() as folder, rc_context({"animation.frame_format": "svg"}):
        made = Path(folder, "run.html")
        shoot(frames, HTMLWriter(FRAMES_PER_SECOND, embed_frames=True, default_mode="once"), made)
        text = made.read_text("utf-8")
    for nameless, named in NAMELESS.items():
        assert nameless in text
        text = text.replace(nameless, named)
    return SIGN.sub(lambda sign: SIGNS[sign[1]], NETWORK.sub(STYLE, text))


def write_gif(frames: Frames, path: str | os.PathLike[str]) -> None:
    """Write the animation as GIF, which repeats for ever; its end is held for a while."""
    from matplotlib.animation import PillowWriter

    with TemporaryDirectory() as folder:
        made = Path(folder, "run.gif")
        shoot(frames, PillowWriter(FRAMES_PER_SECOND), made, last=HELD)
        write_atomically(path, made.read_bytes())


def attach(folder: Path) -> str:
    """Write the animation of a planted problem into a folder, as page and GIF; give the player."""
    frames = record(*planted())
    made = player(frames)
    write_atomically(folder / "animation.html", page(made).encode())
    write_gif(frames, folder / "animation.gif")
    return made


def planted(n: int = 40, margin: float = 0.08, seed: int = 25) -> Any:
    """Give points of the unit disc, labels, and the separator that they were planted around.

    The points of `make_separable` lie on the unit circle, except for two; they are drawn towards
    the origin by random factors, but no further than the margin allows.
    """
    X, y, w = rb.make_separable(n, 2, margin=margin, seed=seed)
    factors = np.sqrt(np.random.default_rng(seed).uniform(0.05, 1.0, n))
    X *= np.minimum(1.0, np.maximum(factors, margin / np.abs(X @ w)))[:, None]
    return X, y, w
