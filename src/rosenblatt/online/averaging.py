"""Averaged and voted predictors, and the replay of a logged run (theory D17, F6).

Every w_k that a run has held can be rebuilt from its start and its log of mistakes, since
w_{k+1} = (w_k + a_k·x_k) / ρ_k, with ρ_k = 1 unless the run renormalises. Hence

    averaged score   Σ_k c_k (w_k·x)            one dot product with the mean of the weights
    voted score      Σ_k c_k sign(w_k·x)        needs w_k·x for every k: products of x with the
                                                mistaken rows, then a running sum

c_k counts the examples after which w_k was held; an example that causes an update counts for the
new w, as in Freund & Schapire 1999. Of many classes, every W_k votes for its best class, and the
score of a class is its share of all votes; a tie for the best is no vote (D18).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.loops import loop
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.online.classes import cast, lead_over, move, pushed
from rosenblatt.online.perceptron import CLOCK, SEEN, Log, Rule, State
from rosenblatt.rows import Rows, favoured, scores, sqnorm
from rosenblatt.run import History

NOTED = 1024  # mistakes of single rows that are noted before they become a ballot
BLOCK_ENTRIES = 2**22  # products held at a time while voting, 32 MiB

AVERAGING = ("averaged", "auto")  # the kinds of output that need averages


def mean_weights(state: State) -> np.ndarray:
    """Give the mean of the weights over all examples presented so far."""
    seen = state.tally[SEEN]
    if not seen:
        return state.w.copy()
    mean: np.ndarray = (state.tally[CLOCK] * state.w - state.drift) / seen
    return mean


def linear_scores(X: Matrix, w: np.ndarray, lift: float) -> np.ndarray:
    """Give the score of each row by w, or one by each row of w."""
    rows, out = as_rows(X, lift), np.empty((X.shape[0], *w.shape[:-1]))
    scores(rows, favoured(rows, w), out)
    return out


def steps(log: Log, codes: np.ndarray, rule: Rule) -> np.ndarray:
    """Give the factor η·c with which each logged row was added."""
    samples = rule.sample_weight[log.example] if rule.sample_weight.size else 1.0
    return np.asarray(rule.eta * rule.weights[codes[log.example]]) * samples


def history(rows: Rows, codes: np.ndarray, rule: Rule, log: Log, frame: np.ndarray) -> History:
    """Replay a log and give w·w* and ‖w‖² after each mistake.

    `frame` holds the starting weights and the comparator.
    """
    begin, comparator = frame
    start = (float(np.vdot(begin, comparator)), float(np.vdot(begin, begin)))
    projection, square = np.empty((2, log.example.size))
    replay(rows, log, codes, steps(log, codes, rule), comparator, start, projection, square)
    return History(np.arange(1, log.example.size + 1), log.example, projection, square)


@loop
def replay(
    rows: Rows,
    log: Log,
    codes: np.ndarray,
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
        gain = lead_over(rows, i, codes[i], log.rival[k], comparator)
        along = (along + a * gain) / norm
        twice, moved = 2 * a * log.lead[k], float(pushed(comparator))
        squared = (squared + twice + moved * a * a * sqnorm(rows, i)) / (norm * norm)
        projection[k], square[k] = along, squared


@dataclass(frozen=True)
class Ballot:
    """Some mistakes of a run, in order.

    `row` numbers the distinct mistaken rows in `support`; `step` is the factor a_k with which the
    row was added for the class `code` and taken from its `rival`, `norm` the ρ_k of
    renormalisation, and `seen` the examples presented before.
    """

    support: Matrix
    row: np.ndarray
    step: np.ndarray
    norm: np.ndarray
    seen: np.ndarray
    code: np.ndarray
    rival: np.ndarray

    @classmethod
    def of(cls, X: Matrix, log: Log, codes: np.ndarray, rule: Rule) -> Ballot:
        """Collect the mistakes of a log."""
        mistaken = np.bincount(log.example, minlength=X.shape[0]) > 0  # quicker than to sort
        support, row = np.flatnonzero(mistaken), (np.cumsum(mistaken) - 1)[log.example]
        factors, seen = steps(log, codes, rule), log.seen.astype(np.float64)
        code = codes[log.example].astype(np.int64)
        return cls(as_double(X[support]), row, factors, log.norm, seen, code, log.rival)

    @classmethod
    def of_noted(cls, noted: Sequence[tuple[Any, ...]]) -> Ballot:
        """Collect mistakes that were noted one by one: row, step, examples before, classes."""
        rows = [row for row, *_ in noted]
        kinds = (np.float64, np.float64, np.int64, np.int64)
        step, seen, code, rival = (
            np.array([facts[k] for facts in noted], kind) for k, kind in enumerate(kinds, start=1)
        )
        row, norm = np.arange(len(rows)), np.ones(len(rows))
        return cls(_sparse(rows), row, step, norm, seen, code, rival)

    def followed_by(self, *later: Ballot) -> Ballot:
        """Join mistakes with later ones."""
        parts = (self, *later)
        sizes = np.cumsum([0, *(part.support.shape[0] for part in parts)])
        numbered = [part.row + before for part, before in zip(parts, sizes, strict=False)]
        names = [field.name for field in fields(self) if field.name not in ("support", "row")]
        return Ballot(
            support=_stacked([part.support for part in parts]),
            row=np.concatenate(numbered),
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names},
        )

    def renamed(self, places: np.ndarray) -> Ballot:
        """Give the same mistakes with class r called places[r]."""
        return replace(self, code=places[self.code], rival=places[self.rival])

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

    def __init__(self, lift: float, ballots: tuple[Ballot, ...] = ()) -> None:
        self.lift = lift
        self._kept: tuple[tuple[Ballot, ...], list[tuple[Any, ...]]] = (ballots, [])

    def append(self, ballot: Ballot) -> None:
        """Add the mistakes of a stretch of training."""
        self._kept = (_joined(self._ballots(), ballot), [])

    def note(self, row: tuple[np.ndarray, np.ndarray], *facts: float) -> None:
        """Add one mistake, a row and its facts."""
        columns, values = row
        ballots, noted = self._kept
        noted.append(((columns.copy(), values.copy()), *facts))
        if len(noted) == NOTED:
            self._kept = (_joined(ballots, Ballot.of_noted(noted)), [])

    def ballot(self) -> Ballot:
        """Give all mistakes as one ballot."""
        ballots, noted = self._ballots(), self._kept[1]
        if len(ballots) != 1 or noted:
            first = Ballot.of_noted([])
            ballots = (ballots[0].followed_by(*ballots[1:]) if ballots else first,)
            self._kept = (ballots, [])
        return ballots[0]

    def _ballots(self) -> tuple[Ballot, ...]:
        """Give all mistakes, those that were noted one by one in a ballot of their own."""
        ballots, noted = self._kept
        return (*ballots, Ballot.of_noted(noted)) if noted else ballots

    def copied(self) -> Votes:
        """Give votes that can grow apart from these."""
        return Votes(self.lift, self._ballots())

    def renamed(self, places: np.ndarray) -> Votes:
        """Give the same votes with class r called places[r]."""
        return Votes(self.lift, tuple(ballot.renamed(places) for ballot in self._ballots()))

    def scores(self, X: Matrix, start: np.ndarray, seen: float) -> np.ndarray:
        """Give the voted score of each row, as a share of all votes: between -1 and 1.

        Of many classes, each has its share. The run began with the weights `start`, and has seen so
        many examples.
        """
        ballot, width = self.ballot(), X.shape[1]
        support = as_wide(ballot.support, width)
        support = support if support.shape[1] == width else support[:, :width]
        mistakes = ballot.row, ballot.step, ballot.norm, ballot.code, ballot.rival
        held, block = ballot.held(seen), max(1, BLOCK_ENTRIES // max(support.shape[0], 1))
        found = []
        for begin in range(0, X.shape[0], block):
            part = as_double(X[begin : begin + block])
            with np.errstate(over="ignore", invalid="ignore"):
                products = products_of(part, support) + self.lift**2
            if not np.isfinite(products).all():
                raise InputError("the scores are too large for float64; divide X by a constant")
            base = linear_scores(part, start, self.lift)
            out = np.zeros(base.shape)
            vote(products, base, mistakes, held, out)
            found.append(out)
        return np.asarray(np.concatenate(found) / max(seen, 1.0))


def _joined(ballots: tuple[Ballot, ...], later: Ballot) -> tuple[Ballot, ...]:
    """Put a ballot behind others, joined with those that are less than twice as long."""
    while ballots and ballots[-1].row.size < 2 * later.row.size:
        later = ballots[-1].followed_by(later)
        ballots = ballots[:-1]
    return (*ballots, later) if later.row.size else ballots


@loop
def vote(
    products: np.ndarray,
    scores: np.ndarray,
    mistakes: tuple[np.ndarray, ...],
    held: np.ndarray,
    out: np.ndarray,
) -> None:
    """Let every w_k vote on each row of `products`, which holds x·x_j for the mistaken rows x_j.

    The scores are those of the start, and are used up; the votes are added to `out`.
    """
    row, step, norm, code, rival = mistakes
    for i in range(scores.shape[0]):
        cast(scores, i, held[0], out)
        for k in range(row.size):
            move(scores, i, step[k] * products[i, row[k]], code[k], rival[k], norm[k])
            cast(scores, i, held[k + 1], out)


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
