"""Linear programs in ``.mps`` and ``.lp`` files, as systems.

The rules
---------
- Each row of the program has a lower and an upper end: equal ends make an equation, else the lower
  one a row a·w >= b and the upper one a row -a·w >= -b. Rows without ends, and the objective, are
  left out. The bounds of the columns are the bounds of the unknowns.
- Ends and bounds from 1e20 on are infinite, as is usual in these files.
- Numbers are exact: 0.1 stands for 1/10.
- `rosenblatt.data.mps` and `rosenblatt.data.lp` say how the files are read. What they leave out, or
  take in a way that others do not, they say in notes.
"""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number
from rosenblatt.data.lp import parse_lp
from rosenblatt.data.mps import parse_mps
from rosenblatt.data.program import Ends, LinearProgram, Unknowns
from rosenblatt.data.sources import contents, shown
from rosenblatt.decimals import is_whole, marked, written_numbers
from rosenblatt.errors import InputError

__all__ = ["ProgramRows", "program_of_model", "read_program"]


class ProgramRows(NamedTuple):
    """The rows of a system, its bounds, the names of both, and notes on how it was read."""

    A: Any
    b: np.ndarray
    equal: np.ndarray
    bounds: list[Ends]
    names: list[str]
    rows: list[str]
    notes: tuple[str, ...]
    negated: np.ndarray


def read_program(path: str | os.PathLike[str], kind: str) -> ProgramRows:
    """Read a program."""
    name, text = shown(path), _decoded(contents(path).tobytes())
    with _uncollected():
        program = (parse_lp if kind == "lp" else parse_mps)(text, name)
    if not program.unknowns.names:
        counts = f"{len(program.ends)} rows of {len(program.unknowns.names)} unknowns"
        raise InputError(f"{name} holds no system: {counts}")
    try:
        return _as_rows(program)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def program_of_model(model: Any) -> ProgramRows:
    """Take the rows and bounds of a model of HiGHS, `highspy.Highs`."""
    lp = model.getLp()
    shape = lp.num_row_, lp.num_col_
    if not shape[1]:
        raise InputError(f"the model holds no system: {shape[0]} rows of {shape[1]} unknowns")
    stored = lp.a_matrix_
    by_rows = stored.format_ == type(stored.format_).kRowwise
    kind = sparse.csr_matrix if by_rows else sparse.csc_matrix
    matrix = kind((stored.value_, stored.index_, stored.start_), shape=shape).tocsr()
    names = [list(given) for given in (lp.row_names_, lp.col_names_)]
    rows, columns = (
        given if len(given) == size and all(given) else [f"{letter}{k}" for k in range(size)]
        for given, size, letter in zip(names, shape, "rx", strict=True)
    )
    unknowns = Unknowns(columns, [j for j, kind in enumerate(lp.integrality_) if kind.value == 1])
    unknowns.lower, unknowns.upper = (
        [None if math.isinf(end) else end for end in side]
        for side in (lp.col_lower_, lp.col_upper_)
    )
    ends = [
        (None if math.isinf(low) else low, None if math.isinf(high) else high)
        for low, high in zip(lp.row_lower_, lp.row_upper_, strict=True)
    ]
    notes = ["The objective is ignored."] * bool(np.any(lp.col_cost_))
    notes += unknowns.settle(negative=False, binary=False)
    return _as_rows(LinearProgram(matrix, {}, ends, unknowns, rows, tuple(notes)))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Suspend the search for garbage, which looks at millions of words over and over."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _decoded(content: bytes) -> str:
    """Give the text of a file, whatever letters its names have."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _as_rows(program: LinearProgram) -> ProgramRows:
    """Give the rows a·w >= b and a·w = b, two for a row with two ends."""
    chosen: list[tuple[int, float, Number, bool]] = []
    for i, (lower, upper) in enumerate(program.ends):
        equal = lower is not None and lower == upper
        if lower is not None:
            chosen.append((i, 1.0, lower, equal))
        if upper is not None and not equal:
            chosen.append((i, -1.0, -upper, False))
    places, signs = np.array([row[0] for row in chosen], np.int64), [row[1] for row in chosen]
    A = sparse.csr_matrix(sparse.diags(signs) @ program.matrix[places], dtype=np.float64)
    A.sort_indices()
    rights, unknowns = [row[2] for row in chosen], program.unknowns
    b = np.array([float(value) + 0.0 for value in rights])
    bounds = list(zip(unknowns.lower, unknowns.upper, strict=True))
    if not (is_whole(A) and is_whole(b) and _are_floats((*unknowns.lower, *unknowns.upper))):
        A, b = marked(A, program.written), marked(b, written_numbers(b.tolist(), rights))
    names = [program.rows[i] for i in places.tolist()]
    equations = np.array([row[3] for row in chosen], bool)
    negated = np.array(signs) < 0
    return ProgramRows(A, b, equations, bounds, unknowns.names, names, program.notes, negated)


def _are_floats(bounds: Sequence[Number | None]) -> bool:
    return all(bound is None or isinstance(bound, float) for bound in bounds)
