"""Points of cones (D11, D13): three searches, their naive twins, and the worst case F10."""

import _thread
import math
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from planted import planted, quickly, whole, worst_case
from rosenblatt.methods.cones import Ending, SearchLimits, plain
from rosenblatt.methods.rescaled import Pairs, multiply, normalise, rescaled, shorten
from rosenblatt.methods.smoothed import smoothed

SEARCHES = [plain, rescaled, smoothed]
WORST_CASES = (10, 1e3, 1e6, 1e9, 1e15)

every_search = pytest.mark.parametrize("search", SEARCHES)
either_layout = pytest.mark.parametrize("layout", [np.ascontiguousarray, sparse.csr_matrix])


def thin_cone(n, d, margin, seed=0):
    """Unit rows, all at the height of the margin above a plane in which 0 is inside their hull.

    They lean to one side, so that their mean is no answer.
    """
    sideways = np.random.default_rng(seed).standard_normal((n, d - 1))
    sideways[:, 0] += 1
    sideways *= math.sqrt(1 - margin**2) / np.linalg.norm(sideways, axis=1, keepdims=True)
    return np.hstack([np.full((n, 1), margin), sideways])


def contradictory(n=30, d=5, seed=0):
    """Whole numbers whose last row is minus the sum of the others: Gordan's λ is constant."""
    A = np.random.default_rng(seed).integers(-9, 10, (n, d)).astype(float)
    A[-1] = -A[:-1].sum(axis=0)
    return A


def exactly(A):
    """The same numbers as fractions."""
    return np.vectorize(Fraction, otypes=[object])(A)


def exactly_positive(A, w):
    """Whether a·w > 0 for every row, in exact arithmetic."""
    return bool(np.all(exactly(A) @ exactly(w) > 0))


def units(A):
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def relative_length(A, weights):
    """‖Σ λ·a‖ for the weights of the unit rows that these weights of the rows amount to."""
    return np.linalg.norm(A.T @ weights) / (weights @ np.linalg.norm(A, axis=1))


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


# ---- naive twins


def naive_plain(A, max_steps):
    """The perceptron in exact arithmetic, on rows that are exact unit vectors."""
    rows, w, counts, clean, i = exactly(A), exactly(np.zeros(A.shape[1])), [0] * len(A), 0, 0
    while clean < len(A):
        if rows[i] @ w > 0:
            clean += 1
        elif sum(counts) == max_steps:
            return None, counts
        else:
            w = w + rows[i]
            counts[i] += 1
            clean = 0
        i = (i + 1) % len(A)
    return w, counts


def naive_rescaled(A):
    """The method with an exact map, from which rows are computed anew after every stretch."""
    original, skew, steps, rescalings = exactly(units(A)), exactly(np.eye(A.shape[1])), 0, 0
    while True:
        B = original @ skew
        B = units((B / abs(B).max(axis=1, keepdims=True)).astype(float))
        y, counts = naive_phase(B)
        steps += sum(counts)
        if (B @ y).min() > 0:
            return (skew @ exactly(y)).astype(float), steps, rescalings
        skew = stretched(skew, B[np.argmax(counts)])
        rescalings += 1


def naive_phase(B):
    y, counts = np.zeros(B.shape[1]), [0] * len(B)
    while (B @ y).min() <= 0:
        worst = (B @ y).argmin()
        y += B[worst]
        counts[worst] += 1
        if np.linalg.norm(y) / max(counts) <= 1 / (2 * math.sqrt(y.size)):
            break
    return y, counts


def stretched(rows, u):
    """The rows times I - ½·u·uᵀ, exactly."""
    u = exactly(u)
    return rows - np.outer(rows @ u, u) / 2


