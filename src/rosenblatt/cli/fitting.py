"""What `fit` does: read, learn, write the model, report."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

import rosenblatt as rb
from rosenblatt.cli.describing import described
from rosenblatt.cli.entry import INTERRUPTED
from rosenblatt.cli.outputs import check_writable
from rosenblatt.cli.printing import doing, plain, show, tell, tell_plainly, telling
from rosenblatt.cli.recipes import Recipe, settle_classes, unknown_classes
from rosenblatt.cli.source import Source, opened
from rosenblatt.cli.words import spoken
from rosenblatt.data.cache import fingerprint
from rosenblatt.data.models import kind_of, write_model
from rosenblatt.data.scaling import Scaling
from rosenblatt.data.sources import Name, is_pipe, shown
from rosenblatt.data.streams import Checkpoint, fit_stream
from rosenblatt.errors import InputError, InseparableError
from rosenblatt.labels import as_labels, joint_classes
from rosenblatt.learners.online import OnlineLearner
from rosenblatt.online.driver import Progress, Watch

FOLLOWED = 10  # rows misclassified for each mistake of the last pass that tell of a sorted file
# Options with which one pass over a stream is the same as one over data in memory.
ONCE = {
    "max_iter": 1,
    "order": "cycle",
    "initial": "zero",
    "class_weight": None,
    "max_updates": None,
    "max_seconds": None,
}
ADVICE_TO_SCALE = {
    ", or if features differ widely in scale. Scale the features (--scale standard), continue": ". "
    "Continue",
    "scale the columns, ": "",
}
Say = Callable[[str], None]


class Beginning(NamedTuple):
    """What learning begins with: a recipe, a model to go on from, a scale to bring columns to."""

    recipe: Recipe
    start: Path | None
    scale: str | None

    @property
    def needs_all(self) -> bool:
        """Tell whether all rows must be there before the learning begins."""
        return self.scale is not None or self.recipe.is_open


class Learned(NamedTuple):
    """What learning ends with: the examples too, unless they were a stream."""

    learner: Any
    examples: rb.Examples | None
    seconds: float


def fit(
    source: Source,
    model: Path,
    start: Path | None,
    scale: str | None,
    recipe: Recipe,
    double: bool,
    stream: bool,
    checkpoint: Path | None,
    cluster: str | None,
    cache: bool,
    json: bool,
) -> int:
    """Refuse what does not go together, and do it, here or on shards; give the exit status."""
    if double or recipe.learner == "hard-svm":  # its proof is about the numbers as written
        source = source.with_options(dtype="float64")
    if cluster is not None:
        from rosenblatt.cli.clusters import fit_on

        if stream or cache or scale is not None or start is not None or recipe.is_open:
            raise click.UsageError(
                "--stream, --cache, --scale, --from and --C auto do not go with --cluster"
            )
        return fit_on(cluster, source, model, recipe, checkpoint=checkpoint, json=json)
    if checkpoint is not None and not stream:
        raise click.UsageError("--checkpoint goes with --stream or --cluster")
    if scale is not None and (stream or start is not None):
        raise click.UsageError("--scale needs all rows beforehand: leave out --stream and --from")
    if stream and recipe.learner != "perceptron":
        raise click.UsageError(
            "--stream goes with --learner perceptron: any other needs its rows again"
        )
    return _fit(source.by(stream, cache), model, Beginning(recipe, start, scale), checkpoint, json)


def _fit(source: Source, path: Path, begin: Beginning, checkpoint: Path | None, json: bool) -> int:
    learner, source = _begun(begin, source)
    check_writable(path, source.data)
    if source.stream and is_pipe(source.data) and learner.max_iter != 1:
        raise InputError(
            f"{shown(source.data)} can be read only once; give --max-iter 1, or a file"
        )
    source = replace(source.settled(), streamable=isinstance(learner, OnlineLearner))
    quiet = warnings.catch_warnings(action="ignore")  # the report says why the run ended
    with doing(f"reading {source.data}") as say, quiet, telling():
        examples = source.labelled(source.examples()) if begin.needs_all else None
        if examples is not None and begin.recipe.is_open:
            from rosenblatt.cli.folds import best_C

            learner = best_C(begin.recipe, examples, begin.scale).make()
        if examples is not None and begin.scale is not None:
            source, examples = _scaled(source, begin.scale, examples)
        known = learner.classes_.tolist() if begin.start is not None else None
        learner, examples, seconds = _learned(learner, source, examples, checkpoint, say, json)
        _tell_new_classes(learner, known)
        write_model(learner, path, source.notes(), source.scaling)
        error = training_error(learner, examples, json)
    facts = {
        "data": str(source.data),
        **source.label_fact(learner.columns_, json),
        # Those of a stream are known after one pass.
        "rows": learner.run_.counts.size or None if examples is None else len(examples),
        **described(learner, source.scaling),
        **error,
        "seconds": round(seconds, 6),
        "stop": stop(learner, source.scaling is not None),
        "model": str(path),
    }
    show(facts, json)
    _hint_at_order(learner, error["misclassified"])
    return status_of(learner)


def status_of(learner: Any) -> int:
    """Give the exit status of a fit."""
    interrupted = hasattr(learner, "run_") and learner.run_.stop is rb.Stop.INTERRUPTED
    return INTERRUPTED if interrupted else 0


def _tell_new_classes(learner: Any, known: list[Any] | None) -> None:
    """Name the classes that a model did not know: one may be a misspelt label."""
    new = [plain(label) for label in learner.classes_.tolist() if label not in (known or ())]
    if known is not None and new:
        tell(f"new classes, which the model did not know: {', '.join(map(str, new))}")


def _begun(begin: Beginning, source: Source) -> tuple[Any, Source]:
    """Give a new learner, or one that goes on, which reads data as it did before."""
    recipe, start, _ = begin
    if start is None:
        return recipe.make(), source
    learner, source = opened(start, source)
    if not isinstance(learner, OnlineLearner):
        raise InputError(
            f"--from goes on with online learners, and {start} is a {kind_of(learner)}; fit it "
            "again"
        )
    if recipe.learner != "perceptron":
        raise InputError(f"--from goes on with the perceptron {start}; leave out --learner")
    for name, value in {**recipe.options, "warm_start": True}.items():
        setattr(learner, name, value)
    return learner, source


def _scaled(source: Source, scale: str, examples: rb.Examples) -> tuple[Source, rb.Examples]:
    """Bring columns to a scale, which the source has from then on."""
    scaling = Scaling.of(scale, examples.X)
    if scale == "standard" and scaling.centre is None:
        tell("sparse columns are divided by their standard deviations, and not centred")
    return replace(source, scaling=scaling), scaling.rows(examples)


def _learned(
    learner: Any,
    source: Source,
    examples: rb.Examples | None,
    checkpoint: Path | None,
    say: Say,
    json: bool,
) -> Learned:
    """Learn, from examples in hand or from what the source gives."""
    once = examples is None and isinstance(learner, OnlineLearner) and _is_once(learner)
    if source.stream or (once and is_pipe(source.data)):
        told = _watch(say) if json else ProgressiveError().watch
        learner = _learn_stream(learner, source.by(stream=True), checkpoint, told)
        return Learned(learner, None, learner.run_.seconds)
    fresh = once and not learner.is_fitted
    if fresh and source.is_svmlight and not source.cache and source.is_large():
        at_once = _learned_at_once(learner, source, _watch(say))
        if at_once is not None:
            return Learned(at_once, None, at_once.run_.seconds)
    return _learned_whole(learner, source, examples, say)


def _is_once(learner: OnlineLearner) -> bool:
    """Tell whether each row is met once, in stored order, whatever the others are."""
    return all(getattr(learner, name, value) == value for name, value in ONCE.items())


def _learned_whole(learner: Any, source: Source, examples: rb.Examples | None, say: Say) -> Learned:
    runs = hasattr(learner, "output")  # which every kind of perceptron has
    if not runs:
        learner.check_options()  # before the reading
    examples = examples or source.labelled(source.examples())
    settle_classes(learner, examples.y)
    if runs:
        learner.train(examples.X, examples.y, examples.weights, watch=_watch(say))
        return Learned(learner, examples, learner.run_.seconds)
    say(f"solving: {len(examples):,} rows; Ctrl-C gives up")
    began = time.perf_counter()
    _solve(learner, examples, source.data)
    return Learned(learner, examples, time.perf_counter() - began)


def _watch(say: Say) -> Watch:
    def watch(progress: Progress) -> None:
        say(
            f"pass {progress.passes}, {progress.mistakes:,} mistakes, {progress.seconds:.0f} s; "
            "Ctrl-C keeps what was learned"
        )

    return watch


class ProgressiveError:
    """How often a stream was answered wrongly before it was learned, told at each doubling."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int]] = [(0, 0)]  # examples and mistakes, where they were told
        self.examples = self.mistakes = 0

    def watch(self, progress: Progress) -> None:
        """Count a block; tell of each power of 2 in it."""
        if progress.latest is None:  # updates inside a margin are no mistakes: told block by block
            self.examples += progress.block[0]
            self.mistakes += progress.block[1]
            if self.examples >= max(1, 2 * self.rows[-1][0]):
                self._tell(self.examples, self.mistakes)
            return
        total = np.cumsum(progress.latest > 0)
        due = max(1, 2 * self.rows[-1][0])
        while due <= self.examples + total.size:
            self._tell(due, self.mistakes + int(total[due - self.examples - 1]))
            due *= 2
        self.examples += total.size
        self.mistakes += int(total[-1]) if total.size else 0

    def _tell(self, examples: int, mistakes: int) -> None:
        before, earlier = self.rows[-1]
        if not before:
            tell_plainly("    examples     mistakes  error so far  since the last line")
        since = (mistakes - earlier) / (examples - before)
        tell_plainly(f"{examples:12,} {mistakes:12,} {mistakes / examples:13.4f} {since:20.4f}")
        self.rows.append((examples, mistakes))


