"""Rows and bounds of a system, and the multipliers that cancel them, in exact numbers.

Irreducible     Multipliers y > 0 with Σ y·a = 0 belong to a set of rows from which none can be
                dropped exactly if they are, but for a factor, the only ones, of any sign: fewer
                rows are then independent, and no combination of them is zero. Where there are
                others, y less a multiple of these is zero on one more row, and still
                contradicts; so at most as many steps as there are further dimensions remain.
Sources         Gleeson & Ryan 1990
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np

from rosenblatt.certificates import Number
from rosenblatt.check.subjects import System, homogeneous
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.farkas import Contradiction
from rosenblatt.exact import digest
from rosenblatt.exact.digest import EQUAL, MORE_THAN
from rosenblatt.exact.integers import Rationals, whole_rows
from rosenblatt.exact.spans import least_rank, orthogonal

ROW, LOWER, UPPER = "row", "lower", "upper"
TAGS = {LOWER: digest.LOWER, UPPER: digest.UPPER}
Member = tuple[str, int]


class Members:
    """Some rows and bounds (a, b), and all multipliers that cancel a, of any sign.

    Attributes
    ----------
    members, factors : what they are, and the factors that make them rows of integers.
    table, right : the columns a of these rows, and their b.
    """

    def __init__(self, system: System, members: list[Member], clock: Clock) -> None:
        self.members, self.clock = members, clock
        rows, self.factors = whole_rows([_entries(system, m) for m in members], system.columns + 1)
        used = np.setdiff1d(rows.columns, [system.columns])
        self.table = rows.part(np.arange(rows.size), used).transposed()
        self.right = [-value for value in rows.times([0] * system.columns + [1])]
        tags = [system.tags[k] if kind == ROW else None for kind, k in members]
        self.equations, self.strict = ([tag == one for tag in tags] for one in (EQUAL, MORE_THAN))

    @cached_property
    def kernel(self) -> list[list[Fraction]]:
        """Independent multipliers of these rows, which span all that cancel a."""
        found = orthogonal(self.table, self.clock.left)
        return [[Fraction(value) for value in vector] for _, vector in found]

    @cached_property
    def _are_only(self) -> bool:
        """Whether, but for a factor, multipliers that cancel a are the only ones if there are any.

        A prime may hide that they are, which does no harm: other ways lead on from there.
        """
        return least_rank(self.table, self.clock.left) == len(self.members) - 1

    def only(self) -> Contradiction | None:
        """Give the contradiction if, but for a factor, no other multipliers cancel a."""
        if not self._are_only:
            return None
        signed = (z for y in self.kernel for z in (y, [-v for v in y]))
        return next(map(self.contradiction, filter(self.contradicts, signed)), None)

    def irreducible(self, weights: list[Fraction]) -> Contradiction:
        """Give a contradiction of members from which none can be dropped, given one."""
        y = [weight / factor for weight, factor in zip(weights, self.factors, strict=True)]
        kernel = [] if self._are_only else self.kernel
        while len(kernel) > 1:
            other = next(v for v in kernel if not _parallel(y, v))
            opposite = [-value for value in other]
            pairs = (y, other), (y, opposite), (other, y), (opposite, y)
            fewer = [_less(first, second) for first, second in pairs]
            # Where y proves nothing but that a strict row is not strict, others may prove more.
            fewer += [z for z in (other, opposite) if not all(z)]
            y = next(z for z in fewer if z is not None and self.contradicts(z))
            for k, value in enumerate(y):
                kernel = kernel if value else _without_place(kernel, k)
        return self.contradiction(y)

    def contradicts(self, y: list[Fraction]) -> bool:
        """Tell whether multipliers that cancel a are a contradiction."""
        if any(v < 0 and not free for v, free in zip(y, self.equations, strict=True)):
            return False
        total = sum(v * b for v, b in zip(y, self.right, strict=True) if v)
        strict = any(v and strict for v, strict in zip(y, self.strict, strict=True))
        return total > 0 or (total == 0 and strict)

    def contradiction(self, y: list[Fraction]) -> Contradiction:
        """Give multipliers as those of rows and bounds, in whole numbers."""
        triples = zip(self.members, y, self.factors, strict=True)
        left = {member: v * factor for member, v, factor in triples if v}
        scale = _whole(left.values())
        parts = [
            {k: v * scale for (kind, k), v in left.items() if kind == one}
            for one in (ROW, LOWER, UPPER)
        ]
        return Contradiction(*parts)


def _entries(system: System, member: Member) -> list[tuple[int, Number]]:
    """Give (a, -b) of a row or a bound."""
    kind, k = member
    return homogeneous(system.row(k) if kind == ROW else system.bound_row(k, TAGS[kind]))


def _less(first: list[Fraction], second: list[Fraction]) -> list[Fraction] | None:
    """Subtract from one vector as much of another as brings its first number to zero."""
    pairs = list(zip(first, second, strict=True))
    most = min((a / b for a, b in pairs if a * b > 0), default=None)
    return None if most is None else [a - most * b for a, b in pairs]


def _parallel(first: list[Fraction], second: list[Fraction]) -> bool:
    place = next(k for k, value in enumerate(first) if value)
    factor = second[place] / first[place]
    return all(factor * a == b for a, b in zip(first, second, strict=True))


def _without_place(kernel: list[list[Fraction]], k: int) -> list[list[Fraction]]:
    """Give a basis of the vectors of a span that are zero at a place."""
    pivot = next((v for v in kernel if v[k]), None)
    if pivot is None:
        return kernel
    left = []
    for v in kernel:
        if v is not pivot:
            factor = v[k] / pivot[k]
            left.append(
                [a - factor * b if b else a for a, b in zip(v, pivot, strict=True)] if factor else v
            )
    return left


def _whole(values: Iterable[Fraction]) -> Fraction:
    """Give the factor that makes numbers whole, without a common divisor."""
    numbers, common = Rationals.of(values)
    return Fraction(common, math.gcd(*numbers))
