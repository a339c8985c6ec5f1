"""Data as the exact numbers that they stand for.

A float is the rational number that it stands for, in a table of decimals the number that was
written; integers and fractions are themselves. A matrix is held in floats where that loses nothing,
and as an array of Python numbers where it would.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number, plain_number
from rosenblatt.decimals import is_decimal, marked, numbers_in, written_numbers
from rosenblatt.errors import InputError
from rosenblatt.exact.rounding import nearest_float
from rosenblatt.matrices import (
    Matrix,
    as_matrix,
    as_table,
    check_finite,
    frame_columns,
    is_ready,
    refuse_unusable,
    side_by_side,
    table_of_lists,
    unsigned,
    without_duplicates,
)
from rosenblatt.names import Columns, column_names, in_words, names_of, remember
from rosenblatt.pauses import pause

WHOLE = 2**53  # integers up to this one are float64


def rows_of(X: np.ndarray) -> Iterator[list[Any]]:
    """Give the rows of an array of Python numbers, with a pause before each."""
    for row in X:
        pause()
        yield row.tolist()


def exact_matrix(X: Any, name: str = "X") -> Matrix:
    """Give X as a matrix of floats where that loses nothing, else as an array of objects.

    The entries that a sparse matrix holds twice are added up, in floats.
    """
    if getattr(X, "ndim", 0) == 2 and X.shape[0] == 0 < X.shape[1]:
        return np.empty(X.shape)
    table = X if sparse.issparse(X) or is_decimal(X) else _as_table(X)
    if table.ndim != 2 or 0 in table.shape:
        raise InputError(
            f"a table with rows and columns is needed, got one of shape {table.shape}; give a list "
            "of rows, each a list of numbers"
        )
    if sparse.issparse(X):
        return _exact_sparse(X)
    if is_decimal(X):
        return X if is_ready(X) else X.copy()
    names = column_names(X)
    if table.dtype == object or not _fits_floats(table):
        return _exact_objects(table, name, names)
    matrix = as_matrix(table)
    if names is not None:
        check_finite(matrix, names, name)
    return matrix


def _as_table(X: Any) -> np.ndarray:
    """Give a table as an array, of objects where the columns of a frame would be rounded."""
    table = as_table(X)
    if column_names(X) is not None:
        columns = frame_columns(X)
        return np.asarray(table) if all(map(_fits_floats, columns)) else side_by_side(columns)
    return table_of_lists(table) if isinstance(table, list | tuple) else np.asarray(table)


def exact_vector(values: Any, size: int, name: str) -> np.ndarray:
    """Give numbers as a float64 vector where that loses nothing, else as a vector of objects."""
    if is_decimal(values) and values.shape == (size,) and np.isfinite(values).all():
        return values
    table = _as_array(values)
    if table.shape != (size,):
        raise InputError(f"{name} needs {size} numbers, got an array of shape {table.shape}")
    if table.dtype.kind not in "fiub" or not _fits_floats(table):
        return _exact_objects(table, name) if size else np.empty(0)
    if not np.isfinite(table).all():
        raise InputError(f"{name} contains NaN or infinity")
    return np.ascontiguousarray(table, np.float64)


def is_exact(X: Matrix) -> bool:
    """Tell whether a matrix is one of Python numbers, which only Python can compute with."""
    return bool(X.dtype == object)


def as_decimals(X: Any) -> Matrix:
    """Take floats for the decimals that they are printed as, so that 0.1 stands for 1/10.

    `separate`, `solve`, `max_margin`, `mistake_bound` and `verify` are then about these numbers;
    learners see floats, as ever.

    Parameters
    ----------
    X : array-like or sparse matrix
        Numbers, in rows and columns or in a vector.

    Returns
    -------
    ndarray or CSR matrix of float64
        The same floats, marked as decimals; not copied if they are float64 already.

    See Also
    --------
    read : ``read(path, exact=True)`` reads decimals.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> A, b = [[1, 0], [0, 1], [1, 1]], [0.1, 0.2, 0.3]
    >>> rb.solve(A, b, equal=True).verdict  # 0.1 + 0.2 is not 0.3 in floats
    'infeasible'
    >>> rb.solve(A, rb.as_decimals(b), equal=True).verdict
    'feasible'
    """
    if is_decimal(X):
        return X
    names = names_of(X)
    flat = not sparse.issparse(X) and np.ndim(X) == 1
    table = exact_vector(X, len(X), "X") if flat else exact_matrix(X)
    if is_exact(table):
        floats, numbers = [nearest_float(value) for value in table.flat], table.ravel().tolist()
        found = marked(np.array(floats).reshape(table.shape), written_numbers(floats, numbers))
    else:
        found = marked(table if table.dtype == np.float64 else _as_printed(table))
    if names:
        remember(found, Columns(names))
    return found


def _as_printed(X: Matrix) -> Matrix:
    """Give float32 numbers as the float64 that prints alike."""
    values = X.data if sparse.issparse(X) else X
    known, places = np.unique(values, return_inverse=True)
    printed = known.astype(str).astype(np.float64)[places].reshape(values.shape)
    if not sparse.issparse(X):
        return printed
    return sparse.csr_matrix((printed, X.indices, X.indptr), X.shape)


def number_type(X: Matrix, *vectors: np.ndarray) -> str:
    """Name the numbers of data as certificates do."""
    if any(map(is_exact, (X, *vectors))):
        return "exact"
    return "decimal" if is_decimal(X) else f"float{8 * X.dtype.itemsize}"


def is_plain(X: Matrix) -> bool:
    """Tell whether the numbers of a matrix are its floats themselves."""
    return not (is_exact(X) or is_decimal(X))


def _exact_sparse(X: Matrix) -> Matrix:
    if X.format in ("dok", "lil"):  # which do not hold their numbers in one array
        X = X.tocsr()
    if X.data.dtype.kind in "iu" and not _fits_floats(X.data):
        raise InputError(
            "X is a sparse matrix of integers beyond 2^53; give it as a dense array of them"
        )
    X = as_matrix(X)
    if X.indices.size and unsigned(X.indices).max() >= X.shape[1]:
        refuse_unusable(X, 0)
    return without_duplicates(X)


def _as_array(X: Any) -> np.ndarray:
    """Give an array; of objects for lists: NumPy would round the large integers among floats."""
    if hasattr(X, "__array__"):
        return np.asarray(X)
    try:
        return np.array(X, object)
    except ValueError as error:
        raise InputError(f"not a table of numbers: {error}") from error


def _fits_floats(table: np.ndarray) -> bool:
    if table.dtype.kind in "iu" and table.size:
        return int(table.min()) >= -WHOLE and int(table.max()) <= WHOLE
    return not (table.dtype.kind == "f" and table.dtype.itemsize > 8)


def _exact_objects(table: np.ndarray, name: str, names: list[Any] | None = None) -> np.ndarray:
    """Turn any numbers into floats, or into Python numbers if that would lose any."""
    exact = np.empty(table.shape, object)
    for place, value in np.ndenumerate(table):
        if not place[-1]:
            pause()
        number = plain_number(_as_number(value))
        if number is None:
            where = f"{name}{list(place)}"
            if names is not None:
                where = f"row {place[0]}, {in_words(place[1], names)} of {name}"
            raise InputError(f"{where} is {value!r:.80}, which is not a finite number; replace it")
        exact[place] = number
    rows = exact.reshape(len(exact), -1)
    floats = np.array([nearest_float(value) for row in rows_of(rows) for value in row])
    for near, row in zip(floats.reshape(rows.shape), rows, strict=True):
        pause()
        if not (near == row).all():  # compared as Python numbers, exactly
            return exact
    return floats.reshape(table.shape)


def _as_number(value: Any) -> Any:
    return int(value) if isinstance(value, bool | np.bool_) else value


def exact_row(X: Matrix, i: int) -> list[tuple[int, Number]]:
    """Give the entries of row i that are not zero, as pairs of a column and its exact number."""
    pause()
    if sparse.issparse(X):
        inside = slice(X.indptr[i], X.indptr[i + 1])
        columns, values = X.indices[inside].tolist(), X.data[inside].tolist()
    else:
        columns, values = range(X.shape[1]), X[i].tolist()
    numbers = numbers_in(X, values)
    return [(column, value) for column, value in zip(columns, numbers, strict=True) if value]


def exact_list(values: np.ndarray) -> list[Number]:
    """Give the exact numbers of a vector."""
    return numbers_in(values, values.tolist())
