"""`mistake_bound`: no run exceeds it, none can be much smaller, and its proof is checked."""

import math
from fractions import Fraction
from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.datasets import load_breast_cancer

import rosenblatt as rb
from layouts import LAYOUTS, ROUNDING, normal_rows
from naive import ORDERS, SIX_X, SIX_Y, exact_dot, exact_rows
from planted import fit, interrupted, noisy, planted, quickly
from rosenblatt import checker
from rosenblatt.bounds.theorem import best_length
from rosenblatt.exact.extremes import enclosed_loss, loss_above, margins_of
from rosenblatt.online.perceptron import ALL_ONE

STOPPED = "ignore:Stopped at the limit on passes"
SEVEN_X, SEVEN_Y = [*SIX_X, [1, 0]], [*SIX_Y, -1]  # the last one contradicts the second


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), y


noisy_problems = st.builds(
    noisy,
    st.integers(4, 40),
    st.integers(1, 4),
    share=st.sampled_from([0.1, 0.4]),
    seed=st.integers(0, 10**6),
)


def exact_value(X, y, w, passes, lift=0.0, weights=()):
    """Theorem 2 in fractions; w is a vector of the lifted space."""
    rows = list(exact_rows(X, y, lift, weights))
    w = [Fraction(float(value)) for value in w]
    loss = sum(max(Fraction(0), 1 - exact_dot(z, w)) for z in rows)
    return max(exact_dot(z, z) for z in rows) * exact_dot(w, w) + 2 * passes * loss


def naive_minimum(X, y, passes, lift=0.0):
    """Enclose the least of Theorem 2 by a quasi-Newton method on its dual."""
    Z = y[:, None] * np.column_stack([X, np.full(len(X), lift)])
    square = (Z**2).sum(axis=1).max()
    lam = square / (2 * passes)

    def dual(alphas):
        total = alphas @ Z
        return total @ total / (4 * lam) - alphas.sum(), Z @ total / (2 * lam) - 1

    found = optimize.minimize(
        dual, np.full(len(y), 0.5), jac=True, bounds=[(0, 1)] * len(y), options={"maxiter": 5000}
    )
    w = found.x @ Z / (2 * lam)
    return -2 * passes * found.fun, square * w @ w + 2 * passes * np.maximum(0, 1 - Z @ w).sum()


def is_proven(bound, X, y):
    """Check by the fast checker, and by the slow one."""
    given = bound.certificate.as_dict()
    names = given["classes"]
    tags = [checker.POSITIVE if label == names["positive"] else checker.NEGATIVE for label in y]
    table = X.toarray() if sparse.issparse(X) else np.asarray(X, float)
    rows = [
        checker.Row(tag, list(enumerate(x))) for tag, x in zip(tags, table.tolist(), strict=True)
    ]
    sentence = checker.check(given, rows, table.shape[1])
    found = rb.verify(bound.certificate, X, y)
    assert found.reason == sentence
    assert bound.value == bound.certificate.bound
    return found.ok


# ---- the numbers of the theory page


def test_the_numbers_of_theorem_two():
    once = rb.mistake_bound(SEVEN_X, SEVEN_Y, [1, 0], fit_intercept=False)
    assert (once.value, once.hinge_loss, once.margin) == pytest.approx((9, 2, -1), rel=1e-12)
    assert (once.theorem, once.passes, once.minimum) == (2, 1, None)
    assert once.comparator == pytest.approx([1, 0, 0], rel=1e-12)
    assert rb.mistake_bound(
        SEVEN_X, SEVEN_Y, [1, 0], passes=20, fit_intercept=False
    ).value == pytest.approx(85)


@pytest.mark.filterwarnings(STOPPED)
@pytest.mark.parametrize(("passes", "mistakes"), [(1, 4), (20, 42)])
def test_the_run_of_theorem_two(passes, mistakes):
    options = {"fit_intercept": False, "max_iter": passes, "patience": None}
    learner = rb.Perceptron(**options).fit(SEVEN_X, SEVEN_Y)
    assert learner.run_.mistakes == mistakes
    assert mistakes <= learner.bound(SEVEN_X, SEVEN_Y).value <= 85 * 1.01
    assert learner.bound(SEVEN_X, SEVEN_Y, [1, 0]).value == pytest.approx(5 + 4 * passes)


