"""Support vector machines: what they solve, and how they take and give things."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

import rosenblatt as rb
from planted import interrupted
from rosenblatt.checker import Refused
from rosenblatt.decide.separability.question import Question

INTERCEPTS = ["free", "lifted", "none"]
FINE = 1e-9  # a gap a thousand times smaller than what objectives are held to


def mixed(n=120, d=4, classes=2, seed=0):
    """Make rows of classes that overlap.

    All entries are multiples of 1/16, so that their products are exact in single precision, in
    which LIBSVM holds them.
    """
    random = np.random.default_rng(seed)
    centres = random.standard_normal((classes, d)) * 1.2
    y = np.arange(n) % classes
    return np.round((centres[y] + random.standard_normal((n, d))) * 16) / 16, y


def objective(learner, X, y, weights=None):
    """Compute what is minimised, in one obvious way for each problem."""
    weights = np.ones(len(y)) if weights is None else weights
    scores = np.asarray(X @ learner.coef_.T + learner.intercept_)
    penalised = [learner.coef_]
    if learner.intercept == "lifted":
        penalised.append(learner.intercept_ / learner.lift)
    penalty = learner.lam_ * sum((part**2).sum() for part in penalised)
    places = np.searchsorted(learner.classes_, y)
    if scores.shape[1] == 1:
        signs = 2 * places - 1
        return weights @ np.maximum(0, 1 - signs * scores[:, 0]) + penalty
    own = np.eye(scores.shape[1])[places]
    if learner.multiclass == "joint":
        losses = (scores + 1 - own).max(axis=1) - (scores * own).sum(axis=1)
    else:
        losses = np.maximum(0, 1 - (2 * own - 1) * scores).sum(axis=1)
    return weights @ losses + penalty


# ---- the problems are those that they are said to be


def peer(intercept, C, lift, **more):
    """Give scikit-learn's solver of the same problem, run for longer than usual."""
    if intercept == "free":
        return SVC(kernel="linear", C=C, tol=1e-9, **more)
    return LinearSVC(
        loss="hinge",
        C=C,
        dual=True,
        tol=1e-7,
        max_iter=10**5,
        fit_intercept=intercept == "lifted",
        intercept_scaling=lift,
        random_state=0,
        **more,
    )


