"""Linear programs in ``.mps`` and ``.lp`` files, as systems.

The rules
---------
- Each row of the program has a lower and an upper end: equal ends make an equation, else the lower
  one a row a·w >= b and the upper one a row -a·w >= -b. Rows without ends, and the objective, are
  left out. The bounds of the columns are the bounds of the unknowns.
- Ends and bounds from 1e20 on are infinite, as is usual in these files.
- Numbers are exact: 0.1 stands for 1/10.
- Numbers that ask for integers are left to be real: a program that has no solution then has none
  in integers either.
- `rosenblatt.data.mps` and `rosenblatt.data.lp` say how the files are read. What they leave out, or
  take in a way that others do not, they say in notes.
"""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number
from rosenblatt.check.subjects import System
from rosenblatt.data.sources import contents, shown
from rosenblatt.data.written import exact_number_of
from rosenblatt.decide.systems.solve import Solution, solve_system
from rosenblatt.decide.systems.wording import Wording
from rosenblatt.decimals import Written, is_whole, marked, written_numbers
from rosenblatt.errors import InputError
from rosenblatt.matrices import Matrix

INFINITE = 10**20  # from here on ends and bounds are infinite, as is usual in these files
INFINITIES = ("inf", "infinity")
NUMBERED = ("UP", "LO", "FX", "LI", "UI", "SC", "SI")  # types of bounds
UNNUMBERED = ("FR", "MI", "PL", "BV")
FEW = 3  # names in a note
INTEGERS = (
    "That {} should be integers is ignored: what has no solution has none in integers either, but "
    "for a solution in integers ask a mixed-integer solver, such as HiGHS."
)
SEMICONTINUOUS = "That {} may be 0 or else above a bound is relaxed: all between is allowed."

Bound = Number | None
Ends = tuple[Bound, Bound]


class SystemFile(NamedTuple):
    """A system A w >= b as a file holds it.

    Attributes
    ----------
    A, b : coefficients and right-hand sides.
    strict, equal : which rows are a·w > b, and which a·w = b.
    bounds : a pair (lower, upper) for each unknown, None for no bound; None if there are none.
    names, rows : names of the unknowns, and of the rows if the file names them.
    notes : sentences about what was left out, or taken in a way that others do not.
    negated : which rows were written with <= or <.
    """

    A: Matrix
    b: np.ndarray
    strict: np.ndarray
    equal: np.ndarray
    bounds: list[tuple[Bound, Bound]] | None
    names: list[str]
    rows: Sequence[str] = ()
    notes: tuple[str, ...] = ()
    negated: np.ndarray | None = None

    @property
    def wording(self) -> Wording:
        """The names of all."""
        return Wording(self.names, self.rows, self.negated)

    def solved(self, strict: Any = False, **options: Any) -> Solution:
        """Find a solution, or prove that there is none; the options are those of `solve`."""
        strict = self.strict if strict is False else strict
        parts = self.A, self.b, strict, self.equal, self.bounds
        found = solve_system(lambda: System(*parts), **options)
        return replace(
            found, names=tuple(self.names), notes=tuple(self.notes), wording=self.wording
        )


class LinearProgram(NamedTuple):
    """A linear program without its objective.

    Attributes
    ----------
    matrix, written : coefficients of all rows, and those that their floats do not tell.
    ends : the lower and the upper end of each row, None for none.
    unknowns : names and bounds of the columns.
    rows : names of the rows.
    notes : sentences about what was left out, or taken in a way that others do not.
    """

    matrix: Any
    written: Written
    ends: Sequence[Ends]
    unknowns: Unknowns
    rows: Sequence[str]
    notes: tuple[str, ...] = ()


@lru_cache(1 << 16)
def number_or_infinity(text: str) -> Number:
    """Read an end, infinite ones as floats."""
    word = text.lstrip("+-").lower()
    if word in INFINITIES:
        return -math.inf if text.startswith("-") else math.inf
    value = exact_number_of(text)
    return value if -INFINITE < value < INFINITE else math.copysign(math.inf, value)


def is_infinite(value: Number) -> bool:
    """Tell whether an end is infinite."""
    return isinstance(value, float) and math.isinf(value)


