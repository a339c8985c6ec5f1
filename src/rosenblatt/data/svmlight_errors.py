"""What is wrong with a text in the svmlight format, and where: messages for people.

The compiled loop stops with an offence and an offset; these functions find line and column, look
at the word that stands there, and say in a sentence what to do about it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from rosenblatt.data.reading import Reading
from rosenblatt.data.sources import line_and_column
from rosenblatt.data.svmlight_loop import (
    BAD_LABEL,
    BAD_QUERY,
    BAD_VALUE,
    COLUMN_LIMIT,
    NUL_BYTE,
)
from rosenblatt.errors import ParseError

# Large enough to make Python's share of the work small, small enough for the second-level cache.
CHUNK_BYTES = 1 << 20

WORD_END = re.compile(rb"[ \t\n#]|\r(?=\n|\Z)")
NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
LONGEST_QUOTE = 30
PAIR_ADVICE = "write column:value pairs such as 3:0.5"
LABEL_ADVICE = "begin each line with a label such as 1, -1 or spam"


class TextPiece(NamedTuple):
    """A text and how to read it.

    A text may be a piece of a longer one: lines before it count, and its labels may have to be
    numbers, or words, because those before were. It is bare if its rows have no labels.
    """

    text: np.ndarray
    reading: Reading
    lines_before: int = 0
    words_allowed: bool = True
    words_forced: bool = False
    bare: bool = False


class LineRange(NamedTuple):
    """A range of whole lines, the most rows and entries that it can hold, and where they go."""

    start: int
    stop: int
    rows: int
    entries: int
    first_row: int
    first_entry: int


def error_of_word(source: TextPiece, chunk: LineRange, offence: int, offset: int) -> ParseError:
    """Make the error for the word that begins at an offset into the text."""
    word = WORD_END.split(source.text[offset : chunk.stop].tobytes(), maxsplit=1)[0]
    return error_at(source, offset, explain(source, offence, word))


def error_at(source: TextPiece, offset: int, message: str) -> ParseError:
    """Make an error of a message and an offset into the text."""
    line, column = line_and_column(source.text, offset)
    line += source.lines_before
    return ParseError(message, file=source.reading.file, line=line, column=column)


def offset_of_row(text: bytes, row: int) -> int:
    """Give the offset of the label of a row in a chunk that was found to be sound up to there."""
    examples = re.finditer(rb"^[ \t]*([^ \t\r\n#])", text, re.MULTILINE)
    return next(match.start(1) for i, match in enumerate(examples) if i == row)


def explain(source: TextPiece, offence: int, word: bytes) -> str:
    """Say what is wrong with a word and what to do."""
    if offence == NUL_BYTE or CONTROL.search(word):
        return f"the bytes {quote(word)} are not text; decompress or convert the file first"
    if b"\r" in word:
        return rf"a carriage return stands inside {quote(word)}; end lines in \n or \r\n"
    if offence == BAD_LABEL:
        return explain_label(word)
    if offence == BAD_QUERY:
        return f"the query {quote(word)} is not a whole number; write it as in qid:7"
    if offence != BAD_VALUE:
        return explain_column(source, word)
    if not word:
        return f"the value is missing; {PAIR_ADVICE}"
    if spells_number(word):
        kind = source.reading.dtype
        return f"the value {quote(word)} is not finite as {kind}; change it or leave it out"
    return f"the value {quote(word)} is not a number; {PAIR_ADVICE}"


def explain_label(word: bytes) -> str:
    """Say what is wrong with a label."""
    if b":" in word:
        return f"the label is missing before {quote(word)}; {LABEL_ADVICE}"
    if spells_number(word):
        return f"the label {quote(word)} is not finite; change it or leave it out"
    if not is_utf8(word):
        return f"the label {quote(word)} is not UTF-8 text; convert the file to UTF-8"
    return (
        f"the label {quote(word)} is not a number, but those of the blocks before it are; read the "
        "file as a whole to have them all as strings"
    )


def spells_number(word: bytes) -> bool:
    """Tell whether a word is a number, finite or not."""
    return bool(NUMBER.fullmatch(word) or NOT_FINITE.fullmatch(word))


def is_utf8(word: bytes) -> bool:
    """Tell whether a word can be decoded."""
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True


def explain_column(source: TextPiece, word: bytes) -> str:
    """Say what is wrong with the column of a pair."""
    column, colon, _ = word.partition(b":")
    if not colon:
        return f"{quote(word)} is not a pair; {PAIR_ADVICE}"
    if column == b"qid":
        return "qid stands in the wrong place; write it once, right after the label"
    if not column.isdigit():
        return f"the column {quote(column)} is not a whole number; {PAIR_ADVICE}"
    digits = column.lstrip(b"0") or b"0"
    if len(digits) > len(str(COLUMN_LIMIT)) or int(digits) >= COLUMN_LIMIT:
        return f"the column {quote(column)} is too large; keep columns below {COLUMN_LIMIT}"
    if digits == b"0" and not source.reading.zero_based:
        return (
            "column 0 comes before the first column, 1; if columns count from 0, pass "
            "zero_based=True"
        )
    counting = f"columns count from {0 if source.reading.zero_based else 1}"
    return (
        f"column {int(digits)} is beyond the width {source.reading.width} ({counting}); "
        "give a larger width or none"
    )


def quote(word: bytes) -> str:
    """Show the beginning of a word in quotes, with nothing that a terminal would act on."""
    text = word[:LONGEST_QUOTE].decode(errors="backslashreplace")
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return f"'{shown}{'...' if len(word) > LONGEST_QUOTE else ''}'"
