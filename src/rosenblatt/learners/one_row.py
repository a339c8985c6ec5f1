"""One row at a time: a dict, a (columns, values) pair, an array or a sparse row, as flat arrays.

`learn_one` and `predict_one` spend most of their time here, so the common forms come first and
nothing is copied that is already an int64 or float64 array.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.examples import Matrix, as_labels
from rosenblatt.online.separator import OneRow

INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)


class RowReader:
    """Turns rows of any form into arrays; keeps buffers so that dicts cost no allocation.

    Arrays and sparse rows must be as wide as `width`, if it is given.
    """

    def __init__(self, width: int | None, names: Any = None) -> None:
        self.width = width
        self._places = None if names is None else {name: j for j, name in enumerate(names)}
        self._make_room(64)

    def read(self, x: Any) -> OneRow:
        """Give the columns, the values and the length of a row."""
        if type(x) is tuple and len(x) == 2:
            return _pair(x[0], x[1])
        if isinstance(x, dict):
            return self._dict(x)
        if sparse.issparse(x):
            return self._sparse_row(x)
        if self._places is not None and hasattr(x, "to_dict"):
            return self._dict(x.to_dict())  # a pandas Series knows the names of its columns
        return self._dense_row(x)

    def _dict(self, x: dict[Any, float]) -> OneRow:
        length = len(x)
        if length > self._columns.size:
            self._make_room(2 * length)
        columns, values = _packers(length)
        try:
            if self._places is None:
                columns.pack_into(self._column_bytes, 0, *x)
            else:
                columns.pack_into(self._column_bytes, 0, *map(self._place, x))
            values.pack_into(self._value_bytes, 0, *x.values())
        except struct.error:
            raise _explain(x) from None
        return self._columns, self._values, length

    def _sparse_row(self, x: Any) -> OneRow:
        row = x.tocoo()
        if row.ndim == 2 and row.shape[0] != 1:
            raise InputError(f"one row was expected, got a matrix of {row.shape[0]} rows")
        self._check_width(row.shape[-1])
        return _pair(row.coords[-1], row.data)

    def _dense_row(self, x: Any) -> OneRow:
        values = _numbers(x)
        if values.ndim == 2 and values.shape[0] == 1:
            values = values[0]
        if values.ndim != 1:
            raise InputError(f"one row was expected, got an array of shape {values.shape}")
        self._check_width(values.size)
        return _places(values.size), values, values.size

    def _check_width(self, found: int) -> None:
        if self.width is not None and found != self.width:
            raise InputError(f"the row has {found} columns, but {self.width} are expected")

    def _make_room(self, length: int) -> None:
        self._columns, self._values = np.empty(length, np.int64), np.empty(length)
        # NumPy arrays are buffers; their type hints say so from Python 3.12 on only.
        self._column_bytes: Any = self._columns
        self._value_bytes: Any = self._values

    def _place(self, name: Any) -> int:
        assert self._places is not None
        place = self._places.get(name)
        if place is None:
            raise InputError(f"the row has the column {name!r}, which the learner was not given")
        return place


@lru_cache(maxsize=1024)
def _packers(length: int) -> tuple[struct.Struct, struct.Struct]:
    return struct.Struct(f"{length}q"), struct.Struct(f"{length}d")


def _explain(x: dict[Any, float]) -> InputError:
    for column, value in x.items():
        if not hasattr(column, "__index__"):
            return InputError(
                f"the row has the column {column!r}; columns are numbers from 0 on, "
                "or the names in the frame that the learner was fitted on"
            )
        if not hasattr(value, "__float__"):
            return InputError(f"column {column!r} of the row has {value!r}, which is not a number")
    return InputError("a column of the row is a number beyond 64 bits")


def _pair(columns: Any, values: Any) -> OneRow:
    try:
        ready = columns.dtype is INT64 and values.dtype is FLOAT64
    except AttributeError:
        ready = False
    if not ready:
        columns, values = _whole_numbers(columns), _numbers(values)
    shape = columns.shape
    if len(shape) != 1 or shape != values.shape:
        raise InputError(
            "a row given as (columns, values) needs two arrays of equal length, "
            f"got shapes {shape} and {values.shape}"
        )
    return columns, values, shape[0]


def _whole_numbers(columns: Any) -> np.ndarray:
    whole = np.asarray(columns)
    if whole.dtype.kind not in "iu" and whole.size:
        raise InputError(f"columns of a row must be whole numbers, got {whole.dtype}")
    return whole.astype(np.int64)


def _numbers(values: Any) -> np.ndarray:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError("the row holds something that is not a number") from None


@lru_cache(maxsize=16)
def _places(width: int) -> np.ndarray:
    return np.arange(width)


def check_row(row: OneRow, most: int) -> int:
    """Give the number of columns that a row needs; refuse what no width would make usable."""
    columns, values, length = row
    columns, values = columns[:length], values[:length]
    smallest, largest = int(columns.min(initial=0)), int(columns.max(initial=-1))
    if smallest < 0 or largest >= most:
        wrong = smallest if smallest < 0 else largest
        raise InputError(f"the row has column {wrong}, but columns go from 0 to {most - 1}")
    if not np.isfinite(values).all():
        column = columns[np.argmin(np.isfinite(values))]
        raise InputError(f"column {column} of the row is NaN or infinity; leave the row out")
    return largest + 1


def as_label(label: Hashable) -> np.ndarray:
    """Give the label of one row as those of many rows are given."""
    try:
        hash(label)
    except TypeError:
        raise InputError(f"the label {label!r} is not hashable") from None
    return as_labels([label], 1)


def as_one_row_matrix(row: OneRow, width: int) -> Matrix:
    """Give a row as a CSR matrix of its own memory."""
    columns, values, length = row
    parts = (values[:length], columns[:length], [0, length])
    return sparse.csr_matrix(parts, shape=(1, width), copy=True)
