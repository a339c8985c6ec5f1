"""The nearest point of hulls to the origin, in floats: the hard margin by its support.

Problem     min ‖Σ λ·z‖ over λ >= 0 of rows z = s·x in groups, Σ λ being a given share in each
Method      Wolfe's: a corral of affinely independent rows, and the point p of their affine hulls
            that is nearest to the origin, inside their convex hulls. The row with least z·p below
            its group's joins; rows leave until p lies inside again. (`decide.nearest` does the same
            without rounding.)
Factor      L·Lᵀ of the products of the corral's rows, with a constant added where two rows are of
            one group, which changes no p and makes independent rows out of affinely independent
            ones. A row that joins or leaves costs the square of the corral's size.
End         the gap ‖p‖² - Σ share·min z·p is small enough (theory D10), or rounding allows no more
Sources     Wolfe 1976
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.loops import loop, part
from rosenblatt.rows import Rows, add, dot

# What a descent may end with.
CLOSE, MEETING, STUCK, FULL, PAUSED = range(5)
COUNT, SQUARE, GAP, UNEVEN, LEVELS = range(5)  # places in `found`; each group has a level
CLEAR = 1e-4  # share of a row's square that products of rows leave no doubt about
ROUNDING = 1e-14  # of a sum of rows, relative to its terms
NOTHING = 1e-26  # share of the rows' squares below which a point is the origin, up to rounding


class Grouped(NamedTuple):
    """Rows, their signs, ‖x‖², groups 0 and 1, the share of a group, and what joins its rows."""

    rows: Rows
    signs: np.ndarray
    squares: np.ndarray
    groups: np.ndarray
    share: float
    joint: float


class FloatCorral(NamedTuple):
    """Places of rows with their λ, the factor, two solutions, a row's worth of zeros, and figures.

    Only as much of each array is in use as `found` counts rows.
    """

    places: np.ndarray
    weights: np.ndarray
    factor: np.ndarray
    solved: np.ndarray
    spread: np.ndarray
    found: np.ndarray


@part
def _solve_upper(factor: np.ndarray, count: int | np.int64, x: np.ndarray) -> None:
    """Solve Lᵀ·x = x in place."""
    for a in range(count - 1, -1, -1):
        value = x[a] / factor[a, a]
        x[a] = value
        for b in range(a):
            x[b] -= factor[a, b] * value


@part
def _solve(factor: np.ndarray, count: int | np.int64, x: np.ndarray, y: np.ndarray) -> None:
    """Solve L·Lᵀ·x = x and L·Lᵀ·y = y in place: large factors are read once for both."""
    for a in range(count):
        first, second = x[a], y[a]
        for b in range(a):
            first -= factor[a, b] * x[b]
            second -= factor[a, b] * y[b]
        x[a], y[a] = first / factor[a, a], second / factor[a, a]
    for a in range(count - 1, -1, -1):
        first, second = x[a] / factor[a, a], y[a] / factor[a, a]
        x[a], y[a] = first, second
        for b in range(a):
            x[b] -= factor[a, b] * first
            y[b] -= factor[a, b] * second


@part
def _distance(hulls: Grouped, corral: FloatCorral, j: int) -> float:
    """Give ‖z - p‖² for the nearest p in the affine hulls, 0 if it is rounding.

    It is computed from the rows: their products lose half of the digits. `spread` holds z.
    """
    rows, signs, squares, groups, _, joint = hulls
    places, _, factor, solved, spread, found = corral
    count = np.int64(found[COUNT])
    near = solved[0]
    for a in range(count):
        near[a] = factor[count, a]
    _solve_upper(factor, count, near)
    same, other, length = 1.0, 0.0, 1.0
    for a in range(count):
        i = places[a]
        add(rows, i, -signs[i] * near[a], spread)
        length += abs(near[a])
        if groups[i] == groups[j]:
            same -= near[a]
        else:
            other -= near[a]
    left = joint * (same * same + other * other)
    for k in range(spread.size):
        left += spread[k] * spread[k]
    clear = left > (ROUNDING * length) ** 2 * (squares[j] + joint)
    return left if clear else 0.0


@part
def _join(hulls: Grouped, corral: FloatCorral, j: int) -> bool:
    """Take a row in, with no weight yet; tell whether it is independent of the others."""
    rows, signs, squares, groups, _, joint = hulls
    places, weights, factor, _, spread, found = corral
    count = np.int64(found[COUNT])
    spread[:] = 0.0
    add(rows, j, signs[j], spread)
    left = squares[j] + joint
    for a in range(count):
        i = places[a]
        total = signs[i] * dot(rows, i, spread)
        if groups[i] == groups[j]:
            total += joint
        for b in range(a):
            total -= factor[a, b] * factor[count, b]
        factor[count, a] = total / factor[a, a]
        left -= factor[count, a] ** 2
    if not left > CLEAR * (squares[j] + joint):
        left = _distance(hulls, corral, j)
        if left == 0.0:
            return False
    factor[count, count] = np.sqrt(left)
    places[count], weights[count] = j, 0.0
    found[COUNT] = count + 1
    return True


@part
def _leave(corral: FloatCorral, place: np.int64) -> None:
    """Drop a row, and rotate the rest of the factor back to a triangle."""
    places, weights, factor, _, _, found = corral
    last = np.int64(found[COUNT]) - 1
    for a in range(place, last):
        places[a], weights[a] = places[a + 1], weights[a + 1]
        for b in range(a + 2):
            factor[a, b] = factor[a + 1, b]
    for a in range(place, last):
        x, y = factor[a, a], factor[a, a + 1]
        length = np.hypot(x, y)
        cosine, sine = x / length, y / length
        for b in range(a, last):
            x, y = factor[b, a], factor[b, a + 1]
            factor[b, a] = cosine * x + sine * y
            factor[b, a + 1] = cosine * y - sine * x
    found[COUNT] = last


@part
def _aim(hulls: Grouped, corral: FloatCorral) -> None:
    """Write into `solved[0]` the weights of the nearest point of the affine hulls."""
    groups, share = hulls.groups, hulls.share
    places, _, factor, solved, _, found = corral
    count = np.int64(found[COUNT])
    ones, others = solved[0], solved[1]
    for a in range(count):
        ones[a] = 1.0 if groups[places[a]] == 0 else 0.0
        others[a] = 1.0 - ones[a]
    _solve(factor, count, ones, others)
    if share == 1.0:  # all rows are of group 0
        total = 0.0
        for a in range(count):
            total += ones[a]
        for a in range(count):
            ones[a] /= total
        return
    first, mixed, second = 0.0, 0.0, 0.0
    for a in range(count):
        if groups[places[a]] == 0:
            first += ones[a]
            mixed += others[a]
        else:
            second += others[a]
    size = first * second - mixed * mixed
    p, q = share * (second - mixed) / size, share * (first - mixed) / size
    for a in range(count):
        ones[a] = p * ones[a] + q * others[a]


@part
def _settle(hulls: Grouped, corral: FloatCorral) -> None:
    """Move to the nearest point of the affine hulls, dropping rows that are in the way."""
    _, weights, _, solved, _, found = corral
    while True:
        _aim(hulls, corral)
        target, count = solved[0], np.int64(found[COUNT])
        step, place = 1.0, np.int64(-1)
        for a in range(count):
            if target[a] <= 0.0:
                room = weights[a] / (weights[a] - target[a]) if weights[a] > 0.0 else 0.0
                if room < step or place < 0:
                    step, place = room, np.int64(a)
        for a in range(count):
            weights[a] += step * (target[a] - weights[a])
        if place < 0:
            return
        _leave(corral, place)


@part
def _refine(hulls: Grouped, corral: FloatCorral, products: np.ndarray) -> None:
    """Correct the weights by what z·p lacks of its group's level on rows of the corral."""
    groups = hulls.groups
    places, weights, factor, solved, _, found = corral
    count = np.int64(found[COUNT])
    moved, unused = solved[0], solved[1]
    for a in range(count):
        moved[a] = found[LEVELS + groups[places[a]]] - products[places[a]]
    _solve(factor, count, moved, unused)
    first, second = 0.0, 0.0
    for a in range(count):
        moved[a] += weights[a]
        if not moved[a] > 0.0:
            return
        if groups[places[a]] == 0:
            first += moved[a]
        else:
            second += moved[a]
    for a in range(count):
        weights[a] = moved[a] * hulls.share / (first if groups[places[a]] == 0 else second)


