"""Stores: what is written comes back, mapped; what is damaged is refused."""

import json
import os
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_matrix, random_array, vstack

import rosenblatt as rb
from rosenblatt.data import store, store_writer, strings
from rosenblatt.data.store import open_store, write_store
from rosenblatt.data.svmlight import svmlight_blocks
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples

ROWS = csr_matrix(np.array([[0, 1.5, 0], [2, 0, 3], [0, 0, 0], [0, -1, 4]], np.float32))
LABELS = np.array([1, -1, 1, -1])


@pytest.fixture
def folder(tmp_path):
    """Make a store of four sparse rows."""
    write_store(tmp_path / "four.rows", [Examples(ROWS, LABELS)])
    return tmp_path / "four.rows"


def is_mapped(array):
    """Tell whether an array is a view of a mapped file."""
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    return base is not None


# Round trips -------------------------------------------------------------------------------------

label_kinds = st.sampled_from(["none", "int", "float", "both", "strings"])


def labels_of(kind, block, rows):
    """Make labels of a kind for a block."""
    numbers = np.arange(rows) * (block + 1) - 3
    if kind == "none":
        return None
    if kind == "strings":
        return [f"né{number}" for number in numbers.tolist()]
    return numbers / 2 if kind == "float" or (kind == "both" and block == 1) else numbers


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=4),
    st.sampled_from([np.float32, np.float64]),
    label_kinds,
    st.booleans(),
    st.integers(0, 99),
)
def test_blocks_come_back_as_they_were(tmp_path_factory, shapes, dtype, kind, dense, seed):
    path = tmp_path_factory.mktemp("stores") / "a.rows"
    random = np.random.default_rng(seed)
    width = max(width for _, width in shapes) + dense
    blocks = []
    for block, (rows, columns) in enumerate(shapes):
        shape = (rows, width if dense else columns)
        X = csr_matrix(random_array(shape, density=0.4, rng=random, dtype=dtype))
        blocks.append(Examples(X.toarray() if dense else X, labels_of(kind, block, rows)))
    if not any(rows for rows, _ in shapes):
        with pytest.raises(InputError, match="there are no examples to store"):
            write_store(path, blocks)
        assert os.listdir(path.parent) == []
        return
    write_store(path, blocks)
    found = open_store(path, verify=True)
    filled = [block for block in blocks if len(block)]
    width = max(block.X.shape[1] for block in filled)
    assert found.X.shape == (sum(map(len, filled)), width)
    assert found.X.dtype == dtype
    for block in filled if not dense else []:
        block.X.resize(block.X.shape[0], width)
    if dense:
        assert np.array_equal(found.X, np.concatenate([block.X for block in filled]))
    else:
        expected = vstack([block.X for block in filled], format="csr")
        assert (expected != found.X).nnz == 0
        assert found.X.nnz == expected.nnz
    if kind == "none":
        assert found.y is None
    else:
        assert found.y.tolist() == [label for block in filled for label in list(block.y)]


def test_a_store_is_mapped_and_read_only(folder):
    X, y = open_store(folder)
    arrays = (X.data, X.indices, X.indptr, y)
    assert all(is_mapped(array) and not array.flags.writeable for array in arrays)
    assert [array.dtype for array in arrays] == [np.float32, np.int32, np.int32, np.int64]
    assert X.has_canonical_format
    assert (X @ np.ones(3)).tolist() == [1.5, 5, 0, 3]
    assert X[1:3].toarray().tolist() == [[2, 0, 3], [0, 0, 0]]


def test_a_dense_store_is_mapped_too(tmp_path):
    write_store(tmp_path / "a", [(np.asfortranarray(np.eye(3)), [0.5, 1.0, 2.0])])
    X, y = open_store(tmp_path / "a")
    assert is_mapped(X)
    assert X.flags.c_contiguous
    assert X.tolist() == np.eye(3).tolist()
    assert y.tolist() == [0.5, 1, 2]


def test_arrays_of_a_store_are_those_of_numpy(folder):
    values, starts = (np.load(folder / f"{name}.npy") for name in ("values", "starts"))
    assert values.tolist() == ROWS.data.tolist()
    assert starts.tolist() == ROWS.indptr.tolist()


