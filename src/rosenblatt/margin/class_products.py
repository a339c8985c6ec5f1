"""Products of all rows with the weights of all classes, in threads."""

from __future__ import annotations

import numpy as np

from rosenblatt.blocks import in_blocks
from rosenblatt.matrices import Matrix


def class_scores(X: Matrix, planes: np.ndarray, lift: float) -> np.ndarray:
    """Give w·(x, lift) of all rows, for each class a column."""
    out = np.empty((X.shape[0], planes.shape[0]))
    columns = np.ascontiguousarray(planes[:, :-1].T)

    def work(start: int, stop: int) -> None:
        out[start:stop] = X[start:stop] @ columns
        out[start:stop] += lift * planes[:, -1]

    in_blocks(work, X.shape[0], X.size, each=1)
    return out


def class_totals(X: Matrix, factors: np.ndarray, lift: float) -> np.ndarray:
    """Give Σ factor·(x, lift), for each class a row."""

    def work(start: int, stop: int) -> np.ndarray:
        block = factors[start:stop]
        return np.column_stack([(X[start:stop].T @ block).T, lift * block.sum(axis=0)])

    return np.asarray(sum(in_blocks(work, X.shape[0], X.size, each=1)))