def test_any_number_of_passes_over_the_six_points():
    bound = rb.mistake_bound(SIX_X, SIX_Y, passes=None, fit_intercept=False)
    assert (bound.theorem, bound.passes, bound.hinge_loss) == (1, None, 0)
    assert (bound.value, bound.minimum) == pytest.approx((5, 5), rel=1e-6)
    assert is_proven(bound, SIX_X, SIX_Y)


@pytest.mark.parametrize("lift", [1.0, 10.0, 90**0.5, 100.0])
def test_the_best_lifted_bound_is_within_the_factor_of_the_theory(lift):
    X, y, b = [[10.0], [8.0]], [1, -1], 9
    bound = rb.mistake_bound(X, y, fit_intercept=True, lift=lift, passes=None)
    assert bound.radius == pytest.approx(math.hypot(10, lift), rel=1e-12)
    assert bound.value <= (100 + lift**2) * (1 + b**2 / lift**2) * (1 + 1e-6)
    assert is_proven(bound, X, y)


@pytest.mark.filterwarnings(STOPPED)
def test_the_numbers_of_breast_cancer(cancer):
    X, y = cancer
    assert rb.Perceptron(max_iter=1).fit(X, y).run_.mistakes == 32
    assert 299 <= rb.mistake_bound(X, y).value <= 1.01 * 299.6
    unlimited = rb.mistake_bound(X, y, passes=None)
    assert unlimited.margin == pytest.approx(0.0014, rel=0.01)
    assert unlimited.value == pytest.approx(218_204_382, rel=1e-3)


# ---- no run makes more mistakes


@pytest.mark.filterwarnings(STOPPED)
@given(noisy_problems, st.sampled_from(ORDERS), st.integers(1, 6), st.sampled_from([0, 0.5, 3.0]))
@quickly
def test_no_run_on_noisy_rows_exceeds_its_bound(problem, order, passes, lift):
    X, y = problem
    options = {"fit_intercept": lift > 0, "lift": lift or 1.0, "max_iter": passes}
    if np.unique(y).size < 2:
        return
    learner = rb.Perceptron(order=order, random_state=1, **options).fit(X, y)
    bound = learner.bound(X, y)
    assert learner.run_.mistakes <= bound.value <= 1.01 * bound.minimum
    assert is_proven(bound, X, y)
    assert learner.run_.mistakes <= learner.bound(X, y, np.ones(X.shape[1])).value


def test_a_million_rows_in_one_pass():
    random = np.random.default_rng(0)
    X = random.standard_normal((10**6, 4))
    y = np.where(random.random(10**6) < 0.1, -1, 1) * np.where(X @ [1, 2, -1, 0.5] > 0, 1, -1)
    learner = rb.Perceptron(fit_intercept=False).partial_fit(X, y)
    bound = learner.bound(X, y)
    assert learner.run_.mistakes <= bound.value <= 1.01 * bound.minimum
    assert (bound.theorem, bound.passes) == (2, 1)
    assert rb.verify(bound.certificate, X, y)


# ---- how small it is, and that it is right


@given(noisy_problems, st.sampled_from([1, 3, 50]), st.sampled_from([0.0, 2.0]))
@quickly
def test_the_bound_is_near_the_least_that_theorem_two_gives(problem, passes, lift):
    X, y = problem
    if np.unique(y).size < 2:
        return
    bound = rb.mistake_bound(X, y, fit_intercept=lift > 0, lift=lift or 1.0, passes=passes)
    below, above = naive_minimum(X, y, passes, lift)
    assert below * (1 - 1e-9) <= bound.value <= 1.01 * above
    assert bound.minimum <= above * (1 + 1e-9)
    assert bound.value <= 1.01 * bound.minimum


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("lift", [0.0, 0.3])
def test_the_value_is_the_exact_one_rounded_up(form, dtype, lift):
    X, y = noisy(30, 3, seed=4)
    X = X.astype(dtype)
    for comparator in (None, [1.0, -0.3, 0.2]):
        bound = rb.mistake_bound(
            form(X), y, comparator, fit_intercept=lift > 0, lift=lift or 1.0, passes=4
        )
        exact = exact_value(X, y, bound.comparator, 4, lift)
        assert bound.theorem == 2
        assert exact <= Fraction(bound.value) <= exact * (1 + Fraction(ROUNDING))
        assert is_proven(bound, form(X), y)


