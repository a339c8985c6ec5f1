"""Solving systems (D11, D13): every kind is decided, and every point and proof checked by hand."""

import json
import math
import time
import zlib
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from amount import amount
from naive_margins import dot
from planted import interrupted, worst_case
from rosenblatt.checker import Row, check
from rosenblatt.decide.engine import feasibility
from rosenblatt.methods import cones, rescaled, smoothed

TINIEST, THIRD = 5e-324, Fraction(1, 3)
SYSTEMS_OF_A_KIND = amount(9, 36)
AT_LEAST, MORE_THAN, EQUAL = ">=", ">", "="
TAGS = {AT_LEAST: 3, MORE_THAN: 4, EQUAL: 5}
SAYS = {"feasible": ": w satisfies the system.", "infeasible": ": no point satisfies the system."}


class System(NamedTuple):
    """What `solve` is given."""

    A: Any
    b: Any = 1
    strict: Any = False
    equal: Any = None
    bounds: Any = None

    def options(self):
        return {"strict": self.strict, "equal": self.equal, "bounds": self.bounds}


# ---- the same system, read by hand


class Line(NamedTuple):
    """The row a·w >= b, a·w > b or a·w = b."""

    a: list[Fraction]
    relation: str
    b: Fraction

    def holds(self, w):
        excess = dot(self.a, w) - self.b
        if self.relation == EQUAL:
            return excess == 0
        return excess > 0 if self.relation == MORE_THAN else excess >= 0


def exact(value):
    """Give any number as the fraction that it stands for."""
    if isinstance(value, np.longdouble):
        return Fraction(*map(int, value.as_integer_ratio()))
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def table(A):
    if sparse.issparse(A):
        A = A.astype(np.float64).toarray()
    return [[exact(value) for value in a] for a in A]


def relations(system, count):
    strict, equal = (
        np.broadcast_to(np.array(bool(given) if given is None else given), count).tolist()
        for given in (system.strict, system.equal)
    )
    if system.strict is True:
        strict = [not equation for equation in equal]
    names = {(False, False): AT_LEAST, (True, False): MORE_THAN, (False, True): EQUAL}
    return [names[pair] for pair in zip(strict, equal, strict=True)]


def width_of(A):
    return np.shape(A)[1] if not sparse.issparse(A) else A.shape[1]


def rows_of(system):
    """Give the rows as lines, without the bounds."""
    left = table(system.A)
    right = [system.b] * len(left) if np.ndim(system.b) == 0 else list(system.b)
    named = relations(system, len(left))
    return [Line(a, name, exact(b)) for a, name, b in zip(left, named, right, strict=True)]


def pairs_of(system):
    """Give a pair of fractions or None for each unknown, or None for no bounds at all."""
    if system.bounds is None:
        return None
    given, width = list(system.bounds), width_of(system.A)
    if len(given) == 2 and all(np.ndim(end) == 0 for end in given):
        given = [tuple(given)] * width
    return [tuple(None if unlimited(end) else exact(end) for end in pair) for pair in given]


def unlimited(end):
    return end is None or (isinstance(end, float) and math.isinf(end))


def bounds_of(system):
    """Give the bounds as lines."""
    width, lines = width_of(system.A), []
    for j, (low, high) in enumerate(pairs_of(system) or []):
        unit = [Fraction(int(k == j)) for k in range(width)]
        lines += [Line(unit, AT_LEAST, low)] if low is not None else []
        lines += [Line([-v for v in unit], AT_LEAST, -high)] if high is not None else []
    return lines


def lines_of(system):
    return rows_of(system) + bounds_of(system)


def data_of(system):
    """Give what the independent check needs to know."""
    rows = [Row(TAGS[line.relation], list(enumerate(line.a)), line.b) for line in rows_of(system)]
    return rows, width_of(system.A), pairs_of(system)


# ---- what every answer must be


def confirm(found, system):
    """Check the answer and its certificate in every way there is."""
    if found.verdict == "undecided":
        assert found.certificate is None
        assert found.w is None
        assert found.stop
        return
    written = found.certificate.to_json()
    assert check(json.loads(written), *data_of(system)).endswith(SAYS[found.verdict])
    checked = rb.verify(written, system.A, system.b, **system.options())
    assert checked.ok, checked.reason
    assert rb.verify(found.certificate, system.A, system.b, **system.options()).ok
    if found.verdict == "feasible":
        confirm_point(found, system)
    else:
        confirm_proof(found, system)


