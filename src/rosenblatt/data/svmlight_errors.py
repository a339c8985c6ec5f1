"""What is wrong with a text in the svmlight format, and where: messages for people.

The compiled loop stops with an offence and an offset; these functions find line and column, look
at the word that stands there, and say in a sentence what to do about it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.errors import ParseError

# Large enough to make Python's share of the work small, small enough for the second-level cache.
CHUNK_BYTES = 1 << 20
COLUMN_LIMIT = 1 << 31
NEWLINE = 10

# What the loop stopped at, if anything.
SOUND, BAD_LABEL, BAD_QUERY, BAD_COLUMN, BAD_VALUE, NUL_BYTE = range(6)

WORD_END = re.compile(rb"[ \t\n#]|\r(?=\n|\Z)")
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
LONGEST_QUOTE = 30
PAIR_ADVICE = "write column:value pairs such as 3:0.5"


class Source(NamedTuple):
    """The text and the caller's wishes, as the messages need them."""

    text: np.ndarray
    file: str
    zero_based: bool
    width: int | None
    dtype: np.dtype[Any]


class Chunk(NamedTuple):
    """A range of whole lines, with the most rows and entries that it can hold."""

    start: int
    stop: int
    rows: int
    entries: int


def error_of_word(source: Source, chunk: Chunk, offence: int, offset: int) -> ParseError:
    """Make the error for the word that begins at an offset into the text."""
    word = WORD_END.split(source.text[offset : chunk.stop].tobytes(), maxsplit=1)[0]
    return error_at(source, chunk, offset, explain(source, offence, word))


def error_at(source: Source, chunk: Chunk, offset: int, message: str) -> ParseError:
    """Make an error of a message and an offset into the text."""
    newlines = sum(
        int(np.count_nonzero(source.text[start : min(start + CHUNK_BYTES, offset)] == NEWLINE))
        for start in range(0, offset, CHUNK_BYTES)
    )
    column = offset - line_start(source, chunk, offset) + 1
    return ParseError(message, file=source.file, line=newlines + 1, column=column)


def line_start(source: Source, chunk: Chunk, offset: int) -> int:
    """Give the offset at which the line of an offset begins."""
    return chunk.start + source.text[chunk.start : offset].tobytes().rfind(b"\n") + 1


def offset_of_row(text: bytes, row: int) -> int:
    """Give the offset of the label of a row in a chunk that was found to be sound up to there."""
    examples = re.finditer(rb"^[ \t]*([^ \t\r\n#])", text, re.MULTILINE)
    return next(match.start(1) for i, match in enumerate(examples) if i == row)


def explain(source: Source, offence: int, word: bytes) -> str:
    """Say what is wrong with a word and what to do."""
    if offence == NUL_BYTE or CONTROL.search(word):
        return f"the bytes {quote(word)} are not text; decompress or convert the file first"
    if b"\r" in word:
        return rf"a carriage return stands inside {quote(word)}; end lines in \n or \r\n"
    if offence == BAD_LABEL:
        return explain_number("label", "begin each line with a label such as 1 or -1", "", word)
    if offence == BAD_QUERY:
        return f"the query {quote(word)} is not a whole number; write it as in qid:7"
    if offence == BAD_VALUE:
        return explain_number("value", PAIR_ADVICE, f" as {source.dtype}", word)
    return explain_column(source, word)


def explain_number(noun: str, advice: str, kind: str, word: bytes) -> str:
    """Say what is wrong with a label or a value."""
    if not word:
        return f"the {noun} is missing; {advice}"
    if NUMBER.fullmatch(word) or NOT_FINITE.fullmatch(word):
        return f"the {noun} {quote(word)} is not finite{kind}; change it or leave it out"
    return f"the {noun} {quote(word)} is not a number; {advice}"


def explain_column(source: Source, word: bytes) -> str:
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
    if digits == b"0" and not source.zero_based:
        return (
            "column 0 comes before the first column, 1; if columns count from 0, pass "
            "zero_based=True (command line: --zero-based)"
        )
    counting = f"columns count from {0 if source.zero_based else 1}"
    return (
        f"column {int(digits)} is beyond the width {source.width} ({counting}); "
        "leave the width out or check that the file belongs to the model"
    )


def quote(word: bytes) -> str:
    """Show the beginning of a word in quotes, with nothing that a terminal would act on."""
    text = word[:LONGEST_QUOTE].decode(errors="backslashreplace")
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return f"'{shown}{'...' if len(word) > LONGEST_QUOTE else ''}'"
