"""How long a call takes, in processor time: what other programs do meanwhile does not count."""

from __future__ import annotations

import time
from collections.abc import Callable
from timeit import Timer
from typing import Any

ROUNDS = 4


def seconds_of(call: Callable[[], Any], at_least: float) -> float:
    """Time a call, after one that is not timed: the best of some rounds of equally many calls.

    All rounds together take so many seconds; a call that takes longer is timed once.
    """
    call()
    timer, calls = Timer(call, timer=time.process_time), 1
    while (spent := timer.timeit(calls)) < at_least / ROUNDS:
        calls *= 2
    further = 0 if spent > at_least else ROUNDS - 1
    return min([spent, *timer.repeat(further, calls)]) / calls
