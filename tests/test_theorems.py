"""The facts of docs/theory.md, F1 to F10, on the numbers given there and on planted problems."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rosenblatt as rb
from naive import ORDERS, SIX_X, SIX_Y, exact_bound, exact_extremes
from planted import fit, planted, quickly, whole, whole_vectors

POWERS_OF_TWO = [2.0**-20, 0.25, 2.0, 2.0**30]


# ---- F1, F2: one step


@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_the_worked_example_holds_step_by_step(tie):
    learner, held, mistakes = rb.Perceptron(fit_intercept=False, tie=tie), [], []
    for x, y in zip(SIX_X, SIX_Y, strict=True):
        learner.partial_fit([x], [y], classes=[-1, 1])
        held.append(tuple(learner.coef_[0].tolist()))
        mistakes.append(learner.run_.mistakes)
    assert held == [(1, -2), (1, -2), (2, -1), (2, -1), (3, 1), (3, 1)]
    assert mistakes == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_the_worked_example_converges_in_its_second_pass(tie):
    run = fit(SIX_X, SIX_Y, tie=tie).run_
    assert (run.mistakes, run.passes, run.mistakes_per_pass) == (3, 2, (3, 0))
    assert run.counts.tolist() == [1, 0, 1, 0, 1, 0]


@given(st.data(), whole(), st.sampled_from([0.5, 1.0, 4.0]))
@quickly
def test_an_update_raises_the_score_of_its_example_by_its_squared_norm(data, problem, eta):
    X, y, _ = problem
    start = data.draw(whole_vectors(X.shape[1]))
    learner = rb.Perceptron(fit_intercept=False, initial=start, eta0=eta)
    learner.partial_fit(np.zeros((1, X.shape[1])), [1], classes=[-1, 1])
    for x, sign in zip(X, y, strict=True):
        before = sign * learner.decision_function([x])[0]
        wrong = learner.learn_one(x, sign)
        after = sign * learner.decision_function([x])[0]
        assert wrong == (before <= 0)
        assert after - before == (eta * x @ x if wrong else 0)


# ---- F3, F4, class weights: what changes no mistake


@given(planted(), st.sampled_from(ORDERS), st.floats(1e-3, 1e3))
@quickly
def test_learning_rate_changes_no_mistake_from_zero(problem, order, eta):
    X, y, _ = problem
    one, other = (fit(X, y, order=order, eta0=e, random_state=5) for e in (1.0, eta))
    assert other.run_.counts.tolist() == one.run_.counts.tolist()
    # Each of at most 400 updates rounds twice.
    np.testing.assert_allclose(other.coef_, eta * one.coef_, rtol=1e-9, atol=1e-12 * eta)


@pytest.mark.parametrize("factor", POWERS_OF_TWO)
@pytest.mark.parametrize("order", ORDERS)
def test_a_power_of_two_for_rate_or_scale_changes_nothing_bit_for_bit(order, factor):
    X, y, _ = rb.make_separable(60, 5, margin=0.03, seed=8)
    plain = fit(X, y, order=order, random_state=1)
    faster = fit(X, y, order=order, random_state=1, eta0=factor)
    larger = fit(factor * X, y, order=order, random_state=1)
    for other in (faster, larger):
        assert other.run_.mistakes_per_pass == plain.run_.mistakes_per_pass
        assert other.run_.counts.tolist() == plain.run_.counts.tolist()
        np.testing.assert_array_equal(other.coef_, factor * plain.coef_)


def test_learning_rate_matters_from_another_start():
    X, y = [[1.0], [-1.0]], [1, -1]
    assert [fit(X, y, initial=[-2.5], eta0=e).run_.mistakes for e in (1.0, 5.0)] == [3, 1]


@given(st.data(), whole(), st.sampled_from([0.25, 2.0, 8.0]))
@quickly
def test_a_run_from_a_start_is_rate_times_the_run_from_start_over_rate(data, problem, eta):
    X, y, _ = problem
    start = data.draw(whole_vectors(X.shape[1]))
    one, other = fit(X, y, initial=start / eta), fit(X, y, initial=start, eta0=eta)
    assert other.run_.counts.tolist() == one.run_.counts.tolist()
    np.testing.assert_array_equal(other.coef_, eta * one.coef_)


@pytest.mark.parametrize(("scale", "lift", "mistakes"), [(1, 1, 13), (10, 1, 305), (10, 10, 13)])
def test_the_scale_matters_unless_the_lift_is_scaled_too(scale, lift, mistakes):
    X, y = np.array([[2.0], [1.0]]) * scale, [1, -1]
    assert fit(X, y, fit_intercept=True, lift=lift).run_.mistakes == mistakes


@given(whole(), st.sampled_from(["cycle", "shuffle", "random", "first"]), st.sampled_from([0, 3.0]))
@quickly
def test_class_weights_make_the_run_on_weighted_rows(problem, order, lift):
    X, y, _ = problem
    lifted = np.column_stack([X, np.full(len(X), lift)])
    factors = np.where(y > 0, 4.0, 0.5)[:, None]
    weighted = fit(lifted, y, order=order, random_state=2, class_weight={-1: 0.5, 1: 4.0})
    plain = fit(factors * lifted, y, order=order, random_state=2)
    assert weighted.run_.counts.tolist() == plain.run_.counts.tolist()
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)


def test_the_six_points_with_positives_weighted_double():
    learner = fit(SIX_X, SIX_Y, class_weight={1: 2.0})
    bound = learner.bound(SIX_X, SIX_Y, [1, 0])
    assert learner.run_.counts.tolist() == [1, 0, 1, 0, 0, 0]
    assert learner.coef_.tolist() == [[3, 0]]
    assert (bound.radius, bound.margin, bound.value) == pytest.approx((8**0.5, 1, 5), rel=1e-12)


# ---- F5, F6: from zero


@given(planted(), st.sampled_from(ORDERS))
@quickly
def test_no_prefix_of_any_run_makes_more_mistakes_than_its_own_rows_allow(problem, order):
    X, y, u = problem
    mistaken = fit(X, y, u, order=order, random_state=3).run_.history.example
    squares, margins = (X[mistaken] ** 2).sum(axis=1), (y * (X @ u))[mistaken]
    bounds = np.maximum.accumulate(squares) / np.minimum.accumulate(margins) ** 2
    # The planted vector has norm 1, and the sums are exact, only up to rounding.
    assert (np.arange(1, mistaken.size + 1) <= bounds * (1 + 1e-12)).all()


@given(whole(), st.sampled_from(ORDERS), st.integers(1, 9))
@quickly
@pytest.mark.filterwarnings("ignore:Stopped at the limit on updates")
def test_a_run_cut_short_keeps_to_the_bound_of_the_other_scaling(problem, order, most):
    X, y, u = problem
    square, margin = exact_extremes(X, y, np.append(u, 0))
    run = fit(X, y, order=order, random_state=4, max_updates=most).run_
    assert run.mistakes <= min(most, square * Fraction(float(u @ u)) / margin**2)


@given(whole(), st.sampled_from(ORDERS), st.sampled_from([0.5, 1.0, 2.0]), st.integers(0, 3))
@quickly
def test_the_two_quantities_of_the_proof_keep_their_sides(problem, order, eta, axis):
    X, y, _ = problem
    axis %= X.shape[1]
    X[:, axis] = y * np.maximum(np.abs(X[:, axis]), 1)  # now the axis separates, of norm 1
    u = np.eye(X.shape[1])[axis]
    learner = fit(X, y, u, order=order, random_state=6, eta0=eta)
    history, square = learner.run_.history, (X**2).sum(axis=1).max()
    assert history.k.tolist() == list(range(1, learner.run_.mistakes + 1))
    assert (history.projection >= eta * history.k * np.abs(X[:, axis]).min()).all()
    assert (history.sqnorm <= eta**2 * history.k * square).all()
    assert history.projection[-1] == learner.coef_[0] @ u
    assert history.sqnorm[-1] == learner.coef_[0] @ learner.coef_[0]


def test_the_history_of_the_worked_example():
    history = fit(SIX_X, SIX_Y, [2, 0]).run_.history  # the comparator is scaled to norm 1
    assert history.example.tolist() == [0, 2, 4]
    assert history.projection.tolist() == [1, 2, 3]
    assert history.sqnorm.tolist() == [5, 5, 10]


# ---- F7, F9, F10: bounds

STARTS = [([-10, 0], 12, 25), ([10, 0], 0, 0), ([0, 10], 5, (5 + 425**0.5) / 2)]


@pytest.mark.parametrize(("start", "mistakes", "most"), STARTS)
def test_the_numbers_of_any_start(start, mistakes, most):
    learner = fit(SIX_X, SIX_Y, initial=start)
    assert learner.run_.mistakes == mistakes
    value = learner.bound(SIX_X, SIX_Y, [1, 0]).value
    # From (10,0) the terms of the formula, about 20, cancel.
    assert value == pytest.approx(most, rel=1e-12, abs=1e-12)
    assert value == rb.mistake_bound(SIX_X, SIX_Y, [1, 0], initial=start, fit_intercept=False).value


any_run = st.fixed_dictionaries(
    {
        "order": st.sampled_from(ORDERS),
        "eta0": st.sampled_from([0.25, 1.0, 3.0]),
        "fit_intercept": st.booleans(),
        "lift": st.sampled_from([0.5, 1.0, 4.0]),
        "class_weight": st.sampled_from([None, {-1: 0.5}, {-1: 3.0, 1: 2.0}]),
        "tie": st.sampled_from(["mistake", "positive"]),
        "margin": st.sampled_from([0.0, 0.5, 4.0]),
    }
)


def lifted(vector, options):
    """Weights of the user's coordinates in the lifted space; lifts are powers of two here."""
    return np.append(vector[:-1], vector[-1] / options["lift"] if options["fit_intercept"] else 0)


