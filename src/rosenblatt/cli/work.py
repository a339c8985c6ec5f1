"""What the commands fit, predict and evaluate do, on files."""

from __future__ import annotations

import json as jsonlib
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import rosenblatt as rb
from rosenblatt.data.files import write_atomically
from rosenblatt.errors import InputError
from rosenblatt.online.driver import Progress

people = Console(stderr=True)


def fit_file(
    data: str, path: Path, chosen: dict[str, Any], *, zero_based: bool, dtype: str, json: bool
) -> bool:
    """Read, learn, write the model, report; tell whether the user interrupted the learning."""
    _check_writable(path)
    learner = rb.Perceptron(**chosen)
    with people.status(f"reading {data}") as status:
        X, y = rb.read(data, zero_based=zero_based, dtype=dtype)
        _need_labels(y, data)
        status.update("learning; Ctrl-C keeps what was learned")

        def watch(progress: Progress) -> None:
            status.update(
                f"pass {progress.passes}, {progress.mistakes:,} mistakes, "
                f"{progress.seconds:.0f} s; Ctrl-C keeps what was learned"
            )

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the report below says why the run ended
            learner._fit(X, y, None, watch)
    rb.save(learner, path)
    _report_fit(learner, data, X.shape, path, json)
    return learner.run_.stop is rb.Stop.INTERRUPTED


def _check_writable(path: Path) -> None:
    """Find out before the work, not after it, that the model cannot be written."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a model file to write")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write the model to; make it first")


def _need_labels(y: Any, data: str) -> None:
    if y is None:
        raise InputError(f"{data} has no labels: an .npz data set holds them in the array y")


def _report_fit(
    learner: rb.Perceptron, data: str, shape: tuple[int, int], path: Path, json: bool
) -> None:
    run = learner.run_
    facts = {
        "data": data,
        "rows": int(shape[0]),
        "columns": int(shape[1]),
        "classes": [_plain(label) for label in learner.classes_.tolist()],
        "mistakes": run.mistakes,
        "passes": run.passes,
        "mistakes_in_last_pass": run.mistakes_per_pass[-1] if run.passes else None,
        "converged": run.converged,
        "seconds": round(run.seconds, 6),
        "multiply_adds": run.operations.multiply_adds,
        "stop": str(run.stop),
        "model": str(path),
    }
    _print(facts, json)


def predict_file(
    path: Path, data: str, out: Path | None, *, scores: bool, zero_based: bool, json: bool
) -> None:
    """Predict every row of a file."""
    learner, X, _ = _model_and_data(path, data, zero_based)
    values = learner.decision_function(X)
    lines = _prediction_lines(learner.predict(X).tolist(), values.tolist(), scores, json)
    text = "".join(f"{line}\n" for line in lines)
    if out is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_atomically(out, text.encode())


def _prediction_lines(labels: list[Any], values: list[float], scores: bool, json: bool) -> Any:
    for label, value in zip(labels, values, strict=True):
        if json:
            yield jsonlib.dumps({"label": _plain(label), "score": value})
        else:
            yield f"{label}\t{value!r}" if scores else f"{label}"


def evaluate_file(path: Path, data: str, *, zero_based: bool, json: bool) -> None:
    """Compare predictions with labels."""
    learner, X, y = _model_and_data(path, data, zero_based)
    _need_labels(y, data)
    values, answers = learner.decision_function(X), learner.predict(X)
    right = answers == y
    facts = {
        "data": data,
        "rows": len(y),
        "right": int(np.count_nonzero(right)),
        "wrong": int(np.count_nonzero(~right)),
        "accuracy": float(np.mean(right)),
        "unsure": int(np.count_nonzero(values == 0)),
    }
    if json:
        facts["confusion"] = _confusion(y, answers)
        _print(facts, json)
        return
    _print(facts, json)
    table = Table("label", *(f"answered {label}" for label in learner.classes_.tolist()))
    counted = {(row["label"], row["answer"]): row["count"] for row in _confusion(y, answers)}
    for label in dict.fromkeys(row[0] for row in counted):
        counts = (counted.get((label, _plain(c)), 0) for c in learner.classes_.tolist())
        table.add_row(str(label), *map(str, counts))
    Console().print(table)


def describe_file(data: str, *, zero_based: bool, json: bool) -> None:
    """Tell what a data set is like."""
    with people.status(f"reading {data}"):
        X, y = rb.read(data, zero_based=zero_based)
        found = rb.info(X, y)
    facts: dict[str, Any] = {"data": data, **vars(found)}
    facts["contradiction"] = list(found.contradiction) if found.contradiction else None
    if json:
        facts["classes"] = [
            {"label": _plain(label), "rows": count}
            for label, count in (found.classes or {}).items()
        ]
        _print(facts, json)
        return
    facts["classes"] = ", ".join(f"{k} ({v:,})" for k, v in (found.classes or {}).items()) or "none"
    facts["memory"] = f"{found.memory / 2**20:,.1f} MiB"
    facts["contradiction"] = "none"
    if found.contradiction is not None:
        i, j = found.contradiction
        facts["contradiction"] = (
            f"rows {i} and {j} (from 0) are equal but have different labels, so nothing separates "
            "the classes"
        )
    _print(facts, json)


def _confusion(y: np.ndarray, answers: np.ndarray) -> list[dict[str, Any]]:
    pairs: dict[tuple[Any, Any], int] = {}
    for pair in zip(y.tolist(), answers.tolist(), strict=True):
        pairs[pair] = pairs.get(pair, 0) + 1
    return [
        {"label": _plain(label), "answer": _plain(answer), "count": count}
        for (label, answer), count in sorted(pairs.items(), key=str)
    ]


def _model_and_data(path: Path, data: str, zero_based: bool) -> tuple[Any, Any, Any]:
    learner = rb.load(path)
    with people.status(f"reading {data}"):
        X, y = rb.read(data, zero_based=zero_based, width=learner._reader.width)
    return learner, X, y


def _plain(label: Any) -> Any:
    """Give a label as JSON has it; labels of other types as their text."""
    return label if label is None or isinstance(label, bool | int | float | str) else str(label)


def _print(facts: dict[str, Any], json: bool) -> None:
    if json:
        print(jsonlib.dumps(facts, ensure_ascii=False))
        return
    table = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _for_people(value))
    Console().print(table)


def _for_people(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
