"""The commands that answer a question and prove it: separate, margin, bound, solve, verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE, TO_LEARN, flag, reads
from rosenblatt.cli.training import LIFT, choice

if TYPE_CHECKING:
    from rosenblatt.cli.source import Source


@click.command
@options.certificate
@options.intercept
@flag("--pairs", help="Decide each pair of classes.")
@flag("--rest", help="Decide each class against all others.")
@flag("--joint", help="Decide about many classes at once, as a multinomial logit asks.")
@flag("--advice", help="Say what to do about a regression that diverges.")
@options.max_seconds
@options.floats
@options.cluster
@reads(TO_LEARN, exact=True)
@options.json
def separate(
    source: Source,
    certificate: Path | None,
    intercept: bool,
    pairs: bool,
    rest: bool,
    joint: bool,
    advice: bool,
    max_seconds: float | None,
    floats: bool,
    cluster: str | None,
    json: bool,
) -> int:
    """Decide and prove whether a hyperplane separates DATA.

    Numbers of text are exact, 1/10 for 0.1. Exit status: 0 separable, 1 weakly
    separable or inseparable, 3 undecided, 130 after Ctrl-C; of several answers the largest.
    Several proofs, of --pairs or --rest, are numbered: proof-1.json and so on for proof.json.
    """
    from rosenblatt.cli.decide import separate_file, separate_many

    if pairs + rest + joint > 1:
        raise click.UsageError("--pairs, --rest and --joint exclude each other")
    if advice and (pairs or rest or cluster is not None):
        raise click.UsageError("--advice is about one answer; leave out --pairs, --rest, --cluster")
    source = source.with_floats() if floats else source
    chosen: dict[str, Any] = {"fit_intercept": intercept, "max_seconds": max_seconds}
    if cluster is not None:
        from rosenblatt.cli.clusters import separate_on

        if pairs or rest or joint:
            raise click.UsageError("--pairs, --rest and --joint do not go with --cluster")
        return separate_on(cluster, source, certificate, chosen, json=json)
    if pairs or rest:
        chosen["many"] = "pairs" if pairs else "rest"
        return separate_many(source, certificate, chosen, json=json)
    if joint:
        chosen["many"] = "joint"
    return separate_file(source, certificate, chosen, advice=advice, json=json)


@click.command
@options.certificate
@click.option("--tol", default=1e-6, help="Relative width of the interval.")
@options.intercept
@click.option("--lift", type=float, help="Penalise the intercept: add this constant as a feature.")
@options.max_seconds
@options.floats
@reads(TO_LEARN, exact=True)
@options.json
def margin(
    source: Source,
    certificate: Path | None,
    tol: float,
    intercept: bool,
    lift: float | None,
    max_seconds: float | None,
    floats: bool,
    json: bool,
) -> int:
    """Bound the largest margin between two classes, with a proof.

    Numbers of text are exact, 1/10 for 0.1. Exit status: 0 there is a margin, 1
    there is none, the classes are not separable, 3 undecided, 130 after Ctrl-C.
    """
    from rosenblatt.cli.decide import margin_file

    if lift is not None and not intercept:
        raise click.UsageError("--lift stands for an intercept; leave out --no-intercept")
    source = source.with_floats() if floats else source
    chosen: dict[str, Any] = {"fit_intercept": intercept, "max_seconds": max_seconds}
    return margin_file(source, certificate, chosen | {"tol": tol, "lift": lift}, json=json)


@click.command
@options.certificate
@click.option("--passes", type=click.IntRange(1), help="Most passes of the run. [default: 1]")
@flag("--any", help="Bound any number of passes, if the classes are separable.")
@choice(
    "--order",
    *("cycle", "shuffle", "random", "worst", "first"),
    help="Which example comes next. [default: cycle]",
)
@options.intercept
@click.option("--lift", type=LIFT, help="Constant feature for the intercept, or radius.")
@click.option("--margin", type=float, help="Of the learner: then its updates are bounded.")
@click.option("--seed", type=int, help="Seed of the random orders.")
@click.option(
    "--max-seconds", type=float, help="Time limit of reading, run and search for a small bound."
)
@options.floats
@reads(TO_LEARN, exact=True)
@options.json
def bound(
    source: Source,
    certificate: Path | None,
    passes: int | None,
    any: bool,
    order: str | None,
    intercept: bool,
    lift: float | str | None,
    margin: float | None,
    seed: int | None,
    max_seconds: float | None,
    floats: bool,
    json: bool,
) -> None:
    """Bound the mistakes of a perceptron on DATA, with a proof.

    One run is made, and its mistakes counted. The bound holds for every run of that many passes
    from zero, separable or not. Numbers of text are exact, 1/10 for 0.1.
    """
    from rosenblatt.cli.mistakes import bound_file

    if any and passes is not None:
        raise click.UsageError("--any and --passes exclude each other")
    source = source.with_floats() if floats else source
    chosen = options.given(
        {
            "order": order,
            "fit_intercept": intercept,
            "lift": lift,
            "margin": margin,
            "random_state": seed,
            "max_seconds": max_seconds,
        }
    )
    bound_file(source, certificate, chosen, None if any else passes or 1, json=json)


@click.command
@click.argument("system")
@options.certificate
@click.option("--point", type=FILE, help="Where to write the solution, as name,value.")
@flag("--strict", help="Treat every inequality of the file as strict.")
@click.option(
    "--method",
    type=click.Choice(["auto", "perceptron", "rescaled", "smoothed"]),
    default="auto",
    help="auto always decides; the others search for a point, and may not find it.",
)
@flag("--conflict", help="If infeasible: name rows and bounds that fight, none of them too many.")
@flag("--repair", help="If infeasible: the least total change of right-hand sides and bounds.")
@click.option("--keep", multiple=True, metavar="NAME", help="Row to leave out of both if possible.")
@click.option(
    "--out", type=FILE, help="Where to write the conflict or what is repaired: .lp, .csv."
)
@options.max_seconds
@click.option("--max-steps", type=click.IntRange(1), help="Most steps of a method other than auto.")
@options.floats
@options.json
def solve(
    system: str,
    certificate: Path | None,
    point: Path | None,
    strict: bool,
    method: str,
    conflict: bool,
    repair: bool,
    keep: tuple[str, ...],
    out: Path | None,
    max_seconds: float | None,
    max_steps: int | None,
    floats: bool,
    json: bool,
) -> int:
    """Find a solution of SYSTEM, or prove that there is none.

    SYSTEM is a system A w >= b: CSV, .npz, .mps or .lp, plain or compressed. Numbers of text are
    exact, 1/10 for 0.1. Exit status: 0 feasible, 1 infeasible, 3 undecided, 130 after Ctrl-C.
    """
    from rosenblatt.cli.conflicts import Wishes
    from rosenblatt.cli.decide import solve_file

    if max_steps is not None and method == "auto":
        raise click.UsageError("--max-steps goes with another --method than auto")
    chosen = {"method": method, "max_seconds": max_seconds, "max_steps": max_steps}
    asked = Wishes(conflict, repair, keep, out, max_seconds)
    how = {"strict": strict, "floats": floats}
    return solve_file(system, certificate, point, chosen, asked, **how, json=json)


@click.command
@click.argument("certificate", type=FILE)
@reads(TO_LEARN)
@flag("--strict", help="The certificate was made with `solve --strict`.")
@options.json
def verify(source: Source, certificate: Path, strict: bool, json: bool) -> int:
    """Check CERTIFICATE against DATA, trusting nothing it says.

    DATA are the data, or the system, that it speaks of. Exit status: 0 it holds, 1 it is refused,
    2 the data or the certificate cannot be read.
    """
    from rosenblatt.cli.checking import verify_file

    return verify_file(certificate, source, strict=strict, json=json)
