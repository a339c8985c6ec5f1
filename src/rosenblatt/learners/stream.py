"""Learners from mistakes: one run, however it is fed, as a data set, in blocks, or row by row.

`StreamLearner` is what the perceptron and the kernel perceptron share: limits and kinds of output,
blocks that are presented once, classes and columns that appear on the way, and the run so far.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Hashable
from dataclasses import replace
from functools import cache, reduce
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np

from rosenblatt import options
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples, Presented
from rosenblatt.labels import as_label, as_labels, joint_classes
from rosenblatt.learners.base import Learner, in_turn
from rosenblatt.learners.one_row import RowReader
from rosenblatt.matrices import Matrix, as_matrix, check_finite, radius
from rosenblatt.online.driver import ORDERS, Progress, Watch
from rosenblatt.online.linear_machine import OneRow
from rosenblatt.online.perceptron import LOOKS, MISTAKES, PLACES, UPDATES, WORK
from rosenblatt.run import Operations, Run, Stop

OUTPUTS = ("auto", "last", "averaged", "voted")
LIMITED = (Stop.PASSES, Stop.UPDATES, Stop.SECONDS)


class Shown:
    """What a learner was shown since its run began, joined into one `Run` when somebody asks.

    A stream costs 8 bytes for each update and 16 for each block, and nothing for other examples.

    Attributes
    ----------
    first : the run of a data set, or of a model file, that the stream goes on from.
    latest : the run of the latest block.
    most_at_once : how many examples were given at once, at most.
    tally : the counters behind the latest block.
    looks : LOOKS at each update on a single row since then.
    """

    def __init__(self, first: Run | None, tally: np.ndarray) -> None:
        self.first = first
        self.tally = tally.copy()
        self.looks = array("q")
        self.latest: Run | None = None
        # A run of a file may have shown some rows several times.
        self.most_at_once = 0 if first is None or first.stop is Stop.STREAM else first.counts.size
        self._seconds, self._operations = 0.0, Operations(0, 0, 0)
        self._mistakes, self._updates = array("q"), array("q")  # of each block
        self.forget_examples()

    def forget_examples(self) -> None:
        """Forget which examples of the blocks were learned, as long streams may want to."""
        self._rows, self._learned = 0, array("q")

    def go_on(self, block: Run, before: np.ndarray, after: np.ndarray) -> None:
        """Go on with examples that were presented once each, between these counters."""
        singles = self._singles(before)
        for run in (block,) if singles is None else (singles, block):
            self._add(run)
        self.most_at_once = max(self.most_at_once, block.counts.size)
        self.tally, self.looks = after.copy(), array("q")

    def _add(self, block: Run) -> None:
        self.latest = block
        self._learned.extend((np.flatnonzero(block.counts) + self._rows).tolist())
        self._rows += block.counts.size
        self._mistakes.append(block.mistakes)
        self._updates.append(block.updates)
        self._seconds += block.seconds
        self._operations += block.operations

    def so_far(self, tally: np.ndarray) -> Run | None:
        """Give the run up to these counters, None if nothing was presented."""
        runs = [run for run in (self.first, self._blocks(), self._singles(tally)) if run]
        return reduce(Run.followed_by, runs) if runs else None

    def _blocks(self) -> Run | None:
        if self.latest is None:
            return None
        mistakes, updates = sum(self._mistakes), sum(self._updates)
        return replace(
            self.latest,
            mistakes=mistakes,
            updates=updates,
            passes=len(self._mistakes),
            mistakes_per_pass=tuple(self._mistakes),
            counts=_counts(self._rows, np.array(self._learned, np.int64)),
            seconds=self._seconds,
            operations=self._operations,
        )

    def _singles(self, tally: np.ndarray) -> Run | None:
        if tally[LOOKS] == self.tally[LOOKS]:
            return None
        gained = tally - self.tally
        rows, mistakes, updates = (int(gained[place]) for place in (LOOKS, MISTAKES, UPDATES))
        learned = np.array(self.looks, np.int64) - int(self.tally[LOOKS]) - 1
        return Run(
            mistakes=mistakes,
            updates=updates,
            passes=1,
            mistakes_per_pass=(mistakes,),
            counts=_counts(rows, learned),
            converged=False,
            stop=Stop.STREAM,
            seconds=0.0,
            operations=Operations(rows, updates, int(gained[WORK])),
        )


def _counts(rows: int, learned: np.ndarray) -> np.ndarray:
    counts = np.zeros(rows, np.uint32)
    counts[learned] = 1
    return counts


class Met(NamedTuple):
    """A single row with its label: what is new about it, and the classes known with it."""

    reader: RowReader
    row: OneRow
    width: int
    names: list[str]
    labels: np.ndarray
    classes: np.ndarray


class StreamLearner(Learner):
    """A learner from mistakes, which goes on learning: blocks and single rows continue its run.

    What was learned lies in `_learned`. A learner has the methods of the section "what differs".
    """

    order: str
    fit_intercept: bool
    intercept: str | None
    lift: float | str
    output: str
    max_iter: int | None
    max_updates: int | None
    max_seconds: float | None
    random_state: Any
    verbose: int
    _learned: Any
    _journal: Shown
    _weighted = False  # whether the run so far met weights of examples other than 1

    # ---- what differs

    def _counters(self) -> np.ndarray:
        """Give the counters of `online.perceptron`."""
        raise NotImplementedError

    def _begin(self, X: Matrix, classes: np.ndarray, output: str) -> Any:
        """Begin a stream of rows like these."""
        raise NotImplementedError

    def _prepared(self, width: int, classes: np.ndarray, labels: np.ndarray) -> Any:
        """Give what was learned as it is for more columns, and for more classes."""
        raise NotImplementedError

    def _present_once(self, learned: Any, shown: Presented, classes: np.ndarray) -> Run:
        """Present each example once, in the order given."""
        raise NotImplementedError

    def _keep(self, learned: Any, classes: np.ndarray) -> None:
        """Make this what was learned."""
        raise NotImplementedError

    def learn_one(self, x: Any, y: Hashable, sample_weight: float | None = None) -> bool:
        """Predict one example, then learn its label.

        A learner that was not fitted takes features and classes as they come. Several threads may
        call this: they take turns.

        Parameters
        ----------
        x : dict, pair of arrays, array-like or sparse row
            One example: a dict from column (number or name) to value, a pair (columns, values), an
            array or a sparse row.
        y : label
            Its label.
        sample_weight : float or None, default=None
            A factor of the update; an example of weight 0 is left out, and is no mistake.

        Returns
        -------
        bool
            Whether the prediction was a mistake.
        """
        raise NotImplementedError

    # ---- options

    def check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or learned."""
        options.one_of("order", self.order, ORDERS)
        options.one_of("output", self.output, OUTPUTS)
        if isinstance(self.lift, str):
            options.one_of("lift", self.lift, ["radius"])
        else:
            options.positive("lift", self.lift)
        options.lifts(self.fit_intercept, self.intercept)
        options.limit("max_iter", self.max_iter)
        options.limit("max_updates", self.max_updates)
        if self.max_seconds is not None:
            options.positive("max_seconds", self.max_seconds)
        options.check_random_state(self.random_state)

    def _check_stream(self, classes: np.ndarray) -> None:
        """Refuse options that would need to know beforehand what a stream is going to bring."""
        self.check_options()
        if self.lift == "radius" and self._lifts():
            raise InputError(
                "lift='radius' needs all rows beforehand; give a number to learn from a stream"
            )

    def _lifts(self) -> bool:
        return options.lifts(self.fit_intercept, self.intercept)

    def _lift_of(self, X: Matrix) -> float:
        """Give the constant of the added coordinate, 0 for none."""
        if not self._lifts():
            return 0.0
        if not isinstance(self.lift, str):
            return float(self.lift)
        check_finite(X)
        largest = radius(X)
        if not np.isfinite(largest):
            raise InputError("the radius of X is too large for float64; divide X by a constant")
        return largest or 1.0

    def draw_seed(self) -> int:
        """Draw the seed of a run."""
        return options.seed(self.random_state)

    def _stream_output(self) -> str:
        """Give the output of a stream, which has no end at which to choose one (theory D1)."""
        return "last" if self.output == "auto" else self.output

    # ---- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, comparator: Any = None) -> Self:
        """Train on a data set, from the start (or from the last weights, with `warm_start`).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The examples; float arrays in C order and CSR matrices are used without a copy.
        y : array-like of shape (n_samples,)
            The labels of two or more classes, of any hashable type.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A factor of the update on each example, times that of its class (theory F16). Examples
            of weight 0 are left out.
        comparator : array-like or None, default=None
            A vector w* with which ``run_.history`` records w·w* and ‖w‖² at each mistake (F6), as
            in `bound`. Not for kernels.

        Returns
        -------
        self : learner
            The learner itself.
        """
        watch = _print_progress if self.verbose else None
        self.train(X, y, sample_weight, comparator=comparator, watch=watch)
        self.warn()
        return self

    def train(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        comparator: Any = None,
        watch: Watch | None = None,
    ) -> Self:
        """Learn as `fit` does, without a warning at the end; `watch` is told of the progress."""
        raise NotImplementedError

    def complaint(self) -> str | None:
        """Say that a limit that nobody set ended the run, or that it left weights that change.

        Averages and votes are made to be stopped: where a limit was set for them, it was the
        intention. A run that stalled has been judged, and is answered by averages unless others
        were asked for.
        """
        stop = self.run_.stop
        if stop is Stop.CONVERGED:
            return None
        default = _default_of(type(self), "max_iter")  # type: ignore[arg-type]  # can be hashed
        unasked = stop is Stop.PASSES and self.max_iter == default
        unsettled = stop in LIMITED and self.output in ("auto", "last")
        idle = stop is Stop.STALLED and self.output == "last"
        return str(stop) if unasked or unsettled or idle else None

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Present new examples once, in the order given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The new examples.
        y : array-like of shape (n_samples,)
            Their labels; new classes may appear at any time.
        classes : array-like or None, default=None
            All labels, if they are known beforehand. From the third class on, that may change what
            is learned: a class that is not known yet cannot be the best wrong one.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A factor of the update on each example; those of weight 0 are left out.

        Returns
        -------
        self : learner
            The learner itself.
        """
        return self._present(X, y, classes, sample_weight, output=self._stream_output())

    @in_turn
    def _present(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, output: str) -> Self:
        """Present examples once; those that come first begin with this kind of output."""
        first = not self.is_fitted
        new = [] if first else self._reader.new_names(X)
        matrix = as_matrix(X) if first else self._take(X, new)
        shown = Presented.of(matrix, as_labels(y, matrix.shape[0]), sample_weight)
        if not shown.labels.size:
            return self
        known = joint_classes(shown.labels, classes, None if first else self.classes_)
        if first:
            self._check_stream(known)
            learned = self._begin(shown.X, known, output)
        else:
            learned = self._prepared(matrix.shape[1], known, shown.labels).copied()
        run = self._present_once(learned, shown, known)
        if first:
            self._adopt_columns(X, matrix)
        self._go_on(learned, known, run)
        self._weighted |= shown.weighted
        self._adopt_names(new)
        return self

    def _met(self, x: Any, label: Hashable) -> Met:
        """Read a row whose label or names may be new.

        The row comes first: one that cannot be used must not teach a class.
        """
        begins = not self.is_fitted or self._reader.undecided
        reader = RowReader.of_stream(x) if begins else self._reader
        row, names = reader.meet(x)
        width = reader.check(row, names)
        labels = as_label(label)
        known = joint_classes(labels, None, self.classes_ if self.is_fitted else None)
        return Met(reader, row, width, names, labels, known)

    # ---- one run

    @property
    def is_fitted(self) -> bool:
        """Whether the learner has seen examples."""
        return hasattr(self, "_learned")

    def _hold(self, learned: Any, classes: np.ndarray, run: Run | None) -> None:
        """Take over what a run learned; until here, nothing of the learner has changed."""
        self._keep(learned, classes)
        self._journal = Shown(run, self._counters())

    def _go_on(self, learned: Any, classes: np.ndarray, block: Run) -> None:
        """Take over what a block of a stream taught; the first one begins the run."""
        if not self.is_fitted:
            self._journal = Shown(None, np.zeros(PLACES))
        before = self._counters() if self.is_fitted else self._journal.tally
        self._keep(learned, classes)
        self._journal.go_on(block, before, self._counters())

    def _learned_one(self) -> None:
        """Note that the latest single row made an update."""
        self._journal.looks.append(int(self._counters()[LOOKS]))

    def run_so_far(self) -> Run | None:
        """Give the run up to now, None if nothing was presented."""
        with self._lock:
            return self._journal.so_far(self._counters())

    @property
    def run_(self) -> Run:
        """What training did since the last `fit`, or since the first example of a stream."""
        self.check_fitted()
        run = self.run_so_far()
        if run is None:
            raise AttributeError("nothing has been presented to this learner yet")
        return run

    @property
    def n_iter_(self) -> int:
        """The passes of the run."""
        return self.run_.passes

    @property
    def mistakes_so_far(self) -> int:
        """The mistakes since the learner began, at the cost of a look at a counter."""
        return int(self._counters()[MISTAKES]) if self.is_fitted else 0

    @property
    def updates_so_far(self) -> int:
        """The updates since the learner began."""
        return int(self._counters()[UPDATES]) if self.is_fitted else 0

    def take_counts(self) -> np.ndarray:
        """Give the updates on examples of the latest block, and forget those of all blocks."""
        latest = self._journal.latest
        assert latest is not None
        self._journal.forget_examples()
        return latest.counts

    def present_block(self, block: Examples) -> None:
        """Present a block of a stream; columns without names may grow from block to block."""
        first = not self.is_fitted
        self._present(block.X, block.y, None, block.weights, output=self.output)
        if first and self.columns_ is None:
            self._reader = RowReader(None)

    def close_columns(self) -> None:
        """Let the columns be those known now, as at the end of a stream."""
        self._reader = RowReader(self.n_features_in_, getattr(self, "feature_names_in_", None))

    # ---- what a bound of the run speaks of

    def _presented_again(self, matrix: Matrix, y: Any, sample_weight: Any) -> Presented:
        """Take the examples of the run once more; refuse a part of them, and other weights."""
        rows, presented = matrix.shape[0], self._journal.most_at_once
        if rows < presented:
            raise InputError(
                f"the run was made on {presented:,} rows, but X has {rows:,}; the bound of a run "
                "needs all examples that were presented"
            )
        shown = Presented.of(matrix, as_labels(y, rows), sample_weight)
        if shown.weighted != self._weighted:
            raise InputError(
                "the run was made with weights; give the bound the same sample_weight"
                if self._weighted
                else "the run was made without weights; leave out sample_weight"
            )
        return shown


@cache
def _default_of(kind: type, option: str) -> Any:
    return signature(kind).parameters[option].default


def _print_progress(progress: Progress) -> None:
    print(
        f"pass {progress.passes}: {progress.mistakes} mistakes so far, {progress.seconds:.1f} s",
        file=sys.stderr,
    )