@given(st.data(), st.one_of(whole(), planted()), any_run)
@quickly
def test_no_run_makes_more_updates_than_its_bound(data, problem, options):
    X, y, u = problem
    start = data.draw(whole_vectors(X.shape[1] + options["fit_intercept"]))
    learner = fit(X, y, initial=start, random_state=7, **options)
    bound = learner.bound(X, y, u)
    assert learner.run_.converged
    assert learner.run_.mistakes <= learner.run_.updates <= bound.value


@given(st.data(), st.one_of(whole(), planted()), any_run)
@quickly
def test_the_bound_is_the_exact_formula_rounded_up(data, problem, options):
    X, y, u = problem
    lift, weights = options["lift"] if options["fit_intercept"] else 0.0, options["class_weight"]
    start = data.draw(whole_vectors(X.shape[1] + options["fit_intercept"])) / 3
    found = fit(X, y, initial=start, **options).bound(X, y, u).value
    start = lifted(start, options) if lift else np.append(start, 0)
    factors = [weights.get(label, 1.0) for label in y.tolist()] if weights else ()
    u = np.append(u, 0)
    eta, beta = options["eta0"], options["margin"]
    exact = exact_bound(X, y, u, start, eta, lift, factors, beta)
    from_zero = exact_bound(X, y, u, 0 * start, eta, lift, factors, beta)
    # Where the discriminant of F7 is 0, an error of 1e-15 in it becomes 3e-8 under the root.
    above = Decimal("1e-9") * exact + (Decimal("1e-6") * from_zero if start.any() else 0)
    assert exact - Decimal("1e-40") <= Decimal(found) <= exact + above


