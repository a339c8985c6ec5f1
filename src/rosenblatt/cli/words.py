"""How people at a terminal say what the package says in Python.

The package gives advice in the words of its arguments: ``pass by_place=True``. Whatever a command
says goes through `spoken`, which makes options of the arguments that some command has an option
for: ``pass --by-place``. Rows and columns that Python counts from 0, those of X, count from 1 here,
as lines and the rows of tables do.
"""

from __future__ import annotations

import re
from functools import cache

# Advice for which one would do something else in the shell.
PHRASES = {
    "many='pairs'": "--pairs",
    "many='rest'": "--rest",
    "many='joint'": "--joint",
    "class_weight='balanced'": "--balanced",
    "rosenblatt.mistake_bound the number of passes (passes=)": "--passes in place of --any",
    "(patience)": "(--patience)",
    "Scale the features,": "Scale the features (--scale standard),",
    "patience=None": "--patience 0",
    ": rosenblatt.separate for a hyperplane, rosenblatt.cheapest_counts for two classes and a "
    "kernel.": " with `rosenblatt separate`.",
    "rosenblatt.solve, in the shell `rosenblatt solve`,": "`rosenblatt solve`",
    "rosenblatt.separate": "`rosenblatt separate`",
    "give a dict of weights to learn from a stream": "name the factors, or leave out --stream",
    "give a number to learn from a stream": "give a number, or leave out --stream",
    "call partial_fit with classes=[...] first": "leave out --stream",
    "read the file as a whole": "give a file, without --stream",
    "read the table as a whole": "give a file, without --stream",
    "decimals, by as_decimals": "decimals: give them as text, and leave out --floats",
    "or no budget": "or leave out --budget",
    "a larger tol or lam": "a larger --tol or --lam",
    "'onehot' or 'hash'": "onehot or hash",
    "a sample_weight of 0": "a weight of 0",
    "sample_weight is zero for every row": "every row has a weight of 0",
}
PLACES = (
    re.compile(r"(?<=\(row )\d+(?:, column \d+)?"),
    re.compile(r"(?<=\brow )\d+ of X has column \d+"),
    re.compile(r"(?<=score of row )\d+"),
    re.compile(r"\brow \d+(?= \(from 0\))"),
)


def spoken(text: str) -> str:
    """Say it as a command does."""
    for words, others in PHRASES.items():
        text = text.replace(words, others)
    for place in PLACES:
        text = place.sub(from_one, text)
    return _arguments().sub(_option, text.replace(" (from 0)", ""))


def from_one(place: re.Match[str]) -> str:
    """Count from 1 what counts from 0."""
    return re.sub(r"\d+", lambda number: str(int(number.group()) + 1), place.group())


@cache
def _options() -> dict[str, str]:
    """Give the options of all commands by the arguments that they stand for."""
    from rosenblatt.cli.main import app

    found = (option for command in app.commands.values() for option in command.params)
    return {str(option.name): option.opts[0] for option in found if option.opts[0][:2] == "--"}


@cache
def _arguments() -> re.Pattern[str]:
    """Match an argument with an equals sign and perhaps a value, or one that is no plain word."""
    named = "|".join(_options())
    alone = "|".join(name for name in _options() if "_" in name)
    value = r"=(?P<value>True\b|'[^']*'|[-+.\w]*\w)?"
    return re.compile(rf"(?<![-.'/\w])(?:(?P<name>{named}){value}|(?P<alone>{alone})\b)")


def _option(found: re.Match[str]) -> str:
    option = _options()[found["name"] or found["alone"]]
    value = found["value"]
    return option if value in (None, "True") else f"{option} {_plain(value)}"


def _plain(value: str) -> str:
    """Give a value without its quotes, unless a shell would act on it."""
    return value if re.search(r"[^\w.-]", value.strip("'")) else value.strip("'")
