"""Dual coordinate descent: the loop against its twin, and what it ends with."""

import numpy as np
import pytest
from scipy import sparse

from naive import Draws
from naive_margins import dual_value, naive_sweep, objective
from rosenblatt.margin.descent import (
    ActiveRows,
    DualRows,
    are_mixed,
    descend,
    narrow_squares,
    shuffle_blocks,
    sweep,
)
from rosenblatt.margin.intercepts import FEW, best_intercept, ranked
from rosenblatt.margin.problem import Effort, Problem
from rosenblatt.margin.touching import Touching
from rosenblatt.matrices import as_rows
from rosenblatt.rows import LONG_ROW, combine, fill_squares

LAYOUTS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csr_matrix,
}


def noisy(n, d, seed, noise=0.5):
    """Make rows, and signs that a hyperplane with an intercept gets right but for some noise."""
    random = np.random.default_rng(seed)
    X = np.round(random.standard_normal((n, d)), 3).astype(np.float32).astype(np.float64)
    signs = np.sign(X[:, 0] + 0.4 + noise * random.standard_normal(n)).astype(np.int8)
    signs[:2] = 1, -1
    return X, signs


def solve(X, signs, caps, intercept="none", tol=1e-8, **more):
    return descend(Problem.of(X, signs, 0.5, caps, intercept), tol, **more)


@pytest.mark.twin_of("margin.descent.shuffle_blocks")
@pytest.mark.parametrize("width", [1, 3, 4, 12, 20])
def test_blocks_are_shuffled_and_then_what_is_in_them(width):
    order, seed, draws = np.arange(12 + (width == 3), dtype=np.uint32), np.uint64([7]), Draws(7)
    whole = order.size // width * width
    blocks = draws.shuffle([list(order[k : k + width]) for k in range(0, whole, width)])
    blocks += [list(order[whole:])]
    expected = [place for block in blocks for place in draws.shuffle(block)]
    shuffle_blocks(order, width, seed)
    assert order.tolist() == expected


def test_rows_sorted_by_class_are_not_mixed():
    signs = np.random.default_rng(0).choice([-1, 1], 1000, p=[0.9, 0.1])
    assert are_mixed(signs)
    assert not are_mixed(np.sort(signs))
    assert not are_mixed(np.ones(0))