@part
def _look(hulls: Grouped, corral: FloatCorral, point: np.ndarray, products: np.ndarray) -> int:
    """Compute p, z·p of all rows and the gap; give the row furthest below its group's level."""
    rows, signs, _, groups, share, _ = hulls
    places, weights, _, _, _, found = corral
    point[:] = 0.0
    for a in range(np.int64(found[COUNT])):
        add(rows, places[a], weights[a] * signs[places[a]], point)
    square = 0.0
    for j in range(point.size):
        square += point[j] * point[j]
    first, second, low, high = np.inf, np.inf, -1, -1
    for i in range(signs.size):
        product = signs[i] * dot(rows, i, point)
        products[i] = product
        if groups[i] == 0:
            if product < first:
                first, low = product, i
        elif product < second:
            second, high = product, i
    found[LEVELS], found[LEVELS + 1] = 0.0, 0.0
    for a in range(np.int64(found[COUNT])):
        found[LEVELS + groups[places[a]]] += weights[a] * products[places[a]] / share
    found[UNEVEN] = 0.0
    for a in range(np.int64(found[COUNT])):
        off = products[places[a]] - found[LEVELS + groups[places[a]]]
        found[UNEVEN] = max(found[UNEVEN], abs(off))
    found[SQUARE] = square
    found[GAP] = square - share * (first + (second if high >= 0 else 0.0))
    lower = high < 0 or first - found[LEVELS] < second - found[LEVELS + 1]
    return low if lower else high


