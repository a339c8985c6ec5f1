"""Products of rows with weights, several entries at a time, in LLVM's own words.

*Sparse rows.* LLVM vectorises a loop over the entries of a row in long strides, with another loop
for the rest of the row, whose length no processor foresees. Here the rest is taken in one more
stride, over the last eight entries of the row, in which those that were added before count 0.
Columns are checked eight at once, before any weight is read by them. A pass over rows of 75 entries
takes 14 ms instead of 23 by both, and by asking the memory for entries some rows before their turn
(400,000 rows, AMD EPYC). Strides of sixteen entries take a twentieth longer, gathering weights in
one instruction a third.

*Dense rows.* LLVM takes the rest of a row, up to 31 entries, one by one, and the next row waits for
that whenever the weights have just moved. Here the rest is taken by 16, 8, 4, 2 and 1. Pushes take
it alike, since the processor hands on what is being stored only to loads of the same place and
size: none of the weights is read in another grouping than it was written. A shuffled pass over
covtype, which moves the weights at every second row of 54 columns, takes 14 ms instead of 25.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_name
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES, CACHE_LINE = 8, 64  # numbers in a vector, bytes in a cache line
BYTE, WORD, PLACE = ir.IntType(8), ir.IntType(32), ir.IntType(64)
SINGLE, REAL = ir.FloatType(), ir.DoubleType()
NAMES = {WORD: "i32", PLACE: "i64", SINGLE: "f32", REAL: "f64"}
REALS = ir.VectorType(REAL, LANES)
NUMBERS = ir.Constant(ir.VectorType(PLACE, LANES), list(range(LANES)))
NONE, ALL = ir.Constant(ir.VectorType(ir.IntType(1), LANES), None), ir.Constant(BYTE, 2**LANES - 1)
FREELY = ("reassoc", "contract", "nsz", "arcp")  # sums may be reordered, products fused with them
FIRST_CACHE, SECOND_CACHE = 3, 2  # how near entries are brought that were asked for
# Intel's first cache waits for a dozen lines at most: what is asked for a while before it is needed
# is better brought to the second. A shuffled pass over covtype takes 48 ms so, and 60 with the
# first cache (Intel Xeon); 16.9 and 15.5 on an AMD EPYC.
EARLY_CACHE = FIRST_CACHE if get_host_cpu_name().startswith("znver") else SECOND_CACHE


@intrinsic
def prefetch_entry(typing_context, array, k):  # type: ignore[no-untyped-def]
    """Ask the memory for entry k of a flat array, for reading."""
    return _asking(array, k, FIRST_CACHE)


@intrinsic
def prefetch_entry_early(typing_context, array, k):  # type: ignore[no-untyped-def]
    """Ask for it a while before it is needed."""
    return _asking(array, k, EARLY_CACHE)


@intrinsic
def prefetch_run(typing_context, array, first, length):  # type: ignore[no-untyped-def]
    """Ask for so many entries from one on."""
    return _asking_for_run(array, first, length, FIRST_CACHE)


@intrinsic
def prefetch_run_early(typing_context, array, first, length):  # type: ignore[no-untyped-def]
    """Ask for them a while before they are needed."""
    return _asking_for_run(array, first, length, EARLY_CACHE)


def _asking(array: Any, k: Any, cache: int) -> Any:
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        data = context.make_array(array)(context, builder, arguments[0]).data
        _prefetch(builder, builder.gep(data, [arguments[1]]), cache)
        return context.get_dummy_value()

    return types.void(array, k), generate


def _asking_for_run(array: Any, first: Any, length: Any, cache: int) -> Any:
    in_line = 8 * CACHE_LINE // array.dtype.bitwidth

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        data = context.make_array(array)(context, builder, arguments[0]).data
        start, length = builder.gep(data, [arguments[1]]), arguments[2]

        def ask(k: Any, lines: int = 1) -> None:
            for at in range(0, lines * in_line, in_line):
                _prefetch(builder, builder.gep(start, [builder.add(k, _place(at))]), cache)

        # No loop for less than eight lines: its end would be foreseen late.
        lines_up = builder.add(length, _place(in_line - 1))
        whole, step = _whole(builder, lines_up, 8 * in_line), _place(8 * in_line)
        with cgutils.for_range_slice(builder, _place(0), whole, step) as k:
            ask(k[0], 8)
        for lines in (4, 2, 1):
            with _rest(builder, lines_up, lines * in_line) as place:
                ask(place, lines)
        ask(builder.sub(length, _place(1)))  # runs begin inside a line
        return context.get_dummy_value()

    return types.void(array, first, length), generate


@intrinsic(prefer_literal=True)
def few_numbers(typing_context, count):  # type: ignore[no-untyped-def]
    """Give an array of so many unsigned numbers, not set, that lasts as long as the loop."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        from numba.np.arrayobj import populate_array

        size = count.literal_value
        room = cgutils.alloca_once(builder, PLACE, size)
        array = context.make_array(signature.return_type)(context, builder)
        shape, strides = (cgutils.pack_array(builder, [_place(x)]) for x in (size, 8))
        populate_array(array, room, shape, strides, _place(8), None)
        return array._getvalue()

    return types.Array(types.uint64, 1, "C")(count), generate


