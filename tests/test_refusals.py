"""Input that cannot be used is refused in one sentence, and never changes what was learned."""

import math
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from learners import (
    FIRST,
    ONLINE,
    PERCEPTRONS,
    STREAMS,
    every,
    refused,
    separable,
    snapshot,
    unless_refused,
    without,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, y = separable()
every_learner, every_perceptron = every(FIRST), every(PERCEPTRONS)
every_online_learner, every_stream = every(ONLINE), every(STREAMS)


def with_entry(value):
    rows = X.copy()
    rows[3, 2] = value
    return rows


TABLES = {
    "no rows": (X[:0], "0 sample|0 rows|no rows"),
    "no rows, sparse": (sparse.csr_matrix((0, 6)), "0 sample|0 rows|no rows"),
    "no columns": (X[:, :0], "0 feature|0 columns|no columns"),
    "a vector": (X[0], "1D|one-dimensional|2D|rows and columns"),
    "a cube": (X[np.newaxis], "dim 3|three|3D|rows and columns"),
    "a number": (3.0, "scalar|table|rows"),
    "None": (None, "scalar|table|rows|None"),
    "text": (np.full(X.shape, "word"), "word"),
    "text in lists": ([[1, "word"], [2, "word"]], "word"),
    "a string": ("word", "word"),
    "lists of unequal length": ([[1, 2], [3]], "inhomogeneous|length"),
    "complex numbers": (X * 1j, "[Cc]omplex"),
    "NaN": (with_entry(np.nan), r"NaN \(row 3, column 2\)"),
    "infinity": (with_entry(np.inf), r"infinity \(row 3, column 2\)"),
    "minus infinity": (with_entry(-np.inf), r"infinity \(row 3, column 2\)"),
    "NaN in float32": (with_entry(np.nan).astype("f4"), r"NaN \(row 3, column 2\)"),
    "NaN in CSR": (sparse.csr_matrix(with_entry(np.nan)), r"NaN \(row 3, column 2\)"),
    "infinity in CSC": (sparse.csc_matrix(with_entry(np.inf)), r"infinity \(row 3, column 2\)"),
    "None in objects": (with_entry(np.nan).astype(object), r"NaN \(row 3, column 2\)"),
}


def labels_for(table):
    return y[: table.shape[0]] if hasattr(table, "shape") else y[:2]


@every_learner
def test_what_is_not_a_table_of_numbers_is_refused(case):
    learner = case().fit(X, y)
    before = snapshot(learner, X)
    for table, match in TABLES.values():
        labels = labels_for(table)
        with refused(match):
            case().fit(table, labels)
        with refused(match):
            learner.fit(table, labels)
        if case in STREAMS:
            with refused(match):
                learner.partial_fit(table, labels)
        with refused(match):
            learner.predict(table)
        assert snapshot(learner, X) == before


@every_stream
def test_a_refused_beginning_leaves_a_learner_that_has_seen_nothing(case):
    for table, match in TABLES.values():
        learner = case()
        with refused(match):
            learner.partial_fit(table, labels_for(table), classes=[-1, 1])
        assert set(vars(learner)) == set(vars(case()))


@every_learner
def test_rows_of_another_width_are_refused(case):
    learner = case().fit(X, y)
    before = snapshot(learner, X)
    for other in (X[:, :5], np.hstack([X, X]), sparse.csr_matrix(X[:, :5])):
        with refused("has (5|12) (features|columns)"):
            learner.predict(other)
        if case in STREAMS:
            with refused("has (5|12) (features|columns)"):
                learner.partial_fit(other, y)
    for row in (np.ones(7), np.ones(5), np.ones(5).tolist(), sparse.csr_matrix(np.ones(7))):
        if case in STREAMS:
            with refused("column|[57]"):
                learner.learn_one(row, 1)
        with refused("column|[57]"):
            learner.predict_one(row)
    assert snapshot(learner, X) == before


LABELS = {
    "missing": (None, "labels are missing"),
    "too few": (y[1:], "60 rows but y has 59 labels"),
    "one class": (np.ones(60, int), r"two classes, got 1 class \(1\)"),
    "measurements": (np.linspace(0.5, 9, 60), "Unknown label type: continuous"),
    "two columns": (np.stack([y, y], axis=1), r"one column, got an array of shape \(60, 2\)"),
    "NaN": (np.where(y > 0, 1.0, np.nan), "NaN"),
    "NaN objects": ([float("nan") if sign > 0 else "a" for sign in y], "NaN|nan"),
    "dicts": ([{}, {}] * 30, "hashable"),
    "a number": (7, "label|y "),
}


@every_learner
def test_labels_that_are_not_classes_are_refused(case):
    learner = case().fit(X, y)
    before = snapshot(learner, X)
    for labels, match in LABELS.values():
        with refused(match):
            learner.fit(X, labels)
        assert snapshot(learner, X) == before


def test_one_row_is_not_enough_to_fit_but_begins_a_stream():
    with refused("two classes, got 1 class"):
        rb.Perceptron().fit(X[:1], y[:1])
    assert rb.Perceptron().partial_fit(X[:1], y[:1]).run_.mistakes == 1


def test_rows_of_zeros_alone_end_at_the_limit_without_an_intercept():
    learner = rb.Perceptron(fit_intercept=False, max_iter=3).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert learner.run_.stop is rb.Stop.PASSES
    assert learner.run_.mistakes == 12
    assert learner.predict(np.zeros((1, 2))).tolist() == [0]


def test_a_limit_is_announced_at_the_line_that_called_fit():
    with pytest.warns(ConvergenceWarning, match=re.escape(rb.Stop.PASSES)) as caught:
        rb.Perceptron(max_iter=1).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]


