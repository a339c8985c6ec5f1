"""All figures in short, from what results.json holds: summary.md, a table for each topic.

Figures of a race that compare the same two, such as a peer and ours, share a row. What tells them
apart, their case, is what the names of contestants add: the figures `LIBLINEAR, none, 0.01 /
rosenblatt, none, 0.01` and `LIBLINEAR, none, 0.001 / rosenblatt, none, 0.001` are one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from bench.harness import OURS
from bench.race import Verdict
from bench.report import Record, bar, machine_lines, markdown_table, number, spread

HEADS = ("race", "compared", "rosenblatt", "the other", "value", "bar", "run")
LEFT = (0, 1, 4, 5)  # columns of words
OPENING = """\
# Results in short

What `make bench` wrote last, a row for each comparison. [Speed](../speed.md) says how to read it,
and [Results](results.md) has the times of all contestants.

<!-- tables begin -->
"""


class Compared(NamedTuple):
    """A figure, whom it compares, and in which case."""

    figure: Record
    names: tuple[str, ...]
    case: tuple[str, ...]

    @property
    def who(self) -> tuple[str, ...]:
        """Give the names without the case."""
        pieces = (name.split(", ") for name in self.names)
        return tuple(
            ", ".join([first, *(piece for piece in rest if piece not in self.case)])
            for first, *rest in pieces
        )

    @property
    def ours(self) -> int | None:
        """Give which of the names is ours, or is held against a bar."""
        own = [k for k, name in enumerate(self.names) if name.startswith(OURS)]
        return own[0] if own else 0 if self.barred else None

    @property
    def barred(self) -> bool:
        """Tell whether there is something to reach."""
        return bool(bar(self.figure["at_least"], self.figure["at_most"]))


def page(results: Record) -> str:
    """Give the page: how the bars stand, the tables, the runs."""
    runs = {run["machine"]["date"]: str(k) for k, run in enumerate(results["runs"], 1)}
    races = sorted(results["races"], key=lambda race: (race["topic"], race["name"]))
    lines = [OPENING, *_standing(races), ""]
    for topic, members in groupby(races, key=lambda race: race["topic"]):
        rows = [(*row, runs[race["run"]]) for race in members for row in rows_of(race)]
        title = topic.replace("_", " ").capitalize()
        lines += [f"## {title}", "", *markdown_table(HEADS, rows, LEFT), ""]
    lines += ["## Runs", ""]
    lines += [f"{k}. {'; '.join(machine_lines(run))}" for k, run in enumerate(results["runs"], 1)]
    return "\n".join([*lines, "", "<!-- tables end -->", ""])


def _standing(races: Sequence[Record]) -> Iterator[str]:
    """Tell how many bars are met, and which races miss one."""
    missed, found = Verdict.NOT_MET.value, [f for race in races for f in race["figures"]]
    met = sum(figure["verdict"] == Verdict.MET.value for figure in found)
    count = met + sum(figure["verdict"] == missed for figure in found)
    names = [
        f"`{race['name']}`"
        for race in races
        if any(figure["verdict"] == missed for figure in race["figures"])
    ]
    yield f"{met} of {count} bars are met." + (f" Missed in {', '.join(names)}." if names else "")


def rows_of(race: Record) -> Iterator[tuple[str, ...]]:
    """Give the rows of a race; its title stands in the first."""
    title = f"{race['title']} (`{race['name']}`)"
    if not race["contestants"]:
        yield title, "not run", "", "", "", ""
    medians = {one["name"]: one["median"] for one in race["contestants"]}
    alike: dict[tuple, list[Compared]] = {}
    for figure in race["figures"] if medians else []:
        one = _compared(figure, medians)
        key = one.who, figure["what"] in medians, figure["at_least"], figure["at_most"]
        alike.setdefault(key, []).append(one)
    for group in alike.values():
        yield title, *_row(group, medians, race["unit"])
        title = ""


def _compared(figure: Record, medians: Record) -> Compared:
    """Take a figure apart."""
    what = figure["what"]
    sign = next((s for s in (" / ", " − ") if s in what), None)
    if what in medians or sign is None:
        return Compared(figure, (what,), tuple(what.split(", ")[1:]))
    names = tuple(what.split(sign, 1))
    one, other = (name.split(", ")[1:] for name in names)
    return Compared(figure, names, tuple(piece for piece in one if piece in other))


def _row(group: Sequence[Compared], medians: Record, unit: str) -> tuple[str, ...]:
    """Give the row of figures that compare the same."""
    first = group[0]
    shared = [piece for piece in first.case if all(piece in one.case for one in group)]
    cases = [tuple(piece for piece in one.case if piece not in shared) for one in group]
    sign = " − " if " − " in first.figure["what"] else " / "
    label = sign.join(first.who) + (f" ({', '.join(shared)})" if shared else "")
    cells = ["", ""]
    for k in range(len(first.names)):
        found = [medians[one.names[k]] for one in group if one.names[k] in medians]
        if found:
            cells[k != first.ours] = _span(found, unit)
    same = unit if sign == " − " else ""  # a difference is in the unit of both
    values = [f"{number(one.figure['value'])} {same}".strip() for one in group]
    alone = len(group) == 1 and len(first.names) == 1 and any(cells)
    value = "" if alone else _listed(list(zip(cases, values, strict=True)))
    verdict = filter(
        None, (bar(first.figure["at_least"], first.figure["at_most"]), _verdict(group))
    )
    return label, *cells, value, ", ".join(verdict)


def _span(values: Sequence[float], unit: str) -> str:
    """Give medians, or their range, with their unit."""
    least, most = min(values), max(values)
    text = number(least) if len(values) == 1 else spread(least, most)
    return f"{text} {unit}".strip()


def _listed(values: list[tuple[tuple[str, ...], str]]) -> str:
    """List values with their cases, those alike in their first piece together."""
    if all(len(case) > 1 for case, _ in values):
        parts: dict[str, list] = {}
        for (first, *rest), value in values:
            parts.setdefault(first, []).append((tuple(rest), value))
        return "; ".join(f"{first}: {_listed(part)}" for first, part in parts.items())
    return ", ".join(f"{value} ({', '.join(case)})" if case else value for case, value in values)


def _verdict(group: Sequence[Compared]) -> str:
    """Tell how figures stand, together."""
    verdicts = [one.figure["verdict"] for one in group]
    if len(set(verdicts)) > 1:
        return f"{verdicts.count(Verdict.MET.value)} of {len(verdicts)} met"
    return "" if verdicts[0] == Verdict.REPORTED.value else str(verdicts[0])
