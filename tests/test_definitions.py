"""The definitions of docs/theory.md that a run follows: D4 to D8 and D20.

On whole numbers a learner and its naive twin agree bit for bit. Renormalised runs divide, so there
the rows are planted, where no score comes near 0, and a tolerance covers the rounding.
"""

import _thread
import os
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import naive
import rosenblatt as rb
from naive import ORDERS
from planted import fit, planted, quickly, seed_of, whole, whole_vectors
from rosenblatt.online import driver, presenter
from rosenblatt.online.linear_machine import LinearMachine
from rosenblatt.online.perceptron import Rule

XOR_X = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]])
XOR_Y = np.array([1, 1, -1, -1])
PLAIN = Rule(1.0, np.ones(2), False)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


# ---- D4: orders


@given(planted(), st.sampled_from(ORDERS), st.booleans())
@quickly
def test_every_order_converges_to_no_training_error_on_separable_data(problem, order, intercept):
    X, y, _ = problem
    learner = fit(X, y, order=order, fit_intercept=intercept, random_state=1)
    run = learner.run_
    assert learner.score(X, y) == 1.0
    assert run.converged
    assert run.stop is rb.Stop.CONVERGED
    assert run.passes <= run.mistakes + 1
    assert order != "worst" or run.passes == run.mistakes + 1


def options_of(data, width):
    """Options of a learner, and the same ones for its twin; the rows may not be separable."""
    lift = data.draw(st.sampled_from([0.0, 1.0, 4.0]))
    start = data.draw(whole_vectors(width + (lift != 0)))
    eta, tie = data.draw(st.sampled_from([0.5, 1.0, 2.0])), data.draw(st.sampled_from(TIES))
    negative, positive = data.draw(st.sampled_from([(1.0, 1.0), (0.5, 3.0)]))
    passes, updates = data.draw(st.integers(1, 9)), data.draw(st.sampled_from([None, 1, 7]))
    ours = {"initial": start, "eta0": eta, "tie": tie, "max_iter": passes, "max_updates": updates}
    ours |= {"fit_intercept": lift != 0, "lift": lift or 1.0}
    ours |= {"class_weight": {-1: negative, 1: positive}, "output": "last", "patience": None}
    theirs = {"eta": eta, "lift": lift, "weights": (negative, positive), "tie": tie}
    return ours, naive.learner(width, start, **theirs), (passes, updates or np.inf)


TIES = ("mistake", "positive")


@given(st.data(), whole(), st.sampled_from(ORDERS), st.integers(0, 99), st.booleans())
@quickly
def test_a_learner_does_what_its_naive_twin_does(data, problem, order, seed, flip):
    X, y, u = problem
    y = np.where(flip & (np.arange(y.size) == 0), -y, y)
    ours, twin, (passes, updates) = options_of(data, X.shape[1])
    if len(set(y)) == 2:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            learner = rb.Perceptron(order=order, random_state=seed, **ours)
            learner.fit(X, y, comparator=u)
        ran = naive.run(twin, X, y, order, seed_of(seed), passes * len(y), updates)
        assert_same_run(learner, twin, ran)
        assert_same_history(learner.run_.history, twin, u)


def assert_same_run(learner, twin, ran):
    run = learner.run_
    assert learner.coef_[0].tolist() == twin.coef.tolist()
    assert learner.intercept_[0] == twin.intercept
    assert run.mistakes_per_pass == ran.mistakes_per_pass
    assert run.counts.tolist() == ran.counts
    assert run.converged == ran.converged
    assert run.operations == rb.Operations(twin.looks, twin.mistakes, twin.multiply_adds)


@pytest.mark.parametrize("eta", [1e-200, 1e200])
def test_single_rows_and_arrays_make_the_same_mistakes_at_any_rate(eta):
    single = rb.Perceptron(eta0=eta)
    wrong = [single.learn_one([1.0], 1) for _ in range(4)]
    block = rb.Perceptron(eta0=eta).partial_fit(np.ones((4, 1)), [1] * 4)
    assert wrong == [True, False, False, False]
    assert block.run_.mistakes == 1


def assert_same_history(history, twin, u):
    assert history.example.tolist() == [mistake.example for mistake in twin.log]
    assert history.sqnorm.tolist() == [mistake.w @ mistake.w for mistake in twin.log]
    close(history.projection, [mistake.w[:-1] @ u / np.linalg.norm(u) for mistake in twin.log])


# ---- D5, D6, D7: start, renormalisation, lifting


def before_learning(width, sign=1, **options):
    """The weights of the lifted space after a zero row: changed, if at all, in the last one."""
    learner = rb.Perceptron(lift=2.0, **options)
    learner.partial_fit(np.zeros((1, width)), [sign], classes=[-1, 1])
    return np.append(learner.coef_[0], learner.intercept_ / 2.0), learner.run_.mistakes


