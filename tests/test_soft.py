"""The soft margin: laws that every solution obeys, whichever method found it."""

import time
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rosenblatt as rb
from naive_margins import dual_value, objective
from planted import quickly
from rosenblatt.margin.problem import Effort, Problem
from rosenblatt.margin.soft import FEW_COLUMNS, soft_margin
from rosenblatt.margin.sums import accurate_combination

INTERCEPTS = ["free", "lifted", "none"]
TIGHT = 1e-8


@st.composite
def problems(draw):
    """Noisy rows; with 3 columns, or with more than Newton's steps take."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(4, 40)), draw(st.sampled_from([1, 3, 1001]))
    X = random.standard_normal((n, d))
    signs = np.sign(X[:, 0] + 0.3 + 0.5 * random.standard_normal(n)).astype(np.int8)
    signs[:2] = 1, -1
    lam = draw(st.sampled_from([0.01, 0.5, 20.0]))
    return X, signs, lam, random


def rows_of(X, intercept, lift=1.0):
    return np.column_stack([X, np.full(len(X), lift)]) if intercept == "lifted" else X


def solved(X, signs, lam, intercept="free", caps=None, lift=1.0, tol=TIGHT, **more):
    return soft_margin(Problem.of(X, signs, lam, caps, intercept, lift), tol=tol, **more)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_columns_without_entries_change_nothing(intercept):
    random = np.random.default_rng(5)
    X = sparse.random(50, 1200, 0.02, "csr", random_state=random)
    signs, columns = random.choice(np.array([-1, 1], np.int8), 50), random.permutation(10**5)[:1200]
    columns.sort()
    wide = sparse.csr_matrix((X.data, columns[X.indices], X.indptr), (50, 10**5))
    found, other = (solved(rows, signs, 0.1, intercept) for rows in (X, wide))
    np.testing.assert_allclose(other.alphas, found.alphas, atol=1e-12)
    np.testing.assert_allclose(other.w[columns], found.w[:-1], atol=1e-12)
    assert np.count_nonzero(other.w) == np.count_nonzero(found.w)
    again = solved(wide, signs, 0.1, intercept, start=(other.w, other.alphas))
    assert again.converged
    assert again.passes <= 1


@quickly
@given(problems(), st.sampled_from(INTERCEPTS))
def test_values_are_those_of_the_data(problem, intercept):
    X, signs, lam, random = problem
    caps = random.uniform(0.1, 3, signs.size)
    found = solved(X, signs, lam, intercept, caps=caps)
    assert found.converged
    assert X.shape[1] <= FEW_COLUMNS or found.method == "descent"
    assert np.all((found.alphas >= 0) & (found.alphas <= caps))
    if intercept == "free":
        assert found.alphas @ signs == pytest.approx(0, abs=1e-9 * caps.sum())
    rows = rows_of(X, intercept)
    w, b = (found.w, 0.0) if intercept == "lifted" else (found.w[:-1], found.w[-1])
    assert found.primal == pytest.approx(objective(rows, signs, lam, caps, w, b), rel=1e-9)
    dual = dual_value(signs[:, None] * rows, lam, found.alphas)
    assert found.dual == pytest.approx(dual, rel=1e-7)
    assert found.dual <= found.primal * (1 + 1e-12)
    assert found.primal - found.dual <= 2 * TIGHT * found.primal


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(537, id="unbalanced duals seem better than later weights"),
        pytest.param(1827, id="the same with four rows"),
        pytest.param(943, id="one more"),
    ],
)
def test_no_method_gives_up_early(seed):
    random = np.random.default_rng(seed)
    n, d = int(random.integers(4, 41)), int(random.choice([1, 3]))
    X = random.standard_normal((n, d))
    signs = np.sign(X[:, 0] + 0.3 + 0.5 * random.standard_normal(n)).astype(np.int8)
    signs[:2] = 1, -1
    lam, intercept = float(random.choice([0.01, 0.5, 20.0])), str(random.choice(INTERCEPTS))
    found = solved(X, signs, lam, intercept, caps=random.uniform(0.1, 3, n))
    assert found.converged


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("shape", [(60, 4), (3000, 8), (60, 600)], ids=["few", "tall", "wide"])
def test_sparse_and_narrow_rows_give_what_dense_ones_give(intercept, shape):
    random = np.random.default_rng(1)
    X = random.standard_normal(shape).astype(np.float32)
    X[random.random(X.shape) < 0.5] = 0
    signs = random.choice(np.array([-1, 1], np.int8), len(X))
    values = [
        solved(layout, signs, 0.3, intercept).primal
        for layout in (X, X.astype(np.float64), sparse.csr_matrix(X))
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-7)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_identical_rows_and_one_row_of_each_class(intercept):
    X = np.array([[1.0, 2.0], [1.0, 2.0]])
    found = solved(X, np.array([1, -1], np.int8), 1.0, intercept)
    assert found.primal == pytest.approx(2.0)  # nothing helps: w = 0
    pair = solved(np.array([[1.0], [-1.0]]), np.array([1, -1], np.int8), 0.25, intercept)
    assert pair.w == pytest.approx([1.0, 0.0], abs=1e-6)
    assert pair.primal == pytest.approx(0.25)


def test_time_and_passes_limit_the_search():
    random = np.random.default_rng(5)
    X = random.standard_normal((300, 600))
    signs = np.sign(X[:, 0] + 3 * random.standard_normal(300)).astype(np.int8)
    few = solved(X, signs, 1e-9, intercept="none", max_passes=2, tol=1e-12)
    assert (few.passes, few.converged) == (2, False)
    assert few.gap > 1e-12
    quick = solved(X[:, :200].copy(), signs, 1e-9, max_seconds=0.0, tol=1e-12)
    assert not quick.converged
    assert quick.dual <= quick.primal


@pytest.mark.parametrize("columns", [4, 600])
def test_an_earlier_solution_shortens_the_way(columns):
    random = np.random.default_rng(6)
    X = random.standard_normal((500, columns))
    signs = np.sign(X[:, 0] + random.standard_normal(500)).astype(np.int8)
    before = solved(X, signs, 1.0, tol=1e-3)
    again = solved(X, signs, 1.0, tol=1e-3, start=(before.w, before.alphas))
    assert again.passes <= 2
    assert again.converged
    near = solved(X, signs, 0.8, tol=1e-3, start=(before.w, before.alphas))
    assert near.primal == pytest.approx(solved(X, signs, 0.8, tol=1e-3).primal, rel=2e-3)


def test_sums_that_cancel_are_exact():
    random = np.random.default_rng(7)
    X = random.standard_normal((50, 3)) * 10.0 ** random.integers(-8, 9, (50, 3))
    factors = random.standard_normal(50)
    factors[25:] = -factors[:25]
    X[25:] = X[:25] * (1 + 2.0**-50)
    exact = [
        float(sum(Fraction(f) * Fraction(x) for f, x in zip(factors, column, strict=True)))
        for column in X.T
    ]
    for layout in (X, sparse.csr_matrix(X)):
        found = accurate_combination(layout, factors, 2.0)
        np.testing.assert_allclose(found[:3], exact, rtol=1e-15)


def test_a_gap_is_proven_by_its_duals_however_badly_columns_are_scaled():
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 4)) * [1e-8, 1, 1e8, 1e-3]
    noise = 0.3 * random.standard_normal(200)
    signs = np.where(X @ [1e8, 1, 1e-8, 0] + noise > 0, np.int8(1), np.int8(-1))
    found = solved(X, signs, 1e-14, intercept="none", tol=1e-3)
    alphas = [Fraction(float(alpha)) for alpha in found.alphas]
    sums = [
        sum(a * int(s) * Fraction(x) for a, s, x in zip(alphas, signs, column, strict=True))
        for column in X.T.tolist()
    ]
    dual = sum(alphas) - sum(value**2 for value in sums) / (4 * Fraction(1e-14))
    assert found.dual == pytest.approx(float(dual), rel=1e-9)


@pytest.mark.parametrize("intercept", ["free", "lifted"])
def test_a_fit_takes_few_vectors_beside_the_rows(intercept):
    n, random = 200_000, np.random.default_rng(0)
    rows = random.standard_normal((n, 20)).astype(np.float32)
    labels = rows @ random.standard_normal(20) + random.standard_normal(n) > 0
    fit = lambda: rb.SoftMarginSVM(C=1.0, intercept=intercept).fit(rows, labels)  # noqa: E731
    fit()  # compiles
    tracemalloc.start()
    fit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 8 * n  # of float64: Newton's steps have seven, blocks need little


def test_a_pass_is_not_begun_that_would_end_late_if_it_took_as_long_as_the_last(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    effort = Effort.within(100, 10.0)
    assert not effort.is_over()
    for moment in (3.0, 6.0, 8.0, 9.0):  # from the last one on, another may end in time
        now[0] = moment
        assert not effort.is_over()
    now[0] = 9.9  # a pass of 0.9 s would end at 10.8
    assert effort.is_over()
    assert effort.is_over()  # whoever asks next is told the same


def test_in_a_hurry_the_dual_value_is_a_lower_one():
    X = np.array([[1e8], [1.0], [-1e8], [2.0]])
    problem = Problem.of(X, np.array([1.0, 1, 1, -1]), 1e-9, intercept="none")
    alphas = np.array([0.3, 0.2, 0.3, 0.1])
    slow, quick = (problem.dual(alphas, 1e-9, hurry=hurry) for hurry in (False, True))
    assert quick < slow
