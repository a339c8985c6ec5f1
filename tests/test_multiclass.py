"""Many classes by discriminators: D18, F14, F15, streams whose classes grow.

On whole numbers a learner and its naive twin agree bit for bit. Renormalised runs divide, so there
a tolerance covers the rounding.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import naive
import rosenblatt as rb
from amount import crossed
from layouts import DENSE, LAYOUTS, SPARSE
from learners import refused, snapshot
from naive import ORDERS, GrowingLearner
from planted import quickly, seed_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

OUTPUTS = ("last", "averaged", "voted")
every_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=str)
every_order = pytest.mark.parametrize("order", ORDERS)
every_output = pytest.mark.parametrize("output", OUTPUTS)


def whole_numbers(n=29, d=5, k=4, seed=0):
    """Rows with many zeros, one of them empty, and random classes: not separable."""
    random = np.random.default_rng(seed)
    A = random.integers(-3, 4, (n, d)) * (random.random((n, d)) < 0.6).astype(float)
    A[5] = 0
    return A, np.concatenate([np.arange(k), random.integers(0, k, n - k)])


def planted_classes(n=120, d=6, k=4, margin=1.0, seed=0):
    """Rows of whole numbers / 8 that W* tells apart by at least a margin; W* has whole numbers."""
    random = np.random.default_rng(seed)
    W = random.integers(-4, 5, (k, d)).astype(float)
    X = random.integers(-16, 17, (60 * n, d)) / 8
    ranked = np.sort(X @ W.T, axis=1)
    X = X[ranked[:, -1] - ranked[:, -2] >= margin][:n]
    return X, (X @ W.T).argmax(axis=1), W


X, y, W_STAR = planted_classes()


def fitted(X, y, **options):
    comparator = options.pop("comparator", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = {"output": "last", "patience": None, **options}
        return rb.Perceptron(**options).fit(X, y, comparator=comparator)


def twin_run(A, codes, layout, order, *, start=None, passes=3, seed=0, **options):
    options |= {"sparse": layout.sparse, "classes": codes.max() + 1}
    twin = naive.learner(A.shape[1], start, **options)
    return twin, naive.run(twin, A, codes, order, seed_of(seed), passes * len(codes))


def assert_same_run(learner, twin, ran):
    run = learner.run_
    assert run.mistakes == run.updates == ran.mistakes
    assert run.mistakes_per_pass == ran.mistakes_per_pass
    assert run.counts.tolist() == ran.counts
    assert run.converged == ran.converged
    assert run.operations.dot_products == twin.looks
    assert run.operations.multiply_adds == twin.multiply_adds


# ---- D18: the rule


@crossed(7, layout=LAYOUTS, order=ORDERS, output=OUTPUTS)
def test_a_learner_does_what_its_naive_twin_does(layout, order, output):
    A, codes = whole_numbers()
    learner = fitted(
        layout.matrix(A), codes, order=order, output=output, max_iter=3, random_state=7
    )
    twin, ran = twin_run(A, codes, layout, order, lift=1.0, seed=7)
    assert_same_run(learner, twin, ran)
    scores = learner.decision_function(layout.matrix(A))
    if output == "voted":
        assert scores.tolist() == twin.voted(A).tolist()
        return
    w = twin.w if output == "last" else twin.averaged()
    np.testing.assert_allclose(learner.coef_, w[:, :-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(learner.intercept_, w[:, -1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(scores, [w @ twin.lifted(x) for x in A], rtol=0, atol=1e-11)


@crossed(7, layout=LAYOUTS, order=ORDERS, k=[3, 4, 5, 7, 8, 9])
def test_starts_rates_lifts_and_weights_are_those_of_the_twin(layout, order, k):
    A, codes = whole_numbers(31, 4, k, seed=k)
    start = np.random.default_rng(k).integers(-3, 4, (k, 5)).astype(float)
    factors = [0.5, 1.0, 2.0, 3.0, 1.0, 4.0, 1.0, 0.25, 2.0][:k]
    learner = fitted(
        layout.matrix(A),
        codes,
        order=order,
        initial=start,
        eta0=0.5,
        lift=4.0,
        class_weight=dict(enumerate(factors)),
        max_iter=3,
        random_state=3,
        comparator=np.eye(k, 4),
    )
    twin, ran = twin_run(
        A, codes, layout, order, start=start, eta=0.5, lift=4.0, weights=tuple(factors), seed=3
    )
    assert_same_run(learner, twin, ran)
    assert learner.coef_.tolist() == twin.w[:, :-1].tolist()
    assert learner.intercept_.tolist() == (4.0 * twin.w[:, -1]).tolist()
    history = learner.run_.history
    assert history.example.tolist() == [made.example for made in twin.log]
    unit = np.pad(np.eye(k, 4), ((0, 0), (0, 1))) / np.linalg.norm(np.eye(k, 4))
    along = [float((made.w * unit).sum()) for made in twin.log]
    np.testing.assert_allclose(history.projection, along, rtol=1e-9, atol=1e-9)
    square = [float((made.w**2).sum()) for made in twin.log]
    np.testing.assert_allclose(history.sqnorm, square, rtol=1e-9)


@every_order
@every_output
def test_renormalised_weights_have_norm_1_and_are_those_of_the_twin(order, output):
    for layout in DENSE, SPARSE:
        learner = fitted(
            layout.matrix(X),
            y,
            order=order,
            output=output,
            renormalize=True,
            fit_intercept=False,
            max_iter=3,
            random_state=1,
        )
        twin, ran = twin_run(X, y, layout, order, renormalize=True, seed=1)
        assert_same_run(learner, twin, ran)
        scores = learner.decision_function(X)
        if output == "voted":
            np.testing.assert_allclose(scores, twin.voted(X), atol=1e-12)
            continue
        w = twin.w if output == "last" else twin.averaged()
        np.testing.assert_allclose(learner.coef_, w[:, :-1], atol=1e-9)
        if output == "last":
            assert np.linalg.norm(learner.coef_) == pytest.approx(1.0)


def test_the_best_wrong_class_is_corrected_the_first_of_equally_good_ones():
    learner = rb.Perceptron(fit_intercept=False, max_iter=1)
    learner.partial_fit([[1.0, 0.0]], ["c"], classes=["a", "b", "c", "d"])
    assert learner.coef_.tolist() == [[-1, 0], [0, 0], [1, 0], [0, 0]]
    learner.partial_fit([[0.0, 1.0]], ["a"])
    assert learner.coef_.tolist() == [[-1, 1], [0, -1], [1, 0], [0, 0]]


def test_a_tie_for_the_top_is_a_mistake_and_no_answer():
    learner = rb.Perceptron(fit_intercept=False)
    learner.partial_fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"], classes=["a", "b", "c"])
    assert learner.run_.mistakes == 2
    assert learner.decision_function([[0.0, 0.0]]).tolist() == [[0.0, 0.0, 0.0]]
    assert learner.predict([[0.0, 0.0]]).tolist() == ["a"]
    assert learner.predict_one({}) is None
    assert learner.learn_one({}, "a")


@every_layout
def test_classes_with_equal_weights_tie_whatever_their_number(layout):
    for k in range(3, 14):
        start = np.tile(np.random.default_rng(k).standard_normal(6), (k, 1))
        A = np.random.default_rng(1).standard_normal((20, 5))
        learner = rb.Perceptron(initial=start)
        learner.partial_fit(layout.matrix(A), np.arange(20) % k, classes=range(k))
        untouched = fitted(layout.matrix(A[:k]), np.arange(k), initial=start, max_updates=1)
        scores = untouched.decision_function(layout.matrix(A))
        assert (scores[:, 2:] == scores[:, 2:3]).all()


# ---- F14: two classes


@every_order
def test_two_discriminators_make_the_mistakes_of_one_vector(order):
    A, codes = whole_numbers(k=2)
    one = fitted(A, codes, order=order, max_iter=4, random_state=5)
    twin, ran = twin_run(A, codes, DENSE, order, lift=1.0, passes=4, seed=5)
    assert ran.mistakes == one.run_.mistakes
    assert ran.counts == one.run_.counts.tolist()
    assert (twin.w[1] - twin.w[0]).tolist() == [*(2 * one.coef_[0]), 2 * one.intercept_[0]]
    assert (twin.w[0] == -twin.w[1]).all()


@every_output
@pytest.mark.parametrize("options", [{}, {"renormalize": True}, {"initial": "unit"}], ids=str)
def test_a_third_class_changes_no_answer_about_the_first_two(output, options):
    A, codes = whole_numbers(k=2)
    two, three = (rb.Perceptron(output=output, **options).partial_fit(A, codes) for _ in range(2))
    last = rb.Perceptron(**options).partial_fit(A, codes)
    right = int(np.argmax(last.decision_function(A) * (2 * codes - 1)))
    two.partial_fit(A[[right]], codes[[right]])
    three.partial_fit(A[[right]], codes[[right]], classes=[0, 1, 7])
    assert three.run_.mistakes == two.run_.mistakes
    scores, found = two.decision_function(A), three.decision_function(A)
    if output == "voted":
        np.testing.assert_allclose(found[:, 1] - found[:, 0], scores, atol=1e-12)
        assert not found[:, 2].any()
    else:
        w = two.coef_[0]
        assert three.coef_.tolist() == [(0.0 - w).tolist(), w.tolist(), [0.0] * 5]
        assert (three.predict(A) == two.predict(A)).all()


# ---- F15: the bound


@given(st.integers(0, 10**6), st.integers(3, 6), st.sampled_from(ORDERS), st.booleans())
@quickly
def test_no_run_makes_more_mistakes_than_its_bound(seed, k, order, affine):
    A, codes, W = planted_classes(50, 3, k, seed=seed)
    if np.unique(codes).size < k:
        return
    learner = fitted(
        A, codes, order=order, fit_intercept=affine, max_iter=None, max_seconds=20, random_state=1
    )
    bound = learner.bound(A, codes, W)
    assert learner.run_.converged
    assert learner.score(A, codes) == 1.0
    assert learner.run_.mistakes <= bound.value
    lifted = np.hstack([A, np.full((len(A), 1), float(affine))])
    leads = lifted[:, :-1] @ (W / np.linalg.norm(W)).T
    ranked = np.sort(leads, axis=1)
    margin, radius = (ranked[:, -1] - ranked[:, -2]).min(), np.linalg.norm(lifted, axis=1).max()
    assert bound.value == pytest.approx(2 * radius**2 / margin**2, rel=1e-9)
    assert bound.value >= 2 * bound.radius**2 / bound.margin**2 * (1 - 1e-12)
    assert bound.margin <= margin * (1 + 1e-12)


@given(st.integers(0, 10**6), st.integers(3, 5), st.sampled_from([0.0, 1.0, 0.3]))
@quickly
def test_the_bound_is_never_rounded_down(seed, k, lift):
    A, codes, W = planted_classes(20, 3, k, seed=seed)
    if np.unique(codes).size < k:
        return
    A, W = A / 3, W / 7  # so that everything is rounded
    factors = [1.0, 0.3, 2.7, 1.1, 0.9][:k]
    learner = fitted(
        A,
        codes,
        fit_intercept=lift > 0,
        lift=lift or 1.0,
        class_weight=dict(enumerate(factors)),
        max_iter=1,
    )
    bound = learner.bound(A, codes, W)
    exact = exact_class_bound(A, codes, W, lift, factors)
    assert Fraction(bound.value) >= exact
    assert bound.value == pytest.approx(float(exact), rel=1e-9)


def exact_class_bound(X, codes, W, lift, factors):
    """2R²‖W*‖² / (smallest lead)² of F15 in fractions, with the R² of F16 for weighted rows."""
    W = [[*map(Fraction, w), Fraction(0)] for w in W.tolist()]
    steepest, leads = Fraction(0), []
    for x, y in zip(X.tolist(), codes.tolist(), strict=True):
        row = [Fraction(factors[y]) * Fraction(v) for v in (*x, lift)]
        scores = [naive.exact_dot(row, w) for w in W]
        leads.append(min(scores[y] - score for r, score in enumerate(scores) if r != y))
        steepest = max(steepest, naive.exact_dot(row, row) / leads[-1])
    return 2 * steepest * sum(naive.exact_dot(w, w) for w in W) / min(leads)


def test_the_proof_can_be_watched():
    learner = fitted(X, y, fit_intercept=False, comparator=W_STAR)
    bound, history = learner.bound(X, y, W_STAR), learner.run_.history
    assert (history.projection >= history.k * bound.margin * (1 - 1e-9)).all()
    assert (history.sqnorm <= history.k * 2 * bound.radius**2 * (1 + 1e-9)).all()
    assert history.k.size == learner.run_.mistakes
    twin, _ = twin_run(X, y, DENSE, "cycle", passes=learner.run_.passes)
    unit = W_STAR / np.linalg.norm(W_STAR)
    np.testing.assert_allclose(history.projection, [(m.w[:, :-1] * unit).sum() for m in twin.log])
    np.testing.assert_allclose(history.sqnorm, [(m.w**2).sum() for m in twin.log])


def test_the_bound_knows_the_start_the_rate_and_the_weights():
    start = np.random.default_rng(0).standard_normal((4, 6))
    weights = {0: 0.5, 1: 2.0, 2: 1.0, 3: 3.0}
    for options in ({"initial": start}, {"initial": start, "eta0": 0.1}, {"class_weight": weights}):
        learner = fitted(X, y, fit_intercept=False, **options)
        assert learner.run_.mistakes <= learner.bound(X, y, W_STAR).value
    zero, there = (fitted(X, y, fit_intercept=False, initial=s) for s in ("zero", 50 * W_STAR))
    assert there.run_.mistakes == 0
    assert there.bound(X, y, W_STAR).value < zero.bound(X, y, W_STAR).value


def test_a_bound_needs_a_comparator_that_separates():
    learner = fitted(X, y)
    with refused("needs a comparator"):
        learner.bound(X, y)
    with refused("leaves row .* to a wrong class or to none"):
        learner.bound(X, y, -W_STAR)
    with refused("a row of weights for each of 4 classes, got an array of shape"):
        learner.bound(X, y, W_STAR[:3])
    with refused("needs 6 numbers, one for each column, or 7"):
        learner.bound(X, y, W_STAR[:, :3])
    with refused("label 9 is not one of the classes"):
        learner.bound(X, np.where(y == 0, 9, y), W_STAR)
    with refused("renormalise"):
        fitted(X, y, renormalize=True).bound(X, y, W_STAR)


# ---- streams


@every_output
@pytest.mark.parametrize("options", [{}, {"renormalize": True}, {"eta0": 0.5, "lift": 2.0}])
@pytest.mark.parametrize("labels", ["abcde", "edcba", "cabed", [3, 1, 2, 5, 4]])
def test_rows_and_batches_meet_new_classes_alike(output, options, labels):
    A, codes = whole_numbers(k=5)
    named = [labels[code] for code in codes]
    single, batch = (rb.Perceptron(output=output, **options) for _ in range(2))
    for i, (x, label) in enumerate(zip(A, named, strict=True)):
        wrong = single.learn_one(x, label)
        before = batch.run_.mistakes if i else 0
        batch.partial_fit(A[i : i + 1], [label])
        assert batch.run_.mistakes - before == wrong
        assert sorted(set(named[: i + 1])) == batch.classes_.tolist() == single.classes_.tolist()
    padded = np.zeros((len(A), single.n_features_in_))
    padded[:, :5] = A
    np.testing.assert_allclose(
        single.decision_function(padded), batch.decision_function(A), atol=1e-12
    )


@pytest.mark.parametrize("labels", ["abcde", "edcba", "cabed"])
def test_growing_classes_are_those_of_the_twin(labels):
    A, codes = whole_numbers(60, 5, 5)
    twin, learner = GrowingLearner(5), rb.Perceptron()
    for x, code in zip(A, codes, strict=True):
        label = labels[code]
        twin.met(label)
        assert twin.present(x, label) == learner.learn_one(x, label)
    assert learner.run_.mistakes == twin.mistakes
    for label, w in zip(learner.classes_, learner.coef_, strict=True):
        assert w[:5].tolist() == twin.w[label][:5].tolist()


def test_several_classes_may_be_new_at_once():
    at_once, one_by_one = rb.Perceptron(), rb.Perceptron()
    for learner in at_once, one_by_one:
        learner.partial_fit(X[:2], ["m", "m"])
    at_once.partial_fit(X[2:5], ["z", "a", "m"], classes=["a", "m", "z"])
    for x, label in zip(X[2:5], "zam", strict=True):
        one_by_one.learn_one(x, label)
    assert at_once.classes_.tolist() == one_by_one.classes_.tolist() == ["a", "m", "z"]
    assert at_once.run_.operations.dot_products == 5


def test_columns_and_classes_grow_together():
    learner, reference = rb.Perceptron(), rb.Perceptron()
    labels = [int(code) for code in y]
    for x, label in zip(X, labels, strict=True):
        wide = {1000 * j: v for j, v in enumerate(x)}
        assert learner.learn_one(wide, label) == reference.learn_one(x, label)
        assert learner.predict_one(wide) == reference.predict_one(x)
        assert learner.predict_one({**wide, 10**6: 1.0}) == reference.predict_one(x)
    assert learner.n_features_in_ > 5000
    assert learner.decision_function(np.zeros((1, 9000))).shape == (1, 4)


def test_a_refused_row_or_batch_changes_nothing():
    learner = rb.Perceptron().partial_fit(X, y)
    before = snapshot(learner, X)
    for act in (
        lambda: learner.learn_one(np.full(6, np.nan), 2),
        lambda: learner.learn_one(np.full(6, np.nan), "new"),
        lambda: learner.learn_one(np.full(6, 1e308), 2),
        lambda: learner.partial_fit(np.full((1, 6), np.inf), [9]),
        lambda: learner.partial_fit(np.full((2, 6), 1e308), [0, 1]),
        lambda: learner.partial_fit(X, np.where(y == 1, 9, y), classes=[0, 1, 2, 3]),
        lambda: learner.partial_fit(X, y, classes=[0, 1, 2]),
    ):
        with refused("."):
            act()
        assert snapshot(learner, X) == before


def test_a_warm_fit_goes_on_and_may_meet_new_classes():
    first = y < 2
    learner = rb.Perceptron(warm_start=True, fit_intercept=False).fit(X[first], y[first])
    w = learner.coef_[0]
    learner.set_params(max_updates=1).fit(X, y)
    assert learner.classes_.tolist() == [0, 1, 2, 3]
    changed = np.abs(learner.coef_ - [-w, w, 0 * w, 0 * w]).sum(axis=1)
    assert np.count_nonzero(changed) == 2
    learner.set_params(max_updates=None).fit(X, y)
    assert learner.score(X, y) == 1.0
    assert learner.fit(X[first], y[first]).run_.mistakes == 0


# ---- labels, options, bad input


def test_a_warm_fit_balances_new_classes_too():
    first = y < 2
    learner = rb.Perceptron(warm_start=True, class_weight="balanced").fit(X[first], y[first])
    assert learner.fit(X, y).classes_.size == 4
    assert learner.fit(X[first], y[first]).classes_.size == 4


def test_named_starts_have_norm_1():
    for initial in ("unit", "random"):
        learner = fitted(X, y, initial=initial, random_state=0)
        start = learner.separator.start
        assert start.shape == (4, 7)
        assert np.linalg.norm(start) == pytest.approx(1.0)
    equal = fitted(X / 8, y, initial="unit", max_iter=2).run_.mistakes
    assert equal == fitted(X / 8, y, max_iter=2).run_.mistakes


def test_options_that_do_not_fit_are_refused():
    with refused("tie='positive' is about two classes, got 4"):
        fitted(X, y, tie="positive")
    stream = rb.Perceptron(tie="positive").partial_fit(X[:2], [0, 1], classes=[0, 1])
    with refused("tie='positive' is about two classes, got 3"):
        stream.learn_one(X[0], 5)
    assert stream.classes_.tolist() == [0, 1]
    with refused("initial needs a row of weights for each of 4 classes"):
        fitted(X, y, initial=np.ones(6))
    with refused("initial needs 6 numbers"):
        fitted(X, y, initial=np.ones((4, 9)))
    with refused("class_weight has the label 8"):
        fitted(X, y, class_weight={8: 1.0})
    with refused("the comparator needs a row"):
        fitted(X, y, comparator=np.ones(6))
    with refused("Unknown label type: continuous"):
        rb.Perceptron().partial_fit(X, np.linspace(0.5, 3.25, len(X)))
    with refused("too large for float64"):
        fitted(X * 1e300, y)


def test_limits_and_interrupts_are_those_of_two_classes():
    A, codes = whole_numbers()
    assert fitted(A, codes, max_updates=3).run_.stop is rb.Stop.UPDATES
    assert fitted(A, codes, max_updates=3).run_.mistakes == 3
    assert fitted(A, codes, max_iter=2).run_.stop is rb.Stop.PASSES
    assert fitted(A, codes, max_iter=None, max_seconds=0.05).run_.stop is rb.Stop.SECONDS
    with pytest.warns(ConvergenceWarning):
        rb.Perceptron(max_iter=1).fit(A, codes)
