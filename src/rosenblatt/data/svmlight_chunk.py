"""Parsing one chunk of a text in the svmlight format, by whichever thread takes it.

The compiled loop reads the chunk into its slices of the table. What the loop leaves open is settled
here: hard words by Python, untidy rows by a sort, and repeated columns by a sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.data import svmlight_errors, svmlight_loop
from rosenblatt.data.svmlight_errors import LineRange, TextPiece
from rosenblatt.data.svmlight_loop import COLUMN_LIMIT, Room, Rules, Tally
from rosenblatt.decimals import is_whole
from rosenblatt.errors import ParseError

# Doubles from here on, 2^128 less half a unit of the last place, round to an infinite float32.
VALUE_LIMITS = {np.dtype(np.float32): 2.0**128 - 2.0**103, np.dtype(np.float64): np.inf}
LARGEST_WHOLE_LABEL = 2.0**53


class CsrParts(NamedTuple):
    """The result under construction, in the layout of a compressed sparse row matrix."""

    labels: np.ndarray
    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class Parsed(NamedTuple):
    """The rows of a text without a width, their labels, and how many lines it has."""

    table: CsrParts
    labels: np.ndarray
    width: int
    lines: int


class Extent(NamedTuple):
    """What a chunk was found to hold, and how many columns that needs."""

    rows: int
    entries: int
    words: int
    width: int


def make_room(table: CsrParts, chunk: LineRange) -> Room:
    """Give a chunk its slices of the table; memory for notes costs only what is written to it."""
    rows = slice(chunk.first_row, chunk.first_row + chunk.rows)
    entries = slice(chunk.first_entry, chunk.first_entry + chunk.entries)
    ends, columns, values = table.starts[1:][rows], table.columns[entries], table.values[entries]
    slots, starts, stops = (np.empty(chunk.rows + chunk.entries, np.int64) for _ in range(3))
    untidy = np.empty(chunk.rows, np.int64)
    return Room(table.labels[rows], ends, columns, values, untidy, slots, starts, stops)


def parse_chunk(source: TextPiece, table: CsrParts, chunk: LineRange) -> Extent:
    """Parse a chunk into its slices of the table."""
    room = make_room(table, chunk)
    tally = read_chunk(source, table, chunk, room)
    repeated, kept = sort_untidy(room, tally), tally.entries
    if repeated.size:
        if room.values.dtype != np.float64:
            room = room._replace(values=np.empty(chunk.entries))
            tally = read_chunk(source, table, chunk, room)
            repeated = sort_untidy(room, tally)
        if source.reading.exact:
            check_repeated(source, chunk, room, repeated)
        kept = add_repeated(room, tally, repeated)
        check_sums(source, chunk, room, tally.rows, kept)
        table.values[chunk.first_entry : chunk.first_entry + kept] = room.values[:kept]
    room.ends[: tally.rows] += chunk.first_entry
    width = int(room.columns[:kept].max(initial=-1)) + 1
    return Extent(tally.rows, kept, tally.words, width)


def read_chunk(source: TextPiece, table: CsrParts, chunk: LineRange, room: Room) -> Tally:
    """Read all that a chunk holds into a room, or raise its first error."""
    text = sealed(source.text[chunk.start : chunk.stop])
    tally = Tally(*map(int, svmlight_loop.read_rows(text, room, make_rules(source))))
    offence, offset = settle_hard_words(source, text, room, tally)
    if offence != svmlight_loop.SOUND:
        line = chunk.start + text[:offset].tobytes().rfind(b"\n") + 1
        if line > chunk.start:  # a sum in the lines before may overflow, which shows only now
            parse_chunk(source, table, chunk._replace(stop=line))
        raise svmlight_errors.error_of_word(source, chunk, offence, chunk.start + offset)
    return tally


def sealed(text: np.ndarray) -> np.ndarray:
    """Give a chunk that ends in a newline; only the last one of a text may have to be copied."""
    if text[-1] == svmlight_loop.NEWLINE:
        return text
    copy = np.append(text, np.uint8(svmlight_loop.NEWLINE))
    copy.flags.writeable = False
    return copy


def make_rules(source: TextPiece) -> Rules:
    """Put the caller's wishes into the form that the loop compares with."""
    first = 0 if source.reading.zero_based else 1
    width = COLUMN_LIMIT if source.reading.width is None else source.reading.width
    limit = np.uint64(min(width, COLUMN_LIMIT - first))
    value_limit = VALUE_LIMITS[source.reading.dtype]
    return Rules(np.uint64(first), limit, value_limit, source.words_allowed, source.bare)


