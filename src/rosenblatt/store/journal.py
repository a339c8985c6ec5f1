"""The journal of corrections: one SQLite file; what is in it is learned, in its order.

corrections   seq      the order, whatever clocks say; never used twice
              id       names what was corrected: given again with the same label, nothing is stored
              label    JSON
              row      columns and values, compressed
              note     for people; at: seconds since 1970, likewise
              undone   0, or the revision at which the correction was taken back
              sum      CRC-32 of id, label and row
facts         revision (how often something was undone), base (the last correction that lies in a
              base model, and no longer here), learner and what else the store says, as JSON

SQLite writes ahead and flushes each commit (WAL, synchronous=FULL): what `append` gives back is on
disk. Several processes may append and read at once.
"""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.errors import InputError, StoreError

VERSION = 1
PATIENCE = 60.0  # seconds that a writer waits for the others
LIVE = "SELECT seq, id, label, row, note, at, sum FROM corrections WHERE undone = 0"
SCHEMA = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE corrections (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, label TEXT NOT NULL, row BLOB NOT NULL,
  note TEXT NOT NULL, at REAL NOT NULL, undone INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL);
CREATE UNIQUE INDEX live ON corrections (id) WHERE undone = 0;
CREATE INDEX taken_back ON corrections (undone) WHERE undone > 0;
PRAGMA user_version = {VERSION};
"""
REASONS = {
    "full": "the disk is full; make room and try again",
    "disk I/O": "the disk refuses to write; make room, or look at the disk",
    "readonly": "it cannot be written to; look at the permissions, or give another store",
    "locked": "other processes kept it busy for a minute; try again",
    "unable to open": "it cannot be opened; look at the permissions of its folder",
    "malformed": "it is damaged; `export --readable` writes what can still be read",
    "not a database": "it is damaged, or no journal at all",
}

Row = tuple[np.ndarray, np.ndarray] | dict[str, float]


class Correction(NamedTuple):
    """What was corrected, its features, and its true label."""

    id: str
    row: Row
    label: Any
    note: str = ""


class Receipt(NamedTuple):
    """A correction that is on disk, and whether it was already."""

    seq: int
    new: bool


class Undo(NamedTuple):
    """A correction to be taken back: that with this id, or the latest one."""

    id: str | None = None


class Undone(NamedTuple):
    """A correction that was taken back."""

    seq: int
    id: str


class Lesson(NamedTuple):
    """A correction as it is learned."""

    seq: int
    row: Row
    label: Any
    at: float


class Position(NamedTuple):
    """How far a journal is, and how far a model has read it."""

    revision: int
    seq: int


class Journal:
    """An open journal, for one thread.

    Parameters
    ----------
    path : path
        The file, which must be there.
    read_only : bool, default=False
        Whether it will be read only, as in a folder that cannot be written to.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        with self._saying():
            self._base = self._opened(read_only)
            found = self._base.execute("PRAGMA user_version").fetchone()[0]
        if found != VERSION:
            raise StoreError(
                f"the journal {path} has version {found}, and this program reads version {VERSION}"
                + ("; update rosenblatt" if found > VERSION else "; it is not a rosenblatt journal")
            )

    @classmethod
    def create(cls, path: Path, facts: dict[str, Any]) -> Journal:
        """Make a journal, unless another process was faster."""
        path.parent.mkdir(parents=True, exist_ok=True)
        journal = cls.__new__(cls)
        journal.path = path
        with journal._saying():
            journal._base = sqlite3.connect(path, PATIENCE, isolation_level=None)
            journal._base.execute("PRAGMA journal_mode = WAL")
            with journal._writing() as base:
                if not base.execute("PRAGMA user_version").fetchone()[0]:
                    for statement in filter(str.strip, SCHEMA.split(";")):
                        base.execute(statement)
                    journal._put({"revision": 0, "base": 0, **facts})
            journal.close()
        return cls(path)

    def _opened(self, read_only: bool) -> sqlite3.Connection:
        if read_only:
            return self._read_only()
        base = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw", PATIENCE, isolation_level=None, uri=True
        )
        base.execute("PRAGMA synchronous = FULL")
        return base

    def _read_only(self) -> sqlite3.Connection:
        """Open where nothing can be written: without a log beside it, the file is all there is."""
        uri = f"{self.path.as_uri()}?mode=ro"
        base = sqlite3.connect(uri, PATIENCE, isolation_level=None, uri=True)
        try:
            base.execute("SELECT 1 FROM facts").fetchone()
        except sqlite3.OperationalError:
            log = self.path.with_name(f"{self.path.name}-wal")
            if log.exists() and log.stat().st_size:
                raise
            base = sqlite3.connect(f"{uri}&immutable=1", isolation_level=None, uri=True)
        return base

    def close(self) -> None:
        """Close the file; the last one to do so tidies up."""
        self._base.close()

    # ---- writing

    def append(self, corrections: Sequence[Correction]) -> list[Receipt]:
        """Store corrections, all or none; they are on disk when this returns.

        One whose id was corrected to another label before takes that correction back.
        """
        receipts: list[Receipt] = self.write([corrections])[0]
        return receipts

    def write(self, changes: Sequence[Sequence[Correction] | Undo]) -> list[Any]:
        """Make changes with one flush for all; what cannot be undone gives its InputError.

        Of corrections the receipts are given, of one that is undone which it was.
        """
        prepared = [
            each if isinstance(each, Undo) else [_prepared(correction) for correction in each]
            for each in changes
        ]
        with self._saying(), self._writing():
            return [
                self._undo(each.id)
                if isinstance(each, Undo)
                else [self._append(*correction) for correction in each]
                for each in prepared
            ]

    def _append(self, name: str, label: str, row: bytes, note: str) -> Receipt:
        before = self._base.execute(
            "SELECT seq, label FROM corrections WHERE id = ? AND undone = 0", (name,)
        ).fetchone()
        if before is not None and before[1] == label:
            return Receipt(before[0], new=False)
        if before is not None:
            self._take_back(before[0])
        stored = self._base.execute(
            "INSERT INTO corrections (id, label, row, note, at, sum) VALUES (?, ?, ?, ?, ?, ?)",
            (name, label, row, note, time.time(), sum_of(name, label, row)),
        )
        return Receipt(int(stored.lastrowid or 0), new=True)

    def undo(self, name: str | None = None) -> int:
        """Take back the correction with this id, or the latest one; give its number."""
        found = self.write([Undo(name)])[0]
        if isinstance(found, InputError):
            raise found
        return int(found.seq)

    def _undo(self, name: str | None) -> Undone | InputError:
        which, values = ("AND id = ?", (name,)) if name is not None else ("", ())
        found = self._base.execute(
            f"SELECT seq, id FROM corrections WHERE undone = 0 {which} ORDER BY seq DESC LIMIT 1",
            values,
        ).fetchone()
        if found is None:
            return InputError(
                f"{self.path.parent} has no correction to undo"
                + ("" if name is None else " of this")
                + "; what was compacted can no longer be undone"
            )
        self._take_back(found[0])
        return Undone(*found)

    def _take_back(self, seq: int) -> None:
        revision = self.facts()["revision"] + 1
        self._base.execute("UPDATE corrections SET undone = ? WHERE seq = ?", (revision, seq))
        self._put({"revision": revision})

    def forget(self, position: Position) -> bool:
        """Drop the corrections that a base model holds now; not if some were undone meanwhile."""
        with self._saying():
            with self._writing() as base:
                if self.facts()["revision"] != position.revision:
                    return False
                base.execute("DELETE FROM corrections WHERE seq <= ?", (position.seq,))
                self._put({"base": position.seq})
            self._base.execute("VACUUM")
        return True

    def restore(self, facts: dict[str, Any], entries: Iterable[tuple[Any, ...]]) -> None:
        """Fill an empty journal with what another one held."""
        with self._saying(), self._writing() as base:
            if base.execute("SELECT count(*) FROM corrections").fetchone()[0]:
                raise InputError(f"{self.path.parent} holds corrections; import into a new store")
            self._put(facts)
            base.executemany(
                "INSERT INTO corrections (seq, id, label, row, note, at, sum)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                entries,
            )

    def _put(self, facts: dict[str, Any]) -> None:
        pairs = [(name, json.dumps(value)) for name, value in facts.items()]
        self._base.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", pairs)

    # ---- reading

    def facts(self) -> dict[str, Any]:
        """Give the facts about the store."""
        with self._saying():
            found = self._base.execute("SELECT name, value FROM facts").fetchall()
        return {name: json.loads(value) for name, value in found}

    def position(self) -> Position:
        """Give how far the journal is."""
        with self._saying():
            query = "SELECT seq FROM sqlite_sequence WHERE name = 'corrections'"
            last = self._base.execute(query).fetchone()
            revision = self._base.execute("SELECT value FROM facts WHERE name = 'revision'")
            return Position(int(revision.fetchone()[0]), last[0] if last else 0)

    def leads_to(self, position: Position) -> bool:
        """Tell whether a model that was there can go on: nothing that it holds was undone since."""
        with self._saying():
            gone = "SELECT 1 FROM corrections WHERE undone > ? AND seq <= ? LIMIT 1"
            undone = self._base.execute(gone, position).fetchone()
        here = self.position()
        within = self.facts()["base"] <= position.seq <= here.seq
        return undone is None and within and position.revision <= here.revision

    def after(self, seq: int) -> Iterator[Lesson]:
        """Give the corrections behind one, in order."""
        with self._saying():
            for found in self._base.execute(f"{LIVE} AND seq > ? ORDER BY seq", (seq,)):
                yield self._taken(*found)

    def _taken(
        self, seq: int, name: str, label: str, row: bytes, note: str, at: float, sum: int
    ) -> Lesson:
        if sum_of(name, label, row) != sum:
            raise StoreError(
                f"correction {seq} of {self.path} is damaged; `export --readable` writes the others"
            )
        return Lesson(seq, unpacked(row), json.loads(label), at)

    def latest(self, most: int) -> list[tuple[Correction, float]]:
        """Give the latest corrections and their times, the newest first."""
        with self._saying():
            found = self._base.execute(f"{LIVE} ORDER BY seq DESC LIMIT ?", (most,)).fetchall()
        return [
            (Correction(name, unpacked(row), json.loads(label), note), at)
            for _, name, label, row, note, at, _ in found
        ]

    def entries(self, *, readable: bool = False) -> Iterator[tuple[Any, ...]]:
        """Give the corrections as they are stored; if asked, only those that can be read."""
        with self._saying():
            last = self.position().seq
            for seq in range(1, last + 1):
                try:
                    found = self._base.execute(f"{LIVE} AND seq = ?", (seq,)).fetchone()
                    if found is not None:
                        self._taken(*found)
                        yield found
                except (sqlite3.DatabaseError, StoreError):
                    if not readable:
                        raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state of the journal, whatever others write."""
        with self._saying():
            self._base.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):  # what is damaged was said
                self._base.execute("ROLLBACK")

    # ---- SQLite

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield self._base
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:  # a full disk has rolled back already
                self._base.execute("ROLLBACK")
            raise

    @contextmanager
    def _saying(self) -> Iterator[None]:
        """Say in a sentence what is wrong with the file."""
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            reason = next((words for sign, words in REASONS.items() if sign in said), said)
            raise StoreError(f"the journal {self.path} does not answer: {reason}") from error
        except OSError as error:
            raise StoreError(f"the journal {self.path}: {error.strerror or error}") from error


def _prepared(correction: Correction) -> tuple[str, str, bytes, str]:
    label = json.dumps(correction.label, allow_nan=False)
    return correction.id, label, packed(correction.row), correction.note


def packed(row: Row) -> bytes:
    """Give a row as bytes."""
    if isinstance(row, dict):
        return zlib.compress(b"{" + json.dumps(row, allow_nan=False).encode(), 1)
    columns, values = np.asarray(row[0], "<i8"), np.asarray(row[1], "<f8")
    steps = np.diff(columns, prepend=0).astype("<i8")  # small numbers, which take little room
    return zlib.compress(b"[" + steps.tobytes() + values.tobytes(), 1)


def unpacked(content: bytes) -> Row:
    """Give the row of `packed`."""
    data = zlib.decompress(content)
    if data[:1] == b"{":
        row: dict[str, float] = json.loads(data[1:])
        return row
    half = (len(data) - 1) // 2
    steps = np.frombuffer(data, "<i8", half // 8, 1)
    return np.cumsum(steps), np.frombuffer(data, "<f8", half // 8, 1 + half).copy()


def sum_of(name: str, label: str, row: bytes) -> int:
    """Give the check sum of a correction."""
    return zlib.crc32(row, zlib.crc32(f"{name}\0{label}\0".encode()))
