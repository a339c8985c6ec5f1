"""From a learner's options to a half-space or a partition that is ready to learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt import options
from rosenblatt.errors import InputError
from rosenblatt.labels import class_factors
from rosenblatt.margin.bounds import lifted
from rosenblatt.margin.class_bounds import lifted_classes
from rosenblatt.matrices import Matrix, check_finite, radius
from rosenblatt.online.discriminators import ClassRule
from rosenblatt.online.driver import ORDERS
from rosenblatt.online.halfspace import Halfspace
from rosenblatt.online.partition import Partition
from rosenblatt.online.perceptron import ALL_ONE, Rule
from rosenblatt.online.separator import check_room

STARTS = ("zero", "unit", "random")
OUTPUTS = ("auto", "last", "averaged", "voted")
TIES = ("mistake", "positive")


def check_options(learner: Any) -> None:
    """Refuse options that cannot be used, before anything is read or learned."""
    options.one_of("order", learner.order, ORDERS)
    options.one_of("output", learner.output, OUTPUTS)
    options.one_of("tie", learner.tie, TIES)
    if learner.initial is None or isinstance(learner.initial, str):
        options.one_of("initial", learner.initial, STARTS)
    if isinstance(learner.lift, str):
        options.one_of("lift", learner.lift, ["radius"])
    else:
        options.positive("lift", learner.lift)
    options.positive("eta0", learner.eta0)
    options.flag("renormalize", learner.renormalize)
    options.lifts(learner.fit_intercept, learner.intercept)
    options.flag("warm_start", learner.warm_start)
    options.limit("max_iter", learner.max_iter)
    options.limit("max_updates", learner.max_updates)
    options.limit("patience", learner.patience)
    if learner.max_seconds is not None:
        options.positive("max_seconds", learner.max_seconds)
    options.random_numbers(learner.random_state)


def check_stream(learner: Any, classes: np.ndarray) -> None:
    """Refuse options that would need to know beforehand what a stream is going to bring."""
    check_options(learner)
    if learner.lift == "radius" and options.lifts(learner.fit_intercept, learner.intercept):
        raise InputError(
            "lift='radius' needs all rows beforehand; give a number to learn from a stream"
        )
    plain = isinstance(learner.initial, str) and learner.initial == "zero"
    if classes.size == 1 and not (plain and learner.tie == "mistake"):
        raise InputError(
            "with this start or tie rule, both classes must be known from the first example "
            "on; call partial_fit with classes=[...] first"
        )


def begin(
    learner: Any,
    X: Matrix,
    marks: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray = ALL_ONE,
    *,
    output: str | None = None,
) -> Halfspace | Partition:
    """Begin at the chosen start; no marks where all that is to come is not known."""
    check_room(X.shape[1], discriminators(classes))
    lift = lift_of(learner, X)
    w = start_of(learner, X.shape[1], lift, discriminators(classes))
    if classes.size > 2 and sparse.issparse(X):  # as `rows.favoured` has it
        w = np.asfortranarray(w) if w.any() else np.zeros(w.shape, order="F")
    rule = rule_of(learner, classes, marks, weights)
    return _begun(w, lift, rule, output or learner.output)


def begin_again(
    learner: Any,
    X: Matrix,
    marks: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray,
    earlier: Halfspace | Partition,
) -> Halfspace | Partition:
    """Begin from the last weights of an earlier run, in the same lifted space or another."""
    lift = lift_of(learner, X)
    w = earlier.state.w.copy()
    w[..., -1] = w[..., -1] * earlier.lift / lift if lift else 0.0
    return _begun(w, lift, rule_of(learner, classes, marks, weights), learner.output)


def _begun(
    w: np.ndarray, lift: float, rule: Rule | ClassRule, output: str
) -> Halfspace | Partition:
    if isinstance(rule, Rule):
        return Halfspace.begin(w, lift, rule, output)
    return Partition.begin(w, lift, rule, output)


def stream_output(learner: Any) -> str:
    """Give the kind of output of a stream, which has no end at which to choose one (theory D1)."""
    return "last" if learner.output == "auto" else str(learner.output)


def discriminators(classes: np.ndarray) -> int:
    """Give the number of weight vectors: one serves two classes."""
    return 1 if classes.size <= 2 else int(classes.size)


def with_classes(
    learner: Any,
    separator: Halfspace | Partition,
    old: np.ndarray,
    labels: np.ndarray,
    new: np.ndarray,
    marks: np.ndarray,
) -> Halfspace | Partition:
    """Give what was learned for more classes, which begin at 0.

    The first class of a stream counts as negative until the second one is known, and may have to
    turn; if several are new at once, the second one is that which comes first among the labels.
    """
    rule = rule_of(learner, new, marks)
    places = {label: place for place, label in enumerate(new.tolist())}
    moved = [places[label] for label in old.tolist()]
    if old.size == 1:
        strangers = [label for label in new.tolist() if label not in old.tolist()]
        later = [label for label in labels.tolist() if label in strangers]
        moved.append(places[(later or strangers)[0]])
    if isinstance(rule, Rule):
        assert isinstance(separator, Halfspace)
        return (separator.turned() if moved[0] else separator).ruled_by(rule)
    check_room(separator.width, new.size)
    if isinstance(separator, Halfspace):
        return Partition.of(separator, np.array(moved), new.size, rule)
    return separator.with_classes(np.array(moved), new.size, rule)


def lift_of(learner: Any, X: Matrix) -> float:
    """Give the constant of the added coordinate, 0 for none."""
    if not options.lifts(learner.fit_intercept, learner.intercept):
        return 0.0
    if learner.lift != "radius":
        return float(learner.lift)
    check_finite(X)
    largest = radius(X)
    if not np.isfinite(largest):
        raise InputError("the radius of X is too large for float64; divide X by a constant")
    return largest or 1.0


def start_of(learner: Any, width: int, lift: float, vectors: int = 1) -> np.ndarray:
    """Give the starting weights in the lifted space (theory D5): a row for each of many classes."""
    if not isinstance(learner.initial, str):
        if vectors == 1:
            return lifted(learner.initial, width, lift, name="initial")
        return lifted_classes(learner.initial, vectors, width, lift, name="initial")
    dimension = width + (lift != 0.0)
    w = np.zeros((vectors, width + 1))
    if learner.initial == "unit":
        w[:, :dimension] = 1.0 / np.sqrt(vectors * dimension)
    if learner.initial == "random":
        numbers = options.random_numbers(learner.random_state)
        w[:, :dimension] = numbers.standard_normal((vectors, dimension))
        w /= np.linalg.norm(w)
    return w[0] if vectors == 1 else w


def rule_of(
    learner: Any, classes: np.ndarray, marks: np.ndarray, weights: np.ndarray = ALL_ONE
) -> Rule | ClassRule:
    """Give the rule of the updates; no marks where all that is to come is not known."""
    codes = marks if classes.size > 2 else (marks > 0).astype(np.intp)
    known = codes if marks.size else None
    factors = class_factors(learner.class_weight, classes, known, weights)
    if classes.size > 2:
        if learner.tie == "positive":
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"tie='positive' is about two classes, got {classes.size}; leave tie out"
            )
        return ClassRule(float(learner.eta0), factors, bool(learner.renormalize))
    return Rule(
        eta=float(learner.eta0),
        negative_weight=float(factors[0]),
        positive_weight=float(factors[-1]),
        renormalize=bool(learner.renormalize),
        zero_is_positive=learner.tie == "positive",
    )
