"""Options that several commands share, each written down once.

A command that reads is decorated with `reads` and gets a `source`: DATA, and how to read them. The
options of `reads` are fields of `rosenblatt.data.reading.Reading`, and have their names.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]
Decorator = Callable[[Any], Any]

MOST_BITS = 30
FILE = click.Path(path_type=Path)
DATA = (
    "DATA are files, folders or patterns: svmlight, Vowpal Wabbit, CSV, Parquet, label<TAB>text, "
    ".npz and more, plain or compressed; - for standard input."
)


def place(text: str) -> int | str:
    """Give a column of a table: its name, or a place if it is a number."""
    return int(text) if text.removeprefix("-").isdigit() else text


def hashed(bits: str) -> int:
    """Give the number of hashed columns."""
    if not bits.isdigit() or not 1 <= int(bits) <= MOST_BITS:
        raise ValueError(f"{bits} is not a whole number from 1 to {MOST_BITS}")
    return int(2 ** int(bits))


class Taken(click.ParamType):
    """An option that a function makes something of."""

    def __init__(self, name: str, take: Callable[[str], Any]) -> None:
        self.name, self.take = name, take

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Take it, or say why not."""
        try:
            return self.take(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def places(text: str) -> list[int | str]:
    """Give columns of a table that commas part; a name with a comma is quoted."""
    return [place(part.strip()) for part in next(csv.reader([text], skipinitialspace=True), [])]


def flag(*names: str, help: str, default: bool | None = False) -> Decorator:
    """Give an option that is there or not."""
    return click.option(*names, is_flag=True, default=default, help=help)


def done_in(module: str) -> Decorator:
    """Let the function of the same name in a module do the work of a command.

    The module is loaded when the command is called, so that ``--help`` answers at once.
    """

    def decorate(declared: Command) -> Command:
        @wraps(declared)
        def call(**given: Any) -> Any:
            work = getattr(import_module(f"rosenblatt.cli.{module}"), declared.__name__)
            return work(**given)

        return call

    return decorate


def given(values: dict[str, Any]) -> dict[str, Any]:
    """Give the options that somebody gave."""
    return {name: value for name, value in values.items() if value is not None}


json = flag("--json", help="Print JSON.")
stream = flag(
    "--stream",
    help="Read block by block, for data larger than memory. Tables with text columns and JSON "
    "lines are read twice.",
)
cluster = click.option(
    "--cluster",
    metavar="ADDRESS|local|FILE",
    help="Work on a Dask cluster, on shards of DATA: the address of its scheduler, its scheduler "
    "file (.json), or local for processes on this machine.",
)
cache = flag("--cache", help="Cache the data beside the file, as memory-mapped arrays.")
model = click.argument("model", type=FILE)
max_seconds = click.option(
    "--max-seconds",
    type=float,
    help="Time limit, reading included; after it the answer is undecided.",
)
floats = flag(
    "--floats", help="Round numbers in text files to float64; by default they are exact decimals."
)
certificate = click.option("--certificate", type=FILE, help="Where to write the proof.")
intercept = click.option(
    "--intercept/--no-intercept", default=True, help="Whether to use an intercept. [default: yes]"
)

EVERYWHERE = {
    "format": click.option(
        "--format",
        help="svmlight, vowpal, text, npz, npy, idx, store, csv, tsv, parquet, arrow or jsonl; "
        "recognised by content and extension if not given.",
    ),
    "label": click.option(
        "--label",
        type=Taken("column", place),
        help="Label column of a table: its name, or position from 0; -1 is the last.",
    ),
    "header": click.option(
        "--header/--no-header",
        default=None,
        help="Whether a CSV or TSV file has a header. [default: guessed]",
    ),
    "separator": click.option(
        "--sep",
        "separator",
        type=Taken("character", lambda text: {"tab": "\t", r"\t": "\t"}.get(text, text)),
        help="Separator of a CSV file, such as ';' or tab. [default: ,]",
    ),
    "decimal": click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="The decimal point of a CSV file. [default: .]",
    ),
    "missing": click.option(
        "--missing",
        type=float,
        help="Number that replaces missing values of a table. [default: an error]",
    ),
    "zero_based": flag(
        "--zero-based", help="Columns of svmlight files count from 0.", default=None
    ),
}
# What a model remembers of its data, and need not be told.
TO_LEARN = {
    "select": click.option(
        "--columns",
        "select",
        type=Taken("name,name...", places),
        help="Columns of a table to use as features, by name or position. [default: all but the "
        "label]",
    ),
    "categories": click.option(
        "--categories",
        type=click.Choice(["onehot", "hash", "refuse"]),
        help="How to encode text columns of a table: one-hot, hashed, or not at all (an error). "
        "[default: onehot]",
    ),
    "columns": click.option(
        "--bits",
        "columns",
        type=Taken("b", hashed),
        help="Hash text and categories to 2^b features. [default: 18]",
    ),
}
FOR_A_MODEL = {
    "by_place": flag(
        "--by-place",
        default=None,
        help="Match columns by position, whatever their names.",
    ),
}


def reads(
    *groups: dict[str, Decorator],
    metavar: str = "DATA...",
    by: Callable[[Command], Command] | None = None,
    **fixed: Any,
) -> Decorator:
    """Give a command DATA and the options that say how to read them, as a `source`.

    DATA is an argument, or what `by` makes of it.
    """
    options = {name: option for group in (EVERYWHERE, *groups) for name, option in group.items()}

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(data: tuple[str, ...], **others: Any) -> Any:
            from rosenblatt.cli.source import Source
            from rosenblatt.data.reading import Reading
            from rosenblatt.data.sources import Several

            how = given({name: others.pop(name) for name in options})
            named = data[0] if len(data) == 1 else Several(data)
            source = Source(named, Reading(**how, **fixed), given=frozenset(how))
            return command(source=source, **others)

        for option in reversed(options.values()):
            call = option(call)
        call.__doc__ = f"{command.__doc__}\n\n    {DATA}"
        argument = by or click.argument("data", metavar=metavar, nargs=-1, required=True)
        return argument(call)

    return decorate
