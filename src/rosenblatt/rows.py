"""Rows: the only place that knows how examples lie in memory.

A set of rows is a `Dense` or a `Sparse` NamedTuple, one row of a stream is a `Single`. Loops never
look inside; they call

    dot(rows, i, w)        x·w for row i; NaN if a column lies outside w
    inner(rows, i, w)      x·w for row i, whose columns were checked: quicker, if few are not 0
    dots(rows, i, W, out)  x·w for each row w of W, all of them NaN if a column lies outside W
    add(rows, i, a, w)     w ← w + a·x
    sqnorm(rows, i)        ‖x‖²
    unpack(rows, i, ...)   copy the entries of row i that are not 0, as columns and values
    size(rows, i)          how many multiply-adds each of the above costs
    prefetch(rows, i)      ask the memory for row i, a little before it is needed
    prefetch_early(rows, i)  the same, a while before
    locate(rows, i)        ask where row i lies, longer before

so every algorithm is written once. Row i stands for the *lifted* example (x, lift) of theory D7:
w has one entry more than x has columns, and `lift = 0` switches the added coordinate off.
Nothing is copied to lift a data set.

Values are float32 or float64, taken as they are; w and every sum are float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, Never, cast

import numpy as np
from numba.extending import overload

from rosenblatt.lanes import (
    CACHE_LINE,
    called_product,
    dense_product,
    dense_push,
    prefetch_entry_early,
    prefetch_run,
    prefetch_run_early,
    product,
)
from rosenblatt.loops import FAST, PIECE, F, loop

UNIT = 2.0**-53  # unit round-off of float64

# In stored order, products of rows ask for entries so far ahead. Measured on an Intel Xeon: a pass
# over dense float32 rows of 784 columns takes 22.9 ms with 512, 25 with 128, 31 with 1024 and 27
# with none; over 54 columns of float32, 2.9 ms instead of 4.6; over 238 MB of sparse rows, 21 ms
# with 384 to 640, 22 with 1024 and 28 with none. On an AMD EPYC, these take 13.9 ms with 512, 13.3
# with 768 to 1536 and 22 with none, and rows that lie in a cache gain nothing by more.
ENTRIES_AHEAD = 512

# In shuffled order, rows are asked for this many rows before their turn. Short dense rows need more
# of a distance: scores of covtype's 54 columns take 9 ms with 12 kB of it, 10 with 8 kB, 15 with
# 4 kB. Sparse rows of 75 entries gain a third. Passes, which do little else, ask for them early
# (see `lanes`); sweeps do not gain by that. Where a row lies is asked for twice as early, since
# processors find pages one after the other: covtype takes 43 ms instead of 48 (Intel Xeon), sparse
# rows of 75 entries 24 instead of 27, dense ones of 784 columns 18 instead of 21 (AMD EPYC).
BYTES_AHEAD = 12288
LEAST_ROWS_AHEAD = 2
SPARSE_ROWS_AHEAD = 8

LONG_ROW = 48  # entries from which on strides pay where columns were checked before


class Dense(NamedTuple):
    """Rows of a C-order matrix."""

    values: np.ndarray
    lift: float


class Sparse(NamedTuple):
    """Rows of a compressed sparse row matrix; the index arrays are unsigned views."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    lift: float


class Single(NamedTuple):
    """One sparse row; its columns are signed, in any order."""

    columns: np.ndarray
    values: np.ndarray
    lift: float


Rows = Dense | Sparse


def span(rows: Rows, start: int, stop: int) -> Rows:
    """Give the rows from one on up to another, in place."""
    if isinstance(rows, Dense):
        return rows._replace(values=rows.values[start:stop])
    return rows._replace(starts=rows.starts[start : stop + 1])


def primitive(chooser: F) -> F:
    """Make a primitive of what chooses its body: Numba calls that with the types of arguments."""

    @wraps(chooser)
    def outside(*arguments: Any) -> Never:
        raise TypeError(f"{chooser.__name__} is called from compiled loops")

    chooser.__annotations__ = {}  # which Numba would want to find in the bodies, too
    overload(outside, jit_options={**PIECE, **FAST})(chooser)
    return cast(F, outside)


def is_dense(rows: Any) -> bool:
    """Whether a Numba type is that of `Dense` rows."""
    return getattr(rows, "instance_class", None) is Dense


def by_kind(rows: Any, dense: Any, sparse: Any, single: Any = None) -> Any:
    """Give the body for a Numba type of rows."""
    if single is not None and getattr(rows, "instance_class", None) is Single:
        return single
    return dense if is_dense(rows) else sparse


