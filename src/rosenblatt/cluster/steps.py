"""Dual steps on a shard, and what is told of them: the tasks of `dual`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.cluster.passes import STEP, Difference
from rosenblatt.cluster.shards import Shard
from rosenblatt.cluster.survey import Labelled
from rosenblatt.margin.descent import GAP, DualRows, sweep
from rosenblatt.matrices import as_rows, without_duplicates
from rosenblatt.online.plan import shuffle
from rosenblatt.rows import combine, fill_squares, scores


class Given(NamedTuple):
    """What all shards begin a round with."""

    token: str
    number: int
    labelled: Labelled
    place: int  # the class that is positive
    factors: np.ndarray  # of the caps of each class
    lift: float
    centre: float  # of the penalty on a free intercept
    theta: float
    w: np.ndarray


class Own(NamedTuple):
    """What a shard begins a round with; the duals only if it has lost them."""

    seed: int
    betas: np.ndarray | None = None


class Kept(NamedTuple):
    """What a shard keeps: duals before a step, and the step."""

    betas: np.ndarray
    places: np.ndarray
    steps: np.ndarray

    def taken(self, theta: float, caps: np.ndarray) -> np.ndarray:
        """Give the duals after a part of the step; the coordinator does the same sum."""
        return advanced(self.betas, self.places, self.steps, theta, caps)


class Moved(NamedTuple):
    """What a round did to a shard."""

    places: np.ndarray
    steps: np.ndarray
    w: Difference
    gain: float  # Σ p·Δβ
    room: float  # the largest part of the step that leaves no β outside
    gap: float  # as the sweep saw it


MISSING = "missing"


def advanced(
    betas: np.ndarray, places: np.ndarray, steps: np.ndarray, theta: float, caps: Any
) -> np.ndarray:
    """Give duals after a part of a step."""
    after = betas.copy()
    most = caps[places] if isinstance(caps, np.ndarray) else caps
    after[places] = np.clip(after[places] + theta * steps, 0.0, most)
    return after


def problem_of(shard: Shard, given: Given) -> DualRows:
    """Give the rows of a shard as the sweep takes them."""

    def make() -> DualRows:
        shown, codes = given.labelled.of(shard)
        signs = np.where(codes == given.place, np.int8(1), np.int8(-1))
        rows = as_rows(without_duplicates(shown.X), given.lift)
        squares = np.empty(signs.size)
        fill_squares(rows._replace(lift=0.0), squares)
        squares += given.lift**2
        caps = given.factors[codes] * (shown.weights if shown.weighted else 1.0)
        return DualRows(shown.X.shape[1], rows, signs, np.ones(signs.size), squares, caps)

    made: DualRows = shard.keep("problem", given.token, make)
    np.multiply(made.signs, -given.centre, out=made.targets)
    made.targets[:] += 1.0
    return made


def duals_of(shard: Shard, given: Given, problem: DualRows, own: np.ndarray | None) -> Any:
    """Give the duals of a shard at the beginning of a round, or say that they are missing."""
    if own is not None:
        return own.copy()
    if given.number == 0:
        return np.zeros(problem.signs.size)
    token, kept = shard.kept("duals")
    if token == (given.token, given.number + 1):  # the round was made before, and its result lost
        return kept.betas
    here = token == (given.token, given.number)
    return kept.taken(given.theta, problem.caps) if here else MISSING


def local_steps(shard: Shard, given: Given, own: Own) -> Moved | str:
    """Sweep over a shard; keep the step, and tell what it did."""
    problem = problem_of(shard, given)
    before = duals_of(shard, given, problem, own.betas)
    if isinstance(before, str):
        return MISSING
    betas, w, found = before.copy(), given.w.copy(), np.zeros(3)
    seed = np.array([(own.seed + given.number * STEP) % 2**64], np.uint64)
    order = np.arange(betas.size, dtype=np.uint32)
    shuffle(order, seed)
    sweep(problem, order, w, betas, (-np.inf, np.inf), found)
    places = np.flatnonzero(betas != before).astype(np.uint32)
    steps = betas[places] - before[places]
    shard.put("duals", (given.token, given.number + 1), Kept(before, places, steps))
    caps, start = problem.caps[places], before[places]
    with np.errstate(divide="ignore"):
        room = np.where(steps > 0, (caps - start) / steps, -start / steps)
    gain = float(problem.targets[places] @ steps)
    change = Difference.of(given.w, w)
    return Moved(places, steps, change, gain, float(room.min(initial=np.inf)), float(found[GAP]))


class Look(NamedTuple):
    """Sums over a shard for each sign: Σ β, and Σ β·s·x."""

    totals: np.ndarray
    sums: np.ndarray


def sums_of(shard: Shard, given: Given, own: np.ndarray | None) -> Look | str:
    """Add up the rows of each class, by the duals as they are."""
    problem = problem_of(shard, given)
    betas = duals_of(shard, given, problem, own)
    if isinstance(betas, str):
        return MISSING
    sums, totals = np.zeros((2, problem.columns + 1)), np.zeros(2)
    for k, side in enumerate((problem.signs < 0, problem.signs > 0)):
        mine = np.where(side, betas, 0.0)
        combine(problem.rows, mine * problem.signs, sums[k])
        totals[k] = mine.sum()
    return Look(totals, sums)


def losses_of(shard: Shard, given: tuple[Given, np.ndarray, np.ndarray], _: None) -> np.ndarray:
    """Give Σ C·max(0, 1 - s(w·x + b)) for some b."""
    basis, w, intercepts = given
    problem = problem_of(shard, basis)

    def make() -> np.ndarray:
        found = np.empty(problem.signs.size)
        scores(problem.rows, w, found)
        return found

    products = shard.keep("scores", (basis.token, basis.number), make)
    return np.array(
        [problem.caps @ np.maximum(0.0, 1 - problem.signs * (products + b)) for b in intercepts]
    )


def caps_of(shard: Shard, given: Given, _: None) -> np.ndarray:
    """Give the largest dual of each row that counts."""
    return problem_of(shard, given).caps


def positive_bits(shard: Shard, given: Given, _: None) -> np.ndarray:
    """Give a bit for each row that counts: whether it is positive."""
    return np.packbits(problem_of(shard, given).signs > 0)
