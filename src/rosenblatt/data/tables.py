r"""Tables with named columns to examples: CSV, TSV, Parquet, Arrow (Feather 2) and JSON lines.

The rules
---------
- The label is the column named or counted by the caller (from 0; -1 is the last one; False: there
  is none). By default it is the column named label, class, target or y, in any case; if there are
  several of them, the caller has to choose, and if there is none, it is the last column.
- Columns of numbers and truth values (0 and 1) become features. Columns of words become one feature
  for each word, named ``column=word`` and sorted (*onehot*), or are hashed to a fixed number of
  features behind those of the numbers (*hash*), or are refused. With words X is a CSR matrix,
  without them a C-order array. Dates, lists and records are refused.
- A missing value is an absent one, NaN, or in a text one of `MISSING_WORDS`. It is refused, or a
  number given by the caller takes its place; a missing word sets no feature. A label that is
  missing or empty is always refused, and so are numbers that are not finite as the dtype. Rows
  count from 1, without the header.
- What Polars cannot read at all is refused by line and column (`tables_faults`). A byte-order mark
  is skipped.
- A CSV file has a header unless some cell of its first row is a number, a truth value or missing;
  where a model is known, its names of columns are a header, whatever they are.
  Whole numbers may stand in a header, too, if a word there stands above numbers, or if they count
  from 0, as in pandas, and no word there stands in its column again. If this guess is wrong, the
  caller says so. Columns without a header are column_0, column_1, ... What a column holds is
  decided by the first MiB; a later cell that breaks it is refused. Empty lines are skipped, blanks
  around numbers are allowed. Numbers are rounded to the dtype once.
- Labels of a text are integers if all of them are, else numbers, else truth values, else words.
  Block by block, they stay what those in the first MiB are. Other formats say what they hold.

How it works
------------
Polars reads, except for small texts of plain cells (`tables_plain`), to which its calls would be
most of the work; a `Layout` says which column becomes which features. A CSV file is first read in
haste: columns of numbers right into the dtype asked for. Where that fails, everything is read as
text and converted here, which is slower, knows all spellings of a missing value, and can say which
cell is wrong.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data import tables_layout, tables_text
from rosenblatt.data.alike import matched
from rosenblatt.data.reading import Reading
from rosenblatt.data.sources import (
    BYTE_ORDER_MARK,
    Name,
    bounded,
    chunks,
    files,
    is_compressed,
    is_pipe,
    line_and_column,
    opened,
    shown,
    unmarked,
)
from rosenblatt.data.tables_faults import first_fault
from rosenblatt.data.tables_layout import ANYTHING, Layout
from rosenblatt.data.tables_plain import PlainTable, read_plain
from rosenblatt.data.tables_text import (
    COMMAS,
    WORDS,
    Dialect,
    ForeignTextError,
    quoted,
    separator_of,
)
from rosenblatt.errors import GuessWarning, InputError, ParseError, ReadTwiceWarning, levels_inside
from rosenblatt.examples import Examples
from rosenblatt.memory import check_memory

if TYPE_CHECKING:
    import polars as pl

TEXTS = ("csv", "tsv", "jsonl")
LONGEST_REASON = 200
ROWS_AT_ONCE = 2**14
LARGE = 1 << 24  # bytes of a file whose second reading is told
UNLIKE = (
    "with care since a cell behind its first MiB is unlike those of its column there, such as NA"
)
SPARE = 1.2
SMALL = 1 << 17  # bytes of a text that is read without Polars if its cells are plain


Named = tuple[str, Any]  # the name of a source in messages, and the source


class Origin(NamedTuple):
    """Where the rows come from, and what is known of their columns beforehand."""

    sources: list[Any]
    text: Dialect | None = None
    label: str | None = None
    inputs: Sequence[str] = ()  # the columns that become features, if no model says which
    layout: Layout | None = None  # of the model that they are read for
    schema: Any = None  # of what is no CSV

    def keeping(self, kept: Sequence[str | None]) -> Origin:
        """Take all columns of a text but these for words, whatever they hold."""
        text = self.text
        return self if text is None else self._replace(text=text.with_words_except(kept))

    @property
    def is_numeric_text(self) -> bool:
        """Tell whether it is a text without words but those of the label."""
        if self.text is None:
            return False
        if self.layout is not None:
            return not self.layout.words
        return WORDS not in (self.text.kinds[name] for name in self.inputs)


def read_table(source: Name | bytes | list[Named], reading: Reading) -> Examples:
    r"""Read a table of the format that the reading names; needs Polars.

    The source is a file, a folder or a pattern, compressed or not, ``-``, or the bytes themselves.

    Examples
    --------
    >>> text = b"size,colour,label\n1,red,yes\n2,blue,no\n"
    >>> X, y = read_table(text, Reading(format="csv"))
    >>> X.toarray().tolist(), y.tolist()
    ([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]], ['yes', 'no'])
    """
    sources = _sources(source, reading)
    plain = _plain_table(sources, reading)
    if plain is not None:
        origin = _described(Origin([], plain.text), reading)
        layout = _layout(origin, reading, plain.text.kinds, partial(plain.words_of, reading))
        return plain.examples(layout, reading)
    with _reported(sources, reading):
        origin = _origin(sources, reading)
        if origin.is_numeric_text:
            return _gathered(origin, reading)
        frame = _collected(origin, reading)
        layout = _laid_out(frame.lazy(), origin, reading)
        return tables_layout.examples_of(
            frame, layout, reading, 0, None if origin.text is None else ANYTHING
        )


def table_blocks(
    source: Name | bytes, reading: Reading, *, rows: int = 2**16
) -> Iterator[Examples]:
    """Read a table as `read_table` does, but block by block, so that memory is bounded.

    What is compressed or comes through a pipe is first unpacked into a temporary folder. To find
    the words of *onehot*, the columns of words are read once before.
    """
    with TemporaryDirectory(prefix="rosenblatt") as folder, ExitStack() as stack:
        sources = _sources(source, reading, folder)
        stack.enter_context(_reported(sources, reading))
        origin = _origin(sources, reading)
        layout = _laid_out(_scan(origin, reading), origin, reading)
        if origin.layout is None and layout.words and not layout.table.hashed:
            advice = "pass categories='hash' to avoid it"
            _warn_twice(origin, reading, f"first to find the words of its text columns; {advice}")
        kinds = {} if origin.text is None else origin.text.kinds
        labels = kinds.get(layout.label or "")
        done = 0
        for frame in _batches(origin, reading, rows):
            block = tables_layout.examples_of(frame, layout, reading, done, labels)
            done += frame.height
            yield block


@contextmanager
def _reported(sources: list[Named], reading: Reading) -> Iterator[None]:
    """Turn what Polars complains about into one sentence that says where and what to do."""
    errors = tables_layout.polars_module().exceptions
    try:
        yield
    except errors.NoDataError as error:
        raise _empty(reading.file) from error
    except (errors.PolarsError, errors.PanicException, ForeignTextError, OSError) as error:
        if "KeyboardInterrupt" in str(error):  # Ctrl-C while Polars was busy: no fault of the file
            raise KeyboardInterrupt from error
        raise _explained(error, sources, reading) from error


def _empty(file: str) -> InputError:
    return InputError(f"{file} holds no examples; give a file that is not empty")


def _explained(error: BaseException, sources: list[Named], reading: Reading) -> InputError:
    format, file = reading.format, reading.file
    if format in TEXTS:
        for name, source in sources:
            with _mapped(source) as text:
                fault = first_fault(text, separator_of(reading))
                if fault is not None:
                    line, column = line_and_column(np.frombuffer(text, np.uint8), fault.offset)
                    message = f"this cannot be read as {format}: {fault.message}"
                    return ParseError(message, file=name, line=line, column=column)
    elif not any(_size(source) for _, source in sources):
        return _empty(file)
    reason = str(error).strip().partition("\n")[0][:LONGEST_REASON]
    advice = "check the format, or write the file again"
    return InputError(f"{file} cannot be read as {format}: {reason}; {advice}")


@contextmanager
def _mapped(source: Any) -> Iterator[Any]:
    """Give the bytes of a source; a file is not read into memory."""
    if isinstance(source, bytes) or not _size(source):
        yield source if isinstance(source, bytes) else b""
        return
    with opened(source) as file:
        yield mmap(file.fileno(), 0, access=ACCESS_READ)


def _size(source: Any) -> int:
    return len(source) if isinstance(source, bytes) else os.path.getsize(source)


def _sources(
    source: Name | bytes | list[Named], reading: Reading, folder: str | None = None
) -> list[Named]:
    """Give what Polars is to read, by the names that messages give to it.

    These are names of plain files; else bytes, or files in the folder. Polars takes names or bytes,
    not both.
    """
    if isinstance(source, bytes):
        source = [(reading.file, source)]
    if isinstance(source, list):
        return [(name, b"".join(unmarked(iter([text])))) for name, text in source]
    names = files(source)
    plain = [_is_plain(name, reading.format) for name in names]
    if folder is None and not all(plain):
        found: list[Any] = [b"".join(unmarked(bounded(chunks(name), name))) for name in names]
    else:
        found = [
            name if plain[place] else _unpacked(name, os.path.join(str(folder), str(place)))
            for place, name in enumerate(names)
        ]
    absolute = (each if isinstance(each, bytes) else os.path.abspath(each) for each in found)
    return list(zip(map(shown, names), absolute, strict=True))


def _is_plain(name: str, format: str | None) -> bool:
    """Tell whether Polars can read a file as it lies."""
    if is_pipe(name) or not os.path.isfile(name) or is_compressed(name):
        return False
    # Of marks in JSON lines, unlike those in CSV, Polars knows nothing.
    return format != "jsonl" or not next(chunks(name, 1 << 12), b"").startswith(BYTE_ORDER_MARK)


def _unpacked(name: str, target: str) -> str:
    with open(target, "wb") as file:
        file.writelines(unmarked(chunks(name)))
    return target


def _plain_table(named: list[Named], reading: Reading) -> PlainTable | None:
    """Read a text that is small and plain."""
    if len(named) > 1 or separator_of(reading) is None or _size(named[0][1]) > SMALL:
        return None
    return read_plain(tables_text.head_of(named[0][1]), reading)


def _origin(named: list[Named], reading: Reading) -> Origin:
    origin = Origin([source for _, source in named])
    if separator_of(reading) is not None:
        text = tables_text.examine(origin.sources[0], reading)
        return _described(origin._replace(text=text), reading)
    schema = _scan(origin, reading).collect_schema()
    if reading.format == "jsonl":
        _warn_twice(origin, reading, "first to find its columns")
    return _described(origin._replace(schema=schema), reading)


def _described(origin: Origin, reading: Reading) -> Origin:
    """Find the label and the features among the columns."""
    names = list(origin.schema if origin.text is None else origin.text.kinds)
    if reading.like is None:
        label = tables_layout.label_column(names, reading)
        inputs = tables_layout.selected_columns(names, label, reading)
        if origin.text is not None:
            _warn_of_guesses(origin.text, label, inputs, reading)
        return origin.keeping([*inputs, label])._replace(label=label, inputs=inputs)
    layout = matched(names, origin.text is None or origin.text.header, reading)
    origin = origin.keeping([*layout.numbers, layout.label])
    return origin._replace(label=layout.label, layout=layout)


def _warn_of_guesses(
    text: Dialect, label: str | None, inputs: Sequence[str], reading: Reading
) -> None:
    """Tell what was guessed of a text and may be meant otherwise: the label, and a stray word."""
    worded = [name for name in inputs if text.kinds[name] == WORDS]
    strayed = [name for name in worded if name in text.strays]
    guesses = [_said_of_strays(strayed, text, reading)] if strayed else []
    if reading.categories == "onehot":
        guesses += [
            f"the cells of column {quoted(name)} of {reading.file} {_doubt(word, text.decimal)}"
            for name, word in text.varied.items()
            if name in worded and name not in text.strays
        ]
    guessed = reading.label is None and label and not tables_layout.usual_labels([label])
    if guessed and text.kinds[str(label)] != WORDS and len(worded) == 1 and not guesses:
        guesses.append(
            f"no column of {reading.file} is called label, so that the last one, "
            f"{quoted(str(label))}, is taken for it; {quoted(worded[0])} is the only one of words: "
            f"if that is the label, pass label={worded[0]!r}"
        )
    for guess in guesses:
        warnings.warn(guess, GuessWarning, stacklevel=levels_inside() + 1)


def _said_of_strays(names: Sequence[str], text: Dialect, reading: Reading) -> str:
    first, word = quoted(names[0]), quoted(text.strays[names[0]])
    correct = "correct such cells, or leave them empty and pass missing=0"
    if len(names) == 1:
        return (
            f"column {first} of {reading.file} holds {word} among its numbers, and is encoded as "
            f"categories; {correct}"
        )
    named = "" if text.header else "if the first row names the columns, pass header=True; else "
    return (
        f"{len(names)} columns of {reading.file} hold words among their numbers, such as {word} in "
        f"{first}, and are encoded as categories; {named}{correct}"
    )


def _doubt(word: str, decimal: str) -> str:
    if decimal == "." and COMMAS.fullmatch(word):
        return (
            f"are encoded as categories, such as {quoted(word)}; if they are numbers, pass "
            "decimal=','"
        )
    return (
        f"hardly ever repeat, such as {quoted(word)}, and each becomes a feature of its own, which "
        "tells nothing about other rows; leave it out, by naming the other columns with select=, "
        "or turn it into numbers"
    )


def _warn_twice(origin: Origin, reading: Reading, why: str) -> None:
    """Tell that a large file is read twice."""
    if sum(map(_size, origin.sources)) > LARGE:
        sentence = f"{reading.file} is read twice, {why}"
        warnings.warn(sentence, ReadTwiceWarning, stacklevel=levels_inside() + 1)


def _laid_out(lazy: pl.LazyFrame, origin: Origin, reading: Reading) -> Layout:
    words_of = partial(tables_layout.words_of, lazy, reading)
    if origin.text is not None:
        return _layout(origin, reading, origin.text.kinds, words_of)
    names = origin.inputs if origin.layout is None else origin.layout.numbers
    kinds = {n: tables_layout.feature_kind(n, origin.schema[n], reading.file) for n in names}
    return _layout(origin, reading, kinds, words_of)


def _layout(
    origin: Origin,
    reading: Reading,
    kinds: dict[str, str],
    words_of: Callable[[list[str]], dict[str, tuple[str, ...]]],
) -> Layout:
    """Decide which columns become which features, if no model did."""
    if origin.layout is None:
        kinds = {name: kinds[name] for name in origin.inputs}
        header = origin.text is None or origin.text.header
        return tables_layout.layout_of(kinds, words_of, origin.label, header, reading)
    for name in origin.layout.numbers:
        if kinds[name] == WORDS:
            raise InputError(
                f"column {quoted(name)} of {reading.file} holds words, but the model was fitted "
                "with numbers there; mend it, or check that the file belongs to the model"
            )
    return origin.layout


def _scan(origin: Origin, reading: Reading, careful: bool = False) -> pl.LazyFrame:
    polars = tables_layout.polars_module()
    if origin.text is not None:
        numbers = tables_layout.float_type(reading)
        lazy = tables_text.scan(origin.sources, origin.text, numbers, origin.label, careful)
    elif reading.format == "jsonl":
        # To find the schema, all of it is read.
        lazy = polars.scan_ndjson(origin.sources, schema=origin.schema, infer_schema_length=None)
    elif reading.format == "arrow":
        lazy = polars.scan_ipc(origin.sources, glob=False)
    else:
        lazy = polars.scan_parquet(origin.sources, glob=False)
    found: pl.LazyFrame = lazy
    return found


def _collected(origin: Origin, reading: Reading) -> pl.DataFrame:
    """Read everything, in haste if possible."""
    try:
        frame = _scan(origin, reading).collect()
    except tables_layout.polars_module().exceptions.ComputeError:
        if origin.text is None:
            raise
        _warn_twice(origin, reading, UNLIKE)
        frame = _scan(origin, reading, careful=True).collect()
    return _ready(frame, origin, reading, 0)


def _gathered(origin: Origin, reading: Reading) -> Examples:
    """Read columns of numbers from a text: rows are filled in while Polars reads on.

    Reading everything first would leave one core idle for the rest, which is a fifth of the work.
    """
    layout = _laid_out(_scan(origin, reading), origin, reading)
    # Pages of memory that no row reaches are never touched.
    assert origin.text is not None
    likely = SPARE * sum(map(_size, origin.sources)) / origin.text.line_length
    needed = int(likely / SPARE) * layout.table.width * reading.dtype.itemsize
    check_memory(needed, f"the rows of {reading.file}", "give a part of them")
    X = np.empty((int(likely) + 1, layout.table.width), reading.dtype)
    labels: list[pl.Series] = []
    done = 0
    for frame in _batches(origin, reading, ROWS_AT_ONCE):
        stop = done + frame.height
        if stop > X.shape[0]:
            X = np.concatenate((X[:done], np.empty((2 * stop - done, X.shape[1]), X.dtype)))
        X[done:stop] = tables_layout.numbers_of(frame, layout.numbers, reading, done)
        if layout.label is not None:
            labels.append(frame[layout.label])
        done = stop
    y = (
        tables_layout.labels_of(tables_layout.polars_module().concat(labels), reading, 0, ANYTHING)
        if labels
        else None
    )
    return Examples(X[:done], y, columns=layout.columns)


def _batches(origin: Origin, reading: Reading, rows: int) -> Iterator[pl.DataFrame]:
    """Read block by block, and from the first cell on that needs it with care."""
    done = read = 0
    for careful in (False, True):
        seen = 0
        try:
            for frame in _scan(origin, reading, careful).collect_batches(chunk_size=rows):
                # A slice of the scan itself would hide faults of the text from Polars.
                fresh = frame.slice(max(read - seen, 0))
                seen += frame.height
                ready = _ready(fresh, origin, reading, done)
                read += fresh.height
                done += ready.height
                if ready.height:
                    yield ready
            break
        except tables_layout.polars_module().exceptions.ComputeError:
            if origin.text is None or careful:
                raise
            _warn_twice(origin, reading, UNLIKE)
    tables_layout.refuse_empty(done, reading)


def _ready(frame: pl.DataFrame, origin: Origin, reading: Reading, row: int) -> pl.DataFrame:
    if origin.text is None:
        return frame
    frame = tables_text.without_blank_lines(frame)
    return tables_text.converted(  # type: ignore[no-any-return]
        frame, origin.text, tables_layout.float_type(reading), origin.label, row, reading.file
    )
