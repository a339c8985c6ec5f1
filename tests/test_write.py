"""Writing: what is read back is what was written, and a failure leaves the old file."""

import csv
import io
import json
import os
import stat
import sys
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

import rosenblatt as rb
from rosenblatt.data import write
from rosenblatt.data.files import replacing
from rosenblatt.data.reading import Reading
from rosenblatt.data.tables import read_table
from rosenblatt.data.write import prediction_pieces, write_csv, write_parquet, write_svmlight

TEXTS = st.text(st.characters(codec="utf-8"))
quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def matrices(draw):
    kind = draw(st.sampled_from([np.float32, np.float64]))
    bits = 8 * np.dtype(kind).itemsize
    floats = st.floats(allow_nan=False, allow_infinity=False, width=bits) | st.just(0.0)
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    return draw(arrays.arrays(kind, shape, elements=floats))


@quick
@given(X=matrices(), zero_based=st.booleans(), data=st.data())
def test_svmlight_text_comes_back_bit_by_bit(tmp_path, X, zero_based, data):
    numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    y = np.array(data.draw(st.lists(numbers, min_size=len(X), max_size=len(X))))
    rows = sparse.csr_matrix(X) if data.draw(st.booleans()) else X
    write_svmlight(tmp_path / "a.svm", rb.Examples(rows, y), zero_based=zero_based)
    options = {"zero_based": zero_based, "width": X.shape[1], "dtype": X.dtype}
    found = rb.read(tmp_path / "a.svm", **options)
    assert found.X.dtype == X.dtype
    assert np.array_equal(found.X.toarray(), X)
    assert np.array_equal(found.y, y)


def test_values_have_the_fewest_digits_that_read_back(tmp_path):
    X = np.array([[0.1, 1.0, 1e22, 0.0]], np.float32)
    write_svmlight(tmp_path / "a", rb.Examples(X, [1]))
    assert (tmp_path / "a").read_text() == "1 1:0.1 2:1 3:1e+22\n"
    # Read through a double, the shortest word of this float32 becomes its neighbour.
    X = np.array([[7.038530691851209e-26]], np.float32)
    write_svmlight(tmp_path / "a", rb.Examples(X, [1]))
    assert rb.read(tmp_path / "a").X[0, 0] == X[0, 0]


def test_stored_zeros_of_sparse_rows_are_kept(tmp_path):
    X = sparse.csr_matrix((np.float32([0, 2]), [1, 2], [0, 2]), shape=(1, 3))
    write_svmlight(tmp_path / "a", rb.Examples(X, [0.5]), zero_based=True)
    assert (tmp_path / "a").read_text() == "0.5 1:0 2:2\n"


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["spam", "ham"], ["spam", "ham"]),
        ([True, False], ["1", "0"]),
        ([1.0, -1.0], ["1", "-1"]),
        ([b"a", b"b"], ["a", "b"]),
        (np.array(["u", 3], object), ["u", "3"]),
    ],
)
def test_labels_may_be_words(tmp_path, labels, words):
    write_svmlight(tmp_path / "a", rb.Examples(np.eye(2), np.array(labels)))
    assert [line.split()[0] for line in (tmp_path / "a").read_text().splitlines()] == words


def test_pieces_make_no_difference(tmp_path, monkeypatch):
    X = sparse.random(200, 30, 0.3, format="csr", rng=0, dtype=np.float32)
    write_svmlight(tmp_path / "a", rb.Examples(X, np.arange(200)))
    monkeypatch.setattr(write, "PIECE_ENTRIES", 50)
    write_svmlight(tmp_path / "b", rb.Examples(X, np.arange(200)))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.eye(2), None, "needs a label on every line"),
        (np.eye(2), [1], "X has 2 rows but y has 1 labels"),
        (np.empty((0, 2)), [], "there are no examples to write"),
        (np.array([[np.nan]]), [1], "X contains NaN or infinity"),
        (np.eye(1), [np.inf], "y contains NaN or infinity"),
        (np.eye(1), ["a b"], "the label 'a b' is not a word without blanks"),
    ],
)
def test_what_svmlight_text_cannot_hold_is_refused_and_the_old_file_stays(tmp_path, X, y, words):
    (tmp_path / "a").write_text("old")
    with pytest.raises(rb.InputError, match=words):
        write_svmlight(tmp_path / "a", rb.Examples(X, y if y is None else np.array(y)))
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@quick
@given(X=matrices(), words=st.booleans(), dense=st.booleans())
def test_tables_come_back_bit_by_bit(tmp_path, kind, X, words, dense):
    pytest.importorskip("polars")
    y = np.array([f'a "b", {i % 2}' if words else i % 2 for i in range(len(X))])
    rows = X if dense else sparse.csr_matrix(X)
    {"csv": write_csv, "parquet": write_parquet}[kind](tmp_path / f"a.{kind}", rb.Examples(rows, y))
    found = rb.read(tmp_path / f"a.{kind}", dtype=X.dtype)
    assert np.array_equal(found.X, X)
    assert found.y.tolist() == y.tolist()
    assert found.names == tuple(f"x{j}" for j in range(X.shape[1]))