@given(planted(), st.sampled_from([0.0, 1.0]))
@quickly
def test_separable_rows_get_theorem_one_for_any_number_of_passes(problem, lift):
    X, y, w = problem
    bound = rb.mistake_bound(X, y, fit_intercept=lift > 0, passes=None)
    given = rb.mistake_bound(X, y, w, fit_intercept=lift > 0, passes=None)
    assert bound.value <= given.value * (1 + 1e-6)
    assert bound.value <= 1.01 * bound.minimum
    assert fit(X, y, fit_intercept=lift > 0).run_.mistakes <= bound.value
    assert bound.theorem == given.theorem == 1
    assert is_proven(bound, X, y)
    assert is_proven(given, X, y)


def test_theorem_one_is_chosen_where_a_loss_does_not_pay():
    X, y, _ = rb.make_separable(200, 3, margin=0.5, seed=1)
    bound = rb.mistake_bound(X, y, passes=10**6, fit_intercept=False)
    assert bound.value == pytest.approx(4, rel=0.01)
    assert rb.mistake_bound(X, y, passes=None, fit_intercept=False).theorem == 1


def test_lifting_is_a_column_of_its_own():
    X, y = noisy(50, 3, seed=3)
    lifted = rb.mistake_bound(X, y, fit_intercept=True, lift=0.7, passes=2)
    column = rb.mistake_bound(
        np.column_stack([X, np.full(len(X), 0.7)]), y, passes=2, fit_intercept=False
    )
    assert lifted.value == pytest.approx(column.value, rel=0.01)
    assert lifted.radius == pytest.approx(column.radius, rel=1e-12)
    radius = rb.mistake_bound(X, y, fit_intercept=True, lift="radius")
    assert radius.radius == pytest.approx(2**0.5, rel=1e-12)


def test_the_least_bound_is_the_one_of_no_comparator_where_labels_are_noise():
    X = np.random.default_rng(0).standard_normal((40, 2))
    X, y = np.vstack([X, X]), [1] * 40 + [-1] * 40
    bound = rb.mistake_bound(X, y, fit_intercept=False)
    assert bound.value == pytest.approx(160, rel=1e-9)
    assert is_proven(bound, X, y)


# ---- its parts


