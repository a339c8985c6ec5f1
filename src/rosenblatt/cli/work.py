"""What the commands do with data sets: fit, predict, evaluate, info, convert."""

from __future__ import annotations

import json as jsonlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import rosenblatt as rb
from rosenblatt.cli.confusion import print_confusion
from rosenblatt.cli.source import Source, people, tell, telling
from rosenblatt.cli.words import spoken
from rosenblatt.data.cache import fingerprint
from rosenblatt.data.files import replacing
from rosenblatt.data.models import plain_class, read_model, write_model
from rosenblatt.data.read import folder_format
from rosenblatt.data.sources import files, is_pipe, shown
from rosenblatt.data.store import open_store, write_store
from rosenblatt.data.streams import Checkpoint, fit_stream
from rosenblatt.data.write import (
    prediction_pieces,
    write_csv,
    write_parquet,
    write_svmlight,
)
from rosenblatt.errors import EmptyError, InputError
from rosenblatt.labels import as_labels, joint_classes
from rosenblatt.learners.base import PlainLearner
from rosenblatt.learners.plain import PlainPerceptron
from rosenblatt.online.driver import Progress, Watch

# Options with which one pass over a stream is the same as one over data in memory.
ONCE = {
    "max_iter": 1,
    "order": "cycle",
    "initial": "zero",
    "class_weight": None,
    "max_updates": None,
    "max_seconds": None,
}


def fit_file(
    source: Source,
    path: Path,
    kind: str,
    chosen: dict[str, Any],
    *,
    checkpoint: Path | None,
    json: bool,
) -> bool:
    """Read, learn, write the model, report; tell whether the user interrupted the learning."""
    _check_writable(path, source.data)
    with people.status(f"reading {source.data}") as status, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report below says why the run ended

        def watch(progress: Progress) -> None:
            status.update(
                f"pass {progress.passes}, {progress.mistakes:,} mistakes, "
                f"{progress.seconds:.0f} s; Ctrl-C keeps what was learned"
            )

        learner, examples = _learned(source, kind, chosen, checkpoint, watch)
        _keep(learner, path, source)
        error = training_error(learner, examples, json)
    _report_fit(learner, source, path, error, json)
    return learner.run_.stop is rb.Stop.INTERRUPTED


def _keep(learner: PlainLearner, path: Path, source: Source) -> None:
    """Write a model, with notes on how its data are to be read."""
    write_model(learner, path, {"reading": source.remembered()})


def _learned(
    source: Source, kind: str, chosen: dict[str, Any], checkpoint: Path | None, watch: Watch
) -> tuple[Any, rb.Examples | None]:
    """Learn; give the learner, and the examples unless they were a stream."""
    if source.stream:
        learner = PlainPerceptron(**chosen)
        return _learn_stream(learner, source, checkpoint, watch), None
    if kind == "Perceptron":
        once = _learned_at_once(source, chosen, watch)
        if once is not None:
            return once, None
    examples = source.labelled(source.examples())
    other: Any = plain_class(kind)(**chosen)
    return other._fit(examples.X, examples.y, examples.weights, watch=watch), examples


def _learned_at_once(
    source: Source, chosen: dict[str, Any], watch: Watch
) -> PlainPerceptron | None:
    """Learn a large file in one pass, as a stream, where that is the same."""
    once = all(chosen[name] == value for name, value in ONCE.items())
    if once and not is_pipe(source.data) and source.is_svmlight() and source.is_large():
        # One pass meets each row once: to hold them all would give the same weights, later.
        with suppress(InputError):  # which a reader of the whole may mend, or explain better
            blocks = replace(source, stream=True)
            return _learn_stream(PlainPerceptron(**chosen), blocks, None, watch, alike=True)
    return None


def _learn_stream(
    learner: PlainPerceptron,
    source: Source,
    checkpoint: Path | None,
    watch: Watch,
    *,
    alike: bool = False,
) -> PlainPerceptron:
    """Learn block by block; if the result must be that of the whole data, refuse where it is not.

    From the third class on, it matters which classes are known from the first row on.
    """
    if is_pipe(source.data) and learner.max_iter != 1:
        raise InputError(f"{shown(source.data)} can be read but once; give --max-iter 1, or a file")
    note = None
    if checkpoint is not None:
        _check_writable(checkpoint, source.data)
        note = Checkpoint(checkpoint, fingerprint(source.data, source.reading))

    def blocks() -> Iterator[rb.Examples]:
        known = None
        for block in source.blocks():
            labels = as_labels(source.labelled(block).y, len(block)) if alike else None
            if labels is not None:
                before, known = known, joint_classes(labels, None, known)
                if before is not None and before.size < known.size > 2:
                    raise InputError("a class appears in mid-stream")
            yield source.labelled(block)

    return fit_stream(learner, blocks, checkpoint=note, watch=watch)


