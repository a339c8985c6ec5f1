"""The soft margin: what is minimised, and how good an answer is (theory D19).

Problem     of two classes; `joint` has that of more:
            min Σ c·max(0, 1 - s(w·x + b)) + λ‖w‖²
Dual        max Σ α - ‖Σ α·s·x‖² / 4λ  over 0 <= α <= c, with Σ α·s = 0 if b is free
Intercept   free: b costs nothing; lifted: rows are (x, lift), so that b = lift·v costs λv²; none
Gap         no hyperplane has an objective below the dual value, so (primal - dual) / primal says
            how good the answer is
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.margin.intercepts import balanced
from rosenblatt.margin.sums import accurate_combination, parts, rounding_of
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.rows import combine, fill_squares, scores, span

FEWEST = 64  # rows and entries that need no compiled loop
NEGLIGIBLE = 0.01  # share of the gap asked for that rounding may have
GRACE = 0.25  # seconds after the deadline that a pass may end


@dataclass
class Effort:
    """The passes (sweeps over the rows, or Newton steps) made so far; how many, and until when."""

    most: float = math.inf
    deadline: float = math.inf
    passes: int = 0
    looked: float = math.nan  # at the clock, when it was last asked for

    @classmethod
    def within(cls, passes: int, seconds: float | None) -> Effort:
        """Allow so many passes, and so many seconds from now on."""
        return cls(passes, math.inf if seconds is None else time.perf_counter() + seconds)

    def is_over(self) -> bool:
        """Tell whether no further pass is allowed, or one as long as the last would end late."""
        now = time.perf_counter()
        last, self.looked = now - self.looked, now
        if now + last > self.deadline + GRACE:
            self.deadline = now
        return self.passes >= self.most or now >= self.deadline


@dataclass(frozen=True)
class Solution:
    """A solution for two classes or for many, with its proof of quality.

    Attributes
    ----------
    lam : λ.
    w : weights of the columns, and behind them that of the lifted coordinate, or a free intercept;
        of many classes, a row for each.
    alphas : the dual variables, one for each row, or for each row and class.
    primal, dual : the objective of w, and a number that no objective is below (up to rounding).
    passes : sweeps over the rows, or Newton steps.
    converged : whether the gap is as small as was asked for.
    method : "descent", "newton", or "earlier" if an earlier solution is good enough; of many
        classes, the problem that was solved, "joint" or "one-vs-rest".
    doubt : how much rounding may have added to the dual value, where that is not left out of it.
    """

    lam: float
    w: np.ndarray
    alphas: np.ndarray
    primal: float
    dual: float
    passes: int
    converged: bool
    method: str
    doubt: float = 0.0

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return relative_gap(self.primal, self.dual)


class Problem(NamedTuple):
    """Rows with labels and weights, and what is to be minimised over them.

    Labels are the signs of two classes; of more, their numbers from 0 up to k.
    """

    X: Matrix
    labels: np.ndarray
    lam: float
    caps: np.ndarray
    intercept: str
    lift: float
    k: int = 2

    @classmethod
    def of(
        cls,
        X: Matrix,
        labels: np.ndarray,
        lam: float,
        caps: np.ndarray | None = None,
        intercept: str = "free",
        lift: float = 1.0,
        k: int = 2,
    ) -> Problem:
        """Take a problem; caps of None are 1 each, and only a lifted intercept has a lift."""
        lift = {"free": 1.0, "lifted": lift, "none": 0.0}[intercept]
        if caps is None:  # of two classes, they take the memory of one number
            caps = np.broadcast_to(np.ones(1), labels.size) if k == 2 else np.ones(labels.size)
        else:
            caps = np.ascontiguousarray(caps, np.float64)
        labels = labels if k == 2 else labels.astype(np.int64, copy=False)
        return cls(X, labels, lam, caps, intercept, lift, k)

    @property
    def signs(self) -> np.ndarray:
        """The labels of two classes."""
        return self.labels

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dual variables: one for each row, or for each row and class."""
        return (self.labels.size,) if self.k == 2 else (self.labels.size, self.k)

    @property
    def penalised_lift(self) -> float:
        """The added coordinate of the rows whose weight costs something."""
        return 0.0 if self.intercept == "free" else self.lift

    def against(self, place: int) -> Problem:
        """Give the problem of one class against all others."""
        signs = np.where(self.labels == place, np.int8(1), np.int8(-1))
        return self._replace(labels=signs, k=2)

    def of_rows(self, kept: np.ndarray) -> Problem:
        """Give the problem of some rows."""
        return self._replace(X=self.X[kept], labels=self.labels[kept], caps=self.caps[kept])

    def of_columns(self, columns: np.ndarray) -> Problem:
        """Give the problem of sparse rows whose entries are all in some columns."""
        X, width = self.X, columns.size
        places = np.empty(X.shape[1], np.min_scalar_type(width))  # small: memory costs time
        places[columns] = np.arange(width)
        indices = np.empty_like(X.indices)
        for part in parts(0, indices.size):  # `take` is twice as fast, with indices of 64 bits
            indices[part] = places.take(X.indices[part])
        X = type(X)((X.data, indices, X.indptr), (X.shape[0], width))
        X.has_canonical_format = True  # columns stay in their order
        return self._replace(X=X)

    def primal(self, w: np.ndarray) -> float:
        """Give the objective of weights."""
        products = np.empty(self.signs.size)
        scores(as_rows(self.X, self.lift), w, products)
        products *= self.signs
        penalised = w[:-1] if self.intercept == "free" else w
        return total_loss(products, self.caps) + float(self.lam * (penalised @ penalised))

    def feasible(self, alphas: np.ndarray) -> np.ndarray:
        """Give duals in their range, balanced if the intercept is free."""
        alphas = np.clip(alphas, 0.0, self.caps)
        return balanced(alphas, self.signs) if self.intercept == "free" else alphas

    def dual(self, alphas: np.ndarray, tol: float, *, hurry: bool = False) -> float:
        """Give the value of feasible duals, or less.

        Where rows cancel and λ is tiny, the rounding of Σ α·s·x would matter beside `tol`: it is
        then added up without any, unless there is no time for that.
        """
        rows = as_rows(self.X, self.penalised_lift)
        few = alphas.size + self.X.size <= FEWEST
        total, gathered = self._sums_of_few(alphas) if few else self._sums(alphas)
        length, error = float(np.linalg.norm(total)), rounding_of(gathered, alphas.size)
        doubt = (2 * length + error) * error / (4 * self.lam)
        if doubt > NEGLIGIBLE * tol * alphas.sum() and not hurry:
            total = accurate_combination(self.X, alphas * self.signs, rows.lift)
            length, doubt = float(np.linalg.norm(total)), 0.0
        return float(alphas.sum() - length**2 / (4 * self.lam) - doubt)

    def _sums(self, alphas: np.ndarray) -> tuple[np.ndarray, float]:
        """Give Σ α·s·x, and Σ α·‖x‖."""
        rows = as_rows(self.X, self.penalised_lift)
        total, gathered = np.zeros(self.X.shape[1] + 1), 0.0
        for part in parts(0, alphas.size):
            block, squares = span(rows, part.start, part.stop), np.empty(part.stop - part.start)
            combine(block, alphas[part] * self.signs[part], total)
            fill_squares(block, squares)
            gathered += float(alphas[part] @ np.sqrt(squares))
        return total, gathered

    def _sums_of_few(self, alphas: np.ndarray) -> tuple[np.ndarray, float]:
        doubles, lift, factors = self.X.astype(np.float64), self.penalised_lift, alphas * self.signs
        squares = doubles.multiply(doubles) if sparse.issparse(doubles) else doubles**2
        norms = np.sqrt(np.asarray(squares.sum(axis=1)).ravel() + lift * lift)
        return np.append(factors @ doubles, lift * factors.sum()), float(alphas @ norms)

    def judged(
        self,
        w: np.ndarray,
        alphas: np.ndarray,
        passes: int,
        tol: float,
        method: str,
        *,
        hurry: bool = False,
    ) -> Solution:
        """Compute anew what a solver says of its answer."""
        primal, dual = self.primal(w), self.dual(alphas, tol, hurry=hurry)
        done = relative_gap(primal, dual) <= tol
        return Solution(self.lam, w, alphas, primal, dual, passes, done, method)


def are_one(caps: np.ndarray) -> bool:
    """Tell whether caps take the memory of one number, for all of them."""
    return caps.strides == (0,)


def divided(caps: np.ndarray, by: float) -> np.ndarray:
    """Give caps divided by a number, in as little memory."""
    if are_one(caps):
        return np.broadcast_to(caps[:1] / by, caps.shape)
    return caps / by


def total_loss(products: np.ndarray, caps: np.ndarray) -> float:
    """Give Σ c·max(0, 1 - z·w) of products z·w, in whose place the losses are then."""
    np.subtract(1.0, products, out=products)
    np.maximum(products, 0.0, out=products)
    return float(sum(caps[part] @ products[part] for part in parts(0, products.size)))


def relative_gap(above: float, below: float) -> float:
    """Give (above - below) / above, infinite if one of them is unknown."""
    if not math.isfinite(above - below):
        return math.inf
    return max(above - below, 0.0) / above if above > 0.0 else 0.0
