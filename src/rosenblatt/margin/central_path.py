"""The central path: a convex quadratic program with many rows and few columns.

Problem     min ½·Σ q·w² + p·w + Σ c·ξ   s.t.  Z w + ξ >= e,  ξ >= 0
Method      Mehrotra's predictor-corrector steps along the central path. With slacks
            r = Z w + ξ - e and duals α, ν = c - α, a Newton step is one system of d equations:
            (diag q + Zᵀ diag θ Z) Δw = …,   1/θ = r/α + ξ/ν,   Δα = θ(… - Z Δw).
Memory      products with Z go through blocks of rows: no copy of all rows is made
Sources     Mehrotra 1992; Ferris & Munson 2002 (few columns)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from rosenblatt.blocks import in_blocks
from rosenblatt.margin.two_classes import Effort
from rosenblatt.matrices import Matrix

PIECE = 2**17  # entries: a megabyte of rows in float64 stays in the second-level cache
PASS = 64  # a thread pays for a product with a vector at so many times more entries than else
MOST_STEPS = 200
STALLED = 12  # steps without a better gap
CYCLING = 3  # such steps, after which careful ones are made: Mehrotra's may go in circles
CAREFULLY = 0.5  # share of the mean product that a careful step aims at
TO_BOUNDARY = 0.995  # share of the way to the boundary that a step may go


class Signed(NamedTuple):
    """Rows of Z: s·(x - centre), and a few columns `more`."""

    X: Matrix
    signs: np.ndarray
    centre: np.ndarray
    more: np.ndarray


class Quadratic(NamedTuple):
    """A quadratic program of the form above, and where to start; `constant` adds to its value."""

    rows: Signed
    q: np.ndarray
    p: np.ndarray
    e: float
    caps: np.ndarray
    constant: float
    start: Point


class Point(NamedTuple):
    """A point inside all bounds: weights, duals, c minus duals, slacks r and ξ."""

    w: np.ndarray
    alphas: np.ndarray
    rests: np.ndarray
    slacks: np.ndarray
    losses: np.ndarray

    def moved(self, step: Point, length: float) -> Point:
        """Go along a step."""
        return Point(*(a + length * b for a, b in zip(self, step, strict=True)))


# --- products with rows, block by block, in threads ---------------------------------------------


def spans(start: int, stop: int, width: int) -> Iterator[slice]:
    """Cut a range of rows into pieces that stay in the cache."""
    height = max(1, PIECE // width)
    for first in range(start, stop, height):
        yield slice(first, min(first + height, stop))


def products(X: Matrix, w: np.ndarray) -> np.ndarray:
    """Give X w in float64."""
    if sparse.issparse(X):
        return np.asarray(X @ w)
    out = np.empty(X.shape[0])

    def work(start: int, stop: int) -> None:
        for part in spans(start, stop, X.shape[1]):
            np.matmul(X[part].astype(np.float64, copy=False), w, out=out[part])

    in_blocks(work, X.shape[0], X.size // PASS)
    return out


def sums(X: Matrix, a: np.ndarray) -> np.ndarray:
    """Give Xᵀ a in float64."""
    if sparse.issparse(X):
        return np.asarray(X.T @ a)

    def work(start: int, stop: int) -> np.ndarray:
        total = np.zeros(X.shape[1])
        for part in spans(start, stop, X.shape[1]):
            total += a[part] @ X[part].astype(np.float64, copy=False)
        return total

    return np.asarray(sum(in_blocks(work, X.shape[0], X.size // PASS)))


def forward(rows: Signed, w: np.ndarray) -> np.ndarray:
    """Give Z w."""
    d = rows.centre.size
    plain = products(rows.X, w[:d]) - rows.centre @ w[:d]
    return np.asarray(rows.signs * plain + rows.more @ w[d:])


def backward(rows: Signed, a: np.ndarray) -> np.ndarray:
    """Give Zᵀ a."""
    signed = rows.signs * a
    plain = sums(rows.X, signed) - rows.centre * signed.sum()
    return np.concatenate([plain, a @ rows.more])


def gram(rows: Signed, theta: np.ndarray) -> np.ndarray:
    """Give Zᵀ diag θ Z."""
    X, centre, more = rows.X, rows.centre, rows.more
    d, width = centre.size, centre.size + more.shape[1]
    roots = np.sqrt(theta)[:, None]
    factors = roots * rows.signs[:, None]

    def work(start: int, stop: int) -> np.ndarray:
        total = np.zeros((width, width))
        for part in spans(start, stop, width):
            piece = X[part].toarray() if sparse.issparse(X) else X[part]
            block = np.empty((piece.shape[0], width))
            if centre.any():
                piece = piece - centre
            np.multiply(piece, factors[part], out=block[:, :d])
            np.multiply(more[part], roots[part], out=block[:, d:])
            total += block.T @ block
        return total

    return np.asarray(sum(in_blocks(work, X.shape[0], X.shape[0] * d)))


# --- the path ----------------------------------------------------------------------------------


def follow(program: Quadratic, tol: float, effort: Effort) -> tuple[np.ndarray, np.ndarray]:
    """Follow the central path until the relative gap is met, or nothing gets better.

    Gives the best weights and the best duals seen on it.
    """
    rows, point = program.rows, program.start
    best_w, best_alphas, primal, dual = point.w, point.alphas, math.inf, -math.inf
    narrowest, since = math.inf, 0
    for _ in range(MOST_STEPS):
        reached, pulled = forward(rows, point.w), backward(rows, point.alphas)
        above, below = bounds(program, point, reached, pulled)
        if not math.isfinite(above + below):
            break
        if above < primal:
            primal, best_w = above, point.w
        if below > dual or dual > primal:  # what it took for free weights may be too little by now
            dual, best_alphas = below, point.alphas
        width = primal - dual
        since = 0 if width < 0.9 * narrowest else since + 1
        narrowest = min(narrowest, width)
        if width <= tol * abs(primal) or since > STALLED or effort.is_over():
            break
        step, length = newton_step(program, point, reached, pulled, since > CYCLING)
        if not length > 1e-12:
            break
        point = point.moved(step, length)
        effort.passes += 1
    return best_w, best_alphas


def bounds(
    program: Quadratic, point: Point, reached: np.ndarray, pulled: np.ndarray
) -> tuple[float, float]:
    """Give the primal value, and about the dual one after it is made right for free weights."""
    q, p, e, caps = program.q, program.p, program.e, program.caps
    w, excess = point.w, pulled - program.p
    above = 0.5 * (q * w) @ w + p @ w + caps @ np.maximum(0.0, e - reached)
    free = q == 0.0
    below = e * point.alphas.sum() - 0.5 * (excess[~free] ** 2 / q[~free]).sum()
    below -= np.abs(excess[free]).sum() * (e + np.abs(w[free]).max(initial=0.0))
    return float(above) + program.constant, float(below) + program.constant


def newton_step(
    program: Quadratic, point: Point, reached: np.ndarray, pulled: np.ndarray, careful: bool
) -> tuple[Point, float]:
    """Give Mehrotra's step, or a careful one to the path itself, and how far to go along it."""
    w, alphas, rests, slacks, losses = point
    theta = 1.0 / (slacks / alphas + losses / rests)
    solve = factorised(gram(program.rows, theta) + np.diag(program.q))
    missing = reached + losses - program.e - slacks
    tilt = program.q * w + program.p - pulled

    def toward(first: np.ndarray, second: np.ndarray) -> Point:
        """Solve for changes after which slacks·α = first and losses·ν = second, to first order."""
        wanted = -missing - second / rests + first / alphas
        dw = solve(backward(program.rows, theta * wanted) - tilt)
        da = theta * (wanted - forward(program.rows, dw))
        return Point(dw, da, -da, (first - slacks * da) / alphas, (second + losses * da) / rests)

    first, second = slacks * alphas, losses * rests
    centre = (first.sum() + second.sum()) / (2 * first.size)
    if careful:
        step = toward(CAREFULLY * centre - first, CAREFULLY * centre - second)
    else:
        affine = toward(-first, -second)
        end = point.moved(affine, room(point, affine))
        after = (end.slacks @ end.alphas + end.losses @ end.rests) / (2 * first.size)
        aim = centre * (after / centre) ** 3
        step = toward(
            aim - first - affine.slacks * affine.alphas, aim - second - affine.losses * affine.rests
        )
    return step, min(1.0, TO_BOUNDARY * room(point, step))


def room(point: Point, step: Point) -> float:
    """Give the largest part of a step, at most the whole, that keeps everything positive."""
    fastest = 1.0
    for value, change in zip(point[1:], step[1:], strict=True):
        fastest = max(fastest, float((-change / value).max()))
    return 1.0 / fastest


def factorised(H: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Give a solver of H x = r; H is scaled to a unit diagonal, since columns differ in scale."""
    diagonal = np.diag(H)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = H * scale * scale[:, None]
    ridge = 0.0
    while True:
        try:
            factor = linalg.cho_factor(scaled + ridge * np.eye(scale.size), check_finite=False)
            break
        except linalg.LinAlgError:
            ridge = max(1e-15, 10 * ridge)
            if not ridge < 1.0:
                return lambda r: np.full(r.size, np.nan)

    def solve(r: np.ndarray) -> np.ndarray:
        goal = scale * r
        x = linalg.cho_solve(factor, goal, check_finite=False)
        for _ in range(2):
            x += linalg.cho_solve(factor, goal - scaled @ x, check_finite=False)
        return np.asarray(scale * x)

    return solve
