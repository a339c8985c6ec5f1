"""From products to kernel values, entry by entry and in place; tiles are sized to stay in cache."""

from __future__ import annotations

import numpy as np

from rosenblatt.loops import loop


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
def multiply_in_double(left: np.ndarray, right: np.ndarray, products: np.ndarray) -> None:
    """Write the products of a few rows of double and of many of single precision, in double."""
    for j in range(right.shape[0]):
        z = right[j]
        for i in range(left.shape[0]):
            x, total = left[i], 0.0
            for k in range(x.size):
                total += x[k] * np.float64(z[k])
            products[i, j] = total
