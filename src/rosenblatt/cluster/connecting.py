"""From what people give as a client to an engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from rosenblatt.cluster.engine import Engine
from rosenblatt.cluster.local import LocalEngine

T = TypeVar("T")

LOCAL = "local"


def on_engine(client: Any, work: Callable[[Engine], T]) -> Any:
    """Do something on the engine of a client; an asynchronous one gets a coroutine."""
    if isinstance(client, Engine):
        return work(client)
    if getattr(client, "asynchronous", False):
        return asyncio.to_thread(_done, client, work)
    return _done(client, work)


def _done(client: Any, work: Callable[[Engine], T]) -> T:
    with opened(client) as engine:
        return work(engine)


def opened(client: Any) -> Engine:
    """Give the engine of a client: processes of this machine, or those of a Dask scheduler."""
    if isinstance(client, str) and client == LOCAL:
        return LocalEngine()
    from rosenblatt.cluster.on_dask import DaskEngine

    return DaskEngine.of(client)