def confirm_point(found, system):
    w = [exact(value) for value in found.w]
    assert all(line.holds(w) for line in lines_of(system))
    tight = [i for i, line in enumerate(rows_of(system)) if line._replace(relation=EQUAL).holds(w)]
    assert found.rows.tolist() == tight
    assert "has a solution" in found.explain()


def confirm_proof(found, system):
    proof, rows, space = found.certificate, rows_of(system), width_of(system.A) + 1
    assert found.w is None
    assert found.rows.tolist() == sorted(proof.rows)
    named = [rows[i] for i in proof.rows if any(rows[i].a) or rows[i].b]
    equations = sum(line.relation == EQUAL for line in named)
    assert equations <= space
    assert len(named) - equations + bounds_in(proof) <= 2 * space
    assert "no solution" in found.explain()


def bounds_in(proof):
    return len(proof.lower[0]) + len(proof.upper[0])


def decided(system):
    """Decide a system, and check its point or its proof, which is what the verdict rests on."""
    found = rb.solve(system.A, system.b, **system.options())
    assert found.verdict in ("feasible", "infeasible")
    confirm(found, system)
    return found


# ---- small systems of all kinds


def shape(random, most_rows=8, most_columns=4):
    return random.integers(1, most_rows + 1), random.integers(1, most_columns + 1)


def integers(random, size, most=3):
    return random.integers(-most, most + 1, size).astype(float)


def any_relations(random, count, strict=0.2, equal=0.15):
    chance = random.random(count)
    return {"strict": chance < strict, "equal": chance > 1 - equal}


def whole(random, most=3, **sizes):
    A = integers(random, shape(random, **sizes), most)
    return System(A, integers(random, len(A)), **any_relations(random, len(A)))


def degenerate(random):
    A = integers(random, shape(random, 14, 4), 1)
    return System(A, integers(random, len(A), 1), **any_relations(random, len(A), 0.1, 0.05))


def normal(random):
    A = random.standard_normal(shape(random, 10))
    return System(A, random.standard_normal(len(A)), random.random(len(A)) < 0.3)


def with_interior(random):
    A = random.standard_normal(shape(random, 12))
    b = A @ random.standard_normal(A.shape[1]) - random.random(len(A)) - 1e-9
    return System(A, b, bool(random.integers(2)))


def a_vertex(random):
    """Rows that all hold with equality at one point, or nearly all."""
    A = integers(random, shape(random, 12))
    b = A @ integers(random, A.shape[1]) - random.choice([0, 0, 0, 1], len(A))
    return System(A, b, **any_relations(random, len(A), 0.1, 0.1))


def implied_equations(random):
    """Rows and the same rows the other way round: no interior."""
    A = integers(random, shape(random, 3))
    b = A @ integers(random, A.shape[1])
    more = integers(random, (2, A.shape[1]))
    right = np.concatenate([b, -b, integers(random, 2) - 2])
    order = random.permutation(len(right))
    A, right = np.vstack([A, -A, more])[order], right[order]
    return System(A, right, random.random(len(A)) < 0.1)


def sum_of_rows(random, gap):
    """Rows of which one is minus a positive combination of the others."""
    A = integers(random, shape(random, 6, 5))
    b, shares = integers(random, len(A)), random.integers(0, 3, len(A))
    A, b = np.vstack([A, -shares @ A]), np.append(b, gap - shares @ b)
    order = random.permutation(len(b))
    return System(A[order], b[order], random.random(len(A)) < 0.1)


def contradictory(random):
    return sum_of_rows(random, random.choice([1.0, 2.0**-40]))


def touching(random):
    return sum_of_rows(random, 0.0)


def equations(random):
    A = integers(random, shape(random, 6, 5))
    b = A @ integers(random, A.shape[1]) + random.choice([0, 0, 0, 0, 1], len(A))
    return System(A, b, equal=random.random(len(A)) < 0.6)


def dependent_equations(random):
    A = integers(random, shape(random, 3, 4))
    A = np.vstack([A, integers(random, (2, len(A)), 1) @ A])
    b = A @ integers(random, A.shape[1])
    b[-1] += random.choice([0, 0, 1])
    return System(A, b, equal=True)


def equations_inside_bounds(random):
    system = equations(random)
    return system._replace(bounds=any_bounds(random, system.A.shape[1]))


def all_strict(random):
    A = integers(random, shape(random, 9))
    return System(A, random.choice([integers(random, len(A), 1), np.zeros(len(A))]), True)


