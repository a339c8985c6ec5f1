"""The commands that answer a question and prove it: separate, margin, bound, solve, verify."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rosenblatt.cli.options import Data, Format, Header, Json, Label, Missing, Words, ZeroBased
from rosenblatt.cli.training import Order, _number


class Method(StrEnum):
    """How to look for a point."""

    auto = "auto"
    perceptron = "perceptron"
    rescaled = "rescaled"
    smoothed = "smoothed"


Proof = Annotated[Path | None, typer.Option("--certificate", help="Where to write the proof.")]
Seconds = Annotated[float | None, typer.Option(help="Most seconds; then undecided.")]


def separate(
    data: Data,
    certificate: Proof = None,
    intercept: Annotated[bool, typer.Option(help="Allow hyperplanes that miss the origin.")] = True,
    pairs: Annotated[bool, typer.Option("--pairs", help="Decide each pair of classes.")] = False,
    rest: Annotated[
        bool, typer.Option("--rest", help="Decide each class against all others.")
    ] = False,
    max_seconds: Seconds = None,
    format: Format = None,
    label: Label = None,
    header: Header = None,
    categories: Words = None,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    json: Json = False,
) -> None:
    """Decide whether a hyperplane separates the classes of DATA, and prove it.

    Numbers are taken for exactly what they are, as float64. Exit status: 0 separable, 1 weakly
    separable or inseparable, 3 undecided, also after Ctrl-C; of several answers the largest.
    Several proofs, of --pairs or --rest, are numbered: proof-1.json and so on for proof.json.
    """
    from rosenblatt.cli.decide import separate_file, separate_many
    from rosenblatt.cli.source import Source, reading

    if pairs and rest:
        raise typer.BadParameter("--pairs and --rest exclude each other")
    how = reading(format, label, missing, zero_based, True, header, categories)
    source = Source(data, False, False, how)
    options: dict[str, Any] = {"fit_intercept": intercept, "max_seconds": max_seconds}
    if pairs or rest:
        options["many"] = "pairs" if pairs else "rest"
        raise typer.Exit(separate_many(source, certificate, options, json=json))
    raise typer.Exit(separate_file(source, certificate, options, json=json))


def margin(
    data: Data,
    certificate: Proof = None,
    tol: Annotated[float, typer.Option(help="Width of the interval, relative to it.")] = 1e-6,
    intercept: Annotated[bool, typer.Option(help="Allow hyperplanes that miss the origin.")] = True,
    lift: Annotated[
        float | None, typer.Option(help="Lift rows by this constant, which penalises intercepts.")
    ] = None,
    max_seconds: Seconds = None,
    format: Format = None,
    label: Label = None,
    header: Header = None,
    categories: Words = None,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    json: Json = False,
) -> None:
    """Enclose the largest margin that a hyperplane leaves the classes of DATA, and prove it.

    Numbers are taken for exactly what they are, as float64. Exit status: 0 there is a margin, 1
    there is none, since nothing separates the classes, 3 undecided, also after Ctrl-C.
    """
    from rosenblatt.cli.decide import margin_file
    from rosenblatt.cli.source import Source, reading

    if lift is not None and not intercept:
        raise typer.BadParameter("--lift stands for an intercept; leave out --no-intercept")
    how = reading(format, label, missing, zero_based, True, header, categories)
    source = Source(data, False, False, how)
    options: dict[str, Any] = {"fit_intercept": intercept, "max_seconds": max_seconds}
    options |= {"tol": tol, "lift": lift}
    raise typer.Exit(margin_file(source, certificate, options, json=json))


def bound(
    data: Data,
    certificate: Proof = None,
    passes: Annotated[
        int | None, typer.Option(min=1, help="Passes of the run at most.  [default: 1]")
    ] = None,
    any: Annotated[
        bool,
        typer.Option("--any", help="Bound any number of passes; the classes must be separable."),
    ] = False,
    order: Annotated[Order, typer.Option(help="Which example comes next.")] = Order.cycle,
    intercept: Annotated[bool, typer.Option(help="Learn an affine separator.")] = True,
    lift: Annotated[str, typer.Option(help="Constant of the added coordinate, or radius.")] = "1",
    seed: Annotated[int | None, typer.Option(help="Seed of the random orders.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Most seconds to look for a small bound, and to learn.")
    ] = None,
    format: Format = None,
    label: Label = None,
    header: Header = None,
    categories: Words = None,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    json: Json = False,
) -> None:
    """Count the mistakes of a perceptron on DATA, and prove how many there can be at most.

    The bound holds for every run of so many passes from zero, whatever the classes. Numbers are
    read as float64.
    """
    from rosenblatt.cli.mistakes import bound_file
    from rosenblatt.cli.source import Source, reading

    if any and passes is not None:
        raise typer.BadParameter("--any and --passes exclude each other")
    how = reading(format, label, missing, zero_based, True, header, categories)
    source = Source(data, False, False, how)
    chosen = {
        "order": order.value,
        "fit_intercept": intercept,
        "lift": lift if lift == "radius" else _number(lift, " or radius"),
        "random_state": seed,
        "max_seconds": max_seconds,
    }
    bound_file(source, certificate, chosen, None if any else passes or 1, json=json)


def solve(
    system: Annotated[
        str, typer.Argument(help="A system A w >= b: CSV, .npz, .mps or .lp, plain or compressed.")
    ],
    certificate: Proof = None,
    point: Annotated[
        Path | None, typer.Option(help="Where to write the solution, as name,value.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Take every inequality of the file as a strict one.")
    ] = False,
    method: Annotated[
        Method, typer.Option(help="auto decides; the others look for a point, and may not find it.")
    ] = Method.auto,
    max_seconds: Seconds = None,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Most steps of another method than auto.")
    ] = None,
    json: Json = False,
) -> None:
    """Find a solution of SYSTEM, or prove that there is none.

    Exit status: 0 feasible, 1 infeasible, 3 undecided, also after Ctrl-C.
    """
    from rosenblatt.cli.decide import solve_file

    if max_steps is not None and method is Method.auto:
        raise typer.BadParameter("--max-steps goes with another --method than auto")
    options = {"method": method.value, "max_seconds": max_seconds, "max_steps": max_steps}
    raise typer.Exit(solve_file(system, certificate, point, options, strict=strict, json=json))


def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate.")],
    data: Annotated[str, typer.Argument(help="The data, or the system, that it speaks of.")],
    strict: Annotated[
        bool, typer.Option("--strict", help="The certificate was made with `solve --strict`.")
    ] = False,
    format: Format = None,
    label: Label = None,
    header: Header = None,
    categories: Words = None,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    json: Json = False,
) -> None:
    """Check CERTIFICATE against DATA, trusting nothing that it says.

    Exit status: 0 it holds, 1 it is refused, 2 the data or the certificate cannot be read.
    """
    from rosenblatt.cli.decide import verify_file
    from rosenblatt.cli.source import Source, reading

    how = reading(format, label, missing, zero_based, False, header, categories)
    source = Source(data, False, False, how)
    raise typer.Exit(verify_file(certificate, source, strict=strict, json=json))
