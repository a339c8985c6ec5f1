"""What a run gives back: `Run`, `Stop`, `History`, `Operations`."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rosenblatt as rb
from naive import ORDERS, SIX_X, SIX_Y
from planted import fit, planted, quickly


def a_run(counts=(2, 0, 1), stop=rb.Stop.CONVERGED, history=None):
    counts = np.array(counts, np.uint32)
    mistakes = int(counts.sum())
    operations = rb.Operations(9, mistakes, 40)
    return rb.Run(
        mistakes, mistakes, 2, (mistakes, 0), counts, True, stop, 0.5, operations, history
    )


@pytest.mark.parametrize("noun", [rb.Run, rb.History, rb.Operations])
def test_results_are_frozen(noun):
    fields = [field.name for field in dataclasses.fields(noun)]
    thing = noun(*(np.zeros(2) for _ in fields))
    for name in fields:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, 0)


@pytest.mark.parametrize("stop", rb.Stop)
def test_every_reason_to_stop_is_a_full_sentence(stop):
    sentence = str(stop)
    assert sentence == stop.value == f"{stop}"
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert "  " not in sentence


def test_reasons_to_stop_differ():
    assert len({str(stop) for stop in rb.Stop}) == len(rb.Stop) == 7


def test_operations_add_up():
    total = rb.Operations(1, 2, 3) + rb.Operations(10, 20, 30)
    assert total == rb.Operations(11, 22, 33)


def test_joined_runs_sum_what_was_done_and_keep_the_later_end():
    earlier, later = a_run(), a_run((0, 5), rb.Stop.PASSES)
    joined = earlier.followed_by(later)
    assert (joined.mistakes, joined.updates, joined.passes) == (8, 8, 4)
    assert joined.mistakes_per_pass == (3, 0, 5, 0)
    assert joined.seconds == 1.0
    assert joined.operations == rb.Operations(18, 8, 80)
    assert joined.counts.tolist() == [2, 0, 1, 0, 5]
    assert joined.stop is rb.Stop.PASSES
    assert earlier.mistakes == 3


def test_joining_runs_is_associative():
    a, b, c = a_run(), a_run((1,)), a_run((4, 4))
    left, right = a.followed_by(b).followed_by(c), a.followed_by(b.followed_by(c))
    assert dataclasses.asdict(left).keys() == dataclasses.asdict(right).keys()
    for field in dataclasses.fields(rb.Run):
        assert np.array_equal(getattr(left, field.name), getattr(right, field.name))


def test_hardest_examples_come_first_and_easy_ones_not_at_all():
    run = a_run((0, 3, 1, 7, 0))
    assert run.hardest().tolist() == [3, 1, 2]
    assert run.hardest(2).tolist() == [3, 1]
    assert run.hardest(0).tolist() == []
    assert a_run((0, 0)).hardest().tolist() == []


@pytest.mark.parametrize("k", [1.5, -1, True, None, "3"])
def test_a_number_of_hardest_examples_that_means_nothing_is_refused(k):
    with pytest.raises(rb.InputError, match=f"k must be a whole number from 0 on, got {k!r}"):
        a_run().hardest(k)
    assert a_run().hardest(np.int64(1)).tolist() == [0]


def test_equally_hard_examples_come_in_the_order_of_their_rows():
    assert a_run((2, 5, 2, 0, 5, 2)).hardest(4).tolist() == [1, 4, 0, 2]


def test_at_most_ten_hardest_examples_are_named_unless_told_otherwise():
    assert len(a_run(range(1, 31)).hardest()) == 10
    assert len(a_run(range(1, 31)).hardest(25)) == 25


# ---- runs as learners make them


def assert_consistent(run, n):
    assert run.counts.shape == (n,)
    assert run.counts.sum() == run.mistakes == run.updates == sum(run.mistakes_per_pass)
    assert len(run.mistakes_per_pass) == run.passes
    assert run.operations.additions == run.mistakes
    assert n * (run.passes - 1) < run.operations.dot_products <= n * run.passes
    assert run.seconds >= 0


@given(planted(), st.sampled_from(ORDERS), st.booleans())
@quickly
def test_counts_sum_to_mistakes_and_costs_follow_the_formula(problem, order, lifted):
    X, y, _ = problem
    run = fit(X, y, order=order, fit_intercept=lifted, random_state=1).run_
    assert_consistent(run, len(y))
    looks, width = run.operations.dot_products, X.shape[1] + lifted
    assert run.operations.multiply_adds == (looks + run.mistakes) * width
    if order in ("cycle", "shuffle", "worst"):
        assert looks == len(y) * run.passes


def test_zeros_of_sparse_rows_cost_nothing():
    X = sparse.csr_matrix(SIX_X)
    run = fit(X, SIX_Y).run_
    assert (run.passes, run.counts.tolist()) == (2, [1, 0, 1, 0, 1, 0])
    assert run.operations == rb.Operations(12, 3, 2 * 10 + 6)
    lifted = fit(X, SIX_Y, fit_intercept=True).run_
    entries = np.diff(X.indptr) + 1
    cost = lifted.passes * entries.sum() + lifted.counts @ entries
    assert lifted.operations.multiply_adds == cost


def test_a_run_has_a_history_only_if_a_comparator_was_given():
    assert fit(SIX_X, SIX_Y).run_.history is None
    history = fit(SIX_X, SIX_Y, [1, 0]).run_.history
    assert {len(getattr(history, f.name)) for f in dataclasses.fields(history)} == {3}


def test_a_history_longer_than_the_first_log_is_complete():
    X, y = np.array([[1, 1], [1, 0], [1 / 50, 1], [0, 1]]), [1, 1, 1, -1]
    learner = fit(X, y, [100, -1], order="first")
    run = learner.run_
    assert run.mistakes == run.history.k[-1] == run.history.k.size > 1024
    assert np.bincount(run.history.example).tolist() == run.counts.tolist()
    # Several thousand sums of numbers up to 51, each rounded.
    assert run.history.sqnorm[-1] == pytest.approx((learner.coef_**2).sum(), rel=1e-9)


def test_entries_held_twice_by_a_sparse_row_count_as_their_sum():
    entries = (np.array([1.0, 1.0, -1.0]), np.array([0, 0, 0]), np.array([0, 2, 3]))
    learner = fit(sparse.csr_matrix(entries, shape=(2, 1)), [1, -1], [1.0])
    assert learner.coef_.tolist() == [[2]]
    assert learner.run_.history.projection.tolist() == [2]
    assert learner.run_.history.sqnorm.tolist() == [4]


def test_looking_at_a_run_does_not_change_it():
    learner = rb.Perceptron(fit_intercept=False)
    for x, y in zip(SIX_X, SIX_Y, strict=True):
        learner.learn_one(x, y)
        assert learner.run_.operations == learner.run_.operations
    assert learner.run_.mistakes_per_pass == (3,)
    assert learner.n_iter_ == 1


def test_a_warm_start_begins_where_the_last_fit_ended():
    learner = fit(SIX_X, SIX_Y, warm_start=True)
    again = learner.fit(SIX_X, SIX_Y).run_
    assert (again.mistakes, again.passes, again.converged) == (0, 1, True)
    assert learner.coef_.tolist() == [[3, 1]]
    assert learner.bound(SIX_X, SIX_Y, [1, 0]).value >= 0


@pytest.mark.parametrize("lift", [0.5, 8.0, "radius"])
def test_a_warm_start_keeps_its_hyperplane_when_the_lift_changes(lift):
    X, y = [[10.0], [8.0]], [1, -1]
    learner = fit(X, y, fit_intercept=True, lift=2.0, warm_start=True)
    coef, intercept = learner.coef_.tolist(), learner.intercept_.tolist()
    learner.set_params(lift=lift).fit(X, y)
    assert learner.run_.mistakes == 0
    assert learner.coef_.tolist() == coef
    assert learner.intercept_.tolist() == pytest.approx(intercept, rel=1e-15)
