"""Tableaus of the simplex method in floats: multipliers y >= 0 with Σ y·a = 0 and Σ y·b = 1.

Rows and bounds are the *members*, whose y are the unknowns. All of a tableau is computed anew at
each exchange, so that any member can be asked about; a difference that is due to rounding alone is
taken for zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.loops import in_python, loop, part

SMALL = 1e-11  # beside 1: nothing to divide by
ROUNDING = 1e-8  # a difference, beside what it was taken from, that is due to rounding


class Tableau(NamedTuple):
    """Some y and their basis.

    Attributes
    ----------
    table : table[j, i] is what y of member j takes from that of the member at place i of the basis;
        the last row has the values of these y.
    basis : the member at a place, -1 if there is none.
    place : where a member is, -1 if its y is zero because it is not in the basis.
    """

    table: np.ndarray
    basis: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray) -> Tableau:
        """Take a table of rows and bounds, none of which is in the basis yet."""
        none = np.full(table.shape[1] + table.shape[0] - 1, -1)
        return cls(table.copy(), none[: table.shape[1]], none[table.shape[1] :])

    @property
    def positive(self) -> np.ndarray:
        """The members whose y is positive."""
        return np.asarray(self.basis[self.table[-1] > 0.0])


def begun(given: Tableau, held: np.ndarray, few: bool = False) -> Tableau:
    """Give the tableau of a set that contradicts; few numbers are left to Python."""
    made = Tableau(*map(np.copy, given))
    run = in_python(begin) if few else begin
    run(made, held)
    return made


@loop
def begin(tableau: Tableau, held: np.ndarray) -> None:
    """Make a basis of a set and of others, by the largest numbers."""
    begin_with(tableau, held, held.size)


@part
def begin_with(tableau: Tableau, held: np.ndarray, count: int) -> None:
    """Make a basis of the first of some members and of others, by the largest numbers."""
    table, basis, place = tableau
    for k in range(count):
        best, at = SMALL, -1
        for i in range(basis.size):
            if basis[i] < 0 and abs(table[held[k], i]) > best:
                best, at = abs(table[held[k], i]), i
        if at >= 0:
            exchange(tableau, at, held[k])
    for i in range(basis.size):
        best, at = SMALL, -1
        for j in range(place.size):
            if basis[i] < 0 and abs(table[j, i]) > best:
                best, at = abs(table[j, i]), j
        if at >= 0:
            exchange(tableau, i, at)
        elif basis[i] < 0:
            table[:, i] = 0.0
    values = table[table.shape[0] - 1]
    for i in range(values.size):
        values[i] = max(values[i], 0.0)


@part
def renew(given: Tableau, tableau: Tableau, room: np.ndarray) -> None:
    """Make a table anew, for the members whose y is positive."""
    values, count = tableau.table[tableau.table.shape[0] - 1], 0
    for i in range(values.size):
        if values[i] > 0.0:
            room[count] = tableau.basis[i]
            count += 1
    copy(given, tableau)
    begin_with(tableau, room, count)


@part
def copy(source: Tableau, target: Tableau) -> None:
    """Write one tableau over another."""
    for j in range(source.table.shape[0]):
        for i in range(source.basis.size):
            target.table[j, i] = source.table[j, i]
    for i in range(source.basis.size):
        target.basis[i] = source.basis[i]
    for j in range(source.place.size):
        target.place[j] = source.place[j]


@part
def count_positive(tableau: Tableau) -> int:
    """Count the members whose y is positive."""
    values, count = tableau.table[tableau.table.shape[0] - 1], 0
    for i in range(values.size):
        count += values[i] > 0.0
    return count


@part
def cut_rounding(tableau: Tableau, dropped: np.ndarray) -> None:
    """Make zero of what is not by rounding; where it was not, no proof will be found."""
    values = tableau.table[tableau.table.shape[0] - 1]
    for i in range(values.size):
        if values[i] < 0.0 or (tableau.basis[i] >= 0 and dropped[tableau.basis[i]]):
            values[i] = 0.0


@part
def entering_member(tableau: Tableau, dropped: np.ndarray, i: int, at_zero: bool) -> int:
    """Give the member that lessens the value at a place most; any that takes a zero's place."""
    best, at = SMALL, -1
    for j in range(tableau.place.size):
        size = abs(tableau.table[j, i]) if at_zero else tableau.table[j, i]
        if size > best and tableau.place[j] < 0 and not dropped[j]:
            best, at = size, j
    return at


@part
def blocking_place(tableau: Tableau, dropped: np.ndarray, entering: int) -> int:
    """Give a place whose member was dropped, and whose value would change."""
    basis = tableau.basis
    for i in range(basis.size if entering >= 0 else 0):
        if basis[i] >= 0 and dropped[basis[i]] and abs(tableau.table[entering, i]) > SMALL:
            return i
    return -1


@part
def leaving_place(tableau: Tableau, entering: int) -> int:
    """Give the place whose value is the first to become zero."""
    table, least, at = tableau.table, np.inf, -1
    values = table[table.shape[0] - 1]
    for i in range(values.size if entering >= 0 else 0):
        slope = table[entering, i]
        if slope > SMALL:
            room = values[i] / slope
            tied = at >= 0 and room <= least * (1.0 + SMALL) and slope > table[entering, at]
            if tied or room < least * (1.0 - SMALL):
                least, at = room, i
    return at


@part
def exchange(tableau: Tableau, leaving: int, entering: int) -> None:
    """Put a member at a place of the basis."""
    table, basis, place = tableau
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