def test_tables_keep_names_and_may_lack_labels(tmp_path, monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setattr(write, "PIECE_ENTRIES", 1)
    found = read_table(b"a,b,y\n" + b"1,2,0\n" * 50, Reading("csv"))
    write_csv(tmp_path / "a.csv", found)
    assert (tmp_path / "a.csv").read_text() == "a,b,y\n" + "1.0,2.0,0\n" * 50
    write_csv(tmp_path / "a.csv", rb.Examples(found.X, None))
    assert (tmp_path / "a.csv").read_text().startswith("x0,x1\n1.0,2.0\n")
    write_csv(tmp_path / "a.csv", rb.Examples(found.X, found.y, names=("label", "y")))
    assert (tmp_path / "a.csv").read_text().startswith("label,y,class\n1.0,2.0,0\n")


def test_tables_that_cannot_be_written_say_so(tmp_path, monkeypatch):
    X = sparse.csr_matrix((2**20, 2**20), dtype=np.float32)
    with pytest.raises(rb.InputError, match="filled up with zeros, the sparse rows take 4,096"):
        write_parquet(tmp_path / "a", rb.Examples(X, np.zeros(2**20)))
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(rb.MissingExtraError, match="polars is not installed"):
        write_csv(tmp_path / "a", rb.Examples(np.eye(2), np.arange(2)))
    assert os.listdir(tmp_path) == []


LABELS, SCORES = np.array(["a", "b,c"]), np.array([0.1, -2.0])
MANY = np.array([[0.1, 1.0], [2.0, 1e-300]])


def write_predictions(path, *arguments, **options):
    pieces = prediction_pieces(*arguments, **options)
    with replacing(path) as file:
        file.writelines(pieces)


def written(path, *arguments, **options):
    write_predictions(path, *arguments, **options)
    return path.read_text()


def test_predictions_are_text_csv_or_json_lines(tmp_path):
    path = tmp_path / "a"
    assert written(path, np.array([1, -1])) == "1\n-1\n"
    assert written(path, LABELS, SCORES) == "a\t0.1\nb,c\t-2.0\n"
    assert written(path, LABELS, SCORES, format="csv") == 'label,score\na,0.1\n"b,c",-2.0\n'
    assert [
        json.loads(line) for line in written(path, LABELS, SCORES, format="jsonl").splitlines()
    ] == [{"label": "a", "score": 0.1}, {"label": "b,c", "score": -2.0}]


def test_scores_of_several_classes_are_named(tmp_path):
    path = tmp_path / "a"
    assert written(path, LABELS, MANY) == "a\t0.1\t1.0\nb,c\t2.0\t1e-300\n"
    text = written(path, LABELS, MANY, format="csv", classes=["a", "b,c"])
    assert next(csv.reader(text.splitlines())) == ["label", "score_a", "score_b,c"]
    line = written(path, LABELS, MANY, format="jsonl", classes=["a", "b,c"]).splitlines()[1]
    assert json.loads(line) == {"label": "b,c", "scores": {"a": 2.0, "b,c": 1e-300}}


@quick
@given(st.lists(st.tuples(TEXTS, st.floats(allow_nan=False)), min_size=1, max_size=5))
@example([("\r", 0.0)])
def test_any_label_survives_csv_and_json_lines(rows):
    labels, scores = np.array([label for label, _ in rows], object), [score for _, score in rows]
    text = b"".join(prediction_pieces(labels, scores, format="jsonl")).decode()
    facts = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
    assert [(fact["label"], fact["score"]) for fact in facts] == rows
    text = b"".join(prediction_pieces(labels, scores, format="csv")).decode()
    _, *table = csv.reader(io.StringIO(text, newline=""))
    assert [(label, float(score)) for label, score in table] == rows


def test_predictions_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(rb.InputError, match="format must be text, csv or jsonl"):
        write_predictions(tmp_path / "a", LABELS, format="xml")
    with pytest.raises(rb.InputError, match="there are 2 labels, but scores of shape"):
        write_predictions(tmp_path / "a", LABELS, [1.0])
    with pytest.raises(rb.InputError, match="there are 1 classes, but 2 columns of scores"):
        write_predictions(tmp_path / "a", LABELS, MANY, classes=["a"])
    with pytest.raises(rb.InputError, match="does not fit on a line; give --csv or --json"):
        write_predictions(tmp_path / "a", np.array(["a\nb"]))
    assert os.listdir(tmp_path) == []


def fail(path, problem):
    with replacing(path) as file:
        file.write(b"new")
        raise problem


def test_a_failing_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(rb.InputError, match=r"cannot write .*a: No space left on device"):
        fail(path, OSError(28, "No space left on device"))
    with pytest.raises(KeyboardInterrupt):
        fail(path, KeyboardInterrupt())
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_places_that_cannot_be_written_to_are_refused(tmp_path):
    with pytest.raises(rb.InputError, match="is a folder; give the name of a file"):
        write_predictions(tmp_path, LABELS)
    with pytest.raises(rb.InputError, match=r"cannot write .*: No such file or directory"):
        write_predictions(tmp_path / "none" / "a", LABELS)
    with pytest.raises(rb.InputError, match=r"cannot write .*: File name too long"):
        write_predictions(tmp_path / ("a" * 300), LABELS)
    with pytest.raises(rb.InputError, match="a name holds no NUL"):
        write_predictions("a\0b", LABELS)


def test_the_mode_of_a_file_is_kept_and_long_names_work(tmp_path):
    path = tmp_path / ("a" * 250)
    path.touch(mode=0o600)
    write_predictions(path, LABELS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_predictions(tmp_path / "pipe", np.array([1, 2]))
    reader.join()
    assert found == [b"1\n2\n"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
