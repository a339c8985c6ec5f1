"""A learner and its journal in one folder: what was corrected is learned, and stays.

journal.sqlite       every correction, in order (`journal`)
model.safetensors    a snapshot: the learner, and how far in the journal it has read
earlier.safetensors  the snapshot of some hundred corrections ago, to go back to when one is undone
base-N.safetensors   the learner after correction N, if the journal was compacted there

The weights are those of all corrections in the journal that were not undone, learned one by one in
their order, from the base or from nothing: after a crash, after `undo` and in every process the
same bits. So are the counts: each correction is answered before it is learned, by day and in UTC.
Snapshots only save time; one that is missing, damaged or out of date is passed over.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.files import replacing, write_atomically
from rosenblatt.errors import InputError, StoreError
from rosenblatt.store.journal import VERSION, Correction, Journal, Lesson, Position, Receipt

JOURNAL, SNAPSHOT, EARLIER = "journal.sqlite", "model.safetensors", "earlier.safetensors"
STEP = 500  # corrections between a snapshot and the earlier one
# People often correct errors alone, after which no answer seems safe: there is an end to doubt.
MOST_DOUBT = 0.5
FORMAT = f"rosenblatt store {VERSION}"


START = Position(0, 0)


class StoredPlane(NamedTuple):
    """The hyperplane of a learner, without the learner: little is loaded to ask it."""

    w: np.ndarray  # of the lifted rows
    lift: float
    classes: list[Any]  # the first has negative scores
    threshold: float  # answers with scores below it are doubtful

    def score(self, columns: np.ndarray, values: np.ndarray) -> float:
        """Give the score of a row; columns that were never met weigh nothing."""
        known = columns < self.w.size - 1
        return float(self.w[columns[known]] @ values[known] + self.lift * self.w[-1])


class Counts(NamedTuple):
    """How often a learner was corrected, was wrong before that, and was unsure."""

    corrections: int = 0
    mistakes: int = 0
    unsure: int = 0

    def __add__(self, other: Any) -> Counts:
        return Counts(*map(sum, zip(self, other, strict=True)))


@dataclass
class StoredLearner:
    """A learner, how far in the journal it has read, and what was counted, by day."""

    learner: Any
    position: Position = START
    days: dict[str, Counts] = field(default_factory=dict)

    def learn(self, lesson: Lesson) -> None:
        """Answer a correction, then learn it."""
        _, row, label, at = lesson
        unsure = is_unsure(self.learner, self.learner.answer_one(row)[1])
        mistake = self.learner.learn_one(row, label)
        day = time.strftime("%Y-%m-%d", time.gmtime(at))
        self.days[day] = self.days.get(day, Counts()) + Counts(1, mistake, unsure)

    def counts(self) -> Counts:
        """Give the counts of all days."""
        return sum(self.days.values(), Counts())

    def notes(self) -> dict[str, Any]:
        """Give what a snapshot says beside the learner."""
        days = {day: list(counts) for day, counts in self.days.items()}
        return {"position": list(self.position), "days": days}


class Store:
    """An open store, for one thread.

    Parameters
    ----------
    folder : str or path
        The folder; `Store.create` makes one.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt.store.journal import Correction
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store.create(folder, "Perceptron", {})
    ...     receipts = store.learn([Correction("1", {"a": 1.0}, "yes"), Correction("2", {}, "no")])
    ...     store.learner().predict_one({"a": 2.0})
    'yes'
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).absolute()
        path = self.folder / JOURNAL
        if not path.exists():
            raise InputError(f"there is no store in {folder}; learn something first, or import one")
        self.read_only = not (os.access(path, os.W_OK) and os.access(self.folder, os.W_OK))
        self.journal = Journal(path, read_only=self.read_only)
        self._held: StoredLearner | None = None

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        learner: str,
        options: dict[str, Any],
        **facts: Any,
    ) -> Store:
        """Make a store for a learner of this name and with these options, or open what is there."""
        path = Path(folder).absolute() / JOURNAL
        if not path.exists():
            new_learner(learner, options)  # refused before anything is made
            try:
                Journal.create(path, {"learner": learner, "options": options, **facts}).close()
            except OSError as error:
                raise StoreError(f"cannot make the store {folder}: {error.strerror}") from error
        return cls(folder)

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def facts(self) -> dict[str, Any]:
        """Give what the store says about itself."""
        return self.journal.facts()

    # ---- learning

    def learn(self, corrections: Sequence[Correction]) -> list[Receipt]:
        """Store corrections, all or none; when this returns they are on disk."""
        self.check_writable()
        return self.journal.append(corrections)

    def undo(self, name: str | None = None) -> int:
        """Take back a correction, by its id or the latest; the weights become those without it."""
        self.check_writable()
        return self.journal.undo(name)

    def check_writable(self) -> None:
        """Refuse to write where that cannot be done."""
        if self.read_only:
            raise StoreError(
                f"the store {self.folder} cannot be written to; nothing was stored; look at its "
                "permissions, or give another store"
            )

    # ---- answering

    def learner(self) -> Any:
        """Give the learner, with all that the journal holds by now."""
        return self.held().learner

    def held(self) -> StoredLearner:
        """Give the learner, where it is, and what was counted."""
        with self.journal.reading():
            held = self._held = self._nearest()
            here = self.journal.position()
            for lesson in self.journal.after(held.position.seq):
                held.learn(lesson)
                held.position = Position(here.revision, lesson.seq)
            held.position = here
        return held

    def since(self, position: Position) -> tuple[list[Lesson], Position] | None:
        """Give what one that was there must learn, and where it then is; None if it cannot."""
        with self.journal.reading():
            if not self.journal.leads_to(position):
                return None
            return list(self.journal.after(position.seq)), self.journal.position()

    def hand_over(self) -> StoredLearner:
        """Give a learner of its own to the caller, who may go on with it."""
        held, self._held = self.held(), None
        return held

    def _nearest(self) -> StoredLearner:
        """Give the learner that is nearest to the end of the journal, and where it is."""
        if self._held is not None and self.journal.leads_to(self._held.position):
            return self._held
        facts = self.facts()
        for name in (SNAPSHOT, EARLIER):
            try:
                held = self._snapshot(name)
            except (InputError, KeyError):
                continue  # a learner can be made again without it
            self._check_end(held.position)
            if self.journal.leads_to(held.position):
                return held
        if facts["base"]:
            base = self._snapshot(base_name(facts["base"]))
            return StoredLearner(base.learner, Position(0, facts["base"]), base.days)
        return StoredLearner(new_learner(facts["learner"], facts["options"]))

    def _snapshot(self, name: str) -> StoredLearner:
        from rosenblatt.data.models import read_model

        held = read_model(self.folder / name)
        days = {day: Counts(*counts) for day, counts in held.notes["days"].items()}
        return StoredLearner(held.learner, Position(*held.notes["position"]), days)

    def _check_end(self, position: Position) -> None:
        """Refuse a journal that lost corrections: a snapshot holds only what was on disk."""
        last = self.journal.position().seq
        if position.seq > last:
            raise LostEndError(
                f"the journal of {self.folder} ends at correction {last}, but {position.seq} were "
                "stored: its end is damaged; put back a copy of the folder, or `export --readable` "
                "what there is and import it into a new store"
            )

    def plane(self) -> StoredPlane | None:
        """Give the hyperplane of an up-to-date snapshot of one or two classes, None without one."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.folder / SNAPSHOT, framework="numpy") as file:
                settings = json.loads(file.metadata()["settings"])
                position = Position(*settings["notes"]["position"])
                self._check_end(position)
                classes, current = settings["classes"]["labels"], self.journal.position()
                if position != current or settings["output"] != "last" or len(classes) > 2:
                    return None
                lift, threshold = float(settings["lift"]), float(settings["notes"]["threshold"])
                return StoredPlane(file.get_tensor("w"), lift, classes, threshold)
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, LostEndError):
                raise
            return None

    def examples(self) -> tuple[Any, list[Any]]:
        """Give the corrections as a sparse matrix, in the columns of the learner, and labels."""
        from scipy.sparse import csr_matrix

        held = self.held()
        learner, last = held.learner, held.position.seq
        names = {name: k for k, name in enumerate(getattr(learner, "feature_names_in_", ()))}
        starts, columns, values, labels = [0], [np.zeros(0, int)], [np.zeros(0)], []
        for lesson in takewhile(lambda lesson: lesson.seq <= last, self.journal.after(0)):
            row = lesson.row
            if isinstance(row, dict):
                row = np.array([names[name] for name in row], int), np.array([*row.values()], float)
            columns.append(row[0])
            values.append(row[1])
            starts.append(starts[-1] + len(row[0]))
            labels.append(lesson.label)
        inside = np.concatenate(values), np.concatenate(columns), starts
        return csr_matrix(inside, (len(labels), learner.n_features_in_)), labels

    # ---- keeping

    def snapshot(self) -> None:
        """Write the learner beside its journal, if there is something to write."""
        from rosenblatt.data.models import write_model

        held = self.held()
        if self.read_only or not held.learner.is_fitted:
            return
        path = self.folder / SNAPSHOT
        if held.position.seq // STEP > self.kept() // STEP and path.exists():
            path.replace(self.folder / EARLIER)
        write_model(held.learner, path, held.notes() | {"threshold": threshold_of(held.learner)})

    def kept(self) -> int:
        """Give the last correction that the snapshot holds, without checking it."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.folder / SNAPSHOT, framework="numpy") as file:
                return int(json.loads(file.metadata()["settings"])["notes"]["position"][1])
        except (OSError, SafetensorError, KeyError, TypeError, ValueError):
            return 0

    def compact(self) -> int:
        """Fold the journal into a base model; what was folded cannot be undone. Give how many."""
        from rosenblatt.data.models import write_model

        self.check_writable()
        held = self.held()
        position, before = held.position, self.facts()["base"]
        if position.seq == before:
            return 0
        write_model(held.learner, self.folder / base_name(position.seq), held.notes())
        if not self.journal.forget(position):
            return self.compact()  # something was undone meanwhile
        with suppress(OSError):
            (self.folder / base_name(before)).unlink()
        return int(position.seq - before)

    def export(self, path: str | os.PathLike[str], *, readable: bool = False) -> int:
        """Write the whole store to a file of JSON lines; give the number of its corrections.

        If asked, what cannot be read is left out.
        """
        facts = {"format": FORMAT, **self.facts()}
        if facts["base"]:
            base = (self.folder / base_name(facts["base"])).read_bytes()
            facts["base_model"] = base64.b64encode(base).decode()
        count = 0
        with replacing(path) as file:
            file.write(_line(facts))
            for entry in self.journal.entries(readable=readable):
                row = base64.b64encode(entry[3]).decode()
                file.write(_line([*entry[:3], row, *entry[4:]]))
                count += 1
        return count

    @classmethod
    def restore(cls, path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Store:
        """Make a store of a file that `export` wrote."""
        lines = _lines(path)
        facts = next(lines, None)
        says = facts.pop("format", None) if isinstance(facts, dict) else None
        if says != FORMAT or not isinstance(facts, dict):
            raise InputError(f"{path} is not a store that this version reads: it says {says!r}")
        base = facts.pop("base_model", None)
        store = cls.create(folder, facts["learner"], facts["options"])
        if base is not None:
            write_atomically(store.folder / base_name(facts["base"]), base64.b64decode(base))
        store.journal.restore(facts, ((*e[:3], base64.b64decode(e[3]), *e[4:]) for e in lines))
        return store


class LostEndError(StoreError):
    """A journal that is shorter than its snapshot."""


def threshold_of(learner: Any) -> float:
    """Give the score below which answers are doubtful, 0 where the learner knows of none."""
    found = float(getattr(learner, "threshold_", 0.0))
    return min(found, sys.float_info.max)  # JSON has no infinity


def is_unsure(learner: Any, lead: float) -> bool:
    """Tell whether a lead is too small for an answer."""
    return not lead or (learner.is_fitted and lead < min(learner.threshold_, MOST_DOUBT))


def base_name(seq: int) -> str:
    """Give the name of the base model behind a correction."""
    return f"base-{seq}.safetensors"


def new_learner(name: str, options: dict[str, Any]) -> Any:
    """Make a learner that has seen nothing."""
    from rosenblatt.data.models import KINDS, learner_class

    if name not in KINDS or not hasattr(learner_class(name), "learn_one"):
        raise InputError(f"a store needs a learner from corrections, such as OnlineSVM, got {name}")
    try:
        learner: Any = learner_class(name)(**options)
        learner.check_options()
    except TypeError as error:
        raise InputError(f"{name} cannot have these options: {error}") from error
    return learner


def _line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _lines(path: str | os.PathLike[str]) -> Iterator[Any]:
    try:
        with open(path, "rb") as file:
            yield from map(json.loads, file)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{path} is cut off, or no exported store: {error}") from error
