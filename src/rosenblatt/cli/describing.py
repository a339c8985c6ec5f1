"""What `info` tells of data and of models."""

from __future__ import annotations

import os
from typing import Any

import rosenblatt as rb
from rosenblatt.cli.printing import doing, plain, show
from rosenblatt.cli.source import Source
from rosenblatt.data.formats import folder_format
from rosenblatt.data.models import kind_of, read_model
from rosenblatt.data.scaling import Scaling
from rosenblatt.data.sources import Name, beginning, is_pipe
from rosenblatt.data.store import open_store
from rosenblatt.names import wanted_by

FEW = 20  # names that people are shown


def info(source: Source, json: bool) -> None:
    """Tell what a data set is like, or a model."""
    if source.reading.format is None and is_model(source.data):
        show(_of_model(source.data, json), json)
        return
    with doing(f"reading {source.data}"):
        if folder_format(source.data) == "store":
            open_store(source.data, verify=True)
        # A contradiction must be one of the numbers as written, not of their roundings.
        examples = source.with_options(dtype="float64").examples()
        found = rb.info(*examples)
    label = source.label_fact(examples.columns, json)
    show({"data": str(source.data), **label, **_of_data(found, json)}, json)


def _of_data(found: Any, json: bool) -> dict[str, Any]:
    counts: dict[Any, int] = found.classes or {}
    clash = [row + 1 for row in found.contradiction or ()]
    if json:
        classes = [{"label": plain(label), "rows": count} for label, count in counts.items()]
        return {**vars(found), "classes": classes, "contradiction": clash or None}
    contradiction = "none"
    if clash:
        contradiction = (
            f"rows {clash[0]} and {clash[1]} are equal but have different labels, so nothing "
            "separates the classes"
        )
    return {
        **vars(found),
        "classes": ", ".join(f"{k} ({v:,})" for k, v in counts.items()) or "none",
        "memory": f"{found.memory / 2**20:,.1f} MiB",
        "contradiction": contradiction,
    }


def is_model(path: Name) -> bool:
    """Tell whether a file begins as model files do: a length, and the notes in JSON."""
    if not os.path.isfile(path) and not is_pipe(path):
        return False
    return beginning(path, 24)[8:] == b'{"__metadata__":'


def _of_model(path: Name, json: bool) -> dict[str, Any]:
    learner, notes, scaling = read_model(path)
    columns = wanted_by(learner).columns
    names = None if columns.names is None else list(columns.names)
    chosen = {name: value for name, value in learner.options().items() if value is not None}
    facts = {
        "model": str(path),
        "learner": kind_of(learner),
        **described(learner, scaling),
        "format": notes.get("format"),
        "made_of": columns.spoken(),
        "names": names,
        "label": columns.label,
        "options": {name: _as_json(value) for name, value in chosen.items()},
        "reading": notes.get("reading", {}),
    }
    return facts if json else facts | _in_brief(facts)


def _in_brief(facts: dict[str, Any]) -> dict[str, Any]:
    names = facts["names"] or []
    more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
    own = {name: facts[name] for name in ("options", "reading")}
    told = {name: ", ".join(f"{k}={v!r}" for k, v in pairs.items()) for name, pairs in own.items()}
    return {"names": ", ".join(names[:FEW]) + more or None} | {
        k: v or None for k, v in told.items()
    }


def described(learner: Any, scaling: Scaling | None = None) -> dict[str, Any]:
    """Tell what a learner has learned."""
    facts: dict[str, Any] = {
        "columns": learner.n_features_in_,
        "classes": [plain(label) for label in learner.classes_.tolist()],
        "scale": None if scaling is None else scaling.kind,
    }
    if hasattr(learner, "run_"):
        return facts | _of_run(learner)
    facts["support_vectors"] = int(learner.support_.size)
    if hasattr(learner, "margin_"):
        lower, upper = learner.margin_
        return {**facts, "margin_from": lower, "margin_to": upper}
    return {
        **facts,
        "lam": learner.lam_,
        "C": 1 / (2 * learner.lam_),
        "objective": learner.objective_,
        "dual_objective": learner.dual_objective_,
        "gap": learner.gap_,
        "passes": learner.n_iter_,
        "converged": learner.complaint() is None,
    }


def _of_run(learner: Any) -> dict[str, Any]:
    run = learner.run_
    facts: dict[str, Any] = {
        "examples_scored": run.operations.dot_products,
        "mistakes": run.mistakes,
        "passes": run.passes,
        "mistakes_in_last_pass": run.mistakes_per_pass[-1] if run.passes else None,
    }
    if hasattr(learner, "support_"):
        facts["stored_examples"] = learner.support_.size
    return {
        **facts,
        "converged": run.converged,
        "multiply_adds": run.operations.multiply_adds,
    }


def _as_json(value: Any) -> Any:
    """Give an option as JSON has it; those of other types as their text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(label): factor for label, factor in value.items()}
    return value if isinstance(value, bool | int | float | str) else str(value)
