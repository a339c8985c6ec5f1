"""Newton steps on proximal problems: support vector machines with few columns.

Problem     min λ‖w‖² + Σ c·max(0, 1 - z·w), z = s·(x, lift)
Proximal    keep the duals near a centre: max over 0 <= α <= c of the dual minus ‖α - centre‖²/2σ.
            Its primal is smooth: φ(w) has the slope 2λw - Σ α·z at α = clip(centre + σ(1 - z·w)).
Method      Newton's on φ, with a search along each step. Only rows whose α lies strictly between
            the ends of its range bend φ, so the matrix is 2λI + σ Σ zzᵀ over those few. When the
            slope is small, the centre moves to α and σ grows.
Far rows    Rows whose dual sits at an end, and which miss the margin by much more than the rows
            between the ends do, are taken to stay there: steps look at the others, which are few.
            A gap that seems small is computed anew from all rows; if it is not, more rows are near.
Cost        of a step, one product of the near rows with a vector, and squares of fewer
Intercept   a free one costs nothing in place of λb²; duals are made feasible by a factor for each
            class. A shift of the columns is taken out of the matrix, where it would drown the rest.
Sources     Rockafellar 1976 (proximal steps); Yan & Li 2020 (Newton's method for them)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import linalg, sparse

from rosenblatt.blocks import in_blocks
from rosenblatt.margin.intercepts import best_intercept
from rosenblatt.margin.problem import Effort, Problem, total_loss
from rosenblatt.margin.sums import BLOCK
from rosenblatt.matrices import Matrix, as_rows
from rosenblatt.rows import Dense, Rows, combine, scores, span

ALL, SMALL = slice(None), 2**13  # entries: NumPy is quicker on them than loops are called
REACH = 8.0  # times what rows miss that should touch the margin: beyond, a row is far from it
COPY, COPIED = 2**18, 1 / 32  # so many entries of rows, and so large a share of all, are copied
FILLED = 0.25  # share of entries above which few rows are copied as dense ones
GROWTH = 4.0  # of σ, from centre to centre
SHARE = 10  # at first, one row in so many bends φ
LOOSE = 0.1  # share of the gap that the slope may leave when the centre moves
PIECE = 2**17  # entries: a megabyte of rows in float64 stays in the second-level cache
PASS = 64  # a thread pays for a product with a vector at so many times more entries than else
UNSETTLED = 10  # such steps, after which no row may bend φ along the intercept
STUCK = 20  # such steps, after which σ was too large: one row after the other stops the steps
STALLED = 60  # steps without a better gap
SHORT_OF_ZERO = 0.1  # of the slope along a step, where a search may end


class Proximal:
    """Where the steps are: weights, duals, and of the rows near the margin z·w, centre and σ."""

    def __init__(self, problem: Problem, w: np.ndarray, alphas: np.ndarray) -> None:
        self.problem, self.rows = problem, as_rows(problem.X, problem.lift)
        self.small, self.free = problem.X.size <= SMALL, problem.intercept == "free"
        self.costs = np.full(w.size, 2 * problem.lam)
        self.shift = np.zeros(w.size - 1)
        if self.free:
            self.costs[-1] = 0.0
            n = alphas.size
            share = lambda part: np.full(part.stop - part.start, 1 / n)  # noqa: E731
            self.shift = total(self.rows, n, share, w.size)[:-1]
        self.reach = REACH
        self.look_at_all(w, alphas)
        place = min(alphas.size - 1, max(2 * w.size, alphas.size // SHARE))
        width = np.partition(np.abs(1 - self.products), place)[place]
        self._narrow()
        self._centre(float(problem.caps.max() / (2 * width)) if width > 0 else 1.0)

    # ---- the rows that are looked at

    def look_at_all(self, w: np.ndarray, alphas: np.ndarray) -> None:
        """Go to weights and duals, and compute anew what steps only add to."""
        self.w, self.all_alphas = w, alphas
        self.near: np.ndarray | slice = ALL
        self.X, self.caps = self.problem.X, self.problem.caps
        if self.small:
            self.X = float_rows(self.X, ALL)
        self.signs = self.problem.signs
        self.sides = self._sides(self.signs)
        self.products, self.alphas = self._products(w), np.zeros(alphas.size)
        self.far_sums = np.zeros(len(self.sides))
        self.pulls, self.far_pulls = np.zeros((2, len(self.sides), w.size))
        self._take(alphas)

    def _narrow(self) -> None:
        """Leave out rows that are much further from the margin than those that should touch it."""
        if self.small:
            return
        misses, touching = np.abs(1 - self.products), (self.alphas > 0) & (self.alphas < self.caps)
        usual = np.sqrt(np.sum(misses**2, where=touching) / max(touching.sum(), 1))
        far = (misses > self.reach * usual) & (usual > 0)
        far &= self.alphas == np.where(self.products > 1, 0.0, self.caps)
        near = np.flatnonzero(~far)
        if near.size > far.size * min(0.5, max(COPY / self.X.size, COPIED)):
            return
        rest = np.where(far, self.alphas, 0.0)
        self.far_sums += self._sums(rest)
        self.far_pulls += self._totals(lambda part: rest[part] * self.signs[part])
        self.all_alphas = self.all_duals(np.ones(len(self.sides)))
        self.X = float_rows(self.X, near)
        self.near = near if isinstance(self.near, slice) else self.near[near]
        self.alphas, self.products = self.alphas[near], self.products[near]
        self.signs, self.caps = self.signs[near], self.caps[near]
        self.sides = self._sides(self.signs)

    @property
    def sees_all(self) -> bool:
        """Whether no row is left out."""
        return isinstance(self.near, slice)

    def all_duals(self, factors: np.ndarray) -> np.ndarray:
        """Give the duals of all rows, times a factor for each side."""
        return self.held(factors)()

    def held(self, factors: np.ndarray) -> Callable[[], np.ndarray]:
        """Give what makes those duals, of vectors that are there anyway and never change."""
        all_alphas, near, alphas = self.all_alphas, self.near, self.alphas

        def made() -> np.ndarray:
            duals = all_alphas.copy()
            duals[near] = alphas
            for side, factor in zip(self._sides(self.problem.signs), factors, strict=True):
                np.multiply(duals, factor, out=duals, where=side)
            return duals

        return made

    def _sums(self, alphas: np.ndarray) -> np.ndarray:
        """Add up the duals of each side."""
        return np.array([np.sum(alphas, where=side) for side in self.sides])

    def _sides(self, signs: np.ndarray) -> np.ndarray:
        """Tell the classes apart, if it matters."""
        if self.free:
            return np.stack([signs < 0, signs > 0])
        return np.ones((1, signs.size), bool)

    def _products(self, w: np.ndarray) -> np.ndarray:
        """Give z·w."""
        if self.sees_all and not self.small:
            found = products(self.rows, w)
            found *= self.signs
            return found
        return np.asarray(self.signs * (self.X @ w[:-1] + self.problem.lift * w[-1]))

    def _totals(self, factors: Callable[[slice], np.ndarray]) -> np.ndarray:
        """Give Σ factor·x of each side."""
        if self.sees_all and not self.small:
            return np.stack([self._total_of(factors, side) for side in self.sides])
        both = factors(ALL) * self.sides
        return np.column_stack([both @ self.X, self.problem.lift * both.sum(axis=1)])

    def _total_of(self, factors: Callable[[slice], np.ndarray], side: np.ndarray) -> np.ndarray:
        return total(self.rows, side.size, lambda part: factors(part) * side[part], self.w.size)

    # ---- values

    def _centre(self, sigma: float) -> None:
        """Put the centre where the duals are."""
        self.centre, self.sigma = self.alphas, sigma
        self._take(self._duals(self.products))

    def _duals(self, products: np.ndarray, part: slice = ALL) -> np.ndarray:
        duals: np.ndarray = 1 - products
        duals *= self.sigma
        duals += self.centre[part]
        np.maximum(duals, 0.0, out=duals)
        np.minimum(duals, self.caps[part], out=duals)
        return duals

    def _take(self, alphas: np.ndarray) -> None:
        """Take other duals; rows whose dual stays cost nothing."""
        before, signs = self.alphas, self.signs
        self.pulls += self._totals(lambda part: (alphas[part] - before[part]) * signs[part])
        self.alphas, self.sums = alphas, self.far_sums + self._sums(alphas)

    def primal(self) -> float:
        """Give the objective of the weights; rows far from the margin are taken to stay so."""
        losses = total_loss(self.products.copy(), self.caps)
        losses += self.far_sums.sum() - self.far_pulls.sum(axis=0) @ self.w
        return float(losses + (self.costs * self.w) @ self.w / 2)

    def dual(self) -> tuple[float, np.ndarray]:
        """Give the value of the duals times a factor for each side, and those."""
        factors, lam = np.ones(len(self.sums)), self.problem.lam
        if self.free:
            np.divide(self.sums.min(), self.sums, out=factors, where=self.sums > 0)
        pulled = factors @ self.pulls
        pulled = pulled[:-1] if self.free else pulled
        square, linear = float(pulled @ pulled), float(factors @ self.sums)
        best = min(1.0, 2 * lam * linear / square) if square > 0 else 1.0
        return best * linear - best**2 * square / (4 * lam), best * factors

    def slope(self) -> np.ndarray:
        """Give the slope of φ."""
        return np.asarray(self.costs * self.w - self.pulls.sum(axis=0))

    # ---- steps

    def step(self) -> None:
        """Make a Newton step."""
        slope = self.slope()
        way = -self._solve(slope)
        ends = self._products(way)
        length = self._search(float(slope @ way), float((self.costs * way) @ way), ends)
        self.w = self.w + length * way
        ends *= length
        ends += self.products
        self.products = ends
        self._take(self._duals(self.products))

    def recentre(self, gap: float) -> None:
        """Move the centre if the slope is small beside the gap; let the duals go further away."""
        slope = self.slope()
        lost = abs(slope[-1]) if self.free else slope[-1] ** 2 / (4 * self.problem.lam)
        if lost + slope[:-1] @ slope[:-1] / (4 * self.problem.lam) <= LOOSE * gap:
            if self.sees_all:
                self.look_at_all(self.w, self.alphas)
            self._narrow()
            self._centre(GROWTH * self.sigma)

    def holds(self, w: np.ndarray, alphas: np.ndarray, tol: float) -> bool:
        """Tell whether the gap is small for all rows; if it is not, go on with more of them."""
        if self.sees_all:
            return True
        self.look_at_all(w, alphas)
        primal, (dual, _) = self.primal(), self.dual()
        self.reach *= 2
        self._centre(self.sigma)
        return bool(primal - dual <= tol * primal)

    def begin_again(self, w: np.ndarray, alphas: np.ndarray) -> None:
        """Go back to weights and duals, and keep the duals nearer to where they are."""
        self.look_at_all(w, alphas)
        self._centre(self.sigma / GROWTH**4)

    def settle_intercept(self) -> None:
        """Put a free intercept where it is best for the weights."""
        if self.free:
            self.look_at_all(self.w, self.all_duals(np.ones(len(self.sides))))
            scores = self.signs * self.products - self.w[-1]
            self.w = np.append(self.w[:-1], best_intercept(scores, self.signs, self.caps))
            self.products = self.signs * (scores + self.w[-1])
            self._centre(self.sigma)

    def _solve(self, slope: np.ndarray) -> np.ndarray:
        """Solve (costs + σ Σ zzᵀ) x = slope."""
        bent = np.flatnonzero((self.alphas > 0) & (self.alphas < self.caps))
        H = squares(self.X, bent, self.shift, self.problem.lift)
        H *= self.sigma
        H[np.diag_indices(slope.size)] += self.costs
        x = solution(H, np.append(slope[:-1] - self.shift * slope[-1], slope[-1]))
        x[-1] -= self.shift @ x[:-1]
        if self.problem.intercept == "none":
            x[-1] = 0.0
        return x

    def _search(self, level: float, rise: float, ends: np.ndarray) -> float:
        """Give the length along a step at which φ, whose slope there is `level`, is least."""

        def slope(length: float) -> float:
            gained = 0.0
            for first in range(0, ends.size, BLOCK):
                part = slice(first, first + BLOCK)
                moved = self._duals(self.products[part] + length * ends[part], part)
                moved -= self.alphas[part]
                gained += float(ends[part] @ moved)
            return level + length * rise - gained

        low, high, at_low, at_high = 0.0, 1.0, level, slope(1.0)
        while at_high < -SHORT_OF_ZERO * abs(at_low) and high < 2.0**30:
            low, high, at_low, at_high = high, 2 * high, at_high, slope(2 * high)
        for k in range(40):
            if abs(at_high) <= SHORT_OF_ZERO * abs(level):
                return high
            middle = (low + high) / 2
            if k % 2 == 0:
                middle = low - (high - low) * at_low / (at_high - at_low)
            at_middle = slope(middle)
            if abs(at_middle) <= SHORT_OF_ZERO * abs(level):
                return middle
            if at_middle < 0:
                low, at_low = middle, at_middle
            else:
                high, at_high = middle, at_middle
        return low


def newton(
    problem: Problem, tol: float, effort: Effort, w: np.ndarray, alphas: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give weights and duals with a relative gap of `tol`, from some weights and duals on.

    If the effort is over or rounding allows no more, they are the best ones so far.
    """
    largest = float(problem.caps.max())
    if largest != 1.0:  # else there is nothing to copy
        scaled = problem._replace(lam=problem.lam / largest, caps=problem.caps / largest)
        w, alphas = newton(scaled, tol, effort, w, alphas / largest)
        return w, np.minimum(alphas * largest, problem.caps)
    with np.errstate(all="ignore"):
        return _descended(Proximal(problem, w, alphas), tol, effort)


