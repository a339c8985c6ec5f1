"""Examples: rows and labels, taken as they are given and validated once, at the edge.

What is taken without a copy: a C-order NumPy array of float32 or float64, and a SciPy CSR matrix
of those. Everything else that stands for a table of numbers (other SciPy formats, other number
types and orders, lists, pandas, Polars and Arrow frames) is converted once, with a
`LargeCopyWarning` from 64 MiB on.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.columns import as_numbers, column_names, in_words, is_missing
from rosenblatt.errors import InputError, LargeCopyWarning
from rosenblatt.names import Columns, names_of, remember
from rosenblatt.rows import Dense, Rows, Sparse, largest_sqnorm

Matrix = Any  # np.ndarray or scipy.sparse CSR; SciPy ships no types

LARGE_COPY = 64 * 2**20


@dataclass(frozen=True)
class Examples:
    """Rows X and their labels y; unpacks as ``X, y`` without a copy.

    X is a NumPy array or a CSR matrix; y is None where a file has no labels. The columns may have
    names, one each, which learners find again: X alone is enough for that. The rows may have
    weights. `columns` holds all that is known of the columns.

    Examples
    --------
    >>> import numpy as np, rosenblatt as rb
    >>> X, y = rb.Examples(np.eye(2), np.array([1, -1]))
    """

    X: Matrix
    y: Any
    names: tuple[str, ...] | None = None
    weights: np.ndarray | None = None
    columns: Columns | None = None

    def __post_init__(self) -> None:
        columns = self.columns
        if columns is None and self.names is not None:
            columns = Columns(tuple(self.names))
        if columns is not None:
            object.__setattr__(self, "columns", columns)
            object.__setattr__(self, "names", columns.names)
            remember(self.X, columns)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def part(self, rows: Any) -> Examples:
        """Give some of the rows, as a slice or an array of row numbers says."""
        y, weights = (None if each is None else each[rows] for each in (self.y, self.weights))
        return replace(self, X=self.X[rows], y=y, weights=weights)


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


def levels_inside() -> int:
    """Count the frames of this package at the top of the stack: warnings name the caller's line."""
    frame, levels = sys._getframe(1), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("rosenblatt"):
        frame, levels = frame.f_back, levels + 1  # type: ignore[assignment]
    return levels


def is_ready(X: Any) -> bool:
    """Tell whether X can be used without a copy."""
    if type(X) is np.ndarray or isinstance(X, np.memmap):
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
    """View a matrix as rows for the loops, lifted by a constant (theory D7; 0 for not lifted)."""
    if not sparse.issparse(X):
        return Dense(writable_alias(X), lift)
    return Sparse(unsigned(X.indptr), unsigned(X.indices), writable_alias(X.data), lift)


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
        or np.any(starts[1:] < starts[:-1])
    ):
        raise InputError(
            "X is a broken sparse matrix: its indptr does not rise from 0 to the number of entries"
        )


def _check_range(places: np.ndarray, size: int, name: str) -> None:
    if places.size and not 0 <= places.min() <= places.max() < size:
        raise InputError(f"X is a broken sparse matrix: a {name} number lies outside its {size}")


def radius(X: Matrix, lift: float = 0.0) -> float:
    """Give R = max ‖x‖ over the (lifted) rows, measured from the origin."""
    return float(np.sqrt(largest_sqnorm(as_rows(without_duplicates(X), lift), X.shape[0])))


def without_duplicates(X: Matrix) -> Matrix:
    """Give X with the entries that a CSR matrix holds twice added up, for the sake of norms."""
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def check_finite(X: Matrix, names: Sequence[Any] | None = None) -> None:
    """Refuse NaN, infinity and columns out of range, naming the first one."""
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(values.sum(dtype=np.float64))
    if sparse.issparse(X) and X.indices.size:
        suspicious = suspicious or unsigned(X.indices).max() >= X.shape[1]
    if suspicious:
        refuse_unusable(X, 0, names=names)


