"""Polynomial features: their inner products are the kernel's, in every layout (D16, F12)."""

import pickle
from collections import Counter
from itertools import combinations_with_replacement
from math import comb, factorial, prod, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt as rb
from rosenblatt.data import polynomials
from rosenblatt.data.polynomial_loops import multinomials

quickly = settings(max_examples=60, deadline=None)
DEGREES = [1, 2, 3, 4, 5]
CONSTANTS = [0, 1, 2.5]


def naive_features(x, degree, c):
    """One feature after the other, from the formula: a product of columns times its factor."""
    found = []
    for j in range(degree if c == 0 else 0, degree + 1):
        for columns in combinations_with_replacement(range(len(x)), j):
            exponents = [*Counter(columns).values(), degree - j]
            coefficient = factorial(degree) // prod(map(factorial, exponents)) * c ** (degree - j)
            found.append(sqrt(coefficient) * prod(x[k] for k in columns))
    return np.array(found, float)


def whole_numbers(n=13, d=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, d)) * (random.random((n, d)) < 0.6).astype(float)
    X[3] = 0
    return X


# ---- the map


@pytest.mark.twin_of("data.polynomial_loops.expand_dense", "data.polynomial_loops.expand_sparse")
@pytest.mark.parametrize("c", CONSTANTS)
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_features_are_those_of_the_formula(kind, degree, c):
    X = whole_numbers()
    found = rb.PolynomialFeatures(degree, c).fit_transform(kind(X))
    expected = np.array([naive_features(x, degree, c) for x in X])
    found = found.toarray() if sparse.issparse(found) else found
    # A root and a product are rounded once each.
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0)


@given(
    X=st.integers(1, 5).flatmap(
        lambda d: st.lists(
            st.lists(st.floats(-10, 10), min_size=d, max_size=d), min_size=2, max_size=6
        )
    ),
    degree=st.integers(1, 5),
    c=st.sampled_from([0.0, 0.25, 1.0, 7.0]),
)
@quickly
def test_inner_products_are_the_kernel(X, degree, c):
    X = np.array(X)
    Z = rb.PolynomialFeatures(degree, c).fit_transform(X)
    # Cancellation is measured against the kernel of the absolute values.
    scale = (c + np.abs(X) @ np.abs(X).T) ** degree
    assert (np.abs(Z @ Z.T - (c + X @ X.T) ** degree) <= 1e-13 * scale + 1e-300).all()


def test_the_theorys_example_gives_nine():
    x, z = rb.PolynomialFeatures(2, 2.0).fit_transform([[1.0, 2.0], [3.0, -1.0]])
    assert x @ z == pytest.approx(9, rel=1e-15)
    assert x[:1] @ z[:1] == pytest.approx(4)  # the constant
    assert x[1:3] @ z[1:3] == pytest.approx(4)  # linear terms
    assert x[3:] @ z[3:] == pytest.approx(1)  # products


@pytest.mark.twin_of("data.polynomial_loops.multinomials")
@pytest.mark.parametrize(("degree", "columns"), [(1, 1), (1, 4), (3, 1), (2, 5), (4, 3), (6, 2)])
def test_multinomials_are_those_of_the_factorials(degree, columns):
    sizes = polynomials.monomials(degree, columns)
    assert sizes[degree, columns] == comb(columns + degree - 1, degree)
    out = np.empty(sizes[:, columns].sum())
    multinomials(sizes, np.empty_like(out), out)
    expected = [
        factorial(j) // prod(map(factorial, Counter(columns).values()))
        for j in range(degree + 1)
        for columns in combinations_with_replacement(range(sizes.shape[1] - 1), j)
    ]
    assert out.tolist() == expected


def test_features_of_degree_two_learn_the_exclusive_or():
    learner = make_pipeline(rb.PolynomialFeatures(2, 1.0), rb.Perceptron(fit_intercept=False))
    X, y = [[-1, -1], [-1, 1], [1, -1], [1, 1]], ["no", "yes", "yes", "no"]
    assert learner.fit(X, y).predict(X).tolist() == y
    assert learner[-1].run_.converged


# ---- layouts


@pytest.mark.parametrize("c", CONSTANTS)
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_give_bit_for_bit_what_dense_ones_do(degree, c, dtype):
    X = (whole_numbers(40, 7) / 3).astype(dtype)
    map = rb.PolynomialFeatures(degree, c).fit(X)
    dense, found = map.transform(X), map.transform(sparse.csr_matrix(X))
    assert dense.dtype == found.dtype == dtype
    np.testing.assert_array_equal(found.toarray(), dense)
    assert found.nnz == np.count_nonzero(dense)
    assert all(
        (np.diff(found.indices[a:b]) > 0).all()
        for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)
    )


