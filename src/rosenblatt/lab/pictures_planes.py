"""Planes to look at rows in: two columns, or the two directions in which the rows vary most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.data.info import count_constant
from rosenblatt.errors import InputError
from rosenblatt.lab.pictures import sampled, shown
from rosenblatt.matrices import Matrix

MOST_ROWS = 5000  # that directions are computed from
FEW_COLUMNS = 500  # up to which all directions are computed, not only two
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
    from sklearn.decomposition import PCA

    n, d = rows.shape
    if n < 2 or count_constant(rows) == d:
        return np.eye(2, d), np.zeros(2)
    rows = rows.astype(np.float64, copy=False)
    if d <= FEW_COLUMNS or n <= 3:
        found = PCA(2, svd_solver="full").fit(rows.toarray() if sparse.issparse(rows) else rows)
    else:  # sparse rows are centred without being made
        found = PCA(2, svd_solver="arpack", random_state=0).fit(rows)
    directions = found.components_
    largest = np.abs(directions).argmax(axis=1)
    turned = np.where(directions[[0, 1], largest] < 0, -1.0, 1.0)
    return directions * turned[:, np.newaxis], found.explained_variance_ratio_
