"""`max_margin`: how wide is the widest street between two classes? Enclosed, with a proof.

Problem     γ = max over w of min z·w/‖w‖, with z = s·(x, 1) and ‖w‖ without the intercept (free),
            z = s·(x, c) and all of w in ‖w‖ (lifted), or z = s·x                     (theory D10)
Enclosure   lower: the margin of any one w. upper: ‖Σ λ·z‖ for any λ >= 0 with Σ λ = 1, whose class
            sums are 1/2 each where the intercept is free.
Method      `separate` decides whether there is a margin at all. Floats then find w and λ; both are
            taken for the exact numbers that they are, and what they prove is computed exactly. If
            the ends are too far apart, or the problem is small, `hulls` goes on without rounding,
            and both ends become the floats around the true margin.
Rigour      no answer leaves without its certificate having passed the check
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from rosenblatt.certificate_fields import plain_number
from rosenblatt.certificates import Certificate, MarginInterval, Number
from rosenblatt.checker import Refused
from rosenblatt.decide.answers import (
    REASONS,
    UNPROVEN,
    Clock,
    OutOfTimeError,
    checked_seconds,
)
from rosenblatt.decide.check import proven
from rosenblatt.decide.enclosure import Enclosure
from rosenblatt.decide.exact import exact_matrix, is_exact, rounded_down
from rosenblatt.decide.hand import Labelled
from rosenblatt.decide.hulls import Hulls, Plane
from rosenblatt.decide.margin_floats import (
    candidates,
    lowest,
    rough,
    scaled_to_floats,
    unit,
    weights_from,
)
from rosenblatt.decide.separate import decide
from rosenblatt.decide.separation import SEPARABLE, UNDECIDED, Separation, listed
from rosenblatt.errors import InputError
from rosenblatt.labels import as_labels, as_signs, two_classes
from rosenblatt.margin.hard import hard_margin
from rosenblatt.matrices import Matrix, check_finite
from rosenblatt.memory import DECISION_BYTES, check_columns

NOT_SEPARABLE = "not separable"
SMALL = 50  # with so few coordinates, the exact margin costs a fraction of a second
MOST_ROWS = 200  # with more rows in a proof, exact arithmetic takes too long to be tried
FINEST = 1e-11  # the narrowest gap that floats may be asked for
SHARES = (1e-4, 1e-8, 1e-14)  # weights below such a share of the largest are left out


@dataclass(frozen=True)
class Margin:
    """The largest margin of two classes, between two proven ends.

    Attributes
    ----------
    verdict : {"separable", "weakly separable", "inseparable", "not separable", "undecided"}
        As in `Separation`; "not separable" if it was left open whether the classes are weakly
        separable.
    lower : float
        The largest margin is at least this; 0 if nothing separates the classes.
    upper : float
        The largest margin is at most this; 0 if nothing separates the classes.
    width : float
        (upper - lower) / upper.
    coef : ndarray of shape (n_features,) or None
        The hyperplane x·coef + intercept = 0 with margin `lower`, scaled so that
        x·coef + intercept is the distance, positive for the second class; None unless separable.
    intercept : float or None
        Likewise.
    support : ndarray of int
        The samples whose weighted mean proves the upper bound (the support vectors).
    weights : ndarray of float
        Their weights, positive and of sum 1.
    certificate : Certificate or None
        The proof, for `verify`; that of `separate` if nothing separates the classes, None if
        undecided.
    squared : Fraction or None
        The square of the largest margin, where it was found without rounding.
    classes : tuple of two labels
        The second one is positive.
    tol : float
        The width that was asked for.
    lift : number or None
        The constant of the added coordinate, None for none.
    separation : Separation or None
        The answer of `separate`.
    stop : str
        Why the search ended before the bounds were as close as asked for, if it did.
    seconds : float
        The time taken.
    """

    verdict: str
    lower: float
    upper: float
    width: float
    coef: np.ndarray | None
    intercept: float | None
    support: np.ndarray
    weights: np.ndarray
    certificate: Certificate | None
    squared: Fraction | None
    classes: tuple[Any, Any]
    tol: float
    lift: Number | None = None
    separation: Separation | None = field(compare=False, repr=False, default=None)
    stop: str = ""
    seconds: float = field(compare=False, default=0.0)

    def explain(self) -> str:
        """Explain the result.

        Returns
        -------
        str
            A paragraph.
        """
        return explain(self)

    def __str__(self) -> str:
        return self.explain()


def max_margin(
    X: Any,
    y: Any,
    fit_intercept: bool = True,
    tol: float = 1e-6,
    *,
    lift: Any = None,
    max_seconds: float | None = None,
) -> Margin:
    """Bound the largest margin between two classes from both sides, and prove it (theory D10).

    With up to 50 features the two bounds are neighbouring floats, or the same one. If nothing
    separates the classes, both are 0, and the certificate is that of `separate`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples, as for `separate`; nothing is rounded.
    y : array-like of shape (n_samples,)
        The labels, of two classes.
    fit_intercept : bool, default=True
        Whether hyperplanes may have an intercept; if not, they pass through the origin.
    tol : float, default=1e-6
        How far apart the two bounds may be, relative to the upper one.
    lift : float or None, default=None
        Add a constant feature c > 0 and find the margin of the rows (x, c) with hyperplanes
        through the origin, as for an SVM that penalises its intercept. None for a free intercept.
    max_seconds : float or None, default=None
        The time limit, after which the answer is what is known by then, as it is after Ctrl-C.

    Returns
    -------
    Margin
        A lower and an upper bound, the hyperplane and the proof.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.max_margin([[0, 0], [1, 0], [3, 1], [3, -1]], [0, 0, 1, 1])
    >>> found.lower, found.upper, found.support.tolist()
    (1.0, 1.0, [1, 2, 3])
    >>> found.coef.tolist(), found.intercept
    ([1.0, 0.0], -2.0)
    """
    matrix = exact_matrix(X)
    check_columns(matrix.shape[1], DECISION_BYTES, "a decision about")
    if not is_exact(matrix):
        check_finite(matrix)
    labels = as_labels(y, matrix.shape[0])
    classes = two_classes(labels)
    constant = _checked_lift(lift, fit_intercept)
    clock = Clock(checked_seconds(max_seconds))
    signs = as_signs(labels, classes)
    hulls = Hulls(matrix, signs, constant or 0, bool(fit_intercept) and constant is None)
    search = _Search(hulls, _checked_tol(tol), constant, clock)
    return search.answer(decide(matrix, signs, classes, fit_intercept, clock))


def _checked_tol(tol: Any) -> float:
    real = isinstance(tol, Real) and not isinstance(tol, bool)
    if not (real and 0 < tol < 1):
        raise InputError(f"tol must be a number between 0 and 1, got {tol!r}")
    return float(tol)


def _checked_lift(lift: Any, fit_intercept: bool) -> Number | None:
    if lift is None:
        return None
    constant = plain_number(lift)
    if constant is None or constant <= 0:
        raise InputError(f"lift must be a positive number, or None for none, got {lift!r}")
    if not fit_intercept:
        raise InputError("lift stands for an intercept; leave it out or let fit_intercept be True")
    return constant


# ---- the search


class _Search:
    """One question, and how its answer is found."""

    def __init__(self, hulls: Hulls, tol: float, lift: Number | None, clock: Clock) -> None:
        self.hulls, self.tol, self.lift, self.clock = hulls, tol, lift, clock
        self.best = Enclosure(hulls)
        self.latest: Plane | None = None
        self.stop = ""

    def answer(self, found: Separation) -> Margin:
        """Go on from what `separate` has found."""
        if found.verdict != SEPARABLE:
            return self._without_margin(found)
        assert isinstance(found.certificate, Certificate)
        self._begin(list(vars(found.certificate)["w"]))
        try:
            self._improve()
        except (OutOfTimeError, KeyboardInterrupt) as ended:
            self.stop = self.clock.stopped_by(ended)
            if self.latest is not None:
                self.best.offer_weights(dict(zip(*self.latest[1:], strict=True)))
                self.best.offer_w(self.latest.w)
        return self._answer(found)

    def _begin(self, w: list[Number]) -> None:
        """Take the separator, and the rows that are nearest to it."""
        hulls = self.hulls
        if self.lift is not None:
            w[-1] = Fraction(w[-1]) / Fraction(self.lift)
        self.best.offer_w(w)
        products = rough(hulls, w)
        self.near = products.max() - products
        nearest = lowest(hulls, products)
        self.best.offer_weights({i: Fraction(1) for i in nearest})

    def _improve(self) -> None:
        small = self.hulls.width <= SMALL
        scaled = scaled_to_floats(self.hulls)
        duals = None
        for fineness in (1.0, 1e-3):
            duals = self._in_floats(scaled, max(FINEST, self.tol / 2 * fineness), duals)
            if small or self.best.width <= self.tol:
                break
        if small or (self.best.width > self.tol and len(self.best.weights) <= MOST_ROWS):
            self._exactly()

    def _in_floats(
        self, scaled: tuple[Matrix, float], tol: float, duals: np.ndarray | None
    ) -> np.ndarray:
        """Let floats find w and the weights."""
        (X, lift), hulls = scaled, self.hulls
        kind = "free" if hulls.free else "lifted" if hulls.lift else "none"
        left = self.clock.left()
        found = hard_margin(
            X,
            hulls.signs,
            intercept=kind,
            lift=lift if hulls.lift else 1.0,
            tol=tol,
            start=duals,
            near=self.near,
            max_seconds=None if left == math.inf else left,
        )
        for share in SHARES:
            weights = weights_from(hulls, found.alphas, share)
            if weights:
                self.best.offer_weights(weights)
            if self.best.width <= self.tol:
                break
        for w in candidates(hulls, found.w):
            self.best.offer_w(w)
            if self.best.width <= self.tol:
                break
        return np.asarray(found.alphas)

    def _exactly(self) -> None:
        heaviest = sorted(self.best.weights, key=self.best.weights.__getitem__, reverse=True)
        first = {self.hulls.group(i): i for i in reversed(heaviest)}  # each hull needs a row
        chosen = {*heaviest[: 2 * self.hulls.width + 4], *first.values()}
        start = {i: self.best.weights[i] for i in chosen}

        def watch(plane: Plane) -> None:
            self.latest = plane
            self.clock.left()

        self.best.settle(self.hulls.nearest(start, watch))

    # ---- answers

    def _answer(self, found: Separation) -> Margin:
        best = self.best
        certificate = self._certificate(found)
        if certificate is None:
            return self._margin(found, UNDECIDED, (0.0, math.inf), None, UNPROVEN)
        coef, intercept = unit(self.hulls, best.w)
        rows = sorted(best.weights)
        return Margin(
            SEPARABLE,
            rounded_down(Fraction(best.lower)),
            -rounded_down(-Fraction(best.upper)),
            best.width,
            coef,
            intercept,
            np.array(rows, np.int64),
            np.array([float(best.weights[i]) for i in rows]),
            certificate,
            best.squared,
            found.classes,
            self.tol,
            self.lift,
            found,
            self.stop,
            self._elapsed(),
        )

    def _certificate(self, found: Separation) -> MarginInterval | None:
        """Give the first proof that passes the check; nothing leaves without one."""
        assert found.certificate is not None
        hulls = self.hulls
        for w, weights in self.best.proofs():
            rows = sorted(weights)
            certificate = MarginInterval(
                data=found.certificate.data,
                classes=found.classes,
                intercept=hulls.free,
                w=tuple(w),
                lower=self.best.lower,
                rows=tuple(rows),
                weights=tuple(weights[i] for i in rows),
                upper=self.best.upper,
                lift=self.lift,
            )
            with suppress(Refused):
                proven(certificate, Labelled.of(hulls.X, hulls.signs))
                return certificate
        return None

    def _without_margin(self, found: Separation) -> Margin:
        """Give the verdict of `separate`; its upper end holds for lifted rows too."""
        ends = (0.0, max(0.0, found.enclosure[1]))
        none = found.verdict == UNDECIDED and found.certificate is not None
        verdict = NOT_SEPARABLE if none else found.verdict
        return self._margin(found, verdict, ends, found.certificate, found.stop)

    def _margin(
        self,
        found: Separation,
        verdict: str,
        ends: tuple[float, float],
        certificate: Certificate | None,
        stop: str,
    ) -> Margin:
        return Margin(
            verdict,
            *ends,
            float(ends[1] > 0),
            None,
            None,
            np.zeros(0, np.int64),
            np.zeros(0),
            certificate,
            None,
            found.classes,
            self.tol,
            self.lift,
            found,
            stop,
            self._elapsed(),
        )

    def _elapsed(self) -> float:
        return time.perf_counter() - self.clock.began


# ---- for people


def explain(found: Margin) -> str:
    """Tell what was found, in a paragraph."""
    a, b = found.classes
    if found.verdict == UNDECIDED:
        known = f", but it is at most {_shown(found.upper, ROUND_CEILING)}"
        known = known if found.upper < math.inf else ""
        return (
            f"Undecided: it is not known whether the classes {a!r} and {b!r} have a margin at "
            f"all{known}: {REASONS[found.stop]}."
        )
    if found.verdict != SEPARABLE:
        return (
            f"There is no margin: the classes {a!r} and {b!r} are {found.verdict}, which the "
            "certificate proves."
            + (f" Whether weakly is undecided: {REASONS[found.stop]}." if found.stop else "")
        )
    return f"{_interval(found)} {_reasons(found)}{_shortfall(found)}"


def _interval(found: Margin) -> str:
    a, b = found.classes
    least, most = _shown(found.lower, ROUND_FLOOR), _shown(found.upper, ROUND_CEILING)
    ends = f"between {least} and {most}" if least != most else f"exactly {least}"
    lifted = "" if found.lift is None else f", for rows lifted by {float(found.lift):g},"
    return f"The largest margin between the classes {a!r} and {b!r}{lifted} is {ends}."


def _reasons(found: Margin) -> str:
    resting = listed("row", found.support)
    return (
        "The hyperplane has at least the lower margin; none has more than the upper one, because a "
        f"weighted mean of {resting}, with those of {found.classes[0]!r} negated, has at most that "
        "norm."
    )


def _shortfall(found: Margin) -> str:
    if found.squared is not None or found.width <= found.tol:
        return ""
    return (
        f" The relative width is {found.width:.2g}, not the {found.tol:.2g} asked for: "
        f"{REASONS.get(found.stop, 'the problem is too large for exact arithmetic')}."
    )


def _shown(value: float, rounding: str) -> str:
    """Write nine digits, rounded so that what is said of them stays true."""
    return str(
        Context(9, rounding, MIN_EMIN, MAX_EMAX).create_decimal_from_float(value).normalize()
    )
