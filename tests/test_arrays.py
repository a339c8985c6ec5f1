"""Arrays in files: .npz, .npy and idx, sound and hostile."""

import gzip
import io
import struct
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

import rosenblatt as rb
from rosenblatt.data.arrays import is_idx, read_idx, read_npy, read_npz

X, Y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array(["a", "b"])


def npz(**parts):
    out = io.BytesIO()
    np.savez_compressed(out, **parts)
    return out.getvalue()


def parts_of(matrix):
    return {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}


def test_npz_files_hold_dense_or_sparse_rows(tmp_path):
    found = read_npz(npz(X=X, y=Y))
    assert np.array_equal(found.X, X)
    assert found.y.tolist() == ["a", "b"]
    rows = sparse.csr_matrix(X)
    assert np.array_equal(read_npz(npz(shape=rows.shape, **parts_of(rows))).X.toarray(), X)
    for kind in ("csr", "csc"):
        sparse.save_npz(tmp_path / "a.npz", sparse.random(3, 4, 0.5, format=kind, rng=0))
        found = read_npz((tmp_path / "a.npz").read_bytes())
        assert (sparse.load_npz(tmp_path / "a.npz").tocsr() != found.X).nnz == 0
        assert found.y is None


NUMBERS = st.sampled_from(["<f4", "<f8", ">f4", "i1", "<i8", "u1", "bool"])


@settings(max_examples=40, deadline=None)
@given(
    array=NUMBERS.flatmap(lambda t: arrays.arrays(t, arrays.array_shapes(min_dims=2, max_dims=2))),
    fortran=st.booleans(),
)
def test_arrays_survive_npz_and_npy(tmp_path_factory, array, fortran):
    array = np.asfortranarray(array) if fortran else array
    folder = tmp_path_factory.mktemp("arrays")
    np.save(folder / "X.npy", array)
    for found in (read_npz(npz(X=array)).X, read_npy(folder / "X.npy").X):
        assert found.dtype == array.dtype
        assert np.array_equal(found, array, equal_nan=array.dtype.kind == "f")


def header(text):
    padded = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded


HUGE = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000), }")
NEGATIVE = header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }")
ENDLESS = header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': (0, {10**30}), }}")
OBJECTS = header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")
RECORDS = header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }")
CODE = header("{'descr': '<f8', 'fortran_order': False, 'shape': (len('ab'),), }")


def zipped(content, promised=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", content)
    data = out.getvalue()
    if promised is not None:  # in the directory at the end, which readers go by
        place = data.rfind(b"PK\x01\x02") + 24
        data = data[:place] + struct.pack("<I", promised) + data[place + 4 :]
    return data


@pytest.mark.parametrize(
    "content", [HUGE, ENDLESS, NEGATIVE, OBJECTS, RECORDS, CODE, b"", b"\x93NUMPY\x09\0"]
)
def test_hostile_headers_are_refused_without_allocating(tmp_path, content):
    content += bytes(0 if content is ENDLESS else 16)
    (tmp_path / "bad.npy").write_bytes(content)
    tracemalloc.start()
    with pytest.raises(rb.InputError, match=r"bad\.npy is not a usable \.npy file: "):
        read_npy(tmp_path / "bad.npy")
    with pytest.raises(rb.InputError, match=r"bad is not a usable \.npz file: "):
        read_npz(zipped(content), file="bad")
    assert tracemalloc.get_traced_memory()[1] < 2**21
    tracemalloc.stop()


def test_every_damaged_byte_of_a_header_is_an_error_or_changes_nothing(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(2, 3))
    good = (tmp_path / "a.npy").read_bytes()
    for place in range(128):
        (tmp_path / "a.npy").write_bytes(good[:place] + b"(" + good[place + 1 :])
        with suppress(rb.InputError):
            assert read_npy(tmp_path / "a.npy").X.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_member_that_promises_what_it_cannot_hold_is_refused():
    shape = header("{'descr': '<f8', 'fortran_order': False, 'shape': (400000000,), }")
    with pytest.raises(rb.InputError, match="promises more bytes than it can hold"):
        read_npz(zipped(shape, promised=len(shape) + 3_200_000_000))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"Z": X}, "has no array 'data'; a data set is made of X and y"),
        ({"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": (10**12, 2)}, "not a usable"),
        ({"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": 3}, "has not two axes"),
        ({"format": "coo", **parts_of(sparse.csr_matrix(X)), "shape": (2, 2)}, "format coo; save"),
        ({"X": Y}, "it holds <U1, not numbers"),
    ],
)
def test_archives_without_usable_arrays_are_refused(parts, words):
    with pytest.raises(rb.InputError, match=words):
        read_npz(npz(**parts))


