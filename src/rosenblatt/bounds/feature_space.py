"""Mistake bounds in feature space (theory F13, F15).

Two classes   if some w* of norm 1 has y·⟨w*, φ(x)⟩ >= γ > 0 on all examples: M <= R²/γ²
More          if some W* of norm 1 (Frobenius) has ⟨w*_y, φ(x)⟩ - ⟨w*_r, φ(x)⟩ >= γ > 0 for all
              wrong r: M <= 2R²/γ²
Weights       c of the examples make R² = max c²·K(x, x) and γ a margin times c, or R² as F16 has it
Symbols       R² = max K(x, x); w*_r = Σ_j c_rj φ(x_j), ‖W*‖² = Σ_r c_r·K c_r
Rigour        K is that of float64; sums of it are widened by the bound of their rounding errors, so
              the bound errs upwards only
Condition     K is positive semidefinite. The kernels of this package are; a function of the user's
              is refused if the examples and the stored rows show that it is not
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.bounds.theorem import MistakeBound
from rosenblatt.errors import InputError
from rosenblatt.exact.extremes import Extremes, joined
from rosenblatt.examples import Presented
from rosenblatt.kernel.functions import Kernel
from rosenblatt.kernel.scoring import weighed
from rosenblatt.kernel.space import SYMMETRIC, TILE, Space
from rosenblatt.kernel.store import Block, KeptRows
from rosenblatt.kernel.threads import Apply, working
from rosenblatt.matrices import Matrix
from rosenblatt.rows import UNIT

SAFE = 1 + 2.0**-40  # for the few operations outside of sums
LOOKED_AT = 512  # rows whose Gram matrix must have no negative eigenvalue


def mistake_bound(
    space: Space,
    shown: Presented,
    codes: np.ndarray,
    store: KeptRows,
    coefficients: np.ndarray,
) -> MistakeBound:
    """Bound the mistakes by a comparator: c_rj, one row for each class, on stored rows."""
    two = coefficients.shape[0] == 2
    if not space.kernel.by_products:
        check_features(space, shown.X, store)
    with working() as apply:
        norm = _norm_above(space, store, coefficients, apply)
        found = _extremes(space, shown, codes, store, coefficients, apply)
    radius, margin, where, _ = found
    if not margin > 0:
        row = shown.numbers()[where]
        raise InputError(
            f"the comparator (this learner, if none was given) leaves row {row} on the wrong "
            "side or on its boundary; the bound needs one that separates the data"
        )
    # For two classes w*_1 = -w*_0 = w*: the lead is 2·y·⟨w*, φ(x)⟩, and the norm √2·‖w*‖.
    margin /= norm * (math.sqrt(2) if two else 1.0) * SAFE
    longest = found.effective_radius if shown.weights.size else radius
    value = (1 if two else 2) * (longest / margin) ** 2 * SAFE
    run = "any number of passes in any order, from zero, in the kernel's feature space"
    return MistakeBound(value, radius, margin, 0.0, coefficients, run)


def _norm_above(space: Space, store: KeptRows, coefficients: np.ndarray, apply: Apply) -> float:
    """Give an upper bound of ‖W*‖."""
    sizes = np.abs(coefficients).sum(axis=0)
    total, error = 0.0, 0.0
    for start in range(0, store.size, TILE):
        inside = slice(start, min(start + TILE, store.size))
        block = store.span(inside.start, inside.stop).doubled()
        scores, spread = weighed(space, block, store, coefficients, apply, sizes)
        total += float((scores * coefficients[:, inside].T).sum())
        error += float(spread @ sizes[inside])
    return math.sqrt(max(total, 0.0) + _slack(store.size) * error) * SAFE


def _extremes(
    space: Space,
    shown: Presented,
    codes: np.ndarray,
    store: KeptRows,
    coefficients: np.ndarray,
    apply: Apply,
) -> Extremes:
    """Give the extremes of the norms and the leads, times the weights, on the safe sides."""
    sizes = np.abs(coefficients).sum(axis=0)
    found = []
    for start in range(0, codes.size, TILE):
        inside = slice(start, min(start + TILE, codes.size))
        numbers = np.arange(inside.start, inside.stop)
        block = space.block(shown.X, inside, numbers).doubled()
        squares = np.maximum(space.on_itself(block, numbers), 0.0)
        scores, spread = weighed(space, block, store, coefficients, apply, sizes)
        rows = np.arange(numbers.size)
        own = scores[rows, codes[inside]].copy()
        scores[rows, codes[inside]] = -np.inf
        lead = own - scores.max(axis=1) - 2 * _slack(store.size) * spread
        weights = shown.weights[inside] if shown.weights.size else np.ones(numbers.size)
        least, right = int((weights * lead).argmin()), lead > 0
        steepest = (weights[right] * squares[right] / lead[right]).max(initial=0.0)
        longest = float((weights * np.sqrt(squares)).max())
        margin = float(weights[least] * lead[least])
        found.append(Extremes(longest * SAFE, margin, start + least, float(steepest) * SAFE))
    return joined(found)


# ---- functions that are no inner product


def check_features(space: Space, X: Matrix, store: KeptRows) -> None:
    """Refuse a function that these rows show to be no inner product of features.

    An inner product has K(x, x) >= 0, |K(x, z)| <= √(K(x, x)·K(z, z)), and no negative eigenvalue
    of a Gram matrix; here, but for errors of single precision.
    """
    n = X.shape[0]
    stored = [store.span(i, min(i + TILE, store.size)) for i in range(0, store.size, TILE)]
    others = [(block, _lengths(space, block)) for block in stored]
    for start in range(0, n, TILE):
        numbers = np.arange(start, min(start + TILE, n))
        block = space.block(X, slice(start, start + TILE), numbers).doubled()
        own = _lengths(space, block)
        for other, lengths in others:
            reach = own[:, None] * lengths + SYMMETRIC * max(own.max(), lengths.max()) ** 2
            far = (np.abs(space.values(block, other)) > reach).any(axis=1)
            if far.any():
                row = numbers[far.argmax()]
                raise _no_features(
                    space.kernel, f"K(x, z)² is above K(x, x)·K(z, z) for row {row} and a stored z"
                )
    _check_spectrum(space, X)


def _check_spectrum(space: Space, X: Matrix) -> None:
    """Look at the eigenvalues of a Gram matrix, of all rows if they are few."""
    n = X.shape[0]
    places = np.linspace(0, n - 1, min(n, LOOKED_AT)).astype(np.int64)
    some = space.block(X, places, places).doubled()
    values = space.values(some, some)
    # Errors e of the values move an eigenvalue by at most their number times e.
    least = float(np.linalg.eigvalsh((values + values.T) / 2)[0])
    if least < -SYMMETRIC * places.size * float(np.abs(values).max()):
        raise _no_features(
            space.kernel, f"its matrix on {places.size} rows has the eigenvalue {least:.3g}"
        )


def _lengths(space: Space, block: Block) -> np.ndarray:
    """Give √K(x, x) of each row."""
    squares = space.on_itself(block, block.numbers)
    least = int(squares.argmin())
    if squares[least] < -SYMMETRIC * np.abs(squares).max():
        raise _no_features(
            space.kernel, f"K(x, x) is {squares[least]:.3g} for row {block.numbers[least]}"
        )
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _no_features(kernel: Kernel, why: str) -> InputError:
    return InputError(
        f"Theorem 1 needs a kernel that is positive semidefinite, but the kernel {kernel} is not: "
        f"{why}; there is no bound for it"
    )


def _slack(terms: int) -> float:
    return 2 * (terms + 16) * UNIT
