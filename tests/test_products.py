"""Digests, and the sides on which rows lie, are exact in every memory layout and for all numbers.

Every compiled loop is held to its twin in exact fractions.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import naive_certificates as naive
from amount import LONG
from layouts import DENSE, LAYOUTS, SPARSE
from naive_certificates import KINDS, forms
from rosenblatt import checker
from rosenblatt.blocks import in_blocks
from rosenblatt.errors import InputError
from rosenblatt.exact import digest, enclosed
from rosenblatt.exact.digest import (
    column_factors,
    label_tags,
    labelled_digest,
    shown,
    system_digest,
)
from rosenblatt.exact.enclosed import UNDECIDED, hinge_losses, look
from rosenblatt.exact.extremes import _losses_of_few
from rosenblatt.exact.limbs import exact_signs, scratch_for
from rosenblatt.exact.numbers import exact_matrix, exact_row
from rosenblatt.exact.products import (
    NO_TAGS,
    compare,
    first_look,
    short_of_root,
    signs_of_products,
    smallest,
)
from rosenblatt.exact.ranks import rank_reaches
from rosenblatt.exact.rounding import root_rounded_up, rounded_down
from rosenblatt.exact.signed import SignedRows
from rosenblatt.exact.sums import exact_dot
from rosenblatt.exact.weights import Weights
from rosenblatt.matrices import as_rows

FLOATS = KINDS[:5]
LIFTS = (0, 1, 2.5, Fraction(1, 3))


# ---- the digest


@pytest.mark.twin_of("exact.digest.fill_factors", "exact.digest.total_of")
@pytest.mark.parametrize("few", [-1, digest.FEW])
@pytest.mark.parametrize("kind", KINDS)
def test_the_digest_of_labelled_rows_is_its_definition_in_every_form(kind, few, monkeypatch):
    monkeypatch.setattr(digest, "FEW", few)
    monkeypatch.setattr(digest, "FEW_COLUMNS", few)
    random = np.random.default_rng(8)
    for _ in range(10):
        n, d = random.integers(1, 9), random.integers(1, 6)
        X, signs = naive.numbers(random, (n, d), kind), random.choice([-1, 1], n).astype(np.int8)
        tagged = [(1 if s > 0 else 2, list(enumerate(x))) for s, x in zip(signs, X, strict=True)]
        expected = naive.hashed(tagged, int(d))
        assert expected == checker.digest([checker.Row(*row) for row in tagged], int(d), None)
        for form in forms(X):
            assert labelled_digest(exact_matrix(form), signs) == expected


@pytest.mark.twin_of("exact.digest.total_of_bounds")
@pytest.mark.parametrize("few", [-1, digest.FEW])
@pytest.mark.parametrize("kind", KINDS)
def test_the_digest_of_a_system_is_its_definition_in_every_form(kind, few, monkeypatch):
    monkeypatch.setattr(digest, "FEW", few)
    monkeypatch.setattr(digest, "FEW_COLUMNS", few)
    random = np.random.default_rng(9)
    for _ in range(10):
        problem, _ = naive.feasible(random, kind, random.choice(KINDS), False)
        right = [[(problem.d, value)] for value in problem.b]
        entries = [[*enumerate(x), *last] for x, last in zip(problem.X, right, strict=True)]
        tagged = list(zip(problem.tags, entries, strict=True))
        for j, pair in enumerate(problem.bounds or []):
            ends = zip((6, 7), pair, strict=True)
            tagged += [(t, [(j, 1), (problem.d, v)]) for t, v in ends if v is not None]
        expected = naive.hashed(tagged, problem.d)
        assert expected == checker.digest(problem.rows(), problem.d, problem.bounds)
        b, tags = np.array(problem.b, object), np.array(problem.tags)
        for form in forms(problem.X):
            assert system_digest(exact_matrix(form), b, tags, problem.bounds) == expected
        if all(isinstance(value, float) for value in problem.b):
            b = b.astype(float)
            assert system_digest(exact_matrix(problem.X), b, tags, problem.bounds) == expected


def test_the_digest_does_not_depend_on_the_number_of_blocks(monkeypatch):
    monkeypatch.setattr("rosenblatt.blocks.WORTH_A_THREAD", 1)
    X = np.random.default_rng(10).standard_normal((61, 5))
    signs = np.where(X[:, 0] > 0, 1, -1).astype(np.int8)
    tagged = [
        (1 if s > 0 else 2, list(enumerate(x))) for s, x in zip(signs, X.tolist(), strict=True)
    ]
    assert labelled_digest(X, signs) == naive.hashed(tagged, 5)
    found = Weights.of([1.0, 0.0, 0.0, 0.0, 0.0], 5)
    assert compare(SignedRows(X, signs, 0), found, np.zeros(1)).signs.tolist() == [1] * 61


@pytest.mark.parametrize("rows", [1, 5, 1000])
def test_blocks_are_all_the_rows_once(rows):
    for entries in (1, 10**9):
        blocks = in_blocks(lambda a, b: list(range(a, b)), rows, entries)
        assert [i for block in blocks for i in block] == list(range(rows))


# ---- products


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_short_of_a_root_where_the_square_of_its_product_says_so(kind, few, monkeypatch):
    monkeypatch.setattr("rosenblatt.exact.products.FEW_ENTRIES", few)
    random = np.random.default_rng(12)
    X = naive.numbers(random, (4, 3), kind)
    w = naive.weights(random, 4, kind)
    exact = [naive.product(x, 1, 1, w) for x in X]
    signs = np.array([-1, 1, 1, 1], np.int8)
    exact[0] = -exact[0]
    squares = sorted(Fraction(value) ** 2 for value in exact)
    for square in (squares[0], squares[1], squares[0] * (1 - Fraction(1, 2**80)), squares[3] * 2):
        short = [i for i, value in enumerate(exact) if value < 0 or value**2 < square]
        for form in forms(X):
            rows = SignedRows(exact_matrix(form), signs, 1)
            assert short_of_root(rows, rows.weights(w), square)[0] == min(short, default=None)


@pytest.mark.parametrize("few", [0, 1000])
def test_a_row_that_is_not_finite_is_refused_where_another_is_short_of_a_root(few, monkeypatch):
    monkeypatch.setattr("rosenblatt.exact.products.FEW_ENTRIES", few)
    rows = SignedRows(np.array([[1.0], [-2.0], [np.nan]]), np.ones(3, np.int8), 1)
    with pytest.raises(InputError, match="row 2"):
        short_of_root(rows, rows.weights([1.0, 0.0]), Fraction(4))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight_kind", KINDS)
def test_signs_of_products_and_the_smallest_one_are_exact(kind, weight_kind, monkeypatch):
    if LONG:  # compiled code for each layout, where few entries are left to Python
        monkeypatch.setattr("rosenblatt.exact.products.FEW_ENTRIES", 0)
        monkeypatch.setattr(enclosed, "FEW", -1)
    random = np.random.default_rng(11)
    for lift in LIFTS:
        n, d = random.integers(1, 9), random.integers(1, 6)
        X, signs = naive.numbers(random, (n, d), kind), random.choice([-1, 1], n).astype(np.int8)
        w = naive.weights(random, d + 1, weight_kind)
        exact = [naive.product(x, s, lift, w) for x, s in zip(X, signs, strict=True)]
        least = rounded_down(min(exact))
        for form in forms(X):
            matrix = exact_matrix(form)
            found = signs_of_products(SignedRows(matrix, signs, lift), w)
            assert found.dtype == np.int8
            assert found.tolist() == list(map(naive.sign_of, exact))
            value, where = smallest(SignedRows(matrix, signs, lift), w)
            assert value == least
            assert rounded_down(exact[where]) == least


@pytest.mark.twin_of("exact.enclosed.look")
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_look_says_nothing_wrong_and_hashes_what_it_sees(layout, monkeypatch):
    random = np.random.default_rng(17)
    A = random.integers(-3, 4, (50, 6)).astype(float)
    X, signs = layout.matrix(A), random.choice([-1, 1], 50).astype(np.int8)
    w = random.integers(-2, 3, 7).astype(float)
    exact = [naive.product(x, s, 1, w.tolist()) for x, s in zip(A.tolist(), signs, strict=True)]
    want = [naive.sign_of(value - 1) for value in exact]
    out, tags = np.empty(50, np.int8), label_tags(signs)
    for hashing in ((tags, column_factors(6)), (NO_TAGS, column_factors(6))):
        found = look(as_rows(X, 1.0), signs, w, np.array([1.0]), hashing, (0, 50), out)
        assert all(sign in (true, UNDECIDED) for sign, true in zip(out, want, strict=True))
        assert (out == UNDECIDED).tolist() == [value == 1 for value in exact]
        assert min(exact) <= Fraction(found[1]) < min(exact) + Fraction(1, 10**9)
        assert (found[0] != 0) == (hashing[0].size > 0)
    tagged = [
        (1 if s > 0 else 2, list(enumerate(x))) for s, x in zip(signs, A.tolist(), strict=True)
    ]
    for few in (-1, enclosed.FEW):  # NumPy looks at few rows
        monkeypatch.setattr(enclosed, "FEW", few)
        seen = first_look(SignedRows(X, signs, 0), Weights.of(w.tolist(), 6), np.ones(1), tags)
        assert shown(seen.total, 50, 6) == naive.hashed(tagged, 6)
        assert (seen.signs == out).all()
        assert min(exact) <= Fraction(seen.at_most) < min(exact) + Fraction(1, 10**9)


def test_columns_without_a_weight_do_not_matter():
    A, signs = np.arange(60.0).reshape(3, 20), np.ones(3, np.int8)
    for w in ([0.0] * 20, [0.0] * 19 + [1.0], [1.0, *[0.0] * 18, -1.0]):
        expected = [naive.sign_of(naive.product(x, 1, 2, [*w, 3])) for x in A.tolist()]
        for X in (A, sparse.csr_matrix(A)):
            assert signs_of_products(SignedRows(X, signs, 2), [*w, 3]).tolist() == expected


def cancelling(random, n):
    """Rows whose products with w are 0, or the smallest part of one of their terms."""
    x = random.standard_normal((n, 3))
    X = np.column_stack([x, -x, np.zeros(n)])
    w = np.tile(random.standard_normal(3), 2)
    X[::2, 6] = random.choice([-1.0, 1.0], len(X[::2])) * 2.0 ** random.integers(
        -900, -100, len(X[::2])
    )
    return X[:, [0, 3, 6, 1, 4, 2, 5]], np.append(w, 1.0)[[0, 3, 6, 1, 4, 2, 5]]


@pytest.mark.parametrize("layout", [DENSE, SPARSE], ids=str)
def test_rows_that_rounding_cannot_decide_are_decided(layout):
    if layout.values is np.float32:
        layout = layout._replace(values=np.float64)
    A, w = cancelling(np.random.default_rng(12), 4000)
    X, signs = layout.matrix(A), np.ones(len(A), np.int8)
    weights = Weights.of(w.tolist(), 7)
    assert (first_look(SignedRows(X, signs, 0), weights, np.zeros(1)).signs == UNDECIDED).all()
    expected = np.sign(A[:, 2]).astype(int).tolist()
    assert signs_of_products(SignedRows(X, signs, 0), w.tolist()).tolist() == expected
    thirds = [Fraction(value) / 3 for value in w.tolist()]
    assert signs_of_products(SignedRows(X, signs, 0), thirds).tolist() == expected


@pytest.mark.twin_of("exact.limbs.exact_signs")
@pytest.mark.parametrize("kind", FLOATS)
def test_limbs_find_the_sign_of_every_row_and_every_threshold(kind):
    random = np.random.default_rng(13)
    for weight_kind in KINDS:
        n, d = 12, int(random.integers(1, 6))
        X, w = naive.numbers(random, (n, d), kind), naive.weights(random, d + 1, weight_kind)
        signs = random.choice([-1, 1], n).astype(np.int8)
        exact = [naive.product(x, s, 1, w) for x, s in zip(X, signs, strict=True)]
        thresholds = np.array([rounded_down(value) for value in exact])
        thresholds[::3] = 0.0
        thresholds[1] = math.nan
        rows, weights = as_rows(np.array(X), 1.0), Weights.of(w, d)
        out = np.full(n, 9, np.int8)
        prepared = weights.limbs, weights.floats
        totals = scratch_for(weights.limbs)
        exact_signs(rows, signs, prepared, thresholds, np.arange(n), totals, out)
        for k, value in enumerate(exact):
            finite = math.isfinite(thresholds[k])
            expected = naive.sign_of(value - Fraction(thresholds[k])) if finite else UNDECIDED
            assert out[k] == expected


def test_thresholds_may_be_fractions():
    X, signs = np.array([[1.0], [1.0], [1.0]]), np.ones(3, np.int8)
    third = Fraction(1, 3)
    thresholds = np.array([third, 1.0, third], object)
    found = compare(SignedRows(X, signs, 0), Weights.of([third], 1), thresholds)
    assert found.signs.tolist() == [0, -1, 0]


@pytest.mark.twin_of("exact.enclosed.hinge_losses")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", FLOATS)
def test_hinge_losses_enclose_the_exact_sum(kind, weighted):
    random = np.random.default_rng(14)
    X, signs = naive.numbers(random, (9, 3), kind), random.choice([-1, 1], 9).astype(np.int8)
    w = random.standard_normal(4)
    weights = random.uniform(0.1, 3.0, 9) if weighted else np.empty(0)
    exact = [naive.product(x, s, 1, w.tolist()) for x, s in zip(X, signs, strict=True)]
    pairs = zip(exact, weights.tolist() if weighted else [1] * 9, strict=True)
    loss = sum(max(1 - Fraction(weight) * value, Fraction(0)) for value, weight in pairs)
    slack = 1 + Fraction(1, 10**12)
    for least, most in (
        hinge_losses(as_rows(np.array(X), 1.0), signs, weights, w, 0, 9),
        _losses_of_few(np.array(X), signs, w, 1.0, weights),
        _losses_of_few(sparse.csr_matrix(np.array(X)), signs, w, 1.0, weights),
    ):
        assert Fraction(least) / slack <= loss
        assert most == math.inf or loss <= Fraction(most) * slack


def test_exact_rows_and_products():
    A = np.array([[0.0, -0.0, 0.1], [2.0, 0.0, 0.0]])
    for X in (A, sparse.csr_matrix(A), A.astype(object)):
        assert exact_row(X, 0) == [(2, 0.1)]
        assert exact_dot(exact_row(X, 0), [1, 1, 3]) == 3 * Fraction(0.1)


def test_matrices_stay_exact_or_are_refused():
    assert exact_matrix([[1, 2]]).dtype == np.float64
    assert exact_matrix([[2**53 + 1, 0.5]]).tolist() == [[2**53 + 1, 0.5]]
    assert exact_matrix(np.array([[2**53 + 1]])).dtype == object
    assert exact_matrix(np.array([[np.longdouble(1) / 3]]))[0, 0] == Fraction(
        *(np.longdouble(1) / 3).as_integer_ratio()
    )
    assert exact_matrix(np.array([[True, False]])).tolist() == [[1.0, 0.0]]
    X = np.ones((2, 2))
    assert exact_matrix(X) is X
    for bad, message in (
        (sparse.csr_matrix(np.array([[2**53 + 1]])), "integers beyond 2"),
        ([[1, 2], [3]], "row 0 has 2 numbers, row 1 has 1"),
        ([["a", 1]], r"X\[0, 0\] is 'a', which is not a finite number"),
        ([[1, math.nan, 2**60]], r"X\[0, 1\] is nan"),
        ([[[1]]], "a table with rows and columns"),
        ([], "a table with rows and columns"),
    ):
        with pytest.raises(InputError, match=message):
            exact_matrix(bad)
    broken = sparse.csr_matrix(np.ones((1, 2)))
    broken.indices[1] = 5
    with pytest.raises(InputError, match="column 5"):
        exact_matrix(broken)


@pytest.mark.parametrize("exponent", [-1070, -500, -3, 0, 5, 500, 1020])
def test_roots_are_rounded_up_and_numbers_down(exponent):
    random = np.random.default_rng(15)
    for value in random.random(50).tolist():
        square = (Fraction(value) * Fraction(2) ** exponent) ** 2 + Fraction(1, 7**400)
        root = root_rounded_up(square)
        assert Fraction(root) ** 2 >= square > Fraction(math.nextafter(root, 0)) ** 2
        below = rounded_down(square)
        assert Fraction(below) <= square
        assert below == math.nextafter(math.inf, 0) or square < Fraction(
            math.nextafter(below, math.inf)
        )
    assert root_rounded_up(Fraction(2) ** 4000) == math.inf
    assert rounded_down(-(Fraction(2) ** 4000)) == -math.inf
    assert root_rounded_up(Fraction(0)) == 0.0


# ---- ranks


@pytest.mark.parametrize("factor", [1, 2**61 - 1, (2**61 - 1) * (2**89 - 1)])
def test_ranks_are_reached_and_not_exceeded(factor, monkeypatch):
    random = np.random.default_rng(16)
    for dense in (2**25, 0):
        monkeypatch.setattr("rosenblatt.exact.ranks.MOST_ENTRIES", dense)
        for _ in range(20):
            A = random.integers(-2, 3, (random.integers(1, 6), random.integers(1, 6)))
            rank = np.linalg.matrix_rank(A)
            vectors = [{j: factor * v for j, v in enumerate(row) if v} for row in A.tolist()]
            assert rank_reaches(rank, vectors)
            assert not rank_reaches(rank + 1, vectors)
