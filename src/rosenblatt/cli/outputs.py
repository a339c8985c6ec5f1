"""Files that commands write: refused before the work, not after it, if they cannot be."""

from __future__ import annotations

import os
from pathlib import Path

from rosenblatt.data.sources import Name, files, is_pipe
from rosenblatt.errors import InputError


def check_writable(path: Path | None, *inputs: Name) -> None:
    """Find out before the work, not after it, that a file cannot or should not be written."""
    if path is None:
        return
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder; give the name of a file to write")
    folder = path.absolute().parent
    if not os.path.isdir(folder):
        known = next(above for above in (folder, *folder.parents) if os.path.exists(above))
        if not os.path.isdir(known):
            name = path.parent if known == folder else known
            raise InputError(f"{name} is a file, not a folder to write to; give another name")
        raise InputError(f"there is no folder {path.parent} to write to; make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write to the folder {path.parent}: permission denied")
    check_unread(path, *inputs)


def check_unread(path: Path, *inputs: Name) -> None:
    """Refuse to write over what the command reads, by whatever name."""
    if not os.path.exists(path) or is_pipe(path):
        return
    for data in inputs:
        for name in {os.fspath(data), *files(data)}:
            if os.path.exists(name) and os.path.samefile(path, name):
                raise InputError(f"{path} is what the command reads; give another name to write")
