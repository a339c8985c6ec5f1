"""The figure of a picture, which shows itself where it is the value of a notebook's cell."""

from __future__ import annotations

from matplotlib.figure import Figure

from rosenblatt.lab.style import as_bytes

DOTS_PER_INCH = 100


class Picture(Figure):
    """A figure that notebooks show without `pyplot`, which is where Matplotlib teaches them to."""

    def _repr_png_(self) -> bytes:
        return as_bytes(self, "png", DOTS_PER_INCH)
