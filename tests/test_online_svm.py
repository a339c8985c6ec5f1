"""The online SVM (theory D24, F18): dual steps over the newest examples.

Steps divide by squares of norms, so that twins agree up to rounding; what is said to be the same
to the last bit is compared so.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rosenblatt as rb
from layouts import LAYOUTS, close
from naive_window import WindowLearner
from planted import planted, quickly
from rosenblatt.learners.parts import online_svm_from, online_svm_parts
from rosenblatt.online.machine import Machine, WindowPresenter
from rosenblatt.online.perceptron import MISTAKES, UPDATES, Allowance, Rule
from rosenblatt.online.plan import Plan

IN_ORDER = Plan(np.zeros(0, np.uint32), False, False, np.zeros(1, np.uint64))


def examples(classes=2, n=60, d=6, seed=0):
    """Normal rows, some of them short, with labels that no hyperplane gives."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) * random.choice([0.3, 1.0], (n, 1))
    X[random.random((n, d)) < 0.3] = 0.0
    y = (X @ random.standard_normal((d, classes))).argmax(axis=1)
    flipped = random.random(n) < 0.1
    return X, np.where(flipped, random.integers(0, classes, n), y)


def twin_of(X, y, **options):
    twin = WindowLearner(X.shape[1], classes=int(y.max()) + 1, **options)
    for x, label in zip(X, y, strict=True):
        twin.present(x, label)
    return twin


@pytest.fixture(params=[2, 4], ids="{} classes".format)
def classes(request):
    return request.param


# ---- the loops


@pytest.mark.twin_of("online.window.present_newest")
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("window", [1, 5, 100])
def test_present_newest_does_what_the_twin_does(layout, window, classes):
    X, y = examples(classes)
    X = np.asarray(X, np.float32).astype(float)  # so that single precision holds the same
    rule = Rule(0.7, np.ones(classes), False)
    w = np.zeros((classes, 7) if classes > 2 else 7, order="F")
    machine = Machine.begin_with(w, 2.0, rule, "averaged", window, False)
    shown = WindowPresenter(machine, layout.rows(X, 2.0), y, rule)
    while machine.state.tally[0] < len(y):
        shown.present(IN_ORDER, Allowance(10, 100))
    twin = twin_of(X, y, C=0.7, window=window, lift=2.0)
    close(machine.state.w, twin.w)
    close(machine.weights(), sum(twin.held) / len(y))
    leads = np.array(twin.leads)
    assert machine.state.tally[[MISTAKES, UPDATES]].tolist() == [sum(leads <= 0), sum(leads < 1)]
    assert shown.counts.tolist() == (leads < 1).tolist()


@pytest.mark.twin_of("online.window.learn_newest_row")
@pytest.mark.parametrize("window", [1, 7])
def test_learn_one_does_what_the_twin_does(window, classes):
    X, y = examples(classes)
    learner, twin = rb.OnlineSVM(C=0.5, window=window), WindowLearner(6, classes, 0.5, window)
    learner.partial_fit(X[:1], y[:1], classes=range(classes))
    twin.present(X[0], y[0])
    for x, label in zip(X[1:], y[1:], strict=True):
        assert learner.learn_one(x, label) == (twin.present(x, label) <= 0)
    weights = np.atleast_2d(twin.w)
    close(learner.coef_, weights[:, :-1])
    close(learner.intercept_, weights[:, -1])


def test_a_window_of_one_is_passive_aggressive():
    X, y = examples()
    learner, w = rb.OnlineSVM(window=1, C=0.8, fit_intercept=False).fit(X, y), np.zeros(6)
    for x, sign in zip(X, 2 * y - 1, strict=True):
        loss = max(0.0, 1 - sign * (w @ x))
        w = w + min(0.8, loss / (x @ x)) * sign * x
    close(learner.coef_[0], w)


def test_a_window_over_everything_in_many_passes_approaches_the_soft_margin():
    X, y = examples(n=40)
    learner = rb.OnlineSVM(window=400).fit(X, y)
    for _ in range(300):  # what is wrong, and weighs nothing, calls for steps on all the others
        learner.learn_one(1e-9 * X[0], 1 - learner.predict_one(1e-9 * X[0]), sample_weight=1e-12)
    best = rb.SoftMarginSVM(C=1.0, intercept="lifted", tol=1e-9).fit(X, y)
    found = np.append(learner.coef_[0], learner.intercept_)
    np.testing.assert_allclose(found, np.append(best.coef_[0], best.intercept_), atol=1e-5)


