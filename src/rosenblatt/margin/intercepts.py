"""The free intercept: the best one for given weights, and duals that leave it alone.

Problem     b of min Σ c·max(0, 1 - s(q + b)), q = w·x; and duals with Σ α·s = 0
Method      each term changes its slope by c at b = s - q. From the left, the slope rises from -Σ c
            over the positive rows to +Σ c over the negative ones, so the minimum lies where the
            sorted breakpoints have gathered as much weight as the positive rows have.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rosenblatt.margin.sums import parts

FEW = 2**14  # numbers that are put in order as they are
SAMPLE, SLACK = 2**12, 2**7  # of numbers, and of places among them: four standard deviations

Factors = tuple[float, float]  # of the negative and of the positive class


def best_intercept(scores: np.ndarray, signs: np.ndarray, caps: np.ndarray) -> float:
    """Give the b that minimises Σ c·max(0, 1 - s(q + b)).

    Examples
    --------
    >>> best_intercept(np.array([3.0, 1.0]), np.array([1, -1]), np.ones(2))
    -2.0
    """
    if (caps == caps[0]).all():
        return _middle_break(scores, signs)
    breaks = signs - scores
    order = np.argsort(breaks)
    gathered = caps[order]
    np.cumsum(gathered, out=gathered)
    wanted = np.sum(caps, where=signs > 0)
    place = int(np.searchsorted(gathered, wanted * (1 - 1e-15)))
    first = breaks[order[min(place, breaks.size - 1)]]
    # Where the slope is zero, every b up to the next breakpoint is as good; the middle is fairest.
    flat = place + 1 < breaks.size and gathered[place] <= wanted
    return float((first + breaks[order[place + 1]]) / 2 if flat else first)


def _middle_break(scores: np.ndarray, signs: np.ndarray) -> float:
    """Give the best intercept where all rows weigh the same.

    It lies in the middle between two breakpoints: as many lie below as rows are positive.
    """
    n, place = scores.size, int(np.count_nonzero(signs > 0))
    first, last = max(place - 1, 0), min(place, n - 1)
    low, high = ranked(lambda part: signs[part] - scores[part], n, first, last)
    return (low + high) / 2


def ranked(
    values: Callable[[slice], np.ndarray], n: int, first: int, last: int
) -> tuple[float, float]:
    """Give the numbers at two places close together of n in order, without a vector of them all.

    A sample tells between which numbers they lie, and only such are gathered (Floyd & Rivest 1975).

    Examples
    --------
    >>> ranked(np.array([7.0, 1.0, 5.0, 3.0]).__getitem__, 4, 1, 2)
    (3.0, 5.0)
    """
    found, below = np.zeros(0), 0
    if n > FEW:
        some = np.sort(values(slice(0, n, n // SAMPLE)))
        at = first * some.size // n - SLACK, last * some.size // n + SLACK
        low = some[at[0]] if at[0] >= 0 else -np.inf
        high = some[at[1]] if at[1] < some.size else np.inf
        found, below = _between(values, n, low, high)
    if not below <= first <= last < below + found.size:
        found, below = np.array(values(slice(0, n))), 0
    found.partition([first - below, last - below])
    return float(found[first - below]), float(found[last - below])


def _between(
    values: Callable[[slice], np.ndarray], n: int, low: float, high: float
) -> tuple[np.ndarray, int]:
    """Give the numbers from one to another, and how many are less."""
    inside, below = [], 0
    for part in parts(0, n):
        some = values(part)
        below += int(np.count_nonzero(some < low))
        inside.append(some[(some >= low) & (some <= high)])
    return np.concatenate(inside), below


def middle_intercept(scores: np.ndarray, signs: np.ndarray) -> float:
    """Give the b that leaves both classes the same distance."""
    positive = signs > 0
    return -float(scores[positive].min() / 2 + scores[~positive].max() / 2)


def balanced(duals: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Scale down the duals of the class that has more, so that both classes have the same sum."""
    return scaled(duals, signs, balancing(duals, signs))


def balancing(duals: np.ndarray, signs: np.ndarray) -> Factors:
    """Give the factors of the duals of both classes, the negative one first, that balance them."""
    sums = np.zeros(2)
    for part in parts(0, duals.size):
        upper = signs[part] > 0
        sums += np.sum(duals[part], where=~upper), np.sum(duals[part], where=upper)
    least = float(sums.min())
    negative, positive = (least / total if total > 0 else 0.0 for total in sums.tolist())
    return negative, positive


def scaled(duals: np.ndarray, signs: np.ndarray, factors: Factors) -> np.ndarray:
    """Give duals times the factor of their class."""
    found = np.empty(duals.size)
    for part in parts(0, duals.size):
        np.multiply(duals[part], np.where(signs[part] > 0, *factors[::-1]), out=found[part])
    return found