def objective_of_peer(found, learner, X, y, weights=None):
    """Compute the objective of scikit-learn's hyperplanes as if they were the learner's."""
    other = copy.copy(learner)
    other._planes = np.column_stack([found.coef_, np.resize(found.intercept_, len(found.coef_))])
    return objective(other, X, y, weights)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("C", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("weighted", ["plain", "classes", "balanced", "samples", "both"])
def test_two_classes_solve_the_problem_of_scikit_learn(intercept, C, weighted):
    X, y = mixed(seed=1)
    random = np.random.default_rng(2)
    class_weight = {"classes": {0: 0.5, 1: 3.0}, "balanced": "balanced", "both": {0: 0.5, 1: 3.0}}
    more = {"class_weight": class_weight.get(weighted)}
    if weighted == "balanced":
        y = (random.random(len(y)) < 0.2).astype(int)
    samples = (
        random.integers(0, 4, len(y)).astype(float) if weighted in ("samples", "both") else None
    )
    learner = rb.SoftMarginSVM(C=C, intercept=intercept, lift=2.5, tol=FINE, **more)
    learner.fit(X, y, sample_weight=samples)
    found = peer(intercept, C, 2.5, **more).fit(X, y, sample_weight=samples)
    factors = {"plain": np.ones(2), "samples": np.ones(2)}.get(weighted, np.array([0.5, 3.0]))
    if weighted == "balanced":
        factors = len(y) / (2 * np.bincount(y))
    weights = factors[y] * (1 if samples is None else samples)
    mine = objective(learner, X, y, weights)
    theirs = objective_of_peer(found, learner, X, y, weights)
    assert learner.objective_ == pytest.approx(mine, rel=1e-12)
    assert mine == pytest.approx(theirs, rel=1e-6)
    assert mine <= theirs * (1 + 1e-9)
    assert learner.dual_objective_ <= theirs * (1 + 1e-12)


def test_classes_solved_side_by_side_are_those_solved_one_by_one(monkeypatch):
    X, y = mixed(n=150, classes=3, seed=3)
    made = rb.SoftMarginSVM(multiclass="one-vs-rest")
    one_by_one = clone(made).fit(X, y)
    monkeypatch.setattr("rosenblatt.margin.classes.WORTH_A_THREAD", 1)
    monkeypatch.setattr("rosenblatt.margin.classes.cores", lambda: 2)
    side_by_side = clone(made).fit(X, y)
    np.testing.assert_array_equal(side_by_side.coef_, one_by_one.coef_)
    np.testing.assert_array_equal(side_by_side.dual_, one_by_one.dual_)


@pytest.mark.parametrize("intercept", ["lifted", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("multiclass", ["joint", "one-vs-rest"])
def test_more_classes_solve_the_problem_of_scikit_learn(intercept, weighted, multiclass):
    X, y = mixed(n=150, classes=3, seed=3)
    samples = np.random.default_rng(4).integers(0, 4, len(y)).astype(float) if weighted else None
    class_weight = {0: 2.0, 2: 0.5} if weighted else None
    learner = rb.SoftMarginSVM(
        lam=0.7, intercept=intercept, multiclass=multiclass, tol=FINE, class_weight=class_weight
    ).fit(X, y, samples)
    many = {"joint": "crammer_singer", "one-vs-rest": "ovr"}[multiclass]
    found = peer(intercept, 1 / 1.4, 1.0, multi_class=many, class_weight=class_weight)
    if weighted and multiclass == "one-vs-rest":
        found.class_weight = None  # LIBLINEAR lets it weigh the class, but not the others
        samples = samples * np.array([2.0, 1.0, 0.5])[y]
        weights = samples
    else:
        weights = None if not weighted else samples * np.array([2.0, 1.0, 0.5])[y]
    found.fit(X, y, samples)
    mine = objective(learner, X, y, weights)
    theirs = objective_of_peer(found, learner, X, y, weights)
    assert learner.objective_ == pytest.approx(mine, rel=1e-10)
    assert mine == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("power", range(-12, 13, 3))
def test_any_lam_is_solved_to_its_gap(intercept, power):
    X, y = mixed(n=60, seed=6)
    learner = rb.SoftMarginSVM(lam=10.0**power, intercept=intercept).fit(X, y)
    assert learner.gap_ <= learner.tol
    assert learner.objective_ == pytest.approx(objective(learner, X, y), rel=1e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_weights_are_combinations_of_the_support_vectors(intercept):
    X, y = mixed(seed=7)
    learner = rb.SoftMarginSVM(lam=0.5, intercept=intercept, tol=1e-10).fit(X, y)
    signs, alphas = 2 * y - 1, learner.alphas_
    assert learner.support_.tolist() == np.flatnonzero(alphas).tolist()
    assert 0 < learner.support_.size < len(y)
    assert alphas.min() >= 0
    assert alphas.max() <= 1
    found = (alphas * signs) @ X / (2 * learner.lam_)
    np.testing.assert_allclose(learner.coef_[0], found, atol=1e-3)
    if intercept == "free":
        assert abs(alphas @ signs) <= 1e-9 * alphas.sum()
    margins = signs * learner.decision_function(X)
    assert margins[alphas == 0].min() > 1 - 1e-3  # rows without a dual are outside the margin


# ---- warm starts and paths


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["joint", "one-vs-rest"])
def test_a_path_gives_what_cold_fits_give_in_the_order_asked_for(classes, multiclass):
    X, y = mixed(classes=classes, seed=8)
    lams = [1.0, 100.0, 0.01, 1.0]
    learner = rb.SoftMarginSVM(C=2.0, tol=1e-8, multiclass=multiclass)
    found = learner.path(X, y, lams)
    assert [model.lam_ for model in found] == lams
    assert [model.get_params()["lam"] for model in found] == lams
    for lam, model in zip(lams, found, strict=True):
        cold = rb.SoftMarginSVM(lam, tol=1e-8, multiclass=multiclass).fit(X, y)
        assert model.objective_ == pytest.approx(cold.objective_, rel=3e-8)
        assert model.gap_ <= 1e-8
        assert model.objective_ == pytest.approx(objective(model, X, y), rel=1e-9)
        assert model.n_features_in_ == X.shape[1]
    assert not hasattr(learner, "classes_")
    with pytest.raises(rb.InputError, match="lams is empty"):
        learner.path(X, y, [])
    with pytest.raises(rb.InputError, match="lams must be"):
        learner.path(X, y, [1.0, 0.0])
    with pytest.raises(rb.InputError, match="list of positive numbers"):
        learner.path(X, y, 3)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("wide", [False, True])
def test_a_warm_start_changes_nothing_but_the_time(intercept, wide):
    X, y = mixed(d=600 if wide else 4, seed=9)
    warm = rb.SoftMarginSVM(tol=1e-6, intercept=intercept, warm_start=True).fit(X, y)
    passes = warm.n_iter_
    warm.fit(X, y)
    assert warm.n_iter_ <= passes
    for lam in (0.1, 10.0):
        warm.set_params(lam=lam).fit(X, y)
        cold = rb.SoftMarginSVM(lam, tol=1e-6, intercept=intercept).fit(X, y)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-6)
        assert warm.objective_ == pytest.approx(objective(warm, X, y), rel=1e-9)


@pytest.mark.parametrize("first", INTERCEPTS)
@pytest.mark.parametrize("second", INTERCEPTS)
def test_a_warm_start_may_come_from_another_problem(first, second):
    X, y = mixed(seed=10)
    random = np.random.default_rng(0)
    warm = rb.SoftMarginSVM(tol=1e-6, intercept=first, lift=3.0, warm_start=True).fit(X, y)
    warm.set_params(intercept=second, lift=0.5)
    other = random.permutation(y)
    cold = rb.SoftMarginSVM(tol=1e-6, intercept=second, lift=0.5)
    for rows, labels, weights in [
        (X, other, random.random(len(y))),
        (X[:50], y[:50], None),
        (X[:50, :2], y[:50], None),
        (X[:50, :2], np.arange(50) % 3, None),
    ]:
        warm.fit(rows, labels, weights)
        cold.fit(rows, labels, weights)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-6)
        assert warm.objective_ == pytest.approx(objective(warm, rows, labels, weights), rel=1e-9)
        assert warm.n_features_in_ == rows.shape[1]


def test_a_fit_that_ends_early_says_how_good_it_is():
    X, y = mixed(n=400, d=600, seed=11)
    learner = rb.SoftMarginSVM(lam=1e-6, tol=1e-10, max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"gap of .*, above tol=1e-10; raise max_iter"):
        learner.fit(X, y)
    assert learner.gap_ > 1e-10
    assert learner.n_iter_ == 1
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        learner.path(X, y, [1e-6])
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        rb.SoftMarginSVM(lam=1e-6, tol=1e-14, max_seconds=1e-6).fit(X, y)


WAYS = {
    "few columns": (mixed(n=300, d=5), {}),
    "tall": (mixed(n=2500, d=4), {}),
    "many columns": (mixed(n=60, d=600), {}),
    "many columns, lifted": (mixed(n=60, d=600), {"intercept": "lifted"}),
    "joint": (mixed(n=300, d=20, classes=3), {}),
    "one against the rest": (mixed(n=300, d=20, classes=3), {"multiclass": "one-vs-rest"}),
    "small": (mixed(n=30, d=3), {}),
}


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_no_solver_goes_beyond_max_iter(way, most):
    (X, y), options = WAYS[way]
    learner = rb.SoftMarginSVM(lam=1e-4, tol=1e-12, max_iter=most, warm_start=True, **options)
    for _ in range(2):  # the second time from near by
        with pytest.warns(ConvergenceWarning, match="raise max_iter"):
            learner.fit(X, y)
        assert learner.n_iter_ <= most
        above, below = learner.objective_, learner.dual_objective_
        assert 1e-12 < learner.gap_ == pytest.approx((above - below) / above)


@pytest.mark.parametrize("way", ["many columns", "joint", "one against the rest"])
def test_every_fit_gives_the_same_answer(way):
    (X, y), options = WAYS[way]
    first, second = (rb.SoftMarginSVM(**options).fit(X, y) for _ in range(2))
    assert (first.coef_ == second.coef_).all()
    assert (first.intercept_ == second.intercept_).all()


def test_another_seed_is_another_order():
    (X, y), _ = WAYS["joint"]
    X, y = X[::10], y[::10]  # few rows: sweeps, not Newton steps
    coefs = [rb.SoftMarginSVM(random_state=seed).fit(X, y).coef_ for seed in (0, 1)]
    assert (coefs[0] != coefs[1]).any()


# ---- what the dual variables prove


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(
    ("classes", "multiclass"), [(2, "joint"), (3, "joint"), (3, "one-vs-rest")]
)
def test_the_gap_can_be_computed_from_the_dual_variables(intercept, classes, multiclass):
    X, y = mixed(classes=classes)
    weights = np.random.default_rng(0).integers(1, 4, y.size).astype(float)
    learner = rb.SoftMarginSVM(0.3, intercept, lift=2.0, multiclass=multiclass).fit(X, y, weights)
    rows = np.column_stack([X, np.full(y.size, 2.0)]) if intercept == "lifted" else X
    dual, own = learner.dual_, np.eye(classes)[y]
    caps = weights if classes == 2 else weights[:, None]
    if learner.dual_.ndim == 2 and multiclass == "joint":
        gained, signed = (dual * own).sum(), dual
        inside = (dual <= caps * own) & (np.abs(dual.sum(axis=1)) < 1e-12)[:, None]
    else:
        signs = own[:, 1] * 2 - 1 if classes == 2 else own * 2 - 1
        gained, signed = dual.sum(), dual * signs
        inside = (dual >= 0) & (dual <= caps)
    assert inside.all()
    if intercept == "free":
        assert np.abs(signed.sum(axis=0)).max() < 1e-9
    value = gained - ((rows.T @ signed) ** 2).sum() / (4 * 0.3)
    primal = objective(learner, X, y, weights)
    assert value == pytest.approx(learner.dual_objective_, rel=1e-9)
    assert learner.gap_ == pytest.approx((primal - value) / primal, abs=1e-9)
    assert learner.alphas_ is dual


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_gap_of_a_hard_margin_can_be_computed_from_its_dual_variables(intercept, tmp_path):
    X, y, _ = rb.make_separable(80, 60, margin=0.02, seed=3)
    learner = rb.HardMarginSVM(intercept, tol=0.05, lift=2.0).fit(X, y)
    rb.save(learner, tmp_path / "model")
    dual = rb.load(tmp_path / "model").dual_
    assert (dual == learner.dual_).all()
    rows = np.column_stack([X, np.full(y.size, 2.0)]) if intercept == "lifted" else X
    square = (learner.coef_**2).sum()
    square += (learner.intercept_[0] / 2) ** 2 if intercept == "lifted" else 0.0
    value = dual.sum() - ((rows.T @ (dual * y)) ** 2).sum() / 4
    assert (dual >= 0).all()
    assert intercept != "free" or abs(dual @ y) < 1e-9 * dual.sum()
    assert np.flatnonzero(dual).tolist() == learner.support_.tolist()
    assert (square - value) / square <= learner.gap_ + 1e-6  # the weights are floats
    assert 0 <= learner.gap_ <= 0.1
    weights = np.ones(y.size)
    weights[0] = 0
    assert learner.fit(X, y, weights).dual_.shape == (80,)
    assert learner.dual_[0] == 0


# ---- what comes in


@pytest.mark.parametrize("lam", [1.0, 2.0])
def test_c_takes_the_place_of_lam_whatever_that_is(lam):
    X, y = mixed()
    learner = clone(rb.SoftMarginSVM(lam=lam, C=0.25)).fit(X, y)
    assert learner.lam_ == 2.0
    assert learner.get_params()["lam"] == lam


SPELLINGS = [
    (rb.SoftMarginSVM, {"fit_intercept": False}, {"intercept": "none"}),
    (rb.SoftMarginSVM, {"fit_intercept": True}, {"intercept": "free"}),
    (rb.SoftMarginSVM, {"fit_intercept": True, "intercept": "lifted"}, {"intercept": "lifted"}),
    (rb.HardMarginSVM, {"fit_intercept": False}, {"intercept": "none"}),
    (rb.HardMarginSVM, {"fit_intercept": True}, {"intercept": "free"}),
    (rb.Perceptron, {"intercept": "none"}, {"fit_intercept": False}),
    (rb.Perceptron, {"intercept": "lifted"}, {"fit_intercept": True}),
    (rb.KernelPerceptron, {"intercept": "none"}, {"fit_intercept": False}),
    (rb.KernelPerceptron, {"intercept": "lifted"}, {"fit_intercept": True}),
]


@pytest.mark.parametrize(("make", "one", "other"), SPELLINGS)
def test_every_learner_takes_both_spellings_of_an_intercept(make, one, other, tmp_path):
    X, y, _ = rb.make_separable(40, 4, margin=0.05, seed=2)
    learner = clone(make(**one)).fit(X, y)
    scores = make(**other).fit(X, y).decision_function(X)
    assert (learner.decision_function(X) == scores).all()
    rb.save(learner, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    assert again.get_params() == learner.get_params()
    assert (again.fit(X, y).decision_function(X) == scores).all()


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (rb.SoftMarginSVM, {"fit_intercept": True, "intercept": "none"}),
        (rb.SoftMarginSVM, {"fit_intercept": False, "intercept": "lifted"}),
        (rb.HardMarginSVM, {"fit_intercept": True, "intercept": "none"}),
        (rb.Perceptron, {"fit_intercept": False, "intercept": "lifted"}),
        (rb.KernelPerceptron, {"fit_intercept": False, "intercept": "lifted"}),
    ],
)
def test_spellings_that_contradict_each_other_are_refused(make, options):
    with pytest.raises(rb.InputError, match=r"fit_intercept=.* contradict each other; give one of"):
        make(**options).fit([[0.0], [1.0]], [0, 1])


