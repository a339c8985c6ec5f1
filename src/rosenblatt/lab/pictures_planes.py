"""Planes to look at rows in, and what a model answers: to rows, and over a window of a plane.

A plane is that of two columns, or of the two directions in which the rows vary most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.ndimage import zoom

from rosenblatt.data.info import count_constant
from rosenblatt.errors import InputError
from rosenblatt.lab.pictures import (
    ask,
    classes_of,
    codes_of,
    rows_like,
    sampled,
    shown,
    zero_is_positive,
)
from rosenblatt.matrices import Matrix

MOST_ROWS = 5000  # that directions are computed from
FEW_COLUMNS = 500  # up to which all directions are computed, not only two
MOST_CLASSES = 40
VALUES = 5e7  # numbers in all the rows of a plane that a model is asked about
SIDE = (24, 160)  # of the square of these rows, at least and at most
CELLS = 480  # of the picture, to each side
UNSURE = -1
ALIKE = 2.0  # times that points may be wider or higher than the paper, and be drawn to scale
OFF_THE_PLANE = "the examples lie off this plane:\ntheir side of a line need not be their answer"


@dataclass(frozen=True)
class PicturePlane:
    """A plane in the space of the rows.

    Attributes
    ----------
    origin : the row in its middle.
    directions : two orthogonal rows of norm 1, or one and a row of zeros if there is one column.
    labels : what the axes are called.
    caption : where the plane lies in the space, empty if it is the space.
    """

    origin: np.ndarray
    directions: np.ndarray
    labels: tuple[str, str]
    caption: str = ""

    @property
    def numbered(self) -> bool:
        """Whether the second coordinate is the number of the row, since there is one column."""
        return self.origin.size == 1

    def points(self, matrix: Matrix, numbers: np.ndarray) -> np.ndarray:
        """Give the points of the plane that are nearest to rows of these numbers."""
        found = np.asarray(matrix[numbers] @ self.directions.T - self.origin @ self.directions.T)
        if self.numbered:
            found[:, 1] = numbers
        return found

    def rows(self, points: np.ndarray) -> np.ndarray:
        """Give the rows that points of the plane stand for."""
        found: np.ndarray = self.origin + points @ self.directions
        return found


def plane_of(matrix: Matrix, columns: Any, names: list[str] | None) -> PicturePlane:
    """Give the plane of two columns: those asked for, those there are, or the main directions."""
    width = matrix.shape[1]
    if columns is not None:
        return _column_plane(matrix, _chosen(columns, names, width), names)
    if width == 1:
        label = column_label(0, names)
        return PicturePlane(
            np.zeros(1), np.array([[1.0], [0.0]]), (label, "number of the row (from 0)")
        )
    return _column_plane(matrix, (0, 1), names) if width == 2 else _main_plane(matrix)


def _chosen(columns: Any, names: list[str] | None, width: int) -> tuple[int, int]:
    if isinstance(columns, str) or not isinstance(columns, Sequence | np.ndarray):
        raise InputError(f"columns must be two columns, such as (0, 1), got {columns!r}")
    if len(columns) != 2:
        raise InputError(f"columns must be two columns, got {len(columns)}")
    first, second = (_place(column, names, width) for column in columns)
    if first == second:
        raise InputError(f"columns must be two different ones, got {columns[0]!r} twice")
    return first, second


def _place(column: Any, names: list[str] | None, width: int) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            some = "they have no names" if names is None else ", ".join(map(repr, names[:5]))
            more = ", …" if names is not None and len(names) > 5 else ""
            raise InputError(f"X has no column {column!r} ({some}{more})")
        return names.index(column)
    if not isinstance(column, Integral) or isinstance(column, bool | np.bool_):
        raise InputError(f"a column is a name or a whole number, got {column!r}")
    place = int(column)
    if not 0 <= place < width:
        raise InputError(f"X has no column {place}; its {width} columns count from 0")
    return place


def column_label(place: int, names: list[str] | None) -> str:
    """Give what a column is called at an axis: its name, or its number from 0 on."""
    return f"column {place}" if names is None else shown(names[place], 48)


def _column_plane(matrix: Matrix, places: tuple[int, int], names: list[str] | None) -> PicturePlane:
    width = matrix.shape[1]
    origin = np.zeros(width) if width == 2 else _mean(matrix)
    origin[list(places)] = 0.0
    directions = np.zeros((2, width))
    directions[[0, 1], list(places)] = 1.0
    first, second = (column_label(place, names) for place in places)
    where = f"regions: the answers where all other columns are at their mean; {OFF_THE_PLANE}"
    return PicturePlane(origin, directions, (first, second), "" if width == 2 else where)


def _main_plane(matrix: Matrix) -> PicturePlane:
    origin = _mean(matrix)
    some = matrix[sampled(matrix.shape[0], MOST_ROWS)]
    directions, shares = main_directions(some)
    first, second = (
        f"principal direction {k + 1} ({_percent(share)} of the variance)"
        for k, share in enumerate(shares)
    )
    where = f"regions: the answers in this plane, which goes through the mean; {OFF_THE_PLANE}"
    return PicturePlane(origin, directions, (first, second), where)


def _percent(share: float) -> str:
    if share < 0.001:
        return "less than 0.1%"
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def _mean(matrix: Matrix) -> np.ndarray:
    mean: np.ndarray = np.asarray(matrix.mean(axis=0, dtype=np.float64)).ravel()
    return mean


def main_directions(rows: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Give two orthogonal directions in which rows vary most, and their shares of the variance.

    The largest entry of each is positive, so that the same rows are always seen from one side.
    Rows that do not vary are seen in their first two columns.
    """
    n, d = rows.shape
    if n < 2 or count_constant(rows) == d:
        return np.eye(2, d), np.zeros(2)
    rows = rows.astype(np.float64, copy=False)
    if d <= FEW_COLUMNS or n <= 3:
        dense = rows.toarray() if sparse.issparse(rows) else rows
        _, sizes, directions = np.linalg.svd(dense - dense.mean(axis=0), full_matrices=False)
        directions, shares = directions[:2], (sizes**2 / (sizes**2).sum())[:2]
    else:
        from sklearn.decomposition import PCA  # which centres sparse rows without making them

        found = PCA(2, svd_solver="arpack", random_state=0).fit(rows)
        directions, shares = found.components_, found.explained_variance_ratio_
    largest = np.abs(directions).argmax(axis=1)
    turned = np.where(directions[[0, 1], largest] < 0, -1.0, 1.0)
    return directions * turned[:, np.newaxis], shares


