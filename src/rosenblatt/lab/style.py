"""How pictures look: one size of text, one set of colours, one way to be written.

The colours are those of Okabe and Ito (2008), which people with any colour vision tell apart; what
they say is also said by markers and kinds of lines, so that a print in grey can be read.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rosenblatt.data.files import write_atomically
from rosenblatt.errors import optional_module

BLUE, ORANGE, GREEN, RED = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, YELLOW, BLACK, GREY = "#56B4E9", "#E69F00", "#222222", "#767676"
COLOURS = (BLUE, ORANGE, GREEN, RED, YELLOW, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
BOUND: dict[str, Any] = {"color": BLACK, "linestyle": "--", "linewidth": 1.3}

_LOOK: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.hashsalt": "rosenblatt",  # the same picture is the same file
}


def look() -> Any:
    """Give a context within which Matplotlib draws in the style of this package.

    Everything that makes or changes a figure belongs inside: text takes its size when it is made.
    """
    return optional_module("matplotlib", "lab").rc_context(_LOOK)


def new_figure(width: float = 7.2, height: float = 4.2, layout: Any = "constrained") -> Any:
    """Give an empty figure (inches) that no window and no global state knows about.

    With the layout "none", axes stay where they were put, and Matplotlib draws a picture once
    instead of twice.
    """
    with look():
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from rosenblatt.lab.figure import Picture

        figure = Picture(figsize=(width, height), layout=layout)
        FigureCanvasAgg(figure)
    return figure


def as_bytes(figure: Any, format: str, dots_per_inch: int = 150) -> bytes:
    """Give a figure as SVG, PNG or PDF, without the date, so that equal figures are equal files."""
    buffer = io.BytesIO()
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format)
    with look():
        figure.savefig(buffer, format=format, dpi=dots_per_inch, metadata=metadata)
    return buffer.getvalue()


def write_figure(figure: Any, path: Path) -> None:
    """Write a figure in the format that the name ends in."""
    write_atomically(path, as_bytes(figure, path.suffix[1:].lower()))
