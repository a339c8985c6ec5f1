"""Newton steps on proximal problems: what they end with, also on awkward data."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from layouts import EVERY_LAYOUT, whole_numbers, whole_weights
from rosenblatt import blocks
from rosenblatt.margin import newton as steps
from rosenblatt.margin import pieces
from rosenblatt.margin.newton import newton
from rosenblatt.margin.problem import Effort, Problem
from rosenblatt.margin.sums import BLOCK
from rosenblatt.matrices import as_rows

INTERCEPTS = ["free", "lifted", "none"]


def solved(X, signs, lam, caps, intercept, tol=1e-8, lift=1.0, effort=None):
    problem = Problem.of(X, signs, lam, caps, intercept, lift)
    zero = np.zeros(X.shape[1] + 1), np.zeros(signs.size)
    return problem.judged(*newton(problem, tol, effort or Effort(), *zero), 0, tol, "newton")


def noisy(n, d, seed=0, noise=0.1):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    signs = np.where(X @ random.standard_normal(d) + 0.3 > 0, 1, -1)
    signs[random.random(n) < noise] *= -1
    return X, signs.astype(np.int8)


def lifted_rows(X, signs, intercept, lift):
    X = X.toarray() if sparse.issparse(X) else X
    more = lift if intercept == "lifted" else 0.0
    return np.column_stack([X.astype(np.float64), np.full(signs.size, more)])


def naive_gap(X, signs, lam, caps, intercept, found, lift=1.0):
    """Primal and dual of the soft problem, term by term; the duals must be feasible."""
    rows = lifted_rows(X, signs, intercept, lift)
    penalised = found.w if intercept == "lifted" else np.append(found.w[:-1], 0.0)
    scores = rows @ penalised + (found.w[-1] if intercept == "free" else 0.0)
    primal = (caps * np.maximum(0, 1 - signs * scores)).sum() + lam * penalised @ penalised
    assert np.all(found.alphas >= 0)
    assert np.all(found.alphas <= caps * (1 + 1e-15))
    if intercept == "free":
        assert abs(found.alphas @ signs) <= 1e-13 * max(1.0, found.alphas.sum())
    if intercept == "none":
        assert found.w[-1] == 0
    pulled = (found.alphas * signs) @ rows
    return primal, found.alphas.sum() - pulled @ pulled / (4 * lam)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("lam", [1e-12, 1e-6, 1e-2, 1.0, 1e3, 1e12])
@pytest.mark.parametrize("small", [0, steps.SMALL])
def test_the_reported_gap_is_the_true_one(intercept, lam, small, monkeypatch):
    monkeypatch.setattr(steps, "SMALL", small)
    X, signs = noisy(400, 6)
    caps = np.random.default_rng(1).uniform(0.01, 5.0, signs.size)
    found = solved(X, signs, lam, caps, intercept, lift=2.0)
    primal, dual = naive_gap(X, signs, lam, caps, intercept, found, lift=2.0)
    assert found.gap <= 1e-8
    assert (primal - dual) / primal <= found.gap + 1e-13


def awkward():
    X, signs = noisy(300, 6, seed=3)
    half = np.where(np.arange(300) % 2, 1, -1).astype(np.int8)
    return {
        "columns of scales from 1e-8 to 1e8": (X * 10.0 ** np.array([-8, -4, 0, 2, 4, 8]), signs),
        "a constant and a zero column": (
            np.column_stack([X, np.full(300, 7.0), np.zeros(300)]),
            signs,
        ),
        "identical rows": (np.ones((300, 3)), half),
        "repeated rows": (np.repeat(X[:30], 10, axis=0), np.repeat(signs[:30], 10)),
        "repeated rows of both classes": (np.repeat(X[:30], 10, axis=0), half),
        "zeros": (np.zeros((300, 3)), half),
        "one row of each class": (X[:2], np.array([1, -1], np.int8)),
        "one positive row": (X, np.where(np.arange(300) == 5, 1, -1).astype(np.int8)),
        "one class": (X, np.ones(300, np.int8)),
        "more columns than rows": (np.random.default_rng(0).standard_normal((20, 80)), half[:20]),
    }


@pytest.mark.parametrize("name", awkward())
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("small", [0, steps.SMALL])
def test_awkward_data_are_solved(name, intercept, small, monkeypatch):
    monkeypatch.setattr(steps, "SMALL", small)
    X, signs = awkward()[name]
    for lam in (1e-6, 1.0, 1e6):
        found = solved(X, signs, lam, np.ones(signs.size), intercept)
        primal, dual = naive_gap(X, signs, lam, np.ones(signs.size), intercept, found)
        # Few rows that are far from the margin leave primal and dual at 0 but for rounding, and
        # pulls, whose squares lam divides, are sums that are rounded once at least.
        rows = lifted_rows(X, signs, intercept, 1.0)
        rounded = np.sum((2.0**-53 * found.alphas @ np.abs(rows)) ** 2) / (4 * lam)
        assert primal - dual <= max(1.1e-8 * primal, 1e-12) + rounded, lam


def near_the_margin(problem):
    """Make steps until some rows are left out."""
    at = steps.Proximal(problem, np.zeros(7), np.zeros(400))
    at.begin()
    for _ in range(100):
        if not at.sees_all:
            return at
        at.step()
        at.recentre(np.inf)
    raise AssertionError("no row is far from the margin")


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_rows_taken_for_far_from_the_margin_come_back(intercept, monkeypatch):
    X, signs = noisy(400, 6)
    monkeypatch.setattr(steps, "REACH", 0.1)
    monkeypatch.setattr(steps, "SMALL", 0)
    at = near_the_margin(Problem.of(X, signs, 1.0, intercept=intercept))
    assert not at.holds(at.w, at.all_duals(np.ones(len(at.sides))), 1e-8)
    assert at.sees_all
    assert solved(X, signs, 1.0, np.ones(400), intercept).gap <= 1e-8


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_values_of_near_rows_are_those_of_all(intercept, monkeypatch):
    X, signs = noisy(400, 6)
    monkeypatch.setattr(steps, "SMALL", 0)
    at = near_the_margin(Problem.of(sparse.csr_matrix(X), signs, 1.0, intercept=intercept))
    values = at.primal(), at.dual()[0]
    at.look_at_all(at.w, at.all_duals(np.ones(len(at.sides))))
    assert at.sees_all
    np.testing.assert_allclose((at.primal(), at.dual()[0]), values, rtol=1e-13)


def test_a_shift_of_the_columns_only_shifts_a_free_intercept():
    X, signs = noisy(300, 4)
    near = solved(X, signs, 1.0, np.ones(300), "free", tol=1e-10)
    far = solved(X + 1e5, signs, 1.0, np.ones(300), "free", tol=1e-10)
    np.testing.assert_allclose(far.w[:-1], near.w[:-1], rtol=1e-4)
    assert far.gap <= 1e-10


def test_products_in_blocks_are_those_of_numpy(monkeypatch):
    monkeypatch.setattr(blocks, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(pieces, "PIECE", 64)
    monkeypatch.setattr(pieces, "SPARSE_PIECE", 64)
    random = np.random.default_rng(0)
    X, w, factors = random.standard_normal((101, 5)), *map(random.standard_normal, (6, 101))
    shift, chosen = random.standard_normal(5), np.flatnonzero(factors > 0)
    for rows in (X, sparse.csr_matrix(X), X.astype(np.float32)):
        exact = rows.toarray() if sparse.issparse(rows) else rows.astype(np.float64)
        Z = np.column_stack([exact, np.full(101, 2.0)])
        view = as_rows(rows, 2.0)
        pieces.products(view, w, out := np.empty(101))
        np.testing.assert_allclose(out, Z @ w, atol=1e-12)
        found = pieces.total(view, 101, factors.__getitem__, 6)
        np.testing.assert_allclose(found, factors @ Z, atol=1e-12)
        moved = Z[chosen] - np.append(shift, 0.0)
        found = pieces.squares(rows, chosen, shift, 2.0)
        np.testing.assert_allclose(found, np.triu(moved.T @ moved), atol=1e-12)


def test_no_time_gives_an_honest_gap():
    X, signs = noisy(3000, 5)
    found = solved(X, signs, 1.0, np.ones(3000), "free", effort=Effort(deadline=0.0))
    primal, dual = naive_gap(X, signs, 1.0, np.ones(3000), "free", found)
    assert np.isfinite(found.w).all()
    assert (primal - dual) / primal == pytest.approx(found.gap, abs=1e-12)


def test_rounding_limits_leave_a_finite_answer_and_no_warning():
    X, signs = noisy(300, 6, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for intercept in INTERCEPTS:
            for rows in (X * 1e8, X + 1e6):
                found = solved(rows, signs, 1e-12, np.ones(300), intercept)
                primal, dual = naive_gap(rows, signs, 1e-12, np.ones(300), intercept, found)
                assert np.isfinite([primal, dual]).all()
                assert found.gap <= 1


@pytest.mark.twin_of("margin.pieces.fill_rows")
def test_chosen_sparse_rows_are_written_as_dense_ones_with_something_added():
    A, _ = whole_numbers()
    begin, chosen = whole_weights()[:-1], np.array([5, 0, 22, 3, 3])
    for layout in EVERY_LAYOUT:
        if layout.sparse:
            out = np.full((chosen.size, A.shape[1]), np.nan)
            pieces.fill_rows(layout.rows(A, 0.0), chosen, begin, out)
            assert out.tolist() == [
                [b + x for b, x in zip(begin, A[i], strict=True)] for i in chosen
            ]


@pytest.mark.parametrize("share", [0.05, 0.9])
def test_rows_are_chosen_as_dense_ones_where_most_entries_are_there(share):
    random = np.random.default_rng(0)
    X = sparse.random_array((50, 8), density=share, format="csr", rng=random, dtype=np.float32)
    chosen = np.array([3, 49, 0, 7])
    found = pieces.float_rows(X, chosen)
    assert sparse.issparse(found) == (share < pieces.FILLED)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray() if share < 0.5 else found, X.toarray()[chosen])
    shift, lifted = random.standard_normal(8), np.full((4, 9), 2.0)
    lifted[:, :-1] = X.toarray()[chosen] - shift
    upper = np.triu(pieces.squares(X, chosen, shift, 2.0))
    np.testing.assert_allclose(upper, np.triu(lifted.T @ lifted), rtol=1e-12, atol=1e-12)


@pytest.mark.twin_of("margin.newton.gain")
@pytest.mark.parametrize("count", [1, 50])
def test_what_duals_gain_along_a_step_is_the_sum_over_rows(count):
    random = np.random.default_rng(0)
    products, ends = random.normal(1, 1, (2, 50))
    caps, centre = random.uniform(0.1, 1, count), random.uniform(0, 1, 50).astype(np.float32)
    before = np.clip(centre + 0.7 * (1 - products), 0, caps)
    after = np.clip(centre + 0.7 * (1 - products - 0.3 * ends), 0, caps)
    found = steps.gain(products, ends, centre, caps, 0.7, 0.3)
    assert found == pytest.approx(ends @ (after - before), rel=1e-12)


def test_packed_duals_are_the_same_again():
    random = np.random.default_rng(0)
    caps = random.uniform(0.5, 1, 2 * BLOCK + 5)
    duals = np.clip(random.normal(0.4, 1, caps.size), 0, caps)
    steps.packed(duals.__getitem__, caps)(out := np.empty(caps.size))
    assert np.array_equal(out, duals)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_steps_end_with_nothing_worse_than_they_began_with(intercept):
    X, signs = noisy(3000, 5)
    problem = Problem.of(X, signs, 1.0, intercept=intercept)
    good = newton(problem, 1e-6, Effort(), np.zeros(6), np.zeros(3000))
    known = problem.judged(good[0], good[1].copy(), 0, 1e-6, "newton")
    w, alphas = newton(problem, 1e-12, Effort(deadline=0.0), *good)
    assert problem.judged(w, alphas, 0, 1e-6, "newton").gap <= known.gap * 1.001
