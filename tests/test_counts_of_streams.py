"""The counts of a stream are those of the stream, whichever way it is fed."""

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.data.streams import fit_stream

X, Y, _ = rb.make_separable(60, 4, margin=0.02, seed=3)
LEARNERS = {
    "last": lambda: rb.Perceptron(),
    "voted": lambda: rb.Perceptron(output="voted"),
    "renormalize": lambda: rb.Perceptron(renormalize=True, max_iter=9),
    "kernel": lambda: rb.KernelPerceptron(),
    "budget": lambda: rb.KernelPerceptron(budget=5, max_iter=9),
}
every_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def teach(learner, X, y):
    """Teach rows one by one; give 1 for each that was a mistake."""
    return [int(learner.learn_one(x, k)) for x, k in zip(X, y.tolist(), strict=True)]


@every_learner
def test_single_rows_and_blocks_are_counted_in_the_order_in_which_they_came(make):
    learner, whole = make(), make().partial_fit(X, Y)
    wrong = teach(learner, X[:20], Y[:20])
    assert learner.run_.counts.tolist() == wrong
    learner.partial_fit(X[20:33], Y[20:33])
    assert learner.run_.counts.size == 33
    wrong = teach(learner, X[33:40], Y[33:40])
    assert learner.run_.counts[33:].tolist() == wrong
    for k in range(40, 60):
        learner.partial_fit(X[k : k + 1], Y[k : k + 1])
    assert learner.run_.counts.tolist() == whole.run_.counts.tolist()
    assert learner.run_.counts.sum() == learner.run_.updates == learner.run_.mistakes
    assert learner.run_.hardest(100).tolist() == np.flatnonzero(whole.run_.counts).tolist()
    assert sum(learner.run_.mistakes_per_pass) == learner.run_.mistakes


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@every_learner
def test_a_stream_goes_on_counting_behind_the_data_set(make):
    learner = make().fit(X, Y)
    fitted = learner.run_.counts.tolist()
    wrong = teach(learner, -X[:5], Y[:5])
    learner.partial_fit(-X[5:9], Y[5:9])
    assert learner.run_.counts[:65].tolist() == [*fitted, *wrong]
    assert learner.run_.counts.size == 69
    assert learner.run_.counts.sum() == learner.run_.mistakes


def test_a_row_of_weight_0_in_a_block_keeps_its_place():
    learner = rb.Perceptron()
    learner.partial_fit(X[:6], Y[:6], sample_weight=[1, 0, 1, 0, 1, 1])
    learner.learn_one(-X[6], int(Y[6]))
    assert learner.run_.counts.size == 7
    assert learner.run_.counts.sum() == learner.run_.mistakes
    assert not learner.run_.counts[[1, 3]].any()


def test_a_bound_takes_the_rows_of_a_stream_once_if_they_came_again():
    learner = rb.Perceptron()
    for _ in range(3):
        learner.partial_fit(X, Y)
    assert learner.run_.counts.size == 180
    assert learner.bound(X, Y).value >= learner.run_.mistakes
    with pytest.raises(rb.InputError, match="the run was made on 60 rows, but X has 10"):
        learner.bound(X[:10], Y[:10])


@pytest.mark.parametrize("go_on", [teach, lambda learner, X, y: learner.partial_fit(X, y)])
def test_counts_that_a_stream_did_not_keep_are_not_those_of_the_rows_after_it(go_on):
    learner = fit_stream(rb.Perceptron(), lambda: iter([rb.Examples(X, Y)]))
    assert learner.run_.passes > 1
    assert learner.run_.counts.size == 0
    go_on(learner, -X[:5], Y[:5])
    assert learner.run_.counts.size == 0
