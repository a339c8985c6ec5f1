"""The cheapest counts of the dual form (D12), against exact solutions and against runs."""

import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import naive
import rosenblatt as rb
from naive_margins import dot, solution
from planted import fit, planted, quickly, whole
from rosenblatt.kernel.functions import Gaussian, Linear, Polynomial
from rosenblatt.lab.experiments.kernels import stripes

EXCLUSIVE_OR = [[-1.0, -1], [-1, 1], [1, -1], [1, 1]], [0, 1, 1, 0]
TOLERANCE = 1e-7  # the solver's is 1e-9, times the size of counts


def naive_optimum(G):
    """The least Σ a with G a >= 1, a >= 0, by trying all vertices in exact numbers; None if none.

    A vertex lies on as many independent sides as there are unknowns.
    """
    n = len(G)
    sides = [([Fraction(int(v)) for v in row], Fraction(1)) for row in G]
    sides += [([Fraction(int(i == j)) for j in range(n)], Fraction(0)) for i in range(n)]
    best = None
    for chosen in combinations(sides, n):
        a = solution([row for row, _ in chosen], [value for _, value in chosen])
        if a is None or any(dot(row, a) < value for row, value in sides):
            continue
        best = sum(a) if best is None else min(best, sum(a))
    return best


def signed_gram(K, y):
    signs = np.where(np.asarray(y) == max(y), 1, -1)
    return K * np.outer(signs, signs)


def assert_proven(found, K, y):
    """The counts satisfy every row and the multipliers prove the bound, on the original data."""
    G = signed_gram(K, y)
    slack = 1e-9 * np.abs(G).max() * max(found.total, 1)
    assert (found.counts >= 0).all()
    assert (found.multipliers >= 0).all()
    assert (G @ found.counts).min() >= 1 - slack
    assert (G.T @ found.multipliers).max() <= 1 + slack
    assert found.total == pytest.approx(found.counts.sum())
    assert found.bound == pytest.approx(found.multipliers.sum())
    assert -1e-12 <= found.gap <= TOLERANCE
    assert found.support.tolist() == np.flatnonzero(found.counts).tolist()


def test_the_six_points_cost_one():
    found = rb.cheapest_counts(naive.SIX_X, naive.SIX_Y)
    assert found.total == pytest.approx(1, rel=1e-12)
    assert found.bound == pytest.approx(1, rel=1e-12)
    assert_proven(found, naive.SIX_X @ naive.SIX_X.T, naive.SIX_Y)
    assert fit(naive.SIX_X, naive.SIX_Y).run_.mistakes == 3


@given(
    rows=st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=4),
    positive=st.integers(1, 14),
    kernel=st.sampled_from([Linear(), Polynomial(2, 0.0), Polynomial(2, 1.0), Polynomial(3, 2.0)]),
)
@settings(max_examples=80, deadline=None)
def test_the_optimum_is_that_of_all_vertices(rows, positive, kernel):
    X = np.array(rows, float)
    y = np.array([1 if positive >> i & 1 else -1 for i in range(len(rows))])
    if len(set(y.tolist())) < 2:
        y[0] = -y[0]
    K = kernel(X, X)
    expected = naive_optimum(signed_gram(K, y))
    if expected is None:
        with pytest.raises(rb.InseparableError):
            rb.cheapest_counts(X, y, kernel=kernel)
        return
    found = rb.cheapest_counts(X, y, kernel=kernel)
    assert found.total == pytest.approx(float(expected), rel=TOLERANCE)
    assert_proven(found, K, y)


@given(whole())
@quickly
def test_a_converged_run_costs_no_less(problem):
    X, y, _ = problem
    found = rb.cheapest_counts(X, y)
    counts = fit(X, y).run_.counts
    least = (signed_gram(X @ X.T, y) @ counts).min()
    assert least > 0  # the run converged
    assert found.total <= counts.sum() / least * (1 + TOLERANCE)
    assert_proven(found, X @ X.T, y)


@given(planted())
@quickly
def test_the_optimum_is_at_most_one_over_the_squared_margin(problem):
    X, y, w = problem
    margin = (y * (X @ w)).min() / np.linalg.norm(w)
    found = rb.cheapest_counts(X, y)
    assert found.total <= (1 + 1e-9) / margin**2


def test_both_forms_of_the_program_agree():
    X, y, _ = rb.make_separable(150, 4, 0.1, seed=3)
    by_weights = rb.cheapest_counts(X, y)  # fewer entries than the Gram matrix
    by_gram = rb.cheapest_counts(X @ X.T, y, kernel="precomputed")
    assert by_weights.total == pytest.approx(by_gram.total, rel=TOLERANCE)
    assert_proven(by_weights, X @ X.T, y)
    assert_proven(by_gram, X @ X.T, y)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, np.float32, list])
