"""Rows that are read for a model: made of the same columns as those that it was fitted on.

The rules
---------
- Columns with names are found by name, in whatever order they stand: those that the model lacks are
  left out and told once, those that the data lack are refused. A word of a table that the data lack
  is zero, and one that the model has not seen says nothing.
- Columns without names are found by place. Sparse rows may have columns beyond the model's, which
  weigh nothing (as in LIBLINEAR) and are told once, and need not reach its last one.
- The label of a table is the column that the caller names, else the one that the model was fitted
  with, else one of those that are left: the one with a usual name, or the only one.
- Hashed words fit a model of words that were hashed in the same way, and nothing else does.
- Whatever else is asked of a model is refused, unless the caller says that columns match by place.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.data.reading import Reading
from rosenblatt.data.tables_layout import Layout, label_column, usual_labels
from rosenblatt.data.tables_text import quoted
from rosenblatt.errors import InputError, UnknownColumnsWarning, levels_inside
from rosenblatt.examples import Examples
from rosenblatt.names import HASHED, Columns, TableColumns, Wanted

FEW = 5
Feature = tuple[str, str | None]  # a column, and the word of it that the feature stands for


class Alike:
    """One data set that is read for a model, and what of it the model has not seen."""

    def __init__(self, wanted: Wanted, by_place: bool, file: str) -> None:
        self.wanted, self.by_place, self.file = wanted, by_place, file
        self.entries, self.strangers = 0, set[int]()
        self.is_table = False

    def check_format(self, format: str, tables: tuple[str, ...]) -> None:
        """Refuse a format whose columns are never those of the model."""
        self.is_table = format in tables  # which is read by name from the start
        hashing = self.wanted.columns.hashing
        if format in HASHED and (hashing is None or hashing["format"] != format):
            self._refuse(HASHED[format])
        if format in tables and hashing is not None:
            self._refuse("a table")

    def _refuse(self, found: str) -> None:
        own = self.wanted.columns
        advice = "give it the same kind"
        if own.hashing is None and found not in HASHED.values():
            advice = "if its columns stand in the model's order, pass by_place=True"
        raise InputError(
            f"{self.file} holds {found}, but the model was fitted on {own.spoken()}; {advice}"
        )

    def take(self, examples: Examples) -> Examples:
        """Give examples the columns of the model."""
        known, own = examples.columns or Columns(), self.wanted.columns
        if self.is_table or (own.is_known and known.made_like(own)):
            return examples
        if known.hashed_words or own.hashed_words:
            self._refuse(known.spoken())
        if known.hashing != own.hashing and not (self.by_place and known.hashing is None):
            self._refuse(known.spoken())
        if self.by_place or known.names == own.names:
            return replace(examples, X=self._of_width(examples.X))
        if known.names is None or own.names is None:
            self._refuse(known.spoken())
        return self._by_name(examples, known, own)

    def _by_name(self, examples: Examples, known: Columns, own: Columns) -> Examples:
        lacking = _lacking(known, own)
        if lacking:
            raise InputError(
                f"{self.file} has no column {lacking[0]!r}, which the model was fitted with; add "
                "it, or check that the file belongs to the model"
            )
        found, features = _features(known, own), _features(own, known)
        places = {feature: k for k, feature in enumerate(features)}
        words = {} if own.table is None else own.table.words
        unknown = dict.fromkeys(name for name, word in found if (name, word) not in places)
        tell_strangers([name for name in unknown if name not in words], self.file)
        pairs = [(k, places[feature]) for k, feature in enumerate(found) if feature in places]
        moved, to = np.array(pairs, np.int64).reshape(-1, 2).T
        ones = np.ones(len(pairs), examples.X.dtype)
        moves = sparse.csr_matrix((ones, (moved, to)), (len(found), self.wanted.width))
        return replace(examples, X=examples.X @ moves, columns=own)

    def _of_width(self, X: Any) -> Any:
        width = self.wanted.width
        if X.shape[1] == width:
            return X
        if not sparse.issparse(X):
            raise InputError(
                f"{self.file} has {X.shape[1]} columns, but the model has {width}; give it as many"
            )
        inside = X.indices < width
        strange = X.indices[~inside]
        self.entries += strange.size
        self.strangers.update(np.unique(strange).tolist())
        starts = np.concatenate(([0], np.cumsum(inside)))[X.indptr]
        parts = (X.data[inside], X.indices[inside], starts)
        return sparse.csr_matrix(parts, shape=(X.shape[0], width))

    def tell(self) -> None:
        """Tell once which columns the model has not seen."""
        if self.entries:
            several = len(self.strangers) > 1
            warnings.warn(
                f"{self.file} has {f'{len(self.strangers):,} columns' if several else 'a column'} "
                f"beyond the {self.wanted.width:,} of the model, with {self.entries:,} "
                f"{'entries' if self.entries > 1 else 'entry'}, which weigh nothing",
                UnknownColumnsWarning,
                stacklevel=levels_inside() + 1,
            )


def _features(columns: Columns, other: Columns) -> list[Feature]:
    """Give the features by what they are made of, or by name where the other side knows no more."""
    if columns.table is None or other.table is None:
        return [(name, None) for name in columns.names or ()]
    numbers: list[Feature] = [(name, None) for name in columns.table.numbers]
    words = columns.table.words
    return numbers + [(name, word) for name in words for word in words[name]]


def _lacking(known: Columns, own: Columns) -> list[str]:
    """Give what data lack of the columns of a model; a word is nothing that they could lack."""
    if known.table is not None and own.table is not None:
        return [name for name in own.table.inputs if name not in known.table.inputs]
    numbers = own.names or () if own.table is None else own.table.numbers
    present = set(known.names or ())
    return [name for name in numbers if name not in present]


# ---- tables, which are read by the columns of the model from the start


def matched(names: list[str], header: bool, reading: Reading) -> Layout:
    """Find the columns of a model in a table of such names.

    By place, the column of the label is left out.
    """
    wanted = reading.wanted
    assert wanted is not None
    table = wanted.as_table(names)
    by_place = reading.by_place or not (header or table.header)
    if header != table.header and not reading.by_place:
        raise InputError(_unnamed(header, reading))
    label = _label(names, table, by_place, reading)
    rest = [name for name in names if name != label]
    if by_place and len(rest) == len(table.inputs):
        called = dict(zip(table.inputs, rest, strict=True))
    elif reading.by_place:
        raise InputError(
            f"{reading.file} has {len(rest)} columns without the label, but the model has "
            f"{len(table.inputs)}; give it as many"
        )
    else:
        called = _by_name(names, table, reading)
        tell_strangers([name for name in rest if name not in called], reading.file)
    return Layout.of(table, called, label if reading.labels else None)


def _unnamed(header: bool, reading: Reading) -> str:
    if header:
        return (
            f"{reading.file} names its columns, but the model was fitted on columns without names, "
            "so that their order is not known; if they stand in the model's order, pass "
            "by_place=True"
        )
    return (
        f"{reading.file} has no header, but the model was fitted on columns with names; give it a "
        "header, or pass by_place=True if the columns stand in the model's order"
    )


def _label(names: list[str], table: TableColumns, by_place: bool, reading: Reading) -> str | None:
    if reading.label is not None:
        return label_column(names, reading)
    if by_place and len(names) == len(table.inputs):
        return None
    if table.label in names:
        return table.label
    if by_place:
        return label_column(names, reading)
    strangers = [name for name in names if name not in table.inputs]
    likely = usual_labels(strangers) or strangers
    if not reading.labels or not likely:
        return None
    if len(likely) > 1:
        some = ", ".join(map(quoted, likely[:FEW]))
        raise InputError(
            f"{reading.file} has several columns that the model does not know ({some}), and each "
            "could be the label; name it with label="
        )
    return likely[0]


def _by_name(names: list[str], table: TableColumns, reading: Reading) -> dict[str, str]:
    lacking = [name for name in table.inputs if name not in names]
    if lacking:
        raise InputError(
            f"{reading.file} has no column {quoted(lacking[0])}, which the model was fitted with; "
            "add it, or check that the file belongs to the model"
        )
    return {name: name for name in table.inputs}


def tell_strangers(strangers: list[str], file: str) -> None:
    """Tell which columns are left out because a model was not fitted with them."""
    if not strangers:
        return
    several = len(strangers) > 1
    some = ", ".join(map(quoted, strangers[:FEW])) + (", ..." if len(strangers) > FEW else "")
    warnings.warn(
        f"{file} has {f'{len(strangers)} columns' if several else 'a column'} that the "
        f"model was not fitted with, left out: {some}",
        UnknownColumnsWarning,
        stacklevel=levels_inside() + 1,
    )
