"""Support vector machines as plain parts: settings that JSON can hold, and arrays. And back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.learners.hard_margin import HardMarginSVM
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.learners.one_row import RowReader
from rosenblatt.learners.soft_margin import SoftMarginSVM
from rosenblatt.learners.values import (
    Settings,
    Tensors,
    array_of,
    classes_from,
    options_from,
    require,
    shared_parts,
    width_of,
)
from rosenblatt.margin.classes import MULTICLASS
from rosenblatt.margin.problem import Solution


def soft_parts(learner: SoftMarginSVM) -> tuple[Settings, Tensors]:
    """Take a fitted soft-margin SVM apart."""
    answer = learner._answer
    settings, tensors = _linear_parts(learner)
    tensors["alphas"] = answer.alphas
    numbers = ("lam", "primal", "dual", "passes", "converged")
    settings["answer"] = {name: getattr(answer, name) for name in numbers}
    settings["answer"]["kind"] = answer.method
    return settings, tensors


def soft_from(settings: Settings, tensors: Tensors) -> SoftMarginSVM:
    """Put a soft-margin SVM together again, checking that the parts fit."""
    learner = SoftMarginSVM(**options_from(settings["options"]))
    classes = _fill(learner, settings, tensors)
    planes, parts, rows = tensors["planes"], settings["answer"], len(tensors["alphas"])
    alphas = array_of(tensors, "alphas", rows, *([classes.size] if classes.size > 2 else []))
    lam, primal, dual = (_finite(parts[name]) for name in ("lam", "primal", "dual"))
    passes, converged = parts["passes"], parts["converged"]
    require(type(passes) is int and passes >= 0, "the passes are not a number")
    require(type(converged) is bool, "it does not say whether it converged")
    known = classes.size == 2 or parts["kind"] in MULTICLASS
    require(known, "it does not say which problem was solved")
    answer = Solution(lam, planes, alphas, primal, dual, passes, converged, parts["kind"])
    learner._hold(answer, classes)
    return learner


def hard_parts(learner: HardMarginSVM) -> tuple[Settings, Tensors]:
    """Take a fitted hard-margin SVM apart."""
    settings, tensors = _linear_parts(learner)
    tensors["dual"] = learner.dual_
    settings["margin"] = [float(end) for end in learner.margin_]
    settings["certificate"] = learner.certificate_.to_json()
    return settings, tensors


def hard_from(settings: Settings, tensors: Tensors) -> HardMarginSVM:
    """Put a hard-margin SVM together again, checking that the parts fit."""
    from rosenblatt.certificates import from_json

    learner = HardMarginSVM(**options_from(settings["options"]))
    classes = _fill(learner, settings, tensors)
    require(classes.size == 2, "it does not name two classes")
    dual = array_of(tensors, "dual", tensors["dual"].size)
    lower, upper = map(_finite, settings["margin"])
    require(0 < lower <= upper, "the margin is not an interval")
    certificate = from_json(settings["certificate"])
    learner._hold(tensors["planes"], classes, (lower, upper), certificate, dual)
    return learner


def _linear_parts(learner: LinearLearner) -> tuple[Settings, Tensors]:
    return shared_parts(learner), {"planes": learner._planes}


def _fill(learner: LinearLearner, settings: Settings, tensors: Tensors) -> np.ndarray:
    """Check options and weights, and let a learner know its columns; give the classes."""
    learner.check_options()
    classes, width = classes_from(settings["classes"]), width_of(settings)
    require(classes.size >= 2, "it does not name two classes")
    array_of(tensors, "planes", 1 if classes.size == 2 else classes.size, width + 1)
    learner._name_columns(settings["names"])
    learner.n_features_in_ = width
    learner._reader = RowReader(width, settings["names"])
    return classes


def _finite(value: Any) -> float:
    require(type(value) in (int, float) and math.isfinite(value), "a number is not finite")
    return float(value)
