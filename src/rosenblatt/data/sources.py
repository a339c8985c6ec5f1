r"""From what a person names to bytes.

The rules
---------
- ``-`` is standard input. A path that exists is taken as it is, whatever letters it has. A folder
  stands for the files right in it, and a path with ``*``, ``?`` or ``[`` for the files that match
  it (``**`` crosses folders); both in sorted order, without hidden files.
- The bytes of several files follow each other, with a newline put in where a file lacks its last
  one, and without the UTF-8 byte-order mark with which a file behind the first may begin; that is
  right for text, and formats that are not text read `files` one by one.
- Compressed files are read as what they hold (`compression`).
- A file that was looked at stays open for whoever reads it next, until `let_go`. A pipe can be read
  but once: what was looked at of it is handed on.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from glob import glob
from itertools import chain
from typing import IO, Any

import numpy as np

from rosenblatt.data.compression import MAGIC_BYTES, SUFFIXES, compression_of, decompressed
from rosenblatt.errors import InputError
from rosenblatt.memory import TooLargeError, memory

Name = str | os.PathLike[str]

STANDARD_INPUT = "-"
LOOKED_AT = 1 << 16  # at a time: what a pipe holds
LONGEST_NAME = 200
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SEARCH_BYTES = 1 << 14

# Pipes of which the beginning was looked at, with all their bytes, until somebody reads them.
_held: dict[Hashable, Iterator[bytes]] = {}
# Files that were looked at, open and at their beginning.
_open: dict[Hashable, IO[bytes]] = {}


class MisreadError(Exception):
    """What is wrong with a text, by the place of a byte, a word or a line in it."""

    def __init__(self, place: int, message: str) -> None:
        super().__init__(message)
        self.place = place


@dataclass(frozen=True)
class Several(os.PathLike[str]):
    """Files, folders and patterns that somebody names one by one: one data set, in that order."""

    names: tuple[str, ...]

    def __fspath__(self) -> str:
        return " ".join(self.names)

    __str__ = __fspath__


def files(path: Name) -> list[str]:
    """Give the names of the files that a path stands for.

    Raises
    ------
    InputError : a folder or a pattern that stands for no file.
    """
    if isinstance(path, Several):
        if any(map(is_pipe, path.names)):
            raise InputError("standard input is a data set of its own; give it alone")
        return [file for name in path.names for file in files(name)]
    name = os.fsdecode(path)
    if not name:
        raise InputError("the name of the file is empty; give a path, or - for standard input")
    if name == STANDARD_INPUT:
        return [name]
    if os.path.isdir(name):
        return _inside(name)
    if re.search(r"[*?[]", name) and not os.path.lexists(name):
        found = sorted(match for match in glob(name, recursive=True) if not os.path.isdir(match))
        if not found:
            raise InputError(f"no file matches {shown(name)}; check the pattern")
        return found
    return [name]


def _inside(folder: str) -> list[str]:
    try:
        entries = sorted(os.listdir(folder))
    except OSError as error:
        raise _unreadable(folder, error) from error
    visible = (os.path.join(folder, entry) for entry in entries if not entry.startswith("."))
    found = [path for path in visible if not os.path.isdir(path)]
    if not found:
        raise InputError(f"the folder {shown(folder)} holds no file; give a file of examples")
    return found


def contents(path: Name) -> np.ndarray:
    """Give all bytes of what a path stands for, decompressed; a plain file is memory-mapped.

    Examples
    --------
    >>> import gzip, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.svm")
    ...     with gzip.open(path, "wb") as file:
    ...         _ = file.write(b"1 1:1")
    ...     contents(path).tobytes()
    b'1 1:1'
    """
    names = files(path)
    if len(names) > 1:
        return _gathered(chunks(path), path)
    mapped = _mapped(names[0])
    return _gathered(_pieces(names[0], 1 << 22), path) if mapped is None else mapped


def _mapped(name: str) -> np.ndarray | None:
    """Map a plain file, or the one that standard input comes from; None if it must be read."""
    if name != STANDARD_INPUT and not os.path.isfile(name):
        return None
    with opened(name) as file:
        plain = _is_mappable(file) and compression_of(_peeked(file)) is None
        return np.memmap(file, np.uint8, mode="r") if plain else None


def _gathered(pieces: Iterator[bytes], path: Name) -> np.ndarray:
    buffer = bytearray()
    for piece in bounded(pieces, path):
        buffer += piece
    return np.frombuffer(buffer, np.uint8)


def bounded(pieces: Iterator[bytes], path: Name) -> Iterator[bytes]:
    """Give pieces that are to be held together, as long as there is memory for them."""
    held, most = 0, memory() // 2
    for piece in pieces:
        held += len(piece)
        if held > most:
            raise TooLargeError(
                f"{shown(path)} is, unpacked, longer than the {most / 2**30:,.1f} GiB that this "
                "machine can spare; give a part of it"
            )
        yield piece


def chunks(path: Name, size: int = 1 << 19) -> Generator[bytes, None, None]:
    """Stream the bytes of what a path stands for, decompressed, in pieces of about `size`.

    No piece is empty. From a pipe, bytes are handed on as they arrive.
    """
    last = b""
    for place, name in enumerate(files(path)):
        if last not in (b"", b"\n"):
            last = b"\n"
            yield last
        pieces = _pieces(name, size)
        for piece in pieces if place == 0 else unmarked(pieces):
            last = piece[-1:]
            yield piece


def beginning(path: Name, size: int) -> bytes:
    """Give the first bytes of what a path stands for, decompressed; a pipe still has them after.

    A folder or a pattern is taken by its first file.
    """
    name = files(path)[0]
    if name == STANDARD_INPUT or os.path.isfile(name):
        with opened(name, keep=True) as file:
            if _is_mappable(file):  # a file, which can be read from its beginning again
                head = _first(_read(file, name, LOOKED_AT), size)
                file.seek(0)
                return head[:size]
    pieces = _pieces(name, LOOKED_AT)
    head = _first(pieces, size)
    if is_pipe(name):
        _held[_identity(name)] = chain(filter(None, [head]), pieces)
    return head[:size]


def _first(pieces: Iterator[bytes], size: int) -> bytes:
    head = b""
    while len(head) < size and (piece := next(pieces, b"")):
        head += piece
    return head


def is_pipe(path: Name) -> bool:
    """Tell whether what a path names can be read but once: standard input, a pipe, a device."""
    name = os.fsdecode(path)
    if name == STANDARD_INPUT:
        return True
    return os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)


def _identity(name: str) -> Hashable:
    """Tell files and pipes apart; two names may stand for one."""
    if name == STANDARD_INPUT:
        return getattr(sys.stdin, "buffer", None)
    status = os.stat(name)
    return status.st_dev, status.st_ino


def _pieces(name: str, size: int) -> Iterator[bytes]:
    """Stream the bytes of one file, decompressed; those of a pipe that was looked at are held."""
    held = _held.pop(_identity(name), None) if is_pipe(name) else None
    if held is not None:
        yield from held
        return
    with opened(name) as file:
        yield from _read(file, name, size)


def unmarked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Give pieces without the byte-order mark that they may begin with."""
    first = next(pieces, b"").removeprefix(BYTE_ORDER_MARK)
    if first:
        yield first
    yield from pieces


