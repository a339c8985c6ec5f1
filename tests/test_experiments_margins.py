"""Experiments on worst cases, noise, margins, streams and rivals: theory holds on their rows."""

import numpy as np
import pytest

import rosenblatt as rb
from planted import worst_case as worst_case_of
from rosenblatt.lab.catalogue import find
from rosenblatt.lab.experiment import Table, slope
from rosenblatt.lab.experiments import outputs, stream, worst_case
from rosenblatt.lab.planted import make_noisy, make_slab
from rosenblatt.lab.style import look, new_figure

# ---- planted problems


def test_a_share_of_the_labels_is_flipped():
    X, y, w = make_noisy(300, 4, 0.1, 0.25, seed=3)
    straight = rb.make_separable(300, 4, margin=0.1, seed=3)
    np.testing.assert_array_equal(X, straight[0])
    assert (y != straight[1]).sum() == 75
    assert (y * (X @ w) < 0).sum() == 75


@pytest.mark.parametrize("margin", [0.1, 1e-3, 1e-5])
def test_the_margin_of_a_slab_is_the_largest_and_no_point_is_two_away(margin):
    X, y, w = make_slab(200, 6, margin, seed=1)
    found = rb.max_margin(X, y, fit_intercept=False)
    assert found.lower == pytest.approx(margin, rel=1e-9)  # rows are rounded after flattening
    assert (y * (X @ w)).max() <= 2 * margin * (1 + 1e-9)
    assert np.linalg.norm(X, axis=1).max() <= 1


# ---- the worst case


def test_every_method_solves_the_worst_case(tables):
    assert set(tables["worst-case"]["verdict"]) == {"feasible"}


@pytest.mark.parametrize(("K", "updates"), [(10, 167), (1000, 1_996_007)])
def test_the_plain_perceptron_takes_as_many_updates_as_theory_says(tables, K, updates):
    (row,) = tables["worst-case"].where(method="plain", K=K).rows
    assert row["steps"] == updates
    assert row["bound"] == pytest.approx(8 * K**2 + 2)


def test_the_plain_grows_with_the_square_the_smoothed_linearly_the_rescaled_hardly(tables):
    parts = {method: tables["worst-case"].where(method=method) for method in worst_case.STYLES}
    tails = {m: Table(r for r in t.rows if r["K"] >= 100) for m, t in parts.items()}
    slopes = {m: slope(t["K"], t["steps"])[0] for m, t in tails.items()}
    assert slopes["plain"] == pytest.approx(2, abs=0.01)
    assert worst_case._settled(parts["smoothed"], "smoothed") == pytest.approx(1, abs=0.02)
    assert slopes["rescaled"] < 0.1
    assert parts["rescaled"]["K"].max() == 1e15


@pytest.mark.parametrize("K", [2.0, 10.0, 1e4])
def test_bounds_of_the_worst_case_rest_on_its_largest_margins(K):
    A, signs = worst_case_of(K), np.array([1, 1, 1, -1])
    plain = rb.max_margin(A * signs[:, None], signs, fit_intercept=False).lower
    assert plain == pytest.approx(1 / np.sqrt(4 * K**2 + 1))
    units = A / np.linalg.norm(A, axis=1, keepdims=True)
    unit = rb.max_margin(units * signs[:, None], signs, fit_intercept=False).lower
    assert worst_case.smoothed_bound(K) == pytest.approx(2 * np.sqrt(np.log(4)) / unit)
    attained = (A @ [2 * K, -1]).min() / np.hypot(2 * K, 1)
    assert attained == pytest.approx(plain)


def test_the_bound_of_the_rescaled_method_counts_phases_until_the_cone_is_a_half():
    K = 5.0
    t = np.linspace(0, 2 * np.pi, 1_000_000, endpoint=False)
    share = np.mean((worst_case_of(K) @ [np.cos(t), np.sin(t)] > 0).all(axis=0))
    phases = 1
    while share * (16 / 11) ** phases <= 0.5:
        phases += 1
    # The last stretch that the share allows is a whole one, and the formula rounds no phase down.
    assert 128 * phases <= worst_case.rescaled_bound(K) < 128 * (phases + 1)


# ---- noise


def test_more_passes_cost_nothing_without_noise_and_as_much_again_with_it(tables):
    slopes = {
        share: slope(part["passes"], part["mistakes"])[0]
        for share, part in tables["noise"].groups("flipped")
        if len(part.values("passes")) > 1
    }
    assert slopes[0.0] < 0.1
    assert min(s for share, s in slopes.items() if share) > 0.9


def test_noise_makes_mistakes_and_raises_the_bound(tables):
    once = tables["noise"].where(passes=1)
    for column in ("mistakes", "bound"):
        middle = once.spread("flipped", column)[2]
        assert np.all(np.diff(middle) > 0)


def test_the_least_bound_is_not_above_that_of_the_planted_hyperplane(tables):
    ratio = tables["noise"]["bound"] / tables["noise"]["planted_bound"]
    assert ratio.max() <= 1.01  # the tolerance of `mistake_bound`
    assert ratio.min() < 0.9


