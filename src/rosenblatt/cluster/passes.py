"""One pass over a shard, and what is told of it: the tasks of `mixing`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rosenblatt.cluster.reproducible import ReproducibleSum, Summand
from rosenblatt.cluster.shards import Shard
from rosenblatt.cluster.survey import Labelling
from rosenblatt.exact.extremes import Extremes, spread
from rosenblatt.matrices import as_rows, refuse_unusable
from rosenblatt.online.driver import Training, UnusableRowError
from rosenblatt.online.growth import length_of
from rosenblatt.online.linear_machine import LinearMachine
from rosenblatt.online.perceptron import (
    CLOCK,
    UPDATES,
    Rule,
    State,
    order_of,
)
from rosenblatt.online.plan import Plan, shuffle
from rosenblatt.online.presenter import RowPresenter
from rosenblatt.rows import favoured

STEP = 0x9E3779B97F4A7C15  # between the seeds of shards


class Pass(NamedTuple):
    """What all shards begin a round with; a single one also goes on with the average."""

    number: int
    labelled: Labelling
    rule: Rule
    lift: float
    order: str
    averaging: bool
    w: np.ndarray
    drift: np.ndarray | None  # of a single shard
    tally: np.ndarray

    @property
    def alone(self) -> bool:
        """Whether there is one shard, so that it goes on as one machine does."""
        return self.drift is not None

    def first_drift(self) -> np.ndarray:
        """Give the drift to begin with: among several shards, what was held before is theirs."""
        return State.start(self.w, self.averaging).drift if self.drift is None else self.drift


class Difference(NamedTuple):
    """How an array changed: its new values, at some places or at all (no places)."""

    places: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, before: np.ndarray, after: np.ndarray) -> Difference:
        """Give what is shorter to send."""
        flat = np.asarray(after, order=order_of(before)).ravel(order="K")
        places = np.flatnonzero(flat != before.ravel(order="K"))
        if 3 * places.size > 2 * flat.size:
            return cls(places[:0].astype(np.uint32), flat)
        kind = np.uint32 if flat.size < 2**32 else np.uint64
        return cls(places.astype(kind), flat[places])

    def applied(self, before: np.ndarray) -> np.ndarray:
        """Give the array as it became."""
        after = before.ravel(order="K").copy()
        after[self.places if self.places.size or not self.values.size else slice(None)] = (
            self.values
        )
        return after.reshape(before.shape, order=order_of(before))


@dataclass
class PassEnd(Summand):
    """How a pass over a shard ended.

    Attributes
    ----------
    sum : Σ k·d, of changes d of the weights by k updates, then Σ of what was held, less CLOCK·w.
    tally, missed : what was counted, and the rows that were misclassified (`packed`).
    square : ‖d‖².
    alone : how the weights and the drift of a single shard changed.
    """

    tally: np.ndarray
    missed: np.ndarray
    square: float = 0.0
    alone: tuple[Difference, Difference] | None = None


def packed(rows: np.ndarray, count: int) -> np.ndarray:
    """Give the numbers of some rows or, if that is shorter, a bit for each row."""
    if 32 * rows.size < count:
        return rows.astype(np.uint32)
    marked = np.zeros(count, np.bool_)
    marked[rows] = True
    return np.packbits(marked)


def count_packed(rows: np.ndarray, counts: np.ndarray) -> None:
    """Add one to the counts of packed rows."""
    if rows.dtype == np.uint8:
        counts += np.unpackbits(rows, count=counts.size)
    else:
        counts[rows] += 1


def one_pass(shard: Shard, begin: Pass, seed: int) -> PassEnd:
    """Make one pass over a shard, as one machine does."""
    shown, codes = begin.labelled.of(shard)
    rows = as_rows(shown.X, begin.lift)
    before = begin.first_drift()
    w, drift = (favoured(rows, part.copy(order="K")) for part in (begin.w, before))
    state = State(w, drift, begin.tally.copy(), np.zeros(w.shape[:-1] or 1))
    rule = begin.rule._replace(sample_weight=shown.weights)
    presenter = RowPresenter(rows, codes, rule, state, logging=False)
    training = Training(presenter, begin.order, seed)
    if begin.order == "shuffle":
        training.plan = plan_of(shard, begin, codes.size, seed)
    try:
        training.once()
    except UnusableRowError as unusable:
        refuse_unusable(shown.X, unusable.row, scored=True)
        raise
    if begin.order == "shuffle":
        shard.put("plan", (begin.labelled.token, begin.number), training.plan)
    missed = np.flatnonzero(presenter.counts)
    if shown.places is not None:
        missed = shown.places[missed]
    missed = packed(missed, len(shard.examples))
    if begin.alone:
        changes = Difference.of(begin.w, w), Difference.of(before, drift)
        return PassEnd(None, state.tally, missed, alone=changes)
    total, square = _summed(begin, state)
    return PassEnd(total, state.tally, missed, square)


def _summed(begin: Pass, state: State) -> tuple[ReproducibleSum, float]:
    """Give what is to be added up, and the square of the change."""
    change = np.subtract(state.w, begin.w, order=order_of(begin.w))
    size = begin.w.size
    total = ReproducibleSum(size + state.drift.size)
    updates = int(state.tally[UPDATES] - begin.tally[UPDATES])
    if updates:
        total.add((updates * change).ravel(order="K"))
    if state.drift.size:
        late = np.subtract(state.tally[CLOCK] * change, state.drift, order=order_of(begin.w))
        total.add(late.ravel(order="K"), size)
    return total, length_of(change, 0.0).square


def plan_of(shard: Shard, begin: Pass, rows: int, seed: int) -> Plan:
    """Give the order of the pass before, which is kept, or made again by all shuffles since."""
    key = (begin.labelled.token, begin.number - 1)

    def again() -> Plan:
        plan = Plan(np.arange(rows, dtype=np.uint32), False, False, np.array([seed], np.uint64))
        for _ in range(begin.number - 1):
            shuffle(plan.sequence, plan.seed)
        return plan

    kept: Plan = shard.keep("plan", key, again)
    return kept._replace(sequence=kept.sequence.copy(), seed=kept.seed.copy())


def errors_of(shard: Shard, given: tuple[Labelling, LinearMachine], _: None) -> np.ndarray:
    """Give how many rows of a shard the last and the averaged weights misclassify."""
    labelled, learned = given
    shown, codes = labelled.of(shard)
    return learned.errors(shown.X, codes, shown.weights)


def extremes_of(
    shard: Shard, given: tuple[Labelling, np.ndarray, np.ndarray, float], _: None
) -> Extremes:
    """Give what Theorem 1 wants to know of a shard."""
    labelled, direction, factors, lift = given
    shown, codes = labelled.of(shard)
    targets = codes if direction.ndim == 2 else 2 * codes.astype(np.int8) - np.int8(1)
    return spread(shown.X, targets, direction, lift, shown.times(factors[codes]))
