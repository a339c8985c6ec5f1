"""Products of dense rows that are mostly zeros, such as those of pictures: the zeros are skipped.

Stored rows are kept a second time in *panels*, one column for each of LANES stored rows. The
products of a row x with all of these are a sum of rows of the panel, one for each x_c ≠ 0, which
stays in registers until it is complete. A panel stays in cache while the rows of a block go by.

Rounding   What is skipped are products with 0, which are 0, since rows are finite. What is left is
           a sum of d products, d the number of entries of x that are not 0, each rounded once and
           then once for each of at most d - 1 additions. That is what the bound in `functions`
           rests on, which holds in whatever order they are added, fused or not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba.core import cgutils, types
from numba.extending import intrinsic

from rosenblatt.kernel.store import KeptRows
from rosenblatt.loops import loop
from rosenblatt.matrices import writable_alias

# What eight vector registers hold in single precision: enough sums at a time to hide how long one
# addition takes. Twice as many would not fit beside anything else where there are 16 registers.
LANES = 128 if get_host_cpu_features().get("avx512f") else 64
CACHE_LINE = 64  # bytes; a vector that lies in two lines takes twice as long to load
CACHE = 2**21  # bytes of the second-level cache, in which a panel must fit
# Measured with 784 columns, single or double: skipping zeros takes 0.45 of the time of a plain
# product where a tenth of the entries is not zero, 0.7 where a fifth is, and 1 at a third.
COLUMNS_FOR_EACH = 4
LOOKED_AT = 8  # one of so many rows tells how many zeros there are


class Entries(NamedTuple):
    """What is not zero of some rows: those of row i are from starts[i] on up to starts[i + 1]."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class Signs(NamedTuple):
    """How many entries of each row are not zero, and how many are below."""

    entries: np.ndarray
    negative: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> Signs:
        """Look at dense rows."""
        signs = cls(*np.empty((2, rows.shape[0]), np.int64))
        count_signs(writable_alias(np.ascontiguousarray(rows)), signs)
        return signs


@loop
def count_signs(rows: np.ndarray, signs: Signs) -> None:
    """Write the counts of each row."""
    for i in range(rows.shape[0]):
        entries, negative = 0, 0
        for c in range(rows.shape[1]):
            entries += rows[i, c] != 0
            negative += rows[i, c] < 0
        signs.entries[i], signs.negative[i] = entries, negative


def skipping_pays(rows: np.ndarray) -> bool:
    """Tell whether dense rows have so many zeros that skipping them is faster, by some of them."""
    some = rows[::LOOKED_AT]
    fits = rows.shape[1] * rows.itemsize * LANES <= CACHE
    return fits and COLUMNS_FOR_EACH * int(Signs.of(some).entries.sum()) <= some.size


def entries_of(rows: np.ndarray) -> Entries:
    """Find the entries of dense rows."""
    n, room = rows.shape[0], rows.size + 1
    found = Entries(np.empty(n + 1, np.int64), np.empty(room, np.int32), np.empty(room, rows.dtype))
    find_entries(writable_alias(np.ascontiguousarray(rows)), found)
    return found


@loop
def find_entries(rows: np.ndarray, found: Entries) -> None:
    """Write down what is not zero; there is room for one entry more than there can be."""
    k = 0
    for i in range(rows.shape[0]):
        found.starts[i] = k
        for c in range(rows.shape[1]):
            found.columns[k], found.values[k] = c, rows[i, c]  # written over if it is zero
            k += rows[i, c] != 0
    found.starts[rows.shape[0]] = k


