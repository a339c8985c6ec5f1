"""Writing a store (`store` says what that is), block by block and in memory for one block.

What later blocks may change of earlier ones: the width, which may grow, and the kind of the labels,
where whole numbers give way to fractions. Everything else has to be the same for all blocks.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap, write_array_header_1_0
from scipy.sparse import issparse

from rosenblatt.data.files import explained, flush_folder, write_atomically
from rosenblatt.errors import InputError
from rosenblatt.labels import as_labels
from rosenblatt.matrices import check_structure
from rosenblatt.names import Columns

FORMAT, VERSION = "rosenblatt rows", 2
HEADER_FILE = "header.json"
ARRAYS = {"starts": np.int64, "columns": np.int32, "weights": np.float64}  # else as they come
LABEL_TYPES = {"int64": np.int64, "float64": np.float64, "strings": np.int32}

# With more entries the starts need 64 bits.
ENTRY_LIMIT = (1 << 31) - 1
LARGEST_WHOLE_FLOAT = 1 << 53
MOST_COLUMNS, MOST_NAMES = 1 << 31, 1 << 20
LARGEST_HEADER = 1 << 26
CONVERTED_AT_ONCE = 1 << 20


def write_store(path: str | os.PathLike[str], blocks: Iterable[Any]) -> None:
    """Write a stream of examples as a store; an earlier one is replaced once this one is whole.

    The folder is by custom called NAME.rows. Blocks are `Examples`, or pairs of rows and labels.
    All rows are sparse or all are dense, of float32 or of float64; sparse blocks may differ in
    width. Labels are numbers, strings, or None for all blocks; all of them have weights, or none.
    """
    target = Path(os.path.realpath(path))
    check_replaceable(target)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    writing = f"write {target}"
    try:
        with explained(writing):
            part.mkdir()
        writer = Writer(part)
        try:
            for block in blocks:
                X, y = block
                with explained(writing):
                    known, weights = (getattr(block, k, None) for k in ("columns", "weights"))
                    writer.add(X, y, known, weights)
            with explained(writing):
                writer.finish()
        finally:
            writer.close()
        with explained(writing):
            put_in_place(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def check_replaceable(target: Path) -> None:
    """Refuse to replace anything but a store or an empty folder."""
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"{target} is a file; give the name of a folder for the store")
    found = set(os.listdir(target))
    # Version 1 called its files .bin.
    names = (*ARRAYS, "values", "labels")
    known = {f"{name}.{end}" for name in names for end in ("npy", "bin")}
    if found and not {HEADER_FILE} <= found <= {HEADER_FILE, *known}:
        raise InputError(f"{target} is a folder with other files than a store's; give another name")


def put_in_place(part: Path, target: Path) -> None:
    """Rename a store that is complete; the earlier one makes way, and is deleted only then."""
    earlier = part.with_suffix(".old")
    replaces = target.exists()
    if replaces:
        os.rename(target, earlier)
    try:
        os.rename(part, target)
    except BaseException:
        if replaces:
            os.rename(earlier, target)
        raise
    flush_folder(target.parent)
    if replaces:
        shutil.rmtree(earlier, ignore_errors=True)


def file_of(folder: Path, name: str) -> Path:
    """Give the file of an array."""
    return folder / f"{name}.npy"


def digest_of(header: dict[str, Any]) -> str:
    """Give the SHA-256 of a header without its digest."""
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()


class ArrayFile:
    """An ``.npy`` file that an array is appended to, block by block."""

    def __init__(self, path: Path, dtype: Any, width: tuple[int, ...] = ()) -> None:
        self.path, self.width = path, width
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.size = 0
        self.digest = hashlib.sha256()
        self.file = open(path, "xb")  # noqa: SIM115, since it stays open between blocks
        self._write_header()

    def _write_header(self) -> dict[str, Any]:
        """Write the header, which has room for any size."""
        parts = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.size, *self.width)}
        write_array_header_1_0(self.file, parts)
        return parts

    def append(self, array: np.ndarray) -> None:
        """Append an array, row after row."""
        flat = np.ascontiguousarray(array, self.dtype).reshape(-1)
        self.file.write(flat.data)
        self.digest.update(flat.data)
        self.size += array.shape[0]

    def converted(self, dtype: Any) -> ArrayFile:
        """Replace the file by one of another type."""
        self.finish()
        other = ArrayFile(self.path.with_suffix(".new"), dtype, self.width)
        old = open_memmap(self.path, mode="r")
        for start in range(0, self.size, CONVERTED_AT_ONCE):
            other.append(old[start : start + CONVERTED_AT_ONCE])
        os.replace(other.path, self.path)
        other.path = self.path
        return other

    def finish(self) -> dict[str, Any]:
        """Complete the file and flush it to the disk; give its description for the header."""
        self.file.seek(0)
        parts = self._write_header()
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        shape, digest = list(parts["shape"]), self.digest.hexdigest()
        return {"dtype": self.dtype.str, "shape": shape, "sha256": digest}


class LabelFile:
    """The labels of a store under construction: none, whole numbers, numbers or coded strings."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kind = ""
        self.names: dict[str, int] = {}
        self.largest_whole = 0
        self.file: ArrayFile | None = None

    def add(self, y: Any, rows: int) -> None:
        """Append the labels of a block."""
        labels = None if y is None else as_labels(y, rows)
        kind = kind_of(labels)
        if kind == "int64":
            self.largest_whole = max(self.largest_whole, largest_magnitude(labels))
        self._settle(kind)
        if self.file is not None and labels is not None:
            self.file.append(self._codes(labels) if kind == "strings" else labels)

    def _settle(self, kind: str) -> None:
        """See to it that the labels so far and those to come are of one kind."""
        if not self.kind:
            self.kind = kind
            self.file = None if kind == "none" else ArrayFile(self.path, LABEL_TYPES[kind])
        elif {self.kind, kind} == {"int64", "float64"}:
            if self.largest_whole > LARGEST_WHOLE_FLOAT:
                raise InputError(
                    f"labels beyond {LARGEST_WHOLE_FLOAT} cannot stand among fractions"
                )
            if self.kind == "int64" and self.file is not None:
                self.file = self.file.converted(LABEL_TYPES[kind])
            self.kind = "float64"
        elif self.kind != kind:
            raise InputError(
                f"labels must be of one kind, but after {self.kind} come {kind}; "
                "give all as numbers, all as strings or none"
            )

    def _codes(self, labels: Any) -> np.ndarray:
        names = self.names
        codes = [names.setdefault(name, len(names)) for name in labels.tolist()]
        if len(names) > MOST_NAMES:
            raise InputError(f"labels must be at most {MOST_NAMES} different strings, got more")
        return np.array(codes, np.int32)