def naive_smoothed(A):
    """The iteration of Soheili & Peña, as printed."""
    U = units(A)

    def response(y, mu):
        p = np.exp(-(U @ y) / mu)
        return p / p.sum()

    k, y, mu = 0, U.mean(axis=0), 1.0
    x = response(y, mu)
    while (U @ y).min() <= 0:
        theta = 2 / (k + 3)
        y = (1 - theta) * (y + theta * (U.T @ x)) + theta**2 * (U.T @ response(y, mu))
        mu = (1 - theta) * mu
        x = (1 - theta) * x + theta * response(y, mu)
        k += 1
    return y, x, k


@st.composite
def dyadic_unit_rows(draw):
    """Rows of norm 1 with entries 0, ±½ and ±1: all sums are exact."""
    signs = st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4)
    halves = signs.map(lambda row: np.array(row) / 2)
    axes = st.tuples(st.integers(0, 3), signs).map(lambda t: np.eye(4)[t[0]] * t[1])
    return np.array(draw(st.lists(halves | axes, min_size=1, max_size=9)))


@pytest.mark.twin_of("methods.cones.cycle")
@quickly
@given(dyadic_unit_rows(), st.integers(-40, 40))
def test_the_plain_search_is_the_perceptron(A, power):
    expected, counts = naive_plain(A, 300)
    found = plain(A * 2.0**power, SearchLimits(max_steps=300))
    assert found.steps == sum(counts)
    np.testing.assert_allclose(found.weights * found.steps, counts, rtol=1e-12)
    if expected is None:
        assert found.w is None
        assert found.stop is Ending.STEPS
    else:
        factor = Fraction(2) ** math.frexp(abs(expected).max())[1]
        assert found.w.tolist() == (expected / factor).tolist()


@pytest.mark.twin_of("methods.rescaled.phase")
@pytest.mark.parametrize(
    "A",
    [*map(worst_case, WORST_CASES), *(thin_cone(20, d, 1e-4) for d in (3, 4))],
    ids=lambda A: f"{len(A)}x{A.shape[1]}",
)
def test_the_rescaled_search_agrees_with_an_exact_map(A):
    w, steps, rescalings = naive_rescaled(A)
    found = rescaled(A)
    assert (found.steps, found.rescalings) == (steps, rescalings)
    np.testing.assert_allclose(found.w / abs(found.w).max(), w / abs(w).max(), rtol=1e-9)


@either_layout
@pytest.mark.parametrize("margin", [0.1, 0.01])
def test_the_smoothed_search_is_the_printed_algorithm(layout, margin):
    A = thin_cone(50, 6, margin)
    y, lam, steps = naive_smoothed(A)
    found = smoothed(layout(A))
    assert found.steps == steps
    np.testing.assert_allclose(found.w / np.linalg.norm(found.w), y / np.linalg.norm(y), rtol=1e-9)
    np.testing.assert_allclose(found.weights, lam, rtol=1e-9, atol=1e-12)


