"""What to train: a kind of learner, and the options that somebody gave."""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import signature
from typing import Any

import click
import numpy as np

from rosenblatt.cli import options
from rosenblatt.cli.training import LEARNERS
from rosenblatt.data.models import learner_class
from rosenblatt.labels import as_labels

NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
WITHOUT_LIMIT = ("max_iter", "patience")  # of which 0 means none


@dataclass(frozen=True)
class Recipe:
    """A kind of learner, as the shell calls it, and the arguments that were given for it."""

    learner: str
    options: dict[str, Any]

    @property
    def kind(self) -> str:
        """The name of the class."""
        return LEARNERS[self.learner]

    @property
    def is_open(self) -> bool:
        """Tell whether the data are to choose C."""
        return self.options.get("C") == "auto"

    def make(self) -> Any:
        """Give the learner; a C that is still to be chosen is left out."""
        known = {
            name: value for name, value in self.options.items() if value != "auto" or name != "C"
        }
        return learner_class(self.kind)(**known)


def recipe_of(given: dict[str, Any]) -> Recipe:
    """Make arguments of options; those that are not of the learner are refused."""
    chosen = options.given(given)
    learner = chosen.pop("learner", "perceptron")
    if learner == "perceptron" and "kernel" in chosen:
        learner = "kernel"
    _refuse_foreign(learner, chosen)
    if learner == "online-svm" and chosen.get("C") == "auto":
        raise click.UsageError("--C auto goes with --learner svm; give online-svm a number")
    if "lam" in chosen and "C" in chosen:
        raise click.UsageError("--lam and --C say the same thing; give one of them")
    chosen = {n: v or None if n in WITHOUT_LIMIT else v for n, v in chosen.items()}
    if chosen.pop("balanced", None):
        chosen.setdefault("class_weight", "balanced")
    if "seed" in chosen:
        chosen["random_state"] = chosen.pop("seed")
    return Recipe(learner, _with_intercept(learner, chosen))


ARGUMENTS = {"balanced": "class_weight", "seed": "random_state", "no_intercept": "fit_intercept"}


def _refuse_foreign(learner: str, chosen: dict[str, Any]) -> None:
    for name in chosen:
        argument = ARGUMENTS.get(name, name)
        if not _takes(learner, argument):
            *others, last = (each for each in LEARNERS if _takes(each, argument))
            owners = f"{', '.join(others)} or {last}" if others else last
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} goes with --learner {owners}, not with {learner}")


def _takes(learner: str, argument: str) -> bool:
    return argument in signature(learner_class(LEARNERS[learner])).parameters


def _with_intercept(learner: str, chosen: dict[str, Any]) -> dict[str, Any]:
    kind, without = chosen.pop("intercept", None), chosen.pop("no_intercept", False)
    if without and kind not in (None, "none"):
        raise click.UsageError("--intercept and --no-intercept exclude each other")
    kind = "none" if without else kind
    if learner in ("svm", "hard-svm"):
        if kind != "lifted" and "lift" in chosen:
            raise click.UsageError("--lift goes with --intercept lifted")
        return chosen if kind is None else {**chosen, "intercept": kind}
    if kind == "free":
        raise click.UsageError(
            "the perceptron's intercept is lifted: it is a weight like others; give "
            "--intercept lifted or none"
        )
    return chosen if kind is None else {**chosen, "fit_intercept": kind != "none"}


def settle_classes(learner: Any, y: Any) -> None:
    """Let the labels of --class-weight, which are texts, be those of the data.

    Of a stream they are not known beforehand: a number is then the label of either kind.
    """
    given = getattr(learner, "class_weight", None)
    if not isinstance(given, dict) or not all(isinstance(label, str) for label in given):
        return
    if y is not None:
        labels = np.unique(as_labels(y, len(y))).tolist()
        known = {str(label): label for label in labels}
        for spell in (str.lower, str.upper):  # as files spell true and false
            known |= {spell(str(label)): label for label in labels if isinstance(label, bool)}
        learner.class_weight = {known.get(text, text): given[text] for text in given}
        return
    numbers = {float(text): given[text] for text in given if NUMBER.fullmatch(text)}
    learner.class_weight = given | numbers


def unknown_classes(learner: Any) -> list[str]:
    """Give the labels of --class-weight, settled for a stream, that no class of it has."""
    given = learner.class_weight if isinstance(learner.class_weight, dict) else {}
    known = learner.classes_.tolist()
    texts = [text for text in given if isinstance(text, str) and text not in map(str, known)]
    return [text for text in texts if not NUMBER.fullmatch(text) or float(text) not in known]
