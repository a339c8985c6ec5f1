"""What each kind of certificate claims, checked on data in hand.

A claim about all rows is settled by products in float64 with their error bounds, and exactly for
the rows that these leave open; a claim about the named rows, in Python's integers. Every answer is
that of `rosenblatt.checker`, which does all of it in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certificate_fields import Number
from rosenblatt.certificates import (
    Certificate,
    Feasible,
    Infeasible,
    Inseparability,
    JointInseparability,
    JointNonSeparability,
    JointSeparator,
    MarginInterval,
    MistakeProof,
    NonSeparability,
    Separator,
)
from rosenblatt.check.hinges import hinge_bound_holds
from rosenblatt.check.subjects import Labelled, System, used_columns
from rosenblatt.checker import Refused
from rosenblatt.exact.digest import EQUAL, LOWER, MORE_THAN
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.products import ZERO
from rosenblatt.exact.ranks import rank_reaches
from rosenblatt.exact.rounding import six_digits
from rosenblatt.exact.sums import Totals, exact_sum, weighted_sum
from rosenblatt.exact.weights import Weights


def require(condition: object, reason: str) -> None:
    """Refuse the certificate unless a condition holds."""
    if not condition:
        raise Refused(reason)


def separator(claim: Separator, data: Labelled) -> str:
    """Check that w separates."""
    _require_margin(claim, data, claim.margin, "margin")
    return f"w separates with a margin of at least {six_digits(claim.margin, ROUND_FLOOR)}"


def non_separability(claim: NonSeparability, data: Labelled) -> str:
    """Check that a mean is zero and that w, if there is one, separates weakly."""
    _require_zero_mean(claim, data)
    if claim.w is None:
        return "no hyperplane separates the classes"
    signs = data.compare(Weights.of(claim.w, data.columns), ZERO)
    require(signs.min() >= 0, f"w is on the wrong side of row {signs.argmin()}")
    require(signs.max() > 0, "w is orthogonal to every row")
    return "no hyperplane separates the classes, but w does weakly"


def inseparability(claim: Inseparability, data: Labelled) -> str:
    """Check that a mean is zero, and that its rows span all rows."""
    _require_zero_mean(claim, data)
    unused = list(claim.unused)
    used = np.append(used_columns(data.X), claim.added)
    require(not used[unused].any(), "a row has an entry in an unused coordinate")
    complement = [Rationals.of(vector).numbers for vector in claim.complement]
    vectors = [{j: p for j, p in enumerate(vector) if p} for vector in complement]
    apart = all(set(unused).isdisjoint(vector) for vector in vectors)
    require(apart, "a vector of the complement is not zero on the unused coordinates")
    independent = rank_reaches(len(vectors), vectors)
    require(independent, "the complement is linearly dependent")
    for vector in claim.complement:
        signs = data.compare(Weights.of(vector, data.columns), ZERO)
        require(not signs.any(), f"row {np.abs(signs).argmax()} meets the complement")
    needed = claim.dimension - len(vectors) - len(unused)
    spanned = rank_reaches(needed, [_integers(data.row(i, claim.added)) for i in claim.rows])
    require(spanned, "the named rows do not span all rows")
    return "no hyperplane separates the classes, not even weakly"


def feasible_point(claim: Feasible, system: System) -> str:
    """Check that w satisfies every row and every bound."""
    signs = system.compare(Weights.of(claim.w, system.columns))
    strict, equal = system.tags == MORE_THAN, system.tags == EQUAL
    violated = (signs < 0) | (strict & (signs == 0)) | (equal & (signs != 0))
    if violated.any():
        raise Refused(f"w violates row {violated.argmax()}")
    for kind, column, bound in system.bounds:
        value = claim.w[column]
        good = value >= bound if kind == LOWER else value <= bound
        require(good, f"w violates a bound of column {column}")
    return "w satisfies the system"


def infeasibility(claim: Infeasible, system: System) -> str:
    """Check that a combination of rows and bounds says 0 >= v for some v > 0, or 0 > 0."""
    tags = system.tags[list(claim.rows)].tolist()
    signs = (y > 0 or (y < 0 and tag == EQUAL) for y, tag in zip(claim.weights, tags, strict=True))
    others = [*claim.lower[1], *claim.upper[1]]
    good = all(signs) and all(weight > 0 for weight in others)
    require(good, "a weight is zero, or negative on something else than an equation")
    rows = [system.row(i) for i in claim.rows] + system.bound_rows(claim)
    total, _ = exact_sum(zip(Rationals.of([*claim.weights, *others]).numbers, rows, strict=True))
    right = total.pop(system.columns, 0)
    require(not total, "the weighted rows and bounds do not sum to zero")
    require(right > 0 or (right == 0 and MORE_THAN in tags), "there is no contradiction")
    return "no point satisfies the system"


def margin_interval(claim: MarginInterval, data: Labelled) -> str:
    """Check the margin of w, and the length of a mean that has both classes in balance."""
    _require_margin(claim, data, claim.lower, "lower")
    totals, common = _mean(claim, data)
    balanced = claim.lift is not None or totals.pop(data.columns, 0) == 0
    require(balanced, "the weights of each class do not sum to 1/2")
    square = Rationals([*totals.values()], common).square()
    long_enough = claim.upper > 0 and square <= Fraction(claim.upper) ** 2
    require(long_enough, "upper is not positive, or the mean is longer")
    least, most = six_digits(claim.lower, ROUND_FLOOR), six_digits(claim.upper, ROUND_CEILING)
    return f"the largest margin is at least {least}, at most {most}"


def mistake_bound(claim: MistakeProof, data: Labelled) -> str:
    """Check the hinge-loss bound by w."""
    require(claim.lift >= 0, "lift is negative")
    require(claim.passes is None or claim.passes > 0, "passes is not a positive integer")
    require(claim.lift or not claim.w[-1], "w ends in more than 0 without a lift")
    require(hinge_bound_holds(claim, data), "bound is below the bound by w")
    most = six_digits(claim.bound, ROUND_CEILING)
    times = "any" if claim.passes is None else six_digits(claim.passes, ROUND_FLOOR)
    return f"no perceptron from zero makes more than {most} mistakes (passes: {times})"


CHECKS: dict[type[Certificate], Callable[[Any, Any], str]] = {
    Separator: separator,
    NonSeparability: non_separability,
    Inseparability: inseparability,
    JointSeparator: separator,
    JointNonSeparability: non_separability,
    JointInseparability: inseparability,
    Feasible: feasible_point,
    Infeasible: infeasibility,
    MarginInterval: margin_interval,
    MistakeProof: mistake_bound,
}


def _require_margin(
    claim: Separator | MarginInterval, data: Labelled, margin: Number, name: str
) -> None:
    """Require z·w >= margin·‖w‖ of all rows, the norm taken without a free intercept."""
    lift = getattr(claim, "lift", None)
    norm = Rationals.of(claim.w[: claim.measured]).square()
    require(margin > 0 and norm > 0, f"{name} is not positive, or w is zero")
    square = Fraction(margin) ** 2 * norm
    w = Weights.of(claim.w, data.columns, 1 if lift is None else lift)
    short = data.short_of_root(w, square, claim.data)
    require(short is None, f"the margin of w on row {short} is below {name}")


Mean = NonSeparability | Inseparability | MarginInterval


def _mean(claim: Mean, data: Labelled) -> tuple[Totals, int]:
    """Give the mean of the named rows z, by column over a common denominator.

    The weights must be positive and sum to 1.
    """
    weights, common = Rationals.of(claim.weights)
    require(all(weight > 0 for weight in weights), "a weight is not positive")
    require(sum(weights) == common, "the weights do not sum to 1")
    pairs = zip(data.signs[list(claim.rows)].tolist(), weights, strict=True)
    signed = [sign * weight for sign, weight in pairs]
    totals, unit = weighted_sum(data.X, claim.rows, signed)
    last = Fraction(claim.added) * sum(signed) * unit
    if last:  # the added coordinate, in the same unit
        totals = {column: value * last.denominator for column, value in totals.items()}
        totals[data.columns], unit = last.numerator, unit * last.denominator
    return totals, unit * common


def _require_zero_mean(claim: Mean, data: Labelled) -> None:
    require(not _mean(claim, data)[0], "the weighted rows do not sum to zero")


def _integers(entries: Sequence[tuple[int, Number]]) -> dict[int, int]:
    numbers, _ = Rationals.of([value for _, value in entries])
    return dict(zip((column for column, _ in entries), numbers, strict=True))
