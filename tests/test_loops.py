"""Every compiled loop does what its naive twin does, in every memory layout.

The data are small whole numbers, so sums are exact in any order and equality can be asked for.
Where numbers are divided (renormalisation), rows are normal variates, on which no score comes
near 0, and agreement is asked up to the rounding of a few hundred operations.
"""

import numpy as np
import pytest

from layouts import DENSE, LAYOUTS, ROUNDING, close, normal_rows, whole_numbers, whole_weights
from naive import Draws, Learner, run
from rosenblatt.matrices import as_rows
from rosenblatt.online import perceptron
from rosenblatt.online.averaging import replay, vote
from rosenblatt.online.perceptron import (
    CLOCK,
    CURSOR,
    LOGGED,
    LOOKS,
    MISTAKES,
    SEEN,
    UNUSABLE,
    WORK,
    Allowance,
    Log,
    Plan,
    Rule,
    State,
)

PLAIN = Rule(1.0, 1.0, 1.0, False, False)


@pytest.fixture(params=LAYOUTS, ids=str)
def layout(request):
    return request.param


@pytest.fixture(params=[0.0, 3.0], ids=["plain", "lifted"])
def lift(request):
    return request.param


# ---- random numbers


def test_draws_are_the_published_splitmix64():
    words = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    draws = Draws(1234567)
    assert [draws.word() for _ in words] == words
    seed = np.array([1234567], np.uint64)
    assert [perceptron.draw(seed, 1000) for _ in words] == [word % 1000 for word in words]


@pytest.mark.twin_of("online.perceptron.shuffle")
@pytest.mark.parametrize("seed", [0, 1, 2**31 - 2, 2**64 - 1])
@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_shuffle_is_the_naive_one_again_and_again(n, seed):
    sequence, state, draws = np.arange(n, dtype=np.uint32), np.array([seed], np.uint64), Draws(seed)
    expected = list(range(n))
    for _ in range(3):
        perceptron.shuffle(sequence, state)
        assert sequence.tolist() == draws.shuffle(expected)
    assert int(state[0]) == draws.state


# ---- presenting examples

PLANS = {"cycle": (False, False), "first": (True, False), "random": (True, True)}
RULES = {
    "plain": {},
    "weighted": {"eta": 0.5, "weights": (2.0, 3.0)},
    "weighted examples": {"weights": (2.0, 3.0), "samples": (1.0, 0.5, 4.0) * 7 + (2.0, 1.0)},
    "zero is positive": {"tie": "positive"},
}


def rule_of(twin):
    samples = np.array(twin.samples)
    return Rule(twin.eta, *twin.weights, twin.renormalize, twin.tie == "positive", samples)


def plan_of(order, n, seed):
    sequence = np.arange(n if order in ("shuffle", "random") else 0, dtype=np.uint32)
    state = np.array([seed], np.uint64)
    if order == "shuffle":
        perceptron.shuffle(sequence, state)
    return Plan(sequence, *PLANS.get(order, (False, False)), state)


def assert_same_state(state, twin, exact=True):
    same = np.testing.assert_array_equal if exact else close
    same(state.w, twin.w)
    same(state.tally[CLOCK] * state.w - state.drift, sum(twin.held, np.zeros(twin.w.size)))
    tally = state.tally[[LOOKS, MISTAKES, WORK, SEEN]]
    assert tally.tolist() == [twin.looks, twin.mistakes, twin.multiply_adds, len(twin.held)]


def assert_same_log(log, used, twin, exact=True):
    same = np.testing.assert_array_equal if exact else close
    assert used == len(twin.log)
    for column, expected in zip(log, ("example", "score", "norm", "seen"), strict=True):
        same(column[: int(used)], [getattr(entry, expected) for entry in twin.log])


@pytest.mark.twin_of("online.perceptron.present")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ["cycle", "shuffle", "first", "random"])
def test_present_does_what_the_twin_does(layout, lift, order, rule):
    A, signs = whole_numbers()
    twin = Learner(whole_weights(), lift=lift, sparse=layout.sparse, **RULES[rule])
    state, log = State.start(twin.w.copy(), True), Log.empty(100)
    counts = np.zeros(len(A), np.uint32)
    plan, allowance = plan_of(order, len(A), 7), Allowance(len(A), 100)
    rows = layout.rows(A, lift)
    perceptron.present(rows, signs, plan, rule_of(twin), state, counts, log, allowance)
    ran = run(twin, A, signs, order, seed=7, max_looks=len(A))
    assert counts.tolist() == ran.counts
    assert_same_state(state, twin)
    assert_same_log(log, state.tally[LOGGED], twin)


