"""How answers are printed: facts and tables for people, JSON for machines.

On a terminal, long texts are wrapped; in a pipe or a file, a line is as long as what it says.
"""

from __future__ import annotations

import json as jsonlib
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rosenblatt.cli.words import spoken
from rosenblatt.errors import (
    GuessWarning,
    LargeModelWarning,
    ReadTwiceWarning,
    UnknownColumnsWarning,
)

LEAST_ROOM = 20  # columns for a wrapped text


def show(facts: dict[str, Any], json: bool) -> None:
    """Print facts by name; those that are None are for machines only."""
    if json:
        print(jsonlib.dumps(facts, ensure_ascii=False))
        return
    known = {name: value for name, value in facts.items() if value is not None}
    print_columns([(name.replace("_", " "), _text(value)) for name, value in known.items()])


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of cells, columns below each other."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)][:-1]
    for row in rows:
        ahead = "".join(f"{cell:{width}}  " for cell, width in zip(row, widths, strict=False))
        print(ahead + f"\n{' ' * len(ahead)}".join(_wrapped(row[-1], len(ahead))))


def table(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Give rows as lines, the first column to the left and numbers to the right."""
    cells = [[*map(str, row)] for row in rows]
    first, *others = (max(map(len, column)) for column in zip(*cells, strict=True))
    form = "  ".join([f"{{:{first}}}", *(f"{{:>{width}}}" for width in others)])
    return [form.format(*row).rstrip() for row in cells]


def plain(label: Any) -> Any:
    """Give a label as JSON has it; labels of other types as their text."""
    return label if label is None or isinstance(label, bool | int | float | str) else str(label)


def room() -> int | None:
    """Give the width of the terminal that is printed to, None if it is none."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return os.get_terminal_size(sys.stdout.fileno()).columns


def _wrapped(text: str, start: int) -> list[str]:
    width = room()
    if width is None:
        return [text]
    return textwrap.wrap(text, max(width - start, LEAST_ROOM), break_on_hyphens=False) or [""]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(_text(each) if isinstance(each, float) else str(each) for each in value)
    return str(value)


@contextmanager
def doing(text: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done; give a function that says what comes next."""
    if not is_watched():
        yield lambda text: None
        return
    from rich.console import Console

    # File names and labels are shown as they are, whatever brackets and colons they hold.
    people = Console(stderr=True, markup=False, emoji=False, highlight=False)
    with people.status(text) as status:
        yield status.update


def tell(sentence: str) -> None:
    """Say something beside the answer."""
    tell_plainly(f"rosenblatt: {spoken(sentence)}")


def tell_plainly(line: str) -> None:
    """Print a line beside the answer, at once."""
    print(line, file=sys.stderr, flush=True)


def is_watched() -> bool:
    """Tell whether somebody looks on."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def telling() -> Iterator[None]:
    """Say in a sentence which columns weigh nothing, how large weights are, what is read twice."""
    with warnings.catch_warnings():
        for kind in (UnknownColumnsWarning, LargeModelWarning):
            warnings.simplefilter("always", kind)
        for again in (GuessWarning, ReadTwiceWarning):
            warnings.simplefilter("default", again)  # not again in the next pass
        warnings.showwarning = lambda message, *_, **__: tell(str(message))
        yield
