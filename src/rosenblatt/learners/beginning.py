"""From a learner's options to a half-space that is ready to learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.examples import Matrix, check_finite, radius
from rosenblatt.learners import options
from rosenblatt.margin.bounds import lifted
from rosenblatt.online.driver import ORDERS
from rosenblatt.online.halfspace import Halfspace, check_room
from rosenblatt.online.perceptron import Rule

STARTS = ("zero", "unit", "random")
OUTPUTS = ("last", "averaged", "voted")
TIES = ("mistake", "positive")


def check_options(learner: Any) -> None:
    """Refuse options that cannot be used, before anything is read or learned."""
    options.one_of("order", learner.order, ORDERS)
    options.one_of("output", learner.output, OUTPUTS)
    options.one_of("tie", learner.tie, TIES)
    if isinstance(learner.initial, str):
        options.one_of("initial", learner.initial, STARTS)
    if isinstance(learner.lift, str):
        options.one_of("lift", learner.lift, ["radius"])
    else:
        options.positive("lift", learner.lift)
    options.positive("eta0", learner.eta0)
    options.flag("renormalize", learner.renormalize)
    options.flag("fit_intercept", learner.fit_intercept)
    options.flag("warm_start", learner.warm_start)
    options.limit("max_iter", learner.max_iter)
    options.limit("max_updates", learner.max_updates)
    if learner.max_seconds is not None:
        options.positive("max_seconds", learner.max_seconds)
    options.random_numbers(learner.random_state)


def check_stream(learner: Any, classes: np.ndarray) -> None:
    """Refuse options that would need to know beforehand what a stream is going to bring."""
    check_options(learner)
    if learner.lift == "radius" and learner.fit_intercept:
        raise InputError(
            "lift='radius' needs all rows beforehand; give a number to learn from a stream"
        )
    plain = isinstance(learner.initial, str) and learner.initial == "zero"
    if classes.size == 1 and not (plain and learner.tie == "mistake"):
        raise InputError(
            "with this start or tie rule, both classes must be known from the first example "
            "on; call partial_fit with classes=[...] first"
        )


def begin(learner: Any, X: Matrix, signs: np.ndarray, classes: np.ndarray) -> Halfspace:
    """Begin at the chosen start."""
    check_room(X.shape[1])
    lift = lift_of(learner, X)
    w = start_of(learner, X.shape[1], lift)
    return Halfspace.begin(w, lift, rule_of(learner, classes, signs), learner.output)


def begin_again(
    learner: Any, X: Matrix, signs: np.ndarray, classes: np.ndarray, earlier: Halfspace
) -> Halfspace:
    """Begin from the last weights of an earlier half-space, in the same lifted space or another."""
    lift = lift_of(learner, X)
    w = earlier.state.w.copy()
    w[-1] = w[-1] * earlier.lift / lift if lift else 0.0
    return Halfspace.begin(w, lift, rule_of(learner, classes, signs), learner.output)


def lift_of(learner: Any, X: Matrix) -> float:
    """Give the constant of the added coordinate, 0 for none."""
    if not learner.fit_intercept:
        return 0.0
    if learner.lift != "radius":
        return float(learner.lift)
    check_finite(X)
    largest = radius(X)
    if not np.isfinite(largest):
        raise InputError("the radius of X is too large for float64; divide X by a constant")
    return largest or 1.0


def start_of(learner: Any, width: int, lift: float) -> np.ndarray:
    """Give the starting weights in the lifted space (theory D5)."""
    if not isinstance(learner.initial, str):
        return lifted(learner.initial, width, lift, name="initial")
    dimension = width + (lift != 0.0)
    w = np.zeros(width + 1)
    if learner.initial == "unit":
        w[:dimension] = 1.0 / np.sqrt(dimension)
    if learner.initial == "random":
        w[:dimension] = options.random_numbers(learner.random_state).standard_normal(dimension)
        w /= np.linalg.norm(w)
    return w


def rule_of(learner: Any, classes: np.ndarray, signs: np.ndarray) -> Rule:
    """Give the rule of the updates."""
    negative, positive = class_factors(learner.class_weight, classes, signs)
    return Rule(
        eta=float(learner.eta0),
        negative_weight=negative,
        positive_weight=positive,
        renormalize=bool(learner.renormalize),
        zero_is_positive=learner.tie == "positive",
    )


def class_factors(class_weight: Any, classes: np.ndarray, signs: np.ndarray) -> tuple[float, float]:
    """Give the factors of the updates on the negative and the positive class."""
    if class_weight is None:
        return 1.0, 1.0
    if isinstance(class_weight, dict):
        known = classes.tolist()
        strangers = [label for label in class_weight if label not in known]
        if strangers and len(known) > 1:
            raise InputError(
                f"class_weight has the label {strangers[0]!r}, which is not one of the classes"
            )
        factors = [options.positive("class_weight", class_weight.get(k, 1.0)) for k in known]
        return factors[0], factors[-1]
    options.one_of("class_weight", class_weight, ["balanced"])
    if not signs.size:
        raise InputError(
            "class_weight='balanced' needs all labels beforehand; "
            "give a dict of weights to learn from a stream"
        )
    positive = np.count_nonzero(signs > 0)
    return signs.size / (2 * (signs.size - positive)), signs.size / (2 * positive)
