"""What the columns of a matrix are, and what they are called: the one room that knows.

Columns are known by name (frames, tables, arrays with names beside them), by what was hashed to
them (words of a text, features of Vowpal Wabbit), or by place alone. A frame carries its names. An
array or a CSR matrix cannot: what a reader knows of the very one that it hands out is remembered
here for as long as that one lives, so that ``X, y = rb.read("t.csv")`` loses nothing and copies
nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from typing import Any, NamedTuple

from rosenblatt.errors import InputError


@dataclass(frozen=True)
class TableColumns:
    """Which columns of a table became which features: numbers first, words behind them.

    Attributes
    ----------
    inputs : the columns that features are made of, as they stand in the table.
    words : those that hold words, with the words that became a feature each.
    label : the column of the labels, None if there was none.
    header : whether the table named its columns itself; else the names only count them.
    hashed : how many features the words of all columns are hashed to; 0 if each has its own.
    """

    inputs: tuple[str, ...]
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    label: str | None = None
    header: bool = True
    hashed: int = 0

    @property
    def numbers(self) -> list[str]:
        """The columns that became a feature each."""
        return [name for name in self.inputs if name not in self.words]

    @property
    def names(self) -> tuple[str, ...] | None:
        """A name for each feature; none if they are hashed, or if the table had no header."""
        if not self.header or self.hashed:
            return None
        found = (f"{name}={word}" for name, words in self.words.items() for word in words)
        return (*self.numbers, *found)

    @property
    def width(self) -> int:
        """The number of features."""
        return len(self.numbers) + (self.hashed or sum(map(len, self.words.values())))


@dataclass(frozen=True)
class Columns:
    """What is known of columns beyond their number.

    Attributes
    ----------
    names : one for each, None if they have none.
    table : the table that they were made of, if they were.
    hashing : how words were hashed to them, if they were: the format, and the hasher's options.
    """

    names: tuple[str, ...] | None = None
    table: TableColumns | None = None
    hashing: dict[str, Any] | None = None

    @property
    def label(self) -> str | None:
        """The column of the labels in the table."""
        return None if self.table is None else self.table.label

    @property
    def hashed_words(self) -> bool:
        """Tell whether words of a table are hashed to some of them."""
        return self.table is not None and self.table.hashed > 0

    @property
    def is_known(self) -> bool:
        """Tell whether more is known of them than their places."""
        return self != Columns()

    def made_like(self, other: Columns) -> bool:
        """Tell whether they are those of other data, whatever the labels were."""
        unlabelled = [c.table and replace(c.table, label=None) for c in (self, other)]
        same = self.names == other.names and self.hashing == other.hashing
        return same and unlabelled[0] == unlabelled[1]

    def spoken(self) -> str:
        """Say what they are."""
        if self.hashing is not None:
            return HASHED[self.hashing["format"]]
        if self.hashed_words:
            return "a table whose words were hashed"
        return "columns without names" if self.names is None else "columns with names"

    def parts(self) -> dict[str, Any]:
        """Give all this as JSON can hold it."""
        return asdict(self)

    @classmethod
    def of_parts(cls, parts: dict[str, Any] | None, width: int) -> Columns | None:
        """Give it back, refusing with a ValueError what does not fit so many columns."""
        if parts is None:
            return None
        names, table, hashing = parts["names"], parts["table"], parts["hashing"]
        found = cls(
            None if names is None else _strings(names),
            None if table is None else _table(table),
            None if hashing is None else dict(hashing),
        )
        widths = {width if found.names is None else len(found.names)}
        widths |= {width if found.table is None else found.table.width}
        if found.hashing is not None:
            widths |= {found.hashing["columns"]}
            if not found.hashing.keys() <= HASHING or found.hashing["format"] not in HASHED:
                raise ValueError("it does not say how its columns were hashed")
        if widths != {width}:
            raise ValueError("what it says of its columns does not fit their number")
        return found


HASHED = {"text": "text whose words were hashed", "vowpal": "features of Vowpal Wabbit, hashed"}
HASHING = {
    *("format", "columns", "words", "characters", "lowercase", "counts", "norm", "signed")
}  # the options that a hashing may have


def _table(parts: dict[str, Any]) -> TableColumns:
    words = {name: _strings(known) for name, known in parts["words"].items()}
    inputs, label = _strings(parts["inputs"]), parts["label"]
    header, hashed = parts["header"], parts["hashed"]
    sound = type(label) in (str, type(None)) and type(header) is bool and type(hashed) is int
    if not sound or hashed < 0 or not words.keys() <= set(inputs):
        raise ValueError("what it says of its table is damaged")
    return TableColumns(inputs, words, label, header, hashed)


def _strings(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list | tuple) or not all(type(name) is str for name in names):
        raise ValueError("names of columns must be strings")
    return tuple(names)


def column_names(X: Any) -> list[Any] | None:
    """Give what a frame calls its columns; None if X is no frame, or one without rows as yet."""
    if hasattr(X, "collect"):
        return None
    names = getattr(X, "column_names", getattr(X, "columns", None))  # Arrow has the former
    return None if names is None or callable(names) else list(names)


def refuse_disorder(names: Sequence[Any]) -> None:
    """Refuse columns that count from 0 in another order: learners know numbers by place."""
    counted = set(range(len(names)))
    if list(names) != sorted(counted) and counted == {n for n in names if isinstance(n, Integral)}:
        raise InputError(
            f"the columns of X are numbered {', '.join(map(str, names[:5]))}, and numbers are "
            "known by place; sort them with X.sort_index(axis=1), or give the columns names"
        )


def in_words(column: int, names: Sequence[Any] | None) -> str:
    """Call a column by its name, or by its number if it has none."""
    return f"column {column if names is None else names[column]!r}"


_known: dict[int, tuple[weakref.ref[Any], Columns]] = {}


def remember(X: Any, columns: Columns) -> None:
    """Note what the columns of a matrix are, for as long as it lives."""
    key = id(X)
    _known[key] = weakref.ref(X, lambda _: _known.pop(key, None)), columns


def columns_of(X: Any) -> Columns | None:
    """Give what is known of the columns of a matrix that a reader handed out."""
    reference, columns = _known.get(id(X), (None, None))
    return columns if reference is not None and reference() is X else None


def names_of(X: Any) -> tuple[str, ...] | None:
    """Give the names of the columns of a matrix or a frame, None if they have none.

    As in scikit-learn, only strings are names. Design matrices of patsy and formulaic have some.
    """
    known = columns_of(X)
    if known is not None:
        return known.names
    specs = (getattr(X, name, None) for name in ("design_info", "model_spec"))
    listed = (getattr(spec, "column_names", None) for spec in specs)
    return _if_strings(next((each for each in listed if each is not None), column_names(X) or ()))


def row_names(X: Any) -> tuple[str, ...] | None:
    """Give what a frame calls its rows, if it does; pandas has an index, Polars has none."""
    index: Any = getattr(X, "index", ())
    return _if_strings(index) if hasattr(index, "get_loc") else None


def _if_strings(names: Iterable[Any]) -> tuple[str, ...] | None:
    found = tuple(names)
    return found if found and all(isinstance(name, str) for name in found) else None


class Wanted(NamedTuple):
    """The columns that rows are read for, and how many there are."""

    columns: Columns
    width: int

    def as_table(self, found: list[str]) -> TableColumns:
        """Give them as columns of a table that has such columns.

        Columns without names are found if they are called as `convert` calls them, x0, x1, ..., or
        as pandas does, 0, 1, ...; else they are known by place.
        """
        if self.columns.table is not None:
            return self.columns.table
        if self.columns.names is not None:
            return TableColumns(self.columns.names)
        for pattern in ("x{}", "{}"):
            names = tuple(map(pattern.format, range(self.width)))
            if set(names) <= set(found):
                return TableColumns(names)
        return TableColumns(tuple(map("column_{}".format, range(self.width))), header=False)


def wanted_by(like: Any) -> Wanted:
    """Give the columns of a fitted learner, or of a pipeline that ends in one, or of examples."""
    like = getattr(like, "steps", [(None, like)])[-1][1]
    width = getattr(like, "n_features_in_", None)
    if width is None:
        return Wanted(like.columns or Columns(), like.X.shape[1])
    names = getattr(like, "feature_names_in_", None)
    columns = like.columns_ or Columns(None if names is None else tuple(names))
    return Wanted(columns, int(width))
