"""Perceptrons and linear SVMs for scikit-learn, with proofs of separability and feasibility.

Every public name is loaded when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # to load it takes longer than all the rest, and Ctrl-C is not heard until then
    from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Advice": "rosenblatt.decide.separability.advice",
    "CertificateError": "rosenblatt.errors",
    "CheapestCounts": "rosenblatt.decide.widest.counts",
    "ClusterError": "rosenblatt.errors",
    "EmptyError": "rosenblatt.errors",
    "Examples": "rosenblatt.examples",
    "FewestColumns": "rosenblatt.decide.separability.subsets",
    "Gaussian": "rosenblatt.kernel.functions",
    "HardMarginSVM": "rosenblatt.learners.hard_margin",
    "History": "rosenblatt.run",
    "Info": "rosenblatt.data.info",
    "InputError": "rosenblatt.errors",
    "InseparableError": "rosenblatt.errors",
    "JointSeparation": "rosenblatt.decide.separability.joint",
    "KernelPerceptron": "rosenblatt.learners.kernel_perceptron",
    "GuessWarning": "rosenblatt.errors",
    "LargeCopyWarning": "rosenblatt.errors",
    "LargeModelWarning": "rosenblatt.errors",
    "Linear": "rosenblatt.kernel.functions",
    "Margin": "rosenblatt.decide.widest.margins",
    "MissingExtraError": "rosenblatt.errors",
    "MistakeBound": "rosenblatt.bounds.theorem",
    "ModelFileError": "rosenblatt.errors",
    "OnlineSVM": "rosenblatt.learners.online_svm",
    "Operations": "rosenblatt.run",
    "ParseError": "rosenblatt.errors",
    "Perceptron": "rosenblatt.learners.perceptron",
    "Polynomial": "rosenblatt.kernel.functions",
    "PolynomialFeatures": "rosenblatt.data.polynomials",
    "ReadTwiceWarning": "rosenblatt.errors",
    "RosenblattError": "rosenblatt.errors",
    "Run": "rosenblatt.run",
    "Separation": "rosenblatt.decide.separability.separation",
    "SoftMarginSVM": "rosenblatt.learners.soft_margin",
    "Conflict": "rosenblatt.decide.systems.conflicts",
    "Repair": "rosenblatt.decide.systems.repairs",
    "Solution": "rosenblatt.decide.systems.solve",
    "Stop": "rosenblatt.run",
    "StoreError": "rosenblatt.errors",
    "TextHasher": "rosenblatt.data.text",
    "UnknownColumnsWarning": "rosenblatt.errors",
    "animate": "rosenblatt.lab.animation",
    "as_decimals": "rosenblatt.exact.numbers",
    "check_exercise": "rosenblatt.lab.exercises",
    "check_separation": "rosenblatt.decide.separability.fitted",
    "cheapest_counts": "rosenblatt.decide.widest.counts",
    "export": "rosenblatt.data.export",
    "info": "rosenblatt.data.info",
    "load": "rosenblatt.data.models",
    "make_separable": "rosenblatt.data.synthetic",
    "max_margin": "rosenblatt.decide.widest.margins",
    "mistake_bound": "rosenblatt.bounds.mistakes",
    "plot_hardest": "rosenblatt.lab.pictures_runs",
    "plot_learning_curve": "rosenblatt.lab.pictures_runs",
    "plot_margins": "rosenblatt.lab.pictures_margins",
    "plot_path": "rosenblatt.lab.pictures_paths",
    "plot_regions": "rosenblatt.lab.pictures_regions",
    "read": "rosenblatt.data.read",
    "save": "rosenblatt.data.models",
    "separate": "rosenblatt.decide.separability.separate",
    "solve": "rosenblatt.data.systems",
    "verify": "rosenblatt.check.verification",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "cluster":  # a room with names of its own, which learns with scikit-learn's bases
        import_module("rosenblatt.learners.estimator").join()
        return import_module("rosenblatt.cluster")
    if name not in _HOMES:
        raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    if _HOMES[name].startswith("rosenblatt.learners"):  # commands do without scikit-learn
        import_module("rosenblatt.learners.estimator").join()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__", "cluster"]
