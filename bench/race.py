"""What a race is, for those who write one.

A race is a decorated function. It gets the scale, makes its data and gives back a `Race`: entries
by name, and figures made of their results. An entry is called once, before the race: there it
imports its peer and prepares its input. A peer or a file that is missing leaves the race with one
sentence; only names that begin with ``rosenblatt`` must be able to run.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import bench


class MissingError(Exception):
    """What a contestant needs is not on this machine; the message says what."""


class Verdict(Enum):
    """How a figure stands to its bar."""

    MET = "met"
    NOT_MET = "not met"
    REPORTED = "reported"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Contestant:
    """Something to measure: `run(fresh())`, of which only `run` is timed."""

    run: Callable[[Any], Any]
    fresh: Callable[[], Any] = lambda: None


Entry = Callable[[], Contestant]


@dataclass(frozen=True)
class Figure:
    """A number made of the results of some contestants, and the bar it must meet, if any."""

    what: str
    of: tuple[str, ...]
    formula: Callable[..., float]
    at_least: float | None = None
    at_most: float | None = None

    def verdict(self, value: float) -> Verdict:
        """Judge a value of the figure."""
        if self.at_least is None and self.at_most is None:
            return Verdict.REPORTED
        low_enough = self.at_most is None or value <= self.at_most
        high_enough = self.at_least is None or value >= self.at_least
        return Verdict.MET if low_enough and high_enough else Verdict.NOT_MET


def ratio(top: str, bottom: str, **bar: float) -> Figure:
    """Compare two contestants: how many times the one is the other."""
    return Figure(f"{top} / {bottom}", (top, bottom), lambda a, b: a / b, **bar)


def difference(more: str, less: str, **bar: float) -> Figure:
    """Take one contestant's result off another's."""
    return Figure(f"{more} − {less}", (more, less), lambda a, b: a - b, **bar)


def itself(name: str, **bar: float) -> Figure:
    """Hold the result of one contestant against a bar."""
    return Figure(name, (name,), lambda a: a, **bar)


@dataclass(frozen=True)
class Race:
    """What is to be raced.

    Attributes
    ----------
    entries : for each name a function that prepares a contestant, or raises ImportError,
        FileNotFoundError or `MissingError`.
    figures : what to make of the results.
    unit, factor : the unit of a result, and what seconds (or the numbers given) are multiplied by.
    timed : whether seconds are the result, or the number that a contestant's `run` gives back.
    repeats : how many rounds, if not as many as asked for: 1 for what is the same each time.
    note : a sentence about the data, made after the race so that it warms nobody up.
    """

    entries: Mapping[str, Entry]
    figures: Sequence[Figure]
    unit: str = "s"
    factor: float = 1.0
    timed: bool = True
    repeats: int | None = None
    note: Callable[[], str] | None = None


@dataclass(frozen=True)
class Course:
    """A registered race: the function that sets it up, and where it was found."""

    name: str
    topic: str
    title: str
    set_up: Callable[[float], Race]


_COURSES: dict[str, Course] = {}


def race(function: Callable[[float], Race]) -> Callable[[float], Race]:
    """Register a race under the name of its function; its docstring is the title."""
    topic = function.__module__.rpartition(".")[2]
    title = (function.__doc__ or function.__name__).strip().splitlines()[0].rstrip(".")
    _COURSES[function.__name__] = Course(function.__name__, topic, title, function)
    return function


def courses(names: Sequence[str] = ()) -> list[Course]:
    """Give the races of all modules beside this one, or those of the given names or topics."""
    for module in pkgutil.iter_modules(bench.__path__):
        if module.name != "__main__":
            importlib.import_module(f"bench.{module.name}")
    known = {word for course in _COURSES.values() for word in (course.name, course.topic)}
    for name in names:
        if name not in known:
            raise LookupError(f"there is no race {name!r}; there are {', '.join(sorted(known))}")
    return [
        course
        for course in _COURSES.values()
        if not names or course.name in names or course.topic in names
    ]
