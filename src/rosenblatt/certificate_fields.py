"""Fields of certificates: how they are taken from Python, written as JSON, and read from it.

Numbers are exact: a float stands for itself and is written in hexadecimal, integers and fractions
as "p" or "p/q".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.checker import DIGITS, Refused, as_number, class_key, require_brief
from rosenblatt.errors import CertificateError, InputError

Number = float | int | Fraction
Numbers = tuple[Number, ...]
Indices = tuple[int, ...]
Weighted = tuple[Indices, Numbers]
Label = str | int | float | bool


# ---- numbers


def plain_number(value: Any) -> Number | None:
    """Give the Python number that equals a value exactly, None if the value is no finite number."""
    if type(value) is float:  # the usual case, and there may be many of them
        return value if math.isfinite(value) else None
    if type(value) is int:
        return value
    if type(value) is Fraction and type(value.numerator) is int is type(value.denominator):
        return value  # whose integers may be long
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return _fraction(value) if value.is_finite() else None
    if isinstance(value, np.longdouble) and np.isfinite(value):
        top, bottom = value.as_integer_ratio()
        return Fraction(int(top), int(bottom))
    return None


def _fraction(value: Decimal) -> Fraction:
    if abs(value.adjusted()) > DIGITS:  # which would fill the memory
        raise InputError(f"{value} has more than {DIGITS:,} digits")
    return Fraction(*value.as_integer_ratio())


# Most numbers of weights for hashed text.
ZEROS: dict[str, Number] = {"0": 0, (0.0).hex(): 0.0}


def number_text(value: Number) -> str:
    """Write a number as certificates do."""
    if isinstance(value, float):
        return value.hex()
    # Unlike that of an int, conversion of a Decimal to text has no limit on the number of digits.
    top, bottom = (str(Decimal(part)) for part in value.as_integer_ratio())
    return top if bottom == "1" else f"{top}/{bottom}"


def number_from_text(text: Any, name: str = "a number") -> Number:
    """Read a number as certificates write it: floats from hexadecimal, else int or Fraction."""
    if isinstance(text, str) and text in ZEROS:
        return ZEROS[text]
    try:
        value = as_number(text, name)
    except Refused as error:
        raise CertificateError(str(error)) from None
    if "x" in text:
        return float.fromhex(text)
    return value if value.denominator > 1 else value.numerator


def check_brief(numbers: Numbers, name: str) -> None:
    """Refuse numbers that would take too long to check."""
    try:
        require_brief(numbers, name)
    except Refused as error:
        raise CertificateError(str(error)) from None


# ---- forms


class Form(NamedTuple):
    """How a field is taken from Python, written as JSON, and read from it."""

    take: Callable[[Any, str], Any]
    write: Callable[[Any], Any]
    read: Callable[[Any, str], Any]


def require(condition: object, message: str) -> None:
    """Refuse what breaks the format."""
    if not condition:
        raise CertificateError(message)


def finite_number(value: Any, name: str) -> Number:
    """Take a number from Python."""
    number = plain_number(value)
    if number is None:
        raise CertificateError(f"{name} holds {value!r}, which is not a finite number")
    return number


def integer(value: Any, name: str) -> int:
    """Take an index or a count."""
    if type(value) is int:
        return value
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise CertificateError(f"{name} holds {value!r}, which is not an integer")
    return int(value)


def flag(value: Any, name: str) -> bool:
    """Take a truth value."""
    require(isinstance(value, bool | np.bool_), f"{name} is neither true nor false")
    return bool(value)


def json_label(value: Any, name: str) -> Label:
    """Take a label that JSON can hold."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        require(math.isfinite(value), f"{name} holds the label {value!r}, which JSON cannot hold")
        return float(value)
    for kind in (bool, int, str):
        if isinstance(value, kind):
            return kind(value)
    require(value is not None, f"{name} holds None, which is not a label")
    raise CertificateError(f"{name} holds the label {value!r}, which JSON cannot hold")