def kind_of(labels: np.ndarray | None) -> str:
    """Give the kind of labels: none, int64, float64 or strings."""
    if labels is None:
        return "none"
    if labels.dtype.kind in "biu":
        return "int64"
    if labels.dtype.kind == "f":
        return "float64"
    if labels.dtype.kind in "OUT" and all(isinstance(label, str) for label in labels.tolist()):
        return "strings"
    raise InputError(f"labels of a store must be numbers or strings, got {labels.dtype}")


def largest_magnitude(labels: Any) -> int:
    """Give the largest magnitude of whole numbers, which must fit into 64 bits."""
    largest = max(-int(labels.min()), int(labels.max()))
    if int(labels.max()) > np.iinfo(np.int64).max:
        raise InputError(f"labels must be below 2^63, got {largest}")
    return largest


class Writer:
    """The arrays of a store under construction."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = self.columns = self.entries = 0
        self.files: dict[str, ArrayFile] = {}
        self.manner: list[str] = []
        self.labels = LabelFile(file_of(folder, "labels"))
        self.known: Columns | None = None

    def add(self, X: Any, y: Any, known: Columns | None = None, weights: Any = None) -> None:
        """Add a block; one without rows says nothing."""
        X = usable(X)
        if X.shape[0] == 0:
            return
        parts: dict[str, Any] = {"values": X}
        if issparse(X):
            starts = X.indptr[1 if self.rows else 0 :].astype(np.int64) + self.entries
            parts = {"values": X.data, "columns": X.indices, "starts": starts}
        if weights is not None:
            parts["weights"] = np.asarray(weights, np.float64)
        self._check_alike(X, parts)
        self.known = self.known if self.rows else known
        for name, part in parts.items():
            if name not in self.files:
                kind = ARRAYS.get(name, part.dtype)
                self.files[name] = ArrayFile(file_of(self.folder, name), kind, part.shape[1:])
            self.files[name].append(part)
        self.labels.add(y, X.shape[0])
        self.rows += X.shape[0]
        self.columns = max(self.columns, X.shape[1])
        self.entries = self.files["values"].size

    def _check_alike(self, X: Any, parts: dict[str, Any]) -> None:
        manner = ["sparse" if issparse(X) else "dense", str(X.dtype)]
        manner += ["weights"] if "weights" in parts else []
        before, now = self.manner or manner, manner
        self.manner = manner
        if not issparse(X):  # sparse rows may grow wider
            columns = self.columns if self.rows else X.shape[1]
            before, now = [*before, f"{columns} columns"], [*now, f"{X.shape[1]} columns"]
        if before != now:
            raise InputError(
                f"blocks must be alike, but after {self.rows} rows ({', '.join(before)}) "
                f"come others ({', '.join(now)})"
            )

    def finish(self) -> None:
        """Flush all arrays, and write the header, which makes the folder a store."""
        if self.rows == 0:
            raise InputError("there are no examples to store; give at least one row")
        if "starts" in self.files and self.entries <= ENTRY_LIMIT:
            self.files["starts"] = self.files["starts"].converted(np.int32)
        if self.labels.file is not None:
            self.files["labels"] = self.labels.file
        header = {
            "format": FORMAT,
            "version": VERSION,
            "rows": self.rows,
            "columns": self.columns,
            "names": list(self.labels.names),
            "made_of": None if self.known is None else self.known.parts(),
            "arrays": {name: file.finish() for name, file in self.files.items()},
        }
        content = json.dumps(header | {"digest": digest_of(header)}, indent=1) + "\n"
        if len(content) > LARGEST_HEADER:
            raise InputError(
                f"the names of labels and columns take more than {LARGEST_HEADER} bytes"
            )
        write_atomically(self.folder / HEADER_FILE, content.encode())

    def close(self) -> None:
        """Close what an error left open."""
        for file in (*self.files.values(), self.labels.file):
            if file is not None:
                file.file.close()


def usable(X: Any) -> Any:
    """Give rows as floats: a CSR matrix with distinct, ascending columns, or a dense array."""
    if not issparse(X):
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] == 0:
            raise InputError(f"rows must be a table with at least one column, got {X.shape}")
        return as_floats(X)
    check_structure(X)
    if X.ndim != 2 or X.shape[1] > MOST_COLUMNS:
        raise InputError(f"rows must be a table of up to {MOST_COLUMNS} columns, got {X.shape}")
    X = as_floats(X.tocsr())
    if X.indices.size and not 0 <= X.indices.min() <= X.indices.max() < X.shape[1]:
        raise InputError(f"rows have a column outside the {X.shape[1]} of their matrix")
    if X.indptr[-1] != X.indices.size or not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
        X.prune()
    return X


def as_floats(X: Any) -> Any:
    """Give rows as float32 or float64, themselves if they are that already."""
    if X.dtype.kind not in "biuf":
        raise InputError(f"rows must be numbers, got {X.dtype}")
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
