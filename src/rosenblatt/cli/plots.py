"""The command `plot`: pictures of one's own data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE, FOR_A_MODEL, TO_LEARN, reads

if TYPE_CHECKING:
    from rosenblatt.cli.source import Source

SEEN = {name: option for name, option in TO_LEARN.items() if name != "select"}
WHAT = ("all", "regions", "margins", "curve", "hardest", "path")


@click.command
@click.option(
    "--what",
    type=click.Choice(WHAT),
    default="all",
    help="Decision regions, distances from the boundary, mistakes over passes, "
    "examples misclassified most often, the path of the weights.",
)
@click.option("--model", "-m", type=FILE, help="A model file; without one, a perceptron is fitted.")
@click.option(
    "--columns",
    "axes",
    help="Two features for the regions, such as 3,7: names, or numbers from 0 (in svmlight files "
    "from 1, unless --zero-based). [default: the principal directions]",
)
@click.option(
    "--out",
    type=FILE,
    default="rosenblatt-plots",
    show_default=True,
    help="A folder for .png files, or a file: .png, .svg or .pdf.",
)
@reads(SEEN, FOR_A_MODEL)
@options.json
def plot(
    source: Source, what: str, model: Path | None, axes: str | None, out: Path, json: bool
) -> None:
    """Plot DATA and what a model predicts.

    Without a model, a perceptron is trained, from zero and in stored order, and its mistakes are
    shown beside their bound.
    """
    from rosenblatt.cli.pictures import plot_file

    if axes is not None and what not in ("all", "regions"):
        raise click.UsageError(f"--columns goes with --what regions, not with {what}")
    if model is None:  # a model says itself how its data are to be read
        source = source.with_options(dtype="float64")
    plot_file(source, what, model, axes, out, json=json)
