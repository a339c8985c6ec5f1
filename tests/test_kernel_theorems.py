"""Theory F11 to F15 as properties of kernel runs, and the kernels beside their formulas."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naive
import naive_kernel
import rosenblatt as rb
from planted import fit, planted, quickly, whole
from rosenblatt.kernel.pointwise import distances, multiply_in_double, raise_to

orders = st.sampled_from(naive.ORDERS)
seeds = st.integers(0, 1000)
FORMULAS = {
    "linear": partial(naive_kernel.polynomial, degree=1),
    "polynomial:3:1": partial(naive_kernel.polynomial, degree=3, c=1.0),
    "gaussian:0.5": partial(naive_kernel.gaussian, gamma=0.5),
}


def dual(X, y, kernel="linear", **options):
    """Fit a kernel perceptron to convergence; the limit on time turns endless runs into errors."""
    options = {"fit_intercept": False, "max_iter": None, "max_seconds": 20, **options}
    return rb.KernelPerceptron(kernel, **options).fit(X, y)


@quickly
@given(whole(), orders, seeds, st.sampled_from([0, 2**30]), st.sampled_from([0.0, 1.0, 2.0]))
def test_primal_and_dual_runs_are_the_same_run(problem, order, seed, gram_bytes, lift):
    """F11: the same mistakes, whose counts add up to M; w = Σ α x."""
    X, y, _ = problem
    options = {"order": order, "random_state": seed, "fit_intercept": lift > 0, "lift": lift or 1.0}
    primal, learner = fit(X, y, **options), dual(X, y, **options, gram_bytes=gram_bytes)
    assert learner.run_.counts.tolist() == primal.run_.counts.tolist()
    assert learner.run_.mistakes_per_pass == primal.run_.mistakes_per_pass
    assert learner.counts_.sum() == primal.run_.mistakes
    assert learner.run_.stop is primal.run_.stop
    w = learner.alphas_ @ np.column_stack([X, np.full(len(X), lift**2)])[learner.support_]
    np.testing.assert_array_equal(w, [*primal.coef_[0], *primal.intercept_])


@quickly
@given(whole(largest=2), st.integers(1, 3), st.sampled_from([0, 1, 4]), orders, seeds)
def test_the_explicit_map_and_its_kernel_are_the_same_run(problem, degree, c, order, seed):
    """F12; whatever a hyperplane separates, its powers and an added constant need not."""
    X, y, _ = problem
    lifted = np.column_stack([X, np.full(len(X), np.sqrt(c))])
    features = lifted
    for _ in range(degree - 1):
        features = np.einsum("ni,nj->nij", features, lifted).reshape(len(X), -1)
    kernel = rb.Polynomial(degree, c)
    np.testing.assert_array_equal(features @ features.T, kernel(X, X))
    limits = {"order": order, "random_state": seed, "max_updates": 50}
    learner = quiet(dual, X, y, kernel, **limits)
    primal = quiet(fit, features, y, **limits)
    assert learner.run_.counts.tolist() == primal.run_.counts.tolist()


def quiet(call, *given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*given, **options)


@quickly
@given(planted(), orders, seeds, st.sampled_from([*FORMULAS]))
def test_mistakes_keep_to_theorem_one_in_feature_space(problem, order, seed, kernel):
    """F13: odd powers and bells keep a planted hyperplane, so that runs converge."""
    X, y, _ = problem
    learner = dual(X, y, kernel, order=order, random_state=seed, max_iter=2000)
    assert learner.run_.converged
    square = np.diag(FORMULAS[kernel](X, X)).max()
    for comparator in (learner, dual(X, y, kernel, order="worst")):
        bound = learner.bound(X, y, comparator)
        assert learner.run_.mistakes <= bound.value
        assert bound.value == pytest.approx((bound.radius / bound.margin) ** 2)
        assert bound.radius**2 == pytest.approx(square, rel=1e-9)


@st.composite
def many_classes(draw):
    """Rows, their classes, and W* of norm 1 with the margin that it leaves."""
    n, d, k = draw(st.integers(3, 30)), draw(st.integers(1, 4)), draw(st.integers(3, 5))
    random = np.random.default_rng(draw(seeds))
    W = random.standard_normal((k, d))
    W /= np.linalg.norm(W)
    X = random.standard_normal((20 * n, d))
    scores = np.sort(X @ W.T, axis=1)
    lead = scores[:, -1] - scores[:, -2]
    X = X[np.argsort(-lead)[: 5 * n]][::5][:n]
    scores = X @ W.T
    y = scores.argmax(axis=1)
    scores = np.sort(scores, axis=1)
    return X, y, (scores[:, -1] - scores[:, -2]).min()


@quickly
@given(many_classes(), orders, seeds)
def test_mistakes_of_discriminators_keep_to_their_bound(problem, order, seed):
    """F15, for the planted discriminators and for those found."""
    X, y, margin = problem
    if len(set(y.tolist())) < 2:
        return
    learner = dual(X, y, order=order, random_state=seed)
    radius = np.linalg.norm(X, axis=1).max()
    assert learner.run_.converged
    assert learner.run_.mistakes <= 2 * radius**2 / margin**2
    assert learner.run_.mistakes <= learner.bound(X, y).value


@quickly
@given(whole())
def test_two_discriminators_are_the_plain_perceptron(problem):
    """F14."""
    X, y, _ = problem
    _, ran = naive_kernel.learn(X @ X.T, (y > 0).astype(int), 2)
    assert dual(X, y).run_.counts.tolist() == ran.counts


# ---- the kernels


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_kernels_give_the_matrix_of_their_formula(layout):
    random = np.random.default_rng(0)
    A, B = random.standard_normal((7, 4)), random.standard_normal((5, 4))
    for degree in range(1, 12):
        expected = naive_kernel.polynomial(A, B, degree, 0.5)
        found = rb.Polynomial(degree, 0.5)(layout(A), layout(B))
        np.testing.assert_allclose(found, expected, rtol=1e-11)
    np.testing.assert_allclose(rb.Linear()(layout(A), layout(B)), A @ B.T, rtol=1e-12)
    expected = naive_kernel.gaussian(A, B, 0.7)
    np.testing.assert_allclose(rb.Gaussian(0.7)(layout(A), layout(B)), expected, rtol=1e-11)


@pytest.mark.twin_of(
    "kernel.pointwise.raise_to",
    "kernel.pointwise.square",
    "kernel.pointwise.distances",
    "kernel.pointwise.multiply_in_double",
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_loops_over_products_do_what_they_say(dtype):
    random = np.random.default_rng(1)
    products = random.integers(-3, 4, (6, 9)).astype(dtype)
    for degree in range(1, 10):
        found = products.copy()
        raise_to(found, dtype(1), degree, np.empty(9, dtype))
        np.testing.assert_array_equal(found, (products + dtype(1)) ** degree)
    found, left, right = products.copy(), random.random(6), random.random(9)
    distances(found, left, right, 0.5)
    apart = np.maximum(left[:, None] + right - 2 * products.astype(float), 0)
    np.testing.assert_allclose(found, -0.5 * apart, rtol=1e-6)
    few, many = random.standard_normal((3, 9)), random.standard_normal((8, 9)).astype(np.float32)
    out = np.empty((3, 8))
    multiply_in_double(few, many, out)
    np.testing.assert_allclose(out, few @ many.astype(float).T, rtol=1e-12)