@loop
def descend(
    hulls: Grouped,
    corral: FloatCorral,
    firsts: np.ndarray,
    point: np.ndarray,
    products: np.ndarray,
    tol: float,
    steps: int,
) -> int:
    """Let rows join until the gap is below `tol`·‖p‖²; give why it ended.

    The point, z·p of all rows, and the corral are the caller's; a further call goes on from them.
    A corral without rows begins with a row of each group, the first ones: to compile `_join` again,
    for a loop of their own, would take half as long as all of this.
    """
    joint, found = hulls.joint, corral.found
    room, before, uneven, refined = corral.places.size, np.inf, np.inf, False
    entering = 0 if found[COUNT] else firsts.size
    for step in range(-entering, steps):
        if step < 0:
            j = firsts[entering + step]
        else:
            if not refined:
                _settle(hulls, corral)
            j = _look(hulls, corral, point, products)
            square, gap = found[SQUARE], found[GAP]
            if not square > NOTHING * joint:
                return MEETING
            if not gap > tol * square:
                return CLOSE
            # Weights are corrected where their rounding is in the way, as long as that helps.
            if found[UNEVEN] > 0.1 * gap and not (refined and found[UNEVEN] > uneven / 2):
                uneven, refined = found[UNEVEN], True
                _refine(hulls, corral, products)
                continue
            refined = False
            if not square < before:
                return STUCK
            before = square
            if found[COUNT] >= room:
                return FULL
        joined = _join(hulls, corral, j)
        if step < 0 and joined:
            corral.weights[entering + step] = hulls.share
        if step >= 0 and not joined:
            return STUCK
    return PAUSED