def test_layouts_change_nothing(kind):
    X, y, _ = rb.make_separable(60, 5, 0.1, seed=1)
    X = X.astype(np.float32).astype(float)
    for kernel in ("linear", "polynomial:2:1"):
        expected = rb.cheapest_counts(X, y, kernel=kernel).total
        found = rb.cheapest_counts(kind(X), y, kernel=kernel)
        assert found.total == pytest.approx(expected, rel=TOLERANCE)


@pytest.mark.parametrize(
    ("kernel", "values"),
    [
        (Polynomial(2, 1.0), lambda A, B: (1 + A @ B.T) ** 2),
        ("polynomial:3:0.5", lambda A, B: (0.5 + A @ B.T) ** 3),
        (Gaussian(0.3), lambda A, B: np.exp(-0.3 * ((A[:, None] - B[None]) ** 2).sum(axis=2))),
    ],
)
def test_a_kernel_its_function_and_its_gram_matrix_agree(kernel, values):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3))
    y = np.where((X**2).sum(axis=1) > 2, "out", "in")
    K = values(X, X)
    totals = [
        rb.cheapest_counts(X, y, kernel=kernel),
        rb.cheapest_counts(X, y, kernel=values),
        rb.cheapest_counts(K, y, kernel="precomputed"),
        rb.cheapest_counts(X, y, kernel=lambda A, B: sparse.csr_matrix(values(A, B))),
    ]
    for found in totals:
        assert found.total == pytest.approx(totals[0].total, rel=TOLERANCE)
        assert_proven(found, K, y)
        assert found.classes == ("in", "out")


def test_a_kernel_costs_what_its_features_cost():
    X, y = EXCLUSIVE_OR
    map = rb.PolynomialFeatures(2, 1.0)
    explicit = rb.cheapest_counts(map.fit_transform(X), y)
    assert rb.cheapest_counts(X, y, kernel=Polynomial(2, 1.0)).total == pytest.approx(
        explicit.total, rel=1e-9
    )


@pytest.mark.parametrize("n", [6, 60])
def test_an_intercept_is_a_lifted_column(n):
    random = np.random.default_rng(2)
    X = random.normal([4, 0], 1, (n, 2))
    y = np.where(X[:, 0] > 4, 1, -1)
    X[:, 0] += 0.5 * y
    lifted = np.hstack([X, np.full((n, 1), 3.0)])
    found = rb.cheapest_counts(X, y, fit_intercept=True, lift=3.0)
    assert found.total == pytest.approx(rb.cheapest_counts(lifted, y).total, rel=TOLERANCE)
    assert_proven(found, lifted @ lifted.T, y)
    square = rb.cheapest_counts(X, y, kernel=Polynomial(2, 1.0), fit_intercept=True, lift=3.0)
    expected = rb.cheapest_counts(X, y, kernel=Polynomial(2, 10.0))
    assert square.total == pytest.approx(expected.total, rel=TOLERANCE)


def test_an_intercept_changes_no_gaussian():
    X, y = EXCLUSIVE_OR
    totals = [
        rb.cheapest_counts(X, y, kernel=Gaussian(1.0), fit_intercept=lifted).total
        for lifted in (False, True)
    ]
    assert totals[0] == totals[1]


def test_inseparable_classes_are_refused_with_a_proof():
    X, y = EXCLUSIVE_OR
    with pytest.raises(rb.InseparableError, match="because no hyperplane does") as refusal:
        rb.cheapest_counts(X, y, fit_intercept=True)
    assert refusal.value.separation.verdict == "inseparable"
    assert rb.verify(refusal.value.certificate, X, y).ok
    with pytest.raises(rb.InseparableError, match=r"through the origin does.*\(inseparable\)"):
        rb.cheapest_counts([[1.0], [2.0]], [0, 1])
    with pytest.raises(rb.InseparableError, match=r"\(weakly separable\)"):
        rb.cheapest_counts([[0.0, 1], [1, 0], [0, -1], [-1, 0]], [1, 1, 1, 0])


def test_classes_that_a_kernel_does_not_separate_are_refused():
    X, y = EXCLUSIVE_OR
    with pytest.raises(rb.InseparableError, match=r"no counts separate .* larger gamma") as refusal:
        rb.cheapest_counts(X, y, kernel=Polynomial(1, 1.0))
    assert refusal.value.certificate is None
    with pytest.raises(rb.InseparableError):
        rb.cheapest_counts(np.zeros((2, 2)), [0, 1], kernel="precomputed")


@pytest.mark.parametrize(
    "kernel", ["linear", Gaussian(1.0), lambda A, B: (A @ B.T).power(2), "precomputed"]
)
def test_equal_rows_of_different_classes_are_named(kernel):
    """No degree and no gamma would help."""
    X, y = [*EXCLUSIVE_OR[0], [-1.0, 1.0]], [*EXCLUSIVE_OR[1], 0]
    rows = Gaussian(1.0)(X, X) if kernel == "precomputed" else sparse.csr_matrix(X)
    with pytest.raises(
        rb.InseparableError, match=r"rows 1 and 4 are equal .*; leave one"
    ) as refusal:
        rb.cheapest_counts(rows, y, kernel=kernel)
    assert "gamma" not in str(refusal.value)
    assert "intercept" not in str(refusal.value)
    assert (refusal.value.certificate is None) == (kernel != "linear")


