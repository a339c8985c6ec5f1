"""Formulas, as statisticians write them: `ill ~ age + C(site)*dose`, read by formulaic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.errors import InputError, optional_module

INTERCEPT = "Intercept"  # as formulaic calls it
COLOURS = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")  # in formulaic's messages


class Designed(NamedTuple):
    """What a formula makes of data.

    Attributes
    ----------
    X : the design matrix, a frame without the constant.
    y : the outcomes, one column or two.
    intercept : whether the formula has a constant.
    rows : those of the data that have no missing value, which alone count, as in R.
    """

    X: Any
    y: Any
    intercept: bool
    rows: np.ndarray


def designed(formula: str, data: Any) -> Designed:
    """Read a formula with both sides, about the columns of a pandas or Polars frame."""
    if not isinstance(formula, str) or formula.count("~") != 1 or data is None:
        raise InputError("a formula is a text such as 'ill ~ age + C(site)', with data=, a frame")
    parsed = optional_module("formulaic", "formulas")
    table = data.reset_index(drop=True) if hasattr(data, "reset_index") else data
    with _one_sentence(formula, parsed):
        sides = parsed.Formula(formula)
        missing = set[int]()
        sides.lhs.get_model_matrix(table, drop_rows=missing)
        matrix = sides.rhs.get_model_matrix(table, drop_rows=missing)
        rows = np.setdiff1d(np.arange(len(table)), np.array(sorted(missing), np.int64))
        outcomes = [_outcome(term, table, rows) for term in map(str, sides.lhs)]
    names = list(matrix.columns)
    frame = matrix[[name for name in names if name != INTERCEPT]]
    y = outcomes[0] if len(outcomes) == 1 else tuple(outcomes)
    return Designed(frame, y, INTERCEPT in names, rows)


def _outcome(name: str, table: Any, rows: np.ndarray) -> np.ndarray:
    """Give the outcomes of some rows, as they are."""
    if name not in list(table.columns):
        raise InputError(
            f"the outcome {name!r} is not a column of the data; add it, or correct its name"
        )
    return np.asarray(np.asarray(table[name])[rows])


@contextmanager
def _one_sentence(formula: str, parsed: Any) -> Iterator[None]:
    """Say in one sentence what formulaic did not like."""
    try:
        yield
    except parsed.errors.FormulaicError as error:
        reason = " ".join(COLOURS.sub("", str(error)).split())
        raise InputError(f"the formula {formula!r} cannot be used: {reason}") from None
