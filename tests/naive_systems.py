"""Slow, obvious twins of `solve`: systems of linear rows in exact fractions.

Two methods that share nothing: the simplex method with Bland's rule, in two phases, which finds a
point; and Fourier and Motzkin's elimination of one unknown after the other, for tiny systems.
"""

from fractions import Fraction
from math import lcm
from typing import NamedTuple

AT_LEAST, MORE_THAN, EQUAL = ">=", ">", "="


class Line(NamedTuple):
    """The row a·w >= b, a·w > b or a·w = b."""

    a: list[Fraction]
    relation: str
    b: Fraction


def dot(a, w):
    return sum((p * q for p, q in zip(a, w, strict=True)), Fraction(0))


def holds(line, w):
    """Tell whether w satisfies a line."""
    excess = dot(line.a, w) - line.b
    if line.relation == EQUAL:
        return excess == 0
    return excess > 0 if line.relation == MORE_THAN else excess >= 0


# ---- simplex


def solution(lines):
    """Give a point that satisfies all lines, None if there is none.

    The first phase lowers the largest violation of the lines, taken as >= and =, to zero. The
    second one moves on from there and raises the common slack of the strict lines as far as 1.
    """
    if not lines:
        return []
    weak = [side for line in lines for side in weakened(line)]
    violation = max([Fraction(0), *(b for _, b in weak)])
    limits = [violation - b for _, b in weak]
    lowered, w = raised([a for a, _ in weak], [1] * len(weak), limits, violation)
    if lowered < violation:
        return None
    limits = [dot(a, w) - b for a, b in weak]
    slacks = [int(line.relation == MORE_THAN) for line in lines for _ in weakened(line)]
    if not any(slacks):
        return w
    slack, move = raised([a for a, _ in weak], slacks, limits, Fraction(1))
    return [p + q for p, q in zip(w, move, strict=True)] if slack > 0 else None


def weakened(line):
    """Write a line as one or two of a·w >= b."""
    sides = [(line.a, line.b)]
    if line.relation == EQUAL:
        sides.append(([-value for value in line.a], -line.b))
    return sides


def raised(rows, shares, limits, most):
    """Give the largest t <= most, and a w, with share·t - a·w <= limit for every row; limit >= 0.

    The free unknowns w are u - m with u >= 0 and one m >= 0.
    """
    constraints = [
        [*(-value for value in a), sum(a), Fraction(share)]
        for a, share in zip(rows, shares, strict=True)
    ]
    width = len(rows[0])
    last = [Fraction(0)] * (width + 1) + [Fraction(1)]
    x = maximiser([*constraints, last], [*limits, most])
    return x[-1], [x[j] - x[width] for j in range(width)]


def maximiser(constraints, limits):
    """Give the x >= 0 with C x <= c, where c >= 0, whose last number is largest.

    The table holds integers over one denominator, the last pivot (Edmonds), so that no fraction
    has to be reduced. Bland: of the unknowns that may enter or leave, take the first.
    """
    width, count = len(constraints[0]), len(constraints)
    table = [
        with_slack(*row, i, count) for i, row in enumerate(zip(constraints, limits, strict=True))
    ]
    goal = [-int(j == width - 1) for j in range(width + count + 1)]
    basis, common = list(range(width, width + count)), 1
    while any(value < 0 for value in goal[:-1]):
        entering = next(j for j, value in enumerate(goal) if value < 0)
        place = leaving(table, basis, entering)
        pivot = table[place]
        table = [row if row is pivot else moved(row, pivot, entering, common) for row in table]
        goal = moved(goal, pivot, entering, common)
        basis[place], common = entering, pivot[entering]
    values = {name: Fraction(row[-1], common) for name, row in zip(basis, table, strict=True)}
    return [values.get(j, Fraction(0)) for j in range(width)]


def with_slack(row, limit, place, count):
    """Write row·x <= limit as an equation in integers, with a slack of its own."""
    common = lcm(limit.denominator, *(value.denominator for value in row))
    *whole, right = (int(value * common) for value in (*row, limit))
    return [*whole, *(int(k == place) for k in range(count)), right]


def leaving(table, basis, entering):
    """Give the place of the unknown that reaches zero first."""
    rooms = (
        (Fraction(row[-1], row[entering]), name, place)
        for place, (name, row) in enumerate(zip(basis, table, strict=True))
        if row[entering] > 0
    )
    return min(rooms)[-1]


def moved(row, pivot, entering, common):
    """Take the entering unknown out of a row; the division leaves no remainder."""
    head, share = pivot[entering], row[entering]
    return [
        (value * head - share * other) // common for value, other in zip(row, pivot, strict=True)
    ]


# ---- elimination


def has_solution(lines):
    """Tell whether a tiny system has a solution, by elimination."""
    rows = {
        (*line.a, line.b, line.relation == MORE_THAN) for line in lines if line.relation != EQUAL
    }
    for line in lines:
        if line.relation == EQUAL:
            rows |= {(*a, b, False) for a, b in weakened(line)}
    for _ in range(len(lines[0].a)):
        rows = without_first(rows)
    return all(b < 0 or (b == 0 and not strict) for b, strict in rows)


def without_first(rows):
    """Add each row that bounds the first unknown from below to each that does so from above."""
    below = [in_units(row) for row in rows if row[0] > 0]
    above = [in_units(row) for row in rows if row[0] < 0]
    rest = {row[1:] for row in rows if row[0] == 0}
    return rest | {
        (*(p + q for p, q in zip(low[1:-1], high[1:-1], strict=True)), low[-1] or high[-1])
        for low in below
        for high in above
    }


def in_units(row):
    """Divide a row by the size of its first number."""
    return (*(value / abs(row[0]) for value in row[:-1]), row[-1])