def test_the_unit_start_counts_the_added_coordinate():
    close(before_learning(4, initial="unit", fit_intercept=False)[0], [0.5, 0.5, 0.5, 0.5, 0])
    close(before_learning(3, initial="unit")[0], [0.5, 0.5, 0.5, 0.5])


def test_the_random_start_has_norm_one_and_follows_the_seed():
    starts = {}
    for seed in range(6):
        w, _ = before_learning(3, initial="random", fit_intercept=False, random_state=seed)
        again, _ = before_learning(3, initial="random", fit_intercept=False, random_state=seed)
        assert np.linalg.norm(w) == pytest.approx(1, rel=1e-15)
        assert w.tolist() == again.tolist()
        starts[tuple(w)] = seed
    assert len(starts) == 6


@pytest.mark.parametrize("seed", range(4))
def test_the_random_start_counts_the_added_coordinate(seed):
    both = (before_learning(3, s, initial="random", random_state=seed) for s in (-1, 1))
    (w,) = (w for w, mistakes in both if not mistakes)
    assert np.linalg.norm(w) == pytest.approx(1, rel=1e-15)


def test_a_given_start_is_used_as_it_is():
    assert before_learning(2, initial=[3, -4], fit_intercept=False)[0].tolist() == [3, -4, 0]
    # An intercept of 10 is 5 times the added 2; the positive zero row is then right.
    assert before_learning(2, initial=[3, -4, 10])[0].tolist() == [3, -4, 5]


@given(planted(), st.sampled_from(ORDERS), st.sampled_from([0.0, 1.0, 4.0]), st.integers(1, 5))
@quickly
@pytest.mark.filterwarnings("ignore:Stopped at the limit on passes")
def test_a_renormalised_run_keeps_norm_one_and_is_the_naive_one(problem, order, lift, passes):
    X, y, _ = problem
    options = {"fit_intercept": lift != 0, "lift": lift or 1.0, "max_iter": passes}
    options |= {"renormalize": True, "output": "last"}
    learner = fit(X, y, order=order, random_state=3, **options)
    twin = naive.learner(X.shape[1], lift=lift, renormalize=True)
    ran = naive.run(twin, X, y, order, seed_of(3), passes * len(y))
    w = np.append(learner.coef_[0], learner.intercept_ / (lift or 1.0))
    assert np.linalg.norm(w) == pytest.approx(1, rel=1e-14)
    assert learner.run_.mistakes_per_pass == ran.mistakes_per_pass
    close(w, twin.w)


def test_a_renormalised_run_may_never_end_on_separable_data():
    X, y = np.array([[20.0, 99], [-20, 99]]) / 101, [1, -1]
    with pytest.warns(ConvergenceWarning):
        run = fit(X, y, initial="unit", renormalize=True, max_iter=100).run_
    assert (run.operations.dot_products, run.mistakes) == (200, 199)
    plain = fit(X, y, initial="unit")
    assert plain.run_.mistakes == 5
    assert int(plain.bound(X, y, [1, 0]).value) == 19


@given(whole(), st.sampled_from(ORDERS), st.integers(-5, 5))
@quickly
def test_lifting_is_a_column_of_constants_in_the_users_coordinates(problem, order, shift):
    X, y, _ = problem
    X = X + shift
    by_hand = fit(np.column_stack([X, np.full(len(X), 3.0)]), y, order=order, random_state=4)
    lifted = fit(X, y, order=order, random_state=4, fit_intercept=True, lift=3.0)
    assert lifted.run_.counts.tolist() == by_hand.run_.counts.tolist()
    assert lifted.coef_[0].tolist() == by_hand.coef_[0, :-1].tolist()
    assert lifted.intercept_[0] == 3.0 * by_hand.coef_[0, -1]
    score = X @ lifted.coef_[0] + lifted.intercept_
    assert lifted.decision_function(X).tolist() == score.tolist()


def test_lift_radius_is_the_largest_norm_from_the_origin():
    X, y = np.array([[3.0, 4.0], [3, 3]]), [1, -1]
    learner, five = (fit(X, y, fit_intercept=True, lift=c) for c in ("radius", 5.0))
    assert learner.coef_.tolist() == five.coef_.tolist()
    assert learner.intercept_.tolist() == five.intercept_.tolist()
    assert learner.bound(X, y, [0, 2, -7]).radius == pytest.approx(50**0.5, rel=1e-12)


# ---- D8: every run ends, and says why

LIMITS = [
    ({"max_iter": 7}, rb.Stop.PASSES, "limit on passes (max_iter)"),
    ({"max_iter": None, "max_updates": 9}, rb.Stop.UPDATES, "limit on updates (max_updates)"),
    ({"max_iter": None, "max_seconds": 0.01}, rb.Stop.SECONDS, "limit on time (max_seconds)"),
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("limit", "stop", "words"), LIMITS)
def test_a_run_that_cannot_converge_stops_at_its_limit(limit, stop, words, order):
    with pytest.warns(ConvergenceWarning, match="mistakes were still being made"):
        run = rb.Perceptron(order=order, random_state=0, **limit).fit(XOR_X, XOR_Y).run_
    assert run.stop is stop
    assert words in str(run.stop)
    assert not run.converged
    assert run.passes == limit["max_iter"] or limit["max_iter"] is None
    assert run.updates == limit.get("max_updates", run.updates)
    assert limit.get("max_seconds", 0) <= run.seconds < 10


