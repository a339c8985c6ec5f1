"""What type checkers and editors know of public names: `make check` runs mypy over this file."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np

import rosenblatt as rb


def test_learners_have_types() -> None:
    X, y, _ = rb.make_separable(20, 3, margin=0.1)
    learner = rb.Perceptron(order="shuffle", random_state=0)
    assert_type(learner.fit(X, y), rb.Perceptron)
    assert_type(learner.partial_fit(X, y), rb.Perceptron)
    assert_type(learner.run_, rb.Run)
    assert_type(learner.run_.stop, rb.Stop)
    assert_type(learner.coef_, np.ndarray)
    assert_type(learner.predict(X), np.ndarray)
    assert_type(learner.score(X, y), float)
    assert_type(learner.learn_one(X[0], y[0]), bool)
    svm = rb.SoftMarginSVM(C=1.0).fit(X, y)
    assert_type(svm, rb.SoftMarginSVM)
    assert_type(svm.gap_, float)
    assert_type(svm.path(X, y, [1.0]), list[rb.SoftMarginSVM])
    assert_type(rb.HardMarginSVM().fit(X, y).margin_, tuple[float, float])
    assert_type(rb.KernelPerceptron(rb.Gaussian(1.0)).fit(X, y).counts_, np.ndarray)


def test_answers_have_types(tmp_path: Path) -> None:
    X, y, w = rb.make_separable(20, 3, margin=0.1)
    assert_type(rb.separate(X, y), rb.Separation)
    assert_type(rb.separate(X, y, many="pairs"), dict[Any, rb.Separation])
    assert_type(rb.separate(X, y).coef, np.ndarray | None)
    assert_type(rb.max_margin(X, y).upper, float)
    assert_type(rb.mistake_bound(X, y, w), rb.MistakeBound)
    assert_type(rb.solve(X, y).verdict, str)
    assert_type(rb.verify(rb.separate(X, y).certificate, X, y).ok, bool)
    assert_type(rb.info(X, y).radius, float)
    (tmp_path / "rows.svm").write_text("+1 1:2\n-1 2:1\n")
    assert_type(rb.read(tmp_path / "rows.svm", zero_based=False), rb.Examples)
