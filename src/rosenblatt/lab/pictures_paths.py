"""The path of the weights through a run.

Path        w_k = w_0 + Σ η·c·y·x over the first k mistakes; the history of the run says which they
            were (theory D3), c being the weight of the class
Seen as     the weights themselves if there are two; else how far w_k goes along the direction of
            the last w, and how far off it: √(‖w_k‖² - along²)
Check       the sum over all mistakes leads from the start of the run to the weights of the learner,
            or else X and y are not those of the run
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.lab import pictures
from rosenblatt.lab.pictures import Name
from rosenblatt.lab.pictures_planes import column_label
from rosenblatt.lab.pictures_runs import run_of
from rosenblatt.lab.style import BLACK, BLUE, ORANGE
from rosenblatt.labels import as_labels, as_signs
from rosenblatt.learners.perceptron import Perceptron
from rosenblatt.matrices import Matrix
from rosenblatt.run import History

FEW_STEPS = 400  # up to which each has a marker
TOLERANCE = 1e-6  # of the sum of all steps: single precision rows are added in double precision
FOREIGN = "X and y are not those of the run: its mistakes on them do not lead to its weights"


@dataclass(frozen=True)
class RunSteps:
    """The steps of a run: which row, lifted by a constant, was added how many times over."""

    matrix: Matrix
    lift: float
    example: np.ndarray
    factor: np.ndarray

    def total(self) -> np.ndarray:
        """Give the sum of all steps."""
        sums = np.bincount(self.example, self.factor, self.matrix.shape[0])
        return np.append(self.matrix.T @ sums, self.lift * sums.sum())

    def along(self, directions: np.ndarray) -> np.ndarray:
        """Give the products of each step with directions, one column for each."""
        products = self.matrix @ directions[:, :-1].T + self.lift * directions[:, -1]
        found: np.ndarray = products[self.example] * self.factor[:, np.newaxis]
        return found


def plot_path(
    model: Any, X: Any, y: Any, path: Name | None = None, *, names: Any = None, ax: Any = None
) -> Any:
    """Plot the path that the weights of a perceptron took from its start to its end.

    Two weights are drawn as they are; of more, the part along the direction of the last ones and
    the length of the rest. The run must have a history: ``fit(X, y, comparator=w)``, with any w.
    Of more than 400 updates only some are drawn, and the caption says so.

    Parameters
    ----------
    model : fitted Perceptron
        Of two classes, fitted with a comparator.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The examples that it was fitted on.
    y : array-like of shape (n_samples,)
        Their labels.
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
    plot_learning_curve : Mistakes instead of weights.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(100, 2, margin=0.1, seed=0)
    >>> learner = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=w)
    >>> rb.plot_path(learner, X, y).get_label()
    '4 updates, from a length of 0 to one of 1.499'
    """
    history = _history(model)
    halfspace = model.separator
    matrix = pictures.usable(X)
    steps = _steps(model, history, matrix, y)
    start, end = halfspace.start, halfspace.state.w
    gap = float(np.linalg.norm(start + steps.total() - end))
    if gap > TOLERANCE * np.sqrt(history.sqnorm.max()):
        raise InputError(FOREIGN)
    known = pictures.column_names(X, names, matrix.shape[1])
    places, labels = _places(history, steps, start, end, known)
    lengths = f"{np.linalg.norm(start):.4g} to one of {np.linalg.norm(end):.4g}"
    sentence = f"{pictures.several(history.k.size, 'update')}, from a length of {lengths}"
    return pictures.picture(
        sentence, lambda axes: _draw(axes, places, labels), path, (7.2, 4.6), ax
    )


def _history(model: Any) -> History:
    run = run_of(model)
    if not isinstance(model, Perceptron):
        raise InputError("a path is drawn of a Perceptron; give the learner itself")
    if model.classes_.size != 2:
        raise InputError(f"a path is drawn of two classes, not of {model.classes_.size}")
    if run.history is None:
        raise InputError("the run has no history; fit with a comparator: fit(X, y, comparator=w)")
    if model.separator.rule.renormalize:
        raise InputError("the path of a run that renormalises its weights cannot be drawn")
    if not run.history.k.size:
        raise InputError("the run made no mistake, so that there is no path")
    return run.history


def _steps(model: Perceptron, history: History, matrix: Matrix, y: Any) -> RunSteps:
    halfspace: Any = model.separator
    shape = (model.run_.counts.size, halfspace.width)
    if matrix.shape != shape:
        raise InputError(f"{FOREIGN}; X has the shape {matrix.shape}, not {shape}")
    signs = as_signs(as_labels(y, shape[0]), model.classes_)
    moves = signs * halfspace.rule.eta * halfspace.rule.weights[(signs > 0).astype(np.intp)]
    return RunSteps(matrix, halfspace.lift, history.example, moves[history.example])


def _places(
    history: History, steps: RunSteps, start: np.ndarray, end: np.ndarray, names: list[str] | None
) -> tuple[np.ndarray, tuple[str, str]]:
    """Give two coordinates of the weights, at the start and after each mistake."""
    columns = steps.matrix.shape[1]
    if columns == 2 or (columns == 1 and steps.lift):
        axes = np.eye(2, start.size)
        axes[1] *= 1.0 if columns == 2 else steps.lift
        words = [f"weight of {column_label(k, names)}" for k in range(columns)]
        first, second = [*words, "intercept"][:2]
        moved = np.cumsum(steps.along(axes), axis=0)
        return axes @ start + np.concatenate([np.zeros((1, 2)), moved]), (first, second)
    length = float(np.linalg.norm(end))
    if length == 0:
        raise InputError("the run ended at weights of zero, which have no direction to draw along")
    direction = end / length
    along = np.cumsum(np.append(direction @ start, steps.along(direction[np.newaxis])))
    squares = np.append(start @ start, history.sqnorm)
    off = np.sqrt(np.maximum(squares - along**2, 0.0))
    labels = ("w along the direction of the last w", "length of w off that direction")
    return np.stack([along, off], axis=1), labels


def _draw(axes: Any, places: np.ndarray, labels: tuple[str, str]) -> None:
    some = places[pictures.thinned(len(places))]
    few = len(places) <= FEW_STEPS
    manner = {"marker": "o", "markersize": 2.5} if few else {}
    width = 0.9 if few else 0.6
    each = "w after each update" if len(some) == len(places) else "w after some updates"
    axes.plot(*some.T, color=BLUE, linewidth=width, label=each, **manner)
    ends = {"markersize": 9, "linestyle": "none", "markeredgecolor": BLACK}
    axes.plot(*places[0], marker="o", color="white", label="start", **ends)
    axes.plot(*places[-1], marker="s", color=ORANGE, label="end", **ends)
    pictures.legend(axes, "above", ncols=3)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    if len(some) < len(places):
        chosen = (
            f"{len(some) - 1:,} of {pictures.several(len(places) - 1, 'update')}, evenly chosen"
        )
        pictures.caption(axes, f"the line goes through w after {chosen}")
