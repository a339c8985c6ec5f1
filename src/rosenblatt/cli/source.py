"""What a command reads: DATA and the options that say how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import rosenblatt as rb
from rosenblatt.cli.columns import aligned
from rosenblatt.data.cache import cached
from rosenblatt.data.read import cut_rows, format_of, read_blocks
from rosenblatt.errors import InputError

STREAM_BYTES = 1 << 24


@dataclass(frozen=True)
class Source:
    """A data set named on the command line."""

    data: str
    stream: bool
    cache: bool
    options: dict[str, Any]
    names: tuple[str, ...] = ()  # columns of the model that the data are for

    def examples(self, width: int | None = None) -> rb.Examples:
        """Read it whole."""
        if self.cache:
            return cached(self.data, **self.options)
        return rb.read(self.data, width=width, **self.options)

    def blocks(self, width: int | None = None) -> Iterator[rb.Examples]:
        """Read it block by block, or whole as one block if nobody asked for a stream."""
        if self.names:
            return (aligned(block, list(self.names), self.data) for block in self._pieces(None))
        return self._pieces(width)

    def _pieces(self, width: int | None) -> Iterator[rb.Examples]:
        if not self.stream:
            return iter([self.examples(width)])
        if self.cache:
            return cut_rows(cached(self.data, **self.options), STREAM_BYTES)
        return read_blocks(self.data, width=width, block_bytes=STREAM_BYTES, **self.options)

    def is_svmlight(self) -> bool:
        """Tell whether it is in the svmlight format, to be read as it lies."""
        if self.cache:
            return False
        return (self.options.get("format") or format_of(self.data)) == "svmlight"

    def labelled(self, examples: rb.Examples) -> rb.Examples:
        """Refuse examples without labels."""
        if examples.y is None:
            raise InputError(
                f"{self.data} has no labels; learning and evaluating need one for each row"
            )
        return examples


def reading(
    format: str | None, label: str | None, missing: float | None, zero_based: bool, double: bool
) -> dict[str, Any]:
    """Give the options of `rosenblatt.read` that differ from its own."""
    chosen: dict[str, Any] = {"dtype": "float64"} if double else {}
    if format is not None:
        chosen["format"] = format
    if label is not None:
        chosen["label"] = int(label) if label.lstrip("-").isdigit() else label
    if missing is not None:
        chosen["missing"] = missing
    if zero_based:
        chosen["zero_based"] = True
    return chosen
