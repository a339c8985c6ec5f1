"""The point of a convex hull that is nearest to the origin, in exact arithmetic.

Problem     min ‖Σ λ·z‖ over λ >= 0, Σ λ = 1, of rows z_1 … z_n; or over rows in groups, Σ λ = 1 in
            each of them: with two groups, the distance of two hulls           (theory D9, D10)
Method      Wolfe's: keep a set of affinely independent rows and the point p of their affine hull
            that is nearest to the origin, inside their convex hull. There z·p is the same number
            for all rows of a group. If some row has less, take it in; drop rows until p lies
            inside again. ‖p‖ falls each time, so no set comes twice and the search ends.
Oracle      whoever asks names a row that has less, or None; so rows are looked at in any way that
            pays
Use         for largest margins without any rounding
Sources     Wolfe 1976
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import flint

from rosenblatt.exact.integers import Rationals


class Corral(NamedTuple):
    """Rows, by place, and positive weights of sum 1 in each group: a point inside their hull."""

    rows: list[int]
    weights: list[Fraction]


class Nearest(NamedTuple):
    """The point Σ λ·z, as integers up to a positive factor, and where it came from."""

    point: list[int]
    corral: Corral


Rows = Callable[[Sequence[int]], flint.fmpz_mat]  # some rows as integers, in one common unit


def descend(
    rows: Rows,
    corral: Corral,
    propose: Callable[[Nearest], int | None],
    group: Callable[[int], int] = lambda _: 0,
) -> Nearest:
    """Go on from affinely independent rows for as long as further ones are proposed.

    Independent are the vectors (z, 1 at the place of its group, 0 at the others); `propose` must
    name a row with less z·p than those of its group in the corral, which then are independent too.
    """
    while True:
        corral, table = _inside(rows, corral, group)
        found = Nearest(_point(table, corral.weights), corral)
        worse = propose(found)
        if worse is None:
            return found
        corral = Corral([*corral.rows, worse], [*corral.weights, Fraction(0)])


def _inside(
    rows: Rows, corral: Corral, group: Callable[[int], int]
) -> tuple[Corral, flint.fmpz_mat]:
    """Move to the nearest point of the affine hull, dropping rows that are in the way."""
    while True:
        table = rows(corral.rows)
        target = _affine_weights(table, [group(i) for i in corral.rows])
        if all(value > 0 for value in target):
            return Corral(corral.rows, target), table
        pairs = list(zip(corral.weights, target, strict=True))
        step = min(
            now / (now - then) if now != then else Fraction(0) for now, then in pairs if then <= 0
        )
        moved = [now + step * (then - now) for now, then in pairs]
        kept = [k for k, value in enumerate(moved) if value > 0]
        corral = Corral([corral.rows[k] for k in kept], [moved[k] for k in kept])


def _affine_weights(rows: flint.fmpz_mat, groups: Sequence[int]) -> list[Fraction]:
    """Give the weights, of sum 1 in each group, of the point nearest to the origin.

    They solve G·y = c on each group, with G the products of the rows; bordered by a row of ones for
    each group, since G is singular where the hull contains the origin.
    """
    names = sorted(set(groups))
    borders = [[int(name == of) for of in groups] for name in names]
    bordered: list[list[Any]] = [[0] * len(names) + border for border in borders]
    products = (rows * rows.transpose()).tolist()
    for marks, row in zip(zip(*borders, strict=True), products, strict=True):
        bordered.append([*marks, *row])
    right = flint.fmpz_mat(len(bordered), 1, [1] * len(names) + [0] * len(groups))
    solution = flint.fmpz_mat(bordered).solve(right).entries()
    return [Fraction(int(v.p), int(v.q)) for v in solution[len(names) :]]


def _point(rows: flint.fmpz_mat, weights: Sequence[Fraction]) -> list[int]:
    """Give Σ λ·z times the common denominator of λ."""
    numbers = Rationals.of(weights).numbers
    return [int(value) for value in (flint.fmpz_mat(1, len(numbers), numbers) * rows).entries()]
