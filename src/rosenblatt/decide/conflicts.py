"""Rows and bounds of a system that contradict each other, and none of which can be dropped.

Irreducible     Multipliers y > 0 with Σ y·a = 0 belong to a set of rows from which none can be
                dropped exactly if they are, but for a factor, the only ones, of any sign: fewer
                rows are then independent, and no combination of them is zero. Where there are
                others, y less a multiple of these is zero on one more row, and still
                contradicts; so at most as many steps as there are further dimensions remain.
Small           The rows that HiGHS names are tried beside those of the proof, and what is left of
                them may be fewer.
Sources         Gleeson & Ryan 1990; Chinneck 2008
"""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import highspy
import numpy as np

from rosenblatt.certificates import Infeasible, Number
from rosenblatt.check.subjects import System
from rosenblatt.decide.answers import Clock, OutOfTimeError
from rosenblatt.decide.farkas import Contradiction, ElasticSystem
from rosenblatt.decide.feasibility import point_or_contradiction
from rosenblatt.decide.floats import FloatProgram, run
from rosenblatt.decide.wording import Wording, counted, short
from rosenblatt.exact.digest import EQUAL, MORE_THAN
from rosenblatt.exact.integers import whole_rows
from rosenblatt.exact.programs import Program
from rosenblatt.exact.spans import orthogonal

ROW, LOWER, UPPER = "row", "lower", "upper"
Member = tuple[str, int]
IRREDUCIBLE = 6  # of HiGHS: find rows by an elastic program, then drop all that can be
SOLVER_SECONDS = 10.0  # that HiGHS may take for it
AT_LOWER_END, AT_UPPER_END, AT_BOTH = (
    highspy.IisBoundStatus.kIisBoundStatusLower.value,
    highspy.IisBoundStatus.kIisBoundStatusUpper.value,
    highspy.IisBoundStatus.kIisBoundStatusBoxed.value,
)


@dataclass(frozen=True)
class Conflict:
    """Rows and bounds that contradict each other; without any one of them, they do not.

    Attributes
    ----------
    rows : ndarray of int
        The rows.
    bounds : tuple of (int, {"lower", "upper"})
        The bounds, by column and side.
    names : tuple of str
        The rows by name, and the bounds as they are written.
    certificate : Infeasible
        The multipliers that prove the contradiction, for `verify` on the whole system.
    lines : tuple of str
        The rows and bounds, written out.
    total : str
        The sum of the multiplied rows and bounds, and what it says.
    """

    rows: np.ndarray
    bounds: tuple[tuple[int, str], ...]
    names: tuple[str, ...]
    certificate: Infeasible
    lines: tuple[str, ...] = field(repr=False, default=())
    total: str = field(repr=False, default="")

    @property
    def size(self) -> int:
        """The number of rows and bounds."""
        return self.rows.size + len(self.bounds)

    def explain(self) -> str:
        """Write the contradiction as arithmetic.

        Returns
        -------
        str
            The rows and bounds, a line each, and what their sum says.
        """
        parts = [counted(self.rows.size, "row")] * bool(self.rows.size)
        parts += [counted(len(self.bounds), "bound")] * bool(self.bounds)
        begin = (
            f"{' and '.join(parts)} cannot hold together; without any one of them, the others can:"
        )
        return "\n".join([begin, *(f"  {line}" for line in self.lines), self.total])

    def __str__(self) -> str:
        return self.explain()


