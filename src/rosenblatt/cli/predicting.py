"""What `predict` and `evaluate` do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from rosenblatt.cli.confusion import Pairs, confusion_lines
from rosenblatt.cli.outputs import check_writable
from rosenblatt.cli.printing import plain, room, show, tell, telling
from rosenblatt.cli.recipes import Recipe
from rosenblatt.cli.source import Source, opened
from rosenblatt.data.files import replacing
from rosenblatt.data.sources import Name
from rosenblatt.data.write import prediction_pieces
from rosenblatt.errors import EmptyError, InputError
from rosenblatt.labels import as_labels
from rosenblatt.learners.base import Learner


def predict(
    model: Path,
    source: Source,
    out: Path | None,
    scores: bool,
    csv: bool,
    stream: bool,
    cluster: str | None,
    json: bool,
) -> None:
    """Predict every row of a data set, block by block, or on shards."""
    kind = "jsonl" if json else "csv" if csv else "text"
    scores = scores or kind != "text"
    if cluster is not None:
        from rosenblatt.cli.clusters import predict_on

        predict_on(cluster, model, source, out, format=kind, scores=scores)
        return
    check_writable(out, model, source.data)
    learner, source = opened(model, source.by(stream).with_options(labels=False))
    pieces = _predictions(learner, source, kind, scores)
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


def _predictions(learner: Learner, source: Source, format: str, scores: bool) -> Iterator[bytes]:
    classes = None if len(learner.classes_) == 2 else learner.classes_.tolist()
    for number, values in enumerate(_scores(learner, source)):
        answers = learner.answers(values)
        given = values if scores else None
        made = prediction_pieces(answers, given, format=format, classes=classes)
        if number and format == "csv":
            next(made)  # the header stands once
        yield from made


def _scores(learner: Learner, source: Source) -> Iterator[np.ndarray]:
    """Give the scores of the rows, block by block; an empty block if there are no rows."""
    try:
        for X, _ in source.blocks():
            yield learner.decision_function(X)
    except EmptyError:
        tell(f"{source.data} has no rows, so that there is nothing to predict")
        several = learner.classes_.size
        yield np.zeros((0, several) if several > 2 else 0)


def evaluate(
    source: Source,
    folds: int | None,
    scale: str | None,
    recipe: Recipe,
    stream: bool,
    cluster: str | None,
    json: bool,
) -> None:
    """Compare predictions with labels: those of a model, or of what folds of the data teach."""
    if folds is not None:
        from rosenblatt.cli.folds import evaluate_folds

        if stream or cluster is not None or recipe.is_open:
            raise click.UsageError("--stream, --cluster and --C auto do not go with --folds")
        source.refuse_model("--folds trains anew")
        evaluate_folds(source, recipe, scale, folds, json=json)
        return
    if scale is not None or recipe.learner != "perceptron" or recipe.options:
        raise click.UsageError("options of `fit` need --folds; a MODEL has its own")
    model, source = source.behind_model()
    if cluster is not None:
        from rosenblatt.cli.clusters import evaluate_on

        evaluate_on(cluster, model, source, json=json)
        return
    learner, source = opened(model, source.by(stream))
    _evaluate(learner, source, json)


def _evaluate(learner: Learner, source: Source, json: bool) -> None:
    pairs: Pairs = {}
    unsure, weights = 0, Weighed()
    with telling():
        for block in source.blocks():
            X, y = source.labelled(block)
            values = learner.decision_function(X)
            unsure += int(np.count_nonzero(learner.is_unsure(values)))
            labels, answers = as_labels(y, X.shape[0]).tolist(), learner.answers(values).tolist()
            for pair in zip(labels, answers, strict=True):
                pairs[pair] = pairs.get(pair, 0) + 1
            weights.add(labels, answers, block.weights)
    facts = source.label_fact(block.columns, json)
    report(learner, source, pairs, facts, {**weights.facts(), "unsure": unsure}, json)


def report(
    learner: Learner,
    source: Source,
    pairs: Pairs,
    facts: dict[str, Any],
    more: dict[str, Any],
    json: bool,
) -> None:
    """Tell how labels were answered, with facts about the data and about the answers."""
    _check_labels({label for label, _ in pairs}, learner.classes_.tolist(), source.data)
    rows = sum(pairs.values())
    right = sum(count for (label, answer), count in pairs.items() if label == answer)
    facts = {"data": str(source.data), **facts, "rows": rows, "right": right}
    facts |= {"wrong": rows - right, "accuracy": right / rows, **more}
    if json:
        facts["confusion"] = [
            {"label": plain(label), "answer": plain(answer), "count": count}
            for (label, answer), count in sorted(pairs.items(), key=str)
        ]
    show(facts, json)
    if not json:
        print(*confusion_lines(pairs, learner.classes_.tolist(), room()), sep="\n")


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


def _check_labels(found: set[Any], classes: list[Any], data: Name) -> None:
    if not found & set(classes):
        names = ", ".join(map(repr, sorted(found, key=str)[:5]))
        raise InputError(
            f"no label of {data} ({names}) is a class of the model "
            f"({', '.join(map(repr, classes))}); they may be numbers here and strings there"
        )
