"""What `evaluate` prints for people: every count where they fit, else the classes one by one."""

from __future__ import annotations

from typing import Any

from rosenblatt.cli.printing import table

Pairs = dict[tuple[Any, Any], int]  # of a label and an answer: how often

MOST_CONFUSIONS = 10
WIDEST = 160  # characters of a line where no terminal says how many it has


def confusion_lines(pairs: Pairs, classes: list[Any], width: int | None) -> list[str]:
    """Tell how labels were answered, in lines of the width of the terminal at most."""
    strange = sorted({label for label, _ in pairs} - set(classes), key=str)
    met = {label for label, _ in pairs}
    labels = [label for label in (*classes, *strange) if label in met]
    lines = confusion(pairs, labels, classes)
    if max(map(len, lines)) <= (width or WIDEST):
        return lines
    return [*by_class(pairs, labels), largest(pairs)]


def confusion(pairs: Pairs, labels: list[Any], classes: list[Any]) -> list[str]:
    """Give every count: a row for each label, a column for each answer."""
    rows = [[label, *(pairs.get((label, answer), 0) for answer in classes)] for label in labels]
    return table([["label", *(f"answered {label}" for label in classes)], *rows])


def by_class(pairs: Pairs, labels: list[Any]) -> list[str]:
    """Give for each label its rows, those answered rightly, and all rows so answered."""
    found = [["label", "rows", "right", "share", "answered so"]]
    for label in labels:
        rows = sum(count for (meant, _), count in pairs.items() if meant == label)
        answered = sum(count for (_, answer), count in pairs.items() if answer == label)
        right = pairs.get((label, label), 0)
        shares = f"{right:,}", f"{right / rows:.1%}", f"{answered:,}"
        found.append([label, f"{rows:,}", *shares])
    return table(found)


def largest(pairs: Pairs) -> str:
    """Name the answers that were most often wrong."""
    wrong = [(pair, count) for pair, count in pairs.items() if pair[0] != pair[1]]
    wrong.sort(key=lambda item: (-item[1], str(item[0])))
    some = (f"{a} answered {b} ({count:,})" for (a, b), count in wrong[:MOST_CONFUSIONS])
    return f"Most often wrong: {', '.join(some)}; --json gives all." if wrong else ""
