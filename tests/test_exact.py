"""Exact arithmetic: sparse integers, systems of equations, spans, and optima of programs."""

import math
import random as plain_random
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import naive_decide
from rosenblatt.decide.answers import Clock, OutOfTimeError
from rosenblatt.decide.engine.optimum import by_floats, by_pivots, optimum
from rosenblatt.exact import modular
from rosenblatt.exact.integers import Integers, whole_float_rows, whole_rows
from rosenblatt.exact.linear import refined, solved
from rosenblatt.exact.modular import lifted
from rosenblatt.exact.programs import AT_LOWER, BASIC, Basis, Program, is_optimal
from rosenblatt.exact.spans import orthogonal, pivots
from rosenblatt.exact.sums import weighted_sum


def no_pause():
    return None


def dense(rows):
    listed = []
    for i in range(rows.size):
        row = [0] * rows.width
        for j, value in zip(*rows.row(i), strict=True):
            row[j] += value
        listed.append(row)
    return listed


def integers(listed, width):
    rows = [[(j, value) for j, value in enumerate(row) if value] for row in listed]
    starts = np.append(0, np.cumsum([len(row) for row in rows]))
    columns = np.array([j for row in rows for j, _ in row], np.int64)
    entries = np.array([value for row in rows for _, value in row], object)
    return Integers.of(starts, columns, entries, width)


def random_rows(random, count, width, share, digits):
    """Draw rows of integers, of which a share is not zero."""
    return [
        [
            random.randint(-(2**digits), 2**digits) if random.random() < share else 0
            for _ in range(width)
        ]
        for _ in range(count)
    ]


def times(rows, vector):
    return [sum(a * x for a, x in zip(row, vector, strict=True)) for row in rows]


# ---- rows of integers


@pytest.mark.parametrize("digits", [3, 40, 100])
def test_products_are_those_of_plain_loops(digits):
    random = plain_random.Random(digits)
    for _ in range(20):
        count, width = random.randint(1, 6), random.randint(1, 6)
        listed = random_rows(random, count, width, 0.5, digits)
        rows, vector = integers(listed, width), random_rows(random, 1, width, 1, digits)[0]
        assert rows.times(vector) == times(listed, vector)
        assert dense(rows.transposed()) == [list(column) for column in zip(*listed, strict=True)]
        some, columns = np.array([0, count - 1]), np.array([width - 1])
        assert dense(rows.part(some, columns)) == [[listed[i][width - 1]] for i in some]
        assert dense(rows.above(rows)) == [*listed, *listed]
        wide = rows.with_columns(np.array([count - 1]), np.array([0]), [7])
        assert dense(wide) == [*([*row, 0] for row in listed[:-1]), [*listed[-1], 7]]


def test_floats_become_integers_times_powers_of_two():
    values = np.array([[0.1, -3.0, 0.0], [5e-324, 1e308, 1.0], [0.0, 0.0, 0.0], [6.0, 2.0, 4.0]])
    rows, factors = whole_float_rows(sparse.csr_matrix(values))
    found = [
        [Fraction(v) / factor for v in row]
        for row, factor in zip(dense(rows), factors, strict=True)
    ]
    assert found == [[Fraction(v) for v in row] for row in values.tolist()]
    assert dense(rows)[3] == [3, 1, 2]


def test_fractions_become_integers_without_a_common_divisor():
    rows, factors = whole_rows([[(0, Fraction(1, 10)), (2, 0.25)], [(1, 6), (2, 9)], []], 3)
    assert dense(rows) == [[2, 0, 5], [0, 2, 3], [0, 0, 0]]
    assert factors == [20, Fraction(1, 3), 1]


# ---- equations


@pytest.mark.parametrize(
    ("size", "share", "digits"),
    [(1, 1, 3), (5, 0.6, 3), (30, 0.1, 60), (70, 0.08, 5), (60, 0.3, 90)],
)
def test_equations_are_solved_exactly(size, share, digits):
    random = plain_random.Random(size)
    for _ in range(5):
        listed = random_rows(random, size, size, share, digits)
        K, right = integers(listed, size), random_rows(random, 1, size, 1, digits)[0]
        found = solved(K, right, no_pause)
        if found is None:
            assert naive_decide.rank(listed) < size
        else:
            assert found.denominator > 0
            assert times(listed, found.numbers) == [value * found.denominator for value in right]


def test_refinement_takes_rows_and_columns_of_all_sizes():
    random, size = plain_random.Random(2), 60
    rows, columns = ([random.randint(0, 90) for _ in range(size)] for _ in range(2))
    plain = random_rows(random, size, size, 0.2, 4)
    listed = [
        [value << (row + column) for value, column in zip(values, columns, strict=True)]
        for values, row in zip(plain, rows, strict=True)
    ]
    right = [random.randint(-9, 9) << row for row in rows]
    found = refined(integers(listed, size), right, no_pause)
    assert found is not None
    assert times(listed, found.numbers) == [value * found.denominator for value in right]


