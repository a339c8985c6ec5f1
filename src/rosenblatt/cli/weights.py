"""What `weights` does: the largest weights of a model, by name, for and against each class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.cli.printing import plain, show, table, tell
from rosenblatt.data.models import kind_of, read_model
from rosenblatt.data.read import read_whole
from rosenblatt.data.reading import Reading
from rosenblatt.data.sources import contents
from rosenblatt.data.tables_layout import hashed
from rosenblatt.data.vowpal import column_of
from rosenblatt.errors import InputError
from rosenblatt.names import Columns, TableColumns, wanted_by

WORD = re.compile(r"\w+")


def weights(model: Path, top: int, data: str | None, json: bool) -> None:
    """Print them."""
    learner, notes, scaling = read_model(model)
    if not hasattr(learner, "coef_") or getattr(learner, "output", None) == "voted":
        raise InputError(f"{model}, a {kind_of(learner)}, has no hyperplane whose weights to tell")
    coef, intercept = learner.coef_, learner.intercept_
    if scaling:
        coef, intercept = scaling.hyperplanes(learner)
    columns = wanted_by(learner).columns
    first = 0 if notes.get("reading", {}).get("zero_based") else 1
    names: Sequence[Any] = columns.names or range(first, first + coef.shape[1])
    heads = {"for": "for {}", "against": "against {}"}
    if data is not None:
        names, coef = _of_words(data, columns, coef)
    elif columns.hashing is not None or columns.hashed_words:
        how = columns.hashing or {}
        signed = how.get("signed", how.get("format") == "text")
        counted = ", where half of them count -1" if signed else ""
        tell(f"words were hashed to these columns{counted}; --data FILE names the words of a file")
        if signed:  # then the sign of a weight speaks for no class
            heads = dict.fromkeys(heads, "column" if len(coef) == 1 else "column, {}")
    found = _largest(names, coef, learner.classes_.tolist(), top)
    facts = {
        "model": str(model),
        "columns": learner.n_features_in_,
        "intercept": intercept.tolist(),
    }
    if json:
        show({**facts, "weights": found}, json)
        return
    show(facts, json)
    for each in found:
        for side in ("for", "against"):
            if each[side]:
                rows = [(pair["name"], f"{pair['weight']:.6g}") for pair in each[side]]
                head = heads[side].format(each["class"])
                print("", *table([(head, "weight"), *rows]), sep="\n")


def _largest(
    names: Sequence[Any], coef: np.ndarray, classes: list[Any], top: int
) -> list[dict[str, Any]]:
    """Give the largest weights of each class; those against one of two are for the other one."""
    if len(coef) == 1:
        low, high = _ends(names, coef[0], top)
        sides: list[Any] = [(classes[1], high, []), (classes[0], low, [])]
    else:
        ends = [_ends(names, weights, top) for weights in coef]
        sides = [(label, high, low) for label, (low, high) in zip(classes, ends, strict=True)]
    return [{"class": plain(label), "for": pro, "against": contra} for label, pro, contra in sides]


def _ends(names: Sequence[Any], weights: np.ndarray, top: int) -> tuple[list[Any], list[Any]]:
    """Give the most negative weights and the largest ones, with their names."""
    order = np.argsort(weights, kind="stable")
    pairs = [{"name": names[k], "weight": float(weights[k])} for k in order[:top].tolist()]
    others = [{"name": names[k], "weight": float(weights[k])} for k in order[::-1][:top].tolist()]
    return [p for p in pairs if p["weight"] < 0], [p for p in others if p["weight"] > 0]


def _of_words(data: str, columns: Columns, coef: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Give the words of a file, and the weights that a text of one of them has."""
    if columns.table is not None and columns.hashed_words:
        return _of_categories(data, columns.table, coef)
    if columns.hashing is None:
        raise InputError(
            "--data names the words of hashed columns, and those of this model are not"
        )
    text = contents(data).tobytes()
    options = dict(columns.hashing)
    if options.pop("format") == "vowpal":
        pairs = dict.fromkeys(pair for line in text.splitlines() for pair in _features(line))
        places = [column_of(*pair, options["columns"]) for pair in pairs]
        names = [b"^".join(filter(None, pair)).decode(errors="replace") for pair in pairs]
        return names, coef[:, places]
    from rosenblatt.data.text import TextHasher

    words = sorted({word.lower() for word in WORD.findall(text.decode(errors="replace"))})
    rows = TextHasher(**options).transform(words)
    return words, np.asarray((rows @ coef.T).T)


def _of_categories(data: str, own: TableColumns, coef: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Give the numbers of a table and the words of its other columns, and their weights."""
    found = read_whole(data, Reading(select=own.inputs, label=own.label)).columns
    words = {} if found is None or found.table is None else found.table.words
    pairs = [(name, word) for name in own.words for word in words.get(name, ())]
    numbers = len(own.numbers)
    places = [numbers + hashed(*pair, own.hashed) for pair in pairs]
    return [*own.numbers, *map("=".join, pairs)], coef[:, [*range(numbers), *places]]


def _features(line: bytes) -> list[tuple[bytes, bytes]]:
    """Give namespaces and names of the features of a line of Vowpal Wabbit."""
    found = []
    for part in line.split(b"|")[1:]:
        own = not part[:1].isspace()
        words = [word.partition(b":")[0] for word in part.split()]
        space = words[0] if own and words else b""
        found += [(space, word) for word in words[int(bool(space)) :]]
    return found
