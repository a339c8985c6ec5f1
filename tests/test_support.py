"""The hard margin by its support vectors: the compiled search, in floats."""

import math

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from layouts import DENSE, SPARSE
from naive_margins import naive_square
from rosenblatt.margin import support
from rosenblatt.margin.hard import hard_margin
from rosenblatt.margin.support import SupportSearch

INTERCEPTS = ["free", "lifted", "none"]
LIFT = 0.75


def searched(X, signs, intercept="free", tol=1e-12, lift=LIFT):
    return SupportSearch(X, np.asarray(signs, np.int8), intercept, lift).run(tol, 60.0)


def margin_of(X, signs, intercept, found, lift=LIFT):
    """Give the margin of the weights, and the length of the mean by the duals."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    last = {"free": 1.0, "lifted": lift, "none": 0.0}[intercept]
    scores = X @ found.w[:-1] + last * found.w[-1]
    rows = np.column_stack([X, np.full(len(X), lift if intercept == "lifted" else 0.0)])
    measured = found.w if intercept == "lifted" else found.w[:-1]
    shares = found.alphas / found.alphas.sum()
    return (signs * scores).min() / np.linalg.norm(measured), np.linalg.norm(
        (shares * signs) @ rows
    )


def options(intercept):
    return {"free": {}, "lifted": {"lift": LIFT}, "none": {"fit_intercept": False}}[intercept]


@pytest.mark.twin_of("margin.corral.descend")
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("layout", [DENSE, SPARSE], ids=str)
def test_the_nearest_point_is_that_of_the_naive_twin(layout, intercept, monkeypatch):
    monkeypatch.setattr(support, "FEWEST", 0)  # or Python would search
    random, separable = np.random.default_rng(7), 0
    for _ in range(60):
        n, d = int(random.integers(2, 8)), int(random.integers(1, 5))
        X = random.integers(-3, 4, (n, d)).astype(float)
        signs = random.choice([-1, 1], n)
        signs[0] = -signs[-1]
        found = searched(layout.matrix(X), signs, intercept)
        square = naive_square(X.tolist(), signs.tolist(), **options(intercept))
        if square == 0:
            assert found.gap >= 1
            continue
        separable += 1
        lower, upper = margin_of(X, signs, intercept, found)
        assert found.gap <= 1e-12
        assert lower == pytest.approx(math.sqrt(square), rel=1e-10)
        assert upper == pytest.approx(math.sqrt(square), rel=1e-10)
    assert separable > 15


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_few_rows_get_in_python_what_the_compiled_search_finds(form, intercept, monkeypatch):
    random, separable = np.random.default_rng(8), 0
    for _ in range(60):
        n, d = int(random.integers(2, 8)), int(random.integers(1, 5))
        X = np.zeros((n, 100))  # of whose columns few are used
        X[:, 7 : 7 + d] = random.integers(-3, 4, (n, d))
        X = X if form is not np.asarray else X[:, 7 : 7 + d].copy()
        signs = random.choice([-1, 1], n)
        signs[0] = -signs[-1]
        monkeypatch.setattr(support, "FEWEST", 64)
        few = searched(form(X), signs, intercept)
        monkeypatch.setattr(support, "FEWEST", 0)
        compiled = searched(form(X), signs, intercept)
        assert (few.gap < 1) == (compiled.gap < 1)
        if few.gap >= 1:
            continue
        separable += 1
        assert few.gap <= 1e-10  # weights are rounded, and rows are far longer than p
        assert np.allclose(few.w, compiled.w, rtol=1e-8, atol=1e-8 * np.abs(compiled.w).max())
    assert separable > 15


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_rows_that_are_added_round_by_round_give_the_same_margin(form, intercept, monkeypatch):
    random = np.random.default_rng(1)
    X = random.standard_normal((3000, 12))
    scores = X @ random.standard_normal(12)
    X, signs = X[np.abs(scores) > 0.2], np.sign(scores[np.abs(scores) > 0.2])
    few = searched(form(X), signs, intercept)
    monkeypatch.setattr(support, "FEW_ENTRIES", 10**9)
    whole = searched(form(X), signs, intercept)
    assert few.gap <= 1e-12
    assert whole.gap <= 1e-12
    assert np.allclose(few.w, whole.w, rtol=1e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("margin", [0.1, 1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("n", [200, 5000])
def test_planted_margins_are_enclosed(intercept, margin, n):
    X, y, _ = rb.make_separable(n, 8, margin, seed=2)
    found = searched(X, y, intercept, tol=1e-8, lift=1.0)
    lower, upper = margin_of(X, y, intercept, found, lift=1.0)
    # The planted rows, and sums over rows of norm 1, are exact up to their rounding.
    noise = 1e-14 / margin
    assert found.gap <= 1e-8 + noise
    assert lower >= upper * (1 - 1e-8 - noise)
    if intercept != "lifted":
        assert upper == pytest.approx(margin, rel=1e-8 + noise)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_inseparable_data_get_no_margin(intercept):
    random = np.random.default_rng(0)
    found = searched(random.standard_normal((300, 4)), random.choice([-1, 1], 300), intercept)
    assert found.gap >= 1
    assert np.isfinite(found.w).all()
    assert np.isfinite(found.alphas).all()


def test_more_columns_than_rows_need_more_room():
    random = np.random.default_rng(3)
    X, signs = random.standard_normal((200, 900)), np.where(np.arange(200) % 2, 1, -1)
    found = searched(X, signs)
    lower, upper = margin_of(X, signs, "free", found)
    assert np.count_nonzero(found.alphas) > support.ROOM
    assert lower == pytest.approx(upper, rel=1e-12)
    search = SupportSearch(X, signs.astype(np.int8), "free", 1.0)
    assert search.run(1e-9, 60.0, support.ROOM).gap > 1e-3
    assert np.allclose(search.run(1e-9, 60.0).w, found.w)  # goes on from there


def test_sweeps_go_on_where_the_support_is_too_large(monkeypatch):
    random = np.random.default_rng(3)
    X, signs = random.standard_normal((200, 900)), np.where(np.arange(200) % 2, 1, -1)
    monkeypatch.setattr(SupportSearch.run, "__defaults__", (support.ROOM,))
    found = hard_margin(X, signs.astype(np.int8), tol=1e-6)
    lower, upper = margin_of(X, signs, "free", found)
    assert found.gap <= 1e-6
    assert lower == pytest.approx(upper, rel=2e-6)


def test_rows_far_from_the_origin_lose_no_digits():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, -1.0]])
    signs = np.array([-1, -1, 1, 1])
    found = searched(X + 2.0**40, signs)
    assert np.allclose(found.w[:-1], [1.0, 0.0], atol=1e-12)


def test_a_search_without_time_gives_what_it_has():
    random = np.random.default_rng(4)
    X = random.standard_normal((5000, 40))
    signs = np.sign(X @ random.standard_normal(40)).astype(np.int8)
    found = SupportSearch(X, signs, "free", 1.0).run(1e-9, 0.0)
    assert found.gap > 1e-9
    assert np.isfinite(found.w).all()
    assert np.isfinite(found.alphas).all()
