"""SVMs of many columns on shards: local dual steps, and an exact search over how far to go.

Problem     that of `problems`, by its dual: max over 0 <= β <= C of Σ p·β - ½‖Σ β·s·x‖²
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

from collections.abc import Mapping
from typing import Any

import numpy as np

from rosenblatt.cluster.passes import STEP
from rosenblatt.cluster.problems import Solver
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
from rosenblatt.margin.problem import Solution

LOOK_EVERY = 10  # rounds, at least, between two looks at the true gap
BUNDLES = 8  # of shards that go equally far, if there are more
SEARCHES = 200  # at most, over all lengths
SPREAD = np.concatenate([[0.0], np.geomspace(1e-6, 10.0, 24)])
INTERCEPTS = np.concatenate([-SPREAD[:0:-1], SPREAD])  # what is tried beside the last one


class DualSteps(Solver):
    """Rounds of local steps."""

    def begin(self) -> None:
        """Begin with weights and duals of zero."""
        survey = self.survey
        # An intercept is shared by all shards: the more there are, the smaller its steps.
        shared = survey.typical_norm / len(survey.shards) ** 0.5
        self.given = Given(self.basis(shared), 0, 0.0, np.zeros(survey.width + 1))
        seed = self.learner.settings().seed
        self.seeds = [(seed + STEP * k) % 2**64 for k in range(len(survey.shards))]
        self.betas = [np.zeros(n) for n in survey.counted_rows]
        self.lengths = [np.zeros(WAYS) for _ in self.seeds]
        self.caps = self._caps()
        self.wanted, self.looked = self.learner.tol, 0

    def _caps(self) -> list[Any]:
        """Give the largest duals of each shard: one number, unless rows or classes differ."""
        if (
            not self.survey.weighted
            and (self.given.basis.factors == self.given.basis.factors[0]).all()
        ):
            return [float(self.given.basis.factors[0])] * len(self.seeds)
        return list(self.engine.map(caps_of, self.given))

    def advanced(self) -> Solution | None:
        """Make a round, and look at the true gap if it is time to; give the answer if it is one."""
        seen, tol = self._round(), self.learner.tol
        over = self.is_over()
        if seen > self.wanted and not over and self.number - self.looked < LOOK_EVERY:
            return None
        answer, self.looked = self._look(), self.number
        if answer.gap <= tol or over:
            return answer
        if self.intercept == "free":
            centre = self.given.centre + self.given.basis.lift * float(self.given.w[-1])
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
        self.number += 1
        self.given = given._replace(number=self.number, w=w)
        gap = sum(part.gap for part in parts)
        shifted = given.centre * float(w[-1]) / given.basis.lift if given.centre else 0.0
        dual = float(sum(betas.sum() for betas in self.betas)) - shifted - float(w @ w) / 2
        seen = gap / (dual + gap) if gap > 0 and dual + gap > 0 else 0.0
        self.tell(seen)
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
        if not free:
            w[-1] *= self.given.basis.lift  # in the user's coordinates
        return self.answer(w, self._balanced(factors), square / 2 + loss, dual, "descent")

    def _losses(self, w: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
        return np.asarray(
            np.sum(list(self.engine.map(losses_of, (self.given, w, intercepts))), axis=0)
        )

    def _best_intercept(self, w: np.ndarray) -> tuple[float, float]:
        """Give the best intercept that is found around the last one, and its loss."""
        middle = self.given.centre + self.given.basis.lift * float(self.given.w[-1])
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
        return duals

    # ---- checkpoints

    def state(self) -> dict[str, np.ndarray]:
        """Give what the rounds changed."""
        return {
            "w": self.given.w,
            "numbers": np.array([self.number, self.given.centre, self.wanted, self.looked]),
            "betas": np.concatenate(self.betas),
            "lengths": np.array(self.lengths),
        }

    def go_on_from(self, found: Mapping[str, np.ndarray]) -> None:
        """Take over what `state` gave."""
        number, centre, self.wanted, looked = found["numbers"].tolist()
        self.number, self.looked = int(number), int(looked)
        self.given = self.given._replace(number=self.number, centre=centre, w=found["w"].copy())
        ends = np.cumsum([betas.size for betas in self.betas])[:-1]
        self.betas = [part.copy() for part in np.split(found["betas"], ends)]
        self.lengths = list(found["lengths"])


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
