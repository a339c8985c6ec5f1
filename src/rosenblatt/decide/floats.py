"""Linear programs in floats (HiGHS). They find a basis; `exact.programs` makes it exact.

Rows and columns are scaled by powers of two, x = 2^column·x', which rounds nothing. After an exact
vertex turned out not to be optimal, the program that is left, moved to the vertex and with its
violations enlarged to about 1, is solved from the same basis: floats then see what they missed
(Gleixner, Steffy & Wolter 2016).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import wait
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
from scipy import sparse

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
    power_near,
)
from rosenblatt.pauses import OutOfTimeError, beside

TOLERANCE = 1e-9
OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "log_to_console": False,
    "threads": 1,
    "solver": "simplex",
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
}
STATUS = highspy.HighsBasisStatus
STATES = {STATUS.kBasic: BASIC, STATUS.kLower: AT_LOWER, STATUS.kUpper: AT_UPPER}
STATUSES = {BASIC: STATUS.kBasic, AT_LOWER: STATUS.kLower, AT_UPPER: STATUS.kUpper}
INFINITE = 1e30
WHOLE = 2**53
LARGE_DIGITS = 20  # binary digits of large costs, beside those of about 1 that matter
GRACE = 0.1  # seconds that a solver has to come back
USUAL = 20  # binary digits of ends that floats need no help with


def solver_with(options: dict[str, Any]) -> Any:
    """Give a solver that is silent, uses one thread and the tolerances above."""
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in {**OPTIONS, **options}.items():
        solver.setOptionValue(name, value)
    solver.HandleUserInterrupt = True
    return solver


def run(solver: Any, seconds: float, task: str = "run") -> Any:
    """Let a solver do a task of its own for some seconds at most, and give what it gives.

    It runs in a thread that is waited for: it sees no Ctrl-C, and its clock not often enough.
    """
    if seconds < math.inf:  # its own clock counts from its first run on
        solver.setOptionValue("time_limit", float(solver.getRunTime() + seconds))
    answer = beside(getattr(solver, task))
    try:
        wait([answer], min(seconds + GRACE, threading.TIMEOUT_MAX))
    finally:
        if not answer.done():
            solver.cancelSolve()
    if not answer.done() or solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
        raise OutOfTimeError
    return answer.result()


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
        self.primal = _unit(program, self.rows, self.columns)  # by which ends are enlarged
        self.pulls: int | None = None  # the size of wrong multipliers
        self.solver = solver_with({})
        cost = _costs_in_floats([(cost, 1) for cost in program.cost], self.columns)
        row_ends = ends_in_floats(program.row_ends, self.primal + self.rows)
        column_ends = ends_in_floats(program.column_ends, self.primal - self.columns)
        load(self.solver, cost, column_ends, row_ends, matrix)

    def basis(self, seconds: float) -> Basis:
        """Solve the program."""
        run(self.solver, seconds)
        return basis_of(self.solver)

    @property
    def is_feasible(self) -> bool:
        """Whether floats found a point, rather than that there is none."""
        return bool(self.solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def point(self, seconds: float) -> np.ndarray:
        """Solve the program, and give x, rounded."""
        run(self.solver, seconds)
        found = self.solver.getSolution().col_value
        return np.asarray(np.ldexp(found, self.columns - self.primal))

    def enlarged(self, basis: Basis, found: Vertex, seconds: float) -> Basis:
        """Solve what is left of the program at a vertex, enlarged, from the same basis."""
        breaks, pulls = largest_violations(self.program, found, self.rows, self.columns)
        self.primal = self.primal if breaks is None else -breaks
        self.pulls = self.pulls if pulls is None else pulls
        held, costs = self._held(found)
        solver, (rows, columns) = self.solver, (self.program.row_ends, self.program.column_ends)
        solver.setOptionValue("presolve", "off")
        one = found.x.denominator
        ends = _moved(columns, found.x.numbers, one, self.primal - self.columns)
        solver.changeColsBounds(ends[0].size, np.arange(ends[0].size, dtype=np.int32), *ends)
        ends = _moved(rows, found.values, one, self.primal + self.rows)
        fixed = held & ((ends[0] == 0) | (ends[1] == 0))
        ends = np.where(fixed, 0.0, ends[0]), np.where(fixed, 0.0, ends[1])
        solver.changeRowsBounds(ends[0].size, np.arange(ends[0].size, dtype=np.int32), *ends)
        enlarged = _costs_in_floats(costs, self.columns, self.pulls)
        solver.changeColsCost(enlarged.size, np.arange(enlarged.size, dtype=np.int32), enlarged)
        start = highspy.HighsBasis()
        start.col_status = [STATUSES.get(int(s), STATUS.kZero) for s in basis.columns]
        start.row_status = [STATUSES.get(int(s), STATUS.kZero) for s in basis.rows]
        solver.setBasis(start)
        return self.basis(seconds)

    def _held(self, found: Vertex) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Tell which multipliers are far from changing their sign; give the costs less their rows.

        A row with such a multiplier stays at its end, so that the program that is left need not
        speak of it as an inequality: it looks for what is added to the multiplier, of any sign.
        Costs are given as numerators and denominators.
        """
        A, y, one = self.program.A, found.y.numbers, found.y.denominator
        if self.pulls is None:
            return np.zeros(A.size, bool), [(cost, 1) for cost in self.program.cost]
        least = self.pulls + LARGE_DIGITS
        held = [
            (lower is not None and lower == upper)
            or (number != 0 and power_near(number, one) - power > least)
            for number, power, lower, upper in zip(
                y, self.rows.tolist(), *self.program.row_ends, strict=True
            )
        ]
        left = A.transposed().times([n if hold else 0 for n, hold in zip(y, held, strict=True)])
        pairs = zip(self.program.cost, left, strict=True)
        return np.array(held), [(cost * one - taken, one) for cost, taken in pairs]


