"""The options of learners, each written down once, and the command `fit`.

An option has the name of the argument that it stands for; a learner takes those that are arguments
of its class, and has its own defaults for those that nobody gave.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import (
    FILE,
    FOR_A_MODEL,
    TO_LEARN,
    Command,
    Decorator,
    Taken,
    done_in,
    flag,
    reads,
)

LEARNERS = {
    "perceptron": "Perceptron",
    "online-svm": "OnlineSVM",
    "svm": "SoftMarginSVM",
    "hard-svm": "HardMarginSVM",
    "kernel": "KernelPerceptron",
}


def or_word(name: str, word: str) -> Callable[[str], float | str]:
    """Give what takes a number, or a word."""

    def take(text: str) -> float | str:
        try:
            return text if text == word else float(text)
        except ValueError:
            raise ValueError(f"--{name} takes a number or {word}, got {text!r}") from None

    return take


def factors(text: str) -> str | dict[str, float]:
    """Give the factors of classes, by the text of their labels."""
    if text == "balanced":
        return text
    pairs = [part.rpartition("=") for part in next(csv.reader([text]), [])]
    try:
        return {label.strip(): float(factor) for label, _, factor in pairs}
    except ValueError:
        raise ValueError(f"give balanced, or label=factor,label=factor..., not {text!r}") from None


LIFT = Taken("number", or_word("lift", "radius"))


def choice(name: str, *words: str, help: str) -> Decorator:
    """Give an option that is one of some words."""
    return click.option(name, type=click.Choice(words), help=help)


OF_LEARNERS = (
    choice("--learner", *LEARNERS, help="Which learner to train. [default: perceptron]"),
    click.option(
        "--kernel",
        help="Kernel perceptron: linear, polynomial:DEGREE[:C] or gaussian:GAMMA; implies "
        "--learner kernel.",
    ),
    click.option("--budget", type=int, help="Kernel: how many examples to store at most."),
    choice(
        "--forget",
        *("oldest", "random", "project"),
        help="Kernel: what to do when the budget is full. [default: oldest]",
    ),
    choice(
        "--order",
        *("cycle", "shuffle", "random", "worst", "first"),
        help="Which example comes next. [default: cycle]",
    ),
    choice("--initial", "zero", "unit", "random", help="Starting weights. [default: zero]"),
    click.option("--eta0", type=float, help="Learning rate. [default: 1]"),
    click.option(
        "--margin",
        type=float,
        help="Also update on correct answers inside this margin. [default: 0]",
    ),
    flag("--renormalize", help="Scale the weights to norm 1 after each update.", default=None),
    choice(
        "--intercept",
        *("free", "lifted", "none"),
        help="SVMs: an intercept without penalty, one with (as in LIBLINEAR), or none. "
        "[default: free; the perceptron's is lifted]",
    ),
    flag("--no-intercept", help="The same as --intercept none.", default=None),
    click.option(
        "--lift", type=LIFT, help="Constant feature for the intercept: a number, or radius."
    ),
    choice(
        "--output",
        *("auto", "last", "averaged", "voted"),
        help="Weights to predict with; auto: last if the run converges, else averaged.",
    ),
    click.option(
        "--window",
        type=int,
        help="Online SVM: how many of the newest examples each update learns again; 1 is "
        "passive-aggressive. [default: 100]",
    ),
    click.option(
        "--unsure",
        type=float,
        help="Online learners: say 'I don't know' near ties, so that at most this share of the "
        "other answers is wrong, judging by the data so far.",
    ),
    click.option("--lam", type=float, help="SVM: λ of Σ hinge + λ‖w‖². [default: 1]"),
    click.option(
        "--C",
        "C",
        type=Taken("number", or_word("C", "auto")),
        help="SVM: the same as --lam 1/(2C); auto chooses it by 5-fold cross-validation. Online "
        "SVM: the largest weight of an example. [default: 1]",
    ),
    click.option(
        "--tol", type=float, help="SVMs: relative gap to stop at. [default: 1e-3; hard-svm 1e-6]"
    ),
    choice(
        "--multiclass",
        *("joint", "one-vs-rest"),
        help="SVM: how to treat more than two classes. [default: joint]",
    ),
    click.option(
        "--max-iter",
        type=click.IntRange(0),
        help="Maximum number of passes (epochs); 0 for no limit. [default: 1000 for the "
        "perceptron, 1 for the online SVM]",
    ),
    click.option(
        "--patience",
        type=click.IntRange(0),
        help="Stop after this many passes without progress; 0 for never. [default: 5]",
    ),
    click.option("--max-updates", type=int, help="Maximum number of updates."),
    click.option("--max-seconds", type=float, help="Time limit for training."),
    click.option(
        "--class-weight",
        type=Taken("label=factor,...", factors),
        help="Weights of the classes, or balanced: inversely proportional to their sizes.",
    ),
    flag("--balanced", help="The same as --class-weight balanced.", default=None),
    click.option("--seed", type=int, help="Seed for random choices."),
)


scale = click.option(
    "--scale",
    type=click.Choice(["standard", "maxabs"]),
    help="Standardise columns, or divide them by their largest absolute value; the model keeps the "
    "scale.",
)


def learns(command: Command) -> Command:
    """Give a command the options of learners, as a `recipe`."""

    @wraps(command)
    def call(**given: Any) -> Any:
        from rosenblatt.cli.recipes import recipe_of

        own = {name: given.pop(name) for name in names}
        return command(recipe=recipe_of(own), **given)

    for option in reversed(OF_LEARNERS):
        call = option(call)
    added = call.__click_params__[-len(OF_LEARNERS) :]  # type: ignore[attr-defined]
    names = [option.name for option in added]
    return call


@click.command
@click.option("--model", "-m", type=FILE, required=True, help="Where to write the model.")
@click.option(
    "--from",
    "start",
    type=FILE,
    help="A model file to continue training from: weights, column names and options.",
)
@scale
@learns
@flag("--float64", "double", help="Read values as float64.")
@options.stream
@click.option(
    "--checkpoint",
    type=FILE,
    help="With --stream or --cluster: a file from which a killed run can continue.",
)
@options.cluster
@options.cache
@reads(TO_LEARN, FOR_A_MODEL)
@options.json
@done_in("fitting")
def fit() -> None:
    """Train on DATA and write a model.

    The perceptron, with or without a kernel, stops when a pass makes no mistake, or when passes
    make no more progress; Ctrl-C saves the weights learned so far. An SVM minimises
    Σ hinge + λ‖w‖² until its duality gap is small; hard-svm finds the largest margin, or says why
    there is none.
    """
