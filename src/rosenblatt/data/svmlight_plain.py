"""Small texts in the svmlight format, read without a compiled loop.

To compile the loop takes longer than most of what is done with 100 lines. What is small is read
here, unless something in it needs thought: columns out of order, large numbers, labels of unusual
letters, anything that is an error. Then it is read as any other text is; the result is the same,
and tests hold both ways to each other.
"""

from __future__ import annotations

import re
from itertools import chain

import numpy as np

from rosenblatt.data.strings import string_array
from rosenblatt.data.svmlight_chunk import (
    LARGEST_WHOLE_LABEL,
    VALUE_LIMITS,
    CsrParts,
    Parsed,
    whole_if_possible,
)
from rosenblatt.data.svmlight_errors import TextPiece
from rosenblatt.data.svmlight_loop import COLUMN_LIMIT

NUMBER = rb"[+-]?+(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?+\d++)?+"
WORD = rb"(?!(?i:nan|inf))[A-Za-z][\w.-]*+"
LABEL = rb"(?:(" + NUMBER + rb")|(" + WORD + rb"))"
QUERY = rb"(?:[ \t]++qid:\d++)?+"
PAIRS = rb"((?:[ \t]++\d{1,9}+:" + NUMBER + rb")*+)"  # nine digits are below the limit
END = rb"[ \t]*+(?:#[^\0]*+|\r?+)"
LINE = re.compile(rb"[ \t]*+(?:" + LABEL + QUERY + PAIRS + rb")?+" + END)


class _UnusualError(Exception):
    """A text that needs more thought."""


def read_plain(source: TextPiece) -> Parsed | None:
    """Read a text of plain lines; None if it has others."""
    lines = source.text.tobytes().split(b"\n")
    if not lines[-1]:  # what is behind the last end of a line
        lines.pop()
    try:
        rows = [row for row in map(_row, lines) if row is not None]
        starts, columns, values = _entries([pairs for _, _, pairs in rows], source)
        numbers = np.array([float(number or np.nan) for number, _, _ in rows])
        labels = _labels([(n or word or b"").decode() for n, word, _ in rows], numbers, source)
    except _UnusualError:
        return None
    table = CsrParts(numbers, starts, columns, values)
    return Parsed(table, labels, int(columns.max(initial=-1)) + 1, len(lines))


def _row(line: bytes) -> tuple[bytes | None, bytes | None, bytes] | None:
    """Give the label of a line, a number or else a word, and its pairs; None if it is blank."""
    match = LINE.fullmatch(line)
    if match is None:
        raise _UnusualError
    number, word, pairs = match.groups()
    return None if pairs is None else (number, word, pairs)


def _entries(rows: list[bytes], source: TextPiece) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give where rows begin, their columns and their values."""
    reading, cut = source.reading, [pairs.replace(b":", b" ").split() for pairs in rows]
    words, lengths = list(chain.from_iterable(cut)), [len(row) // 2 for row in cut]
    columns = np.array(list(map(int, words[::2])), np.int32)
    columns -= 0 if reading.zero_based else 1
    values = np.array(list(map(float, words[1::2])))
    width = COLUMN_LIMIT if reading.width is None else reading.width
    places = np.repeat(np.arange(len(rows)), lengths) * COLUMN_LIMIT + columns
    beyond = (columns < 0) | (columns >= width) | (np.abs(values) >= VALUE_LIMITS[reading.dtype])
    if beyond.any() or np.any(np.diff(places) <= 0):
        raise _UnusualError
    starts = np.cumsum([0, *lengths], dtype=np.int32)
    return starts, columns, values.astype(reading.dtype)


def _labels(words: list[str], numbers: np.ndarray, source: TextPiece) -> np.ndarray:
    """Give labels as `svmlight.parse` does; numbers are NaN where words stand."""
    worded = bool(np.isnan(numbers).any())
    if np.any(np.abs(numbers) >= LARGEST_WHOLE_LABEL) or (worded and not source.words_allowed):
        raise _UnusualError
    if not source.reading.labels:
        return numbers
    return string_array(words) if worded or source.words_forced else whole_if_possible(numbers)
