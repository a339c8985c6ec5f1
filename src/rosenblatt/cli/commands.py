"""The commands that deal with data and models: demo, predict, evaluate, info, convert, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE, FOR_A_MODEL, TO_LEARN, flag, reads

if TYPE_CHECKING:
    from rosenblatt.cli.source import Source


@click.command
@click.option(
    "--out",
    type=FILE,
    default="rosenblatt-demo",
    show_default=True,
    help="Folder for the plot and the model.",
)
@options.json
def demo(out: Path, json: bool) -> None:
    """Take the tour: train, converge, save, load, predict.

    Needs no file and no network.
    """
    from rosenblatt.cli.demo import tour

    tour(out, json)


@click.command
@options.model
@click.option("--out", type=FILE, help="File to write instead of printing.")
@flag("--scores", help="Print scores, too.")
@flag("--csv", help="Print CSV, with scores.")
@options.stream
@reads(FOR_A_MODEL)
@flag("--json", help="Print JSON lines, with scores.")
def predict(
    model: Path,
    source: Source,
    out: Path | None,
    scores: bool,
    csv: bool,
    stream: bool,
    json: bool,
) -> None:
    """Print the predicted label of each row of DATA."""
    from rosenblatt.cli.predicting import predict_file

    kind = "jsonl" if json else "csv" if csv else "text"
    source = source.by(stream)
    predict_file(model, source, out, format=kind, scores=scores or kind != "text")


@click.command
@options.model
@options.stream
@reads(FOR_A_MODEL)
@options.json
def evaluate(model: Path, source: Source, stream: bool, json: bool) -> None:
    """Compare the predictions of a model with the labels of DATA."""
    from rosenblatt.cli.predicting import evaluate_file

    evaluate_file(model, source.by(stream), json=json)


@click.command
@reads(TO_LEARN)
@options.json
def info(source: Source, json: bool) -> None:
    """Describe DATA, or a model.

    Of data: size, classes, duplicates, contradictions. Of a model file: its learner, options,
    classes, columns and how it was made.
    """
    from rosenblatt.cli.describing import info_file

    info_file(source, json=json)


@click.command
@reads(TO_LEARN)
@click.argument("out", type=FILE)
@flag("--float64", "double", help="Keep values as float64.")
def convert(source: Source, out: Path, double: bool) -> None:
    """Write DATA in another format.

    OUT is a folder to make (.rows), of mapped arrays that open at once, or a file: .svm, .csv or
    .parquet.
    """
    from rosenblatt.cli.converting import convert_file

    convert_file(source.with_options(dtype="float64") if double else source, out)


@click.command
@options.model
@click.argument("out", type=FILE)
def export(model: Path, out: Path) -> None:
    """Write the hyperplane of MODEL for other programs.

    OUT ends in .json or .onnx.
    """
    import rosenblatt
    from rosenblatt.cli.outputs import check_writable

    check_writable(out, model)
    rosenblatt.export(rosenblatt.load(model), out)
