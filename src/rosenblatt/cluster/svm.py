"""SVMs on shards: each problem of two classes by the method for its width."""

from __future__ import annotations

import time

import numpy as np

from rosenblatt.bounds.theorem import check_radius
from rosenblatt.cluster.dual import DualSteps
from rosenblatt.cluster.engine import Engine, RoundFile
from rosenblatt.cluster.mixing import Watch
from rosenblatt.cluster.newton import NewtonSteps
from rosenblatt.cluster.problems import Solver, finished
from rosenblatt.cluster.survey import Survey
from rosenblatt.errors import InputError
from rosenblatt.learners.soft_margin import SoftMarginSVM
from rosenblatt.margin.problem import Solution

FEW_COLUMNS = 2000  # half of Newton's matrix is 16 MB, which each shard sends


def solver_for(width: int) -> type[Solver]:
    """Give the method that needs the fewest rounds for so many columns."""
    return NewtonSteps if width <= FEW_COLUMNS else DualSteps


def solve(
    learner: SoftMarginSVM,
    engine: Engine,
    survey: Survey,
    checkpoint: RoundFile | None,
    watch: Watch | None,
) -> None:
    """Solve the problem of a learner on shards, and let it hold the answer."""
    settings, many = learner.settings(), survey.classes.size > 2
    check_radius(survey.radius)
    if many and settings.multiclass == "joint":
        raise InputError(
            f"there are {survey.classes.size} classes, and shards solve problems of two; give "
            "multiclass='one-vs-rest'"
        )
    seconds = np.inf if settings.max_seconds is None else settings.max_seconds
    deadline, kind = time.perf_counter() + seconds, solver_for(survey.width)
    found = None if checkpoint is None else checkpoint.read()
    parts = finished(found or {}, learner.wanted_lam())
    for k in range(len(parts), survey.classes.size) if many else [1]:
        parts.append(kind(learner, engine, survey, k, checkpoint, watch, deadline, parts).solve())
    answer = joined(parts) if many else parts[0]
    learner.take_over(answer, survey.classes, survey.stand_in())
    if checkpoint is not None:
        checkpoint.remove()


def joined(parts: list[Solution]) -> Solution:
    """Give the answers of each class against the others as one."""
    return Solution(
        parts[0].lam,
        np.concatenate([part.w for part in parts]),
        np.stack([part.alphas for part in parts], axis=1),
        sum(part.primal for part in parts),
        sum(part.dual for part in parts),
        max(part.passes for part in parts),
        all(part.converged for part in parts),
        "one-vs-rest",
    )
