"""What is told of a run: Rich tables for the eye, results.json for machines, results.md to keep.

`summary` makes a shorter page of the same results.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.harness import Finding, Outcome, Samples
from bench.race import Verdict

SCHEMA = 2
COLOURS = {Verdict.MET.value: "green", Verdict.NOT_MET.value: "bold red"}
CONTESTANT_HEADS = ("contestant", "median", "min .. max", "first call")
FIGURE_HEADS = ("figure", "value", "min .. max", "bar", "")
LEFT = (0, 4)  # columns of words

Rows = list[tuple[str, ...]]
Record = dict[str, Any]  # a run, a race, or all that is known of both, as plain data
NOTHING: Record = {"runs": [], "races": []}


def number(value: float | None) -> str:
    """Write a number with three digits that matter."""
    if value is None:
        return "–"
    if value == math.inf:  # it did not end in time
        return "∞"
    if value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:#.3g}".rstrip(".")


def spread(low: float | None, high: float | None) -> str:
    """Write the smallest and the largest of some numbers."""
    return "–" if low is None else f"{number(low)} .. {number(high)}"


def bar(at_least: float | None, at_most: float | None) -> str:
    """Write what a figure must reach."""
    sides = (("≥", at_least), ("≤", at_most))
    return ", ".join(f"{sign} {limit:g}" for sign, limit in sides if limit is not None)


def contestant_rows(race: Record) -> Rows:
    """Give the lines of the table of contestants."""
    return [
        (one["name"], number(one["median"]), spread(one["min"], one["max"]), number(one["first"]))
        for one in race["contestants"]
    ]


def figure_rows(race: Record) -> Rows:
    """Give the lines of the table of figures."""
    return [
        (
            one["what"],
            number(one["value"]),
            spread(one["min"], one["max"]),
            bar(one["at_least"], one["at_most"]),
            one["verdict"],
        )
        for one in race["figures"]
    ]


def show(outcome: Outcome, console: Console) -> None:
    """Print the tables of a race."""
    race = as_record(outcome)
    console.rule(f"{race['name']}: [bold]{escape(race['title'])}")
    if outcome.samples:
        console.print(_table(contestant_heads(race), contestant_rows(race)))
        figures = _table(FIGURE_HEADS, [])
        for cells in figure_rows(race):
            figures.add_row(*map(escape, cells), style=COLOURS.get(cells[-1]))
        console.print(figures)
    for note in outcome.notes:
        console.print(note, style="dim", markup=False, highlight=False, soft_wrap=True)


def contestant_heads(race: Record) -> tuple[str, ...]:
    """Give the heads of the table of contestants, with their unit."""
    return f"{CONTESTANT_HEADS[0]}, {race['unit']}", *CONTESTANT_HEADS[1:]


def _table(heads: Sequence[str], rows: Rows) -> Table:
    table = Table(box=None, pad_edge=False)
    for k, head in enumerate(heads):
        table.add_column(head, justify="left" if k in LEFT else "right")
    for cells in rows:
        table.add_row(*map(escape, cells))
    return table


def show_machine(record: Record, console: Console) -> None:
    """Print what the run was made on."""
    for line in machine_lines(record):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def machine_lines(record: Record) -> Iterator[str]:
    """Tell the machine, its limits and the versions, a line each."""
    machine, versions = record["machine"], record["machine"]["versions"]
    yield f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, {machine['date']}"
    yield ", ".join(f"{name}: {number(value)}" for name, value in record["limits"].items())
    present = (f"{name} {found}" for name, found in versions.items() if found)
    yield ", ".join([f"Python {machine['python']}", *present])
    absent = [name for name, found in versions.items() if not found]
    if absent:
        yield f"not installed: {', '.join(absent)}"
    yield f"scale {record['scale']:g}, {record['repeats']} rounds"


def as_record(outcome: Outcome) -> Record:
    """Give a race as plain data."""
    course = outcome.course
    return {
        "name": course.name,
        "topic": course.topic,
        "title": course.title,
        "unit": outcome.unit,
        "passed": outcome.passed,
        "contestants": [_samples_record(name, s) for name, s in outcome.samples.items()],
        "figures": [_finding_record(found) for found in outcome.findings],
        "notes": list(outcome.notes),
    }


def _samples_record(name: str, samples: Samples) -> Record:
    return {
        "name": name,
        "first": samples.first,
        "median": samples.median,
        "min": min(samples.rounds),
        "max": max(samples.rounds),
        "rounds": list(samples.rounds),
    }


def _finding_record(found: Finding) -> Record:
    return {
        "what": found.figure.what,
        "value": found.value,
        "min": found.low,
        "max": found.high,
        "at_least": found.figure.at_least,
        "at_most": found.figure.at_most,
        "verdict": found.verdict.value,
    }


def write(folder: Path, run: Record, outcomes: Sequence[Outcome]) -> None:
    """Write results.json and its pages; races of earlier runs stay, unless they were run again."""
    from bench import summary  # made of what is here

    folder.mkdir(parents=True, exist_ok=True)
    races = [{**as_record(one), "run": run["machine"]["date"]} for one in outcomes]
    kept = without(earlier(folder), {race["name"] for race in races})
    runs = [*kept["runs"], run] if races else kept["runs"]
    complete = {"schema": SCHEMA, "runs": runs, "races": [*kept["races"], *races]}
    text = json.dumps(complete, indent=1, ensure_ascii=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    (folder / "results.md").write_text(markdown(complete), encoding="utf-8")
    (folder / "summary.md").write_text(summary.page(complete), encoding="utf-8")


def earlier(folder: Path) -> Record:
    """Give what earlier runs wrote into a folder."""
    try:
        found: Record = json.loads((folder / "results.json").read_text("utf-8"))
    except (OSError, ValueError):
        return NOTHING
    return found if found.get("schema") == SCHEMA else NOTHING


def without(results: Record, names: set[str]) -> Record:
    """Leave out races of some names, and runs that no race is left of."""
    races = [race for race in results["races"] if race["name"] not in names]
    dates = {race["run"] for race in races}
    return {"runs": [r for r in results["runs"] if r["machine"]["date"] in dates], "races": races}


def markdown(results: Record) -> str:
    """Give all results as a Markdown page: the figures, then all times, run by run."""
    lines = ["# Results", "", "What `make bench` wrote last. Compare within a run only.", ""]
    for run in results["runs"]:
        date = run["machine"]["date"]
        races = [race for race in results["races"] if race["run"] == date]
        lines += [f"## Run of {date}", "", *(f"- {line}" for line in machine_lines(run)), ""]
        for race in races:
            lines += [f"### {race['title']}", "", f"`{race['name']}`", ""]
            if race["contestants"]:
                lines += [*markdown_table(FIGURE_HEADS, figure_rows(race)), ""]
                lines += [*markdown_table(contestant_heads(race), contestant_rows(race)), ""]
            lines += [*race["notes"], ""] if race["notes"] else []
    return "\n".join(lines)


def markdown_table(heads: Sequence[str], rows: Rows, left: Sequence[int] = LEFT) -> Iterator[str]:
    """Give the lines of a table, whose columns of numbers are set to the right."""
    yield _markdown_row(heads)
    yield "|" + "|".join("---" if k in left else "---:" for k in range(len(heads))) + "|"
    for cells in rows:
        yield _markdown_row(cells)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
