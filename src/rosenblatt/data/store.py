"""A binary form of a data set: opened at once, because it is mapped, not read.

Layout      a folder of flat, little-endian files, one for each array, and ``header.json``
            sparse rows   starts.bin   rows + 1 of int32, or of int64 if entries reach 2^31
                          columns.bin  int32, ascending and distinct within a row
                          values.bin   float32 or float64
            dense rows    values.bin   float32 or float64, row after row
            labels        labels.bin   int64 or float64, or int32 codes of names in the header
            weights       weights.bin  float64, if the examples have weights
Header      format, version, layout, rows, columns, entries, kind of the labels and their names,
            what the columns are; of each array its type, size and SHA-256; and the SHA-256 of all
Promise     a store is whole or not there: it is written beside its place, flushed, then renamed

Opening checks that no index leads outside: the header and its digest, the sizes of the files, the
starts, which must rise, and the range of the columns. That reads the indices: 0.14 s for a hundred
million entries, 0.8 GB, once they are in memory. With ``verify=True``, as `rosenblatt info` opens
it, every array is compared with its digest too.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.data.store_writer import (
    FORMAT,
    HEADER_FILE,
    LABEL_TYPES,
    LARGEST_HEADER,
    MOST_COLUMNS,
    VERSION,
    digest_of,
    file_of,
    write_store,
)
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples
from rosenblatt.names import Columns

__all__ = ["open_store", "write_store"]

LARGEST_SIZE = (1 << 63) - 1
VERIFIED_AT_ONCE = 1 << 22
# Names up to here, or few rows, become strings of one width; else rows share string objects, since
# one long name would make every row as long.
WIDE_NAME, SMALL_STRINGS = 32, 1 << 26

INDEX_TYPES, VALUE_TYPES = ("<i4", "<i8"), ("<f4", "<f8")


class Array(NamedTuple):
    """What the header says of an array."""

    dtype: str
    size: int
    sha256: str


class Header(NamedTuple):
    """What the header says of a store."""

    layout: str
    rows: int
    columns: int
    entries: int
    labels: str
    names: list[str]
    made_of: Columns | None
    arrays: dict[str, Array]


def open_store(path: str | os.PathLike[str], verify: bool = False) -> Examples:
    """Open a store that `write_store` wrote; its arrays are mapped and stay on the disk.

    Parameters
    ----------
    path : the folder.
    verify : whether to read all of it, and compare it with its digests and its own indices.

    Returns
    -------
    Examples of read-only arrays. Labels that are strings are not mapped but made.

    Raises
    ------
    InputError : the folder is no store, or is damaged; the message names the file.

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
    if header.layout == "sparse":
        check_ends(file_of(folder, "starts"), arrays["starts"], header.entries)
        check_rise(file_of(folder, "starts"), arrays["starts"])
        check_range(file_of(folder, "columns"), arrays["columns"], header.columns)
    if verify:
        verify_arrays(folder, header, arrays)
    rows, labels = make_rows(header, arrays), make_labels(folder, header, arrays)
    return Examples(rows, labels, weights=arrays.get("weights"), columns=header.made_of)


def read_header(folder: Path) -> Header:
    """Read the header and see to it that it makes sense."""
    file = folder / HEADER_FILE
    parts = parse_header(file)
    try:
        arrays = {name: Array(**array) for name, array in parts["arrays"].items()}
        parts |= {"arrays": arrays}
        parts["made_of"] = Columns.of_parts(parts.get("made_of"), parts["columns"])
        header = Header(**{key: parts[key] for key in Header._fields})
        sound = makes_sense(header)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{file} is not the header of a store: {error!r}; write the store anew"
        ) from error
    if not sound:
        raise InputError(f"{file} contradicts itself; the store is damaged, so write it anew")
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
                f"{file.parent} is not a store: it has no usable {HEADER_FILE}; write it anew"
            )
        parts = dict(json.loads(file.read_bytes()))
        found = digest_of({key: parts[key] for key in parts if key != "digest"})
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from error
    except (ValueError, TypeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{file} is not the header of a store: it is no JSON object; write the store anew"
        ) from error
    says = (parts.get("format"), parts.get("version"))
    if says != (FORMAT, VERSION):
        raise InputError(
            f"{file} is not the header of a store that this version reads "
            f"(it says {str(says)[:80]}, not {(FORMAT, VERSION)}); write the store anew"
        )
    if parts.get("digest") != found:
        raise InputError(f"{file} is damaged: its contents do not match its digest; write it anew")
    return parts


def makes_sense(header: Header) -> bool:
    """Tell whether the parts of a header have the right types and fit together."""
    sizes = (header.rows, header.columns, header.entries)
    if not all(type(size) is int and 0 <= size <= LARGEST_SIZE for size in sizes):
        return False
    names = header.names
    if not isinstance(names, list) or not all(type(name) is str for name in names):
        return False
    expected = expected_arrays(header)
    return (
        header.rows > 0
        and header.arrays.keys() == expected.keys()
        and all(
            array.dtype in expected[name][0]
            and (type(array.size), array.size) == (int, expected[name][1])
            for name, array in header.arrays.items()
        )
    )


