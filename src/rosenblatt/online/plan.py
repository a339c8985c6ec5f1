"""Which example comes next (theory D4), and the random numbers for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.lanes import prefetch_entry
from rosenblatt.loops import loop, part
from rosenblatt.rows import Rows, locate, prefetch_early, rows_ahead


class Plan(NamedTuple):
    """Which example comes next.

    The examples are looked at in the order of `sequence` (of their numbers, if it is empty). After
    a mistake the next one comes first again if `restart`; the rest of the sequence is drawn anew,
    at random and only as far as needed, if `lazy`.
    """

    sequence: np.ndarray
    restart: bool
    lazy: bool
    seed: np.ndarray


@part
def draw(seed: np.ndarray, bound: int) -> np.int64:
    """Draw an integer in [0, bound) by splitmix64 (Steele, Lea & Flood 2014): the same anywhere."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    z = seed[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    # Taking a remainder favours small numbers by less than bound / 2^64.
    return np.int64(z % np.uint64(bound))


@loop
def shuffle(sequence: np.ndarray, seed: np.ndarray) -> None:
    """Put the sequence into a uniformly random order (Fisher & Yates)."""
    for t in range(sequence.size - 1):
        other = t + draw(seed, sequence.size - t)
        sequence[t], sequence[other] = sequence[other], sequence[t]


@part
def upcoming(plan: Plan, cursor: int, n: int) -> np.int64:
    """Give the example at the cursor."""
    if plan.lazy:
        other = cursor + draw(plan.seed, n - cursor)
        first = plan.sequence[other]
        plan.sequence[other] = plan.sequence[cursor]
        plan.sequence[cursor] = first
    return np.int64(plan.sequence[cursor]) if plan.sequence.size else np.int64(cursor)


@part
def rows_early(rows: Rows, plan: Plan) -> int:
    """Give how many places before its turn a row is asked for, 0 for not at all."""
    return rows_ahead(rows) if plan.sequence.size and not plan.lazy else 0


# The classes and counts of rows come from anywhere, too.
@part
def prefetch_later(
    rows: Rows, codes: np.ndarray, counts: np.ndarray, plan: Plan, cursor: int, early: int
) -> None:
    """Ask the memory for the example whose turn comes soon, and where one lies that comes later."""
    soon, later = cursor + early, cursor + 2 * early
    if later < codes.size:
        locate(rows, np.int64(plan.sequence[later]))
    if soon < codes.size:
        i = np.int64(plan.sequence[soon])
        prefetch_early(rows, i)
        prefetch_entry(codes, i)
        prefetch_entry(counts, i)
