"""What learners take, and how they refuse what they cannot use: one sentence, nothing changed."""

import enum
import resource
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import rosenblatt as rb
from learners import FIRST, STREAMS, assert_same, every, refused, separable, snapshot, three_classes
from rosenblatt.matrices import as_matrix
from rosenblatt.online.perceptron import present

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, y = separable()
COLUMNS = list("abcdef")
every_learner = every(FIRST)  # what is taken does not depend on options
every_stream = every([case for case in FIRST if case in STREAMS])


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def read_only_csr(X):
    matrix = sparse.csr_matrix(X)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


def unaligned(X):
    packed = np.empty(X.shape, [("pad", "i1"), ("value", "f8")])
    packed["value"] = X
    return packed["value"]


FORMS = {
    "Fortran order": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "negative strides": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda X: X.astype(">f8"),
    "unaligned": unaligned,
    "read-only": read_only,
    "read-only CSR": read_only_csr,
    "CSR of strided data": lambda X: sparse.csr_matrix(
        (np.repeat(X.ravel(), 2)[::2], np.tile(np.arange(6), len(X)), np.arange(len(X) + 1) * 6)
    ),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "list of arrays": list,
    "tuples": lambda X: tuple(map(tuple, X)),
    "memoryview": memoryview,
}

FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=COLUMNS),
    "pandas float32": lambda X: pd.DataFrame(X.astype(np.float32), columns=COLUMNS),
    "pandas on Arrow": lambda X: pd.DataFrame(X, columns=COLUMNS).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": lambda X: pl.DataFrame(X, schema=COLUMNS),
    "pyarrow": lambda X: pa.table({name: X[:, j] for j, name in enumerate(COLUMNS)}),
}


# ---- forms of tables


@every_learner
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_any_table_of_numbers_is_taken(case, form):
    plain = case().fit(X, y)
    assert_same(case().fit(form(X), y), plain, X, rtol=case.rtol)
    np.testing.assert_allclose(plain.decision_function(form(X)), plain.decision_function(X))


@pytest.mark.parametrize("kind", ["i1", "u1", "i4", "u8", "i8", "?", object])
def test_whole_numbers_are_taken(kind):
    rows = (X * 64).astype(int) % 2 if kind == "?" else (X * 16).astype(int) + 32
    labels = np.where(rows @ [1, 2, 3, 4, 5, 6] > np.median(rows @ [1, 2, 3, 4, 5, 6]), 1, -1)
    whole, plain = rb.Perceptron(max_iter=50), rb.Perceptron(max_iter=50)
    assert_same(
        whole.fit(rows.astype(kind), labels), plain.fit(rows.astype(float), labels), rows / 1
    )
    sparse_rows = sparse.csr_matrix(rows.astype("i8" if kind is object else kind))
    assert_same(whole.fit(sparse_rows, labels), plain, rows / 1)


@pytest.mark.parametrize("form", [read_only, read_only_csr])
def test_a_read_only_input_needs_no_loop_to_be_compiled_anew(form):
    writable = X if form is read_only else sparse.csr_matrix(X)
    rb.Perceptron().fit(writable, y).predict(writable)
    compiled = len(present.signatures)
    rb.Perceptron().fit(form(X), y).predict(form(X))
    assert len(present.signatures) == compiled


# ---- frames


@every_learner
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_are_taken_with_their_column_names(case, frame, tmp_path):
    learner, plain = case().fit(frame(X), y), case().fit(X, y)
    rb.save(learner, tmp_path / "model")
    for one in (learner, rb.load(tmp_path / "model")):
        assert one.feature_names_in_.tolist() == COLUMNS
        scores, rtol = plain.decision_function(X), case.rtol
        np.testing.assert_allclose(one.decision_function(frame(X)), scores, rtol, atol=rtol)
        answers = [one.predict_one(dict(zip(COLUMNS, x, strict=True))) for x in X]
        assert answers == [plain.predict_one(x) for x in X]


@every_stream
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_rows_with_names_continue_a_frame(case, frame):
    many = case().partial_fit(frame(X), y, classes=[-1, 1])
    one = case().partial_fit(frame(X[:1]), y[:1], classes=[-1, 1])
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        named = dict(zip(COLUMNS, x.tolist(), strict=True))
        one.learn_one(dict(reversed(named.items())), label)
    assert_same(one, many, frame(X))


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_columns_in_another_order_are_refused(frame):
    learner = rb.Perceptron().fit(frame(X), y)
    other = pd.DataFrame(X, columns=COLUMNS)[COLUMNS[::-1]]
    for act in (learner.predict, lambda X: learner.partial_fit(X, y)):
        with refused("feature names should match"):
            act(other)
    with refused("'z'"):
        learner.predict_one({"z": 1.0})
    with refused("'z'"):
        learner.learn_one({"a": 1.0, "z": 1.0}, 1)


