"""Rows of integers with right-hand sides as a linear program that always has a solution.

Elastic     min Σ s  subject to  L <= A x + D (s⁺ - s⁻) <= U,  l <= x <= u,  s >= 0: by how much
            the rows have to give way. The least is 0 exactly if the system has a solution;
            otherwise the multipliers are Farkas' proof that it has none            (theory D11)
Symbols     D powers of two of about the size of the rows, s how much each row gives way
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rosenblatt.exact.integers import Integers, Rationals, row_sizes
from rosenblatt.exact.programs import AT_LOWER, AT_UPPER, AT_ZERO, BASIC, Basis, End, Ends, Program


class Elastic:
    """Rows of integers with right-hand sides, and the programs about them.

    Attributes
    ----------
    A, right : rows a·x >= b, or a·x = b where `equal`.
    bounds : lower and upper ends of x.
    """

    def __init__(self, A: Integers, right: list[int], equal: np.ndarray, bounds: Ends) -> None:
        self.A, self.right, self.equal, self.bounds = A, right, equal, bounds
        self.width, self.sizes = A.width, row_sizes(A)

    @property
    def row_ends(self) -> Ends:
        """The right-hand sides, those of equations as both ends."""
        pairs = zip(self.right, self.equal.tolist(), strict=True)
        return self.right, [end if equal else None for end, equal in pairs]

    def program(self) -> Program:
        """Give the elastic program; columns behind those of x are s."""
        places = np.concatenate([np.arange(self.A.size), np.flatnonzero(self.equal)])
        sizes = [self.sizes[i] for i in places.tolist()]
        sizes[self.A.size :] = [-size for size in sizes[self.A.size :]]
        lower, upper = self.bounds
        ends = [*lower, *[0] * places.size], [*upper, *[None] * places.size]
        A = self.A.with_columns(places, np.arange(places.size), sizes)
        return Program(A, [0] * self.width + [1] * places.size, self.row_ends, ends)

    def start(self) -> Basis:
        """Give a basis that keeps all ends: x lies at its bounds, and rows give way."""
        lower, upper = self.bounds
        held = [
            next((end for end in pair if end is not None), 0)
            for pair in zip(lower, upper, strict=True)
        ]
        states = [_at(*pair) for pair in zip(lower, upper, strict=True)]
        values, one = Rationals.of(list(map(Fraction, held)))
        gaps = [b * one - v for b, v in zip(self.right, self.A.times(values), strict=True)]
        short = [gap > 0 for gap in gaps]
        beyond = [gaps[i] < 0 for i in np.flatnonzero(self.equal).tolist()]
        rows = np.where(short, AT_LOWER, BASIC)
        rows[np.flatnonzero(self.equal)[beyond]] = AT_UPPER
        giving = np.where([*short, *beyond], BASIC, AT_LOWER)
        return Basis(np.array([*states, *giving], np.int8), rows.astype(np.int8))


def _at(lower: End, upper: End) -> int:
    return AT_LOWER if lower is not None else AT_UPPER if upper is not None else AT_ZERO
