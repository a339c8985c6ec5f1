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
Memory      of each row z·w, how it changes along a step, and the centre, which is 20 bytes. Its
            dual is made of those; that of the best answer so far takes a bit, unless it lies
            between the ends.
Cost        of a step, one product of the near rows with a vector, and squares of fewer
Intercept   a free one costs nothing in place of λb²; duals are made feasible by a factor for each
            class. A shift of the columns is taken out of the matrix, where it would drown the rest.
Sources     Rockafellar 1976 (proximal steps); Yan & Li 2020 (Newton's method for them)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from rosenblatt.blocks import in_blocks
from rosenblatt.loops import loop
from rosenblatt.margin.intercepts import best_intercept, ranked
from rosenblatt.margin.pieces import PASS, added, float_rows, products, solution, squares, total
from rosenblatt.margin.problem import Effort, Problem, are_one, divided, total_loss
from rosenblatt.margin.sums import parts
from rosenblatt.matrices import as_rows
from rosenblatt.rows import combine, span

Places = np.ndarray | slice

BOTH, EACH = (0,), (-1, 1)  # sides whose duals are added up: together, or each class
ALL, SMALL = slice(None), 2**13  # entries: NumPy is quicker on them than loops are called
REACH = 8.0  # times what rows miss that should touch the margin: beyond, a row is far from it
COPY, COPIED = 2**18, 1 / 32  # so many entries of rows, and so large a share of all, are copied
GROWTH = 4.0  # of σ, from centre to centre
SHARE = 10  # at first, one row in so many bends φ
LOOSE = 0.1  # share of the gap that the slope may leave when the centre moves
UNSETTLED = 10  # such steps, after which no row may bend φ along the intercept
STUCK = 20  # such steps, after which σ was too large: one row after the other stops the steps
STALLED = 60  # steps without a better gap
SHORT_OF_ZERO = 0.1  # of the slope along a step, where a search may end


class Proximal:
    """Where the steps are: weights, and of the rows near the margin z·w and the centre.

    Their duals clip(centre + σ(1 - z·w)) are made block by block, whenever they are needed.
    """

    products: np.ndarray
    centre: np.ndarray

    def __init__(self, problem: Problem, w: np.ndarray, alphas: np.ndarray) -> None:
        """Begin with weights and duals, in whose memory the products of all rows are kept."""
        self.problem, self.rows = problem, as_rows(problem.X, problem.lift)
        self.small, self.free = problem.X.size <= SMALL, problem.intercept == "free"
        self.costs = np.full(w.size, 2 * problem.lam)
        self.shift, self.sides = np.zeros(w.size - 1), EACH if self.free else BOTH
        if self.free:
            self.costs[-1] = 0.0
            n = alphas.size
            share = lambda part: np.full(part.stop - part.start, 1 / n)  # noqa: E731
            self.shift = total(self.rows, n, share, w.size)[:-1]
        self.reach = REACH
        self.first, self.second = alphas, np.empty(alphas.size)  # memory that is used again
        self.look_at_all(w, alphas.astype(np.float32))

    def begin(self) -> None:
        """Take the first centre."""
        n, self.centre = self.products.size, self.centre.copy()  # somebody may hold the known one
        place = min(n - 1, max(2 * self.w.size, n // SHARE))
        width, _ = ranked(lambda part: np.abs(1 - self.products[part]), n, place, place)
        self._narrow()
        self._centre(float(self.problem.caps.max() / (2 * width)) if width > 0 else 1.0)

    # ---- the rows that are looked at

    def look_at_all(self, w: np.ndarray, alphas: np.ndarray) -> None:
        """Go to weights and duals, and compute anew what steps only add to."""
        self.w, self.centre, self.centred = w, alphas, False
        self.near: np.ndarray | slice = ALL
        self.X, self.caps = self.problem.X, self.problem.caps
        if self.small:
            self.X = float_rows(self.X, ALL)
        self.signs = self.problem.signs
        self.products = self._products(w, self.first)
        self.sums, self.far_sums = np.zeros((2, len(self.sides)))
        self.pulls, self.far_pulls = np.zeros((2, len(self.sides), w.size))
        self._take(self._duals)

    def _narrow(self) -> None:
        """Leave out rows that are much further from the margin than those that should touch it."""
        if self.small:
            return
        far = self._far()
        many = int(np.count_nonzero(far))
        if far.size - many > many * min(0.5, max(COPY / self.X.size, COPIED)):
            return
        near = np.flatnonzero(~far)
        sums, pulls = self._gathered(lambda part: np.where(far[part], self._duals(part), 0.0))
        self.far_sums += sums
        self.far_pulls += pulls
        self.all_alphas = self.all_duals(np.ones(len(self.sides))).copy()
        self.X = float_rows(self.X, near)
        self.centre, self.centred = self._duals(near), False
        self.near = near if isinstance(self.near, slice) else self.near[near]
        self.products, self.signs = self.products[near], self.signs[near]
        self.caps = self.caps[near]

    def _far(self) -> np.ndarray:
        """Tell which rows are far from the margin, on the side where their duals put them."""
        far, square, count = np.zeros(self.products.size, bool), 0.0, 0
        for part in parts(0, far.size):
            touching = self._touching(part)
            square += float(np.sum((1 - self.products[part]) ** 2, where=touching))
            count += int(np.count_nonzero(touching))
        usual = np.sqrt(square / max(count, 1))
        if not usual > 0:
            return far
        for part in parts(0, far.size):
            products = self.products[part]
            there = self._duals(part) == np.where(products > 1, 0.0, self.caps[part])
            far[part] = there & (np.abs(1 - products) > self.reach * usual)
        return far

    @property
    def sees_all(self) -> bool:
        """Whether no row is left out."""
        return isinstance(self.near, slice)

    def all_duals(self, factors: np.ndarray) -> np.ndarray:
        """Give the duals of all rows, times a factor for each side, until the next step."""
        return self.held(factors)()

    def held(self, factors: np.ndarray) -> Callable[[], np.ndarray]:
        """Give what makes those duals, of little memory or vectors that never change."""
        near, count, found = self.near, self.products.size, self.second
        others = None if self.sees_all else self.all_alphas
        write: Callable[[np.ndarray], None] = partial(np.copyto, src=self.centre)
        if self.centred:
            write = packed(self._duals, self.caps)

        def made() -> np.ndarray:
            if others is None:
                write(found)
            else:
                write(some := np.empty(count))
                np.copyto(found, others)
                found[near] = some
            for part in parts(0, found.size):
                signs = self.problem.signs[part]
                found[part] *= factors[0] if len(factors) == 1 else np.where(signs < 0, *factors)
            return found

        return made

    def _products(self, w: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write z·w."""
        if self.sees_all and not self.small:
            products(self.rows, w, out)
        else:
            np.add(self.X @ w[:-1], self.problem.lift * w[-1], out=out)
        out *= self.signs
        return out

    def _gathered(self, duals: Callable[[slice], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Give Σ dual and Σ dual·z of each side, with duals made when it is their turn."""

        def work(start: int, stop: int) -> np.ndarray:
            found = np.zeros((len(self.sides), self.w.size + 1))
            for part in parts(start, stop) if by_loops else [slice(start, stop)]:
                some, signs = duals(part), self.signs[part]
                for side, mine in zip(self.sides, found, strict=True):
                    alphas = some if side == 0 else np.where(signs == side, some, 0.0)
                    mine[-1] += alphas.sum()
                    self._pull(alphas * signs, part, mine[:-1])
            return found

        by_loops = self.sees_all and not self.small
        entries = self.rows.values.size // PASS if by_loops else 0
        found = added(in_blocks(work, self.signs.size, entries))
        return found[:, -1], found[:, :-1]

    def _pull(self, factors: np.ndarray, part: slice, out: np.ndarray) -> None:
        """Add Σ factor·x of some rows."""
        if self.sees_all and not self.small:
            combine(span(self.rows, part.start, part.stop), factors, out)
        else:
            out[:-1] += factors @ self.X
            out[-1] += self.problem.lift * factors.sum()

    # ---- values

    def _centre(self, sigma: float) -> None:
        """Put the centre where the duals are; for that, float32 is fine enough."""
        centre = self.centre
        if centre.dtype != np.float32:
            centre = np.empty(self.products.size, np.float32)

        def change(part: slice) -> np.ndarray:
            before = self._duals(part)
            centre[part] = before  # nobody asks for the one before any more
            after = self._clipped(part, centre[part] + sigma * (1 - self.products[part]))
            after -= before
            return after

        self._take(change)
        self.centre, self.sigma, self.centred = centre, sigma, True

    def _duals(self, part: Places) -> np.ndarray:
        if not self.centred:
            return self._clipped(part, self.centre[part].astype(np.float64))
        duals: np.ndarray = 1 - self.products[part]
        duals *= self.sigma
        duals += self.centre[part]
        return self._clipped(part, duals)

    def _clipped(self, part: Places, duals: np.ndarray) -> np.ndarray:
        np.maximum(duals, 0.0, out=duals)
        np.minimum(duals, self.caps[part], out=duals)
        return duals

    def _touching(self, part: slice) -> np.ndarray:
        """Tell which rows have duals between the ends of their ranges."""
        duals = self._duals(part)
        return (duals > 0) & (duals < self.caps[part])

    def _take(self, change: Callable[[slice], np.ndarray]) -> None:
        """Let the duals change; rows whose dual stays cost nothing."""
        sums, pulls = self._gathered(change)
        self.sums += sums
        self.pulls += pulls

    def primal(self) -> float:
        """Give the objective of the weights; rows far from the margin are taken to stay so."""
        losses = sum(
            total_loss(self.products[part].copy(), self.caps[part])
            for part in parts(0, self.products.size)
        )
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
        ends = self._products(way, self.second[: self.products.size])
        length = self._search(float(slope @ way), float((self.costs * way) @ way), ends)
        self.w = self.w + length * way

        def change(part: slice) -> np.ndarray:
            before = self._duals(part)
            self.products[part] += length * ends[part]
            after = self._duals(part)
            after -= before
            return after

        self._take(change)

    def recentre(self, gap: float) -> None:
        """Move the centre if the slope is small beside the gap; let the duals go further away."""
        slope = self.slope()
        lost = abs(slope[-1]) if self.free else slope[-1] ** 2 / (4 * self.problem.lam)
        if lost + slope[:-1] @ slope[:-1] / (4 * self.problem.lam) <= LOOSE * gap:
            if self.sees_all:
                for part in parts(0, self.centre.size):
                    self.centre[part] = self._duals(part)
                self.look_at_all(self.w, self.centre)
            self._narrow()
            self._centre(GROWTH * self.sigma)

    def holds(self, w: np.ndarray, alphas: np.ndarray, tol: float) -> bool:
        """Tell whether the gap is small for all rows; if it is not, go on with more of them."""
        if self.sees_all:
            return True
        self.look_at_all(w, alphas)
        primal, (dual, _) = self.primal(), self.dual()
        if primal - dual <= tol * primal:
            return True
        self.reach *= 2
        self._centre(self.sigma)
        return False

    def begin_again(self, w: np.ndarray, alphas: np.ndarray) -> None:
        """Go back to weights and duals, and keep the duals nearer to where they are."""
        self.look_at_all(w, alphas)
        self._centre(self.sigma / GROWTH**4)

    def settle_intercept(self) -> None:
        """Put a free intercept where it is best for the weights."""
        if self.free:
            self.look_at_all(self.w, self.all_duals(np.ones(len(self.sides))))
            scores = self.products
            scores *= self.signs
            scores -= self.w[-1]
            self.w = np.append(self.w[:-1], best_intercept(scores, self.signs, self.caps))
            scores += self.w[-1]
            scores *= self.signs
            self._centre(self.sigma)

    def _solve(self, slope: np.ndarray) -> np.ndarray:
        """Solve (costs + σ Σ zzᵀ) x = slope."""
        blocks = parts(0, self.products.size)
        bent = np.concatenate(
            [part.start + np.flatnonzero(self._touching(part)) for part in blocks]
        )
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
        caps = self.caps[:1].copy() if are_one(self.caps) else self.caps

        def slope(length: float) -> float:
            gained = gain(self.products, ends, self.centre, caps, self.sigma, length)
            return level + length * rise - float(gained)

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

    If the effort is over or rounding allows no more, they are the best ones so far. The memory of
    the duals given is used for others.
    """
    largest = float(problem.caps.max())
    if largest != 1.0:
        scaled = problem._replace(lam=problem.lam / largest, caps=divided(problem.caps, largest))
        alphas /= largest
        w, alphas = newton(scaled, tol, effort, w, alphas)
        alphas *= largest
        return w, np.minimum(alphas, problem.caps, out=alphas)
    with np.errstate(all="ignore"):
        return _descended(Proximal(problem, w, alphas), tol, effort)


def _descended(at: Proximal, tol: float, effort: Effort) -> tuple[np.ndarray, np.ndarray]:
    w, above, below, narrowest, since = at.w, np.inf, -np.inf, np.inf, 0
    least, (most, factors) = at.primal(), at.dual()  # of what is known so far
    alphas = at.held(factors)
    at.begin()
    while True:
        primal, (dual, factors) = at.primal(), at.dual()
        above, below = min(above, primal), max(below, dual)
        if primal < least:
            least, w = primal, at.w
        if dual > most:
            most, alphas = dual, at.held(factors)
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
            least, most = np.inf, -np.inf
            continue
        at.recentre(primal - dual)
        at.step()
        if since % UNSETTLED == UNSETTLED - 1:
            at.settle_intercept()
        if since % STUCK == STUCK - 1:
            at.begin_again(w, alphas())
        effort.passes += 1


# --- duals of all rows ----------------------------------------------------------------------------


@loop
def gain(
    products: np.ndarray,
    ends: np.ndarray,
    centre: np.ndarray,
    caps: np.ndarray,
    sigma: float,
    length: float,
) -> float:
    """Give Σ end·(what the dual gains) where products have gone so far towards their ends."""
    gained, each = 0.0, caps.size > 1
    for i in range(products.size):
        cap, far = caps[i if each else 0], centre[i] + sigma * (1.0 - products[i])
        farther = far - sigma * length * ends[i]
        gained += ends[i] * (min(max(farther, 0.0), cap) - min(max(far, 0.0), cap))
    return gained


def packed(duals: Callable[[slice], np.ndarray], caps: np.ndarray) -> Callable[[np.ndarray], None]:
    """Give what writes the same duals again, of a bit for each at an end of its range."""
    bits, places, values = [], [np.zeros(0, np.int64)], [np.zeros(0)]
    for part in parts(0, caps.size):
        some = duals(part)
        at_cap = some == caps[part]
        between = np.flatnonzero((some > 0) & ~at_cap)
        bits.append(np.packbits(at_cap))
        places.append(between + part.start)
        values.append(some[between])
    at, between = np.concatenate(places), np.concatenate(values)

    def write(out: np.ndarray) -> None:
        for part, full in zip(parts(0, caps.size), bits, strict=True):
            np.multiply(
                np.unpackbits(full, count=part.stop - part.start), caps[part], out=out[part]
            )
        out[at] = between

    return write