def test_npy_labels_stand_beside_the_rows(tmp_path):
    np.save(tmp_path / "X.npy", X)
    assert read_npy(tmp_path).y is None
    np.save(tmp_path / "y.npy", np.array([1, 2]))
    np.save(tmp_path / "other.npy", X)
    np.save(tmp_path / "other.labels.npy", Y)
    assert read_npy(tmp_path).y.tolist() == [1, 2]
    assert read_npy(tmp_path / "X.npy").y.tolist() == [1, 2]
    assert read_npy(tmp_path / "other.npy").y.tolist() == ["a", "b"]
    assert read_npy(tmp_path / "y.npy").y is None


def test_npy_files_are_mapped_or_unpacked(tmp_path):
    np.save(tmp_path / "X.npy", X)
    found = read_npy(tmp_path / "X.npy").X
    assert not found.flags.owndata
    assert found.flags.aligned
    (tmp_path / "Z.npy.gz").write_bytes(gzip.compress((tmp_path / "X.npy").read_bytes()))
    assert np.array_equal(read_npy(tmp_path / "Z.npy.gz").X, X)


def test_a_number_is_no_array_of_rows(tmp_path):
    np.save(tmp_path / "X.npy", np.float64(3))
    with pytest.raises(rb.InputError, match="a single number"):
        read_npy(tmp_path)


TYPES = {"u1": 8, "i1": 9, ">i2": 11, ">i4": 12, ">f4": 13, ">f8": 14}


def idx(array):
    code = TYPES[array.dtype.str.lstrip("|")]
    return (
        bytes([0, 0, code, array.ndim])
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.tobytes()
    )


@settings(max_examples=40, deadline=None)
@given(
    array=st.sampled_from(list(TYPES)).flatmap(
        lambda t: arrays.arrays(t, arrays.array_shapes(min_dims=2, max_dims=4, max_side=4))
    )
)
def test_every_type_and_rank_of_idx_becomes_rows(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("idx") / "a"
    path.write_bytes(idx(array))
    with np.errstate(over="ignore", invalid="ignore"):
        expected = array.reshape(len(array), -1).astype(np.float64)
    found = read_idx(path, dtype=np.float64)
    assert np.array_equal(found.X, expected, equal_nan=True)
    assert found.y is None


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_labels_of_images_are_found_beside_them(tmp_path, pack):
    images = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    end = "" if pack is bytes else ".gz"
    (tmp_path / f"t10k-images-idx3-ubyte{end}").write_bytes(pack(idx(images)))
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(np.uint8([7, 2, 1]))))
    rows, labels = read_idx(tmp_path / f"t10k-images-idx3-ubyte{end}")
    assert rows.dtype == np.float32
    assert rows.tolist() == np.arange(12).reshape(3, 4).tolist()
    assert labels.tolist() == [7, 2, 1]
    assert labels.dtype == np.int64


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\0\0\x08\x00", "does not begin like an idx file"),
        (b"\0\0\x07\x01\0\0\0\0", "does not begin like an idx file"),
        (b"\0\0\x0e\x02" + b"\xff" * 4 + bytes(4), "holds no examples"),
        (idx(np.uint8([1, 2])), "holds labels or single numbers"),
    ],
)
def test_idx_files_without_rows_of_numbers_are_refused(tmp_path, content, words):
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(rb.InputError, match=words):
        read_idx(tmp_path / "bad")


def test_idx_files_are_told_by_their_beginning():
    assert is_idx(idx(np.zeros((1, 1), "u1")))
    assert not is_idx(b"1 1:1\n")
