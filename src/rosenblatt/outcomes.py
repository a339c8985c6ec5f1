"""Outcomes that are counts, as rows of two classes that have the same regressions diverge.

A direction β of a regression never lowers its likelihood if, on every row,

binomial    x·β >= 0 where all trials succeeded, x·β <= 0 where none did, x·β = 0 where some did
Poisson     (log link) x·β <= 0 where the count is 0, x·β = 0 where it is positive

The likelihood rises forever in such a direction if some x·β is not 0: the three cases of theory D9,
where a row with x·β = 0 stands in both classes. Rows without trials say nothing.

Sources     Albert & Anderson 1984; Correia, Guimarães & Zylkin 2019 (Poisson)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.errors import InputError

BINOMIAL, POISSON = FAMILIES = "binomial", "poisson"


class Outcomes(NamedTuple):
    """Rows of two classes: their places in the data, some of which stand twice, and their signs."""

    places: np.ndarray
    signs: np.ndarray
    classes: tuple[str, str]

    @property
    def labels(self) -> np.ndarray:
        """The label of each row."""
        return np.where(self.signs > 0, *self.classes[::-1])


def counted(y: Any, n: int, family: str | None) -> Outcomes | None:
    """Take counts of a family; None if y holds labels."""
    if family not in (None, *FAMILIES):
        raise InputError(f"family must be None, 'binomial' or 'poisson', got {family!r}")
    if family == POISSON:
        (counts,) = _columns([y], n, "counts")
        return _both(counts >= 0, counts > 0, ("zero", "positive"))
    columns = _two_columns(y) if family == BINOMIAL else None
    if columns is None:
        return None
    successes, trials = _columns(columns, n, "successes and trials")
    if (successes > trials).any():
        row = int((successes > trials).argmax())
        raise InputError(
            f"row {row} has {successes[row]:g} successes of {trials[row]:g} trials; give y as "
            "(successes, trials)"
        )
    return _both(successes < trials, successes > 0, ("failure", "success"))


def _two_columns(y: Any) -> list[Any] | None:
    """Give successes and trials: a pair of columns, or a table of two; None for labels."""
    if isinstance(y, tuple) and len(y) == 2 and all(hasattr(part, "__len__") for part in y):
        return list(y)
    table = np.asarray(y)
    return list(table.T) if table.ndim == 2 and table.shape[1] == 2 else None


def _columns(given: list[Any], n: int, what: str) -> list[np.ndarray]:
    try:
        columns = [np.asarray(part, np.float64) for part in given]
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers") from None
    for column in columns:
        if column.shape != (n,):
            raise InputError(f"X has {n} rows, but the shape of {what} is {column.shape}")
        good = np.isfinite(column) & (column >= 0)
        if not good.all():
            row = int((~good).argmax())
            raise InputError(f"{what} must be from 0 on, but row {row} has {column[row]:g}")
    return columns


def _both(negative: np.ndarray, positive: np.ndarray, classes: tuple[str, str]) -> Outcomes:
    """Put rows into one class or both."""
    for side, label in zip((negative, positive), classes, strict=True):
        if not side.any():
            raise InputError(f"no outcome is {label!r}, so that there is nothing to separate")
    places = np.concatenate([np.flatnonzero(negative), np.flatnonzero(positive)])
    signs = np.repeat(np.array([-1, 1], np.int8), [negative.sum(), positive.sum()])
    order = np.argsort(places, kind="stable")
    return Outcomes(places[order], signs[order], classes)
