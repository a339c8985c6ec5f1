r"""Which format a data set has.

The format is told by the caller, or found: a folder by what lies in it; a file by how it begins,
then by its extension (that of a compression taken off), then by its first line of text.

    store     a folder that `rosenblatt convert` wrote           header.json in it
    npy       X.npy and y.npy in a folder, or name.npy           extension
    npz       X and y, or the parts of a CSR matrix, and y       begins like a zip file, or .npz
    idx       MNIST's files                                      two zeros, a type, a rank
    csv tsv parquet arrow jsonl                                  extension, or how they begin
    vowpal    Vowpal Wabbit's text                               .vw, or a | in the first line
    text      label<TAB>text, hashed by `TextHasher`             one tab, then words
    svmlight  everything else
"""

from __future__ import annotations

import os
import re

from rosenblatt.data.arrays import is_idx
from rosenblatt.data.reading import DEFAULT, Reading
from rosenblatt.data.sources import BYTE_ORDER_MARK as MARK
from rosenblatt.data.sources import Name, Several, beginning, extension_of, files, shown
from rosenblatt.errors import InputError

BEGINNINGS = {b"PK\x03\x04": "npz", b"PAR1": "parquet", b"ARROW1": "arrow"}
HEAD_BYTES = 1 << 16
NUMBER = re.compile(rb"[-+.\deE\s]+")
PAIRS = re.compile(rb"(?:(?:qid|\d++):[-+.\deE]++(?:\s++|\Z|(?=#)))++(?:#.*)?")
TABLE_EXTENSIONS = {
    **{".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet"},
    **{".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"},
    **{".jsonl": "jsonl", ".ndjson": "jsonl"},
}


def _text_format(path: Name, found: str) -> str:
    """Give the format of data for a model of texts: lines without labels are texts, too.

    Tables are known by their names, and svmlight by its pairs.
    """
    lines = text_lines(beginning(path, HEAD_BYTES)) if not folder_format(path) else []
    if found not in ("svmlight", "vowpal", "csv", "tsv", "jsonl") or not lines:
        return found
    extension = extension_of(files(path)[0])
    table = TABLE_EXTENSIONS.get(extension)
    if extension in (".svm", ".vw") or table not in (None, "tsv"):
        return found
    if table == "tsv" and any(b"\t" in line for line in lines):
        return found
    return found if all(map(is_pairs, lines[:-1] or lines)) else "text"


def folder_format(path: Name) -> str | None:
    """Give the format of a folder that is one data set, not a folder of data files."""
    for name, format in (("header.json", "store"), ("X.npy", "npy")):
        if os.path.isfile(os.path.join(path, name)):
            return format
    return None


def format_of(path: Name, reading: Reading = DEFAULT) -> str:
    """Give the format of a data set: the one that the caller says, or else what it looks like."""
    if reading.format is not None or reading.separator is not None:
        return reading.format or "csv"
    hashing = None if reading.wanted is None else reading.wanted.columns.hashing
    found = _looked_up(path)
    return _text_format(path, found) if hashing and hashing["format"] == "text" else found


def _looked_up(path: Name) -> str:
    folder = folder_format(path)
    if folder is not None:
        return folder
    if isinstance(path, Several) and any(map(folder_format, path.names)):
        raise InputError("a folder of arrays is a data set of its own; give it alone")
    names = files(path)
    if len(names) > 1:
        _check_alike(path, names)
    return found_format(path, beginning(path, HEAD_BYTES))


def _check_alike(path: Name, names: list[str]) -> None:
    """Refuse files that are not of one format, such as a note beside the data."""
    first: tuple[str, str] | None = None
    for name in names:
        head = beginning(name, HEAD_BYTES // 16)
        if not head.strip():
            continue
        format = found_format(name, head)
        if format == "svmlight" and not is_svmlight(head):
            format = "none that is known"
        first = first or (name, format)
        if format != first[1]:
            raise InputError(
                f"{shown(path)} stands for files of different formats: that of {shown(first[0])} "
                f"is {first[1]}, and that of {shown(name)} is {format}; give a pattern, such as "
                "'*.svm', that stands for files of one"
            )


def is_svmlight(head: bytes) -> bool:
    """Tell whether the first line of a text, comments apart, is that of an svmlight file."""
    lines = (line.partition(b"#")[0].strip() for line in head.splitlines())
    words = next(filter(None, lines), b"").removeprefix(MARK).split(maxsplit=1)
    return len(words) < 2 or PAIRS.match(words[1]) is not None


def found_format(path: Name, head: bytes) -> str:
    """Give the format of files, by their name and by how they begin."""
    extension = extension_of(files(path)[0])
    if extension in (".npy", ".npz"):
        return extension[1:]
    if extension in (".lp", ".mps"):
        raise InputError(
            f"{shown(path)} is a linear program, not a data set; rosenblatt.solve, in the shell "
            "`rosenblatt solve`, reads it"
        )
    for start, format in BEGINNINGS.items():
        if head.startswith(start):
            return format
    if is_idx(head):
        return "idx"
    line, *others = text_lines(head) or [b""]
    if extension in (".tsv", ".txt", "") and is_labelled_text(line):
        headed = bool(others) and not any(map(is_labelled_text, others))
        if extension != ".tsv" or not headed:
            return "text"
    if extension in TABLE_EXTENSIONS:
        return TABLE_EXTENSIONS[extension]
    if line.startswith(b"{"):
        return "jsonl"
    if extension == ".vw" or b"|" in line:
        return "vowpal"
    return "csv" if b"," in line and b":" not in line else "svmlight"


def text_lines(head: bytes) -> list[bytes]:
    """Give the lines of a text that are not blank."""
    return [line for line in head.splitlines() if line.strip()]


def is_pairs(line: bytes) -> bool:
    """Tell whether a line looks like svmlight: pairs, and perhaps a label before them."""
    pairs = line.strip(), line.strip().partition(b" ")[2].strip()
    return any(map(PAIRS.fullmatch, pairs))


def is_labelled_text(line: bytes) -> bool:
    """Tell whether a line looks like label<TAB>text: one tab, and then more than numbers."""
    label, _, text = line.partition(b"\t")
    numbers = NUMBER.fullmatch(text) or PAIRS.fullmatch(text)
    return bool(label) and b"\t" not in text and bool(text) and not numbers
