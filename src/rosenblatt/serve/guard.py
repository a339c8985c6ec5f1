"""What stands before every request: token, origin, rate, size, time; and what is logged of it.

Logs and metrics name paths that are known, statuses, times and sizes: nothing of what was sent.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections import defaultdict
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from pydantic_core import to_json

from rosenblatt.serve.logs import place_of, say
from rosenblatt.serve.refusals import RefusalError
from rosenblatt.serve.service import ServiceLimits

BODY_SECONDS = 20.0
COOKIE = "rosenblatt"
OWN = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?")  # names of this machine
LOGIN = "/login.html"  # what people get in the place of "/" who come without the token
WRONG = b"/#wrong"  # the same, which says then that the token was wrong
PUBLIC = {"/health", "/play/theme.css", "/play/login.css", "/play/icon.svg"}  # it looks like this
MOST_ADDRESSES = 10_000
POLICY = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
HEADERS = [
    (b"content-security-policy", (POLICY + "form-action 'self'; frame-ancestors 'none'").encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
# Of these the next request may not be read, as the body was not.
CLOSING = {400, 401, 403, 408, 411, 413, 421, 429}

Message = MutableMapping[str, Any]


class Traffic:
    """What was asked: requests by path and status, and seconds by path."""

    def __init__(self, paths: set[str]) -> None:
        self.paths = paths
        self.requests: dict[tuple[str, int], int] = defaultdict(int)
        self.seconds: dict[str, float] = defaultdict(float)

    def note(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        known = path if path in self.paths else "other"
        self.requests[known, status] += 1
        self.seconds[known] += seconds


class Guard:
    """An ASGI application before another one.

    Parameters
    ----------
    app : ASGI application
        What answers.
    limits : ServiceLimits
        What is taken at most.
    traffic : Traffic
        Where requests are counted.
    token : bytes or None
        What a client must know; None lets in who asks for this machine by its own names.
    log : {"requests", "errors", "none"}
        Which requests are logged.
    """

    def __init__(
        self, app: Any, limits: ServiceLimits, traffic: Traffic, token: bytes | None, log: str
    ) -> None:
        self.app, self.limits, self.traffic, self.token = app, limits, traffic, token
        self.log = {"requests": 0, "errors": 400, "none": 1000}[log]
        self._buckets: dict[str, tuple[float, float]] = {}

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        try:
            if (answer := self._entering(scope)) is None:
                await self.app(scope, await self._with_body(scope, receive), sending)
            else:
                await _answer(sending, *answer)
        except RefusalError as refusal:
            await _answer(sending, refusal.status, {"error": str(refusal)})
        except Exception as error:  # answered with 500 already, or the client is gone
            say("failed", error=type(error).__name__, place=place_of(error))
            if not status:
                await _answer(
                    sending, 500, {"error": "this is an internal error; the log says where"}
                )
        taken = time.perf_counter() - begin
        self.traffic.note(scope["path"], status, taken)
        if status >= self.log:
            path = scope["path"][:100]
            say(
                "request", method=scope["method"], path=path, status=status, seconds=round(taken, 6)
            )

    # ---- who comes in

    def _entering(self, scope: Message) -> tuple[Any, ...] | None:
        """Refuse who may not come in; answer a login."""
        headers = dict(scope["headers"])
        host, origin = headers.get(b"host", b"").decode("latin-1"), headers.get(b"origin")
        if self.token is None:
            if not OWN.fullmatch(host):
                raise RefusalError(421, "this server answers to localhost and 127.0.0.1 alone")
        elif scope["path"] not in PUBLIC:
            if (given := _login(scope)) and self._knows(given):
                cookie = f"{COOKIE}={given}; HttpOnly; SameSite=Strict; Path=/"
                return 303, {}, [(b"location", b"/"), (b"set-cookie", cookie.encode())]
            if not any(map(self._knows, _tokens(headers))):
                if _is_person(scope, headers):
                    if given or scope["path"] != "/":
                        return 303, {}, [(b"location", WRONG if given else b"/")]
                    scope["path"] = LOGIN
                    return None
                raise RefusalError(
                    401,
                    "the token is missing or wrong; give the header Authorization: Bearer TOKEN",
                )
        foreign = origin is not None and origin.decode("latin-1").partition("://")[2] != host
        if foreign and scope["method"] not in ("GET", "HEAD"):
            raise RefusalError(403, "pages of other sites may not ask this server")
        self._check_rate(scope)
        return None

    def _knows(self, given: str) -> bool:
        assert self.token is not None
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token)

    def _check_rate(self, scope: Message) -> None:
        """Let each address of another machine ask so often a second, and as often at once."""
        address = (scope.get("client") or ("127.0.0.1", 0))[0]
        if not self.limits.rate or address.startswith("127.") or address == "::1":
            return
        now = time.monotonic()
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.clear()
        left, at = self._buckets.get(address, (self.limits.rate, now))
        left = min(left + (now - at) * self.limits.rate, self.limits.rate)
        self._buckets[address] = (max(left - 1.0, 0.0), now)
        if left < 1.0:
            raise RefusalError(429, f"no more than {self.limits.rate:g} requests a second, please")

    # ---- what comes in

    async def _with_body(self, scope: Message, receive: Any) -> Any:
        """Read the body, as far as it is allowed; give what hands it on."""
        if scope["method"] in ("GET", "HEAD"):
            return receive
        body = await self._body(scope, receive)
        handed = False

        async def hand_on() -> Message:
            nonlocal handed
            if handed:
                message: Message = await receive()
                return message
            handed = True
            return {"type": "http.request", "body": body, "more_body": False}

        return hand_on

    async def _body(self, scope: Message, receive: Any) -> bytes:
        most, size, parts = self.limits.body, 0, []
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if len(declared) > 15 or not declared.isdigit() or int(declared) > most:
            raise RefusalError(413, f"the body must have {most} bytes at most; send less at once")
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise RefusalError(400, "the body was cut off")
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise RefusalError(413, f"the body must have {most} bytes at most")
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            raise RefusalError(408, f"the body did not come in {BODY_SECONDS:g} seconds") from None


def _tokens(headers: dict[bytes, bytes]) -> list[str]:
    """Give the tokens of a request: as bearer, as cookie, or as clients of rspamd send it."""
    scheme, _, bearer = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    found = [bearer.strip()] if scheme.lower() == "bearer" else []
    if b"cookie" in headers:
        try:
            cookies = SimpleCookie(headers[b"cookie"].decode("latin-1"))
        except CookieError:
            cookies = SimpleCookie()
        found += [cookies[COOKIE].value] if COOKIE in cookies else []
    if b"password" in headers:
        found.append(headers[b"password"].decode("latin-1"))
    return found


def _is_person(scope: Message, headers: dict[bytes, bytes]) -> bool:
    """Tell whether a browser asks for a page."""
    return scope["method"] == "GET" and b"text/html" in headers.get(b"accept", b"")


def _login(scope: Message) -> str | None:
    """Give the token of the address ``/?token=…``, which people open."""
    if scope["path"] != "/" or scope["method"] != "GET" or not scope["query_string"]:
        return None
    found = re.fullmatch(rb"token=([^&=;]+)", scope["query_string"])
    return found[1].decode("latin-1") if found else None


async def _answer(
    send: Any, status: int, content: Any, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = to_json(content)
    told = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    told += [*(headers or []), *([(b"connection", b"close")] if status in CLOSING else [])]
    told += [(b"retry-after", b"1")] if status == 429 else []
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})
