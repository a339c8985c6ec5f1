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

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.loops import loop
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.online.discriminators import ClassLog, ClassRule, ClassState
from rosenblatt.online.perceptron import CLOCK, SEEN, Log, Rule, State
from rosenblatt.rows import Rows, dot, scores, sqnorm
from rosenblatt.run import History

NOTED = 1024  # mistakes of single rows that are noted before they become a ballot
BLOCK_ENTRIES = 2**22  # products held at a time while voting, 32 MiB
LogKind = TypeVar("LogKind", bound=tuple[np.ndarray, ...])

AVERAGING = ("averaged", "auto")  # the kinds of output that need averages


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
    """Some mistakes of a run, in order.

    `row` numbers the distinct mistaken rows in `support`; `step` is the factor a_k with which the
    row was added, `norm` the ρ_k of renormalisation, and `seen` the examples presented before.
    """

    support: Matrix
    row: np.ndarray
    step: np.ndarray
    norm: np.ndarray
    seen: np.ndarray
    FACTS: ClassVar[tuple[Any, ...]] = (np.float64, np.float64)  # the types of step and seen

    @classmethod
    def of(cls, X: Matrix, log: Log | ClassLog, factors: np.ndarray) -> Ballot:
        """Collect the mistakes of a log."""
        support, row = np.unique(log.example, return_inverse=True)
        return cls(as_double(X[support]), row, factors, log.norm, log.seen.astype(np.float64))

    @classmethod
    def of_noted(cls, noted: Sequence[tuple[Any, ...]]) -> Self:
        """Collect mistakes that were noted one by one, each as a row and its `FACTS`."""
        rows = [row for row, *_ in noted]
        step, seen, *others = (
            np.array([facts[k] for _, *facts in noted], kind) for k, kind in enumerate(cls.FACTS)
        )
        return cls(_sparse(rows), np.arange(len(rows)), step, np.ones(len(rows)), seen, *others)

    def followed_by(self, *later: Self) -> Self:
        """Join mistakes with later ones."""
        parts = (self, *later)
        sizes = np.cumsum([0, *(part.support.shape[0] for part in parts)])
        numbered = [part.row + before for part, before in zip(parts, sizes, strict=False)]
        names = [field.name for field in fields(self) if field.name not in ("support", "row")]
        return type(self)(
            support=_stacked([part.support for part in parts]),
            row=np.concatenate(numbered),
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names},
        )

    def held(self, seen: float) -> np.ndarray:
        """Give for how many examples each of the weights was held, of so many in all."""
        return np.diff(self.seen, prepend=0.0, append=seen)


