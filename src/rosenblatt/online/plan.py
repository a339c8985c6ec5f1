"""Which example comes next (theory D4), and the random numbers for it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.lanes import few_numbers, prefetch_entry
from rosenblatt.loops import exact_loop, exact_part, part
from rosenblatt.rows import Rows, locate, prefetch_early, rows_ahead

STEP = np.uint64(0x9E3779B97F4A7C15)  # between the states of the random numbers
AT_ONCE = 512  # draws


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


@exact_part
def mixed(state: Any) -> np.uint64:
    """Give the number of a state, by splitmix64 (Steele, Lea & Flood 2014): the same anywhere."""
    z = np.uint64(state)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@part
def draw(seed: np.ndarray, bound: int) -> np.int64:
    """Draw an integer in [0, bound)."""
    seed[0] += STEP
    # Taking a remainder favours small numbers by less than bound / 2^64.
    return np.int64(mixed(seed[0]) % np.uint64(bound))


# Processors divide integers one by one. Quotients of doubles are rounded, and off by one at most.
@exact_part
def remainder(z: np.uint64, bound: int | np.uint64) -> np.uint64:
    """Give z modulo a bound below 2^32 in steps that are taken several at a time."""
    b, once = np.uint64(bound), 1.0 / np.float64(bound)
    high = z >> np.uint64(32)
    rest = high - np.uint64(np.float64(high) * once) * b
    rest += b if np.int64(rest) < 0 else np.uint64(0)
    z = (rest << np.uint64(32)) + (z & np.uint64(0xFFFFFFFF))
    rest = z - np.uint64(np.float64(z) * once) * b
    rest += b if np.int64(rest) < 0 else np.uint64(0)
    return rest - (b if rest >= b else np.uint64(0))


# A shuffle of 581,012 takes 0.6 ms instead of 1.6 with a division for each.
@exact_loop
def shuffle(sequence: np.ndarray, seed: np.ndarray) -> None:
    """Put the sequence into a uniformly random order (Fisher & Yates)."""
    size, others = sequence.size, few_numbers(AT_ONCE)
    for first in range(0, size - 1, AT_ONCE):
        some = min(AT_ONCE, size - 1 - first)
        for k in range(some):
            state = seed[0] + np.uint64(k + 1) * STEP
            others[k] = remainder(mixed(state), size - first - k)
        for k in range(some):
            t = np.uint64(first + k)
            other = t + others[np.uint64(k)]
            sequence[t], sequence[other] = sequence[other], sequence[t]
        seed[0] += np.uint64(some) * STEP


@part
def upcoming(plan: Plan, cursor: int, n: int) -> np.int64:
    """Give the example at the cursor."""
    if plan.lazy:
        other = cursor + draw(plan.seed, n - cursor)
        first = plan.sequence[other]
        plan.sequence[other] = plan.sequence[cursor]
        plan.sequence[cursor] = first
    return np.int64(plan.sequence[np.uint64(cursor)]) if plan.sequence.size else np.int64(cursor)


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
        locate(rows, np.int64(plan.sequence[np.uint64(later)]))
    if soon < codes.size:
        i = np.int64(plan.sequence[np.uint64(soon)])
        prefetch_early(rows, i)
        prefetch_entry(codes, i)
        prefetch_entry(counts, i)
