"""SVMs on shards: local dual steps, and an exact search over how far to go along them.

Problem     that of `margin.descent`: max over 0 <= β <= C of Σ p·β - ½‖Σ β·s·x‖², w = Σ β·s·x
Round       each shard sweeps over its own rows, as if the others stood still, which gives steps Δβ.
            They are told in four ways, by the sign of the row and by whether β shrinks or grows,
            each with its Δw, Σ p·Δβ and the room that its duals have. Then the dual value is
            maximised over the lengths θ of all ways of all shards, a quadratic function on a box
            of few dimensions: θ·(Σ p·Δβ - w·Δw) - ½‖Σ θ·Δw‖², 0 <= θ <= room
Ends        when the gap between the primal and the dual value, both computed anew from all rows,
            is relatively below `tol`; at a limit
Guarantee   the dual value rises in every round, and linearly to its maximum; the gap is true
Intercept   lifted or none as on one machine; a free one by proximal steps, its best value for the
            weights found by looking at the losses of many values at once. It is what ties shards
            to one another: ways of their own for each sign let the search put it right
Faults      a shard keeps its β. The coordinator has all of them, from the steps that it is told,
            and sends them to a worker that has them not: then nothing depends on who was lost
Sources     Lee & Roth 2015 (an exact line search); Hsieh et al. 2008 (the sweep)
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.bounds.theorem import check_radius
from rosenblatt.cluster.engine import Engine, RoundFile
from rosenblatt.cluster.mixing import RoundProgress, Watch
from rosenblatt.cluster.passes import STEP
from rosenblatt.cluster.steps import (
    WAYS,
    Given,
    Look,
    Moved,
    Own,
    caps_of,
    local_steps,
    losses_of,
    positive_bits,
    sums_of,
)
from rosenblatt.cluster.survey import Labelling, Survey
from rosenblatt.errors import InputError
from rosenblatt.labels import class_factors
from rosenblatt.learners.soft_margin import SoftMarginSVM
from rosenblatt.margin.problem import Solution, relative_gap

MOST_ROUNDS = 1000
LOOK_EVERY = 10  # rounds, at least, between two looks at the true gap
BUNDLES = 8  # of shards that go equally far, if there are more
SEARCHES = 200  # at most, over all lengths
SPREAD = np.concatenate([[0.0], np.geomspace(1e-6, 10.0, 24)])
INTERCEPTS = np.concatenate([-SPREAD[:0:-1], SPREAD])  # what is tried beside the last one


@dataclass
class Solver:
    """One problem of two classes on all shards."""

    learner: SoftMarginSVM
    engine: Engine
    survey: Survey
    place: int
    intercept: str
    checkpoint: RoundFile | None
    watch: Watch | None
    deadline: float
    earlier: Sequence[Solution] = ()  # answers of other classes, for the checkpoint

    def __post_init__(self) -> None:
        survey = self.survey
        self.scale = 2 * self.learner.wanted_lam()
        factors = class_factors(
            self.learner.class_weight,
            survey.classes,
            np.arange(survey.classes.size),
            survey.totals,
        )
        # An intercept is shared by all shards: the more there are, the smaller its steps.
        shared = survey.typical_norm / len(survey.shards) ** 0.5
        lift = {"free": shared, "lifted": self.learner.lift, "none": 0.0}
        token = uuid.uuid4().hex
        self.given = Given(
            token,
            0,
            Labelling(token, survey.width, survey.classes),
            self.place,
            factors / self.scale,
            float(lift[self.intercept]),
            0.0,
            np.zeros(survey.width + 1),
        )
        seed = self.learner.settings().seed
        self.seeds = [(seed + STEP * k) % 2**64 for k in range(len(survey.shards))]
        self.betas = [np.zeros(n) for n in survey.counted_rows]
        self.lengths = [np.zeros(WAYS) for _ in self.seeds]
        self.caps = self._caps()
        self.wanted, self.looked = self.learner.tol, 0
        self.began = time.perf_counter()

    def _caps(self) -> list[Any]:
        """Give the largest duals of each shard: one number, unless rows or classes differ."""
        if not self.survey.weighted and (self.given.factors == self.given.factors[0]).all():
            return [float(self.given.factors[0])] * len(self.seeds)
        return list(self.engine.map(caps_of, self.given))

    def solve(self) -> Solution:
        """Make rounds until the true gap is small enough, or a limit."""
        self._go_on_from_checkpoint()
        while (answer := self._advanced()) is None:
            if self.checkpoint is not None:
                self._write()
        return answer

    def _advanced(self) -> Solution | None:
        """Make a round, and look at the true gap if it is time to; give the answer if it is one."""
        seen, tol = self._round(), self.learner.tol
        number, most = self.given.number, self.learner.max_iter or MOST_ROUNDS
        over = number >= most or time.perf_counter() >= self.deadline
        if seen > self.wanted and not over and number - self.looked < LOOK_EVERY:
            return None
        answer, self.looked = self._look(), number
        if answer.gap <= tol or over:
            return replace(answer, converged=answer.gap <= tol)
        if self.intercept == "free":
            centre = self.given.centre + self.given.lift * float(self.given.w[-1])
            self.given = self.given._replace(centre=centre)
        self.wanted = max(seen, self.wanted) * min(max(tol / (2 * answer.gap), 0.1), 0.7)
        return None

    # ---- a round

    def _map(self, task: Any) -> list[Any]:
        """Ask all shards; those that have lost their duals are asked once more, with them."""
        own = [Own(*pair) for pair in zip(self.seeds, self.lengths, strict=True)]
        found = list(self.engine.map(task, self.given, own))
        lost = [k for k, each in enumerate(found) if isinstance(each, str)]
        if lost:
            for k in lost:
                own[k] = own[k]._replace(betas=self.betas[k])
            found = list(self.engine.map(task, self.given, own))
        return found

    def _round(self) -> float:
        """Make a round; give the relative gap as the sweeps saw it."""
        given = self.given
        parts: list[Moved] = self._map(local_steps)
        count = min(len(parts), BUNDLES)
        homes = [k * count // len(parts) for k in range(len(parts))]
        ways = np.zeros((count, WAYS, given.w.size))
        gains, rooms = np.zeros((count, WAYS)), np.full((count, WAYS), np.inf)
        for home, part in zip(homes, parts, strict=True):
            for j, way in enumerate(part.ways):
                ways[home, j] += way.w.applied(np.zeros_like(given.w))
                gains[home, j] += way.gain
                rooms[home, j] = min(rooms[home, j], way.room)
        flat = ways.reshape(-1, given.w.size)
        found = best_lengths(flat @ flat.T, gains.ravel() - flat @ given.w, rooms.ravel())
        w, lengths = given.w + found @ flat, found.reshape(count, WAYS)
        self.lengths = [lengths[home] for home in homes]
        for k, part in enumerate(parts):
            self.betas[k] = part.steps.taken(self.betas[k], self.lengths[k], self.caps[k])
        self.given = given._replace(number=given.number + 1, w=w)
        gap = sum(part.gap for part in parts)
        shifted = given.centre * float(w[-1]) / given.lift if given.centre else 0.0
        dual = float(sum(betas.sum() for betas in self.betas)) - shifted - float(w @ w) / 2
        seen = gap / (dual + gap) if gap > 0 and dual + gap > 0 else 0.0
        if self.watch is not None and self.engine.latest is not None:
            seconds, latest = time.perf_counter() - self.began, self.engine.latest
            self.watch(RoundProgress(self.given.number, seen, seconds, latest))
        return seen

    # ---- the true gap

    def _look(self) -> Solution:
        """Compute both values from all rows, and the answer that they belong to."""
        looks: list[Look] = self._map(sums_of)
        sums = np.sum([look.sums for look in looks], axis=0)
        negative, positive = (float(t) for t in np.sum([look.totals for look in looks], axis=0))
        free, factors = self.intercept == "free", np.ones(2)
        w = sums.sum(axis=0)
        if not free:
            loss = self._losses(w, np.zeros(1))[0]
        else:
            w[-1] = 0.0
            sums[:, -1] = 0.0
            least = min(negative, positive)
            factors = np.array([least / t if t > 0 else 0.0 for t in (negative, positive)])
            w[-1], loss = self._best_intercept(w)
        square = float(w[:-1] @ w[:-1]) + (0.0 if free else float(w[-1]) ** 2)
        balanced = factors @ sums
        dual = float(factors @ [negative, positive]) - float(balanced @ balanced) / 2
        primal = square / 2 + loss
        scale, number = self.scale, self.given.number
        if not free:
            w[-1] *= self.given.lift  # in the user's coordinates
        alphas = np.concatenate(self._balanced(factors)) * scale
        gap = relative_gap(primal, dual)
        return Solution(
            self.learner.wanted_lam(),
            w[np.newaxis],
            alphas,
            scale * primal,
            scale * dual,
            number,
            gap <= self.learner.tol,
            "descent",
        )

    def _losses(self, w: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
        return np.asarray(
            np.sum(list(self.engine.map(losses_of, (self.given, w, intercepts))), axis=0)
        )

    def _best_intercept(self, w: np.ndarray) -> tuple[float, float]:
        """Give the best intercept that is found around the last one, and its loss."""
        middle = self.given.centre + self.given.lift * float(self.given.w[-1])
        tried = middle + max(1.0, abs(middle)) * INTERCEPTS
        for _ in range(3):
            losses = self._losses(w, tried)
            best = int(losses.argmin())
            found = float(tried[best]), float(losses[best])
            tried = np.linspace(tried[max(best - 1, 0)], tried[min(best + 1, tried.size - 1)], 33)
        return found

    def _balanced(self, factors: np.ndarray) -> list[np.ndarray]:
        """Give the duals of all rows, in balance if the intercept is free."""
        duals = self.betas
        if factors[0] != factors[1]:
            bits = self.engine.map(positive_bits, self.given)
            sides = [np.unpackbits(b, count=d.size) for b, d in zip(bits, duals, strict=True)]
            duals = [d * factors[side] for d, side in zip(duals, sides, strict=True)]
        return [self.survey.placed(k, each) for k, each in enumerate(duals)]

    # ---- checkpoints

    def _write(self) -> None:
        assert self.checkpoint is not None
        given = self.given
        arrays = {
            "w": given.w,
            "numbers": np.array([given.number, given.centre, self.wanted, self.looked]),
            "betas": np.concatenate(self.betas),
            "lengths": np.array(self.lengths),
        }
        for k, part in enumerate(self.earlier):
            values = np.array([part.primal, part.dual, part.passes, part.converged])
            arrays |= {f"w{k}": part.w, f"alphas{k}": part.alphas, f"values{k}": values}
        self.checkpoint.write(arrays)

    def _go_on_from_checkpoint(self) -> None:
        found = None if self.checkpoint is None else self.checkpoint.read()
        if found is None or len(finished(found, 0.0)) != len(self.earlier):
            return
        number, centre, self.wanted, looked = found["numbers"].tolist()
        self.looked = int(looked)
        self.given = self.given._replace(number=int(number), centre=centre, w=found["w"].copy())
        ends = np.cumsum([betas.size for betas in self.betas])[:-1]
        self.betas = [part.copy() for part in np.split(found["betas"], ends)]
        self.lengths = list(found["lengths"])


def finished(found: Mapping[str, np.ndarray], lam: float) -> list[Solution]:
    """Give the answers of classes that a checkpoint has."""
    answers: list[Solution] = []
    while (k := len(answers)) < len(found) and f"values{k}" in found:
        primal, dual, passes, converged = found[f"values{k}"].tolist()
        w, alphas = found[f"w{k}"].copy(), found[f"alphas{k}"].copy()
        values = (primal, dual, int(passes), bool(converged), "descent")
        answers.append(Solution(lam, w, alphas, *values))
    return answers


def best_lengths(products: np.ndarray, slopes: np.ndarray, rooms: np.ndarray) -> np.ndarray:
    """Maximise θ·slopes - ½ θ·products·θ over 0 <= θ <= rooms, one length after the other."""
    lengths = np.zeros(slopes.size)
    used = [k for k in range(slopes.size) if products[k, k] > 0.0]
    # Steps that leave w where it is cost nothing.
    idle = (np.diag(products) <= 0.0) & (slopes > 0.0) & np.isfinite(rooms)
    lengths[idle] = rooms[idle]
    for _ in range(SEARCHES):
        before = lengths.copy()
        for k in used:
            slope = slopes[k] - products[k] @ lengths
            lengths[k] = min(max(lengths[k] + slope / products[k, k], 0.0), rooms[k])
        if np.abs(lengths - before).max() <= 1e-9 * lengths.max():
            break
    return lengths


def solve(
    learner: SoftMarginSVM,
    engine: Engine,
    survey: Survey,
    checkpoint: RoundFile | None,
    watch: Watch | None,
) -> None:
    """Solve the problem of a learner on shards, and let it hold the answer."""
    settings, kind = learner.settings(), learner.wanted_intercept()
    many = survey.classes.size > 2
    check_radius(survey.radius)
    if many and settings.multiclass == "joint":
        raise InputError(
            f"there are {survey.classes.size} classes, and shards solve problems of two; give "
            "multiclass='one-vs-rest'"
        )
    deadline = (
        np.inf if settings.max_seconds is None else time.perf_counter() + settings.max_seconds
    )
    found = None if checkpoint is None else checkpoint.read()
    parts = finished(found or {}, learner.wanted_lam())
    for k in range(len(parts), survey.classes.size) if many else [1]:
        solver = Solver(learner, engine, survey, k, kind, checkpoint, watch, deadline, parts)
        parts.append(solver.solve())
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
