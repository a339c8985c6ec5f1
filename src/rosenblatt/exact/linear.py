"""Square systems of linear equations with sparse integer coefficients, solved exactly.

Problem     K x = r, K square, its entries and those of r integers
Peeling     a row with one unknown gives it at once; an unknown in one row only is given by that
            row once the others are known. Bases of linear programs are nearly triangular, so that
            little is left: the *core*
Core        small: FLINT. Large: K is factorised in floats, and the residual, an exact integer, is
            solved for again and again, each time for some more binary digits; from enough of them
            the rational solution is told, and confirmed by one exact product. Where floats do
            not converge: the same digits modulo a prime (`modular`)
Sources     Wan 2006 (numeric-symbolic); Applegate, Cook, Dash & Espinoza 2007
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import flint
import numpy as np

from rosenblatt.exact.integers import FAR, Integers, Rationals, scattered
from rosenblatt.exact.modular import LIMB, denominator_of, lifted, limbs_of, product
from rosenblatt.pauses import Pause

SMALL = 60  # unknowns up to which it does not pay to peel
LARGE = 300  # unknowns up to which FLINT is quicker than refinement, if entries fit into words
WORD_DIGITS = 62  # binary digits of sums of products in machine words
FIRST = 128  # binary digits after which a solution is looked for
RECENT = 4096  # binary digits of x that are kept apart from those before them
FEWEST = 3  # digits gained at once, below which the floats are of no use


def solved(K: Integers, right: Sequence[int], pause: Pause) -> Rationals | None:
    """Give x with K x = r, None if K is singular; `pause` is called now and then, and may raise."""
    if K.size <= SMALL:
        return _solved_core(K, right, pause) if K.size else Rationals([], 1)
    order = peeled(K)
    if order is None:
        return None
    x: dict[int, flint.fmpq] = {}
    for i, j in order.forward:
        pause()
        x[j] = _given(K, right, i, j, x)
    if order.rows:
        rows, columns = np.array(order.rows), np.array(order.columns)
        left = [_residual(K, right, i, x) for i in order.rows]
        scaled, common = _over_one_denominator(left, pause)
        found = _solved_core(K.part(rows, columns), scaled, pause)
        if found is None:
            return None
        for j, value in zip(order.columns, found.numbers, strict=True):
            pause()
            x[j] = flint.fmpq(value, found.denominator * common)
    for i, j in reversed(order.backward):
        pause()
        x[j] = _given(K, right, i, j, x)
    return _over_one_denominator([x[j] for j in range(K.width)], pause)


def _over_one_denominator(values: Sequence[flint.fmpq], pause: Pause) -> Rationals:
    """Give FLINT's fractions as integers over their common denominator."""
    common = flint.fmpz(1)
    for value in values:
        pause()
        common = common.lcm(value.q)
    return Rationals([int(value.p * (common // value.q)) for value in values], int(common))


def reduced(numbers: list[int], denominator: int) -> Rationals:
    """Divide out what all numbers and the denominator have in common."""
    common = flint.fmpz(denominator)
    for number in numbers:
        common = common.gcd(number)
        if common == 1:
            return Rationals(numbers, denominator)
    divisor = int(common)
    return Rationals([number // divisor for number in numbers], denominator // divisor)


def _residual(K: Integers, right: Sequence[int], i: int, x: dict[int, flint.fmpq]) -> flint.fmpq:
    total = flint.fmpq(right[i])
    for j, value in zip(*K.row(i), strict=True):
        if j in x:
            total -= value * x[j]
    return total


def _given(
    K: Integers, right: Sequence[int], i: int, j: int, x: dict[int, flint.fmpq]
) -> flint.fmpq:
    pivot = dict(zip(*K.row(i), strict=True))[j]
    return _residual(K, right, i, x) / pivot


# ---- peeling


class Order(NamedTuple):
    """Pairs of a row and the unknown that it gives, before and after the core; and the core."""

    forward: list[tuple[int, int]]
    backward: list[tuple[int, int]]
    rows: list[int]
    columns: list[int]


def peeled(K: Integers) -> Order | None:
    """Peel rows and columns with a single entry; None if one is left with none."""
    other = K.transposed()
    across, down = _neighbours(K), _neighbours(other)
    forward: list[tuple[int, int]] = []
    backward: list[tuple[int, int]] = []
    waiting = [(True, i) for i, near in enumerate(across) if len(near) == 1]
    waiting += [(False, j) for j, near in enumerate(down) if len(near) == 1]
    rows, columns = set(range(K.size)), set(range(K.width))
    while waiting:
        by_row, k = waiting.pop()
        if k not in (rows if by_row else columns) or len((across if by_row else down)[k]) != 1:
            continue
        i, j = (k, next(iter(across[k]))) if by_row else (next(iter(down[k])), k)
        (forward if by_row else backward).append((i, j))
        rows.discard(i)
        columns.discard(j)
        for row in down[j]:
            across[row].discard(j)
            if len(across[row]) == 1:
                waiting.append((True, row))
        for column in across[i]:
            down[column].discard(i)
            if len(down[column]) == 1:
                waiting.append((False, column))
    if any(not across[i] for i in rows) or any(not down[j] for j in columns):
        return None
    return Order(forward, backward, sorted(rows), sorted(columns))


def _neighbours(K: Integers) -> list[set[int]]:
    columns, starts = K.columns.tolist(), K.starts.tolist()
    return [set(columns[a:b]) for a, b in pairwise(starts)]


# ---- the core


def _solved_core(K: Integers, right: Sequence[int], pause: Pause) -> Rationals | None:
    if K.size > (SMALL if K.entries.dtype == object else LARGE):
        found = refined(K, right, pause)
        if found is None:
            found = lifted(K, right, pause)
        return None if found is None else reduced(*found)
    pause()
    dense = flint.fmpz_mat([scattered(*K.row(i), K.width) for i in range(K.size)])
    try:
        solution: Any = dense.solve(flint.fmpz_mat(K.size, 1, list(right)))
    except ZeroDivisionError:
        return None
    numbers, denominator = solution.numer_denom()
    return Rationals([int(value) for value in numbers.entries()], int(denominator))


def refined(K: Integers, right: Sequence[int], pause: Pause) -> Rationals | None:
    """Solve by refinement in floats; None where these do not converge.

    The columns are scaled first, so that the unknowns are of about one size.
    """
    powers = balance(K)[1]
    scaled, lifts = K.with_scaled_columns(powers)
    down = int(max(0, -lifts.min()))
    raised = [r << up for r, up in zip(right, (lifts + down).tolist(), strict=True)]
    found = _refined(scaled, raised, pause)
    if found is None:
        return None
    ups = (powers - powers.min()).tolist()
    numbers = [number << up for number, up in zip(found.numbers, ups, strict=True)]
    power = down - int(powers.min())  # of two, by which all of them are divided
    if power < 0:
        numbers = [number << -power for number in numbers]
    return reduced(numbers, found.denominator << max(0, power))


def _refined(K: Integers, right: Sequence[int], pause: Pause) -> Rationals | None:
    try:
        search = _Refinement(K, right)
    except RuntimeError:  # singular in floats
        return None
    wanted = FIRST
    while True:
        while search.digits < wanted and any(search.residual):
            pause()
            if not search.step():
                return None
        found = _reconstructed(search.sums(), search.digits, K, right, pause)
        if found is not None:
            return found
        wanted *= 2


class _Refinement:
    """x to a growing number of binary digits: K·sums + residual = right·2^digits, in integers."""

    def __init__(self, K: Integers, right: Sequence[int]) -> None:
        from scipy.sparse.linalg import splu  # which takes longer to load than most systems

        self.row_powers, self.column_powers = balance(K)
        self.floats = K.floats(entry_powers(K, self.row_powers, self.column_powers))
        self.factors = splu(self.floats.tocsc())
        self.limbs = limbs_of(K)
        self.step_digits = WORD_DIGITS - LIMB - int(np.diff(K.starts).max()).bit_length()
        self.residual, self.digits = list(right), 0
        self.long, self.recent, self.recent_digits = [0] * K.width, [0] * K.width, 0
        self.top = self._top()

    def _top(self) -> int:
        """Give the binary digits of the residual where it is largest, beside the rows."""
        sizes = np.fromiter(map(int.bit_length, self.residual), np.int64, len(self.residual))
        return int((sizes + self.row_powers)[sizes > 0].max(initial=-FAR))

    def step(self) -> bool:
        """Solve for the residual in floats; tell whether that made it smaller."""
        top = self.top
        shifts = np.maximum(0, top - 64 - self.row_powers)
        pairs = zip(self.residual, shifts.tolist(), strict=True)
        right = np.array([value >> shift for value, shift in pairs], np.float64)
        scaled = np.ldexp(right, self.row_powers + shifts - top)
        x = np.ldexp(self.factors.solve(scaled), self.column_powers)
        largest_x = float(np.abs(x).max())
        if not 0 < largest_x < math.inf:
            return False
        # x·2^top solves for the residual; so many binary digits of it are kept as an integer.
        kept = self.step_digits - math.frexp(largest_x)[1]
        before = top - self.digits
        self._add(np.rint(np.ldexp(x, kept)).astype(np.int64), kept - top)
        self.top = self._top()
        return self.top - self.digits <= before - FEWEST

    def _add(self, whole: np.ndarray, power: int) -> None:
        """Add whole·2^-power to the last of the digits known."""
        products = product(self.limbs, whole)
        up, down = max(0, power), max(0, -power)
        pairs = zip(self.residual, products, strict=True)
        self.residual = [(value << up) - (product << down) for value, product in pairs]
        pairs = zip(self.recent, whole.tolist(), strict=True)
        self.recent = [(value << up) + (more << down) for value, more in pairs]
        self.digits += up
        self.recent_digits += up
        if self.recent_digits > RECENT:
            self._join()

    def _join(self) -> None:
        """Put the digits found of late behind those before, too long to be touched often."""
        up = self.recent_digits
        pairs = zip(self.long, self.recent, strict=True)
        self.long = [(value << up) + more for value, more in pairs]
        self.recent, self.recent_digits = [0] * len(self.long), 0

    def sums(self) -> list[int]:
        """Give x·2^digits, rounded."""
        self._join()
        return self.long


def balance(K: Integers) -> tuple[np.ndarray, np.ndarray]:
    """Give powers of two for rows and columns that bring the entries to about 1."""
    rows, columns = np.zeros(K.size, np.int64), np.zeros(K.width, np.int64)
    owners, sizes = K.owners, K.sizes()
    for _ in range(2):
        rows = -_means(owners, sizes + columns[K.columns], K.size)
        columns = -_means(K.columns, sizes + rows[owners], K.width)
    return rows, columns


def _means(owners: np.ndarray, sizes: np.ndarray, count: int) -> np.ndarray:
    entries = np.maximum(np.bincount(owners, minlength=count), 1)
    totals = np.bincount(owners, sizes.astype(np.float64), minlength=count)
    return np.asarray(np.rint(totals / entries), np.int64)


def entry_powers(K: Integers, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Give the power of two for each entry, given those for rows and columns."""
    return np.asarray(np.repeat(rows, np.diff(K.starts)) + columns[K.columns])


def _reconstructed(
    sums: list[int], digits: int, K: Integers, right: Sequence[int], pause: Pause
) -> Rationals | None:
    """Tell the rational numbers whose binary digits were found, if there are enough of them."""
    common, one = 1, 1 << digits
    numbers: list[int] = []
    for value in sums:
        pause()
        scaled = value * common
        nearest = (scaled + (one >> 1)) >> digits
        miss = abs(scaled - (nearest << digits))
        if miss << (digits // 2) > one:
            factor = denominator_of(scaled, one, 1 << (digits // 2))
            common *= factor
            if common.bit_length() > digits // 2:
                return None
            numbers = [number * factor for number in numbers]
            nearest = (scaled * factor + (one >> 1)) >> digits
        numbers.append(nearest)
    if K.times(numbers) != [value * common for value in right]:
        return None
    return Rationals(numbers, common)