def _descended(at: Proximal, tol: float, effort: Effort) -> tuple[np.ndarray, np.ndarray]:
    w, above, below, narrowest, since = at.w, np.inf, -np.inf, np.inf, 0
    alphas: Callable[[], np.ndarray] = partial(np.asarray, at.all_alphas)
    while True:
        primal, (dual, factors) = at.primal(), at.dual()
        if primal < above:
            above, w = primal, at.w
        if dual > below:
            below, alphas = dual, at.held(factors)
        since = 0 if above - below < 0.9 * narrowest else since + 1
        narrowest = min(narrowest, above - below)
        known = np.isfinite(primal + dual)
        if not known or since > STALLED or effort.is_over():
            return w, alphas()
        if narrowest <= tol * above:
            duals = alphas()
            if at.holds(w, duals, tol):
                return w, duals
            above, below, narrowest = np.inf, -np.inf, np.inf
            continue
        at.recentre(primal - dual)
        at.step()
        if since % UNSETTLED == UNSETTLED - 1:
            at.settle_intercept()
        if since % STUCK == STUCK - 1:
            at.begin_again(w, alphas())
        effort.passes += 1


# --- products with rows, in threads ---------------------------------------------------------------


def products(rows: Rows, w: np.ndarray) -> np.ndarray:
    """Give x·w of all rows."""
    out = np.empty(len(rows.values) if isinstance(rows, Dense) else rows.starts.size - 1)

    def work(start: int, stop: int) -> None:
        scores(span(rows, start, stop), w, out[start:stop])

    in_blocks(work, out.size, rows.values.size // PASS)
    return out


def total(rows: Rows, count: int, factors: Callable[[slice], np.ndarray], width: int) -> np.ndarray:
    """Give Σ factor·x; the factors of a block of rows are made when it is their turn."""

    def work(start: int, stop: int) -> np.ndarray:
        out = np.zeros(width)
        combine(span(rows, start, stop), factors(slice(start, stop)), out)
        return out

    return added(in_blocks(work, count, rows.values.size // PASS))


def added(parts: list[np.ndarray]) -> np.ndarray:
    """Add up arrays in the first of them."""
    first, *others = parts
    for part in others:
        first += part
    return first


def float_rows(X: Matrix, chosen: np.ndarray | slice) -> Matrix:
    """Give some rows in float64; dense ones, unless most of their entries are zeros."""
    if isinstance(X, np.ndarray) and isinstance(chosen, np.ndarray):
        made, height = np.empty((chosen.size, X.shape[1])), max(1, PIECE // X.shape[1])
        for first in range(0, chosen.size, height):
            made[first : first + height] = X[chosen[first : first + height]]
        return made
    X = X[chosen].astype(np.float64, copy=False)
    few = not sparse.issparse(X) or X.nnz < FILLED * X.shape[0] * X.shape[1]
    return X if few else X.toarray()


def squares(X: Matrix, chosen: np.ndarray, shift: np.ndarray, lift: float) -> np.ndarray:
    """Give Σ zzᵀ over some rows z = (x - shift, lift), of which the upper half is filled."""

    def work(start: int, stop: int) -> np.ndarray:
        return squares_of(X, chosen[start:stop], shift, lift)

    entries = chosen.size * (X.shape[1] + 1)
    return added(in_blocks(work, chosen.size, entries, each=1))


def squares_of(X: Matrix, chosen: np.ndarray, shift: np.ndarray, lift: float) -> np.ndarray:
    """Give Σ zzᵀ, added up in the order of the rows."""
    width = X.shape[1] + 1
    height = max(width, PIECE // width)
    sums = np.zeros((width, width), order="F")
    for first in range(0, chosen.size, height):
        piece = X[chosen[first : first + height]]
        block = np.full((piece.shape[0], width), lift)
        piece = piece.toarray() if sparse.issparse(piece) else piece
        np.subtract(piece, shift, out=block[:, :-1])
        sums = linalg.blas.dsyrk(1.0, block.T, 1.0, sums, overwrite_c=True)
    return sums


def solution(H: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Solve H x = r; H itself is scaled to a unit diagonal, since columns differ in scale."""
    diagonal = np.diag(H)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled, goal, at = H, scale * r, np.diag_indices(scale.size)
    scaled *= scale
    scaled *= scale[:, None]
    diagonal, ridge = scaled[at], 1e-15
    while ridge < 1.0:
        scaled[at] = diagonal + ridge
        _, x, failed = linalg.lapack.dposv(scaled, goal)
        if not failed:
            return np.asarray(scale * x)
        ridge *= 10
    return np.full(r.size, np.nan)
