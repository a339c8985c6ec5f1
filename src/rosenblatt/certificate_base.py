"""What all certificates have in common: their data, their fields, and how they are written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar

from rosenblatt.certificate_fields import (
    CLASSES,
    FLAG,
    INDEX,
    INDICES,
    NUMBER,
    NUMBERS,
    WEIGHTED,
    Form,
    Indices,
    Numbers,
    integer,
    list_of,
    one_of,
    optional,
    parts,
    require,
)
from rosenblatt.checker import OTHERS

FORMAT = "rosenblatt certificate 1"
NUMBER_TYPES = ("float64", "float32", "decimal", "exact")
DIGEST = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, kw_only=True)
class Data:
    """The data that a certificate is about.

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
        require(
            self.numbers in NUMBER_TYPES, f"data.numbers is not one of {', '.join(NUMBER_TYPES)}"
        )


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
    @cache
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


def check_vector(vector: Numbers, length: int, name: str = "w") -> None:
    """Refuse a vector of a wrong length."""
    require(len(vector) == length, f"{name} has {len(vector)} numbers in place of {length}")


def check_indices(indices: Indices, limit: int, name: str) -> None:
    """Refuse indices that are out of range, or there twice."""
    fits = all(0 <= index < limit for index in indices)
    require(fits, f"{name} names something outside of 0 to {limit - 1}")
    require(len(set(indices)) == len(indices), f"{name} names something twice")


def check_weighted(indices: Indices, weights: Numbers, limit: int, name: str = "rows") -> None:
    """Refuse indices without a weight each."""
    check_indices(indices, limit, name)
    check_vector(weights, len(indices), f"the weights of {name}")
