"""What people hand over, as shards: files, stores, pairs (X, y), Dask collections."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.cluster.shards import Description, RowsShard, described
from rosenblatt.data.reading import Reading
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples

FORMS = "give the names of files, a list of pairs (X, y), or Dask collections X and y"


@dataclass(frozen=True)
class DaskChunk:
    """A chunk of a Dask collection: what computes its rows, and its labels."""

    name: str
    X: Any
    y: Any = None

    def load(self) -> Examples:
        """Compute it here, where no Dask cluster does it."""
        from dask.base import compute

        return made(*compute(self.X, self.y, scheduler="synchronous"))


def made(X: Any, y: Any) -> Examples:
    """Give the computed chunk as examples; rows of a bag come with their labels."""
    if isinstance(X, list | tuple):
        X, y = _of_bag(X, y)
    return Examples(X, y)


def _of_bag(rows: Any, labels: Any) -> tuple[Any, Any]:
    """Give rows of a bag as a matrix: pairs (row, label), or rows with labels of their own."""
    if labels is None and rows and isinstance(rows[0], tuple):
        rows, labels = zip(*rows, strict=True)
    if not rows or not isinstance(rows[0], dict):
        return np.array([np.asarray(row) for row in rows]).reshape(len(rows), -1), labels
    for key in rows[0]:
        if not isinstance(key, int | np.integer):
            raise InputError(
                f"a row has the name {key!r} for a column; rows of a bag number theirs: "
                "{column: value}"
            )
    columns = np.concatenate([np.fromiter(row, np.int64, len(row)) for row in rows])
    values = np.concatenate([np.fromiter(row.values(), np.float64, len(row)) for row in rows])
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    width = int(columns.max(initial=-1)) + 1
    return sparse.csr_matrix((values, columns, starts), (len(rows), width)), list(labels or [])


def shards_of(X: Any, y: Any, reading: Reading, needs_labels: bool = True) -> list[Description]:
    """Give the shards of what people hand over."""
    if hasattr(X, "__dask_graph__"):
        return list(_of_collections(X, y, needs_labels))
    if isinstance(X, str | os.PathLike):
        return described(X, reading)
    if hasattr(X, "shape"):
        return [RowsShard("X", Examples(X, y))]
    items = list(X) if isinstance(X, list | tuple) else None
    if not items:
        raise InputError(f"there is nothing to make shards of in {X!r:.60}; {FORMS}")
    if all(isinstance(item, str | os.PathLike) for item in items):
        return described(items, reading)
    return [_pair(k, item) for k, item in enumerate(items)]


def _pair(k: int, item: Any) -> RowsShard:
    if isinstance(item, Examples):
        return RowsShard(f"shard {k}", item)
    if hasattr(item, "shape"):
        return RowsShard(f"shard {k}", Examples(item, None))
    if not isinstance(item, list | tuple) or len(item) != 2:
        raise InputError(f"shard {k} is not a pair (X, y): {item!r:.60}; {FORMS}")
    return RowsShard(f"shard {k}", Examples(*item))


def _of_collections(X: Any, y: Any, needs_labels: bool) -> Iterator[DaskChunk]:
    """Give the row chunks of collections, refusing chunks that do not fit together."""
    kind = type(X).__name__
    rows = np.array(X.to_delayed(), object)
    if rows.ndim == 2:
        if rows.shape[1] > 1:
            raise InputError(
                f"X has {rows.shape[1]} chunks of columns, and a shard needs whole rows; give "
                "X.rechunk({1: -1})"
            )
        rows = rows[:, 0]
    if y is None and needs_labels and kind != "Bag":
        raise InputError("there are no labels; give y, with the row chunks of X")
    labels = [None] * rows.size if y is None else _label_chunks(X, y, rows.size)
    for k, (part, label) in enumerate(zip(rows.tolist(), labels, strict=True)):
        yield DaskChunk(f"chunk {k} of X", part, label)


def _label_chunks(X: Any, y: Any, count: int) -> list[Any]:
    if not hasattr(y, "__dask_graph__"):
        raise InputError(
            f"X is a Dask collection and y a {type(y).__name__}; give dask.array.from_array(y, "
            "X.chunks[0])"
        )
    parts = np.array(y.to_delayed(), object).ravel().tolist()
    arrays = hasattr(X, "chunks") and hasattr(y, "chunks")
    mend = "y.rechunk(X.chunks[0])" if arrays else "y.repartition(divisions=X.divisions)"
    if len(parts) != count:
        raise InputError(f"X has {count} chunks of rows and y has {len(parts)}; give {mend}")
    if arrays:
        sizes = list(zip(X.chunks[0], y.chunks[0], strict=True))
        wrong = [k for k, (a, b) in enumerate(sizes) if a == a and b == b and a != b]
        if wrong:
            a, b = sizes[wrong[0]]
            raise InputError(f"chunk {wrong[0]} of X has {a} rows and y has {b}; give {mend}")
    own, other = (getattr(each, "divisions", ()) for each in (X, y))
    if own and other and None not in (*own, *other) and own != other:
        raise InputError(f"the partitions of X and y begin at other rows; give {mend}")
    return parts
