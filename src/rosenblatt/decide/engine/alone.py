"""A single row that the bounds of its unknowns contradict: no program is needed to see it.

Problem     a row a·x >= b, and l <= x <= u with Σ max(a·l, a·u) < b; or one a·x = b, also with
            Σ min(a·l, a·u) > b
Proof       the row, and the bound of each of its unknowns times |a|. Floats tell where to look
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy import sparse

from rosenblatt.check.subjects import System
from rosenblatt.decide.engine.farkas import Contradiction
from rosenblatt.exact.digest import EQUAL
from rosenblatt.exact.numbers import is_exact
from rosenblatt.exact.rounding import floats_of


def row_alone(system: System, rows: np.ndarray) -> Contradiction | None:
    """Give the contradiction of the shortest such row, None if floats see none."""
    if not system.pairs or is_exact(system.X) or is_exact(system.b):
        return None
    X = sparse.csr_matrix(system.X[rows])
    lower, upper = _ends(system, 0, -np.inf), _ends(system, 1, np.inf)
    lengths, rising = np.diff(X.indptr), X.data > 0
    owners = np.repeat(np.arange(rows.size), lengths)
    best: tuple[int, int, int] | None = None
    for sign, above, below in ((1, upper, lower), (-1, lower, upper)):
        ends = np.where(rising, above[X.indices], below[X.indices])
        with np.errstate(over="ignore", invalid="ignore"):  # no sum, or 0 times no end: no proof
            sums = np.bincount(owners, X.data * ends, rows.size)
        wrong = np.flatnonzero(sign * sums < sign * system.b[rows])
        for k in wrong.tolist() if sign > 0 else wrong[system.tags[rows[wrong]] == EQUAL].tolist():
            best = min(best or (lengths[k], k, sign), (lengths[k], k, sign))
    return None if best is None else _contradiction(system, int(rows[best[1]]), best[2])


def _ends(system: System, side: int, none: float) -> np.ndarray:
    ends = [pair[side] for pair in system.pairs or ()]
    return floats_of([none if end is None else end for end in ends])


def _contradiction(system: System, i: int, sign: int) -> Contradiction | None:
    """Give the contradiction of a row, or of its negative, and bounds, if it is one."""
    *entries, (_, right) = system.row(i)
    signed = [(j, sign * Fraction(value)) for j, value in entries]
    lower = {j: -value for j, value in signed if value < 0}
    upper = {j: value for j, value in signed if value > 0}
    total = sign * Fraction(right)
    for parts, side, kind in ((lower, 0, 1), (upper, 1, -1)):
        ends = [(system.pairs or ())[j][side] for j in parts]
        if any(end is None for end in ends):
            return None
        total += sum(kind * v * Fraction(e or 0) for v, e in zip(parts.values(), ends, strict=True))
    return Contradiction({i: Fraction(sign)}, lower, upper) if total > 0 else None
