"""Voted output in a stream: one ballot for each mistake, at a cost that does not grow."""

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt.online import averaging

X = np.random.default_rng(0).integers(-3, 4, (300, 6)).astype(float)


def labels_of(classes):
    random = np.random.default_rng(1)
    noise = random.random(len(X)) < 0.2
    clean = (X[:, 0] > 0).astype(int) if classes == 2 else X[:, :classes].argmax(axis=1)
    return np.where(noise, random.integers(0, classes, len(X)), clean)


def begun(y, **options):
    classes = np.unique(y)
    return rb.Perceptron(output="voted", **options).partial_fit(X[:1], y[:1], classes=classes)


def by_rows(learner, y):
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        learner.learn_one(x, label)
    return learner


def by_small_blocks(learner, y, form=np.asarray):
    for start in range(1, len(X), 2):
        learner.partial_fit(form(X[start : start + 2]), y[start : start + 2])
    return learner


FEEDS = {
    "single rows": by_rows,
    "small blocks": by_small_blocks,
    "sparse blocks": lambda learner, y: by_small_blocks(learner, y, sparse.csr_matrix),
}


@pytest.mark.parametrize("feed", FEEDS.values(), ids=FEEDS)
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("renormalize", [False, True])
def test_a_stream_votes_as_a_pass_does_and_keeps_its_mistakes_only(
    feed, classes, renormalize, monkeypatch
):
    monkeypatch.setattr(averaging, "NOTED", 7)
    y = labels_of(classes)
    stream = feed(begun(y, renormalize=renormalize), y)
    whole = begun(y, renormalize=renormalize).partial_fit(X[1:], y[1:])
    assert stream.run_.mistakes == whole.run_.mistakes > 50
    assert stream.separator.votes.ballot().row.size == stream.run_.mistakes
    assert stream.decision_function(X).tolist() == whole.decision_function(X).tolist()


@pytest.mark.parametrize("feed", FEEDS.values(), ids=FEEDS)
@pytest.mark.parametrize("classes", [2, 4])
def test_a_mistake_is_copied_a_few_times_only(feed, classes, monkeypatch):
    monkeypatch.setattr(averaging, "NOTED", 1)
    copied, join = [], averaging.Ballot.followed_by

    def counted(ballot, *later):
        joined = join(ballot, *later)
        copied.append(joined.row.size)
        return joined

    monkeypatch.setattr(averaging.Ballot, "followed_by", counted)
    y = labels_of(classes)
    learner = feed(begun(y), y)
    mistakes = learner.run_.mistakes
    kept = learner.separator.votes._ballots()
    assert len(kept) <= np.log2(mistakes) + 1
    assert sum(copied) <= mistakes * (np.log2(mistakes) + 2)  # quadratic would be mistakes² / 2
