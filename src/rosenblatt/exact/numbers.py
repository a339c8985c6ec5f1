"""Data as the exact numbers that they stand for, and sums over them in integers.

A float is the rational number that it stands for, in a table of decimals the number that was
written; integers and fractions are themselves. A matrix is held in floats where that loses nothing,
and as an array of Python numbers where it would.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number, plain_number
from rosenblatt.decimals import is_decimal, marked, numbers_in, written_numbers
from rosenblatt.errors import InputError
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

MANTISSA = 53
DIGIT, FEW_ROWS = 21, 2**10  # binary digits: sums of so many products are below 2^53
LAST_DIGIT, IN_CACHE = 2**DIGIT - 1, 64
MOST_DIGITS = 8 * DIGIT  # of longer numbers, Python's own integers are as quick
WHOLE: int = 2**MANTISSA  # integers up to this one are float64

Totals = dict[int, int]  # sums by column


def rows_of(X: np.ndarray) -> Iterator[list[Any]]:
    """Give the rows of an array of Python numbers, with a pause before each."""
    for row in X:
        pause()
        yield row.tolist()


class Whole(NamedTuple):
    """Numbers as integers over one positive denominator."""

    numbers: list[int]
    denominator: int


def whole(values: Iterable[Number]) -> Whole:
    """Scale exact numbers to integers."""
    ratios = [value.as_integer_ratio() for value in values]
    common = math.lcm(*{q for _, q in ratios})
    return Whole([p * (common // q) for p, q in ratios], common)


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
        floats, numbers = [_nearest(value) for value in table.flat], table.ravel().tolist()
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
    return "decimal" if is_decimal(X) else str(X.dtype)


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
    rows = rows_of(exact.reshape(len(exact), -1))
    floats = np.array([_nearest(value) for row in rows for value in row]).reshape(table.shape)
    return floats if bool((floats == exact).all()) else exact


def _as_number(value: Any) -> Any:
    return int(value) if isinstance(value, bool | np.bool_) else value


def _nearest(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


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


def exact_dot(entries: Sequence[tuple[int, Number]], w: Sequence[Number] | Whole) -> Fraction:
    """Give Σ value·w[column], exactly."""
    if not isinstance(w, Whole):
        w = whole(w)
    values, common = whole([value for _, value in entries])
    total = sum(map(mul, values, [w.numbers[column] for column, _ in entries]))
    return Fraction(total, common * w.denominator)


def exact_sum(terms: Iterable[tuple[int, Sequence[tuple[int, Number]]]]) -> dict[int, Fraction]:
    """Give Σ weight·row over pairs of an integer weight and a row, without the zeros."""
    totals: dict[int, int] = {}
    scale = 1
    for weight, entries in terms:
        values, common = whole([value for _, value in entries])
        if scale % common:
            factor = common // math.gcd(scale, common)
            totals = {column: total * factor for column, total in totals.items()}
            scale *= factor
        weight *= scale // common
        for (column, _), value in zip(entries, values, strict=True):
            totals[column] = totals.get(column, 0) + weight * value
    return {column: Fraction(total, scale) for column, total in totals.items() if total}


def weighted_sum(X: Matrix, rows: Sequence[int], factors: Sequence[int]) -> tuple[Totals, int]:
    """Give Σ factor·x over some rows: integers by column, without the zeros, and a denominator."""
    if is_exact(X) or is_decimal(X):
        sums = exact_sum((y, exact_row(X, i)) for y, i in zip(factors, rows, strict=True))
        numbers, common = whole(sums.values())
        return dict(zip(sums, numbers, strict=True)), common
    chosen, weights = X[np.asarray(rows, np.int64)], np.array(factors, object)
    if not sparse.issparse(chosen):
        added, common = _dense_sum(chosen, factors)
        pairs: Iterable[tuple[int, int]] = enumerate(added.tolist())
    else:
        integers, common = _integers(chosen.data)
        terms = integers * np.repeat(weights, np.diff(chosen.indptr))
        order = np.argsort(chosen.indices, kind="stable")
        columns, starts = np.unique(chosen.indices[order], return_index=True)
        added = np.add.reduceat(terms[order], starts).tolist() if order.size else []
        pairs = zip(columns.tolist(), added, strict=True)
    return {column: total for column, total in pairs if total}, common


def _dense_sum(X: np.ndarray, weights: Sequence[int]) -> tuple[np.ndarray, int]:
    """Give Σ weight·x and a denominator: digit by digit, in floats that hold all partial sums."""
    numbers, shifts, power = _parts(X)
    width = MANTISSA + int(shifts.max(initial=0))
    longest = max(map(abs, weights), default=0).bit_length()
    if max(width, longest) > MOST_DIGITS:
        integers, common = _integers(X)
        return np.asarray(np.array(weights, object) @ integers), common
    digits = np.array([[_digit(y, at) for y in weights] for at in range(0, longest, DIGIT)])
    totals = np.zeros(X.shape[1], object)
    for start in range(0, len(weights) if longest else 0, FEW_ROWS):
        sums = np.zeros((-(-width // DIGIT), len(digits), X.shape[1]))
        for first in range(start, min(start + FEW_ROWS, len(weights)), IN_CACHE):
            at = slice(first, min(first + IN_CACHE, start + FEW_ROWS))
            for place, found in enumerate(sums):
                found += digits[:, at] @ _digits_at(numbers[at], shifts[at], place * DIGIT)
        for place, found in enumerate(sums):
            for other, row in enumerate(found):
                totals += row.astype(np.int64).astype(object) << DIGIT * (place + other)
    return (totals << power, 1) if power > 0 else (totals, 1 << -power)


def _digit(value: int, at: int) -> float:
    digit = float((abs(value) >> at) & LAST_DIGIT)
    return digit if value > 0 else -digit


def _digits_at(numbers: np.ndarray, shifts: np.ndarray, at: int) -> np.ndarray:
    """Give the digits of numbers·2^shift from some place on, with the signs of the numbers."""
    sizes, down = np.abs(numbers), at - shifts
    above = sizes >> np.clip(down, 0, 63)
    below = (sizes & LAST_DIGIT) << np.clip(-down, 0, DIGIT)
    return np.asarray(np.copysign(np.where(down >= 0, above, below) & LAST_DIGIT, numbers))


def _parts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Give integers, and shifts to the left, that make floats over one power of two."""
    mantissas, powers = np.frexp(values.astype(np.float64))
    numbers = np.ldexp(mantissas, MANTISSA).astype(np.int64)
    used = numbers != 0
    lowest = int(powers.min(where=used, initial=1100))
    return numbers, np.where(used, powers - lowest, 0), lowest - MANTISSA if used.any() else 0


