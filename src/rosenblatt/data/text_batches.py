"""Documents, as an iterable gives them or as parts of a buffer, in batches of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.sources import as_text
from rosenblatt.errors import InputError
from rosenblatt.names import column_names

# A document counts so many bytes more than it has, so that empty ones fill a batch, too.
DOCUMENT_BYTES = 16


class Batch(NamedTuple):
    """Documents as parts of one array of bytes."""

    text: np.ndarray
    starts: np.ndarray
    stops: np.ndarray


def checked_iterable(documents: Any) -> Iterable[Any]:
    """Refuse a single text, whose documents would be its letters, and what has no documents."""
    names = column_names(documents)
    if names is not None or isinstance(documents, Mapping):
        some = list(documents)[:1] if names is None else names[:1]
        raise InputError(
            f"documents must be one column of texts, got a {type(documents).__name__}; give that "
            f"column alone, such as X[{', '.join(map(repr, some))}]"
        )
    if isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
        raise InputError(
            f"documents must be an iterable of str or bytes, got {type(documents).__name__}; "
            "put a single document into a list"
        )
    return documents


def joined_batches(documents: Iterable[Any], size: int) -> Iterator[Batch]:
    """Join documents into batches of about so many bytes, or of one longer document."""
    remaining = iter(documents)
    count, first = 1, 0
    while block := list(islice(remaining, count)):
        data, lengths = joined(block, first)
        stops = np.cumsum(np.fromiter(lengths, np.uint64, len(block)), dtype=np.uint64)
        starts = np.concatenate((np.zeros(1, np.uint64), stops[:-1]))
        yield Batch(as_text(data), starts, stops)
        first += len(block)
        # The documents to come are taken to be as long as the last ones, with caution.
        taken = len(data) + len(block) * DOCUMENT_BYTES
        count = max(1, min(2 * count, len(block) * size // taken))


def joined(documents: list[Any], first: int) -> tuple[bytes, Iterable[int]]:
    """Give the UTF-8 of documents, one after the other, and their lengths."""
    kinds = set(map(type, documents))
    if kinds == {str}:
        text = "".join(documents)
        if text.isascii():  # encoding all at once takes a third of the time
            return text.encode(), map(len, documents)
    if kinds != {bytes}:
        documents = [as_utf8(text, f"document {first + k}") for k, text in enumerate(documents)]
    return b"".join(documents), map(len, documents)


def as_utf8(text: Any, name: str) -> bytes:
    """Give a text as bytes; surrogates become bytes that are not UTF-8, hence separators."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if not isinstance(text, bytes):
        raise InputError(f"{name} is of type {type(text).__name__}; documents must be str or bytes")
    return text


def checked_spans(size: int, starts: Any, stops: Any) -> tuple[np.ndarray, np.ndarray]:
    """Give starts and stops as unsigned numbers if they lie within the text."""
    begins, ends = np.asarray(starts), np.asarray(stops)
    if begins.ndim != 1 or begins.shape != ends.shape:
        raise InputError(
            "starts and stops must be two arrays of equal length, "
            f"got shapes {begins.shape} and {ends.shape}"
        )
    if begins.size and (begins.dtype.kind not in "iu" or ends.dtype.kind not in "iu"):
        raise InputError(
            f"starts and stops must be whole numbers, got {begins.dtype} and {ends.dtype}"
        )
    bad = np.flatnonzero((begins < 0) | (begins > ends) | (ends > size))
    if bad.size:
        k = bad[0]
        raise InputError(
            f"document {k} goes from {begins[k]} to {ends[k]}, outside a text of {size} bytes"
        )
    return begins.astype(np.uint64), ends.astype(np.uint64)


def cut_batches(
    text: np.ndarray, starts: np.ndarray, stops: np.ndarray, size: int
) -> Iterator[Batch]:
    """Cut documents in place into batches of about so many bytes."""
    cumulative = np.cumsum((stops - starts).astype(np.int64) + DOCUMENT_BYTES)
    first = 0
    while first < starts.size:
        before = int(cumulative[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(cumulative, before + size)))
        yield Batch(text, starts[first:last], stops[first:last])
        first = last
