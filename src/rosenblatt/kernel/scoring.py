"""Scores Σ_j α_j K(x, x_j) of blocks of rows, tile by tile: memory stays bounded.

Each tile of values is computed by one product and one pointwise step, then weighed in float64; the
sums of the tiles are added up in order, so the number of threads changes no bit.
"""

from __future__ import annotations

import numpy as np

from rosenblatt.kernel.space import TILE, Space
from rosenblatt.kernel.store import Block, Store
from rosenblatt.kernel.threads import Apply

ROWS = 512  # whose scores are computed at a time for answers
BLOCK_ENTRIES = 2**22  # values held at a time where whole rows of them are needed, 32 MiB


def weighed(
    space: Space,
    block: Block,
    store: Store,
    alphas: np.ndarray,
    apply: Apply,
    sizes: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Give the scores of each row for each class, and Σ_j |K(x, x_j)|·size_j if sizes are given.

    They are based on values of single precision if block and store are single.
    """
    shape = (block.squares.size, alphas.shape[0])

    def work(start: int) -> tuple[np.ndarray, np.ndarray]:
        inside = slice(start, min(start + TILE, store.size))
        values = space.values(block, store.span(inside.start, inside.stop))
        values = values.astype(np.float64, copy=False)
        scores, spread = values @ alphas[:, inside].T, np.zeros(shape[0])
        if sizes is not None:
            spread = np.abs(values, out=values) @ sizes[inside]
        return scores, spread

    found = apply(work, range(0, store.size, TILE))
    with np.errstate(over="ignore", invalid="ignore"):
        scores = sum((scores for scores, _ in found), np.zeros(shape))
        spread = sum((spread for _, spread in found), np.zeros(shape[0]))
    return scores, spread


def gram(space: Space, block: Block, others: Block, apply: Apply) -> np.ndarray:
    """Give the values of some rows beside others, computed in tiles of rows."""
    height = TILE // 2

    def work(start: int) -> np.ndarray:
        return space.values(block.picked(slice(start, start + height)), others)

    found = apply(work, range(0, block.squares.size, height))
    return np.asarray(found[0] if len(found) == 1 else np.concatenate(found))