def strict_beside_equations(random):
    A = integers(random, shape(random))
    b = A @ integers(random, A.shape[1]) - random.choice([0, 1, 1], len(A))
    return System(A, b, True, random.random(len(A)) < 0.3)


def through_the_origin(random):
    A = integers(random, shape(random, 10))
    return System(A, 0, random.random(len(A)) < 0.3)


def any_bounds(random, width):
    """Bounds on both sides, one, none, at the same place, and now and then contradictory ones."""
    ends = [
        (-1, 2), (0, None), (None, 0.5), (None, None), (1, 1), (0, 0), (-math.inf, 3),
        (THIRD, math.inf), (-2, 2), (-0.1, 0.1), (np.float32(0.1), np.int64(3)),
        (THIRD, THIRD), (2, 1),
    ]  # fmt: skip
    return [ends[k] for k in random.integers(0, len(ends) - (random.random() < 0.8), width)]


def bounded(random):
    system = [whole, touching, a_vertex, normal][random.integers(4)](random)
    return system._replace(bounds=any_bounds(random, system.A.shape[1]))


def one_pair_for_all(random):
    system = [whole, contradictory, with_interior][random.integers(3)](random)
    pairs = [(0, None), (None, 1), (-1, 1), [0, 0], (None, None), (1, -1), (0.1, math.inf)]
    return system._replace(bounds=pairs[random.integers(len(pairs))])


def bounds_alone(random):
    width = int(random.integers(1, 4))
    return System(np.empty((0, width)), 1, bounds=any_bounds(random, width))


def fixed_unknowns(random):
    """All unknowns but one are fixed, at a solution or next to it."""
    A = integers(random, shape(random, 6, 4))
    w = integers(random, A.shape[1])
    fixed = w + random.choice([0, 0, 0, 1], w.size)
    bounds = [(value, value) for value in fixed.tolist()]
    bounds[0] = (None, None)
    return System(A, A @ w, random.random(len(A)) < 0.1, bounds=bounds)


def bounds_of_all_sizes(random):
    system = whole(random)
    ends = [10**40, 10**400, Fraction(1, 10**30), TINIEST, 1e308, 2**53 + 1, np.longdouble("0.1")]
    pairs = [sorted(random.choice(len(ends), 2)) for _ in range(system.A.shape[1])]
    return system._replace(bounds=[(-ends[j], ends[k]) for j, k in pairs])


def zero_rows(random):
    system = whole(random)
    system.A[random.random(len(system.A)) < 0.3] = 0
    return system


def possible_zero_rows(random):
    system = a_vertex(random)
    empty = random.random(len(system.A)) < 0.3
    system.A[empty], system.b[empty] = 0, -random.choice([0, 0, 1], empty.sum())
    return system._replace(strict=system.strict & ~empty)


def zero_columns(random):
    system = whole(random, most_columns=6)
    system.A[:, random.random(system.A.shape[1]) < 0.5] = 0
    return system


def nothing_but_zeros(random):
    A = np.zeros(shape(random, 3, 3))
    return System(A, integers(random, len(A), 1), **any_relations(random, len(A)))


def repeated(random):
    system = [whole, touching, a_vertex][random.integers(3)](random)
    chosen = random.integers(0, len(system.A), 2 * len(system.A))
    return system._replace(
        A=system.A[chosen], b=system.b[chosen], strict=system.strict[chosen], equal=None
    )


def rank_deficient(random):
    system = [whole, touching, normal][random.integers(3)](random)
    A = np.hstack([system.A, system.A @ integers(random, (system.A.shape[1], 2), 2)])
    return system._replace(A=A * random.choice([1, 0.1]))


def wide(random):
    n = random.integers(1, 5)
    A = np.round(random.standard_normal((n, n + random.integers(1, 5))) * 2, random.integers(3))
    A = np.vstack([A, -A[:1]])
    b = random.standard_normal(len(A))
    b[-1] = random.choice([-b[0], -b[0] + 1e-9, b[-1]])
    return System(A, b, **any_relations(random, len(A)))


def scaled_rows(random):
    system = [whole, normal, touching, with_interior][random.integers(4)](random)
    scales = 2.0 ** random.integers(-498, 499, len(system.A))
    return system._replace(A=system.A * scales[:, None], b=system.b * scales)


def scaled_columns(random):
    system = [whole, normal, touching][random.integers(3)](random)
    return system._replace(A=system.A * 10.0 ** random.integers(-150, 151, system.A.shape[1]))


