"""What `fit`, `predict`, `evaluate` and `separate` do with --cluster: the same on shards."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.cli.confusion import Pairs
from rosenblatt.cli.decide import STATUSES, few, write_proof
from rosenblatt.cli.describing import described
from rosenblatt.cli.fitting import status_of, stop
from rosenblatt.cli.outputs import check_writable
from rosenblatt.cli.predicting import report
from rosenblatt.cli.printing import plain, show, tell_plainly
from rosenblatt.cli.recipes import Recipe, settle_classes
from rosenblatt.cli.source import Source, opened
from rosenblatt.cluster.connecting import opened as engine_of
from rosenblatt.cluster.engine import Engine
from rosenblatt.cluster.learning import check, train
from rosenblatt.cluster.mixing import RoundProgress
from rosenblatt.cluster.predicting import scores_of
from rosenblatt.cluster.proofs import Coordinator
from rosenblatt.cluster.shards import Shard
from rosenblatt.cluster.shards import described as shards_of
from rosenblatt.data.files import make_folder, replacing
from rosenblatt.data.models import write_model
from rosenblatt.data.sources import Several
from rosenblatt.data.write import prediction_pieces
from rosenblatt.decide.answers import Clock
from rosenblatt.errors import InputError

ENDINGS = {"text": "txt", "csv": "csv", "jsonl": "jsonl"}


def _started(cluster: str, source: Source) -> Engine:
    """Connect, and make the shards of the data known."""
    data = source.data
    names = list(data.names) if isinstance(data, Several) else [data]
    shards = shards_of(names, source.reading)
    engine = engine_of(cluster)
    engine.put(shards)
    return engine


def _say(progress: RoundProgress) -> None:
    """Print a line for each round."""
    round, wrong = progress.round, progress.wrong
    made = f"{wrong:,} mistakes" if isinstance(wrong, int) else f"gap about {wrong:.2g}"
    tell_plainly(
        f"round {progress.rounds}: {made}, {round.seconds:.2f} s, {round.moved / 1e6:.2f} MB moved"
        f", slowest {os.path.basename(round.slowest)} {round.slowest_seconds:.2f} s"
    )


def fit_on(
    cluster: str,
    source: Source,
    path: Path,
    recipe: Recipe,
    *,
    checkpoint: Path | None,
    json: bool,
) -> int:
    """Train on shards, write the model, report; give the exit status."""
    learner = recipe.make()
    check(learner)
    check_writable(path, source.data)
    settle_classes(learner, None)
    began = time.perf_counter()
    with _started(cluster, source) as engine, warnings.catch_warnings(action="ignore"):
        shards = len(engine.descriptions)
        train(learner, engine, checkpoint, None if json else _say)
        moved = engine.moved
    write_model(learner, path, source.notes())
    run = getattr(learner, "run_", None)
    facts = {
        "data": str(source.data),
        "shards": shards,
        **described(learner),
        "weighted_mistakes": getattr(run, "weighted_mistakes", None),
        "bound": getattr(getattr(run, "bound", None), "value", None),
        "bytes_moved": moved,
        "seconds": round(time.perf_counter() - began, 6),
        "stop": stop(learner, False),
        "model": str(path),
    }
    show(facts, json)
    return status_of(learner)


def predict_on(
    cluster: str, path: Path, source: Source, out: Path | None, *, format: str, scores: bool
) -> None:
    """Predict on shards; write one file for each into a folder."""
    if out is None:
        raise InputError("--cluster writes a file for each shard; give --out FOLDER")
    learner, source = opened(path, source.with_options(labels=False))
    classes = None if learner.classes_.size == 2 else learner.classes_.tolist()
    with _started(cluster, source) as engine:
        make_folder(out)
        for number, found in enumerate(engine.map(scores_of, learner)):
            given = found if scores else None
            made = prediction_pieces(learner.answers(found), given, format=format, classes=classes)
            with replacing(out / f"part-{number:05}.{ENDINGS[format]}") as file:
                file.writelines(made)


def answers_of(shard: Shard, learner: Any, _: None) -> tuple[Pairs, int]:
    """Count pairs of label and answer in a shard, and the rows that the learner is unsure of."""
    labels = shard.examples.y
    if labels is None:
        raise InputError("there are no labels; evaluating needs one for each row")
    found = scores_of(shard, learner, None)
    pairs: Pairs = {}
    for pair in zip(labels.tolist(), learner.answers(found).tolist(), strict=True):
        pairs[pair] = pairs.get(pair, 0) + 1
    return pairs, int(np.count_nonzero(learner.is_unsure(found)))


def evaluate_on(cluster: str, path: Path, source: Source, *, json: bool) -> None:
    """Compare predictions with labels on shards."""
    learner, source = opened(path, source)
    pairs: Pairs = {}
    unsure = 0
    with _started(cluster, source) as engine:
        for counts, doubts in engine.map(answers_of, learner):
            unsure += doubts
            for pair, count in counts.items():
                pairs[pair] = pairs.get(pair, 0) + count
        shards = {"shards": len(engine.descriptions)}
    report(learner, source, pairs, shards, {"unsure": unsure}, json)


def separate_on(
    cluster: str, source: Source, certificate: Path | None, options: dict[str, Any], *, json: bool
) -> int:
    """Decide about two classes on shards, write the proof, report; give the exit status."""
    if certificate is not None:
        check_writable(certificate, source.data)
    began = time.perf_counter()
    with _started(cluster, source.with_floats()) as engine:
        on = Coordinator(engine)
        found = on.decide(options["fit_intercept"], Clock(options["max_seconds"]))
        moved, size = engine.moved, on.survey.nbytes
    rows = (found.rows + 1).tolist()
    facts = {
        "data": str(source.data),
        "shards": len(on.firsts),
        "verdict": found.verdict,
        "classes": [plain(label) for label in found.classes],
        "margin": found.margin,
        "rows": on.survey.rows,
        "columns": on.survey.width,
        "rows_that_matter": rows if json else few(rows),
        "bytes_moved": moved,
        "share_moved": moved / size,
        "seconds": round(time.perf_counter() - began, 6),
        "certificate": write_proof(certificate, found.certificate),
    }
    show(facts, json)
    return STATUSES.get(found.verdict, 1)
