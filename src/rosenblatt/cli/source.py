"""What a command reads: DATA and the options that say how."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console

import rosenblatt as rb
from rosenblatt.cli.words import spoken
from rosenblatt.data.cache import cached
from rosenblatt.data.read import cut_rows, format_of, read_blocks
from rosenblatt.data.sources import files
from rosenblatt.data.tables_layout import usual_labels
from rosenblatt.errors import InputError, UnknownColumnsWarning
from rosenblatt.memory import TooLargeError
from rosenblatt.names import Columns

STREAM_BYTES = 1 << 24
# What a model remembers of how its data were read.
REMEMBERED = ("dtype", "zero_based", "missing", "header")

# File names and labels are shown as they are, whatever brackets and colons they hold.
people = Console(stderr=True, markup=False, emoji=False, highlight=False)


@dataclass(frozen=True)
class Source:
    """A data set named on the command line."""

    data: str
    stream: bool
    cache: bool
    options: dict[str, Any]
    streamable: bool = False  # whether the command has --stream

    def with_options(self, **more: Any) -> Source:
        """Give the source, read with more options."""
        return replace(self, options={**self.options, **more})

    def remembered(self) -> dict[str, Any]:
        """Give what a model is to remember of how it is read."""
        return {name: self.options[name] for name in REMEMBERED if name in self.options}

    def examples(self) -> rb.Examples:
        """Read it whole."""
        more = ", or --stream, which reads it block by block" if self.streamable else ""
        try:
            if self.cache:
                return cached(self.data, **self.options)
            return rb.read(self.data, **self.options)
        except TooLargeError as error:
            raise InputError(f"{error}{more}") from error
        except MemoryError as error:
            raise InputError(
                f"there is not enough memory to read {self.data}; give a part of it{more}"
            ) from error

    def blocks(self) -> Iterator[rb.Examples]:
        """Read it block by block, or whole as one block if nobody asked for a stream."""
        if not self.stream:
            return iter([self.examples()])
        if self.cache:
            return cut_rows(cached(self.data, **self.options), STREAM_BYTES)
        return read_blocks(self.data, block_bytes=STREAM_BYTES, **self.options)

    def is_svmlight(self) -> bool:
        """Tell whether it is in the svmlight format, to be read as it lies."""
        if self.cache:
            return False
        return (self.options.get("format") or format_of(self.data)) == "svmlight"

    def is_large(self) -> bool:
        """Tell whether it is more than a block of a stream."""
        return sum(os.path.getsize(name) for name in files(self.data)) > STREAM_BYTES

    def labelled(self, examples: rb.Examples) -> rb.Examples:
        """Refuse examples without labels."""
        if examples.y is None:
            raise InputError(
                f"{self.data} has no labels; learning and evaluating need one for each row"
            )
        return examples

    def column_numbers(self, width: int) -> range:
        """Give the numbers of columns without names, as the file counts them."""
        first = 0 if self.options.get("zero_based") else 1
        return range(first, first + width)

    def label_fact(self, columns: Columns | None, json: bool) -> dict[str, str | None]:
        """Tell which column of a table was taken for the label."""
        label = None if columns is None else columns.label
        if json or label is None:
            return {"label": label}
        chosen = self.options.keys() & {"label", "like"} or usual_labels([label])
        return {"label": f"column {label!r}{'' if chosen else ', the last; --label names another'}"}


def reading(
    format: str | None = None,
    label: str | None = None,
    missing: float | None = None,
    zero_based: bool = False,
    double: bool = False,
    header: bool | None = None,
    categories: str | None = None,
    by_place: bool = False,
) -> dict[str, Any]:
    """Give the options of `rosenblatt.read` that differ from its own."""
    chosen: dict[str, Any] = {"format": format, "missing": missing, "header": header}
    chosen |= {"categories": None if categories is None else str(categories)}
    if label is not None:
        chosen["label"] = int(label) if label.lstrip("-").isdigit() else label
    chosen |= {"dtype": "float64" if double else None}
    chosen |= {"zero_based": zero_based or None, "by_place": by_place or None}
    return {name: value for name, value in chosen.items() if value is not None}


@contextmanager
def telling() -> Iterator[None]:
    """Say once, in a sentence, which columns weigh nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UnknownColumnsWarning)
        warnings.showwarning = lambda message, *_, **__: tell(str(message))
        yield


def tell(sentence: str) -> None:
    """Say something beside the answer."""
    people.print(f"rosenblatt: {spoken(sentence)}", soft_wrap=True)