def scaled_entries(random):
    system = whole(random, most_rows=5, most_columns=3)
    return system._replace(
        A=system.A * 10.0 ** random.choice([0, 0, 0, -20, 20, -150, 150], system.A.shape),
        b=system.b * 10.0 ** random.choice([0, 0, -150, 150], len(system.A)),
    )


def scaled_right_hand_sides(random):
    system = [whole, touching, normal][random.integers(3)](random)
    return system._replace(b=system.b * 10.0 ** random.integers(-150, 151))


def subnormal(random):
    system = [whole, touching, a_vertex][random.integers(3)](random)
    parts = random.choice([[1, 0], [0, 1], [1, 1]])
    scales = np.where(parts, TINIEST * random.choice([1, 2**20]), 1)
    return system._replace(A=system.A * scales[0], b=system.b * scales[1])


def huge(random):
    system = [whole, touching, normal][random.integers(3)](random)
    A, b = (part / np.abs(part).max(initial=1e-300) for part in (system.A, system.b))
    return system._replace(A=A * 1.7e308, b=b * random.choice([1.7e308, 1, TINIEST]))


def long_integers(random):
    """Integers beyond 2^53, which differ in their last digits."""
    system = [whole, touching, a_vertex][random.integers(3)](random)
    factor = 3 ** int(random.integers(35, 60))
    A = system.A.astype(int).astype(object) * factor + random.integers(0, 2)
    b = system.b.astype(int).astype(object) * factor + random.integers(0, 2)
    return system._replace(A=A, b=b.tolist())


def long_right_hand_sides(random):
    system = [whole, touching][random.integers(2)](random)
    b = [int(value) * 10 ** int(random.choice([0, 30, 400])) for value in system.b]
    return system._replace(b=b)


def fractions(random):
    system = [whole, touching, a_vertex, contradictory][random.integers(4)](random)
    thirds = [Fraction(1, int(k)) for k in random.choice([1, 3, 7, 10**30], system.A.shape[1])]
    A = system.A.astype(int).astype(object) * np.array(thirds, object)
    b = [exact(value) * Fraction(1, int(random.choice([1, 1, 3]))) for value in system.b]
    return system._replace(A=A, b=b)


def numbers_of_all_types(random):
    system = whole(random)
    kinds = [float, int, lambda v: Fraction(int(v), 3), lambda v: 10**400 * int(v)]
    chosen = random.integers(0, 4, system.A.shape[1])
    A = [[kinds[c](v) for c, v in zip(chosen, a, strict=True)] for a in system.A.tolist()]
    return system._replace(A=A)


def arrays_of_all_types(random):
    system = whole(random)
    kind = [np.int8, np.int64, np.float16, np.longdouble][random.integers(4)]
    return system._replace(A=system.A.astype(kind), b=system.b.astype(kind))


def single_precision(random):
    system = [normal, with_interior, whole][random.integers(3)](random)
    A = system.A.astype(np.float32)
    return system._replace(A=A, b=system.b.astype(random.choice([np.float32, np.float64])))


def sparse_rows(random):
    """CSR, with entries that are stored zeros, stored twice or out of order; and other formats."""
    system = [whole, touching, a_vertex, bounded][random.integers(4)](random)
    A = system.A
    rows, columns = np.indices(A.shape).reshape(2, -1)
    order = random.permutation(np.repeat(np.arange(A.size), 2))
    halves = A.ravel()[order] / 2
    kept = (halves != 0) | (random.random(halves.size) < 0.1)
    stored = sparse.coo_matrix((halves[kept], (rows[order][kept], columns[order][kept])), A.shape)
    forms = [stored.tocsr(), sparse.csr_matrix(A), stored, sparse.csc_matrix(A)]
    return system._replace(A=forms[random.integers(4)].astype(random.choice([np.float32, float])))


def sparse_rows_and_exact_numbers(random):
    system = sparse_rows(random)
    width = system.A.shape[1]
    return [
        system._replace(b=THIRD),
        system._replace(b=2**60 + 1),
        system._replace(bounds=[(Fraction(-1, 3), 10**30)] * width),
    ][random.integers(3)]


def one_right_hand_side(random):
    A = integers(random, shape(random, 9))
    values = [1, 0, -1, 2.5, -TINIEST, TINIEST, 1e150, THIRD, -(10**40), np.float32(0.1)]
    return System(A, values[random.integers(len(values))], **any_relations(random, len(A)))


