"""Averaged and voted output (theory D17) over every way of learning, against the naive sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naive
import rosenblatt as rb
from naive import ORDERS, SIX_X, SIX_Y
from planted import fit, planted, quickly, seed_of, whole
from rosenblatt.online import averaging

OUTPUTS = ["last", "averaged", "voted"]


def test_the_average_of_the_worked_example():
    learner = rb.Perceptron(fit_intercept=False, output="averaged").partial_fit(SIX_X, SIX_Y)
    assert learner.coef_.tolist() == [[2, -4 / 6]]


def teach(learner, twin, data, X, y):
    """Show rows to both, in one of the ways that a learner offers."""
    way = data.draw(st.sampled_from(["array", "sparse", "one row", "one dict"]))
    if way in ("array", "sparse"):
        rows = X if way == "array" else sparse.csr_matrix(X)
        learner.partial_fit(rows, y, classes=[-1, 1])
    for x, sign in zip(X, y, strict=True):
        if way == "one row":
            learner.learn_one(x, sign)
        if way == "one dict":
            learner.learn_one({j: x[j] for j in np.flatnonzero(x)}, sign)
        twin.present(x, sign)


@given(st.data(), whole(), st.sampled_from(["averaged", "voted"]), st.sampled_from([0.0, 2.0]))
@quickly
def test_averages_and_votes_over_mixed_ways_of_learning_are_the_naive_ones(
    data, problem, output, lift
):
    X, y, _ = problem
    learner = rb.Perceptron(output=output, fit_intercept=lift != 0, lift=lift or 1.0)
    twin = naive.learner(X.shape[1], lift=lift)
    order = data.draw(st.sampled_from(["stream", "cycle", "worst", "first"]))
    if order == "stream":
        learner.partial_fit(X, y, classes=[-1, 1])
        for x, sign in zip(X, y, strict=True):
            twin.present(x, sign)
    else:
        learner.set_params(order=order, max_iter=None).fit(X, y)
        naive.run(twin, X, y, order)
    for _ in range(data.draw(st.integers(0, 3))):
        again = data.draw(st.lists(st.integers(0, len(y) - 1), min_size=1, max_size=5))
        flips = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=5, max_size=5))
        teach(learner, twin, data, X[again], y[again] * flips[: len(again)])
    assert_same_output(learner, twin, X)


def assert_same_output(learner, twin, X):
    if learner.output == "voted":
        expected = twin.voted(X)
    else:
        mean = twin.averaged()
        expected = X @ mean[:-1] + twin.lift * mean[-1]
    found = learner.decision_function(X)
    # Sums are exact; then one division, and for averages a dot product of rounded numbers.
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-12)
    for x, score in zip(X, found, strict=True):
        answer = learner.predict_one(x)
        assert abs(score) < 1e-12 or answer == np.sign(score)


@given(planted(), st.sampled_from(["averaged", "voted"]), st.sampled_from(ORDERS))
@quickly
@pytest.mark.filterwarnings("ignore:Stopped at the limit on passes")
def test_averages_and_votes_of_renormalised_runs_are_the_naive_ones(problem, output, order):
    X, y, _ = problem
    learner = fit(X, y, order=order, renormalize=True, output=output, random_state=1, max_iter=3)
    twin = naive.learner(X.shape[1], renormalize=True)
    naive.run(twin, X, y, order, seed_of(1), 3 * len(y))
    assert_same_output(learner, twin, X)


def test_the_vote_of_the_worked_example():
    learner = rb.Perceptron(fit_intercept=False, output="voted").partial_fit(SIX_X, SIX_Y)
    # (1,-2), (2,-1) and (3,1) are held twice each; the first scores 0 on (2,1).
    assert learner.decision_function([[0.0, 1], [2, 1], [-1, -1]]).tolist() == [
        -1 / 3,
        2 / 3,
        -1 / 3,
    ]


def test_the_average_before_any_example_is_the_start():
    learner = rb.Perceptron(output="averaged", initial=[1.0, 2.0], fit_intercept=False)
    learner.partial_fit([[1.0, 1.0]], [1], classes=[-1, 1])
    assert learner.coef_.tolist() == [[1, 2]]


def test_votes_are_the_same_in_blocks_of_one_row(monkeypatch):
    X, y, _ = rb.make_separable(30, 3, margin=0.1, seed=3)
    learner = fit(X, y, output="voted")
    whole_block = learner.decision_function(X)
    monkeypatch.setattr(averaging, "BLOCK_ENTRIES", 1)
    assert learner.decision_function(X).tolist() == whole_block.tolist()


# ---- streams whose columns and classes come as they like


def growing_stream(seed, n=50, width=300):
    """Rows of five entries, in more and more columns; the positive class comes first."""
    random = np.random.default_rng(seed)
    X, y = np.zeros((n, width)), random.choice([-1, 1], n)
    y[:5] = 1
    for k in range(n):
        X[k, random.choice(min(width, 10 + 8 * k), 5, replace=False)] = random.integers(-3, 4, 5)
    return X, y


@pytest.mark.parametrize("lift", [0.0, 2.0])
@pytest.mark.parametrize("output", OUTPUTS)
def test_a_stream_that_grows_and_turns_is_the_naive_one(output, lift):
    X, y = growing_stream(seed=5)
    weights = {"ham": 3.0, "spam": 2.0}
    learner = rb.Perceptron(
        output=output, fit_intercept=lift != 0, lift=lift or 1.0, class_weight=weights
    )
    twin = naive.learner(X.shape[1], lift=lift, weights=(3.0, 2.0))
    for x, sign in zip(X, y, strict=True):
        row = {int(j): x[j] for j in np.flatnonzero(x)}
        assert learner.learn_one(row, "spam" if sign > 0 else "ham") == twin.present(x, sign)
    assert learner.classes_.tolist() == ["ham", "spam"]
    scores = {"last": lambda X: X @ twin.coef + twin.intercept, "voted": twin.voted}
    mean = twin.averaged()
    expected = scores.get(output, lambda X: X @ mean[:-1] + lift * mean[-1])(X)
    # Averages are divided by the number of examples, then multiplied and summed.
    np.testing.assert_allclose(learner.decision_function(X), expected, rtol=1e-12, atol=1e-12)
