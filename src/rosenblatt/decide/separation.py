"""`Separation`: the answer of `separate`, and what it means in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rosenblatt.certificates import Certificate
from rosenblatt.decide.answers import REASONS
from rosenblatt.decide.blame import Blame, Design

SEPARABLE, WEAKLY, INSEPARABLE = "separable", "weakly separable", "inseparable"
UNDECIDED = "undecided"
FEW = 5  # places that are named in a sentence


@dataclass(frozen=True)
class Separation:
    """Whether a hyperplane separates two classes, and why.

    Attributes
    ----------
    verdict : "separable", "weakly separable" (no point on the wrong side, some on the hyperplane,
        some off it), "inseparable", or "undecided".
    coef, intercept : the hyperplane x·coef + intercept = 0 in floats, positive for the second
        class, for the first two verdicts; None otherwise. The exact numbers are in the certificate.
    margin : the distance of the nearest point to the hyperplane, rounded down; 0 unless separable.
    enclosure : a lower and an upper bound of the largest margin that any hyperplane has.
    certificate : the proof, for `verify`. If undecided, the proof that nothing separates the
        classes strictly, where that much is known, else None.
    rows : the rows that matter. Separable: those nearest to the hyperplane. Weakly separable: those
        that lie on it. Inseparable: those that the proof rests on.
    columns : the columns that matter, aliased ones left out. Separable: those with a coefficient,
        once the aliased ones are done without; in a logistic regression none has a finite one.
        Weakly separable: all those whose coefficients run to infinity in a logistic regression.
        Inseparable: those of the proof's rows.
    aliased : the columns that are linear combinations of the intercept and of columns before them.
    classes : the two labels; the second one is positive.
    names : what the columns are called, by a frame or a file; empty if they have no names.
    stop : why it is undecided: "out of time", "interrupted", "the proof did not pass the check".

    Notes
    -----
    `columns` and `aliased` are found in exact arithmetic when they are first asked for, which may
    take as many seconds as `separate` had; X must not have been changed by then. If that does not
    do, or X has more than 1,000 columns, `explain` says so: `columns` are then those of the
    hyperplane that was found, and `aliased` is None if unknown.
    """

    verdict: str
    coef: np.ndarray | None
    intercept: float | None
    margin: float
    enclosure: tuple[float, float]
    certificate: Certificate | None
    rows: np.ndarray
    classes: tuple[Any, Any]
    names: Sequence[str] = ()
    stop: str = ""
    design: Design | None = field(compare=False, repr=False, default=None)
    seconds: float = field(compare=False, default=0.0)

    @property
    def columns(self) -> np.ndarray:
        """The columns that matter."""
        return self.blame.columns

    @property
    def aliased(self) -> np.ndarray | None:
        """The columns that are linear combinations of columns before them; None if unknown."""
        return self.blame.aliased

    @cached_property
    def blame(self) -> Blame:
        """What can be said of the columns."""
        if self.design is None or self.certificate is None or self.verdict == UNDECIDED:
            return Blame(np.zeros(0, np.int64))
        return self.design.blame(self.certificate, self.rows)

    def explain(self) -> str:
        """Tell what the verdict means, for people."""
        return explain(self)

    def __str__(self) -> str:
        return self.explain()


def explain(found: Separation) -> str:
    """Tell what a verdict means, in a paragraph."""
    return _EXPLAIN[found.verdict](found)


def _explain_separable(found: Separation) -> str:
    a, b = found.classes
    return (
        f"A hyperplane separates the classes {a!r} and {b!r}: every row of {b!r} lies on its "
        f"positive side and every row of {a!r} on its negative side, at a distance of at least "
        f"{found.margin:.6g}. The nearest: {listed('row', found.rows)}. A logistic regression on "
        "these data has no finite solution: the larger its coefficients, the better they fit. A "
        "perceptron converges."
    )


def _explain_weakly(found: Separation) -> str:
    a, b = found.classes
    return (
        f"The classes {a!r} and {b!r} are weakly separable (quasi-complete separation): a "
        f"hyperplane has no row of {b!r} on its negative and none of {a!r} on its positive side, "
        f"but has some on it ({listed('row', found.rows)}), not all of which any hyperplane can "
        f"tell apart. {_infinite(found)} A perceptron goes on making mistakes."
    )


def _infinite(found: Separation) -> str:
    """Tell which coefficients run to infinity, and which columns have none."""
    columns, doubt = found.blame.columns, found.blame.doubt
    named = listed("column", columns, found.names)
    if doubt:
        return (
            "Some coefficients run to infinity in a logistic regression; which ones was not found "
            f"out: {doubt}. The hyperplane rests on {named}."
        )
    run = "coefficient of {} runs" if columns.size == 1 else "coefficients of {} run"
    return (
        f"The {run.format(named)} to infinity in a logistic regression, those of other columns do "
        f"not.{_set_apart(found)}"
    )


def _set_apart(found: Separation) -> str:
    aliased = found.blame.aliased
    if aliased is None or not aliased.size:
        return ""
    named = listed("column", aliased, found.names)
    are = "is a linear combination" if aliased.size == 1 else "are linear combinations"
    return f" Set apart: {named}, which {are} of columns before (the intercept is the first)."


def _explain_inseparable(found: Separation) -> str:
    a, b = found.classes
    return (
        f"No hyperplane separates the classes {a!r} and {b!r}, not even with points on it: a "
        f"weighted mean of {listed('row', found.rows)}, those of {a!r} turned round, is exactly "
        "zero, and these rows span all others. A logistic regression has a finite solution; a "
        "perceptron never stops making mistakes."
    )


def _explain_undecided(found: Separation) -> str:
    high = found.enclosure[1]
    if high <= 0:
        return (
            "No hyperplane separates the classes, which the certificate proves. Whether they are "
            f"weakly separable or inseparable is undecided: {REASONS[found.stop]}."
        )
    known = f" No hyperplane has a margin above {high:.6g}." if high < math.inf else ""
    return (
        "Undecided: neither a separating hyperplane nor a proof that there is none was found: "
        f"{REASONS[found.stop]}.{known}"
    )


_EXPLAIN = {
    SEPARABLE: _explain_separable,
    WEAKLY: _explain_weakly,
    INSEPARABLE: _explain_inseparable,
    UNDECIDED: _explain_undecided,
}


def listed(what: str, places: np.ndarray, names: Sequence[str] = ()) -> str:
    """Name a few places, and count the rest."""
    shown = ", ".join(str(names[k] if len(names) else k) for k in places[:FEW].tolist())
    if places.size > FEW:
        shown += f" and {places.size - FEW:,} more"
    return f"{what}{'s' if places.size != 1 else ''} {shown}"
