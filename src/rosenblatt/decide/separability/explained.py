"""What the answer of `separate` means, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.decide.answers import INSEPARABLE, REASONS, SEPARABLE, UNDECIDED, WEAKLY
from rosenblatt.decide.closeness import nearly_inseparable
from rosenblatt.exact.rounding import six_digits
from rosenblatt.outcomes import POISSON

if TYPE_CHECKING:
    from rosenblatt.decide.separability.separation import Separation

FEW = 5  # places that are named in a sentence


def explained(found: Separation) -> str:
    """Give the meaning of a verdict, as a paragraph."""
    if found.family == POISSON and found.verdict in _OF_COUNTS:
        return _OF_COUNTS[found.verdict](found)
    close = ""
    if found.design is not None and found.certificate is not None:
        numbers = found.certificate.data.numbers
        close = nearly_inseparable(found.margin, found.design.X, numbers)
    return " ".join(filter(None, [_EXPLAIN[found.verdict](found), close]))


def _explain_separable(found: Separation) -> str:
    a, b = found.classes
    return (
        f"A hyperplane separates the classes {a!r} and {b!r}: every row of {b!r} lies on its "
        f"positive side and every row of {a!r} on its negative side, at a distance of at least "
        f"{six_digits(found.margin, ROUND_FLOOR)}. The nearest: {listed('row', found.rows)}. A "
        "logistic regression without a penalty has no finite solution: the larger its "
        "coefficients, the better they fit. A perceptron converges."
    )


def _explain_weakly(found: Separation) -> str:
    a, b = found.classes
    return (
        f"The classes {a!r} and {b!r} are weakly separable (quasi-complete separation): a "
        f"hyperplane has no row of {b!r} on its negative side and none of {a!r} on its positive "
        f"side. It has {listed('row', found.rows)} strictly on the correct side; all others lie on "
        f"it, and no hyperplane separates those. {_infinite(found)} A perceptron never converges."
    )


def _infinite(found: Separation) -> str:
    """Say which coefficients diverge, and which columns are aliased."""
    columns, doubt, design = found.blame.columns, found.blame.doubt, found.design
    named = listed("column", columns, found.names)
    if doubt:
        return (
            f"Some coefficients diverge in a {_model(found)} without a penalty; which ones is "
            f"not known: {doubt}. The hyperplane uses {named}."
        )
    alone = columns.size == 1
    if design is not None and design.X.shape[1] in found.blame.signs:
        named, alone = f"the intercept and of {named}", False
    diverge = "coefficient of {} diverges" if alone else "coefficients of {} diverge"
    return (
        f"In a {_model(found)} without a penalty, the {diverge.format(named)}, and the others "
        f"stay finite.{_aliased(found)}"
    )


def _model(found: Separation) -> str:
    return "Poisson regression with log link" if found.family == POISSON else "logistic regression"


def _aliased(found: Separation) -> str:
    aliased = found.blame.aliased
    if aliased is None or not aliased.size:
        return ""
    named = listed("column", aliased, found.names)
    are = "is a linear combination" if aliased.size == 1 else "are linear combinations"
    return f" Aliased: {named}, which {are} of the intercept and earlier columns."


def _explain_inseparable(found: Separation) -> str:
    a, b = found.classes
    return (
        f"No hyperplane separates the classes {a!r} and {b!r}, not even with points on it: a "
        f"weighted mean of {listed('row', found.rows)}, with those of {a!r} negated, is exactly "
        "zero, and these rows span all others. A logistic regression has a finite solution; a "
        "perceptron never converges."
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


def _explain_separated_counts(found: Separation) -> str:
    return (
        "The counts are separated: some linear predictor is negative on "
        f"{listed('row', found.rows)}, where the count is 0, and 0 on all others, so the "
        f"likelihood never stops growing along it. {_infinite(found)}"
    )


def _explain_overlapping_counts(found: Separation) -> str:
    return (
        "The counts are not separated: no linear predictor is negative on some rows with a count "
        f"of 0 and 0 on all others. A {_model(found)} has a finite solution.{_aliased(found)}"
    )


_OF_COUNTS = {WEAKLY: _explain_separated_counts, INSEPARABLE: _explain_overlapping_counts}
_EXPLAIN = {
    SEPARABLE: _explain_separable,
    WEAKLY: _explain_weakly,
    INSEPARABLE: _explain_inseparable,
    UNDECIDED: _explain_undecided,
}


def explained_jointly(found: Separation) -> str:
    """Give the meaning of a verdict about many classes at once, as a paragraph."""
    return _JOINTLY[found.verdict](found)


def _classes(found: Separation) -> str:
    named = ", ".join(map(repr, found.classes[:FEW])) + " …" * (len(found.classes) > FEW)
    return f"The {len(found.classes)} classes {named}"


def _jointly_separable(found: Separation) -> str:
    return (
        f"{_classes(found)} are jointly separable: weights for each class give every row its "
        "largest score for its own class. A multinomial logit without a penalty has no finite "
        "solution."
    )


def _jointly_weakly(found: Separation) -> str:
    columns, doubt = listed("column", found.columns, found.names), found.blame.doubt
    which = f"which ones is not known: {doubt}" if doubt else f"some of {columns} are among them"
    return (
        f"{_classes(found)} are jointly weakly separable: weights for each class give no row a "
        "larger score for another class than for its own, and a strictly smaller one to "
        f"{listed('row', found.rows)} for some other class. Some coefficients of a multinomial "
        f"logit without a penalty diverge; {which}."
    )


def _jointly_inseparable(found: Separation) -> str:
    return (
        f"{_classes(found)} are jointly inseparable: whatever the weights of each class, some row "
        "has a larger score for another class than for its own, or all rows tie. A multinomial "
        "logit has a finite solution."
    )


_JOINTLY = {
    SEPARABLE: _jointly_separable,
    WEAKLY: _jointly_weakly,
    INSEPARABLE: _jointly_inseparable,
    UNDECIDED: _explain_undecided,
}


def listed(what: str, places: np.ndarray, names: Sequence[str] = ()) -> str:
    """Name a few places, and count the rest."""
    shown = ", ".join(str(names[k] if len(names) else k) for k in places[:FEW].tolist())
    if places.size > FEW:
        shown += f" and {places.size - FEW:,} more"
    return f"{what}{'s' if places.size != 1 else ''} {shown}"
