"""Matrices: tables of numbers as people hand them over, validated once, at the edge.

What is taken without a copy: a C-order NumPy array of float32 or float64, and a SciPy CSR matrix
of those. Everything else that stands for a table of numbers (other SciPy formats, other number
types and orders, lists, pandas, Polars and Arrow frames) is converted once, with a
`LargeCopyWarning` from 64 MiB on. Booleans, decimals, fractions and numbers written as text count
as numbers, and what is missing as NaN. Dates, durations, other text and anything else are refused
by the name of the column: read as numbers, they would mean nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from rosenblatt.decimals import Decimals
from rosenblatt.errors import InputError, LargeCopyWarning, levels_inside
from rosenblatt.names import column_names, in_words, names_of
from rosenblatt.pauses import pause
from rosenblatt.rows import Dense, Rows, Sparse, largest_sqnorm

Matrix = Any  # np.ndarray or scipy.sparse CSR; SciPy ships no types

LARGE_COPY = 64 * 2**20
NUMBERS = "biuf"  # kinds of NumPy's types
COMPLEX = "Complex data not supported: X holds complex numbers; give real ones"
TEXT, DATES, DURATIONS, OTHERS = (
    "text",
    "dates or times",
    "durations",
    "values that are not numbers",
)
ADVICE = {
    TEXT: "encode it as numbers, for instance with scikit-learn's OneHotEncoder",
    DATES: "give numbers, such as the days or hours since a fixed time",
    DURATIONS: "give numbers, such as their seconds",
    OTHERS: "give numbers (an argument must be a string or a real number, as float() takes it)",
}


def as_matrix(X: Any) -> Matrix:
    """Give X as a C-order float matrix or a CSR matrix, itself if it is one already."""
    if sparse.issparse(X):
        check_structure(X)
    if is_ready(X):
        return X
    matrix, names = as_numbers(X), column_names(X)
    if names is not None:  # which the loops, that meet NaN later, do not know
        check_finite(matrix, names)
    size = matrix.data.nbytes
    if size >= LARGE_COPY and matrix is not X:
        warnings.warn(
            f"X was copied into a {matrix.dtype} array of {size / 2**20:,.0f} MiB; "
            "to avoid it, pass a C-order float32 or float64 array or a CSR matrix of those",
            LargeCopyWarning,
            stacklevel=levels_inside() + 1,
        )
    return matrix


def is_ready(X: Any) -> bool:
    """Tell whether X can be used without a copy."""
    if type(X) in (np.ndarray, Decimals) or isinstance(X, np.memmap):
        floats = X.dtype in (np.float32, np.float64) and X.dtype.isnative
        return floats and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous and X.flags.aligned
    return (
        sparse.issparse(X)
        and X.format == "csr"
        and X.ndim == 2
        and X.dtype in (np.float32, np.float64)
        and min(X.shape) > 0
    )


def as_rows(X: Matrix, lift: float) -> Rows:
    """View a matrix as rows for the loops, lifted by a constant (theory D7; 0 for not lifted).

    Loops want rows that lie together: numbers in any other order, which are rare here, are copied.
    """
    if not sparse.issparse(X):
        return Dense(writable_alias(np.ascontiguousarray(X)), lift)
    values = writable_alias(np.ascontiguousarray(X.data))
    return Sparse(unsigned(X.indptr), unsigned(X.indices), values, lift)


def unsigned(indices: np.ndarray) -> np.ndarray:
    """View indices as unsigned: compiled code need not test them for being negative."""
    return writable_alias(np.ascontiguousarray(indices)).view(f"u{indices.itemsize}")


def writable_alias(array: np.ndarray) -> np.ndarray:
    """Give the same memory without the read-only flag.

    Loops never write into rows, but Numba compiles every loop anew for read-only arrays.
    """
    if array.flags.writeable:
        return array
    return np.asarray(_Alias(array))


class _Alias:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array  # keeps the memory alive
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def check_structure(X: Matrix) -> None:
    """Refuse a sparse matrix whose indices would lead compiled code outside its arrays.

    The columns of a CSR matrix are left to the passes, which look at each of them anyway.
    """
    if X.format in ("csr", "csc"):
        rows = X.format == "csr"
        _check_starts(X.indptr, X.shape[0 if rows else 1], min(X.indices.size, X.data.size))
        if not rows:
            _check_range(X.indices[: X.indptr[-1]], X.shape[0], "row")
    if X.format == "coo":
        for places, size, name in zip(X.coords, X.shape, ("row", "column"), strict=False):
            _check_range(places, size, name)


def _check_starts(starts: np.ndarray, lines: int, stored: int) -> None:
    if (
        starts.size != lines + 1
        or starts[0] != 0
        or starts[-1] > stored
        or (starts[1:] < starts[:-1]).any()
    ):
        raise InputError(
            "X is a broken sparse matrix: its indptr does not rise from 0 to the number of entries"
        )


def _check_range(places: np.ndarray, size: int, name: str) -> None:
    if places.size and not 0 <= places.min() <= places.max() < size:
        raise InputError(f"X is a broken sparse matrix: a {name} number lies outside its {size}")


def stored(X: Matrix) -> int:
    """Give the number of entries stored."""
    return int(X.nnz if sparse.issparse(X) else X.size)


def radius(X: Matrix) -> float:
    """Give R = max ‖x‖ over the rows, measured from the origin."""
    return float(np.sqrt(largest_sqnorm(as_rows(without_duplicates(X), 0.0), X.shape[0])))


def without_duplicates(X: Matrix) -> Matrix:
    """Give X with the entries that a CSR matrix holds twice added up, for the sake of norms."""
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def check_finite(X: Matrix, names: Sequence[Any] | None = None, name: str = "X") -> None:
    """Refuse NaN, infinity and columns out of range, naming the first one."""
    if X.dtype == object:  # Python's numbers, each of which was looked at when it was taken
        return
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(values.sum(dtype=np.float64))
    if sparse.issparse(X) and X.indices.size:
        suspicious = suspicious or unsigned(X.indices).max() >= X.shape[1]
    if suspicious:
        refuse_unusable(X, 0, names=names, name=name)


def refuse_unusable(
    X: Matrix,
    first: int,
    *,
    scored: bool = False,
    names: Sequence[Any] | None = None,
    name: str = "X",
) -> None:
    """Raise for the first unusable row from `first` on, if there is one.

    With `scored`, row `first` had a score that is not finite, so it is refused in any case.
    """
    step = max(1, 2**22 // X.shape[1])
    for start in range(first, X.shape[0], step):
        rows, columns, values = _entries(X, start, min(start + step, X.shape[0]))
        bad = np.flatnonzero(~np.isfinite(values) | (columns >= X.shape[1]) | (columns < 0))
        if bad.size:
            k = bad[0]
            row, column = start + int(rows[k]), int(columns[k])
            if not 0 <= column < X.shape[1]:
                raise InputError(
                    f"row {row} of {name} has column {column}, but {name} has {X.shape[1]} columns"
                )
            _refuse_number(row, in_words(column, names or names_of(X)), values[k], name)
        if scored:
            raise InputError(
                f"the score of row {first} is too large for float64; divide X by a constant"
            )


def _entries(X: Matrix, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if sparse.issparse(X):  # SciPy's slices would leave out columns that are out of range
        inside = slice(X.indptr[start], X.indptr[stop])
        rows = np.repeat(np.arange(stop - start), np.diff(X.indptr[start : stop + 1]))
        return rows, X.indices[inside], X.data[inside]
    rows, columns = np.indices((stop - start, X.shape[1]))
    return rows.ravel(), columns.ravel(), X[start:stop].ravel()


def _refuse_number(row: int, column: str, value: float, name: str) -> None:
    """Refuse NaN or infinity; rows other than those of X are constraints, and none may be lost."""
    found = "NaN" if np.isnan(value) else "infinity"
    advice = "drop such rows or fill them in first" if name == "X" else "give a number"
    raise InputError(f"{name} contains {found} (row {row}, {column}); {advice}")


# ---- tables of other kinds


def as_numbers(X: Any) -> Any:
    """Give any table of numbers as a C-order array or a CSR matrix of float32 or float64.

    Scikit-learn converts what is known to hold numbers; it knows the frames and their pitfalls.
    """
    from sklearn.utils import check_array

    table = as_table(X)
    if not isinstance(table, list | tuple):  # lists may have rows of different lengths
        shape = table.shape if hasattr(table, "shape") else np.asarray(table).shape
        if len(shape) != 2 or 0 in shape:
            refuse_shape(shape)
    try:
        return check_array(
            table,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            input_name="X",
        )
    except OverflowError as error:
        raise InputError("X contains a number beyond float64; divide X by a constant") from error
    except (TypeError, ValueError) as error:
        _refuse_table(table, error)


def as_table(X: Any) -> Any:
    """Give X as it is if NumPy reads its numbers rightly, else as an array of those it holds.

    What cannot be a table of numbers is refused, by the name of its column if there is one.
    """
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(float), np.nan) if np.ma.is_masked(X) else X.data
    if isinstance(X, np.ndarray):
        return _array(np.asarray(X))  # products of an np.matrix are others than those of arrays
    _refuse_other_things(X)
    names = column_names(X)
    if names is None:
        return X
    if hasattr(X, "iloc") and all(_is_plain(kind) for kind in X.dtypes):
        return X
    found = [_numbers(column, in_words(j, names)) for j, column in enumerate(frame_columns(X))]
    if not all(column.dtype.kind in NUMBERS for column in found):
        return side_by_side(found)
    return np.column_stack(found) if hasattr(X, "iloc") else X  # others convert themselves faster


def _is_plain(kind: Any) -> bool:
    """Tell whether scikit-learn converts a pandas column of this type."""
    return kind.kind in NUMBERS and getattr(kind, "fill_value", 0) == 0


def frame_columns(X: Any) -> list[np.ndarray]:
    """Give the columns of a frame as arrays of whatever they hold."""
    if hasattr(X, "iloc"):
        return [np.asarray(X.iloc[:, j]) for j in range(X.shape[1])]
    columns = X.get_columns() if hasattr(X, "get_columns") else X.columns
    return [_as_array(column) for column in columns]


def _as_array(column: Any) -> np.ndarray:
    try:
        values = np.asarray(column)
    except Exception:  # Polars has an error of its own for integers too large for NumPy
        return np.array(column.to_list(), object)
    if values.ndim == 1:
        return values
    found = np.empty(len(column), object)  # of a column of structs NumPy makes a table
    found[:] = column.to_list()
    return found


def side_by_side(columns: list[np.ndarray]) -> np.ndarray:
    """Make one table of columns, each number as it is."""
    table = np.empty((columns[0].size, len(columns)), object)
    for j, column in enumerate(columns):
        table[:, j] = column
    return table


def _array(table: np.ndarray) -> np.ndarray:
    if table.dtype.names is not None:
        raise InputError(
            "X is a structured array; give numpy.lib.recfunctions.structured_to_unstructured(X)"
        )
    if table.ndim != 2 or table.dtype.kind in NUMBERS:
        return table
    found = []
    for j in range(table.shape[1]):
        pause()
        found.append(_numbers(table[:, j], in_words(j, None)))
    return side_by_side(found) if found and table.dtype.kind == "O" else table


def _numbers(values: np.ndarray, where: str) -> np.ndarray:
    """Give the numbers of a column, NaN where one is missing; refuse anything else."""
    if values.dtype.kind in NUMBERS:
        return values
    if values.dtype.kind == "c":
        raise InputError(COMPLEX)
    if values.dtype.kind in "mM" and values.size:
        _refuse(where, DATES if values.dtype.kind == "M" else DURATIONS, values, 0)
    with suppress(TypeError, ValueError, OverflowError):  # most objects are numbers
        values.astype(np.float64)
        return values
    found = np.array([np.nan if is_missing(value) else value for value in values], object)
    for row, value in enumerate(values):
        fault = None if is_missing(value) else _fault(value)
        if fault is not None:
            _refuse(where, fault, values, row)
    return found


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for one that is not there: None, pandas.NA or NaT."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _fault(value: Any) -> str | None:
    """Say what a value is that is no number; None if it is one."""
    try:
        float(value)
    except OverflowError:
        return None  # a number, but too large: whoever wants floats says so
    except ValueError:
        return TEXT
    except TypeError:
        if isinstance(value, complex | np.complexfloating):
            raise InputError(COMPLEX) from None
        if hasattr(value, "total_seconds"):
            return DURATIONS
        return DATES if hasattr(value, "year") or hasattr(value, "tzinfo") else OTHERS
    return None


class _OtherKindError(InputError, TypeError):
    """What float() raises, and scikit-learn's checks expect, for what is not even text."""


