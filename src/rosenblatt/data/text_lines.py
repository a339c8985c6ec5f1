r"""Labelled lines of text, ``label<TAB>text``, found without making strings of them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.sources import MisreadError, as_text, line_and_column, without_mark
from rosenblatt.data.svmlight_errors import CONTROL, quote
from rosenblatt.errors import EmptyError, ParseError

TAB, NEWLINE, RETURN = 9, 10, 13
BLOCK = 1 << 22  # bytes that are searched at a time
FIRST_LINE = re.compile(rb"[\r\n]*+([^\r\n]*)")


class LabelledText(NamedTuple):
    """Labels, None if there are none, and where the text of each starts and stops."""

    labels: list[str] | None
    starts: np.ndarray
    stops: np.ndarray


class Lines(NamedTuple):
    """Where lines start, where their first tab is and where they stop."""

    starts: np.ndarray
    tabs: np.ndarray
    stops: np.ndarray


def label_text_lines(
    data: Any,
    *,
    file: str = "<bytes>",
    first_line: int = 1,
    wanted: bool = True,
    labelled: bool | None = None,
) -> LabelledText:
    r"""Find the labels and the texts in lines of the form ``label<TAB>text``.

    Lines end in \n or \r\n; the last one needs no end. Empty lines are skipped, and so is a UTF-8
    byte-order mark at the very beginning. The label is what stands before the first tab: UTF-8
    without control characters, and not nothing. The text is what stands after it and is not looked
    at. Starts and stops are int64 offsets, as `TextHasher.transform_bytes` takes them. Where the
    data are part of a larger text, `first_line` is the number of their first line. Labels that are
    not `wanted` are not looked at, and none are needed if the first line of all has no tab, or if
    it is known that lines are not `labelled`.

    Examples
    --------
    >>> labels, starts, stops = label_text_lines(b"spam\tbuy now\n\nham\tsee you\n")
    >>> labels, starts.tolist(), stops.tolist()
    (['spam', 'ham'], [5, 18], [12, 25])
    """
    text = as_text(data)
    begin = text.size - without_mark(text).size
    if labelled is None:
        first = FIRST_LINE.match(text.data)
        labelled = first is None or b"\t" in first[1]
    bare = not wanted and not labelled
    found, missing = find_lines(text, begin, bare)
    rows = found.starts.size
    try:
        labels = decoded_labels(text, found) if wanted else [""] * rows
        if missing is not None:
            raise MisreadError(missing, "there is no tab; write: label, tab, text")
    except MisreadError as wrong:
        line, column = line_and_column(text, wrong.place)
        line += first_line - 1
        raise ParseError(str(wrong), file=file, line=line, column=column) from None
    if rows == 0:
        raise EmptyError(f"{file} holds no examples; write one a line: label, tab, text")
    return LabelledText(None if bare else labels, found.tabs + 1, found.stops)


def find_lines(text: np.ndarray, begin: int, bare: bool) -> tuple[Lines, int | None]:
    """Find lines that are not empty, up to the first without a tab; bare ones need none.

    Gives them, and where the line without a tab stops, if there is one.
    """
    ends = places(text, NEWLINE)
    ended = text[np.maximum(ends - 1, 0)] == RETURN
    starts, stops = np.append(begin, ends + 1), np.append(ends - ended, text.size)
    filled = stops > starts
    starts, stops = starts[filled], stops[filled]
    if bare:
        return Lines(starts, starts - 1, stops), None
    tabs = np.append(places(text, TAB), text.size)
    tabs = tabs[np.searchsorted(tabs, starts)]
    without = np.flatnonzero(tabs >= stops)
    rows = slice(without[0] if without.size else None)
    missing = int(stops[without[0]]) if without.size else None
    return Lines(starts[rows], tabs[rows], stops[rows]), missing


def places(text: np.ndarray, byte: int) -> np.ndarray:
    """Give where a byte stands."""
    blocks = range(0, text.size, BLOCK)
    found = [np.flatnonzero(text[first : first + BLOCK] == byte) + first for first in blocks]
    return np.concatenate([np.zeros(0, np.int64), *found])


def decoded_labels(text: np.ndarray, lines: Lines) -> list[str]:
    """Give the labels of lines; equal ones are the same object, so that they take no room."""
    view: Any = text.data
    known: dict[bytes, str] = {}
    labels = []
    for start, tab in zip(lines.starts.data, lines.tabs.data, strict=True):
        name = bytes(view[start:tab])
        label = known.get(name)
        if label is None:
            label = known[name] = decoded_label(name, start)
        labels.append(label)
    return labels


def decoded_label(name: bytes, offset: int) -> str:
    """Give a label that begins at an offset into the text."""
    if not name:
        raise MisreadError(offset, "the label before the tab is missing; write: label, tab, text")
    control = CONTROL.search(name)
    if control is not None:
        message = f"the label {quote(name)} is not text; decompress or convert the file first"
        raise MisreadError(offset + control.start(), message)
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        message = "the label is not UTF-8; write the file in UTF-8"
        raise MisreadError(offset + error.start, message) from None
