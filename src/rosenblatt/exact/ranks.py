"""Whether vectors have at least some rank, told by their rank modulo a prime: it is never above."""

from __future__ import annotations

import flint

from rosenblatt.checker import rank_reaches as plain_rank_reaches

PRIMES = tuple(2**power - 1 for power in (61, 89, 107, 127))
MOST_ENTRIES = 2**25  # of a dense matrix; beyond, vectors are kept sparse, in plain Python

Vector = dict[int, int]


def rank_reaches(needed: int, vectors: list[Vector]) -> bool:
    """Tell whether the rank modulo one of a few large primes is large enough."""
    if needed <= 0:
        return True
    columns = {column: k for k, column in enumerate(sorted(set().union(*vectors)))}
    if min(len(vectors), len(columns)) < needed:
        return False
    if len(vectors) * len(columns) > MOST_ENTRIES:
        return plain_rank_reaches(needed, vectors)
    entries = [0] * (len(vectors) * len(columns))
    for i, vector in enumerate(vectors):
        for column, value in vector.items():
            entries[i * len(columns) + columns[column]] = value
    shape = len(vectors), len(columns)
    return any(_rank(entries, shape, prime) >= needed for prime in PRIMES)


def _rank(entries: list[int], shape: tuple[int, int], prime: int) -> int:
    reduced = [value % prime for value in entries]
    if prime < 2**64:
        return int(flint.nmod_mat(*shape, reduced, prime).rank())
    context = flint.fmpz_mod_ctx(prime)
    return int(flint.fmpz_mod_mat(*shape, reduced, context).rank())
