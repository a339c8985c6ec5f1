"""What the readers of linear programs make of a file: rows with two ends, and bounds.

The objective is left out, and numbers that ask for integers are left to be real: a program that has
no solution then has none in integers either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from rosenblatt.certificate_fields import Number
from rosenblatt.data.written import exact_number_of
from rosenblatt.decimals import Written

INFINITE = 10**20  # from here on ends and bounds are infinite, as is usual in these files
INFINITIES = ("inf", "infinity")
NUMBERED = ("UP", "LO", "FX", "LI", "UI", "SC", "SI")  # types of bounds
UNNUMBERED = ("FR", "MI", "PL", "BV")
FEW = 3  # names in a note
INTEGERS = (
    "That {} should be integers is ignored: what has no solution has none in integers either, but "
    "for a solution in integers ask a mixed-integer solver, such as HiGHS."
)
SEMICONTINUOUS = "That {} may be 0 or else above a bound is relaxed: all between is allowed."

Ends = tuple[Number | None, Number | None]


class LinearProgram(NamedTuple):
    """A linear program without its objective.

    Attributes
    ----------
    matrix, written : coefficients of all rows, and those that their floats do not tell.
    ends : the lower and the upper end of each row, None for none.
    unknowns : names and bounds of the columns.
    rows : names of the rows.
    notes : sentences about what was left out, or taken in a way that others do not.
    """

    matrix: Any
    written: Written
    ends: Sequence[Ends]
    unknowns: Unknowns
    rows: Sequence[str]
    notes: tuple[str, ...] = ()


@lru_cache(1 << 16)
def number_or_infinity(text: str) -> Number:
    """Read an end, infinite ones as floats."""
    word = text.lstrip("+-").lower()
    if word in INFINITIES:
        return -math.inf if text.startswith("-") else math.inf
    value = exact_number_of(text)
    return value if -INFINITE < value < INFINITE else math.copysign(math.inf, value)


def is_infinite(value: Number) -> bool:
    """Tell whether an end is infinite."""
    return isinstance(value, float) and math.isinf(value)


def interval(kind: str, right: Number, width: Number | None) -> Ends:
    """Give the ends of a row of type L, G or E, with the width that RANGES says."""
    finite = -INFINITE < right < INFINITE
    lower = right if kind in "GE" and finite else None
    upper = right if kind in "LE" and finite else None
    if width is None or not finite or (kind == "E" and not width):
        return lower, upper
    if kind == "G" or (kind == "E" and width > 0):
        return lower, Fraction(right) + abs(Fraction(width))
    return Fraction(right) - abs(Fraction(width)), upper


class Unknowns:
    """The columns of a program, and their bounds: 0 and infinity, unless a file says else."""

    def __init__(self, names: Iterable[str] = (), integer: Iterable[int] = ()) -> None:
        self.names = list(names)
        self.places = {name: j for j, name in enumerate(self.names)}
        self.lower: list[Number | None] = [0.0] * len(self.names)
        self.upper: list[Number | None] = [None] * len(self.names)
        self.integer = set(integer)
        self.semicontinuous: set[int] = set()
        self.given: tuple[set[int], set[int]] = (set(), set())  # columns with a bound of the file
        self.twice: list[int] = []

    def place(self, name: str) -> int:
        """Give the number of a column, which is added if it is new."""
        j = self.places.setdefault(name, len(self.names))
        if j == len(self.names):
            self.names.append(name)
            self.lower.append(0.0)
            self.upper.append(None)
        return j

    def bound(self, j: int, kind: str, value: Number) -> None:
        """Take a bound of column j, of a type as in MPS files."""
        if kind in ("FR", "MI"):
            value = -math.inf
        if kind in ("LO", "LI", "FX", "FR", "MI", "BV"):
            self.set_lower(j, 0.0 if kind == "BV" else value)
        if kind in ("FR", "PL", "BV"):
            value = 1.0 if kind == "BV" else math.inf
        if kind in ("UP", "UI", "SC", "SI", "FX", "FR", "PL", "BV"):
            self.set_upper(j, value)
        if kind in ("BV", "LI", "UI", "SI"):
            self.integer.add(j)
        if kind in ("SC", "SI"):
            self.semicontinuous.add(j)

    def set_lower(self, j: int, value: Number) -> None:
        """Replace a lower bound."""
        infinite = is_infinite(value)
        if infinite and value > 0:
            raise ValueError(f"the lower bound of {self.names[j][:40]!r} is infinite")
        if j in self.given[0]:
            self.twice.append(j)
        self.given[0].add(j)
        self.lower[j] = None if infinite else value

    def set_upper(self, j: int, value: Number) -> None:
        """Replace an upper bound."""
        infinite = is_infinite(value)
        if infinite and value < 0:
            raise ValueError(f"the upper bound of {self.names[j][:40]!r} is -infinity")
        if j in self.given[1]:
            self.twice.append(j)
        self.given[1].add(j)
        self.upper[j] = None if infinite else value

    def settle(self, negative: bool, binary: bool) -> list[str]:
        """Complete bounds that the file leaves open, and say so.

        With `negative`, a negative upper bound frees the lower one; with `binary`, integers without
        bounds are at most 1.
        """
        lower, upper = self.given
        freed = [j for j in sorted(upper - lower) if negative and (self.upper[j] or 0) < 0]
        for j in freed:
            self.lower[j] = None
        for j in self.integer if binary else ():
            if j not in lower and j not in upper:
                self.upper[j] = 1.0
        for j in self.semicontinuous:
            if (self.lower[j] or 0) > 0:
                self.lower[j] = 0.0
        return [
            *self._told(self.twice, "Of several bounds of {}, the last counts."),
            *self._told(freed, "The upper bound of {} is negative, so it has no lower one."),
            *self._told(self.integer, INTEGERS),
            *self._told(self.semicontinuous, SEMICONTINUOUS),
        ]

    def _told(self, places: Iterable[int], words: str) -> list[str]:
        """Give a sentence about some columns, if there are any."""
        chosen = list(dict.fromkeys(places))
        if not chosen:
            return []
        names = ", ".join(self.names[j] for j in chosen[:FEW])
        more = f" and {len(chosen) - FEW:,} more" if len(chosen) > FEW else ""
        return [words.format(names + more)]
