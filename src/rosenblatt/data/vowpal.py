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
breaks a rule, or has a number that the loop cannot round (`numbers`), is left to `read_line`,
which is slow, obvious and able to explain.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.data.reading import DEFAULT, Reading
from rosenblatt.data.sources import MisreadError, after_line, line_and_column, without_mark
from rosenblatt.data.svmlight_chunk import VALUE_LIMITS, sealed
from rosenblatt.data.svmlight_errors import NUMBER, quote, spells_number
from rosenblatt.data.svmlight_loop import BLANK, NEWLINE, TAB
from rosenblatt.data.vowpal_loop import (
    BAR,
    FNV_OFFSET,
    FNV_PRIME,
    MIXERS,
    VowpalRoom,
    VowpalTally,
    read_lines,
)
from rosenblatt.errors import EmptyError, ParseError
from rosenblatt.examples import Examples
from rosenblatt.names import Columns

PIECE_BYTES = 1 << 20
LARGEST_WHOLE = 2.0**53  # doubles tell smaller whole numbers apart
WORD_BITS = 2**64 - 1
WORD = re.compile(rb"[^ \t|]+")
NAMESPACE_OR_FEATURE = re.compile(rb"\|[^ \t|]*|[^ \t|]+")


class Text(NamedTuple):
    """A text, the name that messages give to it, and the number of its first line."""

    content: np.ndarray
    file: str
    first_line: int

    def error(self, place: int, column: int, message: str) -> ParseError:
        """Say what is wrong with the line that begins at a place."""
        line = self.first_line + line_and_column(self.content, place)[0] - 1
        return ParseError(message, file=self.file, line=line, column=column)

    def line_at(self, place: int) -> bytes:
        """Give the line that begins at a place, without its end."""
        line = self.content[place : after_line(self.content, place)].tobytes()
        return line.removesuffix(b"\n").removesuffix(b"\r")


def parse_vowpal(
    data: bytes | memoryview | np.ndarray,
    reading: Reading = DEFAULT,
    *,
    first_line: int = 1,
    labelled: bool | None = None,
) -> Examples:
    r"""Parse text in the format of Vowpal Wabbit.

    Labels are int64 if all are whole, else float64; None if there are none. Where the text is part
    of a larger one, its first line has a number, and the lines before it settle whether it must
    be `labelled`.

    Examples
    --------
    >>> found = parse_vowpal(b"1 2.0 'first|a x:0.5\n-1 | 3:2 7\n", Reading(columns=8))
    >>> found.y.tolist(), found.weights.tolist(), found.X.toarray()[1].tolist()
    ([1, -1], [2.0, 1.0], [0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0])
    """
    columns = reading.hashing("vowpal")["columns"]
    text = Text(without_mark(np.frombuffer(data, np.uint8)), reading.file, first_line)
    pieces, start = [], 0
    while start < text.content.size:
        stop = after_line(text.content, start + PIECE_BYTES)
        room = _read_piece(text, start, stop, columns, VALUE_LIMITS[reading.dtype])
        if room.labels.size:
            if reading.labels:
                labelled = _labelled(room, labelled, text)
                _refuse_rounded(room, text)
            pieces.append(room._replace(values=room.values.astype(reading.dtype)))
        start = stop
    if not pieces:
        raise EmptyError(
            f"{reading.file} holds no examples; write one a line, such as: 1 | height:1.5 red"
        )
    return _joined(pieces, columns, reading.labels and bool(labelled))


def _read_piece(text: Text, start: int, stop: int, columns: int, limit: float) -> VowpalRoom:
    """Read whole lines; the lines of a room then begin where they do in the text."""
    piece = sealed(text.content[start:stop]).view()
    piece.flags.writeable = False  # whatever they are, so that the loop is compiled only once
    room = _make_room(piece)
    tally = VowpalTally(*map(int, read_lines(piece, room, np.uint64(columns), limit)))
    room.lines[: tally.rows] += start
    try:
        for row in room.hard[: tally.hard].tolist():
            place = int(room.lines[row])
            room.labels[row], room.weights[row], values = read_line(text.line_at(place), limit)
            room.values[room.ends[row] - len(values) : room.ends[row]] = values
        if tally.offence:
            place = start + tally.line
            read_line(text.line_at(place), limit)
            raise MisreadError(0, "the line cannot be read; write it as: 1 | height:1.5 red")
    except MisreadError as wrong:
        raise text.error(place, wrong.place + 1, str(wrong)) from None
    ends = (*[tally.rows] * 4, *[tally.entries] * 2, tally.hard)
    return VowpalRoom(*(array[:end] for array, end in zip(room, ends, strict=True)))


def _make_room(piece: np.ndarray) -> VowpalRoom:
    """Make arrays as large as they can become: a feature follows a blank, or a bar."""
    rows = int(np.count_nonzero(piece == NEWLINE))
    entries = sum(int(np.count_nonzero(piece == letter)) for letter in (BLANK, TAB, BAR))
    labels, weights = np.empty(rows), np.empty(rows)
    lines, ends, hard = (np.empty(rows, np.int64) for _ in range(3))
    return VowpalRoom(
        labels, weights, lines, ends, np.empty(entries, np.int32), np.empty(entries), hard
    )


def _labelled(room: VowpalRoom, labelled: bool | None, text: Text) -> bool:
    """Tell whether examples have labels, all or none of them."""
    present = ~np.isnan(room.labels)
    labelled = bool(present[0]) if labelled is None else labelled
    odd = np.flatnonzero(present != labelled)
    if odd.size:
        state = "no label, but lines before have one" if labelled else "a label, but none before"
        message = f"the line has {state}; give every line a label and a blank before |, or none"
        raise text.error(int(room.lines[odd[0]]), 1, message)
    return labelled


