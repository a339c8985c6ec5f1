"""Linear relations between a few rows, in exact integers (python-flint).

Problem     rows z_s that a float oracle believes to satisfy Σ λ_s·z_s = 0 for some λ > 0, perhaps
            up to multiples of further rows z_b whose coefficients μ_b may have either sign
Answer      exact λ > 0 on a smallest possible subset (a *circuit*), and the μ that belong to it
Method      a prime tells which rows and columns are independent; one exact solve gives the others
            in terms of these; a product in integers checks the result on all columns
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import flint

# A rank modulo a prime is never above the rank, and below it only by a coincidence that somebody
# may have planned; not for all of these. They fit the words that FLINT computes with.
PRIMES = (2**61 - 1, 2**63 - 25, 2**64 - 59)


class Table(NamedTuple):
    """Rows as integers: row k stands for its own numbers times factors[k].

    Columns are those in which some row is not zero, multiplied by powers of two, which changes no
    relation between rows but keeps the integers short.
    """

    integers: flint.fmpz_mat
    factors: list[Fraction]
    columns: list[int]


class Relation(NamedTuple):
    """Coefficients with Σ λ·z + Σ μ·z = 0: positive ones by row, and free ones by row."""

    positive: dict[int, Fraction]
    free: dict[int, Fraction]


def independent_rows(matrix: flint.fmpz_mat) -> list[int]:
    """Give rows that are linearly independent, the first ones first, and span the others."""
    return independent_columns(matrix.transpose())


def independent_columns(matrix: flint.fmpz_mat) -> list[int]:
    """Give columns that are linearly independent, the first ones first."""
    if not matrix.nrows() or not matrix.ncols():
        return []
    forms = [flint.nmod_mat(matrix, prime).rref() for prime in PRIMES]
    reduced, rank = max(forms, key=lambda form: form[1])
    pivots, column = [], 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        pivots.append(column)
    return pivots


def part_of(matrix: flint.fmpz_mat, rows: Sequence[int], columns: Sequence[int]) -> flint.fmpz_mat:
    """Give some rows and columns of a matrix."""
    listed = matrix.tolist()
    entries = [listed[i][j] for i in rows for j in columns]
    return flint.fmpz_mat(len(rows), len(columns), entries)


def dependencies(matrix: flint.fmpz_mat) -> list[list[int]]:
    """Give a basis of {v : Σ v_i·row_i = 0}; each vector has a place where all others are zero."""
    size = matrix.nrows()
    basis = independent_rows(matrix)
    others = sorted(set(range(size)) - set(basis))
    if not others or not basis:
        return [[int(i == k) for i in range(size)] for k in others]
    everything = range(matrix.ncols())
    columns = independent_columns(part_of(matrix, basis, everything))
    left = part_of(matrix, basis, columns).transpose()
    right = part_of(matrix, others, columns).transpose()
    solution: Any = left.solve(right)
    numerators, denominator = solution.numer_denom()
    listed, common = numerators.transpose().tolist(), int(denominator)
    vectors = []
    for place, row in zip(others, listed, strict=True):
        vector = [0] * size
        vector[place] = -common
        for i, value in zip(basis, row, strict=True):
            vector[i] = int(value)
        vectors.append(vector)
    check = flint.fmpz_mat(vectors) * matrix
    if any(check.entries()):
        raise ArithmeticError("three primes have hidden the rank of a matrix")
    return vectors


def relation(
    table: Table, names: Sequence[int], free: int, guess: Sequence[float]
) -> Relation | None:
    """Find a relation that is positive on some of the rows, close to a guess.

    Parameters
    ----------
    table, names : the rows, and what they are called.
    free : the first so many rows are linearly independent, and free in sign.
    guess : the coefficients of the others, roughly.

    None if the guess leads to no such relation.
    """
    vectors = dependencies(table.integers)
    if not vectors:
        return None
    total = _near(vectors, [0.0] * free + list(guess), table.factors)
    if total is None or any(value < 0 for value in total[free:]) or not any(total[free:]):
        return None
    if len(vectors) > 1:
        total = _reduced(total, vectors, free)
    weights = [value * factor for value, factor in zip(total, table.factors, strict=True)]
    positive = dict(zip(names[free:], weights[free:], strict=True))
    return Relation(
        {name: weight for name, weight in positive.items() if weight},
        {name: weight for name, weight in zip(names[:free], weights[:free], strict=True) if weight},
    )


def _near(
    vectors: list[list[int]], hints: list[float], factors: list[Fraction]
) -> list[Fraction] | None:
    """Combine dependencies to the one that takes the hints at their own places."""
    if len(vectors) == 1:
        place = max(range(len(hints)), key=lambda k: hints[k])
        sign = 1 if vectors[0][place] >= 0 else -1
        return [Fraction(sign * value) for value in vectors[0]]
    total = [Fraction(0)] * len(hints)
    for k, vector in enumerate(vectors):
        others = [v for m, v in enumerate(vectors) if m != k]
        own = (p for p, value in enumerate(vector) if value and not any(v[p] for v in others))
        place = max(own, default=-1)  # those of free rows, which have no hints, come first
        if place < 0:
            return None
        share = Fraction(hints[place]) / (vector[place] * factors[place])
        total = [t + share * value for t, value in zip(total, vector, strict=True)]
    return total


def _reduced(total: list[Fraction], vectors: list[list[int]], free: int) -> list[Fraction]:
    """Move along dependencies until no more coefficients can be made zero (Carathéodory)."""
    moves = [[Fraction(value) for value in vector] for vector in vectors]
    kept = next(k for k in range(free, len(total)) if total[k])
    for move in moves:
        _cancel(move, total, kept)  # one of them thereby comes to depend on the others
    while moves:
        move = moves.pop()
        if not any(value > 0 for value in move[free:]):
            move = [-value for value in move]
        steps = [(total[k] / move[k], k) for k in range(free, len(total)) if move[k] > 0]
        if not steps:
            continue
        step, place = min(steps)
        total = [t - step * value for t, value in zip(total, move, strict=True)]
        for other in moves:
            _cancel(other, move, place)
    return total


def _cancel(vector: list[Fraction], by: Sequence[Fraction], place: int) -> None:
    if vector[place]:
        share = vector[place] / by[place]
        vector[:] = [value - share * other for value, other in zip(vector, by, strict=True)]