def one_float_apart(random):
    """Two parallel rows between which there is room for one float, or none."""
    a, width = random.standard_normal(), int(random.integers(1, 3))
    low = float(random.choice([1.0, 0.1, 1e-300, -3.0, TINIEST]))
    high = random.choice([low, np.nextafter(low, 9), np.nextafter(low, -9)])
    A = np.zeros((2, width))
    A[:, 0] = a, -a
    A[:, -1] += random.choice([0, 0.1, 1e-17]) * np.array([1, -1])
    return System(A, [low, -high], random.random(2) < 0.4)


def thin(random):
    """The worst case F10 with any right-hand side, and turned."""
    K = 10.0 ** random.integers(1, 17)
    A = np.array([[1, 1], [1, 0], [1 / K, 1], [0, -1]]) @ integers(random, (2, 2), 2)
    return System(A, random.choice([1.0, 0.0, -1.0], 4), bool(random.integers(2)))


def thin_wedge(random):
    """Two planes at an angle near the end of what floats resolve, and one across."""
    tilt = 10.0 ** -random.integers(5, 18) * random.choice([-1, 1])
    A = np.array([[1, 1], [-1, -1 + tilt], [0, -1]])
    return System(A, [0, random.choice([0, 1, 1e-9]), random.choice([1, -1, 1e9])])


def hilbert(random):
    """Equations and rows of a matrix that floats cannot tell from a singular one."""
    size = int(random.integers(3, 7))
    A = 1 / (np.arange(size)[:, None] + np.arange(size) + 1.0)
    A = np.vstack([A, -A.sum(axis=0)])
    equal = random.random(size + 1) < random.choice([0, 0.5, 1])
    return System(A, integers(random, size + 1), equal=equal)


def larger(random):
    A = integers(random, (20, 6))
    b = A @ integers(random, 6) - random.choice([0, 1, 3], 20) + random.choice([0, 1], 20)
    return System(A, b, random.random(20) < 0.1)


def tiny_gap(random):
    """A system on the brink, moved to either side of it by less than floats resolve."""
    system = touching(random)
    b = [exact(value) for value in system.b]
    step = Fraction(int(random.choice([-1, 1])), 10 ** int(random.choice([9, 20, 100, 300])))
    b[random.integers(len(b))] += step
    return system._replace(b=b)


def growing(random):
    """Each unknown must be many times the one before."""
    width = int(random.integers(2, 6))
    A = np.eye(width) - 10.0 ** random.integers(1, 18) * np.eye(width, k=-1)
    A = np.vstack([A, random.choice([-1, 1]) * np.eye(width)[-1:]])
    b = np.zeros(width + 1)
    b[0], b[-1] = random.choice([1, -1]), random.choice([0, -1, -1e300])
    return System(A, b, random.random(width + 1) < 0.3)


def chained_equations(random):
    """Pairs of rows of which each is a pair of opposites only in view of the pairs before."""
    width = int(random.integers(2, 7))
    directions, rows = integers(random, (width, width), 2), []
    for k in range(width - random.integers(2)):
        known = integers(random, (2, k)) @ directions[:k]
        rows += [directions[k] + known[0], known[1] - directions[k]]
    A = random.permutation(np.vstack([*rows, integers(random, (2, width))]))
    scales = random.choice([1, 2.0 ** random.integers(-30, 31)], (len(A), 1))
    b = random.choice([0.0, 1.0], len(A), p=[0.95, 0.05])
    return System(A * scales, b, random.random(len(A)) < 0.05)


def nearly_implied(random):
    """Rows that depend on equations up to a few units in the last places."""
    width, more = int(random.integers(2, 6)), int(random.integers(1, 5))
    A = random.standard_normal((width - 1, width))
    noise = 10.0 ** -random.integers(8, 17) * random.standard_normal((more, width))
    near, w = random.standard_normal((more, width - 1)) @ A + noise, random.standard_normal(width)
    b, right = A @ w, near @ w + 10.0 ** -random.integers(8, 17) * random.choice([-1, 0, 1], more)
    if random.random() < 0.5:
        return System(np.vstack([A, -A, near]), np.concatenate([b, -b, right]))
    equal = np.arange(len(A) + more) < len(A)
    return System(np.vstack([A, near]), np.concatenate([b, right]), equal=equal)