def _refuse(where: str, what: str, values: np.ndarray, row: int) -> NoReturn:
    raise (_OtherKindError if what is OTHERS else InputError)(
        f"{where} of X holds {what} ({values[row]!s:.40} in row {row}); {ADVICE[what]}, or leave "
        "the column out"
    )


def _refuse_other_things(X: Any) -> None:
    """Refuse what is no table at all, or not yet."""
    kind = type(X).__name__
    if hasattr(X, "collect"):
        raise InputError(f"X is a {kind}, which holds no rows yet; give X.collect()")
    if X is None or isinstance(X, set):
        what = "None" if X is None else "a set"
        raise InputError(f"X is {what}; give an array, a sparse matrix, a frame or a list of rows")
    if hasattr(X, "X") and hasattr(X, "y"):
        raise InputError(f"X is a pair of rows and labels, {kind}; give both, as in fit(*examples)")
    if isinstance(X, str | bytes):
        raise InputError(
            f"X is text, {X!r:.60}; to use a file, read it first: X, y = rosenblatt.read(path)"
        )
    if isinstance(X, Mapping) and not sparse.issparse(X):
        raise InputError(f"X is a {kind}; give a table, such as pandas.DataFrame(X)")
    if isinstance(X, Iterable) and not isinstance(X, Sized) and not hasattr(X, "__array__"):
        raise InputError(f"X is a {kind}, which can be read only once; give list(X)")
    if isinstance(X, list | tuple) and any(isinstance(row, Mapping) for row in X):
        raise InputError(
            "X is a list of dicts; give a table, such as pandas.DataFrame(X).fillna(0), or "
            "scikit-learn's DictVectorizer().fit_transform(X), or learn row by row with learn_one"
        )


