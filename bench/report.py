"""What is told of a run: Rich tables for the eye, results.json for machines, results.md to keep."""

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
from bench.race import Figure, Verdict

SCHEMA = 1
COLOURS = {Verdict.MET: "green", Verdict.NOT_MET: "bold red"}
CONTESTANT_HEADS = ("contestant", "median", "min .. max", "first call")
FIGURE_HEADS = ("figure", "value", "min .. max", "bar", "")

Rows = list[tuple[str, ...]]


def number(value: float | None) -> str:
    """Write a number with three digits that matter."""
    if value is None:
        return "–"
    if value == math.inf or value == int(value):  # infinite: it did not end in time
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:#.3g}".rstrip(".")


def spread(low: float | None, high: float | None) -> str:
    """Write the smallest and the largest of some numbers."""
    return "–" if low is None else f"{number(low)} .. {number(high)}"


def bar(figure: Figure) -> str:
    """Write what a figure must reach."""
    sides = (("≥", figure.at_least), ("≤", figure.at_most))
    return ", ".join(f"{sign} {limit:g}" for sign, limit in sides if limit is not None)


def contestant_rows(outcome: Outcome) -> Rows:
    """Give the lines of the table of contestants."""
    return [
        (
            name,
            number(samples.median),
            spread(min(samples.rounds), max(samples.rounds)),
            number(samples.first),
        )
        for name, samples in outcome.samples.items()
    ]


def figure_rows(outcome: Outcome) -> Rows:
    """Give the lines of the table of figures."""
    return [
        (
            found.figure.what,
            number(found.value),
            spread(found.low, found.high),
            bar(found.figure),
            found.verdict.value,
        )
        for found in outcome.findings
    ]


def show(outcome: Outcome, console: Console) -> None:
    """Print the tables of a race."""
    console.rule(f"{outcome.course.name}: [bold]{escape(outcome.course.title)}")
    if outcome.samples:
        heads = (f"{CONTESTANT_HEADS[0]}, {outcome.unit}", *CONTESTANT_HEADS[1:])
        console.print(_table(heads, contestant_rows(outcome)))
        figures = _table(FIGURE_HEADS, [])
        for cells, found in zip(figure_rows(outcome), outcome.findings, strict=True):
            figures.add_row(*map(escape, cells), style=COLOURS.get(found.verdict))
        console.print(figures)
    for note in outcome.notes:
        console.print(note, style="dim", markup=False, highlight=False, soft_wrap=True)


def _table(heads: Sequence[str], rows: Rows) -> Table:
    table = Table(box=None, pad_edge=False)
    for k, head in enumerate(heads):
        table.add_column(head, justify="left" if k in (0, 4) else "right")
    for cells in rows:
        table.add_row(*map(escape, cells))
    return table


def show_machine(record: dict[str, Any], console: Console) -> None:
    """Print what the run was made on."""
    for line in machine_lines(record):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def machine_lines(record: dict[str, Any]) -> Iterator[str]:
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


def as_record(outcome: Outcome) -> dict[str, Any]:
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


def _samples_record(name: str, samples: Samples) -> dict[str, Any]:
    return {
        "name": name,
        "first": samples.first,
        "median": samples.median,
        "min": min(samples.rounds),
        "max": max(samples.rounds),
        "rounds": list(samples.rounds),
    }


def _finding_record(found: Finding) -> dict[str, Any]:
    return {
        "what": found.figure.what,
        "value": found.value,
        "min": found.low,
        "max": found.high,
        "at_least": found.figure.at_least,
        "at_most": found.figure.at_most,
        "verdict": found.verdict.value,
    }


def write(folder: Path, record: dict[str, Any], outcomes: Sequence[Outcome]) -> None:
    """Write results.json and results.md."""
    folder.mkdir(parents=True, exist_ok=True)
    complete = {"schema": SCHEMA, **record, "races": [as_record(one) for one in outcomes]}
    text = json.dumps(complete, indent=1, ensure_ascii=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    (folder / "results.md").write_text(markdown(record, outcomes), encoding="utf-8")


def markdown(record: dict[str, Any], outcomes: Sequence[Outcome]) -> str:
    """Give the whole run as a Markdown page."""
    lines = ["# Results", "", *(f"- {line}" for line in machine_lines(record)), ""]
    for outcome in outcomes:
        lines += [f"## {outcome.course.title}", "", f"`{outcome.course.name}`", ""]
        if outcome.samples:
            heads = (f"{CONTESTANT_HEADS[0]}, {outcome.unit}", *CONTESTANT_HEADS[1:])
            lines += [*_markdown_table(heads, contestant_rows(outcome)), ""]
            lines += [*_markdown_table(FIGURE_HEADS, figure_rows(outcome)), ""]
        lines += [*outcome.notes, ""] if outcome.notes else []
    return "\n".join(lines)


def _markdown_table(heads: Sequence[str], rows: Rows) -> Iterator[str]:
    yield _markdown_row(heads)
    yield "|" + "|".join("---" if k in (0, 4) else "---:" for k in range(len(heads))) + "|"
    for cells in rows:
        yield _markdown_row(cells)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