@given(planted(), st.sampled_from([0.1, 2.0]), st.sampled_from([0.5, 1.0]), st.integers(1, 3))
@quickly
def test_flipped_labels_cost_no_more_updates_than_theorem_two_with_a_margin(
    problem, margin, eta, passes
):
    X, y, u = problem
    y = np.append(y, [1, -1])
    X, options = np.vstack([X, u, u]), {"margin": margin, "eta0": eta, "fit_intercept": False}
    learner = rb.Perceptron(max_iter=passes, patience=None, output="averaged", **options)
    run = learner.fit(X, y).run_
    given_one = rb.mistake_bound(X, y, u, passes=passes, **options)
    assert (given_one.theorem, given_one.certificate) == (2, None)
    assert run.mistakes <= run.updates <= rb.mistake_bound(X, y, passes=passes, **options).value
    assert run.updates <= learner.bound(X, y).value <= (1 + 0.011) * given_one.value


def test_the_six_points_with_a_margin():
    learner = fit(SIX_X, SIX_Y, margin=2.0)
    assert (learner.run_.mistakes, learner.run_.updates) == (2, 5)
    assert learner.run_.counts.tolist() == [2, 1, 1, 0, 1, 0]
    assert learner.coef_.tolist() == [[5, -1]]
    assert learner.bound(SIX_X, SIX_Y, [1, 0]).value == pytest.approx(9, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-160, 1e-100, 1e100, 1e160])
def test_the_scale_of_the_comparator_does_not_spoil_the_bound(scale):
    X, y = [[1.0], [-1.0]], [1, -1]
    value = rb.mistake_bound(X, y, [2.7 * scale], fit_intercept=False).value
    assert 1 <= value <= 1 + 1e-9


def test_rows_whose_squares_overflow_get_no_bound_but_a_sentence():
    with pytest.raises(rb.InputError, match="too long for their squares"):
        rb.mistake_bound([[1e165], [-1e165]], [1, -1], [1.0], fit_intercept=False)


@pytest.mark.parametrize("scale", [1e-165, 1e-100, 1e100])
def test_the_scale_of_the_rows_does_not_spoil_the_bound(scale):
    X, y = np.array([[1.0, 2.0], [-1.0, 0.0]]) * scale, [1, -1]
    learner = fit(np.array([[1.0, 2.0], [-1.0, 0.0]]), y)
    assert learner.bound(X, y, [1, 0]).value >= 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bound_of_single_precision_rows_is_rounded_up_too(dtype):
    X, y, u = rb.make_separable(50, 4, margin=0.1, seed=2)
    X = X.astype(dtype)
    exact = exact_bound(X, y, np.append(u, 0), np.zeros(5))
    found = Decimal(rb.mistake_bound(X, y, u, fit_intercept=False).value)
    assert exact <= found <= exact * Decimal("1.000000001")


