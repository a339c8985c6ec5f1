"""The examples that a kernel learner keeps: rows in buffers that double, dense or sparse.

Stores that grow from one another share their buffers, since appending writes behind the rows of
the earlier one. Of two that append to the same rows only one may be kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.matrices import Matrix

ALWAYS_DENSE = 64  # columns up to which rows are kept dense
DENSE_PAYS = 16  # columns for each entry up to which products of dense rows are faster


class Block(NamedTuple):
    """Some rows, their squared norms, and their numbers in the order of presentation."""

    rows: Matrix
    squares: np.ndarray
    numbers: np.ndarray

    def picked(self, places: np.ndarray | slice) -> Block:
        """Give some of the rows."""
        return Block(*(part[places] for part in self))

    def doubled(self) -> Block:
        """Give the rows in float64."""
        return self._replace(rows=self.rows.astype(np.float64, copy=False))


def dense_pays(rows: int, columns: int, entries: int) -> bool:
    """Tell whether sparse rows are better made dense."""
    return columns <= max(ALWAYS_DENSE, DENSE_PAYS * entries // max(rows, 1))


@dataclass(frozen=True)
class DenseRows:
    """A buffer of dense rows."""

    values: np.ndarray

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    def span(self, start: int, stop: int) -> Matrix:
        """Give some rows, in place."""
        return self.values[start:stop]

    def extended(self, used: int, rows: Matrix) -> DenseRows:
        """Write behind the used rows."""
        new = rows.toarray() if sparse.issparse(rows) else rows
        return DenseRows(appended(self.values, used, new))

    def widened(self, used: int, width: int) -> DenseRows | SparseRows:
        """Add columns of zeros; rows become sparse if that pays."""
        old = self.values[:used]
        if used and not dense_pays(used, width, int(np.count_nonzero(old))):
            return SparseRows.of(sparse.csr_matrix(old), width)
        return DenseRows(np.pad(old, ((0, 0), (0, width - self.width))))


@dataclass(frozen=True)
class SparseRows:
    """The arrays of a CSR matrix, with room behind its last row."""

    values: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    width: int

    @classmethod
    def of(cls, X: Matrix, width: int) -> SparseRows:
        """Take the arrays of a CSR matrix."""
        return cls(X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64), width)

    def span(self, start: int, stop: int) -> Matrix:
        """Give some rows, their entries in place."""
        starts = self.starts[start : stop + 1]
        inside = slice(starts[0], starts[-1])
        parts = (self.values[inside], self.columns[inside], starts - starts[0])
        return sparse.csr_matrix(parts, shape=(stop - start, self.width))

    def extended(self, used: int, rows: Matrix) -> SparseRows:
        """Write behind the used rows."""
        new, end = sparse.csr_matrix(rows), int(self.starts[used])
        return SparseRows(
            appended(self.values, end, new.data),
            appended(self.columns, end, new.indices),
            appended(self.starts, used + 1, new.indptr[1:] + np.int64(end)),
            self.width,
        )

    def widened(self, used: int, width: int) -> SparseRows:
        """Add columns without entries."""
        return replace(self, width=width)


def appended(buffer: np.ndarray, used: int, new: np.ndarray) -> np.ndarray:
    """Write behind the used part of a buffer, in a longer one if it is full."""
    needed, dtype = used + new.shape[0], np.result_type(buffer, new)
    if needed > buffer.shape[0] or dtype != buffer.dtype:
        longer = np.empty((max(needed, 2 * buffer.shape[0]), *buffer.shape[1:]), dtype)
        longer[:used] = buffer[:used]
        buffer = longer
    buffer[used:needed] = new
    return buffer


@dataclass(frozen=True)
class KeptRows:
    """Rows that were kept, in order, with their squared norms and numbers."""

    rows: DenseRows | SparseRows
    squares: np.ndarray
    numbers: np.ndarray
    size: int
    longest: float  # the largest squared norm of a row ever kept
    nonnegative: bool  # whether no entry ever kept was negative

    @classmethod
    def empty(cls, like: Matrix) -> KeptRows:
        """Begin without rows, but of the kind and width of a matrix."""
        width = like.shape[1]
        none = SparseRows.of(like[:0], width) if sparse.issparse(like) else DenseRows(like[:0])
        return cls(none, np.empty(0), np.empty(0, np.int64), 0, 0.0, True)

    @classmethod
    def of(cls, block: Block) -> KeptRows:
        """Keep all rows of a block."""
        return cls.empty(block.rows).extended(block)

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.rows.width

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return isinstance(self.rows, SparseRows)

    @property
    def single(self) -> bool:
        """Whether the rows are dense and in single precision."""
        return not self.is_sparse and self.rows.values.dtype == np.float32

    def span(self, start: int = 0, stop: int | None = None) -> Block:
        """Give some rows, in place."""
        end = self.size if stop is None else stop
        return Block(self.rows.span(start, end), self.squares[start:end], self.numbers[start:end])

    def extended(self, block: Block) -> KeptRows:
        """Append rows, as dense or sparse as those here."""
        values = block.rows.data if sparse.issparse(block.rows) else block.rows
        return KeptRows(
            self.rows.extended(self.size, block.rows),
            appended(self.squares, self.size, block.squares),
            appended(self.numbers, self.size, block.numbers),
            self.size + block.squares.size,
            max(self.longest, float(block.squares.max(initial=0.0))),
            self.nonnegative and float(values.min(initial=0.0)) >= 0.0,
        )

    def chosen(self, places: np.ndarray) -> KeptRows:
        """Give some of the rows, in buffers of their own."""
        block = self.span().picked(places)
        rows = SparseRows.of(block.rows, self.width) if self.is_sparse else DenseRows(block.rows)
        return replace(
            self, rows=rows, squares=block.squares, numbers=block.numbers, size=places.size
        )

    def widened(self, width: int) -> KeptRows:
        """Give the same rows with more columns."""
        return replace(self, rows=self.rows.widened(self.size, width))
