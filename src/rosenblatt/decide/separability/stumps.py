"""Columns that separate weakly on their own, so that the rows they tell apart need no program.

Stump       a column j and a threshold c with s·(x_j - c) of one sign on all rows, not zero on some.
            Those rows are *settled*: a w with Z w >= 0 is positive on them
Method      settle rows round by round, until no column does. Some u for the rows that are left
            becomes w = u + M·Σ (x_j - c) for M large enough, the earlier rounds with larger ones;
            the face is that of the rows left                                         (theory D9)
Why         rare words, dummies and pixels at the rim do so in most real data that are weakly
            separable, and their w has few digits
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.certificates import Number
from rosenblatt.decide.answers import Clock
from rosenblatt.decimals import numbers_in
from rosenblatt.exact.numbers import is_exact
from rosenblatt.exact.rounding import float_if_exact, nearest_float
from rosenblatt.exact.signed import BLOCK_ENTRIES, SignedRows
from rosenblatt.matrices import Matrix

FEW = 200  # rows of a class that rule most columns out
LEAST = 1e-200  # what rows have to be positive by, in units of their columns
ENOUGH = 1700  # the largest float beside the least, as a power of two
DENSE = 2**24  # entries, up to which columns with another threshold than zero are looked at


class StumpWeights(NamedTuple):
    """Weights Σ ±2^p·(x_j - c), the rows on which they are positive, and how much, in floats."""

    weights: dict[int, Fraction]
    settled: np.ndarray
    gains: np.ndarray


@dataclass(frozen=True)
class Stumps:
    """What single columns settle, and the rows that are left, on which all weights vanish."""

    cone: SignedRows
    rounds: list[StumpWeights]
    left: np.ndarray

    def core(self) -> SignedRows:
        """Give the rows that are left, without columns that are constant on them, if dense."""
        cone = self.cone
        if not self.rounds:
            return cone
        rows = cone.X[self.left]
        if cone.lift and not sparse.issparse(rows):
            constant = np.unique([j for stump in self.rounds for j in stump.weights])
            rows[:, constant[constant < cone.X.shape[1]]] = 0.0
        return SignedRows(rows, cone.signs[self.left], cone.lift)

    def extended(self, point: Sequence[Number] | None) -> list[Number]:
        """Make a w of the rows that are left positive on those that are settled, too."""
        w = dict[int, Number]()
        if point is not None:
            unit = 2 ** max(0, max(abs(int(v)) for v in point).bit_length() - 60)
            w = {j: Fraction(v) / unit if unit > 1 else v for j, v in enumerate(point) if v}
        cone, floats = self.cone, np.zeros(self.cone.dimension)
        floats[[*w]] = [*map(nearest_float, w.values())]
        for weights, settled, gains in reversed(self.rounds):
            part = SignedRows(cone.X[settled], cone.signs[settled], cone.lift)
            with np.errstate(over="ignore"):
                most = float(np.max(-part.products_with(floats) / gains, initial=0.25))
            factor = 2 ** (1 + math.frexp(most)[1] if most < math.inf else ENOUGH)
            for j, value in weights.items():
                w[j] = factor * value + Fraction(w[j]) if j in w else factor * value
            floats[[*weights]] = [nearest_float(w[j]) for j in weights]
        return [float_if_exact(w[j]) if j in w else 0.0 for j in range(cone.dimension)]


def stumps(cone: SignedRows, clock: Clock) -> Stumps:
    """Settle rows by single columns, as long as there are such columns."""
    left, rounds = np.ones(cone.size, bool), list[StumpWeights]()
    while left.any() and not is_exact(cone.X):
        clock.left()
        found = _round(cone, left)
        if found is None:
            break
        rounds.append(found)
        left[found.settled] = False
    return Stumps(cone, rounds, np.flatnonzero(left))


def _round(cone: SignedRows, left: np.ndarray) -> StumpWeights | None:
    """Find the columns that separate the rows left weakly, and the rows that they settle."""
    sides = [np.flatnonzero(left & (cone.signs == sign)) for sign in (1, -1)]
    if cone.lift and not all(side.size for side in sides):  # the intercept does it
        rows = np.concatenate(sides)
        sign = Fraction(int(cone.signs[rows[0]]))
        return StumpWeights({cone.dimension - 1: sign}, rows, np.ones(rows.size))
    few = [side[:: 1 + side.size // FEW] for side in sides]
    if not _thresholds(cone, few, constant=True)[0].any():
        return None
    return _settled(cone, np.flatnonzero(left), *_thresholds(cone, sides))


def _thresholds(
    cone: SignedRows, sides: list[np.ndarray], constant: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Give directions, 0 for columns that are no stumps, and thresholds."""
    (low, high), (low_below, high_below) = (_ranges(cone.X, side) for side in sides)
    if cone.lift:
        up, down = low >= high_below, low_below >= high
        differ = np.maximum(high, high_below) > np.minimum(low, low_below)
        thresholds = np.where(up, low, low_below)
    else:
        up, down = (low >= 0) & (high_below <= 0), (low_below >= 0) & (high <= 0)
        differ = (np.maximum(high, high_below) > 0) | (np.minimum(low, low_below) < 0)
        thresholds = np.zeros(low.size)
    return np.where((up | down) & (differ | constant), np.where(up, 1, -1), 0), thresholds