@primitive
def dot(rows: Rows | Single, i: int | np.int64, w: np.ndarray, in_turn: bool = False) -> Any:
    """Give x·w for the lifted row i, NaN if a column lies outside w.

    Where rows come `in_turn`, as they lie, entries of later ones are asked for on the way.
    """

    def dense(rows, i, w, in_turn=False):  # type: ignore[no-untyped-def]
        if rows.values.shape[1] >= w.size:
            return np.nan
        ahead = ENTRIES_AHEAD if in_turn else 0
        return dense_product(rows.values, np.int64(i), w, ahead) + rows.lift * w[w.size - 1]

    def sparse(rows, i, w, in_turn=False):  # type: ignore[no-untyped-def]
        at = np.uint64(i)  # a number below 0 would be looked for, and counted from the end
        start, stop = np.int64(rows.starts[at]), np.int64(rows.starts[at + np.uint64(1)])
        ahead = ENTRIES_AHEAD if in_turn else 0
        total = product(rows.columns, rows.values, w, (start, stop), ahead)
        return total + rows.lift * w[w.size - 1]

    def single(rows, i, w, in_turn=False):  # type: ignore[no-untyped-def]
        last = w.size - 1
        total = rows.lift * w[last]
        for k in range(rows.columns.size):
            column = rows.columns[k]
            if column < 0 or column >= last:
                return np.nan
            total += rows.values[k] * w[column]
        return total

    return by_kind(rows, dense, sparse, single)


# Two sums of their own wait for each other half as long as one does. Sweeps over rows of 75 entries
# take seven tenths of the time by strides, over rows of 14 or 30 a quarter more.
@primitive
def inner(rows: Rows, i: int | np.int64, w: np.ndarray) -> Any:
    """Give x·w for the lifted row i, whose columns are known to lie inside w."""

    def dense(rows, i, w):  # type: ignore[no-untyped-def]
        return dense_product(rows.values, np.int64(i), w, 0) + rows.lift * w[w.size - 1]

    def sparse(rows, i, w):  # type: ignore[no-untyped-def]
        columns, values = rows.columns, rows.values
        k, stop = np.int64(rows.starts[i]), np.int64(rows.starts[i + 1])
        total, other = rows.lift * w[w.size - 1], 0.0
        if stop - k >= LONG_ROW:
            return total + called_product(columns, values, w, (k, stop), 0)
        while k + 1 < stop:
            total += values[k] * w[columns[k]]
            other += values[k + 1] * w[columns[k + 1]]
            k += 2
        if k < stop:
            total += values[k] * w[columns[k]]
        return total + other

    return by_kind(rows, dense, sparse)


# Equal rows of W must get equal scores, since ties are looked for: every class goes through the
# same instructions. Dense rows want the weights of a class to lie together: four classes at a time
# take three quarters of the time of one at a time. Sparse rows want those of a column to lie
# together: of 20 classes, two columns at a time take two thirds of the time of four classes at a
# time, and a quarter of that with the other order. `favoured` gives W the order that is wanted.
@primitive
def dots(rows: Rows | Single, i: int | np.int64, W: np.ndarray, out: np.ndarray) -> Any:
    """Write x·w for each row w of W, NaN if a column lies outside."""

    def dense(rows, i, W, out):  # type: ignore[no-untyped-def]
        values, last, top = rows.values[i], W.shape[1] - 1, W.shape[0] - 1
        if values.size > last:
            out[:] = np.nan
            return
        for r in range(0, top + 1, 4):
            a, b, c, d = W[r], W[min(r + 1, top)], W[min(r + 2, top)], W[min(r + 3, top)]
            at_a, at_b, at_c, at_d = 0.0, 0.0, 0.0, 0.0
            for j in range(values.size):
                x = np.float64(values[j])
                at_a += x * a[j]
                at_b += x * b[j]
                at_c += x * c[j]
                at_d += x * d[j]
            out[min(r + 3, top)] = at_d + rows.lift * d[last]
            out[min(r + 2, top)] = at_c + rows.lift * c[last]
            out[min(r + 1, top)] = at_b + rows.lift * b[last]
            out[r] = at_a + rows.lift * a[last]

    def sparse(rows, i, W, out):  # type: ignore[no-untyped-def]
        last = rows.columns.dtype.type(W.shape[1] - 1)
        start, stop, one = np.uint64(rows.starts[i]), np.uint64(rows.starts[i + 1]), np.uint64(1)
        largest = rows.columns.dtype.type(0)
        for r in range(W.shape[0]):
            out[r] = rows.lift * W[r, W.shape[1] - 1]
        if (stop - start) & one:
            column, x = rows.columns[start], np.float64(rows.values[start])
            largest = column
            column = min(column, last)
            for r in range(W.shape[0]):
                out[r] += x * W[r, column]
            start += one
        for k in range(start, stop, np.uint64(2)):
            column, x = rows.columns[k], np.float64(rows.values[k])
            other, z = rows.columns[k + one], np.float64(rows.values[k + one])
            largest = max(largest, max(column, other))
            column, other = min(column, last), min(other, last)
            for r in range(W.shape[0]):
                out[r] += x * W[r, column] + z * W[r, other]
        if largest >= last and rows.starts[i] < rows.starts[i + 1]:
            out[:] = np.nan

    def single(rows, i, W, out):  # type: ignore[no-untyped-def]
        last = W.shape[1] - 1
        for r in range(W.shape[0]):
            out[r] = rows.lift * W[r, last]
        for k in range(rows.columns.size):
            column, x = rows.columns[k], rows.values[k]
            if column < 0 or column >= last:
                out[:] = np.nan
                return
            for r in range(W.shape[0]):
                out[r] += x * W[r, column]

    return by_kind(rows, dense, sparse, single)


