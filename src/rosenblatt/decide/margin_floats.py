"""Margins in floats and back: what a float solver is given, and what its numbers stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy import sparse

from rosenblatt.certificates import Number
from rosenblatt.decide.cone import nearest_float
from rosenblatt.decide.exact import is_exact
from rosenblatt.decide.hulls import Hulls
from rosenblatt.decide.products import Weights, exact_product, rough_products
from rosenblatt.matrices import Matrix

MODERATE = 64  # floats between 2^-64 and 2^64 have squares that are floats


def scaled_to_floats(hulls: Hulls) -> tuple[Matrix, float]:
    """Give rows and lift as floats of moderate size: themselves, or times a power of two."""
    X, lift = hulls.X, hulls.lift
    if is_exact(X):
        power = max(exponent(value) for value in (*X.flat, lift))
        unit = Fraction(2) ** power
        moved = np.array([[float(Fraction(v) / unit) for v in x] for x in X])
        return moved, float(Fraction(lift) / unit)
    values = X.data if sparse.issparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    power = max(exponent(largest), exponent(lift))
    if abs(power) <= MODERATE:
        return X, float(lift)
    moved = np.ldexp(values.astype(np.float64), -power)
    if sparse.issparse(X):
        moved = sparse.csr_matrix((moved, X.indices, X.indptr), X.shape)
    return moved, float(Fraction(lift) / Fraction(2) ** power)


def exponent(value: Number) -> int:
    """Give the power of two that a number is near to; tiny for zero."""
    p, q = value.as_integer_ratio()
    return p.bit_length() - q.bit_length() if p else -(2**20)


def rough(hulls: Hulls, w: Sequence[Number]) -> np.ndarray:
    """Give z·w for all rows, rounded."""
    weights = Weights.of(w, hulls.X.shape[1], hulls.added)
    if not is_exact(hulls.X):
        return rough_products(hulls.X, hulls.signs, weights)
    pairs = enumerate(hulls.signs.tolist())
    return np.array([nearest_float(exact_product(hulls.X, i, s, weights)) for i, s in pairs])


def lowest(hulls: Hulls, products: np.ndarray) -> list[int]:
    """Name a row of each hull with the least product."""
    return [int(np.flatnonzero(side)[np.argmin(products[side])]) for side in hulls.sides]


def weights_from(hulls: Hulls, alphas: np.ndarray, share: float) -> dict[int, Fraction]:
    """Round duals to whole numbers, without those below a share of the largest of their hull."""
    duals = np.where(np.isfinite(alphas) & (alphas > 0), alphas, 0.0)
    found: dict[int, Fraction] = {}
    for side in hulls.sides:
        top = duals[side].max()
        if top == 0:
            return {}
        for i in np.flatnonzero(side & (duals > share * top)).tolist():
            found[i] = Fraction(round(float(duals[i] / top) * 2**52) or 1)
    return found


def candidates(hulls: Hulls, w: np.ndarray) -> list[list[Number]]:
    """Give float weights of norm 1; where the intercept is free, with that in the middle.

    The middle is given as a float, and then exactly.
    """
    measured = w[: hulls.width]
    norm = float(np.linalg.norm(measured))
    if not 0 < norm < math.inf:
        return []
    unit: list[Number] = (measured / norm).tolist()
    if not hulls.free:
        return [unit]
    products = rough(hulls, [*unit, 0.0])
    middle = Fraction(0)
    weights = Weights.of([*unit, 0.0], hulls.X.shape[1])
    for i in lowest(hulls, products):
        middle -= exact_product(hulls.X, i, 1, weights) / 2
    nearest = nearest_float(middle)
    return [[*unit, end] for end in (nearest, middle) if end not in (math.inf, -math.inf)]


def unit(hulls: Hulls, w: Sequence[Number]) -> tuple[np.ndarray, float]:
    """Give w in floats, of norm 1, and the intercept that belongs to it."""
    measured = hulls.measured(w)
    scale = Fraction(2) ** max(exponent(value) for value in measured)
    floats = np.array([float(Fraction(value) / scale) for value in measured])
    norm = math.sqrt(math.fsum((floats**2).tolist()))  # the same in any order of columns
    last = Fraction(hulls.added) * Fraction(w[-1]) / scale / Fraction(norm)
    return floats[: hulls.X.shape[1]] / norm + 0.0, nearest_float(last) + 0.0  # no -0.0
