"""The face of dense rows z in floats: the rows on which every w with Z w >= 0 vanishes.

Projection  of the mean of n rows onto {w : Z w >= 0} is Σ λ·z for some λ >= 1/n: non-negative
            least squares. If it is zero, all rows lie in the face, and λ tells why. Otherwise it
            is such a w: rows on which it is positive lie off the face, and the others are asked
            again
Newton      where that is slow: rows with a loss at the minimum lie in the face, and only what is
            orthogonal to them is left to be asked about, which has few dimensions
Sources     Lawson & Hanson 1974; Moreau 1962; Mangasarian 2002
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.decide.separability.newton import by_newton
from rosenblatt.pauses import Pause

PIECES = 50  # after which least squares are given up
AT_ONCE = 30_000  # entries of rows that least squares take all together, in some 10 ms
PROJECTED = 10**8  # rows times squared dimension, up to which a projection takes no second
ZERO = 1e-9  # a length, beside 1, that counts as zero
SURE = 1e-6  # the same, of a product that is positive whatever the rounding
FLAT = 1e-7  # the same, of what is left of a row of length 1
LOST = 1e-3  # a loss, beside 1, that is far more than what Newton's method leaves behind
DEPENDENT = 1e-11  # the square of a length that counts as zero


class Glance(NamedTuple):
    """What floats see: the rows of the face, some of them that tell why, and w for the others."""

    face: np.ndarray
    reasons: np.ndarray
    w: np.ndarray


def face_of(Z: np.ndarray, pause: Pause) -> Glance:
    """Find the face of rows whose largest entries are about 1."""
    left, reasons = np.ones(Z.shape[0], bool), np.zeros(Z.shape[0], bool)
    w, space = np.zeros(Z.shape[1]), None  # whose columns span what is orthogonal to the reasons
    while left.any():
        pause()
        places = np.flatnonzero(left)
        rows = Z[places] if space is None else Z[places] @ space
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        steep = lengths > FLAT
        places, rows = places[steep], rows[steep] / lengths[steep, None]
        if not places.size:
            break
        r = projection(rows, pause) if rows.size * rows.shape[1] <= PROJECTED else None
        sure = SURE
        if r is None:
            (r, losses), sure = by_newton(rows, pause), 0.0
            if losses.max() >= 1:
                lost = losses > LOST
                reasons[places[lost]] = True
                more = orthogonal_to(rows[lost])
                space = more if space is None else space @ more
                continue
        positive = rows @ r > sure * np.linalg.norm(r)
        if np.linalg.norm(r) <= ZERO or not positive.any():
            reasons[places] = True
            break
        w = together(w, r if space is None else space @ r, Z[~left])
        left[places[positive]] = False
    if w.any():
        w = clearer(w, Z[left], Z[~left], pause)
    return Glance(np.flatnonzero(left), np.flatnonzero(reasons & left), w)


def clearer(w: np.ndarray, face: np.ndarray, others: np.ndarray, pause: Pause) -> np.ndarray:
    """Give a w that is zero on the face and positive on the others by more, if there is one."""
    space = orthogonal_to(face)
    rows = others @ space
    found = by_newton(rows / np.linalg.norm(rows, axis=1, keepdims=True), pause)
    return np.asarray(space @ found.w) if found.losses.max() < 1 else w


def projection(rows: np.ndarray, pause: Pause) -> np.ndarray | None:
    """Project the mean of unit rows onto {w : Z w >= 0}; None if that fails."""
    mean = rows.mean(axis=0)
    shares = multipliers(rows, mean, pause)
    if shares is None:
        return None
    r = mean + shares @ rows
    length = np.linalg.norm(r)
    return r if length <= ZERO or (rows @ r).min() >= -SURE * length else None


def multipliers(rows: np.ndarray, total: np.ndarray, pause: Pause) -> np.ndarray | None:
    """Give λ >= 0, few of them positive, that bring Σ λ·z + total nearest to zero.

    Where there are many rows, those that help most join the few that are needed until none helps:
    that is quicker, and the solver, which nothing can stop, comes back often.
    """
    few = max(1, rows.shape[1] // 2)
    if rows.size <= AT_ONCE or rows.shape[0] <= 4 * few:
        pause()
        return _least_squares(rows, total)
    least, shares = ZERO * max(1.0, float(np.linalg.norm(total))), np.zeros(rows.shape[0])
    for _ in range(PIECES):
        pause()
        gains = np.where(shares > 0, 0.0, -(rows @ (total + shares @ rows)))
        if gains.max() <= least:
            return shares
        joining = np.argpartition(-gains, few)[:few]
        part = np.append(np.flatnonzero(shares), joining[gains[joining] > least])
        found = _least_squares(rows[part], total)
        if found is None:
            return None
        shares[:] = 0.0
        shares[part] = found
    return None


def _least_squares(rows: np.ndarray, total: np.ndarray) -> np.ndarray | None:
    from scipy.optimize import nnls  # which takes as long to load as most questions to answer

    try:
        return np.asarray(nnls(rows.T, -total, maxiter=3 * sum(rows.shape))[0])
    except RuntimeError:  # too many steps
        return None


def orthogonal_to(rows: np.ndarray) -> np.ndarray:
    """Give columns that span what is orthogonal to rows."""
    values, vectors = np.linalg.eigh(rows.T @ rows)
    return np.asarray(vectors[:, values <= DEPENDENT * max(1.0, values[-1])])


def together(w: np.ndarray, r: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Add as much of r to w as leaves it positive on the rows on which it is."""
    had, change = rows @ w, rows @ r
    falling = change < 0
    most = np.min(had[falling] / -change[falling], initial=2.0)
    return np.asarray(w + max(0.0, most) / 2 * r)
