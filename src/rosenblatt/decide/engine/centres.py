"""Multipliers in the middle of all optimal ones, ever more exact, where a basis takes long to find.

Problem     a linear program, min c·x with L <= A x <= U, l <= x <= u. Where it is degenerate or
            nearly infeasible, a basis may take minutes, and an interior method without one a second
Method      its answer is taken for the exact numbers that it is. The program that is left there,
            min r·x - y·s with A x - s = 0 and the ends of x and s less what they are already, is
            enlarged and solved, and its answer added
Symbols     y multipliers of rows, r = c - A'y what they leave of costs, s the values of rows
Guarantee   none: a proof from these multipliers is checked (`rays`). Costs are cut off where they
            are far from changing their sign, so that the others are seen at all; it keeps the sign
Source      Gleixner, Steffy & Wolter 2016
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.floats import FloatProgram, costs_in_floats
from rosenblatt.decide.engine.interior import InteriorMethod
from rosenblatt.decide.engine.solver import Model
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.programs import Vertex, ends_pressed_on

ROUNDS = 4
GAIN = 20  # binary digits that an interior method is right by, at least
LARGE_DIGITS = 12  # binary digits of costs that are cut off, beside those of about 1 that matter


def central_multipliers(floats: FloatProgram, clock: Clock, other: Any) -> Iterator[Rationals]:
    """Give multipliers, each time nearer to optimal ones, until another method has ended."""
    found: Vertex | None = None
    model, best = floats.model, np.inf
    floats.primal, floats.dual = floats.units
    with InteriorMethod() as method:
        for _ in range(ROUNDS):
            centre = method.centre(model, clock.left(), other)
            clock.left()
            if centre is None:
                return
            found = floats.taken(*centre[:2], found and found.x, found and found.y)
            yield found.y
            breaks, pulls = floats.wrong(ends_pressed_on(floats.program, found), found)
            if pulls is None or pulls >= best:
                return
            best = pulls
            floats.primal = (
                floats.units[0] if breaks is None else min(-breaks, floats.primal + GAIN)
            )
            floats.dual = max(pulls, floats.dual - GAIN)
            model = _left_over(floats, found)


def _left_over(floats: FloatProgram, found: Vertex) -> Model:
    """Give what is left of the program at some point and multipliers, enlarged."""
    one = found.y.denominator
    r = [(cost, one) for cost in found.costs]
    y = [(number, one) for number in found.y.numbers]
    r_floats = costs_in_floats(r, floats.columns - floats.dual, LARGE_DIGITS)
    y_floats = costs_in_floats(y, -floats.rows - floats.dual, LARGE_DIGITS)
    (lower, upper), (low, high) = floats.ends_from(found)
    loose = np.flatnonzero(low != high)
    values = sparse.csr_matrix(
        (-np.ones(loose.size), (loose, np.arange(loose.size))), (low.size, loose.size)
    )
    right = np.where(low == high, low, 0.0)
    ends = np.append(lower, low[loose]), np.append(upper, high[loose])
    rows = sparse.csr_matrix(sparse.hstack([floats.model[-1], values]))
    return np.append(r_floats, y_floats[loose]), ends, (right, right), rows
