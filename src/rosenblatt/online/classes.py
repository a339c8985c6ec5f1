"""Two classes and many: the little in which they differ, chosen by the dimensions of the weights.

Two     one vector w; class y is 0 or 1, of the sign s = -1 or +1                    (theory D1)
        lead    s·(w·x)
        push    w ← w + a·s·x
Many    a row w_r of W for each class r                                              (D18)
        lead    w_y·x - w_r·x over the rival r of y: the best wrong class, of equally good ones
                that of the smallest index
        push    w_y ← w_y + a·x and w_r ← w_r - a·x

W read as one long vector is learned by the rule of two classes, with U = (…, x, …, -x, …) for s·x.
For two classes W = (-w, w) makes the mistakes of w (F14).

    look(rows, i, y, w, scores)      the lead of class y over its rival, and the rival; the lead is
                                     not finite if the row cannot be used
    vectors(w), vector(w, r)         how many vectors there are, and one of them
    pushed(w)                        how many of them an update changes: ‖U‖² / ‖x‖²
    side(w, k, y, rival)             one of these, and the sign of x in it
    move(scores, i, a, y, rival, ρ)  let the scores of row i follow a push by a, divided by ρ
    ahead(w, lead, scores)           by how much the answer leads, whether it is right or not
    cast(scores, i, votes, out)      vote on row i: a score of 0, or a tie for the best, is no vote

Sources     Crammer & Singer 2003, with one rival; Duda & Hart 1973 (Kesler's construction).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops import part
from rosenblatt.rows import Rows, Single, add, dot, dots, primitive

Place = int | np.int64


@part
def sign_of(y: Place) -> float:
    """Give the sign of one of two classes."""
    return 2.0 * y - 1.0


@part
def best_rival(scores: np.ndarray, y: Place) -> tuple[float, int]:
    """Give the lead of y over the best other class, NaN unless all are finite, and that class."""
    best, top, fine = -1, -np.inf, True
    for r in range(scores.size):
        fine = fine and abs(scores[r]) < np.inf
        if r != y and scores[r] > top:
            best, top = r, scores[r]
    return scores[y] - top if fine else np.nan, best


@primitive
def look(
    rows: Rows | Single,
    i: Place,
    y: Place,
    w: np.ndarray,
    scores: np.ndarray,
    in_turn: bool = False,
) -> Any:
    """Give the lead of class y over its rival, and the rival; `dot` says what `in_turn` is."""

    def two(rows, i, y, w, scores, in_turn=False):  # type: ignore[no-untyped-def]
        return sign_of(y) * dot(rows, i, w, in_turn), 1 - y

    def many(rows, i, y, w, scores, in_turn=False):  # type: ignore[no-untyped-def]
        dots(rows, i, w, scores)
        return best_rival(scores, y)

    return two if w.ndim == 1 else many


@primitive
def side(w: np.ndarray, k: Place, y: Place, rival: Place) -> Any:
    """Give the k-th vector that an update changes, and the sign of x in it."""

    def two(w, k, y, rival):  # type: ignore[no-untyped-def]
        return w, sign_of(y)

    def many(w, k, y, rival):  # type: ignore[no-untyped-def]
        return w[y if k == 0 else rival], 1.0 - 2.0 * k

    return two if w.ndim == 1 else many


@part
def push(rows: Rows | Single, i: Place, a: float, y: Place, rival: Place, w: np.ndarray) -> None:
    """Move the weights by a·U."""
    for k in range(pushed(w)):
        v, sign = side(w, k, y, rival)
        add(rows, i, sign * a, v)


@part
def lead_over(rows: Rows, i: Place, y: Place, rival: Place, w: np.ndarray) -> float:
    """Give U·w, the lead of class y over a rival."""
    lead = 0.0
    for k in range(pushed(w)):
        v, sign = side(w, k, y, rival)
        lead += sign * dot(rows, i, v)
    return lead


@part
def stays_finite(row: Single, a: float, y: Place, rival: Place, w: np.ndarray) -> bool:
    """Tell whether a push would leave w finite; a column given twice might still overflow."""
    fine = True
    for k in range(pushed(w)):
        v, sign = side(w, k, y, rival)
        fine = fine and abs(v[v.size - 1] + sign * a * row.lift) < np.inf
        for t in range(row.columns.size):
            fine = fine and abs(v[row.columns[t]] + sign * a * row.values[t]) < np.inf
    return fine


@primitive
def vectors(w: np.ndarray) -> Any:
    """Give the number of vectors."""
    return (lambda w: 1) if w.ndim == 1 else (lambda w: w.shape[0])


# Without reference counting, Numba lets no function give back a part of an array, but a tuple.
@primitive
def vector(w: np.ndarray, r: Place) -> Any:
    """Give one of the vectors, in a tuple."""
    return (lambda w, r: (w,)) if w.ndim == 1 else (lambda w, r: (w[r],))


@primitive
def pushed(w: np.ndarray) -> Any:
    """Give the number of vectors that an update changes."""
    return (lambda w: 1) if w.ndim == 1 else (lambda w: 2)


@primitive
def move(scores: np.ndarray, i: Place, a: float, y: Place, rival: Place, norm: float) -> Any:
    """Let the scores of a row follow an update."""

    def two(scores, i, a, y, rival, norm):  # type: ignore[no-untyped-def]
        scores[i] += sign_of(y) * a
        if norm != 1.0:
            scores[i] /= norm

    def many(scores, i, a, y, rival, norm):  # type: ignore[no-untyped-def]
        scores[i, y] += a
        scores[i, rival] -= a
        if norm != 1.0:
            for r in range(scores.shape[1]):
                scores[i, r] /= norm

    return two if scores.ndim == 1 else many


@primitive
def ahead(w: np.ndarray, lead: float, scores: np.ndarray) -> Any:
    """Give by how much the answer leads, after a look."""

    def many(w, lead, scores):  # type: ignore[no-untyped-def]
        top, second = -np.inf, -np.inf
        for r in range(scores.size):
            if scores[r] > top:
                top, second = scores[r], top
            elif scores[r] > second:
                second = scores[r]
        return top - second

    return (lambda w, lead, scores: abs(lead)) if w.ndim == 1 else many


@primitive
def cast(scores: np.ndarray, i: Place, votes: float, out: np.ndarray) -> Any:
    """Add votes on a row by its scores."""

    def two(scores, i, votes, out):  # type: ignore[no-untyped-def]
        out[i] += votes * np.sign(scores[i])

    def many(scores, i, votes, out):  # type: ignore[no-untyped-def]
        best, top, tied = 0, scores[i, 0], False
        for r in range(1, scores.shape[1]):
            if scores[i, r] > top:
                best, top, tied = r, scores[i, r], False
            elif scores[i, r] == top:
                tied = True
        if not tied:
            out[i, best] += votes

    return two if scores.ndim == 1 else many
