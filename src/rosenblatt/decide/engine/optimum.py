"""The exact optimum of a linear program.

Method      floats find a basis, whose vertex is made exact and looked at. Where it is not optimal,
            what is left of the program is enlarged and given to the floats again. Where that
            leads nowhere: the simplex method in exact numbers, by Bland's rule, which always ends.
Sources     Applegate, Cook, Dash & Espinoza 2007; Gleixner, Steffy & Wolter 2016; Bland 1977
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.floats import FloatProgram
from rosenblatt.decide.engine.solver import Method, interior, quickest
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.linear import solved
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
    """Give an optimal basis and its vertex, None if floats find none."""
    for basis, _, promising in candidates(FloatProgram(program), clock):
        exact = optimal_vertex(program, basis, clock) if promising else None
        if exact is not None:
            return basis, exact
    return None


def candidates(
    floats: FloatProgram, clock: Clock, first: Method | None = None, *, patient: bool = False
) -> Iterator[tuple[Basis, Vertex, bool]]:
    """Give bases that floats find, what they are in floats, and whether they may be optimal.

    To make a basis exact takes long: it is the first one, unless one is patient, or comes up again,
    seems right, or leads no further; then the floats begin anew by another method.
    """
    tried = set[bytes]()
    for method in first or quickest, interior:
        seen, steps = set[bytes](), _refinements(floats, method, clock)
        for k, (basis, found, close, last) in enumerate(steps):
            states = np.concatenate(basis)
            name, basic = states.tobytes(), (states == BASIC).tobytes()
            likely = (k == 0 and not patient) or close or last or basic in seen
            yield basis, found, likely and name not in tried
            tried |= {name} if likely else set()
            seen.add(basic)


def _refinements(
    floats: FloatProgram, method: Method, clock: Clock
) -> Iterator[tuple[Basis, Vertex, bool, bool]]:
    """Give bases and what they are in floats, whether all but rounding is right, and the last."""
    next_one: tuple[Basis, Vertex] | None = floats.basis(clock.left(), method), floats.found()
    for _ in range(ROUNDS):
        assert next_one is not None
        basis, found = next_one
        wrong = floats.wrong(basis, found)
        yield basis, found, all(power is None or power < CLOSE for power in wrong), False
        next_one = floats.refined(basis, found, wrong, clock.left())
        if next_one is None:
            yield basis, found, False, True
            return


def optimal_vertex(program: Program, basis: Basis, clock: Clock) -> Vertex | None:
    """Give the exact vertex of a basis if it is optimal."""
    found = vertex(program, basis, clock.left)
    return found if found is not None and is_optimal(program, found) else None


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
