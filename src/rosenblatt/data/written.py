"""Numbers as they are written in text: floats, and the decimals that these stand for.

A number of up to 15 digits is told from its nearest float; of longer ones, those that are not the
shortest are kept beside the floats (see `rosenblatt.decimals`). What would be infinite, or lose its
digits near zero, is refused, and so is what would take too long.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache

import numpy as np

from rosenblatt.certificate_fields import Number
from rosenblatt.checker import DIGITS
from rosenblatt.decimals import SMALLEST, Written, shortest, written_numbers
from rosenblatt.errors import InputError

SHORT = 15  # characters that hold no more digits than a float tells
PLAIN = re.compile(r"[-+.eE0-9]*")  # of the texts made of these, float() takes decimals only
NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))(?:[eEdD]([-+]?\d+))?", re.ASCII)
FORTRAN = str.maketrans("dD", "ee")


class UnusableError(ValueError):
    """A text that is no number that can be used, and its place among others."""

    def __init__(self, text: str, place: int) -> None:
        super().__init__(f"{text[:40]!a} is not a number that can be used")
        self.text, self.place = text, place


def floats_of(texts: Sequence[str]) -> np.ndarray:
    """Give decimal numbers as their nearest floats; exponents may be written with D, too."""
    with suppress(ValueError):
        if PLAIN.fullmatch("".join(texts)):
            floats = np.array(list(map(float, texts)), np.float64)
            sizes = np.abs(floats)
            if not (np.isinf(sizes) | (sizes < SMALLEST)).any():
                return floats
    return np.array([_float_of(text, place) for place, text in enumerate(texts)], np.float64)


def _float_of(text: str, place: int) -> float:
    match = NUMBER.fullmatch(text)
    if match is None or len(text) > DIGITS:
        raise UnusableError(text, place)
    value = float(text.translate(FORTRAN))
    zero = not value and not match[1].strip("+-.0")
    if not math.isfinite(value) or (abs(value) < SMALLEST and not zero):
        raise UnusableError(text, place)
    return value


@lru_cache(1 << 16)
def exact_number_of(text: str) -> Number:
    """Give the number that a text stands for."""
    _float_of(text, 0)
    return exact_number(text)


def exact_number(text: str) -> Number:
    """Give the number that a text stands for, which `floats_of` has taken."""
    decimal = text.translate(FORTRAN)
    if len(text) <= SHORT or not float(decimal):
        return shortest(float(decimal))
    return Fraction(*Decimal(decimal).as_integer_ratio())


def kept_beside(texts: Iterable[str]) -> Written:
    """Give the numbers among texts, which `floats_of` has taken, that their floats do not tell."""
    distinct = set(texts)
    long = (text for text in distinct if len(text) > SHORT)
    if all(map(is_shortest, long)):
        return {}
    exact = list(map(exact_number, distinct))
    return written_numbers(list(map(float, exact)), exact)


def is_shortest(text: str) -> bool:
    """Tell whether a number, which `floats_of` has taken, is the shortest with its float."""
    if repr(float(text.translate(FORTRAN))) == text:
        return True
    number = exact_number(text)
    return shortest(float(number)) == number


def decimal_text(value: Number) -> str:
    """Write a number in decimals that stand for it exactly.

    Examples
    --------
    >>> from fractions import Fraction
    >>> decimal_text(Fraction(1, 40)), decimal_text(2.0**-40)
    ('0.025', '9.094947017729282379150390625E-13')
    """
    top, bottom = value.as_integer_ratio()
    rest = bottom
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest > 1 or not -sys.float_info.max <= value <= sys.float_info.max:
        raise InputError(
            f"{value} is not a decimal of a size that can be written; multiply the numbers by a "
            "common denominator"
        )
    context = Context(top.bit_length() + bottom.bit_length() + 1, traps=[Inexact])
    return str(context.normalize(context.divide(Decimal(top), Decimal(bottom))))
