"""The command ``rosenblatt``: parse, call, print.

Commands import what they need when they run, so that ``--help`` answers at once.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

import rosenblatt
from rosenblatt.cli import laboratory, plots, proofs, training
from rosenblatt.cli.entry import INTERRUPTED, READER_GONE, ReaderGoneError, enter, listen
from rosenblatt.cli.options import (
    ByPlace,
    Data,
    Format,
    Header,
    Json,
    Label,
    Missing,
    Model,
    Stream,
    Words,
    ZeroBased,
)
from rosenblatt.cli.training import kept
from rosenblatt.cli.words import spoken
from rosenblatt.errors import InseparableError, RosenblattError

__all__ = ["app", "enter", "run"]

app = typer.Typer(
    name="rosenblatt",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"rosenblatt {rosenblatt.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True),
    ] = False,
) -> None:
    """Learn half-spaces, and see every run beside its mistake bound.

    Exit status: 0 done, 1 failed, 2 bad usage, bad input, too little memory or an output that
    cannot be written, 130 interrupted. Those that answer a question: 0 yes (separable, feasible,
    the certificate holds), 1 no, 3 undecided.
    """


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the model.")] = Path(
        "rosenblatt-demo"
    ),
    json: Json = False,
) -> None:
    """Take the tour: learn, converge, stay below the bound, save, load, predict.

    Needs no file and no network.
    """
    from rosenblatt.cli.demo import tour

    tour(out, json)


app.command()(training.fit)


@app.command()
def predict(
    model: Model,
    data: Data,
    out: Annotated[Path | None, typer.Option(help="File to write instead of printing.")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Print the score after it.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, with scores.")] = False,
    format: Format = None,
    label: Label = None,
    header: Header = None,
    by_place: ByPlace = False,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    stream: Stream = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines, with scores.")] = False,
) -> None:
    """Print the label of each row of DATA, one a line."""
    from rosenblatt.cli.source import Source, reading
    from rosenblatt.cli.work import predict_file

    options = reading(format, label, missing, zero_based, header=header, by_place=by_place)
    source = Source(data, stream, False, options, streamable=True)
    kind = "jsonl" if json else "csv" if csv else "text"
    predict_file(model, source, out, format=kind, scores=scores or kind != "text")


@app.command()
def evaluate(
    model: Model,
    data: Data,
    format: Format = None,
    label: Label = None,
    header: Header = None,
    by_place: ByPlace = False,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    stream: Stream = False,
    json: Json = False,
) -> None:
    """Compare the model's answers with the labels of DATA."""
    from rosenblatt.cli.source import Source, reading
    from rosenblatt.cli.work import evaluate_file

    options = reading(format, label, missing, zero_based, header=header, by_place=by_place)
    source = Source(data, stream, False, options, streamable=True)
    evaluate_file(model, source, json=json)


@app.command()
def info(
    data: Data,
    format: Format = None,
    label: Label = None,
    header: Header = None,
    categories: Words = None,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    json: Json = False,
) -> None:
    """Tell what DATA are like: size, classes, duplicates, contradictions.

    Of a model file: its learner, options, classes and how it was found.
    """
    from rosenblatt.cli.models import describe_model, is_model
    from rosenblatt.cli.source import Source, reading
    from rosenblatt.cli.work import describe_file

    if format is None and is_model(data):
        describe_model(data, json=json)
        return
    options = reading(format, label, missing, zero_based, False, header, categories)
    source = Source(data, False, False, options)
    describe_file(source, json=json)


@app.command()
def convert(
    data: Data,
    out: Annotated[
        Path, typer.Argument(help="A folder to make (.rows), or a file: .svm, .csv or .parquet.")
    ],
    format: Format = None,
    label: Label = None,
    header: Header = None,
    categories: Words = None,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    double: Annotated[bool, typer.Option("--float64", help="Keep values as float64.")] = False,
) -> None:
    """Write DATA in another form; a folder of mapped arrays opens at once."""
    from rosenblatt.cli.source import Source, reading
    from rosenblatt.cli.work import convert_file

    options = reading(format, label, missing, zero_based, double, header, categories)
    source = Source(data, True, False, options)
    convert_file(source, out)


@app.command()
def export(
    model: Model,
    out: Annotated[Path, typer.Argument(help="A name that ends in .json or .onnx.")],
) -> None:
    """Write the hyperplane of MODEL for other programs."""
    from rosenblatt.cli.work import _check_writable

    _check_writable(out, model)
    rosenblatt.export(rosenblatt.load(model), out)


for command in (proofs.separate, proofs.margin, proofs.bound, proofs.solve, proofs.verify):
    app.command()(command)
app.command()(laboratory.lab)
app.command()(plots.plot)


def _listen() -> None:
    """Hear signals; tests do without it."""
    listen()


def run() -> None:
    """Run the command; what goes wrong is one sentence on standard error and an exit status."""
    _listen()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names that the terminal cannot show
    status, complaint = _outcome()
    if complaint:
        typer.echo(f"rosenblatt: {complaint}", err=True)
    sys.exit(status)


def _outcome() -> tuple[int | str | None, str]:
    """Run the command; give its exit status, and a complaint if there is one."""
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as ended:
        interrupted = ended.code == INTERRUPTED and not kept
        return ended.code, "interrupted; nothing was written" if interrupted else ""
    except InseparableError as error:
        return 1, spoken(str(error))  # that is an answer: no
    except RosenblattError as error:
        return 2, spoken(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED, "interrupted; nothing was written"
    except MemoryError:
        return 2, "there is not enough memory for this; give fewer rows or columns"
    except (ReaderGoneError, BrokenPipeError):
        sys.stdout = None  # there is no flushing
        return READER_GONE, ""
    except OSError as error:
        sys.stdout = None
        reason = error.strerror or error
        return 2, f"cannot write the output: {reason}; what was printed is not all of it"
    return 0, ""
