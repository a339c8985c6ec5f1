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
    "ask whether the data are separable: rosenblatt.separate for a hyperplane, "
    "rosenblatt.cheapest_counts for two classes and a kernel."
)


class Stop(StrEnum):
    """Why a run ended, as a full sentence.

    CONVERGED, at a limit (PASSES, UPDATES, SECONDS), STALLED when the last passes made little
    or no progress (`patience`), INTERRUPTED by Ctrl-C, or at the end of what a
    STREAM has brought so far.
    """

    CONVERGED = "Converged: the final weights classify every example correctly."
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
        "Stopped because the last passes made little or no progress (patience): the weights keep "
        "changing and hardly get better, as they do if no hyperplane separates the data, or if "
        "features differ widely in scale. Scale the features, continue with patience=None, or "
        f"{SEPARABLE}"
    )
    INTERRUPTED = "Interrupted by the user: the weights learned so far were kept."
    STREAM = "Every example was presented once; more can follow at any time."


@dataclass(frozen=True)
class Operations:
    """What a run cost (theory D22).

    Attributes
    ----------
    dot_products : int
        How many examples were scored. With more than two classes each of them takes one dot
        product per class.
    additions : int
        Updates: one addition of a row each; with more than two classes, two.
    multiply_adds : int
        Multiply-adds of all these, not counting the zeros of sparse rows.
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
    k : ndarray of shape (n_mistakes,)
        The number of the mistake, from 1.
    example : ndarray of shape (n_mistakes,)
        The row on which it was made.
    projection : ndarray of shape (n_mistakes,)
        w·w* with the comparator scaled to norm 1; it grows by at least γ each time.
    sqnorm : ndarray of shape (n_mistakes,)
        ‖w‖²; it grows by at most R² each time (for a learning rate of 1).
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
    mistakes : int
        Examples that were misclassified, or scored exactly 0, when they were presented.
    updates : int
        Changes of the weights; equal to `mistakes` for the perceptron.
    passes : int
        Passes (epochs) begun; in each, as many examples are scored as the data set has.
    mistakes_per_pass : tuple of int
        The mistakes of each pass.
    counts : ndarray of shape (n_samples,)
        Updates made on each example: how hard it was (theory D14). The examples of a stream are
        in the order in which they came, after those of the data set that it continues from.
        Empty if they are not known, as those of several passes over a file in blocks.
    converged : bool
        Whether the final weights classify every example correctly.
    stop : Stop
        Why the run ended, as a sentence.
    seconds : float
        The time taken; model files do not keep it, so that it is 0 of a loaded run.
    operations : Operations
        The number of arithmetic operations.
    history : History or None
        The quantities of the proof at each mistake, if ``fit`` was given a comparator.
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
        """Give the examples with most updates, hardest first.

        Parameters
        ----------
        k : int, default=10
            How many at most. Examples without an update are left out.

        Returns
        -------
        ndarray of int
            Row numbers; equally hard examples are in the order of the data.
        """
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 0:
            raise InputError(f"k must be a whole number from 0 on, got {k!r}")
        order = np.argsort(-self.counts.astype(np.int64), kind="stable")[:k]
        return order[self.counts[order] > 0]

    def followed_by(self, later: Run) -> Run:
        """Join this run with one that continued from its weights, with other examples."""
        known = all(run.counts.size or not run.operations.dot_products for run in (self, later))
        return replace(
            later,
            mistakes=self.mistakes + later.mistakes,
            updates=self.updates + later.updates,
            passes=self.passes + later.passes,
            mistakes_per_pass=self.mistakes_per_pass + later.mistakes_per_pass,
            counts=np.concatenate([self.counts, later.counts] if known else [self.counts[:0]]),
            seconds=self.seconds + later.seconds,
            operations=self.operations + later.operations,
        )
