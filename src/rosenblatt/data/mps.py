r"""Linear programs in MPS files, fixed or free.

    ROWS       type name                        N, L, G or E; the first N is the objective
    COLUMNS    column row number [row number]   integers between lines with 'MARKER'
    RHS        [set] row number [row number]    0 where nothing is said
    RANGES     [set] row number [row number]    the width of a row with two ends
    BOUNDS     type [set] column [number]       0 and infinity where nothing is said

The rules
---------
- Words are parted by blanks. If the names of rows or columns hold blanks, fields have the places of
  the fixed format: 2-3, 5-12, 15-22, 25-36, 40-47 and 50-61.
- Of several sets, the first counts. Of several bounds of one column, the last counts (in HiGHS the
  first), and the answer notes it.
- RANGES: r makes a row G b an interval [b, b + |r|], L b one [b - |r|, b], and E b [b, b + r], or
  [b + r, b] if r is negative.
- A negative upper bound makes the lower one infinite unless the file gives one (in HiGHS it stays
  0, and nothing fits).
- Integer columns that have no bounds lie between 0 and 1, as in HiGHS.
- A row or column that was not named before, or twice, is refused; so is a quadratic row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import compress
from operator import ne
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number
from rosenblatt.data.programs import (
    NUMBERED,
    UNNUMBERED,
    LinearProgram,
    Unknowns,
    interval,
    number_or_infinity,
)
from rosenblatt.data.sources import MisreadError
from rosenblatt.data.written import UnusableError, exact_number_of, floats_of, kept_beside
from rosenblatt.errors import InputError

SECTIONS = ("ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS")
WITH_TEXT = ("NAME", "OBJSENSE", "OBJNAME", "QSECTION")
IDLE = (*WITH_TEXT, "QUADOBJ", "QMATRIX")  # they speak of the objective
FIELDS = tuple(slice(*ends) for ends in ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61)))
MARKER = "'MARKER'"
USES = {
    "ROWS": "type name",
    "COLUMNS": "column row number [row number]",
    "RHS": "[set] row number [row number]",
    "RANGES": "[set] row number [row number]",
    "BOUNDS": "type [set] column [number]",
}
Words = list[list[str]]


def parse_mps(text: str, name: str) -> LinearProgram:
    """Read a program."""
    return _MpsReader(text, name).program()


class _MpsReader:
    """The lines of a file, and what they say."""

    def __init__(self, text: str, name: str) -> None:
        self.lines, self.name = text.split("\n"), name
        self.spans = self._spans()
        self.notes: list[str] = []
        self.words = self._split(str.split)
        if not _fit(self.words):
            fixed = self._split(_fields)
            self.words = fixed if _fit(fixed) else self.words

    def program(self) -> LinearProgram:
        rows = self._section("ROWS", self._rows)
        places = {name: i for i, (_, name) in enumerate(rows)}
        kinds = [kind for kind, _ in rows]
        self._refuse_quadratic({name for kind, name in rows if kind == "N"})
        matrix, unknowns, written = self._section("COLUMNS", lambda w: _columns(w, places))
        rights = self._section("RHS", lambda w: self._by_row(w, places, "RHS"))
        ranges = self._section("RANGES", lambda w: self._by_row(w, places, "RANGES"))
        self._section("BOUNDS", lambda w: self._bounds(w, unknowns))
        self.notes += unknowns.settle(negative=True, binary=True)
        kept = [i for i, kind in enumerate(kinds) if kind != "N"]
        ends = [interval(kinds[i], rights.get(i, 0.0), ranges.get(i)) for i in kept]
        if "N" in kinds:
            self._note(f"The objective {rows[kinds.index('N')][1]!r} is ignored.")
        names = [rows[i][1] for i in kept]
        return LinearProgram(matrix[kept], written, ends, unknowns, names, tuple(self.notes))

    # ---- lines

    def _spans(self) -> dict[str, tuple[int, int]]:
        """Find the lines of each section."""
        found: dict[str, tuple[int, int]] = {}
        section, begin = "", 0
        if not any(self.lines):
            self._refuse(0, "the file is empty; give it sections, from ROWS to ENDATA")
        for i, line in enumerate(self.lines):
            if line[:1] in ("", " ", "\t", "\r", "*"):
                continue
            words = line.split()
            word = words[0].upper()
            if len(words) > 1 and word not in WITH_TEXT:
                continue
            if word not in (*SECTIONS, *IDLE, "ENDATA"):
                self._refuse(i, f"{words[0][:40]!a} is not a section of a linear program")
            if word in found or word == section:
                self._refuse(i, f"the section {word} comes twice")
            found[section], section, begin = (begin, i), word, i + 1
            if word == "ENDATA":
                break
        else:
            last = max(0, len(self.lines) - 1 - (not self.lines[-1]))
            self._refuse(last, "the file ends before ENDATA; it may be cut off")
        for word in ("ROWS", "COLUMNS"):
            if word not in found:
                self._refuse(i, f"there is no section {word}")
        return found

    def _refuse_quadratic(self, objectives: set[str]) -> None:
        begin = self.spans.get("QSECTION", (0, 0))[0]
        words = self.lines[begin - 1].split() if begin else []
        if words and not objectives.issuperset(words[1:2]):
            self._refuse(
                begin - 1, f"the row {words[1][:40]!a} is quadratic; give a linear program"
            )

    def _worded(self, section: str) -> Iterator[tuple[int, str]]:
        """Give the lines of a section that are neither empty nor comments, and their numbers."""
        begin, end = self.spans.get(section, (0, 0))
        for i in range(begin, end):
            line = self.lines[i]
            if line[:1] != "*" and not line.isspace() and line:
                yield i, line

    def _split(self, split: Callable[[str], list[str]]) -> dict[str, Words]:
        return {name: [split(line) for _, line in self._worded(name)] for name in SECTIONS}

    def _section(self, section: str, read: Callable[[Words], Any]) -> Any:
        """Read a section, and name the line of what is wrong in it."""
        try:
            return read(self.words[section])
        except MisreadError as fault:
            for place, (i, _) in enumerate(self._worded(section)):
                if place == fault.place:
                    self._refuse(i, str(fault))
            raise

    def _refuse(self, i: int, message: str) -> None:
        raise InputError(f"{self.name}:{i + 1}: {message}")

    # ---- sections

    def _rows(self, words: Words) -> list[tuple[str, str]]:
        found: dict[str, str] = {}
        for place, line in enumerate(words):
            if len(line) != 2 or line[0].upper() not in ("N", "L", "G", "E"):
                raise _misplaced(place, line, "ROWS")
            if line[1] in found:
                raise MisreadError(place, f"the row {line[1]!r} is named twice")
            found[line[1]] = line[0].upper()
        return [(kind, name) for name, kind in found.items()]

    def _by_row(self, words: Words, places: dict[str, int], section: str) -> dict[int, Number]:
        """Read right-hand sides or ranges, by the numbers of their rows."""
        found: dict[int, Number] = {}
        first = None
        for place, line in enumerate(words):
            if not 2 <= len(line) <= 5:
                raise _misplaced(place, line, section)
            label = line[0] if len(line) % 2 else ""
            first = label if first is None else first
            pairs = line[len(line) % 2 :]
            for row, text in zip(pairs[::2], pairs[1::2], strict=True):
                i = _place(places, row, place, "row")
                value = _number(text, place)
                if label == first:
                    if i in found:
                        raise MisreadError(place, f"{section} has two numbers for the row {row!r}")
                    found[i] = value
                else:
                    self._note(f"Of the sets of {section}, only the first, {first!r}, counts.")
        return found

    def _bounds(self, words: Words, unknowns: Unknowns) -> None:
        first = None
        for place, line in enumerate(words):
            kind = line[0].upper()
            label, column, text = _parts_of_bound(kind, place, line, unknowns.places)
            j = _place(unknowns.places, column, place, "column")
            first = label if first is None else first
            if label != first:
                self._note(f"Of the sets of BOUNDS, only the first, {first!r}, counts.")
                continue
            value = 0.0 if text is None else _number(text, place, infinite=True)
            try:
                unknowns.bound(j, kind, value)
            except ValueError as fault:
                raise MisreadError(place, str(fault)) from None

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _fit(words: dict[str, Words]) -> bool:
    """Tell whether the lines of the first sections have as many words as they should."""
    return {*map(len, words["ROWS"])} <= {2} and {*map(len, words["COLUMNS"])} <= {3, 5}


def _fields(line: str) -> list[str]:
    """Cut a line at the places of the fixed format."""
    return [word for word in (line[field].strip() for field in FIELDS) if word]


def _columns(words: Words, places: dict[str, int]) -> tuple[Any, Unknowns, Any]:
    """Read the coefficients, all of them at a time: there may be millions."""
    for place, line in enumerate(words):
        if len(line) not in (3, 5):
            raise _misplaced(place, line, "COLUMNS")
    markers = [k for k, line in enumerate(words) if line[1] == MARKER]
    own = np.setdiff1d(np.arange(len(words)), markers, assume_unique=True)
    integer = _integer_lines(words, markers)[own]
    words = [words[k] for k in own.tolist()] if markers else words
    heads = [line[0] for line in words]
    new = np.array([True, *map(ne, heads[1:], heads)][: len(heads)], bool)
    names, line_columns = list(compress(heads, new)), np.cumsum(new) - 1
    longer = [k for k, line in enumerate(words) if len(line) == 5]
    lines = np.array([*range(len(words)), *longer], np.int64)
    rows = [line[1] for line in words] + [words[k][3] for k in longer]
    texts = [line[2] for line in words] + [words[k][4] for k in longer]
    columns, origins = line_columns[lines], own[lines]
    values = _floats(texts, origins)
    found = np.array([places.get(row, -1) for row in rows], np.int64)
    if (found < 0).any():
        k = int((found < 0).argmax())
        raise MisreadError(int(origins[k]), f"the row {rows[k][:40]!r} is not in ROWS")
    _refuse_twins(names, own[new], (found, columns, origins))
    matrix = sparse.csr_matrix((values, (found, columns)), (len(places), len(names)))
    matrix.eliminate_zeros()
    return matrix, Unknowns(names, line_columns[integer].tolist()), kept_beside(texts)


def _integer_lines(words: Words, markers: list[int]) -> np.ndarray:
    """Tell which lines lie between markers of integers."""
    inside = np.zeros(len(words), bool)
    for k, begin in enumerate(markers):
        wanted = "'INTEND'" if k % 2 else "'INTORG'"
        if words[begin][2].upper() != wanted:
            raise MisreadError(
                begin, f"the marker is {words[begin][2][:40]!a} in place of {wanted}"
            )
        end = markers[k + 1] if k + 1 < len(markers) else len(words)
        inside[begin:end] = k % 2 == 0
    return inside


def _floats(texts: list[str], lines: np.ndarray) -> np.ndarray:
    try:
        return floats_of(texts)
    except UnusableError as fault:
        raise MisreadError(int(lines[fault.place]), str(fault)) from None


def _refuse_twins(
    names: list[str], begins: np.ndarray, entries: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> None:
    """Refuse columns that come twice, and two coefficients in one place."""
    if len(set(names)) < len(names):
        seen: set[str] = set()
        for name, line in zip(names, begins.tolist(), strict=True):
            if name in seen:
                raise MisreadError(
                    line, f"the column {name[:40]!r} comes twice, with others between"
                )
            seen.add(name)
    rows, columns, lines = entries
    places = rows * np.int64(len(names)) + columns
    order = np.argsort(places, kind="stable")
    twins = np.flatnonzero(np.diff(places[order]) == 0)
    if twins.size:
        k = order[twins[0] + 1]
        message = f"the column {names[columns[k]][:40]!r} has two numbers in one row"
        raise MisreadError(int(lines[k]), message)


def _parts_of_bound(
    kind: str, place: int, line: list[str], places: dict[str, int]
) -> tuple[str, str, str | None]:
    """Give the set, the column and the number of a bound."""
    if kind in NUMBERED and len(line) in (3, 4):
        return (line[1] if len(line) == 4 else ""), line[-2], line[-1]
    if kind in UNNUMBERED and 2 <= len(line) <= 4:
        if len(line) == 3 and line[1] in places and line[2] not in places:
            line = line[:2]  # a number that nobody asked for
        return (line[1] if len(line) > 2 else ""), line[min(len(line) - 1, 2)], None
    raise _misplaced(place, line, "BOUNDS")


def _place(places: dict[str, int], name: str, place: int, what: str) -> int:
    found = places.get(name)
    if found is None:
        raise MisreadError(place, f"the {what} {name[:40]!r} is not in {what.upper()}S")
    return found


def _number(text: str, place: int, infinite: bool = False) -> Number:
    try:
        return number_or_infinity(text) if infinite else exact_number_of(text)
    except ValueError as fault:
        raise MisreadError(place, str(fault)) from None


def _misplaced(place: int, line: list[str], section: str) -> MisreadError:
    words = " ".join(line)[:60]
    return MisreadError(
        place, f"{words!a} is not a line of {section}, which reads: {USES[section]}"
    )
