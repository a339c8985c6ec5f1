"""The options of learners, each written down once, and the command `fit`.

An option has the name of the argument that it stands for; a learner takes those that are arguments
of its class, and has its own defaults for those that nobody gave.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE, TO_LEARN, Command, Decorator, Taken, flag, reads

if TYPE_CHECKING:
    from rosenblatt.cli.recipes import Recipe
    from rosenblatt.cli.source import Source

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
    choice("--learner", *LEARNERS, help="What to train. [default: perceptron]"),
    click.option(
        "--kernel",
        help="Kernel perceptron: linear, polynomial:DEGREE[:C] or gaussian:GAMMA; it means "
        "--learner kernel.",
    ),
    click.option("--budget", type=int, help="Kernel: the most examples to store."),
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
        "--margin", type=float, help="Update also on right answers inside this margin. [default: 0]"
    ),
    flag("--renormalize", help="Scale the weights to norm 1 after each update.", default=None),
    choice(
        "--intercept",
        *("free", "lifted", "none"),
        help="SVMs: an intercept without penalty, one with (as in LIBLINEAR), or none. "
        "[default: free; the perceptron's is lifted]",
    ),
    flag("--no-intercept", help="The same as --intercept none.", default=None),
    click.option("--lift", type=LIFT, help="Constant feature for the intercept, or radius."),
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
        help="Online: say 'I don't know' so often that of the other answers no more than this "
        "share is wrong, as far as the data told.",
    ),
    click.option("--lam", type=float, help="SVM: λ of Σ hinge + λ‖w‖². [default: 1]"),
    click.option(
        "--C",
        "C",
        type=Taken("number", or_word("C", "auto")),
        help="SVM: the same as --lam 1/(2C); auto takes the best of a path by 5 folds. Online SVM: "
        "the largest share of an example. [default: 1]",
    ),
    click.option(
        "--tol", type=float, help="SVMs: relative gap to stop at. [default: 1e-3, hard 1e-6]"
    ),
    choice(
        "--multiclass",
        *("joint", "one-vs-rest"),
        help="SVM: how to treat more than two classes. [default: joint]",
    ),
    click.option(
        "--max-iter",
        type=click.IntRange(0),
        help="Most passes (epochs); 0 for no limit. [default: 1000 for the perceptron, 1 for the "
        "online SVM]",
    ),
    click.option(
        "--patience",
        type=click.IntRange(0),
        help="Stop after this many passes without progress; 0 for never. [default: 5]",
    ),
    click.option("--max-updates", type=int, help="Most updates."),
    click.option("--max-seconds", type=float, help="Time limit of the training."),
    click.option(
        "--class-weight",
        type=Taken("label=factor,...", factors),
        help="Weights of the classes; balanced: inversely proportional to their sizes.",
    ),
    flag("--balanced", help="The same as --class-weight balanced.", default=None),
    click.option("--seed", type=int, help="Seed of the random choices."),
)


scale = click.option(
    "--scale",
    type=click.Choice(["standard", "maxabs"]),
    help="Divide columns by their standard deviation and centre them, or by their largest absolute "
    "value; the model keeps the scale.",
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
    help="A perceptron to continue training: its weights, names and options.",
)
@scale
@learns
@flag("--float64", "double", help="Read values as float64.")
@options.stream
@click.option(
    "--checkpoint",
    type=FILE,
    help="With --stream or --cluster: file from which a killed run continues.",
)
@options.cluster
@options.cache
@reads(TO_LEARN)
@options.json
def fit(
    source: Source,
    model: Path,
    start: Path | None,
    scale: str | None,
    recipe: Recipe,
    double: bool,
    stream: bool,
    checkpoint: Path | None,
    cluster: str | None,
    cache: bool,
    json: bool,
) -> int:
    """Train on DATA and write a model.

    The perceptron, with or without a kernel, runs until a pass makes no mistake or none makes
    progress; Ctrl-C saves the weights learned so far. An SVM minimises Σ hinge + λ‖w‖² until its
    duality gap is small; hard-svm finds the largest margin, or says why there is none.
    """
    from rosenblatt.cli.fitting import Beginning, fit_file

    if cluster is not None:
        from rosenblatt.cli.clusters import fit_on

        if stream or cache or scale is not None or start is not None or recipe.is_open:
            raise click.UsageError(
                "--stream, --cache, --scale, --from and --C auto do not go with --cluster"
            )
        source = source.with_options(dtype="float64") if double else source
        return fit_on(cluster, source, model, recipe, checkpoint=checkpoint, json=json)
    if checkpoint is not None and not stream:
        raise click.UsageError("--checkpoint goes with --stream or --cluster")
    if scale is not None and (stream or start is not None):
        raise click.UsageError("--scale needs all rows beforehand: leave out --stream and --from")
    if stream and recipe.learner != "perceptron":
        raise click.UsageError(
            "--stream goes with --learner perceptron: any other needs its rows again"
        )
    if double or recipe.learner == "hard-svm":  # its proof is about the numbers as written
        source = source.with_options(dtype="float64")
    source = source.by(stream, cache)
    begin = Beginning(recipe, start, scale)
    return fit_file(source, model, begin, checkpoint=checkpoint, json=json)
