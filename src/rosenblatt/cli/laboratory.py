"""The command `lab`: list experiments, or run them and write a report."""

from __future__ import annotations

import json as jsonlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.entry import INTERRUPTED
from rosenblatt.cli.options import FILE, flag

if TYPE_CHECKING:
    from rosenblatt.lab.runner import Outcome, Schedule

ALL = "all"


@click.command
@click.argument("names", nargs=-1)
@click.option(
    "--out",
    type=FILE,
    default="rosenblatt-lab",
    show_default=True,
    help="Folder for rows, figures and report.html.",
)
@flag("--quick", help="Small sizes: about a minute in all.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, help="Another seed gives other problems."
)
@options.json
def lab(names: tuple[str, ...], out: Path, quick: bool, seed: int, json: bool) -> int:
    """Run experiments that compare each theorem with measurements.

    NAMES are experiments, all, or your own files (.py); without NAMES, the experiments are listed.
    If a run was stopped, the same command continues it.
    """
    from rosenblatt.lab.catalogue import NAMES
    from rosenblatt.lab.runner import Schedule

    if not names:
        return _list(json)
    wanted = [each for name in names for each in (NAMES if name == ALL else (name,))]
    return _run(Schedule(tuple(dict.fromkeys(wanted)), out, quick, seed), json)


def _list(json: bool) -> int:
    from rosenblatt.cli.printing import print_columns
    from rosenblatt.lab.catalogue import NAMES, find

    found = [find(name) for name in NAMES]
    if json:
        entries = [{"name": e.name, "title": e.title, "question": e.question} for e in found]
        print(jsonlib.dumps(entries, ensure_ascii=False))
        return 0
    print_columns([(experiment.name, experiment.question) for experiment in found])
    print("\nRun some: rosenblatt lab margin orders --out DIR; or all, --quick or in full.")
    return 0


def _run(plan: Schedule, json: bool) -> int:
    from rosenblatt.lab.report import write_report
    from rosenblatt.lab.runner import run

    began = time.perf_counter()
    try:
        with _progress(plan) as watch:
            outcomes = run(plan, watch)
    except KeyboardInterrupt:
        click.echo(
            f"rosenblatt: interrupted; cases that were done are kept in {plan.out}, and the same "
            "command goes on from there",
            err=True,
        )
        return INTERRUPTED
    seconds = time.perf_counter() - began
    return _tell(plan, outcomes, write_report(plan, outcomes, seconds), seconds, json)


@contextmanager
def _progress(plan: Schedule) -> Iterator[Any]:
    """Show how far it is, on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(f"seed {plan.seed}", total=None)

        def watch(now: Any) -> None:
            what = now.now or ("compiling, once, if not done before" if not now.found else "")
            bar.update(task, total=now.total, completed=now.done, description=what or "going on")

        yield watch


def _tell(plan: Schedule, outcomes: list[Outcome], report: Path, seconds: float, json: bool) -> int:
    failed = sum(len(outcome.failed) for outcome in outcomes)
    above = sum(outcome.above for outcome in outcomes)
    if json:
        facts = {
            "report": str(report),
            "seed": plan.seed,
            "quick": plan.quick,
            "seconds": round(seconds, 3),
            "experiments": [
                {"name": o.name, "rows": len(o.rows), "failed": len(o.failed), "above": o.above}
                for o in outcomes
            ],
        }
        print(jsonlib.dumps(facts, ensure_ascii=False))
    else:
        for outcome in outcomes:
            print(f"{outcome.name}: {outcome.seen}\n")
        rows = sum(len(outcome.rows) for outcome in outcomes)
        many = "1 experiment" if len(outcomes) == 1 else f"{len(outcomes)} experiments"
        print(f"{many}, {rows:,} rows, seed {plan.seed}, {seconds:.0f} s")
        if failed:
            print(f"{failed:,} rows are failures; the column `failed` of rows.csv says why")
        print(f"Open {report} in a browser")
    if above:
        many = "1 row lies" if above == 1 else f"{above:,} rows lie"
        click.echo(f"rosenblatt: {many} above a bound, which is a defect", err=True)
    return int(above > 0 or not all(outcome.drawn for outcome in outcomes))
