"""Experiments on the plain perceptron: what theory promises holds on the rows that they write."""

from importlib import import_module

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.lab.drawing import halves
from rosenblatt.lab.experiment import Table, at_most, slope
from rosenblatt.lab.experiments import distance, examples, lifting, orders, proof, rate, starts

# ---- examples and dimension


@pytest.mark.parametrize(("name", "by"), [("examples", "n"), ("dimension", "d")])
def test_the_bound_does_not_depend_on_the_size(tables, name, by):
    bounds = tables[name]["bound"]
    assert len(tables[name].values(by)) >= 5
    assert bounds.max() / bounds.min() < 1 + 1e-9  # rows are rounded, and so are norms
    assert bounds.min() == pytest.approx(
        1 / import_module(f"rosenblatt.lab.experiments.{name}").MARGIN ** 2
    )


@pytest.mark.parametrize(("name", "by"), [("examples", "n"), ("dimension", "d")])
def test_mistakes_level_off(tables, name, by):
    low, high = (slope(part[by], part["mistakes"])[0] for part in halves(tables[name], by))
    assert high < low
    assert high < 0.3  # a doubling adds less than a quarter


@pytest.mark.parametrize(
    ("share", "told"),
    [(0.0, "0%"), (0.001, "1%"), (0.14, "14%"), (0.1401, "15%"), (0.29, "29%"), (1.0, "100%")],
)
def test_no_more_than_a_share_is_told_rounded_up(share, told):
    assert at_most(share) == told


def test_the_share_of_the_bound_that_is_told_is_not_exceeded():
    rows = [{"n": n, "mistakes": 133, "bound": 1000.0} for n in (8, 32, 128)]
    assert examples.seen(Table(rows)).endswith("No run used more than 14% of it.")


# ---- distance


def test_the_angle_is_accurate_for_small_ones():
    w = np.array([0.6, 0.8])
    for degrees in (1e-9, 1e-3, 45.0, 90.0, 180.0):
        t = np.radians(degrees)
        turned = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) @ w
        assert distance.angle(7 * turned, w) == pytest.approx(degrees, rel=1e-6)


def test_the_rows_that_would_give_the_separator_away_are_left_out():
    X, y, w = distance.planted(50, 1 / 8, seed=3)
    assert X.shape == (50, distance.COLUMNS)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    assert (y * (X @ w)).min() >= 1 / 8


def test_the_largest_margin_is_closer_than_the_last_weights(tables):
    for _, part in tables["distance"].groups("n"):
        assert np.median(part["angle_widest"]) < np.median(part["angle_last"])


def test_the_bound_of_the_angle_is_that_of_the_proof(tables):
    row = tables["distance"].rows[0]
    X, y, w = distance.planted(row["n"], row["margin"], row["seed"])
    cosine = np.sqrt(row["mistakes"]) * (y * (X @ w)).min() / np.linalg.norm(X, axis=1).max()
    assert np.cos(np.radians(row["angle_bound"])) == pytest.approx(cosine)


# ---- proof


def test_both_quantities_are_those_of_the_replayed_run_exactly(tables):
    table = tables["proof"]
    X, y, u = proof.planted(table.rows[0]["gap"], table.rows[0]["seed"])
    w = np.cumsum((y[:, None] * X)[table["example"]], axis=0)
    norm = np.sqrt(u @ u)
    assert table["k"].tolist() == list(range(1, len(table) + 1))
    assert table["projection"].tolist() == ((w @ u) / norm).tolist()
    assert table["sqnorm"].tolist() == (w * w).sum(axis=1).tolist()
    assert (y * (X @ w[-1]) > 0).all()


def test_each_mistake_adds_as_the_proof_says(tables):
    table = tables["proof"]
    gamma, square = table["lower_projection"][0], table["upper_sqnorm"][0]
    assert np.diff(table["projection"], prepend=0).min() >= gamma - 1e-9  # differences are rounded
    assert np.diff(table["sqnorm"], prepend=0).max() <= square


def test_a_long_run_is_thinned_out_evenly(monkeypatch, tables):
    monkeypatch.setattr(proof, "MOST_ROWS", 7)
    whole = tables["proof"].rows
    kept = proof.measure(whole[0]["gap"], whole[0]["seed"])
    places = [row["k"] for row in kept]
    assert len(kept) == 7
    assert (places[0], places[-1]) == (1, len(whole))
    assert np.ptp(np.diff(places)) <= 1


@pytest.mark.parametrize("seed", range(8))
def test_whole_numbers_never_lie_above_the_bounds_of_the_proof(seed):
    found = proof.EXPERIMENT
    assert found.above(Table(found.measure(gap=1, seed=seed))) == []


# ---- rate and starts


def test_the_rate_changes_no_mistake_from_zero_but_does_from_elsewhere(tables):
    zero, random = (tables["rate"].where(start=start) for start in rate.STARTS)
    assert all(len(part.values("mistakes")) == 1 for _, part in zero.groups("seed"))
    assert all(len(part.values("mistakes")) > 1 for _, part in random.groups("seed"))


