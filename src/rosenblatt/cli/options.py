"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Categories(StrEnum):
    """What becomes of words in a table."""

    onehot = "onehot"
    hash = "hash"
    refuse = "refuse"


Data = Annotated[
    str,
    typer.Argument(
        help="A file, folder or pattern: svmlight, Vowpal Wabbit, CSV, Parquet, label<TAB>text, "
        ".npz and more, plain or compressed; - for standard input."
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file written by `rosenblatt fit`.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
ZeroBased = Annotated[bool, typer.Option("--zero-based", help="svmlight columns count from 0.")]
Format = Annotated[
    str | None,
    typer.Option(
        help="svmlight, vowpal, text, npz, npy, idx, store, csv, tsv, parquet, arrow or jsonl; "
        "found by content and extension if not given."
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        help="Column of the label in a table: name, or place from 0 on; -1 is the last one."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether a CSV or TSV file names its columns; else a guess."
    ),
]
Words = Annotated[
    Categories | None,
    typer.Option(
        "--categories",
        help="What becomes of words in a table: a column for each, hashed columns, or an error. "
        "[default: onehot]",
    ),
]
ByPlace = Annotated[
    bool,
    typer.Option(
        "--by-place", help="Take columns in the order in which they stand, whatever their names."
    ),
]
Missing = Annotated[
    float | None, typer.Option(help="Number for missing values in a table; else refused.")
]
Stream = Annotated[
    bool, typer.Option("--stream", help="Read block by block: data may be larger than memory.")
]
Cache = Annotated[
    bool,
    typer.Option("--cache", help="Keep the data as mapped arrays beside the file, and use them."),
]
