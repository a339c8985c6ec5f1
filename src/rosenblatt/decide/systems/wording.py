"""The rows and bounds of a system in words, as the file or the caller wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from rosenblatt.certificate_fields import Number, number_text
from rosenblatt.check.subjects import System
from rosenblatt.exact.digest import EQUAL, MORE_THAN

MOST_TERMS = 8  # of a row that is written out
LONGEST = 20  # characters of a number that is written exactly
SIGNS = {EQUAL: ("=", "="), MORE_THAN: (">", "<")}


class Wording(NamedTuple):
    """Names for a system.

    Attributes
    ----------
    unknowns, rows : names of the columns and of the rows; numbers stand where there are none.
    negated : which rows were written as a·w <= b, or < b, and are kept as -a·w >= -b.
    """

    unknowns: Sequence[str] = ()
    rows: Sequence[str] = ()
    negated: np.ndarray | None = None

    def unknown(self, column: int) -> str:
        """Name an unknown."""
        return self.unknowns[column] if self.unknowns else f"x{column}"

    def row(self, place: int) -> str:
        """Name a row."""
        return self.rows[place] if self.rows else f"row {place}"

    def is_negated(self, place: int) -> bool:
        """Tell whether a row was written with <= or <."""
        return self.negated is not None and bool(self.negated[place])

    def bound(self, system: System, column: int, side: int) -> str:
        """Write a bound."""
        end = (system.pairs or [])[column][side]
        assert end is not None
        return f"{self.unknown(column)} {'≤' if side else '≥'} {short(end)}"

    def sign(self, system: System, place: int) -> str:
        """Give the relation of a row, as it was written."""
        return SIGNS.get(system.tags[place], ("≥", "≤"))[self.is_negated(place)]

    def relation(self, system: System, place: int) -> str:
        """Write a row, the middle left out if it is long."""
        *entries, (_, right) = system.row(place)
        sign, relation = -1 if self.is_negated(place) else 1, self.sign(system, place)
        terms = [term(sign * Fraction(value), self.unknown(j)) for j, value in entries if value]
        if len(terms) > MOST_TERMS:
            terms = [*terms[: MOST_TERMS - 1], f"+ … {len(terms) - MOST_TERMS:,} more …", terms[-1]]
        left = " ".join(terms).removeprefix("+ ") or "0"
        return f"{left} {relation} {short(sign * Fraction(right))}"


def term(factor: Fraction, name: str) -> str:
    """Write a signed multiple."""
    size = abs(factor)
    return f"{'-' if factor < 0 else '+'} {'' if size == 1 else short(size) + ' '}{name}"


def short(value: Number) -> str:
    """Write a number as people do: a decimal or a fraction if it is short, else about how large."""
    exact = Fraction(value)
    try:
        rounded = f"{float(exact):.6g}"
    except OverflowError:
        return f"about {Decimal(exact.numerator) / Decimal(exact.denominator):.6g}"
    whole = rounded if Fraction(rounded) == exact else number_text(exact)
    return whole if len(whole) <= LONGEST else f"about {rounded}"


def counted(count: int, noun: str) -> str:
    """Count things, in words that fit one of them too."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
