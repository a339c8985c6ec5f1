"""Which experiments there are, in the order of the report."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location

from rosenblatt.errors import InputError
from rosenblatt.lab.experiment import Experiment

NAMES = (
    "examples",
    "dimension",
    "margin",
    "distance",
    "proof",
    "rate",
    "starts",
    "renormalise",
    "orders",
    "lifting",
    "worst-case",
    "noise",
    "stream",
    "outputs",
    "svm",
    "rivals",
    "primal-dual",
    "kernels",
    "budgets",
    "classes",
    "operations",
)


def find(name: str) -> Experiment:
    """Give the experiment of a name, or that of a file of one's own, which ends in .py."""
    if name.endswith(".py"):
        return _own(name)
    if name not in NAMES:
        raise InputError(
            f"there is no experiment {name!r}; choose from: {', '.join(NAMES)}, all, or a file of "
            "yours that ends in .py"
        )
    module = import_module(f"rosenblatt.lab.experiments.{name.replace('-', '_')}")
    found: Experiment = module.EXPERIMENT
    return found


@cache
def _own(path: str) -> Experiment:
    """Run a file, and give the experiment that it defines."""
    name = f"rosenblatt_own_{re.sub('[^a-z0-9]', '_', path.lower())}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(
            f"the experiment of {path} cannot be read: {type(error).__name__}: {error}"
        ) from error
    found = getattr(module, "EXPERIMENT", None)
    if not isinstance(found, Experiment):
        raise InputError(f"{path} defines no EXPERIMENT; see the page on the laboratory")
    if found.name in NAMES or not re.fullmatch("[a-z0-9][a-z0-9-]*", found.name):
        raise InputError(
            f"the experiment of {path} is called {found.name!r}; take a name of small letters, "
            "digits and -, which no experiment of the package has"
        )
    return found
