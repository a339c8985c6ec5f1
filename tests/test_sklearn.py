"""The learners among scikit-learn's own: its checks, and the tools that people use them with."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt as rb
from amount import LONG

# The data of scikit-learn's checks and its sample data are mostly not separable.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# One set of options for each path that rows take through a learner.
CHECKED = [
    rb.Perceptron(),
    rb.Perceptron(output="voted", lift="radius", class_weight="balanced"),
    rb.OnlineSVM(),
    rb.KernelPerceptron(),
    rb.SoftMarginSVM(),
    rb.SoftMarginSVM(intercept="lifted", lift=5.0, C=10.0, class_weight="balanced"),
    rb.HardMarginSVM(),
]
MORE = [
    rb.Perceptron(output="averaged", order="shuffle", random_state=0),
    rb.KernelPerceptron("gaussian:0.5", budget=50, forget="project"),
    rb.SoftMarginSVM(intercept="none", tol=1e-10, multiclass="one-vs-rest"),
    rb.OnlineSVM(window=1, output="averaged", max_iter=5, class_weight="balanced"),
    rb.Perceptron(margin=0.5),
    rb.Perceptron(fit_intercept=False),
    rb.Perceptron(lift=3.0, eta0=0.5, initial="random", random_state=0),
    rb.Perceptron(order="random", random_state=0, initial="unit"),
    rb.Perceptron(order="worst"),
    rb.Perceptron(order="first"),
    rb.Perceptron(renormalize=True, output="averaged"),
    rb.Perceptron(renormalize=True, output="voted"),
    rb.Perceptron(tie="positive"),
    rb.KernelPerceptron(rb.Gaussian(0.5), output="voted", order="shuffle", random_state=0),
    rb.KernelPerceptron("polynomial:2:1", output="averaged", gram_bytes=0, max_iter=20),
    rb.SoftMarginSVM(tol=1e-10, intercept="lifted", multiclass="one-vs-rest"),
]


@parametrize_with_checks(
    CHECKED + MORE if LONG else CHECKED,
    expected_failed_checks=lambda learner: learner.expected_failed_checks(),
)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@pytest.mark.parametrize("output", ["last", "averaged", "voted"])
def test_the_heavier_of_two_classes_is_answered_almost_everywhere(output):
    X, y = make_blobs(centers=2, random_state=0, cluster_std=20)
    learner = rb.Perceptron(output=output, class_weight={0: 1000, 1: 0.0001}).fit(X[:50], y[:50])
    assert (learner.predict(X[50:]) == 0).mean() > 0.87


# ---- pipelines and searches


@pytest.fixture(scope="module")
def tumours():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def test_a_pipeline_hands_over_frames(tumours):
    X, y = tumours
    pipeline = make_pipeline(StandardScaler(), rb.Perceptron(output="averaged"))
    pipeline.set_output(transform="pandas").fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == X.columns.tolist()
    assert pipeline.score(X, y) > 0.95
    row = pipeline[:-1].transform(X.iloc[[0]]).iloc[0].to_dict()
    assert pipeline[-1].predict_one(row) == pipeline.predict(X.iloc[[0]])[0]


def test_a_grid_search_tries_kernels():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), rb.KernelPerceptron(max_iter=20))
    grid = {
        "kernelperceptron__kernel": ["linear", rb.Polynomial(3, 1.0), "gaussian:0.5"],
        "kernelperceptron__output": ["last", "averaged", "voted"],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.93


def test_a_gram_matrix_is_cut_in_both_directions_by_cross_validation():
    X, y = load_iris(return_X_y=True)
    kernel = rb.Gaussian(0.5)
    gram = cross_val_score(rb.KernelPerceptron("precomputed", max_iter=20), kernel(X, X), y, cv=4)
    rows = cross_val_score(rb.KernelPerceptron(kernel, max_iter=20), X, y, cv=4)
    np.testing.assert_allclose(gram, rows)
    assert rows.mean() > 0.9


def test_cross_validation_in_two_processes_gives_the_same_scores(tumours):
    pipeline = make_pipeline(StandardScaler(), rb.Perceptron(order="shuffle", random_state=0))
    alone = cross_val_score(pipeline, *tumours, cv=4, scoring="roc_auc")
    together = cross_val_score(pipeline, *tumours, cv=4, scoring="roc_auc", n_jobs=2)
    assert alone.min() > 0.9
    assert together.tolist() == alone.tolist()


def test_scores_can_be_calibrated_to_probabilities(tumours):
    X, y = tumours
    learner = make_pipeline(StandardScaler(), rb.Perceptron(output="averaged"))
    calibrated = CalibratedClassifierCV(learner, cv=3).fit(X, y)
    probabilities = calibrated.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert calibrated.score(X, y) > 0.95
    scores = cross_val_predict(learner, X, y, cv=3, method="decision_function")
    assert ((scores > 0) == y).mean() > 0.95


@pytest.mark.parametrize("many", [OneVsRestClassifier, OneVsOneClassifier])
def test_two_classes_are_enough_for_three(many):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    learner = many(make_pipeline(StandardScaler(), rb.Perceptron(output="averaged")))
    assert learner.fit(X, names).score(X, names) > 0.85


def test_ensembles_and_selectors_take_the_learners(tumours):
    X, y = tumours
    scaled = StandardScaler().fit_transform(X)
    bag = BaggingClassifier(rb.Perceptron(), n_estimators=5, random_state=0).fit(scaled, y)
    assert bag.score(scaled, y) > 0.95
    chosen = SelectFromModel(rb.Perceptron(output="averaged"), max_features=10).fit(scaled, y)
    assert 0 < chosen.get_support().sum() <= 10
    learner = rb.Perceptron(output="averaged").fit(scaled, y)
    importance = permutation_importance(learner, scaled, y, n_repeats=2, random_state=0)
    assert importance.importances_mean.max() > 0


# ---- text

TEXTS = [
    "win money now, claim your free prize",
    "free money, claim the prize today",
    "cheap pills, win a free trip now",
    "meeting moved to monday, see the agenda",
    "please review the attached report before the meeting",
    "lunch on monday with the report team",
]
KINDS = ["spam"] * 3 + ["ham"] * 3


@pytest.mark.parametrize(
    "vectorizer", [CountVectorizer(), CountVectorizer(dtype=np.float32), HashingVectorizer()]
)
def test_text_is_learned_as_sparse_rows(vectorizer):
    pipeline = make_pipeline(vectorizer, rb.Perceptron()).fit(TEXTS, KINDS)
    assert pipeline.predict(TEXTS).tolist() == KINDS
    assert pipeline.predict(["claim your free money", "agenda for the meeting"]).tolist() == [
        "spam",
        "ham",
    ]
    assert pipeline[-1].run_.converged
