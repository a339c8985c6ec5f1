"""Columns of tables by name: those of the data to predict, put where the model has them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import rosenblatt as rb
from rosenblatt.errors import InputError


def names_of(examples: rb.Examples) -> list[str]:
    """Give the names of the columns, none if some have no name."""
    names = list(getattr(examples, "names", ()))
    return names if len(names) == examples.X.shape[1] else []


def aligned(examples: rb.Examples, wanted: list[str], data: str) -> rb.Examples:
    """Give the columns of a table in the order of the model's, by name.

    A column ``name=word`` stands for a word: one that the data lack is zero, and one that the model
    has not seen says nothing. Columns of numbers must be there, and be known.
    """
    found = names_of(examples)
    if found == wanted:
        return examples
    if not found:
        columns = examples.X.shape[1]
        if columns != len(wanted):
            raise InputError(f"{data} has {columns} columns, but {len(wanted)} were expected")
        return examples
    _refuse_others(found, wanted, data)
    places = {name: k for k, name in enumerate(wanted)}
    pairs = [(k, places[name]) for k, name in enumerate(found) if name in places]
    rows, columns = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    ones = np.ones(len(pairs), examples.X.dtype)
    moves = sparse.csr_matrix((ones, (rows, columns)), (len(found), len(wanted)))
    return rb.Examples(examples.X @ moves, examples.y)


def _refuse_others(found: list[str], wanted: list[str], data: str) -> None:
    lacking = [name for name in wanted if name not in found and not _is_word(name)]
    if lacking:
        raise InputError(
            f"{data} has no column {lacking[0]!r}, which the model was fitted with; tables need a "
            "column for the label, the last one if it has no usual name, also to predict"
        )
    worded = {name.partition("=")[0] for name in wanted if _is_word(name)}
    known = {*wanted, *(name for name in found if name.partition("=")[0] in worded)}
    strange = [name for name in found if name not in known]
    if strange:
        raise InputError(
            f"{data} has the column {strange[0]!r}, which the model was not fitted with; "
            "leave it out"
        )


def _is_word(name: str) -> bool:
    return "=" in name