# ---- outputs


def test_the_mean_errs_less_than_the_last_on_noisy_data(tables):
    planted = tables["outputs"].where(data="planted")
    errors = {o: np.median(planted.where(output=o)["error"]) for o in outputs.STYLES}
    assert errors["averaged"] < errors["last"]
    assert errors["voted"] < errors["last"]
    assert np.median(planted["floor"]) == pytest.approx(outputs.FLIPPED, abs=0.02)


def test_errors_are_on_rows_that_were_not_learned():
    (X, _), (X_test, _), floor = outputs._digits(0)
    assert floor is None
    assert X.shape[0] + X_test.shape[0] == 1797
    (X, _), (X_test, _), _ = outputs._planted(0)
    assert (X.shape[0], X_test.shape[0]) == outputs.SPLIT
    assert not (X[:, None, 0] == X_test[None, :, 0]).any()


# ---- soft and hard margin


@pytest.mark.parametrize("data", ["separable", "noisy"])
def test_a_larger_lambda_widens_the_margin_and_accepts_loss(tables, data):
    for _, part in tables["svm"].where(data=data).groups("seed"):
        assert np.all(np.diff(part["lam"]) > 0)
        assert np.all(np.diff(part["margin"]) > -1e-4 * part["margin"][1:])  # tol
        assert np.all(np.diff(part["hinge"]) > -1e-4)


def test_the_soft_margin_tends_to_the_hard_one(tables):
    table = tables["svm"].where(data="separable")
    least = table.where(lam=min(table.values("lam")))
    assert least["margin"] == pytest.approx(least["hard_margin"], rel=1e-4)  # tol
    assert least["hinge"].max() < 1e-6
    assert "hard_margin" not in tables["svm"].where(data="noisy").rows[0]


# ---- streams


def test_mistakes_of_a_stream_are_those_of_a_pass_over_its_beginning(tables):
    (case,) = (c for c in stream.cases(True) if c["data"] == "noisy" and c["seed"] == 1)
    X, y, _ = make_noisy(case["length"], stream.COLUMNS, stream.MARGIN, 0.1, seed=1)
    rows = tables["stream"].where(data="noisy", seed=1).rows
    assert [row["examples"] for row in rows] == [32, 64, 128, 256, 512, 1024, 2048]
    for row in rows:
        n = row["examples"]
        once = rb.Perceptron(fit_intercept=False).partial_fit(X[:n], y[:n])
        assert row["mistakes"] == once.run_.mistakes


def test_a_separable_stream_slows_down_and_a_noisy_one_does_not(tables):
    slopes = {}
    for data, part in tables["stream"].groups("data"):
        late = Table(row for row in part.rows if row["examples"] >= 256)
        slopes[data] = slope(late["examples"], late["mistakes"])[0]
    assert slopes["separable"] < 0.6 < 0.8 < slopes["noisy"]


def test_the_known_hyperplane_gives_theorem_one_along_a_separable_stream(tables):
    table = tables["stream"].where(data="separable")
    assert set(table["planted_theorem"]) == {1}
    assert table["planted_bound"].max() <= 1.000001 / stream.MARGIN**2
    for _, part in table.groups("seed"):
        assert np.all(np.diff(part["planted_bound"]) >= -1e-6)


# ---- noise and soft margins


def test_lines_over_passes_are_named_beside_them_and_no_room_is_left_empty(tables):
    figure = new_figure()
    with look():
        find("noise").draw(figure, tables["noise"])
    axes = figure.axes[1]
    names = [text.get_text() for text in axes.texts]
    assert names == [
        f"{share} flipped" if k == 0 else "its bound"
        for share in ("0%", "2%", "20%")
        for k in range(2)
    ]
    assert axes.get_ylim()[1] < 3 * tables["noise"]["bound"].max()


def test_the_margins_told_are_the_medians_drawn(tables):
    separable = tables["svm"].where(data="separable")
    _, _, margins, _ = separable.spread("lam", "margin")
    told = find("svm").seen(tables["svm"])
    assert f"widens from {margins[0]:.3f} to {margins[-1]:.2f}" in told
    assert margins[-1] < separable["margin"].max()
    assert (np.diff(margins) > -1e-3 * margins[1:]).all()  # each is within its duality gap


# ---- rivals


def test_every_rival_separates_and_the_svm_attains_the_largest_margin(tables):
    table = tables["rivals"]
    assert table["reached"].min() > 0
    svm = table.where(method="hard-margin SVM")
    assert svm["reached"] == pytest.approx(svm["largest"], rel=1e-6)
    assert table["largest"] == pytest.approx(table["margin"], rel=1e-6)
    assert np.all(table["seconds"] > 0)


def test_the_perceptron_slows_down_as_the_margin_shrinks(tables):
    table = tables["rivals"].where(varied="margin", method="perceptron")
    wide, thin = (table.where(margin=margin)["seconds"].min() for margin in (0.1, 0.001))
    assert thin > 5 * wide  # about 50 times, when nothing else runs
