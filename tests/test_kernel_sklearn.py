"""The kernel perceptron among scikit-learn's own: its checks, and the tools people use it with."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt as rb

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LEARNERS = [
    rb.KernelPerceptron(),
    rb.KernelPerceptron(rb.Gaussian(0.5), output="voted"),
    rb.KernelPerceptron("polynomial:2:1", output="averaged"),
    rb.KernelPerceptron("gaussian:0.5", order="shuffle", random_state=0),
    rb.KernelPerceptron("gaussian:0.5", budget=50, forget="project"),
    rb.KernelPerceptron("polynomial:2:1", gram_bytes=0, max_iter=20),
]


@parametrize_with_checks(
    LEARNERS, expected_failed_checks=lambda learner: learner.expected_failed_checks()
)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


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
