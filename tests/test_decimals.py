"""Decimals: floats that stand for what was written."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rosenblatt as rb
from rosenblatt.decimals import Decimals, is_decimal, marked, shortest, whole_rows
from rosenblatt.errors import InputError
from rosenblatt.exact.numbers import exact_matrix, exact_row
from rosenblatt.exact.products import compare
from rosenblatt.exact.signed import SignedRows
from rosenblatt.exact.weights import Weights

SHORT = st.decimals(-(10**6), 10**6, places=4)


def shares(random):
    """Give some rows of shares with two decimals, exactly and as floats, and labels."""
    n, d = int(random.integers(4, 14)), int(random.integers(2, 5))
    cuts = np.sort(random.integers(0, 101, (n, d - 1)), axis=1)
    ends = np.column_stack([np.zeros(n, int), cuts, np.full(n, 100)])
    percent = np.diff(ends, axis=1)
    labels = [1, -1, *random.choice([1, -1], n - 2).tolist()]
    exact = [[Fraction(value, 100) for value in row] for row in percent.tolist()]
    return exact, percent / 100, labels


def test_decimals_are_decided_as_fractions_are():
    random, differing = np.random.default_rng(1), 0
    for _ in range(100):
        exact, floats, labels = shares(random)
        right = rb.separate(exact, labels).verdict
        for X in (rb.as_decimals(floats), rb.as_decimals(sparse.csr_matrix(floats))):
            found = rb.separate(X, labels)
            assert found.verdict == right
            assert found.certificate is not None
            assert found.certificate.data.numbers == "decimal"
            assert rb.verify(found.certificate, floats, labels).ok
        differing += rb.separate(floats, labels).verdict != right
    assert differing > 5  # else these data show nothing


def test_a_tenth_and_a_fifth_are_three_tenths():
    A, b = [[1, 0], [0, 1], [1, 1]], [0.1, 0.2, 0.3]
    assert rb.solve(A, b, equal=True).verdict == "infeasible"
    found = rb.solve(A, rb.as_decimals(b), equal=True)
    assert found.w is not None
    assert found.w.tolist() == [Fraction(1, 10), Fraction(1, 5)]
    assert str(rb.verify(found.certificate, A, b, equal=True)).startswith("Proven for 3 x 2 dec")


def test_bounds_of_decimals_are_decimals():
    A, b = rb.as_decimals([[1.0, 1.0]]), [0.3]
    assert rb.solve(A, b, bounds=[(None, 0.1), (None, 0.2)]).verdict == "feasible"
    assert rb.solve([[1.0, 1.0]], b, bounds=[(0, 0.1), (0, 0.2)]).verdict == "feasible"
    found = rb.solve(A, b, bounds=[(None, Decimal("0.1")), (None, Fraction(1, 6))])
    assert found.verdict == "infeasible"
    assert rb.verify(found.certificate, A, b, bounds=[(None, 0.1), (None, Fraction(1, 6))]).ok


def test_a_certificate_of_decimals_says_nothing_about_floats():
    X, y = [[0.1, 0.2], [0.3, 0.1]], [1, -1]
    proof = rb.separate(X, y).certificate
    assert rb.verify(proof, X, y).ok
    refused = rb.verify(proof, rb.as_decimals(X), y)
    assert str(refused) == "Refused: the certificate is about float64 numbers, not decimal."


@pytest.mark.parametrize("numbers", ["decimal", "fraction"])
def test_python_numbers_are_taken_everywhere(numbers):
    kind = Decimal if numbers == "decimal" else Fraction
    tenth, fifth, sum_ = kind("0.1"), kind("0.2"), kind("0.3")
    A, b = [[1, 0], [0, 1], [1, 1]], [tenth, fifth, sum_]
    found = rb.solve(A, b, equal=True, bounds=[(tenth, None), (None, fifth)])
    assert found.verdict == "feasible"


def test_a_decimal_of_a_billion_digits_is_refused_at_once():
    with pytest.raises(InputError, match="more than 50,000 digits"):
        rb.solve([[Decimal("1e999999999")]])


@given(SHORT)
def test_the_shortest_decimal_is_what_was_written(value):
    assert shortest(float(value)) == value


def test_float32_counts_as_it_is_printed():
    X = rb.as_decimals(np.array([[0.1, 2.5]], np.float32))
    assert exact_row(X, 0) == [(0, Fraction(1, 10)), (1, Fraction(5, 2))]


def test_parts_stay_decimals_and_results_are_floats():
    for X in (rb.as_decimals(np.eye(3) / 10), rb.as_decimals(sparse.eye(3, format="csr") / 10)):
        assert all(map(is_decimal, (X[[0, 2]], X[:, [1]], X.copy(), exact_matrix(X))))
        assert not any(map(is_decimal, (X * 2, X @ np.ones(3), abs(X))))
    assert type(np.asarray(rb.as_decimals([0.1]))) is np.ndarray
    assert isinstance(rb.as_decimals([0.1]), Decimals)


def test_names_stay_with_decimals():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.1, 0.2], "b": [1, 2]})
    assert rb.separate(rb.as_decimals(frame), [0, 1]).names == ("a", "b")


def test_long_decimals_are_kept_beside_the_floats():
    long = Decimal("0.10000000000000001")
    X = rb.as_decimals([[long, -long], [Decimal("0.5"), 3]])
    assert exact_row(X[[0]], 0) == [(0, Fraction(long)), (1, -Fraction(long))]
    assert exact_row(X, 1) == [(0, Fraction(1, 2)), (1, 3)]
    for pair in ([[long, Decimal("0.1")]], [[Decimal("0.1"), long]]):
        with pytest.raises(InputError, match="differ by less than float64 can tell"):
            rb.as_decimals(pair)


def test_numbers_that_lose_digits_as_floats_are_no_decimals():
    with pytest.raises(InputError, match="1e-320 is too small"):
        rb.as_decimals([[1.0, 1e-320]])


def naive_whole_row(row):
    numbers = [Fraction(repr(value)) for value in row]
    for k in range(23):
        scaled = [number * 10**k for number in numbers]
        if all(number.denominator == 1 for number in scaled):
            return [int(number) for number in scaled]
    return None


@pytest.mark.twin_of("decimals.scale_rows")
@pytest.mark.parametrize("digits", [0, 2, 6, 12, 15, 17])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_rows_become_the_least_whole_numbers(digits, storage):
    random = np.random.default_rng(digits)
    table = np.round(random.standard_normal((50, 4)) * 10.0 ** random.integers(-3, 4, 4), digits)
    X = marked(table.copy() if storage == "dense" else sparse.csr_matrix(table))
    added = np.round(random.standard_normal((50, 2)), 3)
    rows, fits = whole_rows(X, added)
    rows = rows if storage == "dense" else rows.toarray()
    assert fits.any() == (digits < 15)
    for i in np.flatnonzero(fits).tolist():
        assert rows[i].tolist() == naive_whole_row([*table[i].tolist(), *added[i].tolist()])
    for i in np.flatnonzero(~fits).tolist():
        naive = naive_whole_row([*table[i].tolist(), *added[i].tolist()])
        assert naive is None or max(map(abs, naive)) > 10**15


@pytest.mark.parametrize("places", [1, 3, 17])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_products_with_decimals_have_their_exact_signs(places, storage):
    random = np.random.default_rng(places)
    table = np.round(random.standard_normal((60, 3)), places)
    w = [Fraction(1, 3), Fraction(2, 7), Fraction(-1, 9)]
    exact = [[shortest(value) for value in row] for row in table.tolist()]
    products = [sum(a * Fraction(x) for a, x in zip(w, row, strict=True)) for row in exact]
    signs = np.where(random.random(60) < 0.5, 1, -1).astype(np.int8)
    X = marked(table if storage == "dense" else sparse.csr_matrix(table))
    rights = np.array([float(value) for value in products])  # as near as floats come
    thresholds = marked(rights * signs)
    for ends in (thresholds, np.array([0.1]), marked(np.array([0.1])), np.array([Fraction(1, 3)])):
        numbers = _numbers(ends) * (60 // ends.size)
        right = [
            (s * p > t) - (s * p < t)
            for s, p, t in zip(signs.tolist(), products, numbers, strict=True)
        ]
        assert compare(SignedRows(X, signs, 0), Weights([*w, 0]), ends).signs.tolist() == right


def _numbers(ends):
    if ends.dtype == object:
        return list(ends)
    return [Fraction(shortest(end) if is_decimal(ends) else end) for end in ends.tolist()]


# ---- verdicts that hang on little


def test_a_system_says_by_how_little_it_is_infeasible():
    A, b = [[1, 0], [0, 1], [1, 1]], [0.1, 0.2, 0.3]
    found = rb.solve(A, b, equal=True)
    assert "It is infeasible only by 2.8e-17: if the numbers are decimals" in found.explain()
    far = rb.solve(A, [0.1, 0.2, 0.3 + 1e-6], equal=True)
    assert far.verdict == "infeasible"
    assert not far.notes
    close = rb.solve([[1], [-1]], rb.as_decimals([1.0000000001, -1.0]))
    assert "It is infeasible only by 1e-10; floats=True" in close.explain()


def test_a_separation_says_how_small_its_margin_is():
    X, y = [[0.1 + 0.2, 1], [0.3, 1]], [1, -1]
    assert "of the largest row: if the numbers are decimals" in rb.separate(X, y).explain()
    assert "of the largest row" not in rb.separate([[0.1, 1], [0.3, 1]], y).explain()
