"""What a request is refused for: a status, and one sentence."""

from __future__ import annotations

from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from rosenblatt.errors import InputError, MissingExtraError, RosenblattError, StoreError

LONGEST = 500  # letters of a sentence
TAGS = {"one", "many", "constrained-str", "constrained-int"}  # of unions; no key of a request
SENTENCES = {
    "extra_forbidden": "there is no such key; GET /docs lists those that there are",
    "missing": "this is missing; GET /docs shows what is needed",
    "string_pattern_mismatch": "write 1 to 64 letters, digits and _ . -, a letter or digit first",
}


class RefusalError(RosenblattError):
    """A request that is refused, with the status of HTTP that tells why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def refusal_of(error: Exception) -> RefusalError | None:
    """Give the status and the sentence of an error; None for one that nobody foresaw."""
    if isinstance(error, RefusalError):
        return error
    if isinstance(error, ValidationError | RequestValidationError):
        return RefusalError(422, _first(error.errors()))
    status = {StoreError: 503, InputError: 400, MissingExtraError: 501, MemoryError: 413}
    for kind, number in status.items():
        if isinstance(error, kind):
            return RefusalError(
                number, str(error)[:LONGEST] or "there is not enough memory for this"
            )
    return None


def _first(faults: Any) -> str:
    """Say where the first fault is, and what; its place may hold keys of the sender's choice."""
    fault = faults[0]
    place = ".".join(str(part)[:60] for part in fault["loc"] if part not in TAGS)
    message = SENTENCES.get(fault["type"]) or str(fault["msg"]).rstrip(".")
    return f"{place}: {message}"[:LONGEST] if place else message[:LONGEST]
