"""The commands that deal with data and models: demo, predict, evaluate, info, convert, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE, FOR_A_MODEL, TO_LEARN, flag, reads
from rosenblatt.cli.training import learns, scale

if TYPE_CHECKING:
    from rosenblatt.cli.recipes import Recipe
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
@options.cluster
@reads(FOR_A_MODEL)
@flag("--json", help="Print JSON lines, with scores.")
def predict(
    model: Path,
    source: Source,
    out: Path | None,
    scores: bool,
    csv: bool,
    stream: bool,
    cluster: str | None,
    json: bool,
) -> None:
    """Print the predicted label of each row of DATA.

    With --cluster, --out is a folder, and gets one file for each shard.
    """
    from rosenblatt.cli.predicting import predict_file

    kind = "jsonl" if json else "csv" if csv else "text"
    if cluster is not None:
        from rosenblatt.cli.clusters import predict_on

        predict_on(cluster, model, source, out, format=kind, scores=scores or kind != "text")
        return
    source = source.by(stream)
    predict_file(model, source, out, format=kind, scores=scores or kind != "text")


@click.command
@click.option(
    "--folds",
    type=click.IntRange(2),
    help="No MODEL: learn all folds of DATA but one and evaluate that one, in turn.",
)
@scale
@learns
@options.stream
@options.cluster
@reads(TO_LEARN, FOR_A_MODEL, metavar="[MODEL] DATA...")
@options.json
def evaluate(
    source: Source,
    folds: int | None,
    scale: str | None,
    recipe: Recipe,
    stream: bool,
    cluster: str | None,
    json: bool,
) -> None:
    """Compare the predictions of MODEL with the labels of DATA.

    With --folds there is no model yet: the options of `fit` say what to learn.
    """
    if folds is not None:
        from rosenblatt.cli.folds import evaluate_folds

        if stream or cluster is not None or recipe.is_open:
            raise click.UsageError("--stream, --cluster and --C auto do not go with --folds")
        evaluate_folds(source, recipe, scale, folds, json=json)
        return
    from rosenblatt.cli.predicting import evaluate_file

    if scale is not None or recipe.learner != "perceptron" or recipe.options:
        raise click.UsageError("options of `fit` go with --folds; a MODEL has its own")
    model, source = source.behind_model()
    if cluster is not None:
        from rosenblatt.cli.clusters import evaluate_on

        evaluate_on(cluster, model, source, json=json)
        return
    evaluate_file(model, source.by(stream), json=json)


@click.command
@options.model
@click.option("--top", default=20, show_default=True, help="How many, for and against each class.")
@click.option("--data", help="A file whose words are named, if columns are hashed words.")
@options.json
def weights(model: Path, top: int, data: str | None, json: bool) -> None:
    """Print the largest weights of MODEL, by name."""
    from rosenblatt.cli.weights import weights_file

    weights_file(model, top, data, json=json)


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
@reads(TO_LEARN, by=click.option("--data", multiple=True, help="What a certificate speaks of."))
@flag("--strict", help="The certificate was made with `solve --strict`.")
def export(source: Source, model: Path, out: Path, strict: bool) -> None:
    """Write the hyperplane of MODEL, or a proof, for other programs.

    OUT ends in .json or .onnx. If MODEL is a certificate, and --data names its data, OUT ends in .v
    (a proof for Coq), .smt2 (for z3, cvc5 and others) or .vipr.
    """
    from rosenblatt.cli.checking import export_file, export_model

    if source.is_named:
        export_file(model, out, source, strict=strict)
    else:
        export_model(model, out)