def test_a_perceptron_has_no_free_intercept():
    with pytest.raises(rb.InputError, match="must be one of 'lifted', 'none', got 'free'"):
        rb.Perceptron(intercept="free").fit([[0.0], [1.0]], [0, 1])


BAD_OPTIONS = {
    "lam must be a positive": [{"lam": 0}, {"lam": -1.0}, {"lam": np.nan}, {"lam": "1"}],
    "lam must lie between": [{"lam": 1e-300}, {"lam": 1e300}],
    "C must be a positive": [{"C": 0.0}, {"C": np.inf}],
    "intercept must be one of 'free', 'lifted', 'none'": [{"intercept": "some"}],
    "multiclass must be one of": [{"multiclass": "ovo"}],
    "tol must be": [{"tol": 0.0}, {"tol": np.nan}],
    "lift must be": [{"lift": -1.0}],
    "max_iter must be": [{"max_iter": 0}, {"max_iter": 1.5}],
    "max_seconds must be": [{"max_seconds": 0}],
    "warm_start must be": [{"warm_start": "yes"}],
    "random_state must be": [{"random_state": "dice"}],
    "class_weight must be": [{"class_weight": "heavy"}, {"class_weight": {0: -1.0}}],
    "class_weight has the label 7": [{"class_weight": {7: 1.0}}],
}
BAD_HARD_OPTIONS = {
    "intercept must be one of": [{"intercept": "some"}],
    "tol must be": [{"tol": 0.0}],
    "between 0 and 1": [{"tol": 2.0}],
    "lift must be": [{"lift": 0.0}],
    "max_seconds must be": [{"max_seconds": -1}],
}


