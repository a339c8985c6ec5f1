"""How far a score must be from a tie to be answered: calibrated on the stream itself.

Protocol    each example of a stream is predicted before it is learned. If the answer was not a tie,
            its lead (of two classes |w·x|, of more the best score less the second best) falls into
            one of BINS, which counts answers and wrong answers                           (D25)
Threshold   the least t, among the lower ends of bins, such that of the answers so far whose lead
            was at least t no more than the wanted share were wrong; the learner says *I don't know*
            where its lead is below t
Bins        eight to each doubling, by the bits of the number: no rounding, the same anywhere
Cost        a few operations for each example, BINS for each threshold; two counts for each bin
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.loops import exact_loop, exact_part

ANSWERS, WRONG = range(2)  # columns of a band
EACH = 8  # bins for a doubling
LEAST = -40  # leads below 2^LEAST share the first bin
BINS = 80 * EACH
NO_BAND = np.zeros((0, 2), np.int64)  # which counts nothing


def empty_band() -> np.ndarray:
    """Give counts of nothing yet."""
    return np.zeros((BINS, 2), np.int64)


@exact_part
def note(band: np.ndarray, lead: float, is_wrong: bool) -> None:
    """Count an answer by its lead; a tie is none."""
    if lead > 0.0:
        fraction, exponent = math.frexp(lead)  # 1/2 <= fraction < 1
        place = (exponent - LEAST) * EACH + int(2 * EACH * fraction) - EACH
        place = min(max(place, 0), BINS - 1)
        band[place, ANSWERS] += 1
        band[place, WRONG] += is_wrong


@exact_loop
def threshold(band: np.ndarray, share: float) -> float:
    """Give the least lead from which on no more than such a share of the answers was wrong."""
    answers, wrong, lowest = 0, 0, BINS
    for place in range(BINS - 1, -1, -1):
        answers += band[place, ANSWERS]
        wrong += band[place, WRONG]
        if wrong <= share * answers:
            lowest = place
    if lowest == 0:
        return 0.0
    exponent, part = lowest // EACH + LEAST, lowest % EACH
    return math.ldexp((EACH + part) / (2 * EACH), exponent)
