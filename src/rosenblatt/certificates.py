"""Certificates: answers that carry their proof, as objects and as text.

What each kind claims, and how it is checked, is written down in plain Python in
`rosenblatt.checker`, which needs nothing but itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from rosenblatt.certificate_base import (
    FORMAT,
    FORMS,
    Certificate,
    Data,
    check_indices,
    check_vector,
    check_weighted,
)
from rosenblatt.certificate_fields import (
    INDEX,
    LABELS,
    NUMBER,
    NUMBERS,
    Form,
    Indices,
    Label,
    Number,
    Numbers,
    Weighted,
    optional,
    require,
)
from rosenblatt.errors import CertificateError

__all__ = [
    "Certificate",
    "Data",
    "Feasible",
    "Infeasible",
    "Inseparability",
    "Joint",
    "JointInseparability",
    "JointNonSeparability",
    "JointSeparator",
    "Label",
    "MarginInterval",
    "MistakeProof",
    "NonSeparability",
    "Number",
    "Separator",
    "from_dict",
    "from_json",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class OfTwoClasses(Certificate):
    """What certificates of two classes have in common.

    Data with labels of other classes are refused, unless `others` says what becomes of their rows:
    "negative" puts them into the negative class, "left out" counts the rest of the rows alone.
    """

    classes: tuple[Label, Label]
    intercept: bool
    others: str | None = None

    @property
    def size(self) -> int:
        """The number of rows z."""
        return self.data.rows

    @property
    def added(self) -> int:
        """The constant behind the numbers of a row, 0 for none."""
        return int(self.intercept)

    @property
    def measured(self) -> int:
        """The number of coordinates of w that count in its length."""
        return self.data.columns

    def as_dict(self) -> dict[str, Any]:
        """Give the certificate as the JSON object that stands for it, without others of None."""
        written = super().as_dict()
        return {name: value for name, value in written.items() if name != "others" or value}


@dataclass(frozen=True, kw_only=True, repr=False)
class Separator(OfTwoClasses):
    """w separates the classes, and leaves each row at least the margin."""

    kind = "separator"
    w: Numbers
    margin: Number

    def _check_shape(self) -> None:
        check_vector(self.w, self.dimension)


@dataclass(frozen=True, kw_only=True, repr=False)
class NonSeparability(OfTwoClasses):
    """The weighted rows sum to zero, so nothing separates; w, if given, does so weakly."""

    kind = "non-separability"
    forms: ClassVar[dict[str, Form]] = FORMS | {"w": optional(NUMBERS)}
    rows: Indices
    weights: Numbers
    w: Numbers | None = None

    def _check_shape(self) -> None:
        check_weighted(self.rows, self.weights, self.size)
        if self.w is not None:
            check_vector(self.w, self.dimension)


@dataclass(frozen=True, kw_only=True, repr=False)
class Inseparability(OfTwoClasses):
    """The weighted rows sum to zero and span all rows, so nothing separates even weakly."""

    kind = "inseparability"
    rows: Indices
    weights: Numbers
    complement: tuple[Numbers, ...] = ()
    unused: Indices = ()

    def _check_shape(self) -> None:
        check_weighted(self.rows, self.weights, self.size)
        check_indices(self.unused, self.dimension, "unused")
        for vector in self.complement:
            check_vector(vector, self.dimension, "a vector of the complement")


class Joint:
    """What certificates about many classes at once have in common.

    Rows are those of `rosenblatt.checker.joint_rows`: one for each sample and each class but its
    own. The first class weighs nothing, the weights of the others stand one behind the other.
    """

    data: Data
    classes: tuple[Label, ...]
    intercept: bool
    others: str | None
    added = 0

    @property
    def size(self) -> int:
        """The number of rows z."""
        return self.data.rows * (len(self.classes) - 1)

    @property
    def measured(self) -> int:
        """The number of coordinates of w that count in its length."""
        return (len(self.classes) - 1) * self.data.columns

    @property
    def dimension(self) -> int:
        """The number of coordinates of w."""
        return (len(self.classes) - 1) * (self.data.columns + self.intercept)

    def _check_shape(self) -> None:
        require(self.others is None, "others is for two classes")
        super()._check_shape()  # type: ignore[misc]


@dataclass(frozen=True, kw_only=True, repr=False)
class JointSeparator(Joint, Separator):
    """w tells all classes apart, and leaves each row at least the margin."""

    kind = "joint separator"
    forms: ClassVar[dict[str, Form]] = FORMS | {"classes": LABELS}


@dataclass(frozen=True, kw_only=True, repr=False)
class JointNonSeparability(Joint, NonSeparability):
    """The weighted rows sum to zero, so nothing tells all classes apart; w does so weakly."""

    kind = "joint non-separability"
    forms: ClassVar[dict[str, Form]] = FORMS | {"classes": LABELS, "w": optional(NUMBERS)}


@dataclass(frozen=True, kw_only=True, repr=False)
class JointInseparability(Joint, Inseparability):
    """The weighted rows sum to zero and span all rows, so that not even w weakly does."""

    kind = "joint inseparability"
    forms: ClassVar[dict[str, Form]] = FORMS | {"classes": LABELS}


@dataclass(frozen=True, kw_only=True, repr=False)
class Feasible(Certificate):
    """w satisfies a system of inequalities, equations and bounds."""

    kind = "feasible point"
    w: Numbers

    def _check_shape(self) -> None:
        check_vector(self.w, self.dimension)


@dataclass(frozen=True, kw_only=True, repr=False)
class Infeasible(Certificate):
    """The weighted rows and bounds of a system contradict each other."""

    kind = "infeasibility"
    rows: Indices
    weights: Numbers
    lower: Weighted = ((), ())
    upper: Weighted = ((), ())

    def _check_shape(self) -> None:
        check_weighted(self.rows, self.weights, self.data.rows)
        check_weighted(*self.lower, self.data.columns, "lower")
        check_weighted(*self.upper, self.data.columns, "upper")


@dataclass(frozen=True, kw_only=True, repr=False)
class MarginInterval(Certificate):
    """The largest margin lies between that of w and the length of a mean of rows.

    With a lift, these are the rows (x, lift), and the length of w counts its last number too.
    """

    kind = "margin interval"
    forms: ClassVar[dict[str, Form]] = FORMS | {
        "lower": NUMBER,
        "upper": NUMBER,
        "lift": optional(NUMBER),
    }
    classes: tuple[Label, Label]
    intercept: bool
    w: Numbers
    lower: Number
    rows: Indices
    weights: Numbers
    upper: Number
    lift: Number | None = None

    @property
    def dimension(self) -> int:
        """The number of coordinates of w."""
        return super().dimension + (self.lift is not None)

    @property
    def added(self) -> Number:
        """The constant behind the numbers of a row, 0 for none."""
        return int(self.intercept) if self.lift is None else self.lift

    @property
    def measured(self) -> int:
        """The number of coordinates of w that count in its length."""
        return self.data.columns + (self.lift is not None)

    def as_dict(self) -> dict[str, Any]:
        """Give the certificate as the JSON object that stands for it, without a lift of None."""
        return {name: value for name, value in super().as_dict().items() if value is not None}

    def _check_shape(self) -> None:
        alone = self.lift is None or (self.lift > 0 and not self.intercept)
        require(alone, "lift is not positive, or there is an intercept besides it")
        check_vector(self.w, self.dimension)
        check_weighted(self.rows, self.weights, self.data.rows)


@dataclass(frozen=True, kw_only=True, repr=False)
class MistakeProof(Certificate):
    """No perceptron from zero makes more mistakes than the bound in so many passes.

    Passes are None for any number of them, of which only a w without hinge loss can speak.
    """

    kind = "mistake bound"
    forms: ClassVar[dict[str, Form]] = FORMS | {"passes": optional(INDEX)}
    classes: tuple[Label, Label]
    lift: Number
    w: Numbers
    passes: int | None
    bound: Number

    def _check_shape(self) -> None:
        check_vector(self.w, self.data.columns + 1)


KINDS: dict[str, type[Certificate]] = {
    kind.kind: kind
    for kind in (
        Separator,
        NonSeparability,
        Inseparability,
        JointSeparator,
        JointNonSeparability,
        JointInseparability,
        Feasible,
        Infeasible,
        MarginInterval,
        MistakeProof,
    )
}


def from_dict(given: Any) -> Certificate:
    """Give the certificate that a JSON object stands for; a `CertificateError` if it is none."""
    require(isinstance(given, dict), "a certificate is a JSON object")
    require(given.get("format") == FORMAT, f"the format is not {FORMAT!r}")
    kind = given.get("kind")
    require(isinstance(kind, str) and kind in KINDS, f"the kind is not one of {', '.join(KINDS)}")
    return KINDS[kind].read(given)


def from_json(text: str | bytes) -> Certificate:
    """Give the certificate that JSON text stands for; a `CertificateError` if it is none.

    Examples
    --------
    >>> from rosenblatt.certificates import Data, Feasible, from_json
    >>> data = Data(rows=2, columns=1, digest="0123456789abcdef")
    >>> point = Feasible(data=data, w=[0.5])
    >>> from_json(point.to_json()) == point
    True
    """
    try:
        given = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, CertificateError):
            raise
        raise CertificateError(f"a certificate is JSON text, but this is not: {error}") from None
    return from_dict(given)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    given = dict(pairs)
    require(len(given) == len(pairs), "an object of the certificate has a field twice")
    return given