WEIGHTS = {
    "negative": (np.full(60, -1.0), r"sample_weight has -1.0 \(row 0\).*from 0 on"),
    "NaN": (np.full(60, np.nan), "sample_weight has nan"),
    "infinity": (np.full(60, np.inf), "sample_weight has inf"),
    "too few": (np.ones(59), "one weight for each row"),
    "a column": (np.ones((60, 1)), "one weight for each row"),
    "words": (["much"] * 60, "array of numbers"),
    "none at all": (np.zeros(60), "zero for every row"),
    "none for a class": (y > 0, "every row of the class -1 has a sample_weight of 0"),
}


@every_learner
def test_weights_that_cannot_be_used_are_refused(case):
    learner = case().fit(X, y)
    before = snapshot(learner, X)
    for weights, match in WEIGHTS.values():
        with refused(match):
            learner.fit(X, y, weights)
        if "class" not in match:
            with refused(match):
                learner.score(X, y, weights)
        if case in STREAMS and "every row" not in match:
            with refused(match):
                learner.partial_fit(X, y, sample_weight=weights)
        assert snapshot(learner, X) == before
    for one in (-1.0, np.nan, np.inf, [1.0, 2.0], "heavy") if case in STREAMS else ():
        with refused("sample_weight of one row is a finite number from 0"):
            learner.learn_one(X[0], 1, one)
        assert snapshot(learner, X) == before


MISSING = [None, math.nan, np.float32("nan"), pd.NA, pd.NaT]
NO_LABEL = r"y contains (None|nan|.*NA.*|NaT|.*nan.*) \(row 1\); every row needs a label"


@every_learner
@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_no_learner_takes_a_missing_label_for_a_class(case, missing):
    labels = np.where(y > 0, "a", "b").astype(object)
    learner = case().fit(X, labels)
    before = snapshot(learner, X)
    for learn in (learner.fit, learner.partial_fit) if case in STREAMS else (learner.fit,):
        with refused(NO_LABEL):
            learn(X, [labels[0], missing, *labels[2:]])
    if case in STREAMS:
        with refused("every row needs a label"):
            learner.learn_one(X[0], missing)
    assert snapshot(learner, X) == before


@pytest.mark.parametrize("missing", MISSING, ids=repr)
@pytest.mark.parametrize("question", [rb.separate, rb.max_margin, rb.mistake_bound])
def test_no_question_takes_a_missing_label_for_a_class(question, missing):
    with refused(NO_LABEL):
        question(X[:4], ["a", missing, "a", missing])


def test_frames_and_arrays_with_missing_labels_are_refused():
    whole = pd.Series([1, pd.NA, 2, 1], dtype="Int64")
    dates = np.array(["2026-01-01", "NaT", "2026-01-02", "NaT"], "M8[D]")
    for labels in (whole, pd.Series(["a", None, "b", "a"]), dates):
        with refused("every row needs a label"):
            rb.Perceptron().fit(X[:4], labels)


