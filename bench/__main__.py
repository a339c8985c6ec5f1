"""`python -m bench`: race, print, write, and end with status 1 if a bar was missed."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import machine
from bench.harness import Outcome, compete
from bench.race import Course, MissingError, Verdict, courses
from bench.report import show, show_machine, write


def main(arguments: list[str] | None = None) -> int:
    """Run the races asked for; give the exit status."""
    asked = parser().parse_args(arguments)
    try:
        chosen = courses(asked.names)
    except LookupError as unknown:
        parser().error(str(unknown))
    console = Console()
    if asked.list:
        for course in chosen:
            console.print(f"{course.topic}: [bold]{course.name}[/]: {course.title}")
        return 0
    record = {
        "scale": asked.scale,
        "repeats": asked.repeats,
        "machine": machine.describe(),
        "limits": machine.limits(asked.scale, asked.repeats),
    }
    show_machine(record, console)
    outcomes = race_all(chosen, asked, record, console)
    console.rule()
    console.print(summary(outcomes), highlight=False)
    console.print(f"Written: {asked.out}/results.json, results.md, summary.md.", highlight=False)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def summary(outcomes: list[Outcome]) -> str:
    """Tell in a line how the bars stand."""
    found = [finding.verdict for outcome in outcomes for finding in outcome.findings]
    missed = [outcome.course.name for outcome in outcomes if not outcome.passed]
    line = f"{found.count(Verdict.MET)} bars met, {found.count(Verdict.NOT_MET)} not met"
    line += f", {found.count(Verdict.NOT_RUN)} figures not run"
    return f"{line}. See {', '.join(missed)}." if missed else f"{line}."


def parser() -> argparse.ArgumentParser:
    """Give the reader of the command line."""
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("names", nargs="*", help="races or topics; all if none is named")
    options.add_argument("--list", action="store_true", help="tell which races there are")
    options.add_argument("--repeats", type=_positive, default=5, help="rounds (default 5)")
    options.add_argument("--scale", type=_scale, default=1.0, help="factor of the rows (default 1)")
    options.add_argument("--out", type=Path, default=Path("bench/results"), help="where to write")
    return options


def _positive(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least one round is needed")
    return count


def _scale(text: str) -> float:
    factor = float(text)
    if not 0 < factor < float("inf"):
        raise argparse.ArgumentTypeError("the scale is a number above 0")
    return factor


def race_all(
    chosen: list[Course], asked: argparse.Namespace, record: dict[str, Any], console: Console
) -> list[Outcome]:
    """Run one race after the other; what is known is written after each."""
    outcomes: list[Outcome] = []
    for course in chosen:
        with console.status(f"{course.title} …"):
            outcomes.append(_race(course, asked))
        show(outcomes[-1], console)
        write(asked.out, record, outcomes)
    return outcomes


def _race(course: Course, asked: argparse.Namespace) -> Outcome:
    try:
        return compete(course, asked.scale, asked.repeats)
    except MissingError as reason:
        return Outcome(course, "", {}, [], [f"The race was not run: {reason}."])
    except Exception as error:  # one broken race must not cost the results of the others
        traceback.print_exc()
        note = f"The race broke off: {type(error).__name__}: {error}"
        return Outcome(course, "", {}, [], [note], failed=True)


if __name__ == "__main__":
    sys.exit(main())
