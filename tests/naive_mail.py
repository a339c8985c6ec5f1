"""A slow, obvious twin of the features of mail, by the rules in `rosenblatt.mail.features`."""

import re
from itertools import pairwise

from naive_text import mix

LETTERS = set(b"abcdefghijklmnopqrstuvwxyz0123456789$'-_") | set(range(128, 256))


def words(data):
    found = [b""]
    for byte in data.lower():
        if byte in LETTERS:
            found[-1] += bytes([byte])
        else:
            found.append(b"")
    return [word for word in found if word]


def hash_of(word, tag):
    h = tag
    for k in range(0, len(word[:32]), 8):
        chunk = int.from_bytes(word[:32][k : k + 8], "little")
        h = mix(h ^ chunk)
    return h


def header_lines(head):
    """Give names and values; what is before the first name is nobody's."""
    found = []
    for line in head.lower().split(b"\n"):
        if line[:1] not in (b"", b" ", b"\t"):
            name = re.split(rb"[:\0]", line)[0]
            found.append([name, line[len(name) :]])
        elif found:
            found[-1][1] += b"\n" + line
    return found


def columns(document):
    """Give the set of columns of a document."""
    hashes, before = set(), None
    for name, value in header_lines(document.head):
        tag = hash_of(name, mix(1))
        hashes.add(mix(tag))
        if before is not None:
            hashes.add(mix(mix(before) ^ tag))
        before = tag
        each = [hash_of(word, tag) for word in words(value)]
        hashes |= {*each, *(mix(mix(a) ^ b) for a, b in pairwise(each))}
    for number, region in enumerate((document.body, document.links, document.files), 2):
        hashes |= {hash_of(word, mix(number)) for word in words(region)}
    for k in range(len(document.start) - 3):
        hashes.add(mix(mix(5) ^ int.from_bytes(document.start[k : k + 4], "little")))
    return sorted({h >> 44 for h in hashes})
