"""Averaged and voted predictors, and the replay of a logged run (theory D17, F6).

Every w_k that a run has held can be rebuilt from its start and its log of mistakes, since
w_{k+1} = (w_k + a_k·x_k) / ρ_k, with ρ_k = 1 unless the run renormalises. Hence

    averaged score   Σ_k c_k (w_k·x)            one dot product with the mean of the weights
    voted score      Σ_k c_k sign(w_k·x)        needs w_k·x for every k: products of x with the
                                                mistaken rows, then a running sum

c_k counts the examples after which w_k was held; an example that causes an update counts for the
new w, as in Freund & Schapire 1999.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.examples import Matrix, as_rows
from rosenblatt.loops import loop
from rosenblatt.online.discriminators import ClassLog, ClassRule, ClassState
from rosenblatt.online.perceptron import CLOCK, SEEN, Log, Rule, State
from rosenblatt.rows import Rows, dot, scores, sqnorm
from rosenblatt.run import History

BLOCK_ENTRIES = 2**22  # products held at a time while voting, 32 MiB
LogKind = TypeVar("LogKind", bound=tuple[np.ndarray, ...])


def mean_weights(state: State | ClassState) -> np.ndarray:
    """Give the mean of the weights over all examples presented so far."""
    seen = state.tally[SEEN]
    if not seen:
        return state.w.copy()
    mean: np.ndarray = (state.tally[CLOCK] * state.w - state.drift) / seen
    return mean


def steps(log: Log, signs: np.ndarray, rule: Rule) -> np.ndarray:
    """Give the factor η·c·y with which each logged row was added."""
    weights = np.array([rule.negative_weight, 0.0, rule.positive_weight])
    signed = signs[log.example]
    return np.asarray(rule.eta * weights[signed + 1] * signed) * sample_weights(rule, log)


def sample_weights(rule: Rule | ClassRule, log: Log | ClassLog) -> np.ndarray | float:
    """Give the weights of the logged examples."""
    return rule.sample_weight[log.example] if rule.sample_weight.size else 1.0


def trim(log: LogKind, used: int) -> LogKind:
    """Drop the unused end of a log."""
    return type(log)(*(column[:used].copy() for column in log))


def history(rows: Rows, signs: np.ndarray, rule: Rule, log: Log, frame: np.ndarray) -> History:
    """Replay a log and give w·w* and ‖w‖² after each mistake.

    `frame` holds the starting weights and the comparator, as two rows.
    """
    projection, square = np.empty(log.example.size), np.empty(log.example.size)
    start = (float(frame[0] @ frame[1]), float(frame[0] @ frame[0]))
    replay(rows, log, steps(log, signs, rule), frame[1], start, projection, square)
    return History(np.arange(1, log.example.size + 1), log.example, projection, square)


@loop
def replay(
    rows: Rows,
    log: Log,
    factors: np.ndarray,
    comparator: np.ndarray,
    start: tuple[float, float],
    projection: np.ndarray,
    square: np.ndarray,
) -> None:
    """Follow w·w* and ‖w‖² through the mistakes of a log."""
    along, squared = start
    for k in range(factors.size):
        i, a, norm = log.example[k], factors[k], log.norm[k]
        along = (along + a * dot(rows, i, comparator)) / norm
        squared = (squared + 2 * a * log.score[k] + a * a * sqnorm(rows, i)) / (norm * norm)
        projection[k], square[k] = along, squared


@dataclass(frozen=True)
class Ballot:
    """The mistakes of one stretch of training.

    `row` numbers the distinct mistaken rows in `support`; `step` is the factor a_k with which the
    row was added, `norm` the ρ_k of renormalisation, and `held` the examples for which the
    weights *before* each mistake were held since this stretch began, then those after the last.
    """

    support: Matrix
    row: np.ndarray
    step: np.ndarray
    norm: np.ndarray
    held: np.ndarray

    @classmethod
    def of(
        cls, X: Matrix, log: Log | ClassLog, factors: np.ndarray, seen: tuple[float, float]
    ) -> Ballot:
        """Collect the mistakes of a log; `seen` counts examples before and after the stretch."""
        support, row = np.unique(log.example, return_inverse=True)
        edges = np.concatenate([[seen[0]], log.seen, [seen[1]]])
        return cls(as_double(X[support]), row, factors, log.norm, np.diff(edges))

    def followed_by(self, later: Self) -> Self:
        """Join two stretches: the last weights of the first are the first of the second."""
        middle = self.held[-1] + later.held[0]
        return replace(
            later,
            support=_stacked(self.support, later.support),
            row=np.concatenate([self.row, later.row + self.support.shape[0]]),
            step=np.concatenate([self.step, later.step]),
            norm=np.concatenate([self.norm, later.norm]),
            held=np.concatenate([self.held[:-1], [middle], later.held[1:]]),
        )


class Votes:
    """All weights that a run has held, stored as its start and its mistakes."""

    def __init__(self, start: np.ndarray, lift: float, ballots: list[Any]) -> None:
        self.start = start
        self.lift = lift
        self._ballots = ballots

    def append(self, ballot: Ballot) -> None:
        """Add a stretch of training; joining waits until somebody asks."""
        support = _wide(ballot.support, self.start.shape[-1] - 1)
        self._ballots.append(replace(ballot, support=support))

    def ballot(self) -> Any:
        """Give all stretches as one, joining neighbours pairwise so that each is copied rarely."""
        while len(self._ballots) > 1:
            pairs = [self._ballots[k : k + 2] for k in range(0, len(self._ballots), 2)]
            self._ballots = [p[0].followed_by(p[1]) if len(p) == 2 else p[0] for p in pairs]
        return self._ballots[0]

    def copied(self) -> Self:
        """Give votes that can grow apart from these."""
        return type(self)(self.start, self.lift, [*self._ballots])

    def widened(self, start: np.ndarray) -> Self:
        """Give the same votes on rows of more columns."""
        width = start.shape[-1] - 1
        ballots = [replace(b, support=_wide(b.support, width)) for b in self._ballots]
        return type(self)(start, self.lift, ballots)

    def turned(self) -> Votes:
        """Give the votes of the opposite weights."""
        return Votes(-self.start, self.lift, [replace(b, step=-b.step) for b in self._ballots])

    def scores(self, X: Matrix) -> np.ndarray:
        """Give the voted score of each row, as a share of all votes: between -1 and 1."""
        out = self._no_scores(X.shape[0])
        if not self._ballots:
            return out
        ballot = self.ballot()
        support = as_same_kind(ballot.support[:, : X.shape[1]], X)
        block = max(1, BLOCK_ENTRIES // max(support.shape[0], 1))
        for begin in range(0, X.shape[0], block):
            part = as_double(X[begin : begin + block])
            with np.errstate(over="ignore", invalid="ignore"):
                products = as_dense(part @ support.T) + self.lift**2
            if not np.isfinite(products).all():
                raise InputError("the scores are too large for float64; divide X by a constant")
            self._count(part, products, ballot, out[begin : begin + block])
        return np.asarray(out / max(float(ballot.held.sum()), 1.0))

    def _no_scores(self, rows: int) -> np.ndarray:
        return np.zeros(rows)

    def _count(self, X: Matrix, products: np.ndarray, ballot: Ballot, out: np.ndarray) -> None:
        """Let every w_k vote on each row."""
        base = np.empty(X.shape[0])
        scores(as_rows(X, self.lift), self.start, base)
        vote(products, base, ballot.row, ballot.step, ballot.norm, ballot.held, out)


@loop
def vote(
    products: np.ndarray,
    base: np.ndarray,
    row: np.ndarray,
    step: np.ndarray,
    norm: np.ndarray,
    held: np.ndarray,
    out: np.ndarray,
) -> None:
    """Let every w_k vote on each row of `products`, which holds x·x_j for the mistaken rows x_j."""
    for i in range(base.size):
        score = base[i]
        total = held[0] * np.sign(score)
        for k in range(row.size):
            score = (score + step[k] * products[i, row[k]]) / norm[k]
            total += held[k + 1] * np.sign(score)
        out[i] = total


def as_double(X: Matrix) -> Matrix:
    """Give X in float64: votes are taken on signs, which single precision might turn."""
    return X.astype(np.float64)


def as_dense(product: Any) -> np.ndarray:
    """Give a product of matrices as a C-order array."""
    dense = product.toarray() if sparse.issparse(product) else product
    return np.ascontiguousarray(dense, dtype=np.float64)


def as_same_kind(support: Matrix, X: Matrix) -> Matrix:
    """Give the support as dense or sparse as X: mixed products are slow or not defined."""
    if sparse.issparse(X) == sparse.issparse(support):
        return support
    return sparse.csr_matrix(support) if sparse.issparse(X) else support.toarray()


def _stacked(above: Matrix, below: Matrix) -> Matrix:
    if sparse.issparse(above) or sparse.issparse(below):
        return sparse.vstack([sparse.csr_matrix(above), sparse.csr_matrix(below)]).tocsr()
    return np.vstack([above, below])


def _wide(support: Matrix, width: int) -> Matrix:
    extra = (support.shape[0], width - support.shape[1])
    if not extra[1]:
        return support
    if sparse.issparse(support):
        return sparse.hstack([support, sparse.csr_matrix(extra)]).tocsr()
    return np.hstack([support, np.zeros(extra)])
