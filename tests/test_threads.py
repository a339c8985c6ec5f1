"""Threads: many may ask a learner at once, and those that teach it take turns."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import rosenblatt as rb

X, Y, _ = rb.make_separable(40, 6, margin=0.05, seed=1)
Y3 = np.where(X[:, 0] > 0.3, 2, Y)
LEARNERS = {
    "last": rb.Perceptron(),
    "averaged": rb.Perceptron(output="averaged"),
    "voted": rb.Perceptron(output="voted"),
    "kernel": rb.KernelPerceptron("gaussian:0.5"),
    "SVM": rb.SoftMarginSVM(),
}


@pytest.fixture
def eager_threads():
    """Let threads interrupt each other as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def in_threads(work, count=4):
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


@pytest.mark.parametrize("labels", [Y, Y3], ids=["two", "three"])
@pytest.mark.parametrize("name", LEARNERS)
def test_many_threads_may_ask_at_once(name, labels, eager_threads):
    learner = clone(LEARNERS[name])
    if hasattr(learner, "learn_one"):
        for x, label in zip(X, labels.tolist(), strict=True):
            learner.learn_one(x, label)
    else:
        learner.fit(X, labels)
    rows = [dict(enumerate(x.tolist())) for x in X]
    asked = copy.deepcopy(learner)
    one = [learner.predict_one(row) for row in rows]
    many, scores = learner.predict(X).tolist(), learner.decision_function(X).tolist()

    def ask(thread):
        for k in range(200 if name in ("last", "averaged") else 40):
            place = (7 * thread + k) % len(rows)
            assert asked.predict_one(rows[place]) == one[place]
        assert asked.predict(X).tolist() == many
        assert asked.decision_function(X).tolist() == scores

    in_threads(ask)


@pytest.mark.parametrize("name", ["last", "averaged", "voted", "kernel"])
def test_threads_that_teach_take_turns(name, eager_threads):
    learner = clone(LEARNERS[name])

    def teach(thread):
        for k in range(60):
            learner.learn_one({f"{thread}-{k}": 1.0, "shared": 0.5}, (thread + k) % 5)
            if not k % 20:
                learner.partial_fit(pd.DataFrame({"shared": [1.0], f"{thread}/{k}": 1.0}), [k % 5])

    in_threads(teach)
    assert learner.run_.operations.dot_products == 4 * 63
    assert learner.n_features_in_ == 4 * 63 + 1
    assert len(set(learner.feature_names_in_.tolist())) == 4 * 63 + 1
    assert learner.classes_.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", LEARNERS)
def test_copies_have_locks_of_their_own(name):
    learner = LEARNERS[name]
    for other in (clone(learner), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert other._lock is not learner._lock
        other.fit(X, Y)
        again = pickle.loads(pickle.dumps(other))
        assert again.predict(X).tolist() == other.predict(X).tolist()
        assert again._lock is not other._lock
