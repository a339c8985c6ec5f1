"""What an oracle may say, and how long it may take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from rosenblatt.errors import InputError


class OutOfTimeError(Exception):
    """The seconds are over; what was found so far counts."""


@dataclass
class Clock:
    """What is left of the time that a decision may take."""

    seconds: float | None = None
    began: float = field(default_factory=time.perf_counter)

    def stop(self) -> None:
        """Let the time be over, for all that is still to come."""
        self.seconds = 0.0

    def left(self) -> float:
        """Give the seconds left; raise if there are none."""
        if self.seconds is None:
            return np.inf
        left = self.seconds - (time.perf_counter() - self.began)
        if left <= 0:
            raise OutOfTimeError
        return left


class Answer(NamedTuple):
    """What the oracle believes: a point, or else rows and their multipliers."""

    point: np.ndarray | None
    multipliers: dict[int, float]


def checked_steps(steps: int | None) -> int | None:
    """Give the number of steps if it can be a limit, or the largest that loops can count to."""
    whole = isinstance(steps, Integral) and not isinstance(steps, bool)
    if steps is not None and not (whole and steps >= 1):
        raise InputError(f"max_steps must be a whole number from 1 on, got {steps!r}")
    return None if steps is None else min(int(steps), 2**62)


def checked_seconds(seconds: float | None) -> float | None:
    """Give the seconds if they can be a limit."""
    real = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if seconds is not None and not (real and 0 < seconds < np.inf):
        raise InputError(f"max_seconds must be a positive number, got {seconds!r}")
    return seconds