def is_compressed(path: Name) -> bool:
    """Tell whether one file begins like a compressed stream; it must be one that can be reopened.

    A folder or a pattern is taken by its first file.
    """
    name = files(path)[0]
    with opened(name, keep=True) as file:
        return _is_mappable(file) and compression_of(_peeked(file)) is not None


def as_text(data: Any) -> np.ndarray:
    """View bytes as an array, read-only in any case, so that the loops are compiled only once."""
    if isinstance(data, np.ndarray):
        if data.dtype != np.uint8 or data.ndim != 1:
            found = f"{data.ndim} dimensions of {data.dtype}"
            raise InputError(f"text must be one dimension of uint8, got {found}; pass its bytes")
        text = np.ascontiguousarray(data).view()
    else:
        try:
            text = np.frombuffer(data, np.uint8)
        except (TypeError, ValueError, AttributeError):
            name = type(data).__name__
            raise InputError(f"text must be bytes or an array of uint8, got {name}") from None
    text.flags.writeable = False
    return text


def without_mark(text: np.ndarray) -> np.ndarray:
    """Give a text without the byte-order mark that it may begin with."""
    return text[3:] if text[:3].tobytes() == BYTE_ORDER_MARK else text


def after_line(text: np.ndarray, position: int) -> int:
    """Give the position after the first newline from a position on, or that of the end."""
    while position < text.size:
        found = text[position : position + SEARCH_BYTES].tobytes().find(b"\n")
        if found >= 0:
            return position + found + 1
        position += SEARCH_BYTES
    return text.size


