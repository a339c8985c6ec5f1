r"""Text in the svmlight (libsvm) format to a sparse matrix and labels.

One example a line::

    label [qid:N] column:value column:value ... [# comment]

The rules
---------
- Spaces and tabs separate words. Lines end in \n or \r\n; the last one needs no end. A UTF-8
  byte-order mark at the very beginning is skipped. A carriage return elsewhere is no separator.
- ``#`` begins a comment wherever it stands. Blank lines and lines with nothing but a comment are
  skipped. A comment may hold any byte but NUL.
- A number is ``[+-] digits [. digits] [e [+-] digits]``: no hexadecimal, no underscore, no nan and
  no inf. It is rounded correctly to a double (`numbers`) and then to the dtype asked for; a number
  that overflows the dtype is an error.
- The label is a number. All labels come back as int64 if every one is whole and within ±2^53 (1.0
  and 1e2 are whole), and as float64 otherwise.
- ``qid:N``, N a run of digits, may stand right after the label; it is checked and ignored.
- A column is a run of digits that stands for a number below 2^31. Columns count from 1 unless the
  caller says that they count from 0; the matrix counts from 0. A width given by the caller bounds
  them; otherwise the largest column sets the width.
- Columns may come in any order and are sorted. Values given for the same column of a row are added
  in the order given, in double precision; a sum that overflows the dtype is an error.
- A zero that is written is stored.
- The first line that breaks a rule is reported, with line and column counted from 1 and in bytes.

How it works
------------
The text is split at line ends into chunks. Their newlines and colons, counted first, bound the
rows and the entries of each, and so the arrays are made once, at their final size. Then each chunk
is parsed into its slice of the arrays by a compiled loop (`read_rows`) that relies on the newline
at the chunk's end and therefore never looks for the end of the text. The loop formats no message:
it stops at the first offence with its offset and kind, and `explain` does the rest. What the loop
leaves open is settled chunk by chunk: *hard* numbers by Python's ``float``, *untidy* rows (columns
out of order or repeated) by a sort. Because sums are double precision, values pass through a
scratch array of one chunk before they are rounded to float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.data.numbers import (
    HARD,
    MALFORMED,
    ONE,
    TEN,
    ZERO_DIGIT,
    read_digits,
    read_number,
)
from rosenblatt.data.svmlight_errors import (
    BAD_COLUMN,
    BAD_LABEL,
    BAD_QUERY,
    BAD_VALUE,
    CHUNK_BYTES,
    COLUMN_LIMIT,
    NEWLINE,
    NUL_BYTE,
    SOUND,
    Chunk,
    Source,
    error_at,
    error_of_word,
    line_start,
    offset_of_row,
)
from rosenblatt.errors import InputError
from rosenblatt.loops import exact_loop, exact_part

__all__ = ["parse_svmlight"]

SEARCH_BYTES = 1 << 14
# A pair takes four bytes: the blank before it, a digit, the colon and a digit.
SHORTEST_PAIR = 4
BYTE_ORDER_MARK = (0xEF, 0xBB, 0xBF)

# With more entries SciPy wants 64-bit indices.
ENTRY_LIMIT = (1 << 31) - 1
# Doubles from here on, 2^128 less half a unit of the last place, round to an infinite float32.
VALUE_LIMITS = {np.dtype(np.float32): 2.0**128 - 2.0**103, np.dtype(np.float64): np.inf}
LARGEST_WHOLE_LABEL = 2.0**53

NUL, TAB, RETURN = 0, 9, 13
BLANK, COMMENT, COLON = ord(" "), ord("#"), ord(":")
QUERY = tuple(b"qid:")
UNSIGNED_ZERO = np.uint64(0)


class Rules(NamedTuple):
    """What the loop needs to know of the caller's wishes."""

    first_column: np.uint64
    width: np.uint64
    value_limit: float


class Scratch(NamedTuple):
    """What the loop leaves open: values to be rounded, untidy rows, spans of hard numbers."""

    values: np.ndarray
    untidy: np.ndarray
    hard_slots: np.ndarray
    hard_starts: np.ndarray
    hard_stops: np.ndarray


