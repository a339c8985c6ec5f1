"""Certificates: answers that carry their proof, as objects and as text.

What each kind claims, and how it is checked, is written down in plain Python in
`rosenblatt.checker`, which needs nothing but itself.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from rosenblatt.certificate_fields import (
    CLASSES,
    FLAG,
    INDEX,
    INDICES,
    LABELS,
    NUMBER,
    NUMBERS,
    WEIGHTED,
    Form,
    Indices,
    Label,
    Number,
    Numbers,
    Weighted,
    integer,
    list_of,
    one_of,
    optional,
    parts,
    require,
)
from rosenblatt.checker import OTHERS
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

FORMAT = "rosenblatt certificate 1"
NUMBER_TYPES = ("float64", "float32", "decimal", "exact")
DIGEST = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, kw_only=True)
class Data:
    """The data that a certificate speaks of.

    Attributes
    ----------
    rows, columns : the size of X, or of A.
    digest : 16 hexadecimal digits that identify the data, signs and right-hand sides included.
    numbers : "float64" or "float32" for floats as they are, "decimal" for floats that stand for
        decimals, "exact" for integers and fractions.
    """

    rows: int
    columns: int
    digest: str
    numbers: str = "float64"

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            size = integer(getattr(self, name), f"data.{name}")
            require(size >= 0, f"data.{name} is negative")
            object.__setattr__(self, name, size)
        fits = isinstance(self.digest, str) and DIGEST.fullmatch(self.digest)
        require(fits, "data.digest is not made of 16 hexadecimal digits")
        require(self.numbers in NUMBER_TYPES, f"data.numbers is none of {', '.join(NUMBER_TYPES)}")


def _take_data(value: Any, name: str) -> Data:
    require(isinstance(value, Data), f"{name} is not an object of type Data")
    return value  # type: ignore[no-any-return]


def _read_data(given: Any, name: str) -> Data:
    keys = [item.name for item in fields(Data)]
    return Data(**dict(zip(keys, parts(given, name, keys), strict=True)))


FORMS = {
    "data": Form(_take_data, lambda data: dict(vars(data)), _read_data),
    "classes": CLASSES,
    "intercept": FLAG,
    "others": optional(one_of(OTHERS)),
    "w": NUMBERS,
    "margin": NUMBER,
    "rows": INDICES,
    "weights": NUMBERS,
    "complement": list_of(NUMBERS),
    "unused": INDICES,
    "lower": WEIGHTED,
    "upper": WEIGHTED,
    "lift": NUMBER,
    "passes": INDEX,
    "bound": NUMBER,
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate:
    """What all certificates have in common.

    Two are equal if their numbers are. Numbers, indices and labels from NumPy are turned into
    Python's; what has the wrong shape is refused with a `CertificateError`, while whether the
    claim is true is for `rosenblatt.checker` to say.
    """

    kind: ClassVar[str]
    forms: ClassVar[dict[str, Form]] = FORMS
    data: Data

    def __post_init__(self) -> None:
        for name in self._names():
            object.__setattr__(self, name, self.forms[name].take(getattr(self, name), name))
        self._check_shape()

    def __repr__(self) -> str:
        named = self.data
        return f"{type(self).__name__}({named.rows} x {named.columns} data {named.digest})"

    @classmethod
    def _names(cls) -> list[str]:
        return [item.name for item in fields(cls)]

    def _check_shape(self) -> None:
        """Refuse vectors of a wrong length, and indices out of range."""

    @property
    def dimension(self) -> int:
        """The number of coordinates of w."""
        return self.data.columns + bool(getattr(self, "intercept", False))

    def as_dict(self) -> dict[str, Any]:
        """Give the certificate as the JSON object that stands for it."""
        written = {name: self.forms[name].write(getattr(self, name)) for name in self._names()}
        return {"format": FORMAT, "kind": self.kind, **written}

    @classmethod
    def read(cls, given: dict[str, Any]) -> Certificate:
        """Read the fields of this kind."""
        names = cls._names()
        may_lack = [item.name for item in fields(cls) if item.default is None]
        _, _, *values = parts(given, "the certificate", ("format", "kind", *names), may_lack)
        pairs = zip(names, values, strict=True)
        return cls(**{name: cls.forms[name].read(value, name) for name, value in pairs})

    def to_json(self) -> str:
        """Give the certificate as JSON text, with a line for each field."""
        lines = [f'"{name}": {json.dumps(value)}' for name, value in self.as_dict().items()]
        return "{" + ",\n ".join(lines) + "}\n"


def _check_vector(vector: Numbers, length: int, name: str = "w") -> None:
    require(len(vector) == length, f"{name} has {len(vector)} numbers in place of {length}")


def _check_indices(indices: Indices, limit: int, name: str) -> None:
    fits = all(0 <= index < limit for index in indices)
    require(fits, f"{name} names something outside of 0 to {limit - 1}")
    require(len(set(indices)) == len(indices), f"{name} names something twice")


def _check_weighted(indices: Indices, weights: Numbers, limit: int, name: str = "rows") -> None:
    _check_indices(indices, limit, name)
    _check_vector(weights, len(indices), f"the weights of {name}")


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
        _check_vector(self.w, self.dimension)


@dataclass(frozen=True, kw_only=True, repr=False)
class NonSeparability(OfTwoClasses):
    """The weighted rows sum to zero, so nothing separates; w, if given, does so weakly."""

    kind = "non-separability"
    forms: ClassVar[dict[str, Form]] = FORMS | {"w": optional(NUMBERS)}
    rows: Indices
    weights: Numbers
    w: Numbers | None = None

    def _check_shape(self) -> None:
        _check_weighted(self.rows, self.weights, self.size)
        if self.w is not None:
            _check_vector(self.w, self.dimension)


@dataclass(frozen=True, kw_only=True, repr=False)
class Inseparability(OfTwoClasses):
    """The weighted rows sum to zero and span all rows, so nothing separates even weakly."""

    kind = "inseparability"
    rows: Indices
    weights: Numbers
    complement: tuple[Numbers, ...] = ()
    unused: Indices = ()

    def _check_shape(self) -> None:
        _check_weighted(self.rows, self.weights, self.size)
        _check_indices(self.unused, self.dimension, "unused")
        for vector in self.complement:
            _check_vector(vector, self.dimension, "a vector of the complement")


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
    forms = FORMS | {"classes": LABELS}


@dataclass(frozen=True, kw_only=True, repr=False)
class JointNonSeparability(Joint, NonSeparability):
    """The weighted rows sum to zero, so nothing tells all classes apart; w does so weakly."""

    kind = "joint non-separability"
    forms = FORMS | {"classes": LABELS, "w": optional(NUMBERS)}


@dataclass(frozen=True, kw_only=True, repr=False)
class JointInseparability(Joint, Inseparability):
    """The weighted rows sum to zero and span all rows, so that not even w weakly does."""

    kind = "joint inseparability"
    forms = FORMS | {"classes": LABELS}


@dataclass(frozen=True, kw_only=True, repr=False)
class Feasible(Certificate):
    """w satisfies a system of inequalities, equations and bounds."""

    kind = "feasible point"
    w: Numbers

    def _check_shape(self) -> None:
        _check_vector(self.w, self.dimension)


@dataclass(frozen=True, kw_only=True, repr=False)
class Infeasible(Certificate):
    """The weighted rows and bounds of a system contradict each other."""

    kind = "infeasibility"
    rows: Indices
    weights: Numbers
    lower: Weighted = ((), ())
    upper: Weighted = ((), ())

    def _check_shape(self) -> None:
        _check_weighted(self.rows, self.weights, self.data.rows)
        _check_weighted(*self.lower, self.data.columns, "lower")
        _check_weighted(*self.upper, self.data.columns, "upper")


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
        _check_vector(self.w, self.dimension)
        _check_weighted(self.rows, self.weights, self.data.rows)


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
        _check_vector(self.w, self.data.columns + 1)


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
    require(isinstance(kind, str) and kind in KINDS, f"the kind is none of {', '.join(KINDS)}")
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
