"""HiGHS: how it is set up, given a program, run for some seconds at most, and asked for a basis.

Simplex      from the first: most programs take milliseconds, and its basis is what is wanted.
             Small ones are not simplified first, nor given a thread, which take longer than they
Interior     beside it where it takes long, with a basis found afterwards; it may take a hundredth
             of the time on nearly infeasible programs, and a hundred times as long on others
"""

from __future__ import annotations

import atexit
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from rosenblatt.decide.engine.interior import InteriorMethod, patience
from rosenblatt.exact.programs import AT_LOWER, AT_UPPER, AT_ZERO, BASIC, Basis
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
DONE = highspy.HighsStatus.kOk  # no limit was reached
ALONE = 1.0  # seconds that the simplex method has before another begins beside it

INTERIOR = {"solver": "ipm"}
LIGHT = 10_000  # entries of a program that takes less time than a process takes to begin
SMALL = 3000  # entries of a program that is solved at once: it takes at most some milliseconds
AT_ONCE = {"presolve": "off", "simplex_iteration_limit": 1000}
GRACE_AT_EXIT = 10.0  # seconds for solvers that were told to end

_running: set[Future[Any]] = set()
Model = tuple[np.ndarray, Sequence[np.ndarray], Sequence[np.ndarray], Any]  # as `load` takes it
Method = Callable[[Model, float], Any]  # gives a solver that was run for some seconds at most


def solver_with(options: dict[str, Any]) -> Any:
    """Give a solver that is silent, uses one thread and the tolerances above."""
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in {**OPTIONS, **options}.items():
        solver.setOptionValue(name, value)
    solver.HandleUserInterrupt = True
    return solver


def run(solver: Any, seconds: float, task: str = "run") -> Any:
    """Let a solver do a task of its own for some seconds at most, and give what it gives."""
    answer = _begun(solver, seconds, task)
    try:
        wait([answer], patience(seconds))
    finally:
        if not answer.done():
            solver.cancelSolve()
    return _in_time(answer, solver)


def _begun(solver: Any, seconds: float, task: str = "run") -> Future[Any]:
    """Begin a task, in a thread: it sees no Ctrl-C, and its clock not often enough."""
    if seconds < math.inf:  # its own clock counts from its first run on
        solver.setOptionValue("time_limit", float(solver.getRunTime() + seconds))
    answer = beside(getattr(solver, task))
    _running.add(answer)
    answer.add_done_callback(_running.discard)
    return answer


@atexit.register
def _let_end() -> None:
    """Wait for solvers that were told to end: HiGHS aborts a process that leaves it running."""
    wait(set(_running), GRACE_AT_EXIT)


def _in_time(answer: Future[Any], solver: Any) -> Any:
    if not answer.done() or solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
        raise OutOfTimeError
    return answer.result()


class Simplex:
    """A program that the simplex method solves, in a thread unless it is small.

    Whoever leaves the `with` has it stopped.
    """

    def __init__(self, model: Model, seconds: float) -> None:
        began = time.perf_counter()
        self.model, self.end, self.soon = model, began + seconds, began + ALONE
        self.solver: Any = _at_once(model)
        if self.solver is None:
            self.solver = loaded(model, {})
            self.answer = _begun(self.solver, seconds)
        else:
            self.answer = Future[Any]()
            self.answer.set_result(DONE)

    def ends_soon(self) -> bool:
        """Tell whether it has ended, or does so within the time that it is given alone."""
        alone = max(self.soon - time.perf_counter(), 0.0)
        return bool(wait([self.answer], min(alone, patience(self._left()))).done)

    def solved(self) -> Any:
        """Give the solver at its end, or one at the basis of an interior method that ends first."""
        if not self.ends_soon() and self._left() > 0:
            basis = _by_interior(self.model, self._left(), self.answer)
            if basis is not None:
                return _at(self.model, basis, self._left())
        wait([self.answer], patience(self._left()))
        _in_time(self.answer, self.solver)
        return self.solver

    def _left(self) -> float:
        return self.end - time.perf_counter()

    def __enter__(self) -> Simplex:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.answer.done():
            self.solver.cancelSolve()


def _at_once(model: Model) -> Any | None:
    if model[-1].nnz > SMALL:
        return None
    solver = loaded(model, AT_ONCE)
    return solver if solver.run() == DONE else None


def quickest(model: Model, seconds: float) -> Any:
    """Solve a program by simplex, or by an interior method if that ends first with an optimum."""
    with Simplex(model, seconds) as simplex:
        return simplex.solved()


def interior(model: Model, seconds: float) -> Any:
    """Solve a program by an interior method, and go on from its basis by simplex."""
    end = time.perf_counter() + seconds
    if model[-1].nnz <= LIGHT:
        solver = loaded(model, INTERIOR)
        run(solver, seconds)
        solver.setOptionValue("solver", "simplex")
        return solver
    basis = _by_interior(model, seconds)
    return _at(model, basis, end - time.perf_counter())


def _by_interior(model: Model, seconds: float, *others: Future[Any]) -> Basis | None:
    with InteriorMethod() as method:
        return method.basis(model, seconds, *others)


def _at(model: Model, basis: Basis | None, seconds: float) -> Any:
    """Solve a program by simplex from a basis on, if there is one."""
    solver = loaded(model, {})
    if basis is not None:
        begin_at(solver, basis)
    run(solver, seconds)
    return solver


def loaded(model: Model, options: dict[str, Any]) -> Any:
    """Give a solver that holds a program."""
    solver = solver_with(options)
    load(solver, *model)
    return solver


def is_optimal(solver: Any) -> bool:
    """Tell whether a solver found an optimum."""
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def basis_of(solver: Any) -> Basis:
    """Give the basis that a solver ended with."""
    found = solver.getBasis()
    return Basis(*(_states(states) for states in (found.col_status, found.row_status)))


def _states(statuses: Sequence[Any]) -> np.ndarray:
    return np.array([STATES.get(status, AT_ZERO) for status in statuses], np.int8)


def begin_at(solver: Any, basis: Basis) -> None:
    """Let a solver begin at a basis."""
    start = highspy.HighsBasis()
    start.col_status = [STATUSES.get(int(s), STATUS.kZero) for s in basis.columns]
    start.row_status = [STATUSES.get(int(s), STATUS.kZero) for s in basis.rows]
    solver.setBasis(start)


def any_point(rows: sparse.csr_matrix, seconds: float) -> np.ndarray | None:
    """Give some w with z·w >= 1 on all rows, scaled to largest entry 1, if the solver finds one.

    Without an objective the solver can simplify sparse rows away before it begins.
    """
    solver, (count, width) = solver_with({}), rows.shape
    free, inside = np.full(width, np.inf), (np.ones(count), np.full(count, np.inf))
    load(solver, np.zeros(width), (-free, free), inside, sparse.csr_matrix(rows))
    run(solver, seconds)
    if not is_optimal(solver):
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
