r"""Text in the format of Vowpal Wabbit to a sparse matrix, labels and importance weights.

One example a line::

    [label [importance]] ['tag]|[namespace[:scale]] feature[:value] ... |namespace ...

The rules
---------
- Spaces and tabs separate words. Lines end in \n or \r\n; the last one needs no end. A byte-order
  mark at the very beginning and lines of nothing but blanks are skipped. There are no comments. A
  carriage return elsewhere is an error.
- Label, importance, scale and value are numbers as in the svmlight format: neither nan nor inf.
  The importance is 1 unless given and must not be negative. A word is a tag, which is skipped, if
  it touches the bar or begins with an apostrophe; it comes last before the bar. Either every line
  has a label or none. An initial prediction, the third number, is refused.
- A name is any run of bytes without blanks, colons, bars, NULs and carriage returns. A bar begins a
  namespace; its name touches the bar, and without a name it is anonymous. Values are 1 unless given
  and are multiplied by the scale of their namespace, 1 unless given, in double precision.
- The hash of the anonymous namespace is 0, that of another is hash(0, its name). A feature whose
  name is all digits has the column (number + hash of the namespace) modulo the columns, so that
  anonymous numbers are columns, as in Vowpal Wabbit; a word has hash(hash of the namespace, word)
  modulo the columns. hash(seed, bytes) is the 64-bit FNV-1a hash, begun with its offset XOR the
  seed, and finished by the mixing of MurmurHash3; sums are modulo 2^64. It is the same on every
  machine, and not that of Vowpal Wabbit: weights cannot be carried over.
- Features of a line that fall into the same column are added up. A zero that is written is stored.
  No constant feature is added: learners have a bias of their own.
- The first line that breaks a rule is reported, with line and column counted from 1 and in bytes.

How it works
------------
The text is cut at line ends into pieces, which a compiled loop (`read_lines`) reads. A line that
breaks a rule, or has a number that the loop cannot round (`numbers`), is left to `vowpal_lines`,
which is slow, obvious and able to explain.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.data.numbers import HARD, MALFORMED, ONE, TEN, ZERO_DIGIT, read_number
from rosenblatt.data.reading import DEFAULT, Reading
from rosenblatt.data.sources import line_and_column
from rosenblatt.data.svmlight_loop import skip_blanks
from rosenblatt.data.vowpal_lines import (
    FNV_OFFSET,
    FNV_PRIME,
    MIXERS,
    WrongLineError,
    read_line,
)
from rosenblatt.errors import EmptyError, ParseError
from rosenblatt.examples import Examples
from rosenblatt.loops import exact_loop, exact_part
from rosenblatt.names import Columns

__all__ = ["parse_vowpal"]

PIECE_BYTES = 1 << 20
LARGEST_WHOLE = 2.0**53  # doubles tell smaller whole numbers apart
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Doubles from here on round to an infinite float32.
VALUE_LIMITS = {np.dtype(np.float32): 2.0**128 - 2.0**103, np.dtype(np.float64): np.inf}

NUL, TAB, NEWLINE, RETURN = 0, 9, 10, 13
BLANK, APOSTROPHE, COLON, BAR = (ord(letter) for letter in " ':|")
ZERO = np.uint64(0)
OFFSET, PRIME = np.uint64(FNV_OFFSET), np.uint64(FNV_PRIME)
MIXER_1, MIXER_2 = (np.uint64(mixer) for mixer in MIXERS)
SHIFT = np.uint64(33)


class Room(NamedTuple):
    """Where the loop writes: rows, entries, and the rows that it leaves open."""

    labels: np.ndarray  # NaN for none
    weights: np.ndarray
    lines: np.ndarray  # where the line of a row begins
    ends: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    hard: np.ndarray


class Tally(NamedTuple):
    """How many of each the loop wrote, whether it stopped at an offence, and in which line."""

    rows: int
    entries: int
    hard: int
    offence: int
    line: int


@exact_part
def ends_line(text: Any, i: Any) -> Any:
    """Tell whether the line ends at i."""
    return text[i] == NEWLINE or (text[i] == RETURN and text[i + ONE] == NEWLINE)


@exact_part
def ends_word(text: Any, i: Any) -> Any:
    """Tell whether a word ends before i."""
    if text[i] > BLANK:
        return text[i] == BAR
    return text[i] == BLANK or text[i] == TAB or ends_line(text, i)


@exact_part
def stops_word(text: Any, i: Any) -> Any:
    """Tell whether a word ends before i, or a byte stands there that no word can have."""
    if text[i] > BLANK:
        return text[i] == BAR
    return (
        text[i] == BLANK
        or text[i] == TAB
        or text[i] == NEWLINE
        or text[i] == RETURN
        or text[i] == NUL
    )


@exact_part
def mixed(key: Any) -> Any:
    """Finish a hash, so that every bit of the key reaches every bit."""
    key = (key ^ (key >> SHIFT)) * MIXER_1
    key = (key ^ (key >> SHIFT)) * MIXER_2
    return key ^ (key >> SHIFT)


@exact_part
def read_name(text: Any, i: Any, seed: Any) -> Any:
    """Hash the name at i; give the hash, the name as a number, whether it is one, and its end."""
    key, number = OFFSET ^ seed, ZERO
    digital: Any = True
    while text[i] != COLON and not stops_word(text, i):
        letter = np.uint64(text[i])
        key = (key ^ letter) * PRIME
        digit = letter - ZERO_DIGIT
        digital = digital and digit < TEN
        number = number * TEN + digit
        i += ONE
    return mixed(key), number, digital, i


@exact_part
def read_factor(text: Any, i: Any) -> Any:
    """Read ``:number`` at i, or nothing, up to the end of the word.

    Gives the number, 1 if there is none, the position after it, whether it is hard, and whether
    all is well.
    """
    if text[i] != COLON:
        return 1.0, i, False, ends_word(text, i)
    number, i, kind = read_number(text, i + ONE)
    return number, i, kind == HARD, kind != MALFORMED and ends_word(text, i)


@exact_part
def read_opening(text: Any, i: Any) -> Any:
    """Read what stands before the first bar.

    Gives label (NaN for none), importance, the position of the bar, whether a number is hard, and
    whether all is well.
    """
    label, weight, hard, words = np.nan, 1.0, False, 0
    while text[i] != BAR:
        end = i
        while not stops_word(text, end):
            end += ONE
        if text[end] == BAR or text[i] == APOSTROPHE:
            i = skip_blanks(text, end)
            return label, weight, i, hard, text[i] == BAR and weight >= 0
        number, stop, kind = read_number(text, i)
        if kind == MALFORMED or stop != end or words == 2 or ends_line(text, end):
            return label, weight, i, hard, False
        hard = hard or kind == HARD
        if words == 0:
            label = number
        else:
            weight = number
        words += 1
        i = skip_blanks(text, end)
    return label, weight, i, hard, weight >= 0


@exact_part
def read_features(text: Any, i: Any, room: Any, entry: Any, columns: Any, limit: Any) -> Any:
    """Read the namespaces from the bar at i to the end of the line.

    Gives the position reached, the count of entries, whether a number is hard, and whether all is
    well.
    """
    hard = False
    seed, scale = ZERO, 1.0
    while not ends_line(text, i):
        if text[i] == BAR:
            start = i + ONE
            seed, _, _, i = read_name(text, start, ZERO)
            seed = ZERO if i == start else seed
            scale, i, unsettled, well = read_factor(text, i)
        else:
            start = i
            key, number, digital, i = read_name(text, start, seed)
            value, i, unsettled, well = read_factor(text, i)
            value *= scale
            well = well and text[start] != COLON and abs(value) < limit
            if well:
                room.columns[entry] = (number + seed if digital else key) % columns
                room.values[entry] = value
                entry += ONE
        hard = hard or unsettled
        if not well:
            return i, entry, hard, False
        i = skip_blanks(text, i)
    return i, entry, hard, True


@exact_loop
def read_lines(text: Any, room: Any, columns: Any, limit: Any) -> Any:
    """Read a piece that ends in a newline up to its first offence; give the fields of a `Tally`."""
    i = row = entry = unsettled = ZERO
    while i < np.uint64(text.size):
        line = i
        i = skip_blanks(text, i)
        if not ends_line(text, i):
            label, weight, i, hard, well = read_opening(text, i)
            if not well:
                return row, entry, unsettled, True, line
            i, entry, harder, well = read_features(text, i, room, entry, columns, limit)
            if not well:
                return row, entry, unsettled, True, line
            if hard or harder:
                room.hard[unsettled] = row
                unsettled += ONE
            room.labels[row] = label
            room.weights[row] = weight
            room.lines[row] = line
            room.ends[row] = entry
            row += ONE
        while text[i] != NEWLINE:
            i += ONE
        i += ONE
    return row, entry, unsettled, False, i


def parse_vowpal(
    data: bytes | memoryview | np.ndarray,
    reading: Reading = DEFAULT,
    *,
    first_line: int = 1,
    labelled: bool | None = None,
) -> Examples:
    r"""Parse text in the format of Vowpal Wabbit.

    Parameters
    ----------
    data : the bytes of the text.
    reading : its file, columns, dtype and labels; without labels, some lines may have one.
    first_line : the number of the first line, where the text is part of a larger one.
    labelled : whether the lines must have labels or must not, where those before them settle it.

    Returns
    -------
    Rows (CSR), labels (int64 if all are whole, else float64; None if there are none) and weights.

    Examples
    --------
    >>> found = parse_vowpal(b"1 2.0 'first|a x:0.5\n-1 | 3:2 7\n", Reading(columns=8))
    >>> found.y.tolist(), found.weights.tolist(), found.X.toarray()[1].tolist()
    ([1, -1], [2.0, 1.0], [0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0])
    """
    kind, file, columns = reading.dtype, reading.file, reading.hashing("vowpal")["columns"]
    text = np.frombuffer(data, np.uint8)
    start = len(BYTE_ORDER_MARK) if text[:3].tobytes() == BYTE_ORDER_MARK else 0
    pieces = []
    while start < text.size:
        stop = _after_line(text, start + PIECE_BYTES)
        room = _read_piece(text, start, stop, columns, VALUE_LIMITS[kind], file, first_line)
        if room.labels.size:
            if reading.labels:
                labelled = _labelled(room, labelled, text, start, file, first_line)
                _refuse_rounded(room, text, start, file, first_line)
            pieces.append(room._replace(values=room.values.astype(kind)))
        start = stop
    if not pieces:
        raise EmptyError(f"{file} holds no examples; write one a line, such as: 1 | height:1.5 red")
    return _joined(pieces, columns, reading.labels and bool(labelled))


def _after_line(text: np.ndarray, position: int) -> int:
    """Give the position after the first newline from a position on, or that of the end."""
    while position < text.size:
        found = text[position : position + PIECE_BYTES].tobytes().find(b"\n")
        if found >= 0:
            return position + found + 1
        position += PIECE_BYTES
    return text.size


def _read_piece(
    text: np.ndarray, start: int, stop: int, columns: int, limit: float, file: str, first_line: int
) -> Room:
    piece = text[start:stop]
    if piece[-1] != NEWLINE:
        piece = np.append(piece, np.uint8(NEWLINE))
    piece = piece.view()
    piece.flags.writeable = False  # whatever they are, so that the loop is compiled only once
    room = _make_room(piece)
    tally = Tally(*map(int, read_lines(piece, room, np.uint64(columns), limit)))
    try:
        for row in room.hard[: tally.hard].tolist():
            line = int(room.lines[row])
            _settle(room, row, read_line(_line_at(piece, line), limit))
        if tally.offence:
            line = tally.line
            read_line(_line_at(piece, line), limit)
            raise WrongLineError("the line cannot be read; write it as: 1 | height:1.5 red", 0)
    except WrongLineError as wrong:
        raise _error(text, start + line, wrong.column, str(wrong), file, first_line) from None
    return _used(room, tally)


def _settle(room: Room, row: int, found: tuple[float, float, list[float]]) -> None:
    """Put what the slow reader found in a line in the place of what the loop found."""
    room.labels[row], room.weights[row], values = found
    room.values[room.ends[row] - len(values) : room.ends[row]] = values


def _used(room: Room, tally: Tally) -> Room:
    rows, entries = slice(tally.rows), slice(tally.entries)
    return Room(
        room.labels[rows],
        room.weights[rows],
        room.lines[rows],
        room.ends[rows],
        room.columns[entries],
        room.values[entries],
        room.hard[: tally.hard],
    )


def _make_room(piece: np.ndarray) -> Room:
    """Make arrays as large as they can become: a feature follows a blank, or a bar."""
    rows = int(np.count_nonzero(piece == NEWLINE))
    entries = sum(int(np.count_nonzero(piece == letter)) for letter in (BLANK, TAB, BAR))
    labels, weights = np.empty(rows), np.empty(rows)
    lines, ends, hard = (np.empty(rows, np.int64) for _ in range(3))
    return Room(labels, weights, lines, ends, np.empty(entries, np.int32), np.empty(entries), hard)


def _line_at(piece: np.ndarray, line: int) -> bytes:
    stop = _after_line(piece, line)
    return piece[line:stop].tobytes().removesuffix(b"\n").removesuffix(b"\r")


def _error(
    text: np.ndarray, line: int, column: int, message: str, file: str, first_line: int
) -> ParseError:
    number = first_line + line_and_column(text, line)[0] - 1
    return ParseError(message, file=file, line=number, column=column)


def _labelled(
    room: Room, labelled: bool | None, text: np.ndarray, start: int, file: str, first_line: int
) -> bool:
    """Tell whether examples have labels, all or none of them."""
    present = ~np.isnan(room.labels)
    labelled = bool(present[0]) if labelled is None else labelled
    odd = np.flatnonzero(present != labelled)
    if odd.size:
        state = "no label, but lines before have one" if labelled else "a label, but none before"
        message = f"the line has {state}; give every line a label and a blank before |, or none"
        raise _error(text, start + int(room.lines[odd[0]]), 1, message, file, first_line)
    return labelled


def _refuse_rounded(room: Room, text: np.ndarray, start: int, file: str, first_line: int) -> None:
    """Refuse labels that are whole numbers which doubles do not tell apart."""
    for row in np.flatnonzero(np.abs(room.labels) >= LARGEST_WHOLE).tolist():
        line = start + int(room.lines[row])
        word = text[line : _after_line(text, line)].tobytes().split()[0].decode()
        if Decimal(word) != float(word) and "e" not in word.lower():
            message = f"the label {word[:40]} would be rounded; give classes smaller numbers"
            raise _error(text, line, 1, message, file, first_line)


def _joined(pieces: list[Room], columns: int, labelled: bool) -> Examples:
    labels = np.concatenate([piece.labels for piece in pieces])
    weights = np.concatenate([piece.weights for piece in pieces])
    indices = np.concatenate([piece.columns for piece in pieces])
    values = np.concatenate([piece.values for piece in pieces])
    counts = np.concatenate([np.diff(piece.ends, prepend=0) for piece in pieces])
    starts = np.concatenate(([0], np.cumsum(counts)))
    matrix = csr_matrix((values, indices, starts), shape=(labels.size, columns))
    matrix.sum_duplicates()
    whole = (labels == np.trunc(labels)) & (np.abs(labels) <= LARGEST_WHOLE)
    y = labels.astype(np.int64) if labelled and whole.all() else labels
    known = Columns(hashing={"format": "vowpal", "columns": columns})
    return Examples(matrix, y if labelled else None, weights=weights, columns=known)