class Panels:
    """The rows of a store in panels; follows the store as rows are appended to it."""

    def __init__(self) -> None:
        self.panels: list[np.ndarray] = []
        self.size = 0

    def follow(self, store: KeptRows) -> None:
        """Take over the dense rows that were appended since."""
        rows = store.span().rows
        if self.panels and self.panels[0].dtype != rows.dtype:  # rows of double precision came
            self.panels, self.size = [], 0
        while self.size < store.size:
            lane = self.size % LANES
            if not lane:
                self.panels.append(aligned_zeros(rows.shape[1], LANES, rows.dtype))
            new = rows[self.size : self.size + LANES - lane]
            self.panels[-1][:, lane : lane + len(new)] = new.T
            self.size += len(new)

    def products(self, entries: Entries, start: int, stop: int) -> np.ndarray:
        """Give the products of rows with those stored from one on; it begins a panel."""
        shape = (entries.starts.size - 1, stop - start)
        products = np.empty(shape, entries.values.dtype)
        spare = np.empty(LANES, entries.values.dtype)
        for first in range(start, stop, LANES):
            multiply(entries, self.panels[first // LANES], first - start, spare, products)
        return products


def aligned_zeros(rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Give zeros that begin with a line of the cache."""
    buffer = np.zeros(rows * columns * dtype.itemsize + CACHE_LINE, np.uint8)
    begin = -buffer.ctypes.data % CACHE_LINE
    return buffer[begin : buffer.size - CACHE_LINE + begin].view(dtype).reshape(rows, columns)


@loop
def multiply(
    entries: Entries, panel: np.ndarray, first: int, spare: np.ndarray, products: np.ndarray
) -> None:
    """Write the products of rows with those of a panel, from column `first` on."""
    n, wide = products.shape
    columns, values = entries.columns, entries.values
    fit, whole = LANES * 4 // products.itemsize, first + LANES <= wide
    for i in range(n):
        begin, end = entries.starts[i], entries.starts[i + 1]
        for lane in range(0, LANES, fit):
            if whole:
                at = i * wide + first + lane
                add_up(columns, values, begin, end, panel, lane, products, at)
            else:
                add_up(columns, values, begin, end, panel, lane, spare, lane)
        if not whole:
            for j in range(wide - first):
                products[i, first + j] = spare[j]


@intrinsic
def add_up(  # type: ignore[no-untyped-def]
    typing_context, columns, values, begin, end, panel, lane, sums, at
):
    """Write Σ_k values[k]·panel[columns[k]] at `sums.flat[at]`, k from `begin` on up to `end`.

    This is done for as many columns of the panel as fit the registers, from `lane` on. LLVM keeps
    the sums there; an array of them would be read and written again for each entry.
    """
    signature = types.void(columns, values, begin, end, panel, lane, sums, at)
    size = values.dtype.bitwidth // 8
    fit = LANES * 4 // size

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        def entry(which: int, place: Any) -> Any:
            array = context.make_array(signature.args[which])(context, builder, arguments[which])
            return builder.gep(array.data, [place])

        def vector_at(which: int, place: Any, kind: Any) -> Any:
            return builder.bitcast(entry(which, place), kind.as_pointer())

        word = ir.IntType(64)
        kept = ir.VectorType(context.get_data_type(panel.dtype), fit)
        summed = ir.VectorType(context.get_data_type(values.dtype), fit)
        total = cgutils.alloca_once_value(builder, ir.Constant(summed, [0.0] * fit))
        begin, end, one = arguments[2], arguments[3], ir.Constant(word, 1)
        with cgutils.for_range_slice(builder, begin, end, one, word) as (k, _):
            column = builder.zext(builder.load(entry(0, k)), word)
            place = builder.add(builder.mul(column, ir.Constant(word, LANES)), arguments[5])
            lanes = builder.load(vector_at(4, place, kept), align=CACHE_LINE)
            if kept != summed:
                lanes = builder.fpext(lanes, summed)
            factor = spread_out(builder, summed, builder.load(entry(1, k)))
            product = builder.fmul(lanes, factor, flags=("contract",))
            sum_so_far = builder.fadd(builder.load(total), product, flags=("contract",))
            builder.store(sum_so_far, total)
        builder.store(builder.load(total), vector_at(6, arguments[7], summed), align=size)
        return context.get_dummy_value()

    return signature, generate


def spread_out(builder: Any, vector: Any, number: Any) -> Any:
    """Emit a vector all of whose entries are one number."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, nothing, everywhere)
