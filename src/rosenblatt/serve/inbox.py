"""The latest examples of a learner, in memory: what the inbox page shows and corrects.

Of a message the sender, the subject, the hashed features and what they were made of are kept for
as long as it is among the latest; nothing of this is written to disk.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.store.journal import Row

MOST = 200  # examples
LONGEST = 200  # letters of a sender


@dataclass
class Entry:
    """One example, and the label that it was corrected to."""

    id: str
    row: Row
    sender: str | None = None
    subject: str | None = None
    document: Any = None  # of a message, until its words are asked for
    correction: Any = None
    at: float = field(default_factory=time.time)
    _words: tuple[list[str], np.ndarray] | None = None

    def words(self) -> tuple[list[str], np.ndarray] | None:
        """Give the words of a message, and their columns."""
        if self.document is not None:
            from rosenblatt.mail.features import words_of

            self._words, self.document = words_of(self.document), None
        return self._words


class Inbox:
    """The latest examples, by id."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, Entry] = OrderedDict()

    def put(self, entry: Entry) -> None:
        """Take in an example as the newest; what it was corrected to stays."""
        before = self._entries.pop(entry.id, None)
        if before is not None and entry.correction is None:
            entry.correction = before.correction
        self._entries[entry.id] = entry
        if len(self._entries) > MOST:
            self._entries.popitem(last=False)

    def get(self, name: str) -> Entry | None:
        """Give the example of an id, if it is among the latest."""
        return self._entries.get(name)

    def correct(self, name: str, label: Any) -> None:
        """Note what an example was corrected to, None if that was taken back."""
        if (entry := self._entries.get(name)) is not None:
            entry.correction = label

    def latest(self, most: int) -> list[Entry]:
        """Give the newest examples first."""
        return [self._entries[name] for name in list(reversed(self._entries))[:most]]
