"""How to read: the one description that goes from the caller to the parsers, checked once.

`rosenblatt.read` takes its fields as keywords, commands make it of their options, and streams,
caches and parsers get it as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.names import Wanted, wanted_by

TABLES = ("csv", "tsv", "parquet", "arrow", "jsonl")
FORMATS = ("svmlight", "vowpal", "text", "npz", "npy", "idx", "store", *TABLES)
CATEGORIES = ("onehot", "hash", "refuse")
# A CSR matrix numbers its columns with 31 bits.
MOST_COLUMNS = 2**31


@dataclass(frozen=True)
class Reading:
    """How to read a data set; `rosenblatt.read` says what each field means.

    What does not concern a format is idle. `file` is the name that messages give to what is read;
    readers of paths set it themselves.
    """

    format: str | None = None
    label: str | int | None = None
    labels: bool = True
    header: bool | None = None
    separator: str | None = None
    decimal: str = "."
    select: tuple[str | int, ...] | None = None
    categories: str = "onehot"
    missing: float | str = "refuse"
    columns: int = 2**18
    zero_based: bool = False
    width: int | None = None
    dtype: Any = np.float32
    like: Any = None
    by_place: bool = False
    threads: int | None = None
    exact: bool = False
    file: str = "<bytes>"

    def __post_init__(self) -> None:
        if self.format not in (None, *FORMATS):
            known = ", ".join(FORMATS)
            raise InputError(f"the format must be one of {known}, got {self.format!r}")
        if self.categories not in CATEGORIES:
            raise InputError(f"categories must be onehot, hash or refuse, got {self.categories!r}")
        if self.missing != "refuse" and not _is_finite(self.missing):
            raise InputError(f"missing must be 'refuse' or a finite number, got {self.missing!r}")
        checked_whole("columns", self.columns, 1, MOST_COLUMNS - 1)
        checked_whole("width", 0 if self.width is None else self.width, 0, MOST_COLUMNS)
        checked_whole("threads", 1 if self.threads is None else self.threads, 1, 2**31)
        object.__setattr__(self, "dtype", float_type(np.float64 if self.exact else self.dtype))
        if self.select is not None:
            object.__setattr__(self, "select", _selected(self.select, self.like))
        self._check_separator()

    def _check_separator(self) -> None:
        if self.decimal not in (".", ","):
            raise InputError(f"decimal must be '.' or ',', got {self.decimal!r}")
        separator = self.separator
        if separator is None:
            return
        if not isinstance(separator, str) or len(separator.encode()) != 1 or separator in '"\r\n':
            raise InputError(
                f"separator must be one ASCII character, and neither a quote nor the end of a "
                f"line, got {separator!r}"
            )
        if separator == self.decimal:
            raise InputError(f"separator and decimal are both {separator!r}; give different ones")

    @property
    def wanted(self) -> Wanted | None:
        """The columns of the model that the rows are read for, if there is one."""
        return None if self.like is None else wanted_by(self.like)

    def changed(self) -> dict[str, Any]:
        """Give the fields that are not as they are by default."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {n: value for n, value in values.items() if value != getattr(Reading, n)}

    def hashing(self, format: str) -> dict[str, Any]:
        """Give the options of a hasher: those of the model, or of the caller."""
        known = None if self.wanted is None else self.wanted.columns.hashing
        return known or {"format": format, "columns": self.columns}


def refuse_unknown(name: str) -> None:
    """Refuse a keyword that is none of `read`, and name the nearest one."""
    near = get_close_matches(name, OPTIONS, 1)
    advice = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(OPTIONS)}"
    raise TypeError(f"read has no option {name!r}; {advice}")


def _is_finite(number: Any) -> bool:
    return not isinstance(number, str) and bool(np.isfinite(number))


def is_whole(value: Any, least: int, most: int) -> bool:
    """Tell whether a value is a whole number within bounds."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and least <= int(value) <= most


def checked_whole(name: str, value: Any, least: int, most: int) -> int:
    """Give a whole number within bounds."""
    if not is_whole(value, least, most):
        raise InputError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
    return int(value)


def float_type(dtype: Any) -> np.dtype[Any]:
    """Give the type that values are to have: float32 or float64."""
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if dtype is None or kind not in (np.float32, np.float64):
        raise InputError(f"dtype must be float32 or float64, got {dtype!r}")
    return kind


def _selected(select: Any, like: Any) -> tuple[str | int, ...]:
    chosen = (select,) if isinstance(select, str) else tuple(select)
    if like is not None:
        raise InputError("a model knows which columns to take; leave out select=")
    if not chosen:
        raise InputError("select names no column; name some, or leave it out")
    return chosen


DEFAULT = Reading()
OPTIONS = tuple(field.name for field in fields(Reading) if field.name != "file")
