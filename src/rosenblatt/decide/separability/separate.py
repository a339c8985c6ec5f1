"""`separate`: can a hyperplane tell two classes apart? With a proof of the answer (theory D9)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np

from rosenblatt.check.subjects import Labelled
from rosenblatt.decide.answers import UNDECIDED, Clock
from rosenblatt.decide.separability.formulas import designed
from rosenblatt.decide.separability.joint import JointSeparation, as_joint, decide_jointly
from rosenblatt.decide.separability.question import Question
from rosenblatt.decide.separability.separation import Separation
from rosenblatt.decide.separability.verdicts import Asked
from rosenblatt.errors import InputError
from rosenblatt.exact.numbers import exact_matrix
from rosenblatt.labels import as_codes, as_labels, as_objects, as_signs, distinct, two_classes
from rosenblatt.matrices import Matrix, check_finite
from rosenblatt.memory import DECISION_BYTES, check_columns
from rosenblatt.names import names_of
from rosenblatt.outcomes import BINOMIAL, Outcomes, counted
from rosenblatt.pauses import OutOfTimeError, pausing


@overload
def separate(
    X: Any = ...,
    y: Any = ...,
    *,
    fit_intercept: bool = ...,
    max_seconds: float | None = ...,
    many: None = None,
    family: str | None = ...,
    formula: str | None = ...,
    data: Any = ...,
) -> Separation: ...


@overload
def separate(
    X: Any = ...,
    y: Any = ...,
    *,
    fit_intercept: bool = ...,
    max_seconds: float | None = ...,
    many: Literal["joint"],
    family: str | None = ...,
    formula: str | None = ...,
    data: Any = ...,
) -> JointSeparation: ...


@overload
def separate(
    X: Any = ...,
    y: Any = ...,
    *,
    fit_intercept: bool = ...,
    max_seconds: float | None = ...,
    many: Literal["pairs", "rest"],
    family: str | None = ...,
    formula: str | None = ...,
    data: Any = ...,
) -> dict[Any, Separation]: ...


def separate(
    X: Any = None,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    many: str | None = None,
    family: str | None = None,
    formula: str | None = None,
    data: Any = None,
) -> Any:
    """Decide whether a hyperplane separates two classes, and prove the answer.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), default=None
        The samples; also a data frame, a design matrix of patsy or formulaic, or nested lists of
        Python integers and fractions. Nothing is rounded.
    y : array-like of shape (n_samples,), default=None
        The labels; or counts of a `family`.
    fit_intercept : bool, default=True
        Whether hyperplanes may have an intercept; if not, they pass through the origin.
    max_seconds : float or None, default=None
        The time limit, after which the verdict is "undecided", as it is after Ctrl-C.
    many : {"pairs", "rest", "joint"} or None, default=None
        For more than two classes: ``"pairs"`` decides each pair of classes, ``"rest"`` each class
        against all others, ``"joint"`` all of them at once, by weights for each class: the
        question of a multinomial logit.
    family : {"binomial", "poisson"} or None, default=None
        What y counts, if it holds no labels. ``"binomial"``: a pair ``(successes, trials)``, or a
        table of these two columns. ``"poisson"``: counts, for a regression with log link; only
        rows with a count of 0 can cause separation.
    formula : str or None, default=None
        A formula such as ``"ill ~ age + C(site)*dose"`` about the columns of `data`, in place of X
        and y; it says whether there is an intercept. It needs ``pip install
        'rosenblatt[formulas]'``.
    data : DataFrame or None, default=None
        The frame of pandas or Polars that the formula is about. As in R, rows with missing values
        do not count.

    Returns
    -------
    Separation, JointSeparation or dict of Separation
        The second for all classes at once. A dict for pairs, and for each against the rest: by
        pair of labels, or by label; each certificate in it holds for the whole of X and y.

    See Also
    --------
    check_separation : The same question about a model of statsmodels or scikit-learn.
    max_margin : How wide the gap between the classes can be.
    solve : The same about any system of inequalities.
    verify : Check the certificate.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> found.verdict, found.rows.tolist()
    ('inseparable', [0, 1, 2, 3])
    >>> rb.verify(found.certificate, [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).ok
    True
    """
    if formula is not None or data is not None:
        if X is not None or y is not None:
            raise InputError("give X and y, or a formula and data, not both")
        return _by_formula(formula, data, max_seconds=max_seconds, many=many, family=family)
    clock = Clock.of(max_seconds)
    try:
        with pausing(clock.left):
            matrix, names = exact_matrix(X), names_of(X) or ()
    except OutOfTimeError:
        return _all_unknown(as_labels(y, len(y)), many, clock)
    check_columns(matrix.shape[1], DECISION_BYTES, "a decision about")
    check_finite(matrix)
    outcomes = counted(y, matrix.shape[0], family)
    if outcomes is not None:
        if many is not None:
            raise InputError(f"many is for classes, and y counts; leave out many={many!r}")
        found = _of_counts(matrix, outcomes, fit_intercept, clock)
        return replace(found, names=names, family=family or BINOMIAL)
    labels = as_labels(y, matrix.shape[0])
    if many is None:
        classes = two_classes_or_advice(labels)
        found = decide(matrix, as_signs(labels, classes), classes, fit_intercept, clock)
        return replace(found, names=names)
    if many not in ("pairs", "rest", "joint"):
        raise InputError(f"many must be None, 'pairs', 'rest' or 'joint', got {many!r}")
    classes = distinct(labels)
    if classes.size < 2:
        two_classes(labels)  # which says what is wrong
    if many == "joint":
        return replace(decide_jointly(matrix, labels, classes, fit_intercept, clock), names=names)
    answers = _each(matrix, labels, classes, many, fit_intercept, clock)
    return {label: replace(answer, names=names) for label, answer in answers.items()}


def _of_counts(X: Matrix, given: Outcomes, fit_intercept: bool, clock: Clock) -> Separation:
    """Decide about counts, by rows that may stand in both classes."""
    classes = as_objects([*given.classes])
    found = decide(X[given.places], given.signs, classes, fit_intercept, clock)
    return replace(found, rows=np.unique(given.places[found.rows]), places=given.places)


def _by_formula(formula: Any, data: Any, **options: Any) -> Any:
    """Decide about the design of a formula; rows are those of the data."""
    found = designed(formula, data)
    answer: Any = separate(found.X, found.y, fit_intercept=found.intercept, **options)
    if isinstance(answer, Separation):
        return replace(answer, rows=found.rows[answer.rows])
    return {label: replace(one, rows=found.rows[one.rows]) for label, one in answer.items()}


def _all_unknown(labels: np.ndarray, many: str | None, clock: Clock) -> Any:
    """Answer when the time was over before the numbers had been looked at."""
    if many is None:
        return _unknown(two_classes_or_advice(labels).tolist(), clock)
    classes = distinct(labels).tolist()
    if many == "joint":
        return as_joint(_unknown(classes, clock))
    return {key: _unknown(names, clock) for key, names in _named(classes, many).items()}


def _unknown(classes: Sequence[Any], clock: Clock) -> Separation:
    """Answer a question that there is no time for."""
    return Separation(UNDECIDED, tuple(classes), stop=clock.why, seconds=clock.elapsed)


def two_classes_or_advice(labels: np.ndarray) -> np.ndarray:
    """Give the two classes; if there are more, say how to go about them."""
    count = distinct(labels).size
    if count > 2 and not (labels.dtype.kind == "f" and np.any(labels != np.floor(labels))):
        raise InputError(
            f"separate decides about two classes, got {count}; give many='pairs' to decide each "
            "pair of them, many='rest' for each against the others, or many='joint' for all at once"
        )
    return two_classes(labels)


def _named(classes: Sequence[Any], many: str) -> dict[Any, tuple[Any, Any]]:
    """Name the negative and the positive class of each pair, or of each class and the rest."""
    if many == "pairs":
        return {pair: pair for pair in itertools.combinations(classes, 2)}
    return {label: (f"not {label}", label) for label in classes}


def _each(
    X: Matrix,
    labels: np.ndarray,
    classes: np.ndarray,
    many: str,
    fit_intercept: bool,
    clock: Clock,
) -> dict[Any, Separation]:
    """Decide each pair of classes, or each class against the rest."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    codes, found = as_codes(labels, classes), dict[Any, Separation]()
    for key, names in _named([*places], many).items():
        if clock.is_over:
            found[key] = _unknown(names, clock)
            continue
        signs = np.where(codes == places[names[1]], 1, -1).astype(np.int8)
        if many == "rest":
            found[key] = decide(X, signs, as_objects([*names]), fit_intercept, clock, "negative")
            continue
        rows = np.flatnonzero((signs > 0) | (codes == places[names[0]]))
        pair = as_objects([*names])
        answer = decide(X[rows], signs[rows], pair, fit_intercept, clock, "left out")
        design = answer.design and replace(answer.design, X=X, chosen=rows)  # without the copy
        found[key] = replace(answer, rows=rows[answer.rows], design=design)
    return found


def decide(
    X: Matrix,
    signs: np.ndarray,
    classes: np.ndarray,
    fit_intercept: bool,
    clock: Clock,
    others: str | None = None,
) -> Separation:
    """Decide about rows that were checked, in what is left of the time.

    The certificate says what becomes of rows of `others`, if there are more than two classes.
    """
    asked = Asked(Labelled(X, signs), tuple(classes.tolist()), bool(fit_intercept), others)
    return Question(asked, clock).answer()
