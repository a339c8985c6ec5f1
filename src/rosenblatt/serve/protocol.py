"""HTTP as uvicorn speaks it, with limits for slow clients, and one write for each answer."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

IDLE_SECONDS, HEAD_SECONDS = 60.0, 20.0
MOST_HEAD = 1 << 16  # bytes
MOST_CONNECTIONS = 500


class JoinedWrites:
    """A transport that writes once for all that is written in a turn of the loop.

    A write is most of what an answer costs: it wakes the client.
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Write soon."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))

    def close(self) -> None:
        """Write what is left, and close."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class PatientProtocol(HttpToolsProtocol):
    """HTTP for clients that send the head of a request in time, and a small one."""

    _timer: asyncio.TimerHandle | None = None
    _head = 0  # bytes of the head so far; -1 behind it

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        if len(self.connections) > MOST_CONNECTIONS:
            self._refuse(b"503 Service Unavailable", "there are too many connections")
        else:
            self._wait(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._wait(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in bytes, of a head no more than there may be."""
        if self._head >= 0:
            self._head += len(data)
        super().data_received(data)
        if self._head > MOST_HEAD:
            self._refuse(b"431 Request Header Fields Too Large", "the header is too large")

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._head = -1
        self._wait(None)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, all of its head."""
        self._head = 0
        self._wait(IDLE_SECONDS)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse(b"400 Bad Request", "this is not an HTTP request")

    def _wait(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def _refuse(self, status: bytes, sentence: str) -> None:
        body = b'{"error":"%s"}' % sentence.encode()
        head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
        if not self.transport.is_closing():
            self.transport.write(head % (status, len(body)) + b"connection: close\r\n\r\n" + body)
            self.transport.close()
