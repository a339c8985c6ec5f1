"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rosenblatt.errors import InputError

Name = str | os.PathLike[str]


def write_atomically(path: Name, content: bytes) -> None:
    """Replace a file as a whole: after a crash there is the old one or the new one."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn what the system says into an error that says what could not be done."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot {doing}: {error.strerror or error}") from error


def make_folder(folder: Name) -> None:
    """Make a folder and those around it, if they are not there."""
    with explained(f"make the folder {folder}"):
        Path(folder).mkdir(parents=True, exist_ok=True)


@contextmanager
def replacing(path: Name) -> Iterator[IO[bytes]]:
    """Open a file to be written as a whole: it appears, or replaces the old one, at the end.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(os.path.join(folder, "a")) as file:
    ...         _ = file.write(b"text")
    ...         before = os.path.exists(os.path.join(folder, "a"))
    ...     before, os.listdir(folder)
    (False, ['a'])
    """
    target = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)
    if os.path.isdir(target):
        raise InputError(f"{target} is a folder; give the name of a file to write")
    if "\0" in str(target):
        raise InputError(f"cannot write {str(target)!r}: a name holds no NUL")
    with explained(f"write {target}"):
        if os.path.exists(target) and not os.path.isfile(target):
            with target.open("wb") as file:
                yield file
        else:
            yield from _beside(target)


def _beside(target: Path) -> Iterator[IO[bytes]]:
    mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666
    # Not made of the target's name, which may already be as long as names can be.
    part = target.parent / f".{secrets.token_hex(8)}.part"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    flush_folder(target.parent)


def flush_folder(folder: Path) -> None:
    """Flush a folder to the disk: it holds the names of its files."""
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened, and renaming is flushed by the system
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