def _integers(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Give floats as Python's integers over one power of two."""
    numbers, shifts, power = _parts(values)
    if shifts.max(initial=0) < 63 - MANTISSA:
        scaled = (numbers << shifts).astype(object)
    else:
        scaled = numbers.astype(object) << shifts.astype(object)
    return (scaled << power, 1) if power > 0 else (scaled, 1 << -power)


def six_digits(value: Number, rounding: str) -> str:
    """Write six digits, rounded so that what is said of them stays true."""
    return str(Context(6, rounding, MIN_EMIN, MAX_EMAX).divide(*value.as_integer_ratio()))


def rounded_down(value: Fraction) -> float:
    """Give the largest float that is not above a number."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.nextafter(math.inf, 0.0) if value > 0 else -math.inf
    return nearest if nearest <= value else math.nextafter(nearest, -math.inf)


def root_rounded_up(square: Fraction) -> float:
    """Give the smallest float whose square is at least a number; infinity if there is none."""
    p, q = square.as_integer_ratio()
    shift = max(0, 64 - (p.bit_length() - q.bit_length()) // 2)
    below = Fraction(math.isqrt((p << 2 * shift) // q), 1 << shift)
    root = max(rounded_down(below), 0.0)
    while root < math.inf and Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def norm_above(numbers: Sequence[Number]) -> Number:
    """Give a number that is at least the norm of a vector, and hardly more."""
    if set(map(type, numbers)) == {float}:
        with np.errstate(over="ignore"):
            squares = np.array(numbers, np.float64) ** 2
        if 1e-200 < squares.max() < 1e200:
            # Squares err by 2^-53 of themselves, or vanish below 1e-308; their sum is rounded once.
            total = math.fsum(squares.tolist()) + len(numbers) * 1e-300
            return math.sqrt(total) * (1 + 2.0**-50)
    square = sum((Fraction(value) ** 2 for value in numbers), Fraction(0))
    root = root_rounded_up(square)
    if 0 < root < math.inf:
        return root
    p, q = square.as_integer_ratio()  # beyond all floats
    return Fraction(math.isqrt(p * q) + 1, q)
