"""Training and proving on many machines: on a Dask cluster, or on processes of this machine."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rosenblatt.cluster.learning import fit as fit

_HOMES = {
    "fit": "learning",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rosenblatt.cluster' has no attribute {name!r}")
    return getattr(import_module(f"rosenblatt.cluster.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
