"""Systems with a planted answer: the size of Netlib's larger ones, and their kinds of structure.

Feasible      b is what a planted point x gives, and rows and bounds have room, some of them
Infeasible    multipliers y are planted. Each unknown is held at x by the bound that A'y presses on,
              so that Σ y·(A x - b) <= 0 everywhere; one right-hand side asks for more
Nearly        it asks for 1e-9 of itself more
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from scipy import sparse

from bench.race import Contestant, Race, itself, race
from bench.systems import our_answer

ROWS, COLUMNS, EACH = 3000, 10_000, 5  # unknowns appear in so many rows
PERIODS = 10  # of a staircase
KINDS = ("staircase", "network", "blending", "degenerate", "scattered")
ANSWERS = ("feasible", "infeasible", "nearly")
NEARLY = 10**9
SECONDS = 20.0


@race
def made_systems(scale: float) -> Race:
    """Decide made systems of up to 3,000 x 10,000, from file to checked proof."""
    entries, figures = {}, []
    for kind in KINDS:
        for answer in ANSWERS:
            name = f"rosenblatt, {kind}, {answer}"
            entries[name] = partial(_entered, kind, answer, scale)
            figures.append(itself(name, at_most=SECONDS))
    return Race(entries=entries, figures=figures, repeats=1)


def _entered(kind: str, answer: str, scale: float) -> Contestant:
    return our_answer(written(kind, answer, min(1.0, scale)))


@cache
def written(kind: str, answer: str, scale: float) -> Path:
    """Write a system, in a folder that is called as its answer."""
    folder = Path(_folder().name) / answer / ("feasible" if answer == "feasible" else "infeasible")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}-{scale}.mps"
    path.write_text("\n".join(made(kind, answer, scale).lines()), "ascii")
    return path


@cache
def _folder() -> TemporaryDirectory[str]:
    """Give a folder that is removed in the end."""
    return TemporaryDirectory()


def matrix(random: np.random.Generator, kind: str, n: int, d: int) -> sparse.csr_matrix:
    """Give whole numbers where a kind of system has entries."""
    columns = np.repeat(np.arange(d), 2 if kind == "network" else EACH)
    rows = random.integers(0, n, columns.size)
    if kind == "network":
        rows[1::2] = (rows[::2] + random.integers(1, n, d)) % n
        values = np.tile([1, -1], d)
    elif kind == "staircase":
        later = random.random(columns.size) < 0.3
        period = np.minimum(columns * PERIODS // d + later, PERIODS - 1)
        rows = period * n // PERIODS + random.integers(0, n // PERIODS, columns.size)
        values = signed(random, columns.size)
    elif kind == "blending":
        values = np.where(rows % 3 == 0, 1, random.integers(-300, 1000, columns.size))
    elif kind == "degenerate":
        values = np.ones(columns.size, int)
    else:
        values = signed(random, columns.size)
    A = sparse.csr_matrix((np.where(values == 0, 1, values), (rows, columns)), (n, d))
    A.eliminate_zeros()
    return A.astype(np.int64)


def signed(random: np.random.Generator, count: int) -> np.ndarray:
    """Give numbers of three digits and either sign."""
    return np.asarray(random.integers(100, 1000, count) * random.choice([-1, 1], count))


class Made(NamedTuple):
    """A system: whole numbers, but for one right-hand side."""

    A: sparse.csr_matrix
    right: list[str]
    senses: np.ndarray
    bounds: list[str]

    def lines(self) -> list[str]:
        """Give it in MPS format."""
        A = self.A.tocsc()
        owners = np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))
        entries = zip(owners, A.indices, A.data, strict=True)
        return [
            *("NAME MADE", "ROWS", " N COST"),
            *(f" {sense} R{i}" for i, sense in enumerate(self.senses)),
            "COLUMNS",
            *(f" C{j} R{i} {value}" for j, i, value in entries),
            "RHS",
            *(f" RHS R{i} {value}" for i, value in enumerate(self.right)),
            "BOUNDS",
            *self.bounds,
            "ENDATA\n",
        ]


def made(kind: str, answer: str, scale: float) -> Made:
    """Make a system."""
    random = np.random.default_rng(0)
    n, d = max(50, int(ROWS * scale)), max(100, int(COLUMNS * scale))
    A, share = matrix(random, kind, n, d), 0.3 if answer == "feasible" else 0.5
    x = random.integers(1, 1000, d) * (random.random(d) < share)
    senses = np.where(random.random(n) < 0.6, "E", random.choice(["G", "L"], n))
    if answer == "feasible":
        return with_room(random, A, x, senses)
    return pressed(random, A, x, senses, NEARLY if answer == "nearly" else 1)


def with_room(
    random: np.random.Generator, A: sparse.csr_matrix, x: np.ndarray, senses: np.ndarray
) -> Made:
    """Let a point keep all rows and bounds, some of them with room to spare."""
    right = A @ x
    room = (random.random(senses.size) < 0.5) * (np.abs(right) // 7 + 1)
    right = right + np.where(senses == "L", room, np.where(senses == "G", -room, 0))
    upper = x + random.integers(0, 50, x.size)
    bounds = [f" UP BND C{j} {upper[j]}" for j in np.flatnonzero(random.random(x.size) < 0.3)]
    return Made(A, list(map(str, right)), senses, bounds)


def pressed(
    random: np.random.Generator,
    A: sparse.csr_matrix,
    x: np.ndarray,
    senses: np.ndarray,
    part: int,
) -> Made:
    """Hold a point by bounds, and ask for more: one right-hand side, by a part of itself."""
    y = random.integers(1, 9, senses.size) * (random.random(senses.size) < 0.5)
    turned = (senses == "L") | ((senses == "E") & (random.random(senses.size) < 0.5))
    y = np.where(turned, -y, y)
    force, right = A.T @ y, A @ x
    bounds = [f" {'UP' if force[j] > 0 else 'LO'} BND C{j} {x[j]}" for j in np.flatnonzero(force)]
    i = int(np.flatnonzero(y)[0])
    asked = int(right[i]) * part + int(np.sign(y[i])) * max(1, abs(int(right[i])))
    numbers = list(map(str, right))
    numbers[i] = f"{asked}E-{len(str(part)) - 1}"
    return Made(A, numbers, senses, bounds)