def interval(kind: str, right: Number, width: Number | None) -> Ends:
    """Give the ends of a row of type L, G or E, with the width that RANGES says."""
    finite = -INFINITE < right < INFINITE
    lower = right if kind in "GE" and finite else None
    upper = right if kind in "LE" and finite else None
    if width is None or not finite or (kind == "E" and not width):
        return lower, upper
    if kind == "G" or (kind == "E" and width > 0):
        return lower, Fraction(right) + abs(Fraction(width))
    return Fraction(right) - abs(Fraction(width)), upper


class Unknowns:
    """The columns of a program, and their bounds: 0 and infinity, unless a file says else."""

    def __init__(self, names: Iterable[str] = (), integer: Iterable[int] = ()) -> None:
        self.names = list(names)
        self.places = {name: j for j, name in enumerate(self.names)}
        self.lower: list[Number | None] = [0.0] * len(self.names)
        self.upper: list[Number | None] = [None] * len(self.names)
        self.integer = set(integer)
        self.semicontinuous: set[int] = set()
        self.given: tuple[set[int], set[int]] = (set(), set())  # columns with a bound of the file
        self.twice: list[int] = []

    def place(self, name: str) -> int:
        """Give the number of a column, which is added if it is new."""
        j = self.places.setdefault(name, len(self.names))
        if j == len(self.names):
            self.names.append(name)
            self.lower.append(0.0)
            self.upper.append(None)
        return j

    def bound(self, j: int, kind: str, value: Number) -> None:
        """Take a bound of column j, of a type as in MPS files."""
        if kind in ("FR", "MI"):
            value = -math.inf
        if kind in ("LO", "LI", "FX", "FR", "MI", "BV"):
            self.set_lower(j, 0.0 if kind == "BV" else value)
        if kind in ("FR", "PL", "BV"):
            value = 1.0 if kind == "BV" else math.inf
        if kind in ("UP", "UI", "SC", "SI", "FX", "FR", "PL", "BV"):
            self.set_upper(j, value)
        if kind in ("BV", "LI", "UI", "SI"):
            self.integer.add(j)
        if kind in ("SC", "SI"):
            self.semicontinuous.add(j)

    def set_lower(self, j: int, value: Number) -> None:
        """Replace a lower bound."""
        infinite = is_infinite(value)
        if infinite and value > 0:
            raise ValueError(f"the lower bound of {self.names[j][:40]!r} is infinite")
        if j in self.given[0]:
            self.twice.append(j)
        self.given[0].add(j)
        self.lower[j] = None if infinite else value

    def set_upper(self, j: int, value: Number) -> None:
        """Replace an upper bound."""
        infinite = is_infinite(value)
        if infinite and value < 0:
            raise ValueError(f"the upper bound of {self.names[j][:40]!r} is -infinity")
        if j in self.given[1]:
            self.twice.append(j)
        self.given[1].add(j)
        self.upper[j] = None if infinite else value

    def settle(self, negative: bool, binary: bool) -> list[str]:
        """Complete bounds that the file leaves open, and say so.

        With `negative`, a negative upper bound frees the lower one; with `binary`, integers without
        bounds are at most 1.
        """
        lower, upper = self.given
        freed = [j for j in sorted(upper - lower) if negative and (self.upper[j] or 0) < 0]
        for j in freed:
            self.lower[j] = None
        for j in self.integer if binary else ():
            if j not in lower and j not in upper:
                self.upper[j] = 1.0
        for j in self.semicontinuous:
            if (self.lower[j] or 0) > 0:
                self.lower[j] = 0.0
        return [
            *self._told(self.twice, "Of several bounds of {}, the last counts."),
            *self._told(freed, "The upper bound of {} is negative, so it has no lower one."),
            *self._told(self.integer, INTEGERS),
            *self._told(self.semicontinuous, SEMICONTINUOUS),
        ]

    def _told(self, places: Iterable[int], words: str) -> list[str]:
        """Give a sentence about some columns, if there are any."""
        chosen = list(dict.fromkeys(places))
        if not chosen:
            return []
        names = ", ".join(self.names[j] for j in chosen[:FEW])
        more = f" and {len(chosen) - FEW:,} more" if len(chosen) > FEW else ""
        return [words.format(names + more)]


