"""The server: where it listens, whom it lets wait, and how it ends."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn

from rosenblatt.errors import InputError
from rosenblatt.serve.app import application
from rosenblatt.serve.guard import Guard
from rosenblatt.serve.logs import say
from rosenblatt.serve.protocol import IDLE_SECONDS, PatientProtocol
from rosenblatt.serve.service import LIMITS, Service, ServiceLimits

STOP_SECONDS = 10.0
SWITCH_SECONDS = 0.001  # after which the thread beside must let the answers go on
TOKEN = re.compile(r"[A-Za-z0-9._~+-]{16,500}")


class Settings(NamedTuple):
    """Where a server listens, and whom it lets in."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8377
    token: str | None = None
    limits: ServiceLimits = LIMITS
    log: str = "errors"


def serve(settings: Settings, tell: Callable[[str], Any]) -> None:
    """Serve until a signal comes; `tell` is told the address once requests are taken."""
    sys.setswitchinterval(SWITCH_SECONDS)
    with suppress(KeyboardInterrupt):  # uvicorn passes on the signal that ended it
        make_server(settings, tell).run()


def make_server(settings: Settings, tell: Callable[[str], Any]) -> Server:
    """Make a server that listens already; it ends when its `should_exit` is set."""
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
    return Server(config, service, listening, tell)


def _check(settings: Settings) -> None:
    token = settings.token
    if token is not None and not TOKEN.fullmatch(token):
        raise InputError(
            "the token must have 16 letters, digits or . _ ~ + - at least; `openssl rand -hex 32` "
            "makes one"
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

    def __init__(
        self,
        config: uvicorn.Config,
        service: Service,
        listening: socket.socket,
        tell: Callable[[str], Any],
    ) -> None:
        super().__init__(config)
        self.service, self._listening, self._tell = service, listening, tell

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until the end."""
        with self._listening:
            super().run([self._listening])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take requests."""
        await super().startup(sockets)
        if self.started:
            say("start", folder=str(self.service.folder), learners=len(self.service.learners))
            self._tell(_address(self._listening))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what is under way."""
        self.service.closing.set()
        await super().shutdown(sockets)
        say("stop", changes=self.service.commits.changes)
