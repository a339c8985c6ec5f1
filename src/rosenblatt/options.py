"""Checks of options: one sentence for each that cannot be used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np

from rosenblatt.errors import InputError

INTERCEPTS = ("free", "lifted", "none")


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """Give the value if it is one of the choices."""
    choices = tuple(choices)
    if isinstance(value, str) and value in choices:
        return value
    raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def positive(name: str, value: Any) -> float:
    """Give the value as a positive finite number."""
    return _number(name, value, lambda v: 0 < v < math.inf, "a positive finite number")


def from_zero(name: str, value: Any) -> float:
    """Give the value as a finite number from 0 on."""
    return _number(name, value, lambda v: 0 <= v < math.inf, "a finite number from 0 on")


def share(name: str, value: Any) -> float:
    """Give the value as a number between 0 and 1."""
    return _number(name, value, lambda v: 0 < v < 1, "a number between 0 and 1")


def _number(name: str, value: Any, fits: Callable[[float], bool], kind: str) -> float:
    try:
        known = type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))
        if known and fits(float(value)):
            return float(value)
    except OverflowError:  # a whole number beyond all floats
        pass
    raise InputError(f"{name} must be {kind}, got {value!r}")


def limit(name: str, value: Any) -> int | None:
    """Give the value as a whole number from 1 on, or None for no limit."""
    if value is None:
        return None
    return _whole(name, value, "None or a whole number")


def count(name: str, value: Any) -> int:
    """Give the value as a whole number from 1 on."""
    return _whole(name, value, "a whole number")


def _whole(name: str, value: Any, kind: str) -> int:
    known = type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))
    if known and 1 <= int(value) <= 2**53:
        return int(value)
    raise InputError(f"{name} must be {kind} from 1 on, got {value!r}")


def flag(name: str, value: Any) -> bool:
    """Give the value as True or False; 0 and 1 count."""
    if type(value) is bool:  # to ask what counts as a number takes longer than small fits have
        return value
    if isinstance(value, np.bool_ | Real) and value in (False, True):
        return bool(value)
    raise InputError(f"{name} must be True or False, got {value!r}")


def intercept_kind(intercept: Any, fit_intercept: Any) -> str:
    """Give the intercept of an SVM: "free", "lifted" or "none", by either spelling."""
    one_of("intercept", intercept, INTERCEPTS)
    if fit_intercept is None:
        return str(intercept)
    wanted = flag("fit_intercept", fit_intercept)
    if intercept == ("none" if wanted else "lifted"):  # "free" is what nobody may have asked for
        raise contradiction(fit_intercept, intercept)
    return str(intercept) if wanted else "none"


def lifts(fit_intercept: Any, intercept: Any) -> bool:
    """Tell whether a perceptron lifts its rows, by either spelling."""
    wanted = flag("fit_intercept", fit_intercept)
    if intercept is None:
        return wanted
    if one_of("intercept", intercept, ("lifted", "none")) == "lifted" and not wanted:
        raise contradiction(fit_intercept, intercept)
    return bool(intercept == "lifted")


def contradiction(fit_intercept: Any, intercept: Any) -> InputError:
    """Say that two spellings of an option do not agree."""
    return InputError(
        f"fit_intercept={fit_intercept!r} and intercept={intercept!r} contradict each other; give "
        "one of them"
    )


def check_random_state(value: Any) -> None:
    """Refuse what stands for no source of random numbers."""
    source = value is None or value is np.random or isinstance(value, np.random.RandomState)
    if not (source or (isinstance(value, Integral) and 0 <= int(value) < 2**32)):
        raise InputError(
            "random_state must be None, a whole number from 0 to 2^32 - 1 or a RandomState, "
            f"got {value!r}"
        )


def random_numbers(value: Any) -> np.random.RandomState:
    """Give the source of random numbers that a value stands for, as scikit-learn has it."""
    check_random_state(value)
    if value is None or value is np.random:
        shared: np.random.RandomState = np.random.mtrand._rand
        return shared
    return value if isinstance(value, np.random.RandomState) else np.random.RandomState(int(value))


def seed(value: Any) -> int:
    """Draw the seed of a run from the random numbers that a value stands for."""
    if isinstance(value, Integral):
        check_random_state(value)
        return _seed_of(int(value))
    return int(random_numbers(value).randint(2**31 - 1))


@lru_cache
def _seed_of(value: int) -> int:
    """Make the random numbers of a number, which takes a tenth of a millisecond, only once."""
    return int(np.random.RandomState(value).randint(2**31 - 1))
