"""Outcomes that are counts, or of many classes at once, as rows whose regressions diverge alike.

A direction β of a regression never lowers its likelihood if, on every row,

binomial    x·β >= 0 where all trials succeeded, x·β <= 0 where none did, x·β = 0 where some did
Poisson     (log link) x·β <= 0 where the count is 0, x·β = 0 where it is positive

The likelihood rises forever in such a direction if some x·β is not 0: the three cases of theory D9,
where a row with x·β = 0 stands in both classes. Rows without trials say nothing. A multinomial
logit has a β for each class, the first one zero: (β_y - β_c)·x >= 0 for the class y of a row and
all others c, which are rows in the weights of all classes.

Sources     Albert & Anderson 1984; Correia, Guimarães & Zylkin 2019 (Poisson)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.decimals import is_decimal, marked
from rosenblatt.errors import InputError
from rosenblatt.exact.numbers import is_exact
from rosenblatt.matrices import Matrix

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


def joint_rows(X: Matrix, codes: np.ndarray, count: int, lifted: bool) -> Matrix:
    """Give a row of w_y·x - w_c·x for each row of class y and each other class c.

    The weights of all classes but the first, whose weights are zero, stand one behind the other,
    their intercepts behind all of them: the rows of `rosenblatt.checker.joint_rows`.
    """
    n, width = X.shape
    rows = np.repeat(np.arange(n), count - 1)
    own, other = codes[rows], np.tile(np.arange(count - 1), n)
    other += other >= own
    shape = rows.size, (count - 1) * (width + lifted)
    if is_exact(X):
        return _exact_joint_rows(X, rows, (own, other), shape, lifted)
    base = sparse.csr_matrix(X, dtype=np.float64)
    places, columns, values = [], [], []
    for sign, classes in ((1.0, own), (-1.0, other)):
        kept = np.flatnonzero(classes)
        part, block = base[rows[kept]], classes[kept].astype(np.int64) - 1
        lengths = np.diff(part.indptr)
        places += [np.repeat(kept, lengths), kept[: kept.size * lifted]]
        columns += [part.indices + np.repeat(block * width, lengths)]
        columns += [(count - 1) * width + block[: block.size * lifted]]
        values += [sign * part.data, np.full(kept.size * lifted, sign)]
    at = np.concatenate(places), np.concatenate(columns)
    made = sparse.csr_matrix((np.concatenate(values), at), shape)
    if not is_decimal(X):
        return made
    return marked(made, X.written)


def _exact_joint_rows(
    X: Matrix, rows: np.ndarray, classes: tuple[np.ndarray, ...], shape: Any, lifted: bool
) -> np.ndarray:
    made, width = np.zeros(shape, object), X.shape[1]
    first = shape[1] // (width + lifted) * width  # of the intercepts
    for sign, marks in zip((1, -1), classes, strict=True):
        for k in np.flatnonzero(marks).tolist():
            block = int(marks[k]) - 1
            made[k, block * width : (block + 1) * width] = sign * X[rows[k]]
            if lifted:
                made[k, first + block] = sign
    return made
