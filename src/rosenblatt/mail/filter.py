"""The filter: marks messages, learns from corrections, and says why.

A message that is important has the label +1, any other -1; people give the two marks names of
their own. Corrections lie in a store, under the digest of the message, so that one that is learned
twice counts once, and one that is marked otherwise later counts as it was marked last.

`LEARNER` was chosen on the first fifth of SpamAssassin's corpus by date and on SMS messages, before
it met the rest: `bench/mail.py` measures it.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.mail.documents import canonical, documents, subject_of
from rosenblatt.mail.features import PIECE, SHIFT, Row, features_of, one_row, rows, values_of
from rosenblatt.store.journal import Correction, Receipt, Undo, Undone
from rosenblatt.store.store import MOST_DOUBT, Store, StoredPlane, threshold_of

LEARNER = "OnlineSVM"
OPTIONS = {"C": 2.0, "window": 30, "fit_intercept": False, "unsure": 0.005}
MARKS = ("important", "ordinary")
UNSURE = "unsure"
HEADER = "X-Rosenblatt"
OLD_HEADER = re.compile(rb"(?im)^x-rosenblatt:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)")
ENVELOPE, BLANK_LINE = re.compile(rb"From [^\n]*\n"), re.compile(rb"(\A|\n)\r?\n")
BATCH = 64  # messages whose features are made at once, and that are stored at once


class Marking(NamedTuple):
    """What the filter thinks of a message: a positive score is for the first mark."""

    mark: str
    score: float


class Reason(NamedTuple):
    """A feature of a message, and what it adds to the score."""

    name: str
    weight: float


class Filter:
    """An open filter, for one thread.

    Parameters
    ----------
    folder : str, path or None, default=None
        Its store; by default in the user's data folder.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.store = Store(folder or default_folder())
        facts = self.store.facts()
        if "marks" not in facts:
            raise InputError(f"{self.store.folder} is a store, but not one of mail; give another")
        self.marks: tuple[str, str] = tuple(facts["marks"])

    @classmethod
    def create(
        cls, folder: str | os.PathLike[str] | None = None, marks: tuple[str, str] = MARKS
    ) -> Filter:
        """Make a filter with these names for its marks, or open the one that is there."""
        documents([])  # without what reads messages, nothing is made
        folder = folder or default_folder()
        Store.create(folder, LEARNER, OPTIONS, marks=marks).close()
        return cls(folder)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    # ---- marking

    def answer(self, message: bytes) -> Marking:
        """Say what the filter thinks of a message."""
        return self.answer_row(one_row(documents([message])[0]))

    def answer_row(self, row: Row) -> Marking:
        """Say what the filter thinks of the features of a message."""
        plane = self.plane()
        score = self._score(plane, row)
        unsure = not score or abs(score) < min(plane.threshold, MOST_DOUBT)
        return Marking(UNSURE if unsure else self.marks[score < 0], score)

    def plane(self) -> StoredPlane:
        """Give the hyperplane with all corrections so far."""
        plane = self.store.plane()
        if plane is None:
            learner = self.store.learner()
            with suppress(InputError):  # the next one will find it, if there is room for it
                self.store.snapshot()
            if not learner.is_fitted:
                return StoredPlane(np.zeros(1), 0.0, [-1], 0.0)
            w = np.append(learner.coef_[0], learner.intercept_[0])
            plane = StoredPlane(w, 1.0, learner.classes_.tolist(), threshold_of(learner))
        return plane

    def _score(self, plane: StoredPlane, row: Row) -> float:
        return float(-plane.classes[0] * plane.score(*row) + 0.0)  # and no -0.0

    def why(self, message: bytes, top: int = 15) -> tuple[Marking, list[Reason]]:
        """Give the words that weighed most, for and against; the first bytes weigh as one."""
        names, hashes = features_of(documents([message])[0])
        columns, first = np.unique((hashes >> SHIFT).astype(np.int64), return_index=True)
        plane, values = self.plane(), values_of(columns)
        known = columns < plane.w.size - 1
        weights = np.zeros(columns.size)
        weights[known] = -plane.classes[0] * plane.w[columns[known]] * values[known]
        words = [
            Reason(names[k], float(each)) for k, each in zip(first, weights, strict=True) if each
        ]
        bytes_alone = [word for word in words if word.name.startswith(PIECE)]
        found = [word for word in words if not word.name.startswith(PIECE)]
        if bytes_alone:
            name = f"its first bytes, in {len(bytes_alone):,} pieces"
            found.append(Reason(name, sum(word.weight for word in bytes_alone)))
        found.sort(key=lambda reason: -abs(reason.weight))
        return self.answer_row((columns, values)), found[:top]

    # ---- learning

    def learn(self, messages: Iterable[tuple[bytes, bool]]) -> Iterator[Receipt]:
        """Learn from messages and whether they are important; they are stored as they are told."""
        remaining = iter(messages)
        while batch := list(islice(remaining, BATCH)):
            made = rows_of([message for message, _ in batch])
            yield from self.store.learn(
                [
                    Correction(name_of(message), row, 1 if important else -1, subject_of(message))
                    for (message, important), row in zip(batch, made, strict=True)
                ]
            )

    def undo(self, message: bytes | None = None) -> int:
        """Take back the correction of a message, or the latest one; give its number."""
        return self.store.undo(None if message is None else name_of(message))

    def undo_all(self, messages: Iterable[bytes]) -> list[int]:
        """Take back the corrections of messages, of those that have one; give their numbers."""
        self.store.check_writable()
        undone = self.store.journal.write([Undo(name_of(message)) for message in messages])
        numbers = [each.seq for each in undone if isinstance(each, Undone)]
        if not numbers:
            raise undone[0]
        return numbers


def rows_of(messages: list[bytes]) -> list[Row]:
    """Give the features of messages; for a single one, without the compiled loop."""
    found = documents(messages)
    return [one_row(found[0])] if len(found) == 1 else rows(found)


def name_of(message: bytes) -> str:
    """Give the name of a message in the store: the same wherever it lies."""
    return hashlib.sha256(canonical(message)).hexdigest()


def marked(message: bytes, answer: Marking) -> bytes:
    """Add the header that tells the answer; all else stays as it is, but for an old such header."""
    envelope, blank = ENVELOPE.match(message), BLANK_LINE.search(message)
    start = envelope.end() if envelope else 0
    stop = blank.end(1) if blank else len(message)
    end = b"\r\n" if message[start : message.find(b"\n", start) + 1].endswith(b"\r\n") else b"\n"
    score = round(answer.score, 4) + 0.0  # and no -0.0000
    said = f"{HEADER}: {answer.mark}; score={score:.4f}".encode() + end
    return message[:start] + said + OLD_HEADER.sub(b"", message[start:stop]) + message[stop:]


def default_folder() -> Path:
    """Give the folder of the filter in the user's data folder."""
    if given := os.environ.get("ROSENBLATT_STORE"):
        return Path(given)
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Application Support"
    else:
        root = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return root / "rosenblatt" / "mail"
