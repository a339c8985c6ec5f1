"""The server: where it listens, whom it lets wait, and how it ends."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rosenblatt.errors import InputError
from rosenblatt.serve.app import application
from rosenblatt.serve.guard import Guard, say
from rosenblatt.serve.service import LIMITS, Limits, Service

IDLE_SECONDS, STOP_SECONDS = 60.0, 10.0
HEAD_SECONDS, MOST_HEAD = 20.0, 1 << 16
MOST_CONNECTIONS = 500
SHORTEST_TOKEN = 16


class Settings(NamedTuple):
    """Where a server listens, and whom it lets in."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8377
    token: str | None = None
    limits: Limits = LIMITS
    log: str = "errors"


def serve(settings: Settings, tell: Callable[[str], Any]) -> None:
    """Serve until a signal comes; `tell` is told the address once requests are taken."""
    _check(settings)
    service = Service(settings.folder, settings.limits)
    listening = _listening(settings)
    app = application(service)
    token = None if settings.token is None else settings.token.encode()
    guard = Guard(app, settings.limits, app.state.traffic, token, settings.log)
    config = uvicorn.Config(
        guard,
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=int(IDLE_SECONDS),
        timeout_graceful_shutdown=int(STOP_SECONDS),
    )
    server = Server(config, service, lambda: tell(_address(listening)))
    try:
        server.run([listening])
    except KeyboardInterrupt:  # uvicorn passes on the signal that ended it
        pass
    finally:
        listening.close()


def _check(settings: Settings) -> None:
    token = settings.token
    if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii() or " " in token):
        raise InputError(
            f"the token must have {SHORTEST_TOKEN} ASCII letters at least and no blanks; "
            "`openssl rand -hex 32` makes one"
        )
    if token is None and not is_loopback(settings.host):
        raise InputError(
            f"{settings.host} can be reached from other machines; give --token-file FILE, or "
            "serve on 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """Tell whether an address is of this machine alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False  # a name, which may mean anything


def _listening(settings: Settings) -> socket.socket:
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, kind, number, _, address = found[0]
        listening = socket.socket(family, kind, number)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        where = f"{settings.host}, port {settings.port}"
        raise InputError(f"cannot listen on {where}: {reason}; give another --port") from error
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """A server that tells when it begins, and ends streams before it waits for requests."""

    def __init__(self, config: uvicorn.Config, service: Service, begun: Callable[[], Any]) -> None:
        super().__init__(config)
        self._service, self._begun = service, begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take requests."""
        await super().startup(sockets)
        if self.started:
            say("start", folder=str(self._service.folder), learners=len(self._service.learners))
            self._begun()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what is under way."""
        self._service.closing.set()
        await super().shutdown(sockets)
        say("stop", corrections=self._service.commits.changes)


class PatientProtocol(HttpToolsProtocol):
    """HTTP for clients that send the head of a request in time, and a small one."""

    _timer: asyncio.TimerHandle | None = None
    _head = 0  # bytes of the head so far; -1 behind it

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
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
        self._refuse(b"400 Bad Request", "this is no request of HTTP")

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