def refuse_unusable(
    X: Matrix, first: int, *, scored: bool = False, names: Sequence[Any] | None = None
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
            _refuse_entry(
                start + int(rows[k]), int(columns[k]), values[k], X.shape[1], names or names_of(X)
            )
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


def _refuse_entry(
    row: int, column: int, value: float, width: int, names: Sequence[Any] | None
) -> None:
    if not 0 <= column < width:
        raise InputError(f"row {row} of X has column {column}, but X has {width} columns")
    name = "NaN" if np.isnan(value) else "infinity"
    raise InputError(
        f"X contains {name} (row {row}, {in_words(column, names)}); "
        "drop such rows or fill them in before fitting"
    )


def as_labels(y: Any, n: int) -> np.ndarray:
    """Give the labels as a one-dimensional array, objects where NumPy has no type for them."""
    if y is None:
        raise InputError(
            "labels are missing: this learner requires y to be passed, but the target y is None"
        )
    _refuse_other_things(y)
    labels = np.asarray(y) if hasattr(y, "__array__") else _from_list(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        _warn_column_vector()
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(
            f"labels must be one column, got an array of shape {labels.shape}; if each row marks "
            "its class, give y.argmax(axis=1)"
        )
    if labels.size != n:
        raise InputError(f"X has {n} rows but y has {labels.size} labels; give one for each row")
    if labels.dtype.kind in "fc" and not np.isfinite(labels).all():
        raise InputError("y contains NaN or infinity; every row needs a label")
    _refuse_missing(labels)
    return labels


def _refuse_other_things(y: Any) -> None:
    """Refuse what has no labels in an order, or not yet."""
    kind = type(y).__name__
    if hasattr(y, "collect"):
        raise InputError(f"labels must be a list or an array, got a {kind}; give y.collect()")
    if sparse.issparse(y):
        raise InputError(f"labels must be a list or an array, got a {kind}; give y.toarray()")
    if np.ma.is_masked(y):
        row = int(np.argmax(np.ma.getmaskarray(y).ravel()))
        raise InputError(f"y is masked in row {row}; every row needs a label")
    listed = isinstance(y, Iterable) and not isinstance(y, str | bytes | Mapping | Set)
    if not hasattr(y, "__array__") and not listed:
        raise InputError(f"labels must be a list or an array, got {y!r:.60}")


def _refuse_missing(labels: np.ndarray) -> None:
    """Refuse None, NaN, NaT and pandas.NA among labels."""
    if labels.dtype.kind in "mM":
        labels = as_objects([None if np.isnat(label) else label for label in labels])
    if labels.dtype != object:
        return
    with suppress(TypeError):  # what cannot be hashed is refused as such, by `distinct`
        if any(map(_is_missing, set(labels.tolist()))):
            row = next(row for row, label in enumerate(labels) if _is_missing(label))
            raise InputError(f"y contains {labels[row]!r} (row {row}); every row needs a label")


def _is_missing(label: Any) -> bool:
    if isinstance(label, float | np.floating):
        return bool(label != label)
    return is_missing(label)


def _from_list(y: Any) -> np.ndarray:
    """Build an array of labels without turning tuples into rows or numbers into strings."""
    items = list(y)
    kinds = {type(item) for item in items}
    if len(kinds) == 1 and issubclass(kinds.pop(), (int, float, str, bytes, np.generic, list)):
        labels = np.asarray(items)
        rounded = labels.dtype.kind == "f" and isinstance(items[0], int)  # beyond 64 bits
        return as_objects(items) if rounded else labels
    return as_objects(items)


def as_objects(items: list[Any]) -> np.ndarray:
    """Build a one-dimensional array of objects."""
    labels = np.empty(len(items), object)
    labels[:] = items
    return labels


def _warn_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; it was flattened",
        DataConversionWarning,
        stacklevel=levels_inside() + 1,
    )


def distinct(labels: np.ndarray) -> np.ndarray:
    """Give the distinct labels: sorted where they can be, else in order of appearance."""
    if labels.dtype != object:
        return _few_distinct(labels)
    try:
        found = dict.fromkeys(labels.tolist())
    except TypeError:
        raise InputError("labels must be hashable, such as numbers, strings or tuples") from None
    return in_order(list(found))


def two_classes(labels: np.ndarray) -> np.ndarray:
    """Give the distinct labels, refusing any number of them but two."""
    classes = distinct(labels)
    if classes.size == 2:
        return classes
    some = ", ".join(repr(label) for label in classes[:5].tolist())
    some += ", …" if classes.size > 5 else ""
    if classes.size < 2:
        got = f"1 class ({some})" if classes.size else "none, since there are no rows"
        raise InputError(f"labels must be two classes, got {got}")
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        raise InputError(
            f"Unknown label type: continuous. Labels must be two classes, got {classes.size} "
            f"different numbers ({some}); a classifier needs classes, not measurements"
        )
    raise InputError(
        "Only binary classification is supported. The type of the target is multiclass: "
        f"labels must be two classes, got {classes.size} ({some})"
    )


def joint_classes(labels: np.ndarray, given: Any, known: np.ndarray | None) -> np.ndarray:
    """Give the classes of a stream: those known or given, else those known and in the labels."""
    found = distinct(labels)
    old = [] if known is None else known.tolist()
    if given is not None:
        seen, found = found, distinct(as_labels(given, len(given)))
        if set(old) - set(found.tolist()):
            raise InputError(
                f"classes={found.tolist()} is not the same as on the last call, {old}; classes "
                "may be added, but not left out"
            )
        strangers = [label for label in seen.tolist() if label not in found.tolist()]
        if strangers:
            raise InputError(
                f"label {strangers[0]!r} is not one of the classes, {_names(found)}; give all of "
                "them, or none"
            )
    news = [label for label in found.tolist() if label not in old]
    if known is not None:
        found = distinct(as_labels(old + news, len(old) + len(news))) if news else known
    refuse_measurements(found)
    return found


def refuse_measurements(classes: np.ndarray) -> None:
    """Refuse more than two classes that are numbers with fractions."""
    if classes.size > 2 and classes.dtype.kind == "f" and np.any(classes != np.floor(classes)):
        some = ", ".join(repr(label) for label in classes[:5].tolist())
        raise InputError(
            f"Unknown label type: continuous. The labels are {classes.size} different numbers "
            f"({some}{', …' if classes.size > 5 else ''}); a classifier needs classes, not "
            "measurements"
        )


def _names(classes: np.ndarray) -> str:
    names = [repr(label) for label in classes.tolist()]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def in_order(labels: list[Hashable]) -> np.ndarray:
    """Put distinct labels in order, if they have one, in an array of objects."""
    with suppress(TypeError):  # labels of several types have no order: keep that of appearance
        labels = sorted(labels)  # type: ignore[type-var]
    return as_objects(labels)


def _few_distinct(labels: np.ndarray) -> np.ndarray:
    """Find one or two distinct labels in linear time; sort only if there are more."""
    others = labels != labels[:1]
    if not others.any():
        return labels[:1].copy()
    place = int(np.argmax(others))
    if np.array_equal(labels == labels[place], others):
        return np.sort(labels[[0, place]])
    return np.unique(labels)


def as_signs(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Give -1 for the first class and +1 for the second, as int8."""
    negative = _equal(labels, classes[0])
    signs = negative.view(np.int8) * np.int8(-2)
    signs += np.int8(1)
    known = negative | _equal(labels, classes[-1])
    if not known.all():
        place = int(np.argmin(known))
        stranger = labels[place : place + 1].tolist()[0]
        raise InputError(f"label {stranger!r} is not one of the classes, {_names(classes)}")
    return signs


def _equal(labels: np.ndarray, label: Any) -> np.ndarray:
    if labels.dtype == object:
        return np.fromiter((item == label for item in labels), bool, labels.size)
    return np.asarray(labels == label)
