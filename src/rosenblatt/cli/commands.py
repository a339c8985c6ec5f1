"""The commands that deal with data and models, but for `fit`, which is in `training`."""

from __future__ import annotations

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE, FOR_A_MODEL, TO_LEARN, done_in, flag, reads
from rosenblatt.cli.training import learns, scale

SEEN = {name: option for name, option in TO_LEARN.items() if name != "select"}
PICTURES = ("regions", "margins", "curve", "hardest", "path")


@click.command
@click.option(
    "--out",
    type=FILE,
    default="rosenblatt-demo",
    show_default=True,
    help="Folder for the plot, the model and the proof.",
)
@options.json
@done_in("demo")
def demo() -> None:
    """Take a tour: learn, prove a verdict, name a conflict.

    Needs no file and no network.
    """


@click.command
@options.model
@click.option("--out", type=FILE, help="File to write instead of printing.")
@flag("--scores", help="Print scores, too.")
@flag("--csv", help="Print CSV, with scores.")
@options.stream
@options.cluster
@reads(FOR_A_MODEL)
@flag("--json", help="Print JSON lines, with scores.")
@done_in("predicting")
def predict() -> None:
    """Print the predicted label of each row of DATA.

    With --cluster, --out is a folder, and gets one file for each shard.
    """


@click.command
@click.option(
    "--folds",
    type=click.IntRange(2),
    help="Cross-validate on DATA with this many folds, without a MODEL.",
)
@scale
@learns
@options.stream
@options.cluster
@reads(TO_LEARN, FOR_A_MODEL, metavar="[MODEL] DATA...")
@options.json
@done_in("predicting")
def evaluate() -> None:
    """Compare the predictions of MODEL with the labels of DATA.

    With --folds there is no MODEL: the options of `fit` say what to train.
    """


@click.command
@options.model
@click.option(
    "--top", default=20, show_default=True, help="How many weights, for and against each class."
)
@click.option("--data", help="For hashed columns: a file with the words that name them.")
@options.json
@done_in("weights")
def weights() -> None:
    """Print the largest weights of MODEL, by name."""


@click.command
@reads(TO_LEARN)
@options.json
@done_in("describing")
def info() -> None:
    """Describe DATA, or a model.

    For data: size, classes, duplicates, contradictions. For a model file: its learner, options,
    classes, columns and how it was made.
    """


@click.command
@reads(TO_LEARN)
@click.argument("out", type=FILE)
@flag("--float64", "double", help="Keep values as float64.")
@done_in("converting")
def convert() -> None:
    """Write DATA in another format.

    OUT is a new folder of memory-mapped arrays (.rows), which opens at once, or a file: .svm, .csv
    or .parquet.
    """


@click.command
@options.model
@click.argument("out", type=FILE)
@reads(
    TO_LEARN,
    by=click.option("--data", multiple=True, help="The data that the certificate is about."),
)
@flag("--strict", help="The certificate was made with `solve --strict`.")
@done_in("checking")
def export() -> None:
    """Write the hyperplane of MODEL, or a proof, for other programs.

    OUT ends in .json or .onnx. If MODEL is a certificate, and --data names its data, OUT ends in .v
    (a proof for Coq), .smt2 (for z3, cvc5 and others) or .vipr.
    """


@click.command
@click.option(
    "--what",
    type=click.Choice(["all", *PICTURES]),
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
@done_in("pictures")
def plot() -> None:
    """Plot DATA and what a model predicts.

    Without a model, a perceptron is trained, from zero and in stored order, and its mistakes are
    shown with their bound.
    """
