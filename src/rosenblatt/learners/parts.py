"""A learner as plain parts: settings that JSON can hold, and arrays. And back.

Nothing here is code when it comes back: a file made of these parts can be read from strangers.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError, ModelFileError
from rosenblatt.examples import as_objects
from rosenblatt.learners.beginning import OUTPUTS, check_options
from rosenblatt.learners.one_row import RowReader
from rosenblatt.learners.plain import PlainPerceptron
from rosenblatt.online.averaging import Ballot, Votes
from rosenblatt.online.halfspace import Halfspace
from rosenblatt.online.perceptron import Rule, State
from rosenblatt.run import History, Operations, Run, Stop

Settings = dict[str, Any]
Tensors = dict[str, np.ndarray]

RUN_NUMBERS = ("mistakes", "updates", "passes", "converged", "seconds")


def perceptron_parts(learner: PlainPerceptron) -> tuple[Settings, Tensors]:
    """Take a fitted perceptron apart."""
    halfspace = learner._halfspace
    state = halfspace.state
    tensors = {"w": state.w, "drift": state.drift, "tally": state.tally, "start": halfspace.start}
    settings: Settings = {
        "options": _options(learner, tensors),
        "classes": {"labels": _labels(learner.classes_), "dtype": learner.classes_.dtype.str},
        "columns": learner.n_features_in_,
        "names": _names(learner),
        "open_width": learner._reader.width is None,
        "rule": halfspace.rule._asdict(),
        "lift": halfspace.lift,
        "output": halfspace.output,
        "run": _run_parts(learner._run_so_far(), tensors),
    }
    if halfspace.votes is not None:
        settings["votes"] = _vote_parts(halfspace.votes.ballot(), tensors)
    return settings, tensors


def perceptron_from(
    settings: Settings, tensors: Tensors, make: type[PlainPerceptron]
) -> PlainPerceptron:
    """Put a perceptron of a class together again, checking that the parts fit."""
    state = State(tensors["w"], tensors["drift"], tensors["tally"])
    width = int(settings["columns"])
    _require(state.w.shape == (width + 1,), "the weights have another width")
    _require(state.drift.shape in ((0,), (width + 1,)), "the averages have another width")
    _require(state.tally.shape == (8,), "the counters are incomplete")
    _require(tensors["start"].shape == (width + 1,), "the start has another width")
    _require(all(part.dtype == np.float64 for part in state), "the weights are not float64")
    _require(all(np.isfinite(part).all() for part in state), "a weight is NaN or infinity")
    output = settings["output"]
    _require(output in OUTPUTS, f"it has the unknown output {output!r}")
    _require((output == "averaged") == bool(state.drift.size), "the averages do not fit")
    _require((output == "voted") == ("votes" in settings), "the votes do not fit")
    votes = None
    if "votes" in settings:
        ballot = _ballot(settings["votes"], tensors, width)
        votes = Votes(tensors["start"], float(settings["lift"]), [ballot])
    halfspace = Halfspace(
        Rule(**settings["rule"]),
        float(settings["lift"]),
        state,
        output,
        tensors["start"],
        votes,
    )
    learner = make(**_options_back(settings["options"], tensors))
    check_options(learner)
    names = settings["names"]
    if names is not None:
        learner.feature_names_in_ = np.array(names, object)
    learner._hold(halfspace, _classes(settings["classes"]), _run(settings["run"], tensors))
    learner._reader = RowReader(None if settings["open_width"] else width, names)
    return learner


def _require(condition: bool, complaint: str) -> None:
    if not condition:
        raise ModelFileError(complaint)


# ---- options


def _options(learner: PlainPerceptron, tensors: Tensors) -> Settings:
    options = learner._options()
    if not isinstance(options["initial"], str):
        tensors["initial"] = np.asarray(options["initial"], np.float64)
        options["initial"] = None
    if isinstance(options["class_weight"], dict):
        pairs = options["class_weight"].items()
        options["class_weight"] = [[_label(label), float(factor)] for label, factor in pairs]
    if isinstance(options["random_state"], np.integer):
        options["random_state"] = int(options["random_state"])
    if not isinstance(options["random_state"], int | None):
        raise InputError("a learner whose random_state is a generator cannot be saved; give a seed")
    return {name: _number(value) for name, value in options.items()}


def _options_back(options: Settings, tensors: Tensors) -> Settings:
    options = dict(options)
    if options["initial"] is None:
        options["initial"] = tensors["initial"]
    if isinstance(options["class_weight"], list):
        pairs = options["class_weight"]
        options["class_weight"] = {_label_back(label): factor for label, factor in pairs}
    return options


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _names(learner: PlainPerceptron) -> list[str] | None:
    names = getattr(learner, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


# ---- labels


def _labels(classes: np.ndarray) -> list[Any]:
    return [_label(label) for label in classes.tolist()]


def _label(label: Any) -> Any:
    """Give a label as JSON, with a tag where JSON has no such type."""
    if label is None or type(label) in (bool, int, float, str):
        return label
    if isinstance(label, np.generic):
        return _label(label.item())
    if type(label) is bytes:
        return {"bytes": label.hex()}
    if type(label) is tuple:
        return {"tuple": [_label(item) for item in label]}
    raise InputError(
        f"the label {label!r} cannot be saved; use numbers, strings, bytes or tuples of these"
    )


def _label_back(label: Any) -> Any:
    if isinstance(label, dict) and "bytes" in label:
        return bytes.fromhex(label["bytes"])
    if isinstance(label, dict):
        return tuple(_label_back(item) for item in label["tuple"])
    return label


def _classes(parts: Settings) -> np.ndarray:
    labels = [_label_back(label) for label in parts["labels"]]
    _require(1 <= len(labels) <= 2, "it does not name one or two classes")
    dtype = np.dtype(parts["dtype"])
    return as_objects(labels) if dtype.kind == "O" else np.array(labels, dtype)


# ---- votes


def _vote_parts(ballot: Ballot, tensors: Tensors) -> Settings:
    for name in ("row", "step", "norm", "held"):
        tensors[f"votes.{name}"] = getattr(ballot, name)
    support = ballot.support
    if sparse.issparse(support):
        for name in ("data", "indices", "indptr"):
            tensors[f"votes.support.{name}"] = getattr(support, name)
        return {"sparse": True, "rows": support.shape[0]}
    tensors["votes.support"] = support
    return {"sparse": False, "rows": support.shape[0]}


def _ballot(parts: Settings, tensors: Tensors, width: int) -> Ballot:
    shape = (int(parts["rows"]), width)
    if parts["sparse"]:
        arrays = [tensors[f"votes.support.{name}"] for name in ("data", "indices", "indptr")]
        support = sparse.csr_matrix(tuple(arrays), shape=shape)
        support.check_format(full_check=True)
    else:
        support = tensors["votes.support"]
    row, step, norm, held = (tensors[f"votes.{name}"] for name in ("row", "step", "norm", "held"))
    _require(support.shape == shape, "the stored mistakes have another width")
    _require(row.size == step.size == norm.size == held.size - 1, "the votes are incomplete")
    _require(bool(np.all((row >= 0) & (row < shape[0]))), "a vote names a row that is not there")
    return Ballot(support, row, step, norm, held)


# ---- runs


def _run_parts(run: Run | None, tensors: Tensors) -> Settings | None:
    if run is None:
        return None
    tensors["run.counts"] = run.counts
    parts: Settings = {name: getattr(run, name) for name in RUN_NUMBERS}
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
        counts=tensors["run.counts"],
        stop=Stop[parts["stop"]],
        operations=Operations(**parts["operations"]),
        history=history,
    )