def two_labels(value: Any, name: str) -> tuple[Label, Label]:
    """Take the labels of the negative and of the positive class."""
    try:
        negative, positive = value
    except (TypeError, ValueError):
        raise CertificateError(f"{name} is not a pair of labels") from None
    first, second = many_labels([negative, positive], name)
    return first, second


def many_labels(value: Any, name: str) -> tuple[Label, ...]:
    """Take the labels of some classes, which must differ."""
    require(isinstance(value, list | tuple) and len(value) > 1, f"{name} is not a list of labels")
    labels = tuple(json_label(label, name) for label in value)
    try:
        keys = {class_key(label) for label in labels}
    except Refused as error:
        raise CertificateError(f"{name}: {error}") from None
    require(len(keys) == len(labels), f"{name} holds labels that cannot be told apart")
    return labels


def list_of(form: Form) -> Form:
    """Give the form of a list."""

    def take(values: Any, name: str) -> tuple[Any, ...]:
        require(isinstance(values, Iterable), f"{name} is not a list")
        listed = tuple(values)
        if form is NUMBER and set(map(type, listed)) == {float} and np.isfinite(listed).all():
            return listed  # often tens of thousands
        return tuple(form.take(value, name) for value in listed)

    def read(values: Any, name: str) -> tuple[Any, ...]:
        require(isinstance(values, list), f"{name} is not a list")
        found = tuple(form.read(value, name) for value in values)
        if form is NUMBER:
            check_brief(found, name)
        return found

    return Form(take, lambda values: [form.write(value) for value in values], read)


def optional(form: Form) -> Form:
    """Give the form of what may be None."""
    return Form(
        lambda value, name: None if value is None else form.take(value, name),
        lambda value: None if value is None else form.write(value),
        lambda value, name: None if value is None else form.read(value, name),
    )


def one_of(words: Iterable[str]) -> Form:
    """Give the form of a choice among words."""
    choices = tuple(words)

    def take(value: Any, name: str) -> str:
        require(value in choices, f"{name} is not one of {', '.join(choices)}")
        return str(value)

    return Form(take, str, take)


def parts(given: Any, name: str, keys: Iterable[str], optional: Iterable[str] = ()) -> list[Any]:
    """Give the values of an object that has these fields and no others."""
    keys = list(keys)
    require(isinstance(given, dict), f"{name} is not an object")
    missing = [key for key in keys if key not in given and key not in optional]
    require(not missing, f"{name} lacks the field {(missing or [''])[0]!r}")
    unknown = [key for key in given if key not in keys]
    require(not unknown, f"{name} has a field {(unknown or [''])[0]!r}, which is unknown")
    return [given.get(key) for key in keys]


def combination(value: Any, name: str) -> Weighted:
    """Take columns and their weights."""
    try:
        indices, weights = value
    except (TypeError, ValueError):
        raise CertificateError(f"{name} is not a pair of columns and weights") from None
    return INDICES.take(indices, name), NUMBERS.take(weights, name)


def read_combination(given: Any, name: str) -> Weighted:
    """Read columns and their weights."""
    columns, weights = parts(given, name, ("columns", "weights"))
    return INDICES.read(columns, f"{name}.columns"), NUMBERS.read(weights, f"{name}.weights")


INDEX = Form(integer, int, integer)
NUMBER = Form(finite_number, number_text, number_from_text)
FLAG = Form(flag, bool, flag)
INDICES, NUMBERS = list_of(INDEX), list_of(NUMBER)
CLASSES = Form(
    two_labels,
    lambda pair: {"negative": pair[0], "positive": pair[1]},
    lambda given, name: parts(given, name, ("negative", "positive")),
)
LABELS = Form(many_labels, list, many_labels)
WEIGHTED = Form(
    combination,
    lambda pair: {"columns": list(pair[0]), "weights": NUMBERS.write(pair[1])},
    read_combination,
)
