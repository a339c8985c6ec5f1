"""Small CSV and TSV files of plain cells, read without Polars.

A call of Polars costs more than 100 lines do, and a dozen of them are needed to find out what
columns hold. What is small is read here, once, unless something in it needs thought: quotes, lines
of different lengths, missing values, numbers beyond the usual. Then it is read as any other table
is; the result is the same, and tests hold both ways to each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data import tables_text
from rosenblatt.data.reading import Reading
from rosenblatt.data.strings import string_array
from rosenblatt.data.tables_layout import Layout, refuse_many, with_words
from rosenblatt.data.tables_text import (
    MISSING_WORDS,
    NUMBERS,
    TRUTH,
    TRUTH_VALUES,
    WORDS,
    Dialect,
)
from rosenblatt.examples import Examples

LARGEST = 2.0**53  # whole numbers from here on are rounded
LEAST = 2.0**-126  # the least float32 of full precision
# Of a float64: the bits that a float32 lacks, and what they are halfway between two of those.
LOST, HALFWAY = (1 << 29) - 1, 1 << 28


class Column(NamedTuple):
    """The cells of a column: numbers, truth values as numbers, or words without blanks around."""

    kind: str
    cells: np.ndarray | list[str]
    stray: str | None = None  # the last two are as those of a `Dialect`
    varied: str | None = None

    def labels(self) -> np.ndarray:
        """Give labels as what they are: whole numbers, numbers, truth values or words."""
        if isinstance(self.cells, list):
            return string_array(self.cells)
        whole = self.cells.astype(bool if self.kind == TRUTH_VALUES else np.int64)
        return whole if np.array_equal(whole, self.cells) else self.cells


class PlainTable(NamedTuple):
    """What there is to know about a text, and its columns by name."""

    text: Dialect
    columns: dict[str, Column]

    def words_of(self, reading: Reading, names: list[str]) -> dict[str, tuple[str, ...]]:
        """Give the distinct words of columns."""
        found = {name: set(map(str, self.columns[name].cells)) for name in names}
        for name, words in found.items():
            refuse_many(name, words, reading)
        return {name: tuple(sorted(words)) for name, words in found.items()}

    def examples(self, layout: Layout, reading: Reading) -> Examples:
        """Give the columns as features and labels."""
        y = None if layout.label is None else self.columns[layout.label].labels()
        height = len(next(iter(self.columns.values())).cells)
        X = np.empty((height, len(layout.numbers)), reading.dtype)
        for place, name in enumerate(layout.numbers):
            X[:, place] = self.columns[name].cells
        codes = [self._codes(name, layout) for name in layout.words]
        return Examples(with_words(X, codes, layout) if codes else X, y, columns=layout.columns)

    def _codes(self, name: str, layout: Layout) -> list[int]:
        """Give the words of a column by the features that they become, -1 if by none."""
        words = list(map(str, self.columns[name].cells))
        features = layout.features_of(name, set(words))
        return [features.get(word, -1) for word in words]


class _UnusualError(Exception):
    """A text that needs more thought."""


def read_plain(content: bytes, reading: Reading) -> PlainTable | None:
    """Read a text of plain cells; None if it has others."""
    try:
        return _table(content, reading)
    except (_UnusualError, UnicodeDecodeError):
        return None


def _table(content: bytes, reading: Reading) -> PlainTable:
    decimal, separator = reading.decimal, tables_text.separator_of(reading) or ","
    cells, width = _cells(content, separator)
    header = reading.header
    if header is None:
        header = tables_text.header_by_itself(cells[:width], decimal, tables_text.known(reading))
    names = cells[:width] if header else [f"column_{place}" for place in range(width)]
    body = cells[width:] if header else cells
    if header is None or not body or not all(names) or len(set(names)) < width:
        raise _UnusualError
    columns = {
        name: _column(body[place::width], decimal, reading.dtype)
        for place, name in enumerate(names)
    }
    kinds = {name: column.kind for name, column in columns.items()}
    strays = {name: column.stray for name, column in columns.items() if column.stray is not None}
    varied = {name: column.varied for name, column in columns.items() if column.varied is not None}
    length = len(content) * width / len(cells)
    text = Dialect(separator, decimal, header, kinds, frozenset(), strays, varied, length)
    return PlainTable(text, columns)


def _cells(content: bytes, separator: str) -> tuple[list[str], int]:
    """Cut a text into cells, row after row, and give how many each row has."""
    text = content.decode().removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")
    lines = text.split("\n")
    separators = lines[0].count(separator)
    if not separators or any(line.count(separator) != separators for line in lines):
        raise _UnusualError
    cells = text.replace("\n", separator).split(separator)
    letters = "".join(cells)
    if not letters.isprintable() or '"' in letters:  # of all blanks, a space alone is printable
        raise _UnusualError
    return cells, separators + 1


def _column(cells: list[str], decimal: str, dtype: np.dtype[Any]) -> Column:
    values = _numbers(cells, decimal, dtype)
    if values is not None:
        return Column(NUMBERS, values)
    cells = [cell.strip() for cell in cells]
    distinct = dict.fromkeys(cells)
    lower = {cell.lower() for cell in distinct}
    if not lower.isdisjoint(MISSING_WORDS):
        raise _UnusualError
    if lower <= {*TRUTH}:
        return Column(TRUTH_VALUES, np.array([cell.lower() == "true" for cell in cells], float))
    words = {cell for cell in distinct if not _is_number(cell, decimal)}
    strays = [cell for cell in cells if cell in words]
    stray = strays[0] if 2 * len(strays) < len(cells) else None
    return Column(WORDS, cells, stray, tables_text.doubtful_word(cells))


def _numbers(cells: list[str], decimal: str, dtype: np.dtype[Any]) -> np.ndarray | None:
    """Give cells as numbers; None if some are words."""
    pointed = cells if decimal == "." else [_pointed(cell) for cell in cells]
    try:
        values = np.fromiter(map(float, pointed), np.float64, len(cells))
    except ValueError:
        return None
    if not _is_usual(values, dtype) or not _is_spelt_usually("".join(cells)):
        raise _UnusualError
    return values


def _is_usual(values: np.ndarray, dtype: np.dtype[Any]) -> bool:
    """Tell whether numbers are finite, and rounding them again is as rounding them once."""
    sizes = np.abs(values)
    if not sizes.max() < LARGEST:  # or NaN
        return False
    if dtype == np.float64:
        return True
    tiny = sizes < LEAST
    return not (values.view(np.int64) & LOST == HALFWAY).any() and not sizes[tiny].any()


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell if decimal == "." else _pointed(cell))
    except ValueError:
        return False
    return _is_spelt_usually(cell)


def _is_spelt_usually(number: str) -> bool:
    """Tell apart what Python alone takes for a number: 1_000, and digits of other scripts."""
    return number.isascii() and "_" not in number


def _pointed(cell: str) -> str:
    """Give a number with a decimal point, as `tables_text.pointed` does."""
    return cell.replace(".", "?").replace(",", ".")
