r"""Writing examples and predictions, piece by piece, so that nobody ever sees half of a file.

The rules
---------
- A file is written under another name beside its own, flushed to the disk and renamed: after a
  failure there is the old one or the new one. What is no regular file, such as a pipe, is written
  to as it is.
- svmlight: values have the fewest digits that `read` turns back into the same float32 or float64.
  Zeros of dense rows are left out, those stored in sparse rows are written. Labels are numbers
  (truth values are 0 and 1) or words without blanks, ``#`` and ``:``; `read` takes both.
- CSV and Parquet (with Polars): columns are named by the examples, or x0, x1, ..., and the last one
  holds the labels, named as in the table that they come from, or "label". Sparse rows are filled up
  with zeros.
- Predictions: ``label`` or ``label<TAB>score...`` as text, a table with a header as CSV, or one
  object a line as JSON lines. Scores are written with the digits that give the same float64 back.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.data.files import replacing
from rosenblatt.errors import InputError, optional_module
from rosenblatt.examples import Examples
from rosenblatt.memory import check_memory

Name = str | os.PathLike[str]

PIECE_ENTRIES = 1 << 16
PLAIN_WORD = re.compile(r"[^\s#:]+")
# A frame of this size is made only where it takes no more than the rows themselves do.
LARGEST_TABLE = 1 << 30
COLUMN_BYTES = 1000  # of a frame, besides its numbers


def write_svmlight(path: Name, examples: Examples, *, zero_based: bool = False) -> None:
    """Write examples as svmlight text, columns counting from 1, or from 0."""
    X, y = _checked(examples)
    if y is None:
        raise InputError("svmlight text needs a label on every line, but the examples have none")
    with replacing(path) as file:
        entries = X.nnz if sparse.issparse(X) else X.size
        for start, stop in _ranges(X.shape[0], PIECE_ENTRIES * X.shape[0] // max(1, entries)):
            block = sparse.csr_matrix(X[start:stop])
            file.write(_lines(block, _label_words(y[start:stop]), 0 if zero_based else 1))


def _checked(examples: Examples) -> tuple[Any, np.ndarray | None]:
    X, y = examples
    if examples.weights is not None and not (examples.weights == 1).all():
        raise InputError(
            "the examples have weights, for which svmlight, CSV and Parquet have no place; write a "
            "store, NAME.rows, which keeps them"
        )
    if X.ndim != 2 or not X.shape[0]:
        raise InputError(f"there are no examples to write: X has the shape {X.shape}")
    if y is not None and len(y) != X.shape[0]:
        raise InputError(f"X has {X.shape[0]} rows but y has {len(y)} labels; give one for each")
    return X.tocsr() if sparse.issparse(X) else np.asarray(X), None if y is None else np.asarray(y)


def _ranges(rows: int, step: int) -> Iterator[tuple[int, int]]:
    """Cut rows into ranges of so many."""
    for start in range(0, rows, max(1, step)):
        yield start, min(start + max(1, step), rows)


def _lines(block: Any, labels: list[str], first: int) -> bytes:
    words = iter(_value_words(block.data))
    columns = (block.indices + first).tolist()
    pairs = [f" {column}:{word}" for column, word in zip(columns, words, strict=True)]
    starts = block.indptr.tolist()
    return "".join(
        label + "".join(pairs[start:stop]) + "\n"
        for label, start, stop in zip(labels, starts[:-1], starts[1:], strict=True)
    ).encode()


def _value_words(values: np.ndarray) -> list[str]:
    """Give the shortest words that read as the same values; distinct ones are written once."""
    distinct, places = np.unique(values, return_inverse=True)
    if distinct.dtype.kind == "f" and not np.isfinite(distinct).all():
        raise InputError("X contains NaN or infinity, which svmlight text cannot hold")
    words = [_short(str(value)) for value in distinct]
    if distinct.dtype == np.float32:
        # Read as a double first, a word now and then becomes a neighbour: then it is the double's.
        found = np.array([float(word) for word in words], np.float32)
        for place in np.flatnonzero(found != distinct).tolist():
            words[place] = repr(float(distinct[place]))
    named = np.array(words, object)
    return named[places.ravel()].tolist()  # type: ignore[no-any-return]


def _short(word: str) -> str:
    return word.removesuffix(".0")


def _label_words(labels: np.ndarray) -> list[str]:
    items = labels.tolist()
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError("y contains NaN or infinity; every row needs a label")
    words = [_label_word(item) for item in items]
    for word in set(words):
        if not PLAIN_WORD.fullmatch(word):
            raise InputError(
                f"the label {word!r} is not a word without blanks, # and :, "
                "which svmlight text needs; write CSV instead"
            )
    return words


def _label_word(label: Any) -> str:
    if isinstance(label, bool):
        return str(int(label))
    if isinstance(label, bytes):
        return label.decode()
    return _short(repr(label)) if isinstance(label, float) else str(label)


def write_csv(path: Name, examples: Examples) -> None:
    """Write examples as CSV with a header; needs Polars.

    The column of the labels is called as in the table that they come from, or "label".
    """
    frames = _frames(examples)
    with replacing(path) as file:
        for place, frame in enumerate(frames):
            frame.write_csv(file, include_header=place == 0)


def write_parquet(path: Name, examples: Examples) -> None:
    """Write examples as Parquet; needs Polars, and memory for a copy of the rows."""
    X = examples.X
    size = X.shape[0] * X.shape[1] * X.dtype.itemsize
    if sparse.issparse(X) and size > LARGEST_TABLE:
        raise InputError(
            f"filled up with zeros, the sparse rows take {size / 2**30:,.1f} GiB; "
            "write svmlight text instead"
        )
    frames = _frames(examples, whole=True)
    with replacing(path) as file:
        for frame in frames:
            try:
                frame.write_parquet(file)
            except Exception as error:  # Polars says in its own way that the disk is full
                if isinstance(error, OSError) or type(error).__module__.startswith("polars"):
                    raise OSError(str(error).splitlines()[0]) from error
                raise


def _label_name(examples: Examples, names: list[str]) -> str:
    """Give a name to the column of the labels that no other column has."""
    known = examples.columns.label if examples.columns and examples.names else None
    candidates = (known, "label", "class", "target", "y")
    free = (name for name in candidates if name is not None and name not in names)
    return next(free, "the label")


def _frames(examples: Examples, whole: bool = False) -> Iterator[Any]:
    """Give the examples as Polars frames, one for each piece, after all checks."""
    polars = optional_module("polars", "files")
    X, y = _checked(examples)
    width = X.shape[1]
    check_memory(
        width * COLUMN_BYTES, f"tables of {width:,} columns", "write svmlight text instead"
    )
    names = list(examples.names or (f"x{place}" for place in range(width)))
    label = _label_name(examples, names)

    def frame(start: int, stop: int) -> Any:
        rows = X[start:stop]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        columns = {name: np.ascontiguousarray(rows[:, j]) for j, name in enumerate(names)}
        if y is not None:
            labels = y[start:stop]
            if labels.dtype.kind not in "biuf":
                labels = np.array(list(map(_label_word, labels.tolist())), object)
            columns[label] = labels
        return polars.DataFrame(columns)

    step = X.shape[0] if whole else 16 * PIECE_ENTRIES // max(1, width)
    return (frame(start, stop) for start, stop in _ranges(X.shape[0], step))


def prediction_pieces(
    labels: Any, scores: Any = None, *, format: str = "text", classes: Any = None
) -> Iterator[bytes]:
    r"""Give predictions as pieces of a file: text, csv or jsonl.

    There is a score for each row, or for each row and class; classes name those of several columns.

    Examples
    --------
    >>> b"".join(prediction_pieces([1, -1], [0.5, -2.0], format="csv"))
    b'label,score\n1,0.5\n-1,-2.0\n'
    """
    writers: dict[str, Callable[..., bytes]] = {"text": _text, "csv": _csv, "jsonl": _jsonl}
    if format not in writers:
        raise InputError(f"format must be text, csv or jsonl, got {format!r}")
    answers = np.asarray(labels)
    table = None if scores is None else np.asarray(scores, np.float64)
    names = _score_names(answers, table, classes)

    def pieces() -> Iterator[bytes]:
        if format == "csv":
            yield _csv([("label", *(f"score_{name}" if name else "score" for name in names))], [])
        for start in range(0, len(answers), PIECE_ENTRIES):
            found = answers[start : start + PIECE_ENTRIES].tolist()
            if table is None:
                rows = [(label,) for label in found]
            else:
                block = table[start : start + PIECE_ENTRIES].reshape(len(found), -1).tolist()
                rows = [(label, *row) for label, row in zip(found, block, strict=True)]
            yield writers[format](rows, names)

    return pieces()


def _score_names(labels: np.ndarray, scores: np.ndarray | None, classes: Any) -> list[str]:
    """Give the names of the columns of scores: none for a single one."""
    if scores is None:
        return []
    if scores.shape[0] != len(labels) or scores.ndim > 2:
        raise InputError(
            f"there are {len(labels)} labels, but scores of shape {scores.shape}; give one for each"
        )
    if scores.ndim == 1:
        return [""]
    names = [str(name) for name in (range(scores.shape[1]) if classes is None else classes)]
    if len(names) != scores.shape[1]:
        raise InputError(f"there are {len(names)} classes, but {scores.shape[1]} columns of scores")
    return names


def _text(rows: list[tuple[Any, ...]], names: list[str]) -> bytes:
    lines = []
    for label, *scores in rows:
        word = str(label)
        if "\t" in word or len(word.splitlines()) > 1:
            raise InputError(f"the label {word!r} does not fit on a line; give --csv or --json")
        lines.append("\t".join([word, *map(repr, scores)]))
    return "".join(f"{line}\n" for line in lines).encode()


def _csv(rows: list[tuple[Any, ...]], names: list[str]) -> bytes:
    lines: list[str] = []  # which end in \r\n, so that both are quoted where they are in labels
    csv.writer(SimpleNamespace(write=lines.append)).writerows(rows)
    return "".join(f"{line[:-2]}\n" for line in lines).encode()


def _jsonl(rows: list[tuple[Any, ...]], names: list[str]) -> bytes:
    return "".join(
        json.dumps({"label": _plain(row[0]), **_named(row[1:], names)}) + "\n" for row in rows
    ).encode()


def _named(scores: tuple[float, ...], names: list[str]) -> dict[str, Any]:
    if not names:
        return {}
    if names == [""]:
        return {"score": scores[0]}
    return {"scores": dict(zip(names, scores, strict=True))}


def _plain(label: Any) -> Any:
    return label if isinstance(label, (bool, int, float, str)) else str(label)
