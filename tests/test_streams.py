"""Streams: columns and classes come as they come."""

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from learners import BLANK_STREAMS, PERCEPTRONS, STREAMS, every, refused, separable, snapshot

X, y = separable()
every_stream, every_blank_stream = every(STREAMS), every(BLANK_STREAMS)


# ---- classes


@every_blank_stream
def test_a_third_class_may_come_at_any_time(case):
    learner = case(labels=("ham", "spam"))
    for x, label in zip(X, y.tolist(), strict=True):
        learner.learn_one(x, "spam" if label > 0 else "ham")
    answers = learner.predict(X).tolist()
    learner.partial_fit(np.zeros((1, 6)), ["later"])
    assert learner.classes_.tolist() == ["ham", "later", "spam"]
    if case in PERCEPTRONS:
        assert learner.coef_.shape == (3, learner.n_features_in_)
    learner.learn_one(X[2], "latest")
    assert learner.run_.operations.dot_products == len(X) + 2
    assert learner.predict(X).tolist().count("later") < len(X)
    assert set(answers) == {"ham", "spam"}


@every_stream
def test_classes_may_be_given_before_they_are_seen(case):
    learner = case().partial_fit(X[:1], y[:1], classes=[1, -1])
    assert learner.classes_.tolist() == [-1, 1]
    learner.partial_fit(X[1:], y[1:], classes=[-1, 1])
    before = snapshot(learner, X)
    with refused("not the same"):
        learner.partial_fit(X, y, classes=[-1, 5])
    with refused("not the same"):
        learner.partial_fit(X, y, classes=[1])
    assert snapshot(learner, X) == before


@every_stream
def test_a_label_outside_the_classes_given_is_refused(case):
    learner = case()
    with refused("label 1 is not one of the classes, -1 and 5"):
        learner.partial_fit(X, y, classes=[-1, 5])
    assert set(vars(learner)) == set(vars(case()))


def test_starts_that_have_a_side_need_both_classes_at_once():
    for options in ({"initial": "unit"}, {"initial": np.ones(6)}, {"tie": "positive"}):
        with refused("classes="):
            rb.Perceptron(**options).learn_one(X[0], 1)
        learner = rb.Perceptron(**options)
        with refused("classes="):
            learner.partial_fit(X[:1], y[:1])
        assert set(vars(learner)) == set(vars(rb.Perceptron()))


@every_blank_stream
def test_a_learner_of_one_class_answers_that_class_or_nothing(case):
    learner = case(labels=("only", "other"), fit_intercept=False)
    assert learner.learn_one({0: 1.0}, "only")
    assert learner.predict_one({0: 1.0}) == "only"
    assert learner.predict_one({0: -1.0}) in ("only", None)
    assert learner.predict([[1.0], [-1.0]]).tolist() == ["only", "only"]
    assert learner.run_.mistakes == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_fit_follows_a_stream_of_one_class():
    learner = rb.Perceptron(warm_start=True, fit_intercept=False)
    learner.learn_one(X[0], int(y[0]))
    assert learner.fit(X, y).score(X, y) == 1.0


# ---- columns


@every_blank_stream
def test_columns_are_met_as_they_come(case):
    narrow, wide = case(), case()
    places = np.array([0, 3, 64, 65, 1000, 100_000])
    for x, label in zip(X, y.tolist(), strict=True):
        assert wide.learn_one((places, x), label) == narrow.learn_one(x, label)
    assert wide.run_.mistakes == narrow.run_.mistakes
    assert wide.n_features_in_ >= 100_001
    for x in X:
        assert wide.predict_one((places, x)) == narrow.predict_one(x)
        assert wide.predict_one((np.append(places, 10**6), np.append(x, 1.0))) in (-1, 1, None)


@every_blank_stream
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("width", [3, 6, 64, 300])
def test_a_learner_with_open_columns_predicts_rows_of_any_width(case, kind, width):
    learner = case()
    for x, label in zip(X, y.tolist(), strict=True):
        learner.learn_one(x, label)
    rows = np.zeros((len(X), width))
    rows[:, : min(6, width)] = X[:, :width]
    padded = np.zeros_like(X)
    padded[:, : min(6, width)] = X[:, :width]
    scores = learner.decision_function(kind(rows))
    np.testing.assert_allclose(scores, learner.decision_function(padded), atol=1e-12)
    assert (learner.predict(kind(rows)) == learner.classes_[(scores > 0).astype(int)]).all()


@every_blank_stream
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_a_learner_with_open_columns_takes_batches_of_any_width(case, kind):
    learner, reference = case(), case()
    learner.learn_one(X[0], int(y[0]))
    wide = np.hstack([X, np.zeros((len(X), 200))])
    learner.partial_fit(kind(wide[1:9]), y[1:9])
    learner.partial_fit(kind(X[9:]), y[9:])
    reference.partial_fit(X, y)
    assert learner.run_.mistakes == reference.run_.mistakes
    np.testing.assert_allclose(
        learner.decision_function(X), reference.decision_function(X), atol=1e-12
    )


@every_stream
def test_asking_never_changes_a_learner(case):
    fitted, open_learner = case().partial_fit(X, y, classes=[-1, 1]), case()
    if case.starts_blank:
        for x, label in zip(X, y.tolist(), strict=True):
            open_learner.learn_one(x, label)
    for learner in (fitted, open_learner) if case.starts_blank else (fitted,):
        before = snapshot(learner, X)
        for x in (*X, {0: 1.0}):
            learner.predict_one(x)
        learner.predict(X)
        if learner is open_learner:
            learner.predict_one({5000: 1.0})
            learner.predict(np.ones((1, 900)))
            learner.predict(sparse.csr_matrix((1, 9000)))
        assert snapshot(learner, X) == before


@every_stream
def test_a_fitted_learner_keeps_its_columns(case):
    learner = case().partial_fit(X, y, classes=[-1, 1])
    with refused("column 6"):
        learner.learn_one({6: 1.0}, 1)
    with refused("column 6"):
        learner.predict_one({6: 1.0})
    assert learner.n_features_in_ == 6


def test_entries_of_a_row_given_twice_are_added_up():
    twice, once = rb.Perceptron(), rb.Perceptron()
    twice.learn_one(([1, 0, 1], [0.5, 2.0, 0.5]), 1)
    once.learn_one({0: 2.0, 1: 1.0}, 1)
    assert (twice.coef_ == once.coef_).all()
    assert twice.predict_one(([0, 0], [1.0, 1.0])) == once.predict_one({0: 2.0})


def test_an_empty_row_teaches_only_the_intercept():
    learner = rb.Perceptron()
    assert learner.learn_one({}, "a")
    assert learner.learn_one({}, "b")
    assert not learner.coef_.any()
    assert learner.intercept_.tolist() == [0.0]


def test_rows_are_not_kept_by_reference():
    row = {0: 1.0, 1: 2.0}
    values = np.array([1.0, 2.0])
    for x in (row, values):
        learner = rb.Perceptron(output="voted")
        learner.learn_one(x, "a")
        learner.learn_one({1: 1.0}, "b")
        scores = learner.decision_function(np.eye(2, learner.n_features_in_)).tolist()
        x[0] = 100.0
        assert learner.decision_function(np.eye(2, learner.n_features_in_)).tolist() == scores