def extension_of(name: Name) -> str:
    """Give the extension of a name in small letters, that of a compression taken off."""
    stem, extension = os.path.splitext(os.fsdecode(name).lower())
    return os.path.splitext(stem)[1] if extension in SUFFIXES else extension


def line_and_column(text: np.ndarray, offset: int) -> tuple[int, int]:
    """Give the line and the column of an offset into a text, counted from 1 and in bytes."""
    line, start = 1, 0
    for begin in range(0, offset, 1 << 20):
        newlines = np.flatnonzero(text[begin : min(begin + (1 << 20), offset)] == ord("\n"))
        if newlines.size:
            line, start = line + newlines.size, begin + int(newlines[-1]) + 1
    return line, offset - start + 1


def shown(path: Name) -> str:
    """Give a name as messages show it: cut if it is huge, nothing that a terminal would act on."""
    name = os.fsdecode(path)
    if name == STANDARD_INPUT:
        return "standard input"
    cut = f"{name[:LONGEST_NAME]}..." if len(name) > LONGEST_NAME else name
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)


def _unreadable(name: str, error: Exception) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"there is no file {shown(name)}; check its name")
    if isinstance(error, PermissionError):
        return InputError(f"cannot read {shown(name)}: permission denied; check its owner and mode")
    reason = getattr(error, "strerror", None) or error
    return InputError(f"cannot read {shown(name)}: {reason}")


@contextmanager
def opened(name: str, keep: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for reading, or take it over from who looked at it; keep it for the next one.

    Standard input is left open.
    """
    if name == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("there is no standard input; give the name of a file")
        yield sys.stdin.buffer
        return
    try:
        file = _open.pop(_identity(name), None) or open(name, "rb", buffering=0)  # noqa: SIM115
    except (OSError, ValueError) as error:  # a ValueError for a NUL in the name
        raise _unreadable(name, error) from error
    with ExitStack() as stack:
        stack.enter_context(file)
        yield file
        if keep:
            file.seek(0)
            _open[_identity(name)] = file
            stack.pop_all()


def let_go() -> None:
    """Close the files that were looked at and that nobody has read."""
    while _open:
        _open.popitem()[1].close()


def _is_mappable(file: IO[bytes]) -> bool:
    try:
        status = os.fstat(file.fileno())
        file.tell()
    except (OSError, ValueError):
        return False  # a pipe, or a stand-in for a file
    return stat.S_ISREG(status.st_mode) and status.st_size > file.tell() == 0


def _peeked(file: IO[bytes]) -> bytes:
    head = file.read(MAGIC_BYTES)
    file.seek(0)
    return head


def _read(file: IO[bytes], name: str, size: int) -> Iterator[bytes]:
    raw = _blocks(file, name, size)
    head = b""
    for block in raw:  # a pipe may give its first bytes one by one
        head += block
        if len(head) >= MAGIC_BYTES:
            break
    compression = compression_of(head)
    if compression is not None:
        yield from decompressed(compression, head, raw, shown(name), size)
    elif head:
        yield head
        yield from raw


def _blocks(file: IO[bytes], name: str, size: int) -> Iterator[bytes]:
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    while True:
        try:
            block = read(size)
        except (OSError, ValueError) as error:
            raise _unreadable(name, error) from error
        if not block:
            return
        yield block
