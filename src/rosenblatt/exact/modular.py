"""Rows of integers modulo a prime: independent ones, inverses, and equations digit by digit.

Elimination     of dense rows, in pieces of some milliseconds, so that it can be stopped anywhere
Equations       K x = r, K and r integers, K invertible modulo a prime p. The inverse gives x modulo
                p, the residual divided by p the next digit, and so on. From enough digits the
                rational solution is told, and confirmed by one exact product. Rounding plays no
                part, so that no K is too badly conditioned
Source          Dixon 1982
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from rosenblatt.exact.integers import Integers, Rationals
from rosenblatt.loops import exact_loop
from rosenblatt.pauses import Pause

PRIMES = (2**26 - 5, 2**26 - 27, 2**26 - 45)  # products of two remainders, and one, are floats
HALF = 2**13  # of the digits of a remainder; sums of products with halves are floats
LIMB = 24  # binary digits of pieces of entries, whose products with others fit machine words
FIRST = 16  # digits after which a solution is looked for
PIECE = 2**24  # multiplications between two pauses


def remainders(rows: Integers, prime: int) -> np.ndarray:
    """Give dense rows modulo a prime."""
    dense = np.zeros((rows.size, rows.width))
    dense[rows.owners, rows.columns] = (rows.entries % prime).astype(np.float64)
    return dense


def eliminated(dense: np.ndarray, prime: int, pause: Pause) -> tuple[np.ndarray, np.ndarray]:
    """Bring rows to echelon form, in place; give those kept, and the columns in which they begin.

    Each of those begins with 1, where all that follow have 0.
    """
    n, width = dense.shape
    kept, leading = np.zeros(n, np.int64), np.zeros(n, np.int64)
    rank = first = 0
    while first < n:
        pause()
        last = min(n, first + _rows_at_once(rank, PIECE // (width + 1)))
        rank = int(eliminate(dense, float(prime), kept, leading, rank, first, last))
        first = last
    return kept[:rank], leading[:rank]


def _rows_at_once(rank: int, most: int) -> int:
    """Give how many rows there may be, k, if each is kept: k·(rank + k) is `most` then."""
    return max(1, (math.isqrt(rank * rank + 4 * most) - rank) // 2)


@exact_loop
def eliminate(
    rows: np.ndarray,
    prime: float,
    kept: np.ndarray,
    leading: np.ndarray,
    rank: int,
    begin: int,
    end: int,
) -> int:
    """Subtract from some rows those kept before, modulo a prime, and keep what is not zero.

    Writes which rows are kept, and in which column each begins, with 1 there; gives their number.
    """
    for i in range(begin, end):
        for k in range(rank):
            factor = rows[i, leading[k]]
            if factor != 0.0:
                for j in range(rows.shape[1]):
                    total = rows[i, j] + (prime - factor) * rows[kept[k], j]
                    rows[i, j] = total - np.floor(total / prime) * prime
        first = 0
        while first < rows.shape[1] and rows[i, first] == 0.0:
            first += 1
        if first == rows.shape[1]:
            continue
        inverse = 1.0  # by Fermat's little theorem, rows[i, first]^(prime - 2)
        power, exponent = rows[i, first], int(prime) - 2
        while exponent:
            if exponent & 1:
                inverse = inverse * power - np.floor(inverse * power / prime) * prime
            power = power * power - np.floor(power * power / prime) * prime
            exponent >>= 1
        for j in range(rows.shape[1]):
            total = rows[i, j] * inverse
            rows[i, j] = total - np.floor(total / prime) * prime
        kept[rank], leading[rank] = i, first
        rank += 1
    return rank


# ---- equations


def inverse(K: Integers, prime: int, pause: Pause) -> np.ndarray | None:
    """Give the inverse of a square matrix modulo a prime, None if there is none."""
    size = K.size
    both = np.hstack([remainders(K, prime), np.eye(size)])
    kept, leading = eliminated(both, prime, pause)
    if leading.max(initial=0) >= size:
        return None
    both = both[kept[::-1]]  # so that each row is freed of those that follow it
    kept, leading = eliminated(both, prime, pause)
    found = np.empty((size, size))
    found[leading] = both[kept, size:]
    return found


def lifted(K: Integers, right: Sequence[int], pause: Pause) -> Rationals | None:
    """Give x with K x = r, None if K seems to be singular."""
    for prime in PRIMES:
        found = inverse(K, prime, pause)
        if found is not None:
            return _lifted(K, right, found, prime, pause)
    return None


def _lifted(
    K: Integers, right: Sequence[int], inverse: np.ndarray, prime: int, pause: Pause
) -> Rationals:
    halves, limbs, wanted = np.divmod(inverse, HALF), limbs_of(K), FIRST
    residual, digits = list(right), list[np.ndarray]()
    while True:
        while len(digits) < wanted and any(residual):
            pause()
            rest = np.array([value % prime for value in residual], np.float64)
            high, low = ((half @ rest) % prime for half in halves)
            digit = ((high * HALF + low) % prime).astype(np.int64)
            digits.append(np.where(digit > prime // 2, digit - prime, digit))
            pairs = zip(residual, product(limbs, digits[-1]), strict=True)
            residual = [(value - taken) // prime for value, taken in pairs]
        joined = _joined(digits, prime, pause)
        if not any(residual):  # x is whole
            return Rationals(joined or [0] * K.width, 1)
        found = _told(joined, prime ** len(digits), pause)
        if found and K.times(found[0]) == [value * found[1] for value in right]:
            return found
        wanted *= 2


def limbs_of(K: Integers) -> list[sparse.csr_matrix]:
    """Cut entries into pieces of few digits, whose products fit into machine words."""
    signs, left = np.sign(K.entries).astype(np.int64), np.abs(K.entries)
    limbs: list[sparse.csr_matrix] = []
    while not limbs or left.any():
        piece = (left & (2**LIMB - 1)).astype(np.int64) * signs
        limbs.append(sparse.csr_matrix((piece, K.columns, K.starts), shape=(K.size, K.width)))
        left = left >> LIMB
    return limbs


def product(limbs: list[sparse.csr_matrix], vector: np.ndarray) -> list[int]:
    """Give the product of a matrix in limbs with a vector of short integers."""
    total: list[int] = (limbs[-1] @ vector).tolist()
    for limb in limbs[-2::-1]:
        pairs = zip(total, (limb @ vector).tolist(), strict=True)
        total = [(high << LIMB) + low for high, low in pairs]
    return total


def _joined(digits: list[np.ndarray], prime: int, pause: Pause) -> list[int]:
    """Give Σ digit·p^k, by halves."""
    parts, power = [digit.astype(object) for digit in digits], prime
    while len(parts) > 1:
        pause()
        odd = parts[len(parts) & ~1 :]
        parts = [a + b * power for a, b in zip(parts[::2], parts[1::2], strict=False)] + odd
        power *= power
    return parts[0].tolist() if parts else []


def _told(values: list[int], modulus: int, pause: Pause) -> Rationals | None:
    """Tell numbers over one denominator from their remainders, if these are long enough."""
    common, most = 1, math.isqrt(modulus // 2)
    numbers: list[int] = []
    for value in values:
        pause()
        number = _centred(value * common, modulus)
        if abs(number) > most:
            factor = denominator_of(number, modulus, most)
            common *= factor
            number = _centred(number * factor, modulus)
            if common > most or abs(number) > most:
                return None
            numbers = [known * factor for known in numbers]
        numbers.append(number)
    return Rationals(numbers, common)


def _centred(value: int, modulus: int) -> int:
    value %= modulus
    return value - modulus if 2 * value > modulus else value


def denominator_of(value: int, modulus: int, most: int) -> int:
    """Give the denominator of the fraction of small numbers that has this remainder.

    It is also that of the simplest fraction near value / modulus.
    """
    a, b = modulus, value % modulus
    before, now = 0, 1
    while b > most:
        quotient, rest = divmod(a, b)
        a, b = b, rest
        before, now = now, before - quotient * now
    return abs(now)