class Votes:
    """All weights that a run has held, stored as its mistakes.

    Mistakes lie in ballots, each at least twice as long as the next, and those of single rows in a
    list until there are many: however long a run is, a mistake is copied a few times only. Ballots
    are never changed, so that copies share them; what is kept is exchanged as a whole, so that many
    threads may ask at once.
    """

    kind: type[Any] = Ballot

    def __init__(self, lift: float, ballots: tuple[Any, ...] = ()) -> None:
        self.lift = lift
        self._kept: tuple[tuple[Any, ...], list[tuple[Any, ...]]] = (ballots, [])

    def append(self, ballot: Ballot) -> None:
        """Add the mistakes of a stretch of training."""
        self._kept = (_joined(self._ballots(), ballot), [])

    def note(self, row: tuple[np.ndarray, np.ndarray, int], *facts: float) -> None:
        """Add one mistake, a row and its facts."""
        columns, values, length = row
        ballots, noted = self._kept
        noted.append(((columns[:length].copy(), values[:length].copy()), *facts))
        if len(noted) == NOTED:
            self._kept = (_joined(ballots, self.kind.of_noted(noted)), [])

    def ballot(self) -> Any:
        """Give all mistakes as one ballot."""
        ballots, noted = self._ballots(), self._kept[1]
        if len(ballots) != 1 or noted:
            first = self.kind.of_noted([])
            ballots = (ballots[0].followed_by(*ballots[1:]) if ballots else first,)
            self._kept = (ballots, [])
        return ballots[0]

    def _ballots(self) -> tuple[Any, ...]:
        """Give all mistakes, those that were noted one by one in a ballot of their own."""
        ballots, noted = self._kept
        return (*ballots, self.kind.of_noted(noted)) if noted else ballots

    def copied(self) -> Self:
        """Give votes that can grow apart from these."""
        return type(self)(self.lift, self._ballots())

    def turned(self) -> Votes:
        """Give the votes of the opposite weights."""
        return Votes(self.lift, tuple(replace(b, step=-b.step) for b in self._ballots()))

    def scores(self, X: Matrix, start: np.ndarray, seen: float) -> np.ndarray:
        """Give the voted score of each row, as a share of all votes: between -1 and 1.

        The run began with the weights `start`, and has seen so many examples.
        """
        ballot, width = self.ballot(), X.shape[1]
        support = as_wide(ballot.support, width)
        support = support if support.shape[1] == width else support[:, :width]
        block = max(1, BLOCK_ENTRIES // max(support.shape[0], 1))
        found = []
        for begin in range(0, X.shape[0], block):
            part = as_double(X[begin : begin + block])
            with np.errstate(over="ignore", invalid="ignore"):
                products = products_of(part, support) + self.lift**2
            if not np.isfinite(products).all():
                raise InputError("the scores are too large for float64; divide X by a constant")
            found.append(self._count(part, start, products, ballot, ballot.held(seen)))
        return np.asarray(np.concatenate(found) / max(seen, 1.0))

    def _count(
        self, X: Matrix, start: np.ndarray, products: np.ndarray, ballot: Any, held: np.ndarray
    ) -> np.ndarray:
        """Let every w_k vote on each row."""
        base, out = np.empty(X.shape[0]), np.empty(X.shape[0])
        scores(as_rows(X, self.lift), start, base)
        vote(products, base, ballot.row, ballot.step, ballot.norm, held, out)
        return out


def _joined(ballots: tuple[Any, ...], later: Ballot) -> tuple[Any, ...]:
    """Put a ballot behind others, joined with those that are less than twice as long."""
    while ballots and ballots[-1].row.size < 2 * later.row.size:
        later = ballots[-1].followed_by(later)
        ballots = ballots[:-1]
    return (*ballots, later) if later.row.size else ballots


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


def products_of(X: Matrix, support: Matrix) -> np.ndarray:
    """Give x·x_j for each row x and each row x_j of the support."""
    if X.shape[0] == 1 and not sparse.issparse(X):  # half the time of two sparse matrices, or less
        return as_dense((support @ X[0])[np.newaxis])
    return as_dense(X @ as_same_kind(support, X).T)


def as_same_kind(support: Matrix, X: Matrix) -> Matrix:
    """Give the support as dense or sparse as X: mixed products are slow or not defined."""
    if sparse.issparse(X) == sparse.issparse(support):
        return support
    return sparse.csr_matrix(support) if sparse.issparse(X) else support.toarray()


def as_wide(support: Matrix, width: int) -> Matrix:
    """Give the support with as many columns at least, the later ones empty."""
    missing = width - support.shape[1]
    if missing <= 0:
        return support
    if sparse.issparse(support):
        parts = (support.data, support.indices, support.indptr)
        return sparse.csr_matrix(parts, shape=(support.shape[0], width))
    return np.pad(support, ((0, 0), (0, missing)))


def _stacked(supports: list[Matrix]) -> Matrix:
    width = max(support.shape[1] for support in supports)
    supports = [as_wide(support, width) for support in supports]
    if any(map(sparse.issparse, supports)):
        return sparse.vstack([sparse.csr_matrix(support) for support in supports]).tocsr()
    return np.vstack(supports)


def _sparse(rows: list[tuple[np.ndarray, np.ndarray]]) -> Matrix:
    """Make a CSR matrix of rows given as columns and values."""
    columns = np.concatenate([np.zeros(0, np.int64), *(columns for columns, _ in rows)])
    values = np.concatenate([np.zeros(0), *(values for _, values in rows)])
    starts = np.cumsum([0, *(columns.size for columns, _ in rows)])
    width = int(columns.max(initial=-1)) + 1
    return sparse.csr_matrix((values, columns, starts), shape=(len(rows), width))
