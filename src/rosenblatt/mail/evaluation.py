"""How good the filter is on mail that was marked: one pass, each message tested, then learned.

errors     answers that are wrong if the filter must decide, a score of 0 included
unsure     messages of which it would have said that it does not know, right or wrong
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
from itertools import islice
from typing import IO

import numpy as np

from rosenblatt.blocks import cores
from rosenblatt.data.workers import in_order
from rosenblatt.errors import InputError
from rosenblatt.mail.documents import documents
from rosenblatt.mail.features import COLUMNS, DocumentRows, batch
from rosenblatt.mail.filter import BATCH, OPTIONS
from rosenblatt.mail.loops import Learning, answer_and_learn
from rosenblatt.mail.messages import Marked
from rosenblatt.online.machine import Machine
from rosenblatt.online.perceptron import Rule
from rosenblatt.rows import Sparse
from rosenblatt.store.store import MOST_DOUBT

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
    machine, done = new_machine(), 0
    labels = np.array([1 if marked.important else -1 for marked in messages])
    scores, doubts = np.zeros((2, len(messages)))
    counts = np.zeros(len(messages), np.int64)
    with tempfile.TemporaryFile() as kept:
        for made in features(messages):
            among = slice(done, done + made.starts.size - 1)
            scores[among], doubts[among] = tested(machine, made, labels[among])
            counts[among] = np.diff(made.starts)
            kept.write(made.columns.tobytes())
            watch(done := among.stop)
        margins = labels * final_scores(machine.state.w, kept, counts)
    wrong = scores * labels <= 0
    return Evaluation(
        messages=len(messages),
        errors=int(wrong.sum()),
        unsure=int(((scores == 0) | (np.abs(scores) < np.minimum(doubts, MOST_DOUBT))).sum()),
        roca=roca(scores, labels),
        bound=bound(machine.state.w, margins),
        seconds=time.perf_counter() - begin,
        scores=scores,
        labels=labels,
    )


def new_machine() -> Machine:
    """Give the machine of the filter's learner, with all columns there."""
    rule = Rule(OPTIONS["C"], np.ones(2), renormalize=False)
    w, size = np.zeros(COLUMNS + 1), int(OPTIONS["window"])
    return Machine.begin_with(w, 0.0, rule, "last", size, calibrating=True)


def tested(
    machine: Machine, made: DocumentRows, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give the scores of rows and the thresholds of doubt, each from before it was learned."""
    rows = Sparse(made.starts, made.columns, made.values(), 0.0)
    told, codes, done = np.zeros((2, labels.size)), (labels > 0).astype(np.int64), 0
    while done < labels.size:
        learning = Learning(machine.rule.eta, OPTIONS["unsure"], machine.state, machine.window)
        done = answer_and_learn(rows, codes, done, learning, told)
        if done < labels.size:
            machine.window = machine.window.with_room(int(np.diff(made.starts[done:]).max()))
    return labels * told[0], told[1]


def load() -> None:
    """Have the loops compiled, or loaded, which takes no time of the messages."""
    tested(new_machine(), batch(documents([b"A: b\n\nc", b"A: c\n\nb"])), np.array([-1, 1]))


def features(messages: Sequence[Marked]) -> Iterator[DocumentRows]:
    """Give the rows of messages in order, made in threads."""
    remaining = iter(messages)
    batches = iter(lambda: list(islice(remaining, BATCH)), [])
    return in_order(_features, batches, cores())


def _features(some: list[Marked]) -> DocumentRows:
    return batch(documents([marked.place.read() for marked in some]))


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


def final_scores(w: np.ndarray, kept: IO[bytes], counts: np.ndarray) -> np.ndarray:
    """Score the rows that were written to a file."""
    kept.seek(0)
    sums = np.zeros(counts.size)
    for first in range(0, counts.size, BATCH):
        some = counts[first : first + BATCH]
        columns = np.frombuffer(kept.read(4 * int(some.sum())), np.uint32)
        rows = np.repeat(np.arange(some.size), some)
        sums[first : first + BATCH] = np.bincount(rows, w[columns], some.size)
    return np.asarray(sums / np.maximum(counts, 1) ** 0.5)


def bound(w: np.ndarray, margins: np.ndarray) -> float:
    """Bound the mistakes of the run: max(1, 1/C)·(‖w*‖² + 2C·Σ max(0, 1 - margin)), F18."""
    C, square = OPTIONS["C"], float(w @ w)
    losses = [np.maximum(0.0, 1.0 - scale * margins).sum() for scale in SCALES]
    totals = SCALES**2 * square + 2.0 * C * np.array(losses)
    return float(max(1.0, 1.0 / C) * totals.min())