@pytest.mark.parametrize(
    ("make", "words", "options"),
    [
        (make, words, one)
        for make, bad in ((rb.SoftMarginSVM, BAD_OPTIONS), (rb.HardMarginSVM, BAD_HARD_OPTIONS))
        for words, all in bad.items()
        for one in all
    ],
)
def test_options_that_cannot_be_used_are_refused(make, words, options):
    with pytest.raises(rb.InputError, match=words):
        make(**options).fit(*mixed())


def test_rows_too_long_to_multiply_are_refused():
    X, y = mixed()
    with pytest.raises(rb.InputError, match="too long"):
        rb.SoftMarginSVM().fit(X * 1e160, y)


def test_a_tie_is_i_do_not_know():
    X, y = mixed()
    learner = rb.SoftMarginSVM(intercept="none").fit(X, y)
    assert learner.predict_one(np.zeros(4)) is None
    assert learner.predict(np.zeros((1, 4))).tolist() == [0]
    X, y = mixed(classes=3)
    learner = rb.SoftMarginSVM(intercept="none").fit(X, np.array(list("cab"))[y])
    assert learner.predict_one({}) is None
    assert learner.predict(np.zeros((1, 4))).tolist() == ["a"]
    assert learner.predict_one(X[0]) == learner.predict(X[:1])[0]


