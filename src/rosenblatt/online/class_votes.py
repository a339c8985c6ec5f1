"""Votes of discriminators, and the replay of their runs (theory D17, D18, F6).

Every W_k that a run has held votes for its best class, with one vote for each example after which
it was held; a tie for the best is no vote. The score of a class is its share of all votes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rosenblatt.loops import loop, part
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.online.averaging import Ballot, Votes, sample_weights
from rosenblatt.online.discriminators import ClassLog, ClassRule, replay_classes
from rosenblatt.rows import Rows, class_scores, favoured
from rosenblatt.run import History


def class_steps(log: ClassLog, codes: np.ndarray, rule: ClassRule) -> np.ndarray:
    """Give the factor η·c with which each logged row was added to its class."""
    return np.asarray(rule.eta * rule.weights[codes[log.example]]) * sample_weights(rule, log)


def class_history(
    rows: Rows, codes: np.ndarray, rule: ClassRule, log: ClassLog, frame: np.ndarray
) -> History:
    """Replay a log and give W·W* and ‖W‖² after each mistake.

    `frame` holds the starting weights and the comparator.
    """
    projection, square = np.empty(log.example.size), np.empty(log.example.size)
    begin, comparator = frame
    start = (float((begin * comparator).sum()), float((begin * begin).sum()))
    factors = class_steps(log, codes, rule)
    replay_classes(rows, log, codes, factors, comparator, start, projection, square)
    return History(np.arange(1, log.example.size + 1), log.example, projection, square)


@dataclass(frozen=True)
class ClassBallot(Ballot):
    """The mistakes of one stretch of training: `step` was added for `code`, taken from `rival`."""

    code: np.ndarray
    rival: np.ndarray
    FACTS: ClassVar[tuple[Any, ...]] = (*Ballot.FACTS, np.int64, np.int64)

    @classmethod
    def of_classes(
        cls, X: Matrix, log: ClassLog, codes: np.ndarray, factors: np.ndarray
    ) -> ClassBallot:
        """Collect the mistakes of a log."""
        plain = Ballot.of(X, log, factors)
        return cls(**vars(plain), code=codes[log.example], rival=log.rival)

    @classmethod
    def of_signs(cls, ballot: Ballot, places: np.ndarray) -> ClassBallot:
        """Read the mistakes of two classes as those of discriminators (F14).

        `places` are those of the negative and of the positive class.
        """
        positive = (ballot.step > 0).astype(np.intp)
        parts = {**vars(ballot), "step": np.abs(ballot.step)}
        return cls(**parts, code=places[positive], rival=places[1 - positive])


class ClassVotes(Votes):
    """All weights that a run on many classes has held; the start has one row for each class."""

    kind = ClassBallot

    @classmethod
    def of_signs(cls, votes: Votes, places: np.ndarray) -> ClassVotes:
        """Read the votes of two classes as those of discriminators."""
        ballots = (ClassBallot.of_signs(ballot, places) for ballot in votes._ballots())
        return cls(votes.lift, tuple(ballots))

    def with_classes(self, places: np.ndarray) -> ClassVotes:
        """Give the same votes among more classes: class r is called places[r]."""
        ballots = (replace(b, code=places[b.code], rival=places[b.rival]) for b in self._ballots())
        return ClassVotes(self.lift, tuple(ballots))

    def _count(
        self, X: Matrix, start: np.ndarray, products: np.ndarray, ballot: Any, held: np.ndarray
    ) -> np.ndarray:
        rows, base = as_rows(X, self.lift), np.empty((X.shape[0], start.shape[0]))
        class_scores(rows, favoured(rows, start), base)
        others, out = (held, ballot.code, ballot.rival), np.zeros(base.shape)
        vote_classes(products, base, ballot.row, ballot.step, ballot.norm, others, out)
        return out


@part
def cast(scores: np.ndarray, votes: float, out: np.ndarray) -> None:
    """Give the votes to the class with the largest score, if there is but one."""
    best, top, tied = 0, scores[0], False
    for r in range(1, scores.size):
        if scores[r] > top:
            best, top, tied = r, scores[r], False
        elif scores[r] == top:
            tied = True
    if not tied:
        out[best] += votes


@loop
def vote_classes(
    products: np.ndarray,
    scores: np.ndarray,
    row: np.ndarray,
    step: np.ndarray,
    norm: np.ndarray,
    others: tuple[np.ndarray, np.ndarray, np.ndarray],
    out: np.ndarray,
) -> None:
    """Let every W_k vote on each row; `scores` are those of the start, and are used up.

    `others` are the votes of each W_k, and the class and the rival of each mistake.
    """
    held, code, rival = others
    for i in range(scores.shape[0]):
        cast(scores[i], held[0], out[i])
        for k in range(row.size):
            value = step[k] * products[i, row[k]]
            scores[i, code[k]] += value
            scores[i, rival[k]] -= value
            if norm[k] != 1.0:
                for r in range(scores.shape[1]):
                    scores[i, r] /= norm[k]
            cast(scores[i], held[k + 1], out[i])