@pytest.mark.twin_of("margin.descent.sweep")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("lift", [0.0, 2.0])
@pytest.mark.parametrize("columns", [5, LONG_ROW + 7])
def test_a_sweep_does_what_its_naive_twin_does(layout, lift, columns):
    X, signs = noisy(40, columns, seed=1)
    X[7] = 0.0
    rows = as_rows(LAYOUTS[layout](X), lift)
    squares = np.empty(40)
    fill_squares(rows, squares)
    random = np.random.default_rng(2)
    caps = random.uniform(0.1, 1, 40 if lift else 1)  # one for each row, or one for all
    centre = float(random.uniform(-1, 1))
    targets, all_caps = 1 - signs * centre, np.broadcast_to(caps, 40)
    Z = signs[:, None] * np.column_stack([X, np.full(40, lift)])
    w, betas, bounds = np.zeros(columns + 1), np.zeros(40), (-np.inf, np.inf)
    order, found = np.arange(40, dtype=np.uint32), np.zeros(4)
    count = 40
    for _ in range(8):
        random.shuffle(order[:count])
        expected = naive_sweep(Z, targets, all_caps, order[:count], w, betas, bounds)
        problem = DualRows(columns, rows, signs, centre, squares, caps)
        count = sweep(problem, order[:count], w, betas, bounds, found)
        assert count == expected[0]
        assert order[: len(expected[1])].tolist() == expected[1]
        np.testing.assert_allclose(w, expected[2], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(betas, expected[3], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found, expected[4], rtol=1e-9, atol=1e-12)
        bounds = (found[1] or -np.inf, found[0] or np.inf)
    assert count < 40  # shrinking took place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("intercept", ["none", "lifted", "free"])
@pytest.mark.parametrize("C", [0.03, 1.0, 30.0])
def test_the_duals_prove_the_answer_to_be_the_best(layout, intercept, C):
    X, signs = noisy(60, 4, seed=3)
    found = solve(LAYOUTS[layout](X), signs, np.full(60, C), intercept, tol=1e-10)
    full = X if intercept != "lifted" else np.column_stack([X, np.ones(60)])
    w, offset = (found.w, 0.0) if intercept == "lifted" else (found.w[:-1], found.w[-1])
    assert np.all((found.alphas >= 0) & (found.alphas <= C))
    assert intercept != "free" or abs(found.alphas @ signs) < 1e-9 * found.alphas.sum()
    primal = objective(full, signs, 0.5, np.full(60, C), w, offset)
    dual = dual_value(signs[:, None] * full, 0.5, found.alphas)
    assert 0 <= primal - dual + 1e-9 * primal <= 2e-9 * primal


def test_the_descent_ends_on_time_with_an_honest_answer():
    X, signs = noisy(400, 30, seed=4, noise=3)
    caps = np.full(400, 1e4)
    found = solve(X, signs, caps, effort=Effort(most=3))
    assert found.passes == 3
    assert np.all((found.alphas >= 0) & (found.alphas <= caps))
    np.testing.assert_allclose(found.w[:-1], (found.alphas * signs) @ X, rtol=1e-9)
    assert solve(X, signs, caps, effort=Effort(deadline=0.0)).passes == 1


@pytest.mark.parametrize("intercept", ["none", "lifted", "free"])
def test_without_caps_it_finds_the_widest_separator(intercept):
    # Two pairs of points around the origin, and others farther away: the margin is known.
    random = np.random.default_rng(6)
    X = np.array([[1.0, 2.0], [1.0, -2.0], [-1.0, 2.0], [-1.0, -2.0]])
    more = random.uniform(2, 5, (30, 2)) * np.array([1, 0.5])
    X = np.vstack([X, more, -more])
    signs = np.sign(X[:, 0]).astype(np.int8)
    found = solve(X, signs, np.full(len(X), np.inf), intercept, tol=1e-9)
    np.testing.assert_allclose(found.w, [1, 0, 0], atol=1e-4)
    assert 1 / np.linalg.norm(found.w[:-1]) == pytest.approx(1.0, abs=1e-7)
    assert found.alphas.sum() == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weights_with_rows_on_the_margin_are_better_and_as_good_as_said(layout):
    X, signs = noisy(200, 300, seed=8, noise=1)
    X *= np.random.default_rng(8).random(X.shape) < 0.1
    rows, squares, caps = as_rows(LAYOUTS[layout](X), 1.0), np.empty(200), np.full(200, 0.2)
    fill_squares(rows, squares)
    problem = DualRows(300, rows, signs, 0.0, squares, caps)
    sweeps = ActiveRows(problem, np.zeros(301), np.zeros(200), 0)
    for _ in range(10):
        sweeps.sweep()
    Z = np.column_stack([X, np.ones(200)])
    touching = Touching(LAYOUTS[layout](X), problem, sweeps.w, sweeps.betas)
    dual, own = dual_value(signs[:, None] * Z, 0.5, sweeps.betas), sweeps.w.copy()
    before = objective(Z, signs, 0.5, caps, own, 0.0) - dual
    said, better = touching.solve(0.0, 40)
    after = objective(Z, signs, 0.5, caps, better, 0.0) - dual
    others = before - touching.solve(0.0, 0)[0]  # of rows that do not touch the margin
    assert after < before / 10
    assert after == pytest.approx(said + others, abs=0.1 * before)
    np.testing.assert_allclose(sweeps.w, (sweeps.betas * signs) @ Z, atol=1e-12)
    assert dual_value(signs[:, None] * Z, 0.5, sweeps.betas) >= dual
    assert np.all((sweeps.betas >= 0) & (sweeps.betas <= caps))


def test_rows_of_zeros_cost_what_they_must():
    X, signs = np.array([[0.0], [0.0], [1.0]]), np.array([1, -1, 1], np.int8)
    found = solve(X, signs, np.full(3, 2.0))
    assert found.alphas.tolist() == [2.0, 2.0, 1.0]
    assert found.w.tolist() == [1.0, 0.0]


@pytest.mark.twin_of("rows.combine")
def test_combining_adds_rows_up():
    X, _ = noisy(20, 3, seed=7)
    w = np.zeros(4)
    combine(as_rows(X, 2.0), np.arange(20.0), w)
    np.testing.assert_allclose(w, np.append(np.arange(20) @ X, 2 * np.arange(20).sum()))


@pytest.mark.parametrize("seed", range(30))
def test_no_intercept_is_better_than_the_best_one(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 12))
    scores = np.round(random.normal(size=n), int(random.integers(0, 3)))
    signs = random.choice([-1, 1], n)
    caps = random.choice([0.5, 1.0, 2.0], 1 if seed % 3 == 0 else n)
    caps = np.broadcast_to(caps, n).copy()  # the same for all, or not

    def loss(b):
        return float(caps @ np.maximum(0, 1 - signs * (scores + b)))

    best = loss(best_intercept(scores, signs, caps))
    others = np.concatenate([signs - scores, random.normal(size=50)])
    assert best <= min(map(loss, others)) + 1e-12


@pytest.mark.parametrize("kind", ["normal", "ties", "sorted", "periodic"])
def test_numbers_at_two_places_are_those_of_sorting(kind):
    n, random = 3 * FEW, np.random.default_rng(0)
    numbers = random.normal(size=n)
    if kind == "ties":
        numbers = np.round(numbers)
    if kind == "sorted":
        numbers.sort()
    if kind == "periodic":  # the sample sees zeros only
        numbers[:: n // 2**12] = 0.0
        numbers[1 :: n // 2**12] -= 10.0
    expected = np.sort(numbers)
    for place in (0, 1, n // 3, n - 2, n - 1):
        last = min(place + 1, n - 1)
        found = ranked(numbers.__getitem__, n, place, last)
        assert found == (expected[place], expected[last])


def test_squares_beyond_float32_are_kept():
    assert narrow_squares(np.array([0.0, 2.0])).dtype == np.float32
    for squares in ([1e-40, 1.0], [1.0, 1e39]):
        assert narrow_squares(np.array(squares)).tolist() == squares
    X, signs = noisy(60, 4, seed=3)
    for scale in (1e-25, 1e25):
        found = solve(X * scale, signs, np.full(60, 1 / scale**2))
        assert found.gap <= 1e-8