# ---- the hard margin


def wide_street():
    X, y, w = rb.make_separable(150, 3, margin=0.2, seed=2)
    return X, y, w


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_hard_margin_is_enclosed_and_attained(intercept):
    X, y, _ = wide_street()
    learner = rb.HardMarginSVM(intercept, lift=2.0).fit(X, y)
    lower, upper = learner.margin_
    assert 0 < lower <= upper <= lower * (1 + 1e-6)
    assert rb.verify(learner.certificate_, X, y).ok
    scores = learner.decision_function(X) * y
    assert scores.min() == pytest.approx(1, rel=1e-9)
    np.testing.assert_allclose(scores[learner.support_], 1, rtol=1e-5)
    lifted = learner.intercept_[0] / 2.0 if intercept == "lifted" else 0.0
    assert 1 / np.hypot(np.linalg.norm(learner.coef_), lifted) == pytest.approx(lower, rel=1e-9)
    soft = rb.SoftMarginSVM(lam=1e-7, intercept=intercept, lift=2.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(soft.coef_, learner.coef_, rtol=1e-3, atol=1e-3)


def test_through_the_origin_the_planted_margin_is_found():
    X, y, w = wide_street()
    learner = rb.HardMarginSVM("none").fit(X, y)
    assert learner.margin_[0] == pytest.approx(0.2, rel=1e-9)
    np.testing.assert_allclose(learner.coef_[0] * learner.margin_[0], w, atol=1e-6)


@pytest.mark.parametrize(
    ("X", "y", "verdict"),
    [
        ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0], "inseparable"),
        ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1], "weakly separable"),
    ],
)
def test_inseparable_data_are_answered_with_the_proof(X, y, verdict):
    with pytest.raises(
        rb.InseparableError, match=rf"separates the classes 0 and 1.*{verdict}"
    ) as found:
        rb.HardMarginSVM().fit(X, y)
    error = found.value
    assert isinstance(error, rb.InputError)
    assert error.separation.verdict == verdict
    assert rb.verify(error.certificate, X, y).ok
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.certificate == error.certificate


