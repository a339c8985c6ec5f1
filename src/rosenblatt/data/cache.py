"""A data file kept as a store beside it, so that the next time it opens at once.

The name of the store tells the size, the time of the last change and a digest of every file it was
made of, how they were read, and the version of stores: if any of these changes, another store is
made, and old ones are left to their owner. The digest is that of the whole content up to `DIGESTED`
bytes; of a larger file, that of as many bytes in `PLACES` places from its beginning to its end.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from rosenblatt.data.files import explained
from rosenblatt.data.read import read_blocks
from rosenblatt.data.reading import DEFAULT, Reading
from rosenblatt.data.sources import Name, files, is_pipe, shown
from rosenblatt.data.store import open_store, write_store
from rosenblatt.data.store_writer import VERSION
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples

DIGESTED, PLACES = 1 << 26, 1 << 6


def cached(path: Name, reading: Reading = DEFAULT) -> Examples:
    """Open the store of a data set, making it first if it is not there."""
    store = store_of(path, reading)
    if not store.exists():
        write_store(store, read_blocks(path, reading))
    return open_store(store)


def store_of(path: Name, reading: Reading) -> Path:
    """Give the name of the store that belongs to a data set as it is now."""
    first = Path(path if os.path.isfile(path) else files(path)[0])
    return first.with_name(f"{first.name}.{fingerprint(path, reading)}.{VERSION}.rows")


def fingerprint(path: Name, reading: Reading) -> str:
    """Give a short digest of a data set as it is now, and of how it is read."""
    if is_pipe(path):
        raise InputError(f"{shown(path)} cannot be read again; give a file")
    with explained(f"read {path}"):
        facts = [(name, os.stat(name).st_mtime_ns, *_content(name)) for name in files(path)]
    chosen = {name: str(value) for name, value in sorted(reading.changed().items())}
    return hashlib.sha256(json.dumps([facts, chosen]).encode()).hexdigest()[:12]


def _content(name: str) -> tuple[int, str]:
    """Give the size of a file, and the digest of its content."""
    size, piece, total = os.stat(name).st_size, DIGESTED // PLACES, hashlib.blake2b()
    with open(name, "rb") as file:
        for place in range(PLACES):
            file.seek((max(size, DIGESTED) - piece) * place // (PLACES - 1))
            total.update(file.read(piece))
    return size, total.hexdigest()