@pytest.mark.parametrize("order", ORDERS)
def test_a_zero_row_is_a_mistake_for_ever_unless_lifted(order):
    X, y = np.array([[1.0], [0.0]]), [1, -1]
    with pytest.warns(ConvergenceWarning):
        assert not fit(X, y, order=order, max_iter=50).run_.converged
    assert fit(X, y, order=order, fit_intercept=True).run_.converged


def raise_interrupt():
    raise KeyboardInterrupt


INTERRUPTS = {"exception": raise_interrupt, "signal": lambda: signal.raise_signal(signal.SIGINT)}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("how", INTERRUPTS)
def test_an_interrupt_keeps_what_was_learned(order, how, monkeypatch):
    monkeypatch.setattr(driver, "WATCH_SECONDS", 0.0)
    told = []

    def watch(progress):
        told.append(progress)
        if len(told) == 5:
            INTERRUPTS[how]()

    halfspace = LinearMachine.begin(np.zeros(3), 1.0, PLAIN, "last")
    codes = (XOR_Y > 0).astype(np.int8)
    run = halfspace.fit(XOR_X, codes, order=order, seed=8, limits=driver.Limits(), watch=watch)
    twin = naive.learner(2, lift=1.0)
    ran = naive.run(twin, XOR_X, XOR_Y, order, 8, max_looks=run.operations.dot_products)
    assert run.stop is rb.Stop.INTERRUPTED
    assert halfspace.state.w.tolist() == twin.w.tolist()
    assert run.mistakes_per_pass == ran.mistakes_per_pass
    assert run.mistakes == told[-1].mistakes == ran.mistakes


def test_an_interrupted_pass_counts_as_begun_even_without_a_mistake(monkeypatch):
    monkeypatch.setattr(driver, "WATCH_SECONDS", 0.0)
    monkeypatch.setattr(presenter, "PORTION", 1000)
    halfspace = LinearMachine.begin(np.array([1.0, 0.0]), 0.0, PLAIN, "last")
    X, codes, limits = np.ones((5000, 1)), np.ones(5000, np.int8), driver.Limits()
    run = halfspace.fit(
        X, codes, order="cycle", seed=0, limits=limits, watch=lambda progress: raise_interrupt()
    )
    assert 0 < run.operations.dot_products < 5000
    assert (run.passes, run.mistakes_per_pass) == (1, (0,))


def test_an_interrupt_leaves_a_fitted_learner():
    timer = threading.Timer(0.1, _thread.interrupt_main)
    timer.start()
    learner = rb.Perceptron(max_iter=None, max_seconds=60).fit(XOR_X, XOR_Y)
    assert learner.run_.stop is rb.Stop.INTERRUPTED
    assert learner.predict(XOR_X).shape == (4,)


# ---- D20: planted problems

sizes = st.tuples(st.integers(2, 50), st.integers(1, 8), st.floats(0.001, 0.999))


@given(sizes, st.integers(0, 2**32))
@quickly
def test_a_planted_margin_is_attained_and_no_other_is_larger(size, seed):
    n, d, margin = size
    X, y, w = rb.make_separable(n, d, margin, seed)
    scores = y * (X @ w)
    assert (X.shape, y.shape, w.shape) == ((n, d), (n,), (d,))
    assert set(y.tolist()) == {-1, 1}
    assert np.linalg.norm(w) == pytest.approx(1, rel=1e-15)
    assert np.linalg.norm(X, axis=1).max() <= 1 + 1e-15
    assert scores.min() == pytest.approx(margin, rel=1e-12)
    # Half the sum of a signed row from each class is no shorter than any margin (D10).
    positive, negative = (X[(y == sign) & (scores < margin * (1 + 1e-12))][0] for sign in (1, -1))
    assert np.linalg.norm(positive - negative) / 2 == pytest.approx(margin, rel=1e-12)


def test_a_seed_plants_the_same_numbers_on_every_processor():
    # An old processor, as far as this one can play it: BLAS and NumPy without wide registers.
    features = "X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 FMA3 AVX512F AVX512_SKX"
    old = os.environ | {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": features}
    script = "import sys, rosenblatt as rb; X, y, w = rb.make_separable(50, 20, 0.02, seed=0);"
    script += "sys.stdout.buffer.write(X.tobytes() + w.tobytes())"
    there = subprocess.run([sys.executable, "-c", script], env=old, capture_output=True, check=True)
    X, _, w = rb.make_separable(50, 20, 0.02, seed=0)
    assert there.stdout == X.tobytes() + w.tobytes()
