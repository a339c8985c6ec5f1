"""`Margin`: the answer of `max_margin`, and what it means in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certificates import Certificate, Number
from rosenblatt.decide.answers import REASONS, SEPARABLE, UNDECIDED, Explained
from rosenblatt.decide.separability.explained import listed
from rosenblatt.decide.separability.separation import Separation


@dataclass(frozen=True)
class Margin(Explained):
    """The largest margin of two classes, between two proven bounds.

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
        The answer of `separate`, if it was asked: where floats found no separator.
    stop : str
        Why the search ended before the bounds were as close as asked for, if it did.
    seconds : float
        The time taken.
    """

    verdict: str
    lower: float
    upper: float
    width: float
    classes: tuple[Any, Any]
    tol: float
    coef: np.ndarray | None = None
    intercept: float | None = None
    support: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    certificate: Certificate | None = None
    squared: Fraction | None = None
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