@given(
    st.lists(st.floats(-3, 3), min_size=1, max_size=12),
    st.floats(0.01, 10),
    st.sampled_from([2.0, 6.0]),
)
@quickly
def test_the_best_length_is_the_best(margins, square, factor):
    margins = np.array(margins)

    def value(t):
        return square * t**2 + factor * np.maximum(0, 1 - t * margins).sum()

    found = best_length(margins, square, factor)
    kinks = 1 / margins[margins > 1e-3]
    others = [0.0, *kinks, *np.linspace(0, 2 * (found + 1), 1000)]
    assert found >= 0
    assert value(found) <= min(map(value, others)) + 1e-9


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("lift", [0.0, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_margins_and_losses_agree_with_fractions(layout, lift, weighted):
    A, signs = normal_rows(layout)
    weights = np.linspace(0.5, 3.0, len(A)) if weighted else ALL_ONE
    w = np.random.default_rng(4).standard_normal(6)
    products = [exact_dot(z, list(map(Fraction, w))) for z in exact_rows(A, signs, lift, weights)]
    X = layout.matrix(A)
    found = margins_of(X, signs, w, lift, weights)
    np.testing.assert_allclose(found, [float(p) for p in products], rtol=0, atol=ROUNDING)
    loss = sum(max(Fraction(0), 1 - p) for p in products)
    least, most = enclosed_loss(X, signs, w, lift, weights)
    assert loss / (1 + Fraction(ROUNDING)) <= least <= loss <= most
    assert (
        most <= Fraction(loss_above(X, signs, w, lift, weights)) <= loss * (1 + Fraction(ROUNDING))
    )


# ---- other runs


@pytest.mark.filterwarnings(STOPPED)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("intercept", [False, True])
def test_class_weights_make_the_bound_of_weighted_rows(form, intercept):
    X, y = noisy(60, 4, seed=5)
    options = {"class_weight": {-1: 0.5, 1: 2.0}, "fit_intercept": intercept, "max_iter": 3}
    learner = rb.Perceptron(lift=0.25, **options).fit(form(X), y)
    bound = learner.bound(form(X), y)
    factors = np.where(y > 0, 2.0, 0.5)[:, None]
    rows = factors * np.column_stack([X, np.full(len(X), 0.25 * intercept)])
    plain = rb.mistake_bound(rows, y, passes=3, fit_intercept=False)
    assert learner.run_.mistakes <= bound.value
    assert bound.value == pytest.approx(plain.value, rel=0.01)
    assert bound.certificate is None
    exact = exact_value(X, y, bound.comparator, 3, 0.25 * intercept, factors[:, 0])
    assert exact <= Fraction(bound.value) <= exact * (1 + Fraction(ROUNDING))


def test_another_start_takes_theorem_one_and_a_separator():
    start = [-10.0, 0.0]
    found = rb.mistake_bound(SIX_X, SIX_Y, initial=start, fit_intercept=False)
    assert (found.theorem, found.passes, found.certificate) == (1, None, None)
    assert found.value == pytest.approx(25, rel=1e-3)
    learner = fit(SIX_X, SIX_Y, initial=start)
    assert learner.run_.mistakes <= learner.bound(SIX_X, SIX_Y).value
    with pytest.raises(rb.InseparableError, match="only a run from zero has a bound"):
        rb.mistake_bound(SEVEN_X, SEVEN_Y, initial=start, fit_intercept=False)
    with pytest.raises(rb.InputError, match="Theorem 2, which does without, needs a start from ze"):
        rb.mistake_bound(SEVEN_X, SEVEN_Y, [1, 0], initial=start, fit_intercept=False)


def test_the_rate_does_not_matter_from_zero():
    X, y = noisy(40, 2)
    assert (
        rb.mistake_bound(X, y, eta0=0.1, fit_intercept=False).value
        == rb.mistake_bound(X, y, fit_intercept=False).value
    )


def test_any_number_of_passes_needs_separable_rows():
    with pytest.raises(rb.InseparableError, match=r"`rosenblatt separate` proves it.*passes="):
        rb.mistake_bound(SEVEN_X, SEVEN_Y, passes=None, fit_intercept=False)
    with pytest.raises(rb.InputError, match=r"row 6 on the wrong side .* \(passes=\)"):
        rb.mistake_bound(SEVEN_X, SEVEN_Y, [1, 0], passes=None, fit_intercept=False)


def test_the_proof_that_no_bound_holds_is_about_the_labels_given():
    labels = np.where(np.array(SEVEN_Y) > 0, "yes", "no")
    with pytest.raises(rb.InseparableError) as refusal:
        rb.mistake_bound(SEVEN_X, labels, passes=None)
    assert rb.verify(refusal.value.certificate, SEVEN_X, labels).ok


def test_an_interrupt_of_a_bound_is_an_interrupt(monkeypatch):
    monkeypatch.setattr("rosenblatt.decide.separability.question.Question.decide", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rb.mistake_bound(SIX_X, SIX_Y, passes=None)


def test_a_stream_looks_at_each_row_once():
    X, y = noisy(90, 3, seed=6)
    learner = rb.Perceptron(fit_intercept=False)
    for start in range(0, 90, 30):
        learner.partial_fit(X[start : start + 30], y[start : start + 30])
    assert learner.bound(X, y).passes == 1
    assert learner.run_.mistakes <= learner.bound(X, y).value
    learner.learn_one(X[0], y[0])
    with pytest.raises(rb.InputError, match=r"give rosenblatt\.mistake_bound the number of passes"):
        learner.bound(X, y)
    assert rb.mistake_bound(X, y, passes=2, fit_intercept=False).value >= learner.run_.mistakes


@pytest.mark.parametrize("classes", [2, 3])
def test_part_of_the_rows_has_no_bound_of_the_run(classes):
    """More rows than those of the run can but make a bound larger."""
    X, y = np.eye(3)[[0, 1, 2, 0, 1, 2]], np.arange(6) % 3 % classes
    W = np.eye(3) if classes == 3 else None
    learner = rb.Perceptron(fit_intercept=False).fit(X, y)
    with pytest.raises(rb.InputError, match=r"on 6 rows, but X has 5; .* all examples"):
        learner.bound(X[:5], y[:5], W)
    twice = np.concatenate([X, X]), np.concatenate([y, y])
    assert learner.bound(*twice, W).value >= learner.bound(X, y, W).value * (1 - 0.01)
    learner.partial_fit(X[:2], y[:2])  # which may repeat rows of the fit, or not
    assert learner.bound(X, y, W).value >= 0
    with pytest.raises(rb.InputError, match=r"on 6 rows, but X has 3"):
        learner.bound(X[:3], y[:3], W)


def test_labels_that_json_cannot_hold_get_a_bound_without_a_certificate():
    X, y = noisy(30, 2)
    labels = [(int(sign), "x") for sign in y]
    bound = rb.mistake_bound(X, labels, fit_intercept=False)
    assert bound.certificate is None
    assert bound.value == rb.mistake_bound(X, y, fit_intercept=False).value


def test_little_time_leaves_a_bound_that_holds():
    X, y = noisy(3000, 600, seed=1, share=0.3)
    bound = rb.mistake_bound(X, y, max_seconds=1e-6, fit_intercept=False)
    assert rb.verify(bound.certificate, X, y)
    assert bound.minimum <= bound.value <= 2 * 3000 * (1 + 1e-9)


def test_a_bound_speaks_for_itself():
    bound = rb.mistake_bound(SEVEN_X, SEVEN_Y, [1, 0], fit_intercept=False)
    assert str(bound) == (
        "at most 9 mistakes in one pass in any order, from zero, with no intercept: rows have "
        "norm at most R = 2.23607, and the comparator, of norm 1, has a hinge loss of 2"
    )
    bound = rb.mistake_bound(SIX_X, SIX_Y, [1, 0], fit_intercept=False)
    assert str(bound).startswith("at most 5 mistakes in any number of passes in any order, from ze")


@pytest.mark.parametrize(
    ("options", "run"),
    [
        ({}, "one pass in any order, from zero, with the intercept as a lifted coordinate of 1"),
        ({"lift": 2.5}, "one pass in any order, from zero, with the intercept as a lifted coordi"),
        ({"passes": 3}, "a run that errs at most 3 times on a row, such as 3 passes, from zero, w"),
        ({"fit_intercept": False}, "one pass in any order, from zero, with no intercept"),
    ],
)
def test_a_bound_names_the_run_that_it_speaks_of(options, run):
    bound = rb.mistake_bound(SEVEN_X, SEVEN_Y, **options)
    assert bound.run.startswith(run)
    assert f" mistakes in {run}" in str(bound)
    assert run in repr(bound)


def test_a_bound_names_another_start_class_weights_and_kernels():
    started = rb.mistake_bound(SIX_X, SIX_Y, initial=[-9.0, 0.0])
    assert "any number of passes in any order, from the given start, with the" in started.run
    weighted = rb.Perceptron(class_weight={1: 2.0}).fit(SIX_X, SIX_Y).bound(SIX_X, SIX_Y, [1, 0])
    assert "from zero, with weighted updates, with the intercept" in weighted.run
    kernel = rb.KernelPerceptron(kernel="linear").fit(SIX_X, SIX_Y).bound(SIX_X, SIX_Y)
    assert "in the kernel's feature space" in str(kernel)


@pytest.mark.filterwarnings(STOPPED)
def test_a_bound_and_a_learner_lift_rows_alike_by_default():
    asked, learner = signature(rb.mistake_bound).parameters, rb.Perceptron()
    assert asked["fit_intercept"].default is learner.fit_intercept
    assert asked["lift"].default == learner.lift
    X, y = noisy(60, 2)
    once = rb.Perceptron(max_iter=1).fit(X + 5, y)
    assert rb.mistake_bound(X + 5, y).value == once.bound(X + 5, y).value


BAD = [
    ({"passes": 0}, "passes must be None or a whole number from 1 on"),
    ({"passes": 1.5}, "passes must be"),
    ({"passes": True}, "passes must be"),
    ({"lift": 0, "fit_intercept": True}, "lift must be a positive finite number"),
    ({"lift": "far", "fit_intercept": True}, "or 'radius', got 'far'"),
    ({"eta0": 0}, "eta0 must be a positive finite number"),
    ({"tol": -1}, "tol must be a positive finite number"),
    ({"max_seconds": 0}, "max_seconds must be a positive finite number"),
    ({"initial": [1]}, "initial needs 2 numbers"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_options_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(rb.InputError, match=message):
        rb.mistake_bound(SIX_X, SIX_Y, **options)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [1, -1], "NaN"),
        ([[1.0], [2.0]], [1, 1], "two classes, got 1"),
        ([[1e160], [-1e160]], [1, -1], "too long for their squares"),
        ([[0.0], [0.0]], [1, -1], "zero, or too short"),
        ([[1e-170], [1e-170]], [1, -1], "zero, or too short"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(X, y, message):
    with pytest.raises(rb.InputError, match=message):
        rb.mistake_bound(X, y, fit_intercept=False)