def test_threads_change_nothing():
    X = np.random.default_rng(0).standard_normal((3000, 12))
    map = rb.PolynomialFeatures(3, 1.0).fit(X)
    whole = map.transform(X)  # enough for two threads
    np.testing.assert_array_equal(whole[::100], map.transform(X[::100]))
    np.testing.assert_array_equal(map.transform(sparse.csr_matrix(X)).toarray(), whole)


def test_stored_zeros_unsorted_columns_and_duplicates_change_nothing():
    columns, values = np.array([2, 0, 2, 1]), np.array([1.0, 3.0, 4.0, 0.0])
    X = sparse.csr_matrix((values, columns, np.array([0, 4])), shape=(1, 3))
    before = X.copy()
    found = rb.PolynomialFeatures(2, 1.0).fit_transform(X)
    expected = rb.PolynomialFeatures(2, 1.0).fit_transform([[3.0, 0.0, 5.0]])
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)
    assert X.indices.tolist() == before.indices.tolist()
    assert X.data.tolist() == before.data.tolist()


@pytest.mark.parametrize("c", [0, 1])
def test_rows_without_entries_have_the_constant_only(c):
    found = rb.PolynomialFeatures(2, c).fit_transform(sparse.csr_matrix((3, 4)))
    assert found.shape == (3, comb(4 + 2 - (c == 0), 2))
    assert found.nnz == 3 * c


def test_wide_sparse_rows_cost_by_their_entries():
    columns = np.array([[5, 60_000], [7, 65_533]])
    X = sparse.csr_matrix(
        (np.full(4, 2.0), columns.ravel(), np.array([0, 2, 4])), shape=(2, 65_534)
    )
    map = rb.PolynomialFeatures(2, 0).fit(X)
    found = map.transform(X)
    assert found.shape == (2, 65_534 * 65_535 // 2)
    assert found.indices[-1] == found.shape[1] - 1  # the square of the last column
    assert found.data.tolist() == pytest.approx([4, 8 / sqrt(2), 4] * 2)
    # SciPy would make an array as long as the matrix is wide to multiply it.
    features = [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in found]
    for i, j in ((0, 0), (0, 1), (1, 1)):
        product = sum(value * features[j].get(place, 0.0) for place, value in features[i].items())
        assert product == pytest.approx((X @ X.T)[i, j] ** 2, rel=1e-14)


def test_degree_one_takes_any_number_of_columns():
    width = 2**31 - 2
    X = sparse.csr_matrix((np.array([3.0]), np.array([width - 1]), np.array([0, 1])), (1, width))
    found = rb.PolynomialFeatures(1, 4.0).fit_transform(X)
    assert found.shape == (1, width + 1)
    assert found.indices.tolist() == [0, width]
    assert found.data.tolist() == [2.0, 3.0]


def test_the_rows_given_are_left_alone():
    X = whole_numbers()
    X.flags.writeable = False
    rb.PolynomialFeatures(3).fit_transform(X)
    assert X.tolist() == whole_numbers().tolist()


# ---- names


def test_features_are_named_by_their_coefficients_and_factors():
    map = rb.PolynomialFeatures(3, 1.0).fit(np.eye(2))
    assert map.get_feature_names_out().tolist() == [
        *["1", "√3 x0", "√3 x1", "√3 x0^2", "√6 x0 x1", "√3 x1^2"],
        *["x0^3", "√3 x0^2 x1", "√3 x0 x1^2", "x1^3"],
    ]
    assert map.n_output_features_ == 10
    homogeneous = rb.PolynomialFeatures(2, 0).fit(np.eye(2))
    assert homogeneous.get_feature_names_out(["a", "b"]).tolist() == ["a^2", "√2 a b", "b^2"]
    with pytest.raises(ValueError, match="length equal to number of features"):
        map.get_feature_names_out(["a"])


@pytest.mark.parametrize(("degree", "c"), [(3, 0), (2, 1.0), (4, 2.0), (3, 0.3), (20, 7.0)])
def test_names_tell_the_values_of_the_features(degree, c):
    map = rb.PolynomialFeatures(degree, c)
    (found,) = map.fit_transform([[2.0, 3.0, 5.0]])
    for name, value in zip(map.get_feature_names_out(), found, strict=True):
        assert value == pytest.approx(prod(value_of(part) for part in name.split()), rel=1e-5)


def value_of(part):
    """Read a factor of a name: a column with its power, a root or a number."""
    if part.startswith("√"):
        return sqrt(int(part[1:]))
    column, _, power = part.partition("^")
    columns = {"x0": 2.0, "x1": 3.0, "x2": 5.0}
    return columns[column] ** int(power or 1) if column in columns else float(part)


def test_frames_give_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0], "dose": [3.0, 4.0]})
    map = rb.PolynomialFeatures(2, 1.0).set_output(transform="pandas")
    found = map.fit_transform(frame)
    assert list(found.columns) == [*["1", "√2 age", "√2 dose", "age^2", "√2 age dose", "dose^2"]]
    assert map.feature_names_in_.tolist() == ["age", "dose"]
    with pytest.raises(rb.InputError, match="feature names"):
        map.transform(frame.rename(columns={"age": "years"}))