def test_a_named_row_is_read_by_its_names():
    frame = pd.DataFrame(X, columns=COLUMNS)
    learner = rb.Perceptron().fit(frame, y)
    for i, label in enumerate(learner.predict(frame)):
        assert learner.predict_one(frame.iloc[i]) == label
        assert learner.predict_one(frame.iloc[i][COLUMNS[::-1]]) == label


LABEL_SERIES = {
    "pandas": pd.Series,
    "pandas categories": lambda y: pd.Series(y).astype("category"),
    "pandas index": lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "chunks": lambda y: pa.chunked_array([y[:7], y[7:]]),
    "list": lambda y: y.tolist(),
    "tuple": lambda y: tuple(y.tolist()),
    "int8": lambda y: y.astype(np.int8),
    "float": lambda y: y.astype(float),
}


@pytest.mark.parametrize("form", LABEL_SERIES.values(), ids=LABEL_SERIES)
def test_labels_may_come_in_any_column(form):
    learner = rb.Perceptron().fit(X, form(y))
    assert_same(learner, rb.Perceptron().fit(X, y), X)
    assert learner.score(X, y) == 1.0


class Answer(enum.Enum):
    NO = "no"
    YES = "yes"


LABELS = [
    (0, 1), (False, True), ("ham", "spam"), ("é", "日本"), (b"ham", b"spam"), ((1, 2), (3, 4)),
    ((), (1,)), (np.str_("ham"), np.str_("spam")), (frozenset({1}), frozenset({2})),
    (Answer.NO, Answer.YES), (0.5, 1.5), (True, "true"), (-1, 2**70), (np.int8(-3), np.int8(5)),
    ("ham", "later", "spam"), ((), (1, 2), (3,)), (b"a", b"b", b"c"), (-2.0, 1.0, 5.0),
]  # fmt: skip


IN_JSON = (bool, int, float, str, np.str_, np.int8)
NOT_IN_FILES = (frozenset, Answer)


def named(names, signs):
    return [names[sign + 1 if len(names) > 2 else int(sign > 0)] for sign in signs]


@every_learner
@pytest.mark.parametrize("names", LABELS, ids=str)
def test_labels_are_of_any_type(case, names, tmp_path):
    X, y = separable() if len(names) == 2 else three_classes()
    labels = named(names, y)
    if case.learner is rb.HardMarginSVM and len(names) > 2:
        with refused("Only binary classification"):
            case().fit(X, labels)
        return
    if case.learner is rb.HardMarginSVM and not all(type(name) in IN_JSON for name in names):
        with pytest.raises(rb.CertificateError, match=r"which JSON cannot hold|told apart"):
            case().fit(X, labels)  # its proof names the classes
        return
    learner, plain = case(labels=names).fit(X, labels), case().fit(X, y)
    assert learner.classes_.tolist() == list(names)
    scores = plain.decision_function(X)
    assert learner.decision_function(X).tolist() == scores.tolist()
    assert learner.predict(X).tolist() == named(names, plain.predict(X))
    assert learner.score(X, labels) == plain.score(X, y)
    known = X[scores != 0] if len(names) == 2 else X
    signs = [plain.predict_one(x) for x in known]
    assert [learner.predict_one(x) for x in known] == named(names, signs)
    if isinstance(names[0], NOT_IN_FILES):
        with refused("cannot be saved"):
            rb.save(learner, tmp_path / "model")
    else:
        rb.save(learner, tmp_path / "model")
        assert rb.load(tmp_path / "model").predict(X).tolist() == learner.predict(X).tolist()
        assert rb.load(tmp_path / "model").classes_.tolist() == list(names)
    if case in STREAMS:
        assert learner.learn_one(X[0], labels[0]) == plain.learn_one(X[0], y[0])


# ---- copies and memory


