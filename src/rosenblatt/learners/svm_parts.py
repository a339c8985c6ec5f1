"""Support vector machines as plain parts: settings that JSON can hold, and arrays. And back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.learners.hard_margin import PlainHardMarginSVM
from rosenblatt.learners.linear import PlainLinear
from rosenblatt.learners.one_row import RowReader
from rosenblatt.learners.problems import MULTICLASS, Answer
from rosenblatt.learners.soft_margin import PlainSoftMarginSVM
from rosenblatt.learners.values import (
    Settings,
    Tensors,
    class_parts,
    classes_from,
    column_names,
    option_parts,
    options_from,
    require,
    require_numbers,
)


def soft_parts(learner: PlainSoftMarginSVM) -> tuple[Settings, Tensors]:
    """Take a fitted soft-margin SVM apart."""
    answer = learner._answer
    settings, tensors = _linear_parts(learner)
    tensors["alphas"] = answer.alphas
    settings["answer"] = {
        name: value for name, value in vars(answer).items() if name not in ("planes", "alphas")
    }
    return settings, tensors


def soft_from(
    settings: Settings, tensors: Tensors, make: type[PlainSoftMarginSVM]
) -> PlainSoftMarginSVM:
    """Put a soft-margin SVM of a class together again, checking that the parts fit."""
    learner = make(**options_from(settings["options"]))
    classes = _fill(learner, settings, tensors)
    planes, alphas, parts = tensors["planes"], tensors["alphas"], settings["answer"]
    require(alphas.shape[1:] == (() if classes.size == 2 else (classes.size,)), "duals do not fit")
    require_numbers(alphas, "the dual variables")
    numbers = {name: _finite(parts[name]) for name in ("lam", "primal", "dual", "gap")}
    passes, converged = parts["passes"], parts["converged"]
    require(type(passes) is int and passes >= 0, "the passes are not a number")
    require(type(converged) is bool, "it does not say whether it converged")
    kind = "two classes" if classes.size == 2 else parts["kind"]
    require(classes.size == 2 or kind in MULTICLASS, "it does not say which problem was solved")
    answer = Answer(
        kind=kind, planes=planes, alphas=alphas, passes=passes, converged=converged, **numbers
    )
    learner._hold(answer, classes)
    return learner


def hard_parts(learner: PlainHardMarginSVM) -> tuple[Settings, Tensors]:
    """Take a fitted hard-margin SVM apart."""
    settings, tensors = _linear_parts(learner)
    tensors["dual"] = learner.dual_
    settings["margin"] = [float(end) for end in learner.margin_]
    settings["certificate"] = learner.certificate_.to_json()
    return settings, tensors


def hard_from(
    settings: Settings, tensors: Tensors, make: type[PlainHardMarginSVM]
) -> PlainHardMarginSVM:
    """Put a hard-margin SVM of a class together again, checking that the parts fit."""
    from rosenblatt.certificates import from_json

    learner = make(**options_from(settings["options"]))
    classes = _fill(learner, settings, tensors)
    require(classes.size == 2, "it does not name two classes")
    dual = tensors["dual"]
    require(dual.ndim == 1, "the dual variables are not one for each row")
    require_numbers(dual, "the dual variables")
    lower, upper = map(_finite, settings["margin"])
    require(0 < lower <= upper, "the margin is not an interval")
    certificate = from_json(settings["certificate"])
    learner._hold(tensors["planes"], classes, (lower, upper), certificate, dual)
    return learner


def _linear_parts(learner: PlainLinear) -> tuple[Settings, Tensors]:
    settings: Settings = {
        "options": option_parts(learner),
        "classes": class_parts(learner.classes_),
        "columns": learner.n_features_in_,
        "names": column_names(learner),
    }
    return settings, {"planes": learner._planes}


def _fill(
    learner: PlainSoftMarginSVM | PlainHardMarginSVM, settings: Settings, tensors: Tensors
) -> np.ndarray:
    """Check options and weights, and let a learner know its columns; give the classes."""
    learner._check_options()
    classes, planes = classes_from(settings["classes"]), tensors["planes"]
    require(classes.size >= 2, "it does not name two classes")
    width, names = settings["columns"], settings["names"]
    require(type(width) is int and width > 0, "the number of columns is not one")
    count = 1 if classes.size == 2 else classes.size
    require(planes.shape == (count, width + 1), "the weights have another width")
    require_numbers(planes, "the weights")
    if names is not None:
        require(len(names) == width, "the names of the columns have another number")
        learner.feature_names_in_ = np.array(names, object)
    learner.n_features_in_ = width
    learner._reader = RowReader(width, names)
    return classes


def _finite(value: Any) -> float:
    require(type(value) in (int, float) and math.isfinite(value), "a number is not finite")
    return float(value)