class Room(NamedTuple):
    """Where the loop writes: its slice of the result, and the fields of `Scratch`."""

    labels: np.ndarray
    ends: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    untidy: np.ndarray
    hard_slots: np.ndarray
    hard_starts: np.ndarray
    hard_stops: np.ndarray


class Tally(NamedTuple):
    """How many of each the loop wrote, and what it stopped at and where."""

    rows: int
    entries: int
    untidy: int
    hard: int
    offence: int
    offset: int


class Table(NamedTuple):
    """The result under construction, in the layout of a compressed sparse row matrix."""

    labels: np.ndarray
    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


@exact_part
def skip_blanks(text: Any, i: Any) -> Any:
    """Give the position of the first byte from i on that is neither space nor tab."""
    while text[i] == BLANK or text[i] == TAB:
        i += ONE
    return i


@exact_part
def ends_line(text: Any, i: Any) -> Any:
    """Tell whether the line has nothing more to say at i."""
    if text[i] == RETURN:
        return text[i + ONE] == NEWLINE
    return text[i] == NEWLINE or text[i] == COMMENT


@exact_part
def ends_word(text: Any, i: Any) -> Any:
    """Tell whether a word ends before i."""
    return text[i] == BLANK or text[i] == TAB or ends_line(text, i)


@exact_part
def next_line(text: Any, i: Any) -> Any:
    """Skip what is left of the line; give the position after it, or that of a NUL and False."""
    while text[i] != NEWLINE:
        if text[i] == NUL:
            return i, False
        i += ONE
    return i + ONE, True


@exact_part
def read_column(text: Any, i: Any) -> Any:
    """Read a column's digits, no further than the limit; give it and the position after them."""
    column = UNSIGNED_ZERO
    digit = np.uint64(text[i]) - ZERO_DIGIT
    while digit < TEN and column < np.uint64(COLUMN_LIMIT):
        column = column * TEN + digit
        i += ONE
        digit = np.uint64(text[i]) - ZERO_DIGIT
    return column, i


@exact_part
def skip_query(text: Any, i: Any) -> Any:
    """Skip ``qid:N`` if it stands at i; give the position reached and SOUND or BAD_QUERY."""
    start = i
    for letter in QUERY:
        if text[start] != letter:
            return i, SOUND
        start += ONE
    _, stop = read_digits(text, start, UNSIGNED_ZERO)
    if stop == start or not ends_word(text, stop):
        return start, BAD_QUERY
    return stop, SOUND


@exact_part
def note_hard(room: Any, hard: Any, slot: Any, start: Any, stop: Any) -> Any:
    """Note a number that Python is to settle; give the new count of them."""
    room.hard_slots[hard] = slot
    room.hard_starts[hard] = start
    room.hard_stops[hard] = stop
    return hard + ONE


@exact_part
def read_pairs(text: Any, i: Any, room: Any, rules: Any, entry: Any, hard: Any) -> Any:
    """Read the pairs from i to the end of the line.

    Gives the position reached, the offence there, the counts of entries and hard numbers, and
    whether the columns were strictly ascending.
    """
    tidy, next_column = True, UNSIGNED_ZERO
    while True:
        i = skip_blanks(text, i)
        if ends_line(text, i):
            return i, SOUND, entry, hard, tidy
        start = i
        column, i = read_column(text, start)
        column -= rules.first_column  # wraps around to beyond every width if it is too small
        if i == start or text[i] != COLON or column >= rules.width:
            return start, BAD_COLUMN, entry, hard, tidy
        start = i + ONE
        value, i, kind = read_number(text, start)
        if kind == MALFORMED or not ends_word(text, i) or not abs(value) < rules.value_limit:
            return start, BAD_VALUE, entry, hard, tidy
        if kind == HARD:
            hard = note_hard(room, hard, np.int64(entry), start, i)
        room.columns[entry] = column
        room.values[entry] = value
        tidy = tidy and column >= next_column
        next_column = column + ONE
        entry += ONE