def read_program(path: str | os.PathLike[str], kind: str) -> SystemFile:
    """Read a program."""
    from rosenblatt.data.lp import parse_lp
    from rosenblatt.data.mps import parse_mps

    name, text = shown(path), _decoded(contents(path).tobytes())
    with _uncollected():
        program = (parse_lp if kind == "lp" else parse_mps)(text, name)
    if not program.unknowns.names:
        counts = f"{len(program.ends)} rows of {len(program.unknowns.names)} unknowns"
        raise InputError(f"{name} holds no system: {counts}")
    try:
        return _as_rows(program)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def program_of_model(model: Any) -> SystemFile:
    """Take the rows and bounds of a model of HiGHS, `highspy.Highs`."""
    lp = model.getLp()
    shape = lp.num_row_, lp.num_col_
    if not shape[1]:
        raise InputError(f"the model holds no system: {shape[0]} rows of {shape[1]} unknowns")
    stored = lp.a_matrix_
    by_rows = stored.format_ == type(stored.format_).kRowwise
    kind = sparse.csr_matrix if by_rows else sparse.csc_matrix
    matrix = kind((stored.value_, stored.index_, stored.start_), shape=shape).tocsr()
    names = [list(given) for given in (lp.row_names_, lp.col_names_)]
    rows, columns = (
        given if len(given) == size and all(given) else [f"{letter}{k}" for k in range(size)]
        for given, size, letter in zip(names, shape, "rx", strict=True)
    )
    unknowns = Unknowns(columns, [j for j, kind in enumerate(lp.integrality_) if kind.value == 1])
    unknowns.lower, unknowns.upper = (
        [None if math.isinf(end) else end for end in side]
        for side in (lp.col_lower_, lp.col_upper_)
    )
    ends = [
        (None if math.isinf(low) else low, None if math.isinf(high) else high)
        for low, high in zip(lp.row_lower_, lp.row_upper_, strict=True)
    ]
    notes = ["The objective is ignored."] * bool(np.any(lp.col_cost_))
    notes += unknowns.settle(negative=False, binary=False)
    return _as_rows(LinearProgram(matrix, {}, ends, unknowns, rows, tuple(notes)))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Suspend the search for garbage, which looks at millions of words over and over."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _decoded(content: bytes) -> str:
    """Give the text of a file, whatever letters its names have."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _as_rows(program: LinearProgram) -> SystemFile:
    """Give the rows a·w >= b and a·w = b, two for a row with two ends."""
    chosen: list[tuple[int, float, Number, bool]] = []
    for i, (lower, upper) in enumerate(program.ends):
        equal = lower is not None and lower == upper
        if lower is not None:
            chosen.append((i, 1.0, lower, equal))
        if upper is not None and not equal:
            chosen.append((i, -1.0, -upper, False))
    places, signs = np.array([row[0] for row in chosen], np.int64), [row[1] for row in chosen]
    A = program.matrix[places].astype(np.float64)
    A.data *= np.repeat(signs, np.diff(A.indptr))
    A.sort_indices()
    rights, unknowns = [row[2] for row in chosen], program.unknowns
    b = np.array([float(value) + 0.0 for value in rights])
    bounds = list(zip(unknowns.lower, unknowns.upper, strict=True))
    if not (is_whole(A) and is_whole(b) and _are_floats((*unknowns.lower, *unknowns.upper))):
        A, b = marked(A, program.written), marked(b, written_numbers(b.tolist(), rights))
    names = [program.rows[i] for i in places.tolist()]
    equations = np.array([row[3] for row in chosen], bool)
    negated = np.array(signs) < 0
    strict = np.zeros(b.size, bool)
    own = unknowns.names, names, program.notes, negated
    return SystemFile(A, b, strict, equations, bounds, *own)


def _are_floats(bounds: Sequence[Number | None]) -> bool:
    return all(bound is None or isinstance(bound, float) for bound in bounds)
