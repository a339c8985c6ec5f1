r"""Linear programs in ``.mps`` and ``.lp`` files, as HiGHS reads them.

The rules
---------
- Each row of the program has a lower and an upper end: equal ends make an equation, else the lower
  one a row a·w >= b and the upper one a row -a·w >= -b. Rows without ends, and the objective, are
  left out. The bounds of the columns are the bounds of the unknowns.
- Ends and bounds from 1e20 on are infinite, as is usual in these files.
- Integer columns are refused: a system is one of real numbers.
- HiGHS skips what it does not understand, with a warning or without: coefficients below 1e-12, rows
  that were never named, digits behind a second point. A decision speaks of every number, so such
  files are refused; only bounds that contradict each other are taken as they are.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.data.sources import contents, shown
from rosenblatt.errors import InputError, ParseError

__all__ = ["read_program"]

Ends = list[tuple[float | None, float | None]]
Parts = tuple[Any, np.ndarray, np.ndarray, Ends, list[str], list[str]]

# The smallest coefficients that HiGHS can be made to keep, and the largest.
OPTIONS = {"log_to_console": False, "small_matrix_value": 1e-12, "large_matrix_value": math.inf}
COMPLAINT = re.compile(r"^(?:WARNING|ERROR): +(.*)", re.MULTILINE)
HARMLESS = "inconsistent bound"
NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE
)
SECTIONS_OF_NUMBERS = ("COLUMNS", "RHS", "RANGES", "BOUNDS")
BOUNDS_WITHOUT_NUMBER = ("FR", "MI", "PL", "BV")
# A number with two points, or one that is none, at the beginning of a word; or an implication.
MISREAD_IN_LP = re.compile(r"(?<![^\s+\-<>=:*/^\[\]])(?:\d*\.\d*\.\S*|nan(?!\w))|->", re.IGNORECASE)


def read_program(path: str | os.PathLike[str], kind: str) -> Parts:
    """Read a program: A, b, which rows are equations, bounds, names of the unknowns and rows."""
    name, text = shown(path), _decoded(contents(path).tobytes())
    for line, column, word in _misread_in_lp(text) if kind == "lp" else _misread_in_mps(text):
        message = f"{word[:40]!a} is not a number of a linear system"
        raise ParseError(message, file=name, line=line, column=column)
    program = _by_highs(text, kind, name)
    if not program.num_col_ or not program.num_row_:
        raise InputError(
            f"{name} holds no system: {program.num_row_} rows of {program.num_col_} unknowns"
        )
    names = list(map(str, program.col_names_)) or [f"x{j}" for j in range(program.num_col_)]
    for place, integrality in enumerate(program.integrality_):
        if integrality.name != "kContinuous":
            raise InputError(
                f"{name} wants the unknown {names[place]!r} to be an integer or semicontinuous; "
                "only systems of real numbers are decided, so relax it"
            )
    A, b, equal, rows = _rows(program)
    named = list(map(str, program.row_names_)) or [f"row {i}" for i in range(program.num_row_)]
    return A, b, equal, _bounds(program), names, [named[i] for i in rows]


def _decoded(content: bytes) -> str:
    """Give the text of a file, whatever letters its names have."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _by_highs(text: str, kind: str, name: str) -> Any:
    """Let HiGHS read a program, and refuse it if it complains."""
    import highspy

    with tempfile.TemporaryDirectory() as folder:
        copy, log = (os.path.join(folder, f"program.{end}") for end in (kind, "log"))
        with open(copy, "wb") as file:
            file.write(text.encode())
        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in {**OPTIONS, "log_file": log}.items():
            solver.setOptionValue(option, value)
        status = solver.readModel(copy)
        solver.setOptionValue("log_file", "")  # closes it
        with open(log, encoding="utf-8", errors="replace") as file:
            complaints = COMPLAINT.findall(file.read().replace(copy, "it"))
    serious = [words for words in complaints if HARMLESS not in words]
    if serious or status.name == "kError":
        reason = " ".join((serious or ["no reason is given"])[0].split())
        raise InputError(
            f"HiGHS cannot read {name} faithfully ({reason}); mend it, or give the system as CSV"
        )
    return solver.getLp()


def _rows(program: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Give the rows a·w >= b and a·w = b, two for a row with two ends, and whence they come."""
    stored = program.a_matrix_
    parts = (np.array(stored.value_), np.array(stored.index_), np.array(stored.start_))
    shape = (program.num_row_, program.num_col_)
    make = sparse.csr_matrix if "Row" in stored.format_.name else sparse.csc_matrix
    matrix = make(parts, shape=shape).tocsr()
    lower, upper = np.array(program.row_lower_), np.array(program.row_upper_)
    equal = lower == upper
    above, below = np.flatnonzero(lower > -np.inf), np.flatnonzero((upper < np.inf) & ~equal)
    order = np.argsort(np.concatenate([above, below]), kind="stable")
    signs = np.concatenate([np.ones(above.size), -np.ones(below.size)])[order]
    rows = np.concatenate([above, below])[order]
    b = np.where(signs > 0, lower[rows], -upper[rows])
    A = sparse.csr_matrix(sparse.diags(signs) @ matrix[rows], dtype=np.float64)
    return A, b, equal[rows], rows


def _bounds(program: Any) -> Ends:
    pairs = zip(program.col_lower_, program.col_upper_, strict=True)
    return [(_finite(low), _finite(high)) for low, high in pairs]


def _finite(end: float) -> float | None:
    return float(end) if math.isfinite(end) else None


Fault = tuple[int, int, str]  # line, column and word


def _misread_in_lp(text: str) -> Iterator[Fault]:
    for number, line in enumerate(text.split("\n"), start=1):
        for found in MISREAD_IN_LP.finditer(line.partition("\\")[0]):
            yield number, found.start() + 1, found[0]


def _misread_in_mps(text: str) -> Iterator[Fault]:
    """Find words in the place of numbers, in lines such as ``name row number [row number]``."""
    section = ""
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split()
        if not words or line.startswith("*"):
            continue
        if not line[0].isspace() and (len(words) == 1 or words[0] in ("NAME", "OBJSENSE")):
            section = words[0].upper()
        elif section in SECTIONS_OF_NUMBERS and "'MARKER'" not in words:
            for word in _number_words(section, words):
                if not NUMBER.fullmatch(word):
                    yield number, line.rfind(word) + 1, word


def _number_words(section: str, words: list[str]) -> list[str]:
    if section == "BOUNDS":
        return [] if words[0].upper() in BOUNDS_WITHOUT_NUMBER else words[-1:]
    two = len(words) == 5 or (len(words) == 4 and section != "COLUMNS")
    return [words[-3], words[-1]] if two else words[-1:]