def _moved(ends: Ends, at: list[int], one: int, powers: np.ndarray) -> tuple[np.ndarray, ...]:
    """Give ends less values, which are integers over `one`, in floats."""

    def moved(end: Fraction | int, value: int, power: int) -> float:
        bottom = end.denominator
        return scaled(end.numerator * one - value * bottom, power, one * bottom)

    return tuple(
        np.array(
            [
                none if end is None else moved(end, value, power)
                for end, value, power in zip(side, at, powers.tolist(), strict=True)
            ]
        )
        for side, none in zip(ends, (-math.inf, math.inf), strict=True)
    )


def _unit(program: Program, rows: np.ndarray, columns: np.ndarray) -> int:
    """Give a power of two that brings the largest end to a usual size."""
    sized = [
        power_near(*end.as_integer_ratio()) + power
        for ends, powers in ((program.row_ends, rows), (program.column_ends, -columns))
        for side in ends
        for end, power in zip(side, powers.tolist(), strict=True)
        if end
    ]
    top = max(sized, default=0)
    return -top if not 0 <= top <= USUAL else 0


def _costs_in_floats(
    costs: Sequence[tuple[int, int]], powers: np.ndarray, size: int | None = None
) -> np.ndarray:
    """Give fractions times powers of two as floats, about 1 for those of a size, or the largest.

    Larger ones only have to stay large.
    """
    if size is None:
        pairs = zip(costs, powers.tolist(), strict=True)
        size = max((power_near(*cost) + power for cost, power in pairs if cost[0]), default=0)
    large, most = 2.0**LARGE_DIGITS, powers - size
    if all(bottom == 1 and -WHOLE < top < WHOLE for top, bottom in costs):
        found = np.ldexp(np.array([top for top, _ in costs], np.float64), most)
    else:
        pairs = zip(costs, most.tolist(), strict=True)
        found = np.array([scaled(top, power, bottom) for (top, bottom), power in pairs])
    return np.asarray(np.clip(found, -large, large))


def ends_in_floats(ends: Sequence[Sequence[End]], powers: np.ndarray) -> tuple[np.ndarray, ...]:
    """Give lower and upper ends as floats, each times a power of two."""
    sides = zip(ends, (-math.inf, math.inf), strict=True)
    return tuple(_side_in_floats(side, powers, none) for side, none in sides)


def _side_in_floats(side: Sequence[End], powers: np.ndarray, none: float) -> np.ndarray:
    if all(type(end) is int and -WHOLE < end < WHOLE for end in side):
        return np.asarray(np.ldexp(np.array(side, np.float64), powers))
    pairs = zip(side, powers.tolist(), strict=True)
    return np.array(
        [none if e is None else scaled(e.numerator, p, e.denominator) for e, p in pairs]
    )


def scaled(top: int, power: int, bottom: int = 1) -> float:
    """Give top / bottom·2^power in floats."""
    if not top:
        return 0.0
    shift = bottom.bit_length() - top.bit_length() + 64
    digits = (top << shift) // bottom if shift >= 0 else top // (bottom << -shift)
    exponent = power - shift
    if exponent + 65 > 1000:
        return INFINITE if top > 0 else -INFINITE
    return math.ldexp(digits, exponent)


def any_point(rows: sparse.csr_matrix, seconds: float) -> np.ndarray | None:
    """Give some w with z·w >= 1 on all rows, scaled to largest entry 1, if the solver finds one.

    Without an objective the solver can simplify sparse rows away before it begins.
    """
    solver, (count, width) = solver_with({}), rows.shape
    free, inside = np.full(width, np.inf), (np.ones(count), np.full(count, np.inf))
    load(solver, np.zeros(width), (-free, free), inside, sparse.csr_matrix(rows))
    run(solver, seconds)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    point = np.array(solver.getSolution().col_value)
    return np.asarray(point / np.abs(point).max())


def load(
    solver: Any,
    cost: np.ndarray,
    column_ends: Sequence[np.ndarray],
    row_ends: Sequence[np.ndarray],
    matrix: Any,
) -> None:
    """Give a program to a solver: costs, lower and upper ends, and sparse rows or columns.

    As arrays: the fields of a model take three times as long to fill.
    """
    kinds = {"csr": highspy.MatrixFormat.kRowwise, "csc": highspy.MatrixFormat.kColwise}
    solver.passModel(
        cost.size,
        row_ends[0].size,
        matrix.nnz,
        int(kinds[matrix.format]),
        int(highspy.ObjSense.kMinimize),
        0.0,
        cost,
        *column_ends,
        *row_ends,
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data,
        np.zeros(cost.size, np.int32),  # no column is an integer
    )