@pytest.mark.parametrize("order", ["cycle", "first"])
def test_present_renormalises_like_the_twin(layout, lift, order):
    A, signs = normal_rows(layout)
    twin = Learner(np.zeros(6), lift=lift, renormalize=True, sparse=layout.sparse)
    state, log = State.start(np.zeros(6), True), Log.empty(100)
    counts, plan = np.zeros(40, np.uint32), plan_of(order, 40, 0)
    rows, rule = layout.rows(A, lift), rule_of(twin)
    perceptron.present(rows, signs, plan, rule, state, counts, log, Allowance(40, 100))
    run(twin, A, signs, order, max_looks=40)
    assert_same_state(state, twin, exact=False)
    assert_same_log(log, state.tally[LOGGED], twin, exact=False)
    assert abs(np.linalg.norm(state.w) - 1) < ROUNDING


def present_whole_numbers(allowance, capacity=0, times=1):
    """Present the same rows in stored order, in portions; without a log if it has no room."""
    A, signs = whole_numbers()
    state, counts = State.start(np.zeros(8), True), np.zeros(len(A), np.uint32)
    rows, plan = as_rows(A, 1.0), plan_of("cycle", len(A), 0)
    log = Log.empty(capacity)
    for _ in range(times):
        perceptron.present(rows, signs, plan, PLAIN, state, counts, log, allowance)
    return A, signs, state


@pytest.mark.parametrize("looks", [0, 1, 10])
def test_present_comes_back_after_the_looks_it_was_allowed_and_goes_on_from_there(looks):
    A, signs, state = present_whole_numbers(Allowance(looks, 100), times=2)
    twin = Learner(np.zeros(8), lift=1.0)
    for i in range(2 * looks):
        twin.present(A[i], signs[i], i)
    assert_same_state(state, twin)
    assert state.tally[CURSOR] == 2 * looks


def test_present_makes_exactly_the_updates_it_was_allowed():
    A, signs, state = present_whole_numbers(Allowance(100, 3))
    twin = Learner(np.zeros(8), lift=1.0)
    run(twin, A, signs, max_updates=3)
    assert_same_state(state, twin)


def test_present_comes_back_when_the_log_is_full():
    _, _, state = present_whole_numbers(Allowance(100, 100), capacity=2)
    assert state.tally[[MISTAKES, LOGGED]].tolist() == [2, 2]


def test_present_comes_back_at_the_end_of_the_sequence():
    _, signs, state = present_whole_numbers(Allowance(100, 100))
    assert state.tally[[CURSOR, LOOKS]].tolist() == [signs.size] * 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_present_and_most_wrong_name_the_row_that_cannot_be_used(layout, bad):
    A = np.array([[1.0, 2], [0, bad], [3, 4]])
    rows, signs = layout.rows(A, 0.0), np.ones(3, np.int8)
    counts, plan, log = np.zeros(3, np.uint32), plan_of("cycle", 3, 0), Log.empty(0)
    state = State.start(np.array([1.0, 1.0, 0.0]), False)
    perceptron.present(rows, signs, plan, PLAIN, state, counts, log, Allowance(3, 3))
    assert state.tally[[UNUSABLE, LOOKS, CURSOR]].tolist() == [2, 1, 1]
    state = State.start(np.array([1.0, 1.0, 0.0]), False)
    assert perceptron.most_wrong(rows, signs, PLAIN, state) == -1
    assert state.tally[UNUSABLE] == 2


@pytest.mark.twin_of("online.perceptron.most_wrong", "online.perceptron.correct_one")
@pytest.mark.parametrize("rule", RULES)
def test_most_wrong_and_correct_one_do_what_the_twin_does(layout, lift, rule):
    A, signs = whole_numbers()
    twin = Learner(whole_weights(), lift=lift, sparse=layout.sparse, **RULES[rule])
    state, log = State.start(twin.w.copy(), True), Log.empty(20)
    counts, rows = np.zeros(len(A), np.uint32), layout.rows(A, lift)
    for _ in range(10):
        i = perceptron.most_wrong(rows, signs, rule_of(twin), state)
        assert i == twin.most_wrong(A, signs)
        sign = float(signs[i])
        perceptron.correct_one(rows, i, sign, rule_of(twin), state, counts, log)
        twin.update(A[i], signs[i], i)
        twin.held.append(twin.w)
    assert counts.tolist() == np.bincount([m.example for m in twin.log], minlength=23).tolist()
    assert_same_state(state, twin)
    assert_same_log(log, state.tally[LOGGED], twin)