@intrinsic
def product(typing_context, columns, values, w, span, ahead):  # type: ignore[no-untyped-def]
    """Give Σ values·w[columns] over a span of entries; NaN unless all columns are below w's last.

    Entries that lie so many `ahead` are asked for on the way.
    """
    # A call would cost a fifth of a pass over rows of 14 entries. Rows of 75 would gain a
    # twentieth by it, since large loops leave too few registers.
    return _product(columns, values, w, "alwaysinline")


@intrinsic
def called_product(typing_context, columns, values, w, span, ahead):  # type: ignore[no-untyped-def]
    """Give the same by a call, for loops in which most rows have a shorter way."""
    return _product(columns, values, w, "noinline")


def _product(columns: Any, values: Any, w: Any, inlined: str) -> Any:
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        entries, numbers, weights = (
            context.make_array(kind)(context, builder, given)
            for kind, given in zip(signature.args[:3], arguments[:3], strict=True)
        )
        start, stop = (builder.extract_value(arguments[3], end) for end in range(2))
        # If LLVM knew that both are the same, it would take single columns out of the eight that
        # were checked, which costs more than reading them again.
        same = ir.FunctionType(entries.data.type, [entries.data.type])
        twice = [entries.data, builder.asm(same, "", "=r,0", [entries.data], False)]
        stride = builder.extract_value(weights.strides, 0)
        last = builder.sub(weights.nitems, _place(1))
        given = [*twice, numbers.data, weights.data, stride, start, stop, arguments[4], last]
        name = f"rosenblatt.product.{inlined}.{columns.dtype}.{values.dtype}.{w.layout}"
        function = _function(builder, name, REAL, given)
        if not function.blocks:
            function.attributes.add(inlined)
            function.linkage = "linkonce_odr"
            _Product(function, w.layout == "C").write()
        return builder.call(function, given)

    if not columns.layout == values.layout == "C":  # entries are read one behind the other
        return None
    places = types.UniTuple(types.int64, 2)  # type: ignore[attr-defined]
    return types.float64(columns, values, w, places, types.int64), generate


@intrinsic
def dense_product(typing_context, values, i, w, ahead):  # type: ignore[no-untyped-def]
    """Give Σ values·w over row i of a matrix; w is not shorter than the row.

    Entries that lie so many `ahead` are asked for on the way.
    """

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        row, weights, length = _row_and_weights(context, builder, signature, arguments)
        return _dense_product(builder, row, weights, length, arguments[3])

    if not values.layout == w.layout == "C":  # entries are read one behind the other
        return None
    return types.float64(values, i, w, types.int64), generate


