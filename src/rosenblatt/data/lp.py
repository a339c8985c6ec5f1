r"""Linear programs in the LP format of CPLEX, as HiGHS and others read it.

    Minimize       obj: 2 x + 3 y
    Subject To     c1: x - 0.5 y >= 1          \ a comment
                   c2: -1 <= x + y <= 4
    Bounds         -inf <= x <= 3    y free    z = 2
    General        x
    Binary         y
    End

The rules
---------
- Sections begin with their keyword, in upper or lower case; names are what has none of the
  characters  : + - < > = * / ^ [ ]  and does not begin like a number.
- A row is an expression, a relation and a number, or a number, a relation, an expression and
  perhaps another relation and number. < means <=. Numbers in an expression are moved to the
  right-hand side, and terms of the same unknown are added up.
- Unknowns are at least 0 unless bounds say else; the last bound counts.
- Nothing but the names is taken from the objective.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number
from rosenblatt.data.programs import (
    INFINITIES,
    Ends,
    LinearProgram,
    Unknowns,
    is_infinite,
    number_or_infinity,
)
from rosenblatt.data.sources import MisreadError
from rosenblatt.data.written import exact_number_of, floats_of, kept_beside
from rosenblatt.decimals import Written, written_numbers
from rosenblatt.errors import InputError, ParseError

COMMENT = re.compile(r"/\*.*?\*/|[\\;][^\n]*", re.DOTALL)
KEYWORD = re.compile(
    r"(?:^|(?<![-+*<>=:^\[\s])\s)\s*"  # in a new line, or not where a name is due
    r"(minimi[sz]e|minimum|min|maximi[sz]e|maximum|max|subject\s+to|such\s+that|s\.t\.|st\.?|"
    r"bounds?|generals?|gen|integers?|int|binary|binaries|bin|semi-continuous|semis?|"
    r"sos[12]?|lazy\s+constraints|user\s+cuts|end)(?!\S|\s*:)",
    re.IGNORECASE | re.MULTILINE,
)
TOKEN = re.compile(
    r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[<>]=?|=[<>]?|[-+:*/^\[\]]|[^-\s:+<>^=/*\[\]]+"
)
SECTIONS = {"su": "rows", "s.": "rows", "st": "rows", "bo": "bounds", "ge": "integer"}
SECTIONS |= {"in": "integer", "bi": "binary", "se": "semicontinuous", "en": "end"}
SECTIONS |= {"mi": "objective", "ma": "objective", "so": "refused"}
SECTIONS |= {"la": "refused", "us": "refused"}
AT_MOST, AT_LEAST = ("<", "<=", "=<"), (">", ">=", "=>")
TURNED = {"<": ">", "<=": ">=", "=<": ">=", ">": "<", ">=": "<=", "=>": "<=", "=": "="}
MARKS = "+-<>=:*/^[]"
CUT = "the file ends too early; it may be cut off"
LEFT = "variables belong to the left of the relation"


def parse_lp(text: str, name: str) -> LinearProgram:
    """Read a program."""
    return _LpReader(text, name).program()


class _Expression(NamedTuple):
    """Terms, as pairs of a column and a signed coefficient, the sum of the numbers, and its end."""

    terms: list[tuple[int, str]]
    constant: Number
    end: int


class _LpReader:
    """The text of a file, and what it says."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = COMMENT.sub(_only_lines, text), name
        self.unknowns = Unknowns()
        self.labels: list[str] = []
        self.ends: list[Ends] = []
        self.terms: list[list[tuple[int, str]]] = []
        self.notes: list[str] = []
        self.span = 0, 0
        self.tokens: list[str] = []

    def program(self) -> LinearProgram:
        """Read all sections."""
        for section, begin, end in self._sections():
            self.span = begin, end
            self.tokens = TOKEN.findall(self.text, begin, end)
            try:
                getattr(self, f"_read_{section}")()
            except MisreadError as fault:
                found = self._found()
                self._refuse(found[fault.place].start() if fault.place < len(found) else end, fault)
        notes = self.unknowns.settle(negative=False, binary=False)
        matrix, written = self._matrix()
        return LinearProgram(
            matrix, written, self.ends, self.unknowns, self.labels, (*self.notes, *notes)
        )

    def _found(self) -> list[re.Match[str]]:
        """Give the tokens of the section with their places."""
        return [*TOKEN.finditer(self.text, *self.span)]

    def _sections(self) -> Iterator[tuple[str, int, int]]:
        if not self.text.strip():
            self._refuse(0, "the file is empty; give it sections, from Minimize to End")
        found = list(KEYWORD.finditer(self.text))
        begin = found[0].start(1) if found else len(self.text)
        if self.text[:begin].strip():
            self._refuse(len(self.text) - len(self.text.lstrip()), "no section begins here")
        for k, match in enumerate(found):
            section = SECTIONS[match[1][:2].lower()]
            if section == "end":
                return
            if section == "refused":
                self._refuse(match.start(1), f"{match[1]!r} is not a section of a linear program")
            end = found[k + 1].start(1) if k + 1 < len(found) else len(self.text)
            yield section, match.end(1), end
        self._refuse(len(self.text), "there is no End; the file may be cut off")

    def _refuse(self, place: int, fault: object) -> None:
        line = self.text.count("\n", 0, place) + 1
        column = place - (self.text.rfind("\n", 0, place) + 1) + 1
        raise ParseError(str(fault), file=self.name, line=line, column=column)

    # ---- sections

    def _read_objective(self) -> None:
        if any(token in TURNED for token in self.tokens):
            self._refuse_relations()
        names = [token for token in self.tokens if _is_name(token)]
        if len(self.tokens) > 1 and self.tokens[1] == ":":
            names = names[1:]
        for name in names:
            self.unknowns.place(name)
        if names:
            self.notes.append("The objective is ignored.")

    def _refuse_relations(self) -> None:
        """Refuse an objective with relations, which are those of rows without their keyword."""
        for k, token in enumerate(self.tokens):
            if token.lower() in ("subject", "such"):
                whole = "Subject To" if token.lower() == "subject" else "Such That"
                raise MisreadError(k, f"{token!r} begins no section; write {whole}")
            if token in TURNED:
                raise MisreadError(k, "an objective has no relation; write Subject To before rows")

    def _read_rows(self) -> None:
        k = 0
        while k < len(self.tokens):
            label = f"row {len(self.labels)}"
            if self._at(k + 1) == ":":
                label, k = self.tokens[k], k + 2
            k = self._row(k)
            self.labels.append(label)

    def _row(self, k: int) -> int:
        """Read a row without its name."""
        if self._at(k) in TURNED and self._at(k - 1) == ":":  # a row without terms
            right, end = self._number(k + 1)
            self._add(_Expression([], 0, k), *_ends(self.tokens[k], right))
            return end
        left = self._expression(k)
        if left.terms and self._at(left.end) not in TURNED and self._continues(k):
            name = self.unknowns.names[left.terms[0][0]]
            raise MisreadError(k, f"{name[:40]!a} is on the right; {LEFT}")
        relation = self._relation(left.end)
        if left.terms:
            right, end = self._number(left.end + 1)
            self._add(left, *_ends(relation, right))
            return end
        inside = self._expression(left.end + 1)
        lower, upper = _ends(TURNED[relation], left.constant)
        end = inside.end
        if self._at(end) in TURNED:
            if self.tokens[end] not in (AT_MOST if relation in AT_MOST else AT_LEAST):
                raise MisreadError(end, "the two relations of a row must point the same way")
            other, end = self._number(end + 1)
            more = _ends(self.tokens[inside.end], other)
            lower, upper = (lower, more[1]) if upper == math.inf else (more[0], upper)
        self._add(inside, lower, upper)
        return end

    def _continues(self, k: int) -> bool:
        """Tell whether a token follows a number in the same line."""
        if not (k and _is_number(self.tokens[k - 1])):
            return False
        before, here = self._found()[k - 1 : k + 1]
        return "\n" not in self.text[before.end() : here.start()]

    def _add(self, inside: _Expression, lower: Number, upper: Number) -> None:
        """Add a row, whose numbers are moved to its ends."""
        if lower == math.inf or upper == -math.inf:
            raise MisreadError(inside.end, "a row cannot be beyond infinity")
        self.terms.append(inside.terms)
        self.ends.append((_moved(lower, inside.constant), _moved(upper, inside.constant)))

    def _expression(self, k: int) -> _Expression:
        """Read terms, up to a relation, a name of a row, or a term without a sign."""
        terms: list[tuple[int, str]] = []
        constant: Number = 0
        first = k
        while k < len(self.tokens):
            sign, start = "", k
            while self._at(k) in ("+", "-"):
                sign = "-" if (sign == "-") != (self.tokens[k] == "-") else "+"
                k += 1
            if (not sign and k > first) or (k < len(self.tokens) and self._at(k + 1) == ":"):
                k = start
                break
            number = self._at(k) if _is_number(self._at(k)) else ""
            k += bool(number)
            token = self._at(k)
            if _is_name(token) and self._at(k + 1) != ":" and token.lower() not in INFINITIES:
                terms.append((self.unknowns.place(token), sign + (number or "1")))
                k += 1
            elif number:
                value = self._taken(sign + number, k - 1)
                if is_infinite(value):
                    raise MisreadError(k - 1, "a term of a row is infinite")
                constant += value
            else:
                break
        if k == first or self._at(k - 1) in ("+", "-"):
            raise MisreadError(
                k, f"{self._at(k)[:40]!a} is in the place of a term" if self._at(k) else CUT
            )
        return _Expression(terms, constant, k)

    def _relation(self, k: int) -> str:
        token = self._at(k)
        if token not in TURNED:
            raise MisreadError(k, f"{token[:40]!a} is in the place of a relation" if token else CUT)
        return token

    def _number(self, k: int) -> tuple[Number, int]:
        """Read a number, or infinity."""
        sign = ""
        while self._at(k) in ("+", "-"):
            sign = "-" if (sign == "-") != (self.tokens[k] == "-") else "+"
            k += 1
        token = self._at(k)
        if not _is_number(token) and token.lower() not in INFINITIES:
            fault = f"{token[:40]!a} is in the place of a number" if token else CUT
            raise MisreadError(k, f"{fault}; {LEFT}" if _is_name(token) else fault)
        return self._taken(sign + token, k), k + 1

    def _taken(self, text: str, k: int) -> Number:
        try:
            return number_or_infinity(text)
        except ValueError as fault:
            raise MisreadError(k, str(fault)) from None

    def _at(self, k: int) -> str:
        return self.tokens[k] if k < len(self.tokens) else ""

    def _read_bounds(self) -> None:
        k = 0
        while k < len(self.tokens):
            start = k
            turned = None
            if not _is_name(self.tokens[k]) or self.tokens[k].lower() in INFINITIES:
                turned, k = self._number(k)
                relation = TURNED[self._relation(k)]
                k += 1
            name = self._at(k)
            if not _is_name(name):
                raise MisreadError(k, f"{name[:40]!a} is in the place of a name" if name else CUT)
            j, k = self.unknowns.place(name), k + 1
            try:
                if turned is not None:
                    self._bound(j, relation, turned)
                if self._at(k).lower() == "free" and turned is None:
                    self.unknowns.bound(j, "FR", 0.0)
                    k += 1
                elif turned is None or self._at(k) in TURNED:
                    other = self._relation(k)
                    if turned is not None and (
                        other == "=" or (other in AT_MOST) == (relation in AT_MOST)
                    ):
                        raise MisreadError(
                            k, "the two relations of a bound must point the same way"
                        )
                    value, k = self._number(k + 1)
                    self._bound(j, other, value)
            except ValueError as fault:
                raise MisreadError(start, str(fault)) from None

    def _bound(self, j: int, relation: str, value: Number) -> None:
        lower, upper = _ends(relation, value)
        if relation not in AT_MOST:
            self.unknowns.set_lower(j, lower)
        if relation not in AT_LEAST:
            self.unknowns.set_upper(j, upper)

    def _read_integer(self) -> None:
        self.unknowns.integer.update(self._names())

    def _read_binary(self) -> None:
        for j in self._names():
            self.unknowns.integer.add(j)
            if self.unknowns.upper[j] is None:
                self.unknowns.upper[j] = 1.0

    def _read_semicontinuous(self) -> None:
        self.unknowns.semicontinuous.update(self._names())

    def _names(self) -> list[int]:
        for k, token in enumerate(self.tokens):
            if not _is_name(token):
                raise MisreadError(k, f"{token[:40]!a} is in the place of a name")
        return [self.unknowns.place(token) for token in self.tokens]

    # ---- coefficients

    def _matrix(self) -> tuple[Any, Written]:
        """Put all terms into a matrix, those of the same unknown added up."""
        texts = [text for terms in self.terms for _, text in terms]
        columns = np.array([j for terms in self.terms for j, _ in terms], np.int64)
        rows = np.repeat(np.arange(len(self.terms)), [len(terms) for terms in self.terms])
        shape = len(self.terms), len(self.unknowns.names)
        try:
            values = floats_of(texts)
        except ValueError as fault:
            raise InputError(f"{self.name}: {fault}") from None
        if np.unique(rows * np.int64(shape[1]) + columns).size == columns.size:
            matrix = sparse.csr_matrix((values, (rows, columns)), shape)
            written = kept_beside(texts)
        else:
            matrix, written = self._added_up(shape)
        matrix.eliminate_zeros()
        return matrix, written

    def _added_up(self, shape: tuple[int, int]) -> tuple[Any, Written]:
        sums: dict[tuple[int, int], Number] = {}
        for i, terms in enumerate(self.terms):
            for j, text in terms:
                sums[i, j] = Fraction(sums.get((i, j), 0)) + Fraction(exact_number_of(text))
        numbers = list(sums.values())
        values = list(map(float, numbers))
        rows, columns = zip(*sums, strict=True)
        return sparse.csr_matrix((values, (rows, columns)), shape), written_numbers(values, numbers)


def _only_lines(comment: re.Match[str]) -> str:
    return " " + "\n" * comment[0].count("\n")


def _is_number(token: str) -> bool:
    return token[:1].isdecimal() or token[:1] == "."


def _is_name(token: str) -> bool:
    return bool(token) and token[0] not in MARKS and not _is_number(token)


def _ends(relation: str, value: Number) -> tuple[Number, Number]:
    """Give the ends of what is in this relation to a number."""
    lower = -math.inf if relation in AT_MOST else value
    upper = math.inf if relation in AT_LEAST else value
    return lower, upper


def _moved(end: Number, constant: Number) -> Number | None:
    if is_infinite(end):
        return None
    return Fraction(end) - Fraction(constant) if constant else end
