"""What the command bound does: a run, and the bound that it keeps to."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import rosenblatt as rb
from rosenblatt.cli.decide import write_proof
from rosenblatt.cli.options import given
from rosenblatt.cli.outputs import check_writable
from rosenblatt.cli.printing import doing, plain, show
from rosenblatt.cli.source import Source
from rosenblatt.cli.words import spoken
from rosenblatt.decide.answers import Clock, less_reading
from rosenblatt.errors import InputError, InseparableError
from rosenblatt.labels import as_labels, two_classes
from rosenblatt.learners.perceptron import Perceptron

MOST_PASSES = 1000  # of the run, if any number is asked about


def bound(
    source: Source,
    certificate: Path | None,
    passes: int | None,
    any: bool,
    intercept: bool,
    seed: int | None,
    floats: bool,
    json: bool,
    **limits: Any,
) -> None:
    """Read, learn, bound the mistakes, write the proof, report."""
    if any and passes is not None:
        raise click.UsageError("--any and --passes exclude each other")
    source = source.with_floats() if floats else source
    chosen = given({**limits, "fit_intercept": intercept, "random_state": seed})
    passes = None if any else passes or 1
    check_writable(certificate, source.data)
    began = time.perf_counter()
    with doing(f"reading {source.data}") as say, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says why the run ended
        examples = source.labelled(source.examples())
        X, y = examples
        two_classes(as_labels(y, X.shape[0]))  # before the learning, which takes more of them
        say(f"learning {X.shape[0]:,} × {X.shape[1]:,}")
        chosen = less_reading(chosen, began)
        clock = Clock(chosen.get("max_seconds"))
        learner = Perceptron(max_iter=passes or MOST_PASSES, patience=None, **chosen)
        learner.train(X, y, examples.weights)
        say("looking for the least bound")
        found = _bounded(learner, examples, passes, clock)
    facts = {"data": str(source.data), **source.label_fact(learner.columns_, json)}
    facts |= _facts(learner, found, X.shape)
    facts["certificate"] = write_proof(certificate, found.certificate)
    show(facts if json else _for_people(facts, found), json)


def _bounded(
    learner: Perceptron, examples: rb.Examples, passes: int | None, clock: Clock
) -> rb.MistakeBound:
    """Bound all runs like this one; orders that begin anew may err on a row more than once."""
    problem = learner.mistake_problem(examples.X, examples.y, examples.weights)
    most = max(passes, int(learner.run_.counts.max())) if passes else None
    try:
        return replace(problem, runs=replace(problem.runs, passes=most), clock=clock).bound()
    except InseparableError as error:
        raise InputError(str(error)) from error  # which is no answer to this question


def _facts(learner: Perceptron, bound: rb.MistakeBound, shape: tuple[int, int]) -> dict[str, Any]:
    run = learner.run_
    return {
        "rows": shape[0],
        "columns": shape[1],
        "classes": [plain(label) for label in learner.classes_.tolist()],
        "examples_scored": run.operations.dot_products,
        "passes": run.passes,
        "mistakes": run.mistakes,
        "updates": run.updates,
        "converged": run.converged,
        "bound": bound.value,
        "run": bound.run,
        "theorem": bound.theorem,
        "bound_passes": bound.passes,
        "radius": bound.radius,
        "margin": None if math.isnan(bound.margin) else bound.margin,
        "hinge_loss": bound.hinge_loss,
        "norm": float((bound.comparator**2).sum() ** 0.5),
        "minimum": bound.minimum,
        "seconds": round(run.seconds, 6),
        "stop": spoken(str(run.stop)),
    }


def _for_people(facts: dict[str, Any], bound: rb.MistakeBound) -> dict[str, Any]:
    """Give each quantity its sentence."""
    separates = facts["margin"] is not None and facts["margin"] > 0
    told = {
        "mistakes": f"{facts['mistakes']:,} in {facts['examples_scored']:,} examples scored; it "
        + ("converged" if facts["converged"] else "did not converge"),
        "bound": _bound(bound, facts["examples_scored"]),
        "theorem": _theorem(bound),
        "radius": f"R = {bound.radius:.6g}: the largest norm of a row, constant feature included",
        "margin": f"γ = {bound.margin:.6g}: every row is at least that far on the right side of w*"
        if separates
        else None,
        "hinge_loss": f"L = {bound.hinge_loss:.6g}: the sum of max(0, 1 - y·(w*·x)) over the rows"
        if bound.theorem == 2
        else None,
        "norm": f"‖w*‖ = {facts['norm']:.6g}" if bound.theorem == 2 else None,
        "minimum": _tightness(bound),
    }
    left_out = {"run", "passes", "examples_scored", "bound_passes", "converged", "stop"}
    if facts["updates"] == facts["mistakes"]:
        left_out.add("updates")
    return {name: told.get(name, value) for name, value in facts.items() if name not in left_out}


def _bound(bound: rb.MistakeBound, scored: int) -> str:
    most = math.floor(bound.value)
    idle = "; it says nothing here, since fewer were scored" if most >= scored else ""
    return f"{most:,} mistakes at most in {bound.run}{idle}"


def _theorem(bound: rb.MistakeBound) -> str:
    if bound.theorem == 1:
        return "1 (Block, Novikoff): (R/γ)², for any number of passes"
    times = "once" if bound.passes == 1 else f"{bound.passes:,} times"
    return (
        f"2 (hinge loss): R²‖w*‖² + 2·{bound.passes:,}·L, separable or not, where a row is a "
        f"mistake {times} at most"
    )


def _tightness(bound: rb.MistakeBound) -> str | None:
    if not bound.minimum:
        return None
    return (
        f"no other w* gives a bound below {bound.minimum:,.6g}: this one is "
        f"{bound.value / bound.minimum:.4f} times that"
    )