def test_learning_from_a_store_is_learning_from_memory(tmp_path):
    X, y, _ = rb.make_separable(200, 5, margin=0.1)
    write_store(tmp_path / "a", [(X[:90], y[:90]), (X[90:], y[90:])])
    expected = rb.Perceptron().fit(X, y)
    assert np.array_equal(rb.Perceptron().fit(*open_store(tmp_path / "a")).coef_, expected.coef_)
    write_store(tmp_path / "b", [(csr_matrix(X), y)])
    expected = rb.Perceptron().fit(csr_matrix(X), y)
    assert np.array_equal(rb.Perceptron().fit(*open_store(tmp_path / "b")).coef_, expected.coef_)


def test_a_stream_of_text_becomes_a_store(tmp_path):
    text = [b"spam 1:1\nham 3:2", b" 9:1\nspam 2:5\n"]
    write_store(tmp_path / "a.rows", svmlight_blocks(text, block_bytes=4))
    X, y = open_store(tmp_path / "a.rows", verify=True)
    assert X.shape == (3, 9)
    assert y.tolist() == ["spam", "ham", "spam"]
    assert y.dtype == "U4"


def test_starts_of_64_bits_leave_the_columns_at_32(tmp_path, monkeypatch):
    monkeypatch.setattr(store_writer, "ENTRY_LIMIT", 3)
    write_store(tmp_path / "a", [(ROWS, LABELS)])
    X, y = open_store(tmp_path / "a", verify=True)
    assert (X.indptr.dtype, X.indices.dtype) == (np.int64, np.int32)
    assert X[1:].toarray().tolist() == ROWS[1:].toarray().tolist()
    assert (X @ np.ones(3)).tolist() == (ROWS @ np.ones(3)).tolist()
    expected = rb.Perceptron(max_iter=500).fit(ROWS, y).coef_
    assert np.array_equal(rb.Perceptron(max_iter=500).fit(X, y).coef_, expected)


def test_repeated_and_unordered_columns_are_put_in_order(tmp_path):
    untidy = csr_matrix(([1.0, 2.0, 4.0], [2, 0, 2], [0, 3]), shape=(1, 3))
    other = coo_array(([5], ([1], [0])), shape=(2, 2))
    write_store(tmp_path / "a", [(untidy, [1]), (other, [2, 3])])
    X, _ = open_store(tmp_path / "a", verify=True)
    assert X.toarray().tolist() == [[2, 0, 5], [0, 0, 0], [5, 0, 0]]
    assert untidy.nnz == 3


def test_long_names_are_shared_by_their_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(strings, "LARGE_STRINGS", 100)
    monkeypatch.setattr(strings, "WIDEST_STRINGS", 1)
    names = ["x" * 500, "y", "x" * 500, "z"]
    write_store(tmp_path / "a", [(ROWS, names)])
    y = open_store(tmp_path / "a").y
    assert y.dtype == object
    assert y.tolist() == names
    write_store(tmp_path / "a", [(ROWS, np.array(["a\0", "a", "a", "b"], object))])
    assert open_store(tmp_path / "a").y.tolist() == ["a\0", "a", "a", "b"]


# Writing -----------------------------------------------------------------------------------------


def test_an_earlier_store_is_replaced_only_by_a_complete_one(folder):
    def failing():
        yield Examples(ROWS * 2, LABELS)
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        write_store(folder, failing())
    X, _ = open_store(folder, verify=True)
    assert (ROWS != X).nnz == 0
    write_store(folder, [Examples(X * 2, LABELS)])  # from its own mapped rows
    assert (open_store(folder, verify=True).X != ROWS * 2).nnz == 0
    assert (ROWS != X).nnz == 0  # whoever has the earlier one open keeps it
    assert os.listdir(folder.parent) == [folder.name]


def test_a_failed_rename_brings_the_earlier_store_back(folder, monkeypatch):
    rename = os.rename

    def refuse(source, target):
        if str(source).endswith(".part"):
            raise PermissionError(1, "not permitted")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(InputError, match=r"cannot write .*four\.rows: not permitted"):
        write_store(folder, [(ROWS * 2, LABELS)])
    assert (ROWS != open_store(folder, verify=True).X).nnz == 0
    assert os.listdir(folder.parent) == [folder.name]