def nearly_parallel(random):
    n, width = shape(random, 8)
    noise = 10.0 ** -random.integers(12, 17) * random.standard_normal((n, width))
    A = np.outer(random.choice([-1, 1], n), random.standard_normal(width)) * (1 + noise)
    b = random.choice([0, 1, -1, 1e-12], n)
    return System(A, b, random.random(n) < 0.3, bounds=[None, (-1e3, 1e3)][random.integers(2)])


def transport(random):
    """Amounts sent from sources to sinks: very degenerate."""
    sources, sinks = (int(k) for k in random.integers(2, 4, 2))
    supply = random.integers(1, 5, sources).astype(float)
    demand = random.multinomial(int(supply.sum()), [1 / sinks] * sinks)
    A = np.vstack([np.kron(np.eye(sources), np.ones(sinks)), np.tile(np.eye(sinks), sources)])
    supply[0] += random.choice([0, 0, 1, 2.0**-40])
    most = [None, 2, 1, 1.5][random.integers(4)]
    return System(A, np.concatenate([supply, demand]), equal=True, bounds=(0, most))


KINDS = [
    whole, degenerate, normal, with_interior, a_vertex, implied_equations, contradictory, touching,
    equations, dependent_equations, equations_inside_bounds, all_strict, strict_beside_equations,
    through_the_origin, bounded, one_pair_for_all, bounds_alone, fixed_unknowns,
    bounds_of_all_sizes, zero_rows, possible_zero_rows, zero_columns, nothing_but_zeros, repeated,
    rank_deficient, wide, scaled_rows, scaled_columns, scaled_entries, scaled_right_hand_sides,
    subnormal, huge, long_integers, long_right_hand_sides, fractions, numbers_of_all_types,
    arrays_of_all_types, single_precision, sparse_rows, sparse_rows_and_exact_numbers,
    one_right_hand_side, one_float_apart, thin, thin_wedge, hilbert, larger, tiny_gap, growing,
    chained_equations, nearly_implied, nearly_parallel, transport
]  # fmt: skip


def generator(make, number):
    return np.random.default_rng([zlib.crc32(make.__name__.encode()), number])


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_every_system_is_decided_and_proved(make):
    for number in range(SYSTEMS_OF_A_KIND):
        decided(make(generator(make, number)))


def solved(system, **limits):
    return rb.solve(system.A, system.b, **system.options(), **limits)


@pytest.mark.parametrize("bounds", [None, (-10, 10)])
def test_proofs_of_one_circuit_are_short(bounds):
    """In general position the first circuit is a proof: at most d + 2 rows and bounds."""
    random = np.random.default_rng(1)
    for width in (1, 2, 3, 5, 8):
        A = random.standard_normal((12 * width, width))
        system = System(A, random.standard_normal(len(A)), bounds=bounds)
        found = solved(system)
        assert found.verdict == "infeasible"
        assert found.rows.size + bounds_in(found.certificate) <= width + 2
        confirm(found, system)


def test_floats_are_given_where_they_suffice():
    found = rb.solve([[1, 2], [-1, 0], [0, -1]], [3, -1, -1])
    assert found.w.tolist() == [1.0, 1.0]
    assert found.w.dtype == np.float64
    assert found.rows.tolist() == [0, 1, 2]
    assert str(found) == found.explain()
    assert "hold with equality" in str(found)


def test_fractions_are_given_where_floats_do_not_suffice():
    found = rb.solve([[3]], 1, equal=True)
    assert found.w.tolist() == [THIRD]
    assert "fractions" in str(found)


def test_bounds_may_be_part_of_the_proof():
    found = rb.solve([[1, 1]], 3, bounds=(0, 1))
    assert "bounds" in str(found)
    assert found.certificate.rows == (0,)
    assert found.certificate.upper[0] == (0, 1)


# ---- the methods of D11 and D13

METHODS = ("perceptron", "rescaled", "smoothed")
every_method = pytest.mark.parametrize("method", METHODS)
WORST_CASES = (10, 1e3, 1e6, 1e9, 1e15)


def roomy(random):
    """A system with a ball of radius 1/10 inside, and b of any sign."""
    A = random.standard_normal(shape(random, 30, 6))
    b = A @ random.standard_normal(A.shape[1]) - np.linalg.norm(A, axis=1) / 10
    return System(A, b, bool(random.integers(2)))


