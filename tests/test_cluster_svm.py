"""SVMs on shards: the problem of one machine, to a gap that is true."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from amount import crossed
from clusters import cut, planted
from rosenblatt.cluster import dual, svm

FEW, NONE = svm.FEW_COLUMNS, 0  # Newton steps, or local dual steps


def noisy(n=400):
    X, y, _ = planted(n=n, d=5)
    return X, np.where(np.arange(n) % 17 == 0, -y, y)


X, y = noisy()


def objective(learner, rows, labels, weights=1.0):
    signs = np.where(labels == learner.classes_[1], 1, -1)
    w = learner.coef_[0]
    if learner.intercept == "lifted":
        w = np.append(w, learner.intercept_[0] / learner.lift)
    losses = np.maximum(0, 1 - signs * learner.decision_function(rows))
    return float((weights * losses).sum() + learner.lam_ * w @ w)


@crossed(
    2,
    intercept=["free", "lifted", "none"],
    layout=[np.asarray, sparse.csr_matrix],
    options=[{}, {"lam": 3.0, "class_weight": "balanced"}],
    few=[FEW, NONE],
)
def test_the_gap_is_true_and_the_objective_that_of_one_machine(
    intercept, layout, options, few, local, monkeypatch
):
    monkeypatch.setattr(svm, "FEW_COLUMNS", few)
    made = lambda: rb.SoftMarginSVM(intercept=intercept, tol=5e-3, **options)  # noqa: E731
    found = rb.cluster.fit(made(), cut(layout(X), y, 4), client=local)
    one = made().fit(layout(X), y)
    assert found.gap_ <= 5e-3
    assert found.objective_ <= one.objective_ / (1 - 5e-3) * (1 + 1e-9)
    assert found.dual_objective_ <= one.objective_ * (1 + 1e-9)
    if not options:
        assert found.objective_ == pytest.approx(objective(found, X, y))
    signs = np.where(y > 0, 1.0, -1.0)
    duals = found.dual_
    assert duals.shape == (400,)
    assert duals.min() >= 0
    if intercept == "free":
        assert abs(duals @ signs) <= 1e-9 * duals.sum()
    if intercept == "none":
        value = duals.sum() - np.square((duals * signs) @ X).sum() / (4 * found.lam_)
        assert value == pytest.approx(found.dual_objective_)


def test_many_classes_are_solved_one_against_the_rest(local, tmp_path):
    labels = np.argmax(X[:, :3], axis=1)
    made = rb.SoftMarginSVM(multiclass="one-vs-rest", tol=1e-2)
    found = rb.cluster.fit(made, cut(X, labels, 3), client=local)
    one = rb.SoftMarginSVM(multiclass="one-vs-rest", tol=1e-2).fit(X, labels)
    assert found.objective_ == pytest.approx(one.objective_, rel=2e-2)
    rb.save(found, tmp_path / "model")
    assert np.array_equal(rb.load(tmp_path / "model").predict(X), found.predict(X))
    with pytest.raises(rb.InputError, match="give multiclass='one-vs-rest'"):
        rb.cluster.fit(rb.SoftMarginSVM(), cut(X, labels, 3), client=local)


@pytest.mark.parametrize("few", [FEW, NONE])
def test_duals_that_a_worker_has_lost_are_made_again_and_nothing_changes(few, local, monkeypatch):
    monkeypatch.setattr(svm, "FEW_COLUMNS", few)
    whole = rb.cluster.fit(rb.SoftMarginSVM(tol=1e-2), cut(X, y, 4), client=local)
    seen = []

    def kill(progress):
        seen.append(progress)
        if len(seen) in (2, 7):
            local.workers[len(seen) % 2].process.kill()

    again = rb.cluster.fit(rb.SoftMarginSVM(tol=1e-2), cut(X, y, 4), client=local, watch=kill)
    assert len(seen) > 7
    assert np.array_equal(again.coef_, whole.coef_)
    assert np.array_equal(again.dual_, whole.dual_)


class StoppedError(Exception):
    """What ends a run in its middle."""


@pytest.mark.parametrize(
    ("intercept", "many", "few"), [("none", False, NONE), ("free", True, NONE), ("free", True, FEW)]
)
def test_a_run_goes_on_from_its_checkpoint(intercept, many, few, local, tmp_path, monkeypatch):
    monkeypatch.setattr(svm, "FEW_COLUMNS", few)
    labels = np.argmax(X[:, :3], axis=1) if many else y
    note, shards, rounds = tmp_path / "round", cut(X, labels, 3), []
    learner = lambda: rb.SoftMarginSVM(  # noqa: E731
        tol=2e-2, intercept=intercept, multiclass="one-vs-rest"
    )
    whole = rb.cluster.fit(learner(), shards, client=local, watch=rounds.append)
    seen = []

    def stop(progress):
        seen.append(progress)
        if len(seen) == len(rounds) - 2:  # in the last class, if there are many
            raise StoppedError

    with pytest.raises(StoppedError):
        rb.cluster.fit(learner(), shards, client=local, checkpoint=note, watch=stop)
    again = rb.cluster.fit(learner(), shards, client=local, checkpoint=note, watch=seen.append)
    assert len(seen) <= len(rounds) + 2  # and nothing was begun anew
    assert again.n_iter_ == whole.n_iter_
    assert np.array_equal(again.coef_, whole.coef_)
    assert np.array_equal(again.dual_, whole.dual_)
    assert not note.exists()


def test_a_limit_ends_the_run_with_a_warning(local):
    with pytest.warns(Warning, match="stopped after 2 passes"):
        rb.cluster.fit(rb.SoftMarginSVM(max_iter=2, tol=1e-9), cut(X, y, 3), client=local)


def test_no_lengths_inside_the_room_are_better_than_those_found():
    draw = np.random.default_rng(3)
    ways, rooms = draw.normal(size=(12, 30)), draw.uniform(0.01, 0.2, 12)
    ways[0] = 0.0  # a way that leaves w where it is
    ways[5], rooms[6:8] = ways[4], np.inf
    products, slopes = ways @ ways.T, draw.normal(size=12)
    slopes[0] = 1.0

    def value(lengths):
        return lengths @ slopes - lengths @ products @ lengths / 2

    found = dual.best_lengths(products, slopes, rooms)
    assert (found >= 0).all()
    assert (found <= rooms).all()
    assert found[0] == rooms[0]
    for _ in range(200):
        other = np.clip(found + draw.normal(scale=0.01, size=12), 0, rooms)
        assert value(other) <= value(found) + 1e-12


def test_the_dual_value_rises_in_every_round(local):
    seen = []

    class Watching(dual.DualSteps):
        def _round(self):
            before = sum(b.sum() for b in self.betas) - self.given.w @ self.given.w / 2
            found = super()._round()
            after = sum(b.sum() for b in self.betas) - self.given.w @ self.given.w / 2
            seen.append(after - before)
            return found

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):
        patch.setattr(svm, "solver_for", lambda width: Watching)
        learner = rb.SoftMarginSVM(intercept="lifted", max_iter=12, tol=1e-12)
        rb.cluster.fit(learner, cut(X, y, 4), client=local)
    assert min(seen) > 0


def test_newton_steps_need_few_rounds_where_rows_share_dense_columns(local):
    draw = np.random.default_rng(5)
    rows = draw.random((600, 20)) + draw.random((600, 1))
    labels = rows[:, :3].sum(axis=1) + 0.2 * draw.normal(size=600) > 3
    found = rb.cluster.fit(rb.SoftMarginSVM(), cut(rows, labels, 4), client=local)
    assert found.gap_ <= 1e-3
    assert found.n_iter_ < 50  # dual steps need hundreds


def test_classes_out_of_balance_do_not_hold_the_centre_where_no_dual_can_move(local):
    rare = X[:, 0] >= np.sort(X[:, 0])[-6]
    found = rb.cluster.fit(rb.SoftMarginSVM(lam=1000.0), cut(X, rare, 4), client=local)
    assert found.gap_ <= 1e-3


def test_a_gap_that_rounding_hides_ends_with_a_warning(local):
    far = cut(X + 1e8, y, 3)
    with pytest.warns(Warning, match="above tol"):
        rb.cluster.fit(rb.SoftMarginSVM(intercept="none"), far, client=local)
