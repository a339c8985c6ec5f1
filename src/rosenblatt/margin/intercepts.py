"""The free intercept: the best one for given weights, and duals that leave it alone.

Problem     b of min Σ c·max(0, 1 - s(q + b)), q = w·x; and duals with Σ α·s = 0
Method      each term changes its slope by c at b = s - q. From the left, the slope rises from -Σ c
            over the positive rows to +Σ c over the negative ones, so the minimum lies where the
            sorted breakpoints have gathered as much weight as the positive rows have.
"""

from __future__ import annotations

import numpy as np


def best_intercept(scores: np.ndarray, signs: np.ndarray, caps: np.ndarray) -> float:
    """Give the b that minimises Σ c·max(0, 1 - s(q + b)).

    Examples
    --------
    >>> best_intercept(np.array([3.0, 1.0]), np.array([1, -1]), np.ones(2))
    -2.0
    """
    breaks = signs - scores
    if (caps == caps[0]).all():
        return _middle_break(breaks, int(np.count_nonzero(signs > 0)))
    order = np.argsort(breaks)
    gathered = caps[order]
    np.cumsum(gathered, out=gathered)
    wanted = np.sum(caps, where=signs > 0)
    place = int(np.searchsorted(gathered, wanted * (1 - 1e-15)))
    first = breaks[order[min(place, breaks.size - 1)]]
    # Where the slope is zero, every b up to the next breakpoint is as good; the middle is fairest.
    flat = place + 1 < breaks.size and gathered[place] <= wanted
    return float((first + breaks[order[place + 1]]) / 2 if flat else first)


def _middle_break(breaks: np.ndarray, place: int) -> float:
    """Give the middle between the breakpoint at a place, counted from 1, and the next.

    It is the best one where all rows weigh the same, and found without sorting all of them.
    """
    last = min(place, breaks.size - 1)
    breaks.partition([max(place - 1, 0), last])
    return float((breaks[max(place - 1, 0)] + breaks[last]) / 2)


def middle_intercept(scores: np.ndarray, signs: np.ndarray) -> float:
    """Give the b that leaves both classes the same distance."""
    positive = signs > 0
    return -float(scores[positive].min() / 2 + scores[~positive].max() / 2)


def balanced(duals: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Scale down the duals of the class that has more, so that both classes have the same sum."""
    positive = signs > 0
    sums = np.sum(duals, where=~positive), np.sum(duals, where=positive)
    least = min(sums)
    factors = [least / total if total > 0 else 0.0 for total in sums]
    found = np.where(positive, factors[1], factors[0])
    found *= duals
    return found
