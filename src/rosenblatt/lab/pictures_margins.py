"""How far the examples are from being misclassified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.lab import pictures
from rosenblatt.lab.pictures import Name
from rosenblatt.lab.style import BLACK, GREY
from rosenblatt.labels import as_labels

BINS = 50


@dataclass(frozen=True)
class Distances:
    """How far each example is on the right side; 0 and less is a mistake (theory D2).

    Only learners that take 0 for positive are not misclassified there.

    Attributes
    ----------
    values : one number for each example.
    misclassified : which examples are misclassified.
    codes : the places of their classes.
    classes : the labels.
    word : what the numbers are, in a word or two.
    axis : the same with its unit.
    zero : what a score of 0 means to the model.
    """

    values: np.ndarray
    misclassified: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    word: str
    axis: str
    zero: str

    def sentence(self) -> str:
        """Say how many are misclassified, and which one is the worst."""
        worst = int(self.values.argmin())
        return (
            f"{pictures.counted(self.misclassified)}; the smallest {self.word} is "
            f"{self.values[worst]:.4g}, of row {worst} (from 0)"
        )

    def drawn(self) -> np.ndarray:
        """Give the values, those of 0 that are no mistakes just above it."""
        right = (self.values == 0) & ~self.misclassified
        return np.where(right, np.finfo(float).tiny, self.values)

    def zone(self) -> str:
        """Name the zone of mistakes, and what a 0 in it means."""
        zeros = np.any(self.misclassified & (self.values == 0))
        return f"misclassified (0: {self.zero})" if zeros else "misclassified"


def plot_margins(model: Any, X: Any, y: Any, path: Name | None = None, *, ax: Any = None) -> Any:
    """Plot how far the examples are on the right side of the boundary, as a histogram.

    For two classes and a hyperplane, these are the signed distances y·(w·x + b)/‖w‖; for more
    classes, the lead of the own class over the best other one, divided by ‖W‖. Where the answers do
    not come from hyperplanes (kernels, votes), they are the scores themselves. What is not above 0
    is a mistake.

    Parameters
    ----------
    model : fitted classifier
        A learner, a pipeline, or anything with a `decision_function`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,)
        The labels.
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
    plot_regions : The plane itself, for few features.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(100, 2, margin=0.1, seed=0)
    >>> rb.plot_margins(rb.Perceptron().fit(X, y), X, y).get_label()
    'none of 100 misclassified; the smallest distance is 0.01511, of row 99 (from 0)'
    """
    found = distances(model, X, y)
    return pictures.picture(found.sentence(), lambda axes: _draw(axes, found), path, (7.2, 4.2), ax)


def distances(model: Any, X: Any, y: Any) -> Distances:
    """Measure how far each example is on the right side."""
    scores = pictures.ask(model, "decision_function", X)
    if not scores.size:
        raise InputError("there are no examples; give at least one row")
    labels = as_labels(y, scores.shape[0])
    classes = pictures.classes_of(model, labels)
    codes = pictures.codes_of(labels, classes)
    if scores.shape[1:] not in ((), (classes.size,)) or (scores.ndim == 1) != (classes.size == 2):
        raise InputError(
            f"the model gives scores of shape {scores.shape} for {classes.size} classes; a picture "
            "needs one score for two classes, and one for each of more"
        )
    leads = np.where(codes > 0, scores, 0.0 - scores) if scores.ndim == 1 else _leads(scores, codes)
    answers_zero = pictures.zero_is_positive(model) and classes.size == 2
    misclassified = (leads < 0) | ((leads == 0) & ~(answers_zero & (codes == 1)))
    zero = f"class {pictures.shown(classes.tolist()[1])}" if answers_zero else "I don't know"
    norm = _norm(model, classes.size)
    word, axis = _measure(scores.ndim == 1, norm is not None)
    if norm is not None and pictures.has_steps_before(model):
        axis += ", after the steps before it"
    return Distances(leads / (norm or 1.0), misclassified, codes, classes, word, axis, zero)


def _measure(two: bool, linear: bool) -> tuple[str, str]:
    """Say what is measured, in a word and in full."""
    if two and linear:
        return "distance", "signed distance from the hyperplane, y(w·x + b)/‖w‖"
    if two:
        return "score", "score on the side of the label"
    lead = "lead of the own class over the best other"
    return "lead", f"{lead}, divided by ‖W‖" if linear else lead


def _leads(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    rows = np.arange(codes.size)
    others = scores.copy()
    others[rows, codes] = -np.inf
    found: np.ndarray = scores[rows, codes] - others.max(axis=1)
    return found


def _norm(model: Any, classes: int) -> float | None:
    """Give the norm of the weights that the scores come from; None if there is no such thing."""
    last = pictures.last_step(model)
    weights = getattr(last, "coef_", None)
    if weights is None or getattr(last, "output", None) == "voted":
        return None
    if classes > 2 and hasattr(last, "decision_function_shape"):
        return None  # LIBSVM's weights tell pairs of classes apart, its scores count their votes
    weights = weights.toarray() if sparse.issparse(weights) else np.asarray(weights)
    norm = float(np.linalg.norm(weights))
    return norm if 0 < norm < np.inf else None


def _draw(axes: Any, found: Distances) -> None:
    from matplotlib.ticker import MaxNLocator

    edges = _edges(found.values)
    if found.classes.size == 2:
        _mirrored(axes, found, edges)
    else:
        _bars(axes, edges, found.drawn(), color=GREY, label="all classes")
    axes.axvline(0, color=BLACK, linewidth=1.2)
    if edges[0] < 0:
        named = {"label": found.zone(), "linewidth": 0, "zorder": 0}
        axes.axvspan(edges[0], 0, color=GREY, alpha=0.18, **named)
    word = f"smallest {found.word}"
    axes.axvline(found.values.min(), color=BLACK, linewidth=1, linestyle=":", label=word)
    axes.set_xlim(edges[0], edges[-1])
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(lambda height, _: f"{abs(height):g}")
    axes.set(xlabel=found.axis, ylabel="examples")
    handles, _ = axes.get_legend_handles_labels()
    pictures.legend(axes, "beside", handles=handles[::-1])


def _edges(values: np.ndarray) -> np.ndarray:
    """Give bins of equal width from 0 on, to both sides: no bin holds right and wrong ones.

    If all values are 0, one bin is around it.
    """
    if not values.any():
        return 2 / BINS * (np.arange(BINS + 2) - BINS / 2 - 0.5)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    width = (high - low) / BINS
    first = np.floor(low / width) - bool(values.min() <= 0)
    return width * np.arange(first, max(np.ceil(high / width), 1.0) + 0.5)


def _bars(axes: Any, edges: np.ndarray, values: np.ndarray, up: int = 1, **manner: Any) -> None:
    """Draw a histogram; a value on an edge, such as 0, belongs to the bin on its left."""
    heights, _ = np.histogram(-values, -edges[::-1])
    frame = {"align": "edge", "linewidth": 0.5, "edgecolor": "white"}
    axes.bar(edges[:-1], up * heights[::-1], edges[1] - edges[0], **frame, **manner)


def _mirrored(axes: Any, found: Distances, edges: np.ndarray) -> None:
    """Draw the second class upwards and the first one downwards: neither hides the other."""
    for place, up, hatch in ((0, -1, "////"), (1, 1, "")):
        mine = found.drawn()[found.codes == place]
        label = f"class {pictures.shown(found.classes.tolist()[place])}"
        colour = pictures.look_of(place)["color"]
        _bars(axes, edges, mine, up, color=colour, hatch=hatch, label=label)
    axes.axhline(0, color=BLACK, linewidth=0.8)
