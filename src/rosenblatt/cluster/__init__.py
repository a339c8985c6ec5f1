"""Training and proving on many machines: on a Dask cluster, or on processes of this machine."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rosenblatt.cluster.bounds import info as info
    from rosenblatt.cluster.bounds import mistake_bound as mistake_bound
    from rosenblatt.cluster.estimators import ClusterPerceptron as ClusterPerceptron
    from rosenblatt.cluster.estimators import ClusterSVM as ClusterSVM
    from rosenblatt.cluster.learning import fit as fit
    from rosenblatt.cluster.predicting import predict as predict
    from rosenblatt.cluster.proofs import separate as separate
    from rosenblatt.cluster.proofs import verify as verify

_HOMES = {
    "ClusterPerceptron": "estimators",
    "ClusterSVM": "estimators",
    "fit": "learning",
    "info": "bounds",
    "mistake_bound": "bounds",
    "predict": "predicting",
    "separate": "proofs",
    "verify": "proofs",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rosenblatt.cluster' has no attribute {name!r}")
    return getattr(import_module(f"rosenblatt.cluster.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
