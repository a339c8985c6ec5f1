"""The exact optimum of a linear program.

Method      floats find a basis, whose vertex is made exact and looked at. Where it is not optimal,
            what is left of the program is enlarged and given to the floats again. Where that
            leads nowhere: the simplex method in exact numbers, by Bland's rule, which always ends.
Sources     Applegate, Cook, Dash & Espinoza 2007; Gleixner, Steffy & Wolter 2016; Bland 1977
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.floats import FloatProgram
from rosenblatt.exact.linear import Rationals, solved
from rosenblatt.exact.programs import (
    AT_LOWER,
    AT_UPPER,
    BASIC,
    Basis,
    Program,
    Vertex,
    is_optimal,
    vertex,
)

ROUNDS = 30  # after which the floats are given up
CLOSE = -45  # powers of two: violations that may be due to rounding alone


def optimum(program: Program, feasible: Basis, clock: Clock) -> tuple[Basis, Vertex]:
    """Give an optimal basis and its vertex; `feasible` is one to begin with in exact numbers."""
    return by_floats(program, clock) or by_pivots(program, feasible, clock)


def by_floats(program: Program, clock: Clock) -> tuple[Basis, Vertex] | None:
    """Give an optimal basis and its vertex, None if floats find none.

    A basis is made exact, which takes long, if it is the first one, comes up again or seems right.
    """
    floats, seen, tried = FloatProgram(program), set[bytes](), set[bytes]()
    basis = floats.basis(clock.left())
    found = floats.found()
    for k in range(ROUNDS):
        states = np.concatenate(basis)
        name, basic = states.tobytes(), (states == BASIC).tobytes()
        wrong = floats.wrong(basis, found)
        close = all(power is None or power < CLOSE for power in wrong)
        if name not in tried and (k == 0 or basic in seen or close):
            tried.add(name)
            exact = vertex(program, basis, clock.left)
            if exact is not None and is_optimal(program, exact):
                return basis, exact
        seen.add(basic)
        refined = floats.refined(basis, found, wrong, clock.left())
        if refined is None:
            break
        basis, found = refined
    return None


def by_pivots(program: Program, basis: Basis, clock: Clock) -> tuple[Basis, Vertex]:
    """Follow the simplex method from a feasible basis, always by the first that can improve."""
    while True:
        found = vertex(program, basis, clock.left)
        assert found is not None, "a pivot leads from a basis to a basis"
        entering = _entering(program, basis, found)
        if entering is None:
            return basis, found
        basis = _pivoted(program, basis, found, entering, clock)


def _entering(program: Program, basis: Basis, found: Vertex) -> tuple[int, int] | None:
    """Give the first column or row, rows behind columns, that may improve, and its direction."""
    states = [*basis.columns.tolist(), *basis.rows.tolist()]
    ends = zip(
        *(
            a + b
            for a, b in zip(
                map(list, program.column_ends), map(list, program.row_ends), strict=True
            )
        ),
        strict=True,
    )
    for k, (state, cost, (lower, upper)) in enumerate(
        zip(states, found.costs + found.y.numbers, ends, strict=True)
    ):
        fixed = lower is not None and lower == upper
        if state == BASIC or fixed or not cost:
            continue
        if cost < 0 and state != AT_UPPER:
            return k, 1
        if cost > 0 and state != AT_LOWER:
            return k, -1
    return None


def _pivoted(
    program: Program, basis: Basis, found: Vertex, entering: tuple[int, int], clock: Clock
) -> Basis:
    """Move along an edge as far as the ends allow, and exchange what is basic."""
    place, width = entering[0], program.A.width
    steps = _edge(program, basis, entering, clock)
    moves = steps.numbers + program.A.times(steps.numbers)
    values = found.x.numbers + found.values
    lower, upper = (
        list(a) + list(b) for a, b in zip(program.column_ends, program.row_ends, strict=True)
    )
    states = np.concatenate([basis.columns, basis.rows])
    best: tuple[Fraction, int, int] | None = None
    for k, move in enumerate(moves):
        if not move or (states[k] != BASIC and k != place):
            continue
        end = upper[k] if move > 0 else lower[k]
        if end is not None:
            room = (Fraction(end) - Fraction(values[k], found.x.denominator)) / move
            candidate = room, k, AT_UPPER if move > 0 else AT_LOWER
            if best is None or candidate < best:
                best = candidate
    assert best is not None, "the programs here have an optimum"
    _, leaving, state = best
    states[place] = BASIC
    states[leaving] = state
    return Basis(states[:width], states[width:])


def _edge(program: Program, basis: Basis, entering: tuple[int, int], clock: Clock) -> Rationals:
    """Give the direction in which x moves when one column or row leaves its end."""
    place, direction = entering
    A, width = program.A, program.A.width
    tight, free = np.flatnonzero(basis.rows != BASIC), np.flatnonzero(basis.columns == BASIC)
    if place < width:
        unit = [0] * width
        unit[place] = direction
        taken = A.times(unit)
        right = [-taken[i] for i in tight.tolist()]
    else:
        right = [direction if i == place - width else 0 for i in tight.tolist()]
    found = solved(A.part(tight, free), right, clock.left)
    assert found is not None
    numbers = [0] * width
    for j, value in zip(free.tolist(), found.numbers, strict=True):
        numbers[j] = value
    if place < width:
        numbers[place] = direction * found.denominator
    return Rationals(numbers, found.denominator)
