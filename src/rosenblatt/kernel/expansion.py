"""An expansion that is being learned: w_r = Σ_j α_rj φ(x_j) over the stored mistakes (theory D14).

Front ends turn what they are given into matrices and codes of classes; from there on this is the
whole learner. It always has at least two classes: of a stream that has shown one so far, the other
is not known yet. Sum of the counts = number of mistakes (F11), unless a budget forgets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.kernel.budget import Budget
from rosenblatt.kernel.scoring import BLOCK_ENTRIES, ROWS, gram, weighed
from rosenblatt.kernel.space import Space
from rosenblatt.kernel.store import Block, KeptRows
from rosenblatt.kernel.threads import Apply, in_turn, working_on
from rosenblatt.kernel.voting import Ballots, vote
from rosenblatt.kernel.walk import judge
from rosenblatt.matrices import Matrix, check_finite
from rosenblatt.online.averaging import AVERAGING
from rosenblatt.online.perceptron import CLOCK, LOOKS, MISTAKES, PLACES, SEEN, UPDATES, WORK


@dataclass
class Expansion:
    """The state of a kernel learner.

    Attributes
    ----------
    space : the kernel, and how rows are kept.
    output : ``"last"``, ``"averaged"`` or ``"voted"`` (theory D17); ``"auto"`` until a run ends.
    store : the stored rows.
    alphas : α, one row for each class, one column for each stored row and some room.
    drift : for averaged output, such that CLOCK·α - drift is the sum of all α held; else empty.
    counts : how often each stored row was mistaken.
    tally : the counters of `online.perceptron`.
    presented : how many rows were ever numbered.
    ballots : the log of mistakes, for voted output.
    budget : how stored rows make room for others, None if all are kept.
    """

    space: Space
    output: str
    store: KeptRows
    alphas: np.ndarray
    drift: np.ndarray
    counts: np.ndarray
    tally: np.ndarray = field(default_factory=lambda: np.zeros(PLACES))
    presented: int = 0
    ballots: Ballots | None = None
    budget: Budget | None = None

    @classmethod
    def begin(
        cls, space: Space, X: Matrix, classes: int, output: str, budget: Budget | None
    ) -> Expansion:
        """Begin with nothing stored, for rows like those of X."""
        like = space.kept(space.block(X, slice(0, 1), np.zeros(1, np.int64))).rows
        return cls(
            space,
            output,
            KeptRows.empty(like),
            np.zeros((classes, 0)),
            np.zeros((classes, 0)),
            np.zeros(0, np.int64),
            ballots=Ballots.empty() if output == "voted" else None,
            budget=budget,
        )

    @property
    def size(self) -> int:
        """The number of stored rows."""
        return self.store.size

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.alphas.shape[0])

    @property
    def sizes(self) -> np.ndarray:
        """Bounds of |α_y| + |α_r| for any two classes."""
        return np.asarray(np.abs(self.alphas).sum(axis=0))

    # ---- learning

    def keep(self, block: Block) -> np.ndarray:
        """Store rows, with coefficients of 0 so far; give their places."""
        first = self.size
        self.store = self.store.extended(self.space.kept(block))
        self.reserve(self.size)
        return np.arange(first, self.size)

    def reserve(self, rows: int) -> None:
        """Make room for the coefficients of stored rows, by doubling."""
        if rows <= self.counts.size:
            return
        room = max(rows, 2 * self.counts.size) - self.counts.size
        self.alphas = np.pad(self.alphas, ((0, 0), (0, room)))
        self.counts = np.pad(self.counts, (0, room))
        if self.output in AVERAGING:
            self.drift = np.pad(self.drift, ((0, 0), (0, room)))

    def correct(
        self,
        places: np.ndarray,
        codes: np.ndarray,
        rivals: np.ndarray,
        earlier: np.ndarray,
        weights: np.ndarray,
    ) -> None:
        """Update on mistakes at stored rows, in order, by the weights of the examples.

        `earlier` counts the examples that this call's tally did not know of at each mistake.
        """
        np.add.at(self.alphas, (codes, places), weights)
        np.subtract.at(self.alphas, (rivals, places), weights)
        np.add.at(self.counts, places, 1)
        clock = self.tally[CLOCK] + earlier
        if self.output in AVERAGING:
            np.add.at(self.drift, (codes, places), clock * weights)
            np.subtract.at(self.drift, (rivals, places), clock * weights)
        if self.ballots is not None:
            self.ballots.add(places, codes, rivals, self.tally[SEEN] + earlier, weights)
        self.tally[[MISTAKES, UPDATES]] += places.size

    def settle(self, converged: bool) -> None:
        """End a run of automatic output: choose the last coefficients if it converged."""
        if self.output == "auto":
            self.output = "last" if converged else "averaged"
        if self.output == "last":
            self.drift = self.drift[:, :0].copy()

    def learn(self, block: Block, code: int, weight: float) -> bool:
        """Present one row, in float64; tell whether it was a mistake."""
        scores = weighed(self.space, block.doubled(), self.store, self.alphas, in_turn)[0]
        rival, lead, wrong = judge(scores, code)
        if not abs(lead) < np.inf:
            raise InputError("the row is too large for float64; divide it by a constant")
        if wrong:
            codes, rivals = np.array([code]), np.array([rival])
            self.correct(self.keep(block), codes, rivals, np.zeros(1), np.array([weight]))
        self.tally[[LOOKS, SEEN, CLOCK]] += 1
        self.tally[WORK] += self.size * self.store.width
        return bool(wrong)

    # ---- answering

    def scores(self, X: Matrix) -> np.ndarray:
        """Give the score of each row for each class, or the share of votes; in float64."""
        check_finite(X)
        out = np.zeros((X.shape[0], self.classes))
        rows = ROWS if self.ballots is None else max(1, BLOCK_ENTRIES // max(self.size, 1))
        with working_on(X.shape[0]) as apply:
            for start in range(0, X.shape[0], rows):
                inside = slice(start, min(start + rows, X.shape[0]))
                block = self.space.block(X, inside, np.zeros(inside.stop - start, np.int64))
                out[inside] = self._answer(block, apply)
        if not np.isfinite(out).all():
            row = int(np.argmin(np.isfinite(out).all(axis=1)))
            raise InputError(
                f"the score of row {row} is too large for float64; divide X by a constant"
            )
        return out

    def _answer(self, block: Block, apply: Apply) -> np.ndarray:
        block = block.doubled()
        if self.ballots is None:
            alphas = self.coefficients()
            return weighed(self.space, block, self.store, alphas, apply)[0]
        values = gram(self.space, block, self.store.span(), apply).astype(np.float64, copy=False)
        votes = vote(self.ballots, values, self.classes, float(self.tally[SEEN]), apply)
        votes[~np.isfinite(values).all(axis=1)] = np.nan
        return votes

    def coefficients(self) -> np.ndarray:
        """Give the coefficients to answer with: the mean ones for averaged output."""
        seen = self.tally[SEEN]
        if self.output != "averaged" or not seen:
            return self.alphas
        mean: np.ndarray = (self.tally[CLOCK] * self.alphas - self.drift) / seen
        return mean

    # ---- changing shape

    def copied(self) -> Expansion:
        """Give an expansion that may learn instead of this one; the rows stored are shared."""
        return replace(
            self,
            alphas=self.alphas.copy(),
            drift=self.drift.copy(),
            counts=self.counts.copy(),
            tally=self.tally.copy(),
            ballots=self.ballots and self.ballots.copied(),
            budget=self.budget and self.budget.copied(),
        )

    def with_classes(self, places: np.ndarray, classes: int) -> Expansion:
        """Give the expansion for more classes: class r moves to places[r], new ones begin at 0."""
        alphas, drift = (np.zeros((classes, part.shape[1])) for part in (self.alphas, self.drift))
        alphas[places], drift[places] = self.alphas, self.drift
        ballots = self.ballots and self.ballots.renamed(places)
        return replace(self, alphas=alphas, drift=drift, ballots=ballots)

    def widened(self, width: int) -> Expansion:
        """Give the same expansion of rows with more columns."""
        store = self.store.widened(width)
        return replace(self, store=store, space=replace(self.space, dense=not store.is_sparse))

    def fitted_to(self, X: Matrix) -> Matrix:
        """Give X with as many columns as the stored rows have, the later ones empty."""
        missing = self.store.width - X.shape[1]
        if self.space.precomputed or missing <= 0:
            return X
        if sparse.issparse(X):
            return sparse.csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], self.store.width))
        return np.pad(X, ((0, 0), (0, missing)))
