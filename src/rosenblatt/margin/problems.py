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

from rosenblatt.margin.two_classes import SoftMargin, TwoClasses
from rosenblatt.matrices import Matrix
from rosenblatt.pauses import OutOfTimeError, until

MULTICLASS = ("joint", "one-vs-rest")
SMALL = 10_000  # entries times classes: some milliseconds for
FINE = 1e-9  # such a gap, which
FEW_PASSES = 5000  # passes reach, unless the problem is a hard one


@dataclass(frozen=True)
class LabelledRows:
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

    def reduced(self) -> LabelledRows:
        """Give the problem of the rows that weigh something."""
        if self.kept is None:
            return self
        assert self.caps is not None
        parts = (self.X, self.codes, self.caps)
        X, codes, caps = (part[self.kept] for part in parts)
        return LabelledRows(X, codes, self.classes, caps)

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

    @property
    def limits(self) -> dict[str, Any]:
        """How good an answer is to be, and what it may cost."""
        return {n: getattr(self, n) for n in ("tol", "max_passes", "max_seconds", "seed")}


Solver = Callable[[LabelledRows, float, Settings, SoftMargin | None], SoftMargin]


def solve(
    problem: LabelledRows, lam: float, settings: Settings, start: SoftMargin | None
) -> SoftMargin:
    """Solve a problem; it may begin from the answer to another one, if that fits."""
    solver = {"joint": _joint, "one-vs-rest": _one_vs_rest}[settings.multiclass]
    if problem.classes.size == 2:
        solver = _one_class_against
    if start is not None and not _fits(start, problem, settings):
        start = None
    if start is not None and problem.kept is not None:
        start = replace(start, alphas=start.alphas[problem.kept])
    try:
        with until(settings.max_seconds):  # for loops that are to be compiled
            answer = _finely(solver, problem.reduced(), lam, settings, start)
    except OutOfTimeError:
        answer = _nothing(problem.reduced(), lam, settings)
    if problem.kept is None:
        return answer
    alphas = np.zeros(problem.shape)
    alphas[problem.kept] = answer.alphas
    return replace(answer, alphas=alphas)


def _nothing(problem: LabelledRows, lam: float, settings: Settings) -> SoftMargin:
    """Give what is known of any problem: the objective of w = 0, and that none is below 0."""
    planes = 1 if problem.classes.size == 2 else problem.classes.size
    w, alphas = np.zeros((planes, problem.X.shape[1] + 1)), np.zeros(problem.shape)
    problems = planes if settings.multiclass == "one-vs-rest" else 1
    each = problem.codes.size if problem.caps is None else float(problem.caps.sum())
    method = "descent" if planes == 1 else settings.multiclass
    return SoftMargin(lam, w, alphas, problems * each, 0.0, 0, False, method)


def _finely(
    solver: Solver, problem: LabelledRows, lam: float, settings: Settings, start: SoftMargin | None
) -> SoftMargin:
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


def _fits(start: SoftMargin, problem: LabelledRows, settings: Settings) -> bool:
    same = problem.classes.size == 2 or start.method == settings.multiclass
    wide = start.w.shape[1] == problem.X.shape[1] + 1
    return same and start.alphas.shape == problem.shape and wide


def _one_class_against(
    problem: LabelledRows,
    lam: float,
    settings: Settings,
    start: SoftMargin | None,
    place: int = 1,
) -> SoftMargin:
    """Solve for one class, of two the second, against all others."""
    from rosenblatt.margin.soft import soft_margin

    signs = np.where(problem.codes == place, np.int8(1), np.int8(-1))
    two = TwoClasses.of(problem.X, signs, lam, problem.caps, settings.intercept, settings.lift)
    known = None if start is None else (_solver_weights(start.w, settings)[0], start.alphas)
    found = soft_margin(two, start=known, **settings.limits)
    return replace(found, w=_planes(found.w[np.newaxis], settings))


def _joint(
    problem: LabelledRows, lam: float, settings: Settings, start: SoftMargin | None
) -> SoftMargin:
    from rosenblatt.margin.joint import ManyClasses, joint_margin

    X, codes, classes, caps = problem.X, problem.codes, problem.classes, problem.caps
    added = (settings.intercept, settings.lift)
    many = ManyClasses.of(X, codes, classes.size, lam, caps, *added)
    known = None if start is None else start.alphas
    found = joint_margin(many, start=known, **settings.limits)
    return replace(found, w=_planes(found.w, settings))


def _one_vs_rest(
    problem: LabelledRows, lam: float, settings: Settings, start: SoftMargin | None
) -> SoftMargin:
    count = problem.classes.size
    parts: list[SoftMargin] = []
    begin = time.perf_counter()
    for place in range(count):
        mine = settings
        if settings.max_seconds is not None:  # an equal share of what is left
            left = settings.max_seconds - (time.perf_counter() - begin)
            mine = replace(settings, max_seconds=max(left / (count - place), 1e-6))
        before = None if start is None else _part(start, place)
        parts.append(_one_class_against(problem, lam, mine, before, place))
    return SoftMargin(
        lam=lam,
        w=np.concatenate([part.w for part in parts]),
        alphas=np.stack([part.alphas for part in parts], axis=1),
        primal=sum(part.primal for part in parts),
        dual=sum(part.dual for part in parts),
        passes=max(part.passes for part in parts),
        converged=all(part.converged for part in parts),
        method="one-vs-rest",
    )


def _part(answer: SoftMargin, place: int) -> SoftMargin:
    """Give what an answer says of one class against the others."""
    alphas = np.ascontiguousarray(answer.alphas[:, place])
    return replace(answer, w=answer.w[place : place + 1], alphas=alphas)


def _planes(w: np.ndarray, settings: Settings) -> np.ndarray:
    """Give hyperplanes (w, b) in the user's coordinates."""
    planes = np.array(w, np.float64, order="C")
    if settings.intercept == "lifted":
        planes[:, -1] *= settings.lift
    return planes


def _solver_weights(planes: np.ndarray, settings: Settings) -> np.ndarray:
    """Give hyperplanes as solvers have them: the last weight is that of the added coordinate."""
    w = planes.copy()
    w[:, -1] *= {"free": 1.0, "lifted": 1.0 / settings.lift, "none": 0.0}[settings.intercept]
    return w