def _refuse_table(X: Any, error: Exception) -> NoReturn:
    """Say in one sentence what scikit-learn could not convert."""
    if str(error).startswith("Complex data"):  # and goes on with the numbers
        raise InputError(COMPLEX) from None
    if isinstance(X, list | tuple):
        table = as_table(table_of_lists(X))  # which knows the entry, if there is one to blame
        if table.ndim != 2 or 0 in table.shape:
            refuse_shape(table.shape)
    raise InputError(" ".join(str(error).split())) from error


def table_of_lists(X: Any) -> np.ndarray:
    """Build a table of objects from a list of rows, refusing rows of different lengths."""
    sizes = [len(row) if isinstance(row, Sized) else 0 for row in X]
    other = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
    if other is not None:
        raise InputError(
            f"the rows of the table differ in length: row 0 has {sizes[0]} numbers, row {other} "
            f"has {sizes[other]}; give as many for each"
        )
    return np.array(X, object)


def refuse_shape(shape: tuple[int, ...]) -> NoReturn:
    """Refuse an array that has no rows and columns, in scikit-learn's words."""
    if len(shape) == 2:
        raise InputError(
            f"Found array with 0 {'feature' if shape[0] else 'sample'}(s) (shape={shape}) while a "
            "minimum of 1 is required; give at least one row and one column"
        )
    if len(shape) > 2:
        raise InputError(
            f"Found array with dim {len(shape)}, while dim <= 2 is required: X has the shape "
            f"{shape}; give X.reshape({shape[0]}, -1) to make one row of each of its parts"
        )
    raise InputError(
        f"Expected 2D array, got {'1D array' if shape else 'scalar array'} instead: X has the "
        f"shape {shape}. Reshape your data: X.reshape(-1, 1) if it is one column, "
        "X.reshape(1, -1) if it is one row"
    )
