"""From a point, or from weights of rows, to a verdict whose certificate has passed the check.

Nothing leaves this room unchecked: where a proof does not hold on the data themselves, the answer
is undecided.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.blocks import in_blocks
from rosenblatt.certificates import (
    Certificate,
    Inseparability,
    NonSeparability,
    Number,
    Separator,
)
from rosenblatt.check.subjects import Labelled
from rosenblatt.check.verification import proven
from rosenblatt.checker import Refused
from rosenblatt.decide.answers import INSEPARABLE, SEPARABLE, UNDECIDED, UNPROVEN, WEAKLY, Clock
from rosenblatt.decide.separability.blame import Design, null_vectors
from rosenblatt.decide.separability.separation import Separation
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.products import signs_of_products, smallest, smallest_exactly
from rosenblatt.exact.rounding import (
    floats_of,
    nearest_float,
    norm_above,
    root_rounded_up,
    rounded_down,
)
from rosenblatt.exact.signed import SignedRows
from rosenblatt.exact.sums import weighted_sum
from rosenblatt.matrices import radius

# Makes a negative quotient by a norm that is rounded up a lower bound.
OUTWARDS = Fraction(1_000_001, 1_000_000)
Kinds = tuple[type[Separator], type[NonSeparability], type[Inseparability]]
Shares = dict[int, Fraction]  # positive weights by row


@dataclass(frozen=True)
class Asked:
    """Rows of two classes, as the certificate is to name them.

    Attributes
    ----------
    subject : the rows and signs that certificates are held against.
    classes : labels of the negative and of the positive class.
    lifted : whether hyperplanes may have an intercept.
    others : what becomes of rows of other classes, if there are any.
    kinds : of the certificates.
    """

    subject: Labelled
    classes: tuple[Any, ...]
    lifted: bool
    others: str | None = None
    kinds: Kinds = (Separator, NonSeparability, Inseparability)

    @property
    def rows(self) -> SignedRows:
        """The rows, with a coordinate for the intercept."""
        return self.subject.lifted(int(self.lifted))

    def named(self) -> dict[str, Any]:
        """Give the fields that all certificates share."""
        return {
            "data": self.subject.named(),
            "classes": self.classes,
            "intercept": self.lifted or self.subject.measured < self.subject.columns,
            "others": self.others,
        }


class Verdicts:
    """The answers to one question, and bounds of the margin that are known by now."""

    def __init__(self, asked: Asked, cone: SignedRows, clock: Clock) -> None:
        self.asked, self.cone, self.clock = asked, cone, clock
        self.rows = asked.rows
        self.X, self.signs, self.lift = self.rows.X, self.rows.signs, int(asked.lifted)
        self.separator, self.non_separability, self.inseparability = asked.kinds
        self.lower, self.upper = -math.inf, math.inf
        # Where intercepts stand among the columns, hulls of classes would have to balance them.
        self.enclosed = asked.subject.measured == self.X.shape[1]
        self.known: tuple[list[Number], float] | None = None

    # ---- points

    def least(self, point: list[Number]) -> float:
        """Give the smallest z·w, rounded down; kept, because the margin asks for it again."""
        if self.known is None or self.known[0] is not point:
            self.known = point, smallest(self.rows, point)[0]
        return self.known[1]

    def separable(self, point: list[Number]) -> Separation:
        """Answer by a point that is positive on all rows."""
        least: Number = self.least(point) or smallest_exactly(self.rows, point)
        if least <= 0:  # let no verdict out that the data themselves do not bear out
            return self.undecided(UNPROVEN)
        exact = Fraction(least) / Fraction(norm_above(point[: self.asked.subject.measured]))
        margin = rounded_down(exact)
        certificate = self.separator(**self.asked.named(), w=tuple(point), margin=margin or exact)
        return self._answer(SEPARABLE, point, margin, certificate, self._nearest_rows(point))

    def _nearest_rows(self, point: list[Number]) -> np.ndarray:
        products = self.cone.products_with(self.cone.nearby(point))
        if self.enclosed:
            self._enclose_by_nearest(products)
        least = products.min()
        return np.flatnonzero(products <= least + 1e-9 * abs(least))

    # ---- rows that sum to zero

    def weakly(self, point: list[Number], few: Shares) -> Separation:
        """Answer by a point that is negative on no row, and rows on which all such are zero."""
        self.lower, self.upper = 0.0, 0.0
        apart = np.flatnonzero(signs_of_products(self.rows, point))
        certificate = self.non_separability(**self._proof(few), w=tuple(point))
        return self._checked(self._answer(WEAKLY, point, 0.0, certificate, apart))

    def inseparable(self, weights: Shares, basis: np.ndarray) -> Separation:
        """Answer by rows that sum to zero, among them a basis of the span of all rows."""
        self.lower, self.upper = 0.0, 0.0
        used = set(self.cone.used.tolist())
        unused = tuple(j for j in range(self.cone.dimension) if j not in used)
        rest = null_vectors(self.cone, basis, self.cone.used.tolist(), self.clock.left)
        others = () if basis.size == len(used) else tuple(tuple(vector) for _, vector in rest)
        certificate = self.inseparability(**self._proof(weights), complement=others, unused=unused)
        named = np.array(sorted(weights), np.int64)
        return self._checked(self._answer(INSEPARABLE, None, 0.0, certificate, named))

    def _proof(self, shares: Shares) -> dict[str, Any]:
        """Give the fields of a proof by rows that sum to zero."""
        rows, total = sorted(shares), sum(shares.values(), Fraction(0))
        weights = tuple(shares[i] / total for i in rows)
        return {**self.asked.named(), "rows": tuple(rows), "weights": weights}

    def _checked(self, answer: Separation) -> Separation:
        """Let no verdict out whose proof does not pass the check."""
        assert answer.certificate is not None
        try:
            proven(answer.certificate, self.asked.subject)
        except Refused:
            return self.undecided(UNPROVEN)
        return answer

    # ---- what is known when the search ends

    def undecided(
        self,
        stop: str,
        clash: Shares | None = None,
        tried: list[Number] | None = None,
        steps: np.ndarray | None = None,
    ) -> Separation:
        """Tell what follows from rows that sum to zero, from a point, and from weights of rows."""
        certificate = None if clash is None else self._contradiction(clash)
        if certificate is not None:
            self.upper = 0.0
        elif steps is not None and self.enclosed:
            self._enclose_above(steps)
        if self.upper and tried is not None and any(tried[: self.asked.subject.measured]):
            norm = Fraction(norm_above(tried[: self.asked.subject.measured]))
            self.lower = rounded_down(Fraction(self.least(tried)) / norm * OUTWARDS)
        return Separation(
            UNDECIDED,
            self.asked.classes,
            enclosure=(self.lower, self.upper),
            certificate=certificate,
            stop=stop,
            design=self._design(),
            seconds=self.clock.elapsed,
        )

    def _contradiction(self, clash: Shares) -> NonSeparability | None:
        """Give the proof that nothing separates, if it holds."""
        found = self.non_separability(**self._proof(clash))
        with suppress(Refused):
            proven(found, self.asked.subject)
            return found
        return None

    def _enclose_by_nearest(self, products: np.ndarray) -> None:
        """Bound every margin by half the distance of two rows, or by the norm of one."""
        sides = (self.signs > 0, self.signs < 0) if self.lift else (self.signs != 0,)
        rows = [int(np.flatnonzero(side)[np.argmin(products[side])]) for side in sides]
        totals, unit = weighted_sum(self.X, rows, self.signs[rows].tolist())
        mean = Rationals([*totals.values()], unit * len(rows))
        self.upper = min(self.upper, root_rounded_up(mean.square()))

    def _enclose_above(self, steps: np.ndarray) -> None:
        """Bound every margin: half the distance of two points of the hulls, or one's norm."""
        weights = steps.copy()
        if not np.isfinite(weights).all():
            return
        for side in (self.signs > 0, self.signs < 0) if self.lift else (self.signs != 0,):
            if not weights[side].any():
                weights[side] = 1.0
            weights[side] /= weights[side].sum() * (2 if self.lift else 1)
        signed = weights * self.signs
        parts = in_blocks(lambda a, b: signed[a:b] @ self.X[a:b], signed.size, self.X.size)
        mean = np.asarray(sum(parts)).ravel()
        slack = 1 + 4e-16 * (self.cone.size + self.cone.dimension)
        largest = radius(self.X) * (4e-16 * self.cone.size)
        self.upper = min(self.upper, float(np.linalg.norm(mean)) * slack + largest)

    # ---- answers

    def _answer(
        self,
        verdict: str,
        point: list[Number] | None,
        margin: float,
        certificate: Certificate,
        rows: np.ndarray,
    ) -> Separation:
        width = self.X.shape[1]
        coef = intercept = None
        if point is not None:
            coef = floats_of(point[:width])
            intercept = nearest_float(point[width]) if self.lift else 0.0
        lower = max(self.lower, margin)
        return Separation(
            verdict,
            self.asked.classes,
            coef,
            intercept,
            margin,
            (lower, max(lower, self.upper)),
            certificate,
            rows,
            design=self._design(),
            seconds=self.clock.elapsed,
        )

    def _design(self) -> Design:
        return Design(self.X, self.signs, self.lift, None, (), self.clock.seconds)