def favoured(rows: Rows, W: np.ndarray) -> np.ndarray:
    """Give W itself, or a copy in the order of memory in which `dots` is fastest."""
    return np.ascontiguousarray(W) if isinstance(rows, Dense) else np.asfortranarray(W)


def zeros_on_a_line(count: int) -> np.ndarray:
    """Give so many zeros from a cache line on.

    Where vectors lie across two lines, dense passes over 54 columns take a twentieth longer, and
    joint sweeps half as long again.
    """
    return _on_a_line(np.zeros(count + CACHE_LINE // 8))


def copy_on_a_line(w: np.ndarray) -> np.ndarray:
    """Give a copy of weights, in their order of memory, from a cache line on."""
    order: Any = "F" if w.flags.fnc else "C"
    copy = _on_a_line(np.empty(w.size + CACHE_LINE // 8)).reshape(w.shape, order=order)
    copy[...] = w
    return copy


def _on_a_line(room: np.ndarray) -> np.ndarray:
    spare, first = CACHE_LINE // 8, -room.__array_interface__["data"][0] % CACHE_LINE // 8
    return room[first : room.size - spare + first]


@primitive
def add(rows: Rows | Single, i: int | np.int64, a: float, w: np.ndarray) -> Any:
    """Add a·x to w in place for the lifted row i."""

    def dense(rows, i, a, w):  # type: ignore[no-untyped-def]
        dense_push(rows.values, np.int64(i), w, a)
        w[w.size - 1] += a * rows.lift

    def sparse(rows, i, a, w):  # type: ignore[no-untyped-def]
        for k in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + 1])):
            w[rows.columns[k]] += a * rows.values[k]
        w[w.size - 1] += a * rows.lift

    def single(rows, i, a, w):  # type: ignore[no-untyped-def]
        for k in range(rows.columns.size):
            w[rows.columns[k]] += a * rows.values[k]
        w[w.size - 1] += a * rows.lift

    return by_kind(rows, dense, sparse, single)


@primitive
def sqnorm(rows: Rows, i: int | np.int64) -> Any:
    """Give ‖x‖² of the lifted row i."""

    def dense(rows, i):  # type: ignore[no-untyped-def]
        values = rows.values[i]
        total = 0.0
        for j in range(values.size):
            total += np.float64(values[j]) * values[j]
        return total + rows.lift * rows.lift

    def sparse(rows, i):  # type: ignore[no-untyped-def]
        total = 0.0
        for k in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + 1])):
            total += np.float64(rows.values[k]) * rows.values[k]
        return total + rows.lift * rows.lift

    return by_kind(rows, dense, sparse)


