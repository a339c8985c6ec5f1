"""Perceptrons on shards: iterative parameter mixing.

Round       each shard makes one pass from w, with k mistakes, and ends at w + d; then
            w ← w + κ·Σ μ·d, added up in the order of the shards, with μ = k / Σ k (by updates,
            where a margin asks for more of them) and κ = Σ μ·‖d‖² / ‖Σ μ·d‖², which is 1 if all
            shards say the same and grows as they say different things; never more than their number
Ends        when no shard makes a mistake; at a limit; when rounds make no progress (`growth`)
Guarantee   Σ κ·μ·k over all shards and rounds, the *weighted* mistakes, is at most (R/γ)² if some
            unit w* has leads >= γ: in a round, w·w* grows by κ·η·γ·Σ μ·k at least, and ‖w‖² by
            2κ·w·Σ μ·d + κ²·‖Σ μ·d‖² <= κ·Σ μ·(2·w·d + ‖d‖²) <= κ·η²·R²·Σ μ·k. From there on it is
            the proof of theory F5 (F7 for another start, F15 for many classes). Plain mistakes may
            be more: copies of n orthogonal rows on S shards cost S·n where the bound is n.
Average     of all weights held by all shards, those of round t counted t³ times: a mixture grows
            more slowly than the weights of one machine, so that the first rounds tell least. (The
            exponent is a choice by trial: 2 and 4 differ by less than 0.1 points.)
One shard   is the run of one machine, bit for bit
Sources     McDonald, Hall & Mann 2010; Pierra 1984 (κ, of projections)
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rosenblatt.bounds.theorem import MistakeBound, Runs, theorem_one_of, unit
from rosenblatt.cluster.engine import Engine, Round, RoundFile
from rosenblatt.cluster.passes import (
    STEP,
    Pass,
    PassEnd,
    count_packed,
    errors_of,
    extremes_of,
    one_pass,
)
from rosenblatt.cluster.reproducible import ReproducibleSum
from rosenblatt.cluster.survey import Labelling, Survey
from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.exact.extremes import joined
from rosenblatt.learners.perceptron import Perceptron
from rosenblatt.online.averaging import mean_weights
from rosenblatt.online.growth import Length, keeps_growing, length_of, stalled
from rosenblatt.online.perceptron import (
    ALL_ONE,
    CLOCK,
    LOOKS,
    LOST,
    MISTAKES,
    SEEN,
    UPDATES,
    WORK,
    State,
    order_of,
)
from rosenblatt.run import Operations, Run, Stop

COUNTS = [LOOKS, MISTAKES, WORK, SEEN, UPDATES]  # what passes over shards add up to
MANY_ROWS = 2**27  # beyond which nobody keeps a count for each row


@dataclass(frozen=True, eq=False)
class MixedRun(Run):
    """What a run on a cluster did; a pass is a round, in which every shard makes one.

    Attributes
    ----------
    weighted_mistakes : float
        Σ κ·μ·k over shards and rounds, which Theorem 1 bounds.
    rounds : int
        Rounds: the same as `passes`.
    bound : MistakeBound or None
        The bound on the weighted mistakes by the final weights; None unless the run converged.
    """

    weighted_mistakes: float = 0.0
    rounds: int = 0
    bound: MistakeBound | None = field(default=None, repr=False)


@dataclass(frozen=True)
class RoundProgress:
    """What a watcher is told after a round: `wrong` are mistakes, or the gap of an SVM."""

    rounds: int
    wrong: float
    seconds: float
    round: Round


Watch = Callable[[RoundProgress], None]


class Mixing:
    """A run in progress."""

    def __init__(
        self,
        learner: Perceptron,
        engine: Engine,
        survey: Survey,
        checkpoint: RoundFile | None,
        watch: Watch | None,
    ) -> None:
        self.learner, self.engine, self.survey = learner, engine, survey
        self.checkpoint, self.watch = checkpoint, watch
        self.labelled = Labelling(uuid.uuid4().hex, survey.width, survey.classes)
        self.learned = learner.begin(survey.stand_in(), survey.classes, survey.totals)
        seed = learner.draw_seed()
        self.seeds = [(seed + STEP * k) % 2**64 for k in range(len(survey.shards))]
        self.per_round: list[int] = []  # mistakes
        self.updates: list[int] = []
        self.lengths: list[Length] = []
        self.weighted = 0.0
        counted = survey.rows if survey.rows <= MANY_ROWS else 0
        self.counts = np.zeros(counted, np.uint32)
        self.late: Mixture | None = None  # the last round, as far as the next need not wait for it

    def run(self) -> None:
        """Make round after round; then let the learner hold what was learned."""
        self._go_on_from_checkpoint()
        self.began = time.perf_counter()
        try:
            stop = self._rounds()
        except KeyboardInterrupt:
            if not self.per_round:
                raise
            stop = Stop.INTERRUPTED
        finally:
            self._catch_up()
        self._conclude(stop)

    def _rounds(self) -> Stop:
        while True:
            stop = self._stop() if self.per_round else None
            if stop is not None:
                return stop
            self._round()

    def _stop(self) -> Stop | None:
        """Tell why to stop after this round; the order is that of one machine."""
        learner = self.learner
        if not self.updates[-1]:
            return Stop.CONVERGED
        if learner.max_updates is not None and sum(self.updates) >= learner.max_updates:
            return Stop.UPDATES
        if learner.max_iter is not None and len(self.per_round) >= learner.max_iter:
            return Stop.PASSES
        elapsed = time.perf_counter() - self.began
        if learner.max_seconds is not None and elapsed >= learner.max_seconds:
            return Stop.SECONDS
        patience = learner.passes_without_progress()
        if patience is not None and self._stalled(patience):
            return Stop.STALLED
        return None

    def _stalled(self, patience: int) -> bool:
        """Tell whether rounds make no progress.

        A mixture is slow to get the last rows right, and may long have no round with fewer mistakes
        than before: as long as w grows as it does where something separates the data, it goes on.
        """
        rows, columns = shape = self.survey.rows, self.survey.width
        if not stalled(self.updates, self.lengths, shape, patience):
            return False
        alone, many_columns = len(self.seeds) == 1, columns >= rows
        return alone or many_columns or not keeps_growing(self.lengths, patience)

    # ---- a round

    def _round(self) -> None:
        learned, alone = self.learned, len(self.seeds) == 1
        state, tally = learned.state, learned.state.tally.copy()
        if not alone:  # what was held before is added up here
            tally[CLOCK] = 0.0
        begin = Pass(
            len(self.per_round) + 1,
            self.labelled,
            learned.rule,
            learned.lift,
            self.learner.order,
            bool(state.drift.size),
            state.w,
            state.drift if alone else None,
            tally,
        )
        mixture = Mixture(begin)
        for part in self.engine.map(one_pass, begin, self.seeds, self._catch_up):
            mixture.add(part)
        learned.state = mixture.state(learned.state)
        _refuse_infinite(learned.state.w)
        self.per_round.append(mixture.mistakes)
        self.updates.append(mixture.updates)
        self.weighted += mixture.weighted_mistakes
        self.lengths.append(length_of(learned.state.w, learned.state.tally[LOST]))
        self.late = mixture
        if self.watch is not None and self.engine.latest is not None:
            seconds = time.perf_counter() - self.began
            latest = self.engine.latest
            self.watch(RoundProgress(len(self.per_round), mixture.mistakes, seconds, latest))

    def _catch_up(self) -> None:
        """Do for the last round what the next one need not wait for, while that is under way."""
        late, self.late = self.late, None
        if late is None:
            return
        self.learned.state = late.averaged(self.learned.state)
        _refuse_infinite(self.learned.state.drift)
        if self.counts.size:
            for missed, counts in zip(late.missed, self._counts(), strict=True):
                count_packed(missed, counts)
        if self.checkpoint is not None:
            self._write()

    def _counts(self) -> list[np.ndarray]:
        """Give the counts of the rows of each shard."""
        return np.split(self.counts, self.survey.firsts[1:])

    # ---- the end

    def _conclude(self, stop: Stop) -> None:
        run = self._run(stop)
        if self.learned.output == "auto":
            judged = stop is Stop.STALLED
            self.learned.settle(run, self._errors if judged else None)
        self.learner.take_over(self.learned, self.survey.classes, run, self.survey.stand_in())
        if self.checkpoint is not None and stop is not Stop.INTERRUPTED:
            self.checkpoint.remove()

    def _errors(self) -> np.ndarray:
        found = list(self.engine.map(errors_of, (self.labelled, self.learned)))
        return np.asarray(np.sum(found, axis=0))

    def _run(self, stop: Stop) -> MixedRun:
        tally, mistakes = self.learned.state.tally, sum(self.per_round)
        seconds = time.perf_counter() - self.began
        return MixedRun(
            mistakes=mistakes,
            updates=sum(self.updates),
            passes=len(self.per_round),
            mistakes_per_pass=tuple(self.per_round),
            counts=self.counts,
            converged=stop is Stop.CONVERGED,
            stop=stop,
            seconds=seconds,
            operations=Operations(int(tally[LOOKS]), sum(self.updates), int(tally[WORK])),
            weighted_mistakes=self.weighted,
            rounds=len(self.per_round),
            bound=self._bound() if stop is Stop.CONVERGED else None,
        )

    def _bound(self) -> MistakeBound | None:
        """Bound the weighted mistakes by the final weights, which separate the data."""
        learned, rule = self.learned, self.learned.rule
        plain = not (rule.renormalize or rule.zero_is_positive or rule.margin)
        if not plain or not learned.state.w.any():
            return None
        direction = unit(learned.state.w)
        given = (self.labelled, direction, rule.weights, learned.lift)
        found = joined(list(self.engine.map(extremes_of, given)))
        if not found.margin > 0:  # rounding hides a margin that tiny
            return None
        weighted = self.survey.weighted or bool((rule.weights != 1).any())
        weights = rule.weights if weighted else ALL_ONE
        runs = Runs(learned.lift, learned.start, rule.eta, weights, None)
        bound = theorem_one_of(found, direction, runs)
        if self.weighted > bound.value * (1 + 1e-9):
            raise RosenblattError(
                f"{self.weighted} weighted mistakes are more than the bound {bound.value} allows; "
                "that cannot be: please report it"
            )
        return bound

    # ---- checkpoints

    def _write(self) -> None:
        assert self.checkpoint is not None
        w, drift, tally = self.learned.state[:3]
        lengths = np.array(self.lengths, np.float64).reshape(-1, 2)
        self.checkpoint.write(
            {
                "w": w,
                "drift": drift,
                "tally": tally,
                "per_round": np.array(self.per_round, np.int64),
                "updates": np.array(self.updates, np.int64),
                "lengths": lengths,
                "weighted": np.array([self.weighted]),
                "counts": self.counts,
            }
        )

    def _go_on_from_checkpoint(self) -> None:
        found = None if self.checkpoint is None else self.checkpoint.read()
        if found is None:
            return
        laid = (
            np.ascontiguousarray if self.learned.state.w.flags.c_contiguous else np.asfortranarray
        )
        state = self.learned.state
        w, drift = laid(found["w"]), laid(found["drift"])
        self.learned.state = state._replace(w=w, drift=drift, tally=found["tally"])
        self.per_round, self.updates = found["per_round"].tolist(), found["updates"].tolist()
        self.lengths = [Length(*pair) for pair in found["lengths"].tolist()]
        self.weighted, self.counts = float(found["weighted"][0]), found["counts"].copy()


def _refuse_infinite(weights: np.ndarray) -> None:
    if not np.isfinite(weights).all():
        raise InputError("the weights grew too large for float64; divide X or eta0 by a constant")


class Mixture:
    """The passes of a round, added up."""

    def __init__(self, begin: Pass) -> None:
        self.begin = begin
        self.mistakes = self.updates = self.products = self.passes = 0
        self.sum = ReproducibleSum(0 if begin.alone else begin.w.size + begin.first_drift().size)
        self.tally = np.zeros_like(begin.tally)
        self.lost = self.squares = 0.0
        self.last: PassEnd | None = None
        self.missed: list[np.ndarray] = []  # rows of each shard
        self.earlier: State | None = None  # before the round, if the average is to be made

    def add(self, part: PassEnd) -> None:
        """Add a pass; weights that moved count by its updates."""
        gained = part.tally - self.begin.tally
        mistakes, updates = int(gained[MISTAKES]), int(gained[UPDATES])
        self.last, self.passes = part, self.passes + 1
        self.missed.append(part.missed)
        self.mistakes, self.updates = self.mistakes + mistakes, self.updates + updates
        self.products += updates * mistakes
        self.tally += gained
        self.lost += updates * part.tally[LOST]
        self.squares += updates * part.square
        if part.sum is not None:
            self.sum.add_sum(part.sum)

    def _summed(self, first: int) -> np.ndarray:
        """Give a part of the sum, in the shape of the weights."""
        w = self.begin.w
        values = self.sum.values(slice(first, first + w.size))
        return values.reshape(w.shape, order=order_of(w))

    @cached_property
    def step(self) -> np.ndarray:
        """Σ μ·d."""
        return self._summed(0) / self.updates

    @property
    def stretch(self) -> float:
        """κ: how far to go along the mean of the steps."""
        square = 0.0 if self.begin.alone else length_of(self.step, 0.0).square
        if not square > 0.0:
            return 1.0
        return min(max(1.0, self.squares / self.updates / square), float(self.passes))

    @property
    def weighted_mistakes(self) -> float:
        """Σ κ·μ·k of this round."""
        return self.stretch * self.products / self.updates if self.updates else 0.0

    def state(self, before: State) -> State:
        """Give the state after the round, but for the average; that of one shard is its own."""
        if self.begin.alone:
            assert self.last is not None
            assert self.last.alone is not None
            weights, held = self.last.alone
            return before._replace(
                w=weights.applied(before.w),
                drift=held.applied(before.drift),
                tally=self.last.tally,
            )
        w, tally = before.w, before.tally.copy()
        tally[COUNTS] += self.tally[COUNTS]
        tally[CLOCK] = 0.0
        if self.updates:
            step, far = self.step, self.stretch
            w = before.w + far * step
            # What the mixture is shorter than its parts is lost, too.
            shorter = self.squares / self.updates - far * length_of(step, 0.0).square
            tally[LOST] += far * (self.lost / self.updates - tally[LOST] + shorter)
        self.earlier = before if before.drift.size else None
        return before._replace(w=w, tally=tally)

    def averaged(self, after: State) -> State:
        """Give the drift that stands for the mean: (CLOCK·w - drift) / SEEN, with CLOCK at 0."""
        before = self.earlier
        if before is None:
            return after
        t = self.begin.number
        share = t**3 / sum(k**3 for k in range(1, t + 1))
        held = self._summed(before.w.size) + self.tally[CLOCK] * before.w
        mean = held / self.tally[SEEN]
        earlier = mean_weights(before)
        drift = np.asarray(-after.tally[SEEN] * (earlier + share * (mean - earlier)))
        return after._replace(drift=drift)
