"""Texts whose rows have no labels: each gets one that nobody looks at, and is read as ever.

The first row tells whether there are labels. In svmlight text a row without one begins with a pair,
or with qid; in a text of documents it has no tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from rosenblatt.data.sources import BYTE_ORDER_MARK, as_text
from rosenblatt.errors import ParseError

FIRST_ROW = re.compile(rb"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*+[ \t]*+([^ \t\r\n]*)")
BARE_ROW = re.compile(rb"^[ \t]*+(?=[^\s#:]++:)", re.MULTILINE)
FIRST_LINE = re.compile(rb"[\r\n]*+([^\r\n]*)")
LINE = re.compile(rb"^(?=[^\r\n])", re.MULTILINE)
TAB_FIRST = re.compile(rb"^(?=\t)", re.MULTILINE)
LABEL = b"0 "


class Rows:
    """Blocks of svmlight text, of whole lines, with a label on each row."""

    def __init__(self) -> None:
        self.bare: bool | None = None

    def labelled(self, block: np.ndarray) -> np.ndarray:
        """Give a block with labels: itself, if the first row of all has one."""
        if self.bare is None:
            content = block.tobytes().removeprefix(BYTE_ORDER_MARK)
            first = FIRST_ROW.match(content)
            if first is None or not first.group(1):
                return block
            self.bare = b":" in first.group(1)
        if not self.bare:
            return block
        return as_text(BARE_ROW.sub(LABEL, block.tobytes().removeprefix(BYTE_ORDER_MARK)))

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Let errors name columns as they are in the file."""
        try:
            yield
        except ParseError as error:
            if not self.bare:
                raise
            column = max(1, error.column - len(LABEL))
            raise ParseError(
                error.message, file=error.file, line=error.line, column=column
            ) from None


def labelled_lines(content: np.ndarray, labelled: bool | None) -> tuple[np.ndarray, bool]:
    """Give lines of documents with a label each, and whether they had none of their own.

    Whether they have labels may be known from the lines before.
    """
    text = content.tobytes().removeprefix(BYTE_ORDER_MARK)
    if labelled is None:
        first = FIRST_LINE.match(text)
        labelled = first is None or b"\t" in first.group(1)
    return as_text(TAB_FIRST.sub(b"?", text) if labelled else LINE.sub(b"?\t", text)), not labelled