def test_most_wrong_gives_minus_one_when_every_example_is_right(layout):
    rows, signs = layout.rows(np.array([[1.0], [2.0]]), 0.0), np.ones(2, np.int8)
    state = State.start(np.array([1.0, 0.0]), False)
    assert perceptron.most_wrong(rows, signs, PLAIN, state) == -1
    assert state.tally[[LOOKS, WORK]].tolist() == [2, 2]


# ---- single rows


def padded_row(x):
    """One sparse row in buffers that are longer than it is: the rest must not be read."""
    columns = np.flatnonzero(x)
    return np.append(columns, 99), np.append(x[columns], np.nan), columns.size


@pytest.mark.twin_of("online.perceptron.learn_row")
@pytest.mark.parametrize("averaging", [True, False])
def test_learn_row_does_what_the_twin_does(lift, averaging):
    A, signs = whole_numbers()
    twin = Learner(np.zeros(8), lift=lift, eta=0.5, weights=(2.0, 3.0), sparse=True)
    state = State.start(np.zeros(8), averaging)
    for x, y in zip(A, signs, strict=True):
        step = twin.eta * twin.weights[int(y > 0)] * float(y)
        outcome = perceptron.learn_row(*padded_row(x), step, lift, *state)
        assert outcome == twin.present(x, y)
    np.testing.assert_array_equal(state.w, twin.w)
    if averaging:
        assert_same_state(state, twin)


@pytest.mark.twin_of("online.perceptron.score_row")
def test_score_row_equals_a_dot_product(lift):
    w = whole_weights()
    for x in whole_numbers()[0]:
        assert perceptron.score_row(*padded_row(x), lift, w) == np.append(x, lift) @ w


@pytest.mark.parametrize(("column", "value"), [(7, 1.0), (-1, 1.0), (2**40, 1.0), (0, np.nan)])
def test_a_row_that_cannot_be_used_changes_nothing(column, value):
    state, row = State.start(np.ones(8), True), (np.array([2, column]), np.array([1.0, value]), 2)
    assert np.isnan(perceptron.score_row(*row, 1.0, state.w))
    assert np.isnan(perceptron.learn_row(*row, 1.0, 1.0, *state))
    assert state.w.tolist() == [1.0] * 8
    assert not state.tally.any()


# ---- replaying and voting


def logged_run(A, signs, **options):
    """A naive run of two passes, and its log as arrays."""
    twin = Learner(np.zeros(A.shape[1] + 1), **options)
    run(twin, A, signs, max_looks=2 * len(A))
    example, score, norm, seen, _ = zip(*twin.log, strict=True)
    return twin, Log(np.array(example), np.array(score), np.array(norm, float), np.array(seen))


def replayed(rows, log, factors, comparator):
    projection, square = np.empty(factors.size), np.empty(factors.size)
    replay(rows, log, factors, comparator, (0.0, 0.0), projection, square)
    return projection, square


@pytest.mark.twin_of("online.averaging.replay")
def test_replay_gives_the_quantities_of_the_proof_after_each_mistake(layout, lift):
    A, signs = whole_numbers()
    twin, log = logged_run(A, signs, lift=lift)
    w = whole_weights()
    rows, factors = layout.rows(A, lift), signs[log.example].astype(float)
    projection, square = replayed(rows, log, factors, w)
    np.testing.assert_array_equal(projection, [entry.w @ w for entry in twin.log])
    np.testing.assert_array_equal(square, [entry.w @ entry.w for entry in twin.log])


def test_replay_follows_a_renormalised_run(layout, lift):
    A, signs = normal_rows(layout)
    twin, log = logged_run(A, signs, lift=lift, renormalize=True)
    w = np.arange(6.0)
    rows, factors = layout.rows(A, lift), signs[log.example].astype(float)
    projection, square = replayed(rows, log, factors, w)
    close(projection, [entry.w @ w for entry in twin.log])
    close(square, np.ones(len(twin.log)))


@pytest.mark.twin_of("online.averaging.vote")
@pytest.mark.parametrize("renormalize", [False, True])
def test_vote_counts_the_signs_of_all_vectors_held(lift, renormalize):
    A, signs = whole_numbers() if not renormalize else normal_rows(DENSE)
    twin, log = logged_run(A, signs, lift=lift, renormalize=renormalize)
    products = A @ A.T + lift**2
    held = np.diff([0, *log.seen, len(twin.held)]).astype(float)
    out = np.empty(len(A))
    step = signs[log.example].astype(float)
    vote(products, np.zeros(len(A)), log.example, step, log.norm, held, out)
    # Whole numbers of votes; their mean in the twin is one division away.
    np.testing.assert_allclose(out / len(twin.held), twin.voted(A), rtol=1e-15)
