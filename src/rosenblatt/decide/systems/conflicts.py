"""Rows and bounds of a system that contradict each other, and none of which can be dropped.

Small       what is left of a proof when none of it can be dropped (`members`), or a smaller set
            that floats name (`filters`) and exact numbers confirm
Sources     Gleeson & Ryan 1990; Chinneck 2008
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from rosenblatt.certificates import Data, Infeasible, Number
from rosenblatt.check.subjects import System
from rosenblatt.decide.answers import Clock, Explained
from rosenblatt.decide.engine.farkas import Contradiction
from rosenblatt.decide.engine.feasibility import point_or_contradiction
from rosenblatt.decide.systems.filters import LEAST, Filters, Signed
from rosenblatt.decide.systems.members import LOWER, ROW, UPPER, Member, Members
from rosenblatt.decide.systems.wording import Wording, counted, short
from rosenblatt.pauses import OutOfTimeError

TRIES = 100  # systems without some rows that are looked at for further conflicts


@dataclass(frozen=True)
class Conflict(Explained):
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
    system : System
        The rows and bounds that it is about.
    wording : Wording
        Their names.
    """

    rows: np.ndarray
    bounds: tuple[tuple[int, str], ...]
    names: tuple[str, ...]
    certificate: Infeasible
    system: System = field(repr=False, compare=False)
    wording: Wording = field(repr=False, compare=False)

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
        lines = [
            f"{self.wording.row(i)}: {self.wording.relation(self.system, i)}"
            for i in self.rows.tolist()
        ]
        lines += self.names[self.rows.size :]
        return "\n".join([begin, *(f"  {line}" for line in lines), self._sum()])

    def _sum(self) -> str:
        """Write the sum of the multiplied rows and bounds, and what it says."""
        proof, total, terms = self.certificate, Fraction(0), list[str]()
        for i, y in zip(proof.rows, proof.weights, strict=True):
            total += Fraction(y) * Fraction(self.system.row(i)[-1][1])
            terms.append(_multiple(-y if self.wording.is_negated(i) else y, self.wording.row(i)))
        for side, sign, (columns, weights) in ((0, 1, proof.lower), (1, -1, proof.upper)):
            for j, y in zip(columns, weights, strict=True):
                total += sign * Fraction(y) * Fraction((self.system.pairs or [])[j][side] or 0)
                terms.append(_multiple(sign * y, f"({self.wording.bound(self.system, j, side)})"))
        said = f"0 ≥ {short(total)}" if total else "0 > 0"
        return f"{' '.join(terms).removeprefix('+ ')} gives {said}."


class Conflicts:
    """The search for conflicts of one system that has no solution."""

    def __init__(
        self, system: System, wording: Wording, clock: Clock, data: Data | None = None
    ) -> None:
        self.system, self.wording, self.clock = system, wording, clock
        self.data = data or system.named()

    def first(self, proof: Infeasible, kept: set[int]) -> Conflict:
        """Give a conflict, with rows to keep only if there is none without them."""
        sides = (proof.rows, proof.weights), proof.lower, proof.upper
        given = Contradiction(*(_exact(*side) for side in sides))
        if kept.intersection(given.rows):
            given = self._sparing(kept, given)
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
        while dropped and len(found) < limit and len(tried) < TRIES:
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
        return None if found is None else self._conflict(self._irreducible(found))

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
        """Give what is left of a proof, or the smallest set that is found without rows to keep."""
        found = [self._irreducible(given)]

        def proven(members: list[Member]) -> bool:
            only = Members(self.system, members, self.clock).only()
            found.extend([] if only is None else [only])
            return only is not None

        if _size(found[0]) > LEAST:
            filters = Filters(self.system, kept.difference(found[0].rows))
            with suppress(OutOfTimeError):
                filters.shrink(_signed(found[0]), proven, self.clock.left)
        return found[-1]

    def _irreducible(self, given: Contradiction) -> Contradiction:
        """Take rows and bounds out of a contradiction as long as one can be dropped."""
        weights = dict(_weighted(given))
        members = Members(self.system, list(weights), self.clock)
        return members.irreducible(list(weights.values()))

    # ---- answers

    def _conflict(self, found: Contradiction) -> Conflict:
        bounds = [*((j, LOWER) for j in sorted(found.lower))]
        bounds += [(j, UPPER) for j in sorted(found.upper)]
        rows = sorted(found.rows)
        written = [self.wording.bound(self.system, j, int(side == UPPER)) for j, side in bounds]
        names = *map(self.wording.row, rows), *written
        ordered = Contradiction(*({k: part[k] for k in sorted(part)} for part in found))
        proof = proof_of(self.data, ordered)
        places = np.array(rows, np.int64)
        return Conflict(places, tuple(bounds), names, proof, self.system, self.wording)


def _multiple(y: Number, name: str) -> str:
    return f"{'-' if y < 0 else '+'} {short(abs(Fraction(y)))} × {name}"


def _exact(places: Sequence[int], weights: Sequence[Number]) -> dict[int, Fraction]:
    return {k: Fraction(weight) for k, weight in zip(places, weights, strict=True)}


def _weighted(found: Contradiction) -> Iterator[tuple[Member, Fraction]]:
    for kind, part in zip((ROW, LOWER, UPPER), found, strict=True):
        yield from (((kind, k), y) for k, y in part.items())


def _signed(found: Contradiction) -> list[Signed]:
    return [(member, y < 0) for member, y in _weighted(found)]


def _size(found: Contradiction) -> int:
    return sum(map(len, found))


def _members(found: Conflict) -> frozenset[Member]:
    rows = ((ROW, int(i)) for i in found.rows)
    return frozenset([*rows, *((side, j) for j, side in found.bounds)])


def proof_of(data: Data, found: Contradiction) -> Infeasible:
    """Give the certificate of a contradiction."""
    lower, upper = ((tuple(side), tuple(side.values())) for side in found[1:])
    return Infeasible(
        data=data,
        rows=tuple(found.rows),
        weights=tuple(found.rows.values()),
        lower=lower,
        upper=upper,
    )