def _solve(learner: Any, examples: rb.Examples, data: Name) -> None:
    try:
        learner.train(examples.X, examples.y, examples.weights)
    except InseparableError as error:
        a, b = error.separation.classes
        raise InseparableError(
            f"no hyperplane separates the classes {a!r} and {b!r} of {data} "
            f"({error.separation.verdict}); `rosenblatt separate` writes the proof, and "
            "--learner svm allows for mistakes",
            error.separation,
        ) from error


def _learned_at_once(learner: OnlineLearner, source: Source, watch: Watch) -> OnlineLearner | None:
    """Learn a large file in one pass, as a stream, where that is the same.

    One pass meets each row once: to hold them all would give the same weights, later.
    """
    fresh = type(learner)(**learner.options())
    try:
        return _learn_stream(fresh, source.by(stream=True), None, watch, alike=True)
    except InputError:  # which a reader of the whole may mend, or explain better
        tell(f"{source.data} is read again, as a whole")
        return None


def _learn_stream(
    learner: OnlineLearner,
    source: Source,
    checkpoint: Path | None,
    watch: Watch,
    *,
    alike: bool = False,
) -> OnlineLearner:
    """Learn block by block; if the result must be that of the whole data, refuse where it is not.

    From the third class on, it matters which classes are known from the first row on.
    """
    settle_classes(learner, None)
    note = None
    if checkpoint is not None:
        check_writable(checkpoint, source.data)
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

    learner = fit_stream(learner, blocks, checkpoint=note, watch=watch)
    for label in unknown_classes(learner):
        tell(f"class_weight has the label {label!r}, which no row has")
    return learner


