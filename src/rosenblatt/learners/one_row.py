"""One row at a time: a dict, a (columns, values) pair, an array or a sparse row, as flat arrays.

`learn_one` and `predict_one` spend most of their time here, so the common forms come first and
nothing is copied that is already an int64 or float64 array.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import count
from operator import itemgetter
from typing import Any

import numpy as np
from numpy import empty
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.matrices import Matrix
from rosenblatt.names import in_words, names_of
from rosenblatt.online.linear_machine import OneRow
from rosenblatt.online.perceptron import score_row

MOST_COLUMNS = 2**31 - 1
NAN = math.nan
INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)

# Memory for values, and the same as an array: to pack into bytes takes half the time.
Memory = tuple[bytearray, np.ndarray]

# What rows with all names share: how many, their columns, how values are picked, and how packed;
# and memory that nobody uses now, since many threads may answer at once.
Whole = tuple[int, np.ndarray, Callable[[dict[Any, Any]], Any], Callable[..., None], list[Memory]]


class RowReader:
    """Turns rows of any form into arrays of their own: many threads may read at once.

    With a `width`, rows have these columns and no others; without, a stream meets its columns as
    they come. Columns are numbers, or names, which have `places`: never both.
    """

    _whole: Whole = -1, np.empty(0, np.int64), itemgetter(None), print, []  # no row is so short

    def __init__(self, width: int | None, names: Iterable[Any] | None = None) -> None:
        self.width = width
        self.places: dict[Any, int] | None = None
        if names is not None:
            self.places = {}
            self._names = np.empty(16, object)
            self.adopt(names)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot be pickled, and is made anew."""
        return {name: value for name, value in vars(self).items() if name != "_whole"}

    @classmethod
    def of_stream(cls, x: Any) -> RowReader:
        """Begin a stream whose first row is x, with or without names."""
        return cls(None, () if _as_names(x) is not None else None)

    @property
    def names_grow(self) -> bool:
        """Whether columns are names that are met as they come."""
        return self.width is None and self.places is not None

    @property
    def undecided(self) -> bool:
        """Whether no row of a stream had a column yet, so that names and numbers may follow."""
        return self.names_grow and not self.places

    @property
    def names(self) -> np.ndarray:
        """The names in the order of the columns."""
        assert self.places is not None
        return self._names[: len(self.places)]

    def adopt(self, names: Iterable[Any]) -> None:
        """Give new names the next columns; room for them doubles, so that each costs little."""
        assert self.places is not None
        for name in names:
            column = len(self.places)
            self.places[name] = column
            if column == self._names.size:
                self._names = np.append(self._names, np.empty(column, object))
            self._names[column] = name

    # ---- reading

    def read(self, x: Any) -> OneRow:
        """Give the columns and the values of a row.

        A KeyError tells of a name that is new to a stream: see `read_known` and `meet`.
        """
        if isinstance(x, dict):
            length, columns, pick, pack, _ = self._whole
            if len(x) == length:  # with the names that it had the last time: in half the time
                values: Any = empty(length)
                try:
                    pack(values, 0, *pick(x))
                    return columns, values
                except (KeyError, struct.error, OverflowError):
                    pass
            return self._any_dict(x)
        if self.places is not None and (self.width is None or hasattr(x, "to_dict")):
            return self._dict(self._named(x), self.places)
        if type(x) is tuple and len(x) == 2:
            return _pair(x[0], x[1])
        if sparse.issparse(x):
            return self._sparse_row(x)
        return self._dense_row(x)

    def score(self, x: dict[Any, Any], lift: float, w: np.ndarray) -> float:
        """Give w·x of a dict that has the names of the last row with all of them, else NaN."""
        length, columns, pick, pack, unused = self._whole
        if len(x) != length:
            return NAN
        memory, values = unused.pop() if unused else _memory(length)
        try:
            pack(memory, 0, *pick(x))
        except (KeyError, struct.error, OverflowError):
            return NAN
        score: float = score_row(columns, values, lift, w)
        unused.append((memory, values))
        return score

    def read_known(self, x: Any) -> OneRow:
        """Read a row without the names that a stream has not shown yet: they weigh nothing."""
        try:
            return self.read(x)
        except KeyError:
            return self._known(x)

    def _known(self, x: Any) -> OneRow:
        assert self.places is not None
        if self.undecided:
            return _packed({}, ())
        row, new = self.meet(x)
        self.check(row, new)
        columns, values = row
        kept = np.flatnonzero(columns < len(self.places))
        return columns[kept], values[kept]

    def meet(self, x: Any) -> tuple[OneRow, list[str]]:
        """Read a row of a stream, and give its new names, whose columns are the next ones."""
        if not self.names_grow:
            return self.read(x), []
        assert self.places is not None
        named = self._named(x)
        new = [name for name in named if name not in self.places]
        later = {name: len(self.places) + k for k, name in enumerate(new)}
        places = (self.places.get(name, later.get(name)) for name in named)
        return _packed(named, places), new

    def check(self, row: OneRow, new: Iterable[str] = ()) -> int:
        """Give the number of columns that a row needs; refuse what no width would make usable."""
        columns, values = row
        most = MOST_COLUMNS if self.width is None else self.width
        smallest, largest = int(columns.min(initial=0)), int(columns.max(initial=-1))
        if smallest < 0 or largest >= most:
            wrong = smallest if smallest < 0 else largest
            raise InputError(f"the row has column {wrong}, but columns go from 0 to {most - 1}")
        if not np.isfinite(values).all():
            column = int(columns[np.argmin(np.isfinite(values))])
            names = None if self.places is None else [*self.places, *new]
            where = in_words(column, names)
            raise InputError(f"{where} of the row is NaN or infinity; leave the row out")
        return largest + 1

    def new_names(self, X: Any) -> list[str]:
        """Give the names of a frame that are new to a stream of names."""
        if not self.names_grow:
            return []
        assert self.places is not None
        return [name for name in names_of(X) or () if name not in self.places]

    def arranged(self, X: Matrix, names: Sequence[str] | None, new: Iterable[str] = ()) -> Matrix:
        """Give rows whose columns have names with the columns of this stream, and with new ones.

        Other names are left out; columns without names are taken in the order of the stream.
        """
        assert self.places is not None
        places = dict(zip([*self.places, *new], count(), strict=False))
        width = len(places)
        if names is None:
            if X.shape[1] == width:
                return X
            raise InputError(
                f"X has {X.shape[1]} columns without names, but the learner knows {width} by name; "
                "give a frame whose columns have names, or the columns of feature_names_in_"
            )
        found = np.array([places.get(name, -1) for name in names])
        kept = np.flatnonzero(found >= 0)
        if sparse.issparse(X):
            part = X[:, kept].tocoo()
            inside = (part.data, (part.row, found[kept][part.col]))
            return sparse.csr_matrix(inside, shape=(X.shape[0], width))
        out = np.zeros((X.shape[0], width), X.dtype)
        out[:, found[kept]] = X[:, kept]
        return out

    def _any_dict(self, x: dict[Any, Any]) -> OneRow:
        """Read a dict whose names are not those of the last row that had all of them."""
        places = self.places
        if places is None:
            return _packed(x, x)
        row, length = self._dict(x, places), len(places)
        if len(x) == length > 1 and self._whole[0] != length:
            self._whole = length, _places(length), itemgetter(*places), _packers(length)[1], []
            return self.read(x)  # in the order of the columns, as from now on: sums are the same
        return row

    def _dict(self, x: dict[Any, Any], places: dict[Any, int]) -> OneRow:
        try:
            return _packed(x, map(places.__getitem__, x))
        except KeyError as stranger:
            if self.width is None:
                raise
            raise InputError(
                f"the row has the column {stranger.args[0]!r}, which the learner was not given"
            ) from None

    def _named(self, x: Any) -> dict[str, Any]:
        """Give a row as a dict from names; refuse numbers where columns have names."""
        named = _as_names(x)
        if named is None and self.undecided:
            raise KeyError
        if named is None:
            numbers = [key for key in x if not isinstance(key, str)] if isinstance(x, dict) else []
            has = f"the column {numbers[0]!r}" if numbers else "columns without names"
            raise InputError(
                f"the row has {has}, but this learner knows its columns by name, and numbers are "
                "not mixed with names; give a dict from names to values"
            )
        return named

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
        return _places(values.size), values

    def _check_width(self, found: int) -> None:
        if self.width is not None and found != self.width:
            raise InputError(f"the row has {found} columns, but {self.width} are expected")


