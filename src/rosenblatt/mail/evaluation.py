"""How good the filter is on mail that was marked: one pass, each message tested, then learned.

errors     answers that are wrong if the filter must decide, a score of 0 included
unsure     messages of which it would rather have said that it does not know
roca       100·(1 - area under the ROC curve): the share, in percent, of pairs of an important and
           an ordinary message that the scores put in the wrong order, ties half
bound      of the errors, by theory F18 with the final weights, scaled, as the comparator

Features are made ahead in threads; the rows go to a temporary file for the bound.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import IO, Any

import numpy as np

from rosenblatt.blocks import cores
from rosenblatt.data.workers import in_order
from rosenblatt.errors import InputError
from rosenblatt.mail.documents import documents
from rosenblatt.mail.features import Row, rows
from rosenblatt.mail.filter import BATCH, LEARNER, OPTIONS
from rosenblatt.mail.messages import Marked
from rosenblatt.store.store import new_learner

SCALES = np.geomspace(0.1, 10.0, 41)  # of the comparator: the best of them counts


@dataclass(frozen=True)
class Evaluation:
    """What one pass over marked messages showed."""

    messages: int
    errors: int
    unsure: int
    roca: float
    bound: float
    seconds: float
    scores: np.ndarray
    labels: np.ndarray

    @property
    def wrong(self) -> np.ndarray:
        """Whether each answer was wrong."""
        return np.asarray(self.scores * self.labels <= 0)


def evaluate(
    messages: Sequence[Marked], watch: Callable[[int], None] = lambda done: None
) -> Evaluation:
    """Test and learn messages in the order given."""
    if not messages:
        raise InputError("there is no message to evaluate on; give folders of messages")
    load()
    begin = time.perf_counter()
    learner = new_learner(LEARNER, OPTIONS)
    labels = np.array([1 if marked.important else -1 for marked in messages])
    scores, ends = np.zeros(len(messages)), np.zeros(len(messages) + 1, np.int64)
    with tempfile.TemporaryFile() as kept:
        for k, row in enumerate(features(messages)):
            scores[k] = score_of(learner, row)
            learner.learn_one(row, int(labels[k]))
            kept.write(row[0].astype(np.uint32).tobytes())
            ends[k + 1] = ends[k] + row[0].size
            if k % BATCH == 0:
                watch(k)
        margins = labels * _scores(learner, kept, ends)
    wrong = scores * labels <= 0
    return Evaluation(
        messages=len(messages),
        errors=int(wrong.sum()),
        unsure=int((scores == 0).sum()),
        roca=roca(scores, labels),
        bound=bound(learner, margins),
        seconds=time.perf_counter() - begin,
        scores=scores,
        labels=labels,
    )


def load() -> None:
    """Have the loops compiled, or loaded, which takes no time of the messages."""
    learner = new_learner(LEARNER, OPTIONS)
    for label, row in zip((-1, 1), rows(documents([b"A: b\n\nc", b"A: c\n\nb"])), strict=True):
        score_of(learner, row)
        learner.learn_one(row, label)
    score_of(learner, row)


def features(messages: Sequence[Marked]) -> Iterator[Row]:
    """Give the rows of messages in order, made in threads."""
    remaining = iter(messages)
    batches = iter(lambda: list(islice(remaining, BATCH)), [])
    for made in in_order(_rows, batches, cores()):
        yield from made


def _rows(batch: list[Marked]) -> list[Row]:
    return rows(documents([marked.place.read() for marked in batch]))


def score_of(learner: Any, row: Row) -> float:
    """Give the score of a row, positive for important; 0 while nothing is known."""
    if not learner.is_fitted:
        return 0.0
    columns, values = row
    known = int(np.searchsorted(columns, learner.separator.width))
    return float(-learner.classes_[0] * learner.separator.score((columns[:known], values[:known])))


def roca(scores: np.ndarray, labels: np.ndarray) -> float:
    """Give the share of pairs in the wrong order, in percent; NaN if one class is missing."""
    order = np.argsort(scores, kind="stable")
    _, group, sizes = np.unique(scores[order], return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[group]  # ties share theirs
    high = labels[order] > 0
    n, m = int(high.sum()), int((~high).sum())
    if not n or not m:
        return float("nan")
    return float(100.0 * (1.0 - (ranks[high].sum() - n * (n + 1) / 2) / (n * m)))


def _scores(learner: Any, kept: IO[bytes], ends: np.ndarray) -> np.ndarray:
    """Score rows that were written to a file by the final weights."""
    kept.flush()
    w = -learner.classes_[0] * learner.coef_[0]
    columns = np.memmap(kept, np.uint32, "r") if ends[-1] else np.zeros(0, np.uint32)
    found = np.zeros(ends.size - 1)
    for k, (begin, end) in enumerate(pairwise(ends)):
        found[k] = w[columns[begin:end]].sum() / max(end - begin, 1) ** 0.5
    return found


def bound(learner: Any, margins: np.ndarray) -> float:
    """Bound the mistakes of the run: max(1, 1/C)·(‖w*‖² + 2C·Σ max(0, 1 - margin)), F18."""
    C, square = float(learner.C), float((learner.coef_**2).sum())
    losses = [np.maximum(0.0, 1.0 - scale * margins).sum() for scale in SCALES]
    totals = SCALES**2 * square + 2.0 * C * np.array(losses)
    return float(max(1.0, 1.0 / C) * totals.min())
