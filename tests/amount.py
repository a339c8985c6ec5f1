"""How much is tried: a sample by `make test`, all of it by `make test-long`."""

import os
from collections.abc import Sequence
from itertools import product
from typing import TypeVar

import pytest

T = TypeVar("T")
LONG = os.environ.get("ROSENBLATT_TESTS") == "long"


def amount(sample: int, whole: int) -> int:
    """Give how many cases to draw."""
    return whole if LONG else sample


def sampled(cases: Sequence[T], share: int) -> list[T]:
    """Give all cases, or one in every `share` of them: neighbours are the most alike."""
    return list(cases if LONG else cases[::share])


def crossed(share: int, **values: Sequence) -> pytest.MarkDecorator:
    """Run a test for all combinations of values, or for one in every `share` of them.

    A share that divides no number of values meets each of them, in many combinations.
    """
    chosen = sampled([*product(*values.values())], share)
    return pytest.mark.parametrize(tuple(values), chosen, ids=_name)


def _name(value: object) -> str:
    return getattr(value, "__name__", None) or str(value)
