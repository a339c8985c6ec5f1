"""Where a table written as text breaks its format.

Polars says what it dislikes, but rarely where. Once it has refused a CSV, TSV or JSON lines file,
regular expressions go over the rows that are sound, and stop at the first one that no reader could
make sense of.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

from rosenblatt.data.svmlight_errors import NOT_FINITE, quote

# UTF-8 without NUL.
SOUND = re.compile(
    rb"(?:[\x01-\x7f]++|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}"
    rb"|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})*+"
)
LINE = re.compile(rb"[^\n]*+\n?")
JSON_WORD = re.compile(r'"(?:[^"\\]|\\.)*+"|[^\s,:\[\]{}"]++')
JSON_ADVICE = 'write one object a line, such as {"height": 1.5, "label": 1}'


class Fault(NamedTuple):
    """An offset into a text, and what is wrong there."""

    offset: int
    message: str


def first_fault(text: Any, separator: str | None) -> Fault | None:
    """Give the first fault of cells between separators, or of JSON lines; None if there is none.

    The text is bytes, or a file that is mapped.
    """
    wrong = _wrong_bytes(text)
    stop = len(text) if wrong is None else text.rfind(b"\n", 0, wrong.offset) + 1
    found = _wrong_line(text, stop) if separator is None else _wrong_cell(text, separator.encode())
    if found is None or (wrong is not None and found.offset >= stop):
        return wrong
    return found


def _wrong_bytes(text: Any) -> Fault | None:
    sound = SOUND.match(text)
    assert sound is not None
    offset = sound.end()
    if offset == len(text):
        return None
    line = LINE.match(text, text.rfind(b"\n", 0, offset) + 1)
    assert line is not None
    nul = line.group().find(b"\0")
    if nul >= 0:
        message = "a NUL byte is not text; decompress or convert the file first"
        return Fault(line.start() + nul, message)
    stranger = quote(text[offset : offset + 1])
    return Fault(offset, f"invalid utf-8, {stranger}; convert the file to UTF-8")


def _wrong_cell(text: Any, separator: bytes) -> Fault | None:
    """Find the first cell that breaks the row that it stands in."""
    part = re.escape(separator)
    cell = rb'(?:"(?:[^"]++|"")*+"|[^"\r\n%b]*+)' % part
    first = re.compile(rb"[\r\n]*+((?:%b%b)*+)" % (cell, part)).match(text)
    width = 1 if first is None else len(re.findall(cell + part, first[1])) + 1
    rows = rb"(?:[ \t]*+\r?\n|(?:%b%b){0,%d}+%b(?:\r?\n|\Z))*+" % (cell, part, width - 1, cell)
    found, one = re.compile(rows).match(text), re.compile(cell)
    place = 0 if found is None else found.end()
    if place == len(text):
        return None
    for _ in range(width):
        found = one.match(text, place)
        end = place if found is None else found.end()
        if text[end : end + 1] != separator:
            return _wrong_end(text, place, end)
        place = end + 1
    advice = "put cells that hold a separator into quotes, or mend the line"
    header = LINE.match(text)
    other = re.search(rb"[;|\t]", header.group()) if header is not None and width == 1 else None
    if other is not None:
        mark = repr(other.group().decode())
        advice = f"if {mark} separates the cells, pass separator={mark}"
    return Fault(place, f"found more fields than the {width} of the first row; {advice}")


def _wrong_end(text: Any, start: int, end: int) -> Fault:
    """Say what is wrong with a cell that does not end where it should."""
    if text[end : end + 1] == b"\r":
        return Fault(end, r"a carriage return alone ends no line; end lines in \n")
    if start == end:
        advice = "close it, or double it if it belongs to the cell"
        return Fault(end, f"a quote opens a cell here and never closes it; {advice}")
    advice = "put the whole cell into quotes and double those inside it"
    return Fault(end, f"a quote stands inside a cell; {advice}")


def _wrong_line(text: Any, stop: int) -> Fault | None:
    """Find the first line before an offset that is no object of JSON."""
    place, blank = 0, True
    while place < stop:
        line = LINE.match(text, place)
        assert line is not None
        if line.group().strip():
            blank = False
            found = _wrong_json(line.group().decode().rstrip("\r\n"))
            if found is not None:
                return Fault(place + found.offset, found.message)
        place = line.end()
    return Fault(0, f"there is no object; {JSON_ADVICE}") if blank and stop == len(text) else None


class _NotFiniteError(ValueError):
    """A number that JSON, or a double, does not know."""


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise _NotFiniteError(word)
    return number


def _wrong_json(text: str) -> Fault | None:
    start = len(text) - len(text.lstrip())
    try:
        found: Any = json.loads(
            text, parse_constant=_finite, parse_float=_finite, parse_int=_finite
        )
    except _NotFiniteError as error:
        words = JSON_WORD.finditer(text)
        place = next(word.start() for word in words if word.group() == str(error))
        return _not_finite(text, place, str(error))
    except json.JSONDecodeError as error:
        word = JSON_WORD.match(text, error.pos)
        if word is not None and NOT_FINITE.fullmatch(word.group().encode()):
            return _not_finite(text, error.pos, word.group())
        offset = len(text[: error.pos].encode())
        return Fault(offset, f"not JSON ({error.msg.lower()}); {JSON_ADVICE}")
    except RecursionError:
        return Fault(start, f"values are nested too deeply; {JSON_ADVICE}")
    if not isinstance(found, dict):
        return Fault(start, f"this is not an object; {JSON_ADVICE}")
    return None


def _not_finite(text: str, place: int, word: str) -> Fault:
    message = f"the value {quote(word.encode())} is not finite; change it or leave it out"
    return Fault(len(text[:place].encode()), message)