@intrinsic
def dense_push(typing_context, values, i, w, a):  # type: ignore[no-untyped-def]
    """Add a·values of row i of a matrix to w, which is not shorter than the row."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        row, weights, length = _row_and_weights(context, builder, signature, arguments)
        _dense_push(builder, row, weights, length, arguments[3])
        return context.get_dummy_value()

    if not values.layout == w.layout == "C":
        return None
    return types.void(values, i, w, types.float64), generate


def _row_and_weights(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Give where row i and the weights lie, and how long the row is."""
    (matrix, _, w), (values, i, weights) = signature.args[:3], arguments[:3]
    given = context.make_array(matrix)(context, builder, values)
    width = builder.extract_value(given.shape, 1)
    row = builder.gep(given.data, [builder.mul(i, width)])
    return row, context.make_array(w)(context, builder, weights).data, width


def _dense_product(builder: Any, row: Any, w: Any, length: Any, ahead: Any) -> Any:
    sums = [cgutils.alloca_once_value(builder, _zeros(REALS)) for _ in range(4)]
    in_line = CACHE_LINE // (4 if row.type.pointee == SINGLE else 8)

    def add(k: Any, lanes: int, total: Any) -> None:
        x, weights = _wide(builder, row, k, lanes), _lanes_at(builder, w, k, lanes)
        moved = builder.fadd(builder.load(total), builder.fmul(x, weights, FREELY), FREELY)
        builder.store(moved, total)

    def ask(k: Any, entries: int) -> None:
        later = builder.add(k, ahead)
        for at in range(0, entries, in_line):
            _prefetch(builder, builder.gep(row, [builder.add(later, _place(at))]))

    with cgutils.for_range_slice(builder, _place(0), _whole(builder, length, 32), _place(32)) as k:
        ask(k[0], 32)
        for at, total in enumerate(sums):
            add(builder.add(k[0], _place(at * LANES)), LANES, total)
    with _rest(builder, length, 16) as k:
        ask(k, 16)
        add(k, LANES, sums[0])
        add(builder.add(k, _place(LANES)), LANES, sums[1])
    with _rest(builder, length, 8) as k:
        add(k, LANES, sums[2])
    one, two, three, four = map(builder.load, sums)
    pairs = builder.fadd(one, two, FREELY), builder.fadd(three, four, FREELY)
    total = builder.fadd(*pairs, FREELY)
    for lanes in (4, 2, 1):
        halves = (_some_lanes(builder, total, first, lanes) for first in (0, lanes))
        shorter = cgutils.alloca_once_value(builder, builder.fadd(*halves, FREELY))
        with _rest(builder, length, lanes) as k:
            add(k, lanes, shorter)
        total = builder.load(shorter)
    return total


def _dense_push(builder: Any, row: Any, w: Any, length: Any, a: Any) -> None:
    def push(k: Any, lanes: int) -> None:
        x, weights = _wide(builder, row, k, lanes), _lanes_at(builder, w, k, lanes)
        moved = builder.fmul(_spread(builder, a, lanes), x, FREELY)
        builder.store(builder.fadd(weights, moved, FREELY), _place_of(builder, w, k, lanes), 8)

    with cgutils.for_range_slice(builder, _place(0), _whole(builder, length, 32), _place(32)) as k:
        for at in range(0, 32, LANES):
            push(builder.add(k[0], _place(at)), LANES)
    with _rest(builder, length, 16) as k:
        push(k, LANES)
        push(builder.add(k, _place(LANES)), LANES)
    for lanes in (8, 4, 2, 1):
        with _rest(builder, length, lanes) as k:
            push(k, lanes)


def _whole(builder: Any, length: Any, lanes: int) -> Any:
    """Give the largest multiple of some lanes, a power of two, up to a length."""
    return builder.and_(length, _place(-lanes))


@contextmanager
def _rest(builder: Any, length: Any, lanes: int) -> Iterator[Any]:
    """Do what is inside if so many are left behind longer strides, whose end is given."""
    some = builder.icmp_unsigned("!=", builder.and_(length, _place(lanes)), _place(0))
    with builder.if_then(some):
        yield _whole(builder, length, 2 * lanes)


def _wide(builder: Any, row: Any, k: Any, lanes: int) -> Any:
    """Read entries of a row, as float64."""
    x = _lanes_at(builder, row, k, lanes)
    real = REAL if lanes == 1 else ir.VectorType(REAL, lanes)
    return x if x.type == real else builder.fpext(x, real)


