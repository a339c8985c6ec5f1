"""The float oracle: a w with z·w > 0 on all rows, or a few rows that seem to forbid it.

Problem     max t  subject to  z_i·w >= t·‖z_i‖ for all live rows i, z_b·w = 0 for the rows b of a
            face, and -1 <= w_j <= 1                                  (scaled coordinates)
Method      constraint generation: solve the linear program for a working set of rows by dual
            simplex (HiGHS), look at all rows once, add those that w violates most. Rows are never
            dropped, so the search cannot cycle. Small problems are given whole.
Answer      t > 0 and no row violated: w. t = 0: the rows with positive multipliers λ, for which
            Σ λ·z = 0 up to multiples of the z_b.
Nothing here is exact, and nothing is trusted: `faces` checks every answer.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from scipy import sparse

from rosenblatt.decide.answers import Answer, Clock, OutOfTimeError
from rosenblatt.decide.cone import Cone
from rosenblatt.decide.newton import by_newton

TOLERANCE = 1e-9
SHORTEST = 1e-300
LIVE = 1e-9  # rows shorter than this share of themselves, off the face, count as lying in it
# Newton's method pays from so many coordinates on, up to so many multiplications a step.
FEWEST, MOST_WORK = 50, 4 * 10**9
NARROW = 120  # coordinates up to which small programs take milliseconds
TALL = 64  # rows per coordinate from which constraint generation is quicker than Newton's method
WHOLE_SHARE = 8  # problems with fewer rows per coordinate are given to the program whole


class Program:
    """The linear program of a working set; it remembers its basis while rows are added."""

    def __init__(self, equations: sparse.csr_matrix) -> None:
        self.width = equations.shape[1]
        self.rows: list[int] = []
        self.equations = equations.shape[0]
        self.solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in OPTIONS.items():
            self.solver.setOptionValue(name, value)
        ones = np.ones(self.width + 1)
        self.solver.addVars(self.width + 1, -ones, ones)
        self.solver.changeColCost(self.width, -1.0)
        self._add(equations, np.zeros(self.equations))

    def add(self, rows: np.ndarray, matrix: sparse.csr_matrix) -> None:
        """Add rows, already divided by their norms, to the working set."""
        self.rows.extend(rows.tolist())
        shifted = sparse.hstack([matrix, -np.ones((matrix.shape[0], 1))], format="csr")
        self._add(shifted, np.full(matrix.shape[0], np.inf))

    def _add(self, matrix: sparse.csr_matrix, upper: np.ndarray) -> None:
        count = matrix.shape[0]
        if count:
            starts = matrix.indptr[:-1].astype(np.int32)
            indices, values = matrix.indices.astype(np.int32), matrix.data.astype(np.float64)
            lower = np.zeros(count)
            self.solver.addRows(count, lower, upper, values.size, starts, indices, values)

    def solve(self, seconds: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Give t, w and the multipliers of the working set."""
        # The solver's own clock counts from its first run on.
        limit = self.solver.getRunTime() + seconds
        self.solver.setOptionValue("time_limit", float(limit))
        self.solver.run()
        status = self.solver.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTimeError
        if status != highspy.HighsModelStatus.kOptimal:
            return 0.0, np.zeros(self.width), np.zeros(len(self.rows))  # nothing is known
        solution = self.solver.getSolution()
        values = np.array(solution.col_value)
        duals = np.array(solution.row_dual)[self.equations :]
        return float(values[-1]), values[:-1], np.abs(duals)


OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "solver": "simplex",
    "presolve": "off",
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
}


def any_point(matrix: sparse.csr_matrix, seconds: float) -> np.ndarray | None:
    """Give some w with z·w >= 1 on all rows, scaled to largest entry 1, if the solver finds one.

    Without an objective the solver can simplify sparse rows away before it begins.
    """
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in {**OPTIONS, "presolve": "choose", "time_limit": float(seconds)}.items():
        solver.setOptionValue(name, value)
    free, count = np.full(matrix.shape[1], np.inf), matrix.shape[0]
    solver.addVars(free.size, -free, free)
    starts, indices = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
    values = matrix.data.astype(np.float64)
    lower, upper = np.ones(count), np.full(count, np.inf)
    solver.addRows(count, lower, upper, values.size, starts, indices, values)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    point = np.array(solver.getSolution().col_value)
    return np.asarray(point / np.abs(point).max())


