"""Tables of all kinds: their numbers are taken, and what is no number is refused by its column."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import rosenblatt as rb
from learners import LEARNERS, refused
from rosenblatt.exact.numbers import exact_matrix
from rosenblatt.matrices import as_matrix

DAY = dt.datetime(2020, 1, 1)
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": lambda data: pl.DataFrame(data, strict=False),
    "pyarrow": pa.table,
}
every_learner = pytest.mark.parametrize("kind", LEARNERS)
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
both_edges = pytest.mark.parametrize("edge", [as_matrix, exact_matrix])

REFUSED = {
    "text": (["red", "blue"], "holds text \\(red in row 0\\); encode"),
    "one word": ([None, "blue"], "holds text \\(blue in row 1\\); encode"),
    "dates": ([DAY.date()] * 2, "holds dates or times \\(2020-01-01 in row 0\\); give numbers"),
    "moments": ([DAY] * 2, "holds dates or times \\(2020-01-01.*\\); give numbers"),
    "hours": ([dt.time(1)] * 2, "holds dates or times \\(01:00:00 in row 0\\); give numbers"),
    "durations": ([dt.timedelta(1)] * 2, "holds durations .*; give numbers"),
    "lists": (
        [[1], [2]],
        "holds values that are not numbers \\(\\[1\\] in row 0\\); give numbers \\(an argument",
    ),
    "structs": (
        [{"a": 1}] * 2,
        "holds values that are not numbers .*; give numbers \\(an argument",
    ),
}
TAKEN = {
    "booleans": ([True, False], [1, 0]),
    "whole numbers": ([3, 4], [3, 4]),
    "decimals": ([Decimal("1.5"), Decimal(2)], [1.5, 2]),
}
MISSING = {"numbers": [1.5, None], "booleans": [True, None], "whole": [1, None], "all": [None] * 2}


@both_edges
@every_frame
@pytest.mark.parametrize(("column", "words"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("beside", [{"size": [1.0, 2.0]}, {}], ids=["beside numbers", "alone"])
def test_a_column_of_anything_but_numbers_is_refused_by_name(frame, beside, column, words, edge):
    with refused(f"^column 'it is' of X {words}.*, or leave the column out$"):
        edge(frame({**beside, "it is": column}))


@both_edges
@every_frame
@pytest.mark.parametrize(("column", "numbers"), TAKEN.values(), ids=TAKEN)
def test_columns_of_any_numbers_are_taken(frame, column, numbers, edge):
    table = edge(frame({"size": [1.0, 2.0], "it": column}))
    assert table.tolist() == [[1, numbers[0]], [2, numbers[1]]]


@both_edges
@every_frame
@pytest.mark.parametrize("column", MISSING.values(), ids=MISSING)
def test_what_is_missing_is_refused_by_the_name_of_its_column(frame, column, edge):
    with refused("row [01], column 'it'"):
        edge(frame({"size": [1.0, 2.0], "it": column}))


@both_edges
@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.array([1, None], "Int64"), "row 1, column 'it'"),
        (pd.array([True, None], "boolean"), "row 1, column 'it'"),
        (pd.Series([1, pd.NA], dtype=object), "row 1, column 'it'"),
        (pd.Categorical(["a", "b"]), "column 'it' of X holds text"),
        (pd.Series([DAY] * 2).dt.tz_localize("UTC"), "column 'it' of X holds dates"),
        (pd.period_range("2020", periods=2, freq="M"), "column 'it' of X holds dates"),
        (pd.interval_range(0, 2), "column 'it' of X holds values"),
        (["3", "x"], "column 'it' of X holds text \\(x in row 1\\)"),
    ],
)
def test_the_types_of_pandas_are_refused_by_name(column, words, edge):
    with refused(words):
        edge(pd.DataFrame({"size": [1.0, 2.0], "it": column}))


@both_edges
@pytest.mark.parametrize(
    "column",
    [
        pd.array([3, 4], "Int64"),
        pd.array([3, 4], "float64[pyarrow]"),
        pd.Categorical([3, 4]),
        pd.Series([3, Fraction(4)], dtype=object),
        pd.arrays.SparseArray([3.0, 4.0]),
    ],
)
def test_numbers_in_the_types_of_pandas_are_taken(column, edge):
    assert edge(pd.DataFrame({"it": column})).tolist() == [[3], [4]]
    assert edge(pd.DataFrame({"size": [1.0, 2.0], "it": column})).tolist() == [[1, 3], [2, 4]]


@every_frame
def test_whole_numbers_beside_floats_stay_exact_where_exactness_is_promised(frame):
    big = 2**53 + 1
    assert exact_matrix(frame({"a": [big, 0], "b": [0.5, 1.0]})).tolist() == [[big, 0.5], [0, 1.0]]


@pytest.mark.parametrize("call", [rb.separate, rb.max_margin, rb.mistake_bound, rb.info])
def test_functions_name_the_column_of_a_frame(call):
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [np.inf, 1.0]})
    with refused("infinity \\(row 0, column 'b'\\)"):
        call(frame, [0, 1])


@every_learner
def test_learners_name_the_column_of_a_frame(kind):
    learner = kind()
    fine = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    broken = fine.assign(b=[np.nan, 1.0])
    learner.fit(fine, [0, 1])
    for act in (lambda X: learner.fit(X, [0, 1]), learner.predict, learner.decision_function):
        with refused("NaN \\(row 0, column 'b'\\)"):
            act(broken)
    if hasattr(learner, "partial_fit"):
        with refused("NaN \\(row 0, column 'b'\\)"):
            learner.partial_fit(broken, [0, 1])


def test_names_that_were_read_beside_an_array_are_told_too():
    X, y = rb.Examples(np.array([[0.0, 1.0], [np.nan, 1.0]]), [0, 1], ("a", "b"))
    for act in (rb.Perceptron().fit, rb.SoftMarginSVM().fit, rb.separate):
        with refused("NaN \\(row 1, column 'a'\\)"):
            act(X, y)
    X[1, 0] = 2.0
    figure = rb.plot_regions(rb.Perceptron().fit(X, y), X, y)
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("a", "b")


@both_edges
@pytest.mark.parametrize(
    ("X", "words"),
    [
        (pl.LazyFrame({"a": [1.0]}), "X is a LazyFrame, .*; give X.collect\\(\\)"),
        (np.array([["2020-01-01"]], "M8[D]"), "column 0 of X holds dates"),
        (np.array([[1, DAY]], object), "column 1 of X holds dates"),
        (np.zeros(2, [("a", "f8")]), "X is a structured array; give numpy.lib.recfunctions"),
        ({"a": [1, 2]}, "X is a dict; give a table"),
        ([{"a": 1}, {"a": 2}], "X is a list of dicts; give a table"),
        ("data.csv", "X is text, 'data.csv'; to use a file, read it first: X, y = rosenblatt.read"),
        ((row for row in [[1, 2]]), "X is a generator, .*; give list\\(X\\)"),
        (None, "X is None; give an array"),
        ({1, 2}, "X is a set; give an array"),
        ([[1, 2], [3]], "row 0 has 2 numbers, row 1 has 1; give as many for each"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence_that_says_what_to_give(X, words, edge):
    with refused(words):
        edge(X)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([1.0, 2.0], "X has the shape \\(2,\\). Reshape your data: X.reshape\\(-1, 1\\)"),
        (pd.Series([1.0]), "X has the shape \\(1,\\). Reshape your data"),
        (pa.array([1.0]), "X has the shape \\(1,\\). Reshape your data"),
        (5, "X has the shape \\(\\). Reshape your data"),
        (pd.DataFrame(), "0 sample\\(s\\) .*; give at least one row and one column"),
        (pl.DataFrame({"a": []}), "0 sample\\(s\\) .*; give at least one row and one column"),
        (pd.DataFrame(index=[0]), "0 feature\\(s\\) .*; give at least one row and one column"),
        ([[], []], "0 feature\\(s\\) .*; give at least one row and one column"),
        (np.zeros((2, 3, 4)), "dim 3.*give X.reshape\\(2, -1\\)"),
        ([["a", 1]], "column 0 of X holds text \\(a in row 0\\)"),
        ([[1, DAY]], "column 1 of X holds dates"),
    ],
)
def test_a_wrong_shape_or_entry_is_refused_on_one_line(X, words):
    with refused(words) as refusal:
        as_matrix(X)
    assert "\n" not in str(refusal.value)


@both_edges
def test_masked_entries_are_missing(edge):
    masked = np.ma.masked_values([[1.0, 2.0], [3.0, 4.0]], 2.0)
    assert np.isnan(edge(masked)).tolist() == [[False, True], [False, False]]
    assert edge(np.ma.array([[1.0, 2.0]])).tolist() == [[1, 2]]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@every_learner
def test_a_numpy_matrix_is_an_array_to_every_learner(kind):
    learner = kind()
    X, y = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 2.0]]), [0, 1, 1]
    plain = learner.fit(X, y).decision_function(X).tolist()
    assert learner.fit(np.matrix(X), y).decision_function(np.matrix(X)).tolist() == plain


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_numpy_matrix_is_an_array_to_every_function():
    X, y = np.matrix([[0.0, 0.0], [1.0, 2.0], [2.0, 2.0]]), [0, 1, 1]
    found = rb.separate(X, y)
    assert found.verdict == "separable"
    assert rb.verify(found.certificate, X, y).ok
    assert rb.max_margin(X, y).verdict == "separable"
    assert rb.mistake_bound(X, y).value > 0
    assert rb.solve(X[1:]).verdict == "feasible"
    assert rb.PolynomialFeatures(2).fit_transform(X).shape == (3, 3)
    assert rb.info(X, y).rows == 3


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("made", [sparse.csr_array, sparse.csr_matrix])
@both_edges
def test_sparse_matrices_of_every_format_are_taken(kind, made, edge):
    X = np.array([[0.0, 1.5], [2.0, 0.0]])
    assert edge(made(X).asformat(kind)).toarray().tolist() == X.tolist()


# ---- labels


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.ma.masked_equal([0, 1, 1], 1), "y is masked in row 1; every row needs a label"),
        ({0: "a", 1: "b", 2: "a"}, "labels must be a list or an array, got {0: 'a'"),
        ({0, 1, 2}, "labels must be a list or an array, got {0, 1, 2}"),
        ("aab", "labels must be a list or an array, got 'aab'"),
        (pl.LazyFrame({"y": [0, 1, 1]}), "got a LazyFrame; give y.collect\\(\\)"),
        (sparse.csr_array([[0], [1], [1]]), "got a csr_array; give y.toarray\\(\\)"),
        (np.eye(3), "shape \\(3, 3\\); if each row marks its class, give y.argmax\\(axis=1\\)"),
    ],
)
@pytest.mark.parametrize("call", [rb.Perceptron().fit, rb.SoftMarginSVM().fit, rb.separate])
def test_what_is_no_list_of_labels_is_refused(labels, words, call):
    with refused(words):
        call([[0.0], [1.0], [2.0]], labels)


# ---- what else newcomers give


def test_rows_and_labels_in_one_are_refused():
    examples = rb.Examples(np.eye(2), [0, 1])
    with refused("X is a pair of rows and labels, Examples; give both, as in fit\\(\\*examples\\)"):
        rb.Perceptron().fit(examples, [0, 1])


@pytest.mark.parametrize("learner", [rb.Perceptron, rb.SoftMarginSVM])
def test_weights_of_classes_of_another_kind_are_refused(learner):
    with refused("class_weight must be None, 'balanced' or a dict .*, got \\[1, 2\\]"):
        learner(class_weight=[1, 2]).fit(np.eye(2), [0, 1])


def test_columns_whose_names_are_partly_numbers_are_refused():
    frame = pd.DataFrame(np.eye(2), columns=["a", 1])
    with refused("X.columns = X.columns.astype\\(str\\)"):
        rb.Perceptron().fit(frame, [0, 1])
    with refused("X.columns = X.columns.astype\\(str\\)"):
        rb.Perceptron().fit(np.eye(2), [0, 1]).predict(frame)


@every_frame
def test_a_table_of_documents_is_refused_since_its_columns_would_be_hashed(frame):
    with refused("documents must be one column of texts, got a .*; give that column .* X\\['t'\\]"):
        rb.TextHasher().transform(frame({"t": ["a b", "c"]}))


def test_an_answer_in_the_place_of_its_certificate_is_refused():
    X, y = [[0.0], [1.0]], [0, 1]
    with refused("got a Separation; give its certificate"):
        rb.verify(rb.separate(X, y), X, y)


@pytest.mark.parametrize("path", [None, pd.DataFrame({"a": [1]})])
def test_a_table_in_the_place_of_a_file_is_refused(path):
    with refused("read takes the name of a file, got a (NoneType|DataFrame); learners take tables"):
        rb.read(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 10.5}, "n >= 2.*got n=10.5"),
        ({"n": 1}, "n >= 2.*got n=1"),
        ({"d": 0}, "a planted problem needs .*d=0"),
        ({"margin": 0.0}, "a planted problem needs .*margin=0.0"),
        ({"margin": 1.0}, "a planted problem needs .*margin=1.0"),
        ({"margin": "wide"}, "margin between 0 and 1, got .*margin='wide'"),
        ({"seed": -1}, "seed must be None or a whole number from 0 on, got -1"),
        ({"seed": "x"}, "seed must be None or a whole number from 0 on, got 'x'"),
    ],
)
def test_problems_that_cannot_be_planted_are_refused(options, words):
    with refused(words):
        rb.make_separable(**{"n": 10, "d": 2, "margin": 0.1, **options})


def test_no_start_at_all_is_refused():
    with refused("initial must be one of 'zero', 'unit', 'random', got None"):
        rb.Perceptron(initial=None).fit(np.eye(2), [0, 1])


@pytest.mark.parametrize("names", [["b", "a"], ["a", "b", "c"]], ids=["order", "more"])
def test_columns_of_another_order_or_number_come_with_the_advice_that_mends_them(names):
    learner = rb.Perceptron().fit(
        pd.DataFrame([[0.0, 1.0], [2.0, 1.0]], columns=["a", "b"]), [0, 1]
    )
    other = pd.DataFrame([[2.0] * len(names)], columns=names)
    with refused(r"Give the columns of the fit: X\[list\(learner.feature_names_in_\)\]\.$"):
        learner.predict(other)
    assert learner.predict(other[list(learner.feature_names_in_)]).shape == (1,)


@every_learner
def test_another_frame_is_told_before_what_is_wrong_with_its_numbers(kind):
    learner = kind().fit(pd.DataFrame([[0.0, 1.0], [2.0, 1.0]], columns=["a", "b"]), [0, 1])
    with refused("Feature names unseen at fit time"):
        learner.predict(pd.DataFrame([[np.nan, "x"]], columns=["c", "d"]))


def test_the_advice_for_dicts_can_be_followed_where_names_are_missing():
    rows, labels = [{"a": 1.0}, {"b": 2.0, "a": -1.0}], [1, -1]
    with pytest.raises(rb.InputError, match=r"such as pandas\.DataFrame\(X\)\.fillna\(0\), or"):
        rb.Perceptron().fit(rows, labels)
    assert rb.Perceptron().fit(pd.DataFrame(rows).fillna(0), labels).run_.converged
