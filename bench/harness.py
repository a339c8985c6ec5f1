"""How a race is run and judged.

Each contestant first runs once to warm up, which is reported but not counted. Then all of them run
in turn (A B A B ...), so that whatever else the machine does hits all alike. Garbage is collected
after long runs only: a search through all objects leaves caches cold, which would double the time
of a millisecond's work. A figure, such as the
ratio of two contestants, is that of their medians; its spread is that of the single rounds.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.race import Contestant, Course, Entry, Figure, MissingError, Race, Verdict

Clock = Callable[[], float]
OURS = "rosenblatt"
LONG = 0.05  # seconds


@dataclass(frozen=True)
class Samples:
    """The results of one contestant: of the warm-up, if there was one, and of each round."""

    first: float | None
    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.rounds)


@dataclass(frozen=True)
class Finding:
    """What became of a figure: its value at the medians, its spread over the rounds."""

    figure: Figure
    verdict: Verdict
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What a race gave."""

    course: Course
    unit: str
    samples: Mapping[str, Samples]
    findings: Sequence[Finding]
    notes: Sequence[str] = ()
    failed: bool = False

    @property
    def passed(self) -> bool:
        """Whether the race was run and no bar was missed."""
        missed = any(finding.verdict is Verdict.NOT_MET for finding in self.findings)
        return not (self.failed or missed)


def compete(
    course: Course, scale: float, repeats: int, clock: Clock = time.perf_counter
) -> Outcome:
    """Set up a race, run it and judge its figures."""
    race = course.set_up(scale)
    contestants, absent = admit(race.entries)
    samples = measure(race, contestants, race.repeats or repeats, clock)
    findings = [judge(figure, samples) for figure in race.figures]
    notes = [race.note(), *absent] if race.note else absent
    return Outcome(course, race.unit, samples, findings, notes)


def admit(entries: Mapping[str, Entry]) -> tuple[dict[str, Contestant], list[str]]:
    """Prepare the contestants; say in one sentence each which of them are missing, and why."""
    ready, absent = {}, []
    for name, entry in entries.items():
        try:
            ready[name] = entry()
        except (ImportError, FileNotFoundError, MissingError) as reason:
            if name.startswith(OURS):
                raise
            absent.append(f"{name} did not take part: {reason}.")
    return ready, absent


def measure(
    race: Race, contestants: Mapping[str, Contestant], repeats: int, clock: Clock
) -> dict[str, Samples]:
    """Warm every contestant up, then let them run in turn."""

    def result(contestant: Contestant) -> float:
        return race.factor * run_once(contestant, race.timed, clock)

    # What is counted instead of timed needs no warming up.
    first = {name: result(c) if race.timed else None for name, c in contestants.items()}
    rounds = [{name: result(c) for name, c in contestants.items()} for _ in range(repeats)]
    return {name: Samples(first[name], tuple(r[name] for r in rounds)) for name in contestants}


def run_once(contestant: Contestant, timed: bool, clock: Clock) -> float:
    """Run a contestant with the garbage collector off, as timeit does."""
    state = contestant.fresh()
    gc.disable()
    try:
        began = clock()
        given = contestant.run(state)
        seconds = clock() - began
    finally:
        gc.enable()
    if seconds > LONG:
        gc.collect()
    return seconds if timed else float(given)


def judge(figure: Figure, samples: Mapping[str, Samples]) -> Finding:
    """Compute a figure from the medians, and its spread from the single rounds."""
    if any(name not in samples for name in figure.of):
        return Finding(figure, Verdict.NOT_RUN)
    results = [samples[name] for name in figure.of]
    value = figure.formula(*(result.median for result in results))
    rounds = zip(*(result.rounds for result in results), strict=True)
    spread = [figure.formula(*numbers) for numbers in rounds]
    return Finding(figure, figure.verdict(value), value, min(spread), max(spread))