def large(kind, layout):
    """Make 100 MiB of rows that one mistake for each class is enough to learn."""
    n = 100 * 2**20 // (np.dtype(kind).itemsize * 256)
    labels = np.where(np.arange(n) % 2, 1, -1)
    if layout == "dense":
        rows = np.full((n, 256), 0.5, kind)
        rows[:, 0] = 40 * labels
        return rows, labels
    values = np.full((n, 256), 0.5, kind)
    values[:, 0] = 40 * labels
    columns = np.tile(np.arange(256, dtype=np.int32), n)
    return sparse.csr_matrix((values.ravel(), columns, np.arange(n + 1) * 256)), labels


def resident_peak(action):
    """Give the bytes by which the peak of resident memory exceeds what was resident before."""
    status = Path("/proc/self/status")
    if not status.exists():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        action()
        growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        return growth * (1 if sys.platform == "darwin" else 1024)
    Path("/proc/self/clear_refs").write_text("5")  # begin a new peak
    sizes = dict(line.split(":", 1) for line in status.read_text().splitlines())
    action()
    peaks = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return 1024 * (int(peaks["VmHWM"].split()[0]) - int(sizes["VmRSS"].split()[0]))


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_ready_rows_are_used_where_they_lie(kind, layout):
    rows, labels = large(kind, layout)
    few, size = rows[:100], 100 * 2**20
    assert as_matrix(rows) is rows
    learner = rb.Perceptron()

    def fit_and_predict():
        assert (learner.fit(rows, labels).predict(few) == labels[:100]).all()

    fit_and_predict()  # compiles
    assert resident_peak(fit_and_predict) < 0.05 * size
    tracemalloc.start()
    fit_and_predict()
    assert tracemalloc.get_traced_memory()[1] < 0.05 * size
    tracemalloc.stop()


@pytest.mark.parametrize("act", ["fit", "partial_fit", "predict"])
def test_a_large_copy_is_announced_at_the_line_that_caused_it(act):
    rows = np.ones((2**18, 32), np.int8)
    labels = rows[:, 0] = np.where(np.arange(2**18) % 2, 1, -1)
    learner = rb.Perceptron().fit(rows[:100], labels[:100])
    with pytest.warns(rb.LargeCopyWarning, match="64 MiB.*float32 or float64.*CSR") as caught:
        learner.predict(rows) if act == "predict" else getattr(learner, act)(rows, labels)
    assert [warning.filename for warning in caught] == [__file__]


LEARNERS = (rb.Perceptron, rb.OnlineSVM, rb.SoftMarginSVM, rb.HardMarginSVM)


@pytest.mark.parametrize(
    "use", [rb.separate, *(lambda X, y, each=each: each().fit(X, y) for each in LEARNERS)]
)
def test_fortran_order_is_copied_with_a_warning_that_says_how_much(use, monkeypatch):
    monkeypatch.setattr("rosenblatt.matrices.LARGE_COPY", 2**20)
    rows, labels, _ = rb.make_separable(2**15, 4, margin=0.1, seed=0)
    with pytest.warns(rb.LargeCopyWarning, match="float64 array of 1 MiB.*pass a C-order"):
        use(np.asfortranarray(rows), labels)


def test_a_small_copy_is_not_announced():
    rb.Perceptron().fit((X * 64).astype(int), y)


# ---- after a refusal


def fitted_on_a_frame(case):
    learner = case().fit(pd.DataFrame(X, columns=COLUMNS), y)
    if case in STREAMS:
        learner.learn_one(dict(zip(COLUMNS, X[0], strict=True)), int(y[0]))
    return learner


BROKEN = np.where(np.arange(X.size).reshape(X.shape) == 100, np.nan, X)
REFUSED_FITS = {
    "NaN": lambda learner: learner.fit(BROKEN[:, :5], y),
    "too large": lambda learner: learner.fit(
        np.array([[1e300], [-1e300], [1e300]]), ["a", "b", "b"]
    ),
    "one class": lambda learner: learner.fit(X[:, :4], np.ones(len(X))),
    "labels missing": lambda learner: learner.fit(X, y[1:]),
    "text": lambda learner: learner.fit([["x"], ["y"]], ["a", "b"]),
    "option": lambda learner: learner.set_params(fit_intercept="word").fit(X[:, :5], y),
}


@every_learner
@pytest.mark.parametrize("fit", REFUSED_FITS.values(), ids=REFUSED_FITS)
def test_a_refused_fit_leaves_what_was_learned(case, fit):
    learner = fitted_on_a_frame(case)
    before = snapshot(learner, pd.DataFrame(X, columns=COLUMNS))
    with pytest.raises(rb.InputError):
        fit(learner)
    assert snapshot(learner, pd.DataFrame(X, columns=COLUMNS)) == before
