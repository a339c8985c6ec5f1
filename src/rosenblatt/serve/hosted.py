"""A learner that is served: its answers, what it learns, and its counts.

It is touched by the event loop alone, so that each answer is that of one state between two
corrections. What it learns comes from the journal, in its order, after it is on disk.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.serve.inbox import Entry, Inbox
from rosenblatt.store.journal import Correction, Lesson, Row
from rosenblatt.store.store import Counts, StoredLearner, is_unsure

MOST_POINTS = 500  # of the curve


class Said(NamedTuple):
    """What a learner says of an example: of two labels, positive scores are for the first."""

    label: Any
    score: float
    unsure: bool


class Hosted:
    """A learner in memory.

    Parameters
    ----------
    name : str
        Its name.
    facts : dict
        What its store says about itself.
    held : StoredLearner
        The learner, how far it has read, and its counts.
    recent : list of (Correction, time)
        The latest corrections, the newest first.
    """

    def __init__(
        self,
        name: str,
        facts: dict[str, Any],
        held: StoredLearner,
        recent: list[tuple[Correction, float]],
    ) -> None:
        self.name, self.facts, self.held, self.inbox = name, facts, held, Inbox()
        self.kind = "mail" if "marks" in facts else "features"
        self.seen, self.bound_at = 0, 0
        self.bound: float | None = None
        self.curve = _cumulated(held.days)
        self._text = isinstance(self.labels[0], str) if self.labels else None
        for correction, at in reversed(recent):
            label, note = self.outward(correction.label), correction.note or None
            self.inbox.put(Entry(correction.id, correction.row, None, note, None, label, at))

    def learn(self, lessons: list[Lesson]) -> None:
        """Learn what is in the journal by now."""
        for lesson in lessons:
            self.held.learn(lesson)
        self._note()

    def replace(self, held: StoredLearner) -> None:
        """Go on with another learner, as after a correction was undone."""
        self.held = held
        self.bound = None
        self._note()

    def prove(self, bound: float, corrections: int) -> None:
        """Take a bound of the mistakes that was computed for so many corrections."""
        self.bound, self.bound_at = bound, corrections
        self.curve = [(k, m, bound if k == corrections else b) for k, m, b in self.curve]

    def _note(self) -> None:
        """Go on with the curve."""
        total = self.held.counts()
        if self.curve and self.curve[-1][0] >= total.corrections:
            self.curve = [point for point in self.curve if point[0] < total.corrections]
        if len(self.curve) >= MOST_POINTS:
            self.curve = self.curve[::2]
        bound = self.bound if self.bound_at == total.corrections else None
        self.curve.append((total.corrections, total.mistakes, bound))

    # ---- labels

    @property
    def labels(self) -> list[Any]:
        """The labels; the first of two has positive scores."""
        if self.kind == "mail":
            return list(self.facts["marks"])
        learner = self.held.learner
        return list(learner.classes_.tolist()[::-1]) if learner.is_fitted else []

    def outward(self, label: Any) -> Any:
        """Give a label as people know it."""
        if self.kind != "mail" or label is None:
            return label
        return self.facts["marks"][label < 0]

    def inward(self, label: Any) -> Any:
        """Give a label as the learner knows it; refuse those that it cannot learn."""
        if self.kind == "mail":
            if label not in self.facts["marks"]:
                marks = " or ".join(self.facts["marks"])
                raise InputError(f"the label must be {marks}, got {json.dumps(label)}")
            return 1 if label == self.facts["marks"][0] else -1
        if self._text is None:  # the first label tells what the others are
            self._text = isinstance(label, str)
        if isinstance(label, str) != self._text:
            wanted = "text" if self._text else "numbers"
            raise InputError(f"the labels of {self.name} are {wanted}; got {json.dumps(label)}")
        return label

    # ---- answers

    def answer(self, row: Row) -> Said:
        """Say what the learner thinks of a row."""
        learner, labels = self.held.learner, self.labels
        label, lead = learner.answer_one(row)
        unsure = is_unsure(learner, lead)
        if self.kind == "mail":
            if label is None and lead:  # one mark is known, and this is the other
                label = -learner.classes_.tolist()[0]
            label = self.outward(label)
        positive = len(labels) > 2 or label in labels[:1]
        return Said(label, lead if positive else 0.0 - lead, unsure or label is None)

    def reasons(self, entry: Entry, score: float, most: int = 8) -> list[dict[str, Any]]:
        """Give the features that weigh most in the score of an example."""
        learner, row = self.held.learner, entry.row
        words = entry.words()
        if not learner.is_fitted or (self.kind == "mail" and words is None):
            return []
        if words is None:
            names: Any = learner.feature_names_in_
        else:
            names = dict(zip(words[1].tolist(), words[0], strict=True))
            value = np.max(entry.row[1], initial=0.0)  # type: ignore[index]
            row = words[1], np.full(len(names), value)
        known = learner.classes_.tolist()
        alone = len(known) == 1 and known != [-1]  # the first class has negative scores
        columns, products = learner.weigh_one(row)
        signed = (-products if alone else products).tolist()
        weights = {names[k]: x for k, x in zip(columns.tolist(), signed, strict=True)}
        if words is not None:
            weights["its first bytes"] = score - sum(weights.values())
        order = sorted(weights, key=lambda name: -abs(weights[name]))[:most]
        return [{"name": name, "weight": weights[name]} for name in order if weights[name]]

    # ---- counts

    def totals(self) -> dict[str, Any]:
        """Give what was counted so far."""
        return {
            "learner": self.name,
            "seen": self.seen,
            **self.held.counts()._asdict(),
            "bound": self.bound,
            "bound_at": self.bound_at,
        }

    def stats(self) -> dict[str, Any]:
        """Give what was counted, day by day, and as a curve."""
        days = [{"day": day, **each._asdict()} for day, each in sorted(self.held.days.items())]
        return self.totals() | {"days": days, "curve": self.curve}


def _cumulated(days: dict[str, Counts]) -> list[tuple[int, int, float | None]]:
    """Give the curve of days that are over."""
    curve: list[tuple[int, int, float | None]] = []
    total = Counts()
    for day in sorted(days):
        total += days[day]
        curve.append((total.corrections, total.mistakes, None))
    return curve
