"""Few rows and bounds that contradict each other, as floats see them.

Problem     of all y >= 0 with Σ y·a = 0 and Σ y·b = 1, some that are zero on most rows and bounds
Vertices    of these y are the sets from which none can be dropped
Filter      each row or bound in turn is dropped for good, if the others contradict each other
            without it: pivots bring its y to zero, or end where it is least
Orders      decide which are left. Rows before bounds, bounds before rows, as they are numbered;
            then so at random, and such that one or two of the smallest set come first and the
            others of it last: a way around these is looked for. One without which the first
            filter finds none is needed by all; where all but one are, none is smaller
Sources     Gleeson & Ryan 1990 (vertices); Chinneck & Dravnieks 1991 (the filter)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.check.subjects import System
from rosenblatt.decide.systems.members import LOWER, ROW, UPPER, Member
from rosenblatt.decide.systems.tableaus import (
    SMALL,
    Tableau,
    begun,
    blocking_place,
    copy,
    count_positive,
    cut_rounding,
    entering_member,
    exchange,
    leaving_place,
    renew,
)
from rosenblatt.exact.digest import EQUAL, mix
from rosenblatt.exact.digest import LOWER as LOWER_TAG
from rosenblatt.exact.numbers import exact_list
from rosenblatt.exact.rounding import floats_of
from rosenblatt.loops import in_python, loop, part
from rosenblatt.pauses import Pause

ORDERS, EACH = 120, 15  # at random, and for each row or bound beyond two that may be too many
LEAST = 2  # rows and bounds, of which there are hardly fewer
MOST = 1_000_000  # numbers of a table: a filter takes about a second then
WORK = 100_000_000  # numbers that pivots change before no further order is tried
AT_ONCE = 10_000_000  # such numbers, between two looks at the clock
# Numbers that all turns go through, up to which Python's milliseconds are better than to compile.
FEW_NUMBERS = 2000
WRONG = 20  # sets that prove nothing, after which floats are given up
FEW_PIVOTS = 80  # in all, for each row or bound
PIVOTS = 100  # for one row or bound, after which it stays
DRIFT = 200  # pivots, after which rounding may show, and a table is made anew
KINDS = 5  # of orders
AROUND = 1, 1, 2  # of the smallest set, which come first in three of them
ROWS_FIRST, BOUNDS_FIRST = 3, 4  # the others

Signed = tuple[Member, bool]


class SearchOrders(NamedTuple):
    """Which rows and bounds are dropped first, turn by turn.

    Attributes
    ----------
    order : all of them, as they come in this turn.
    rest : room for those that come later.
    dropped : which of them are.
    is_bound : which of them are bounds.
    needed : which of them no contradiction can do without.
    counts : the next turn, the numbers that pivots changed, pivots since a table was made anew.
    draws : how many random numbers were drawn.
    """

    order: np.ndarray
    rest: np.ndarray
    dropped: np.ndarray
    is_bound: np.ndarray
    needed: np.ndarray
    counts: np.ndarray
    draws: np.ndarray


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

    def shrink(
        self, first: list[Signed], proven: Callable[[list[Member]], bool], pause: Pause
    ) -> None:
        """Look for ever smaller sets than the first, and name each, to be proven or not.

        Rows and bounds of the first come with whether their multipliers are negative.
        """
        if len(self.members) * (self.system.columns + 1) > MOST:
            return
        places = {member: k for k, member in enumerate(self.members)}
        given, turns, wrong = Tableau.of(self._table()), self._turns(), 0
        few = self._most_turns() * len(self.members) * given.table.size <= FEW_NUMBERS
        search = in_python(searched) if few else searched
        best = begun(given, np.array([places[member] for member in first]), few)
        now = Tableau(*map(np.copy, best))
        last, work = self._last(best), min(WORK, FEW_PIVOTS * len(self.members) * given.table.size)
        while turns.counts[0] < last and turns.counts[1] < work and wrong <= WRONG:
            pause()
            if search(given, best, now, turns, last, min(work, turns.counts[1] + AT_ONCE)):
                left = now.positive
                if proven([self.members[k][0] for k in left.tolist()]):
                    best = begun(given, left, few)
                    last = self._last(best)
                else:
                    wrong += 1
                for mine, its in zip(now, best, strict=True):
                    mine[:] = its

    def _last(self, best: Tableau) -> int:
        """Give the turn to end with, which is an early one where there is little to try."""
        return min(self._most_turns(), EACH * (best.positive.size - LEAST))

    def _most_turns(self) -> int:
        return min(ORDERS, len(self.members) ** 2 // 24)

    def _turns(self) -> SearchOrders:
        """Give the turns, the first two of them with members as they are numbered."""
        numbers = np.array([number for (_, number), _ in self.members])
        is_bound = np.array([kind != ROW for (kind, _), _ in self.members])
        order, none = np.argsort(numbers, kind="stable"), np.zeros(numbers.size, np.bool_)
        counts = np.array([-2, 0, 0])
        draws = np.zeros(1, np.uint64)
        return SearchOrders(order, order.copy(), none, is_bound, none.copy(), counts, draws)

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


# ---- loops


@loop
def searched(
    given: Tableau, best: Tableau, now: Tableau, turns: SearchOrders, last: int, work: int
) -> bool:
    """Filter in turn, from the best set or one as small, until one is smaller, which `now` is.

    Tell whether there is one; if not, all turns are done, or the work.
    """
    fewest, counts = count_positive(best), turns.counts
    while counts[0] < last and counts[1] < work:
        if fewest - _needed(now, turns.needed) < 2:
            counts[0] = last
            break
        _ordered(turns, now)
        pivots = _filtered(now, turns.dropped, turns.order)
        first = turns.order[0]
        turns.needed[first] |= not turns.dropped[first]
        counts[0] += 1
        counts[1] += (1 + pivots) * now.table.size
        counts[2] += pivots
        size = count_positive(now)
        if 0 < size < fewest:
            return True
        if size != fewest:
            copy(best, now)
            counts[2] = 0
        elif counts[2] > DRIFT:
            renew(given, now, turns.rest)
            counts[2] = 0
    return False


@part
def _filtered(tableau: Tableau, dropped: np.ndarray, order: np.ndarray) -> int:
    """Drop members in their order, those without which a contradiction is left; count pivots."""
    values, place = tableau.table[tableau.table.shape[0] - 1], tableau.place
    dropped[:] = False
    pivots = 0
    for q in order:
        for _ in range(PIVOTS):
            if place[q] < 0 or values[place[q]] == 0.0:
                break
            entering = entering_member(tableau, dropped, place[q], False)
            if entering < 0:
                break
            blocking = blocking_place(tableau, dropped, entering)
            while blocking >= 0 and entering >= 0:
                other = entering_member(tableau, dropped, blocking, True)
                exchange(tableau, blocking, other)
                pivots += 1
                entering = entering_member(tableau, dropped, place[q], False)
                blocking = blocking_place(tableau, dropped, entering)
            leaving = leaving_place(tableau, entering)
            if leaving < 0:
                break
            exchange(tableau, leaving, entering)
            cut_rounding(tableau, dropped)
            pivots += 1
        dropped[q] = place[q] < 0 or values[place[q]] == 0.0
    return pivots


@part
def _needed(tableau: Tableau, needed: np.ndarray) -> int:
    """Count the members whose y is positive and that no contradiction can do without."""
    values, count = tableau.table[tableau.table.shape[0] - 1], 0
    for i in range(values.size):
        count += values[i] > 0.0 and needed[tableau.basis[i]]
    return count


# ---- orders


@part
def _ordered(turns: SearchOrders, tableau: Tableau) -> None:
    """Give the order of a turn: of the first two as numbered, of others at random."""
    turn, order, first = turns.counts[0], turns.order, 0
    if turn >= 0:
        _shuffle(order, turns.draws)
    kind = turn % KINDS
    if kind < ROWS_FIRST:
        first = _partition(turns, tableau, kind, AROUND[kind], 0)
    _partition(turns, tableau, kind, 0, first)


@part
def _partition(turns: SearchOrders, tableau: Tableau, kind: int, few: int, start: int) -> int:
    """Bring some members to the front, others behind them, each in their order.

    These are a few of the set, or those that are not in it; or rows, or bounds.
    """
    order, rest, count, end = turns.order, turns.rest, 0, start
    for k in range(start, order.size):
        q = order[k]
        held = tableau.place[q] >= 0 and tableau.table[tableau.place.size, tableau.place[q]] > 0.0
        if kind >= ROWS_FIRST:
            ahead = turns.is_bound[q] == (kind == BOUNDS_FIRST)
        elif few > 0:
            ahead = held and end < few and not turns.needed[q]
        else:
            ahead = not held
        if ahead:
            order[end] = q
            end += 1
        else:
            rest[count] = q
            count += 1
    for k in range(count):
        order[end + k] = rest[k]
    return end


@part
def _shuffle(order: np.ndarray, draws: np.ndarray) -> None:
    """Draw an order, each as likely as any other (Fisher & Yates)."""
    for k in range(order.size - 1, 0, -1):
        draws[0] += np.uint64(1)
        j = np.int64(mix(draws[0]) % np.uint64(k + 1))
        order[k], order[j] = order[j], order[k]
