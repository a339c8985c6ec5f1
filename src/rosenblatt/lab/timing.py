"""How long a call takes, in processor time: what other programs do meanwhile does not count."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

ROUNDS = 4


def seconds_of(call: Callable[[], Any], at_least: float) -> float:
    """Time a call, after one that is not timed: the best of some rounds of equally many calls.

    Parameters
    ----------
    call : what to time.
    at_least : seconds that all rounds are to take; a call that takes longer is timed once.
    """
    call()
    calls = 1
    while (spent := _time_of(call, calls)) < at_least / ROUNDS:
        calls *= 2
    further = 0 if spent > at_least else ROUNDS - 1
    return min([spent, *(_time_of(call, calls) for _ in range(further))]) / calls


def _time_of(call: Callable[[], Any], calls: int) -> float:
    begin = time.process_time()
    for _ in range(calls):
        call()
    return time.process_time() - begin
