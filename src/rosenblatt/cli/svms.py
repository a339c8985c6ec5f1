"""What `fit` does for support vector machines."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rosenblatt.cli.source import Source, people
from rosenblatt.cli.words import spoken
from rosenblatt.cli.work import _check_writable, _keep, _plain, _print, training_error
from rosenblatt.errors import InseparableError
from rosenblatt.learners.hard_margin import PlainHardMarginSVM
from rosenblatt.learners.linear import PlainLinear
from rosenblatt.learners.soft_margin import PlainSoftMarginSVM


def fit_svm(source: Source, path: Path, kind: str, options: dict[str, Any], *, json: bool) -> None:
    """Read, solve, write the model, report."""
    learner = (PlainSoftMarginSVM if kind == "svm" else PlainHardMarginSVM)(**options)
    learner._check_options()
    _check_writable(path, source.data)
    with people.status(f"reading {source.data}") as status:
        examples = source.labelled(source.examples())
        status.update(f"solving: {examples.X.shape[0]:,} rows; Ctrl-C gives up")
        begin = time.perf_counter()
        try:
            learner._fit(examples.X, examples.y, examples.weights)
        except InseparableError as error:
            a, b = error.separation.classes
            raise InseparableError(
                f"no hyperplane separates the classes {a!r} and {b!r} of {source.data} "
                f"({error.separation.verdict}); `rosenblatt separate` writes the proof, and "
                "--learner svm allows for mistakes",
                error.separation,
            ) from error
        seconds = time.perf_counter() - begin
    _keep(learner, path, source)
    facts = {
        "data": source.data,
        **source.label_fact(examples.columns, json),
        "rows": examples.X.shape[0],
        **described(learner),
        "accuracy": learner.score(examples.X, examples.y),
        **training_error(learner, examples, json),
        "seconds": round(seconds, 6),
        "stop": stop(learner),
        "model": str(path),
    }
    _print(facts, json)


def described(learner: PlainLinear) -> dict[str, Any]:
    """Tell what was found."""
    facts: dict[str, Any] = {
        "columns": learner.n_features_in_,
        "classes": [_plain(label) for label in learner.classes_.tolist()],
        "support_vectors": int(learner.support_.size),
    }
    if isinstance(learner, PlainHardMarginSVM):
        lower, upper = learner.margin_
        return {**facts, "margin_from": lower, "margin_to": upper}
    assert isinstance(learner, PlainSoftMarginSVM)
    return {
        **facts,
        "lam": learner.lam_,
        "objective": learner.objective_,
        "dual_objective": learner.dual_objective_,
        "gap": learner.gap_,
        "passes": learner.n_iter_,
        "converged": learner._complaint() is None,
    }


def stop(learner: PlainLinear) -> str:
    """Say in a sentence how it ended."""
    if isinstance(learner, PlainSoftMarginSVM):
        complaint = learner._complaint()
        if complaint is not None:
            return f"Not converged: {spoken(complaint)}."
        return (
            f"Converged: no hyperplane has an objective smaller by more than {learner.gap_:.2g} of "
            "this one."
        )
    return "Converged: the margin is proven to lie in this interval, and that of the model too."