@primitive
def unpack(
    rows: Rows | Single,
    i: int | np.int64,
    columns: np.ndarray,
    values: np.ndarray,
    at: int | np.int64,
) -> Any:
    """Write the entries of row i from a place on; give the place behind.

    The lifted one is left out, and so are zeros; a column beyond `columns` becomes their largest.
    """
    kind: Any = columns.dtype
    most = np.uint64(2**kind.bitwidth - 1)

    def dense(rows, i, columns, values, at):  # type: ignore[no-untyped-def]
        for j in range(rows.values.shape[1]):
            if rows.values[i, j] != 0.0:
                columns[at], values[at] = j, rows.values[i, j]
                at += 1
        return at

    def sparse(rows, i, columns, values, at):  # type: ignore[no-untyped-def]
        for k in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + 1])):
            if rows.values[k] != 0.0:
                columns[at] = min(np.uint64(rows.columns[k]), most)
                values[at] = rows.values[k]
                at += 1
        return at

    def single(rows, i, columns, values, at):  # type: ignore[no-untyped-def]
        for k in range(rows.columns.size):
            if rows.values[k] != 0.0:
                columns[at] = min(np.uint64(rows.columns[k]), most)
                values[at] = rows.values[k]
                at += 1
        return at

    return by_kind(rows, dense, sparse, single)


@primitive
def size(rows: Rows | Single, i: int | np.int64) -> Any:
    """Give the number of stored entries of row i, the lifted one included."""

    def dense(rows, i):  # type: ignore[no-untyped-def]
        return rows.values.shape[1] + (rows.lift != 0.0)

    def sparse(rows, i):  # type: ignore[no-untyped-def]
        at = np.uint64(i)
        start, stop = np.int64(rows.starts[at]), np.int64(rows.starts[at + np.uint64(1)])
        return stop - start + (rows.lift != 0.0)

    def single(rows, i):  # type: ignore[no-untyped-def]
        return rows.columns.size + (rows.lift != 0.0)

    return by_kind(rows, dense, sparse, single)


@primitive
def rows_ahead(rows: Rows) -> Any:
    """Give the distance, in rows, at which prefetching pays in shuffled order."""

    def dense(rows):  # type: ignore[no-untyped-def]
        width = max(1, rows.values.shape[1] * rows.values.itemsize)
        return max(LEAST_ROWS_AHEAD, BYTES_AHEAD // width)

    return by_kind(rows, dense, lambda rows: SPARSE_ROWS_AHEAD)


def _prefetching(run: Any) -> Callable[..., Any]:
    def chosen(rows: Rows, i: int | np.int64) -> Any:
        """Ask the memory for row i."""

        def dense(rows, i):  # type: ignore[no-untyped-def]
            width = rows.values.shape[1]
            run(rows.values, i * width, width)

        def sparse(rows, i):  # type: ignore[no-untyped-def]
            start, stop = np.int64(rows.starts[i]), np.int64(rows.starts[i + 1])
            run(rows.values, start, stop - start)
            run(rows.columns, start, stop - start)

        return by_kind(rows, dense, sparse)

    return chosen


prefetch = primitive(_prefetching(prefetch_run))
prefetch_early = primitive(_prefetching(prefetch_run_early))


@primitive
def locate(rows: Rows, i: int | np.int64) -> Any:
    """Ask the memory where row i lies: for the page that it begins on, or for where it starts."""

    def dense(rows, i):  # type: ignore[no-untyped-def]
        prefetch_entry_early(rows.values, i * rows.values.shape[1])

    def sparse(rows, i):  # type: ignore[no-untyped-def]
        prefetch_entry_early(rows.starts, i)

    return by_kind(rows, dense, sparse)


@primitive
def write_score(rows: Rows, i: int | np.int64, w: np.ndarray, out: np.ndarray) -> Any:
    """Write the score of row i by w, or those by each row of w."""

    def one(rows, i, w, out):  # type: ignore[no-untyped-def]
        out[i] = dot(rows, i, w, True)

    def many(rows, i, w, out):  # type: ignore[no-untyped-def]
        dots(rows, i, w, out[i])

    return one if w.ndim == 1 else many


@loop
def scores(rows: Rows, w: np.ndarray, out: np.ndarray) -> None:
    """Write x·w of every row, or that of each row of w; NaN where a column lies outside w."""
    for i in range(out.shape[0]):
        write_score(rows, i, w, out)


@loop
def fill_squares(rows: Rows, squares: np.ndarray) -> None:
    """Write ‖x‖² of every row."""
    for i in range(squares.size):
        squares[i] = sqnorm(rows, i)


@loop
def combine(rows: Rows, factors: np.ndarray, w: np.ndarray) -> None:
    """Add factor·x of every row to w."""
    for i in range(factors.size):
        if factors[i] != 0.0:
            add(rows, i, factors[i], w)


@loop
def largest_sqnorm(rows: Rows, n: int) -> float:
    """Give R² = max ‖x‖² over n rows, lifted coordinate included."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, sqnorm(rows, i))
    return largest
