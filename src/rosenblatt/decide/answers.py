"""The verdicts about two classes; how long an answer may take, and why there may be none."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.options import positive
from rosenblatt.pauses import OutOfTimeError

Answer = TypeVar("Answer")

SEPARABLE, WEAKLY, INSEPARABLE = "separable", "weakly separable", "inseparable"
UNDECIDED = "undecided"

# Why a question is left undecided, and what to say of it.
OUT_OF_TIME, INTERRUPTED = "out of time", "interrupted"
UNPROVEN = "the proof did not pass the check"
REASONS = {
    OUT_OF_TIME: "the time limit was reached; allow more seconds",
    INTERRUPTED: "it was interrupted; ask again and let it run",
    UNPROVEN: "the proof that was found did not pass the check; scale the columns",
}


class Explained:
    """An answer that is printed as what it means."""

    def explain(self) -> str:
        """Say what the answer means."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.explain()


@dataclass
class Clock:
    """What is left of the time that a call may take; all its parts look at the same one."""

    seconds: float | None = None
    began: float = field(default_factory=time.perf_counter)
    interrupted: bool = False

    @classmethod
    def of(cls, max_seconds: float | None) -> Clock:
        """Begin with a limit that is checked."""
        return cls(None if max_seconds is None else positive("max_seconds", max_seconds))

    def stopped_by(self, ended: BaseException) -> str:
        """Give why the search ended; Ctrl-C is for all that is still to come."""
        self.interrupted |= isinstance(ended, KeyboardInterrupt)
        return self.why

    @property
    def why(self) -> str:
        """Why there is no time left."""
        return INTERRUPTED if self.interrupted else OUT_OF_TIME

    @property
    def elapsed(self) -> float:
        """The seconds taken so far."""
        return time.perf_counter() - self.began

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.interrupted or (self.seconds is not None and self.elapsed >= self.seconds)

    def left(self) -> float:
        """Give the seconds left; raise if there are none."""
        if self.interrupted:
            raise KeyboardInterrupt
        if self.is_over:
            raise OutOfTimeError
        return np.inf if self.seconds is None else max(self.seconds - self.elapsed, 1e-6)


def checked_steps(steps: int | None) -> int | None:
    """Give the number of steps if it can be a limit, or the largest that loops can count to."""
    whole = isinstance(steps, Integral) and not isinstance(steps, bool)
    if steps is not None and not (whole and steps >= 1):
        raise InputError(f"max_steps must be a whole number from 1 on, got {steps!r}")
    return None if steps is None else min(int(steps), 2**62)


def less_reading(options: dict[str, Any], began: float) -> dict[str, Any]:
    """Give options whose time limit is less by the time since something was begun to be read."""
    seconds = options.get("max_seconds")
    if seconds is None or not seconds > 0:
        return options
    return {**options, "max_seconds": max(seconds - (time.perf_counter() - began), 1e-6)}


def within(clock: Clock, search: Callable[[], Answer]) -> Answer:
    """Give what a search finds that has no answer for the time before its end."""
    try:
        return search()
    except OutOfTimeError:
        raise TimeoutError(f"{clock.seconds:g} seconds were not enough; allow more") from None