def roomy_forms(random):
    """The same as CSR, in float32, in fractions and in other units; and with positive b."""
    A, b, strict, *_ = roomy(random)
    thirds = [[exact(value) / 3 for value in a] for a in A]
    cone = A * np.where(A @ np.ones(A.shape[1]) > 0, 1, -1)[:, None]
    return [
        System(sparse.csr_matrix(A), b, strict),
        System(A.astype(np.float32), b - 1e-3, strict),
        System(thirds, (b / 3 - 1e-9).tolist(), strict),
        System(cone, random.random(len(A)) + 0.1, strict),
        System(A * 1e100, b * 1e100, strict),
        System(A * 1e-100, b * 1e-100, strict),
    ]


@every_method
def test_methods_find_a_point_where_there_is_room(method):
    for number in range(20):
        system = roomy(generator(roomy, number))
        found = solved(system, method=method)
        assert (found.verdict, found.method) == ("feasible", method)
        assert type(found.steps) is int
        confirm(found, system)


@every_method
def test_methods_find_a_point_in_every_form_of_the_data(method):
    for number in range(3):
        for system in roomy_forms(generator(roomy_forms, number)):
            found = solved(system, method=method)
            assert found.verdict == "feasible"
            confirm(found, system)


@every_method
@pytest.mark.parametrize("bounds", [(-3, None), (-3, 3), [(0.5, 2), (None, 0), (-1, THIRD)]])
def test_methods_find_a_point_inside_bounds(method, bounds):
    A = np.random.default_rng(2).standard_normal((10, 3))
    system = System(A, A @ [1.0, -0.5, 0.2] - 0.1, bounds=bounds)
    found = solved(system, method=method)
    assert found.verdict == "feasible"
    confirm(found, system)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_methods_never_give_a_wrong_answer(make):
    for number in range(SYSTEMS_OF_A_KIND, SYSTEMS_OF_A_KIND + 4):
        system = make(generator(make, number))
        if EQUAL in relations(system, len(rows_of(system))):
            continue
        for method in METHODS:
            found = solved(system, method=method, max_steps=300)
            assert found.steps <= 300
            confirm(found, system)


@every_method
@pytest.mark.parametrize(
    "system",
    [
        System([[1.7e308, 1.7e308]]),
        System([[TINIEST]]),
        System([[1e-300]], 1e300),
        System([[1.0]], TINIEST),
        System([[1e300], [1e-300]], [1.0, 1e300]),
        System(np.empty((0, 2))),
        System(np.empty((0, 2)), bounds=(0, 1)),
        System([[10**400, 1], [1, 10**400]]),
        System(sparse.csr_matrix(np.eye(2)), THIRD),
    ],
    ids=lambda system: f"{np.shape(system.A)} {system.b}",
)
def test_methods_take_numbers_of_any_size(method, system):
    found = solved(system, method=method, max_steps=300)
    assert found.verdict in ("feasible", "undecided")
    assert not found.stop.startswith("Found")
    confirm(found, system)


@every_method
def test_methods_refuse_equations(method):
    with pytest.raises(rb.InputError, match="equations has none; give method='auto'"):
        rb.solve([[1, 2], [2, 1]], 1, equal=[True, False], method=method)


@every_method
def test_methods_stop_at_the_limit_on_steps(method):
    found = rb.solve(worst_case(1e6), method=method, max_steps=17)
    assert (found.verdict, found.steps) == ("undecided", 17)
    assert "limit on steps" in found.stop
    assert "undecided" in found.explain().lower()
    confirm(found, System(worst_case(1e6)))


@pytest.mark.parametrize("method", ["perceptron", "smoothed"])
def test_methods_stop_at_the_limit_on_time(method):
    began = time.process_time()
    found = rb.solve(worst_case(1e9), method=method, max_seconds=0.2)
    assert found.verdict == "undecided"
    assert "time" in found.stop
    assert time.process_time() - began < 20  # the loops may have to be compiled


def test_no_proof_is_given_that_is_too_long_to_be_checked_again():
    found = rb.solve([[10**50_000]], [1], equal=True)
    assert (found.verdict, found.stop) == ("undecided", "the proof did not pass the check")


def test_auto_stops_at_the_limit_on_time():
    found = rb.solve(worst_case(10), max_seconds=1e-9)
    assert (found.verdict, found.stop) == ("undecided", "out of time")
    assert "The time limit was reached; allow more seconds." in str(found)


