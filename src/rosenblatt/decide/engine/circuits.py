"""Multipliers of few rows that add up to zero, as vertices of linear programs.

Problem     rows z with Σ λ·z = 0 for some λ >= 0, λ known to exist; wanted are λ on few of them
Vertices    of {λ : Σ λ·z = 0, Σ size·λ <= 1, λ >= 0} are not zero on at most rank + 1 rows, and
            those of {λ : Σ λ·z = 0, λ >= 1/size on a basis} on at most rank more (theory D9)
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.elastic import Elastic
from rosenblatt.decide.engine.floats import FloatProgram
from rosenblatt.decide.engine.optimum import by_floats, by_pivots, optimum
from rosenblatt.exact.integers import Integers, Rationals, row_sizes
from rosenblatt.exact.programs import AT_LOWER, BASIC, Basis, End, Program, feasible_point

FEW = 100  # rows of a proof that are worth many exact pivots to have fewer of them


def circuit(rows: Integers, wanted: np.ndarray, clock: Clock) -> Rationals | None:
    """Give multipliers on few rows, with the largest sum on the wanted ones; None if not found."""
    sizes = row_sizes(rows)
    A = rows.with_columns(np.arange(rows.size), np.zeros(rows.size, np.int64), sizes).transposed()
    cost = [0] * rows.size
    for k in wanted.tolist():
        cost[k] = -sizes[k]
    ends = [0] * rows.width + [None], [0] * rows.width + [1]
    program = Program(A, cost, ends, ([0] * rows.size, [None] * rows.size))
    found = by_floats(program, clock)
    if found is None and rows.size <= FEW:
        start = Basis(np.full(rows.size, AT_LOWER, np.int8), np.full(A.size, BASIC, np.int8))
        found = by_pivots(program, start, clock)
    return None if found is None else found[1].x


def spanning(
    rows: Integers, basis: list[int], clock: Clock, *, there_are: bool = False
) -> Rationals | None:
    """Give multipliers that are positive on a basis, and on few other rows; None if not found.

    Few rows are worth exact pivots, if it is known that there are such multipliers.
    """
    sizes = row_sizes(rows)
    lower: list[End] = [0] * rows.size
    for k in basis:
        lower[k] = Fraction(1, sizes[k])
    nothing = [0] * rows.width
    program = Program(rows.transposed(), sizes, (nothing, nothing), (lower, [None] * rows.size))
    floats = FloatProgram(program)
    basis_found = floats.basis(clock.left())
    found = feasible_point(program, basis_found, clock.left) if floats.is_feasible else None
    if found is None and there_are and rows.size <= FEW:
        rigid = Elastic(program.A, nothing, np.ones(rows.width, bool), program.column_ends)
        found = optimum(rigid.program(), rigid.start(), clock)[1].x
    return found
