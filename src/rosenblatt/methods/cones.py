"""Points of a cone: what its three searches share, and the plain perceptron among them.

Problem     find w with a·w > 0 for every row a of A                               (theory D11)
Or else     by Gordan's theorem some λ >= 0 with sum 1 has Aᵀλ = 0                         (D9)
Plain       cyclically, w ← w + a for each unit row a with a·w <= 0; at most 1/γ² steps    (F5)
Relatives   `rescaled`, polynomial in log 1/γ, and `smoothed`, about √(log n) / γ steps   (D13)

Every search works on unit rows, and returns in the coordinates of A as given. A found w is
positive on every row beyond doubt: rounding errors are bounded, and the bounds are subtracted.

Symbols     a row, n rows, d columns, λ weights of the rows, γ = max over unit w of min a·w / ‖a‖.
Sources     Rosenblatt 1958; Block 1962; Novikoff 1962; Gordan 1873.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from rosenblatt.exact.extremes import extremes
from rosenblatt.loops import loop, part
from rosenblatt.matrices import Matrix, as_rows, stored, without_duplicates
from rosenblatt.online.driver import PORTION, UNLIMITED
from rosenblatt.online.perceptron import ALL_ONE, Allowance, mistaken
from rosenblatt.pauses import OutOfTimeError, pause, until
from rosenblatt.rows import Rows, add, combine, dot, fill_squares, size

# Squares of norms that are far from overflow and underflow, and so are products with |w| <= 1.
SAFE_SQUARES = 1e-200, 1e200

# A combination of unit rows that is shorter than this is tested, column by column, for being 0.
NEGLIGIBLE = 1e-13


class SearchLimits(NamedTuple):
    """Where a search ends at the latest; None for no limit."""

    max_steps: int | None = None
    max_seconds: float | None = None


NO_LIMITS = SearchLimits()


class Ending(StrEnum):
    """Why a search ended, as a full sentence."""

    FOUND = "Found: w is on the positive side of every row, whatever rounding does."
    WITNESS = "Gave up: a convex combination of the rows is zero, exactly or up to rounding."
    THIN = "Gave up: the cone, if it is not empty, is too thin for the numbers that are kept."
    STEPS = "Stopped at the limit on steps: allow more of them, or consider that no w may exist."
    SECONDS = "Stopped at the limit on time: allow more of it, or consider that no w may exist."
    INTERRUPTED = "Interrupted by the user: the weights reached up to then were kept."


@dataclass(frozen=True, eq=False)
class Search:
    """What a search gives back.

    Attributes
    ----------
    w : a point of the cone, or None if none was found.
    steps : updates made; a step of `smoothed` is a product with A and one with Aᵀ.
    rescalings : stretches of the space, by `rescaled` only.
    stop : why the search ended, an `Ending`, which is a sentence.
    weights : λ >= 0 with sum 1 and small ‖Aᵀλ‖, the best known; None before the first step.
    """

    w: np.ndarray | None
    steps: int
    rescalings: int
    stop: Ending
    weights: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Cone:
    """The rows, as the searches use them: `scales` times a row has norm 1.

    Rows that are extremely long or short have been multiplied by 2^-exponent, which changes
    neither the cone nor, beyond what `confirm` allows for, any of their digits.
    """

    A: Matrix
    rows: Rows
    scales: np.ndarray
    exponents: np.ndarray
    signs: np.ndarray

    @classmethod
    def of(cls, A: Matrix) -> Cone:
        """Measure the rows; they are not copied unless extreme. A zero row has scale infinity."""
        A = without_duplicates(A)
        n = A.shape[0]
        squares, exponents = row_squares(A), np.zeros(n, np.int64)
        if not np.all((squares > SAFE_SQUARES[0]) & (squares < SAFE_SQUARES[1])):
            A, exponents = balanced(A)
            squares = row_squares(A)
        with np.errstate(divide="ignore"):
            scales = 1 / np.sqrt(squares)
        return cls(A, as_rows(A, 0.0), scales, exponents, np.ones(n, np.int8))

    def origin(self) -> np.ndarray:
        """Give w = 0, with the entry that row primitives keep for lifted rows; it stays 0."""
        return np.zeros(self.A.shape[1] + 1)

    def confirm(self, w: np.ndarray) -> np.ndarray | None:
        """Give w times a power of two, if a·w > 0 for every row beyond doubt, else None."""
        w = np.ldexp(w, -np.frexp(np.abs(w).max())[1])
        smallest = extremes(self.rows, self.signs, ALL_ONE, w).margin
        return w[:-1] if smallest > 0 else None

    def combination(self, lam: np.ndarray) -> np.ndarray:
        """Give Σ λ·a over the unit rows."""
        total = self.origin()
        combine(self.rows, lam * self.scales, total)
        return total[:-1]

    def vanishes(self, lam: np.ndarray) -> bool:
        """Tell whether Σ λ·a = 0, column by column, up to what rounding errors amount to.

        That is about √n of them, since their signs vary; n, a rigorous bound, would hide cones.
        """
        sizes = abs(self.A).T @ (lam * self.scales)
        error = (math.sqrt(np.count_nonzero(lam)) + 4) * 2.0**-52
        return bool(np.all(np.abs(self.combination(lam)) <= error * sizes))

    def original_weights(self, lam: np.ndarray) -> np.ndarray:
        """Turn weights of the unit rows into weights of the rows as given, with sum 1."""
        mantissas, powers = np.frexp(lam * self.scales)
        powers = powers - self.exponents
        weights = np.ldexp(mantissas, powers - powers[lam > 0].max())
        return np.asarray(weights / weights.sum())


def row_squares(A: Matrix) -> np.ndarray:
    """Give ‖a‖² of every row."""
    squares = np.empty(A.shape[0])
    fill_squares(as_rows(A, 0.0), squares)
    return squares


def balanced(A: Matrix) -> tuple[Matrix, np.ndarray]:
    """Give A with the largest entry of each row between 1/2 and 1, and the powers of two."""
    if sparse.issparse(A):
        _, exponents = np.frexp(abs(A).max(axis=1).toarray().ravel())
        values = np.ldexp(A.data, -np.repeat(exponents, np.diff(A.indptr)))
        return sparse.csr_matrix((values, A.indices, A.indptr), A.shape), exponents
    _, exponents = np.frexp(np.abs(A).max(axis=1, initial=0.0))
    return np.ldexp(A, -exponents[:, None]), exponents


class Method(Protocol):
    """A search in progress."""

    cone: Cone
    point: np.ndarray | None
    rescalings: int

    @property
    def steps(self) -> int:
        """Count the updates so far."""

    def advance(self, left: int) -> Ending | None:
        """Work for about 10 ms, with at most `left` steps; STEPS says that one more is needed."""

    def combination_weights(self) -> np.ndarray | None:
        """Give the best weights known of the unit rows, up to a factor; None for none."""


def search(A: Matrix, method: Callable[[Cone], Method], limits: SearchLimits) -> Search:
    """Run a method on the rows of A until it ends or a limit does, whatever comes first."""
    n, d = A.shape
    if n == 0:
        return Search(np.ones(d), 0, 0, Ending.FOUND, None)
    cone = Cone.of(A)
    zero = int(np.argmax(cone.scales))
    if cone.scales[zero] == math.inf:
        return Search(None, 0, 0, Ending.WITNESS, np.eye(1, n, zero)[0])
    running = method(cone)
    try:
        stop = follow(running, limits)
    except KeyboardInterrupt:
        stop = Ending.INTERRUPTED
    lam = running.combination_weights()
    weights = None if lam is None else cone.original_weights(lam)
    found = running.point if stop is Ending.FOUND else None
    return Search(found, running.steps, running.rescalings, stop, weights)


def follow(running: Method, limits: SearchLimits) -> Ending:
    """Advance until there is a reason to end."""
    running.advance(0)  # so that loops are compiled or loaded before the clock starts
    most = UNLIMITED if limits.max_steps is None else limits.max_steps
    ending = None
    try:
        with until(limits.max_seconds):
            while ending is None:
                ending = running.advance(most - running.steps)
                pause()
    except OutOfTimeError:
        return ending or Ending.SECONDS
    return ending


CURSOR, CLEAN, STEPS = range(3)  # places in the tally: next row, looks since the last step, steps


def plain(A: Matrix, limits: SearchLimits = NO_LIMITS) -> Search:
    """Search by the perceptron, over the rows cyclically; forever, if no limit is set and no w is.

    Cyclically, because a step then costs between one and n looks; taking the most violated row
    would always cost n, for the same bound on the steps.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.array([[1.0, 1.0], [1.0, 0.0], [0.1, 1.0], [0.0, -1.0]])).steps
    92
    """
    return search(A, Plain, limits)


class Plain:
    """The perceptron in progress; λ are the counts of updates."""

    rescalings = 0

    def __init__(self, cone: Cone) -> None:
        self.cone = cone
        self.point: np.ndarray | None = None
        self.w = cone.origin()
        self.counts = np.zeros(cone.scales.size)
        self.tally = np.zeros(3, np.int64)
        self.looks = max(256, PORTION * cone.scales.size // max(stored(cone.A), 1))

    @property
    def steps(self) -> int:
        """Count the updates so far."""
        return int(self.tally[STEPS])

    def advance(self, left: int) -> Ending | None:
        """Look at rows for a while."""
        allowance = Allowance(self.looks, left)
        waiting = cycle(
            self.cone.rows, self.cone.scales, self.w, self.counts, self.tally, allowance
        )
        if self.tally[CLEAN] == self.counts.size:
            self.point = self.cone.confirm(self.w)
            return Ending.FOUND if self.point is not None else Ending.THIN
        return Ending.STEPS if waiting else None

    def combination_weights(self) -> np.ndarray | None:
        """Give the counts."""
        return self.counts if self.steps else None


@part
def doubt(terms: int, steps: int | np.int64) -> float:
    """Bound twice the rounding error of a·w for a unit row, since ‖w‖ <= √steps (theory F6)."""
    return (terms + 4) * 2.0**-51 * math.sqrt(steps)


@loop
def cycle(
    rows: Rows,
    scales: np.ndarray,
    w: np.ndarray,
    counts: np.ndarray,
    tally: np.ndarray,
    allowance: Allowance,
) -> bool:
    """Look at rows in turn, learning from those in doubt; tell whether one was left waiting."""
    n, made = scales.size, 0
    for _ in range(allowance.looks):
        if tally[CLEAN] == n:
            break
        i = tally[CURSOR]
        score = scales[i] * dot(rows, i, w) - doubt(size(rows, i), tally[STEPS])
        if mistaken(score):
            if made == allowance.updates:
                return True
            add(rows, i, scales[i], w)
            counts[i] += 1
            made += 1
            tally[STEPS] += 1
            tally[CLEAN] = 0
        else:
            tally[CLEAN] += 1
        tally[CURSOR] = i + 1 if i + 1 < n else 0
    return False
