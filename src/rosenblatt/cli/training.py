"""The command `fit`: what to train, with which options, on what."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rosenblatt.cli.entry import INTERRUPTED
from rosenblatt.cli.options import (
    Cache,
    Data,
    Format,
    Header,
    Json,
    Label,
    Missing,
    Stream,
    Words,
    ZeroBased,
)

kept: list[str] = []  # models written in spite of an interrupt


class Learner(StrEnum):
    """What to train."""

    perceptron = "perceptron"
    svm = "svm"
    hard_svm = "hard-svm"
    kernel = "kernel"


class Forget(StrEnum):
    """Which stored example makes room for a new one."""

    oldest = "oldest"
    random = "random"
    project = "project"


class Order(StrEnum):
    """Which example comes next."""

    cycle = "cycle"
    shuffle = "shuffle"
    random = "random"
    worst = "worst"
    first = "first"


class Start(StrEnum):
    """Where the weights begin."""

    zero = "zero"
    unit = "unit"
    random = "random"


class Output(StrEnum):
    """What predicts."""

    auto = "auto"
    last = "last"
    averaged = "averaged"
    voted = "voted"


class Intercept(StrEnum):
    """How a hyperplane may miss the origin."""

    free = "free"
    lifted = "lifted"
    none = "none"


class Multiclass(StrEnum):
    """What an SVM does with more than two classes."""

    joint = "joint"
    one_vs_rest = "one-vs-rest"


# The options that belong to some learners only; all others are about reading and writing.
OWN = {
    "kernel": [Learner.kernel],
    "budget": [Learner.kernel],
    "forget": [Learner.kernel],
    "order": [Learner.perceptron, Learner.kernel],
    "initial": [Learner.perceptron],
    "eta0": [Learner.perceptron],
    "renormalize": [Learner.perceptron],
    "output": [Learner.perceptron, Learner.kernel],
    "patience": [Learner.perceptron],
    "max_updates": [Learner.perceptron, Learner.kernel],
    "stream": [Learner.perceptron],
    "lam": [Learner.svm],
    "C": [Learner.svm],
    "multiclass": [Learner.svm],
    "tol": [Learner.svm, Learner.hard_svm],
    "max_iter": [Learner.perceptron, Learner.svm, Learner.kernel],
    "balanced": [Learner.perceptron, Learner.svm],
    "seed": [Learner.perceptron, Learner.svm, Learner.kernel],
}


def fit(
    context: typer.Context,
    data: Data,
    model: Annotated[Path, typer.Option("--model", "-m", help="Where to write the model.")],
    learner: Annotated[Learner, typer.Option(help="What to train.")] = Learner.perceptron,
    kernel: Annotated[
        str | None,
        typer.Option(
            help="Kernel perceptron: linear, polynomial:DEGREE[:C] or gaussian:GAMMA; it means "
            "--learner kernel."
        ),
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Kernel: most examples to store.")] = None,
    forget: Annotated[
        Forget, typer.Option(help="Kernel: what makes room when the budget is used up.")
    ] = Forget.oldest,
    order: Annotated[Order, typer.Option(help="Which example comes next.")] = Order.cycle,
    initial: Annotated[Start, typer.Option(help="Starting weights.")] = Start.zero,
    eta0: Annotated[float, typer.Option(help="Learning rate.")] = 1.0,
    renormalize: Annotated[
        bool, typer.Option("--renormalize", help="Scale the weights to norm 1 after updates.")
    ] = False,
    intercept: Annotated[
        Intercept | None,
        typer.Option(
            help="SVMs: an intercept that costs nothing, one that is part of the weights, or none. "
            "[default: free; the perceptron's is lifted]"
        ),
    ] = None,
    no_intercept: Annotated[
        bool, typer.Option("--no-intercept", help="The same as --intercept none.")
    ] = False,
    lift: Annotated[str, typer.Option(help="Constant of the added coordinate, or radius.")] = "1",
    output: Annotated[
        Output, typer.Option(help="What predicts; auto: last if the run converges, else averaged.")
    ] = Output.auto,
    lam: Annotated[float | None, typer.Option(help="SVM: λ of Σ hinge + λ‖w‖².")] = None,
    c: Annotated[float | None, typer.Option("--C", help="SVM: the same as --lam 1/(2C).")] = None,
    tol: Annotated[
        float | None,
        typer.Option(help="SVMs: relative gap to end with. [default: 1e-3, hard 1e-6]"),
    ] = None,
    multiclass: Annotated[
        Multiclass, typer.Option(help="SVM: what to do with more than two classes.")
    ] = Multiclass.joint,
    max_iter: Annotated[
        int | None,
        typer.Option(help="Most passes; 0 for no limit. [default: 1000 for the perceptron]"),
    ] = None,
    patience: Annotated[
        int, typer.Option(help="Passes without progress to stop after; 0 for no such limit.")
    ] = 5,
    max_updates: Annotated[int | None, typer.Option(help="Most updates.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Most seconds of training.")] = None,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Weigh classes against their sizes.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of the random choices.")] = None,
    format: Format = None,
    label: Label = None,
    header: Header = None,
    categories: Words = None,
    missing: Missing = None,
    zero_based: ZeroBased = False,
    double: Annotated[bool, typer.Option("--float64", help="Read values as float64.")] = False,
    stream: Stream = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="With --stream: file to go on from if the run is killed.")
    ] = None,
    cache: Cache = False,
    json: Json = False,
) -> None:
    """Learn from DATA and write a model.

    The perceptron, with a kernel or without, runs until a pass makes no mistake, or a limit; Ctrl-C
    keeps what was learned up to then. An SVM minimises Σ hinge + λ‖w‖² until the gap is proven to
    be small; hard-svm finds the widest margin, or says why there is none.
    """
    from rosenblatt.cli.source import Source, reading

    if kernel is not None and learner is Learner.perceptron:
        learner = Learner.kernel
    _refuse_foreign(context, learner)
    kind = _intercept(learner, intercept, no_intercept)
    if checkpoint is not None and not stream:
        raise typer.BadParameter("--checkpoint goes with --stream")
    double = double or learner is Learner.hard_svm  # its proof is about the numbers as written
    how = reading(format, label, missing, zero_based, double, header, categories)
    source = Source(data, stream, cache, how, streamable=learner is Learner.perceptron)
    options: dict[str, Any] = {"max_seconds": max_seconds}
    if learner in (Learner.perceptron, Learner.kernel):
        options |= {
            "order": order.value,
            "fit_intercept": kind is not Intercept.none,
            "lift": lift if lift == "radius" else _number(lift, " or radius"),
            "output": output.value,
            "max_iter": 1000 if max_iter is None else max_iter or None,
            "max_updates": max_updates,
            "random_state": seed,
        }
        if learner is Learner.kernel:
            options |= {"kernel": kernel or "linear", "budget": budget, "forget": forget.value}
        else:
            weights = "balanced" if balanced else None
            options |= {"initial": initial.value, "eta0": eta0, "class_weight": weights}
            options |= {"renormalize": renormalize, "patience": patience or None}
        from rosenblatt.cli.work import fit_file

        name = "KernelPerceptron" if learner is Learner.kernel else "Perceptron"
        if fit_file(source, model, name, options, checkpoint=checkpoint, json=json):
            kept.append(str(model))
            raise typer.Exit(INTERRUPTED)
        return
    from rosenblatt.cli.svms import fit_svm

    options |= {"intercept": kind.value, "lift": _number(lift)}
    if kind is not Intercept.lifted and lift != "1":
        raise typer.BadParameter("--lift goes with --intercept lifted")
    if tol is not None:
        options["tol"] = tol
    if learner is Learner.svm:
        options |= {
            "C": c,
            "multiclass": multiclass.value,
            "max_iter": max_iter or None,
            "class_weight": "balanced" if balanced else None,
            "random_state": seed or 0,
        }
        if lam is not None:
            options["lam"] = lam
        if lam is not None and c is not None:
            raise typer.BadParameter("--lam and --C say the same thing; give one of them")
    fit_svm(source, model, learner.value, options, json=json)


def _refuse_foreign(context: typer.Context, learner: Learner) -> None:
    """Refuse options that are not of the learner, if somebody gave them."""
    for name, owners in OWN.items():
        source = context.get_parameter_source(name.lower())
        if learner in owners or source is None or source.name != "COMMANDLINE":
            continue
        option = f"--{name.replace('_', '-')}"
        if name == "stream":
            raise typer.BadParameter(
                "--stream goes with --learner perceptron: any other needs its rows again"
            )
        raise typer.BadParameter(
            f"{option} goes with --learner {' or '.join(owners)}, not with {learner.value}"
        )


def _intercept(learner: Learner, chosen: Intercept | None, without: bool) -> Intercept:
    if without and chosen not in (None, Intercept.none):
        raise typer.BadParameter("--intercept and --no-intercept exclude each other")
    if without or chosen is Intercept.none:
        return Intercept.none
    if learner in (Learner.svm, Learner.hard_svm):
        return chosen or Intercept.free
    if chosen is Intercept.free:
        raise typer.BadParameter(
            "the perceptron's intercept is lifted: it is a weight like others; give "
            "--intercept lifted or none"
        )
    return Intercept.lifted


def _number(text: str, other: str = "") -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"--lift takes a number{other}, got {text!r}") from None