def training_error(learner: Any, examples: rb.Examples | None, json: bool) -> dict[str, Any]:
    """Tell how many of the rows learned the model misclassifies; Ctrl-C leaves it open."""
    if examples is None and learner.run_.converged and learner.output in ("last", "auto"):
        return {"misclassified": 0, "training_error": 0.0 if json else f"{0:.2%}"}
    if examples is None:
        unknown = "the training error of a stream is not measured; `rosenblatt evaluate` does that"
        return {"misclassified": None, "training_error": None if json else unknown}
    try:
        answers, n = learner.predict(examples.X), len(examples)
    except KeyboardInterrupt:
        return {"misclassified": None, "training_error": None}
    wrong = int(np.count_nonzero(answers != as_labels(examples.y, n)))
    share = wrong / n
    return {"misclassified": wrong, "training_error": share if json else f"{share:.2%}"}


def _hint_at_order(learner: Any, misclassified: int | None) -> None:
    """Say so where mistakes are few only because rows of a class follow one another."""
    if getattr(learner, "order", None) != "cycle" or learner.run_.converged or not misclassified:
        return
    last = learner.run_.mistakes_per_pass[-1]
    if misclassified > FOLLOWED * last:
        tell(
            f"the last pass made {last:,} mistakes, yet {misclassified:,} rows are misclassified: "
            "they seem to be sorted by class; give --order shuffle"
        )


def stop(learner: Any, scaled: bool) -> str:
    """Say in a sentence how it ended, without the advice to scale what is scaled."""
    said = _ending(learner)
    for advice, rest in ADVICE_TO_SCALE.items():
        said = said.replace(advice, rest if scaled else advice)
    return said


def _ending(learner: Any) -> str:
    if hasattr(learner, "run_"):
        said = spoken(str(learner.run_.stop))
        two = learner.classes_.size <= 2
        return said if two else said.replace("rosenblatt separate`", "rosenblatt separate --pairs`")
    if hasattr(learner, "margin_"):
        return "Converged: the margin is proven to lie in this interval, and that of the model too."
    complaint = learner.complaint()
    if complaint is not None:
        return f"Not converged: {spoken(complaint)}."
    return (
        f"Converged: no hyperplane has an objective smaller by more than {learner.gap_:.2g} of "
        "this one."
    )