@pytest.mark.twin_of(
    "methods.rescaled.shorten", "methods.rescaled.normalise", "methods.rescaled.multiply"
)
def test_pairs_of_floats_carry_twice_the_digits():
    random = np.random.default_rng(0)
    A, y, out, lengths = random.standard_normal((3, 4)), np.arange(5.0), np.zeros(4), np.ones(3)
    pairs, exact = Pairs.of(A), exactly(A)
    for u in units(random.standard_normal((20, 4))):
        shorten(pairs, u)
        exact = stretched(exact, u)
    error = exactly(pairs.hi) + exactly(pairs.lo) - exact
    assert abs(error).max() <= Fraction(2) ** -100
    normalise(pairs, lengths)
    multiply(pairs, y, out)
    np.testing.assert_allclose(np.linalg.norm(pairs.hi, axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose(out[:3] * lengths, (exact @ y[:4]).astype(float), rtol=1e-14)


# ---- what is found, and what is not


@every_search
@quickly
@given(planted())
def test_every_search_finds_the_planted_cone(search, problem):
    X, y, _ = problem
    found = search(X * y[:, None])
    assert found.stop is Ending.FOUND
    assert exactly_positive(X * y[:, None], found.w)


@quickly
@given(planted())
def test_steps_keep_their_bounds(problem):
    X, y, w = problem
    A = units(X * y[:, None])
    margin = (A @ w).min() - 1e-12
    assert plain(A).steps <= 1 / margin**2
    assert smoothed(A).steps <= 2 * math.sqrt(math.log(len(A))) / margin


@every_search
@quickly
@given(whole(), st.integers(1, 5))
def test_nothing_is_found_where_rows_cancel(search, problem, factor):
    rows, _, _ = problem
    A = np.vstack([rows, -factor * rows.sum(axis=0)])
    found = search(A, SearchLimits(max_steps=500))
    assert found.w is None
    assert found.stop in (Ending.STEPS, Ending.WITNESS, Ending.THIN)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1)


@every_search
def test_sparse_and_dense_rows_give_the_same_answer(search):
    A = thin_cone(60, 5, 0.03) * (np.arange(60)[:, None] + 1)
    A[::2, 1:3] = 0
    dense, csr = search(A), search(sparse.csr_matrix(A))
    assert (dense.steps, dense.rescalings, dense.stop) == (csr.steps, csr.rescalings, csr.stop)
    np.testing.assert_allclose(dense.w, csr.w, rtol=1e-9)
    np.testing.assert_allclose(dense.weights, csr.weights, rtol=1e-9, atol=1e-15)


@every_search
@either_layout
def test_rows_may_be_as_long_or_short_as_floats_can_be(search, layout):
    A = worst_case(10)
    plainly = search(layout(A))
    extremely = search(layout(A * 2.0 ** np.array([[1000], [-1000], [-1015], [1023]])))
    assert extremely.stop is Ending.FOUND
    np.testing.assert_allclose(extremely.w, plainly.w, rtol=1e-12)
    assert extremely.weights.sum() == pytest.approx(1)


@every_search
@either_layout
def test_a_zero_row_ends_the_search(search, layout):
    found = search(layout(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])))
    assert found.w is None
    assert found.stop is Ending.WITNESS
    assert found.weights.tolist() == [0, 1, 0]


@every_search
def test_without_rows_any_w_will_do(search):
    found = search(np.empty((0, 3)))
    assert found.stop is Ending.FOUND
    assert found.w.shape == (3,)


@pytest.mark.parametrize("search", [rescaled, smoothed])
def test_opposite_rows_are_noticed_without_a_limit(search):
    found = search(np.array([[1.0, 2.0], [-3.0, -6.0]]))
    assert found.stop is Ending.WITNESS
    np.testing.assert_allclose(found.weights, [0.75, 0.25], rtol=1e-12)


def test_a_smoothed_search_ends_where_rows_surround_the_origin():
    A = np.random.default_rng(0).standard_normal((100, 5))
    found = smoothed(A)
    assert found.stop is Ending.WITNESS
    assert relative_length(A, found.weights) < 1e-14


@every_search
def test_the_given_rows_are_left_alone(search):
    A = contradictory()
    before = A.copy()
    A.flags.writeable = False
    search(A, SearchLimits(max_steps=100))
    np.testing.assert_array_equal(A, before)


# ---- how many steps


def test_rescaled_steps_grow_with_the_logarithm_of_the_worst_case():
    steps = []
    for K in WORST_CASES:
        found = rescaled(worst_case(K))
        assert exactly_positive(worst_case(K), found.w)
        steps.append(found.steps)
    assert np.all(np.array(steps) <= 27 * np.log10(WORST_CASES))
    assert steps[-1] <= 200