def expected_arrays(header: Header) -> dict[str, tuple[tuple[str, ...], int]]:
    """Give the types that each array may have, and its size; none if the layout is unknown."""
    if header.layout == "sparse" and header.columns <= MOST_COLUMNS:
        arrays = {
            "starts": (INDEX_TYPES, header.rows + 1),
            "columns": (INDEX_TYPES[:1], header.entries),
            "values": (VALUE_TYPES, header.entries),
        }
    elif header.layout == "dense" and header.entries == header.rows * header.columns:
        arrays = {"values": (VALUE_TYPES, header.entries)}
    else:
        return {}
    if header.labels != "none":
        arrays["labels"] = ((LABEL_TYPES[header.labels],), header.rows)
    if "weights" in header.arrays:
        arrays["weights"] = (VALUE_TYPES[1:], header.rows)
    return arrays


def map_array(folder: Path, name: str, array: Array) -> np.ndarray:
    """Map a file that has the size that the header says."""
    file = file_of(folder, name)
    dtype = np.dtype(array.dtype)
    try:
        found = os.stat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_size != array.size * dtype.itemsize:
            raise InputError(
                f"{file} holds {found.st_size} bytes where the header says "
                f"{array.size * dtype.itemsize}; the store is damaged, so write it anew"
            )
        if array.size == 0:
            return np.empty(0, dtype)  # nothing cannot be mapped
        return np.memmap(file, dtype, "r", shape=(array.size,)).view(np.ndarray)
    except OSError as error:
        raise InputError(
            f"cannot read {file}: {error.strerror or error}; write the store anew"
        ) from error


def check_ends(file: Path, starts: np.ndarray, entries: int) -> None:
    """Refuse starts that do not lead from the first entry to the last."""
    if starts[0] != 0 or starts[-1] != entries:
        raise InputError(
            f"{file} leads from {starts[0]} to {starts[-1]}, not from 0 to {entries}; "
            "the store is damaged, so write it anew"
        )


def check_rise(file: Path, starts: np.ndarray) -> None:
    """Refuse starts that fall."""
    for start in range(0, starts.size, VERIFIED_AT_ONCE):
        block = starts[start : start + VERIFIED_AT_ONCE + 1]
        if np.any(block[1:] < block[:-1]):
            raise InputError(f"{file} does not rise; the store is damaged, so write it anew")


def check_range(file: Path, columns: np.ndarray, width: int) -> None:
    """Refuse columns outside the width."""
    # As unsigned numbers, negative ones are large: one comparison does.
    if any(int(block.view(np.uint32).max()) >= width for block in blocks_of(columns)):
        raise InputError(
            f"{file} has columns outside the {width} of the header; the store is damaged, "
            "so write it anew"
        )


def make_rows(header: Header, arrays: dict[str, np.ndarray]) -> Any:
    """Make the matrix of the mapped arrays."""
    shape = (header.rows, header.columns)
    if header.layout == "dense":
        return arrays["values"].reshape(shape)
    matrix = csr_matrix(shape, dtype=arrays["values"].dtype)
    # The constructor would copy columns of 32 bits because the starts have 64.
    matrix.data, matrix.indices = arrays["values"], arrays["columns"]
    matrix.indptr = arrays["starts"]
    matrix.has_canonical_format = True
    return matrix


def make_labels(folder: Path, header: Header, arrays: dict[str, np.ndarray]) -> np.ndarray | None:
    """Give the labels, mapped if they are numbers; None if the store has none."""
    if header.labels != "strings":
        return arrays.get("labels")
    codes, names = arrays["labels"], header.names
    if codes.min() < 0 or codes.max() >= len(names):
        raise InputError(
            f"{file_of(folder, 'labels')} has codes for more than the {len(names)} names of the "
            "header; the store is damaged, so write it anew"
        )
    width = max(map(len, names))
    small = width <= WIDE_NAME or 4 * width * codes.size <= SMALL_STRINGS
    cut_short = any(name.endswith("\0") for name in names)  # by strings of one width
    distinct = np.empty(len(names), f"U{width}" if small and not cut_short else object)
    distinct[:] = names
    labels: np.ndarray = distinct[codes]
    return labels


def verify_arrays(folder: Path, header: Header, arrays: dict[str, np.ndarray]) -> None:
    """Refuse arrays that do not match their digests, or rows that are out of order."""
    for name, array in header.arrays.items():
        found = hashlib.sha256()
        for block in blocks_of(arrays[name]):
            found.update(block.data)
        if found.hexdigest() != array.sha256:
            raise InputError(
                f"{file_of(folder, name)} is damaged: its contents do not match its digest; "
                "write the store anew"
            )
    if header.layout == "sparse":
        verify_order(file_of(folder, "columns"), arrays["starts"], arrays["columns"])


def blocks_of(array: np.ndarray) -> Iterator[np.ndarray]:
    """Cut an array into blocks."""
    for start in range(0, array.size, VERIFIED_AT_ONCE):
        yield array[start : start + VERIFIED_AT_ONCE]


def verify_order(file: Path, starts: np.ndarray, columns: np.ndarray) -> None:
    """Refuse columns that do not ascend within a row."""
    for start in range(0, columns.size, VERIFIED_AT_ONCE):
        block = columns[start : start + VERIFIED_AT_ONCE + 1]
        falls = block[1:] <= block[:-1]
        first, last = np.searchsorted(starts, (start + 1, start + block.size))
        falls[starts[first:last] - (start + 1)] = False  # where a row begins, columns may fall
        if falls.any():
            raise InputError(
                f"{file} has rows whose columns do not ascend; the store is damaged, "
                "so write it anew"
            )