@exact_loop
def read_rows(text: Any, room: Any, rules: Any) -> Any:
    """Read a chunk that ends in a newline, up to its first offence; give the fields of a `Tally`.

    Hard numbers have their slot noted: that of the entry, or -1 - row for a label.
    """
    i = row = entry = hard = untidy = UNSIGNED_ZERO
    offence = SOUND
    while i < np.uint64(text.size):
        start = skip_blanks(text, i)
        if not ends_line(text, start):
            label, i, kind = read_number(text, start)
            if kind == MALFORMED or not ends_word(text, i):
                return row, entry, untidy, hard, BAD_LABEL, start
            if kind == HARD:
                hard = note_hard(room, hard, -1 - np.int64(row), start, i)
            i, offence = skip_query(text, skip_blanks(text, i))
            if offence == SOUND:
                i, offence, entry, hard, tidy = read_pairs(text, i, room, rules, entry, hard)
            if offence != SOUND:
                return row, entry, untidy, hard, offence, i
            if not tidy:
                room.untidy[untidy] = row
                untidy += ONE
            room.labels[row] = label
            room.ends[row] = entry
            row += ONE
            start = i
        i, textual = next_line(text, start)
        if not textual:
            return row, entry, untidy, hard, NUL_BYTE, i
    return row, entry, untidy, hard, SOUND, i


def parse_svmlight(
    data: bytes | memoryview | np.ndarray,
    *,
    file: str = "<bytes>",
    zero_based: bool = False,
    width: int | None = None,
    dtype: Any = np.float32,
) -> tuple[csr_matrix, np.ndarray]:
    r"""Parse text in the svmlight format.

    Parameters
    ----------
    data : the bytes of the text; they are not copied and must not change meanwhile.
    file : the name that messages give to it.
    zero_based : whether the first column is written 0 and not 1.
    width : number of columns of the matrix; by default the largest column sets it.
    dtype : float32 or float64, the type of the values.

    Returns
    -------
    X : csr_matrix whose rows have ascending, distinct columns.
    y : labels, int64 if every one is whole and float64 otherwise.

    Raises
    ------
    ParseError : the text breaks a rule of the format, at a line and a column.
    InputError : the text holds no example, or an option cannot be used.

    Examples
    --------
    >>> X, y = parse_svmlight(b"+1 1:0.5 3:2\n-1 2:1 # a comment\n")
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1, -1])
    """
    source = Source(as_text(data), file, zero_based, checked_width(width), checked_dtype(dtype))
    chunks = split(source.text)
    table, scratch = make_table(chunks, source.dtype), make_scratch(chunks)
    rows = entries = 0
    for chunk in chunks:
        rows, entries = parse_chunk(source, chunk, table, scratch, rows, entries)
    if rows == 0:
        raise InputError(f"{file} holds no examples; write one a line, such as: 1 3:0.5 7:2")
    return finish(table, rows, entries, width)


def as_text(data: bytes | memoryview | np.ndarray) -> np.ndarray:
    """View the bytes as read-only, whatever they are, so that the loop is compiled only once."""
    if isinstance(data, np.ndarray):
        if data.dtype != np.uint8 or data.ndim != 1:
            found = f"{data.ndim} dimensions of {data.dtype}"
            raise InputError(f"text must be one dimension of uint8, got {found}; pass its bytes")
        text = np.ascontiguousarray(data).view()
    else:
        text = np.frombuffer(data, np.uint8)
    text.flags.writeable = False
    return text[3:] if tuple(text[:3]) == BYTE_ORDER_MARK else text


def checked_width(width: int | None) -> int | None:
    """Give the width back if columns can fill it."""
    if width is not None and not 0 <= width <= COLUMN_LIMIT:
        raise InputError(f"width must be between 0 and {COLUMN_LIMIT}, got {width}")
    return width