def test_a_hard_margin_that_is_not_decided_says_why(monkeypatch):
    def refused(*arguments):
        raise Refused("for no reason")

    monkeypatch.setattr("rosenblatt.decide.separability.verdicts.proven", refused)
    with pytest.raises(rb.InputError, match=r"not decided .* proof that was found did not pass"):
        rb.HardMarginSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_only_an_interrupt_interrupts_a_hard_margin(monkeypatch):
    monkeypatch.setattr("rosenblatt.decide.separability.question.Question.decide", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rb.HardMarginSVM(max_seconds=60).fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_a_hard_margin_decides_once_and_in_its_time(monkeypatch):
    decide, clocks = Question.decide, []

    def counted(problem):
        clocks.append(problem.clock.seconds)
        return decide(problem)

    monkeypatch.setattr(Question, "decide", counted)
    with pytest.raises(rb.InseparableError):
        rb.HardMarginSVM(max_seconds=60).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert clocks == [60]


def test_a_hard_margin_that_has_no_time_is_not_decided():
    X, y, _ = wide_street()
    with pytest.raises(rb.InputError, match=r"not decided .* time limit was reached; allow"):
        rb.HardMarginSVM(max_seconds=1e-9).fit(X, y)


# ---- export


@pytest.mark.parametrize("names", [("ham", "spam"), (0, 1, 2), ("a", "b", "c")])
def test_exports_give_the_same_answers(names, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = mixed(classes=len(names))
    learner = rb.SoftMarginSVM().fit(X, np.array(names)[y])
    rb.export(learner, tmp_path / "m.json")
    parts = json.loads((tmp_path / "m.json").read_text())
    scores = X @ np.array(parts["coef"]).T + parts["intercept"]
    places = (scores > 0).astype(int) if len(names) == 2 else scores.argmax(axis=1)
    assert [parts["classes"][k] for k in places] == learner.predict(X).tolist()
    rb.export(learner, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession((tmp_path / "m.onnx").read_bytes())
    labels, found = session.run(None, {"rows": X.astype(np.float32)})
    expected = learner.decision_function(X)
    expected = np.stack([-expected, expected], axis=1) if len(names) == 2 else expected
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    top = np.sort(expected, axis=1)
    sure = top[:, -1] - top[:, -2] > 1e-3  # the rest may turn when weights are rounded to float32
    assert labels[sure].tolist() == learner.predict(X)[sure].tolist()


# ---- the shell


@pytest.fixture
def folder(folder):
    for classes in (2, 3):
        X, y = mixed(classes=classes)
        np.savez(f"{classes}.npz", X=X, y=np.array(["a", "b", "c"])[y])
    X, y, _ = wide_street()
    np.savez("street.npz", X=X, y=y)
    return folder


@pytest.mark.parametrize("classes", [2, 3])
def test_fit_predict_evaluate_info_and_export_work_together(shell, facts, classes):
    data = f"{classes}.npz"
    found = facts("fit", data, "-m", "m", "--learner", "svm", "--C", "0.5")
    with np.load(data) as file:
        learner = rb.SoftMarginSVM(C=0.5).fit(file["X"], file["y"])
        X, y = file["X"], file["y"]
    assert (found["lam"], found["converged"]) == (1.0, True)
    assert found["gap"] <= 1e-3
    assert found["classes"] == ["a", "b", "c"][:classes]
    assert found["objective"] == pytest.approx(learner.objective_, rel=2e-3)
    assert found["support_vectors"] == rb.load("m").support_.size
    assert found["training_error"] == pytest.approx(1 - rb.load("m").score(X, y))
    assert shell("predict", "m", data)[1].split() == rb.load("m").predict(X).tolist()
    counted = facts("evaluate", "m", data)
    assert (counted["wrong"], counted["unsure"]) == (found["misclassified"], 0)
    line = json.loads(shell("predict", "m", data, "--json")[1].splitlines()[0])
    assert ("score" in line) == (classes == 2)
    assert classes == 2 or set(line["scores"]) == {"a", "b", "c"}
    assert shell("predict", "m", data, "--csv")[1].startswith("label,score")
    described = facts("info", "m")
    assert described["learner"] == "SoftMarginSVM"
    assert described["objective"] == found["objective"]
    assert described["options"]["C"] == 0.5
    assert "SoftMarginSVM" in shell("info", "m")[1]
    assert shell("export", "m", "m.json")[0] == 0
    assert "Converged: no hyperplane" in " ".join(
        shell("fit", data, "-m", "m", "--learner", "svm")[1].split()
    )


def test_every_option_of_an_svm_reaches_it(shell):
    words = "--lam 0.25 --intercept lifted --lift 3 --tol 1e-5 --multiclass one-vs-rest --balanced"
    limits = "--max-iter 500 --max-seconds 60 --seed 3"
    options = ["fit", "3.npz", "-m", "m", "--learner", "svm", *words.split(), *limits.split()]
    assert shell(*options)[0] == 0
    assert rb.load("m").get_params() == {
        **{"lam": 0.25, "C": None, "intercept": "lifted", "fit_intercept": None, "lift": 3.0},
        **{"tol": 1e-5, "multiclass": "one-vs-rest", "class_weight": "balanced"},
        **{"warm_start": False, "max_iter": 500, "max_seconds": 60.0, "random_state": 3},
    }
    assert shell("fit", "3.npz", "-m", "m", "--learner", "svm", "--no-intercept")[0] == 0
    assert rb.load("m").intercept == "none"
    assert not rb.load("m").intercept_.any()


def test_the_hard_margin_is_found_or_refused_with_the_reason(shell, facts):
    found = facts("fit", "street.npz", "-m", "m", "--learner", "hard-svm")
    assert 0 < found["margin_from"] <= found["margin_to"]
    assert found["training_error"] == 0.0
    assert facts("info", "m")["learner"] == "HardMarginSVM"
    assert facts("evaluate", "m", "street.npz")["wrong"] == 0
    status, shown, complaint = shell("fit", "2.npz", "-m", "no", "--learner", "hard-svm")
    assert (status, shown) == (1, "")
    assert "no hyperplane separates" in complaint


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--learner svm --order cycle", "--order goes with --learner perceptron"),
        ("--learner svm --eta0 1", "--eta0 goes with"),
        ("--learner svm --renormalize", "--renormalize goes with"),
        ("--learner svm --stream", "needs its rows again"),
        ("--learner svm --lam 1 --C 1", "say the same thing"),
        ("--learner svm --lam 0", "lam must be a positive"),
        ("--learner svm --C -1", "C must be a positive"),
        ("--learner svm --intercept some", "'free', 'lifted', 'none'"),
        ("--learner svm --intercept free --no-intercept", "exclude each other"),
        ("--learner svm --intercept lifted --lift radius", "lift must be a positive finite number"),
        ("--learner svm --multiclass pairs", "'joint', 'one-vs-rest'"),
        ("--learner hard-svm --lam 1", "--lam goes with --learner svm, not with hard-svm"),
        (
            "--learner hard-svm --balanced",
            "--balanced goes with --learner perceptron, online-svm or svm",
        ),
        ("--lam 1", "--lam goes with --learner svm, not with perceptron"),
        ("--C 1", "--C goes with"),
        ("--tol 1", "--tol goes with --learner svm or hard-svm"),
        ("--multiclass joint", "--multiclass goes with"),
        ("--intercept free", "is lifted"),
    ],
)
def test_options_of_the_other_learner_are_refused(shell, options, words, tmp_path):
    status, shown, complaint = shell("fit", "2.npz", "-m", "m", *options.split())
    assert (status, shown) == (2, "")
    assert words in complaint
    assert not (tmp_path / "m").exists()


def test_a_fit_that_does_not_meet_its_gap_says_so_and_is_kept(facts):
    X, y = mixed(n=300, d=600)
    np.savez("wide.npz", X=X, y=y)
    options = ["--learner", "svm", "--lam", "1e-7", "--tol", "1e-12", "--max-iter", "1"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = facts("fit", "wide.npz", "-m", "m", *options)
    assert found["converged"] is False
    assert "above --tol 1e-12; raise --max-iter or --max-seconds" in found["stop"]
    assert rb.load("m").gap_ == found["gap"]
