"""Few rows and bounds that contradict each other, as floats see them.

Problem     of all y >= 0 with Σ y·a = 0 and Σ y·b = 1, some that are zero on most rows and bounds
Vertices    of these y are the sets from which none can be dropped
Filter      each row or bound in turn is dropped for good, if the others contradict each other
            without it: pivots bring its y to zero, or end where it is least
Orders      decide which are left. Rows before bounds, bounds before rows, as they are numbered;
            then so at random, and such that one or two of the smallest set come first and the
            others of it last: a way around these is looked for
Sources     Gleeson & Ryan 1990 (vertices); Chinneck & Dravnieks 1991 (the filter)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from rosenblatt.check.subjects import System
from rosenblatt.decide.signed import floats_of
from rosenblatt.decide.systems.members import LOWER, ROW, UPPER, Member
from rosenblatt.exact.digest import EQUAL
from rosenblatt.exact.digest import LOWER as LOWER_TAG
from rosenblatt.exact.numbers import exact_list
from rosenblatt.loops import loop, part
from rosenblatt.pauses import Pause

ORDERS = 120  # at random, and fewer where there are few rows and bounds
MOST = 1_000_000  # numbers of a table: a filter takes about a second then
WORK = 100_000_000  # numbers that pivots change before no further order is tried
WRONG = 20  # sets that prove nothing, after which floats are given up
PIVOTS = 100  # for one row or bound, after which it stays
AROUND = 1, 1, 2  # of the smallest set, in three of five orders; rows or bounds come first in two
SMALL = 1e-11  # beside 1: nothing to divide by
ROUNDING = 1e-8  # a difference, beside what it was taken from, that is due to rounding

Signed = tuple[Member, bool]


class Filters:
    """Rows and bounds (a, b) as rows of a table in floats; equations also negated."""

    def __init__(self, system: System, without: set[int]) -> None:
        rows = np.array([i for i in range(system.tags.size) if i not in without], np.int64)
        equations = rows[system.tags[rows] == EQUAL]
        self.members: list[Signed] = [((ROW, i), False) for i in rows.tolist()]
        self.members += [((ROW, i), True) for i in equations.tolist()]
        bounds = [(j, LOWER if tag == LOWER_TAG else UPPER) for tag, j, _ in system.bounds]
        self.members += [((side, j), False) for j, side in bounds]
        self.system, self.rows, self.equations = system, rows, equations
        self.is_bound = np.array([kind != ROW for (kind, _), _ in self.members])
        numbers = np.array([number for (_, number), _ in self.members])
        self.numbers = numbers / (numbers.max() + 1)
        self.random = np.random.default_rng(0)

    def shrink(
        self, first: list[Signed], proven: Callable[[list[Member]], bool], pause: Pause
    ) -> None:
        """Look for ever smaller sets than the first, and name each, to be proven or not.

        Rows and bounds of the first come with whether their multipliers are negative.
        """
        if len(self.members) * (self.system.columns + 1) > MOST:
            return
        places = {member: k for k, member in enumerate(self.members)}
        fewest = held = np.array([places[member] for member in first])
        table, work, wrong = self._table(), 0, 0
        for turn in range(-2, min(ORDERS, len(self.members) ** 2 // 24)):
            pause()
            left, pivots = _left(table, held, self._order(turn, held))
            work += pivots * table.size
            if 0 < left.size < fewest.size:
                right = proven([self.members[k][0] for k in left.tolist()])
                fewest, wrong = (left if right else fewest), wrong + (not right)
            held = left if left.size == fewest.size else fewest
            if work > WORK or wrong > WRONG:
                break

    def _order(self, turn: int, held: np.ndarray) -> np.ndarray:
        """Give the order of a filter: of the first two as numbered, then at random."""
        turns = self.numbers if turn < 0 else self.random.random(self.numbers.size)
        kind = turn % 5
        if kind < len(AROUND):
            turns[held] += 1
            turns[self.random.choice(held, min(AROUND[kind], held.size), replace=False)] -= 2
        else:
            turns = turns + (self.is_bound == (kind == len(AROUND)))
        return np.argsort(turns, kind="stable")

    def _table(self) -> np.ndarray:
        """Give the rows, each with numbers of at most 1, and below them the right-hand side."""
        system, width = self.system, self.system.columns
        X = system.X[self.rows]
        A = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
        rows = np.column_stack([A, floats_of(exact_list(system.b[self.rows]))])
        signs = np.array([1.0 if tag == LOWER_TAG else -1.0 for tag, _, _ in system.bounds])
        bounds = np.zeros((signs.size, width + 1))
        bounds[np.arange(signs.size), [j for _, j, _ in system.bounds]] = signs
        bounds[:, -1] = signs * floats_of([end for _, _, end in system.bounds])
        negated = -rows[np.isin(self.rows, self.equations)]
        table = np.vstack([rows, negated, bounds, np.zeros(width + 1)])
        table = table[:, np.append(table[:, :-1].any(axis=0), True)]
        table[:, :-1] /= np.abs(table[:, :-1]).max(axis=0)
        table[:-1] /= np.maximum(np.abs(table[:-1]).max(axis=1, keepdims=True), SMALL)
        table[-1, -1] = 1.0
        return table


def _left(table: np.ndarray, held: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, int]:
    """Give what a filter leaves, given a set that contradicts, and the number of its pivots."""
    table, basis = table.copy(), np.full(table.shape[1], -1)
    place = np.full(order.size, -1)
    pivots = filtered(table, basis, place, np.zeros(order.size, np.bool_), held, order)
    return basis[table[-1] > 0.0], pivots


# ---- loops
# table[j, i] is what y of member j takes from that of the member at place i of the basis; the last
# row has the values of these y. basis[i] is the member at a place, -1 if there is none, and
# place[j] where a member is, -1 if its y is zero because it is not in the basis.


@loop
def filtered(
    table: np.ndarray,
    basis: np.ndarray,
    place: np.ndarray,
    dropped: np.ndarray,
    held: np.ndarray,
    order: np.ndarray,
) -> int:
    """Begin with the vertex of a set, drop members in their order; count pivots."""
    values = table[table.shape[0] - 1]
    pivots = _begin(table, basis, place, held)
    _cut(values)
    for k in range(order.size):
        q = order[k]
        for _ in range(PIVOTS):
            if place[q] < 0:
                break
            entering = _entering(table, place, dropped, place[q])
            leaving = place[q] if values[place[q]] == 0.0 else _leaving(table, entering)
            if entering < 0 or leaving < 0:
                break
            _exchange(table, basis, place, leaving, entering)
            _cut(values)
            pivots += 1
        dropped[q] = place[q] < 0 or values[place[q]] == 0.0
    return pivots


@part
def _cut(values: np.ndarray) -> None:
    """Make zero of what is negative by rounding; where it was not, no proof will be found."""
    for i in range(values.size):
        values[i] = max(values[i], 0.0)


@part
def _begin(table: np.ndarray, basis: np.ndarray, place: np.ndarray, held: np.ndarray) -> int:
    """Make a basis of a set and of others, by the largest numbers."""
    pivots = 0
    for j in held:
        best, at = SMALL, -1
        for i in range(basis.size):
            if basis[i] < 0 and abs(table[j, i]) > best:
                best, at = abs(table[j, i]), i
        if at >= 0:
            _exchange(table, basis, place, at, j)
            pivots += 1
    for i in range(basis.size):
        best, at = SMALL, -1
        for j in range(place.size):
            if basis[i] < 0 and abs(table[j, i]) > best:
                best, at = abs(table[j, i]), j
        if at >= 0:
            _exchange(table, basis, place, i, at)
            pivots += 1
        elif basis[i] < 0:
            table[:, i] = 0.0
    return pivots


@part
def _entering(table: np.ndarray, place: np.ndarray, dropped: np.ndarray, i: int) -> int:
    """Give the member that lessens the value at a place most; any that takes a zero's place."""
    best, at, zero = SMALL, -1, table[table.shape[0] - 1, i] == 0.0
    for j in range(place.size):
        size = abs(table[j, i]) if zero else table[j, i]
        if size > best and place[j] < 0 and not dropped[j]:
            best, at = size, j
    return at


@part
def _leaving(table: np.ndarray, entering: int) -> int:
    """Give the place whose value is the first to become zero."""
    values, least, at = table[table.shape[0] - 1], np.inf, -1
    for i in range(values.size if entering >= 0 else 0):
        slope = table[entering, i]
        if slope > SMALL:
            room = values[i] / slope
            tied = at >= 0 and room <= least * (1.0 + SMALL) and slope > table[entering, at]
            if tied or room < least * (1.0 - SMALL):
                least, at = room, i
    return at


@part
def _exchange(
    table: np.ndarray, basis: np.ndarray, place: np.ndarray, leaving: int, entering: int
) -> None:
    """Put a member at a place of the basis."""
    taken = table[entering]
    one = taken[leaving]
    for j in range(table.shape[0]):
        share = table[j, leaving] / one
        if j != entering and share != 0.0:
            for i in range(taken.size):
                before = table[j, i]
                after = before - share * taken[i]
                table[j, i] = after if abs(after) > ROUNDING * abs(before) else 0.0
            table[j, leaving] = share
    taken[:] = 0.0
    taken[leaving] = 1.0
    if basis[leaving] >= 0:
        place[basis[leaving]] = -1
    basis[leaving], place[entering] = entering, leaving