LIFTS = [(1.0, 8282, 155), (10.0, 362, 21), (90**0.5, 361, 19), (100.0, 10181.81, 1011)]


@pytest.mark.parametrize(("lift", "most", "mistakes"), LIFTS)
def test_the_price_of_lifting(lift, most, mistakes):
    X, y = [[10.0], [8.0]], [1, -1]
    learner = fit(X, y, fit_intercept=True, lift=lift)
    bound = learner.bound(X, y, [1.0, -9.0])
    assert bound.value == pytest.approx(most, rel=1e-12)
    assert bound.radius == pytest.approx((100 + lift**2) ** 0.5, rel=1e-12)
    assert learner.run_.mistakes == mistakes


@given(whole(), st.sampled_from([0.5, 1.0, "radius"]), st.integers(-9, 9))
@quickly
def test_lifted_radius_and_margin_are_those_of_the_theory(problem, lift, offset):
    X, y, u = problem
    X, u = X + offset * u, u / np.linalg.norm(u)
    b = offset * np.linalg.norm(problem[2])  # the separator moves along with the rows
    learner = fit(X, y, fit_intercept=True, lift=lift)
    radius, margin = np.linalg.norm(X, axis=1).max(), (y * (X @ u - b)).min()
    c = radius if lift == "radius" else lift
    bound = learner.bound(X, y, [*u, -b])
    assert bound.radius == pytest.approx(np.hypot(radius, c), rel=1e-12)
    # b is the difference of numbers up to 9·6 times larger than the margin.
    assert bound.margin == pytest.approx(margin / np.hypot(1, b / c), rel=1e-10)
    assert learner.run_.mistakes <= bound.value


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("K", [5, 10])
def test_the_worst_case_costs_more_than_k_mistakes_in_every_order(K, order):
    X, y = np.array([[1, 1], [1, 0], [1 / K, 1], [0, 1]]), [1, 1, 1, -1]
    learner = fit(X, y, order=order, random_state=0)
    bound = learner.bound(X, y, [2 * K, -1])
    assert bound.radius**2 == pytest.approx(2, rel=1e-12)
    assert K < learner.run_.mistakes <= bound.value
    if (K, order) == (10, "cycle"):
        assert learner.run_.mistakes == 167


def test_the_radius_is_measured_from_the_origin():
    X, y = [[1.0, 10], [-1.0, 10]], [1, -1]
    learner = fit(X, y)
    assert learner.run_.mistakes == 2
    assert learner.bound(X, y, [1, 0]).radius ** 2 == pytest.approx(101, rel=1e-12)


# ---- bounds that do not exist


def test_a_comparator_that_does_not_separate_proves_nothing_from_another_start_than_zero():
    learner = fit(SIX_X, SIX_Y, initial=[1, 0])
    for comparator, row in (([-1, 0], 0), ([0, 1], 0), ([3, -3], 4)):
        with pytest.raises(rb.InputError, match=f"leaves row {row} on the wrong side"):
            learner.bound(SIX_X, SIX_Y, comparator)


def test_a_comparator_that_does_not_separate_gives_theorem_two():
    learner = fit(SIX_X, SIX_Y)
    for comparator in ([-1, 0], [0, 1], [3, -3]):
        bound = learner.bound(SIX_X, SIX_Y, comparator)
        assert (bound.theorem, bound.passes) == (2, learner.run_.passes)
        assert learner.run_.mistakes <= bound.value


def test_a_renormalised_run_has_no_bound():
    learner = fit(SIX_X, SIX_Y, renormalize=True)
    with pytest.raises(rb.InputError, match="neither theorem covers runs that renormalise"):
        learner.bound(SIX_X, SIX_Y, [1, 0])


BAD = [
    ([1], "needs 2 numbers, one for each column, or 3 with the intercept; got 1"),
    ([1, 0, 0, 0], "got 4"),
    ([np.nan, 0], "NaN or infinity"),
    ([np.inf, 0], "NaN or infinity"),
    ([0, 0], "other than zero"),
    ([1, 0, 5], "has an intercept, but the rows are not lifted"),
]


@pytest.mark.parametrize(("comparator", "message"), BAD)
def test_a_comparator_that_is_not_a_vector_of_the_space_is_refused(comparator, message):
    learner = fit(SIX_X, SIX_Y)
    with pytest.raises(rb.InputError, match=message):
        learner.bound(SIX_X, SIX_Y, comparator)
    with pytest.raises(rb.InputError, match=message):
        rb.mistake_bound(SIX_X, SIX_Y, comparator, fit_intercept=False)
