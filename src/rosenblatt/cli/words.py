"""How people at a terminal say what the package says in Python.

The package gives advice in the words of its arguments: ``pass by_place=True``. Whatever a command
says goes through `spoken`, which makes options of them: ``pass --by-place``. Rows and columns that
Python counts from 0, those of X, count from 1 here, as lines and the rows of tables do.
"""

from __future__ import annotations

import re

PHRASES = {
    "many='pairs'": "--pairs",
    "many='rest'": "--rest",
    "class_weight='balanced'": "--balanced",
    "rosenblatt.mistake_bound the number of passes (passes=)": "--passes in place of --any",
    "(passes)": "(--passes)",
    "(patience)": "(--patience)",
    "patience=None": "--patience 0",
    ": rosenblatt.separate for a hyperplane, rosenblatt.cheapest_counts for two classes and a "
    "kernel.": " with `rosenblatt separate`.",
    "rosenblatt.solve, in the shell `rosenblatt solve`,": "`rosenblatt solve`",
    "rosenblatt.separate": "`rosenblatt separate`",
    "give a dict of weights to learn from a stream": "name the factors, or leave out --stream",
    "class_weight has": "--class-weight has",
    "give a number to learn from a stream": "give a number, or leave out --stream",
    "call partial_fit with classes=[...] first": "leave out --stream",
    "read the file as a whole": "leave out --stream",
    "read the table as a whole": "leave out --stream",
    "or no budget": "or leave out --budget",
    "select=": "--columns",
    "a larger tol or lam": "a larger --tol or --lam",
    "a larger tol": "a larger --tol",
    "'onehot' or 'hash'": "onehot or hash",
    "a sample_weight of 0": "a weight of 0",
    "sample_weight is zero for every row": "every row has a weight of 0",
}
OPTIONS = (
    *("budget", "by_place", "categories", "header", "initial", "label", "lam", "lift", "max_iter"),
    *("max_seconds", "max_updates", "method", "missing", "order", "output", "tol", "zero_based"),
)
ARGUMENT = re.compile(rf"(?<![-.'/\w])({'|'.join(OPTIONS)})=(True\b|'[^']*'|[-+.\w]*\w)?")
BARE = re.compile(r"(?<![-.'/\w])(by_place|max_iter|max_seconds|max_updates|zero_based)\b")
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
    text = text.replace(" (from 0)", "")
    return BARE.sub(lambda name: _option(name.group()), ARGUMENT.sub(_argument, text))


def from_one(place: re.Match[str]) -> str:
    """Count from 1 what counts from 0."""
    return re.sub(r"\d+", lambda number: str(int(number.group()) + 1), place.group())


def _argument(found: re.Match[str]) -> str:
    name, value = found.groups()
    if value in (None, "True"):
        return _option(name)
    word = value.strip("'")
    return f"{_option(name)} {word}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
