"""Reading data sets: the format is found by content first, then by extension.

A reader takes the bytes of a file and gives `Examples`; a new format is one function here and one
line in `read`.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.data.svmlight import parse_svmlight
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
OTHER_FORMATS = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".json", ".jsonl", ".npy")


def read(
    path: str | os.PathLike[str],
    *,
    zero_based: bool = False,
    width: int | None = None,
    dtype: Any = np.float32,
) -> Examples:
    """Read a data set: svmlight/libsvm text or ``.npz``, plain or gzipped; ``-`` is standard input.

    Parameters
    ----------
    path : the file.
    zero_based : whether the columns of an svmlight file count from 0, not from 1.
    width : number of columns, if it is known beforehand; a column beyond it is an error.
    dtype : float32 or float64, for svmlight values. ``.npz`` arrays keep their own type.

    Returns
    -------
    Examples that unpack as ``X, y``: X a CSR matrix, or as dense as the ``.npz`` file has it. An
    ``.npz`` file holds ``X`` and ``y``, or what `scipy.sparse.save_npz` writes and ``y``; without
    ``y`` the labels are None.
    """
    name = "standard input" if os.fspath(path) == "-" else os.fspath(path)
    content = _contents(path, name)
    if bytes(content[:2]) == GZIP:
        content = _unzipped(content, name)
    if bytes(content[:4]) == ZIP:
        return _check_width(_read_npz(content, name), width, name)
    if Path(name.removesuffix(".gz")).suffix.lower() in OTHER_FORMATS:
        raise InputError(
            f"{name} is of a format that this version does not read; "
            "convert it to svmlight text or to .npz with arrays X and y"
        )
    X, y = parse_svmlight(content, file=name, zero_based=zero_based, width=width, dtype=dtype)
    return Examples(X, y)


def _contents(path: str | os.PathLike[str], name: str) -> np.ndarray:
    try:
        if name == "standard input":
            return np.frombuffer(sys.stdin.buffer.read(), np.uint8)
        if os.path.isdir(path):
            raise InputError(f"{name} is a folder; give a file of examples")
        if Path(path).is_file() and os.path.getsize(path):
            return np.memmap(path, np.uint8, mode="r")
        return np.frombuffer(Path(path).read_bytes(), np.uint8)
    except FileNotFoundError:
        raise InputError(f"there is no file {name}; check its name") from None
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from error


def _unzipped(content: np.ndarray, name: str) -> np.ndarray:
    try:
        return np.frombuffer(gzip.decompress(content.data), np.uint8)
    except EOFError:
        raise InputError(
            f"{name} ends in the middle of its gzip stream; it is truncated, so fetch it again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{name} is a damaged gzip file ({error}); fetch it again") from error


def _read_npz(content: np.ndarray, name: str) -> Examples:
    try:
        with np.load(io.BytesIO(content.data), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        y = arrays.get("y")
        if "X" in arrays:
            return Examples(arrays["X"], y)
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        X = sparse.csr_matrix(parts, shape=tuple(arrays["shape"]))
        X.check_format(full_check=True)
        return Examples(X, y)
    except KeyError as error:
        raise InputError(
            f"{name} has no array {error}; an .npz data set holds X and y, "
            "or data, indices, indptr, shape and y of a CSR matrix"
        ) from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{name} is not a usable .npz file: {error}") from error


def _check_width(examples: Examples, width: int | None, name: str) -> Examples:
    columns = examples.X.shape[1] if examples.X.ndim == 2 else 0
    if width is not None and columns != width:
        raise InputError(f"{name} has {columns} columns, but {width} were expected")
    return examples
