"""For those who run the server: its health, its numbers, and its requests as a page."""

from __future__ import annotations

import time
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from rosenblatt.serve.guard import Traffic
from rosenblatt.serve.hosted import Hosted
from rosenblatt.serve.quick import json_response
from rosenblatt.serve.service import Service

operations = APIRouter(tags=["operations"])
OF_LEARNERS = {
    "seen_total": "answers since the server began",
    "corrections": "corrections in the journal",
    "mistakes": "mistakes before corrections were learned",
    "unsure": "corrections of which the learner was unsure",
    "mistake_bound": "proven bound of the mistakes",
}


@operations.get("/health", response_model=dict[str, str])
async def health(request: Request) -> Response:
    """Tell that the server answers; learners that cannot be read are named."""
    broken = ", ".join(sorted(request.app.state.service.broken))
    return json_response({"status": "ok"} | ({"broken": broken} if broken else {}))


@operations.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> PlainTextResponse:
    """Give counters in the text format of Prometheus."""
    state = request.app.state
    lines = [*_of_server(state.service, state.traffic), *_of_learners(state.service)]
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return PlainTextResponse("\n".join(lines) + "\n", media_type=kind)


def _of_server(service: Service, traffic: Traffic) -> Iterator[str]:
    commits = service.commits
    yield from _family("requests_total", "counter", "requests by path and status")
    for (path, status), count in sorted(traffic.requests.items()):
        yield f'rosenblatt_requests_total{{path="{path}",status="{status}"}} {count}'
    yield from _family("request_seconds_total", "counter", "seconds spent by path")
    for path, seconds in sorted(traffic.seconds.items()):
        yield f'rosenblatt_request_seconds_total{{path="{path}"}} {seconds:.6f}'
    for name, value, words in (
        ("commits_total", commits.count, "flushes to disk"),
        ("changes_total", commits.changes, "changes that they stored"),
        ("failed_commits_total", commits.failed, "flushes that failed"),
        ("commit_seconds_total", commits.seconds, "seconds spent in flushes"),
    ):
        yield from _family(name, "counter", words)
        yield f"rosenblatt_{name} {value:g}"
    yield from _family("uptime_seconds", "gauge", "seconds since the server began")
    yield f"rosenblatt_uptime_seconds {time.time() - service.began:.3f}"


def _of_learners(service: Service) -> Iterator[str]:
    for name, words in OF_LEARNERS.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        yield from _family(f"learner_{name}", kind, words)
        for hosted in list(service.learners.values()):
            if (value := _values(hosted)[name]) is not None:
                yield f'rosenblatt_learner_{name}{{learner="{hosted.name}"}} {value}'


def _values(hosted: Hosted) -> dict[str, Any]:
    totals = hosted.totals()
    return totals | {"seen_total": totals["seen"], "mistake_bound": totals["bound"]}


def _family(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP rosenblatt_{name} {words}", f"# TYPE rosenblatt_{name} {kind}"]


@operations.get("/docs", response_class=HTMLResponse, include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """Show the OpenAPI document as a page, which needs no script and no network."""
    document = request.app.openapi()
    body = "".join(
        _section(method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    shapes = "".join(map(_shape, *zip(*document["components"]["schemas"].items(), strict=True)))
    return HTMLResponse(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>rosenblatt: requests'
        '</title><meta name="viewport" content="width=device-width"></head><body><main>'
        '<h1>Requests</h1><p>As a document: <a href="openapi.json">openapi.json</a></p>'
        f"{body}<h1>Shapes</h1>{shapes}</main></body></html>"
    )


def _section(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = [
        (each["name"], f"in the {each['in']}", _type(each["schema"]))
        for each in operation.get("parameters", ())
    ]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        rows.append(("body", kind, _type(content["schema"])))
    for kind, content in operation["responses"].get("200", {}).get("content", {}).items():
        rows.append(("answer", kind, _type(content.get("schema", {}))))
    words = escape(operation.get("description", ""))
    return f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{words}</p>{_table(rows)}"


def _shape(name: str, schema: dict[str, Any]) -> str:
    needed = schema.get("required", ())
    rows = [
        (
            field + ("" if field in needed else " (optional)"),
            each.get("description", ""),
            _type(each),
        )
        for field, each in schema.get("properties", {}).items()
    ]
    words = escape(schema.get("description", ""))
    return f'<h2 id="{escape(name)}">{escape(name)}</h2><p>{words}</p>{_table(rows)}'


def _table(rows: list[tuple[str, str, str]]) -> str:
    cells = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(words)}</td><td>{kind}</td></tr>"
        for name, words, kind in rows
    )
    return f"<table>{cells}</table>" if rows else ""


def _type(schema: dict[str, Any]) -> str:
    """Give a type in words, with links to shapes."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(map(_type, schema[several]))
    if schema.get("type") == "array" and "items" in schema:
        return f"list of {_type(schema['items'])}"
    if "enum" in schema:
        return escape(" or ".join(map(repr, schema["enum"])))
    return escape(str(schema.get("type", "anything")))
