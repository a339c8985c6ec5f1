"""The least change of right-hand sides and bounds after which a system has a solution.

Problem     min Σ c·|s|  subject to  a·x + s >= b (= b for equations), and the same for bounds; what
            is to be kept does not give way
Symbols     c the weights, s by how much each right-hand side or bound gives way
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from rosenblatt.certificate_fields import Number, plain_number
from rosenblatt.check.subjects import System, homogeneous
from rosenblatt.decide.answers import Clock, Explained
from rosenblatt.decide.engine.elastic import Elastic
from rosenblatt.decide.engine.farkas import ElasticSystem
from rosenblatt.decide.engine.optimum import optimum
from rosenblatt.decide.systems.wording import Wording, counted, short
from rosenblatt.errors import InputError
from rosenblatt.exact.digest import LOWER
from rosenblatt.exact.integers import Rationals, whole_rows
from rosenblatt.exact.programs import Program

Weights = Mapping[str | int, Number] | None


@dataclass(frozen=True)
class Repair(Explained):
    """The least change that makes a system feasible.

    Attributes
    ----------
    total : Fraction
        The sum of all changes, each times its weight.
    changes : dict of str to Fraction
        What is added to the right-hand side of a row or to a bound, by its name.
    w : ndarray of shape (n_unknowns,)
        A point of the changed system, exact.
    b : list of numbers
        The right-hand sides of the changed system, for `solve`.
    bounds : list of pairs or None
        Its bounds.
    lines : tuple of str
        The changes, written out.
    """

    total: Fraction
    changes: dict[str, Fraction]
    w: np.ndarray
    b: list[Number] = field(repr=False)
    bounds: list[tuple[Number | None, Number | None]] | None = field(repr=False)
    lines: tuple[str, ...] = field(repr=False, default=())

    def explain(self) -> str:
        """Say what to change.

        Returns
        -------
        str
            A sentence, and a line for each change.
        """
        changes = counted(len(self.changes), "change")
        begin = f"The least total change is {short(self.total)}, by {changes}:"
        return "\n".join([begin, *(f"  {line}" for line in self.lines)])


class Repairs(Elastic):
    """A system whose rows and bounds give way, but for those to be kept."""

    def __init__(
        self, system: System, wording: Wording, kept: tuple[set[int], set[int]], weights: Weights
    ) -> None:
        self.system, self.wording, self.kept_rows = system, wording, kept[0]
        rows = ElasticSystem(system, np.arange(system.tags.size))
        loose = [bound for bound in system.bounds if bound[1] not in kept[1]]
        self.loose = [(tag == LOWER, j, end) for tag, j, end in loose]
        entries = (homogeneous(system.bound_row(j, tag)) for tag, j, _ in loose)
        bounds, factors = whole_rows(entries, rows.width + 1)
        joined = rows.joined.above(bounds)
        self.factors = [*rows.factors, *factors]
        A = joined.part(np.arange(joined.size), np.arange(rows.width))
        right = [-value for value in joined.times([0] * rows.width + [1])]
        equal = np.append(rows.equal, np.zeros(len(self.loose), bool))
        held = tuple(
            [end if j in kept[1] else None for j, end in enumerate(side)] for side in rows.bounds
        )
        super().__init__(A, right, equal, held)  # type: ignore[arg-type]
        self.weights = self._weights_of(weights or {})

    def least(self, clock: Clock) -> Repair:
        """Find the least change."""
        program, basis = self.program(), self.start()
        owners = [*range(self.A.size), *np.flatnonzero(self.equal).tolist()]  # of the columns s
        if self.kept_rows:
            rigid = [int(i in self.kept_rows) for i in owners]
            program = program._replace(cost=[0] * self.width + rigid)
            basis, found = optimum(program, basis, clock)
            if any(x and r for x, r in zip(found.x.numbers[self.width :], rigid, strict=True)):
                raise InputError("what is to be kept contradicts itself; keep fewer rows or bounds")
            program = _held(program, self.width, rigid)
        costs = [self.weights[i] * self.sizes[i] / self.factors[i] for i in owners]
        whole = Rationals.of(costs).numbers
        _, found = optimum(program._replace(cost=[0] * self.width + whole), basis, clock)
        point, changes = found.point(), dict[int, Fraction]()
        for k, (i, given) in enumerate(zip(owners, point[self.width :], strict=True)):
            if given:
                sign = -1 if k >= self.A.size else 1
                changes[i] = (
                    changes.get(i, Fraction(0)) - sign * given * self.sizes[i] / (self.factors[i])
                )
        return self._repair(point[: self.width], changes)

    def _weights_of(self, given: Mapping[str | int, Number]) -> list[Fraction]:
        """Give the weight of each row and bound, 1 unless told."""
        weights = [Fraction(1)] * self.A.size
        rows = len(self.system.tags)
        for name, weight in given.items():
            number = plain_number(weight)
            if number is None or number <= 0:
                raise InputError(f"the weight of {name!r} is {weight!r}; give a positive number")
            chosen, columns = places(self.wording, [name], self.system)
            more = {rows + k for k, (_, j, _) in enumerate(self.loose) if j in columns}
            for i in chosen | more:
                weights[i] = Fraction(number)
        return weights

    def _repair(self, point: list[Fraction], changes: dict[int, Fraction]) -> Repair:
        system, rows = self.system, len(self.system.tags)
        b: list[Number] = [Fraction(system.row(i)[-1][1]) for i in range(rows)]
        pairs = None if system.pairs is None else [list(pair) for pair in system.pairs]
        named, lines = dict[str, Fraction](), list[str]()
        for i, change in sorted(changes.items()):
            if i < rows:
                b[i] = new = Fraction(b[i]) + change
                sign = -1 if self.wording.is_negated(i) else 1
                name, relation = self.wording.row(i), self.wording.sign(system, i)
                subject = name
            else:
                low, j, end = self.loose[i - rows]
                sign, relation = (1, "≥") if low else (-1, "≤")
                name, subject = self.wording.bound(system, j, int(not low)), self.wording.unknown(j)
                new = sign * Fraction(end) + change
                assert pairs is not None
                pairs[j][int(not low)] = sign * new
            named[name] = sign * change
            old = f"{relation} {short(sign * (new - change))}"
            lines.append(f"{subject}: {old} becomes {relation} {short(sign * new)}")
        total = sum((abs(c) * self.weights[i] for i, c in changes.items()), Fraction(0))
        w = np.empty(len(point), object)
        w[:] = point
        bounds = None if pairs is None else [(low, high) for low, high in pairs]
        return Repair(total, named, w, b, bounds, tuple(lines))


def _held(program: Program, width: int, rigid: Sequence[int]) -> Program:
    """Let rows to be kept not give way."""
    lower, upper = program.column_ends
    ends = [0 if held else end for held, end in zip(rigid, upper[width:], strict=True)]
    return program._replace(column_ends=(lower, [*upper[:width], *ends]))


def places(
    wording: Wording, names: Sequence[str | int], system: System
) -> tuple[set[int], set[int]]:
    """Give the rows of some names or numbers, and the columns whose bounds they name."""
    rows, columns = set[int](), set[int]()
    for name in names:
        if not isinstance(name, str):
            if not 0 <= int(name) < system.tags.size:
                raise InputError(f"there is no row {name}; rows are counted from 0")
            rows.add(int(name))
            continue
        found = {i for i, row in enumerate(wording.rows) if row == name}
        bounded = {j for j in range(system.columns) if wording.unknown(j) == name}
        if not found and not bounded:
            raise InputError(f"there is no row or unknown called {name!r}")
        rows |= found
        columns |= bounded
    return rows, columns
