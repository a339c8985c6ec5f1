"""`max_margin`: how wide is the widest street between two classes? Enclosed, with a proof.

Problem     γ = max over w of min z·w/‖w‖, with z = s·(x, 1) and ‖w‖ without the intercept (free),
            z = s·(x, c) and all of w in ‖w‖ (lifted), or z = s·x                     (theory D10)
Enclosure   lower: the margin of any one w. upper: ‖Σ λ·z‖ for any λ >= 0 with Σ λ = 1, whose class
            sums are 1/2 each where the intercept is free.
Method      floats find w and λ; both are taken for the exact numbers that they are, and what they
            prove is computed exactly. If that is no margin at all, `separate` decides whether there
            is one. If the ends are too far apart, or the problem is small, `hulls` goes on without
            rounding, and both ends become the floats around the true margin.
Rigour      no answer leaves without its certificate having passed the check
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certificate_fields import plain_number
from rosenblatt.certificates import Certificate, MarginInterval, Number, Separator
from rosenblatt.check.subjects import Labelled
from rosenblatt.check.verification import proven
from rosenblatt.checker import Refused
from rosenblatt.decide.answers import (
    SEPARABLE,
    UNDECIDED,
    UNPROVEN,
    Clock,
)
from rosenblatt.decide.separability.separate import decide
from rosenblatt.decide.separability.separation import Separation
from rosenblatt.decide.widest.enclosure import (
    Enclosure,
    lowest,
    scaled_to_floats,
    weights_from,
)
from rosenblatt.decide.widest.hulls import Hulls, Plane
from rosenblatt.decide.widest.interval import Margin
from rosenblatt.errors import InputError
from rosenblatt.exact.numbers import exact_matrix
from rosenblatt.exact.rounding import rounded_down
from rosenblatt.labels import as_labels, as_signs, two_classes
from rosenblatt.margin.hard import by_sweeps
from rosenblatt.margin.support import FEW_ROOM, HardMargin, SupportSearch
from rosenblatt.matrices import Matrix, check_finite
from rosenblatt.memory import DECISION_BYTES, check_columns
from rosenblatt.options import share
from rosenblatt.pauses import OutOfTimeError, pausing

NOT_SEPARABLE = "not separable"
SMALL = 50  # with so few coordinates, the exact margin costs a fraction of a second
MOST_ROWS = 200  # with more rows in a proof, exact arithmetic takes too long to be tried
MANY_ENTRIES = 10**6  # of data whose support takes longer to find than a separator
FINEST = 1e-11  # the narrowest gap that floats may be asked for


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

    See Also
    --------
    HardMarginSVM : The same hyperplane as a classifier.
    separate : Only whether there is a margin.
    verify : Check the certificate.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.max_margin([[0, 0], [1, 0], [3, 1], [3, -1]], [0, 0, 1, 1])
    >>> found.lower, found.upper, found.support.tolist()
    (1.0, 1.0, [1, 2, 3])
    >>> found.coef.tolist(), found.intercept
    ([1.0, 0.0], -2.0)
    """
    clock = Clock.of(max_seconds)
    try:
        with pausing(clock.left):
            matrix = exact_matrix(X)
    except OutOfTimeError:
        matrix = np.zeros((len(y), 1))  # in the place of what there is no time for
    check_columns(matrix.shape[1], DECISION_BYTES, "a decision about")
    check_finite(matrix)
    labels = as_labels(y, matrix.shape[0])
    classes = two_classes(labels)
    constant = _checked_lift(lift, fit_intercept)
    signs = as_signs(labels, classes)
    hulls = Hulls(matrix, signs, constant or 0, bool(fit_intercept) and constant is None)
    return _Search(hulls, classes, share("tol", tol), clock).answer()


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

    def __init__(self, hulls: Hulls, classes: np.ndarray, tol: float, clock: Clock) -> None:
        self.hulls, self.classes, self.tol, self.clock = hulls, classes, tol, clock
        self.best, self.fine = Enclosure(hulls), max(FINEST, tol / 2)
        self.small = hulls.dimension <= SMALL
        self.floats: HardMargin | None = None
        self.separation: Separation | None = None
        self.latest: Plane | None = None
        self.weighed: HardMargin | None = None  # whose weights were offered
        self.stop = ""

    def answer(self) -> Margin:
        """Search, and say what is known when that ends."""
        if self.clock.is_over:
            return self._margin(UNDECIDED, (0.0, math.inf), None, self.clock.why)
        try:
            with pausing(self.clock.left):
                self._search()
        except (OutOfTimeError, KeyboardInterrupt) as ended:
            self.stop = self.clock.stopped_by(ended)
            self._offer_what_is_left()
        if self.best.lower:
            return self._answer()
        if self.separation is None:
            self._decide()
        assert self.separation is not None
        return self._without_margin(self.separation)

    def _search(self) -> None:
        """Let floats find a separator; where they find none, ask whether there is one."""
        if self.clock.seconds is not None and self.hulls.entries > MANY_ENTRIES:
            self._decide()  # first, so that whatever `separate` knows by then is known
            if self.separation is not None and self.separation.verdict != SEPARABLE:
                return
        search = SupportSearch(*self._question())
        # If there is none, to find that out should not take longer than to decide it.
        found = search.run(self.fine, self.clock.left() / 2, FEW_ROOM)
        if self.small and found.gap < 1 and not found.interrupted:
            self.floats = found
            if self._exactly(weights_from(self.hulls, found.alphas)):
                return
        self._take(found)
        self.best.offer_direction(found.w, self.tol)
        if not self.best.lower and self.separation is None:
            self._decide()
        if self.best.lower:
            self._improve(search)

    def _improve(self, search: SupportSearch) -> None:
        """Go on until the ends are close enough."""
        if self.best.width > self.tol and not self.small:
            found = self._take(search.run(self.fine, self.clock.left()))
            self.best.offer_direction(found.w, self.tol)
        if self.best.width > self.tol and not self.small and len(self.best.weights) > MOST_ROWS:
            left = self.clock.left()
            found = self._take(by_sweeps(*self._question(), found.alphas, self.fine, left))
            self.best.offer_direction(found.w, self.tol)
        if self.small or (self.best.width > self.tol and len(self.best.weights) <= MOST_ROWS):
            self._exactly(self.best.weights)

    def _take(self, found: HardMargin) -> HardMargin:
        self.floats = found
        self.best.offer_weights(weights_from(self.hulls, found.alphas))
        self.weighed = found
        self.clock.interrupted |= found.interrupted
        self.clock.left()
        return found

    def _offer_what_is_left(self) -> None:
        """Take what was under way when the time was over."""
        if self.separation is not None and not self.best.lower:
            self._offer_separator(self.separation)
        if self.latest is not None:
            self.best.offer_weights(dict(zip(self.latest.rows, self.latest.weights, strict=True)))
            self.best.offer_w(self.latest.w)
        if self.floats is not None:
            if self.weighed is not self.floats:
                self.best.offer_weights(weights_from(self.hulls, self.floats.alphas))
            self.best.offer_direction(self.floats.w, self.tol)

    def _question(self) -> tuple[Matrix, np.ndarray, str, float]:
        """Give rows as floats, signs, the kind of intercept, and the lift."""
        hulls = self.hulls
        X, lift = scaled_to_floats(hulls)
        kind = "free" if hulls.free else "lifted" if hulls.lift else "none"
        return X, hulls.signs, kind, lift

    def _decide(self) -> None:
        """Ask whether there is a margin; take the separator, and the rows nearest to it."""
        hulls, lifted = self.hulls, bool(self.hulls.added)
        found = decide(hulls.X, hulls.signs, self.classes, lifted, self.clock)
        self.separation = found
        self._offer_separator(found)

    def _offer_separator(self, found: Separation) -> None:
        if found.verdict != SEPARABLE:
            return
        assert isinstance(found.certificate, Separator)
        hulls, w = self.hulls, list(found.certificate.w)
        if hulls.lift:
            w[-1] = Fraction(w[-1]) / Fraction(hulls.lift)
        self.best.offer_w(w)
        nearest = lowest(hulls, hulls.weights(w))
        self.best.offer_weights(dict(hulls.shared({i: Fraction(1) for i in nearest})))

    def _exactly(self, weights: dict[int, Number]) -> bool:
        """Find the nearest point without rounding; tell whether it is one apart from the origin."""
        heaviest = sorted(weights, key=weights.__getitem__, reverse=True)
        if not heaviest:
            return False
        first = {self.hulls.group(i): i for i in reversed(heaviest)}  # each hull needs a row
        chosen = {*heaviest[: 2 * self.hulls.dimension + 4], *first.values()}
        start = {i: weights[i] for i in chosen}

        def watch(plane: Plane) -> None:
            self.latest = plane
            self.clock.left()

        found = self.hulls.nearest(start, watch)
        if found is not None:
            self.best.settle(found)
        return found is not None

    # ---- answers

    def _answer(self) -> Margin:
        best = self.best
        certificate = self._certificate()
        if certificate is None:
            return self._margin(UNDECIDED, (0.0, math.inf), None, UNPROVEN)
        coef, intercept = best.unit()
        rows = sorted(best.weights)
        ends = rounded_down(Fraction(best.lower)), -rounded_down(-Fraction(best.upper))
        return replace(
            self._margin(SEPARABLE, ends, certificate, self.stop),
            width=best.width,
            coef=coef,
            intercept=intercept,
            support=np.array(rows, np.int64),
            weights=np.array([float(best.weights[i]) for i in rows]),
            squared=best.squared,
        )

    def _certificate(self) -> MarginInterval | None:
        """Give the first proof that passes the check; nothing leaves without one."""
        hulls = self.hulls
        subject = Labelled(hulls.X, hulls.signs)
        data = subject.named()
        for w, weights in self.best.proofs():
            rows = sorted(weights)
            certificate = MarginInterval(
                data=data,
                classes=tuple(self.classes.tolist()),
                intercept=hulls.free,
                w=tuple(w),
                lower=self.best.lower,
                rows=tuple(rows),
                weights=tuple(weights[i] for i in rows),
                upper=self.best.upper,
                lift=hulls.lift or None,
            )
            with suppress(Refused):
                proven(certificate, subject)
                return certificate
        return None

    def _without_margin(self, found: Separation) -> Margin:
        """Give the verdict of `separate`; its upper end holds for lifted rows too."""
        ends = (0.0, max(0.0, found.enclosure[1]))
        none = found.verdict == UNDECIDED and found.certificate is not None
        verdict = NOT_SEPARABLE if none else found.verdict
        return self._margin(verdict, ends, found.certificate, found.stop)

    def _margin(
        self, verdict: str, ends: tuple[float, float], certificate: Certificate | None, stop: str
    ) -> Margin:
        return Margin(
            verdict,
            *ends,
            float(ends[1] > 0),
            tuple(self.classes.tolist()),
            self.tol,
            certificate=certificate,
            lift=self.hulls.lift or None,
            separation=self.separation,
            stop=stop,
            seconds=self.clock.elapsed,
        )
