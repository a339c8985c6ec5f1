"""CSV and TSV: what the columns of a text hold, and how to read them in haste or with care.

A column is decided by the first MiB of the first file: *numbers* if every cell there is one or
missing, *true or false* likewise, else *words*. In haste, columns of numbers are parsed by Polars
right into floats. With care, all cells are read as text and converted here: that is slower, but
knows every spelling of a missing value and names the cell that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from rosenblatt.data.reading import Reading
from rosenblatt.data.sources import opened
from rosenblatt.errors import InputError

MISSING_WORDS = ["", "na", "n/a", "nan", "null", "?"]
TRUTH = ["true", "false"]
SAMPLE_BYTES = 1 << 20
LONGEST_CELL = 40
SOME_CELLS = 30  # of which words would repeat
COMMAS = re.compile(r"[-+]?[0-9]+(,[0-9]+)?")  # a number where commas are decimal points
LONE_RETURN = re.compile(rb"\r(?!\n|\Z)")

NUMBERS, TRUTH_VALUES, WORDS = "numbers", "true or false", "words"


class ForeignTextError(Exception):
    """Bytes that are no text, or lines that do not end as lines do."""


class Dialect(NamedTuple):
    """What was found out about a text."""

    separator: str
    decimal: str
    header: bool
    kinds: dict[str, str]  # of each column
    direct: frozenset[str]  # columns of numbers that need no cleaning, as far as the sample goes
    strays: dict[str, str]  # a word of each column of words that holds numbers for the most part
    varied: dict[str, str]  # a word of each column whose words hardly ever repeat, or have commas
    line_length: float  # in bytes, likewise

    def with_words_except(self, kept: Iterable[str | None]) -> Dialect:
        """Take all columns but these for words, whatever they hold."""
        kept = frozenset(kept)
        kinds = {name: kind if name in kept else WORDS for name, kind in self.kinds.items()}
        return self._replace(kinds=kinds, direct=self.direct & kept)


def separator_of(reading: Reading) -> str | None:
    """Give what stands between the cells of a text; None if the table is none, or JSON."""
    if reading.format == "csv":
        return reading.separator or (";" if reading.decimal == "," else ",")
    return (reading.separator or "\t") if reading.format == "tsv" else None


def examine(source: str | bytes, reading: Reading) -> Dialect:
    """Look at the beginning of a text."""
    head, header, decimal = head_of(source), reading.header, reading.decimal
    separator = separator_of(reading) or ","
    if b"\0" in head or (b"\n" not in head and LONE_RETURN.search(head)):
        raise ForeignTextError("bytes that are not text")
    sampled = partial(_sample, source, head, separator)
    if header is None:
        header = _has_header(sampled, decimal, known(reading))
    sample = sampled(header)
    if not header:  # the names that Polars gives differ between its versions
        sample.columns = [f"column_{place}" for place in range(sample.width)]
    # A cell such as 1.500 is no number where 1,5 is one, but Polars would take it for 1.5.
    direct = _numeric(sample) if decimal == "." else frozenset()
    clean = sample.select(cleaned([name for name in sample.columns if name not in direct]))
    kinds = {
        name: NUMBERS if name in direct else _kind_of(clean[name], decimal)
        for name in sample.columns
    }
    words = {name: _stray(clean[name], decimal) for name, kind in kinds.items() if kind == WORDS}
    strays = {name: word for name, word in words.items() if word is not None}
    varied = {name: word for name in words if (word := doubtful_word(clean[name].drop_nulls()))}
    length = len(head) / max(head.count(b"\n"), 1)
    return Dialect(separator, decimal, header, kinds, direct, strays, varied, length)


def doubtful_word(words: Any) -> str | None:
    """Give a word of those that hardly ever repeat, as dates and names, or a number with a comma.

    The latter if all words are numbers where commas are decimal points.
    """
    distinct = set(words)
    if all(map(COMMAS.fullmatch, distinct)) and any("," in word for word in distinct):
        return str(next(word for word in words if "," in word))
    return words[0] if len(words) >= SOME_CELLS and 2 * len(distinct) > len(words) else None


def _stray(cells: Any, decimal: str) -> str | None:
    """Give the first word of a column that holds numbers for the most part."""
    cells = cells.drop_nulls()
    words = cells.filter(pointed(cells, decimal).cast(float, strict=False).is_null())
    return words[0] if 2 * len(words) < len(cells) else None


def scan(sources: list[Any], text: Dialect, numbers: Any, label: str | None, careful: bool) -> Any:
    """Scan texts lazily: cells of words and labels cleaned, numbers parsed unless careful."""
    import polars as pl

    fast = frozenset() if careful else text.direct - {label}
    dtypes = {name: numbers if name in fast else pl.String for name in text.kinds}
    lazy = pl.scan_csv(
        sources,
        separator=text.separator,
        has_header=text.header,
        schema=None if text.header else dtypes,
        schema_overrides=dtypes,
        glob=False,
    )
    slow = [name for name in text.kinds if name not in fast]
    return lazy.with_columns(cleaned(slow)) if slow else lazy


def cleaned(names: list[str]) -> Any:
    """Give columns of text without blanks around cells, and without words for missing values."""
    import polars as pl

    cell = pl.col(names).str.strip_chars()
    lower = cell.str.to_lowercase()
    return pl.when(~lower.is_in(MISSING_WORDS)).then(cell)


def pointed(cells: Any, decimal: str) -> Any:
    """Give numbers with a decimal point; one that has it already, instead of a comma, is none."""
    if decimal == ".":
        return cells
    return cells.str.replace_all(".", "?", literal=True).str.replace_all(",", ".", literal=True)


def quoted(word: str) -> str:
    """Show the beginning of a word in quotes."""
    return repr(word if len(word) <= LONGEST_CELL else f"{word[:LONGEST_CELL]}...")


def without_blank_lines(frame: Any) -> Any:
    """Drop the rows in which every cell is missing."""
    import polars as pl

    if frame.width and frame.get_columns()[0].null_count():
        return frame.filter(~pl.all_horizontal(pl.all().is_null()))
    return frame


def converted(
    frame: Any, text: Dialect, numbers: Any, label: str | None, row: int, file: str
) -> Any:
    """Turn the cells that are still text into numbers; `row` rows came before this frame."""
    import polars as pl

    columns = []
    for name, kind in text.kinds.items():
        if name == label or kind == WORDS or frame[name].dtype != pl.String:
            continue
        cells = frame[name]
        if kind == NUMBERS:
            result = pointed(cells, text.decimal).cast(numbers, strict=False)
        else:
            lower = cells.str.to_lowercase()
            result = lower.replace_strict(TRUTH, [1.0, 0.0], default=None, return_dtype=numbers)
        _check_cells(cells, result, kind, row, file)
        columns.append(result)
    return frame.with_columns(columns) if columns else frame


def _check_cells(cells: Any, result: Any, kind: str, row: int, file: str) -> None:
    bad = result.is_null() & cells.is_not_null()
    if bad.any():
        place = int(bad.arg_max())
        cell = ascii(cells[place][:LONGEST_CELL])
        raise InputError(
            f"row {row + place + 1}, column {quoted(cells.name)} of {file} holds {cell}, but "
            f"the column begins with {kind}; mend the cell or leave the row out"
        )


def known(reading: Reading) -> frozenset[str]:
    """Give the names of columns that a header must have, those of a model; none if not known."""
    columns = None if reading.wanted is None else reading.wanted.columns
    if columns is None or columns.table is None:
        return frozenset((columns and columns.names) or ())
    return frozenset(columns.table.inputs if columns.table.header else ())


def header_by_itself(names: list[str], decimal: str, known: frozenset[str]) -> bool | None:
    """Tell whether a first row is a header; None if the rows below it have to say so."""
    names = [name.strip() for name in names]
    if known and known <= {*names}:
        return True
    cells = [name.lower() for name in names]
    values = [cell for cell in cells if _is_value(cell.replace(decimal, "."))]
    if not values or not all(cell.isdecimal() for cell in values):
        return bool(cells) and not values
    nameless = len(values) + cells.count("") == len(cells)
    return False if nameless or len(set(cells)) < len(cells) else None


def _has_header(sampled: Callable[..., Any], decimal: str, known: frozenset[str]) -> bool:
    first = sampled(header=False, n_rows=1)
    names = [str(cell or "") for cell in first.row(0)] if first.height else []
    header = header_by_itself(names, decimal, known)
    return _is_named(sampled(header=False), decimal) if header is None else header


def _is_named(rows: Any, decimal: str) -> bool:
    """Tell whether the words of a first row of words and whole numbers are names of columns."""
    cells = [str(cell or "").strip().lower() for cell in rows.row(0)]
    values = [cell for cell in cells if _is_value(cell)]
    words = [place for place, cell in enumerate(cells) if cell and cell not in values]
    below = rows.slice(1)
    below = below.select(cleaned([below.columns[place] for place in words]))
    counted = values == [str(place) for place in range(len(values))]
    return below.height > 0 and any(
        _kind_of(column, decimal) == NUMBERS
        or (counted and cells[place] not in column.str.to_lowercase())
        for place, column in zip(words, below, strict=True)
    )


def _is_value(cell: str) -> bool:
    """Tell whether a cell is a value, and so no name of a column.

    An empty cell is none of either: spreadsheets leave the name over row numbers empty.
    """
    if cell in TRUTH or (cell and cell in MISSING_WORDS):
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _sample(
    source: str | bytes, head: bytes, separator: str, header: bool, n_rows: int | None = None
) -> Any:
    import polars as pl

    cut = head.rfind(b"\n") + 1 if len(head) == SAMPLE_BYTES else len(head)
    try:
        sample = _read_sample(head[:cut], separator, header, n_rows)
    except pl.exceptions.PolarsError:
        sample = None  # a line end inside quotes may have been taken for that of a row
    if sample is None or (not sample.height and len(head) == SAMPLE_BYTES):  # or a row is longer
        sample = _read_sample(source, separator, header, n_rows or 1000)
    return sample


def _read_sample(source: Any, separator: str, header: bool, n_rows: int | None) -> Any:
    import polars as pl

    return pl.read_csv(
        source,
        separator=separator,
        has_header=header,
        infer_schema=False,
        glob=False,
        n_rows=n_rows,
    )


def head_of(source: str | bytes) -> bytes:
    """Give the first MiB of a source."""
    if isinstance(source, bytes):
        return source[:SAMPLE_BYTES]
    with opened(source, keep=True) as file:
        return file.read(SAMPLE_BYTES)


def _kind_of(cells: Any, decimal: str) -> str:
    """Tell what cells without blanks and missing values hold."""
    if _numeric(pointed(cells, decimal).to_frame()):
        return NUMBERS
    lower = cells.drop_nulls().str.to_lowercase()
    return TRUTH_VALUES if lower.is_in(TRUTH).all() else WORDS


def _numeric(frame: Any) -> frozenset[str]:
    """Give the names of the columns in which every cell is a number or missing."""
    import polars as pl

    cast = pl.all().cast(pl.Float64, strict=False)
    same = frame.select(cast.null_count() == pl.all().null_count())
    return frozenset(name for name in same.columns if same[name].item())