@pytest.mark.parametrize("d", [2, 3, 5, 10])
@pytest.mark.parametrize("K", [1e3, 1e6, 1e9, 1e12])
def test_rescaling_is_accurate_in_general_position(d, K):
    A = np.zeros((2 * d, d))
    A[:4, :2] = worst_case(K)
    A[4:, 2:] = np.repeat(np.eye(d - 2), 2, axis=0) * np.tile([1, -1], d - 2)[:, None]
    A[4:, 0] = 0.3
    rotation, _ = np.linalg.qr(np.random.default_rng(d).standard_normal((d, d)))
    found = rescaled(A @ rotation, SearchLimits(max_steps=1000))
    assert exactly_positive(A @ rotation, found.w)


@pytest.mark.parametrize("d", [3, 6, 10])
def test_smoothed_steps_grow_with_the_inverse_of_the_margin(d):
    margins = np.geomspace(1e-1, 1e-3, 5)
    steps = [smoothed(thin_cone(200, d, margin)).steps for margin in margins]
    assert slope(margins, steps) == pytest.approx(-1, abs=0.1)
    assert np.all(steps <= 2 * math.sqrt(math.log(200)) / margins)


# ---- the weights, the limits, interrupts


def test_plain_weights_shrink_with_the_root_of_the_steps():
    A = contradictory() * np.geomspace(1e-3, 1e3, 30)[:, None]
    for steps in (1, 10, 1000, 100_000):
        found = plain(A, SearchLimits(max_steps=steps))
        assert relative_length(A, found.weights) <= (1 + 1e-9) / math.sqrt(steps)


def test_smoothed_weights_shrink_with_the_steps():
    A = contradictory(200, 10) * np.geomspace(1e-3, 1e3, 200)[:, None]
    for steps in (10, 100):
        found = smoothed(A, SearchLimits(max_steps=steps))
        assert relative_length(A, found.weights) <= 2 * math.sqrt(math.log(200)) / steps


def test_weights_of_a_thin_cone_bound_its_margin():
    A = thin_cone(100, 4, 1e-3)
    for search in SEARCHES:
        assert relative_length(A, search(A).weights) >= 1e-3 - 1e-12


@every_search
@pytest.mark.parametrize("most", [0, 1, 17])
def test_no_more_steps_are_made_than_allowed(search, most):
    found = search(contradictory(), SearchLimits(max_steps=most))
    assert found.steps == most
    assert found.stop is Ending.STEPS
    assert found.w is None


@every_search
def test_a_limit_that_just_suffices_does(search):
    A = thin_cone(50, 4, 0.02)
    steps = search(A).steps
    assert search(A, SearchLimits(max_steps=steps)).stop is Ending.FOUND
    assert search(A, SearchLimits(max_steps=steps - 1)).stop is Ending.STEPS


@every_search
def test_portions_change_nothing(search, monkeypatch):
    A = thin_cone(50, 4, 0.02)
    whole_run = search(A)
    monkeypatch.setattr("rosenblatt.methods.cones.PORTION", 1)
    monkeypatch.setattr("rosenblatt.methods.rescaled.PORTION", 1)
    in_portions = search(A)
    assert in_portions.steps == whole_run.steps
    np.testing.assert_array_equal(in_portions.w, whole_run.w)


def endless(search):
    """Rows that keep a search busy for more than a few seconds."""
    if search is rescaled:
        return np.random.default_rng(0).standard_normal((2000, 50))
    return worst_case(1e9)


@every_search
def test_a_limit_on_time_ends_the_search(search):
    began = time.process_time()
    found = search(endless(search), SearchLimits(max_seconds=0.1))
    assert found.stop is Ending.SECONDS
    assert found.steps > 0
    assert time.process_time() - began < 20  # the loops may have to be compiled


@every_search
def test_an_interrupt_keeps_the_weights(search):
    A = endless(search)
    search(A, SearchLimits(max_steps=1))  # so that the interrupt does not strike a compiler
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    found = search(A, SearchLimits(max_seconds=20))
    timer.join()
    assert found.stop is Ending.INTERRUPTED
    assert found.steps > 1
    assert found.weights.sum() == pytest.approx(1)
    assert relative_length(A, found.weights) < 0.1
