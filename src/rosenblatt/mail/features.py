"""Documents as rows: hashed words, pairs and pieces of four bytes.

The rules
---------
- A *word* is a longest run of ASCII letters, digits, ``$ ' - _`` and bytes beyond ASCII; capitals
  become small letters, and only the first `LONGEST` bytes count.
- Its hash is h after  h ← mix(h ⊕ chunk)  over the word in chunks of eight bytes, little-endian and
  filled up with zeros, from h = the *tag* of where it stands. The tag of a region is mix(its
  number); of a header line, the hash of the header's name, tagged by the head. So the word *free*
  in a subject and in the body are two features.
- A header line gives its name as a feature, mix(tag), and with that of the line before it the pair
  mix(mix(tag before) ⊕ tag). The name ends at a colon or NUL. Continued lines belong to the line
  that they continue.
- Two words in a row of one header line give the pair  mix(mix(first) ⊕ second).
- Each four bytes in a row of the start give  mix(START_TAG ⊕ bytes), little-endian.
- The upper 20 bits of a hash are its column. A column counts once, and each row has norm 1.

`rows` runs a compiled loop over many documents. `features_of` and `one_row` follow the same rules
in NumPy: they know the words behind the columns, and a program that marks a single message would
wait longer for the loop to load than for its answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.mail.documents import Document

BITS, LONGEST = 20, 32
COLUMNS, SHIFT = 1 << BITS, np.uint64(64 - BITS)
WORD, NAME = re.compile(rb"[a-z0-9$'_\x80-\xff-]+"), re.compile(rb"[^:\n\0]*")
# The regions behind the head, by the words that `why` says before theirs.
REGIONS = {"body": "", "links": "link ", "files": "file "}
HEAD_TAG, START_TAG = 1, 5
PIECE = "bytes "
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)

Row = tuple[np.ndarray, np.ndarray]


class Features(NamedTuple):
    """What a document holds, by name, and the hashes; some may be there twice."""

    names: list[str]
    hashes: np.ndarray


def mix(x: Any) -> Any:
    """Mix the bits of numbers, as `rosenblatt.data.text_loops` does."""
    for shift, factor in zip(SHIFTS, FACTORS, strict=False):
        x = (x ^ (x >> shift)) * factor
    return x ^ (x >> SHIFTS[2])


def tag(region: int) -> np.ndarray:
    """Give the tag of a region."""
    return np.asarray(mix(np.array([region], np.uint64)))


def hash_words(words: Sequence[bytes], tags: np.ndarray) -> np.ndarray:
    """Hash words by their tags."""
    chunks = np.array(words, f"S{LONGEST}").view("<u8").reshape(len(words), LONGEST // 8)
    h = np.broadcast_to(tags, len(words))
    for chunk in chunks.T:
        h = np.where(chunk, mix(h ^ chunk), h)
    return h


def features_of(document: Document) -> Features:
    """Give the features of a document, by name."""
    parts = [_of_head(document.head)]
    for number, (region, said) in enumerate(REGIONS.items(), HEAD_TAG + 1):
        words = WORD.findall(getattr(document, region).lower())
        names = [said + _shown(word) for word in words]
        parts.append(Features(names, hash_words(words, tag(number))))
    parts.append(_of_start(document.start))
    return Features(
        [n for part in parts for n in part.names], np.concatenate([p[1] for p in parts])
    )


def _of_head(head: bytes) -> Features:
    fields = list(_fields(head.lower()))
    tags = hash_words([name for name, _ in fields], tag(HEAD_TAG))
    titles = [_shown(name) for name, _ in fields]
    words = [WORD.findall(value) for _, value in fields]
    counts = [len(each) for each in words]
    h = hash_words([word for each in words for word in each], np.repeat(tags, counts))
    first = np.zeros(h.size + 1, bool)
    first[np.cumsum([0, *counts])] = True
    later = np.flatnonzero(~first[:-1])
    said = [
        f"{title}: {_shown(w)}" for title, each in zip(titles, words, strict=True) for w in each
    ]
    names = [f"header {title}" for title in titles]
    names += [f"headers {pair[0]}, {pair[1]}" for pair in pairwise(titles)]
    names += said
    names += [f"{said[k - 1]} {said[k].partition(': ')[2]}" for k in later]
    hashes = (mix(tags), mix(mix(tags[:-1]) ^ tags[1:]), h, mix(mix(h[later - 1]) ^ h[later]))
    return Features(names, np.concatenate(hashes))


def _fields(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Give names and values of header lines, continued ones as one."""
    name, value = None, b""
    for line in head.split(b"\n"):
        if line[:1] in (b"", b" ", b"\t"):
            value += b"\n" + line
            continue
        if name is not None:
            yield name, value
        name = NAME.match(line)[0]  # type: ignore[index]
        value = line[len(name) :]
    if name is not None:
        yield name, value


def _of_start(start: bytes) -> Features:
    data = np.frombuffer(start, np.uint8).astype(np.uint64)
    pieces = np.zeros(max(data.size - 3, 0), np.uint64)
    for k in range(4 * bool(pieces.size)):
        pieces |= data[k : k + pieces.size] << np.uint64(8 * k)
    names = [f"{PIECE}{start[k : k + 4]!r}" for k in range(pieces.size)]
    return Features(names, mix(tag(START_TAG) ^ pieces))


def _shown(word: bytes) -> str:
    return word[:LONGEST].decode("utf-8", "replace")


def words_of(document: Document) -> tuple[list[str], np.ndarray]:
    """Give the words of a document, without pieces, and the columns that they share with none."""
    names, hashes = features_of(document._replace(start=b""))
    columns, first = np.unique((hashes >> SHIFT).astype(np.int64), return_index=True)
    return [names[k] for k in first.tolist()], columns


def one_row(document: Document) -> Row:
    """Give the columns and values of a document."""
    columns = np.unique(features_of(document).hashes >> SHIFT).astype(np.int64)
    return columns, values_of(columns)


def values_of(columns: np.ndarray) -> np.ndarray:
    """Give the values that make a row of norm 1."""
    return np.full(columns.size, 1.0 / max(columns.size, 1) ** 0.5)


class DocumentRows(NamedTuple):
    """Rows of several documents: the columns of each, and where they begin and end."""

    starts: np.ndarray
    columns: np.ndarray

    def values(self) -> np.ndarray:
        """Give the values, one for each column, as `values_of` does."""
        counts = np.diff(self.starts).astype(np.int64)
        return np.repeat(1.0 / np.maximum(counts, 1) ** 0.5, counts)


def batch(documents: Sequence[Document]) -> DocumentRows:
    """Give the rows of many documents."""
    from rosenblatt.mail.loops import hash_documents, make_room

    bounds = np.zeros((len(documents), len(Document._fields) + 1), np.uint64)
    lengths = np.array([[len(region) for region in each] for each in documents], np.uint64)
    bounds[:, 1:] = np.cumsum(lengths, dtype=np.uint64).reshape(lengths.shape)
    bounds[1:, 0] = bounds[:-1, -1]
    text = np.frombuffer(b"".join([region for each in documents for region in each]), np.uint8)
    room = make_room(lengths.sum(axis=1))
    hash_documents(text, bounds, room)
    return DocumentRows(room.starts, room.columns[: room.starts[-1]].copy())


def rows(documents: Sequence[Document]) -> list[Row]:
    """Give the columns and values of many documents, one by one."""
    made = batch(documents)
    found = [made.columns[begin:end] for begin, end in pairwise(made.starts)]
    return [(columns.astype(np.int64), values_of(columns)) for columns in found]
