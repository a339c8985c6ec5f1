"""The request of rspamd's clients: a message as the body, and an answer of their kind.

Important mail is no spam, ordinary mail gets a header. The score is that of the filter, from -10
(important) to 10; a mail server that can do so adds the header ``X-Rosenblatt``.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from rosenblatt.serve import shapes
from rosenblatt.serve.quick import json_response
from rosenblatt.serve.refusals import RefusalError
from rosenblatt.serve.routes import answer, meant

REQUIRED, LARGEST = 5.0, 10.0
BODY = {"content": {"message/rfc822": {"schema": {"type": "string", "format": "binary"}}}}

rspamd = APIRouter(tags=["rspamd"])


@rspamd.post("/checkv2", response_model=dict[str, Any], openapi_extra={"requestBody": BODY})
async def checkv2(request: Request) -> Response:
    """Mark a message, for clients of rspamd."""
    if "zstd" in request.headers.get("compression", "").lower():
        raise RefusalError(415, "compressed messages are not read here; send them as they are")
    asked = shapes.Question.model_construct(None, message=await request.body())
    hosted = await meant(request, asked)
    if hosted.kind != "mail":
        raise RefusalError(400, f"the learner {hosted.name} takes features, and no messages")
    said = answer(hosted, asked)
    ordinary = said["label"] == hosted.labels[1] and not said["unsure"]
    score = max(-LARGEST, min(LARGEST, -LARGEST * said["score"])) + 0.0
    mark = "unsure" if said["unsure"] else said["label"]
    symbol = {"name": "ROSENBLATT", "score": score, "metric_score": score, "options": [mark]}
    header = {"value": f"{mark}; score={said['score']:.4f}", "order": 0}
    return json_response(
        {
            "is_skipped": False,
            "score": score,
            "required_score": REQUIRED,
            "action": "add header" if ordinary else "no action",
            "symbols": {"ROSENBLATT": symbol},
            "messages": {},
            "message-id": said["id"],
            "milter": {
                "remove_headers": {"X-Rosenblatt": 0},
                "add_headers": {"X-Rosenblatt": header},
            },
        }
    )
