"""Numbers that count, and the formulas of theory D22 beside what they count."""

import math
import operator
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rosenblatt as rb
from planted import quickly, whole
from rosenblatt.lab import counting
from rosenblatt.lab.counting import COSTS, CountingNumber

sizes = st.integers(1, 9)
seeds = st.integers(0, 2**32)


def counted(routine, *inputs):
    """Run a routine on numbers that count; give its result and the tally."""
    tally = Counter()
    return routine(*counting.counting(list(inputs), tally)), tally


def numbers(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).tolist()


# ---- the numbers


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        (operator.add, "additions"),
        (operator.sub, "additions"),
        (operator.mul, "multiplications"),
        (operator.truediv, "divisions"),
        (operator.lt, "comparisons"),
        (operator.le, "comparisons"),
        (operator.gt, "comparisons"),
        (operator.ge, "comparisons"),
        (operator.eq, "comparisons"),
        (operator.ne, "comparisons"),
    ],
)
@pytest.mark.parametrize(("left", "right"), [(3.0, 5.0), (5.0, 3.0), (4.0, 4.0)])
def test_an_operation_gives_what_floats_give_and_counts_once(operation, kind, left, right):
    tally = Counter()
    x, y = CountingNumber(left, tally), CountingNumber(right, tally)
    for first, second in [(x, y), (x, right), (left, y)]:
        assert float(operation(first, second)) == float(operation(left, right))
    assert tally == {kind: 3}


def test_a_square_root_counts_once():
    tally = Counter()
    assert float(CountingNumber(9.0, tally).sqrt()) == 3.0
    assert tally == {"square_roots": 1}


def test_results_go_on_counting():
    tally = Counter()
    x = CountingNumber(2.0, tally)
    assert float(1 + x * x / 4 - x) == 0.0
    assert tally == {"multiplications": 1, "divisions": 1, "additions": 2}


def test_a_number_that_counts_cannot_be_looked_up_unnoticed():
    with pytest.raises(TypeError, match="unhashable"):
        {CountingNumber(1.0, Counter())}


# ---- the formulas


@quickly
@given(sizes, seeds)
def test_vectors_cost_what_their_formulas_say(n, seed):
    u, v = numbers(seed, n), numbers(seed + 1, n)
    product, tally = counted(counting.dot_product, u, v)
    assert tally == COSTS[counting.dot_product](n)
    assert float(product) == pytest.approx(np.dot(u, v))
    length, tally = counted(counting.norm, u)
    assert tally == COSTS[counting.norm](n)
    assert float(length) == pytest.approx(np.linalg.norm(u))


@quickly
@given(sizes, sizes, sizes, seeds)
def test_matrices_cost_what_their_formulas_say(m, n, p, seed):
    A, B, v = numbers(seed, m, n), numbers(seed + 1, n, p), numbers(seed + 2, n)
    length, tally = counted(counting.frobenius_norm, A)
    assert tally == COSTS[counting.frobenius_norm](m, n)
    assert float(length) == pytest.approx(np.linalg.norm(A))
    image, tally = counted(counting.matrix_vector, A, v)
    assert tally == COSTS[counting.matrix_vector](m, n)
    np.testing.assert_allclose([float(x) for x in image], np.dot(A, v), atol=1e-12)
    product, tally = counted(counting.matrix_matrix, A, B)
    assert tally == COSTS[counting.matrix_matrix](m, n, p)
    np.testing.assert_allclose([[float(x) for x in row] for row in product], np.dot(A, B))


@quickly
@given(st.lists(st.integers(0, 5), min_size=1), st.integers(0, 5))
def test_a_search_costs_a_comparison_for_each_place_up_to_the_first_match(values, wanted):
    place, tally = counted(counting.linear_search, values, wanted)
    assert place == (values.index(wanted) if wanted in values else -1)
    assert tally == COSTS[counting.linear_search](len(values), place)
    assert tally.total() == (place + 1 if wanted in values else len(values))


def test_a_search_takes_half_of_the_values_on_average():
    """D22: (n + 1)/2, the place being uniform."""
    values = [float(i) for i in range(9)]
    counts = [counted(counting.linear_search, values, wanted)[1].total() for wanted in values]
    assert np.mean(counts) == (9 + 1) / 2


@pytest.mark.parametrize("values", [[0.0] * 6, [1.0] * 6, [-3.5, 1e300, -0.0, 7, 1e-300, 2]])
def test_counts_depend_on_sizes_not_on_values(values):
    square = [values[:2], values[2:4]]
    assert counted(counting.norm, values)[1] == COSTS[counting.norm](6)
    assert counted(counting.dot_product, values, values)[1] == COSTS[counting.dot_product](6)
    assert counted(counting.matrix_matrix, square, square)[1].total() == 12
    assert counted(counting.matrix_vector, square, values[:2])[1].total() == 6


# ---- the perceptron


@quickly
@given(whole())
def test_a_counted_pass_is_the_pass_of_the_package(problem):
    """Whole numbers, so that every order of summation gives the same sums."""
    X, y, _ = problem
    learner = rb.Perceptron(fit_intercept=False).partial_fit(X, y)
    (w, mistakes), tally = counted(
        lambda rows, signs: counting.perceptron_pass(rows, signs, [0.0] * X.shape[1]),
        X.tolist(),
        y.tolist(),
    )
    run, (n, d) = learner.run_, X.shape
    assert mistakes == run.mistakes == run.operations.additions
    assert [float(x) for x in w] == learner.coef_[0].tolist()
    assert tally == COSTS[counting.perceptron_pass](n, d, mistakes)
    assert tally["comparisons"] == run.operations.dot_products == n
    assert tally["multiplications"] - n == run.operations.multiply_adds == n * d + mistakes * d


def test_a_pass_over_the_six_points_goes_as_in_the_theory():
    """F1; its first mistake is a tie, which costs what any mistake costs."""
    X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    (w, mistakes), tally = counted(counting.perceptron_pass, X, [-1, 1, 1, -1, -1, 1], [0, 0])
    assert ([float(x) for x in w], mistakes) == ([3.0, 1.0], 3)
    assert tally == {"multiplications": 24, "additions": 12, "comparisons": 6}


def test_routines_work_on_plain_numbers():
    assert counting.norm([3, 4]) == 5.0
    assert counting.square_root(2) == math.sqrt(2)
    assert counting.matrix_matrix([[1, 2]], [[3], [4]]) == [[11]]
    assert counting.perceptron_pass([[1, 0]], [1], [0, 0]) == ([1, 0], 1)
