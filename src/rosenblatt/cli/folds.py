"""Cross-validation: what `evaluate --folds` and `fit --C auto` do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import rosenblatt as rb
from rosenblatt.cli.printing import doing, plain, show, tell_plainly
from rosenblatt.cli.recipes import Recipe, settle_classes
from rosenblatt.cli.source import Source
from rosenblatt.data.scaling import Scaling
from rosenblatt.errors import InputError
from rosenblatt.labels import as_labels

PATH = tuple(10.0**k for k in range(-4, 5))  # the C that are tried, in turn
FOLDS = 5  # of the path
WORSE = 2  # C in a row that end it


def evaluate_folds(
    source: Source, recipe: Recipe, scale: str | None, folds: int, *, json: bool
) -> None:
    """Learn all folds but one, and evaluate that one, in turn; report."""
    with doing(f"reading {source.data}") as say:
        examples = source.labelled(source.examples())
        found = []
        for accuracy in accuracies(recipe, examples, scale, folds):
            found.append(accuracy)
            say(f"{len(found)} of {folds} folds are done")
    mean, spread = float(np.mean(found)), float(np.std(found, ddof=1))
    facts = {
        "data": str(source.data),
        **source.label_fact(examples.columns, json),
        "rows": len(examples),
        "columns": examples.X.shape[1],
        "classes": [plain(label) for label in _classes(examples).tolist()],
        "learner": recipe.learner,
        "folds": found if json else folds,
        "accuracy": mean if json else f"{mean:.6g} ± {spread:.2g}",
        "standard_deviation": spread if json else None,
    }
    show(facts, json)


def _classes(examples: rb.Examples) -> np.ndarray:
    return np.unique(as_labels(examples.y, len(examples)))


def accuracies(
    recipe: Recipe, examples: rb.Examples, scale: str | None, folds: int
) -> Iterator[float]:
    """Give the accuracy on each fold of what was learned on the others.

    The folds are stratified, and the same ones each time.
    """
    y = as_labels(examples.y, len(examples))
    fold_of = stratified(y, folds, recipe.options.get("random_state", 0))
    with warnings.catch_warnings(action="ignore"):
        for fold in range(folds):
            train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            yield _accuracy(recipe, examples.part(train), examples.part(test), scale)


def stratified(y: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Give the fold of each row, each with about the same share of every class.

    They are those of scikit-learn's ``StratifiedKFold(folds, shuffle=True, random_state=seed)``,
    which takes longer to import than small data to learn. It takes classes as they first appear.
    """
    _, first, codes = np.unique(y, return_index=True, return_inverse=True)
    codes = np.argsort(np.argsort(first))[codes]
    if np.bincount(codes).max() < folds:
        raise InputError(f"no class has a row for each of {folds} folds; give fewer")
    random, ordered, found = np.random.RandomState(seed), np.sort(codes), np.empty(y.size, int)
    shares = [np.bincount(ordered[fold::folds], minlength=first.size) for fold in range(folds)]
    for code, each in enumerate(np.transpose(shares)):
        dealt = np.repeat(np.arange(folds), each)
        random.shuffle(dealt)
        found[codes == code] = dealt
    return found


def _accuracy(recipe: Recipe, train: rb.Examples, test: rb.Examples, scale: str | None) -> float:
    if scale is not None:
        scaling = Scaling.of(scale, train.X)
        train, test = scaling.rows(train), scaling.rows(test)
    learner = recipe.make()
    settle_classes(learner, train.y)
    learner.train(train.X, train.y, train.weights)
    return float(learner.score(test.X, test.y))


def best_C(  # noqa: N802 (C is its name)
    recipe: Recipe, examples: rb.Examples, scale: str | None
) -> Recipe:
    """Give the recipe with the C of the largest accuracy; print the path."""
    tried: dict[float, float] = {}
    tell_plainly(f"         C  accuracy of {FOLDS} folds")
    for C in PATH:
        chosen = _with(recipe, C)
        tried[C] = float(np.mean(list(accuracies(chosen, examples, scale, FOLDS))))
        tell_plainly(f"{C:10g}  {tried[C]:.4f}")
        if max([*tried.values()][-WORSE:]) < max(tried.values()):
            break
    return _with(recipe, max(tried, key=lambda C: tried[C]))


def _with(recipe: Recipe, C: float) -> Recipe:
    return replace(recipe, options={**recipe.options, "C": C})
