"""Scores Σ_j α_j K(x, x_j) of blocks of rows, tile by tile: memory stays bounded.

Each tile of values is computed by one product and one pointwise step, then weighed in float64; the
sums of the tiles are added up in order, so the number of threads changes no bit.
"""

from __future__ import annotations

import numpy as np

from rosenblatt.kernel.pointwise import weigh
from rosenblatt.kernel.space import TILE, Space
from rosenblatt.kernel.store import Block, KeptRows
from rosenblatt.kernel.threads import Apply
from rosenblatt.kernel.zeros import Panels, entries_of

HEIGHT = 256  # rows whose products stay in cache until they are weighed
ROWS = 512  # whose scores are computed at a time for answers
FEW_CLASSES = 32  # up to which a loop is faster than copies in float64 and their product
BLOCK_ENTRIES = 2**22  # values held at a time where whole rows of them are needed, 32 MiB


def weighed(
    space: Space,
    block: Block,
    store: KeptRows,
    alphas: np.ndarray,
    apply: Apply,
    sizes: np.ndarray | None = None,
    panels: Panels | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Give the scores of each row for each class, and Σ_j |K(x, x_j)|·size_j if sizes are given.

    They are based on values of single precision if block and store are single. With the panels of
    the store, products skip the zeros of the block.
    """
    n = block.squares.size
    height = max(n, 1) if panels is None else HEIGHT
    pieces = [block.picked(slice(first, first + height)) for first in range(0, n, height)]
    entries = [] if panels is None else apply(entries_of, [piece.rows for piece in pieces])

    def values_of(k: int, others: Block, start: int) -> np.ndarray:
        if panels is None:
            return space.values(pieces[k], others)
        products = panels.products(entries[k], start, start + others.squares.size)
        return space.from_products(products, pieces[k], others)

    def work(start: int) -> tuple[np.ndarray, np.ndarray]:
        inside = slice(start, min(start + TILE, store.size))
        others, weights = store.span(inside.start, inside.stop), alphas[:, inside]
        scores, spread = np.empty((n, alphas.shape[0])), np.zeros(n)
        for k in range(len(pieces)):
            values, rows = values_of(k, others, start), slice(k * height, (k + 1) * height)
            if sizes is None:
                scores[rows] = values.astype(np.float64, copy=False) @ weights.T
            else:
                add_up_tile(values, weights, sizes[inside], scores[rows], spread[rows])
        return scores, spread

    found = apply(work, range(0, store.size, TILE))
    with np.errstate(over="ignore", invalid="ignore"):
        scores = sum((scores for scores, _ in found), np.zeros((n, alphas.shape[0])))
        spread = sum((spread for _, spread in found), np.zeros(n))
    return scores, spread


def add_up_tile(
    values: np.ndarray,
    weights: np.ndarray,
    sizes: np.ndarray,
    scores: np.ndarray,
    spread: np.ndarray,
) -> None:
    """Write the scores and spreads of a tile of values, which are lost."""
    if weights.shape[0] <= FEW_CLASSES:
        spare = np.empty((4, sizes.size))
        weigh(values, np.ascontiguousarray(weights), sizes, spare, scores, spread)
        return
    values = values.astype(np.float64, copy=False)
    np.matmul(values, weights.T, out=scores)
    np.matmul(np.abs(values, out=values), sizes, out=spread)


def gram(space: Space, block: Block, others: Block, apply: Apply) -> np.ndarray:
    """Give the values of some rows beside others, computed in tiles of rows."""
    height = TILE // 2

    def work(start: int) -> np.ndarray:
        return space.values(block.picked(slice(start, start + height)), others)

    found = apply(work, range(0, block.squares.size, height))
    return np.asarray(found[0] if len(found) == 1 else np.concatenate(found))


def wide_gram(space: Space, block: Block, others: Block, apply: Apply) -> np.ndarray:
    """Give the values of a few rows beside others, computed in tiles of these."""
    width = TILE // 2

    def work(start: int) -> np.ndarray:
        return space.values(block, others.picked(slice(start, start + width)))

    return np.concatenate(apply(work, range(0, others.squares.size, width)), axis=1)
