"""A data set that opens at once, because its arrays are mapped, not read.

Layout      a folder of ``.npy`` files, which `numpy.load` opens too, and ``header.json``
            sparse rows   starts.npy   int32, or int64 if entries reach 2^31
                          columns.npy  int32, ascending and distinct within a row
                          values.npy   float32 or float64
            dense rows    values.npy   float32 or float64, of shape (rows, columns)
            labels        labels.npy   int64 or float64, or int32 codes of names in the header
            weights       weights.npy  float64, if the examples have weights
Header      format, version, rows, columns, the names of labels, what the columns are; of each
            array its type, shape and SHA-256; and the SHA-256 of all this
Promise     a store is whole or not there: it is written beside its place, flushed, then renamed

Opening checks that no index leads outside: the header and its digest, the types and shapes of the
arrays, the starts, which must rise, and the range of the columns. That reads the indices: 0.14 s
for a hundred million entries, 0.8 GB, once they are in memory. With ``verify=True``, as
`rosenblatt info` opens it, every array is compared with its digest too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.data.arrays import npy_array
from rosenblatt.data.store_writer import (
    FORMAT,
    HEADER_FILE,
    LARGEST_HEADER,
    MOST_COLUMNS,
    VERSION,
    digest_of,
    file_of,
    write_store,
)
from rosenblatt.data.strings import coded_strings
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples
from rosenblatt.names import Columns

__all__ = ["open_store", "write_store"]

VERIFIED_AT_ONCE = 1 << 22
Expected = dict[str, tuple[tuple[str, ...], list[int]]]


class Array(NamedTuple):
    """What the header says of an array."""

    dtype: str
    shape: list[int]
    sha256: str


class Header(NamedTuple):
    """What the header says of a store."""

    rows: int
    columns: int
    names: list[str]
    made_of: Columns | None
    arrays: dict[str, Array]

    @property
    def is_sparse(self) -> bool:
        """Tell whether the rows are sparse."""
        return "starts" in self.arrays

    def makes_sense(self) -> bool:
        """Tell whether its parts have the right types and fit together."""
        if type(self.rows) is not int or type(self.columns) is not int or self.rows < 1:
            return False
        if not isinstance(self.names, list) or not all(type(name) is str for name in self.names):
            return False
        expected = self._expected()
        return self.arrays.keys() == expected.keys() and all(
            array.dtype in expected[name][0] and array.shape == expected[name][1]
            for name, array in self.arrays.items()
        )

    def _expected(self) -> Expected:
        """Give the types that each array may have, and its shape."""
        floats = ("<f4", "<f8")
        arrays: Expected = {"values": (floats, [self.rows, self.columns])}
        if self.is_sparse and self.columns <= MOST_COLUMNS:
            entries = self.arrays["columns"].shape[:1]
            arrays = {
                "starts": (("<i4", "<i8"), [self.rows + 1]),
                "columns": (("<i4",), entries),
                "values": (floats, entries),
            }
        if "labels" in self.arrays:
            arrays["labels"] = (("<i4",) if self.names else ("<i8", "<f8"), [self.rows])
        if "weights" in self.arrays:
            arrays["weights"] = (("<f8",), [self.rows])
        return arrays


def open_store(path: str | os.PathLike[str], verify: bool = False) -> Examples:
    """Open a store that `write_store` wrote; its arrays are mapped and stay on the disk.

    To verify it is to read all of it, and compare it with its digests and its own indices. The
    arrays are read-only; labels that are strings are not mapped but made.

    Examples
    --------
    >>> import tempfile, numpy as np, rosenblatt as rb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_store(f"{folder}/eye.rows", [rb.Examples(np.eye(2), ["spam", "ham"])])
    ...     X, y = open_store(f"{folder}/eye.rows", verify=True)
    ...     print(X.tolist(), y)
    [[1.0, 0.0], [0.0, 1.0]] ['spam' 'ham']
    """
    folder = Path(path)
    header = read_header(folder)
    arrays = {name: map_array(folder, name, array) for name, array in header.arrays.items()}
    rows: Any = make_rows(folder, header, arrays) if header.is_sparse else arrays["values"]
    if verify:
        verify_arrays(folder, header, arrays)
    if header.is_sparse:
        if verify and not rows.has_canonical_format:
            raise damaged(file_of(folder, "columns"), "has rows whose columns do not ascend")
        rows.has_canonical_format = True
    labels = make_labels(folder, header, arrays)
    return Examples(rows, labels, weights=arrays.get("weights"), columns=header.made_of)


def damaged(file: Path, fault: str) -> InputError:
    """Say what is wrong with a file of a store."""
    return InputError(f"{file} {fault}; the store is damaged, so write it again")


def read_header(folder: Path) -> Header:
    """Read the header and see to it that it makes sense."""
    file = folder / HEADER_FILE
    parts = parse_header(file)
    try:
        arrays = {name: Array(**array) for name, array in parts["arrays"].items()}
        parts |= {"arrays": arrays}
        parts["made_of"] = Columns.of_parts(parts.get("made_of"), parts["columns"])
        header = Header(**{key: parts[key] for key in Header._fields})
        sound = header.makes_sense()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{file} is not the header of a store: {error!r}; write the store again"
        ) from error
    if not sound:
        raise damaged(file, "contradicts itself")
    return header


def parse_header(file: Path) -> dict[str, Any]:
    """Give the JSON of a header that is of this format and version and has the right digest."""
    try:
        if not file.parent.is_dir():
            raise InputError(
                f"there is no store {file.parent}; a store is a folder, check its name"
            )
        if not file.is_file() or file.stat().st_size > LARGEST_HEADER:
            raise InputError(
                f"{file.parent} is not a store: it has no usable {HEADER_FILE}; write it again"
            )
        parts = dict(json.loads(file.read_bytes()))
        found = digest_of({key: parts[key] for key in parts if key != "digest"})
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from error
    except (ValueError, TypeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{file} is not the header of a store: it is not a JSON object; write the store again"
        ) from error
    says = (parts.get("format"), parts.get("version"))
    if says != (FORMAT, VERSION):
        raise InputError(
            f"{file} is not the header of a store that this version reads "
            f"(it says {str(says)[:80]}, not {(FORMAT, VERSION)}); write the store again with "
            "`rosenblatt convert`"
        )
    if parts.get("digest") != found:
        raise damaged(file, "is damaged: its contents do not match its digest")
    return parts


def map_array(folder: Path, name: str, said: Array) -> np.ndarray:
    """Map a file that holds the array that the header says, and nothing else."""
    file = file_of(folder, name)
    try:
        os.stat(file)
        # A pipe would wait.
        found = npy_array(np.memmap(file, np.uint8, "r")) if file.is_file() else None
    except OSError as error:
        raise InputError(
            f"cannot read {file}: {error.strerror or error}; write the store again"
        ) from error
    except ValueError:
        found = None
    if (
        found is None
        or [found.dtype.str, list(found.shape)] != [said.dtype, said.shape]
        or not found.flags.c_contiguous
    ):
        raise damaged(file, "is not the array that the header describes")
    return found.view(np.ndarray)


def make_rows(folder: Path, header: Header, arrays: dict[str, np.ndarray]) -> csr_matrix:
    """Make a sparse matrix of mapped arrays, refusing indices that lead outside."""
    starts, columns = arrays["starts"], arrays["columns"]
    if (
        starts[0] != 0
        or starts[-1] != columns.size
        or any(np.any(block[1:] < block[:-1]) for block in blocks_of(starts, overlap=1))
    ):
        raise damaged(file_of(folder, "starts"), "does not rise from 0 to the number of entries")
    # As unsigned numbers, negative ones are large: one comparison does.
    if columns.size and int(columns.view(np.uint32).max()) >= header.columns:
        fault = f"has columns outside the {header.columns} of the header"
        raise damaged(file_of(folder, "columns"), fault)
    matrix = csr_matrix((header.rows, header.columns), dtype=arrays["values"].dtype)
    # The constructor would copy columns of 32 bits because the starts have 64.
    matrix.data, matrix.indices, matrix.indptr = arrays["values"], columns, starts
    return matrix


def make_labels(folder: Path, header: Header, arrays: dict[str, np.ndarray]) -> np.ndarray | None:
    """Give the labels, mapped if they are numbers; None if the store has none."""
    if not header.names:
        return arrays.get("labels")
    codes = arrays["labels"]
    if codes.min() < 0 or codes.max() >= len(header.names):
        fault = f"has codes for more than the {len(header.names)} names of the header"
        raise damaged(file_of(folder, "labels"), fault)
    return coded_strings(header.names, codes)


def verify_arrays(folder: Path, header: Header, arrays: dict[str, np.ndarray]) -> None:
    """Refuse arrays that do not match their digests."""
    for name, array in header.arrays.items():
        found = hashlib.sha256()
        for block in blocks_of(arrays[name].reshape(-1)):
            found.update(block.data)
        if found.hexdigest() != array.sha256:
            fault = "is damaged: its contents do not match its digest"
            raise damaged(file_of(folder, name), fault)


def blocks_of(array: np.ndarray, overlap: int = 0) -> Iterator[np.ndarray]:
    """Cut an array into blocks, each with so much of the next one."""
    for start in range(0, array.size, VERIFIED_AT_ONCE):
        yield array[start : start + VERIFIED_AT_ONCE + overlap]
