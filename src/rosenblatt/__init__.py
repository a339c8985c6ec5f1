"""Perceptrons and linear SVMs for scikit-learn, with proofs of separability and feasibility.

Every public name is loaded when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # to load it takes longer than all the rest, and Ctrl-C is not heard until then
    from typing import Any

__version__ = "0.1.0"

# The module of each public name, which is written down once: in the stub that editors read.
_HOMES = {
    line.split()[3]: line.split()[1]
    for line in __loader__.get_data(f"{__file__}i").decode().splitlines()
    if line.startswith("from rosenblatt.")
}

__all__ = sorted(_HOMES)

# Where classes get the bases of scikit-learn, which commands do without; a prefix of their homes.
_JOINED = {
    "rosenblatt.learners": "rosenblatt.learners.base",
    "rosenblatt.data.text": "rosenblatt.data.transformer",
    "rosenblatt.data.polynomials": "rosenblatt.data.transformer",
}


def __getattr__(name: str) -> Any:
    if name == "cluster":  # a room with names of its own, which learns with scikit-learn's bases
        import_module("rosenblatt.learners.base").join()
        return import_module("rosenblatt.cluster")
    if name not in _HOMES:
        raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    for home, joining in _JOINED.items():
        if _HOMES[name].startswith(home):
            import_module(joining).join()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__", "cluster"]
