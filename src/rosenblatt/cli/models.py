"""What `info` tells of a model file."""

from __future__ import annotations

import os
from typing import Any

from rosenblatt.cli.work import _plain, _print
from rosenblatt.data.sources import beginning, is_pipe
from rosenblatt.names import wanted_by

FEW = 20  # names that people are shown


def is_model(path: str) -> bool:
    """Tell whether a file begins as model files do: a length, and the notes in JSON."""
    if not os.path.isfile(path) and not is_pipe(path):
        return False
    return beginning(path, 24)[8:] == b'{"__metadata__":'


def describe_model(path: str, *, json: bool) -> None:
    """Tell what a model is."""
    from rosenblatt.cli.svms import described
    from rosenblatt.data.models import kind_of, read_model
    from rosenblatt.learners.linear import PlainLinear

    learner, _ = read_model(path)
    facts: dict[str, Any] = {"model": path, "learner": kind_of(learner)}
    if isinstance(learner, PlainLinear):
        facts |= described(learner)
    else:
        run = learner.run_
        facts["columns"] = learner.n_features_in_
        facts["classes"] = [_plain(label) for label in learner.classes_.tolist()]
        facts |= {"mistakes": run.mistakes, "passes": run.passes, "converged": run.converged}
        if hasattr(learner, "support_"):
            facts["stored_examples"] = learner.support_.size
    facts |= _columns(learner)
    options = {name: value for name, value in learner._options().items() if value is not None}
    facts["options"] = {name: _as_json(value) for name, value in options.items()}
    if not json:
        facts["options"] = ", ".join(f"{k}={v!r}" for k, v in facts["options"].items())
        facts["names"] = ", ".join((facts["names"] or [])[:FEW]) or None
    _print(facts, json)


def _columns(learner: Any) -> dict[str, Any]:
    """Tell what the columns are, and which one was the label."""
    columns = wanted_by(learner).columns
    names = None if columns.names is None else list(columns.names)
    return {"made_of": columns.spoken(), "names": names, "label": columns.label}


def _as_json(value: Any) -> Any:
    """Give an option as JSON has it; those of other types as their text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(label): factor for label, factor in value.items()}
    return value if isinstance(value, bool | int | float | str) else str(value)
