"""Which rows and columns of integers are independent, told by primes (python-flint)."""

from __future__ import annotations

from collections.abc import Sequence

import flint

# A rank modulo a prime is never above the rank, and below it only by a coincidence that somebody
# may have planned; not for all of these. They fit the words that FLINT computes with.
PRIMES = (2**61 - 1, 2**63 - 25, 2**64 - 59)


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
