"""Which experiments there are, in the order of the report."""

from __future__ import annotations

from importlib import import_module

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
    """Give the experiment of a name."""
    if name not in NAMES:
        raise InputError(
            f"there is no experiment {name!r}; choose from: {', '.join(NAMES)}, or all"
        )
    module = import_module(f"rosenblatt.lab.experiments.{name.replace('-', '_')}")
    found: Experiment = module.EXPERIMENT
    return found
