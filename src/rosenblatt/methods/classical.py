"""A system of inequalities for the methods that people study, in floats (theory D11, D13).

With one more unknown t > 0 a system becomes rows through the origin, a·w - b·t >= 0, whose points
(w, t) give solutions w / t. Where all b are positive, and no bounds are given, any w with A w > 0
becomes a solution when it is made long enough: then the rows of A are looked at as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.check.subjects import System, homogeneous
from rosenblatt.exact.integers import whole_rows
from rosenblatt.exact.linear import entry_powers
from rosenblatt.exact.numbers import exact_row, is_plain
from rosenblatt.exact.sums import exact_dot
from rosenblatt.matrices import Matrix
from rosenblatt.methods.cones import Search, SearchLimits


class Studied(NamedTuple):
    """A point, perhaps; rows that may contradict each other; steps made, and why they ended."""

    point: list[Fraction] | None
    rows: np.ndarray
    steps: int
    stop: str


def studied(
    system: System, method: Callable[[Matrix, SearchLimits], Search], limits: SearchLimits
) -> Studied:
    """Look for a solution by a method for cones."""
    n, width, direct = system.tags.size, system.columns, _only_to_be_scaled(system)
    rows, powers = _floats(system, direct)
    found = method(rows, limits)
    point = None
    if found.w is not None:
        pairs = zip(found.w.tolist(), powers.tolist(), strict=True)
        w = [Fraction(value) * Fraction(2) ** power for value, power in pairs]
        point = _long_enough(system, w[:width]) if direct else _divided(w)
    weights = np.zeros(0) if found.weights is None else found.weights[:n]
    return Studied(point, np.flatnonzero(weights > 0), found.steps, str(found.stop))


def _only_to_be_scaled(system: System) -> bool:
    return not system.bounds and bool(system.b.size) and bool((system.b > 0).all())


def _floats(system: System, direct: bool) -> tuple[Matrix, np.ndarray]:
    """Give rows in floats, and the powers of two that their columns were divided by.

    Rows are (a, -b), those of the bounds, and (0, 1); or a alone.
    """
    if is_plain(system.X) and direct:
        return system.X, np.zeros(system.columns, np.int64)
    rows = [homogeneous(system.row(i)) for i in range(system.tags.size)]
    rows += [homogeneous(system.bound_row(column, tag)) for tag, column, _ in system.bounds]
    if direct:
        rows = [entries[:-1] for entries in rows]
    else:
        rows.append([(system.columns, 1)])
    whole, _ = whole_rows(rows, system.columns + (not direct))
    sizes, tops = whole.sizes(), np.zeros(whole.width, np.int64)
    lengths = np.zeros(whole.size, np.int64)
    np.maximum.at(lengths, whole.owners, sizes)
    np.maximum.at(tops, whole.columns, sizes - lengths[whole.owners])
    made = whole.floats(entry_powers(whole, -lengths, -tops))
    return (made if sparse.issparse(system.X) else made.toarray()), -tops


def _divided(w: list[Fraction]) -> list[Fraction] | None:
    *numbers, t = w
    return [value / t for value in numbers] if t > 0 else None


def _long_enough(system: System, w: list[Fraction]) -> list[Fraction] | None:
    """Multiply w by a power of two that makes it reach every right-hand side."""
    products = [exact_dot(exact_row(system.X, i), w) for i in range(system.tags.size)]
    if min(products) <= 0:
        return None
    pairs = zip(map(Fraction, system.b.tolist()), products, strict=True)
    ratio = max(right / value for right, value in pairs)
    power = ratio.numerator.bit_length() - ratio.denominator.bit_length() + 1
    return [value * Fraction(2) ** power for value in w]
