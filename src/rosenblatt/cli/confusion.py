"""What `evaluate` prints for people: every count where they fit, else the classes one by one."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

Pairs = dict[tuple[Any, Any], int]  # of a label and an answer: how often

MOST_CONFUSIONS = 10


def print_confusion(console: Console, pairs: Pairs, classes: list[Any]) -> None:
    """Print how labels were answered, so that it fits the width."""
    strange = sorted({label for label, _ in pairs} - set(classes), key=str)
    met = {label for label, _ in pairs}
    labels = [label for label in (*classes, *strange) if label in met]
    table = confusion(pairs, labels, classes)
    if console.measure(table, options=console.options.update(max_width=10**6)).maximum <= (
        console.width
    ):
        console.print(table)
        return
    console.print(by_class(pairs, labels))
    console.print(largest(pairs), soft_wrap=True)


def confusion(pairs: Pairs, labels: list[Any], classes: list[Any]) -> Table:
    """Give every count: a row for each label, a column for each answer."""
    table = Table("label", *(f"answered {label}" for label in classes))
    for label in labels:
        table.add_row(str(label), *(str(pairs.get((label, answer), 0)) for answer in classes))
    return table


def by_class(pairs: Pairs, labels: list[Any]) -> Table:
    """Give for each label its rows, those answered rightly, and all rows so answered."""
    table = Table("label", "rows", "right", "share", "answered so")
    for label in labels:
        rows = sum(count for (meant, _), count in pairs.items() if meant == label)
        answered = sum(count for (_, answer), count in pairs.items() if answer == label)
        right = pairs.get((label, label), 0)
        shares = f"{right:,}", f"{right / rows:.1%}", f"{answered:,}"
        table.add_row(str(label), f"{rows:,}", *shares)
    return table


def largest(pairs: Pairs) -> str:
    """Name the answers that were most often wrong."""
    wrong = [(pair, count) for pair, count in pairs.items() if pair[0] != pair[1]]
    wrong.sort(key=lambda item: (-item[1], str(item[0])))
    some = (f"{a} answered {b} ({count:,})" for (a, b), count in wrong[:MOST_CONFUSIONS])
    return f"Most often wrong: {', '.join(some)}; --json gives all." if wrong else ""