class Oracle:
    """The oracle for the rows off a face, and the working set that it has gathered."""

    def __init__(
        self, cone: Cone, face: list[int], hints: np.ndarray, clock: Clock, settled: np.ndarray
    ) -> None:
        self.cone, self.clock = cone, clock
        equations = sparse.csr_matrix((0, cone.dimension))
        self.norms, self.live = cone.norms, ~settled
        if face:
            equations = as_csr(cone.scaled(np.array(face, np.int64)))
            self.norms = np.maximum(distances(cone, equations), SHORTEST)
            self.live &= self.norms > LIVE * cone.norms
        self.program = Program(equations)
        self.working = np.zeros(cone.size, bool)
        self.take(self._first(hints))
        # Worth a try once, where products of matrices are fast.
        work = cone.size * cone.dimension**2
        squat = cone.size <= TALL * cone.dimension
        affordable = sparse.issparse(cone.X) or (squat and work <= MOST_WORK)
        self.quick = not face and cone.dimension >= FEWEST and affordable

    def _first(self, hints: np.ndarray) -> np.ndarray:
        """Choose the rows to begin with: all, or those with the largest hints, and a few more."""
        candidates = np.flatnonzero(self.live)
        size = self.cone.dimension
        if candidates.size <= WHOLE_SHARE * size:
            return candidates
        hardest = candidates[np.argsort(-hints[candidates], kind="stable")[: 2 * size]]
        spread = candidates[:: max(1, candidates.size // (2 * size))][: 2 * size]
        return np.union1d(hardest, spread)

    def revive(self, rows: np.ndarray) -> None:
        """Count rows as live that the floats took for rows of the face."""
        self.live[rows] = True
        self.take(rows)

    def take(self, rows: np.ndarray) -> bool:
        """Take rows into the working set; tell whether any of them is new."""
        rows = np.asarray(rows, np.int64)
        rows = rows[~self.working[rows]]
        if rows.size:
            self.working[rows] = True
            matrix = as_csr(self.cone.scaled(rows))
            scaling = sparse.diags(1.0 / self.norms[rows])
            self.program.add(rows, as_csr(scaling @ matrix))
        return bool(rows.size)

    def ask(self) -> Answer:
        """Go on from the working set to a point that violates no live row, or to multipliers."""
        quick, self.quick = self.quick and self._quickly(), False
        if quick:
            return quick
        while True:
            height, point, duals = self.program.solve(self.clock.left())
            if height <= TOLERANCE:
                return Answer(None, self._multipliers(duals))
            products = self.cone.products(point) / self.norms
            products[~self.live] = np.inf
            violated = np.flatnonzero(products <= 0)
            if not self.take(self._worst(violated, products)):
                return Answer(point, self._multipliers(duals))

    def _quickly(self) -> Answer | None:
        rows = self.cone.scaled(np.arange(self.cone.size))
        if sparse.issparse(rows):
            point = any_point(as_csr(sparse.diags(1.0 / self.norms) @ rows), self.clock.left())
            return None if point is None else Answer(point, {})
        narrow = self.cone.dimension <= NARROW
        answer = by_newton(rows / self.norms[:, None], self.clock.left, corner=not narrow)
        if answer is None:
            return None
        if answer.point is None and narrow:  # the program finds few rows among the worst quickly
            losses = np.array(list(answer.multipliers.values()))
            self.take(np.argsort(-losses, kind="stable")[: 4 * self.cone.dimension])
            return None
        shares = {i: value / self.norms[i] for i, value in answer.multipliers.items()}
        return Answer(answer.point, shares)

    def _worst(self, violated: np.ndarray, products: np.ndarray) -> np.ndarray:
        most = 2 * self.cone.dimension + 20
        if violated.size <= most:
            return violated
        chosen = np.argpartition(products[violated], most)[:most]
        return np.asarray(violated[chosen])

    def _multipliers(self, duals: np.ndarray) -> dict[int, float]:
        """Give the multipliers of the rows as they are, not divided by their norms."""
        rows = np.array(self.program.rows, np.int64)
        kept = np.flatnonzero(duals > TOLERANCE * duals.max(initial=1.0))
        shares = duals[kept] / self.norms[rows[kept]]
        return dict(zip(rows[kept].tolist(), shares.tolist(), strict=True))


def as_csr(matrix: object) -> sparse.csr_matrix:
    """Give a matrix of either layout as a sparse one."""
    return sparse.csr_matrix(matrix)


def distances(cone: Cone, equations: sparse.csr_matrix) -> np.ndarray:
    """Give the norms of what is left of the scaled rows off the span of some rows."""
    span = np.linalg.qr(equations.toarray().T)[0]
    found = np.empty(cone.size)
    step = max(1, 2**20 // cone.dimension)
    for start in range(0, cone.size, step):
        part = np.arange(start, min(start + step, cone.size))
        rows = cone.scaled(part)
        rows = rows.toarray() if sparse.issparse(rows) else rows
        for _ in range(2):  # the second time takes off what rounding left
            rows = rows - (rows @ span) @ span.T
        found[part] = np.linalg.norm(rows, axis=1)
    return found