def checked_dtype(dtype: Any) -> np.dtype[Any]:
    """Give the dtype if values can have it."""
    checked: np.dtype[Any] = np.dtype(dtype)
    if checked not in VALUE_LIMITS:
        raise InputError(f"dtype must be float32 or float64, got {checked}")
    return checked


def split(text: np.ndarray) -> list[Chunk]:
    """Split the text at line ends into chunks, and count what they can hold."""
    chunks = []
    start = 0
    while start < text.size:
        stop = after_line(text, start + CHUNK_BYTES)
        piece = text[start:stop]
        rows = int(np.count_nonzero(piece == NEWLINE)) + 1
        entries = min(int(np.count_nonzero(piece == COLON)), piece.size // SHORTEST_PAIR)
        chunks.append(Chunk(start, stop, rows, entries))
        start = stop
    return chunks


def after_line(text: np.ndarray, position: int) -> int:
    """Give the position after the first newline from a position on, or that of the end."""
    while position < text.size:
        newlines = np.flatnonzero(text[position : position + SEARCH_BYTES] == NEWLINE)
        if newlines.size:
            return position + int(newlines[0]) + 1
        position += SEARCH_BYTES
    return text.size


def make_table(chunks: list[Chunk], dtype: np.dtype[Any]) -> Table:
    """Make the arrays of the result, as large as they can become."""
    rows = sum(chunk.rows for chunk in chunks)
    entries = sum(chunk.entries for chunk in chunks)
    index = np.int32 if entries <= ENTRY_LIMIT else np.int64
    starts = np.empty(rows + 1, index)
    starts[0] = 0
    return Table(np.empty(rows), starts, np.empty(entries, index), np.empty(entries, dtype))


def make_scratch(chunks: list[Chunk]) -> Scratch:
    """Make the arrays that one chunk after the other uses, as large as any chunk needs them."""
    rows = max((chunk.rows for chunk in chunks), default=0)
    entries = max((chunk.entries for chunk in chunks), default=0)
    slots, starts, stops = (np.empty(rows + entries, np.int64) for _ in range(3))
    return Scratch(np.empty(entries), np.empty(rows, np.int64), slots, starts, stops)


def parse_chunk(
    source: Source, chunk: Chunk, table: Table, scratch: Scratch, rows: int, entries: int
) -> tuple[int, int]:
    """Parse a chunk into the table behind so many rows and entries; give the new numbers of them.

    Chunks may be parsed at the same time, each behind the most that those before it can hold and
    with a scratch of its own.
    """
    text = sealed(source.text[chunk.start : chunk.stop])
    room = Room(
        table.labels[rows : rows + chunk.rows],
        table.starts[rows + 1 : rows + 1 + chunk.rows],
        table.columns[entries : entries + chunk.entries],
        *scratch,
    )
    tally = Tally(*map(int, read_rows(text, room, make_rules(source))))
    offence, offset = settle_hard_numbers(source, text, room, tally)
    if offence != SOUND:
        line = line_start(source, chunk, chunk.start + offset)
        if line > chunk.start:  # a sum in the lines before may overflow, which shows only now
            parse_chunk(source, chunk._replace(stop=line), table, scratch, rows, entries)
        raise error_of_word(source, chunk, offence, chunk.start + offset)
    kept = tally.entries
    if tally.untidy:
        kept = tidy(room, tally)
        check_sums(source, chunk, room, tally.rows, kept)
    table.values[entries : entries + kept] = room.values[:kept]
    room.ends[: tally.rows] += entries
    return rows + tally.rows, entries + kept


def sealed(text: np.ndarray) -> np.ndarray:
    """Give a chunk that ends in a newline; only the last one of a text may have to be copied."""
    if text[-1] == NEWLINE:
        return text
    copy = np.append(text, np.uint8(NEWLINE))
    copy.flags.writeable = False
    return copy


def make_rules(source: Source) -> Rules:
    """Put the caller's wishes into the form that the loop compares with."""
    first = 0 if source.zero_based else 1
    width = COLUMN_LIMIT if source.width is None else source.width
    return Rules(
        np.uint64(first), np.uint64(min(width, COLUMN_LIMIT - first)), VALUE_LIMITS[source.dtype]
    )


def settle_hard_numbers(
    source: Source, text: np.ndarray, room: Room, tally: Tally
) -> tuple[int, int]:
    """Let Python convert the hard numbers; give the first offence of the chunk and its offset."""
    view, value_limit = text.data, VALUE_LIMITS[source.dtype]
    noted = (room.hard_slots, room.hard_starts, room.hard_stops)
    for slot, start, stop in zip(*(array[: tally.hard].data for array in noted), strict=True):
        number = float(view[start:stop])
        if slot >= 0:
            room.values[slot] = number
        else:
            room.labels[-1 - slot] = number
        if not abs(number) < (value_limit if slot >= 0 else np.inf):
            return BAD_VALUE if slot >= 0 else BAD_LABEL, start
    return tally.offence, tally.offset


def tidy(room: Room, tally: Tally) -> int:
    """Sort the untidy rows by column and add up repeated columns; give the entries that remain."""
    ends = room.ends[: tally.rows]
    rows = room.untidy[: tally.untidy]
    lengths = np.diff(ends, prepend=0)
    untidy = np.zeros(tally.rows, bool)
    untidy[rows] = True
    slots = np.flatnonzero(np.repeat(untidy, lengths))
    keys = np.repeat(rows, lengths[rows]) * COLUMN_LIMIT + room.columns[slots]
    order = np.argsort(keys, kind="stable")  # repeated columns stay in the order given
    room.columns[slots] = room.columns[slots[order]]
    room.values[slots] = room.values[slots[order]]
    keys = keys[order]
    repeated = slots[1:][keys[1:] == keys[:-1]]
    return add_repeated(room, ends, tally.entries, repeated) if repeated.size else tally.entries


def add_repeated(room: Room, ends: np.ndarray, entries: int, repeated: np.ndarray) -> int:
    """Add every entry that repeats the column before it to the first of its kind; close ranks."""
    keep = np.ones(entries, bool)
    keep[repeated] = False
    kept_before = np.concatenate(([0], np.cumsum(keep)))
    sums = room.values[:entries][keep]
    with np.errstate(over="ignore"):
        np.add.at(sums, kept_before[repeated] - 1, room.values[repeated])
    room.values[: sums.size] = sums
    room.columns[: sums.size] = room.columns[:entries][keep]
    ends[:] = kept_before[ends]
    return sums.size


def check_sums(source: Source, chunk: Chunk, room: Room, rows: int, kept: int) -> None:
    """Raise if the values of a repeated column add up to more than the dtype holds."""
    too_large = ~(np.abs(room.values[:kept]) < VALUE_LIMITS[source.dtype])
    if too_large.any():
        slot = int(np.argmax(too_large))
        row = int(np.searchsorted(room.ends[:rows], slot, side="right"))
        column = room.columns[slot] + (0 if source.zero_based else 1)
        raise error_at(
            source,
            chunk,
            chunk.start + offset_of_row(source.text[chunk.start : chunk.stop].tobytes(), row),
            f"the values of column {column} add up to more than {source.dtype} holds; "
            "give each column of a line once",
        )


def finish(
    table: Table, rows: int, entries: int, width: int | None
) -> tuple[csr_matrix, np.ndarray]:
    """Make the matrix and the labels; the ends of the arrays, never written to, cost no memory."""
    columns, values = table.columns[:entries], table.values[:entries]
    if width is None:
        width = int(columns.max(initial=-1)) + 1
    matrix = csr_matrix((values, columns, table.starts[: rows + 1]), shape=(rows, width))
    matrix.has_canonical_format = True
    return matrix, whole_if_possible(table.labels[:rows])


def whole_if_possible(labels: np.ndarray) -> np.ndarray:
    """Give the labels as int64 if that loses nothing."""
    whole = (labels == np.trunc(labels)) & (np.abs(labels) <= LARGEST_WHOLE_LABEL)
    return labels.astype(np.int64) if whole.all() else labels
