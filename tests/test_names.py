"""Names of columns travel with the data: from files and frames to learners and their files."""

import gc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rosenblatt as rb
from learners import LEARNERS
from rosenblatt import names
from rosenblatt.data.read import read_blocks
from rosenblatt.data.reading import Reading
from rosenblatt.data.store import write_store

pytest.importorskip("polars")
TABLE = "size,age,label\n1,0,no\n5,0,yes\n2,9,no\n6,1,yes\n"
TURNED = "age,size,label\n0,1,no\n0,5,yes\n9,2,no\n1,6,yes\n"
FILES = {"t.csv": TABLE, "turned.csv": TURNED}


@pytest.mark.parametrize("make", LEARNERS)
def test_a_learner_of_a_file_knows_its_columns_and_so_does_its_own_file(make, folder):
    X, y = rb.read("t.csv")
    learner = make().fit(X, y)
    assert learner.feature_names_in_.tolist() == ["size", "age"]
    rb.save(learner, "m")
    assert rb.load("m").feature_names_in_.tolist() == ["size", "age"]
    for fitted in (learner, rb.load("m")):
        turned, _ = rb.read("turned.csv")
        with pytest.raises(rb.InputError, match=r"column 0 of X is 'age', but .* 'size' there"):
            fitted.predict(turned)
        found = rb.read("turned.csv", like=fitted)
        assert fitted.score(*found) == 1
        assert found.names == ("size", "age")