class Conflicts:
    """The search for conflicts of one system that has no solution."""

    def __init__(self, system: System, wording: Wording, clock: Clock) -> None:
        self.system, self.wording, self.clock = system, wording, clock

    def first(self, proof: Infeasible, kept: set[int]) -> Conflict:
        """Give a conflict, with rows to keep only if there is none without them."""
        sides = (proof.rows, proof.weights), proof.lower, proof.upper
        given = Contradiction(*(_exact(*side) for side in sides))
        if kept.intersection(given.rows):
            return self._conflict(self._sparing(kept, given))
        return self._conflict(self._smallest(given, kept))

    def several(self, first: Conflict, limit: int) -> Iterator[Conflict]:
        """Give conflicts, each of rows and bounds of its own while there are such."""
        seen, taken = {_members(first)}, set(_members(first))
        found: list[Conflict] = [first]
        yield first
        while len(found) < limit and (more := self._without(frozenset(taken))) is not None:
            found.append(more)
            seen.add(_members(more))
            taken |= _members(more)
            yield more
        dropped = deque(frozenset({member}) for one in found for member in sorted(_members(one)))
        tried: set[frozenset[Member]] = set()
        while dropped and len(found) < limit:
            without = dropped.popleft()
            if without in tried:
                continue
            tried.add(without)
            more = self._without(without)
            if more is None:
                continue
            dropped.extend(without | {member} for member in sorted(_members(more)))
            if _members(more) not in seen:
                found.append(more)
                seen.add(_members(more))
                yield more

    def _without(self, dropped: frozenset[Member]) -> Conflict | None:
        """Give a conflict without some rows and bounds, None if there is none."""
        rows = [i for i in range(self.system.tags.size) if (ROW, i) not in dropped]
        found = self._decided(np.array(rows, np.int64), dropped)
        return None if found is None else self._conflict(found)

    def _decided(
        self, rows: np.ndarray, dropped: frozenset[Member] = frozenset()
    ) -> Contradiction | None:
        """Give a contradiction between some rows and those bounds that are not dropped."""
        system = copy.copy(self.system)
        if dropped and system.pairs is not None:
            system.pairs = [
                tuple(
                    None if (side, j) in dropped else end
                    for side, end in zip((LOWER, UPPER), pair, strict=True)
                )  # type: ignore[misc]
                for j, pair in enumerate(system.pairs)
            ]
        found = point_or_contradiction(system, rows, self.clock)
        return found if isinstance(found, Contradiction) else None

    # ---- few rows

    def _sparing(self, kept: set[int], given: Contradiction) -> Contradiction:
        """Give a contradiction with rows to keep only where it cannot be had without them."""
        free = [i for i in range(self.system.tags.size) if i not in kept]
        found = self._decided(np.array(free, np.int64)) or given
        for i in sorted(kept.intersection(found.rows)):
            needed = kept.intersection(found.rows) - {i}
            if i in found.rows:
                found = self._decided(np.array(sorted({*free, *needed}), np.int64)) or found
        return found

    def _smallest(self, given: Contradiction, kept: set[int]) -> Contradiction:
        """Give the smaller of what is left of the proof, and of what HiGHS names."""
        ours = self._irreducible(given)
        named = None if kept else self._named_by_solver()
        if named is None:
            return ours
        theirs = self._irreducible(named)
        return min(theirs, ours, key=_size)

    def _named_by_solver(self) -> Contradiction | None:
        """Give a contradiction between the rows and bounds that HiGHS names, if it does."""
        elastic = ElasticSystem(self.system, np.arange(self.system.tags.size))
        nothing = [0] * elastic.width
        floats = FloatProgram(Program(elastic.A, nothing, elastic.row_ends, elastic.bounds))
        floats.solver.setOptionValue("iis_strategy", IRREDUCIBLE)
        try:
            _, found = run(floats.solver, min(self.clock.left(), SOLVER_SECONDS), "getIis")
        except OutOfTimeError:
            self.clock.left()
            return None
        if not found.valid_ or not (len(found.row_index_) or len(found.col_index_)):
            return None
        states = dict(zip(found.col_index_, found.col_bound_, strict=True))
        used = {(LOWER, j) for j, s in states.items() if s in (AT_LOWER_END, AT_BOTH)}
        used |= {(UPPER, j) for j, s in states.items() if s in (AT_UPPER_END, AT_BOTH)}
        bounds = {(side, j) for side in (LOWER, UPPER) for j in range(elastic.width)}
        return self._decided(np.array(sorted(found.row_index_), np.int64), frozenset(bounds - used))

    def _irreducible(self, given: Contradiction) -> Contradiction:
        """Take rows and bounds out of a contradiction as long as one can be dropped."""
        members = [*((ROW, i) for i in given.rows), *((LOWER, j) for j in given.lower)]
        members += [(UPPER, j) for j in given.upper]
        rows, factors = whole_rows(map(self._entries, members), self.system.columns + 1)
        used = np.setdiff1d(rows.columns, [self.system.columns])
        kernel = orthogonal(rows.part(np.arange(rows.size), used).transposed(), self.clock.left)
        others = [[Fraction(v) for v in vector] for _, vector in kernel]
        weights = [*given.rows.values(), *given.lower.values(), *given.upper.values()]
        kinds = _Kinds(
            [self._is_equation(member) for member in members],
            [self._is_strict(member) for member in members],
            [Fraction(-v) for v in rows.times([0] * self.system.columns + [1])],
        )
        y = kinds.irreducible([w / f for w, f in zip(weights, factors, strict=True)], others)
        left = {m: v * f for m, v, f in zip(members, y, factors, strict=True) if v}
        scale = _whole(left.values())
        parts = [
            {j: v * scale for (kind, j), v in left.items() if kind == one}
            for one in (ROW, LOWER, UPPER)
        ]
        return Contradiction(*parts)

    def _entries(self, member: Member) -> list[tuple[int, int | float | Fraction]]:
        """Give (a, -b) of a row or a bound."""
        kind, k = member
        if kind == ROW:
            *entries, (last, right) = self.system.row(k)
        elif kind == LOWER:
            ((*entries, (last, right)),) = self.system.lower_bounds([k])
        else:
            ((*entries, (last, right)),) = self.system.upper_bounds([k])
        return [*entries, (last, -right)]

    def _is_equation(self, member: Member) -> bool:
        return member[0] == ROW and self.system.tags[member[1]] == EQUAL

    def _is_strict(self, member: Member) -> bool:
        return member[0] == ROW and self.system.tags[member[1]] == MORE_THAN

    # ---- answers

    def _conflict(self, found: Contradiction) -> Conflict:
        found = self._irreducible(found)
        bounds = [*((j, LOWER) for j in sorted(found.lower))]
        bounds += [(j, UPPER) for j in sorted(found.upper)]
        rows = sorted(found.rows)
        written = [self.wording.bound(self.system, j, int(side == UPPER)) for j, side in bounds]
        names = [self.wording.row(i) for i in rows]
        lines = [
            f"{name}: {self.wording.relation(self.system, i)}"
            for name, i in zip(names, rows, strict=True)
        ]
        return Conflict(
            np.array(rows, np.int64),
            tuple(bounds),
            (*names, *written),
            proof_of(self.system, found),
            (*lines, *written),
            self._sum(found),
        )

    def _sum(self, found: Contradiction) -> str:
        """Write the sum of the multiplied rows and bounds, and what it says."""
        terms = [
            (-y if self.wording.is_negated(i) else y, self.wording.row(i))
            for i, y in sorted(found.rows.items())
        ]
        for sign, side, bounds in ((1, 0, found.lower), (-1, 1, found.upper)):
            terms += [
                (sign * y, f"({self.wording.bound(self.system, j, side)})")
                for j, y in sorted(bounds.items())
            ]
        members = [(y, (ROW, i)) for i, y in found.rows.items()]
        members += [(y, (LOWER, j)) for j, y in found.lower.items()]
        members += [(y, (UPPER, j)) for j, y in found.upper.items()]
        right = sum((-y * Fraction(self._entries(m)[-1][1]) for y, m in members), Fraction(0))
        said = f"0 ≥ {short(right)}" if right else "0 > 0"
        signed = [f"{'-' if y < 0 else '+'} {short(abs(y))} × {name}" for y, name in terms]
        return f"{' '.join(signed).removeprefix('+ ')} gives {said}."


