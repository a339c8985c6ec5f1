"""The hard margin by its support vectors, up to thousands of them (theory D10).

Few rows    are all looked at after every step of `corral.descend`
Many        a part of them is solved; then all are looked at once, and those that come out worst
            join the part, until the gap over all rows is small enough
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.blocks import in_blocks
from rosenblatt.loops import in_python
from rosenblatt.margin.corral import (
    COUNT,
    FULL,
    MEETING,
    PAUSED,
    FloatCorral,
    Grouped,
    descend,
)
from rosenblatt.margin.intercepts import middle_intercept
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.rows import Dense, Rows, fill_squares, scores, span

FEW_ENTRIES = 2**16  # so few are looked at in less time than rows are chosen
FIRST_ROWS = 64  # of each group, to begin with
# Rows and entries up to which Python's milliseconds are better than to compile the loops.
FEWEST = 64
# Rows of a corral: at first, those that seconds suffice for, and those that are too many.
ROOM, FEW_ROOM, MOST_ROOM = 64, 1024, 4096
STEPS, WORK = 10, 10**8  # at least so many steps, and multiplications, for a look at the clock
FINEST = 1e-13  # the gap on a part of the rows, which costs little
DIGITS = 1e-15  # what rounding may leave of a product


class HardMargin(NamedTuple):
    """Weights with min s(w·x + b) = 1, duals, the relative gap, and whether Ctrl-C ended it.

    The gap is 1 or more where the weights separate nothing; they are then of any length.
    """

    w: np.ndarray
    alphas: np.ndarray
    gap: float
    interrupted: bool = False


class SupportSearch:
    """The hulls of signed rows (x, lift), and the part of them that is being solved."""

    def __init__(self, X: Matrix, signs: np.ndarray, intercept: str, lift: float) -> None:
        free, lift = intercept == "free", lift if intercept == "lifted" else 0.0
        self.X, self.signs = X, signs.astype(np.float64)
        self.groups = (signs > 0).astype(np.int64) if free else np.zeros(signs.size, np.int64)
        self.members = [np.flatnonzero(self.groups == g) for g in range(2 if free else 1)]
        self.share, self.lift = (0.5, 0.0) if free else (1.0, lift)
        self.dense = not sparse.issparse(X)
        self.entries = X.size if self.dense else X.nnz
        self.fewest = signs.size + self.entries <= FEWEST
        self.take_steps = descend_in_python if self.fewest else descend
        # A shift of all rows moves no difference of the groups, but its size is lost in rounding.
        moved = free and self.dense
        self.centre = X.sum(axis=0, dtype=np.float64) / len(X) if moved else np.zeros(X.shape[1])
        self.point, self.products = np.zeros(X.shape[1] + 1), np.empty(signs.size)
        self.corral = _corral(ROOM, X.shape[1])
        self.chosen = self.firsts = np.zeros(0, np.int64)
        self.joint = 0.0
        self.gap = np.inf

    def run(self, tol: float, max_seconds: float, room: int = MOST_ROOM) -> HardMargin:
        """Search, or go on, until the gap is small enough.

        It ends before if the time is over, more than `room` rows are in the support or rounding
        allows no more. Ctrl-C ends it too; what was found so far counts.
        """
        end, interrupted = time.perf_counter() + max_seconds, False
        with np.errstate(all="ignore"):
            try:
                self._run(tol, end, room)
            except KeyboardInterrupt:
                interrupted = True
                self._look()
            return self._found(interrupted)

    def _run(self, tol: float, end: float, room: int) -> None:
        if not self.chosen.size:
            self._begin()
        while True:
            status = self._descend(tol, end, room)
            gap = self._look()
            over = status in (MEETING, FULL) or time.perf_counter() >= end
            if gap <= tol or over or not self._add_worst():
                return

    def _found(self, interrupted: bool) -> HardMargin:
        """Give the weights and duals of the point."""
        w, products = self.point.copy(), self.products
        if self.share < 1.0:
            middle = middle_intercept(self.signs * products, self.signs)
            products = products + self.signs * middle
            w[-1] = middle - self.centre @ w[:-1]
        count, least = int(self.corral.found[COUNT]), float(products.min())
        duals = np.zeros(self.signs.size)
        duals[self.chosen[self.corral.places[:count]]] = self.corral.weights[:count]
        if self.gap < 1 and least > 0:
            w, duals = w / least, duals / least
        return HardMargin(w, duals, self.gap, interrupted)

    def _begin(self) -> None:
        """Take the rows of each group that are nearest to the other one's mean."""
        sizes = np.array([rows.size for rows in self.members])
        mean = (self.signs / sizes[self.groups]) @ self.X
        self.point[:-1] = np.asarray(mean, np.float64).ravel()
        self.point[-1] = self.lift * self.signs.mean() if self.lift else 0.0
        self._look()
        if self.entries <= FEW_ENTRIES:
            self._take(np.arange(self.signs.size))
            self.firsts = np.array([rows[self.products[rows].argmin()] for rows in self.members])
        else:
            members = [_lowest(rows, self.products, FIRST_ROWS) for rows in self.members]
            self._take(np.concatenate(members))
            self.firsts = np.cumsum([0, *(rows.size for rows in members[:-1])])

    def _take(self, rows: np.ndarray) -> None:
        """Let some rows be the part that is solved."""
        self.chosen = rows
        X = self.X if rows.size == self.signs.size else self.X[rows]
        if self.dense:
            X = np.subtract(X, self.centre, dtype=np.float64)
        signs, view = self.signs[rows], as_rows(X, self.lift)
        squares = _squares(X, self.lift) if self.fewest else np.empty(rows.size)
        if not self.fewest:
            fill_squares(view, squares)
        self.joint = (
            self.joint or float(squares.sum()) / rows.size or 1.0
        )  # which stays: so does the factor
        self.part = Grouped(view, signs, squares, self.groups[rows], self.share, self.joint)

    def _descend(self, tol: float, end: float, room: int) -> int:
        """Solve the part, in pieces that are short enough to look at the clock in between."""
        products, whole = np.empty(self.chosen.size), self.chosen.size == self.signs.size
        row = 1 + self.entries // self.signs.size
        while True:
            count = int(self.corral.found[COUNT])
            steps = STEPS + WORK // (row * (self.chosen.size + count) + count**2)
            status: int = self.take_steps(
                self.part,
                self.corral,
                self.firsts,
                self.point,
                products,
                tol if whole else FINEST,
                steps,
            )
            if status == FULL and self.corral.places.size < room:
                self.corral = _larger(self.corral)
            elif status != PAUSED or time.perf_counter() >= end:
                return status

    def _look(self) -> float:
        """Compute z·p of all rows and the relative gap."""
        weights = self.point.copy()
        weights[-1] = self.lift * self.point[-1] - self.centre @ self.point[:-1]
        if self.fewest:
            self.products[:] = self.X @ weights[:-1] + weights[-1]
        else:
            self._score(weights)
        self.products *= self.signs
        lows = [self.products[rows].min() for rows in self.members]
        square = float(self.point @ self.point)
        self.gap = 1 - self.share * float(sum(lows)) / square if square > 0 else np.inf
        return self.gap

    def _score(self, weights: np.ndarray) -> None:
        rows = as_rows(self.X, 1.0)

        def work(start: int, stop: int) -> None:
            scores(span(rows, start, stop), weights, self.products[start:stop])

        in_blocks(work, self.signs.size, self.entries)

    def _add_worst(self) -> bool:
        """Add rows below the corral's; tell whether there are any."""
        count = int(self.corral.found[COUNT])
        members = self.chosen[self.corral.places[:count]]
        levels = np.zeros(2)
        for g in np.unique(self.groups[members]):
            levels[g] = self.products[members[self.groups[members] == g]].min()
        depth = self.products - levels[self.groups]
        below = depth < -DIGITS * np.abs(levels).max()
        below[self.chosen] = False
        worst = np.flatnonzero(below)
        if not worst.size:
            return False
        self._take(np.append(self.chosen, _lowest(worst, depth, FIRST_ROWS + count)))
        return True


