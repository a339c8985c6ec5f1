"""Dual steps on a shard, and what is told of them: the tasks of `dual`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.cluster.passes import STEP, Difference
from rosenblatt.cluster.problems import Signing
from rosenblatt.cluster.shards import Shard
from rosenblatt.margin.descent import GAP, DualRows, sweep
from rosenblatt.online.plan import shuffle
from rosenblatt.rows import combine, scores


class Given(NamedTuple):
    """What all shards begin a round with."""

    basis: Signing
    number: int
    centre: float  # of the penalty on a free intercept
    w: np.ndarray

    def of(self, shard: Shard) -> DualRows:
        """Give the rows of a shard, with the centre of all shards."""
        return self.basis.of(shard)._replace(centre=float(self.centre))

    @property
    def token(self) -> str:
        """What tells problems apart."""
        return self.basis.token


class Own(NamedTuple):
    """What a shard begins a round with; the duals only if it has lost them."""

    seed: int
    lengths: np.ndarray  # how far the last round went along each of the shard's ways
    betas: np.ndarray | None = None


class DualMoves(NamedTuple):
    """The duals that a round moved, in the order of the ways, and how many go each way."""

    places: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray

    def taken(self, betas: np.ndarray, lengths: np.ndarray, caps: Any) -> np.ndarray:
        """Give the duals after a part of each way; the coordinator does the same sum."""
        after, places = betas.copy(), self.places
        most = caps[places] if isinstance(caps, np.ndarray) else caps
        moved = betas[places] + np.repeat(lengths, self.counts) * self.sizes
        after[places] = np.clip(moved, 0.0, most)
        return after


class Way(NamedTuple):
    """Steps of one kind: what they do to w, Σ p·Δβ, and the largest part that stays inside."""

    w: Difference
    gain: float
    room: float


class Moved(NamedTuple):
    """What a round did to a shard, and the gap as the sweep saw it."""

    steps: DualMoves
    ways: list[Way]
    gap: float


MISSING = "missing"
WAYS = 4  # the duals of each sign that shrink, and those that grow


def duals_of(shard: Shard, given: Given, problem: DualRows, own: Own) -> Any:
    """Give the duals of a shard at the beginning of a round, or say that they are missing."""
    if own.betas is not None:
        return own.betas.copy()
    if given.number == 0:
        return np.zeros(problem.signs.size)
    token, (betas, steps) = shard.kept("duals", (None, None))
    if token == (given.token, given.number + 1):  # the round was made before, and its result lost
        return betas
    here = token == (given.token, given.number)
    return steps.taken(betas, own.lengths, problem.caps) if here else MISSING


def local_steps(shard: Shard, given: Given, own: Own) -> Moved | str:
    """Sweep over a shard; keep the steps, and tell what they do."""
    problem = given.of(shard)
    before = duals_of(shard, given, problem, own)
    if isinstance(before, str):
        return MISSING
    betas, w, found = before.copy(), given.w.copy(), np.zeros(4)
    seed = np.array([(own.seed + given.number * STEP) % 2**64], np.uint64)
    order = np.arange(betas.size, dtype=np.uint32)
    shuffle(order, seed)
    sweep(problem, order, w, betas, (-np.inf, np.inf), found)
    steps = betas - before
    kinds = 2 * (problem.signs > 0) + (steps > 0)
    ways = [_way(problem, before, np.where(kinds == kind, steps, 0.0)) for kind in range(WAYS)]
    places = np.flatnonzero(steps).astype(np.uint32)
    places = places[np.argsort(kinds[places], kind="stable")]
    counts = np.bincount(kinds[places], minlength=WAYS)
    made = DualMoves(places, steps[places], counts)
    shard.put("duals", (given.token, given.number + 1), (before, made))
    return Moved(made, ways, float(found[GAP]))


def _way(problem: DualRows, before: np.ndarray, steps: np.ndarray) -> Way:
    """Tell what some steps do."""
    change = np.zeros(problem.columns + 1)
    combine(problem.rows, steps * problem.signs, change)
    used = np.flatnonzero(steps)
    sizes, start, caps = steps[used], before[used], problem.caps[used]
    room = np.where(sizes > 0, caps - start, start) / np.abs(sizes)
    gain = float(problem.targets(slice(None)) @ steps)
    return Way(Difference.of(np.zeros_like(change), change), gain, float(room.min(initial=np.inf)))


class Look(NamedTuple):
    """Sums over a shard for each sign: Σ β, and Σ β·s·x."""

    totals: np.ndarray
    sums: np.ndarray


def sums_of(shard: Shard, given: Given, own: Own) -> Look | str:
    """Add up the rows of each class, by the duals as they are."""
    problem = given.of(shard)
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
    problem = basis.of(shard)

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
    return given.of(shard).caps


def positive_bits(shard: Shard, given: Given, _: None) -> np.ndarray:
    """Give a bit for each row that counts: whether it is positive."""
    return np.packbits(given.of(shard).signs > 0)