def _lanes_at(builder: Any, array: Any, k: Any, lanes: int) -> Any:
    align = 8 if array.type.pointee == REAL else 4
    return builder.load(_place_of(builder, array, k, lanes), align=align)


def _place_of(builder: Any, array: Any, k: Any, lanes: int) -> Any:
    first = builder.gep(array, [k])
    if lanes == 1:
        return first
    return builder.bitcast(first, ir.VectorType(array.type.pointee, lanes).as_pointer())


def _some_lanes(builder: Any, vector: Any, first: int, lanes: int) -> Any:
    if lanes == 1:
        return builder.extract_element(vector, _lane(first))
    chosen = ir.Constant(ir.VectorType(WORD, lanes), list(range(first, first + lanes)))
    return builder.shuffle_vector(vector, vector, chosen)


def _spread(builder: Any, number: Any, lanes: int) -> Any:
    """Give a number in all lanes."""
    if lanes == 1:
        return number
    nothing = ir.Constant(ir.VectorType(number.type, lanes), ir.Undefined)
    one = builder.insert_element(nothing, number, _lane(0))
    return builder.shuffle_vector(one, nothing, _zeros(ir.VectorType(WORD, lanes)))


class _Product:
    """Writes the function of that name, for arrays of some types."""

    def __init__(self, function: Any, contiguous: bool) -> None:
        self.columns, self.again, self.values, self.w, self.stride, *places = function.args
        self.start, self.stop, self.ahead, self.last = places
        self.contiguous = contiguous
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.outside = function.append_basic_block("outside")

    def write(self) -> None:
        """Write all of it."""
        builder, entry = self.builder, self.builder.block
        self.limits = _spread(builder, _cut(builder, self.last, self.columns.type.pointee), LANES)
        names = ("head", "body", "end", "few")
        head, body, end, few = (builder.append_basic_block(name) for name in names)
        length = builder.sub(self.stop, self.start)
        builder.cbranch(builder.icmp_unsigned("<", length, _place(LANES)), few, head)

        builder.position_at_end(head)
        k, sums = builder.phi(PLACE), builder.phi(REALS)
        behind = builder.add(k, _place(LANES))
        builder.cbranch(builder.icmp_unsigned("<", behind, self.stop), body, end)

        builder.position_at_end(body)
        added = self.whole(k, sums)
        builder.branch(head)
        for value, first, later in ((k, self.start, behind), (sums, _zeros(REALS), added)):
            value.add_incoming(first, entry)
            value.add_incoming(later, builder.block)

        builder.position_at_end(end)
        self.give(self.final(k, sums))
        builder.position_at_end(few)
        self.give(self.part())
        builder.position_at_end(self.outside)
        builder.ret(ir.Constant(REAL, float("nan")))

    def give(self, sums: Any) -> None:
        """Return the total of eight sums."""
        builder, given = self.builder, [ir.Constant(REAL, -0.0), sums]
        add = _function(builder, f"llvm.vector.reduce.fadd.v{LANES}f64", REAL, given)
        builder.ret(builder.call(add, given, fastmath=FREELY))

    def whole(self, k: Any, sums: Any) -> Any:
        """Add the products of eight entries."""
        builder = self.builder
        for array in (self.columns, self.values):
            _prefetch(builder, builder.gep(array, [builder.add(k, self.ahead)]))
        self.check(builder.load(self.lanes(self.columns, k), align=4))
        values = builder.load(self.lanes(self.values, k), align=4)
        return self.added(sums, self.each(k), values)

    def final(self, k: Any, sums: Any) -> Any:
        """Add those of the last eight entries that lie from k on: others were added before."""
        builder = self.builder
        last = builder.sub(self.stop, _place(LANES))
        self.check(builder.load(self.lanes(self.columns, last), align=4))
        before = _spread(builder, builder.sub(k, last), LANES)
        live = builder.icmp_unsigned(">=", NUMBERS, before)
        return self.added(sums, self.each(last), self.some(self.values, last, live))

    def part(self) -> Any:
        """Give the products of less than eight entries, and read no others."""
        builder, k = self.builder, self.start
        length = _spread(builder, builder.sub(self.stop, k), LANES)
        live = builder.icmp_unsigned("<", NUMBERS, length)
        columns, values = (self.some(array, k, live) for array in (self.columns, self.values))
        self.check(columns, builder.not_(live))
        each = [builder.extract_element(columns, _lane(lane)) for lane in range(LANES)]
        return self.added(_zeros(REALS), each, values)

    def check(self, columns: Any, exempt: Any = NONE) -> None:
        """Leave unless all of them are below the limit."""
        builder = self.builder
        inside = builder.append_basic_block("inside")
        fine = builder.or_(builder.icmp_unsigned("<", columns, self.limits), exempt)
        every = builder.icmp_unsigned("==", builder.bitcast(fine, BYTE), ALL)
        builder.cbranch(every, inside, self.outside)
        builder.position_at_end(inside)

    def each(self, k: Any) -> list[Any]:
        """Read eight columns once more, two at a time if they have 32 bits: fewer loads."""
        builder = self.builder
        step = PLACE.width // self.columns.type.pointee.width
        places = [builder.add(k, _place(lane)) for lane in range(0, LANES, step)]
        starts = [builder.gep(self.again, [place]) for place in places]
        words = [
            builder.load(builder.bitcast(start, PLACE.as_pointer()), align=4) for start in starts
        ]
        if step == 1:
            return words
        halves = ((builder.trunc(word, WORD), builder.lshr(word, _place(32))) for word in words)
        return [half for both in halves for half in both]

    def added(self, sums: Any, columns: list[Any], values: Any) -> Any:
        """Add values times weights."""
        builder, weights = self.builder, ir.Constant(REALS, ir.Undefined)
        for lane, column in enumerate(columns):
            weight = builder.load(self.weight_at(_cut(builder, column, PLACE)))
            weights = builder.insert_element(weights, weight, _lane(lane))
        wide = values if values.type == REALS else builder.fpext(values, REALS)
        return builder.fadd(sums, builder.fmul(wide, weights, FREELY), FREELY)

    def weight_at(self, column: Any) -> Any:
        """Give where a weight lies."""
        builder = self.builder
        if self.contiguous:
            return builder.gep(self.w, [column])
        first = builder.bitcast(self.w, BYTE.as_pointer())
        return builder.bitcast(builder.gep(first, [builder.mul(column, self.stride)]), self.w.type)

    def lanes(self, array: Any, k: Any) -> Any:
        """Give the place of eight entries."""
        return _place_of(self.builder, array, k, LANES)

    def some(self, array: Any, k: Any, live: Any) -> Any:
        """Read those of eight entries that are live, 0 in the place of others."""
        kind = array.type.pointee
        vector = ir.VectorType(kind, LANES)
        given = [self.lanes(array, k), ir.Constant(WORD, 4), live, _zeros(vector)]
        name = f"llvm.masked.load.v{LANES}{NAMES[kind]}.p0"
        return self.builder.call(_function(self.builder, name, vector, given), given)


def _prefetch(builder: Any, address: Any, cache: int = FIRST_CACHE) -> None:
    read, level, data = (ir.Constant(WORD, value) for value in (0, cache, 1))
    given = [builder.bitcast(address, BYTE.as_pointer()), read, level, data]
    builder.call(_function(builder, "llvm.prefetch.p0", ir.VoidType(), given), given)


def _function(builder: Any, name: str, result: Any, given: list[Any]) -> Any:
    kind = ir.FunctionType(result, [value.type for value in given])
    return cgutils.get_or_insert_function(builder.module, kind, name)


def _cut(builder: Any, number: Any, kind: Any) -> Any:
    """Give a number with the bits of a kind of integers."""
    if number.type.width == kind.width:
        return number
    narrower = number.type.width > kind.width
    return builder.trunc(number, kind) if narrower else builder.zext(number, kind)


def _zeros(vector: Any) -> Any:
    return ir.Constant(vector, None)


def _place(number: int) -> Any:
    return ir.Constant(PLACE, number)


def _lane(number: int) -> Any:
    return ir.Constant(WORD, number)
