"""From classes to problems: which soft-margin problem is solved, and how its answer is read.

Two classes     Σ c·max(0, 1 - s(w·x + b)) + λ‖w‖², s = -1 for the first class
joint           Σ c·max over r of (score_r - score_y + [r ≠ y]) + λ Σ ‖w_r‖²; score_r = w_r·x + b_r
one-vs-rest     the problem of two classes for each class against all others; objectives are summed
Rows of weight 0 take no part; their dual variables are 0.
Sources         Crammer & Singer 2001 (joint)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rosenblatt.matrices import Matrix

MULTICLASS = ("joint", "one-vs-rest")
SMALL = 10_000  # entries times classes: some milliseconds for
FINE = 1e-9  # such a gap, which
FEW_PASSES = 5000  # passes reach, unless the problem is a hard one


@dataclass(frozen=True)
class Problem:
    """Rows, the places of their classes, and their weights (None if all are 1)."""

    X: Matrix
    codes: np.ndarray
    classes: np.ndarray
    caps: np.ndarray | None

    @cached_property
    def kept(self) -> np.ndarray | None:
        """The rows that weigh something, None for all."""
        if self.caps is None or self.caps.all():
            return None
        return np.flatnonzero(self.caps)

    def reduced(self) -> Problem:
        """Give the problem of the rows that weigh something."""
        if self.kept is None:
            return self
        assert self.caps is not None
        return Problem(self.X[self.kept], self.codes[self.kept], self.classes, self.caps[self.kept])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dual variables: one for each row, or for each row and class."""
        rows = self.codes.size
        return (rows,) if self.classes.size == 2 else (rows, self.classes.size)


@dataclass(frozen=True)
class Settings:
    """Options of the solvers, checked."""

    intercept: str
    lift: float
    multiclass: str
    tol: float
    max_passes: int | None
    max_seconds: float | None
    seed: int


@dataclass(frozen=True)
class Answer:
    """Hyperplanes (w, b), dual variables, and how good they are; of which kind of problem."""

    kind: str
    lam: float
    planes: np.ndarray
    alphas: np.ndarray
    primal: float
    dual: float
    gap: float
    passes: int
    converged: bool


Solver = Callable[[Problem, float, Settings, Answer | None], Answer]


def solve(problem: Problem, lam: float, settings: Settings, start: Answer | None) -> Answer:
    """Solve a problem; it may begin from the answer to another one, if that fits."""
    kind = "two classes" if problem.classes.size == 2 else settings.multiclass
    solver = {"two classes": _two_classes, "joint": _joint, "one-vs-rest": _one_vs_rest}[kind]
    if start is not None and not _fits(start, kind, problem):
        start = None
    if start is not None and problem.kept is not None:
        start = replace(start, alphas=start.alphas[problem.kept])
    answer = _finely(solver, problem.reduced(), lam, settings, start)
    if problem.kept is None:
        return answer
    alphas = np.zeros(problem.shape)
    alphas[problem.kept] = answer.alphas
    return replace(answer, alphas=alphas)


def _finely(
    solver: Solver, problem: Problem, lam: float, settings: Settings, start: Answer | None
) -> Answer:
    """Solve a small problem to a gap of `FINE`, which costs little; any other as was asked for.

    So a row of weight 2 and two equal rows give the same answer, and not two of the same quality.
    """
    if problem.X.size * problem.classes.size > SMALL:  # of a sparse matrix, the entries stored
        return solver(problem, lam, settings, start)
    most = FEW_PASSES if settings.max_passes is None else settings.max_passes
    finer = replace(settings, tol=min(settings.tol, FINE), max_passes=most)
    answer = solver(problem, lam, finer, start)
    answer = replace(answer, converged=answer.gap <= settings.tol)
    if answer.converged or settings.max_passes is not None:
        return answer
    return solver(problem, lam, settings, answer)


def _fits(start: Answer, kind: str, problem: Problem) -> bool:
    wide = start.planes.shape[1] == problem.X.shape[1] + 1
    return start.kind == kind and start.alphas.shape == problem.shape and wide


