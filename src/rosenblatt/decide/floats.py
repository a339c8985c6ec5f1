"""Linear programs in floats (HiGHS). They find a basis; `exact.programs` makes it exact.

Rows and columns are scaled by powers of two, x = 2^column·x', which rounds nothing. After an exact
vertex turned out not to be optimal, the program that is left, moved to the vertex and with its
violations enlarged to about 1, is solved from the same basis: floats then see what they missed
(Gleixner, Steffy & Wolter 2016).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from rosenblatt.decide.answers import OutOfTimeError
from rosenblatt.exact.linear import balance, entry_powers
from rosenblatt.exact.programs import (
    AT_LOWER,
    AT_UPPER,
    AT_ZERO,
    BASIC,
    Basis,
    End,
    Ends,
    Program,
    Vertex,
    largest_violations,
)

TOLERANCE = 1e-9
OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "solver": "simplex",
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
}
STATUS = highspy.HighsBasisStatus
STATES = {STATUS.kBasic: BASIC, STATUS.kLower: AT_LOWER, STATUS.kUpper: AT_UPPER}
STATUSES = {BASIC: STATUS.kBasic, AT_LOWER: STATUS.kLower, AT_UPPER: STATUS.kUpper}
INFINITE = 1e30
USUAL = 20  # binary digits of ends that floats need no help with


def solver_with(options: dict[str, Any]) -> Any:
    """Give a solver that is silent, uses one thread and the tolerances above."""
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in {**OPTIONS, **options}.items():
        solver.setOptionValue(name, value)
    return solver


def run(solver: Any, seconds: float) -> None:
    """Let a solver run for some seconds at most."""
    if seconds < math.inf:  # its own clock counts from its first run on
        solver.setOptionValue("time_limit", float(solver.getRunTime() + seconds))
    solver.run()
    if solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
        raise OutOfTimeError


def basis_of(solver: Any) -> Basis:
    """Give the basis that a solver ended with."""
    found = solver.getBasis()
    return Basis(*(_states(states) for states in (found.col_status, found.row_status)))


def _states(statuses: Sequence[Any]) -> np.ndarray:
    return np.array([STATES.get(status, AT_ZERO) for status in statuses], np.int8)


class FloatProgram:
    """A program in floats."""

    def __init__(self, program: Program) -> None:
        self.program, A = program, program.A
        self.rows, self.columns = balance(A)
        matrix = A.floats(entry_powers(A, self.rows, self.columns))
        self.unit = _unit(program, self.rows, self.columns)
        self.solver = solver_with({})
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = matrix.shape
        model.col_cost_ = _costs_in_floats(program.cost, self.columns)
        powers = self.rows + self.unit, self.unit - self.columns
        model.row_lower_, model.row_upper_ = ends_in_floats(program.row_ends, powers[0])
        model.col_lower_, model.col_upper_ = ends_in_floats(program.column_ends, powers[1])
        pass_rows(self.solver, model, matrix)

    def basis(self, seconds: float) -> Basis:
        """Solve the program."""
        run(self.solver, seconds)
        return basis_of(self.solver)

    def enlarged(self, basis: Basis, found: Vertex, seconds: float) -> Basis:
        """Solve what is left of the program at a vertex, enlarged, from the same basis."""
        primal = _enlarging(largest_violations(self.program, found)[0]) or self.unit
        x, values = found.point(), found.row_values()
        solver = self.solver
        solver.setOptionValue("presolve", "off")
        self._change_ends(
            solver.changeColsBounds, self.program.column_ends, x, primal - self.columns
        )
        self._change_ends(
            solver.changeRowsBounds, self.program.row_ends, values, primal + self.rows
        )
        costs = _costs_in_floats(found.column_costs(), self.columns)
        solver.changeColsCost(costs.size, np.arange(costs.size, dtype=np.int32), costs)
        start = highspy.HighsBasis()
        start.col_status = [STATUSES.get(int(s), STATUS.kZero) for s in basis.columns]
        start.row_status = [STATUSES.get(int(s), STATUS.kZero) for s in basis.rows]
        solver.setBasis(start)
        return self.basis(seconds)

    def _change_ends(self, change: Any, ends: Ends, at: list[Fraction], powers: np.ndarray) -> None:
        moved = tuple(
            [None if end is None else end - value for end, value in zip(side, at, strict=True)]
            for side in ends
        )
        lower, upper = ends_in_floats(moved, powers)
        change(lower.size, np.arange(lower.size, dtype=np.int32), lower, upper)


def _unit(program: Program, rows: np.ndarray, columns: np.ndarray) -> int:
    """Give a power of two that brings the largest end to a usual size."""
    sized = [
        end.numerator.bit_length() - end.denominator.bit_length() + power
        for ends, powers in ((program.row_ends, rows), (program.column_ends, -columns))
        for side in ends
        for end, power in zip(side, powers.tolist(), strict=True)
        if end
    ]
    top = max(sized, default=0)
    return -top if not 0 <= top <= USUAL else 0


def _costs_in_floats(costs: Sequence[Fraction | int], powers: np.ndarray) -> np.ndarray:
    """Give costs times powers of two as floats, the largest of about 1."""
    pairs = list(zip(costs, powers.tolist(), strict=True))
    sized = [c.numerator.bit_length() - c.denominator.bit_length() + p for c, p in pairs if c]
    top = max(sized, default=0)
    return np.array([scaled(cost, power - top) for cost, power in pairs])


def _enlarging(size: Fraction) -> int:
    """Give the power of two that makes a violation about 1."""
    return size.denominator.bit_length() - size.numerator.bit_length() if size else 0


def ends_in_floats(ends: Sequence[Sequence[End]], powers: np.ndarray) -> tuple[np.ndarray, ...]:
    """Give lower and upper ends as floats, each times a power of two."""
    return tuple(
        np.array(
            [
                none if e is None else scaled(e, p)
                for e, p in zip(side, powers.tolist(), strict=True)
            ]
        )
        for side, none in zip(ends, (-math.inf, math.inf), strict=True)
    )


def scaled(value: Fraction | int, power: int) -> float:
    """Give value·2^power in floats."""
    if not value:
        return 0.0
    top, bottom = value.as_integer_ratio()
    shift = bottom.bit_length() - top.bit_length() + 64
    digits = (top << shift) // bottom if shift >= 0 else top // (bottom << -shift)
    exponent = power - shift
    if exponent + 65 > 1000:
        return INFINITE if value > 0 else -INFINITE
    return math.ldexp(digits, exponent)


def any_point(rows: sparse.csr_matrix, seconds: float) -> np.ndarray | None:
    """Give some w with z·w >= 1 on all rows, scaled to largest entry 1, if the solver finds one.

    Without an objective the solver can simplify sparse rows away before it begins.
    """
    rows = sparse.csr_matrix(rows)
    solver, (count, width) = solver_with({}), rows.shape
    free = np.full(width, np.inf)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = count, width
    model.col_cost_, model.col_lower_, model.col_upper_ = np.zeros(width), -free, free
    model.row_lower_, model.row_upper_ = np.ones(count), np.full(count, np.inf)
    pass_rows(solver, model, rows)
    run(solver, seconds)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    point = np.array(solver.getSolution().col_value)
    return np.asarray(point / np.abs(point).max())


def pass_rows(solver: Any, model: Any, rows: sparse.csr_matrix) -> None:
    """Give a model to a solver, with its matrix."""
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = rows.indptr, rows.indices
    model.a_matrix_.value_ = rows.data
    solver.passModel(model)
