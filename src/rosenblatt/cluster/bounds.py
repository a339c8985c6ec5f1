"""`mistake_bound` and `info` over shards."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.bounds.theorem import MistakeBound, Runs, check_radius
from rosenblatt.certificates import MistakeProof
from rosenblatt.cluster.connecting import on_engine
from rosenblatt.cluster.engine import Engine
from rosenblatt.cluster.inputs import shards_of
from rosenblatt.cluster.looks import Sides, hinge_parts
from rosenblatt.cluster.proofs import Coordinator, exactly
from rosenblatt.cluster.shards import Shard
from rosenblatt.cluster.survey import Survey, widened
from rosenblatt.cluster.svm import solver_for
from rosenblatt.data.info import Info
from rosenblatt.data.info import info as info_of
from rosenblatt.decide.answers import SEPARABLE, Clock
from rosenblatt.errors import InseparableError
from rosenblatt.exact.extremes import margins_of
from rosenblatt.learners.soft_margin import SoftMarginSVM
from rosenblatt.online.perceptron import ALL_ONE

ROUNDS = 60  # of the search for a comparator; the bound holds after any number of them
LENGTHS = np.geomspace(0.25, 4.0, 33)  # of comparators that are tried


def losses_of(shard: Shard, given: tuple[Sides, np.ndarray, float], _: None) -> np.ndarray:
    """Give Σ max(0, 1 - t·z·w) for several t."""
    sides, w, lift = given
    margins = margins_of(*sides.of(shard), w, lift, ALL_ONE)
    return np.array([np.maximum(0.0, 1.0 - t * margins).sum() for t in LENGTHS])


def mistake_bound(
    X: Any,
    y: Any = None,
    client: Any = None,
    *,
    fit_intercept: bool = True,
    lift: float = 1.0,
    passes: int | None = 1,
    read: dict[str, Any] | None = None,
) -> Any:
    """Bound the mistakes of any perceptron run on the rows of all shards, and prove it.

    Parameters
    ----------
    X, y, client, read :
        As for `separate`.
    fit_intercept : bool, default=True
        Whether the run learns an intercept, as the weight of a constant feature.
    lift : float, default=1.0
        That constant.
    passes : int or None, default=1
        The maximum number of times that a row is presented; None for any number, which needs
        separable classes.

    Returns
    -------
    MistakeBound
        As that of `rosenblatt.mistake_bound`; the certificate holds for the concatenated data.
    """
    shards = shards_of(X, y, exactly(read))
    constant = float(lift) if fit_intercept else 0.0

    def work(engine: Engine) -> MistakeBound:
        engine.put(shards)
        return _bounded(Coordinator(engine), constant, passes)

    return on_engine(client, work)


def _bounded(on: Coordinator, lift: float, passes: int | None) -> MistakeBound:
    check_radius(on.survey.radius)
    w = _separator(on, lift) if passes is None else _comparator(on, lift, passes)
    claim = MistakeProof(
        data=on.data(),
        classes=tuple(on.sides.classes.tolist()),
        lift=lift,
        w=tuple(w.tolist()),
        passes=passes,
        bound=1e308,  # until it is known
    )
    square, loss = _parts(on, claim)
    norm = sum((Fraction(value) ** 2 for value in w.tolist()), Fraction(0))
    exact = (square + Fraction(lift) ** 2) * norm + 2 * (passes or 0) * loss
    value = math.nextafter(float(exact), math.inf)
    proof = MistakeProof(**{**vars(claim), "bound": value})
    run = Runs(lift, np.zeros(1)).described(passes)
    radius = math.sqrt(float(square) + lift**2) * (1 + 1e-15)
    theorem = 2 if passes is not None else 1
    margin = math.nan if passes is not None else 1 / float(np.linalg.norm(w))
    found = MistakeBound(value, radius, margin, float(loss), w, run, theorem, passes)
    if not on.verified(proof).ok:
        return found
    return MistakeBound(**{**vars(found), "certificate": proof})


def _parts(on: Coordinator, claim: MistakeProof) -> tuple[Fraction, Fraction]:
    """Give max ‖x‖² and the loss, rounded up."""
    for surely in (False, True):
        parts = list(on.engine.map(hinge_parts, (on.sides, claim, surely)))
        if all(part is not None for part in parts):
            square = max(part[0][1] for part in parts)
            return square, sum((part[1][1] for part in parts), Fraction(0))
    raise AssertionError("exact sums are there")


def _comparator(on: Coordinator, lift: float, passes: int) -> np.ndarray:
    """Minimise Theorem 2, and take the best multiple of what was found."""
    square = on.survey.radius**2 + lift**2
    kind = "lifted" if lift else "none"
    learner = SoftMarginSVM(
        lam=square / (2 * passes), intercept=kind, lift=lift or 1.0, tol=0.005, max_iter=ROUNDS
    )
    solver = solver_for(on.survey.width)
    answer = solver(learner, on.engine, on.survey, 1, None, None, math.inf).solve()
    w = answer.w[0]
    w[-1] = w[-1] / lift if lift else 0.0
    losses = np.sum(list(on.engine.map(losses_of, (on.sides, w, lift))), axis=0)
    values = square * LENGTHS**2 * float(w @ w) + 2 * passes * losses
    return np.asarray(w * LENGTHS[int(values.argmin())])


def _separator(on: Coordinator, lift: float) -> np.ndarray:
    """Give a comparator without a loss."""
    found = on.decide(lift > 0, Clock())
    if found.verdict != SEPARABLE:
        raise InseparableError(
            "no hyperplane separates these data, so that no bound holds for any number of passes; "
            "give the number of passes (passes=)",
            found,
        )
    assert found.coef is not None
    assert found.intercept is not None
    w = np.append(found.coef, found.intercept / lift if lift else 0.0)
    least = found.margin * float(np.linalg.norm(found.coef))
    return np.asarray(w / least * (1 + 1e-9))


class Described(NamedTuple):
    """Facts about a shard, and the range of each column."""

    info: Info
    entries: int
    low: np.ndarray
    high: np.ndarray


def described_rows(shard: Shard, width: int, _: None) -> Described:
    """Describe a shard."""
    X = widened(shard.examples.X, width)
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    entries = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return Described(info_of(X, shard.examples.y), int(entries), low, high)


def info(X: Any, y: Any = None, client: Any = None, *, read: dict[str, Any] | None = None) -> Any:
    """Describe the rows of all shards.

    Parameters
    ----------
    X, y, client, read :
        As for `separate`; labels may be missing.

    Returns
    -------
    Info
        As that of `rosenblatt.info`; duplicates and contradictions are those within a shard.
    """
    shards = shards_of(X, y, exactly(read), needs_labels=False)

    def work(engine: Engine) -> Info:
        engine.put(shards)
        survey = Survey.of(engine, needs_labels=False)
        return _joined(survey, list(engine.map(described_rows, survey.width)))

    return on_engine(client, work)


def _joined(survey: Survey, parts: list[Described]) -> Info:
    classes: dict[Any, int] | None = None
    if parts[0].info.classes is not None:
        classes = {}
        for part in parts:
            for label, count in (part.info.classes or {}).items():
                classes[label] = classes.get(label, 0) + count
        classes = dict(sorted(classes.items(), key=lambda item: -item[1]))
    pairs = zip(survey.firsts, parts, strict=True)
    clashes = [(first, part.info.contradiction) for first, part in pairs]
    low = np.min([part.low for part in parts], axis=0)
    high = np.max([part.high for part in parts], axis=0)
    return Info(
        rows=survey.rows,
        columns=survey.width,
        classes=classes,
        density=sum(part.entries for part in parts) / (survey.rows * survey.width),
        radius=survey.radius,
        duplicates=sum(part.info.duplicates for part in parts),
        constant_columns=int(np.count_nonzero(low == high)),
        contradiction=next(((f + p[0], f + p[1]) for f, p in clashes if p), None),
        contradicting_rows=sum(part.info.contradicting_rows for part in parts),
        memory=survey.nbytes,
    )
