"""The point of a convex hull that is nearest to the origin, in exact arithmetic.

Problem     rows z_1 … z_n of integers: is there a w with z·w > 0 on all of them, or a λ >= 0,
            Σ λ = 1, with Σ λ·z = 0?                                              (theory D9)
Method      Wolfe's: keep a set of affinely independent rows and the point p of their affine hull
            that is nearest to the origin, inside their convex hull. If z·p <= 0 for some row, take
            it in; drop rows until p lies inside again. ‖p‖ falls each time, so no set comes twice
            and the search ends: with p = 0, or with z·p > 0 for all rows.
Use         where float arithmetic has misled: margins below rounding, degenerate data
Sources     Wolfe 1976
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import flint

from rosenblatt.decide.relations import part_of


class Corral(NamedTuple):
    """Rows, by place, and positive weights of sum 1: a point inside their hull."""

    rows: list[int]
    weights: list[Fraction]


class Nearest(NamedTuple):
    """The point Σ λ·z, as integers up to a positive factor, and where it came from."""

    point: list[int]
    corral: Corral


def nearest(
    rows: flint.fmpz_mat, start: Corral | None = None, pause: Callable[[], None] = lambda: None
) -> Nearest:
    """Find a point with z·p > 0 on all rows, or p = 0 as a convex combination of them."""
    squares = [sum((v * v for v in row), flint.fmpz(0)) for row in rows.tolist()]
    corral = start or Corral([squares.index(min(squares))], [Fraction(1)])
    while True:
        pause()
        corral = _inside(rows, corral)
        point = _point(rows, corral)
        if not any(point):
            return Nearest(point, corral)
        products = (rows * flint.fmpz_mat(len(point), 1, point)).entries()
        steepness = [_steepness(p, square) for p, square in zip(products, squares, strict=True)]
        worst = min(range(len(steepness)), key=steepness.__getitem__)
        if products[worst] > 0:
            return Nearest(point, corral)
        corral = Corral([*corral.rows, worst], [*corral.weights, Fraction(0)])


def _steepness(product: flint.fmpz, square: flint.fmpz) -> flint.fmpq:
    """Order rows by the sign of z·p first, then by (z·p)² / ‖z‖²."""
    return flint.fmpq(product * abs(product), square or 1)


def _inside(rows: flint.fmpz_mat, corral: Corral) -> Corral:
    """Move to the nearest point of the affine hull, dropping rows that are in the way."""
    while True:
        target = _affine_weights(part_of(rows, corral.rows, range(rows.ncols())))
        if all(value > 0 for value in target):
            return Corral(corral.rows, target)
        pairs = list(zip(corral.weights, target, strict=True))
        step = min(
            now / (now - then) if now != then else Fraction(0) for now, then in pairs if then <= 0
        )
        moved = [now + step * (then - now) for now, then in pairs]
        kept = [k for k, value in enumerate(moved) if value > 0]
        corral = Corral([corral.rows[k] for k in kept], [moved[k] for k in kept])


def _affine_weights(rows: flint.fmpz_mat) -> list[Fraction]:
    """Give the weights, of sum 1, of the point of the affine hull nearest to the origin.

    They solve G·y = c·1, Σ y = 1, with G the products of the rows; bordered by ones, since G is
    singular where the hull contains the origin.
    """
    size = rows.nrows()
    bordered = [[flint.fmpz(0)] + [flint.fmpz(1)] * size]
    bordered += [[flint.fmpz(1), *row] for row in (rows * rows.transpose()).tolist()]
    right = flint.fmpz_mat(size + 1, 1, [1] + [0] * size)
    return [
        Fraction(int(v.p), int(v.q)) for v in flint.fmpz_mat(bordered).solve(right).entries()[1:]
    ]


def _point(rows: flint.fmpz_mat, corral: Corral) -> list[int]:
    """Give Σ λ·z times the common denominator of λ."""
    common = math.lcm(*(weight.denominator for weight in corral.weights))
    numbers = [int(weight * common) for weight in corral.weights]
    chosen = part_of(rows, corral.rows, range(rows.ncols()))
    return [int(value) for value in (flint.fmpz_mat(1, len(numbers), numbers) * chosen).entries()]
