"""Labels: taking them, their classes, codes and signs, and what classes and examples weigh.

Classes     the distinct labels, sorted where they have an order; labels may be of any hashable type
Code        the place of a label's class
Sign        -1 for the first of two classes, +1 for the second
Mark        what a perceptron learns from: signs of two classes, codes of more
Weight      a factor from 0 on of an example, times that of its class
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping, Set
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt import options
from rosenblatt.errors import InputError, levels_inside
from rosenblatt.matrices import is_missing

ALL_ONE = np.zeros(0)  # in the place of weights of examples that are all 1
ALL_ZERO = "sample_weight is zero for every row; some weight of each class must be positive"


def as_labels(y: Any, n: int) -> np.ndarray:
    """Give the labels as a one-dimensional array, objects where NumPy has no type for them."""
    if y is None:
        raise InputError(
            "labels are missing: this learner requires y to be passed, but the target y is None"
        )
    _refuse_other_things(y)
    labels = np.asarray(y) if hasattr(y, "__array__") else _from_list(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        _warn_column_vector()
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(
            f"labels must be one column, got an array of shape {labels.shape}; if each row marks "
            "its class, give y.argmax(axis=1)"
        )
    if labels.size != n:
        raise InputError(f"X has {n} rows but y has {labels.size} labels; give one for each row")
    if labels.dtype.kind in "fc" and not np.isfinite(labels).all():
        raise InputError("y contains NaN or infinity; every row needs a label")
    _refuse_missing(labels)
    return labels


def as_label(label: Hashable) -> np.ndarray:
    """Give the label of one row as those of many rows are given."""
    try:
        hash(label)
    except TypeError:
        raise InputError(f"the label {label!r} is not hashable") from None
    return as_labels([label], 1)


def _refuse_other_things(y: Any) -> None:
    """Refuse what has no labels in an order, or not yet."""
    if type(y) is np.ndarray:
        return
    kind = type(y).__name__
    if hasattr(y, "collect"):
        raise InputError(f"labels must be a list or an array, got a {kind}; give y.collect()")
    if sparse.issparse(y):
        raise InputError(f"labels must be a list or an array, got a {kind}; give y.toarray()")
    if np.ma.is_masked(y):
        row = int(np.argmax(np.ma.getmaskarray(y).ravel()))
        raise InputError(f"y is masked in row {row}; every row needs a label")
    listed = isinstance(y, Iterable) and not isinstance(y, str | bytes | Mapping | Set)
    if not hasattr(y, "__array__") and not listed:
        raise InputError(f"labels must be a list or an array, got {y!r:.60}")


def _refuse_missing(labels: np.ndarray) -> None:
    """Refuse None, NaN, NaT and pandas.NA among labels."""
    if labels.dtype.kind in "mM":
        labels = as_objects([None if np.isnat(label) else label for label in labels])
    if labels.dtype != object:
        return
    with suppress(TypeError):  # what cannot be hashed is refused as such, by `distinct`
        if any(map(_is_missing, set(labels.tolist()))):
            row = next(row for row, label in enumerate(labels) if _is_missing(label))
            raise InputError(f"y contains {labels[row]!r} (row {row}); every row needs a label")


def _is_missing(label: Any) -> bool:
    if isinstance(label, float | np.floating):
        return bool(label != label)
    return is_missing(label)


def _from_list(y: Any) -> np.ndarray:
    """Build an array of labels without turning tuples into rows or numbers into strings."""
    items = list(y)
    kinds = {type(item) for item in items}
    if len(kinds) == 1 and issubclass(kinds.pop(), (int, float, str, bytes, np.generic, list)):
        labels = np.asarray(items)
        rounded = labels.dtype.kind == "f" and isinstance(items[0], int)  # beyond 64 bits
        return as_objects(items) if rounded else labels
    return as_objects(items)


def as_objects(items: list[Any]) -> np.ndarray:
    """Build a one-dimensional array of objects."""
    labels = np.empty(len(items), object)
    labels[:] = items
    return labels


def _warn_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; it was flattened",
        DataConversionWarning,
        stacklevel=levels_inside() + 1,
    )


def distinct(labels: np.ndarray) -> np.ndarray:
    """Give the distinct labels: sorted where they can be, else in order of appearance."""
    if labels.dtype != object:
        few = _few_coded(labels)
        return np.unique(labels) if few is None else few[0]
    try:
        found = dict.fromkeys(labels.tolist())
    except TypeError:
        raise InputError("labels must be hashable, such as numbers, strings or tuples") from None
    return in_order(list(found))


def two_classes(labels: np.ndarray) -> np.ndarray:
    """Give the distinct labels, refusing any number of them but two."""
    classes = distinct(labels)
    if classes.size == 2:
        return classes
    some = _some(classes)
    if classes.size < 2:
        got = f"1 class ({some})" if classes.size else "none, since there are no rows"
        raise InputError(f"labels must be two classes, got {got}")
    refuse_measurements(classes)
    raise InputError(
        "Only binary classification is supported. The type of the target is multiclass: "
        f"labels must be two classes, got {classes.size} ({some}); give the rows of two of them"
    )


def joint_classes(labels: np.ndarray, given: Any, known: np.ndarray | None) -> np.ndarray:
    """Give the classes of a stream: those known or given, else those known and in the labels."""
    found = distinct(labels)
    old = [] if known is None else known.tolist()
    if given is not None:
        seen, found = found, distinct(as_labels(given, len(given)))
        if set(old) - set(found.tolist()):
            raise InputError(
                f"classes={found.tolist()} is not the same as on the last call, {old}; classes "
                "may be added, but not left out"
            )
        strangers = [label for label in seen.tolist() if label not in found.tolist()]
        if strangers:
            raise InputError(
                f"label {strangers[0]!r} is not one of the classes, {_names(found)}; give all of "
                "them, or none"
            )
    news = [label for label in found.tolist() if label not in old]
    if known is not None:
        found = distinct(as_labels(old + news, len(old) + len(news))) if news else known
    refuse_measurements(found)
    return found


def moved_places(old: np.ndarray, labels: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Give the places of the old classes among the new ones.

    The first class of a stream has an unknown other side, which becomes the class that comes next:
    if several are new at once, the one that is first among the labels.
    """
    places = {label: place for place, label in enumerate(new.tolist())}
    moved = [places[label] for label in old.tolist()]
    if old.size == 1:
        strangers = [label for label in new.tolist() if label not in old.tolist()]
        later = [label for label in labels.tolist() if label in strangers]
        moved.append(places[(later or strangers)[0]])
    return np.array(moved)