def settle_hard_words(
    source: TextPiece, text: np.ndarray, room: Room, tally: Tally
) -> tuple[int, int]:
    """Let Python settle the hard words; give the first offence of the chunk and its offset."""
    view, value_limit = text.data, VALUE_LIMITS[source.reading.dtype]
    noted = (room.hard_slots, room.hard_starts, room.hard_stops)
    for slot, start, stop in zip(*(array[: tally.hard].data for array in noted), strict=True):
        if slot >= 0:
            number = float(view[start:stop])
            if not abs(number) < value_limit:
                return svmlight_loop.BAD_VALUE, start
            room.values[slot] = number
        else:
            label = hard_label(bytes(view[start:stop]))
            if label is None:
                return svmlight_loop.BAD_LABEL, start
            room.labels[-1 - slot] = label
    return tally.offence, tally.offset


def hard_label(word: bytes) -> float | None:
    """Give the number that a word is, NaN if it is none, or None if it can be no label."""
    if svmlight_errors.spells_number(word):
        number = float(word)
        return number if np.isfinite(number) else None
    return np.nan if svmlight_errors.is_utf8(word) else None


def sort_untidy(room: Room, tally: Tally) -> np.ndarray:
    """Sort the untidy rows by column; give the slots that repeat the column before them."""
    if tally.untidy == 0:
        return np.empty(0, np.int64)
    rows = room.untidy[: tally.untidy]
    lengths = np.diff(room.ends[: tally.rows], prepend=0)
    untidy = np.zeros(tally.rows, bool)
    untidy[rows] = True
    slots = np.flatnonzero(np.repeat(untidy, lengths))
    keys = np.repeat(rows, lengths[rows]) * COLUMN_LIMIT + room.columns[slots]
    order = np.argsort(keys, kind="stable")  # repeated columns stay in the order given
    room.columns[slots] = room.columns[slots[order]]
    room.values[slots] = room.values[slots[order]]
    keys = keys[order]
    repeated: np.ndarray = slots[1:][keys[1:] == keys[:-1]]
    return repeated


def add_repeated(room: Room, tally: Tally, repeated: np.ndarray) -> int:
    """Add every slot that repeats a column to the first of its kind; give the slots that remain."""
    ends = room.ends[: tally.rows]
    keep = np.ones(tally.entries, bool)
    keep[repeated] = False
    kept_before = np.concatenate(([0], np.cumsum(keep)))
    sums = room.values[: tally.entries][keep]
    with np.errstate(over="ignore"):
        np.add.at(sums, kept_before[repeated] - 1, room.values[repeated])
    room.values[: sums.size] = sums
    room.columns[: sums.size] = room.columns[: tally.entries][keep]
    ends[:] = kept_before[ends]
    return sums.size


def check_repeated(source: TextPiece, chunk: LineRange, room: Room, repeated: np.ndarray) -> None:
    """Refuse to add up decimals, which floats would round."""
    values = room.values[np.concatenate([repeated, repeated - 1])]
    if not is_whole(values):
        said = "column {} comes twice, and decimals are not added up"
        raise error_of_slot(source, chunk, room, int(repeated[0]), said)


def error_of_slot(
    source: TextPiece, chunk: LineRange, room: Room, slot: int, said: str, rows: int | None = None
) -> ParseError:
    """Make the error for a column that is repeated in a row, of which something is said."""
    row = int(np.searchsorted(room.ends[:rows], slot, side="right"))
    offset = svmlight_errors.offset_of_row(source.text[chunk.start : chunk.stop].tobytes(), row)
    column = room.columns[slot] + (0 if source.reading.zero_based else 1)
    advice = "give each column of a line once"
    return svmlight_errors.error_at(
        source, chunk.start + offset, f"{said.format(column)}; {advice}"
    )


def check_sums(source: TextPiece, chunk: LineRange, room: Room, rows: int, kept: int) -> None:
    """Raise if the values of a repeated column add up to more than the dtype holds."""
    too_large = ~(np.abs(room.values[:kept]) < VALUE_LIMITS[source.reading.dtype])
    if too_large.any():
        said = f"the values of column {{}} add up to more than {source.reading.dtype} holds"
        raise error_of_slot(source, chunk, room, int(np.argmax(too_large)), said, rows)


def find_words(text: np.ndarray, chunk: LineRange) -> tuple[LineRange, np.ndarray, np.ndarray]:
    """Find where in a chunk its labels start and stop."""
    starts, stops = np.empty(chunk.rows, np.int64), np.empty(chunk.rows, np.int64)
    rows = svmlight_loop.find_labels(sealed(text[chunk.start : chunk.stop]), starts, stops)
    return chunk, starts[:rows], stops[:rows]


def whole_if_possible(labels: np.ndarray) -> np.ndarray:
    """Give labels below 2^53 as int64 if that loses nothing."""
    return labels.astype(np.int64) if np.array_equal(labels, np.trunc(labels)) else labels