def test_arrays_of_a_file_ask_for_no_names_but_frames_are_held_to_theirs(folder):
    pandas = pytest.importorskip("pandas")
    learner = rb.Perceptron().fit(*rb.read("t.csv"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert learner.predict(np.array([[5.0, 0.0]])) == ["yes"]
        assert learner.predict(pandas.DataFrame({"size": [5.0], "age": [0.0]})) == ["yes"]
    with pytest.raises(rb.InputError, match="must be in the same order"):
        learner.predict(pandas.DataFrame({"age": [0.0], "size": [5.0]}))
    framed = rb.Perceptron().fit(pandas.DataFrame({"a": [0.0, 1.0]}), [0, 1])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        framed.predict(np.array([[5.0]]))


def test_fitting_again_on_a_bare_array_forgets_the_names(folder):
    X, y = rb.read("t.csv")
    learner = rb.Perceptron().fit(X, y).fit(X.copy(), y)
    assert not hasattr(learner, "feature_names_in_")
    assert learner.columns_ is None


def test_names_are_those_of_the_very_array_and_die_with_it(folder):
    X, _ = rb.read("t.csv")
    key = id(X)
    assert names.names_of(X) == ("size", "age")
    assert names.names_of(X[:2]) is None
    del X
    gc.collect()
    assert key not in names._known


def test_stores_and_arrays_keep_names(folder):
    found = rb.read("t.csv")
    write_store("t.rows", read_blocks("t.csv"))
    np.savez("t.npz", X=found.X, y=found.y, names=found.names)
    np.savez("same.npz", X=found.X, y=found.y, feature_names=found.names)
    for name in ("t.rows", "t.npz", "same.npz"):
        assert rb.read(name).names == ("size", "age")
        assert [block.names for block in read_blocks(name, block_bytes=20)] == [("size", "age")] * 4
        assert rb.Perceptron().fit(*rb.read(name)).feature_names_in_.tolist() == ["size", "age"]
    assert rb.read("t.rows").columns == found.columns
    np.savez("bad.npz", X=found.X, y=found.y, names=["size"])
    with pytest.raises(rb.InputError, match="its names must be 2 strings"):
        rb.read("bad.npz")


def test_arrays_with_names_are_put_into_the_order_of_a_model(folder):
    learner = rb.Perceptron().fit(*rb.read("t.csv"))
    turned = rb.read("turned.csv")
    np.savez(
        "turned.npz", X=np.c_[turned.X, turned.X[:, 0]], y=turned.y, names=["age", "size", "z"]
    )
    with pytest.warns(rb.UnknownColumnsWarning, match="left out: 'z'"):
        assert learner.score(*rb.read("turned.npz", like=learner)) == 1
    np.savez("short.npz", X=turned.X[:, :1], y=turned.y, names=["age"])
    with pytest.raises(rb.InputError, match="has no column 'size'"):
        rb.read("short.npz", like=learner)
    np.savez("bare.npz", X=turned.X, y=turned.y)
    with pytest.raises(rb.InputError, match="by_place=True"):
        rb.read("bare.npz", like=learner)
    assert rb.read("bare.npz", like=learner, by_place=True).X.tolist() == turned.X.tolist()


def test_words_are_coded_as_the_model_has_them_also_from_a_store(folder):
    (folder / "a.csv").write_text("colour,x=1,label\nred,1,1\nblue,2,0\n")
    (folder / "b.csv").write_text("x=1,label,colour\n3,0,green\n4,1,red\n")
    learner = rb.Perceptron().fit(*rb.read("a.csv"))
    assert learner.feature_names_in_.tolist() == ["x=1", "colour=blue", "colour=red"]
    write_store("b.rows", read_blocks("b.csv"))
    rb.save(learner, "m")
    for name in ("b.csv", "b.rows"):
        for like in (learner, rb.load("m"), rb.read("a.csv")):
            found = rb.read(name, like=like).X.toarray().tolist()
            assert found == [[3, 0, 0], [4, 0, 1]]
    (folder / "c.csv").write_text("colour,label\nred,0\n")
    (folder / "d.csv").write_text("x=1,shape,label\n1,round,0\n")
    for name, column in (("c", "x=1"), ("d", "colour")):
        write_store(f"{name}.rows", read_blocks(f"{name}.csv"))
        for path in (f"{name}.csv", f"{name}.rows"):
            with pytest.raises(rb.InputError, match=f"has no column '{column}'"):
                rb.read(path, like=learner)


def test_a_table_of_unknown_words_alone_is_a_row_of_zeros(folder):
    (folder / "a.csv").write_text("colour,label\nred,1\nblue,0\n")
    (folder / "b.csv").write_text("colour\ngreen\nviolet\n")
    learner = rb.Perceptron().fit(*rb.read("a.csv"))
    X, y = rb.read("b.csv", like=learner, labels=False)
    assert X.toarray().tolist() == [[0, 0], [0, 0]]
    assert y is None
    assert len(learner.predict(X)) == 2


def test_hashed_columns_of_a_table_are_found_by_name(folder):
    (folder / "a.csv").write_text("n,colour,label\n1,red,1\n2,blue,0\n")
    (folder / "b.csv").write_text("colour,n\nblue,2\nred,1\n")
    options = {"categories": "hash", "columns": 16}
    learner = rb.Perceptron().fit(*rb.read("a.csv", **options))
    assert not hasattr(learner, "feature_names_in_")
    expected = rb.read("a.csv", **options).X.toarray()[::-1]
    assert np.array_equal(rb.read("b.csv", like=learner, labels=False).X.toarray(), expected)


def test_sparse_rows_may_be_wider_or_narrower_than_the_model(folder):
    (folder / "a.svm").write_text("1 1:1 3:1\n-1 2:1\n")
    (folder / "b.svm").write_text("1 1:1 5:2 9:1\n-1 2:1\n1 4:1\n")
    learner = rb.Perceptron().fit(*rb.read("a.svm"))
    with pytest.warns(
        rb.UnknownColumnsWarning, match="3 columns beyond the 3 .* 3 entries"
    ) as told:
        found = rb.read("b.svm", like=learner)
    assert len(told) == 1
    assert found.X.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    with pytest.warns(rb.UnknownColumnsWarning, match="3 columns beyond the 3") as told:
        blocks = list(read_blocks("b.svm", Reading(like=learner), block_bytes=8))
    assert len(told) == 1
    assert (sparse.vstack([block.X for block in blocks]) != found.X).nnz == 0
    (folder / "c.svm").write_text("1 1:1\n")
    assert rb.read("c.svm", like=learner).X.shape == (1, 3)


def test_text_is_hashed_as_the_model_s_was(folder):
    texts, labels = ["buy now", "see you"], ["spam", "ham"]
    hasher = rb.TextHasher(columns=64, characters=(2, 3))
    rb.save(rb.Perceptron().fit(hasher.transform(texts), labels), "m")
    (folder / "lines.txt").write_text("see you\nbuy now\n")
    learner = rb.load("m")
    X, y = rb.read("lines.txt", like=learner, labels=False)
    assert y is None
    assert learner.predict(X).tolist() == ["ham", "spam"]
    other = rb.TextHasher(columns=64).transform(texts)
    with pytest.raises(rb.InputError, match="rows that were made in the same way"):
        learner.predict(other)


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("a.svm", "1:1 3:2\n# none\nqid:2 2:1\n", 3),
        ("a.svm", "? 1:1 3:2\n1 2:1\n", 3),
        ("a.vw", "| 1:1\n1 | 2:1\n", 2**18),
        ("a.txt", "buy now\nsee\tyou\n", 2**18),
        ("a.txt", "spam\tbuy now\n\tsee you\n", 2**18),
    ],
)
def test_rows_are_read_without_labels(name, text, columns, folder):
    (folder / name).write_text(text)
    format = {"txt": "text"}.get(name.split(".")[1])
    X, y = rb.read(name, labels=False, format=format)
    assert X.shape == (2, columns)
    assert y is None
    blocks = list(read_blocks(name, Reading(labels=False, format=format), block_bytes=12))
    assert (sparse.vstack([block.X for block in blocks]) != X).nnz == 0
    assert all(block.y is None for block in blocks)


