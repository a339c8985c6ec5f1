"""The commands that answer a question and prove it: separate, margin, bound, solve, verify."""

from __future__ import annotations

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE, TO_LEARN, done_in, flag, reads
from rosenblatt.cli.training import LIFT, choice


@click.command
@options.certificate
@options.intercept
@flag("--pairs", help="Decide for each pair of classes.")
@flag("--rest", help="Decide for each class against all others.")
@flag("--joint", help="Decide for all classes jointly: the question of a multinomial logit.")
@flag("--advice", help="Say what to do about a regression that diverges.")
@options.max_seconds
@options.floats
@options.cluster
@reads(TO_LEARN, exact=True)
@options.json
@done_in("decide")
def separate() -> None:
    """Decide and prove whether a hyperplane separates DATA.

    Numbers in text files are exact: 0.1 means 1/10. Exit status: 0 separable, 1 weakly separable
    or inseparable, 3 undecided, 130 after Ctrl-C; the largest of several. With --pairs or --rest
    there are several proofs, which are numbered: proof-1.json and so on for proof.json.
    """


@click.command
@options.certificate
@click.option(
    "--tol", default=1e-6, help="Relative width of the interval to stop at. [default: 1e-6]"
)
@options.intercept
@click.option("--lift", type=float, help="Penalise the intercept: add this constant as a feature.")
@options.max_seconds
@options.floats
@reads(TO_LEARN, exact=True)
@options.json
@done_in("decide")
def margin() -> None:
    """Bound the largest margin between two classes, with a proof.

    Numbers in text files are exact: 0.1 means 1/10. Exit status: 0 there is a margin, 1 the
    classes are not separable, 3 undecided, 130 after Ctrl-C.
    """


@click.command
@options.certificate
@click.option(
    "--passes", type=click.IntRange(1), help="Maximum number of passes of the run. [default: 1]"
)
@flag("--any", help="Bound any number of passes, if the classes are separable.")
@choice(
    "--order",
    *("cycle", "shuffle", "random", "worst", "first"),
    help="Which example comes next. [default: cycle]",
)
@options.intercept
@click.option("--lift", type=LIFT, help="Constant feature for the intercept: a number, or radius.")
@click.option(
    "--margin", type=float, help="Margin of the learner; the bound is then about its updates."
)
@click.option("--seed", type=int, help="Seed for random orders.")
@click.option(
    "--max-seconds",
    type=float,
    help="Time limit for reading, the run and the search for a small bound.",
)
@options.floats
@reads(TO_LEARN, exact=True)
@options.json
@done_in("mistakes")
def bound() -> None:
    """Bound the mistakes of a perceptron on DATA, with a proof.

    One run is made, and its mistakes are counted. The bound holds for every run from zero with that
    many passes, whether the classes are separable or not. Numbers in text files are exact: 0.1
    means 1/10.
    """


@click.command
@click.argument("system")
@options.certificate
@click.option("--point", type=FILE, help="Where to write the solution, as name,value.")
@flag("--strict", help="Treat every inequality of the file as strict.")
@click.option(
    "--method",
    type=click.Choice(["auto", "perceptron", "rescaled", "smoothed"]),
    default="auto",
    help="auto always decides; the others only search for a point, and may give up.",
)
@flag(
    "--conflict",
    help="If infeasible: name rows and bounds that contradict each other, no more than needed.",
)
@flag("--repair", help="If infeasible: find the least total change of right-hand sides and bounds.")
@click.option(
    "--keep",
    multiple=True,
    metavar="NAME",
    help="A row or unknown: not in the conflict if possible, not changed by the repair.",
)
@click.option(
    "--out", type=FILE, help="Where to write the conflict, or the repaired system: .lp or .csv."
)
@options.max_seconds
@click.option(
    "--max-steps",
    type=click.IntRange(1),
    help="Maximum number of steps of a method other than auto.",
)
@options.floats
@options.json
@done_in("decide")
def solve() -> None:
    """Find a solution of SYSTEM, or prove that there is none.

    SYSTEM is a system A w >= b: CSV, .npz, .mps or .lp, plain or compressed. Numbers in text
    files are exact: 0.1 means 1/10. Exit status: 0 feasible, 1 infeasible, 3 undecided, 130 after
    Ctrl-C.
    """


@click.command
@click.argument("certificate", type=FILE)
@reads(TO_LEARN)
@flag("--strict", help="The certificate was made with `solve --strict`.")
@options.json
@done_in("checking")
def verify() -> None:
    """Check CERTIFICATE against DATA, trusting nothing it says.

    DATA are the data, or the system, that it is about. Exit status: 0 it holds, 1 it is refused,
    2 the data or the certificate cannot be read.
    """
