"""Whether a run still makes progress, judged by how its weights grow.

An update by η·c·y·x changes ‖w‖² by ‖η·c·x‖², which it *brings*, and by 2η·c·y·(w·x), which is
*lost*, since y·(w·x) <= 0 on a mistake. If something separates the data, w·w* grows by at least
η·c·γ each time (theory F6), so that w must grow, too: a good part of what updates bring is kept. If
nothing does, w stays bounded (Block & Levin 1970): in the long run, all of it is lost again.

Stalled     if over the last `patience` passes less than KEPT of what their updates brought was
            kept, and their mistakes were more than FEWER of those in as many passes before; a run
            has ENOUGH looks to show progress, unless NOTHING at all was kept;
            or if there are as many columns as examples, and their mistakes were more than HALF of
            those before, in a run as LONG as to cost time: almost any labels can be separated by so
            many columns, so that doing it tells little about new examples;
            or if mistakes have become RARE, and the last LONGER · patience passes had no pass with
            fewer than some pass before them: little can change, and it has not for long.

Measured    Over any five passes, runs that converged kept at least 0.2 of what was brought
            (planted problems of 2 to 100 columns, margins from 1e-2 to 1e-4; digits, mushrooms),
            but for one in the plane that kept 0.08. On a9a, a1a, phishing, splice, covtype, german,
            fourclass and heart it was below 0.05 at passes 10 and 20, on spambase 0.03 to 0.06, on
            MNIST 0.08. Few points with a thin margin can keep as little for a while (theory F10:
            0.05 for K = 30), and passes over them cost next to nothing, hence ENOUGH. FEWER lets
            spambase go on, whose columns differ wildly in scale. HALF ends rcv1 (17,812 × 47,236,
            separable by a margin of some 1e-12) after 15 or 16 passes with the accuracy on new rows
            that its averages have from the third pass on; after 110 passes it is lower. Messages
            (4,181 × 2^18), random rows with random labels (1,500 × 3,000) and rcv1's rows with
            planted labels still converge, after 14 to 46 passes: where mistakes are RARE, the end
            may be near.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

KEPT = 0.1
FEWER = 0.995
ENOUGH = 2**15
LONG = 2**18
HALF = 0.5
NOTHING = 1e-9
RARE = 1e-3
LONGER = 4


class Length(NamedTuple):
    """What holds after a pass: ‖w‖², and what mistakes took from it so far."""

    square: float
    lost: float


def stalled(
    mistakes: Sequence[int], lengths: Sequence[Length], shape: tuple[int, int], patience: int
) -> bool:
    """Tell whether the last passes made no progress, by the mistakes and lengths of each pass.

    `shape` has the numbers of examples and of columns.
    """
    if len(mistakes) < 2 * patience:
        return False
    examples, columns = shape
    now, then = lengths[-1], lengths[-1 - patience]
    kept = now.square - then.square
    brought = kept + now.lost - then.lost
    made, before = sum(mistakes[-patience:]), sum(mistakes[-2 * patience : -patience])
    # A start that was far off shrinks at first, so only |kept| tells that nothing happens.
    jumping = abs(kept) < KEPT * brought and made > FEWER * before
    told = len(mistakes) * examples >= ENOUGH or abs(kept) <= NOTHING * brought
    if made >= RARE * patience * examples:
        long = columns >= examples and len(mistakes) * examples >= LONG
        return (told and jumping) or (long and made > HALF * before)
    late = mistakes[-LONGER * patience :]
    no_fewer = len(late) < len(mistakes) and min(late) >= min(mistakes[: -len(late)])
    return (told and jumping) or no_fewer


def keeps_growing(lengths: Sequence[Length], patience: int) -> bool:
    """Tell whether w kept a good part of what the last passes brought: something may separate.

    If nothing does, this ends (Block & Levin 1970).
    """
    now, then = lengths[-1], lengths[-1 - patience]
    kept = now.square - then.square
    return kept >= KEPT * (kept + now.lost - then.lost)


def length_of(w: np.ndarray, lost: float) -> Length:
    """Give the length of weights, infinity where it is too large for float64."""
    with np.errstate(over="ignore"):
        # Not by a product of BLAS, whose threads may take milliseconds to wake on a busy machine.
        return Length(float(np.square(w).sum()), float(lost))
