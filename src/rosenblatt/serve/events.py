"""Totals as they change, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from pydantic_core import to_json

from rosenblatt.serve.hosted import Hosted
from rosenblatt.serve.service import Service

LEAST, MOST = 0.25, 15.0  # seconds between two events, and between two signs of life


async def counts(service: Service, only: Hosted | None) -> AsyncIterator[bytes]:
    """Send the totals of one learner, or of all, at first and whenever they change."""
    sent: dict[str, bytes] = {}
    quiet = 0.0
    while not service.closing.is_set():
        told = b""
        for hosted in list(service.learners.values()) if only is None else [only]:
            totals = to_json(hosted.totals())
            if sent.get(hosted.name) != totals:
                sent[hosted.name] = totals
                told += b"event: counts\ndata: " + totals + b"\n\n"
        quiet = 0.0 if told else quiet + LEAST
        if quiet >= MOST:
            told, quiet = b": still here\n\n", 0.0
        if told:
            yield told
        await asyncio.sleep(LEAST)
