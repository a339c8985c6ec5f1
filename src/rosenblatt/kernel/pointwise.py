"""From products to kernel values, entry by entry and in place, and on to sums of them.

Tiles are sized to stay in cache.
"""

from __future__ import annotations

import numpy as np

from rosenblatt.loops import loop, part


@loop
def raise_to(products: np.ndarray, shift: float, degree: int, spare: np.ndarray) -> None:
    """Turn each s into (s + shift)^degree, by squaring whole rows; `spare` is one row of room.

    `shift` has the type of the products, so that single precision stays single.
    """
    for i in range(products.shape[0]):
        row, power = products[i], degree
        for j in range(row.size):
            row[j] += shift
        while power % 2 == 0:
            square(row)
            power //= 2
        if power == 1:
            continue
        for j in range(row.size):
            spare[j] = row[j]
        while power > 1:
            square(row)
            power //= 2
            if power % 2:
                for j in range(row.size):
                    spare[j] *= row[j]
        for j in range(row.size):
            row[j] = spare[j]


@loop
def square(row: np.ndarray) -> None:
    """Square each entry."""
    for j in range(row.size):
        row[j] *= row[j]


@loop
def distances(products: np.ndarray, left: np.ndarray, right: np.ndarray, gamma: float) -> None:
    """Turn each x·z into -γ‖x - z‖², by the squared norms of both; never above 0."""
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            apart = left[i] + right[j] - 2.0 * products[i, j]
            products[i, j] = -gamma * max(apart, 0.0)


@loop
def weigh(
    values: np.ndarray,
    weights: np.ndarray,
    sizes: np.ndarray,
    spare: np.ndarray,
    scores: np.ndarray,
    spread: np.ndarray,
) -> None:
    """Write Σ_j v_j·w_j for each row v of values and w of weights, and Σ_j |v_j|·size_j.

    All sums are float64. Four rows are copied to `spare` at a time: the weights are read once for
    all of them.
    """
    last = values.shape[0] - 1
    a, b, c, d = spare[0], spare[1], spare[2], spare[3]
    for i in range(0, last + 1, 4):
        at_b, at_c, at_d = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        for j in range(sizes.size):
            a[j], b[j], c[j], d[j] = values[i, j], values[at_b, j], values[at_c, j], values[at_d, j]
        for r in range(weights.shape[0]):
            totals = four_dots(weights[r], a, b, c, d)
            scores[i, r], scores[at_b, r], scores[at_c, r], scores[at_d, r] = totals
        for j in range(sizes.size):
            a[j], b[j], c[j], d[j] = abs(a[j]), abs(b[j]), abs(c[j]), abs(d[j])
        totals = four_dots(sizes, a, b, c, d)
        spread[i], spread[at_b], spread[at_c], spread[at_d] = totals


@part
def four_dots(
    w: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray
) -> tuple[float, float, float, float]:
    """Give the products of w and four rows."""
    with_a, with_b, with_c, with_d = 0.0, 0.0, 0.0, 0.0
    for j in range(w.size):
        with_a += w[j] * a[j]
        with_b += w[j] * b[j]
        with_c += w[j] * c[j]
        with_d += w[j] * d[j]
    return with_a, with_b, with_c, with_d


@loop
def multiply_in_double(left: np.ndarray, right: np.ndarray, products: np.ndarray) -> None:
    """Write the products of a few rows of double and of many of single precision, in double."""
    for j in range(right.shape[0]):
        z = right[j]
        for i in range(left.shape[0]):
            x, total = left[i], 0.0
            for k in range(x.size):
                total += x[k] * np.float64(z[k])
            products[i, j] = total