class _Kinds(NamedTuple):
    """Which members are equations and which strict, and their right-hand sides."""

    equations: list[bool]
    strict: list[bool]
    right: list[Fraction]

    def contradicts(self, y: list[Fraction]) -> bool:
        """Tell whether multipliers, known to cancel the left-hand sides, contradict."""
        if any(v < 0 and not free for v, free in zip(y, self.equations, strict=True)):
            return False
        total = sum((v * b for v, b in zip(y, self.right, strict=True) if v), Fraction(0))
        return total > 0 or (
            total == 0 and any(v and strict for v, strict in zip(y, self.strict, strict=True))
        )

    def irreducible(self, y: list[Fraction], kernel: list[list[Fraction]]) -> list[Fraction]:
        """Give multipliers on members from which none can be dropped.

        The kernel holds independent multipliers that cancel the left-hand sides, of any sign.
        """
        while len(kernel) > 1:
            other = next(v for v in kernel if not _parallel(y, v))
            opposite = [-value for value in other]
            pairs = (y, other), (y, opposite), (other, y), (opposite, y)
            fewer = (_less(first, second) for first, second in pairs)
            y = next(z for z in fewer if z is not None and self.contradicts(z))
            for k, value in enumerate(y):
                kernel = kernel if value else _without_place(kernel, k)
        return y


def _exact(places: Sequence[int], weights: Sequence[Number]) -> dict[int, Fraction]:
    return {k: Fraction(weight) for k, weight in zip(places, weights, strict=True)}


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
    exact = list(values)
    common = math.lcm(*(v.denominator for v in exact))
    return Fraction(common, math.gcd(*(int(v * common) for v in exact)))


def _size(found: Contradiction) -> tuple[int, int]:
    return sum(map(len, found)), len(found.rows)


def _members(found: Conflict) -> frozenset[Member]:
    rows = ((ROW, int(i)) for i in found.rows)
    return frozenset([*rows, *((side, j) for j, side in found.bounds)])


def proof_of(system: System, found: Contradiction) -> Infeasible:
    """Give the certificate of a contradiction."""
    lower, upper = ((tuple(side), tuple(side.values())) for side in found[1:])
    return Infeasible(
        data=system.named(),
        rows=tuple(found.rows),
        weights=tuple(found.rows.values()),
        lower=lower,
        upper=upper,
    )