def _check_writable(path: Path, *inputs: str | Path) -> None:
    """Find out before the work, not after it, that a file cannot or should not be written."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder; give the name of a file to write")
    folder = path.absolute().parent
    if not os.path.isdir(folder):
        known = next(above for above in (folder, *folder.parents) if os.path.exists(above))
        if not os.path.isdir(known):
            name = path.parent if known == folder else known
            raise InputError(f"{name} is a file, not a folder to write to; give another name")
        raise InputError(f"there is no folder {path.parent} to write to; make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write to the folder {path.parent}: permission denied")
    _check_unread(path, *inputs)


def _check_unread(path: Path, *inputs: str | Path) -> None:
    """Refuse to write over what the command reads, by whatever name."""
    if not os.path.exists(path) or is_pipe(path):
        return
    for data in inputs:
        for name in {os.fspath(data), *files(data)}:
            if os.path.exists(name) and os.path.samefile(path, name):
                raise InputError(f"{path} is what the command reads; give another name to write")


def training_error(learner: Any, examples: rb.Examples | None, json: bool) -> dict[str, Any]:
    """Tell how many of the rows learned the model misclassifies; Ctrl-C leaves it open."""
    if examples is None and learner.run_.converged and learner.output in ("last", "auto"):
        return {"misclassified": 0, "training_error": 0.0 if json else f"{0:.2%}"}
    if examples is None:
        unknown = "a stream is not read again to measure it; `rosenblatt evaluate` does"
        return {"misclassified": None, "training_error": None if json else unknown}
    try:
        answers, n = learner.predict(examples.X), len(examples)
    except KeyboardInterrupt:
        return {"misclassified": None, "training_error": None}
    wrong = int(np.count_nonzero(answers != as_labels(examples.y, n)))
    share = wrong / n
    return {"misclassified": wrong, "training_error": share if json else f"{share:.2%}"}


def _report_fit(
    learner: Any, source: Source, path: Path, error: dict[str, Any], json: bool
) -> None:
    run = learner.run_
    facts: dict[str, Any] = {
        "data": source.data,
        **source.label_fact(learner._columns, json),
        "rows": run.counts.size or None,  # a stream does not count them
        "examples_scored": run.operations.dot_products,
        "columns": learner.n_features_in_,
        "classes": [_plain(label) for label in learner.classes_.tolist()],
        "mistakes": run.mistakes,
        "passes": run.passes,
        "mistakes_in_last_pass": run.mistakes_per_pass[-1] if run.passes else None,
        **({"stored_examples": learner.support_.size} if hasattr(learner, "support_") else {}),
        "converged": run.converged,
        **error,
        "seconds": round(run.seconds, 6),
        "multiply_adds": run.operations.multiply_adds,
        "stop": spoken(str(run.stop)),
        "model": str(path),
    }
    _print(facts, json)


def predict_file(
    path: Path, source: Source, out: Path | None, *, format: str, scores: bool
) -> None:
    """Predict every row of a data set, block by block."""
    if out is not None:
        _check_writable(out, path, source.data)
    learner, source = _opened(path, source.with_options(labels=False))
    pieces = _predictions(learner, source, format, scores)
    with telling():
        if out is not None:
            with replacing(out) as file:
                file.writelines(pieces)
            return
        if sys.stdout is None:
            raise InputError("there is no standard output; give --out FILE")
        for piece in pieces:
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _predictions(
    learner: PlainLearner, source: Source, format: str, scores: bool
) -> Iterator[bytes]:
    classes = None if len(learner.classes_) == 2 else learner.classes_.tolist()
    for number, values in enumerate(_scores(learner, source)):
        answers = learner._answers(values)
        given = values if scores else None
        made = prediction_pieces(answers, given, format=format, classes=classes)
        if number and format == "csv":
            next(made)  # the header stands once
        yield from made


def _scores(learner: PlainLearner, source: Source) -> Iterator[np.ndarray]:
    """Give the scores of the rows, block by block; an empty block if there are no rows."""
    try:
        for X, _ in source.blocks():
            yield learner.decision_function(X)
    except EmptyError:
        tell(f"{source.data} has no rows, so that there is nothing to predict")
        several = learner.classes_.size
        yield np.zeros((0, several) if several > 2 else 0)


def evaluate_file(path: Path, source: Source, *, json: bool) -> None:
    """Compare predictions with labels."""
    learner, source = _opened(path, source)
    pairs: dict[tuple[Any, Any], int] = {}
    unsure, weights = 0, Weighed()
    with telling():
        for block in source.blocks():
            X, y = source.labelled(block)
            values = learner.decision_function(X)
            unsure += int(np.count_nonzero(learner._unsure(values)))
            labels, answers = as_labels(y, X.shape[0]).tolist(), learner._answers(values).tolist()
            for pair in zip(labels, answers, strict=True):
                pairs[pair] = pairs.get(pair, 0) + 1
            weights.add(labels, answers, block.weights)
    _check_labels({label for label, _ in pairs}, learner.classes_.tolist(), source.data)
    rows = sum(pairs.values())
    right = sum(count for (label, answer), count in pairs.items() if label == answer)
    facts: dict[str, Any] = {
        "data": source.data,
        **source.label_fact(block.columns, json),
        "rows": rows,
        "right": right,
        "wrong": rows - right,
        "accuracy": right / rows,
        **weights.facts(),
        "unsure": unsure,
    }
    if json:
        facts["confusion"] = [
            {"label": _plain(label), "answer": _plain(answer), "count": count}
            for (label, answer), count in sorted(pairs.items(), key=str)
        ]
    _print(facts, json)
    if not json:
        print_confusion(_printer(), pairs, learner.classes_.tolist())


@dataclass
class Weighed:
    """The weights of all rows, and of those answered rightly."""

    total: float = 0.0
    right: float = 0.0
    given: bool = False

    def add(self, labels: list[Any], answers: list[Any], weights: np.ndarray | None) -> None:
        """Count a block; weights that are all 1 say nothing."""
        if weights is None:
            return
        self.given = self.given or bool((weights != 1).any())
        same = [label == answer for label, answer in zip(labels, answers, strict=True)]
        self.total, self.right = self.total + weights.sum(), self.right + weights[same].sum()

    def facts(self) -> dict[str, float]:
        """Give the share of the weights that was answered rightly, if rows have weights."""
        return {"weighted_accuracy": self.right / self.total} if self.given and self.total else {}


def _opened(path: Path, source: Source) -> tuple[PlainLearner, Source]:
    """Open a model; data are read for it, and as those that it was fitted on."""
    learner, notes = read_model(path)
    return learner, source.for_model(learner, notes.get("reading", {}))


def _check_labels(found: set[Any], classes: list[Any], data: str) -> None:
    if not found & set(classes):
        names = ", ".join(map(repr, sorted(found, key=str)[:5]))
        raise InputError(
            f"no label of {data} ({names}) is a class of the model "
            f"({', '.join(map(repr, classes))}); they may be numbers here and strings there"
        )


def convert_file(source: Source, out: Path) -> None:
    """Write a data set in another form."""
    _check_unread(out, source.data)
    writers: dict[str, Callable[[Path, rb.Examples], None]] = {
        ".svm": write_svmlight,
        ".csv": write_csv,
        ".parquet": write_parquet,
    }
    suffix = out.suffix.lower()
    with people.status(f"reading {source.data}"):
        if suffix in writers:
            examples = source.labelled(replace(source, stream=False).examples())
            writers[suffix](out, examples)
            known = examples.columns
        elif suffix in ("", ".rows"):
            write_store(out, map(source.labelled, source.blocks()))
            known = open_store(out).columns
        else:
            raise InputError(
                f"{out} does not say what to write: end its name in .rows, .svm, .csv or .parquet"
            )
    label = source.label_fact(known, json=False)["label"]
    if label is not None:
        tell(f"the label is {label}")


def describe_file(source: Source, *, json: bool) -> None:
    """Tell what a data set is like."""
    with people.status(f"reading {source.data}"):
        if folder_format(source.data) == "store":
            open_store(source.data, verify=True)
        # A contradiction must be one of the numbers as written, not of their roundings.
        precise = source.with_options(dtype="float64")
        examples = precise.examples()
        found = rb.info(*examples)
    facts: dict[str, Any] = {"data": source.data, **source.label_fact(examples.columns, json)}
    facts |= vars(found)
    clash = [row + 1 for row in found.contradiction or ()]
    facts["contradiction"] = clash or None
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
    if clash:
        facts["contradiction"] = (
            f"rows {clash[0]} and {clash[1]} are equal but have different labels, so nothing "
            "separates the classes"
        )
    _print(facts, json)


def _plain(label: Any) -> Any:
    """Give a label as JSON has it; labels of other types as their text."""
    return label if label is None or isinstance(label, bool | int | float | str) else str(label)


def _print(facts: dict[str, Any], json: bool) -> None:
    if json:
        print(jsonlib.dumps(facts, ensure_ascii=False))
        return
    table = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        if value is None:
            continue
        table.add_row(name.replace("_", " "), _for_people(value))
    _printer().print(table)


def _printer() -> Console:
    return Console(markup=False, emoji=False, highlight=False)


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
