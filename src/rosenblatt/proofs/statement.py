"""What a certificate claims, in integers: what all writers of proofs begin with.

A writer needs rows z of integers, a positive weight for each row of a sum that is zero (or a
contradiction), and w.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.certificates import Certificate, Infeasible, Inseparability, Joint
from rosenblatt.check.subjects import JointLabelled, Labelled, System
from rosenblatt.checker import (
    CLASS,
    LOWER,
    NEGATIVE,
    POSITIVE,
    UPPER,
    Bounds,
    Claim,
    Row,
    as_number,
    bound_rows,
    integers,
    joint_rows,
)
from rosenblatt.exact.integers import Integers
from rosenblatt.exact.linear import solved
from rosenblatt.exact.numbers import exact_list, exact_row
from rosenblatt.exact.spans import pivots


class Statement(NamedTuple):
    """A certificate, and the data that it speaks of.

    Attributes
    ----------
    given : the certificate, as JSON has it.
    sentence : what it proves.
    claim : the data, with a row z of integers over a denominator for each row and bound; the last
        coordinate of z is the lift, or the right-hand side.
    samples : the rows as they are given; of many classes, `claim` has those of `joint_rows`.
    lift : what is put behind the numbers of a labelled row; 0 for nothing, and for systems.
    places, scales : the rows of the weighted sum, and what the integers of each are multiplied by.
    w, over : w, or the point, as integers over a denominator.
    """

    given: dict[str, Any]
    sentence: str
    claim: Claim
    samples: Sequence[Row]
    lift: Fraction
    places: list[int]
    scales: list[int]
    w: list[int]
    over: int

    @property
    def kind(self) -> str:
        """The kind of the certificate, be it about two classes or about many."""
        return str(self.given["kind"]).removeprefix("joint ")

    @property
    def classes(self) -> int:
        """The number of classes that it is about at once, 0 if these are two, or none."""
        return len(self.given["classes"]) if self.given["kind"] != self.kind else 0

    @property
    def counts(self) -> bool:
        """Whether the last number of w counts in its length."""
        return self.claim.measured > self.claim.columns

    def number(self, name: str) -> Fraction:
        """Give a number of the certificate."""
        return as_number(self.given[name], name)

    @property
    def is_system(self) -> bool:
        """Whether the data are a system, whose z end in right-hand sides."""
        return "classes" not in self.given

    def left(self, place: int) -> dict[int, int]:
        """Give the integers of a row that w is multiplied with."""
        z, _ = self.claim.z[place]
        return {j: a for j, a in z.items() if j < self.claim.columns or not self.is_system}

    def right(self, place: int) -> int:
        """Give the right-hand side of a row, 0 for a labelled one."""
        return self.claim.z[place][0].get(self.claim.columns, 0) if self.is_system else 0

    def value(self, place: int) -> Fraction:
        """Give the product of a row of integers and w, less its right-hand side."""
        product = sum(a * self.w[j] for j, a in self.left(place).items())
        return Fraction(product, self.over) - self.right(place)

    def radius(self) -> Fraction:
        """Give the square of the longest row."""
        return max(Fraction(sum(a * a for a in z.values()), q * q) for z, q in self.claim.z)


def rows_of(data: Labelled | System) -> tuple[list[Row], Bounds]:
    """Give data as the checker takes them: rows, and bounds."""
    X = data.given
    entries = [exact_row(X, i) for i in range(X.shape[0])]
    if isinstance(data, System):
        rows = zip(data.tags.tolist(), entries, exact_list(data.b), strict=True)
        return [Row(*row) for row in rows], data.pairs
    if isinstance(data, JointLabelled):
        tags = (CLASS + data.codes).tolist()
    else:
        tags = [POSITIVE if sign > 0 else NEGATIVE for sign in data.signs.tolist()]
    return [Row(*row) for row in zip(tags, entries, strict=True)], None


def stated(
    certificate: Certificate, rows: Sequence[Row], bounds: Bounds = None, sentence: str = ""
) -> Statement:
    """Give what a certificate claims in integers; whether it is true is not looked at."""
    given, columns = certificate.as_dict(), certificate.data.columns
    lift = Fraction(vars(certificate).get("lift") or given.get("intercept", 0))
    added = lift if "classes" in given else None
    every = [*rows, *bound_rows(bounds)]
    if isinstance(certificate, Joint):
        every = joint_rows(rows, columns, len(certificate.classes), bool(lift))
        columns, added = certificate.dimension, Fraction(0)
    claim = Claim(given, every, columns, added)
    places, weights = _weighted(certificate, claim)
    scales, _ = integers(Fraction(y) / claim.z[i][1] for i, y in zip(places, weights, strict=True))
    if isinstance(certificate, Inseparability):
        places, scales = _of_all_rows(claim, places, scales)
    w, over = claim.w(len(given["w"])) if given.get("w") else ([], 1)
    return Statement(given, sentence, claim, rows, lift, places, scales, w, over)


def _weighted(certificate: Certificate, claim: Claim) -> tuple[list[int], list[Any]]:
    """Give the rows that a certificate names, bounds counted on behind them, and their weights."""
    places = list(vars(certificate).get("rows", ()))
    weights = list(vars(certificate).get("weights", ()))
    if isinstance(certificate, Infeasible):
        for tag, side in ((LOWER, certificate.lower), (UPPER, certificate.upper)):
            bound = {row.entries[0][0]: i for i, row in enumerate(claim.rows) if row.tag == tag}
            places += [bound[j] for j in side[0]]
            weights += side[1]
    return places, weights


def _of_all_rows(claim: Claim, places: list[int], scales: list[int]) -> tuple[list[int], list[int]]:
    """Give positive weights for all rows whose sum is zero (Stiemke): a proof without ranks.

    The named rows span the others, so that the sum of these is a combination of those. What it
    lacks to be positive, the sum that is zero makes up for.
    """
    others = [i for i in range(len(claim.z)) if i not in set(places)]
    target = Counter[int]()
    for i in others:
        target.update(claim.z[i][0])
    named = _matrix([claim.z[i][0] for i in places], claim.dimension)
    base = pivots(named, lambda: None)
    K = named.part(np.array(base.rows, np.int64), np.array(base.columns, np.int64)).transposed()
    found = solved(K, [target[j] for j in base.columns], lambda: None)
    if found is None:
        raise ArithmeticError("rows are singular that a prime showed to be independent")
    taken = dict(zip(base.rows, found.numbers, strict=True))
    factor = max([1, *(taken[k] // scales[k] + 1 for k in base.rows)])
    made = [factor * scale - taken.get(k, 0) for k, scale in enumerate(scales)]
    return [*places, *others], [*made, *[found.denominator] * len(others)]


def _matrix(rows: list[dict[int, int]], width: int) -> Integers:
    starts = np.cumsum([0, *map(len, rows)])
    columns = [j for row in rows for j in row]
    entries = np.array([value for row in rows for value in row.values()], object)
    return Integers.of(starts, np.array(columns, np.int64), entries, width)
