"""Shards: the parts of a data set that tasks work on, one at a time.

A shard is known by its *description*: where its rows are, and how to read them. Any worker loads
the rows from it when it first needs them, and keeps them. What travels between machines is the
description, never the rows: a worker that is lost costs the reading of its shards somewhere else,
and a worker short of memory may drop rows, which are read again. Only rows that lie in somebody's
memory and nowhere else (arrays, chunks of a Dask collection) are their own description.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from rosenblatt.data.formats import format_of
from rosenblatt.data.read import read_whole
from rosenblatt.data.reading import Reading
from rosenblatt.data.sources import (
    after_line,
    contents,
    files,
    is_compressed,
    is_pipe,
    let_go,
    shown,
)
from rosenblatt.data.store import open_store, read_header
from rosenblatt.data.svmlight import parse_svmlight
from rosenblatt.data.vowpal import parse_vowpal
from rosenblatt.errors import InputError, ParseError
from rosenblatt.examples import Examples
from rosenblatt.labels import as_labels
from rosenblatt.matrices import Matrix, as_matrix
from rosenblatt.names import Columns, columns_of, names_of

SHARD_BYTES = 2**28  # of a file; what is larger becomes several shards
BY_LINES = ("svmlight", "vowpal")  # formats of which some lines can be read without the others


class Description(Protocol):
    """Where the rows of a shard are."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def load(self) -> Examples:
        """Read the rows."""


@dataclass(frozen=True)
class RowsShard:
    """Rows in memory."""

    name: str
    examples: Examples

    def load(self) -> Examples:
        """Give them."""
        return self.examples


@dataclass(frozen=True)
class FileShard:
    """A file as a whole, or the lines that begin in a range of its bytes."""

    path: str
    reading: Reading
    start: int = 0
    stop: int | None = None

    @property
    def name(self) -> str:
        """The file, and the range."""
        part = "" if self.stop is None else f" (bytes {self.start:,} to {self.stop:,})"
        return f"{shown(self.path)}{part}"

    def load(self) -> Examples:
        """Read and parse it, on one thread: the other cores have shards of their own."""
        if self.stop is None:
            return read_whole(self.path, self.reading)
        text = contents(self.path)
        try:
            return self._parsed(text[self.start : self.stop])
        except ParseError as error:
            before = int(np.count_nonzero(text[: self.start] == ord("\n")))
            line = error.line + before
            raise ParseError(
                error.message, file=error.file, line=line, column=error.column
            ) from None

    def _parsed(self, text: np.ndarray) -> Examples:
        reading = replace(self.reading, file=shown(self.path))
        if reading.format == "vowpal":
            return parse_vowpal(text, reading)
        return Examples(*parse_svmlight(text, reading))


@dataclass(frozen=True)
class Stored:
    """Some rows of a store."""

    path: str
    start: int
    stop: int

    @property
    def name(self) -> str:
        """The store, and the rows."""
        return f"{shown(self.path)} (rows {self.start:,} to {self.stop:,})"

    def load(self) -> Examples:
        """Map the store; the rows are read when they are looked at."""
        return open_store(self.path).part(slice(self.start, self.stop))


class Shard:
    """A shard in the memory of a worker; pickled, it is its description."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self._examples: Examples | None = None
        self._kept: dict[str, tuple[Any, Any]] = {}

    @property
    def examples(self) -> Examples:
        """The rows, loaded when they are first asked for."""
        if self._examples is None:
            self._examples = usable(self.description.load())
        return self._examples

    def keep(self, name: str, token: Any, make: Callable[[], Any]) -> Any:
        """Give what was made for a token, making it if it is not there: it can be made again."""
        found = self._kept.get(name)
        if found is None or found[0] != token:
            found = self._kept[name] = token, make()
        return found[1]

    def kept(self, name: str, otherwise: Any = None) -> tuple[Any, Any]:
        """Give the token of what is kept by a name, and the thing itself."""
        return self._kept.get(name, (None, otherwise))

    def put(self, name: str, token: Any, value: Any) -> None:
        """Keep something in the place of an earlier one."""
        self._kept[name] = token, value

    def __reduce__(self) -> tuple[Any, ...]:
        return Shard, (self.description,)

    def __sizeof__(self) -> int:
        """Give the bytes of the rows, by which schedulers know where a task is at home."""
        return 0 if self._examples is None else bytes_of(self._examples.X)


def load(description: Description) -> Shard:
    """Load a shard, as the first task on it does."""
    shard = Shard(description)
    shard.examples  # noqa: B018 (which loads it)
    return shard


def usable(examples: Examples) -> Examples:
    """Give rows as a matrix and labels as an array; an empty shard has neither a width."""
    n = examples.X.shape[0]
    known = examples.columns or columns_of(examples.X)
    names = names_of(examples.X)
    if known is None and names is not None:
        known = Columns(tuple(names))
    X: Matrix = as_matrix(examples.X) if n else sparse.csr_matrix((0, 0))
    y = None if examples.y is None else as_labels(examples.y, n)
    return Examples(X, y, weights=examples.weights, columns=known)


def bytes_of(X: Matrix) -> int:
    """Give the bytes of a matrix."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)


def described(names: Any, reading: Reading, shard_bytes: int = SHARD_BYTES) -> list[Description]:
    """Give the shards of files, folders, patterns and stores, in the order given."""
    listed = [names] if isinstance(names, str | os.PathLike) else list(names)
    try:
        found = (_of_one(os.fsdecode(name), reading, shard_bytes) for name in listed)
        return [each for shards in found for each in shards]
    finally:
        let_go()  # workers open the files themselves


def _of_one(name: str, reading: Reading, shard_bytes: int) -> Iterator[Description]:
    if os.path.isdir(name) and format_of(name, reading) == "store":
        yield from _of_store(name, shard_bytes)
        return
    for file in files(name):
        if is_pipe(file):
            raise InputError("standard input cannot be read by several workers; give files")
        if os.path.isdir(file):
            yield from _of_one(file, reading, shard_bytes)
            continue
        file = os.path.abspath(file)
        settled = replace(reading, format=format_of(file, reading), threads=1)
        large = os.path.getsize(file) > shard_bytes
        if not large or settled.format not in BY_LINES or is_compressed(file):
            yield FileShard(file, settled)
            continue
        cuts = list(_cuts(contents(file), shard_bytes))
        for start, stop in pairwise(cuts):
            yield FileShard(file, settled, start, stop)


def _cuts(text: np.ndarray, shard_bytes: int) -> Iterator[int]:
    """Cut a text behind lines, into parts of nearly equal size."""
    parts = -(-text.size // shard_bytes)
    place = 0
    yield place
    for k in range(1, parts + 1):
        place = after_line(text, max(place, text.size * k // parts - 1))
        yield place


def _of_store(name: str, shard_bytes: int) -> Iterator[Description]:
    folder = os.path.abspath(name)
    header = read_header(Path(folder))
    held = sum(f.stat().st_size for f in Path(folder).glob("*.npy"))
    parts = min(header.rows, max(1, -(-held // shard_bytes)))
    cuts = [header.rows * k // parts for k in range(parts + 1)]
    for start, stop in pairwise(cuts):
        yield Stored(folder, start, stop)
