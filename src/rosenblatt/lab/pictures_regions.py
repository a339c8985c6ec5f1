"""Decision regions: what a model answers over a plane, and the examples on it.

scikit-learn's `DecisionBoundaryDisplay` draws models of two features; here are planes through more
of them, class names, ringed mistakes, support vectors, and where the model has no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import distance_transform_edt

from rosenblatt.errors import InputError
from rosenblatt.lab import pictures
from rosenblatt.lab.pictures import Name
from rosenblatt.lab.pictures_planes import UNSURE, Field, PicturePlane, Told, View, plane_of
from rosenblatt.lab.style import BLACK, GREY
from rosenblatt.labels import as_labels
from rosenblatt.learners.hard_margin import HardMarginSVM
from rosenblatt.learners.soft_margin import SoftMarginSVM

MOST_MARKERS = 3000
VECTOR_MARKERS = 1000  # more of them are drawn as pixels, also in SVG
LAYER = 400  # markers of all classes that are drawn before the next ones: no class hides others
MANY_RINGS = 60  # more of them are drawn thinner
LINES: tuple[dict[str, Any], ...] = (
    {"linewidths": 1.3, "linestyles": "-"},
    {"linewidths": 1.0, "linestyles": "--"},
)
NO_ANSWER = "white"
LONGEST_NAME = 12  # characters of a name that is written into a region
FONT = 10  # points, of these names
LETTER = 0.65  # of the size of a font: the width of a bold letter, on average


def plot_regions(
    model: Any,
    X: Any,
    y: Any = None,
    columns: Any = None,
    path: Name | None = None,
    *,
    names: Any = None,
    ax: Any = None,
) -> Any:
    """Plot the decision regions of a model over a plane, with the examples.

    The plane is that of the two columns there are or that are asked for, all others being at their
    mean; else that of the two principal directions, in which the rows vary most, through the mean.
    A single column is drawn against the number of the row. With more than two columns, examples
    lie off the plane: the side on which they appear need not be their prediction. Of more than
    3,000 examples some are shown, and the caption says so.

    Parameters
    ----------
    model : fitted classifier
        A learner, a pipeline, or anything with `predict`. For SVMs the lines of the scores ±1 are
        drawn, too.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The examples. Support vectors are marked if X has as many rows as the model was fitted on.
    y : array-like of shape (n_samples,) or None, default=None
        The labels; misclassified examples are ringed.
    columns : pair of int or str, or None, default=None
        Two features, by number from 0, or by name; None for both, or the principal directions.
    path : str, path or None, default=None
        The file to write, .svg, .png or .pdf; None writes none.
    names : sequence of str or None, default=None
        Names of the features; those of a data frame are known.
    ax : matplotlib Axes or None, default=None
        Axes to draw into; None makes a new figure.

    Returns
    -------
    matplotlib Figure or Axes
        The new figure, or `ax`.

    See Also
    --------
    plot_margins : For more than two features.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(100, 2, margin=0.1, seed=0)
    >>> rb.plot_regions(rb.Perceptron().fit(X, y), X, y).get_label()
    'none of 100 misclassified'
    """
    scene = Scene.of(model, X, y, columns, names)
    return pictures.picture(
        scene.sentence(), lambda axes: _draw(axes, model, X, scene), path, (7.2, 5.2), ax
    )


@dataclass(frozen=True)
class Scene:
    """Examples in a plane, and what a model answers to them.

    Attributes
    ----------
    plane : the plane.
    told : the answers to all examples.
    codes : the places of their labels, None if they have none.
    numbers, points : the examples that are shown, and where.
    """

    plane: PicturePlane
    told: Told
    codes: np.ndarray | None
    numbers: np.ndarray
    points: np.ndarray

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, columns: Any, names: Any) -> Scene:
        """Ask a model, and choose what is shown."""
        if getattr(pictures.last_step(model), "kernel", None) == "precomputed":
            raise InputError("a precomputed kernel has no plane to draw: its rows are not points")
        matrix = pictures.usable(X)
        n, width = matrix.shape
        labels = None if y is None else as_labels(y, n)
        plane = plane_of(matrix, columns, pictures.column_names(X, names, width))
        told = Told.by(model, X, labels)
        codes = None if labels is None else pictures.codes_of(labels, told.classes)
        numbers = pictures.sampled(n, MOST_MARKERS)
        return cls(plane, told, codes, numbers, plane.points(matrix, numbers))

    @property
    def misclassified(self) -> np.ndarray:
        """Which examples are answered otherwise than labelled."""
        if self.codes is None:
            return np.zeros(self.told.codes.size, bool)
        return np.asarray(self.told.codes != self.codes)

    @property
    def caption(self) -> str:
        """Where the plane lies, and how many examples are shown, if not all."""
        n, some = self.told.codes.size, self.numbers.size
        few = f"{some:,} of {n:,} examples shown" if some < n else ""
        return "; ".join(filter(None, [self.plane.caption, few]))

    def sentence(self) -> str:
        """Say how many examples are misclassified, and on how many there is no answer."""
        n, unsure = self.told.codes.size, int(np.count_nonzero(self.told.codes == UNSURE))
        said = (
            pictures.several(n, "example")
            if self.codes is None
            else pictures.counted(self.misclassified)
        )
        return f"{said}; I don't know on {unsure:,}" if unsure else said


def _draw(axes: Any, model: Any, X: Any, scene: Scene) -> None:
    told, points, numbers = scene.told, scene.points, scene.numbers
    shown_codes = None if scene.codes is None else scene.codes[numbers]
    handles = _markers(axes, points, told.classes, shown_codes)
    support = np.isin(numbers, _support(model, told.codes.size))
    handles += _around(axes, points, scene.misclassified[numbers], support)
    margins = told.by_scores and told.classes.size == 2 and _is_svm(model)
    handles += _line_handles(told.by_scores and not pictures.zero_is_positive(model), margins)
    first, second = scene.plane.labels
    axes.set(xlabel=first, ylabel=second)
    pictures.caption(axes, scene.caption)
    to_scale = not scene.plane.numbered
    window = _framed(axes, handles, View.around(points), to_scale=to_scale)
    field = Field.over(window, scene.plane, model, X, told)
    _regions(axes, field, told.classes, margins)
    if np.mean(field.codes == UNSURE) > 0.002:  # more than the boundary
        _legend(axes, [*handles, _patch()])


# ---- what is known of a model


def _is_svm(model: Any) -> bool:
    """Tell whether scores of -1 and 1 mean something to a model."""
    last = pictures.last_step(model)
    ours = isinstance(last, SoftMarginSVM | HardMarginSVM)
    return ours or type(last).__module__.startswith("sklearn.svm")


def _support(model: Any, n: int) -> np.ndarray:
    """Give the rows that a model rests on, if it was fitted on as many rows as there are."""
    last = pictures.last_step(model)
    support = np.asarray(getattr(last, "support_", ()), np.intp)
    if not support.size or support.max() >= n or _rows_fitted(last) != n:
        return np.zeros(0, np.intp)
    return support


def _rows_fitted(last: Any) -> int:
    if isinstance(last, SoftMarginSVM):
        return int(last.alphas_.shape[0])
    if isinstance(last, HardMarginSVM):
        return int(last.certificate_.data.rows)
    if hasattr(last, "shape_fit_"):  # scikit-learn's
        return int(last.shape_fit_[0])
    return int(last.run_.counts.size) if hasattr(last, "run_") else 0


# ---- drawing


def _regions(axes: Any, field: Field, classes: np.ndarray, margins: bool) -> None:
    """Draw the regions as an image, and their boundaries as lines."""
    from matplotlib.colors import to_rgb

    tints = [
        _tint(to_rgb(pictures.look_of(place)["color"]), place) for place in range(classes.size)
    ]
    image = np.array([*tints, to_rgb(NO_ANSWER)])[field.codes]
    across, up = field.window.grid(field.codes.shape[0])
    half = (across[1] - across[0]) / 2, (up[1] - up[0]) / 2
    extent = (across[0] - half[0], across[-1] + half[0], up[0] - half[1], up[-1] + half[1])
    limits = field.window.x, field.window.y
    axes.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="nearest")
    for place in range(classes.size) if classes.size > 2 else [1]:
        _level(axes, field.window, field.lead(place), 0.0, **LINES[0])
    if classes.size > 2:
        _names(axes, field, classes)
    if margins and field.scores is not None:
        for level in (-1.0, 1.0):
            _level(axes, field.window, field.scores[..., 0], level, **LINES[1])
    axes.set(xlim=limits[0], ylim=limits[1])


def _line_handles(unsure: bool, margins: bool) -> list[Any]:
    from matplotlib.lines import Line2D

    words = ["boundary: I don't know" if unsure else "boundary"]
    words += ["scores ±1: margin"] * margins
    return [
        Line2D([], [], color=BLACK, lw=line["linewidths"], ls=line["linestyles"], label=word)
        for word, line in zip(words, LINES, strict=False)
    ]


def _patch() -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=NO_ANSWER, edgecolor=GREY, label="region: I don't know")


def _tint(rgb: tuple[float, float, float], place: int) -> np.ndarray:
    """Lighten a colour; less when it is used again."""
    share = (0.24, 0.5, 0.36)[place // 7 % 3]
    return 1 - share * (1 - np.array(rgb))


def _level(axes: Any, window: View, values: np.ndarray, level: float, **manner: Any) -> None:
    """Draw where values are at a level, if they are so anywhere in the window."""
    if values.min() < level < values.max():
        axes.contour(*window.grid(values.shape[0]), values, [level], colors=BLACK, **manner)


def _size(markers: int) -> float:
    """Give the area of a marker, in square points."""
    return 34.0 if markers <= 150 else 20.0 if markers <= 700 else 12.0


def _markers(
    axes: Any, points: np.ndarray, classes: np.ndarray, codes: np.ndarray | None
) -> list[Any]:
    """Draw the examples, a colour and a marker for each class."""
    from matplotlib.lines import Line2D

    n = points.shape[0]
    manner: dict[str, Any] = {"s": _size(n), "linewidths": 0.4, "edgecolors": "white", "zorder": 3}
    manner["rasterized"] = n > VECTOR_MARKERS
    if codes is None:
        return [axes.scatter(*points.T, color=BLACK, label="examples", **manner)]
    handles = []
    for place, label in enumerate(classes.tolist()):
        key: dict[str, Any] = {**pictures.look_of(place), "linestyle": "none", "markersize": 6}
        handles.append(Line2D([], [], label=f"class {pictures.shown(label)}", **key))
    for some in np.array_split(np.arange(n), 1 + n // LAYER):
        for place in np.unique(codes[some]).tolist():
            mine = points[some[codes[some] == place]]
            axes.scatter(*mine.T, **pictures.look_of(place), **manner)
    return handles


def _names(axes: Any, field: Field, classes: np.ndarray) -> None:
    """Write the name of each class into its region, as far inside as can be."""
    from matplotlib.patheffects import withStroke

    side = field.codes.shape[0]
    across, up = field.window.grid(side)
    letters = axes.get_window_extent().width / axes.figure.dpi * 72 / (LETTER * FONT)  # in a row
    for place in np.unique(field.codes[field.codes != UNSURE]).tolist():
        inside = distance_transform_edt(np.pad(field.codes == place, 1))[1:-1, 1:-1]
        row, column = np.unravel_index(inside.argmax(), inside.shape)
        room = 2 * float(inside[row, column]) / side
        if room > 0.06:
            name = pictures.shown(
                classes.tolist()[place], int(np.clip(room * letters, 3, LONGEST_NAME))
            )
            manner = {"ha": "center", "va": "center", "fontweight": "bold", "fontsize": FONT}
            effects = [withStroke(linewidth=3, foreground="white")]
            axes.text(across[column], up[row], name, path_effects=effects, zorder=5, **manner)


def _around(axes: Any, points: np.ndarray, wrong: np.ndarray, support: np.ndarray) -> list[Any]:
    """Draw what is around some examples: rings for mistakes, squares for support."""
    size, handles = _size(points.shape[0]), []
    hollow: dict[str, Any] = {"facecolors": "none", "edgecolors": BLACK, "zorder": 4}
    if wrong.any():
        width, area = (1.2, 4.5) if wrong.sum() <= MANY_RINGS else (0.6, 3.0)
        rings = {"s": area * size, "marker": "o", "linewidths": width, "label": "misclassified"}
        handles.append(axes.scatter(*points[wrong].T, **rings, **hollow))
    if support.any():
        marks = {"s": 3.2 * size, "marker": "s", "linewidths": 0.7, "label": "support", **hollow}
        handles.append(axes.scatter(*points[support].T, **marks))
    return handles


def _legend(axes: Any, handles: list[Any]) -> None:
    size, columns = (9, 1) if len(handles) <= 20 else (8, 2)
    pictures.legend(axes, "beside", handles=handles, fontsize=size, ncols=columns)


def _framed(axes: Any, handles: list[Any], window: View, *, to_scale: bool) -> View:
    """Set the limits of the axes, to scale if that can be; give the window they make."""
    axes.grid(visible=False)
    axes.set(xlim=window.x, ylim=window.y)
    _legend(axes, handles)
    if to_scale:
        pictures.whole_figure(
            axes
        ).draw_without_rendering()  # so that the paper that words and legend leave is known
        paper = axes.get_window_extent()
        window = window.to_scale(paper.width / paper.height)
    return window
