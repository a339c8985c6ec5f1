"""Data to race on: real ones, and such as are made from a seed, with a planted hyperplane.

Real data are looked for in the folder that ROSENBLATT_DATA names, or else in ``../shared/data``.

Words come in pairs. One word of each pair leans to the positive class and has weight +1 in the
planted hyperplane, the other one leans to the negative class and has weight -1. Where there are
more classes, words come in groups with one word for each of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from bench.race import MissingError

ROOT = Path(__file__).resolve().parents[1]
TEXT_COLUMNS = 47_236
TEXT_WORDS = 79  # words drawn for a row, on average; about 73 of them are different
CHUNK = 50_000
NOISE = 0.01  # share of labels that are flipped
LEAN = 0.67  # how often a document picks the word of a pair that leans to its side
TOPICAL = 0.3  # how often a document of many topics picks the word of a group that is its own
HEAD, FALL = 100.0, 1.4  # word k is drawn in proportion to 1 / (k + HEAD)^FALL


class Row(NamedTuple):
    """One row of a stream."""

    columns: np.ndarray
    values: np.ndarray
    label: int


def found(name: str) -> Path:
    """Give the path of a file or folder of real data."""
    folder = os.environ.get("ROSENBLATT_DATA") or ROOT.parent / "shared" / "data"
    if (path := Path(folder) / name).exists():
        return path
    raise MissingError(f"{name} is not in {folder}; name the folder of the data in ROSENBLATT_DATA")


def scaled(rows: int, scale: float) -> int:
    """Give the number of rows of a set made smaller or larger by a factor."""
    return max(1_000, int(rows * scale))


def popular(u: np.ndarray, columns: int) -> np.ndarray:
    """Turn uniform numbers into ranks of words, skewed as those of a language are (Zipf's law)."""
    first, last = HEAD ** (1 - FALL), (columns + HEAD) ** (1 - FALL)
    ranks = (first - u * (first - last)) ** (1 / (1 - FALL)) - HEAD
    return np.clip(ranks.astype(np.int64), 0, columns - 1)


def lean(random: np.random.Generator, ranks: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Exchange words for the other ones of their pairs, so that a row leans to its side."""
    with_its_side = random.random(ranks.shape, np.float32) < LEAN
    return ranks & ~1 | (with_its_side == positive)


def text_like(rows: int, columns: int = TEXT_COLUMNS, seed: int = 0) -> tuple:
    """Make float32 CSR rows like tf-idf weights of documents, each of norm 1, and labels ±1."""
    random = np.random.default_rng(seed)
    homes = random.permutation(columns)  # frequent words lie anywhere in the alphabet
    X = _text(random, rows, homes, lambda ranks, row: lean(random, ranks, row % 2 == 0))
    return X, _labels(random, X @ _planted(homes))


def topics(
    rows: int, classes: int = 20, columns: int = TEXT_COLUMNS, seed: int = 0
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Make rows as `text_like` does, and labels 0, 1, …: each that of the most words of its own."""
    random = np.random.default_rng(seed)
    homes = random.permutation(columns)

    def own(ranks: np.ndarray, row: np.ndarray) -> np.ndarray:
        topical = random.random(ranks.shape, np.float32) < TOPICAL
        words = np.where(topical, ranks - ranks % classes + row % classes, ranks)
        return np.minimum(words, columns - 1)

    X = _text(random, rows, homes, own)
    ranks = np.argsort(homes)
    planted = sparse.csr_matrix(
        (np.ones(columns, np.float32), ranks % classes, np.arange(columns + 1)), (columns, classes)
    )
    labels = np.asarray((X @ planted).toarray().argmax(axis=1))
    flipped = random.random(rows) < NOISE
    return X, np.where(flipped, random.integers(0, classes, rows), labels)


Choice = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of words, given ranks drawn and rows


def _text(
    random: np.random.Generator, rows: int, homes: np.ndarray, choose: Choice
) -> sparse.csr_matrix:
    chunks = [
        _documents(random, min(CHUNK, rows - start), homes, choose)
        for start in range(0, rows, CHUNK)
    ]
    lengths, indices, data = (np.concatenate(part) for part in zip(*chunks, strict=True))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return sparse.csr_matrix((data, indices, starts), shape=(rows, homes.size))


def _documents(random: np.random.Generator, rows: int, homes: np.ndarray, choose: Choice) -> tuple:
    """Draw words, count them in each row, weigh them: lengths, indices and data of some rows."""
    drawn = random.negative_binomial(2, 2 / (TEXT_WORDS - 3), rows) + 5
    row = np.repeat(np.arange(rows), drawn)
    ranks = popular(random.random(row.size, np.float32), homes.size)
    words = homes[choose(ranks, row)] + row * homes.size
    words.sort()
    firsts = np.flatnonzero(np.diff(words, prepend=-1))
    times = np.diff(firsts, append=words.size).astype(np.float32)
    row, column = np.divmod(words[firsts], homes.size)
    rarity = np.empty(homes.size, np.float32)
    rarity[homes] = 1 + np.log1p(np.arange(homes.size) / HEAD)
    values = (1 + np.log(times)) * rarity[column]
    lengths = np.bincount(row, minlength=rows)
    norms = np.sqrt(np.add.reduceat(values**2, np.cumsum(lengths) - lengths))
    return lengths, column.astype(np.int32), values / np.repeat(norms, lengths)


def stream(rows: int, columns: int, entries: int = 50, seed: int = 0) -> list[Row]:
    """Make rows of int64 columns, all different, and float64 values, to be learned one by one.

    Values have four decimals, so that a line of text says them exactly.
    """
    random = np.random.default_rng(seed)
    edges = popular(np.linspace(0, 1, entries + 1), columns) & ~1
    ranks = random.integers(edges[:-1], edges[1:], (rows, entries))
    homes = random.permutation(columns)
    places = homes[lean(random, ranks, np.arange(rows)[:, None] % 2 == 0)]
    values = np.round(random.uniform(0.01, 1, places.shape), 4)
    labels = _labels(random, (values * _planted(homes)[places]).sum(axis=1)).tolist()
    return [Row(*row) for row in zip(places, values, labels, strict=True)]


def dense(rows: int, columns: int = 784, dtype: type = np.float32, seed: int = 0) -> tuple:
    """Make rows of normal numbers, and labels ±1; needs no memory beside what it gives back."""
    random = np.random.default_rng(seed)
    w = random.standard_normal(columns, dtype=dtype)
    X, y = np.empty((rows, columns), dtype), np.empty(rows, np.int64)
    for start in range(0, rows, 1_000):
        chunk = X[start : start + 1_000]
        random.standard_normal(out=chunk, dtype=dtype)
        y[start : start + 1_000] = np.where(chunk @ w > 0, 1, -1)
    return X, y


def _planted(homes: np.ndarray) -> np.ndarray:
    w = np.empty(homes.size, np.float32)
    w[homes] = np.where(np.arange(homes.size) % 2, 1, -1)
    return w


def _labels(random: np.random.Generator, scores: np.ndarray) -> np.ndarray:
    flipped = random.random(scores.size) < NOISE
    return np.where((scores > 0) != flipped, 1, -1)
