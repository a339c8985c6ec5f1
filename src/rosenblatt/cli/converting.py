"""What `convert` does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import rosenblatt as rb
from rosenblatt.cli.outputs import check_unread
from rosenblatt.cli.printing import doing, tell
from rosenblatt.cli.source import Source
from rosenblatt.data.store import open_store, write_store
from rosenblatt.data.write import write_csv, write_parquet, write_svmlight
from rosenblatt.errors import InputError


def convert(source: Source, out: Path, double: bool) -> None:
    """Write a data set in another form."""
    source = source.with_options(dtype="float64") if double else source
    check_unread(out, source.data)
    writers: dict[str, Callable[[Path, rb.Examples], None]] = {
        ".svm": write_svmlight,
        ".csv": write_csv,
        ".parquet": write_parquet,
    }
    suffix = out.suffix.lower()
    with doing(f"reading {source.data}"):
        if suffix in writers:
            examples = source.labelled(source.examples())
            writers[suffix](out, examples)
            known = examples.columns
        elif suffix in ("", ".rows"):
            write_store(out, map(source.labelled, source.blocks()))
            known = open_store(out).columns
        else:
            raise InputError(
                f"{out} does not say what to write: end its name in .rows, .svm, .csv or .parquet"
            )
    label = source.label_fact(known, json=False)["label"]
    if label is not None:
        tell(f"the label is {label}")