# ---- manners


@parametrize_with_checks(
    [rb.PolynomialFeatures(), rb.PolynomialFeatures(3, 0.5), rb.PolynomialFeatures(1, 2.0)]
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def test_a_copy_gives_the_same_features():
    X = whole_numbers()
    map = rb.PolynomialFeatures(2, 3.0).fit(X)
    assert clone(map).get_params() == {"degree": 2, "c": 3.0}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(map)).transform(X), map.transform(X))


# ---- refusals


def refused(match, X=None, /, **options):
    with pytest.raises(rb.InputError, match=match):
        rb.PolynomialFeatures(**options).fit_transform(np.eye(3) if X is None else X)


@pytest.mark.parametrize("degree", [0, -1, 1.5, "2", None, True, 1001, np.nan])
def test_degrees_that_are_none_are_refused(degree):
    refused("degree must be a whole number from 1 to 1000, got", degree=degree)


@pytest.mark.parametrize("c", [-1, np.nan, np.inf, "1", None, True])
def test_constants_that_no_kernel_has_are_refused(c):
    refused("c must be a finite number from 0 on, got", c=c)


def test_numbers_of_other_types_are_taken():
    map = rb.PolynomialFeatures(np.int64(2), np.float32(1))
    np.testing.assert_array_equal(
        map.fit_transform(np.eye(3)), rb.PolynomialFeatures(2, 1.0).fit_transform(np.eye(3))
    )


def test_too_many_columns_are_refused_with_the_size_and_a_remedy():
    X = sparse.csr_matrix((10, 100_000))
    refused(
        r"degree 2 in 100,000 columns make 10 rows × 5,000,150,001 columns, 372.5 GiB, if dense, "
        r"and no matrix may have more than 2,147,483,647 columns; use a kernel instead, "
        r"Polynomial\(2, 1\)",
        X,
        c=1.0,
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_results_that_do_not_fit_are_refused_with_the_size_and_a_remedy(kind, monkeypatch):
    X = kind(np.ones((100, 50)))
    monkeypatch.setattr(polynomials, "memory", lambda: 10**6)
    size = 100 * comb(52, 2) * (8 if kind is np.asarray else 12) / 2**30
    refused(
        rf"make 100 rows × 1,326 columns, {size:.1f} GiB, which is more than this machine can "
        r"spare; "
        r"use a kernel instead, Polynomial\(2, 1\), which never forms them",
        X,
        c=1.0,
    )
    assert rb.PolynomialFeatures(2, 1.0).fit_transform(X[:5]).shape == (5, 1326)


def test_too_many_names_are_refused(monkeypatch):
    map = rb.PolynomialFeatures(2, 1.0).fit(np.eye(300))
    monkeypatch.setattr(polynomials, "memory", lambda: 10**6)
    with pytest.raises(rb.InputError, match="the names of 45,451 features need about"):
        map.get_feature_names_out()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_beyond_the_floats_are_refused(kind, dtype):
    largest = float(np.sqrt(np.finfo(dtype).max))
    X = np.array([[1.0, largest]], dtype)
    refused(f"leave the range of {np.dtype(dtype)}; lower the degree, or divide X", kind(X))
    assert np.isfinite(rb.PolynomialFeatures(2).fit_transform(X / 2)).all()
    refused("leave the range", kind(X), c=1e308, degree=4)


def test_the_range_is_that_of_each_degree_by_itself():
    X = np.array([[1e10, -1e10]], np.float32)
    assert np.isfinite(rb.PolynomialFeatures(2, 1e20).fit_transform(X)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_unusable_entries_are_refused_by_their_place(kind, bad):
    X = np.eye(3)
    map = rb.PolynomialFeatures().fit(X)
    X[1, 1] = bad
    with pytest.raises(rb.InputError, match=r"row 1, column 1"):
        map.transform(kind(X))


def test_other_columns_and_no_fit_are_refused():
    with pytest.raises(ValueError, match="call fit first"):
        rb.PolynomialFeatures().transform(np.eye(3))
    with pytest.raises(rb.InputError, match="expecting 3 features"):
        rb.PolynomialFeatures().fit(np.eye(3)).transform(np.eye(2))
