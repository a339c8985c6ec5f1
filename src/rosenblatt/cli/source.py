"""What a command reads: DATA and the options that say how."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import rosenblatt as rb
from rosenblatt.data.cache import cached
from rosenblatt.data.formats import format_of
from rosenblatt.data.models import read_model
from rosenblatt.data.read import cut_rows, read_blocks, read_whole
from rosenblatt.data.reading import Reading
from rosenblatt.data.scaling import Scaling
from rosenblatt.data.sources import Name, Several, files, shown
from rosenblatt.data.tables_layout import usual_labels
from rosenblatt.errors import InputError
from rosenblatt.memory import TooLargeError
from rosenblatt.names import Columns

STREAM_BYTES = 1 << 24
# What a model remembers of how its data were read.
REMEMBERED = ("dtype", "zero_based", "missing", "header", "separator", "decimal")


@dataclass(frozen=True)
class Source:
    """A data set named on the command line."""

    data: Name
    reading: Reading
    stream: bool = False
    cache: bool = False
    scaling: Scaling | None = None  # of the model that it is read for
    streamable: bool = False  # whether the command has --stream
    given: frozenset[str] = frozenset()  # the options of reading that somebody gave

    @property
    def is_named(self) -> bool:
        """Tell whether somebody named data, where that is an option."""
        return not isinstance(self.data, Several) or bool(self.data.names)

    def with_options(self, **more: Any) -> Source:
        """Give the source, read with other options."""
        return replace(self, reading=replace(self.reading, **more))

    def with_floats(self) -> Source:
        """Give the source, numbers of text read as the nearest float64."""
        return self.with_options(exact=False, dtype="float64")

    def by(self, stream: bool, cache: bool = False) -> Source:
        """Give the source, read block by block or from mapped arrays, as the command has it."""
        return replace(self, stream=stream, cache=cache, streamable=True)

    def behind_model(self) -> tuple[Path, Source]:
        """Give the first of several names as that of a model, and the source of the others."""
        if not isinstance(self.data, Several):
            raise InputError(
                f"evaluate takes a model and data, and got {shown(self.data)} alone; give both, or "
                "--folds 10 to cross-validate on data without a model"
            )
        model, *names = self.data.names
        data = Several(tuple(names)) if len(names) > 1 else names[0]
        return Path(model), replace(self, data=data)

    def refuse_model(self, why: str) -> None:
        """Refuse a model before the data."""
        from rosenblatt.cli.describing import is_model

        if isinstance(self.data, Several) and is_model(self.data.names[0]):
            raise InputError(f"{why}: leave out the model {self.data.names[0]}")

    def notes(self) -> dict[str, Any]:
        """Give what a model is to remember of its data: their format, and how they are read."""
        changed = self.reading.changed()
        found = {name: changed[name] for name in REMEMBERED if name in changed}
        if "dtype" in found:
            found["dtype"] = str(found["dtype"])
        return {"format": self.reading.format, "reading": found}

    def for_model(self, learner: Any, remembered: dict[str, Any]) -> Source:
        """Give the source, read for a model and as its data were, unless the caller says else."""
        own = self.reading.changed() | {name: getattr(self.reading, name) for name in self.given}
        return replace(self, reading=Reading(**remembered | own, like=learner))

    def examples(self) -> rb.Examples:
        """Read it whole."""
        more = ", or --stream, which reads it block by block" if self.streamable else ""
        try:
            found = (cached if self.cache else read_whole)(self.data, self.reading)
            return self.scaling.rows(found) if self.scaling else found
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
            blocks = cut_rows(cached(self.data, self.reading), STREAM_BYTES)
        else:
            blocks = read_blocks(self.data, self.reading, block_bytes=STREAM_BYTES)
        return map(self.scaling.rows, blocks) if self.scaling else blocks

    def settled(self) -> Source:
        """Give the source with its format, so that nobody looks for it again."""
        return self.with_options(format=format_of(self.data, self.reading))

    @property
    def is_svmlight(self) -> bool:
        """Tell whether it is in the svmlight format, once it is settled."""
        return self.reading.format == "svmlight"

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
        first = 0 if self.reading.zero_based else 1
        return range(first, first + width)

    def label_fact(self, columns: Columns | None, json: bool) -> dict[str, str | None]:
        """Tell which column of a table was taken for the label."""
        label = None if columns is None else columns.label
        if json or label is None:
            return {"label": label}
        chosen = self.reading.changed().keys() & {"label", "like"} or usual_labels([label])
        return {"label": f"column {label!r}{'' if chosen else ', the last; --label names another'}"}


def opened(path: Path, source: Source) -> tuple[Any, Source]:
    """Open a model; data are read for it, and as those that it was fitted on."""
    learner, notes, scaling = read_model(path)
    source = source.for_model(learner, notes.get("reading", {}))
    return learner, replace(source, scaling=scaling)
