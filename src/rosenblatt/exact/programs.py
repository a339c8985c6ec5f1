"""Linear programs with exact numbers, and their exact optimum from a basis that floats find.

Problem     min c·x  subject to  L <= A x <= U,  l <= x <= u        (any end may be infinite)
Basis       tells for each column and each row whether it is *basic* or at which of its ends it
            lies. The rows at an end, as equations for the basic columns, are square: K x = r
Optimum     the vertex of a basis is optimal if the basic columns and rows keep their ends, and the
            multipliers y, from Kᵀ y = c, have the signs that the ends allow
Symbols     A rows of integers, c integers, ends fractions or None; y >= 0 belongs to L, y <= 0 to U
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from rosenblatt.exact.integers import Integers, Rationals, scattered
from rosenblatt.exact.linear import reduced, solved
from rosenblatt.pauses import Pause

BASIC, AT_LOWER, AT_UPPER, AT_ZERO = range(4)
End = Fraction | int | None
Ends = tuple[Sequence[End], Sequence[End]]  # lower ones and upper ones


class Program(NamedTuple):
    """A linear program; ends of rows and columns are lists of numbers, None for none."""

    A: Integers
    cost: list[int]
    row_ends: Ends
    column_ends: Ends


class Basis(NamedTuple):
    """What each column and each row is, as above."""

    columns: np.ndarray
    rows: np.ndarray


class Vertex(NamedTuple):
    """The point x of a basis, its rows' values A x, its multipliers y, and the costs c - Aᵀ y.

    Values are integers over the denominator of x, costs over that of y.
    """

    x: Rationals
    values: list[int]
    y: Rationals
    costs: list[int]

    def point(self) -> list[Fraction]:
        """Give x."""
        return [Fraction(value, self.x.denominator) for value in self.x.numbers]


def vertex(program: Program, basis: Basis, pause: Pause) -> Vertex | None:
    """Give the vertex of a basis and its multipliers, None if the basis is singular.

    Where no cost has to be paid, zeros are multipliers that prove it, and none are computed.
    """
    tight, free = np.flatnonzero(basis.rows != BASIC), np.flatnonzero(basis.columns == BASIC)
    if tight.size != free.size:
        return None
    K = program.A.part(tight, free)
    x = _point(program, basis, K, (tight, free), pause)
    if x is None:
        return None
    values = _values(program, basis, x)
    free_of_cost = Vertex(x, values, Rationals([0] * program.A.size, 1), program.cost)
    if is_optimal(program, free_of_cost):
        return free_of_cost
    y = _multipliers(program, K, (tight, free), pause)
    return None if y is None else Vertex(x, values, y, _costs(program, basis, y))


def _values(program: Program, basis: Basis, x: Rationals) -> list[int]:
    """Give A x over the denominator of x; rows at an end were solved for."""
    loose = np.flatnonzero(basis.rows == BASIC)
    found = program.A.part(loose, np.arange(program.A.width)).times(x.numbers)
    values = dict(zip(loose.tolist(), found, strict=True))
    for i in np.flatnonzero(basis.rows != BASIC).tolist():
        end = _end(program.row_ends, basis.rows, i)
        values[i] = x.denominator // end.denominator * end.numerator
    return [values[i] for i in range(program.A.size)]


def _costs(program: Program, basis: Basis, y: Rationals) -> list[int]:
    """Give c - Aᵀ y over the denominator of y; it is zero for basic columns."""
    tight, resting = np.flatnonzero(basis.rows != BASIC), np.flatnonzero(basis.columns != BASIC)
    rows = program.A.part(tight, resting).transposed()
    taken = rows.times([y.numbers[i] for i in tight.tolist()])
    pairs = zip(resting.tolist(), taken, strict=True)
    costs = (program.cost[j] * y.denominator - value for j, value in pairs)
    return scattered(resting.tolist(), costs, program.A.width)


def _point(
    program: Program, basis: Basis, K: Integers, part: tuple[np.ndarray, np.ndarray], pause: Pause
) -> Rationals | None:
    tight, free = part
    ends = [_end(program.column_ends, basis.columns, j) for j in range(basis.columns.size)]
    held, one = Rationals.of(ends)
    taken = program.A.times(held)
    sides = Rationals.of([_end(program.row_ends, basis.rows, i) for i in tight.tolist()])
    pairs = zip(tight.tolist(), sides.numbers, strict=True)
    right = [side * one - taken[i] * sides.denominator for i, side in pairs]
    found = solved(K, right, pause)
    if found is None:
        return None
    scale = sides.denominator * found.denominator
    numbers = [value * scale for value in held]
    for j, value in zip(free.tolist(), found.numbers, strict=True):
        numbers[j] = value
    return reduced(numbers, one * scale)


def _end(ends: Ends, states: np.ndarray, k: int) -> Fraction | int:
    """Give the end at which a row or column lies, 0 for a basic one."""
    state = states[k]
    value = ends[0][k] if state == AT_LOWER else ends[1][k] if state == AT_UPPER else 0
    return 0 if value is None else value


def _multipliers(
    program: Program, K: Integers, part: tuple[np.ndarray, np.ndarray], pause: Pause
) -> Rationals | None:
    tight, free = part
    found = solved(K.transposed(), [program.cost[j] for j in free.tolist()], pause)
    if found is None:
        return None
    numbers = scattered(tight.tolist(), found.numbers, program.A.size)
    return Rationals(numbers, found.denominator)


def feasible_point(program: Program, basis: Basis, pause: Pause) -> Rationals | None:
    """Give the point of a basis if it keeps all ends, without a look at its multipliers."""
    tight, free = np.flatnonzero(basis.rows != BASIC), np.flatnonzero(basis.columns == BASIC)
    if tight.size != free.size:
        return None
    x = _point(program, basis, program.A.part(tight, free), (tight, free), pause)
    if x is None or not _inside(x.numbers, x.denominator, program.column_ends):
        return None
    inside = _inside(_values(program, basis, x), x.denominator, program.row_ends)
    return x if inside else None


def keeps_ends(program: Program, found: Vertex) -> bool:
    """Tell whether a point and the values of its rows keep all ends."""
    sides = (found.x.numbers, program.column_ends), (found.values, program.row_ends)
    return all(_inside(values, found.x.denominator, ends) for values, ends in sides)


def _inside(values: list[int], one: int, ends: Ends) -> bool:
    triples = zip(values, *ends, strict=True)
    return all(_beyond(v, one, a) >= 0 >= _beyond(v, one, b, -1) for v, a, b in triples)


def is_optimal(program: Program, found: Vertex) -> bool:
    """Tell whether a vertex keeps all ends, and its multipliers prove that none is better."""
    one = found.x.denominator
    return all(
        _held(number, value, one, lower, upper)
        for multipliers, values, ends in (
            (found.costs, found.x.numbers, program.column_ends),
            (found.y.numbers, found.values, program.row_ends),
        )
        for number, value, lower, upper in zip(multipliers, values, *ends, strict=True)
    )


def _held(multiplier: int, value: int, one: int, lower: End, upper: End) -> bool:
    """Tell whether a value lies between its ends, and at the one that its multiplier presses on."""
    above, below = _beyond(value, one, lower), -_beyond(value, one, upper, -1)
    if above < 0 or below < 0:
        return False
    return multiplier == 0 or (above if multiplier > 0 else below) == 0


def _beyond(value: int, one: int, end: End, none: int = 1) -> int:
    """Give value / one - end, times something positive; 1 or -1 if there is no end."""
    return none if end is None else value * end.denominator - end.numerator * one


def largest_violations(
    program: Program, basis: Basis, found: Vertex, rows: np.ndarray, columns: np.ndarray
) -> tuple[int | None, int | None]:
    """Give by how much a point breaks an end at most, and a multiplier its sign, None for not.

    They are measured as floats see them, whose rows and columns are multiplied by powers of two,
    and given as powers of two, too. What is basic is to have no multiplier.
    """
    breaks, pulls, one = list[int](), list[int](), found.x.denominator
    for states, multipliers, values, ends, powers in (
        (basis.columns, found.costs, found.x.numbers, program.column_ends, -columns),
        (basis.rows, found.y.numbers, found.values, program.row_ends, rows),
    ):
        for state, number, value, lower, upper, power in zip(
            states.tolist(), multipliers, values, *ends, powers.tolist(), strict=True
        ):
            above, below = _beyond(value, one, lower), -_beyond(value, one, upper, -1)
            if above < 0 or below < 0:
                end = lower if above < 0 else upper
                assert end is not None
                bottom = one * end.denominator
                breaks.append(power_near(above if above < 0 else below, bottom) + power)
            fixed = lower is not None and lower == upper
            right = state == AT_LOWER if number > 0 else state == AT_UPPER
            if number and not (fixed or right):
                pulls.append(power_near(number, found.y.denominator) - power)
    return max(breaks, default=None), max(pulls, default=None)


def ends_pressed_on(program: Program, found: Vertex) -> Basis:
    """Give the ends that multipliers press on, as states; without one there, what is basic."""

    def states(multipliers: list[int], ends: Ends) -> np.ndarray:
        triples = zip(multipliers, *ends, strict=True)
        return np.array([_pressed(*triple) for triple in triples], np.int8)

    return Basis(
        states(found.costs, program.column_ends), states(found.y.numbers, program.row_ends)
    )


def _pressed(multiplier: int, lower: End, upper: End) -> int:
    if multiplier > 0 and lower is not None:
        return AT_LOWER
    return AT_UPPER if multiplier < 0 and upper is not None else BASIC


def power_near(top: int, bottom: int) -> int:
    """Give the power of two near a fraction."""
    return top.bit_length() - bottom.bit_length()