# ---- answers


def answered(scores: np.ndarray, model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Give the places of the classes that scores stand for, and where they mean *I don't know*."""
    if scores.shape[-1] == 1 and zero_is_positive(model):
        return (scores[..., 0] >= 0).astype(np.intp), np.zeros(scores.shape[:-1], bool)
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.intp), scores[..., 0] == 0
    on_top = scores == scores.max(axis=-1, keepdims=True)
    return scores.argmax(axis=-1), np.count_nonzero(on_top, axis=-1) > 1


@dataclass(frozen=True)
class Told:
    """What a model answers to the examples.

    Attributes
    ----------
    classes : the labels.
    codes : the place of the answered class for each row, `UNSURE` for *I don't know*.
    by_scores : whether these are the classes with the largest scores.
    """

    classes: np.ndarray
    codes: np.ndarray
    by_scores: bool

    @classmethod
    def by(cls, model: Any, X: Any, labels: np.ndarray | None) -> Told:
        """Ask a model about rows."""
        answers = ask(model, "predict", X)
        classes = classes_of(model, answers, labels)
        if classes.size > MOST_CLASSES:
            raise InputError(
                f"there are {classes.size} different answers; a plot has colours for {MOST_CLASSES}"
            )
        codes = codes_of(answers, classes)
        if not hasattr(model, "decision_function"):
            return cls(classes, codes, False)
        scores = ask(model, "decision_function", X).reshape(codes.size, -1)
        if scores.shape[1] != (1 if classes.size == 2 else classes.size):
            return cls(classes, codes, False)
        best, unsure = answered(scores, model)
        if not np.all((best == codes) | unsure):
            return cls(classes, codes, False)
        return cls(classes, np.where(unsure, UNSURE, codes), True)


@dataclass(frozen=True)
class View:
    """The part of a plane that is seen."""

    x: tuple[float, float]
    y: tuple[float, float]

    @classmethod
    def around(cls, points: np.ndarray) -> View:
        """Leave some room on every side of points."""
        low, high = points.min(axis=0), points.max(axis=0)
        room = np.where(high > low, 0.06 * (high - low), np.maximum(1.0, 1e-6 * np.abs(low)))
        (left, bottom), (right, top) = (low - room).tolist(), (high + room).tolist()
        return cls((left, right), (bottom, top))

    def to_scale(self, shape: float) -> View:
        """Give one that also has one scale for both axes, if that does not take much more room.

        `shape` is the width of the paper divided by its height.
        """
        (left, right), (bottom, top) = self.x, self.y
        width, height = right - left, top - bottom
        if not shape / ALIKE <= width / height <= shape * ALIKE:
            return self
        wider = max(height * shape - width, 0.0) / 2
        higher = max(width / shape - height, 0.0) / 2
        return View((left - wider, right + wider), (bottom - higher, top + higher))

    def grid(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Give so many places on each axis, from end to end."""
        return np.linspace(*self.x, side), np.linspace(*self.y, side)


@dataclass(frozen=True)
class Field:
    """Answers over a window: places of classes or `UNSURE`, and the scores they come from."""

    window: View
    codes: np.ndarray
    scores: np.ndarray | None

    @classmethod
    def over(cls, window: View, plane: PicturePlane, model: Any, X: Any, told: Told) -> Field:
        """Ask a model about a grid of rows of the plane; scores are interpolated between them."""
        side = int(np.clip(np.sqrt(VALUES / plane.origin.size), *SIDE))
        points = np.stack(np.meshgrid(*window.grid(side)), axis=-1).reshape(-1, 2)
        method = "decision_function" if told.by_scores else "predict"
        step = max(1, 2**22 // plane.origin.size)
        found = np.concatenate(
            [
                ask(model, method, rows_like(X, plane.rows(points[k : k + step])))
                for k in range(0, side * side, step)
            ]
        )
        if not told.by_scores:
            return cls(window, codes_of(found, told.classes).reshape(side, side), None)
        finer = (CELLS / side, CELLS / side, 1)
        scores = zoom(found.reshape(side, side, -1).astype(float), finer, order=1)
        best, unsure = answered(scores, model)
        return cls(window, np.where(unsure, UNSURE, best), scores)

    def lead(self, place: int) -> np.ndarray:
        """Give what is positive where a class is answered, and 0 on the boundary of its region."""
        if self.scores is None:
            return np.where(self.codes == place, 0.5, -0.5)
        if self.scores.shape[-1] == 1:
            return self.scores[..., 0] if place else -self.scores[..., 0]
        others = np.delete(self.scores, place, axis=-1)
        found: np.ndarray = self.scores[..., place] - others.max(axis=-1)
        return found
