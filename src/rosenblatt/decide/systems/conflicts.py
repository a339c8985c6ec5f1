"""Rows and bounds of a system that contradict each other, and none of which can be dropped.

Irreducible     Multipliers y > 0 with Σ y·a = 0 belong to a set of rows from which none can be
                dropped exactly if they are, but for a factor, the only ones, of any sign: fewer
                rows are then independent, and no combination of them is zero. Where there are
                others, y less a multiple of these is zero on one more row, and still
                contradicts; so at most as many steps as there are further dimensions remain.
Small           Multipliers with the least Σ c·y have few that are not zero; weights c that grow for
                small y, a few times, make them fewer. The fewest rows so found are taken, if they
                are fewer than those of the proof.
Sources         Gleeson & Ryan 1990; Chinneck 2008; Candès, Wakin & Boyd 2008 (weights)
"""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import highspy
import numpy as np
from scipy import sparse

from rosenblatt.certificates import Infeasible, Number
from rosenblatt.check.subjects import System
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.farkas import Contradiction
from rosenblatt.decide.engine.feasibility import point_or_contradiction
from rosenblatt.decide.engine.floats import load, run, solver_with
from rosenblatt.decide.signed import floats_of
from rosenblatt.decide.systems.wording import Wording, counted, short
from rosenblatt.exact.digest import EQUAL, MORE_THAN
from rosenblatt.exact.digest import LOWER as LOWER_TAG
from rosenblatt.exact.integers import whole_rows
from rosenblatt.exact.numbers import exact_list, is_exact
from rosenblatt.exact.spans import orthogonal, pivots

ROW, LOWER, UPPER = "row", "lower", "upper"
Member = tuple[str, int]
TRIES = 100  # systems without some rows that are looked at for further conflicts
ROUNDS = 6  # of weights for few multipliers
LEAST = (2, 2)  # members and rows, of which there are hardly fewer
NEGLIGIBLE = 1e-9  # beside the largest multiplier


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
            return self._conflict(self._irreducible(self._sparing(kept, given)))
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
        """Give the smallest of what is left of the proof, and of some other sets of rows."""
        best = self._irreducible(given)
        for members in () if kept or _size(best) <= LEAST else self._few():
            if len(members) < _size(best)[0]:
                found = _Members(self.system, members, self.clock).only()
                best = best if found is None else min(found, best, key=_size)
        return best

    def _few(self) -> Iterator[list[Member]]:
        """Give sets of rows and bounds whose multipliers are few, as floats see them."""
        members, columns = self._all_members()
        solver, count = solver_with({}), len(members)
        ends = np.append(np.zeros(columns.shape[0] - 1), 1.0)
        load(
            solver, np.ones(count), (np.zeros(count), np.full(count, np.inf)), (ends, ends), columns
        )
        for _ in range(ROUNDS):
            run(solver, self.clock.left())
            if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                return
            y = np.array(solver.getSolution().col_value)
            y /= y.max()
            yield sorted({members[k] for k in np.flatnonzero(y > NEGLIGIBLE)})
            cost = 1.0 / (y + 0.01)
            solver.changeColsCost(count, np.arange(count, dtype=np.int32), cost)

    def _all_members(self) -> tuple[list[Member], sparse.csc_matrix]:
        """Give all rows and bounds, each (a, b) in floats as a column; equations also negated."""
        system, width = self.system, self.system.columns
        X = system.X.astype(np.float64) if is_exact(system.X) else system.X
        right = floats_of(exact_list(system.b))
        rows = sparse.csr_matrix(
            sparse.hstack([sparse.csr_matrix(X, dtype=np.float64), right[:, None]])
        )
        signs = [1.0 if tag == LOWER_TAG else -1.0 for tag, _, _ in system.bounds]
        ends = floats_of([end for _, _, end in system.bounds])
        places = [j for _, j, _ in system.bounds]
        units = sparse.csr_matrix((signs, (np.arange(len(places)), places)), (len(places), width))
        bounds = sparse.hstack([units, (ends * signs)[:, None]])
        equations = np.flatnonzero(system.tags == EQUAL)
        every = sparse.csr_matrix(sparse.vstack([rows, bounds, -rows[equations]]))
        sizes = np.maximum(abs(every).max(axis=1).toarray().ravel(), np.finfo(float).tiny)
        members: list[Member] = [(ROW, i) for i in range(system.tags.size)]
        members += [(LOWER if tag == LOWER_TAG else UPPER, j) for tag, j, _ in system.bounds]
        members += [(ROW, int(i)) for i in equations]
        return members, sparse.csc_matrix((sparse.diags(1.0 / sizes) @ every).T)

    def _irreducible(self, given: Contradiction) -> Contradiction:
        """Take rows and bounds out of a contradiction as long as one can be dropped."""
        parts = zip((ROW, LOWER, UPPER), given, strict=True)
        weights = {(kind, k): y for kind, part in parts for k, y in part.items()}
        members = _Members(self.system, list(weights), self.clock)
        return members.irreducible(list(weights.values()))

    # ---- answers

    def _conflict(self, found: Contradiction) -> Conflict:
        bounds = [*((j, LOWER) for j in sorted(found.lower))]
        bounds += [(j, UPPER) for j in sorted(found.upper)]
        rows = sorted(found.rows)
        written = [self.wording.bound(self.system, j, int(side == UPPER)) for j, side in bounds]
        names = *map(self.wording.row, rows), *written
        ordered = Contradiction(*({k: part[k] for k in sorted(part)} for part in found))
        proof = proof_of(self.system, ordered)
        places = np.array(rows, np.int64)
        return Conflict(places, tuple(bounds), names, proof, self.system, self.wording)


class _Members:
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

    def only(self) -> Contradiction | None:
        """Give the contradiction if, but for a factor, no other multipliers cancel a."""
        if len(self.members) - len(pivots(self.table, self.clock.left).rows) != 1:
            return None
        (y,) = self.kernel
        signed = (z for z in (y, [-v for v in y]) if all(z) and self.contradicts(z))
        return next(map(self.contradiction, signed), None)

    def irreducible(self, weights: list[Fraction]) -> Contradiction:
        """Give a contradiction of members from which none can be dropped, given one."""
        y = [weight / factor for weight, factor in zip(weights, self.factors, strict=True)]
        kernel = self.kernel
        while len(kernel) > 1:
            other = next(v for v in kernel if not _parallel(y, v))
            opposite = [-value for value in other]
            pairs = (y, other), (y, opposite), (other, y), (opposite, y)
            fewer = (_less(first, second) for first, second in pairs)
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
    if kind == ROW:
        *entries, (last, right) = system.row(k)
    else:
        bounds = system.lower_bounds([k]) if kind == LOWER else system.upper_bounds([k])
        ((*entries, (last, right)),) = bounds
    return [*entries, (last, -right)]


def _multiple(y: Number, name: str) -> str:
    return f"{'-' if y < 0 else '+'} {short(abs(Fraction(y)))} × {name}"


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
