"""A point of a system, or multiplied rows and bounds that contradict each other (theory D11).

Method      the exact optimum of a linear program in which rows may give way (`elastic`) is a point
            of the system, or Farkas' proof that there is none. Where a vertex would have very long
            numbers, a point inside is looked for first: floats are enough for it. So they are for
            a proof (`rays`), where a vertex is long or was not optimal
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rosenblatt.certificates import Number
from rosenblatt.check.subjects import System
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.engine.alone import row_alone
from rosenblatt.decide.engine.centres import central_multipliers
from rosenblatt.decide.engine.farkas import Contradiction, ElasticSystem
from rosenblatt.decide.engine.floats import FloatProgram
from rosenblatt.decide.engine.optimum import by_pivots, candidates, optimum
from rosenblatt.decide.engine.rays import Rays
from rosenblatt.decide.engine.solver import Simplex
from rosenblatt.exact.digest import EQUAL, MORE_THAN
from rosenblatt.exact.programs import (
    AT_LOWER,
    Basis,
    Program,
    Vertex,
    is_optimal,
    keeps_ends,
    vertex,
)
from rosenblatt.exact.weights import Weights

LONG = 20_000  # binary digits of a vertex, from which on a point inside is looked for first


def point_or_contradiction(
    system: System, rows: np.ndarray, clock: Clock
) -> Sequence[Number] | Contradiction:
    """Decide about some rows of a system, and all its bounds."""
    for column, (lower, upper) in enumerate(system.pairs or ()):
        if lower is not None and upper is not None and lower > upper:
            return Contradiction({}, {column: Fraction(1)}, {column: Fraction(1)})
    alone = row_alone(system, rows)
    if alone is not None:
        return alone
    elastic = ElasticSystem(system, rows)
    clock.left()
    inside = _inside(system, elastic, clock)
    if inside is not None:
        return inside
    program, width = elastic.program(), elastic.width
    least = _least(program, elastic, clock)
    if isinstance(least, Contradiction):
        return least
    basis, found = least
    if any(found.x.numbers[width:]):
        return elastic.contradiction(found.y, found.costs, clock)
    point = found.point()[:width]
    if not elastic.strict.size or keeps(system, point, rows):
        return point
    basis = Basis(np.append(basis.columns, np.int8(AT_LOWER)), basis.rows)
    _, found = optimum(elastic.strict_program(program), basis, clock)
    if found.x.numbers[-1]:
        return found.point()[:width]
    return elastic.contradiction(found.y, found.costs, clock)


def _least(
    program: Program, elastic: ElasticSystem, clock: Clock
) -> tuple[Basis, Vertex] | Contradiction:
    """Let rows give way as little as can be; or find, before, that some have to."""
    floats = FloatProgram(program)
    rays = Rays(elastic, floats, clock)
    with Simplex(floats.model, clock.left()) as simplex:
        if not simplex.ends_soon():
            for y in central_multipliers(floats, clock, simplex.answer):
                proof = rays.near(y)
                if proof:
                    return elastic.contradiction(*proof, clock)
        return _at_vertices(floats, elastic, rays, simplex)


def _at_vertices(
    floats: FloatProgram, elastic: ElasticSystem, rays: Rays, simplex: Simplex
) -> tuple[Basis, Vertex] | Contradiction:
    program, clock, long = floats.program, rays.clock, elastic.vertex_digits() >= LONG
    start, doubtful = elastic.start(), long
    for basis, found, promising in candidates(
        floats, clock, lambda *_: simplex.solved(), patient=long
    ):
        proof = rays.near(found.y) if doubtful else None
        if proof:
            return elastic.contradiction(*proof, clock)
        exact = vertex(program, basis, clock.left) if promising else None
        if exact is not None and is_optimal(program, exact):
            return basis, exact
        if exact is not None and keeps_ends(program, exact):
            start = basis
        doubtful |= promising
    return by_pivots(program, start, clock)


def _inside(system: System, elastic: ElasticSystem, clock: Clock) -> Sequence[Number] | None:
    """Give a point that keeps off the ends of all rows, if those on them may be very long."""
    if elastic.equal.any() or elastic.vertex_digits() < LONG:
        return None
    floats = FloatProgram(elastic.inside_program())
    found = floats.point(clock.left())[: elastic.width]
    if not np.isfinite(found).all():
        return None
    pairs = zip(found.tolist(), system.pairs or [(None, None)] * found.size, strict=True)
    point = [_between(value, *pair) for value, pair in pairs]
    return point if keeps(system, point, elastic.rows) else None


def keeps(system: System, w: Sequence[Number], rows: np.ndarray | None = None) -> bool:
    """Tell whether a point satisfies all rows, or some of them, and all bounds."""
    states, tags = system.compare(Weights([*w, 0])), system.tags
    wrong = (states < 0) | ((tags == MORE_THAN) & (states == 0)) | ((tags == EQUAL) & (states > 0))
    pairs = zip(w, system.pairs or (), strict=False)
    return not (wrong if rows is None else wrong[rows]).any() and all(
        (low is None or value >= low) and (high is None or value <= high)
        for value, (low, high) in pairs
    )


def _between(value: Number, lower: Number | None, upper: Number | None) -> Number:
    value = value if lower is None else max(value, lower)
    return value if upper is None else min(value, upper)
