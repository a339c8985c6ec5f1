"""What is no label is refused everywhere, in one sentence: None, NaN, NaT, pandas.NA."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb

X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.5], [0.5, 2.0]])
MISSING = [None, math.nan, np.float32("nan"), pd.NA, pd.NaT]
LEARNERS = [rb.Perceptron, rb.KernelPerceptron, rb.SoftMarginSVM, rb.HardMarginSVM]
STREAMS = [rb.Perceptron, rb.KernelPerceptron]
NO_LABEL = r"y contains (None|nan|.*NA.*|NaT|.*nan.*) \(row 1\); every row needs a label"


@pytest.mark.parametrize("missing", MISSING, ids=repr)
@pytest.mark.parametrize("learner", LEARNERS)
def test_no_learner_takes_a_missing_label_for_a_class(learner, missing):
    with pytest.raises(rb.InputError, match=NO_LABEL):
        learner().fit(X, ["a", missing, "b", "a"])


@pytest.mark.parametrize("missing", MISSING, ids=repr)
@pytest.mark.parametrize("question", [rb.separate, rb.max_margin, rb.mistake_bound])
def test_no_question_takes_a_missing_label_for_a_class(question, missing):
    with pytest.raises(rb.InputError, match=NO_LABEL):
        question(X, ["a", missing, "a", missing])


@pytest.mark.parametrize("missing", MISSING, ids=repr)
@pytest.mark.parametrize("learner", STREAMS)
def test_no_stream_takes_a_missing_label_for_a_class(learner, missing):
    learner = learner().partial_fit(X, ["a", "b", "a", "b"])
    with pytest.raises(rb.InputError, match=NO_LABEL):
        learner.partial_fit(X, ["a", missing, "b", "a"])
    with pytest.raises(rb.InputError, match="every row needs a label"):
        learner.learn_one(X[0], missing)
    assert learner.classes_.tolist() == ["a", "b"]


def test_frames_and_arrays_with_missing_labels_are_refused():
    whole = pd.Series([1, pd.NA, 2, 1], dtype="Int64")
    dates = np.array(["2026-01-01", "NaT", "2026-01-02", "NaT"], "M8[D]")
    for labels in (whole, pd.Series(["a", None, "b", "a"]), dates):
        with pytest.raises(rb.InputError, match="every row needs a label"):
            rb.Perceptron().fit(X, labels)


@pytest.mark.parametrize("learner", STREAMS)
def test_measurements_are_refused_in_every_stream(learner):
    with pytest.raises(rb.InputError, match="Unknown label type: continuous"):
        learner().partial_fit(X, [0.5, 1.25, 2.75, 0.5])
    one = learner()
    one.learn_one(X[0], 0.5)
    one.learn_one(X[1], 1.25)
    with pytest.raises(rb.InputError, match="Unknown label type: continuous"):
        one.learn_one(X[2], 2.75)
    assert one.classes_.tolist() == [0.5, 1.25]
