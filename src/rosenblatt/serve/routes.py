"""What can be asked of learners over HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Discriminator, Tag, TypeAdapter

from rosenblatt.errors import InputError, StoreError
from rosenblatt.serve import shapes
from rosenblatt.serve.events import counts
from rosenblatt.serve.examples import DEFAULT, MAIL, as_bytes, entry_of
from rosenblatt.serve.hosted import Hosted
from rosenblatt.serve.inbox import Entry
from rosenblatt.serve.quick import RAW, QuickRoute, StrictRoute, json_response
from rosenblatt.serve.refusals import RefusalError
from rosenblatt.serve.service import Service
from rosenblatt.store.journal import Correction, Undo

OPTIONS = {
    "C": 1.0,
    "window": 30,
    "unsure": 0.005,
}  # of a learner that is made by its first example


def _how_many(body: Any) -> str:
    return "many" if isinstance(body, dict) and "items" in body else "one"


Asked = Annotated[
    Annotated[shapes.Question, Tag("one")] | Annotated[shapes.Questions, Tag("many")],
    Discriminator(_how_many),
]
Taught = Annotated[
    Annotated[shapes.Lesson, Tag("one")] | Annotated[shapes.Lessons, Tag("many")],
    Discriminator(_how_many),
]
Learner = Annotated[shapes.Name | None, Query(description="By default the only one there is.")]
LABEL, NAME = TypeAdapter(shapes.Label), TypeAdapter(shapes.Name)

quick = APIRouter(route_class=QuickRoute, tags=["learners"])
calm = APIRouter(route_class=StrictRoute, tags=["learners"])


def service_of(request: Request) -> Service:
    """Give the learners that are served."""
    found: Service = request.app.state.service
    return found


# ---- asking and teaching


@quick.post("/predict", openapi_extra=RAW, response_model=shapes.Answer | shapes.Answers)
async def predict(request: Request, body: Asked, learner: Learner = None) -> dict[str, Any]:
    """Label one example or several."""
    if isinstance(body, bytes):
        body = shapes.Question.model_construct(None, message=body)
    hosted = await meant(request, body)
    if isinstance(body, shapes.Questions):
        return {"answers": [answer(hosted, each) for each in body.items]}
    return answer(hosted, body)


def answer(hosted: Hosted, given: Any) -> dict[str, Any]:
    """Label an example, and put it into the inbox."""
    entry = entry_of(hosted, given)
    said = hosted.answer(entry.row)
    hosted.inbox.put(entry)
    hosted.seen += 1
    return {"id": entry.id, "label": said.label, "score": said.score, "unsure": said.unsure}


@quick.post("/teach", openapi_extra=RAW, response_model=shapes.Receipt | shapes.Receipts)
async def teach(
    request: Request, body: Taught, learner: Learner = None, label: shapes.Label | None = None
) -> dict[str, Any]:
    """Correct the label of one example or several; what is acknowledged is on disk.

    The same id with the same label changes nothing; with another label it replaces what was taught.
    A message as it is has its label in the query.
    """
    if isinstance(body, bytes):
        said = LABEL.validate_python(request.query_params.get("label"))
        body = shapes.Lesson.model_construct(None, message=body, label=said)
    hosted = await meant(request, body)
    if isinstance(body, shapes.Lessons):
        return {"receipts": await _learned(request, hosted, body.items)}
    return (await _learned(request, hosted, [body]))[0]


async def _learned(request: Request, hosted: Hosted, items: list[Any]) -> list[dict[str, Any]]:
    service = service_of(request)
    corrections, entries = [], []
    for each in items:
        label, entry = hosted.inward(each.label), entry_of(hosted, each)
        _check_room(service, hosted, entry)
        entries.append(replace(entry, correction=each.label))
        corrections.append(Correction(entry.id, entry.row, label, entry.subject or ""))
    receipts = await service.change(hosted, corrections)
    for entry, receipt in zip(entries, receipts, strict=True):
        if receipt.new or hosted.inbox.get(entry.id) is None:
            hosted.inbox.put(entry)
    return [
        {"id": entry.id, "seq": receipt.seq, "new": receipt.new}
        for entry, receipt in zip(entries, receipts, strict=True)
    ]


def _check_room(service: Service, hosted: Hosted, entry: Entry) -> None:
    most, known = service.limits.features, getattr(hosted.held.learner, "n_features_in_", 0)
    if hosted.kind == "features" and known + len(entry.row) > most:
        raise InputError(f"the learner {hosted.name} may have {most} features and no more")


@quick.post("/undo", openapi_extra=RAW, response_model=shapes.Undone)
async def undo(request: Request, body: shapes.Undo, learner: Learner = None) -> dict[str, Any]:
    """Take back a correction; the weights become exactly those without it."""
    if isinstance(body, bytes):
        body = shapes.Undo.model_construct(None, message=body)
    name = body.id
    if body.message is not None:
        from rosenblatt.mail.filter import name_of

        name = name_of(as_bytes(body.message))
    hosted = _named(request, body.learner)
    try:
        done = await service_of(request).change(hosted, Undo(name))
    except StoreError:
        raise
    except InputError:
        raise RefusalError(
            404, f"{hosted.name} has no such correction; what was compacted cannot be undone"
        ) from None
    hosted.inbox.correct(done.id, None)
    return {"seq": done.seq}


async def meant(request: Request, body: Any) -> Hosted:
    """Give the learner that a request means; those that need no name are made when first met."""
    service, name = service_of(request), body.learner or request.query_params.get("learner")
    first = body.items[0] if getattr(body, "items", ()) else body
    is_mail = getattr(first, "message", None) is not None
    is_lesson = isinstance(body, shapes.Lesson | shapes.Lessons)
    if name is None:
        name = MAIL if is_mail or (MAIL in service.learners and _is_empty(first)) else DEFAULT
    elif not is_lesson or _is_empty(first):
        return service.get(name)
    if name in service.learners or name in service.broken:
        return service.get(name)
    return await make(service, NAME.validate_python(name), is_mail)


def _is_empty(given: Any) -> bool:
    return getattr(given, "message", None) is None and getattr(given, "features", None) is None


async def make(
    service: Service,
    name: str,
    is_mail: bool,
    learner: str = "OnlineSVM",
    options: dict[str, Any] | None = None,
    labels: list[str] | None = None,
) -> Hosted:
    """Make a learner."""
    if is_mail:
        from rosenblatt.mail import filter
        from rosenblatt.mail.documents import documents

        documents([])  # without what reads messages, nothing is made
        marks = labels or filter.MARKS
        return await service.make(name, filter.LEARNER, filter.OPTIONS, marks=marks)
    return await service.make(name, learner, OPTIONS if options is None else options)


def _named(request: Request, name: str | None) -> Hosted:
    """Give the learner of this name, or the only one."""
    service = service_of(request)
    name = name or request.query_params.get("learner")
    if name is None:
        if len(service.learners) != 1:
            known = ", ".join(sorted(service.learners)[:10]) or "none yet"
            raise RefusalError(404, f"name a learner with ?learner=NAME; there are: {known}")
        name = next(iter(service.learners))
    return service.get(name)


# ---- looking


@calm.get("/learners/{name}/inbox", response_model=shapes.Inbox)
async def inbox(
    request: Request, name: shapes.Name, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Response:
    """Give the latest examples, the newest first, as the learner marks them now."""
    hosted = service_of(request).get(name)
    items = []
    for entry in hosted.inbox.latest(limit):
        items.append(_shown(hosted, entry))
        await asyncio.sleep(0)  # others need not wait for all of it
    return json_response(
        {"learner": name, "kind": hosted.kind, "labels": hosted.labels, "items": items}
    )


def _shown(hosted: Hosted, entry: Entry) -> dict[str, Any]:
    said = hosted.answer(entry.row)
    return {
        "id": entry.id,
        "at": entry.at,
        "sender": entry.sender,
        "subject": entry.subject,
        "features": entry.row if isinstance(entry.row, dict) else None,
        **said._asdict(),
        "correction": entry.correction,
        "reasons": hosted.reasons(entry, said.score),
    }


@calm.get("/stats", response_model=shapes.Stats)
async def stats(request: Request, learner: Learner = None) -> Response:
    """Give corrections, mistakes and doubts, by day, and the bound of the mistakes."""
    return json_response(_named(request, learner).stats())


@calm.get("/events", response_class=StreamingResponse)
async def events(request: Request, learner: Learner = None) -> StreamingResponse:
    """Send the totals of learners as they change (server-sent events named `counts`)."""
    service = service_of(request)
    hosted = None if learner is None else service.get(learner)
    return StreamingResponse(counts(service, hosted), media_type="text/event-stream")


@calm.get("/learners", response_model=shapes.Learners)
async def learners(request: Request) -> Response:
    """List all learners."""
    found = [_model(hosted) for hosted in service_of(request).learners.values()]
    return json_response({"learners": found})


@quick.post("/learners", status_code=201, response_model=shapes.Model)
async def make_learner(request: Request, body: shapes.Made) -> dict[str, Any]:
    """Make a learner with options of its own; one that is there is not changed."""
    service = service_of(request)
    if body.name in service.learners or body.name in service.broken:
        raise RefusalError(409, f"there is a learner {body.name} already")
    is_mail = body.kind == "mail"
    if is_mail and (body.options or body.learner != "OnlineSVM"):
        raise InputError("a learner of mail has no options; leave out learner and options")
    if body.labels is not None and not is_mail:
        raise InputError("labels are those of mail; features take them as they come")
    if body.labels is not None and len({*body.labels, "unsure"}) < 3:
        raise InputError("the labels must be two names, and none of them unsure")
    made = await make(service, body.name, is_mail, body.learner, body.options, body.labels)
    return _model(made)


@calm.get("/model", response_model=shapes.Model)
async def model(
    request: Request, learner: Learner = None, top: Annotated[int, Query(ge=0, le=10_000)] = 100
) -> Response:
    """Tell what a learner is, and its largest weights."""
    return json_response(_model(_named(request, learner), top))


def _model(hosted: Hosted, top: int = 0) -> dict[str, Any]:
    learner, weights = hosted.held.learner, None
    if hosted.kind == "features" and learner.is_fitted and len(hosted.labels) <= 2:
        w = learner.coef_[0] * (1.0 if len(hosted.labels) == 2 else -1.0)
        largest = abs(w).argsort(kind="stable")[::-1][:top].tolist()
        weights = {str(learner.feature_names_in_[k]): float(w[k]) for k in largest}
    return {
        "name": hosted.name,
        "kind": hosted.kind,
        "learner": hosted.facts["learner"],
        "options": hosted.facts["options"],
        "labels": hosted.labels,
        "features": getattr(learner, "n_features_in_", 0),
        "corrections": hosted.held.counts().corrections,
        "position": hosted.held.position,
        "weights": weights,
    }
