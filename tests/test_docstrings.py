"""Docstrings of public names: every parameter and every field, with its type and its default."""

import inspect
import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import rosenblatt as rb

MADE = (
    "Examples",
    "Gaussian",
    "Linear",
    "ParseError",
    "Polynomial",
    "PolynomialFeatures",
    "TextHasher",
)
PUBLIC = {name: getattr(rb, name) for name in sorted(rb.__all__)}
CALLED = [name for name, thing in PUBLIC.items() if inspect.isfunction(thing) or name in MADE]
RESULTS = [name for name, thing in PUBLIC.items() if is_dataclass(thing) and name not in MADE]
ENTRY = re.compile(r"^(\w+) : (.+)\n {4}", re.MULTILINE)
DEFAULT = re.compile(r"default=(.+)$")
VARIADIC = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
TYPES = {"float32": np.float32, "float64": np.float64}


def section(thing, title):
    """Give the entries of a section of a docstring: from name to type."""
    sections = rf"^{title}\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)"
    found = re.search(sections, inspect.getdoc(thing), re.MULTILINE | re.DOTALL)
    return dict(ENTRY.findall(found[1])) if found else {}


@pytest.mark.parametrize("name", CALLED)
def test_every_parameter_is_documented_with_its_type_and_its_default(name):
    listed = inspect.signature(PUBLIC[name]).parameters.values()
    expected = [each for each in listed if each.kind not in VARIADIC]
    documented = section(PUBLIC[name], "Parameters")
    assert list(documented) == [each.name for each in expected]
    for each in expected:
        shown = DEFAULT.search(documented[each.name])
        if each.default is inspect.Parameter.empty:
            assert not shown
        else:
            assert eval(shown[1], TYPES) == each.default


@pytest.mark.parametrize("name", RESULTS)
def test_every_field_of_a_result_is_documented_with_its_type(name):
    documented = section(PUBLIC[name], "Attributes")
    held = {field.name for field in fields(PUBLIC[name])} - {"design"}
    assert held <= set(documented)
    assert all(hasattr(PUBLIC[name], each) for each in set(documented) - held)
