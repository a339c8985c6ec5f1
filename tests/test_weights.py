"""Weights of examples: they scale the update, the loss, the score and the bound (theory F16)."""

import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import naive
import rosenblatt as rb
from naive import ORDERS, SIX_X, SIX_Y, exact_bound
from naive_kernel import Dual, gaussian, polynomial
from planted import planted, quickly, seed_of, whole

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

OUTPUTS = ("last", "averaged", "voted")
FACTORS = (1.0, 0.5, 4.0, 2.0, 3.0)


def whole_problem(classes=2, n=31, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, 4)).astype(float)
    y = np.arange(n) % classes
    rng.shuffle(y)
    return X, y, rng.choice(FACTORS, n)


def quiet(learner, *given, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(*given, **more)


# ---- the update


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_weighted_run_is_that_of_its_naive_twin(classes, output, order):
    X, y, weights = whole_problem(classes)
    learner = rb.Perceptron(order=order, output=output, max_iter=3, random_state=5)
    quiet(learner, X, y, weights)
    if classes == 2:
        twin, marks = naive.learner(4, lift=1.0, samples=tuple(weights)), 2 * y - 1
    else:
        twin, marks = naive.learner(4, classes=3, lift=1.0, samples=tuple(weights)), y
    ran = naive.run(twin, X, marks, order, seed_of(5), 3 * len(y))
    assert learner.run_.counts.tolist() == ran.counts
    assert learner.run_.mistakes_per_pass == ran.mistakes_per_pass
    if output == "voted":
        np.testing.assert_allclose(learner.decision_function(X), twin.voted(X), rtol=1e-14)
        return
    w = np.atleast_2d(twin.w if output == "last" else twin.averaged())
    np.testing.assert_allclose(learner.coef_, w[:, :-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(learner.intercept_, w[:, -1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("renormalize", [False, True])
def test_rows_one_by_one_batches_and_a_pass_learn_the_same(classes, output, renormalize):
    X, y, weights = whole_problem(classes)
    weights[::5] = 0
    options = {"output": output, "renormalize": renormalize}
    whole, batches, single = (rb.Perceptron(**options, max_iter=1) for _ in range(3))
    quiet(whole, X, y, weights)
    single.partial_fit(X[:0:-1][:1], y[:1], classes=range(classes), sample_weight=[0])
    assert not single.is_fitted
    for part in np.array_split(np.arange(len(y)), 4):
        batches.partial_fit(X[part], y[part], range(classes), weights[part])
    mistakes = [single.learn_one(*given) for given in zip(X, y, weights, strict=True)]
    assert not any(mistakes[::5])
    known = len(set(y[weights > 0][:classes].tolist())) == classes  # before their first mistakes
    for other in [batches, single] if classes == 2 or known else [batches]:
        assert other.run_.mistakes == whole.run_.mistakes
        np.testing.assert_allclose(
            other.decision_function(X), whole.decision_function(X), rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("classes", [2, 3])
def test_the_weights_of_classes_and_examples_are_multiplied(classes):
    X, y, weights = whole_problem(classes)
    factors = np.array([0.5, 2.0, 1.0])
    both = quiet(
        rb.Perceptron(class_weight=dict(enumerate(factors[:classes])), max_iter=3), X, y, weights
    )
    product = quiet(rb.Perceptron(max_iter=3), X, y, weights * factors[y])
    assert both.coef_.tolist() == product.coef_.tolist()


@pytest.mark.parametrize("classes", [2, 3])
def test_balanced_classes_have_equal_weights_in_all(classes):
    X, y, weights = whole_problem(classes)
    totals = np.bincount(y, weights)
    factors = weights.sum() / (classes * totals)
    balanced = quiet(rb.Perceptron(class_weight="balanced", max_iter=3), X, y, weights)
    product = quiet(rb.Perceptron(max_iter=3), X, y, weights * factors[y])
    np.testing.assert_allclose(balanced.coef_, product.coef_, rtol=1e-12)


@given(whole(), st.sampled_from(["cycle", "shuffle", "random", "first"]))
@quickly
def test_weights_make_the_run_on_weighted_rows(problem, order):
    X, y, _ = problem
    weights = np.resize(FACTORS, len(y))
    options = {"order": order, "fit_intercept": False, "random_state": 2, "max_iter": 5}
    weighted = quiet(rb.Perceptron(**options), X, y, weights)
    plain = quiet(rb.Perceptron(**options), weights[:, None] * X, y)
    assert weighted.run_.counts.tolist() == plain.run_.counts.tolist()
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)


# ---- weight 0


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("classes", [2, 3])
def test_an_example_of_weight_0_is_as_good_as_none(classes, form, order):
    X, y, weights = whole_problem(classes)
    weights[[0, 3, 4, 20]] = 0
    kept = np.flatnonzero(weights)
    options = {"order": order, "lift": "radius", "class_weight": "balanced", "max_iter": 3}
    options |= {"output": "averaged", "random_state": 1}
    comparator = np.ones(4) if classes == 2 else np.eye(3, 4)
    learner = quiet(rb.Perceptron(**options), form(X), y, weights, comparator=comparator)
    without = quiet(
        rb.Perceptron(**options), form(X[kept]), y[kept], weights[kept], comparator=comparator
    )
    assert learner.coef_.tolist() == without.coef_.tolist()
    assert learner.run_.operations == without.run_.operations
    assert learner.run_.counts[kept].tolist() == without.run_.counts.tolist()
    assert learner.run_.counts.size == len(y)
    history = learner.run_.history
    assert history.example.tolist() == kept[without.run_.history.example].tolist()


def test_a_row_that_cannot_be_used_is_named_as_it_was_given():
    X = np.ones((4, 2))
    X[3, 1] = np.nan
    with pytest.raises(rb.InputError, match=r"row 3"):
        rb.Perceptron().fit(X, [0, 1, 0, 1], [0, 1, 1, 1])


def test_a_stream_that_begins_with_weights_of_0_begins_later():
    learner = rb.Perceptron()
    assert learner.learn_one({0: 1.0}, "a", 0) is False
    assert learner.predict_one({0: 1.0}) is None
    assert learner.learn_one({0: 1.0}, "a", 2.5) is True
    assert learner.run_.operations.dot_products == 1
    assert learner.coef_[0, 0] == -2.5  # the only class is negative so far


# ---- F16: the bound


def test_the_six_points_with_weights():
    weights = [1, 1, 4, 1, 2, 1]
    learner = rb.Perceptron(fit_intercept=False).fit(SIX_X, SIX_Y, weights)
    bound = learner.bound(SIX_X, SIX_Y, [1, 0], weights)
    assert learner.run_.counts.tolist() == [1, 0, 1, 0, 0, 0]
    assert learner.coef_.tolist() == [[5, 2]]
    assert bound.value == pytest.approx(10, rel=1e-12)
    assert bound.certificate is None


some_weights = st.lists(st.sampled_from([0.25, 1.0, 3.0, 40.0]), min_size=40, max_size=40)


@given(st.one_of(whole(), planted()), some_weights, st.sampled_from(ORDERS), st.booleans())
@quickly
def test_no_weighted_run_makes_more_mistakes_than_its_bound(problem, weights, order, affine):
    X, y, u = problem
    weights = np.resize(weights, len(y))
    learner = rb.Perceptron(order=order, fit_intercept=affine, max_iter=None, random_state=3)
    learner.fit(X, y, weights)
    bound, run = learner.bound(X, y, u, weights), learner.run_
    assert run.converged
    assert run.mistakes <= bound.value
    told = weights if (weights != 1).any() else ()  # weights of 1 are none: Theorem 1 as it stands
    exact = exact_bound(X, y, np.append(u, 0), np.zeros(u.size + 1), 1.0, float(affine), told)
    assert exact <= Decimal(bound.value) <= exact * Decimal("1.000000001")
    rows = np.column_stack([X, np.full(len(y), float(affine))])
    radius, margin = np.linalg.norm(rows, axis=1).max(), (y * (X @ u)).min() / np.linalg.norm(u)
    heaviest = weights.max() * (radius / margin) ** 2
    assert run.counts @ weights <= heaviest * (1 + 1e-9)
    assert bound.value <= heaviest / weights.min() * (1 + 1e-9)
    assert bound.value <= (bound.radius / bound.margin) ** 2 * (1 + 1e-9)


@given(st.integers(0, 10**6), some_weights)
@quickly
def test_no_weighted_run_of_many_classes_does_either(seed, weights):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((3, 4))
    X = rng.standard_normal((40, 4))
    leads = np.sort(X @ W.T, axis=1)
    X = X[leads[:, 2] - leads[:, 1] > 0.3]
    y = (X @ W.T).argmax(axis=1)
    assume(np.unique(y[1:]).size == 3)
    weights = np.array(weights[: len(y)])
    weights[0] = 0
    learner = rb.Perceptron(fit_intercept=False, max_iter=None).fit(X, y, weights)
    assert learner.run_.mistakes <= learner.bound(X, y, W, weights).value


@pytest.mark.parametrize("passes", [1, 3])
def test_theorem_two_speaks_of_the_weighted_rows(passes):
    X, y, weights = whole_problem(n=60)
    learner = rb.Perceptron(fit_intercept=False, max_iter=passes)
    quiet(learner, X, y, weights)
    bound = learner.bound(X, y, sample_weight=weights)
    plain = rb.mistake_bound(weights[:, None] * X, y, passes=passes)
    assert learner.run_.mistakes <= bound.value == pytest.approx(plain.value, rel=0.02)


# ---- kernels

KERNEL = "polynomial:2:1"


def kernel_learner(X, y, weights, **options):
    learner = rb.KernelPerceptron(KERNEL, fit_intercept=False, random_state=5, **options)
    return quiet(learner, X, y, weights)


@pytest.mark.parametrize("order", ["cycle", "random", "worst"])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("gram_bytes", [0, 2**30])
def test_a_weighted_kernel_run_is_that_of_its_naive_twin(classes, output, order, gram_bytes):
    X, y, weights = whole_problem(classes)
    options = {"output": output, "order": order, "gram_bytes": gram_bytes, "max_iter": 3}
    learner = kernel_learner(X, y, weights, **options)
    K = polynomial(X, X, 2, 1.0)
    twin = Dual(K, classes, weights)
    ran = naive.run(twin, np.arange(len(y)), y, order, seed_of(5), 3 * len(y))
    assert learner.run_.counts.tolist() == ran.counts
    assert learner.support_.tolist() == twin.order
    found, expected = learner.decision_function(X), twin.answers(K, output)
    if classes == 2:
        expected = expected[:, 1] - (expected[:, 0] if output == "voted" else 0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_examples_of_weight_0_keep_their_numbers_in_a_kernel_run():
    X, y, weights = whole_problem(3)
    weights[[0, 3, 4, 20]] = 0
    kept = np.flatnonzero(weights)
    without = kernel_learner(X[kept], y[kept], weights[kept], max_iter=3)
    for learner in (
        kernel_learner(X, y, weights, max_iter=3),
        quiet(rb.KernelPerceptron("precomputed", max_iter=3), polynomial(X, X, 2, 1.0), y, weights),
    ):
        assert learner.support_.tolist() == kept[without.support_].tolist()
        assert learner.alphas_.tolist() == without.alphas_.tolist()
        assert learner.run_.counts[kept].tolist() == without.run_.counts.tolist()


@pytest.mark.parametrize("output", OUTPUTS)
def test_weighted_kernel_streams_learn_what_one_pass_learns(output, tmp_path):
    X, y, weights = whole_problem()
    weights[::5] = 0
    whole = kernel_learner(X, y, weights, output=output, max_iter=1)
    batches, single = (
        rb.KernelPerceptron(KERNEL, fit_intercept=False, output=output) for _ in range(2)
    )
    for part in np.array_split(np.arange(len(y)), 4):
        batches.partial_fit(X[part], y[part], [0, 1], weights[part])
    for x, label, weight in zip(X, y, weights, strict=True):
        single.learn_one(x, label, weight)
    rb.save(batches, tmp_path / "model")
    for other in (batches, single, rb.load(tmp_path / "model")):
        assert other.run_.mistakes == whole.run_.mistakes
        np.testing.assert_allclose(other.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("forget", ["oldest", "random", "project"])
def test_a_budget_keeps_weighted_rows(forget):
    X, y, weights = whole_problem(n=60)
    options = {"budget": 5, "forget": forget, "fit_intercept": False, "random_state": 1}
    weighted = quiet(rb.KernelPerceptron("linear", **options, max_iter=2), X, y, weights)
    plain = quiet(rb.KernelPerceptron("linear", **options, max_iter=2), weights[:, None] * X, y)
    assert weighted.run_.counts.tolist() == plain.run_.counts.tolist()
    np.testing.assert_allclose(
        weighted.decision_function(X), plain.decision_function(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_a_weighted_kernel_run_keeps_to_its_bound(classes):
    X, y, weights = whole_problem(classes, n=40)
    X, places = np.unique(X, axis=0, return_index=True)
    y, weights = y[places], weights[places]
    other = rb.KernelPerceptron("gaussian:1").fit(X, y)
    leads = other.decision_function(X)
    if classes == 2:
        leads = np.stack([-leads, leads], axis=1)
    own = leads[np.arange(len(y)), y]
    leads[np.arange(len(y)), y] = -np.inf
    leads = own - leads.max(axis=1)
    weights[leads.argmin()] = 0
    counted = weights > 0
    learner = rb.KernelPerceptron("gaussian:1", max_iter=None).fit(X, y, weights)
    bound = learner.bound(X, y, other, weights)
    assert learner.run_.mistakes <= bound.value
    stored = X[other.support_]
    K = gaussian(stored, stored, 1.0)
    alphas = other.alphas_ if classes == 3 else np.outer(other.alphas_, [-1, 1])
    margins = leads[counted] / np.sqrt(np.trace(alphas.T @ K @ alphas))
    c = weights[counted]
    assert bound.value == pytest.approx(2 * (c / margins).max() / (c * margins).min(), rel=1e-6)


# ---- the widest margin


def test_a_hard_margin_leaves_out_rows_of_weight_0_and_counts_the_others_alike():
    X = np.array([[0.0, 5.0], [-1.0, 0.0], [1.0, 0.0], [3.0, 1.0], [0.0, 6.0]])
    y, weights = [1, 0, 1, 1, 0], [0, 1, 7, 0.5, 0]
    learner = rb.HardMarginSVM().fit(X, y, weights)
    assert learner.margin_ == pytest.approx((1, 1))
    assert learner.support_.tolist() == [1, 2]
    assert rb.verify(learner.certificate_, X[1:4], y[1:4]).ok


# ---- a bound speaks of the run as it was made


@pytest.mark.parametrize("make", [rb.Perceptron, rb.KernelPerceptron])
def test_a_bound_wants_the_weights_of_the_run(make, tmp_path):
    weights = np.array([1, 1, 4, 1, 2, 0])
    fitted = make().fit(SIX_X, SIX_Y, weights)
    rb.save(fitted, tmp_path / "model")
    batches, single = make(), make()
    batches.partial_fit(SIX_X[:3], SIX_Y[:3], sample_weight=weights[:3])
    batches.partial_fit(SIX_X[3:], SIX_Y[3:], sample_weight=weights[3:])
    for x, y, weight in zip(SIX_X, SIX_Y, weights, strict=True):
        single.learn_one(x, y, weight)
    comparator = [1, 0] if make is rb.Perceptron else fitted
    for learner in (fitted, rb.load(tmp_path / "model"), batches, single):
        with pytest.raises(rb.InputError, match="made with weights; give the bound the same sampl"):
            learner.bound(SIX_X, SIX_Y, comparator)
        bound = learner.bound(SIX_X, SIX_Y, comparator, weights)
        assert learner.run_.mistakes <= bound.value
    plain = make().fit(SIX_X, SIX_Y)
    with pytest.raises(rb.InputError, match="made without weights; leave out sample_weight"):
        plain.bound(SIX_X, SIX_Y, comparator, weights)
    assert plain.bound(SIX_X, SIX_Y, comparator, [1] * 6).value >= plain.run_.mistakes


def test_weights_of_0_and_1_bound_by_all_rows_or_by_those_that_count():
    weights = [0, 1, 1, 1, 0, 1]  # the two long rows do not count
    learner = rb.Perceptron(fit_intercept=False).fit(SIX_X, SIX_Y, weights)
    assert learner.bound(SIX_X, SIX_Y, [1, 0], weights).value == pytest.approx(2)
    assert learner.bound(SIX_X, SIX_Y, [1, 0]).value == pytest.approx(5)