def _as_names(x: Any) -> dict[str, Any] | None:
    """Give a row whose columns have names, as a dict; None if they are numbers, even in part."""
    if not isinstance(x, dict):
        if not hasattr(x, "to_dict"):
            return None
        x = x.to_dict()  # a pandas Series knows the names of its columns
    return x if all(isinstance(key, str) for key in x) else None


def _packed(x: dict[Any, Any], places: Iterable[Any]) -> OneRow:
    """Give the values of a dict with the places of their columns."""
    length = len(x)
    # NumPy arrays are buffers; their type hints say so from Python 3.12 on only.
    columns: Any = np.empty(length, np.int64)
    values: Any = np.empty(length)
    pack_columns, pack_values = _packers(length)
    try:
        pack_columns(columns, 0, *places)
        pack_values(values, 0, *x.values())
    except (struct.error, OverflowError):
        raise _fault(x) from None
    return columns, values


@lru_cache(maxsize=1024)
def _packers(length: int) -> tuple[Callable[..., None], Callable[..., None]]:
    return struct.Struct(f"{length}q").pack_into, struct.Struct(f"{length}d").pack_into


def _memory(length: int) -> Memory:
    memory = bytearray(FLOAT64.itemsize * length)
    return memory, np.frombuffer(memory)


def _fault(x: dict[Any, Any]) -> InputError:
    for column, value in x.items():
        where = f"column {column!r} of the row has {value!r:.60}"
        if isinstance(value, str):
            own = f"a category is a column of its own: {{{f'{column}={value}'!r:.60}: 1}}"
            return InputError(f"{where}, which is not a number; {own}")
        if not hasattr(value, "__float__") and not hasattr(value, "__index__"):
            return InputError(f"{where}, which is not a number")
        try:
            float(value)
        except (TypeError, ValueError):
            return InputError(f"{where}, which is not a number")
        except OverflowError:
            return InputError(f"{where}, which is beyond float64; divide it by a constant")
    for column in x:
        if not hasattr(column, "__index__"):
            return InputError(
                f"the row has the column {column!r}, but the columns of this learner are whole "
                "numbers from 0 on, which are not mixed with names"
            )
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
    return columns, values


def _whole_numbers(columns: Any) -> np.ndarray:
    whole = np.asarray(columns)
    if whole.dtype.kind not in "iu" and whole.size:
        raise InputError(f"columns of a row must be whole numbers, got {whole.dtype}")
    return whole.astype(np.int64)


def _numbers(values: Any) -> np.ndarray:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "the row holds something that is not a number; rb.TextHasher makes rows of texts"
        ) from None


@lru_cache(maxsize=16)
def _places(width: int) -> np.ndarray:
    return np.arange(width)


def as_one_row_matrix(row: OneRow, width: int) -> Matrix:
    """Give a row as a CSR matrix of its own memory."""
    columns, values = row
    parts = (values, columns, [0, columns.size])
    return sparse.csr_matrix(parts, shape=(1, width), copy=True)
