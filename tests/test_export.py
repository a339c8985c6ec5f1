"""Hyperplanes for other programs give the answers of the learner."""

import json

import numpy as np
import pytest

import rosenblatt as rb


@pytest.fixture
def problem():
    X, y, _ = rb.make_separable(200, 6, margin=0.02, seed=3)
    return X.astype(np.float32), y


def test_json_reads_back_exactly(problem, tmp_path):
    X, y = problem
    learner = rb.Perceptron(output="averaged").fit(X, y)
    rb.export(learner, tmp_path / "m.json")
    parts = json.loads((tmp_path / "m.json").read_text())
    assert parts["coef"] == learner.coef_[0].tolist()
    assert parts["intercept"] == learner.intercept_[0]
    positive = X @ np.array(parts["coef"]) + parts["intercept"] > 0
    assert np.array(parts["classes"])[positive.astype(int)].tolist() == learner.predict(X).tolist()


@pytest.mark.parametrize("names", [(-1, 1), ("ham", "spam"), (False, True)])
@pytest.mark.parametrize("options", [{}, {"output": "averaged"}, {"fit_intercept": False}], ids=str)
def test_onnx_gives_the_same_answers(names, options, problem, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = problem
    learner = rb.Perceptron(**options).fit(X, [names[int(sign > 0)] for sign in y])
    rb.export(learner, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession((tmp_path / "m.onnx").read_bytes())
    labels, scores = session.run(None, {"rows": X})
    expected = learner.decision_function(X)
    sure = np.abs(expected) > 1e-4  # the rest may turn when weights are rounded to float32
    assert sure.mean() > 0.99
    answers = [type(names[0])(label) for label in labels[sure].tolist()]
    assert answers == learner.predict(X)[sure].tolist()
    np.testing.assert_allclose(scores[:, 1], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scores[:, 0], -expected, rtol=1e-4, atol=1e-5)


def test_what_is_not_one_hyperplane_or_has_no_name_is_refused(problem, tmp_path):
    X, y = problem
    with pytest.raises(rb.InputError, match="not one hyperplane"):
        rb.export(rb.Perceptron(output="voted").fit(X, y), tmp_path / "m.json")
    with pytest.raises(rb.InputError, match=r"end its name in \.json or \.onnx"):
        rb.export(rb.Perceptron().fit(X, y), tmp_path / "m.pickle")
    with pytest.raises(rb.InputError, match="whole numbers or strings"):
        rb.export(rb.Perceptron().fit(X, y / 2), tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