def test_only_stores_and_empty_folders_are_replaced(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="file is a file; give the name of a folder"):
        write_store(tmp_path / "file", [(ROWS, LABELS)])
    with pytest.raises(InputError, match="home is a folder with other files than a store's"):
        write_store(tmp_path / "home", [(ROWS, LABELS)])
    with pytest.raises(InputError, match=r"cannot write .*: No such file or directory"):
        write_store(tmp_path / "nowhere" / "a", [(ROWS, LABELS)])
    write_store(tmp_path / "empty", [(ROWS, LABELS)])
    assert len(open_store(tmp_path / "empty")) == 4
    os.symlink(tmp_path / "empty", tmp_path / "link")
    write_store(tmp_path / "link", [(ROWS[:2], LABELS[:2])])
    assert len(open_store(tmp_path / "empty")) == 2


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "there are no examples to store; give at least one row"),
        ([(ROWS, LABELS), (ROWS.toarray(), LABELS)], r"after 4 rows \(sparse, float32, 3 col"),
        ([(ROWS, LABELS), (ROWS.astype(float), LABELS)], r"come others \(sparse, float64\)"),
        ([(np.eye(2), [1, 2]), (np.eye(3), [1, 2, 3])], r"float64, 2 columns\) come others"),
        ([(ROWS, LABELS), (ROWS, None)], "after int64 come none; give all as numbers, all as"),
        ([(ROWS, LABELS), (ROWS, list("abcd"))], "after int64 come strings; give all as"),
        ([(ROWS, [1, "a", 2, 3])], "labels of a store must be numbers or strings, got object"),
        ([(ROWS, [1, 2])], "X has 4 rows but y has 2 labels"),
        ([(ROWS, [2**60] * 4), (ROWS, [0.5] * 4)], "labels beyond 9007199254740992 cannot"),
        ([(ROWS, np.full(4, 2**63, np.uint64))], r"labels must be below 2\^63"),
        ([(np.zeros(3), [1, 2, 3])], "rows must be a table with at least one column"),
        ([(np.array([["a"]]), [1])], "rows must be numbers, got <U1"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(tmp_path, blocks, message):
    with pytest.raises(InputError, match=message):
        write_store(tmp_path / "a", blocks)
    assert os.listdir(tmp_path) == []


def test_a_column_outside_its_matrix_is_refused(tmp_path):
    broken = ROWS.copy()
    broken.indices[0] = 7
    with pytest.raises(InputError, match="rows have a column outside the 3 of their matrix"):
        write_store(tmp_path / "a", [(broken, LABELS)])


def test_too_many_names_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(store_writer, "MOST_NAMES", 3)
    with pytest.raises(InputError, match="labels must be at most 3 different strings"):
        write_store(tmp_path / "a", [(ROWS, list("abcd"))])
    monkeypatch.setattr(store_writer, "LARGEST_HEADER", 1000)
    with pytest.raises(InputError, match="the names of labels and columns take more than"):
        write_store(tmp_path / "a", [(ROWS, ["a", "b", "b", "c" * 1000])])


def test_writing_takes_the_memory_of_a_block_or_two(tmp_path):
    block = np.ones((1000, 100))
    tracemalloc.start()
    write_store(tmp_path / "a", ((block + number, np.arange(1000)) for number in range(30)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * block.nbytes


# Damage ------------------------------------------------------------------------------------------


def change_header(folder, change):
    """Change a header, and give it the digest of the changed one."""
    header = json.loads((folder / "header.json").read_bytes())
    del header["digest"]
    change(header)
    header["digest"] = store_writer.digest_of(header)
    (folder / "header.json").write_text(json.dumps(header))


def forge(folder, name, array):
    """Put other contents into an array's file, and their digest into the header."""
    np.save(folder / f"{name}.npy", array)
    digest = store_writer.hashlib.sha256(array.tobytes()).hexdigest()
    change_header(folder, lambda header: header["arrays"][name].update(sha256=digest))


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"there is no store .*gone; a store is a folder"):
        open_store(tmp_path / "gone")
    with pytest.raises(InputError, match=r"is not a store: it has no usable header\.json"):
        open_store(tmp_path)
    for content in (b"", b"{", b"[" * 100_000, b"\xff\xfe", b"[1]", b"null", b'{"format": 1}'):
        (tmp_path / "header.json").write_bytes(content)
        with pytest.raises(InputError, match=r"header\.json is not the header of a store"):
            open_store(tmp_path)


@pytest.mark.parametrize("name", ["starts", "columns", "values", "labels"])
def test_a_file_of_another_size_is_refused(folder, name):
    file = folder / f"{name}.npy"
    content = file.read_bytes()
    for damaged in (content[:-1], content + b"\0", b""):
        file.write_bytes(damaged)
        with pytest.raises(
            InputError, match=rf"{name}\.npy is not the array that the header describes"
        ):
            open_store(folder)
    file.unlink()
    with pytest.raises(InputError, match=rf"cannot read .*{name}\.npy: No such file"):
        open_store(folder)
    os.mkfifo(file)
    with pytest.raises(InputError, match=rf"{name}\.npy is not the array"):
        open_store(folder)


@pytest.mark.parametrize("name", ["starts", "columns", "values", "labels", "header"])
def test_every_flipped_bit_is_found(folder, name):
    file = folder / ("header.json" if name == "header" else f"{name}.npy")
    content = file.read_bytes()
    for place in range(len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(InputError, match=file.name):
            open_store(folder, verify=True)


LIES = [
    {"rows": 0}, {"rows": -4}, {"rows": 4.0}, {"rows": True}, {"rows": 10**4299}, {"rows": "4"},
    {"columns": 2**31 + 1}, {"columns": None}, {"rows": 5}, {"names": ["a", "b"]}, {"names": "ab"},
    {"names": [1]}, {"arrays": []}, {"arrays": {}}, {"arrays": {"values": 3}},
]  # fmt: skip
LIES_ABOUT_VALUES = [{"dtype": "<f8"}, {"dtype": "O"}, {"shape": [6]}, {"shape": 5}, {"more": 1}]


@pytest.mark.parametrize("lie", LIES + LIES_ABOUT_VALUES, ids=str)
def test_a_header_that_lies_is_refused(folder, lie):
    about_values = lie in LIES_ABOUT_VALUES
    change_header(folder, lambda h: (h["arrays"]["values"] if about_values else h).update(lie))
    words = r"|values\.npy is not" if about_values else r" (contradicts itself|is not the header)"
    with pytest.raises(InputError, match=rf"header\.json{words}"):
        open_store(folder)


def test_a_header_of_another_version_is_refused(folder):
    change_header(folder, lambda header: header.update(version=1))
    words = (
        r"reads \(it says \('rosenblatt rows', 1\), .*write the store again with `rosenblatt conv"
    )
    with pytest.raises(InputError, match=words):
        open_store(folder)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("starts", np.array([1, 1, 3, 3, 5], np.int32), r"starts\.npy does not rise from 0"),
        ("starts", np.array([0, 1, 3, 3, 9], np.int32), r"starts\.npy does not rise from 0"),
        ("starts", np.array([0, 9, 3, 3, 5], np.int32), r"starts\.npy does not rise"),
        ("starts", np.array([0, 0, 3, 3, 5], np.int32), r"columns\.npy has rows whose columns"),
        ("columns", np.array([1, 0, 3, 1, 2], np.int32), r"columns\.npy has columns outside"),
        ("columns", np.array([1, -1, 2, 1, 2], np.int32), r"columns\.npy has columns outside"),
        ("columns", np.array([1, 2, 2, 1, 2], np.int32), r"columns\.npy has rows whose columns"),
    ],
)
@pytest.mark.parametrize("step", [1, 2, 1000])
def test_forged_indices_are_refused(folder, monkeypatch, name, array, message, step):
    monkeypatch.setattr(store, "VERIFIED_AT_ONCE", step)
    open_store(folder, verify=True)
    forge(folder, name, array)
    with pytest.raises(InputError, match=message):
        open_store(folder, verify=True)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("starts", np.array([0, 2**31 - 1, 3, 3, 5], np.int32)),
        ("starts", np.array([0, -1, 3, 3, 5], np.int32)),
        ("columns", np.array([1, 0, 3, 1, 2], np.int32)),
        ("columns", np.array([1, -1, 2, 1, 2], np.int32)),
    ],
)
def test_no_store_is_opened_whose_indices_lead_outside(folder, name, array):
    np.save(folder / f"{name}.npy", array)
    with pytest.raises(InputError, match=rf"{name}\.npy (does not rise|has columns outside)"):
        open_store(folder)


def test_forged_codes_of_labels_are_refused(folder):
    write_store(folder, [(ROWS, list("abab"))])
    for codes in ([0, 1, 2, 0], [0, -1, 0, 1]):
        forge(folder, "labels", np.array(codes, np.int32))
        with pytest.raises(InputError, match=r"labels\.npy has codes for more than the 2 names"):
            open_store(folder)