# ---- F18


@given(
    planted(),
    st.sampled_from([0.1, 1.0, 30.0]),
    st.sampled_from([1, 3, 100]),
    st.booleans(),
    st.sampled_from([None, {-1: 0.5, 1: 3.0}]),
)
@quickly
def test_no_window_makes_more_mistakes_than_the_bound(problem, C, window, lifted, class_weight):
    X, y, u = problem
    X, y = np.vstack([X, u, u]), np.append(y, [1, -1])  # so that nothing separates them
    options = {"C": C, "window": window, "fit_intercept": lifted, "class_weight": class_weight}
    learner = rb.OnlineSVM(max_iter=2, **options).fit(X, y)
    least, by_u = learner.bound(X, y), learner.bound(X, y, u)
    assert learner.run_.mistakes <= least.value
    assert class_weight or least.value <= 1.01 * by_u.value  # boxes that differ are not searched
    assert (least.theorem, least.passes) == (3, 2)


@pytest.mark.parametrize("window", [1, 5, 100])
def test_no_window_makes_more_mistakes_on_many_classes_than_the_bound(window):
    random = np.random.default_rng(3)
    W = random.standard_normal((4, 6))
    X = random.standard_normal((300, 6))
    ranked = np.sort(X @ W.T, axis=1)
    X = X[ranked[:, -1] - ranked[:, -2] > 0.3]
    y = (X @ W.T).argmax(axis=1)
    learner = rb.OnlineSVM(window=window, C=2.0, fit_intercept=False).fit(X, y)
    bound = learner.bound(X, y, W)
    square = np.sum(np.square(bound.comparator))
    assert learner.run_.mistakes <= bound.value == pytest.approx(2 * bound.radius**2 * square)
    with pytest.raises(rb.InputError, match="must separate them"):
        learner.bound(X, y, -W)
    with pytest.raises(rb.InputError, match="needs a comparator"):
        learner.bound(X, y)


def test_the_bound_is_the_formula_of_the_theory():
    X, y = examples()
    learner, u = rb.OnlineSVM(C=0.5, fit_intercept=False).fit(X, y), np.arange(6) - 2.5
    found, signs = learner.bound(X, y, u), 2 * y - 1
    loss = 0.5 * np.maximum(0, 1 - signs * (X @ found.comparator[:-1])).sum()
    longest = max(np.square(X).sum(axis=1).max(), 1 / 0.5)
    w = found.comparator
    assert found.value == pytest.approx(longest * (w @ w + 2 * loss), rel=1e-9)
    lengths = [learner.bound(X, y, u * t).value for t in (0.1, 1, 10)]
    assert lengths == pytest.approx([found.value] * 3)
    shorter = 0.9 * w, 1.1 * w
    for other in shorter:
        loss = 0.5 * np.maximum(0, 1 - signs * (X @ other[:-1])).sum()
        assert longest * (other @ other + 2 * loss) >= found.value * (1 - 1e-9)


def test_a_part_of_a_stream_gets_no_bound():
    X, y = examples()
    learner = rb.OnlineSVM().partial_fit(X, y).partial_fit(X, y)
    with pytest.raises(rb.InputError, match="each of them once"):
        learner.bound(X, y)
    assert learner.run_.mistakes <= learner.bound(np.vstack([X, X]), np.append(y, y)).value


# ---- one state, however it is fed


def fed(learner, X, y, how):
    if how == "rows":
        for x, label in zip(X, y, strict=True):
            learner.learn_one(x, label)
    elif how == "sparse rows":
        for x, label in zip(sparse.csr_matrix(X), y, strict=True):
            learner.learn_one(x, label)
    elif how == "blocks":
        for k in range(0, len(y), 7):
            learner.partial_fit(X[k : k + 7], y[k : k + 7])
    else:
        learner.fit(sparse.csr_matrix(X) if how == "sparse" else X, y)
    return learner


