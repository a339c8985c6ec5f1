"""The command `plot`: pictures of one's own data."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli.options import (
    ByPlace,
    Data,
    Format,
    Header,
    Json,
    Label,
    Missing,
    Words,
    ZeroBased,
)


class What(StrEnum):
    """Which picture to draw."""

    all = "all"
    regions = "regions"
    margins = "margins"
    curve = "curve"
    hardest = "hardest"
    path = "path"


def plot(
    data: Data,
    what: Annotated[
        What,
        typer.Option(
            help="What a model answers where, distances from the boundary, mistakes over passes, "
            "examples misclassified most often, the path of the weights."
        ),
    ] = What.all,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="A model file; without one, a perceptron is fitted."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Two columns to see the regions in, such as 3,7: names, or numbers, which count "
            "from 0, but in svmlight files from 1 (unless --zero-based). "
            "[default: the principal directions, if there are more than two]"
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="A folder for .png files, or a file: .png, .svg or .pdf.")
    ] = Path("rosenblatt-plots"),
    format: Format = None,
    label: Label = None,
    header: Header = None,
    by_place: ByPlace = False,
    categories: Words = None,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    json: Json = False,
) -> None:
    """Draw DATA and what a model makes of them.

    Without a model, a perceptron learns DATA, from zero and in stored order, and its mistakes are
    drawn beside their bound.
    """
    from rosenblatt.cli.pictures import plot_file
    from rosenblatt.cli.source import Source, reading

    if columns is not None and what not in (What.all, What.regions):
        raise typer.BadParameter(f"--columns goes with --what regions, not with {what.value}")
    double = model is None  # a model says itself how its data are to be read
    how = reading(format, label, missing, zero_based, double, header, categories, by_place)
    source = Source(data, False, False, how)
    plot_file(source, what.value, model, columns, out, json=json)
