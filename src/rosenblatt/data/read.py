"""Reading data sets of any format, whole or block by block; `formats` tells which it is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any, Never

import numpy as np

from rosenblatt.data import sources
from rosenblatt.data.alike import Alike
from rosenblatt.data.arrays import check_rows, read_idx, read_npy, read_npz
from rosenblatt.data.exactly import TEXTS, exactly
from rosenblatt.data.formats import format_of
from rosenblatt.data.reading import DEFAULT, OPTIONS, TABLES, Reading, refuse_unknown
from rosenblatt.data.sources import Name, Several, chunks, contents, files, shown
from rosenblatt.data.store import open_store
from rosenblatt.data.strings import string_array
from rosenblatt.data.svmlight import cut_blocks, parse_svmlight, svmlight_blocks
from rosenblatt.data.tables import Named, read_table, table_blocks
from rosenblatt.data.vowpal import parse_vowpal
from rosenblatt.errors import InputError, ParseError
from rosenblatt.examples import Examples
from rosenblatt.names import columns_of

BLOCK_BYTES = 1 << 24
BLANK_LINES = {
    "vowpal": re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*+\r?\n)*[ \t]*"),
    "text": re.compile(rb"(?:\xef\xbb\xbf)?(?:\r?\n)*"),
}


def read(
    path: Name | Sequence[Name],
    *,
    format: str | None = None,
    label: str | int | None = None,
    labels: bool = True,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str = ".",
    select: Sequence[str | int] | None = None,
    categories: str = "onehot",
    missing: float | str = "refuse",
    columns: int = 2**18,
    zero_based: bool = False,
    width: int | None = None,
    dtype: Any = np.float32,
    like: Any = None,
    by_place: bool = False,
    threads: int | None = None,
    exact: bool = False,
    **unknown: Never,
) -> Examples:
    r"""Read a data set; the format is recognised by content and extension.

    Parameters
    ----------
    path : str or path, or a list of them
        A file, a folder or a pattern such as ``"day-*.svm"``, plain or compressed (gzip,
        zstandard, bzip2, xz); ``"-"`` is standard input. Several are read as one data set.
    format : str or None, default=None
        One of svmlight, vowpal, text, npz, npy, idx, store, csv, tsv, parquet, arrow and jsonl;
        None recognises it.
    label : str, int, False or None, default=None
        The label column of a table: its name, its position (from 0; -1 is the last), or False if
        there is none. None takes the column named label, class, target or y, else the last one.
    labels : bool, default=True
        False reads the features only, whether there are labels or not.
    header : bool or None, default=None
        Whether the first row of a CSV or TSV file has the names of the columns; None guesses.
    separator : str or None, default=None
        The character between the cells of a CSV or TSV file. None is a comma (a semicolon if
        `decimal` is a comma) or a tab. With a separator, `format` is csv by default.
    decimal : {".", ","}, default="."
        The decimal point of a CSV or TSV file.
    select : sequence of str or int, or None, default=None
        The columns of a table that become features, by name or position; None for all but the
        label.
    categories : {"onehot", "hash", "refuse"}, default="onehot"
        How to encode text columns of a table: a feature for each value, hashed features, or an
        error.
    missing : float or "refuse", default="refuse"
        The number that replaces missing values of a table; an error by default.
    columns : int, default=2**18
        The number of hashed columns, of text, names and categories; also the most values that
        ``"onehot"`` encodes of a column.
    zero_based : bool, default=False
        Whether the columns of svmlight text count from 0 instead of 1.
    width : int or None, default=None
        The number of columns, if it is known beforehand; a column beyond it is an error.
    dtype : {float32, float64}, default=float32
        The type of the values; arrays in files keep their own.
    like : fitted learner, Examples or None, default=None
        Give the rows the columns of this learner or of these examples: matched by name in any
        order, with categories and text encoded as they were there.
        `rosenblatt.data.alike` states the rules.
    by_place : bool, default=False
        With `like`, match columns by position, whatever their names.
    threads : int or None, default=None
        The number of threads that parse svmlight text; None for one per core.
    exact : bool, default=False
        Whether numbers of svmlight, CSV, TSV and JSON lines stand for the decimals that are
        written, as `as_decimals` has it, for `separate`, `max_margin`, `mistake_bound` and
        `verify`; they are float64 then.

    Returns
    -------
    examples : Examples
        They unpack as ``X, y``; y is None where there are no labels. Tables also have ``names``,
        Vowpal Wabbit's text ``weights``: ``learner.fit(d.X, d.y, d.weights)``. A learner that is
        fitted on this X keeps the names as ``feature_names_in_``.

    See Also
    --------
    save : Write learners and certificates.
    info : Facts about what was read.
    Examples : What is returned.

    Examples
    --------
    >>> import pathlib, tempfile, rosenblatt as rb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     train, test = (pathlib.Path(folder, name) for name in ("train.csv", "test.csv"))
    ...     _ = train.write_text("size,colour,label\n1,red,yes\n2,blue,no\n")
    ...     _ = test.write_text("colour,size\nred,1\ngreen,2\n")
    ...     learner = rb.Perceptron().fit(*rb.read(train))
    ...     X, _ = rb.read(test, like=learner, labels=False)
    >>> learner.feature_names_in_.tolist(), X.toarray().tolist()
    (['size', 'colour=blue', 'colour=red'], [[1.0, 0.0, 1.0], [2.0, 0.0, 0.0]])
    """
    options = locals()
    for name in unknown:
        refuse_unknown(name)
    return read_whole(path, Reading(**{name: options[name] for name in OPTIONS}))


def read_whole(path: Any, reading: Reading = DEFAULT) -> Examples:
    """Read a data set as a description says."""
    if isinstance(path, list | tuple) and all(isinstance(n, str | os.PathLike) for n in path):
        path = Several(tuple(map(os.fsdecode, path)))
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            f"read takes the name of a file, got a {type(path).__name__}; learners take tables "
            "and arrays as they are"
        )
    with _placed_in(path):
        return _read(path, reading)


def _read(path: Name, reading: Reading) -> Examples:
    reading, alike = _prepared(path, reading)
    texts = _texts(path, reading) if reading.exact and reading.format in TEXTS else []
    if reading.format in TABLES:
        examples = read_table(_unread(path, texts), reading)
    elif reading.format == "store":
        examples = open_store(path)
    elif reading.format == "npy":
        examples = read_npy(path)
        check_rows(examples.X, reading.file)
    elif reading.format == "idx":
        examples = read_idx(path, dtype=reading.dtype)
    else:
        examples = _parsed(texts[0][1] if texts else contents(path), reading)
    examples = _finished(examples, reading, alike)
    if alike is not None:
        alike.tell()
    return exactly(examples, [text for _, text in texts], reading) if texts else examples


def _texts(path: Name, reading: Reading) -> list[Named]:
    """Give what is to be read exactly: a table file by file, since each may have a header."""
    if reading.format in TABLES:
        return [(shown(name), contents(name)) for name in files(path)]
    return [(reading.file, contents(path))]


def _unread(path: Name, texts: list[Named]) -> Name | list[Named]:
    """Give a path for Polars to read, or the texts of pipes and compressed files, read already."""
    mapped = all(isinstance(text, np.memmap) for _, text in texts)
    if not texts or (mapped and not any(map(sources.is_pipe, files(path)))):
        return path
    return [(name, text.tobytes()) for name, text in texts]


def _prepared(path: Name, reading: Reading) -> tuple[Reading, Alike | None]:
    """Find the format and name the file; give what makes rows fit the model they are read for."""
    wanted, found = reading.wanted, format_of(path, reading)
    reading = replace(reading, format=found, file=shown(path))
    if reading.select is not None and found not in TABLES:
        raise InputError(
            f"select= chooses columns of a table by name, and {reading.file} is {found}; leave it "
            "out"
        )
    if wanted is None:
        return reading, None
    alike = Alike(wanted, reading.by_place, reading.file)
    alike.check_format(found, TABLES)
    return reading, alike


def _finished(examples: Examples, reading: Reading, alike: Alike | None) -> Examples:
    """Give examples the columns, and the labels or none, that the caller wants."""
    if alike is not None:
        examples = alike.take(examples)
    if not reading.labels and examples.y is not None:
        examples = replace(examples, y=None)
    columns = examples.X.shape[1] if examples.X.ndim == 2 else 0
    if reading.width is not None and columns != reading.width:
        raise InputError(f"{reading.file} has {columns} columns, but {reading.width} were expected")
    return examples


def read_blocks(
    path: Name, reading: Reading = DEFAULT, *, block_bytes: int = BLOCK_BYTES
) -> Iterator[Examples]:
    """Read a data set block by block, in bounded memory.

    Arrays in files are mapped where they can be, and cut.
    """
    with _placed_in(path):
        reading, alike = _prepared(path, reading)
        for block in _blocks(path, reading, block_bytes):
            yield _finished(block, reading, alike)
        if alike is not None:
            alike.tell()


def _blocks(path: Name, reading: Reading, block_bytes: int) -> Iterator[Examples]:
    if reading.format == "svmlight":
        parsed = svmlight_blocks(chunks(path), reading, block_bytes=block_bytes)
        yield from (Examples(X, y) for X, y in parsed)
    elif reading.format in BLANK_LINES:
        # Closed also where a block is refused: a file that was opened before those who read it
        # would otherwise be collected, unclosed, before them.
        with closing(chunks(path)) as pieces:
            yield from _text_blocks(cut_blocks(pieces, block_bytes, reading.file), reading)
    elif reading.format in TABLES:
        yield from table_blocks(path, reading)
    else:
        yield from cut_rows(_read(path, replace(reading, like=None)), block_bytes)


def _text_blocks(blocks: Iterable[np.ndarray], reading: Reading) -> Iterator[Examples]:
    """Parse blocks of lines; those before a block count, and settle whether there are labels."""
    line, labelled = 1, None
    for text in blocks:
        if not BLANK_LINES[reading.format or ""].fullmatch(text.data):
            examples = _parsed(text, reading, line, labelled)
            labelled = examples.y is not None
            yield examples
        line += int(np.count_nonzero(text == ord("\n")))
    if labelled is None:
        _parsed(np.empty(0, np.uint8), reading)  # says that there are no examples


@contextmanager
def _placed_in(path: Name) -> Iterator[None]:
    """Name the one file of several, and the line in it, that breaks its format."""
    try:
        yield
    except ParseError as error:
        sources.let_go()
        names, line = files(path), error.line
        if len(names) == 1 or error.file != shown(path) or any(map(sources.is_pipe, names)):
            raise
        for name in names:
            held = _count_lines(name)
            if line <= held:
                raise ParseError(
                    error.message, file=shown(name), line=line, column=error.column
                ) from None
            line -= held
        raise
    finally:
        sources.let_go()


def _count_lines(name: str) -> int:
    lines, last = 0, b"\n"
    for piece in chunks(name):
        lines, last = lines + piece.count(b"\n"), piece[-1:]
    return lines + (last != b"\n")


def cut_rows(examples: Examples, block_bytes: int) -> Iterator[Examples]:
    """Cut examples that lie in memory, or are mapped, into blocks of about so many bytes."""
    X, n = examples.X, len(examples)
    size = getattr(X, "nnz", X.size) * 8 / max(n, 1)
    rows = max(1, int(block_bytes / max(size, 1)))
    for start in range(0, n, rows):
        yield examples.part(slice(start, start + rows))


def _parsed(
    content: np.ndarray, reading: Reading, line: int = 1, labelled: bool | None = None
) -> Examples:
    if reading.format == "npz":
        return read_npz(content, file=reading.file)
    if reading.format == "vowpal":
        return parse_vowpal(content, reading, first_line=line, labelled=labelled)
    if reading.format == "text":
        return _hashed(content, reading, line, labelled)
    return Examples(*parse_svmlight(content, reading))


def _hashed(content: np.ndarray, reading: Reading, line: int, labelled: bool | None) -> Examples:
    from rosenblatt.data.text import TextHasher  # which other formats need not load
    from rosenblatt.data.text_lines import label_text_lines

    labels, starts, stops = label_text_lines(
        content, file=reading.file, first_line=line, wanted=reading.labels, labelled=labelled
    )
    chosen = {key: value for key, value in reading.hashing("text").items() if key != "format"}
    hasher = TextHasher(**chosen, dtype=reading.dtype, n_jobs=reading.threads)
    X = hasher.transform_bytes(content, starts, stops)
    y = None if labels is None else string_array(labels)
    return Examples(X, y, columns=columns_of(X))
