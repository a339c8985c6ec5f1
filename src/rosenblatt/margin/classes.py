"""From classes to problems: which soft-margin problem is solved, and how its answer is read.

Two classes     Σ c·max(0, 1 - s(w·x + b)) + λ‖w‖², s = -1 for the first class
joint           Σ c·max over r of (score_r - score_y + [r ≠ y]) + λ Σ ‖w_r‖²; score_r = w_r·x + b_r
one-vs-rest     the problem of two classes for each class against all others, several at a
                time where there are several cores; objectives are summed
Rows of weight 0 take no part; their dual variables are 0.
Sources         Crammer & Singer 2001 (joint)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.blocks import WORTH_A_THREAD, cores, in_blocks
from rosenblatt.loops import loop
from rosenblatt.margin.problem import Problem, Solution
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.pauses import OutOfTimeError, in_threads, until
from rosenblatt.rows import Rows, unpack

MULTICLASS = ("joint", "one-vs-rest")
SPARSE = 0.25  # share of entries that are not 0, below which rows are taken as sparse ones
SMALL = 10_000  # entries times classes: some milliseconds for
FINE = 1e-9  # such a gap, which
FEW_PASSES = 5000  # passes reach, unless the problem is a hard one


@dataclass(frozen=True)
class ClassSettings:
    """Which problem of many classes is solved, how well, and what it may cost."""

    multiclass: str
    tol: float
    max_passes: int | None
    max_seconds: float | None
    seed: int

    @property
    def limits(self) -> dict[str, Any]:
        """How good an answer is to be, and what it may cost."""
        return {n: getattr(self, n) for n in ("tol", "max_passes", "max_seconds", "seed")}

    def after(self, seconds: float) -> ClassSettings:
        """Give the settings for what is left of the time."""
        if self.max_seconds is None:
            return self
        return replace(self, max_seconds=max(self.max_seconds - seconds, 0.0))


Solver = Callable[[Problem, ClassSettings, Solution | None], Solution]


def solve(problem: Problem, settings: ClassSettings, start: Solution | None) -> Solution:
    """Solve a problem; it may begin from the answer to another one, if that fits."""
    solver = {"joint": _joint, "one-vs-rest": _one_vs_rest}[settings.multiclass]
    if problem.k == 2:
        solver = _two_classes
    else:
        began = time.perf_counter()
        problem = problem._replace(X=without_zeros(problem.X))
        settings = settings.after(time.perf_counter() - began)
    if start is not None and not _fits(start, problem, settings):
        start = None
    if problem.caps.all():
        return _in_time(solver, problem, settings, start)
    kept = np.flatnonzero(problem.caps)
    start = None if start is None else replace(start, alphas=start.alphas[kept])
    answer = _in_time(solver, problem.of_rows(kept), settings, start)
    alphas = np.zeros(problem.shape)
    alphas[kept] = answer.alphas
    return replace(answer, alphas=alphas)


def without_zeros(X: Matrix) -> Matrix:
    """Give dense rows that are mostly zeros, such as those of pictures, as sparse ones.

    All classes share them: on MNIST, sweeps then take a fourth of the time.
    """
    if not isinstance(X, np.ndarray):
        return X
    n, size = X.shape[0], X.size
    counts = in_blocks(lambda first, last: np.count_nonzero(X[first:last], axis=1), n, size)
    starts = np.append(0, np.cumsum(np.concatenate(counts)))
    if starts[-1] >= SPARSE * size:
        return X
    from scipy.sparse import csr_matrix

    kind = np.int32 if starts[-1] < 2**31 else np.int64
    columns, values, rows = np.empty(starts[-1], kind), np.empty(starts[-1], X.dtype), as_rows(X, 0)
    in_blocks(lambda *block: fill_entries(rows, block, starts, columns, values), n, size)
    return csr_matrix((values, columns, starts.astype(kind)), X.shape)


@loop
def fill_entries(
    rows: Rows, block: tuple[int, int], starts: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> None:
    """Write the entries of a block of rows that are not 0, those of row i from starts[i] on."""
    for i in range(block[0], block[1]):
        unpack(rows, i, columns, values, starts[i])


def _in_time(
    solver: Solver, problem: Problem, settings: ClassSettings, start: Solution | None
) -> Solution:
    """Solve a problem; if loops cannot be compiled in time, give what is known without them."""
    try:
        with until(settings.max_seconds):
            return _finely(solver, problem, settings, start)
    except OutOfTimeError:
        return _nothing(problem, settings)


def _nothing(problem: Problem, settings: ClassSettings) -> Solution:
    """Give what is known of any problem: the objective of w = 0, and that none is below 0."""
    planes = 1 if problem.k == 2 else problem.k
    w, alphas = np.zeros((planes, problem.X.shape[1] + 1)), np.zeros(problem.shape)
    problems = planes if settings.multiclass == "one-vs-rest" else 1
    method = "descent" if planes == 1 else settings.multiclass
    primal = problems * float(problem.caps.sum())
    return Solution(problem.lam, w, alphas, primal, 0.0, 0, False, method)


def _finely(
    solver: Solver, problem: Problem, settings: ClassSettings, start: Solution | None
) -> Solution:
    """Solve a small problem to a gap of `FINE`, which costs little; any other as was asked for.

    So a row of weight 2 and two equal rows give the same answer, and not two of the same quality.
    """
    if problem.X.size * problem.k > SMALL:  # of a sparse matrix, the entries stored
        return solver(problem, settings, start)
    most = FEW_PASSES if settings.max_passes is None else settings.max_passes
    finer = replace(settings, tol=min(settings.tol, FINE), max_passes=most)
    answer = solver(problem, finer, start)
    answer = replace(answer, converged=answer.gap <= settings.tol)
    if answer.converged or settings.max_passes is not None:
        return answer
    return solver(problem, settings, answer)


def _fits(start: Solution, problem: Problem, settings: ClassSettings) -> bool:
    same = problem.k == 2 or start.method == settings.multiclass
    wide = start.w.shape[1] == problem.X.shape[1] + 1
    return same and start.alphas.shape == problem.shape and wide


def _two_classes(problem: Problem, settings: ClassSettings, start: Solution | None) -> Solution:
    from rosenblatt.margin.soft import soft_margin

    known = None if start is None else (_solver_weights(start.w, problem)[0], start.alphas)
    found = soft_margin(problem, start=known, **settings.limits)
    return replace(found, w=_planes(found.w[np.newaxis], problem))


def _joint(problem: Problem, settings: ClassSettings, start: Solution | None) -> Solution:
    from rosenblatt.margin.joint import joint_margin

    known = None if start is None else (_solver_weights(start.w, problem), start.alphas)
    found = joint_margin(problem, start=known, **settings.limits)
    return replace(found, w=_planes(found.w, problem))


def _one_vs_rest(problem: Problem, settings: ClassSettings, start: Solution | None) -> Solution:
    begin, threads = time.perf_counter(), min(problem.k, cores())
    if problem.X.size < WORTH_A_THREAD:
        threads = 1

    def part(place: int) -> Solution:
        mine = settings
        if settings.max_seconds is not None:  # an equal share of what is left
            left = settings.max_seconds - (time.perf_counter() - begin)
            turns = -(-(problem.k - place) // threads)
            mine = replace(settings, max_seconds=max(left / turns, 1e-6))
        before = None if start is None else _part(start, place)
        return _two_classes(problem.against(place), mine, before)

    parts = in_threads(part, problem.k, threads)
    return Solution(
        lam=problem.lam,
        w=np.concatenate([part.w for part in parts]),
        alphas=np.stack([part.alphas for part in parts], axis=1),
        primal=sum(part.primal for part in parts),
        dual=sum(part.dual for part in parts),
        passes=max(part.passes for part in parts),
        converged=all(part.converged for part in parts),
        method="one-vs-rest",
    )


def _part(answer: Solution, place: int) -> Solution:
    """Give what an answer says of one class against the others."""
    alphas = np.ascontiguousarray(answer.alphas[:, place])
    return replace(answer, w=answer.w[place : place + 1], alphas=alphas)


def _planes(w: np.ndarray, problem: Problem) -> np.ndarray:
    """Give hyperplanes (w, b) in the user's coordinates, in the memory of the solver's weights."""
    planes = np.ascontiguousarray(w, np.float64)
    if problem.intercept == "lifted":
        planes[:, -1] *= problem.lift
    return planes


def _solver_weights(planes: np.ndarray, problem: Problem) -> np.ndarray:
    """Give hyperplanes as solvers have them: the last weight is that of the added coordinate."""
    w = planes.copy()
    w[:, -1] *= 1.0 / problem.lift if problem.lift else 0.0
    return w
