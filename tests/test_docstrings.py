"""Docstrings of public names: every parameter and every field, with its type and its default."""

import inspect
import re
from dataclasses import fields, is_dataclass
from itertools import product

import numpy as np
import pandas
import pytest

import rosenblatt as rb

LEARNERS = ("HardMarginSVM", "KernelPerceptron", "Perceptron", "SoftMarginSVM")
ESTIMATORS = (*LEARNERS, "PolynomialFeatures", "TextHasher")
METHODS = (
    *("fit", "partial_fit", "learn_one", "predict", "predict_one", "decision_function", "score"),
    *("bound", "path", "transform", "transform_one", "transform_bytes", "get_feature_names_out"),
)
MADE = (*ESTIMATORS, "Examples", "Gaussian", "Linear", "ParseError", "Polynomial")
PUBLIC = {name: getattr(rb, name) for name in sorted(rb.__all__)}
RESULTS = [name for name, thing in PUBLIC.items() if is_dataclass(thing) and name not in MADE]
DEFAULT = re.compile(r"default=(.+)$")
TITLE = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(?:(\w+) : )?(\S.*)\n((?:(?: {4}.*)?\n)*)", re.MULTILINE)
VARIADIC = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
TYPES = {"float32": np.float32, "float64": np.float64}


def called():
    """Give what users call: functions, classes and methods."""
    found = {n: thing for n, thing in PUBLIC.items() if inspect.isfunction(thing) or n in MADE}
    for name, method in product(ESTIMATORS, METHODS):
        if hasattr(PUBLIC[name], method):
            found[f"{name}.{method}"] = getattr(PUBLIC[name], method)
    return found


def section(thing, title):
    """Give the entries of a section of a docstring that say something: from name to type."""
    _, *parts = TITLE.split(f"{inspect.getdoc(thing)}\n")
    text = dict(zip(parts[::2], parts[1::2], strict=True)).get(title, "")
    found = ENTRY.findall(text.strip("\n") + "\n")
    return {name: kind for name, kind, meaning in found if meaning.rstrip().endswith(".")}


@pytest.mark.parametrize("name", called())
def test_every_parameter_is_documented_with_its_type_and_its_default(name):
    thing = called()[name]
    listed = inspect.signature(thing).parameters.values()
    expected = [each for each in listed if each.kind not in VARIADIC and each.name != "self"]
    documented = section(thing, "Parameters")
    assert list(documented) == [each.name for each in expected]
    for each in expected:
        shown = DEFAULT.search(documented[each.name])
        if each.default is inspect.Parameter.empty:
            assert not shown
        else:
            assert eval(shown[1], TYPES) == each.default


@pytest.mark.parametrize("name", RESULTS)
def test_every_field_of_a_result_is_documented_with_its_type(name):
    told = [section(each, "Attributes") for each in PUBLIC[name].__mro__[:-1]]
    documented = {field for attributes in told for field in attributes}
    held = {field.name for field in fields(PUBLIC[name])} - {"design", "given"}
    assert held <= documented
    assert all(hasattr(PUBLIC[name], each) for each in documented - held)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_attribute_of_a_fitted_learner_is_documented_with_its_type(name):
    frame = pandas.DataFrame({"size": [0.0, 1.0, 3.0], "age": [0.0, 2.0, 1.0]})
    learner = PUBLIC[name]().fit(frame, ["no", "yes", "yes"])
    fitted = {each for each in dir(learner) if each.endswith("_") and each[0] != "_"}
    also = {"alphas_"} if name == "SoftMarginSVM" else set()  # another name of dual_
    assert set(section(PUBLIC[name], "Attributes")) == fitted - also
