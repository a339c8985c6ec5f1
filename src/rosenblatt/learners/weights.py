"""How much each example counts: weights of samples times weights of their classes."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.examples import Matrix, as_signs, distinct, refuse_measurements
from rosenblatt.learners import options
from rosenblatt.online.perceptron import ALL_ONE
from rosenblatt.online.presented import Presented

ALL_ZERO = "sample_weight is zero for every row; some weight of each class must be positive"


def several_classes(labels: np.ndarray) -> np.ndarray:
    """Give the distinct labels, refusing a single one, and measurements."""
    classes = distinct(labels)
    if classes.size == 1:
        raise InputError(
            f"labels must be at least two classes, got 1 class ({classes.tolist()[0]!r})"
        )
    refuse_measurements(classes)
    return classes


def as_codes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Give for each label the place of its class."""
    if labels.dtype != object and classes.dtype != object:
        return np.searchsorted(classes, labels)
    places = {label: place for place, label in enumerate(classes.tolist())}
    return np.fromiter((places[label] for label in labels.tolist()), np.intp, labels.size)


def as_marks(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Give what a perceptron learns from: signs for two classes, else the places of the classes."""
    return as_signs(labels, classes) if classes.size <= 2 else as_codes(labels, classes)


def presented(X: Matrix, labels: np.ndarray, sample_weight: Any) -> Presented:
    """Weigh the examples given; None for weights of 1."""
    weights = ALL_ONE if sample_weight is None else sample_weights(sample_weight, labels.size)
    return Presented.of(X, labels, weights)


def check_classes(shown: Presented, classes: np.ndarray) -> None:
    """Refuse a class of which no example counts."""
    if not shown.labels.size:
        raise InputError(ALL_ZERO)
    if shown.places is not None:
        _check_every_class(
            np.bincount(as_codes(shown.labels, classes), None, classes.size), classes
        )


def example_weights(
    sample_weight: Any, class_weight: Any, codes: np.ndarray, classes: np.ndarray
) -> np.ndarray | None:
    """Give one weight from 0 on for each row, None if all of them are 1."""
    weights = None if sample_weight is None else some_weights(sample_weight, codes.size)
    if weights is not None:
        _check_every_class(np.bincount(codes, weights, classes.size), classes)
    if class_weight is None:
        return weights
    factors: np.ndarray = _class_weights(class_weight, weights, codes, classes)[codes]
    return factors if weights is None else weights * factors


def sample_weights(given: Any, n: int) -> np.ndarray:
    """Take one weight from 0 on for each of n rows; a single number is that of all."""
    try:
        weights = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must be an array of numbers") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight has the shape {weights.shape}, but X has {n} rows; give one weight "
            "for each row"
        )
    usable = (weights >= 0) & np.isfinite(weights)
    if not usable.all():
        place = int(np.argmin(usable))
        raise InputError(
            f"sample_weight has {weights[place]} (row {place}); weights are finite numbers from "
            "0 on"
        )
    return weights


def some_weights(given: Any, n: int) -> np.ndarray:
    """Take weights that are not all 0."""
    weights = sample_weights(given, n)
    if not weights.any():
        raise InputError(ALL_ZERO)
    return weights


def one_weight(given: Any) -> float:
    """Take the weight of one row."""
    weight = float(given) if isinstance(given, Real) else math.nan
    if not 0 <= weight < math.inf:
        raise InputError(f"sample_weight of one row is a finite number from 0 on, got {given!r}")
    return weight


def _check_every_class(totals: np.ndarray, classes: np.ndarray) -> None:
    if not totals.all():
        label = classes.tolist()[int(np.argmin(totals))]
        raise InputError(
            f"every row of the class {label!r} has a sample_weight of 0; leave its rows out, or "
            "give one of them some weight"
        )


def _class_weights(
    class_weight: Any, weights: np.ndarray | None, codes: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """Give the factor of each class; balanced ones make the total weights of classes equal."""
    if isinstance(class_weight, dict):
        known = classes.tolist()
        strangers = [label for label in class_weight if label not in known]
        if strangers:
            raise InputError(
                f"class_weight has the label {strangers[0]!r}, which is not one of the classes"
            )
        return np.array([options.positive("class_weight", class_weight.get(k, 1)) for k in known])
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise InputError(
            "class_weight must be None, 'balanced' or a dict from label to a factor, "
            f"got {class_weight!r}"
        )
    totals = np.bincount(codes, weights, classes.size)
    return np.asarray(totals.sum() / (classes.size * totals))
