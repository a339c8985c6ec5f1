"""Systems, or parts of them, as ``.lp`` files that other solvers read.

Numbers are exact: a row with fractions that are no decimals is multiplied by their common
denominator. Names that the format does not allow are replaced.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction

from rosenblatt.certificate_fields import Number
from rosenblatt.check.subjects import System
from rosenblatt.data.files import write_atomically
from rosenblatt.data.lp import KEYWORD
from rosenblatt.data.programs import INFINITIES
from rosenblatt.data.written import decimal_text
from rosenblatt.decide.systems.wording import Wording
from rosenblatt.errors import InputError
from rosenblatt.exact.digest import MORE_THAN

NAME = re.compile(r"(?![eE]\d)[A-Za-z_][\w.]*", re.ASCII)
TERMS_A_LINE = 6
PLAIN = 12  # characters of a number that is written without a power of ten
RELATIONS = {"≥": ">=", "≤": "<=", "=": "="}


def write_lp(
    path: str | os.PathLike[str],
    system: System,
    wording: Wording,
    rows: Iterable[int],
    bounds: Iterable[tuple[int, str]],
) -> None:
    """Write some rows of a system, and some of its bounds; other unknowns are free."""
    chosen, sides = sorted(rows), set(bounds)
    if any(system.tags[i] == MORE_THAN for i in chosen):
        raise InputError(f"{os.fspath(path)!r}: strict rows have no place in .lp files; write .csv")
    entries = {i: [(j, v) for j, v in system.row(i)[:-1] if v] for i in chosen}
    used = sorted({j for row in entries.values() for j, _ in row} | {j for j, _ in sides})
    unknowns = dict(zip(used, _names((wording.unknown(j) for j in used), "x"), strict=True))
    labels = _names((wording.row(i) for i in chosen), "c")
    text = ["Minimize", " obj:", "Subject To"]
    for i, label in zip(chosen, labels, strict=True):
        sign = -1 if wording.is_negated(i) else 1
        numbers = [sign * Fraction(v) for _, v in entries[i]] + [
            sign * Fraction(system.row(i)[-1][1])
        ]
        *values, right = _decimals(numbers)
        terms = [
            f"{v} {unknowns[j]}".removeprefix("1 ")
            for (j, _), v in zip(entries[i], values, strict=True)
        ]
        lines = [
            " + ".join(terms[k : k + TERMS_A_LINE]) for k in range(0, len(terms), TERMS_A_LINE)
        ]
        left = "\n  + ".join(lines) or f"0 {next(iter(unknowns.values()), 'x')}"
        text.append(f" {label}: {left} {RELATIONS[wording.sign(system, i)]} {right}")
    text += ["Bounds", *_bounds(system, unknowns, sides), "End", ""]
    write_atomically(path, "\n".join(text).replace("+ -", "- ").encode())


def _decimals(values: list[Fraction]) -> list[str]:
    """Write numbers, all multiplied by what makes them decimals."""
    common = math.lcm(*(value.denominator for value in values))
    for prime in (2, 5):
        while common % prime == 0:
            common //= prime
    return [_plain(value * common) for value in values]


def _plain(value: Number) -> str:
    """Write a decimal without a power of ten if it is short."""
    text = decimal_text(value)
    plain = f"{Decimal(text):f}"
    return plain if len(plain) <= max(len(text), PLAIN) else text


def _bounds(system: System, unknowns: dict[int, str], sides: set[tuple[int, str]]) -> Iterator[str]:
    for j, name in unknowns.items():
        pair = (system.pairs or [(None, None)] * system.columns)[j]
        lower, upper = (
            None if end is None or (j, side) not in sides else _end(end, name)
            for end, side in zip(pair, ("lower", "upper"), strict=True)
        )
        if lower is None and upper is None:
            yield f" {name} free"
        else:
            yield f" {lower or '-inf'} <= {name}" + ("" if upper is None else f" <= {upper}")


def _end(end: Number, name: str) -> str:
    try:
        return _plain(end)
    except InputError:
        raise InputError(f"the bound {end} of {name} is not a decimal; write .csv") from None


def _names(given: Iterable[str], letter: str) -> list[str]:
    """Give names that the format allows, each once."""
    found: list[str] = []
    taken: set[str] = set()
    for k, name in enumerate(given):
        fits = NAME.fullmatch(name) and not KEYWORD.fullmatch(name)
        free = name if fits and name.lower() not in (*INFINITIES, "free") else f"{letter}{k}"
        while free in taken:
            free += "_"
        found.append(free)
        taken.add(free)
    return found
