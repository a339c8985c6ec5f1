"""Loops that multiply the entries of a row out into its monomials.

Order       by degree, and within a degree as in a dictionary: of columns 0, 1, 2 and degree 2,
            00 01 02 11 12 22
Recursion   the monomials of degree j that begin with column v are x_v times those of degree j - 1
            in the columns from v on, and these are the last ones of their degree. So each degree
            is written from the one below it in runs, which the vector unit takes.
Sparse      a row's k non-zeros are multiplied out as if there were k columns, in order, which
            leaves out the zeros and nothing else. The recursion gives the column of a product,
            too: that of the shorter product, and a shift which depends on j and v only.
Factors     they depend on which columns are equal, not on their numbers: those of a row with k
            non-zeros are the last ones, in each degree, of those of a longer row.
Symbols     sizes[j, m] the number of monomials of degree j in m columns, C(m + j - 1, j)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.loops import exact_loop, exact_part
from rosenblatt.rows import Sparse


class Monomials(NamedTuple):
    """What the loops know of a map.

    Attributes
    ----------
    sizes : the monomials of each degree in 0, 1, … columns, up to the longest row.
    factors : the square roots of the coefficients of the monomials of the longest row, of all
        degrees from 0 on.
    lowest : the smallest degree that is wanted: 0, or the highest.
    """

    sizes: np.ndarray
    factors: np.ndarray
    lowest: int


@exact_loop
def multinomials(sizes: np.ndarray, leading: np.ndarray, out: np.ndarray) -> None:
    """Write j!/(m_1! m_2! …) for the monomials of each degree j, m_1, m_2, … their exponents.

    `leading` is room for the exponents of their first columns.
    """
    degree, columns = sizes.shape[0] - 1, sizes.shape[1] - 1
    out[0], leading[0] = 1.0, 0.0
    stop = 1
    for j in range(1, degree + 1):
        fresh = stop
        for v in range(columns):
            count = sizes[j - 1, columns - v]
            again = sizes[j - 2, columns - v] if j > 1 else 0  # those that begin with v already
            for k in range(count):
                exponent = leading[stop - count + k] + 1.0 if k < again else 1.0
                leading[fresh + k] = exponent
                out[fresh + k] = out[stop - count + k] * j / exponent
            fresh += count
        stop = fresh


@exact_part
def multiply_out(x: np.ndarray, expansion: Monomials, below: np.ndarray, out: np.ndarray) -> None:
    """Write the features of a row with the entries x; `below` is room for the lower degrees."""
    sizes, factors, lowest = expansion
    degree, longest = sizes.shape[0] - 1, sizes.shape[1] - 1
    below[0] = 1.0
    stop, end, place = 1, 1, 0
    if lowest == 0:
        out[0], place = factors[0], 1
    for j in range(1, degree):
        fresh = stop
        for v in range(x.size):
            count = sizes[j - 1, x.size - v]
            old, new = below[stop - count : stop], below[fresh : fresh + count]
            for k in range(count):
                new[k] = x[v] * old[k]
            fresh += count
        stop, count, end = fresh, sizes[j, x.size], end + sizes[j, longest]
        if lowest == 0:
            products, new = below[stop - count : stop], out[place : place + count]
            factor = factors[end - count : end]
            for k in range(count):
                new[k] = products[k] * factor[k]
            place += count
    start = end + sizes[degree, longest] - sizes[degree, x.size]
    for v in range(x.size):
        count = sizes[degree - 1, x.size - v]
        old, new = below[stop - count : stop], out[place : place + count]
        factor = factors[start : start + count]
        for k in range(count):
            new[k] = x[v] * old[k] * factor[k]
        place += count
        start += count


@exact_part
def number(
    columns: np.ndarray, sizes: np.ndarray, shifts: np.ndarray, lowest: int, room: np.ndarray
) -> int:
    """Write the columns of a row's monomials, of all degrees; tell how many there are."""
    room[0] = 0
    stop = 1
    for j in range(1, sizes.shape[0]):
        fresh = stop
        for v in range(columns.size):
            count = sizes[j - 1, columns.size - v]
            column = np.int64(columns[v])
            shift = shifts[j - 2, column] if j > 1 else column + (lowest == 0)
            old, new = room[stop - count : stop], room[fresh : fresh + count]
            for k in range(count):
                new[k] = old[k] + shift
            fresh += count
        stop = fresh
    return stop


@exact_loop
def expand_dense(X: np.ndarray, expansion: Monomials, below: np.ndarray, out: np.ndarray) -> None:
    """Write the features of each row of X into that row of `out`."""
    for i in range(X.shape[0]):
        multiply_out(X[i], expansion, below, out[i])


class FeatureRows(NamedTuple):
    """Where the features of sparse rows go, as a compressed sparse row matrix."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


@exact_loop
def expand_sparse(
    rows: Sparse,
    expansion: Monomials,
    shifts: np.ndarray,
    below: np.ndarray,
    numbers: np.ndarray,
    out: FeatureRows,
) -> None:
    """Write the features of each row, whose columns must ascend, as entries of `out`."""
    for i in range(out.starts.size - 1):
        row = slice(np.int64(rows.starts[i]), np.int64(rows.starts[i + 1]))
        start, stop = out.starts[i], out.starts[i + 1]
        multiply_out(rows.values[row], expansion, below, out.values[start:stop])
        sizes, lowest = expansion.sizes, expansion.lowest
        found = number(rows.columns[row], sizes, shifts, lowest, numbers)
        first = found - (stop - start)
        for k in range(stop - start):
            out.columns[start + k] = numbers[first + k]
