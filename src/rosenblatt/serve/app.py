"""The application: routes, pages, and what stands before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

import rosenblatt
from rosenblatt.errors import RosenblattError
from rosenblatt.serve import routes, shapes
from rosenblatt.serve.guard import Traffic
from rosenblatt.serve.operations import operations
from rosenblatt.serve.proving import WorkQueue, proofs
from rosenblatt.serve.quick import json_response
from rosenblatt.serve.refusals import RefusalError, refusal_of
from rosenblatt.serve.rspamd import rspamd
from rosenblatt.serve.service import Service

PAGES = Path(__file__).parent / "pages"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": shapes.Refusal, "description": words}
    for status, words in {
        400: "It cannot be used as given.",
        401: "The token is missing or wrong.",
        403: "It comes from a page of another site.",
        404: "There is no such learner, example or correction.",
        409: "There is one already.",
        413: "It is too large.",
        415: "It is compressed.",
        422: "It has another shape.",
        429: "Too many requests.",
        501: "An extra is not installed.",
        503: "Nothing was stored: the disk is full, read-only or busy.",
    }.items()
}

SENTENCES = {
    404: "there is nothing here; GET /docs lists all requests",
    405: "this path takes other methods; GET /docs lists all requests",
}
KINDS = (RosenblattError, ValidationError, RequestValidationError, HTTPException, Exception)


def application(service: Service) -> FastAPI:
    """Make the application of a service."""

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        await service.open()
        yield
        await service.close()

    app = FastAPI(
        title="rosenblatt",
        version=rosenblatt.__version__,
        description="Learners from corrections: nothing that is acknowledged is lost.",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        lifespan=living,
    )
    app.state.service, app.state.traffic = service, Traffic(set())
    app.state.turns = WorkQueue()
    for router in (routes.quick, routes.calm, rspamd, proofs, operations):
        app.include_router(router)
    for kind in KINDS:
        app.add_exception_handler(kind, refuse)
    app.state.traffic.paths.update(app.openapi()["paths"])
    app.mount("/", StaticFiles(directory=PAGES, html=True))
    return app


async def refuse(request: Request, error: Exception) -> Response:
    """Answer with a sentence."""
    if isinstance(error, HTTPException):
        said = SENTENCES.get(error.status_code, error.detail)
        response = json_response({"error": said}, error.status_code)
        response.headers.update(error.headers or {})
        return response
    found = refusal_of(error) or RefusalError(500, "this is an internal error; the log says where")
    return json_response({"error": str(found)}, found.status)
