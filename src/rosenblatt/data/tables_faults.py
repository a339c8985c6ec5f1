"""Where a table written as text breaks its format.

Polars says what it dislikes, but rarely where. Once it has refused a CSV, TSV or JSON lines file,
the lines are read again here, slowly, up to the first one that no reader could make sense of.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from rosenblatt.data.svmlight_errors import NOT_FINITE, quote

__all__ = ["Fault", "first_fault"]

# From behind the quote that opens a cell to the one that closes it; two in a row are one inside.
REST_OF_QUOTED = re.compile(rb'[^"]*+(?:""[^"]*+)*+"')
JSON_WORD = re.compile(r'"(?:[^"\\]|\\.)*+"|[^\s,:\[\]{}"]++')
JSON_ADVICE = 'write one object a line, such as {"height": 1.5, "label": 1}'


class Fault(NamedTuple):
    """A place in a text, line and column counted from 1 and in bytes, and what is wrong there."""

    line: int
    column: int
    message: str


Found = tuple[int, str]  # an offset into a line, and what is wrong there


def first_fault(lines: Iterable[bytes], separator: str | None) -> Fault | None:
    """Give the first fault of cells between separators, or of JSON lines; None if there is none."""
    text = _Objects() if separator is None else _Cells(separator.encode())
    for number, line in enumerate(lines, start=1):
        found = _wrong_bytes(line) or text.take(line)
        if found is not None:
            return Fault(number, found[0] + 1, found[1])
    return text.end()


def _wrong_bytes(line: bytes) -> Found | None:
    nul = line.find(b"\0")
    if nul >= 0:
        return nul, "a NUL byte is no text; decompress or convert the file first"
    try:
        line.decode()
    except UnicodeDecodeError as error:
        stranger = quote(line[error.start : error.end])
        return error.start, f"invalid utf-8, {stranger}; convert the file to UTF-8"
    return None


class _Cells:
    """The cells of a text, taken line by line: how many a row has, and where quotes are open."""

    def __init__(self, separator: bytes) -> None:
        self.separator = separator
        self.width: int | None = None  # cells in the first row
        self.ended = 0  # cells of this row so far
        self.line = 0
        self.opened: tuple[int, int] | None = None

    def take(self, line: bytes) -> Found | None:
        """Take the next line; give what is wrong with it."""
        self.line += 1
        body = line.rstrip(b"\r\n")
        if self.line == 1 and b"\r" in body and not line.endswith(b"\n"):
            return body.find(b"\r"), r"a carriage return alone ends no line; end lines in \n"
        if self.opened is None and not body.strip():
            return None
        return self._walk(body)

    def end(self) -> Fault | None:
        """End the text; give the fault of a quote that it left open."""
        if self.opened is None:
            return None
        advice = "close it, or double it if it belongs to the cell"
        return Fault(*self.opened, f"a quote opens a cell here and never closes it; {advice}")

    def _walk(self, body: bytes) -> Found | None:
        place = 0
        while True:
            if self.opened is None and body.startswith(b'"', place):
                self.opened = self.line, place + 1
                place += 1
            if self.opened is not None:
                closed = REST_OF_QUOTED.match(body, place)
                if closed is None:
                    return None  # the cell goes on in the next line
                place, self.opened = closed.end(), None
            end = body.find(self.separator, place)
            stray = body.find(b'"', place, len(body) if end < 0 else end)
            if stray >= 0:
                advice = "put the whole cell into quotes and double those inside it"
                return stray, f"a quote stands inside a cell; {advice}"
            if end < 0:
                self.width, self.ended = self.width or self.ended + 1, 0
                return None
            self.ended, place = self.ended + 1, end + len(self.separator)
            if self.ended == self.width:
                advice = "put cells that hold a separator into quotes, or mend the line"
                return place, f"found more fields than the {self.width} of the first row; {advice}"


class _Objects:
    """The objects of JSON lines, taken line by line."""

    def __init__(self) -> None:
        self.blank = True

    def take(self, line: bytes) -> Found | None:
        """Take the next line; give what is wrong with it."""
        if not line.strip():
            return None
        self.blank = False
        return _wrong_json(line.decode().rstrip("\r\n"))

    def end(self) -> Fault | None:
        """End the text; give the fault of one without objects."""
        return Fault(1, 1, f"there is no object; {JSON_ADVICE}") if self.blank else None


class _NotFiniteError(ValueError):
    """A number that JSON, or a double, does not know."""


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise _NotFiniteError(word)
    return number


def _wrong_json(text: str) -> Found | None:
    start = len(text) - len(text.lstrip())
    try:
        found: Any = json.loads(
            text, parse_constant=_finite, parse_float=_finite, parse_int=_finite
        )
    except _NotFiniteError as error:
        words = JSON_WORD.finditer(text)
        place = next(word.start() for word in words if word.group() == str(error))
        return _offset(text, place), _not_finite(str(error))
    except json.JSONDecodeError as error:
        word = JSON_WORD.match(text, error.pos)
        if word is not None and NOT_FINITE.fullmatch(word.group().encode()):
            return _offset(text, error.pos), _not_finite(word.group())
        return _offset(text, error.pos), f"no JSON ({error.msg.lower()}); {JSON_ADVICE}"
    except RecursionError:
        return start, f"values are nested too deeply; {JSON_ADVICE}"
    return None if isinstance(found, dict) else (start, f"this is no object; {JSON_ADVICE}")


def _offset(text: str, place: int) -> int:
    return len(text[:place].encode())


def _not_finite(word: str) -> str:
    return f"the value {quote(word.encode())} is not finite; change it or leave it out"