@pytest.mark.parametrize("how", ["rows", "sparse rows", "blocks", "sparse"])
def test_all_ways_to_the_same_examples_give_the_same_bits(how, classes):
    X, y = examples(classes)
    y[:classes] = range(classes)
    first = rb.OnlineSVM(window=9).partial_fit(X[:classes], y[:classes])
    rest = X[classes:], y[classes:]
    expected, found = rb.OnlineSVM(window=9).fit(X, y), fed(first, *rest, how)
    if how == "sparse":
        found = rb.OnlineSVM(window=9).fit(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.run_.counts.tolist() == expected.run_.counts.tolist()
    assert found.run_.updates > found.run_.mistakes == expected.run_.mistakes


def test_a_loaded_machine_goes_on_to_the_same_bits(tmp_path, classes):
    X, y = examples(classes, n=80)
    rows = [{f"name {j}": v for j, v in enumerate(x) if v} for x in X]
    learner = rb.OnlineSVM(window=11, C=0.6, output="averaged")
    for k, (row, label) in enumerate(zip(rows, y.tolist(), strict=True)):
        if k in (1, 15, 40):
            rb.save(learner, tmp_path / "model")
            again = rb.load(tmp_path / "model")
            rb.save(again, tmp_path / "same")
            assert (tmp_path / "model").read_bytes() == (tmp_path / "same").read_bytes()
            for later, name in zip(rows[k:], y[k:].tolist(), strict=True):
                again.learn_one(later, name)
            loaded = again
        learner.learn_one(row, label)
    np.testing.assert_array_equal(learner.coef_, loaded.coef_)
    assert learner.run_.updates == loaded.run_.updates


@pytest.mark.parametrize("part", ["codes", "columns", "alpha", "starts"])
def test_a_window_that_does_not_fit_is_refused(part):
    settings, tensors = online_svm_parts(rb.OnlineSVM(window=5).fit(*examples()))
    wrong = tensors[f"window.{part}"].copy()
    wrong[-1:] = 99
    with pytest.raises(rb.ModelFileError, match="window"):
        online_svm_from(settings, {**tensors, f"window.{part}": wrong})


def test_classes_that_come_later_leave_all_leads_as_they_are():
    X, y = examples(2)
    learner = rb.OnlineSVM(window=8).fit(X, y)
    before = learner.decision_function(X)
    rule = Rule(1.0, np.ones(3), False)
    scores = learner.machine.among(np.array([2, 0]), 3, rule).scores(X)
    close(scores[:, 0] - scores[:, 2], before)
    assert not scores[:, 1].any()


def test_an_unusable_row_changes_nothing():
    X, y = examples()
    learner = rb.OnlineSVM(window=4).fit(X, y)
    w, window = learner.coef_, learner.machine.window.held()
    for row in ([np.nan] * 6, [1e200] * 6):
        with pytest.raises(rb.InputError, match=r"NaN or infinity|too large for float64"):
            learner.learn_one(row, 1)
    np.testing.assert_array_equal(learner.coef_, w)
    np.testing.assert_array_equal(learner.machine.window.held().alpha, window.alpha)
    assert learner.run_.operations.dot_products == len(y)


def test_a_pair_with_a_column_twice_is_the_row_of_their_sum():
    X, y = examples()
    one, other = rb.OnlineSVM().fit(X, y), rb.OnlineSVM().fit(X, y)
    one.learn_one((np.array([3, 1, 3]), np.array([1.0, 2.0, 1.0])), 0)
    other.learn_one((np.array([1, 3]), np.array([2.0, 2.0])), 0)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_a_window_beyond_the_memory_is_refused():
    with pytest.raises(rb.InputError, match=r"newest examples need .* make the window smaller"):
        rb.OnlineSVM(window=2**50).fit(*examples())
    with pytest.raises(rb.InputError, match="window must be a whole number from 1 on, got 0"):
        rb.OnlineSVM(window=0).fit(*examples())


def test_weights_of_zero_are_left_out_and_others_widen_the_box():
    X, y = examples()
    weights = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    some = rb.OnlineSVM(window=5).fit(X, y, sample_weight=weights)
    few = rb.OnlineSVM(window=5).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(some.coef_, few.coef_)
    heavy = rb.OnlineSVM(window=5, C=0.5).fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_array_equal(heavy.coef_, rb.OnlineSVM(window=5).fit(X, y).coef_)
