"""One run, however it is fed: as a data set, block by block, or row by row."""

from __future__ import annotations

from array import array
from dataclasses import replace
from functools import reduce

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.examples import Presented
from rosenblatt.learners.base import PlainLearner
from rosenblatt.online.perceptron import LOOKS, MISTAKES, WORK
from rosenblatt.run import Operations, Run, Stop


class Journal:
    """What a learner was shown since its run began, joined into one `Run` when somebody asks.

    A stream costs 8 bytes for each mistake and each block, and nothing for the other examples.

    Attributes
    ----------
    first : the run of a data set, or of a model file, that the stream goes on from.
    latest : the run of the latest block.
    most_at_once : how many examples were given at once, at most.
    tally : the counters behind the latest block.
    looks : LOOKS at each mistake on a single row since then.
    """

    def __init__(self, first: Run | None, tally: np.ndarray) -> None:
        self.first = first
        self.tally = tally.copy()
        self.looks = array("q")
        self.latest: Run | None = None
        # A run of a file may have shown some rows several times.
        self.most_at_once = 0 if first is None or first.stop is Stop.STREAM else first.counts.size
        self._seconds, self._operations = 0.0, Operations(0, 0, 0)
        self._mistakes = array("q")  # of each block
        self.forget_examples()

    def forget_examples(self) -> None:
        """Forget which examples of the blocks were mistaken, as long streams may want to."""
        self._rows, self._missed = 0, array("q")

    def go_on(self, block: Run, before: np.ndarray, after: np.ndarray) -> None:
        """Go on with examples that were presented once each, between these counters."""
        singles = self._singles(before)
        for run in (block,) if singles is None else (singles, block):
            self._add(run)
        self.most_at_once = max(self.most_at_once, block.counts.size)
        self.tally, self.looks = after.copy(), array("q")

    def _add(self, block: Run) -> None:
        self.latest = block
        self._missed.extend((np.flatnonzero(block.counts) + self._rows).tolist())
        self._rows += block.counts.size
        self._mistakes.append(block.mistakes)
        self._seconds += block.seconds
        self._operations += block.operations

    def so_far(self, tally: np.ndarray) -> Run | None:
        """Give the run up to these counters, None if nothing was presented."""
        runs = [run for run in (self.first, self._blocks(), self._singles(tally)) if run]
        return reduce(Run.followed_by, runs) if runs else None

    def _blocks(self) -> Run | None:
        if self.latest is None:
            return None
        mistakes = sum(self._mistakes)
        return replace(
            self.latest,
            mistakes=mistakes,
            updates=mistakes,
            passes=len(self._mistakes),
            mistakes_per_pass=tuple(self._mistakes),
            counts=_counts(self._rows, np.array(self._missed, np.int64)),
            seconds=self._seconds,
            operations=self._operations,
        )

    def _singles(self, tally: np.ndarray) -> Run | None:
        gained = tally - self.tally
        rows, mistakes = int(gained[LOOKS]), int(gained[MISTAKES])
        if not rows:
            return None
        missed = np.array(self.looks, np.int64) - int(self.tally[LOOKS]) - 1
        return Run(
            mistakes=mistakes,
            updates=mistakes,
            passes=1,
            mistakes_per_pass=(mistakes,),
            counts=_counts(rows, missed),
            converged=False,
            stop=Stop.STREAM,
            seconds=0.0,
            operations=Operations(rows, mistakes, int(gained[WORK])),
        )


def _counts(rows: int, missed: np.ndarray) -> np.ndarray:
    counts = np.zeros(rows, np.uint32)
    counts[missed] = 1
    return counts


class StreamLearner(PlainLearner):
    """A learner that goes on learning: blocks and single rows continue its run."""

    _journal: Journal
    _weighted = False  # whether the run so far met weights of examples other than 1

    def _counters(self) -> np.ndarray:
        """Give the counters of `online.perceptron`."""
        raise NotImplementedError

    def _go_on(self, block: Run, tally: np.ndarray) -> None:
        """Go on with a block that ended at these counters; the first one begins the run."""
        if not self._is_fitted():
            self._journal = Journal(None, np.zeros(8))
        before = self._counters() if self._is_fitted() else self._journal.tally
        self._journal.go_on(block, before, tally)

    def _missed_one(self) -> None:
        """Note that the latest single row was a mistake."""
        self._journal.looks.append(int(self._counters()[LOOKS]))

    def _run_so_far(self) -> Run | None:
        with self._lock:
            return self._journal.so_far(self._counters())

    @property
    def run_(self) -> Run:
        """What training did since the last `fit`, or since the first example of a stream."""
        self._check_fitted()
        run = self._run_so_far()
        if run is None:
            raise AttributeError("nothing has been presented to this learner yet")
        return run

    @property
    def n_iter_(self) -> int:
        """The passes of the run."""
        return self.run_.passes

    def _check_presented(self, rows: int) -> None:
        """Refuse part of the rows of a run: a bound speaks of all of them, and may of more."""
        presented = self._journal.most_at_once
        if rows < presented:
            raise InputError(
                f"the run was made on {presented:,} rows, but X has {rows:,}; the bound of a run "
                "needs all examples that were presented"
            )

    def _check_weighted(self, shown: Presented) -> None:
        """Refuse weights that cannot be those of the run, which is what a bound speaks of."""
        if shown.weighted != self._weighted:
            raise InputError(
                "the run was made with weights; give the bound the same sample_weight"
                if self._weighted
                else "the run was made without weights; leave out sample_weight"
            )
