"""Sums that come out the same, bit for bit, in any order and in any grouping of their terms.

Problem     floats round when they are added, so that what workers add up would depend on which
            shards each of them has
Method      a float is cut into digits of 46 bits, x = Σ digit · 2^(46·place), each rounded to the
            nearest, so that its digits at a place do not depend on where one begins. Of each
            coordinate, the digits at the highest place that a term reached so far, and those at
            the next one, are added up as whole numbers. Which two places that are depends on the
            terms, not on their order
Precision   of a term, at most 2^-45 of the largest one in its coordinate is lost
Limit       MOST_TERMS, beyond which whole numbers of 64 bits might be too short
Source      Demmel & Nguyen 2015 (reproducible summation)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import exact_loop, exact_part

BITS = 46
MOST_TERMS = 2 ** (63 - BITS)
LOWEST, EMPTY = -21, -22  # places; below the lowest one, 2^-1012 is the smallest unit
NOT_FINITE = 100
HERE = 22  # where the unit of place 0 is
UNITS = 2.0 ** (BITS * np.arange(-HERE, HERE + 1))  # that of -place is its inverse


NOWHERE = np.zeros(0, np.uint32)


class ReproducibleSum:
    """A sum of vectors; what is sent of it are the coordinates that are not empty."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.places = np.full(size, EMPTY, np.int8)
        self.digits = np.zeros((size, 2), np.int64)

    def add(self, terms: np.ndarray, first: int = 0) -> None:
        """Add a vector to the coordinates from the first one on."""
        mine = slice(first, first + terms.size)
        add_terms(terms, self.places[mine], self.digits[mine], UNITS)

    def add_sum(self, other: ReproducibleSum | SentSum) -> None:
        """Add what another sum has added up."""
        used = other.used if isinstance(other, SentSum) else NOWHERE
        add_digits(used, other.places, other.digits, self.places, self.digits)

    def values(self, part: slice = slice(None)) -> np.ndarray:
        """Give the sum, NaN where a term was not finite."""
        places, (high, low) = self.places[part].astype(np.intp), self.digits[part].T
        broken = places == NOT_FINITE
        places[broken] = 0
        np.maximum(places, LOWEST, out=places)
        with np.errstate(over="ignore", invalid="ignore"):
            found = high * UNITS[places + HERE] + low * UNITS[places - 1 + HERE]
        found[broken] = np.nan
        return np.asarray(found)

    def __reduce__(self) -> tuple[Any, ...]:
        used = np.flatnonzero(self.places > EMPTY)
        if 3 * used.size > 2 * self.size:
            return SentSum, (self.size, NOWHERE, self.places, self.digits)
        kind = np.uint32 if self.size < 2**32 else np.uint64
        return SentSum, (self.size, used.astype(kind), self.places[used], self.digits[used])


class SentSum(NamedTuple):
    """A sum as it was sent: some coordinates of it, or all of them (none in `used`)."""

    size: int
    used: np.ndarray
    places: np.ndarray
    digits: np.ndarray


@dataclass
class Summand:
    """What a shard tells, with a vector that is added up over all shards.

    Of the shards that a worker has, one has the sum; the others have None.
    """

    sum: ReproducibleSum | SentSum | None

    def take_over(self, earlier: Summand) -> None:
        """Add what an earlier shard has to add up, which then has nothing."""
        if isinstance(self.sum, ReproducibleSum) and earlier.sum is not None:
            self.sum.add_sum(earlier.sum)
            earlier.sum = None


def added_up(parts: Iterable[Summand]) -> np.ndarray:
    """Give the sum of all shards."""
    total: ReproducibleSum | None = None
    for part in parts:
        if part.sum is not None:
            total = total or ReproducibleSum(part.sum.size)
            total.add_sum(part.sum)
    assert total is not None
    return total.values()


@exact_part
def raise_to(place: int, places: np.ndarray, digits: np.ndarray, j: int) -> int:
    """Let a coordinate have digits from a place on; tell how far below its own that place is."""
    up = place - int(places[j])
    if up <= 0:
        return -up
    digits[j, 1] = digits[j, 0] if up == 1 else 0
    digits[j, 0] = 0
    places[j] = place
    return 0


@exact_loop
def add_terms(terms: np.ndarray, places: np.ndarray, digits: np.ndarray, units: np.ndarray) -> None:
    """Add floats, one to each coordinate."""
    for j in range(terms.size):
        x = terms[j]
        if x == 0.0:
            continue
        if not math.isfinite(x):
            raise_to(NOT_FINITE, places, digits, j)
            continue
        place = max((math.frexp(x)[1] + 1) // BITS, LOWEST)
        below = raise_to(place, places, digits, j)
        if below == 0:
            digit = np.rint(x * units[HERE - place])
            digits[j, 0] += np.int64(digit)
            x -= digit * units[HERE + place]
            place -= 1
        if below <= 1:
            digits[j, 1] += np.int64(np.rint(x * units[HERE - place]))


@exact_loop
def add_digits(
    used: np.ndarray,
    other_places: np.ndarray,
    other_digits: np.ndarray,
    places: np.ndarray,
    digits: np.ndarray,
) -> None:
    """Add the digits of one sum, of some coordinates or of all, to those of another."""
    for k in range(other_places.size):
        j = int(used[k]) if used.size else k
        below = raise_to(int(other_places[k]), places, digits, j)
        if below == 0:
            digits[j, 0] += other_digits[k, 0]
            digits[j, 1] += other_digits[k, 1]
        elif below == 1:
            digits[j, 1] += other_digits[k, 0]