def refuse_measurements(classes: np.ndarray) -> None:
    """Refuse more than two classes that are numbers with fractions."""
    if classes.size > 2 and classes.dtype.kind == "f" and np.any(classes != np.floor(classes)):
        raise InputError(
            f"Unknown label type: continuous. The labels are {classes.size} different numbers "
            f"({_some(classes)}); a classifier needs classes, not measurements: is another column "
            "the label?"
        )


def _some(classes: np.ndarray) -> str:
    return ", ".join(map(repr, classes[:5].tolist())) + (", …" if classes.size > 5 else "")


def _names(classes: np.ndarray) -> str:
    names = [repr(label) for label in classes.tolist()]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def in_order(labels: list[Hashable]) -> np.ndarray:
    """Put distinct labels in order, if they have one, in an array of objects."""
    with suppress(TypeError):  # labels of several types have no order: keep that of appearance
        labels = sorted(labels)  # type: ignore[type-var]
    return as_objects(labels)


def _few_coded(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Find one or two distinct labels, and the place of each, in linear time; None if more."""
    others = labels != labels[:1]
    place = int(others.argmax()) if others.size else 0
    if not labels.size or not others[place]:
        return labels[:1].copy(), others.view(np.int8)
    if np.count_nonzero(labels == labels[place]) != np.count_nonzero(others):
        return None
    classes = np.sort(labels[[0, place]])
    return classes, (others if classes[0] == labels[0] else ~others).view(np.int8)


def as_signs(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Give -1 for the first class and +1 for the second, as int8."""
    signs: np.ndarray = _of_the_second(labels, classes).view(np.int8) * np.int8(2)
    signs -= np.int8(1)
    return signs


def _of_the_second(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Tell which labels are not of the first of two classes, refusing those of neither."""
    first = _equal(labels, classes[0])
    known = first | _equal(labels, classes[-1])
    if not known.all():
        place = int(np.argmin(known))
        stranger = labels[place : place + 1].tolist()[0]
        raise InputError(f"label {stranger!r} is not one of the classes, {_names(classes)}")
    return ~first


def _equal(labels: np.ndarray, label: Any) -> np.ndarray:
    if labels.dtype == object:
        return np.fromiter((item == label for item in labels), bool, labels.size)
    return np.asarray(labels == label)


def several_classes(labels: np.ndarray) -> np.ndarray:
    """Give the distinct labels, refusing a single one, and measurements."""
    classes = distinct(labels)
    if classes.size == 1:
        raise InputError(
            f"labels must be at least two classes, got 1 class ({classes.tolist()[0]!r})"
        )
    refuse_measurements(classes)
    return classes


def several_coded(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give what `several_classes` does, and what `as_few_codes` does for these labels."""
    found = None if labels.dtype == object else _few_coded(labels)
    if found is not None and found[0].size == 2:
        return found
    classes = several_classes(labels)
    return classes, as_few_codes(labels, classes)


def as_codes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Give for each label the place of its class."""
    if labels.dtype != object and classes.dtype != object:
        return np.searchsorted(classes, labels)
    places = {label: place for place, label in enumerate(classes.tolist())}
    return np.fromiter((places[label] for label in labels.tolist()), np.intp, labels.size)


def as_few_codes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Give for each label the place of its class; of two classes at most, in a byte each."""
    if classes.size > 2:
        return as_codes(labels, classes)
    return _of_the_second(labels, classes).view(np.int8)


# ---- weights


def example_weights(
    sample_weight: Any, class_weight: Any, codes: np.ndarray, classes: np.ndarray
) -> np.ndarray | None:
    """Give one weight from 0 on for each row, None if all of them are 1."""
    weights = None if sample_weight is None else some_weights(sample_weight, codes.size)
    if weights is not None:
        check_every_class(np.bincount(codes, weights, classes.size), classes)
    if class_weight is None:
        return weights
    totals = ALL_ONE if weights is None else weights
    factors: np.ndarray = class_factors(class_weight, classes, codes, totals)[codes]
    return factors if weights is None else weights * factors


def class_factors(
    class_weight: Any,
    classes: np.ndarray,
    codes: np.ndarray | None,
    weights: np.ndarray = ALL_ONE,
) -> np.ndarray:
    """Give the factor of each class; balanced ones make the total weights of classes equal.

    The codes are those of all examples, None where some are still to come.
    """
    if class_weight is None:
        return np.ones(classes.size)
    if isinstance(class_weight, dict):
        known = classes.tolist()
        strangers = [label for label in class_weight if label not in known]
        if strangers and codes is not None:  # a stream may bring them yet
            raise InputError(
                f"class_weight has the label {strangers[0]!r}, which is not one of the classes "
                f"({_some(classes)})"
            )
        return np.array([options.positive("class_weight", class_weight.get(k, 1.0)) for k in known])
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise InputError(
            "class_weight must be None, 'balanced' or a dict from label to a factor, "
            f"got {class_weight!r}"
        )
    if codes is None:
        raise InputError(
            "class_weight='balanced' needs all labels beforehand; "
            "give a dict of weights to learn from a stream"
        )
    totals = np.bincount(codes, weights if weights.size else None, classes.size)
    with np.errstate(divide="ignore"):  # a class of an earlier fit may have no rows in a warm one
        factors: np.ndarray = totals.sum() / (classes.size * totals)
    return np.where(np.isfinite(factors), factors, 1.0)


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


def check_every_class(totals: np.ndarray, classes: np.ndarray) -> None:
    """Refuse a class whose examples weigh nothing in all."""
    if not totals.all():
        label = classes.tolist()[int(np.argmin(totals))]
        raise InputError(
            f"every row of the class {label!r} has a sample_weight of 0; leave its rows out, or "
            "give one of them some weight"
        )
