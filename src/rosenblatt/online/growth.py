"""Whether a run still makes progress, judged by how its weights grow.

An update by η·c·y·x changes ‖w‖² by ‖η·c·x‖², which it *brings*, and by 2η·c·y·(w·x), which is
*lost*, since y·(w·x) <= 0 on a mistake. If something separates the data, w·w* grows by at least
η·c·γ each time (theory F6), so that w must grow, too: a good part of what updates bring is kept. If
nothing does, w stays bounded (Block & Levin 1970): in the long run, all of it is lost again.

Stalled     if over the last `patience` passes less than KEPT of what their updates brought was
            kept, and their mistakes were more than FEWER of those in as many passes before; a run
            has ENOUGH looks to show progress, unless NOTHING at all was kept;
            or if mistakes have become RARE, and the last LONGER · patience passes had no pass with
            fewer than some pass before them: little can change, and it has not for long.

Measured    Over any five passes, runs that converged kept at least 0.2 of what was brought
            (planted problems of 2 to 100 columns, margins from 1e-2 to 1e-4; digits, mushrooms),
            but for one in the plane that kept 0.08. On a9a, a1a, phishing, splice, covtype, german,
            fourclass and heart it was below 0.05 at passes 10 and 20, on spambase 0.03 to 0.06, on
            MNIST 0.08. Few points with a thin margin can keep as little for a while (theory F10:
            0.05 for K = 30), and passes over them cost next to nothing, hence ENOUGH. FEWER lets
            spambase go on, whose columns differ wildly in scale; RARE ends rcv1, which is separable
            by a margin of some 1e-12, after some 100 passes over 18,000 rows, the last ones with 4
            to 20 mistakes each; of 55 planted problems that converge, it ended two early, with
            averages that make no error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

KEPT = 0.1
FEWER = 0.995
ENOUGH = 2**15
NOTHING = 1e-9
RARE = 1e-3
LONGER = 4


class Length(NamedTuple):
    """What holds after a pass: ‖w‖², and what mistakes took from it so far."""

    square: float
    lost: float


def stalled(
    mistakes: Sequence[int], lengths: Sequence[Length], examples: int, patience: int
) -> bool:
    """Tell whether the last passes made no progress, by the mistakes and lengths of each pass."""
    if len(mistakes) < 2 * patience:
        return False
    now, then = lengths[-1], lengths[-1 - patience]
    kept = now.square - then.square
    brought = kept + now.lost - then.lost
    made, before = sum(mistakes[-patience:]), sum(mistakes[-2 * patience : -patience])
    # A start that was far off shrinks at first, so only |kept| tells that nothing happens.
    jumping = abs(kept) < KEPT * brought and made > FEWER * before
    told = len(mistakes) * examples >= ENOUGH or abs(kept) <= NOTHING * brought
    late = mistakes[-LONGER * patience :]
    rare = made < RARE * patience * examples and min(late) >= min(mistakes[: -len(late)], default=0)
    return (jumping and told) or (rare and len(late) < len(mistakes))


def length_of(w: np.ndarray, lost: float) -> Length:
    """Give the length of weights, infinity where it is too large for float64."""
    with np.errstate(over="ignore"):
        return Length(float(np.vdot(w, w)), float(lost))
