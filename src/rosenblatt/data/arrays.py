r"""Arrays of numbers to examples: ``.npz``, ``.npy`` and MNIST's idx files. Nothing is unpickled.

The rules
---------
- ``.npz`` holds ``X`` and ``y``, or the parts of a sparse matrix as `scipy.sparse.save_npz` writes
  them (CSR or CSC) and ``y``. Without ``y`` the labels are None. ``names``, or ``feature_names``,
  are strings that name the columns.
- ``.npy``: a folder holds ``X.npy`` and perhaps ``y.npy``. The labels of ``name.npy`` stand beside
  it in ``name.labels.npy``, or else in ``y.npy``. A plain file is mapped into memory, not read.
- idx: the labels of ``*images*idx3*`` stand beside it under the same name with *labels* for
  *images* and *idx1* for *idx3*, compressed or not. Elements have any of the six types of the
  format and any rank; what follows the first axis is flattened to a row and converted once.
- All of them may be compressed. Only numbers are examples; labels may be words too.

What a header promises is compared with the bytes that are there before anything is allocated.
"""

from __future__ import annotations

import io
import math
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.data.compression import SUFFIXES
from rosenblatt.data.sources import Name, contents, shown
from rosenblatt.errors import EmptyError, InputError
from rosenblatt.examples import Examples
from rosenblatt.memory import TooLargeError, check_memory

HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# Deflate packs 258 bytes into two bits at the very best, so no honest member grows by more.
LARGEST_GROWTH = 1032
# What NumPy, SciPy and zipfile raise for damaged, hostile, encrypted or rarely compressed files.
UNUSABLE = (
    *(ValueError, TypeError, OverflowError, OSError, EOFError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
NUMBERS, LABELS = "biuf", "biufUS"

IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
IDX_NAME = re.compile(r"idx\d+")
COMPRESSED = ("", *SUFFIXES)


def read_npz(content: Any, *, file: str = "<bytes>") -> Examples:
    """Read the bytes of an ``.npz`` file."""
    made_of = "a data set is made of X and y, or of data, indices, indptr, shape and y"
    with npz_arrays(content, file, made_of) as arrays:
        X = numbers_of(arrays, "X")
        y = _checked(arrays.get("y"), LABELS)
        names = _names(arrays, X)
    check_rows(X, file)
    if y is not None and y.shape not in ((X.shape[0],), (X.shape[0], 1)):
        found = f"y has {y.size} labels" if y.ndim == 1 else f"y has the shape {y.shape}"
        raise InputError(f"{file}: X has {X.shape[0]} rows but {found}; give one for each row")
    return Examples(X, y, names)


def check_rows(X: Any, file: str) -> None:
    """Refuse what has no rows of numbers."""
    if X.ndim != 2:
        raise InputError(
            f"{file}: Expected 2D array, got {X.ndim}D array instead; write one row of numbers "
            "for each example"
        )
    if not min(X.shape):
        raise EmptyError(
            f"{file} holds no examples: its {X.shape[0]} rows have {X.shape[1]} columns; "
            "write some of each"
        )


@contextmanager
def npz_arrays(content: Any, file: str, made_of: str) -> Iterator[dict[str, np.ndarray]]:
    """Give the arrays of an ``.npz`` file by name, or say in a sentence what is wrong with them."""
    try:
        with zipfile.ZipFile(io.BytesIO(memoryview(content))) as archive:
            needed = sum(member.file_size for member in archive.infolist())
            check_memory(needed, f"the arrays of {file}", "give a part of them")
            yield {
                member.filename.removesuffix(".npy"): _member(archive, member)
                for member in archive.infolist()
            }
    except KeyError as error:
        raise InputError(f"{file} has no array {error}; {made_of}") from None
    except TooLargeError:
        raise
    except UNUSABLE as error:
        raise InputError(
            f"{file} is not a usable .npz file: {error}; write it again with numpy.savez"
        ) from error


def numbers_of(arrays: dict[str, np.ndarray], name: str) -> Any:
    """Give an array of numbers, or the sparse matrix of which the parts are there instead."""
    return _checked(arrays[name] if name in arrays else _sparse(arrays), NUMBERS)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    if member.file_size > LARGEST_GROWTH * (member.compress_size + 1):
        raise ValueError(f"{member.filename} promises more bytes than it can hold")
    content, done = np.empty(member.file_size, np.uint8), 0
    with archive.open(member) as stream:
        while piece := stream.read(1 << 20):  # to the very end, where the checksum is compared
            content[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
            done += len(piece)
    return npy_array(content[:done])


def npy_array(content: np.ndarray) -> np.ndarray:
    """View the bytes of an ``.npy`` file as its array, or raise a ValueError.

    `numpy.load` allocates whatever a header promises, and does not tell if more bytes follow.
    """
    stream = io.BytesIO(content[: 1 << 16].tobytes())
    try:
        version = np.lib.format.read_magic(stream)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers written by Python 2
            shape, fortran, dtype = HEADERS[version](stream)
    except Exception as error:  # whatever the parser of Python's literals raises
        raise ValueError("its header is damaged, or that of another version") from error
    if dtype.hasobject or dtype.kind == "V":
        raise ValueError("it holds objects or records, not numbers")
    body = content[stream.tell() :]
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != body.size:
        raise ValueError("its size does not fit its header; it may be truncated")
    array = body.view(dtype) if body.size else np.empty(0, dtype)
    return array.reshape(shape, order="F" if fortran else "C")


def _sparse(arrays: dict[str, np.ndarray]) -> Any:
    kind = arrays["format"].item() if "format" in arrays else b"csr"
    kind = kind.decode() if isinstance(kind, bytes) else kind
    if kind not in ("csr", "csc"):
        raise ValueError(f"its matrix has the format {kind}; save it as CSR")
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    make = sparse.csr_matrix if kind == "csr" else sparse.csc_matrix
    if arrays["shape"].shape != (2,):
        raise ValueError("its matrix has not two axes")
    matrix = make(parts, shape=tuple(arrays["shape"].tolist()))
    matrix.check_format(full_check=True)
    return matrix.tocsr()


def _names(arrays: dict[str, np.ndarray], X: Any) -> tuple[str, ...] | None:
    found = next((arrays[key] for key in ("names", "feature_names") if key in arrays), None)
    if found is None:
        return None
    if found.dtype.kind != "U" or found.shape != X.shape[-1:]:
        raise ValueError(f"its names must be {X.shape[-1]} strings, one for each column")
    return tuple(found.tolist())


def _checked(array: Any, kinds: str) -> Any:
    if array is not None and array.dtype.kind not in kinds:
        raise ValueError(f"it holds {array.dtype}, not numbers")
    return array


def read_npy(path: Name) -> Examples:
    """Read an ``.npy`` file, or a folder with ``X.npy``, and the labels beside it."""
    if os.path.isdir(path):
        path = os.path.join(path, "X.npy")
    X = _read_array(path, NUMBERS)
    labels = _labels_of_npy(os.fspath(path))
    y = None if labels is None else _read_array(labels, LABELS)
    return _paired(X, y, path, labels)


def _labels_of_npy(path: str) -> str | None:
    if path == "-":
        return None
    folder, name = os.path.split(path)
    stem = name.partition(".npy")[0]
    beside = [other + end for other in (f"{stem}.labels.npy", "y.npy") for end in COMPRESSED]
    candidates = (os.path.join(folder, other) for other in beside)
    return None if name in beside else next(filter(os.path.isfile, candidates), None)


def _read_array(path: Name, kinds: str) -> np.ndarray:
    content = contents(path)
    try:
        return np.asarray(_checked(npy_array(np.asarray(content)), kinds))
    except UNUSABLE as error:
        raise InputError(
            f"{shown(path)} is not a usable .npy file: {error}; write it again with numpy.save"
        ) from error


def _paired(X: np.ndarray, y: np.ndarray | None, path: Name, labels: str | None) -> Examples:
    if X.ndim == 0:
        raise InputError(f"{shown(path)} holds a single number; give rows of numbers")
    if y is not None and labels is not None and y.shape != (X.shape[0],):
        raise InputError(
            f"{shown(path)} holds {X.shape[0]} rows, but {shown(labels)} labels of shape "
            f"{y.shape}; give one label for each row"
        )
    return Examples(X, y)


def is_idx(content: bytes | np.ndarray) -> bool:
    """Tell whether bytes begin like an idx file: two zeros, a type and a rank."""
    head = bytes(content[:4])
    return len(head) == 4 and head[:2] == b"\0\0" and head[2] in IDX_TYPES and 1 <= head[3] <= 8


def read_idx(path: Name, *, dtype: Any = np.float32) -> Examples:
    """Read an idx file of images as rows of floats, and the labels beside it."""
    images = _read_idx(path)
    if images.ndim == 1:
        raise InputError(f"{shown(path)} holds labels or single numbers; give the file of images")
    X = images.reshape(images.shape[0], math.prod(images.shape[1:])).astype(dtype)
    labels = _labels_of_idx(os.fspath(path))
    y = None if labels is None else _read_idx(labels)
    if y is not None:
        y = y.astype(np.int64 if y.dtype.kind in "iu" else np.float64)
    return _paired(X, y, path, labels)


def _labels_of_idx(path: str) -> str | None:
    folder, name = os.path.split(path)
    before, images, after = name.rpartition("images")
    if not images:
        return None
    other = IDX_NAME.sub("idx1", f"{before}labels{after}")
    for end in COMPRESSED[1:]:
        other = other.removesuffix(end)
    candidates = (os.path.join(folder, other + end) for end in COMPRESSED)
    return next(filter(os.path.isfile, candidates), None)


def _read_idx(path: Name) -> np.ndarray:
    content = np.asarray(contents(path))
    name = shown(path)
    if not is_idx(content):
        raise InputError(f"{name} does not begin like an idx file; check what it is")
    start = 4 + 4 * int(content[3])
    if content.size < start:
        raise InputError(f"{name} ends inside its header; it is truncated, so fetch it again")
    shape = tuple(content[4:start].view(">u4").tolist())
    dtype = np.dtype(IDX_TYPES[int(content[2])])
    promised, held = math.prod(shape) * dtype.itemsize, content.size - start
    if promised != held:
        sizes = " by ".join(map(str, shape))
        raise InputError(
            f"the header of {name} promises {sizes} elements of {dtype.itemsize} bytes, "
            f"but {held} bytes follow; it is truncated or damaged, so fetch it again"
        )
    if not held:
        raise InputError(f"{name} holds no examples; its header promises none")
    return content[start:].view(dtype).reshape(shape)
