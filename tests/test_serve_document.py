"""The OpenAPI document says what the service does: schemathesis asks, and holds answers to it."""

import json

import pytest

pytest.importorskip("fastapi", reason="the service needs the extra `serve`")
pytest.importorskip("schemathesis", reason="it comes with the extra `test`")
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from amount import amount
from serving import serving
from test_serve import examples


@settings(
    max_examples=amount(8, 300),
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def ask(case):
    """Send a request, and hold its answer to the document."""
    case.call_and_validate(timeout=60, excluded_checks=[positive_data_acceptance])


@schemathesis.serializer("message/rfc822")
def as_it_is(context, value):
    """Give a message as it is sent."""
    return value if isinstance(value, bytes) else json.dumps(value).encode()


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("learners")) as client:
        client.post("/teach", {"items": examples(20)})
        client.mail("/teach?label=important", b"Subject: a\n\nb\n")
        yield client


def test_every_answer_has_the_shape_that_the_document_gives(client):
    schema = schemathesis.openapi.from_url(f"{client.url}/openapi.json")
    asked = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path == "/events":
            continue  # which never ends
        asked.add(operation.path)
        given(case=operation.as_strategy())(ask)()
    assert {"/predict", "/teach", "/undo", "/separate", "/verify", "/checkv2"} <= asked