def descend_in_python(
    hulls: Grouped,
    corral: FloatCorral,
    firsts: np.ndarray,
    point: np.ndarray,
    products: np.ndarray,
    tol: float,
    steps: int,
) -> int:
    """Do as `descend`, in the columns that few rows use."""
    rows, used = _packed(hulls.rows)
    near, spread = point[used], np.zeros(used.size)
    hulls, corral = hulls._replace(rows=rows), corral._replace(spread=spread)
    run = in_python(descend, dot=_dot, add=_add)
    status: int = run(hulls, corral, firsts, near, products, tol, steps)
    point[:] = 0.0
    point[used] = near
    return status


def _packed(rows: Rows) -> tuple[Dense, np.ndarray]:
    """Give dense rows of the columns in use, and the places of these and of the lift."""
    if isinstance(rows, Dense):
        return rows, np.arange(rows.values.shape[1] + 1)
    columns, places = np.unique(rows.columns, return_inverse=True)
    values = np.zeros((rows.starts.size - 1, columns.size))
    of_rows = np.repeat(np.arange(len(values)), np.diff(rows.starts).astype(np.int64))
    np.add.at(values, (of_rows, places.ravel()), rows.values)
    return Dense(values, rows.lift), np.append(columns.astype(np.int64), -1)


def _dot(rows: Dense, i: int, w: np.ndarray) -> Any:
    return rows.values[i] @ w[:-1] + rows.lift * w[-1]


def _add(rows: Dense, i: int, a: float, w: np.ndarray) -> None:
    w[:-1] += a * rows.values[i]
    w[-1] += a * rows.lift


def _squares(X: Matrix, lift: float) -> np.ndarray:
    """Give ‖(x, lift)‖² of each row."""
    doubled = X.astype(np.float64)
    squares = doubled.multiply(doubled) if sparse.issparse(X) else doubled * doubled
    return np.asarray(squares.sum(axis=1)).ravel() + lift * lift


def _lowest(rows: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Give the rows with the lowest values, the lowest first."""
    if rows.size > count:
        rows = rows[np.argpartition(values[rows], count)[:count]]
    return rows[np.argsort(values[rows])]


def _corral(room: int, columns: int) -> FloatCorral:
    places, weights = np.zeros(room, np.int64), np.zeros(room)
    factor, solved = np.zeros((room, room)), np.zeros((2, room))
    return FloatCorral(places, weights, factor, solved, np.zeros(columns + 1), np.zeros(6))


def _larger(corral: FloatCorral) -> FloatCorral:
    """Give the same corral with four times the room."""
    room = corral.places.size
    larger = _corral(4 * room, corral.spread.size - 1)
    larger.places[:room], larger.weights[:room] = corral.places, corral.weights
    larger.factor[:room, :room], larger.found[:] = corral.factor, corral.found
    return larger
