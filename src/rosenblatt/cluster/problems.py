"""A problem of two classes on all shards: what its solvers share.

Problem     min ½‖w‖² + Σ C·max(0, 1 - s(w·x + b)), which is that of `margin.problem` with
            C = c / 2λ; its duals are β = α / 2λ, and w = Σ β·s·x at the solution
Answer      by `dual` (local steps, for many columns) or `newton` (for few), which stop on the gap
            between the primal and the dual value, both added up from all rows
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rosenblatt.cluster.engine import Engine, RoundFile
from rosenblatt.cluster.mixing import RoundProgress, Watch
from rosenblatt.cluster.shards import Shard
from rosenblatt.cluster.survey import Labelling, Survey
from rosenblatt.labels import class_factors
from rosenblatt.learners.soft_margin import SoftMarginSVM
from rosenblatt.margin.descent import DualRows, narrow_squares
from rosenblatt.margin.problem import Solution, relative_gap
from rosenblatt.matrices import as_rows, without_duplicates
from rosenblatt.rows import fill_squares

MOST_ROUNDS = 1000


class Signing(NamedTuple):
    """What makes signed rows of a shard, and their largest duals."""

    token: str
    labelled: Labelling
    place: int  # the class that is positive
    factors: np.ndarray  # of the caps of each class
    lift: float

    def of(self, shard: Shard) -> DualRows:
        """Give the rows of a shard as the loops take them."""

        def make() -> DualRows:
            shown, codes = self.labelled.of(shard)
            signs = np.where(codes == self.place, np.int8(1), np.int8(-1))
            rows = as_rows(without_duplicates(shown.X), self.lift)
            squares = np.empty(signs.size)
            fill_squares(rows._replace(lift=0.0), squares)
            squares += self.lift**2
            caps = self.factors[codes] * (shown.weights if shown.weighted else 1.0)
            return DualRows(shown.X.shape[1], rows, signs, 0.0, narrow_squares(squares), caps)

        made: DualRows = shard.keep("problem", self.token, make)
        return made


@dataclass
class Solver:
    """One problem of two classes on all shards."""

    learner: SoftMarginSVM
    engine: Engine
    survey: Survey
    place: int
    checkpoint: RoundFile | None
    watch: Watch | None
    deadline: float
    earlier: Sequence[Solution] = ()  # answers of other classes, for the checkpoint

    def __post_init__(self) -> None:
        self.intercept = self.learner.wanted_intercept()
        self.scale = 2 * self.learner.wanted_lam()
        self.number = 0  # of rounds
        self.began = time.perf_counter()
        self.begin()

    def basis(self, lift: float) -> Signing:
        """Give the problem, with the lift that a free intercept is to have."""
        survey, token = self.survey, uuid.uuid4().hex
        every = np.arange(survey.classes.size)
        factors = class_factors(self.learner.class_weight, survey.classes, every, survey.totals)
        lifts = {"free": lift, "lifted": self.learner.lift, "none": 0.0}
        labelled = Labelling(token, survey.width, survey.classes)
        return Signing(
            token, labelled, self.place, factors / self.scale, float(lifts[self.intercept])
        )

    def solve(self) -> Solution:
        """Make rounds until the true gap is small enough, or a limit."""
        found = None if self.checkpoint is None else self.checkpoint.read()
        if found is not None and len(finished(found, 0.0)) == len(self.earlier):
            self.go_on_from(found)
        while (answer := self.advanced()) is None:
            if self.checkpoint is not None:
                self.checkpoint.write(self.state() | told(self.earlier))
        return answer

    def is_over(self) -> bool:
        """Tell whether no further round is allowed."""
        most = self.learner.max_iter or MOST_ROUNDS
        return self.number >= most or time.perf_counter() >= self.deadline

    def tell(self, gap: float) -> None:
        """Tell a watcher of a round."""
        if self.watch is not None and self.engine.latest is not None:
            seconds = time.perf_counter() - self.began
            self.watch(RoundProgress(self.number, gap, seconds, self.engine.latest))

    def answer(
        self, w: np.ndarray, duals: Sequence[np.ndarray], primal: float, dual: float, method: str
    ) -> Solution:
        """Give the answer in the user's coordinates, with a dual for each row of all shards."""
        scale, gap = self.scale, relative_gap(primal, dual)
        placed = [self.survey.placed(k, each) for k, each in enumerate(duals)]
        return Solution(
            self.learner.wanted_lam(),
            w[np.newaxis],
            np.concatenate(placed) * scale,
            scale * primal,
            scale * dual,
            self.number,
            gap <= self.learner.tol,
            method,
        )

    # ---- what differs

    def begin(self) -> None:
        """Set up what the rounds change."""
        raise NotImplementedError

    def advanced(self) -> Solution | None:
        """Make a round; give the answer if it is one, or a limit is reached."""
        raise NotImplementedError

    def state(self) -> dict[str, np.ndarray]:
        """Give what the rounds changed."""
        raise NotImplementedError

    def go_on_from(self, found: Mapping[str, np.ndarray]) -> None:
        """Take over what `state` gave."""
        raise NotImplementedError


# ---- answers in a checkpoint


def told(answers: Sequence[Solution]) -> dict[str, np.ndarray]:
    """Give answers of classes for a checkpoint."""
    arrays: dict[str, np.ndarray] = {}
    for k, part in enumerate(answers):
        values = np.array([part.primal, part.dual, part.passes, part.converged])
        arrays |= {f"w{k}": part.w, f"alphas{k}": part.alphas, f"values{k}": values}
    return arrays


def finished(found: Mapping[str, np.ndarray], lam: float) -> list[Solution]:
    """Give the answers of classes that a checkpoint has."""
    answers: list[Solution] = []
    while (k := len(answers)) < len(found) and f"values{k}" in found:
        primal, dual, passes, converged = found[f"values{k}"].tolist()
        w, alphas = found[f"w{k}"].copy(), found[f"alphas{k}"].copy()
        answers.append(Solution(lam, w, alphas, primal, dual, int(passes), bool(converged), "rest"))
    return answers