def _refuse_rounded(room: VowpalRoom, text: Text) -> None:
    """Refuse labels that are whole numbers which doubles do not tell apart."""
    for row in np.flatnonzero(np.abs(room.labels) >= LARGEST_WHOLE).tolist():
        place = int(room.lines[row])
        word = text.line_at(place).split()[0].decode()
        if Decimal(word) != float(word) and "e" not in word.lower():
            message = f"the label {word[:40]} would be rounded; give classes smaller numbers"
            raise text.error(place, 1, message)


def _joined(pieces: list[VowpalRoom], columns: int, labelled: bool) -> Examples:
    parts = zip(*((p.labels, p.weights, p.columns, p.values) for p in pieces), strict=True)
    labels, weights, indices, values = map(np.concatenate, parts)
    counts = np.concatenate([np.diff(piece.ends, prepend=0) for piece in pieces])
    starts = np.concatenate(([0], np.cumsum(counts)))
    matrix = csr_matrix((values, indices, starts), shape=(labels.size, columns))
    matrix.sum_duplicates()
    whole = (labels == np.trunc(labels)) & (np.abs(labels) <= LARGEST_WHOLE)
    y = labels.astype(np.int64) if labelled and whole.all() else labels
    known = Columns(hashing={"format": "vowpal", "columns": columns})
    return Examples(matrix, y if labelled else None, weights=weights, columns=known)


# ---- one line, slowly: what it says, or what is wrong with it


def hashed(seed: int, name: bytes) -> int:
    """Hash a name: FNV-1a, begun with its offset XOR the seed and finished by mixing."""
    key = FNV_OFFSET ^ seed
    for letter in name:
        key = (key ^ letter) * FNV_PRIME & WORD_BITS
    for mixer in MIXERS:
        key = (key ^ key >> 33) * mixer & WORD_BITS
    return key ^ key >> 33


def column_of(namespace: bytes, name: bytes, columns: int) -> int:
    """Give the column of a feature; the anonymous namespace is empty.

    Examples
    --------
    >>> column_of(b"", b"300", 256), column_of(b"", b"word", 2**18)
    (44, 242127)
    """
    seed = hashed(0, namespace) if namespace else 0
    key = int(name) + seed & WORD_BITS if name.isdigit() else hashed(seed, name)
    return key % columns


def read_line(line: bytes, limit: float) -> tuple[float, float, list[float]]:
    """Read a line: its label (NaN for none), its importance, and the values of its features."""
    nul = line.find(b"\0")
    if nul >= 0:
        raise MisreadError(nul, "a NUL byte is not text; decompress or convert the file first")
    lone = line.find(b"\r")
    if lone >= 0:
        raise MisreadError(lone, r"a carriage return alone ends no line; end lines in \n or \r\n")
    opening, bar, _ = line.partition(b"|")
    if not bar:
        raise MisreadError(
            len(opening) - len(opening.lstrip(b" \t")),
            "the line has no |; write a label, a bar and features, such as: 1 | height:1.5 red",
        )
    label, importance = _read_opening(opening)
    return label, importance, _read_values(line, len(opening), limit)


def _read_opening(opening: bytes) -> tuple[float, float]:
    words = [(match.start(), match.group()) for match in WORD.finditer(opening)]
    for place, (start, word) in enumerate(words):
        last = place == len(words) - 1
        if word.startswith(b"'") and not last:
            raise MisreadError(start, f"the tag {quote(word)} must come right before the bar")
        if last and (word.startswith(b"'") or start + len(word) == len(opening)):
            words.pop()
    if len(words) > 2:
        raise MisreadError(
            words[2][0],
            f"{quote(words[2][1])} stands where an initial prediction does, which is not "
            "supported; leave it out, or put an apostrophe before it if it is a tag",
        )
    nouns = ("label", "importance")
    numbers = [
        _number(word, noun, start) for noun, (start, word) in zip(nouns, words, strict=False)
    ]
    if len(numbers) == 2 and numbers[1] < 0:
        raise MisreadError(
            words[1][0], f"the importance {quote(words[1][1])} is negative; give 0 or more"
        )
    return numbers[0] if numbers else math.nan, numbers[1] if len(numbers) == 2 else 1.0


def _read_values(line: bytes, start: int, limit: float) -> list[float]:
    scale, values = 1.0, []
    for match in NAMESPACE_OR_FEATURE.finditer(line, start):
        name, colon, factor = match.group().partition(b":")
        place = match.start() + len(name) + 1
        if name.startswith(b"|"):
            scale = (
                _number(factor, f"scale of namespace {quote(name[1:])}", place) if colon else 1.0
            )
            continue
        if not name:
            raise MisreadError(
                match.start(),
                f"{quote(match.group())} has no name before the colon; write name:value",
            )
        noun = f"value of feature {quote(name)}"
        value = (_number(factor, noun, place) if colon else 1.0) * scale
        if not abs(value) < limit:
            raise MisreadError(place, f"the {noun} is too large; change it or leave it out")
        values.append(value)
    return values


def _number(word: bytes, noun: str, start: int) -> float:
    if NUMBER.fullmatch(word):
        number = float(word)
        if math.isfinite(number):
            return number
    if spells_number(word):
        raise MisreadError(
            start, f"the {noun}, {quote(word)}, is not finite; change it or leave it out"
        )
    raise MisreadError(
        start,
        f"the {noun}, {quote(word)}, is not a number; write lines such as: 1 | height:1.5 red",
    )