def test_digits_modulo_a_prime_solve_what_no_float_can():
    size, most = 60, math.lcm(*range(1, 120))
    hilbert = integers([[most // (i + j + 1) for j in range(size)] for i in range(size)], size)
    right = [most * (-1) ** i // (i + 1) for i in range(size)]
    assert refined(hilbert, right, no_pause) is None
    found = solved(hilbert, right, no_pause)
    assert times(dense(hilbert), found.numbers) == [value * found.denominator for value in right]


def test_digits_modulo_a_prime_are_those_of_elimination():
    random = plain_random.Random(3)
    for size in (1, 2, 7, 20):
        listed = random_rows(random, size, size, 0.5, 30)
        K, right = integers(listed, size), random_rows(random, 1, size, 1, 30)[0]
        expected, found = solved(K, right, no_pause), lifted(K, right, no_pause)
        if expected is None:
            assert found is None
        else:
            numbers, one = found
            pairs = zip(numbers, expected.numbers, strict=True)
            assert all(a * expected.denominator == b * one for a, b in pairs)


def test_digits_modulo_a_prime_can_be_stopped():
    random, calls = plain_random.Random(2), []
    K = integers(random_rows(random, 60, 60, 0.5, 50), 60)

    def pause():
        calls.append(1)
        if len(calls) == 20:
            raise OutOfTimeError

    with pytest.raises(OutOfTimeError):
        lifted(K, [1] * 60, pause)


def test_rows_modulo_a_prime_are_eliminated_in_short_pieces(monkeypatch):
    work, eliminate, prime = [], modular.eliminate, modular.PRIMES[0]

    def recorded(rows, prime, kept, leading, rank, first, last):
        work.append((last - first) * (rank + last - first) * (rows.shape[1] + 1))
        return eliminate(rows, prime, kept, leading, rank, first, last)

    monkeypatch.setattr(modular, "eliminate", recorded)
    monkeypatch.setattr(modular, "PIECE", 40 * 41 * 5)
    dense = np.random.default_rng(0).integers(0, prime, (40, 40)).astype(np.float64)
    kept, _ = modular.eliminated(dense, prime, no_pause)
    assert kept.size == 40  # each row raises the rank, within a piece too
    assert max(work) <= modular.PIECE


def test_singular_equations_have_no_solution():
    twice = [[1, 2, 3], [2, 4, 6], [1, 1, 1]]
    assert solved(integers(twice, 3), [1, 2, 3], no_pause) is None
    large = [[int(i == j) for j in range(60)] for i in range(60)]
    large[1] = list(large[0])
    assert solved(integers(large, 60), [1] * 60, no_pause) is None


def test_refinement_can_be_stopped():
    random = plain_random.Random(2)
    K = integers(random_rows(random, 80, 80, 0.5, 50), 80)

    def pause():
        raise OutOfTimeError

    with pytest.raises(OutOfTimeError):
        solved(K, [1] * 80, pause)


# ---- spans


def deficient(random, count, width, rank):
    left = random_rows(random, count, rank, 1, 3)
    right = random_rows(random, rank, width, 1, 3)
    return [times([list(column) for column in zip(*right, strict=True)], row) for row in left]


def test_pivots_are_as_many_as_the_rank_and_the_first_ones():
    random = plain_random.Random(3)
    for _ in range(60):
        count, width = random.randint(1, 6), random.randint(1, 6)
        listed = deficient(random, count, width, random.randint(1, 3))
        found = pivots(integers(listed, width), no_pause)
        greedy = []
        for i in range(count):
            chosen = [listed[k] for k in [*greedy, i]]
            if naive_decide.rank(chosen) == len(chosen):
                greedy.append(i)
        assert found.rows == greedy
        square = [[listed[i][j] for j in found.columns] for i in found.rows]
        assert len(found.columns) == len(greedy) == (naive_decide.rank(square) if square else 0)


def test_orthogonal_vectors_are_all_there_are():
    random = plain_random.Random(4)
    for _ in range(60):
        count, width = random.randint(1, 6), random.randint(1, 6)
        listed = deficient(random, count, width, random.randint(1, 3))
        found = dict(orthogonal(integers(listed, width), no_pause))
        assert len(found) == width - naive_decide.rank(listed)
        for column, vector in found.items():
            assert not any(times(listed, vector))
            assert max(j for j, value in enumerate(vector) if value) == column
            assert not any(other[column] for k, other in found.items() if k != column)


# ---- optima


def bounded_program(random):
    """Draw a program with the solution 0, whose columns have finite ends."""
    count, width = random.randint(1, 5), random.randint(1, 5)
    A = integers(random_rows(random, count, width, 0.7, 3), width)
    lower = [Fraction(-random.randint(0, 4), random.randint(1, 3)) for _ in range(width)]
    upper = [Fraction(random.randint(0, 4), random.randint(1, 3)) for _ in range(width)]
    ends = [
        random.choice([(-random.randint(0, 5), None), (None, random.randint(0, 5)), (0, 0)])
        for _ in range(count)
    ]
    rows = [end[0] for end in ends], [end[1] for end in ends]
    return Program(A, random_rows(random, 1, width, 0.8, 3)[0], rows, (lower, upper))


def value(program, found):
    return sum(c * x for c, x in zip(program.cost, found.point(), strict=True))


def is_feasible(program, x):
    values = times(dense(program.A), x)
    return all(
        (low is None or v >= low) and (high is None or v <= high)
        for v, low, high in [
            *zip(x, *program.column_ends, strict=True),
            *zip(values, *program.row_ends, strict=True),
        ]
    )


def test_floats_and_exact_pivots_find_the_same_optimum():
    random = plain_random.Random(6)
    for _ in range(150):
        program = bounded_program(random)
        lower, upper = program.column_ends
        zero = [Fraction(0)] * len(lower)
        assert is_feasible(program, zero)
        # From the program with 0 as the lower end, whose first basis is feasible.
        begun = program._replace(column_ends=(zero, upper))
        start = Basis(
            np.full(begun.A.width, AT_LOWER, np.int8), np.full(begun.A.size, BASIC, np.int8)
        )
        _, slow = by_pivots(begun, start, Clock())
        quick = by_floats(begun, Clock())
        assert is_optimal(begun, slow)
        assert is_feasible(begun, slow.point())
        assert quick is None or value(begun, quick[1]) == value(begun, slow)
        assert value(begun, optimum(begun, start, Clock())[1]) == value(begun, slow)


@pytest.mark.parametrize("gap", [Fraction(1, 10**12), Fraction(1, 10**30), Fraction(-1, 10**30)])
def test_gaps_far_below_the_tolerance_of_floats_are_seen(gap):
    """min s, x + s >= 1 + gap, x <= 1: the optimum is the gap, or zero."""
    program = Program(integers([[1, 1]], 2), [0, 1], ([1 + gap], [None]), ([0, 0], [1, None]))
    start = Basis(np.array([AT_LOWER, BASIC], np.int8), np.array([AT_LOWER], np.int8))
    _, found = optimum(program, start, Clock())
    assert value(program, found) == max(gap, 0)


def test_a_value_between_its_ends_needs_no_multiplier():
    program = Program(integers([[2]], 1), [1], ([None], [9]), ([Fraction(1, 3)], [4]))
    start = Basis(np.array([AT_LOWER], np.int8), np.array([BASIC], np.int8))
    basis, found = optimum(program, start, Clock())
    assert found.point() == [Fraction(1, 3)]
    assert basis.rows.tolist() == [BASIC]
    assert math.isclose(value(program, found), 1 / 3)


# ---- weighted sums


def naive_sum(X, rows, weights):
    X = X.toarray() if sparse.issparse(X) else X
    pairs = list(zip(rows, weights, strict=True))
    sums = [sum(Fraction(float(X[i, j])) * y for i, y in pairs) for j in range(X.shape[1])]
    return {j: total for j, total in enumerate(sums) if total}


TABLES = {
    "floats": lambda X, random: X,
    "whole numbers": lambda X, random: np.round(X),
    "large whole numbers": lambda X, random: np.round(X) * 2.0**80,
    "many scales": lambda X, random: X * 2.0 ** random.integers(-300, 300, X.shape),
    "float32": lambda X, random: X.astype(np.float32),
    "sparse": lambda X, random: sparse.csr_matrix(np.round(X) * 1.5),
}


@pytest.mark.parametrize("table", TABLES)
def test_weighted_sums_of_rows_are_the_naive_ones(table):
    random, plain = np.random.default_rng(0), plain_random.Random(0)
    for _ in range(40):
        X = TABLES[table](random.standard_normal(random.integers(1, 9, 2)), random)
        rows = random.integers(0, X.shape[0], random.integers(0, 9)).tolist()
        bits = [plain.choice([0, 20, 21, 22, 63, 64, 160, 2000]) for _ in rows]
        weights = [plain.randint(-(2**bit), 2**bit) for bit in bits]
        sums, common = weighted_sum(X, rows, weights)
        assert {j: Fraction(y, common) for j, y in sums.items()} == naive_sum(X, rows, weights)


def test_weighted_sums_of_many_rows_hold_all_digits():
    X, rows = np.full((1500, 2), math.nextafter(1.0, 0.0)), range(1500)
    X[:, 1] *= -1
    weights = [2**63 - 1] * 1500
    sums, common = weighted_sum(X, rows, weights)
    assert {j: Fraction(y, common) for j, y in sums.items()} == naive_sum(X, rows, weights)
