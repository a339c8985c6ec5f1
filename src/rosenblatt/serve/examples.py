"""From requests to examples: features by name as they are, messages as hashed rows."""

from __future__ import annotations

import hashlib
from typing import Any

from pydantic_core import to_json

from rosenblatt.errors import InputError
from rosenblatt.serve.hosted import Hosted
from rosenblatt.serve.inbox import Entry
from rosenblatt.serve.refusals import RefusalError

MAIL, DEFAULT = "mail", "default"  # learners that are meant where none is named


def entry_of(hosted: Hosted, given: Any) -> Entry:
    """Give an example as it is answered, learned and shown."""
    if given.message is None and given.features is None:
        found = hosted.inbox.get(given.id) if given.id else None
        if found is None:
            wanted = "a message" if hosted.kind == "mail" else "features"
            raise RefusalError(404, f"the inbox has no example of this id; give {wanted} with it")
        return found
    if (given.message is None) == (hosted.kind == "mail") or None not in given_parts(given):
        wanted = "messages" if hosted.kind == "mail" else "features"
        raise InputError(f"the learner {hosted.name} takes {wanted}, and nothing else")
    if given.message is not None:
        return _of_message(as_bytes(given.message), given.id)
    return Entry(given.id or digest(given.features), given.features)


def given_parts(given: Any) -> tuple[Any, Any]:
    """Give what an example may be made of."""
    return given.message, given.features


def as_bytes(message: str | bytes) -> bytes:
    """Give a message that came as text or as it is."""
    return message.encode("utf-8", "replace") if isinstance(message, str) else message


def digest(features: dict[str, float]) -> str:
    """Give the id of features that came without one: the same in any order."""
    return hashlib.sha256(to_json(sorted(features.items()))).hexdigest()


def _of_message(message: bytes, name: str | None) -> Entry:
    from rosenblatt.mail.documents import documents, header_of, subject_of
    from rosenblatt.mail.features import rows
    from rosenblatt.mail.filter import name_of

    found = documents([message])
    return Entry(
        name or name_of(message),
        rows(found)[0],
        header_of(message, b"from") or None,
        subject_of(message) or None,
        found[0],
    )