def test_a_rate_divides_the_start(tables):
    row = next(row for row in tables["rate"].rows if row["start"] == "random" and row["rate"] < 1)
    shape = rate.POINTS, rate.COLUMNS
    X, y, w = rb.make_separable(*shape, margin=rate.MARGIN, seed=row["seed"])
    start = np.random.RandomState(row["seed"]).standard_normal(rate.COLUMNS)
    start /= np.linalg.norm(start) * row["rate"]
    bound = rb.mistake_bound(X, y, w, passes=None, initial=start, fit_intercept=False)
    assert row["bound"] == pytest.approx(bound.value)
    learner = rb.Perceptron(fit_intercept=False, max_iter=None, initial=start).fit(X, y)
    assert row["mistakes"] == learner.run_.mistakes


def test_starts_along_the_separator_cost_nothing_and_against_it_most(tables):
    given = tables["starts"].where(start="given")
    assert given.where(angle=0.0)["mistakes"].max() == 0
    for norm, part in given.groups("norm"):
        g = starts.MARGIN
        assert part.where(angle=180.0)["bound"] == pytest.approx((1 + 2 * g * norm) / g**2)
        assert part["bound"].max() == part.where(angle=180.0)["bound"].max()


def test_a_start_has_the_norm_and_the_angle_asked_for():
    w = np.array([0.0, 0.6, 0.8])
    for degrees in (0, 30, 90, 180):
        v = starts.turned(w, degrees, seed=5)
        assert np.linalg.norm(v) == pytest.approx(1)
        assert v @ w == pytest.approx(np.cos(np.radians(degrees)))


# ---- renormalise


def test_only_plain_runs_have_a_bound_and_all_of_them_converge(tables):
    table = tables["renormalise"]
    assert {row["manner"] for row in table.rows if row["bound"] is not None} == {"plain"}
    assert table.where(manner="plain")["converged"].all()


def test_unit_steps_may_go_on_for_ever_and_small_ones_do_not(tables):
    table = tables["renormalise"]
    stopped = table.where(manner="unit steps", converged=0)
    assert len(stopped)
    assert (stopped["mistakes"] == stopped["limit"]).all()
    # With η ≤ 2γ/R², w·w* would grow beyond 1 if the mistakes did not end.
    assert table.where(manner="small steps")["converged"].all()


# ---- orders


def test_the_most_wrong_example_costs_a_pass_for_each_mistake(tables):
    worst = tables["orders"].where(order="worst")
    assert (worst["scored"] == (worst["mistakes"] + 1) * orders.POINTS).all()


def test_all_orders_share_the_bound_of_their_problem(tables):
    for _, part in tables["orders"].groups("seed"):
        assert part.values("order") == sorted(orders.ORDERS)
        assert len(part.values("bound")) == 1


# ---- lifting


def test_the_bound_is_that_of_the_lifted_space(tables):
    lifted = (row for row in tables["lifting"].rows if row["lift"] != "none")
    for row in lifted:
        shape = lifting.POINTS, lifting.COLUMNS
        X, _, w = rb.make_separable(*shape, margin=lifting.MARGIN, seed=row["seed"])
        a, b = row["scale"], row["scale"] * row["offset"]
        radius = a * np.linalg.norm(X + row["offset"] * w, axis=1).max()
        c = 1.0 if row["lift"] == "1" else radius
        gamma = a * lifting.MARGIN
        assert row["bound"] == pytest.approx((radius**2 + c**2) * (1 + (b / c) ** 2) / gamma**2)


def test_lifting_by_the_radius_does_not_mind_the_unit_of_length(tables):
    scaled = tables["lifting"].where(sweep="scale")
    for _, part in scaled.where(lift="R").groups("seed"):
        assert len(part.values("mistakes")) == 1
    assert all(
        len(part.values("mistakes")) > 1 for _, part in scaled.where(lift="1").groups("seed")
    )


def test_lifting_by_1_costs_more_the_farther_away_the_points_are(tables):
    away = tables["lifting"].where(sweep="offset")
    farthest = away.where(offset=max(away.values("offset")))
    by_one, by_radius = (farthest.where(lift=lift) for lift in ("1", "R"))
    assert np.median(by_one["mistakes"]) > np.median(by_radius["mistakes"])
    assert by_one["bound"].min() > by_radius["bound"].max()


def test_the_growth_told_is_that_of_the_medians_drawn(tables):
    away = Table(r for r in tables["lifting"].where(sweep="offset").rows if r["offset"] >= 1)
    told = lifting.seen(tables["lifting"])
    for lift in lifting.LIFTS:
        offsets, _, middle, _ = away.where(lift=lift).spread("offset", "mistakes")
        assert f"b^{slope(offsets, middle)[0]:.2f} with c = {lift}" in told