def test_an_intercept_is_advised_where_there_is_none():
    for lifted in (False, True):
        with pytest.raises(rb.InseparableError) as refusal:
            rb.cheapest_counts(*EXCLUSIVE_OR, fit_intercept=lifted)
        assert ("allow an intercept" in str(refusal.value)) != lifted


def test_an_answer_is_frozen_and_says_what_it_means():
    found = rb.cheapest_counts(naive.SIX_X, naive.SIX_Y)
    assert isinstance(found, rb.CheapestCounts)
    assert str(found) == found.explain()
    assert "of 6 rows, separate the classes -1 and 1" in str(found)
    assert found.seconds >= 0
    with pytest.raises(ValueError, match="read-only"):
        found.counts[0] = 1
    with pytest.raises(AttributeError):
        found.total = 0


def test_large_and_small_numbers_are_scaled():
    for factor in (1e-60, 1e60):
        found = rb.cheapest_counts(naive.SIX_X * factor, naive.SIX_Y)
        assert found.total * factor**2 == pytest.approx(1, rel=1e-9)


# ---- refusals

SIX = naive.SIX_X, naive.SIX_Y


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kernel": "cubic"}, "kernel must be one of"),
        ({"kernel": 3}, "kernel must be a kernel, a function"),
        ({"kernel": "precomputed"}, "a precomputed kernel needs a square matrix"),
        ({"kernel": lambda A, B: A}, "the kernel <lambda> gives an array of shape"),
        ({"kernel": lambda A, B: "values"}, "not a matrix of numbers"),
        ({"kernel": lambda A, B: (A @ B.T) * np.nan}, "the kernel <lambda> gives NaN or infinity"),
        ({"kernel": lambda A, B: (A + 1) @ B.T}, "the kernel <lambda> is not symmetric"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False"),
        ({"lift": 0}, "lift must be a positive finite number"),
        ({"lift": "radius"}, "lift must be a positive finite number"),
        ({"max_seconds": 0}, "max_seconds must be a positive finite number"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, match):
    with pytest.raises(rb.InputError, match=match):
        rb.cheapest_counts(*SIX, **options)


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        (SIX[0], SIX[1][:-1], "give one for each row"),
        (SIX[0], [0, 1, 2, 0, 1, 2], "labels must be two classes, got 3"),
        (np.where(SIX[0] == 2, np.nan, SIX[0]), SIX[1], "NaN"),
    ],
)
def test_rows_and_labels_that_cannot_be_used_are_refused(X, y, match):
    with pytest.raises(rb.InputError, match=match):
        rb.cheapest_counts(X, y)


def test_gram_matrices_that_cannot_be_used_are_refused():
    y = [0, 1]
    with pytest.raises(rb.InputError, match="the precomputed kernel is not symmetric"):
        rb.cheapest_counts([[1.0, 0], [1, 1]], y, kernel="precomputed")
    for kernel in (Polynomial(3, 0.0), Linear()):
        for n in (2, 20):
            with pytest.raises(rb.InputError, match="too large for float64"):
                rb.cheapest_counts(np.array([[1e200], [-1e200]] * n), y * n, kernel=kernel)
    found = rb.cheapest_counts(sparse.csr_matrix(np.diag([2.0, 4.0])), y, kernel="precomputed")
    assert found.total == pytest.approx(0.75)


def test_too_many_rows_for_a_gram_matrix_are_refused():
    X = sparse.csr_matrix((5001, 3))
    with pytest.raises(rb.InputError, match=r"5,001 × 5,001 entries; give at most 5,000 rows"):
        rb.cheapest_counts(X, np.arange(5001) % 2, kernel=Gaussian(1.0))


def test_time_that_does_not_suffice_is_refused():
    X, y, _ = rb.make_separable(400, 20, 0.01, seed=0)
    with pytest.raises(rb.InputError, match="not found in max_seconds=1e-06; allow more"):
        rb.cheapest_counts(X, y, max_seconds=1e-6)


def test_the_proof_of_a_refusal_takes_no_time_of_its_own(monkeypatch):
    def slow(*arguments):
        time.sleep(0.002)

    monkeypatch.setattr("rosenblatt.decide.widest.counts._solved", slow)
    with pytest.raises(rb.InputError, match=r"not found in max_seconds=0\.001; allow more"):
        rb.cheapest_counts(*EXCLUSIVE_OR, max_seconds=0.001)


def test_where_the_dual_simplex_breaks_down_the_primal_one_answers():
    X, y = stripes(300, np.random.default_rng(0))[:2]
    with pytest.raises(rb.InseparableError, match="no counts separate"):
        rb.cheapest_counts(X, y, kernel="polynomial:2:1")