def _settled(
    cone: SignedRows, left: np.ndarray, directions: np.ndarray, thresholds: np.ndarray
) -> StumpWeights | None:
    """Give the weights of columns, and the rows that they are positive on; None if hardly so."""
    X, scales = cone.X, np.ldexp(1.0, cone.powers)
    gains, differ = np.zeros(left.size), np.zeros(left.size, bool)
    columns = shifted = np.flatnonzero(directions)
    if sparse.issparse(X):
        rows, counted = X[left], (directions != 0) & (thresholds == 0)
        terms = np.abs(rows.data * scales[rows.indices]) * counted[rows.indices]
        owners = np.repeat(np.arange(left.size), np.diff(rows.indptr))
        gains += np.bincount(owners, terms, minlength=left.size)
        differ[owners[counted[rows.indices] & (rows.data != 0)]] = True
        shifted = np.flatnonzero((directions != 0) & (thresholds != 0))
        if shifted.size * left.size > DENSE:
            columns, shifted = np.flatnonzero(counted), shifted[:0]
    for some in np.array_split(shifted, 1 + left.size * shifted.size // BLOCK_ENTRIES):
        entries = X[:, some][left]
        entries = entries.toarray() if sparse.issparse(entries) else entries
        gains += np.abs(entries * scales[some] - thresholds[some] * scales[some]).sum(axis=1)
        differ |= (entries != thresholds[some]).any(axis=1)
    if not differ.any() or gains[differ].min() < LEAST:
        return None
    return StumpWeights(
        _weights(cone, columns, directions, thresholds), left[differ], gains[differ]
    )


def _weights(
    cone: SignedRows, columns: np.ndarray, directions: np.ndarray, thresholds: np.ndarray
) -> dict[int, Fraction]:
    """Give Σ ±2^p·(x_j - c), exactly."""
    weights, last = dict[int, Fraction](), Fraction(0)
    exact = numbers_in(cone.X, thresholds[columns].tolist())
    for j, threshold in zip(columns.tolist(), exact, strict=True):
        weights[j] = int(directions[j]) * Fraction(2) ** int(cone.powers[j])
        if threshold:
            last -= weights[j] * Fraction(threshold)
    return {**weights, cone.dimension - 1: last} if last else weights


def _ranges(X: Matrix, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the least and the largest entry of each column among some rows."""
    width = X.shape[1]
    low, high = np.full(width, math.inf), np.full(width, -math.inf)
    if sparse.issparse(X):
        part = X[rows]
        np.minimum.at(low, part.indices, part.data)
        np.maximum.at(high, part.indices, part.data)
        zero = np.bincount(part.indices, minlength=width) < rows.size
        return np.where(zero, np.minimum(low, 0), low), np.where(zero, np.maximum(high, 0), high)
    for some in np.array_split(rows, 1 + rows.size * width // BLOCK_ENTRIES):
        if some.size:
            part = X[some]
            low, high = np.minimum(low, part.min(axis=0)), np.maximum(high, part.max(axis=0))
    return low, high