def _two_classes(problem: Problem, lam: float, settings: Settings, start: Answer | None) -> Answer:
    return _one_class_against(problem, 1, lam, settings, start)


def _one_class_against(
    problem: Problem, place: int, lam: float, settings: Settings, start: Answer | None
) -> Answer:
    from rosenblatt.margin.intercepts import balanced
    from rosenblatt.margin.pruning import pruned
    from rosenblatt.margin.soft import Problem as Halves
    from rosenblatt.margin.soft import soft_margin

    signs = np.where(problem.codes == place, np.int8(1), np.int8(-1))
    caps = np.ones(signs.size) if problem.caps is None else problem.caps
    before = None
    if start is not None:
        # Labels and weights may be others than they were: duals must be some of this problem.
        duals = np.clip(start.alphas, 0.0, caps)
        duals = balanced(duals, signs) if settings.intercept == "free" else duals
        before = _solver_weights(start.planes, settings)[0], duals
    found = soft_margin(problem.X, signs, lam, start=before, **_options(problem, settings))
    lift = {"free": 1.0, "lifted": settings.lift, "none": 0.0}[settings.intercept]
    halves = Halves(problem.X, signs, lam, caps, settings.intercept, lift)
    found = pruned(halves, found, settings.tol)
    return _read("two classes", found, found.w[np.newaxis], lam, settings)


def _joint(problem: Problem, lam: float, settings: Settings, start: Answer | None) -> Answer:
    from rosenblatt.margin.joint import joint_margin

    found = joint_margin(
        problem.X,
        problem.codes,
        problem.classes.size,
        lam,
        start=None if start is None else start.alphas,
        **_options(problem, settings),
    )
    return _read("joint", found, found.W, lam, settings)


def _one_vs_rest(problem: Problem, lam: float, settings: Settings, start: Answer | None) -> Answer:
    count = problem.classes.size
    parts: list[Answer] = []
    begin = time.perf_counter()
    for place in range(count):
        mine = settings
        if settings.max_seconds is not None:  # an equal share of what is left
            left = settings.max_seconds - (time.perf_counter() - begin)
            mine = replace(settings, max_seconds=max(left / (count - place), 1e-6))
        before = None if start is None else _part(start, place)
        parts.append(_one_class_against(problem, place, lam, mine, before))
    primal, dual = sum(part.primal for part in parts), sum(part.dual for part in parts)
    return Answer(
        kind="one-vs-rest",
        lam=lam,
        planes=np.concatenate([part.planes for part in parts]),
        alphas=np.stack([part.alphas for part in parts], axis=1),
        primal=primal,
        dual=dual,
        gap=(primal - dual) / max(primal, np.finfo(float).tiny),
        passes=max(part.passes for part in parts),
        converged=all(part.converged for part in parts),
    )


def _part(answer: Answer, place: int) -> Answer:
    """Give what an answer says of one class against the others."""
    alphas = np.ascontiguousarray(answer.alphas[:, place])
    return replace(answer, planes=answer.planes[place : place + 1], alphas=alphas)


def _options(problem: Problem, settings: Settings) -> dict[str, Any]:
    chosen = {**vars(settings), "caps": problem.caps}
    del chosen["multiclass"]
    return chosen


def _read(kind: str, found: Any, w: np.ndarray, lam: float, settings: Settings) -> Answer:
    """Take over what a solver found, the hyperplanes in the user's coordinates."""
    planes = np.array(w, np.float64, order="C")
    if settings.intercept == "lifted":
        planes[:, -1] *= settings.lift
    return Answer(
        kind=kind,
        lam=lam,
        planes=planes,
        alphas=found.alphas,
        primal=float(found.primal),
        dual=float(found.dual),
        gap=float(found.gap),
        passes=int(found.passes),
        converged=bool(found.converged),
    )


def _solver_weights(planes: np.ndarray, settings: Settings) -> np.ndarray:
    """Give hyperplanes as solvers have them: the last weight is that of the added coordinate."""
    w = planes.copy()
    w[:, -1] *= {"free": 1.0, "lifted": 1.0 / settings.lift, "none": 0.0}[settings.intercept]
    return w
