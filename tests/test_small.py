"""Newton steps on small data: the loop against its twin, and problems that it cannot finish."""

import numpy as np
import pytest
from scipy import sparse

from naive_margins import naive_newton_steps
from rosenblatt.margin import small, soft
from rosenblatt.margin.problem import Problem
from rosenblatt.margin.small import MOST_COLUMNS, MOST_ENTRIES, MOST_STEPS, is_small, small_margin
from rosenblatt.margin.soft import soft_margin

INTERCEPTS = ["free", "lifted", "none"]
TOL = 1e-9


def noisy(n, d, seed, noise=1.0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) + 3.0
    signs = np.where(X[:, 0] - 3.0 + noise * random.standard_normal(n) > 0, 1, -1).astype(np.int8)
    return X, signs, random.uniform(0.1, 3.0, n)


@pytest.mark.twin_of("margin.small.newton_steps")
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("lam", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("most", [0, 1, 4, MOST_STEPS])
@pytest.mark.parametrize("few", [0, 60 * 5], ids=["compiled", "in Python"])
def test_steps_are_those_of_their_naive_twin(intercept, lam, most, few, monkeypatch):
    monkeypatch.setattr(small, "FEW_ENTRIES", few)
    X, signs, caps = noisy(60, 4, seed=1)
    problem = Problem.of(X, signs, lam, caps, intercept, 2.0)
    free = intercept == "free"
    shift = X.mean(axis=0) if free else np.zeros(4)
    Z = signs[:, None] * np.column_stack([X - shift, np.full(60, problem.lift)])
    costs = np.append(np.full(4, 2 * lam), 0.0 if free else 2 * lam) / caps.max()
    w, alphas, steps = naive_newton_steps(Z, signs, caps / caps.max(), costs, TOL, most)
    found = small_margin(problem, TOL, most)
    assert found[2] == steps
    # σ, which grows to 1e6, multiplies the rounding of z·w.
    np.testing.assert_allclose(found[0], np.append(w[:4], w[4] - shift @ w[:4]), atol=1e-5)
    np.testing.assert_allclose(found[1], alphas * caps.max(), atol=1e-5)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("shape", [(2, 1), (20, 60), (500, 8)])
def test_the_gap_is_met_in_few_steps(intercept, shape):
    X, signs, caps = noisy(*shape, seed=2)
    signs[:2] = 1, -1
    for layout in (X, sparse.csr_matrix(X), X.astype(np.float32)):
        problem = Problem.of(layout, signs, 0.1, caps, intercept)
        w, alphas, steps = small_margin(problem, TOL, np.inf)
        assert steps <= 60
        assert problem.judged(w, problem.feasible(alphas), steps, TOL, "newton").gap <= TOL


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_other_methods_go_on_where_rounding_stops_the_steps(scale):
    X, signs, caps = noisy(60, 4, seed=3)
    found = soft_margin(Problem.of(X * scale, signs, scale**2, caps, "none"), tol=1e-3)
    assert found.converged


def test_problems_that_blas_is_quicker_on_are_not_small(monkeypatch):
    shapes = {(MOST_ENTRIES // 4, 4): True, (MOST_ENTRIES // 4 + 1, 4): False}
    shapes |= {(9, MOST_COLUMNS): True, (9, MOST_COLUMNS + 1): False}
    for shape, expected in shapes.items():
        X, signs, caps = noisy(*shape, seed=4)
        problem = Problem.of(X, signs, 1.0, caps)
        assert is_small(problem) == expected
        assert not is_small(problem._replace(X=sparse.csr_matrix(X.shape)))
    monkeypatch.setattr(soft, "is_small", lambda problem: False)
    X, signs, caps = noisy(60, 4, seed=5)
    problem = Problem.of(X, signs, 1.0, caps)
    slow = soft_margin(problem, tol=TOL)
    monkeypatch.undo()
    assert soft_margin(problem, tol=TOL).primal == pytest.approx(slow.primal, rel=2 * TOL)
