"""What all shards are together: rows, columns, classes. The first round of every run.

Rows of all shards get the width of the widest one, and codes of the classes of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.cluster.engine import Engine
from rosenblatt.cluster.shards import Shard, bytes_of
from rosenblatt.errors import EmptyError, InputError
from rosenblatt.examples import Presented
from rosenblatt.labels import as_few_codes, check_every_class, several_classes
from rosenblatt.matrices import Matrix, as_rows, check_finite, radius
from rosenblatt.names import Columns, remember
from rosenblatt.rows import fill_squares


class Facts(NamedTuple):
    """What one shard is."""

    rows: int
    width: int
    is_sparse: bool
    dtype: str
    labels: np.ndarray  # the distinct ones
    counts: np.ndarray  # of the rows of each
    totals: np.ndarray  # of their weights
    weighted: bool
    radius: float
    square: float  # Σ ‖x‖²
    dropped: np.ndarray  # rows of weight 0
    columns: Columns | None
    nbytes: int


def facts_of(shard: Shard, needs_labels: bool, _: None) -> Facts:
    """Look at a shard, and refuse numbers that are not finite."""
    X, y, weights = shard.examples.X, shard.examples.y, shard.examples.weights
    n = X.shape[0]
    if n and y is None and needs_labels:
        raise InputError("there are no labels; learning and deciding need one for each row")
    if n:
        check_finite(X)
    labels = np.zeros(0) if y is None else y
    found, codes = np.unique(labels, return_inverse=True)
    longest = radius(X if weights is None else X[np.flatnonzero(weights)]) if n else 0.0
    return Facts(
        n,
        X.shape[1],
        sparse.issparse(X),
        str(X.dtype),
        found,
        np.bincount(codes, minlength=found.size),
        np.bincount(codes, weights, found.size).astype(np.float64),
        weights is not None and bool((weights != 1).any()),
        longest,
        sum_of_squares(X) if n else 0.0,
        np.zeros(0, np.int64) if weights is None else np.flatnonzero(weights == 0),
        shard.examples.columns,
        bytes_of(X),
    )


def sum_of_squares(X: Matrix) -> float:
    """Give Σ ‖x‖²."""
    squares = np.empty(X.shape[0])
    fill_squares(as_rows(X, 0.0), squares)
    return float(squares.sum())


@dataclass(frozen=True)
class Survey:
    """What all shards are together."""

    shards: tuple[Facts, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, engine: Engine, needs_labels: bool = True) -> Survey:
        """Look at all shards, and leave empty ones out from now on."""
        found = list(engine.map(facts_of, needs_labels))
        filled = [k for k, facts in enumerate(found) if facts.rows]
        if not filled:
            raise EmptyError("the shards hold no rows; check the names of the files")
        if len(filled) < len(found):
            engine.keep(filled)
        names = tuple(description.name for description in engine.descriptions)
        made = cls(tuple(found[k] for k in filled), names)
        made._check_columns()
        return made

    def _check_columns(self) -> None:
        first, *others = self.shards
        for facts, name in zip(others, self.names[1:], strict=True):
            known, own = first.columns or Columns(), facts.columns or Columns()
            same = known.made_like(own)
            fixed = known.is_known or not (first.is_sparse and facts.is_sparse)
            if not same or (fixed and facts.width != first.width):
                raise InputError(
                    f"{name} has other columns ({facts.width}) than {self.names[0]} "
                    f"({first.width}); give all shards the same ones, or write them as one store "
                    "(`rosenblatt convert`)"
                )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(facts.rows for facts in self.shards)

    @property
    def firsts(self) -> list[int]:
        """The number of the first row of each shard among all."""
        return [0, *accumulate(facts.rows for facts in self.shards)][:-1]

    @property
    def width(self) -> int:
        """The number of columns."""
        return max(facts.width for facts in self.shards)

    @property
    def nbytes(self) -> int:
        """The bytes of all rows."""
        return sum(facts.nbytes for facts in self.shards)

    @property
    def radius(self) -> float:
        """The largest norm of a row."""
        return max(facts.radius for facts in self.shards)

    @property
    def typical_norm(self) -> float:
        """The root of the mean square of the norms, 1 if all rows are zero."""
        return float(np.sqrt(sum(facts.square for facts in self.shards) / self.rows)) or 1.0

    @property
    def counted_rows(self) -> list[int]:
        """The rows of each shard that weigh something."""
        return [facts.rows - facts.dropped.size for facts in self.shards]

    def placed(self, shard: int, values: np.ndarray) -> np.ndarray:
        """Give values of the rows of a shard that count, with 0 for the others."""
        dropped = self.shards[shard].dropped
        return np.insert(values, dropped - np.arange(dropped.size), 0.0)

    @property
    def weighted(self) -> bool:
        """Whether some row has another weight than 1."""
        return any(facts.weighted for facts in self.shards)

    @cached_property
    def classes(self) -> np.ndarray:
        """The labels of all shards."""
        return several_classes(self.labels())

    def labels(self) -> np.ndarray:
        """Give labels of all shards, each as often as shards have it."""
        kinds = {facts.labels.dtype.kind in "biuf" for facts in self.shards}
        if len(kinds) > 1:
            words = next(k for k, f in enumerate(self.shards) if f.labels.dtype.kind not in "biuf")
            raise InputError(
                f"{self.names[words]} has labels that are words, others have numbers; write them "
                "alike"
            )
        return np.concatenate([facts.labels for facts in self.shards])

    def per_class(self, numbers: Sequence[np.ndarray]) -> np.ndarray:
        """Add up numbers of the labels of each shard, for each class."""
        sums = dict.fromkeys(self.classes.tolist(), 0.0)
        for facts, each in zip(self.shards, numbers, strict=True):
            for label, number in zip(facts.labels.tolist(), each.tolist(), strict=True):
                sums[label] += number
        return np.array([*sums.values()])

    @cached_property
    def totals(self) -> np.ndarray:
        """The weights of the rows of each class together."""
        totals = self.per_class([facts.totals for facts in self.shards])
        check_every_class(totals, self.classes)
        return totals

    def stand_in(self) -> Matrix:
        """Give one row with the columns, the norm and the layout of the longest one.

        It stands for all rows where something is begun that depends on no more than that.
        """
        is_sparse, width = self.shards[0].is_sparse, self.width
        row = np.zeros((1, width), self.shards[0].dtype if not is_sparse else np.float64)
        row[0, :1] = self.radius
        made = sparse.csr_matrix(row) if is_sparse else row
        columns = self.shards[0].columns
        if columns is not None:
            remember(made, columns)
        return made


class Labelling(NamedTuple):
    """What makes examples of a shard: the width and the classes of all shards."""

    token: str
    width: int
    classes: np.ndarray

    def of(self, shard: Shard) -> tuple[Presented, np.ndarray]:
        """Give the examples of a shard that count, and the codes of their classes."""
        made: tuple[Presented, np.ndarray] = shard.keep(
            "examples", self.token, lambda: self._made(shard)
        )
        return made

    def _made(self, shard: Shard) -> tuple[Presented, np.ndarray]:
        X, y, weights = shard.examples.X, shard.examples.y, shard.examples.weights
        shown = Presented.of(widened(X, self.width), y, weights)
        return shown, as_few_codes(shown.labels, self.classes)


def widened(X: Any, width: int) -> Matrix:
    """Give rows more columns, without a copy."""
    if X.shape[1] == width:
        return X
    made = sparse.csr_matrix((X.shape[0], width), dtype=X.dtype)
    made.data, made.indices, made.indptr = X.data, X.indices, X.indptr
    made.has_canonical_format = X.has_canonical_format
    return made
