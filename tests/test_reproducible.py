"""Sums that do not depend on order or grouping: those of whole numbers, cut as the module says."""

import pickle
from fractions import Fraction
from math import frexp, inf, isnan, nan

import numpy as np
import pytest

from rosenblatt.cluster.reproducible import BITS, EMPTY, LOWEST, NOT_FINITE, ReproducibleSum

SCALES = {"alike": 0, "apart": 12, "far": 150}  # powers of ten between the terms of a coordinate


def terms(scale, count=40, size=30, seed=0):
    """Give vectors with zeros, whole numbers and numbers of different size."""
    random = np.random.default_rng(seed)
    powers = random.integers(-scale, scale + 1, (count, size)).astype(float)
    found = random.standard_normal((count, size)) * 10.0**powers
    found[:, :3] = random.integers(-9, 10, (count, 3))
    found[random.random((count, size)) < 0.2] = 0.0
    found[:, 3] = 0.0
    return found


def whole_digits(x, top):
    """Cut a number at a place and at the next one, by fractions."""
    high = round(Fraction(x) / Fraction(2) ** (BITS * top))
    rest = Fraction(x) - high * Fraction(2) ** (BITS * top)
    return high, round(rest / Fraction(2) ** (BITS * (top - 1)))


def naive_sum(column):
    """Give the highest place of a column of terms and the sums of their digits."""
    places = [(frexp(x)[1] + 1) // BITS for x in column if x]
    if not places:
        return EMPTY, (0, 0)
    top = max(LOWEST, *places)
    digits = [whole_digits(x, top) for x in column]
    return top, tuple(map(sum, zip(*digits, strict=True)))


def added(vectors):
    found = ReproducibleSum(vectors.shape[1])
    for vector in vectors:
        found.add(vector)
    return found


def sent(found):
    return pickle.loads(pickle.dumps(found))


def same(a, b):
    return np.array_equal(a.places, b.places) and np.array_equal(a.digits, b.digits)


@pytest.mark.twin_of("cluster.reproducible.add_terms")
@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_digits_are_those_of_whole_numbers(scale):
    vectors = terms(scale)
    found = added(vectors)
    for j, column in enumerate(vectors.T.tolist()):
        top, digits = naive_sum(column)
        assert (found.places[j], tuple(found.digits[j].tolist())) == (top, digits)


@pytest.mark.twin_of("cluster.reproducible.add_digits")
@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("seed", range(5))
def test_any_order_and_any_grouping_give_the_same_sum(scale, seed):
    vectors, random = terms(scale, seed=seed), np.random.default_rng(seed)
    whole, grouped = added(vectors), ReproducibleSum(vectors.shape[1])
    shuffled = random.permutation(vectors)
    for k, part in enumerate(np.split(shuffled, np.sort(random.integers(0, len(vectors), 4)))):
        grouped.add_sum(sent(added(part)) if k % 2 else added(part))
    assert same(whole, grouped)
    assert np.array_equal(whole.values(), grouped.values())


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_a_sum_is_off_by_little_beside_its_largest_term(scale):
    vectors = terms(scale)
    found = added(vectors).values()
    for value, column in zip(found.tolist(), vectors.T.tolist(), strict=True):
        exact, largest = sum(map(Fraction, column)), Fraction(max(map(abs, column)))
        assert abs(Fraction(value) - exact) <= len(column) * largest / 2**45
    assert np.array_equal(found[:4], vectors[:, :4].sum(axis=0))  # whole numbers are exact


def test_the_ends_of_the_floats_are_taken_or_said_to_be_no_number():
    largest, least = 1.7e308, 5e-324
    found = ReproducibleSum(6)
    found.add(np.array([inf, nan, largest, -largest, least, 1e-300]))
    found.add(np.array([1.0, 1.0, -largest, largest, 1.0, 1e-300]))
    assert [*map(isnan, found.values())] == [True, True, False, False, False, False]
    assert found.values()[2:].tolist() == [0.0, 0.0, 1.0, pytest.approx(2e-300)]
    assert found.places[0] == NOT_FINITE
    found.add(np.array([0.0, 0.0, largest, 0.0, 0.0, 0.0]))
    found.add(np.array([0.0, 0.0, largest, 0.0, 0.0, 0.0]))
    assert found.values()[2] == inf


@pytest.mark.parametrize("used", [0, 5, 30])
def test_a_sum_travels_with_the_coordinates_that_it_has(used):
    vectors = terms(12)
    vectors[:, used:] = 0.0
    found = added(vectors)
    arrived = ReproducibleSum(vectors.shape[1])
    arrived.add_sum(sent(found))
    assert same(arrived, found)
    assert used == 30 or len(pickle.dumps(found)) < len(pickle.dumps(added(terms(12))))


def test_a_part_of_the_coordinates_can_be_added_to_and_asked_for():
    found = ReproducibleSum(5)
    found.add(np.array([1.5, 2.0]), first=3)
    assert found.values().tolist() == [0, 0, 0, 1.5, 2]
    assert found.values(slice(2, 4)).tolist() == [0, 1.5]