@every([case for case in FIRST if case in STREAMS])
def test_measurements_are_refused_in_every_stream(case):
    with refused("Unknown label type: continuous"):
        case().partial_fit(X[:4], [0.5, 1.25, 2.75, 0.5])
    one = case()
    one.learn_one(X[0], 0.5)
    one.learn_one(X[1], 1.25)
    with refused("Unknown label type: continuous"):
        one.learn_one(X[2], 2.75)
    assert one.classes_.tolist() == [0.5, 1.25]


# ---- single rows

ROWS = {
    "NaN": ({0: np.nan}, "NaN"),
    "infinity": ([np.inf, 0, 0, 0, 0, 0], "infinity"),
    "NaN in a pair": (([1], [np.nan]), "NaN"),
    "NaN in a sparse row": (sparse.csr_matrix([[np.nan, 0, 0, 0, 0, 0]]), "NaN"),
    "negative column": ({-1: 1.0}, "-1"),
    "a column too far": ({2**40: 1.0}, "1099511627776"),
    "a column beyond 64 bits": ({2**70: 1.0}, "64 bits|column"),
    "a name": ({"size": 1.0}, "'size'"),
    "half a column": (([0.5], [1.0]), "whole numbers"),
    "a word": ({0: "word"}, "'word'"),
    "a string": ("word", "not a number"),
    "None": (None, "one row|not a number"),
    "two rows": (X[:2], "one row"),
    "two sparse rows": (sparse.csr_matrix(X[:2]), "one row"),
    "an unequal pair": (([0, 1], [1.0]), "equal length"),
}


@every_learner
def test_a_row_that_cannot_be_used_changes_nothing(case):
    learner = case().fit(X, y)
    before = snapshot(learner, X)
    for row, match in ROWS.values():
        if case in STREAMS:
            with refused(match):
                learner.learn_one(row, 1)
        with refused(match):
            learner.predict_one(row)
        assert snapshot(learner, X) == before


# Renormalised weights stay small, so nothing is too large.
@every(without("renormalize", "initial", among=PERCEPTRONS))
def test_a_row_whose_score_is_too_large_changes_nothing(case):
    learner = case(initial=np.full(6, 8.0)).fit(X, y)
    before = snapshot(learner, X)
    with refused("too large"):
        learner.learn_one(np.copysign(1e308, learner.coef_[0]), 1)
    assert snapshot(learner, X) == before


@pytest.mark.parametrize(("row", "match"), ROWS.values(), ids=ROWS)
def test_a_row_that_cannot_be_used_teaches_no_class(row, match):
    learner = rb.Perceptron()
    if match != "'size'":  # a name, with which a stream may begin
        with refused(match):
            learner.learn_one(row, "typo")
        assert set(vars(learner)) == set(vars(rb.Perceptron()))
    learner.learn_one({0: 1.0}, "ham")
    with refused(match):
        learner.learn_one(row, "typo")
    assert learner.classes_.tolist() == ["ham"]
    learner.learn_one({0: -1.0}, "spam")
    assert learner.classes_.tolist() == ["ham", "spam"]


# ---- numbers at the ends of the range


@every_perceptron
@pytest.mark.parametrize("scale", [1e150, 1e200, 1e300])
def test_huge_values_are_learned_or_refused(case, scale):
    learner = case(fit_intercept=False, max_iter=50)
    if not unless_refused("too large", lambda: learner.fit(X * scale, y)):
        return
    assert np.isfinite(learner.coef_).all()
    assert learner.coef_.any()
    scores = unless_refused("too large", lambda: learner.decision_function(X * scale))
    assert scores is None or np.isfinite(scores).all()
    if learner.output == "last":
        assert scores is not None
        assert not learner.run_.converged or learner.score(X * scale, y) == 1
        assert not learner.renormalize or np.linalg.norm(learner.coef_) == pytest.approx(1)


@every_perceptron
def test_huge_rows_are_scored_or_refused(case):
    learner = case(fit_intercept=False).fit(X * 1e100, y)
    for scale in (1e150, 1e300):
        scores = unless_refused("too large", lambda s=scale: learner.decision_function(X * s))
        if scores is not None:
            assert np.sign(scores).tolist() == np.sign(learner.decision_function(X)).tolist()


