"""What the command plot does: read, fit if there is no model, draw, write, report."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

import rosenblatt as rb
from rosenblatt.cli.commands import PICTURES
from rosenblatt.cli.outputs import check_writable
from rosenblatt.cli.printing import doing, plain, show, telling
from rosenblatt.cli.source import Source, opened
from rosenblatt.cli.words import spoken
from rosenblatt.data.files import make_folder, write_atomically
from rosenblatt.data.sources import Name
from rosenblatt.errors import InputError
from rosenblatt.lab.pictures import picture_file, several
from rosenblatt.lab.pictures_margins import distances
from rosenblatt.lab.style import as_bytes, look
from rosenblatt.learners.base import Learner
from rosenblatt.learners.perceptron import Perceptron

OF_RUNS = ("curve", "hardest", "path")  # which not every model has
WORK = 2e9  # multiply-adds of a fit, some seconds at most
PASSES = (10, 1000)  # at least, at most
SMALL = 5_000_000  # entries of data whose bound is looked for
BOUND_SECONDS = 10.0


@dataclass(frozen=True)
class Exhibit:
    """What is drawn: a model, the examples, and how the columns are called.

    Attributes
    ----------
    model, X, y : a learner and examples.
    names : of the columns; empty if they have none.
    first : the number of the first column in the file.
    label : what to tell of the label's column.
    fitted : whether the model was fitted here, and not given.
    bound : of the mistakes, if it is known.
    """

    model: Any
    X: Any
    y: Any
    names: list[str]
    first: int
    label: dict[str, str | None]
    fitted: bool
    bound: rb.MistakeBound | None = None

    def spoken(self) -> list[str] | None:
        """Give the columns as the file speaks of them; None if Python counts like the file."""
        if self.names or not self.first:
            return self.names or None
        return [f"column {place + self.first}" for place in range(self.X.shape[1])]


def plot(
    source: Source, what: str, model: Path | None, axes: str | None, out: Path, json: bool
) -> None:
    """Draw everything, then write everything, then report."""
    if axes is not None and what not in ("all", "regions"):
        raise click.UsageError(f"--columns goes with --what regions, not with {what}")
    if model is None:  # a model says itself how its data are to be read
        source = source.with_options(dtype="float64")
    wanted = PICTURES if what == "all" else (what,)
    files = _files(wanted, out, [source.data, *([model] if model else [])])
    with doing(f"reading {source.data}") as say, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as letters that the font lacks
        look()  # says if there is nothing to draw with, before the work
        if model is None:
            scene = _fitted(source, wanted, say, json)
        else:
            scene = _given(source, model, json)
        say("drawing")
        pairs = None if axes is None else _columns(axes, scene, source.data)
        figures, left_out = _drawn(scene, wanted, pairs, strict=what != "all")
        kinds = {name: path.suffix[1:].lower() for name, path in files.items()}
        contents = {name: as_bytes(figure, kinds[name]) for name, figure in figures.items()}
    for name, content in contents.items():
        make_folder(files[name].parent)
        write_atomically(files[name], content)
    seen = {
        name: (str(files[name]), spoken(figure.get_label())) for name, figure in figures.items()
    }
    _report(source.data, model, scene, seen, left_out, json)


# ---- where to


def _files(wanted: tuple[str, ...], out: Path, inputs: list[Name]) -> dict[str, Path]:
    """Give each picture its file, and refuse before the work what cannot be written."""
    if os.path.isdir(out) or not out.suffix:
        _check_folder(out)
        return {name: out / f"{name}.png" for name in wanted}
    picture_file(out)
    if len(wanted) > 1:
        raise InputError(
            f"{out} is one file, but there are several pictures; give a folder, or say with --what "
            "which one to draw"
        )
    check_writable(out, *inputs)
    return {wanted[0]: out}


def _check_folder(out: Path) -> None:
    """Refuse a folder that is none, or cannot be made or written to."""
    known = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    if not known.is_dir():
        name = out if known == out.absolute() else known
        raise InputError(f"{name} is a file; --out takes a folder, or a name that ends in .png")
    if not os.access(known, os.W_OK):
        raise InputError(f"cannot write to the folder {known}: permission denied")


# ---- what


def _given(source: Source, path: Path, json: bool) -> Exhibit:
    """Open a model, and read the data as it wants them."""
    learner, source = opened(path, source)
    source = source.settled()
    with telling():
        examples = source.labelled(source.examples())
    return _exhibit(source, learner, examples, json, fitted=False)


def _exhibit(
    source: Source, learner: Any, examples: rb.Examples, json: bool, **how: Any
) -> Exhibit:
    # The first column has the number 1 in svmlight's files, else 0.
    first = int(source.is_svmlight and not source.reading.zero_based)
    told = (list(examples.names or ()), first, source.label_fact(examples.columns, json))
    return Exhibit(learner, examples.X, examples.y, *told, **how)


def _fitted(
    source: Source, wanted: tuple[str, ...], tell: Callable[[str], None], json: bool
) -> Exhibit:
    """Learn the data; for pictures of two classes and their run, look for a bound, learn again.

    The second run is the first one over again, watched beside the comparator of the bound.
    """
    source = source.settled()
    examples = source.labelled(source.examples())
    X, y = examples
    entries = int(X.nnz) if hasattr(X, "nnz") else int(X.size)
    tell(f"learning {X.shape[0]:,} × {X.shape[1]:,}")
    learner = Perceptron(max_iter=int(np.clip(WORK // max(entries, 1), *PASSES))).train(X, y)
    bound = None
    if learner.classes_.size == 2 and not {"curve", "path"}.isdisjoint(wanted):
        tell("looking for the bound")
        if entries <= SMALL:
            passes = None if learner.run_.converged else learner.run_.passes
            with suppress(InputError):  # not found in time, or too large for a float
                bound = rb.mistake_bound(X, y, passes=passes, max_seconds=BOUND_SECONDS)
        comparator = np.append(learner.coef_, learner.intercept_)
        if bound is not None and bound.comparator.any():
            comparator = bound.comparator  # in the lifted space, which is that of (w, b): lift is 1
        if comparator.any():
            learner.train(X, y, comparator=comparator)
    if learner.run_.stop is rb.Stop.INTERRUPTED:
        raise KeyboardInterrupt
    return _exhibit(source, learner, examples, json, fitted=True, bound=bound)


def _columns(text: str, scene: Exhibit, data: Name) -> list[Any]:
    """Give columns by name, or by place from 0 on."""
    parts = [part.strip() for part in text.split(",")]
    return [
        part if part in scene.names or not part.isdigit() else _place(int(part), scene, data)
        for part in parts
    ]


def _place(number: int, scene: Exhibit, data: Name) -> int:
    place, width = number - scene.first, scene.X.shape[1]
    if not 0 <= place < width:
        held = f"its {several(width, 'column')} count from {scene.first}"
        raise InputError(f"{data} has no column {number}; {held}")
    return place


def _drawn(
    scene: Exhibit, wanted: tuple[str, ...], columns: Any, *, strict: bool
) -> tuple[dict[str, Any], dict[str, str]]:
    """Give the figures, and why some were left out: not every model has a run to draw."""
    model, X, y = scene.model, scene.X, scene.y
    seen = columns is not None or X.shape[1] <= 2  # else no axis is a column
    names = scene.spoken() if seen else None
    draw: dict[str, Callable[[], Any]] = {
        "regions": lambda: rb.plot_regions(model, X, y, columns, names=names),
        "margins": lambda: rb.plot_margins(model, X, y),
        "curve": lambda: rb.plot_learning_curve(model, scene.bound),
        "hardest": lambda: rb.plot_hardest(model, X, y),
        "path": lambda: _path(scene, names),
    }
    figures: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name in wanted:
        try:
            figures[name] = draw[name]()
        except InputError as error:
            if strict or name not in OF_RUNS:
                raise
            left_out[name] = spoken(str(error))
    return figures, left_out


def _path(scene: Exhibit, names: list[str] | None) -> Any:
    model = scene.model
    two = isinstance(model, Perceptron) and model.classes_.size == 2
    if two and model.run_.history is None:
        raise InputError(
            "the run ended at weights of zero, and no other weights are known to watch it beside"
            if scene.fitted
            else "the model keeps no history of its run; leave out --model to have a run watched"
        )
    return rb.plot_path(model, scene.X, scene.y, names=names)


# ---- report


def _report(
    data: Name,
    path: Path | None,
    scene: Exhibit,
    seen: dict[str, tuple[str, str]],
    left_out: dict[str, str],
    json: bool,
) -> None:
    learner: Learner = scene.model
    found = distances(learner, scene.X, scene.y)
    facts: dict[str, Any] = {
        "data": str(data),
        **scene.label,
        "rows": scene.X.shape[0],
        "columns": scene.X.shape[1],
        "classes": [plain(label) for label in learner.classes_.tolist()],
        "model": None if path is None else str(path),
        "fitted": _manner(learner) if path is None else None,
        "misclassified": int(np.count_nonzero(found.misclassified)),
        f"smallest_{found.word}": float(found.values.min()),
        "bound": None if scene.bound is None else scene.bound.value,
    }
    if json:
        facts["pictures"] = {name: {"file": f, "seen": s} for name, (f, s) in seen.items()}
        facts["left_out"] = left_out
    else:
        facts |= {name: f"{file}: {sentence}" for name, (file, sentence) in seen.items()}
        facts |= {name: f"not drawn: {reason}" for name, reason in left_out.items()}
    show(facts, json)


def _manner(learner: Any) -> str:
    run = learner.run_
    end = "converged in" if run.converged else "was still making mistakes after"
    return f"a perceptron, from zero and in stored order; it {end} {several(run.passes, 'pass')}"