@pytest.mark.parametrize("name", ["a.csv", "a.svm", "a.vw", "a.npz"])
def test_a_data_set_without_rows_has_an_error_of_its_own(name, folder):
    (folder / name).write_text({"a.csv": "x,y\n", "a.vw": "\n"}.get(name, ""))
    if name == "a.npz":
        np.savez(name, X=np.empty((0, 2)))
    with pytest.raises(rb.EmptyError, match="holds no examples"):
        rb.read(name)


def test_errors_count_columns_of_rows_without_labels_as_the_file_does(folder):
    (folder / "a.svm").write_text("1:1\n2:x\n")
    for read in (rb.read, lambda *a, **k: list(read_blocks(*a, Reading(**k)))):
        with pytest.raises(rb.ParseError, match=r"a\.svm:2:3: the value 'x'"):
            read("a.svm", labels=False)


def test_what_a_file_says_of_its_columns_is_checked():
    good = rb.Examples(np.eye(2), [0, 1], names=("a", "b")).columns.parts()
    assert names.Columns.of_parts(good, 2).names == ("a", "b")
    table = {"inputs": ["a"], "words": {}, "label": None, "header": True, "hashed": 0}
    for lie in (
        {"names": ["a"]},
        {"names": [1, 2]},
        {"names": "ab"},
        {"table": table},
        {"table": {**table, "words": {"z": ["a", "b"]}}},
        {"table": {**table, "header": 1}},
        {"hashing": {"format": "text", "columns": 3}},
        {"hashing": {"format": "other", "columns": 2}},
        {"hashing": {"format": "text", "columns": 2, "n_jobs": 2}},
    ):
        with pytest.raises(ValueError, match=r"column|table|names"):
            names.Columns.of_parts({**good, **lie}, 2)


@pytest.mark.parametrize("kind", ["Perceptron", "KernelPerceptron", "SoftMarginSVM"])
def test_numbered_columns_in_another_order_are_not_taken_by_place(kind):
    X = pd.DataFrame([[1.0, 0, 5], [-1, 0, 5], [2, 1, 5]])
    learner = getattr(rb, kind)().fit(X, [1, -1, 1])
    assert learner.predict(X.to_numpy()).tolist() == [1, -1, 1]
    for other in (X[[2, 1, 0]], X[[0, 2, 1]]):
        with pytest.raises(rb.InputError, match=r"are numbered .* sort them with X.sort_index"):
            learner.predict(other)
        assert learner.predict(other.sort_index(axis=1)).tolist() == [1, -1, 1]
    chosen = pd.DataFrame(np.arange(16.0).reshape(2, 8))[[5, 3]]  # another frame's, as they come
    assert getattr(rb, kind)().fit(chosen, [1, -1]).predict(chosen).tolist() == [1, -1]
