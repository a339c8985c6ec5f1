"""Online learners as plain parts: settings that JSON can hold, and arrays. And back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from rosenblatt.learners.one_row import RowReader
from rosenblatt.learners.online import OnlineLearner
from rosenblatt.learners.online_svm import OnlineSVM
from rosenblatt.learners.perceptron import Perceptron
from rosenblatt.learners.stream import OUTPUTS, StreamLearner
from rosenblatt.learners.values import (
    Settings,
    Tensors,
    array_of,
    classes_from,
    matrix_from,
    option_parts,
    options_from,
    put_matrix,
    require,
    shared_parts,
    width_of,
)
from rosenblatt.online.averaging import AVERAGING, Ballot, Votes, as_wide
from rosenblatt.online.band import NO_BAND, empty_band
from rosenblatt.online.linear_machine import LinearMachine
from rosenblatt.online.machine import Machine
from rosenblatt.online.perceptron import PLACES, SEEN, Rule, State
from rosenblatt.online.window import Window
from rosenblatt.rows import Sparse
from rosenblatt.run import History, Operations, Run, Stop

RUN_NUMBERS = ("mistakes", "updates", "passes", "converged")
WINDOW, WINDOW_ROWS = ("codes", "box", "square", "alpha"), ("starts", "columns", "values")


def perceptron_parts(learner: OnlineLearner) -> tuple[Settings, Tensors]:
    """Take a fitted perceptron apart."""
    separator = learner.separator
    state = separator.state
    tensors = {"w": state.w, "drift": state.drift, "tally": state.tally, "start": separator.start}
    if state.band.size:
        tensors["band"] = state.band
    settings: Settings = {
        **shared_parts(learner),
        **stream_parts(learner, tensors),
        "options": _options(learner, tensors),
        "rule": _rule_parts(separator, tensors),
        "lift": separator.lift,
        "output": separator.output,
    }
    if not separator.is_halfspace:
        settings["by_column"] = not state.w.flags.c_contiguous  # how the weights lie in memory
    if separator.votes is not None:
        settings["votes"] = _vote_parts(separator, separator.votes.ballot(), tensors)
    return settings, tensors


def perceptron_from(settings: Settings, tensors: Tensors) -> Perceptron:
    """Put a perceptron together again, checking that the parts fit."""
    classes = classes_from(settings["classes"])
    require(classes.size >= 1, "it does not name a class")
    separator = _separator(settings, tensors, classes.size, width_of(settings, least=0))
    learner = Perceptron(**_options_back(settings["options"], tensors))
    learner.check_options()
    take_over(learner, separator, classes, settings, tensors)
    return learner


def online_svm_parts(learner: OnlineSVM) -> tuple[Settings, Tensors]:
    """Take a fitted online SVM apart."""
    settings, tensors = perceptron_parts(learner)
    held = learner.machine.window.held()
    tensors |= {f"window.{name}": getattr(held, name) for name in WINDOW}
    tensors |= {f"window.{name}": getattr(held.rows, name) for name in WINDOW_ROWS}
    return settings, tensors


def online_svm_from(settings: Settings, tensors: Tensors) -> OnlineSVM:
    """Put an online SVM together again, checking that the parts fit."""
    classes, width = classes_from(settings["classes"]), width_of(settings, least=0)
    require(classes.size >= 1, "it does not name a class")
    separator = _separator(settings, tensors, classes.size, width)
    learner = OnlineSVM(**options_from(settings["options"]))
    learner.check_options()
    window = _window(tensors, separator, max(classes.size, 2))
    held = {name: getattr(separator, name) for name in ("rule", "lift", "state", "output", "start")}
    machine = Machine(**held, window=window.with_room(0, int(learner.window)))
    take_over(learner, machine, classes, settings, tensors)
    return learner


def _window(tensors: Tensors, separator: LinearMachine, classes: int) -> Window:
    """Give the newest examples as they were held; refuse rows, classes and shares that misfit."""
    size, entries = tensors["window.codes"].size, tensors["window.columns"].size
    starts = array_of(tensors, "window.starts", size + 1, dtype=np.uint64, below=entries + 1)
    rises = starts[0] == 0 and bool((starts[1:] >= starts[:-1]).all())
    require(rises and int(starts[-1]) == entries, "the rows of the window do not fit")
    width = separator.width
    columns = array_of(tensors, "window.columns", entries, dtype=np.uint32, below=width)
    rows = Sparse(starts, columns, array_of(tensors, "window.values", entries), separator.lift)
    codes = array_of(tensors, "window.codes", size, dtype=np.int64, below=classes)
    box, square = (array_of(tensors, f"window.{name}", size) for name in ("box", "square"))
    alpha, most = array_of(tensors, "window.alpha", size, classes), box * (1 + 1e-9)  # of rounding
    inside = bool((alpha >= 0).all() and (alpha.sum(axis=1) <= most).all())
    require(inside, "a share in the weights is outside the box of the window")
    return Window(rows, codes, box, square, alpha, ends=np.array([0, size]))


def _separator(settings: Settings, tensors: Tensors, classes: int, width: int) -> LinearMachine:
    output, vectors = settings["output"], (classes,) if classes > 2 else ()
    require(output in OUTPUTS, f"it has the unknown output {output!r}")
    require((output == "voted") == ("votes" in settings), "the votes do not fit")
    laid = np.asfortranarray if settings.get("by_column") else np.ascontiguousarray
    w = laid(array_of(tensors, "w", *vectors, width + 1))
    averaged = width + 1 if output in AVERAGING else 0
    drift = laid(array_of(tensors, "drift", *vectors, averaged))
    tally = array_of(tensors, "tally", PLACES)
    votes, lift = None, float(settings["lift"])
    if "votes" in settings:
        votes = Votes(lift, (_ballot(settings["votes"], tensors, classes, width),))
    return LinearMachine(
        _rule(settings["rule"], tensors, classes),
        lift,
        State(w, drift, tally, np.zeros(vectors or 1), _band(settings, tensors)),
        output,
        array_of(tensors, "start", *vectors, width + 1),
        votes,
    )


def _band(settings: Settings, tensors: Tensors) -> np.ndarray:
    """Give the answers that were counted by their leads; none if nobody wanted them."""
    if settings["options"].get("unsure") is None:
        return NO_BAND
    return array_of(tensors, "band", *empty_band().shape, dtype=np.int64)


# Files name the weights of two classes, and give the steps of their votes a sign.


def _rule_parts(separator: LinearMachine, tensors: Tensors) -> Settings:
    """Give the numbers of a rule; weights of examples are those of one run."""
    rule = separator.rule
    if not separator.is_halfspace:
        tensors["rule.weights"] = rule.weights
        return {"eta": rule.eta, "renormalize": rule.renormalize, "margin": rule.margin}
    weights = rule.weights.tolist()
    return {
        "eta": rule.eta,
        "negative_weight": weights[0],
        "positive_weight": weights[-1],
        "renormalize": rule.renormalize,
        "zero_is_positive": rule.zero_is_positive,
        "margin": rule.margin,
    }


def _rule(parts: Settings, tensors: Tensors, classes: int) -> Rule:
    parts = dict(parts)
    if classes <= 2:
        weights = np.array([parts.pop("negative_weight"), parts.pop("positive_weight")])
        return Rule(weights=weights, **parts)
    return Rule(weights=array_of(tensors, "rule.weights", classes), **parts)


# ---- options


def _options(learner: OnlineLearner, tensors: Tensors) -> Settings:
    options = option_parts(learner)
    if not isinstance(options.get("initial", "zero"), str):
        tensors["initial"] = np.asarray(options["initial"], np.float64)
        options["initial"] = None
    return options


def _options_back(options: Settings, tensors: Tensors) -> Settings:
    options = options_from(options)
    if options["initial"] is None:
        options["initial"] = tensors["initial"]
    return options


# ---- votes


def _vote_parts(separator: LinearMachine, ballot: Ballot, tensors: Tensors) -> Settings:
    tensors["votes.held"] = ballot.held(float(separator.state.tally[SEEN]))
    tensors["votes.row"], tensors["votes.norm"] = ballot.row, ballot.norm
    if separator.is_halfspace:
        tensors["votes.step"] = np.where(ballot.code, ballot.step, -ballot.step)
    else:
        for name in ("step", "code", "rival"):
            tensors[f"votes.{name}"] = getattr(ballot, name)
    support = as_wide(ballot.support, separator.width)
    return put_matrix(support, tensors, "votes.support", "votes.support")


def _ballot(parts: Settings, tensors: Tensors, classes: int, width: int) -> Ballot:
    support = matrix_from(parts, tensors, "votes.support", "votes.support", width)
    votes, whole = tensors["votes.row"].size, {"dtype": np.int64}
    row = array_of(tensors, "votes.row", votes, below=support.shape[0], **whole)
    step, norm = (array_of(tensors, f"votes.{name}", votes) for name in ("step", "norm"))
    if classes > 2:
        kinds = ("code", "rival")
        code, rival = (
            array_of(tensors, f"votes.{k}", votes, below=classes, **whole) for k in kinds
        )
    else:
        code = (step > 0).astype(np.int64)
        step, rival = np.abs(step), 1 - code
    held = array_of(tensors, "votes.held", votes + 1)
    return Ballot(support, row, step, norm, np.cumsum(held)[:-1], code, rival)


# ---- streams


def stream_parts(learner: StreamLearner, tensors: Tensors) -> Settings:
    """Give what learners from mistakes share: how rows are read, and the run so far."""
    return {
        "open_width": learner._reader.width is None,
        "names_grow": learner._reader.names_grow,
        "weighted": learner._weighted,
        "run": _run_parts(learner.run_so_far(), tensors),
    }


def take_over(
    learner: StreamLearner,
    learned: Any,
    classes: np.ndarray,
    settings: Settings,
    tensors: Tensors,
) -> None:
    """Let a learner hold what was learned, and go on with its run."""
    width, names = settings["columns"], settings["names"]
    learner._name_columns(names)
    learner.n_features_in_ = width
    learner._hold(learned, classes, _run(settings["run"], tensors))
    learner._weighted = settings.get("weighted") is True
    if not settings["open_width"]:
        learner._reader = RowReader(width, names)
    else:
        grows = settings.get("names_grow")
        require(not grows or isinstance(names, list), "the names of the columns do not fit")
        learner._reader = RowReader(None, names if grows else None)


# ---- runs


def _run_parts(run: Run | None, tensors: Tensors) -> Settings | None:
    if run is None:
        return None
    missed = np.flatnonzero(run.counts)  # few of a long stream
    tensors["run.counts"], tensors["run.examples"] = run.counts[missed], missed
    parts: Settings = {name: getattr(run, name) for name in RUN_NUMBERS}
    parts["examples"] = run.counts.size
    parts["mistakes_per_pass"] = list(run.mistakes_per_pass)
    parts["stop"] = run.stop.name
    parts["operations"] = asdict(run.operations)
    parts["history"] = run.history is not None
    if run.history is not None:
        for name, values in vars(run.history).items():
            tensors[f"run.history.{name}"] = values
    return parts


def _run(parts: Settings | None, tensors: Tensors) -> Run | None:
    if parts is None:
        return None
    history = None
    if parts["history"]:
        names = ("k", "example", "projection", "sqnorm")
        history = History(**{name: tensors[f"run.history.{name}"] for name in names})
    return Run(
        **{name: parts[name] for name in RUN_NUMBERS},
        mistakes_per_pass=tuple(parts["mistakes_per_pass"]),
        counts=_counts(parts, tensors),
        stop=Stop[parts["stop"]],
        seconds=0.0,  # which no file keeps
        operations=Operations(**parts["operations"]),
        history=history,
    )


def _counts(parts: Settings, tensors: Tensors) -> np.ndarray:
    given = tensors["run.counts"]
    if "examples" not in parts:  # as in files of version 0.1
        return given
    size = parts["examples"]
    require(type(size) is int and size >= 0, "it does not say how many examples there were")
    places = array_of(tensors, "run.examples", given.size, dtype=np.int64, below=size)
    counts = np.zeros(size, np.uint32)
    counts[places] = given
    return counts
