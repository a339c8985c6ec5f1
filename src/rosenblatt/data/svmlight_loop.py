r"""The compiled loops of the svmlight parser: bytes to rows, without the GIL and without messages.

`read_rows` reads a chunk of whole lines and stops at the first offence with its offset and kind.
It relies on the newline at the chunk's end and therefore never looks for the end of the text. What
it leaves open it notes in arrays of the caller: *hard* words (numbers that `numbers` leaves to
Python, labels that Python has to look at) and *untidy* rows (columns out of order or repeated).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.numbers import (
    EXACT,
    HARD,
    LOWER_CASE,
    MALFORMED,
    MINUS,
    ONE,
    PLUS,
    TEN,
    ZERO_DIGIT,
    read_digits,
    read_number,
)
from rosenblatt.loops import exact_loop, exact_part

COLUMN_LIMIT = 1 << 31
NUL, TAB, NEWLINE, RETURN, DELETE = 0, 9, 10, 13, 127
BLANK, COMMENT, COLON = ord(" "), ord("#"), ord(":")
QUERY = tuple(b"qid:")
FIRST_OF_NAN, FIRST_OF_INFINITY = ord("n"), ord("i")
UNSIGNED_ZERO = np.uint64(0)

# What the loop stopped at, if anything.
SOUND, BAD_LABEL, BAD_QUERY, BAD_COLUMN, BAD_VALUE, NUL_BYTE = range(6)

# So many marks can be counted in one byte.
COUNTED_AT_ONCE = np.uint64(128)


class Rules(NamedTuple):
    """What the loop needs to know of the caller's wishes."""

    first_column: np.uint64
    width: np.uint64
    value_limit: float
    words_allowed: bool
    bare: bool  # whether rows may begin with a pair, and have no label then


class Room(NamedTuple):
    """Where the loop writes: its slices of the result, and what it leaves open."""

    labels: np.ndarray
    ends: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    untidy: np.ndarray
    hard_slots: np.ndarray
    hard_starts: np.ndarray
    hard_stops: np.ndarray


class Tally(NamedTuple):
    """How many of each the loop wrote, and what it stopped at and where.

    Words are the labels that are no numbers; they are written as NaN.
    """

    rows: int
    entries: int
    words: int
    untidy: int
    hard: int
    offence: int
    offset: int


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
def skip_label_word(text: Any, i: Any) -> Any:
    """Skip a label that is no number; give the position after it and what it is.

    MALFORMED is a word with a colon or a control character. HARD is one that Python has to look at,
    because it is not ASCII or may spell a number that is not finite.
    """
    first = text[i] | LOWER_CASE
    signed = text[i] == PLUS or text[i] == MINUS
    infinite = first == FIRST_OF_INFINITY
    kind = HARD if signed or infinite or first == FIRST_OF_NAN else EXACT
    while not ends_word(text, i):
        if text[i] < BLANK or text[i] == COLON or text[i] == DELETE:
            return i, MALFORMED
        if text[i] > DELETE:
            kind = HARD
        i += ONE
    return i, kind


@exact_part
def is_pair(text: Any, i: Any) -> Any:
    """Tell whether the word at i has a colon behind its first letter."""
    first = i
    while not ends_word(text, i) and text[i] != COLON:
        i += ONE
    return text[i] == COLON and i > first


@exact_part
def note_hard(room: Any, hard: Any, slot: Any, start: Any, stop: Any) -> Any:
    """Note a word that Python is to settle; give the new count of them."""
    room.hard_slots[hard] = slot
    room.hard_starts[hard] = start
    room.hard_stops[hard] = stop
    return hard + ONE


@exact_part
def read_pairs(text: Any, i: Any, room: Any, rules: Any, entry: Any, hard: Any) -> Any:
    """Read the pairs from i to the end of the line.

    Gives the position reached, the offence there, the counts of entries and hard words, and
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

    Hard words have their slot noted: that of the entry, or -1 - row for a label.
    """
    i = row = entry = words = hard = untidy = UNSIGNED_ZERO
    offence = SOUND
    while i < np.uint64(text.size):
        start = skip_blanks(text, i)
        if not ends_line(text, start):
            label, i, kind = read_number(text, start)
            if rules.bare and is_pair(text, start):
                label, i, kind = 0.0, start, EXACT
            elif kind == MALFORMED or not ends_word(text, i):
                i, kind = skip_label_word(text, start)
                label = np.nan
                words += ONE
                if kind == MALFORMED or not rules.words_allowed:
                    return row, entry, words, untidy, hard, BAD_LABEL, start
            if kind == HARD:
                hard = note_hard(room, hard, -1 - np.int64(row), start, i)
            i, offence = skip_query(text, skip_blanks(text, i))
            if offence == SOUND:
                i, offence, entry, hard, tidy = read_pairs(text, i, room, rules, entry, hard)
            if offence != SOUND:
                return row, entry, words, untidy, hard, offence, i
            if not tidy:
                room.untidy[untidy] = row
                untidy += ONE
            room.labels[row] = label
            room.ends[row] = entry
            row += ONE
            start = i
        i, textual = next_line(text, start)
        if not textual:
            return row, entry, words, untidy, hard, NUL_BYTE, i
    return row, entry, words, untidy, hard, SOUND, i


@exact_loop
def find_labels(text: Any, starts: Any, stops: Any) -> Any:
    """Find where the labels of a sound chunk stand that ends in a newline; give their number."""
    i = row = UNSIGNED_ZERO
    while i < np.uint64(text.size):
        start = skip_blanks(text, i)
        if ends_line(text, start):
            i, _ = next_line(text, start)
            continue
        stop = start
        while not ends_word(text, stop):
            stop += ONE
        starts[row] = start
        stops[row] = stop
        row += ONE
        i, _ = next_line(text, stop)
    return row


@exact_part
def is_mark(byte: Any, mark: Any) -> Any:
    """Give 1 in a byte if a byte is the mark and 0 otherwise."""
    return np.uint8(byte == mark)


@exact_loop
def count_marks(text: Any) -> Any:
    """Count the newlines and the colons of a text.

    Sums of bytes stay in the vector unit: four times as fast as two scans by NumPy, measured.
    """
    newlines = colons = np.int64(0)
    i = UNSIGNED_ZERO
    while i + COUNTED_AT_ONCE <= np.uint64(text.size):
        few_newlines = few_colons = np.uint8(0)
        for j in range(COUNTED_AT_ONCE):
            byte = text[i + np.uint64(j)]
            few_newlines = np.uint8(few_newlines + is_mark(byte, NEWLINE))
            few_colons = np.uint8(few_colons + is_mark(byte, COLON))
        newlines += np.int64(few_newlines)
        colons += np.int64(few_colons)
        i += COUNTED_AT_ONCE
    for j in range(i, np.uint64(text.size)):
        newlines += np.int64(is_mark(text[j], NEWLINE))
        colons += np.int64(is_mark(text[j], COLON))
    return newlines, colons
