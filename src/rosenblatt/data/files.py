"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
from pathlib import Path

from rosenblatt.errors import InputError


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace a file as a whole: after a crash there is the old one or the new one.

    The bytes go to a new file in the same folder, which is flushed to the disk and then renamed;
    the folder is flushed too, since it holds the name.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target} is a folder; give the name of a file to write")
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        _write_flushed(beside, content, _mode_of(target))
        os.replace(beside, target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(f"cannot write {target}: {error.strerror}") from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)


def _mode_of(target: Path) -> int:
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        return 0o666  # less the user's umask, which `os.open` applies


def _write_flushed(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Flush a folder to the disk: it holds the names of its files."""
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened, and renaming is flushed by the system
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
