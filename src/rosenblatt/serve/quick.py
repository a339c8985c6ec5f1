"""Routes that answer thousands of requests a second.

FastAPI writes the OpenAPI document from the signature of the endpoint, as always; but the body goes
straight to Pydantic, and the answer to JSON. Measured on two cores, that is 1.3 to 2 times as many
answers a second.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from pydantic_core import to_json

from rosenblatt.serve.refusals import RefusalError

MESSAGE = "message/rfc822"
RAW = {"requestBody": {"content": {MESSAGE: {"schema": {"type": "string", "format": "binary"}}}}}


class StrictRoute(APIRoute):
    """A route that refuses parameters in the query that it does not know, such as misspelt ones."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give what answers a request."""
        handle = self.get_own_handler()
        known = {each.alias for each in self.dependant.query_params}

        async def checked(request: Request) -> Response:
            if request.scope["query_string"]:
                for name in request.query_params.keys() - known:
                    some = ", ".join(sorted(known)) or "none"
                    raise RefusalError(
                        422, f"there is no parameter {name[:60]!r} here; there are: {some}"
                    )
            return await handle(request)

        return checked

    def get_own_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give what answers a request whose parameters are known."""
        return super().get_route_handler()


class QuickRoute(StrictRoute):
    """A route whose endpoint takes the request and its body, and gives what JSON can hold.

    Where the document says so, a message may come as it is, as `bytes`.
    """

    def get_own_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give what answers a request."""
        endpoint: Any = self.endpoint
        adapter = TypeAdapter(typing.get_type_hints(endpoint, include_extras=True)["body"])
        takes_messages, status = self.openapi_extra is RAW, self.status_code or 200

        async def handle(request: Request) -> Response:
            content: Any = await request.body()
            kind = request.headers.get("content-type", "")
            if not (takes_messages and kind.startswith(MESSAGE)):
                content = adapter.validate_json(content)
            return json_response(await endpoint(request, content), status)

        return handle


def json_response(answer: Any, status: int = 200) -> Response:
    """Give an answer as JSON."""
    return Response(to_json(answer), status, media_type="application/json")