@pytest.mark.parametrize("K", WORST_CASES)
def test_the_worst_case_is_decided_at_once(K):
    rb.solve(worst_case(2))  # so that loops are compiled or loaded before the clock starts
    began = time.process_time()
    found = rb.solve(worst_case(K))
    assert found.verdict == "feasible"
    assert time.process_time() - began < 0.5
    confirm(found, System(worst_case(K)))


# ---- interrupts


def test_an_interrupt_leaves_the_system_undecided(monkeypatch):
    monkeypatch.setattr(feasibility, "Simplex", interrupted)
    found = rb.solve(worst_case(10))
    assert (found.verdict, found.stop) == ("undecided", "interrupted")
    confirm(found, System(worst_case(10)))


@pytest.mark.parametrize(
    ("method", "place"),
    [("perceptron", cones.Plain), ("rescaled", rescaled.Rescaled), ("smoothed", smoothed.Smoothed)],
)
def test_an_interrupted_method_says_so(monkeypatch, method, place):
    monkeypatch.setattr(place, "advance", interrupted)
    found = rb.solve(worst_case(10), method=method)
    assert found.verdict == "undecided"
    assert "nterrupted" in found.stop


# ---- refusals

TWO = [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1, 2],), "a table with rows and columns is needed"),
        (([[1, 2], [3]],), "table"),
        (([],), "a table with rows and columns is needed"),
        ((np.empty((3, 0)),), "a table with rows and columns is needed"),
        ((TWO, [1, 2]), "b needs 1 numbers"),
        ((TWO, [[1]]), "b needs 1 numbers"),
        ((np.empty((0, 2)), [1]), "b needs 0 numbers"),
        (([[math.nan, 1]],), r"^A\[0, 0\] is nan, which is not a finite number; replace it$"),
        ((np.array([[math.nan, 1]]),), r"^A contains NaN \(row 0, column 0\); give a number$"),
        ((np.array([[1, math.inf]]),), "infinit"),
        ((sparse.csr_matrix([[1, -math.inf]]),), "infinit"),
        ((TWO, math.nan), "not a finite number"),
        ((TWO, np.array([math.inf])), "NaN or infinity"),
        (([[1, "a"]],), "not a finite number"),
        (([[1, None]],), "not a finite number"),
        (([[1, 1j]],), "not a finite number"),
        ((TWO, "1"), "not a finite number"),
        ((TWO, None), "not a finite number"),
    ],
)
def test_data_that_cannot_be_used_are_refused(given, message):
    with pytest.raises(rb.InputError, match=message):
        rb.solve(*given)


BAD_OPTIONS = {
    "row 0 cannot be both strict and an equation": [{"strict": [True], "equal": [True]}],
    "strict must be a truth value": [{"strict": given} for given in ([True, False], [1], "yes")],
    "equal must be a truth value": [{"equal": 1}],
    "a pair for each of 2 columns": [{"bounds": [(0, 1)]}, {"bounds": [(0, 1)] * 3}],
    "a pair": [{"bounds": given} for given in ([(0, 1, 2)] * 2, [(0, 1), None], "ab", 5)],
    "not a finite number": [
        {"bounds": given}
        for given in ((math.nan, 1), (math.inf, None), (None, -math.inf), [(0, "1"), (0, 1)])
    ],
    "method must be one of 'auto', 'perceptron'": [
        {"method": given} for given in ("simplex", None, ["auto"])
    ],
    "max_seconds must be a positive finite number": [
        {"max_seconds": given, "method": "smoothed"} for given in (0, -1, math.nan, 10**400, "1")
    ],
    "max_steps": [
        {"max_steps": given, "method": method}
        for given, method in zip((-1, 1.5, "1"), METHODS, strict=True)
    ],
}


@pytest.mark.parametrize("message", BAD_OPTIONS)
def test_options_that_make_no_sense_are_refused(message):
    for options in BAD_OPTIONS[message]:
        with pytest.raises(rb.InputError, match=message):
            rb.solve(TWO, **options)


@every_method
def test_any_number_of_steps_may_be_allowed(method):
    assert rb.solve(TWO, method=method, max_steps=10**30).verdict == "feasible"


def test_infinity_is_no_bound_in_every_type_of_float():
    for kind in (float, np.float64, np.float32, np.longdouble):
        bounds = [(kind("-inf"), kind("inf"))] * 2
        assert rb.solve(TWO, bounds=bounds).verdict == "feasible"


def test_equations_are_never_strict():
    system = System([[1.0, 2.0], [2.0, 4.0]], [1, 2], True, True)
    assert decided(system).verdict == "feasible"
