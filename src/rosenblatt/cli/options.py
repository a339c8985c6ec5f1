"""Options that several commands share, each written down once.

A command that reads is decorated with `reads` and gets a `source`: DATA, and how to read them. The
options of `reads` are fields of `rosenblatt.data.reading.Reading`, and have their names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]
Decorator = Callable[[Any], Any]

FILE = click.Path(path_type=Path)
DATA = (
    "DATA is a file, folder or pattern: svmlight, Vowpal Wabbit, CSV, Parquet, label<TAB>text, "
    ".npz and more, plain or compressed; - for standard input."
)


class Place(click.ParamType):
    """A column of a table: its name, or its place."""

    name = "column"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """Take a number for a place."""
        return int(value) if value.removeprefix("-").isdigit() else value


def flag(*names: str, help: str, default: bool | None = False) -> Decorator:
    """Give an option that is there or not."""
    return click.option(*names, is_flag=True, default=default, help=help)


def given(values: dict[str, Any]) -> dict[str, Any]:
    """Give the options that somebody gave."""
    return {name: value for name, value in values.items() if value is not None}


json = flag("--json", help="Print JSON, for machines.")
stream = flag("--stream", help="Read block by block: data may be larger than memory.")
cache = flag("--cache", help="Keep the data as mapped arrays beside the file, and use them.")
model = click.argument("model", type=FILE)
max_seconds = click.option("--max-seconds", type=float, help="Most seconds; then undecided.")
certificate = click.option("--certificate", type=FILE, help="Where to write the proof.")
intercept = click.option(
    "--intercept/--no-intercept", default=True, help="Allow hyperplanes that miss the origin."
)

EVERYWHERE = {
    "format": click.option(
        "--format",
        help="svmlight, vowpal, text, npz, npy, idx, store, csv, tsv, parquet, arrow or jsonl; "
        "found by content and extension if not given.",
    ),
    "label": click.option(
        "--label",
        type=Place(),
        help="Column of the label in a table: name, or place from 0 on; -1 is the last one.",
    ),
    "header": click.option(
        "--header/--no-header",
        default=None,
        help="Whether a CSV or TSV file names its columns; else a guess.",
    ),
    "missing": click.option(
        "--missing", type=float, help="Number for missing values in a table; else refused."
    ),
    "zero_based": flag("--zero-based", help="svmlight columns count from 0.", default=None),
}
# What a model remembers of its data, and need not be told.
TO_LEARN = {
    "categories": click.option(
        "--categories",
        type=click.Choice(["onehot", "hash", "refuse"]),
        help="What becomes of words in a table: a column for each, hashed columns, or an error. "
        "[default: onehot]",
    ),
}
FOR_A_MODEL = {
    "by_place": flag(
        "--by-place",
        default=None,
        help="Take columns in the order in which they stand, whatever their names.",
    ),
}


def reads(*groups: dict[str, Decorator], **fixed: Any) -> Decorator:
    """Give a command DATA and the options that say how to read them, as a `source`."""
    options = {name: option for group in (EVERYWHERE, *groups) for name, option in group.items()}

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(data: str, **others: Any) -> Any:
            from rosenblatt.cli.source import Source
            from rosenblatt.data.reading import Reading

            how = given({name: others.pop(name) for name in options})
            return command(source=Source(data, Reading(**how, **fixed)), **others)

        for option in reversed(options.values()):
            call = option(call)
        call.__doc__ = f"{command.__doc__}\n\n    {DATA}"
        return click.argument("data", metavar="DATA")(call)

    return decorate