@every([case for case in PERCEPTRONS if case.streams])
@pytest.mark.parametrize("act", ["learn_one", "partial_fit"])
def test_weights_never_overflow_silently(case, act):
    learner = case(eta0=1e300).partial_fit([[1.0]], [1], classes=[-1, 1])
    learn = learner.learn_one if act == "learn_one" else learner.partial_fit
    for x, label in [(1e300, 1), (-1e300, 1), (1e300, -1), (-1e300, -1)]:
        example = ([x], label) if act == "learn_one" else ([[x]], [label])
        unless_refused("too large", lambda example=example: learn(*example))
        assert np.isfinite(learner.coef_).all()


@every_stream
def test_a_batch_that_becomes_too_large_is_refused_as_a_whole(case):
    learner = case(fit_intercept=False).partial_fit(X, y, classes=[-1, 1])
    before = snapshot(learner, X)
    rows = np.vstack([-X, X[:6] * 1e200, -X[:6] * 1e200])
    labels = np.concatenate([y, y[:6], y[:6]])
    if case.options.get("renormalize"):
        rows[-1] = np.nan
    with refused("too large|NaN"):
        learner.partial_fit(rows, labels)
    assert snapshot(learner, X) == before


@every_perceptron
def test_subnormal_values_are_taken(case):
    learner = case(max_iter=2).fit(X * 64 * 5e-324, y)
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.decision_function(X)).all()


def test_subnormal_values_are_not_flushed_to_zero():
    """All scores of such rows are 0, so one pass adds up every row."""
    tiny = X * 64 * 5e-324
    learner = rb.Perceptron(fit_intercept=False).partial_fit(tiny, y)
    assert learner.coef_[0].tolist() == (y @ tiny).tolist()


# ---- broken sparse matrices; in a process of their own, since they might take it down

BREAKING = """
import warnings
import numpy as np
from scipy import sparse
import rosenblatt as rb

warnings.simplefilter("ignore")
X, y, w = rb.make_separable(40, 5, 0.05, seed=1)

def broken(change, form):
    matrix = form(X)
    exec(change, {"X": matrix, "np": np})
    return matrix

learners = [rb.Perceptron(**options).fit(form(X), y)
            for form in (np.asarray, sparse.csr_matrix) for options in OPTIONS]
for form, change in ((form, change) for form in CHANGES for change in CHANGES[form]):
    for learner in learners:
        for act in (
            lambda X: rb.Perceptron(**learner.get_params()).fit(X, y),
            lambda X: rb.Perceptron(**learner.get_params()).partial_fit(X, y),
            lambda X: learner.partial_fit(X, y),
            lambda X: learner.predict(X),
            lambda X: learner.bound(X, y, w),
        ):
            print(form, change, learner, flush=True)
            try:
                act(broken(change, getattr(sparse, form)))
            except rb.InputError as refusal:
                print("refused:", refusal, flush=True)
            else:
                raise SystemExit("was not refused")
"""

CHANGES = {
    "csr_matrix": [
        *("X.indices[0] = 10**6", "X.indices[7] = 5", "X.indices[0] = -1", "X.indices[0] = -10**9"),
        *("X.indptr[-1] = 10**8", "X.indptr[3] = 10**8", "X.indptr[3] = -10**8"),
        *("X.indptr[0] = 2", "X.indptr[0] = -10**6", "X.indptr = X.indptr[:5].copy()"),
        *("X.indptr = np.append(X.indptr, 10**6)", "X.data = X.data[:10].copy()"),
        "X.indices = X.indices[:10].copy()",
    ],
    "csc_matrix": ["X.indices[0] = 10**6", "X.indices[0] = -1", "X.indptr[3] = 10**8"],
    "coo_matrix": ["X.col[0] = 10**6", "X.row[0] = -1"],
}


def test_a_broken_sparse_matrix_is_refused():
    options = [{}, {"lift": "radius"}, {"output": "voted"}]
    script = f"OPTIONS, CHANGES = {options}, {CHANGES}\n" + BREAKING
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, (
        f"exit status {done.returncode} after\n{done.stdout[-300:]}" + (done.stderr[-500:])
    )
