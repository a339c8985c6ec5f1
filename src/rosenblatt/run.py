"""Run: what a training run gives back, and why it ended.

`Stop` holds the sentences that people read; a run carries one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from numbers import Integral

import numpy as np

from rosenblatt.errors import InputError

SEPARABLE = (
    "ask whether anything separates these data: rosenblatt.separate for a hyperplane, "
    "rosenblatt.cheapest_counts for two classes and a kernel."
)


class Stop(StrEnum):
    """Why a run ended, as a full sentence."""

    CONVERGED = "Converged: every example was looked at under the final weights without a mistake."
    PASSES = (
        "Stopped at the limit on passes (max_iter) while mistakes were still being made: "
        f"allow more passes, or {SEPARABLE}"
    )
    UPDATES = (
        "Stopped at the limit on updates (max_updates) while mistakes were still being made: "
        f"allow more, or {SEPARABLE}"
    )
    SECONDS = (
        "Stopped at the limit on time (max_seconds) while mistakes were still being made: "
        f"allow more time, or {SEPARABLE}"
    )
    STALLED = (
        "Stopped since passes gained little any more (patience): the weights jump about and "
        "hardly grow, as where no hyperplane separates the data, or where columns differ wildly "
        "in scale, which scaling mends. To go on all the same, give patience=None; or "
        f"{SEPARABLE}"
    )
    INTERRUPTED = "Interrupted by the user: the weights learned up to then were kept."
    STREAM = "Every example given so far was presented once; give more at any time."


@dataclass(frozen=True)
class Operations:
    """What a run cost (theory D22).

    Attributes
    ----------
    dot_products : looks at examples: one score each, or one for each of more than two classes.
    additions : updates: one row added each, or one added and taken with more than two classes.
    multiply_adds : multiply-adds in all of these, zeros of sparse rows not counted.
    """

    dot_products: int
    additions: int
    multiply_adds: int

    def __add__(self, other: Operations) -> Operations:
        return Operations(
            self.dot_products + other.dot_products,
            self.additions + other.additions,
            self.multiply_adds + other.multiply_adds,
        )


@dataclass(frozen=True, eq=False)
class History:
    """The proof's quantities after each mistake (theory F6), as arrays of equal length.

    Attributes
    ----------
    k : number of the mistake, from 1.
    example : which example it was.
    projection : w·w* with the comparator scaled to norm 1; it grows by at least γ each time.
    sqnorm : ‖w‖²; it grows by at most R² each time (for a learning rate of 1).
    """

    k: np.ndarray
    example: np.ndarray
    projection: np.ndarray
    sqnorm: np.ndarray

    def __post_init__(self) -> None:
        for column in (self.k, self.example, self.projection, self.sqnorm):
            column.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Run:
    """What a training run did.

    Attributes
    ----------
    mistakes : examples answered wrongly or with *I don't know* while learning.
    updates : changes of the weights; equal to `mistakes` for the perceptron.
    passes : passes begun; a pass is as many looks as there are examples.
    mistakes_per_pass : mistakes of each pass.
    counts : updates made on each example: how hard each one was (theory D14). Those of a stream
        are the examples in the order in which they came, in blocks or as single rows, behind those
        of the data set that it goes on from; the sum is `updates`.
    converged : whether the last pass saw every example under one w and made no mistake.
    stop : why the run ended, a `Stop`, which is a sentence.
    seconds : time taken.
    operations : what it cost, as `Operations`.
    history : the proof's quantities at each mistake, if a comparator was given to ``fit``.
    """

    mistakes: int
    updates: int
    passes: int
    mistakes_per_pass: tuple[int, ...]
    counts: np.ndarray = field(repr=False)
    converged: bool
    stop: Stop
    seconds: float
    operations: Operations
    history: History | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    def hardest(self, k: int = 10) -> np.ndarray:
        """Give the k examples with most updates, hardest first, equally hard ones by row.

        Examples without any are left out; ``counts`` tells how often each was learned from.
        """
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 0:
            raise InputError(f"k must be a whole number from 0 on, got {k!r}")
        order = np.argsort(-self.counts.astype(np.int64), kind="stable")[:k]
        return order[self.counts[order] > 0]

    def followed_by(self, later: Run) -> Run:
        """Join this run with one that went on from its weights, with other examples."""
        return replace(
            later,
            mistakes=self.mistakes + later.mistakes,
            updates=self.updates + later.updates,
            passes=self.passes + later.passes,
            mistakes_per_pass=self.mistakes_per_pass + later.mistakes_per_pass,
            counts=np.concatenate([self.counts, later.counts]),
            seconds=self.seconds + later.seconds,
            operations=self.operations + later.operations,
        )
