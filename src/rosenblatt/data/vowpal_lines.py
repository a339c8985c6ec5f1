"""One line in the format of Vowpal Wabbit, read slowly: what it says, or what is wrong with it.

The compiled loop of `vowpal`, which states the rules, leaves to `read_line` the lines that it
cannot read: those that break a rule, and those with numbers that are hard to round.
"""

from __future__ import annotations

import math
import re

from rosenblatt.data.sources import MisreadError
from rosenblatt.data.svmlight_errors import NUMBER, quote, spells_number

FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
MIXERS = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
WORD_BITS = 2**64 - 1

WORD = re.compile(rb"[^ \t|]+")
NAMESPACE_OR_FEATURE = re.compile(rb"\|[^ \t|]*|[^ \t|]+")


def hashed(seed: int, name: bytes) -> int:
    """Hash a name: FNV-1a, begun with its offset XOR the seed and finished by mixing."""
    key = FNV_OFFSET ^ seed
    for letter in name:
        key = (key ^ letter) * FNV_PRIME & WORD_BITS
    for mixer in MIXERS:
        key = (key ^ key >> 33) * mixer & WORD_BITS
    return key ^ key >> 33


def column_of(namespace: bytes, name: bytes, columns: int) -> int:
    """Give the column of a feature; the anonymous namespace is empty.

    Examples
    --------
    >>> column_of(b"", b"300", 256), column_of(b"", b"word", 2**18)
    (44, 242127)
    """
    seed = hashed(0, namespace) if namespace else 0
    key = int(name) + seed & WORD_BITS if name.isdigit() else hashed(seed, name)
    return key % columns


def read_line(line: bytes, limit: float) -> tuple[float, float, list[float]]:
    """Read a line: its label (NaN for none), its importance, and the values of its features."""
    nul = line.find(b"\0")
    if nul >= 0:
        raise MisreadError(nul, "a NUL byte is no text; decompress or convert the file first")
    lone = line.find(b"\r")
    if lone >= 0:
        raise MisreadError(lone, r"a carriage return alone ends no line; end lines in \n or \r\n")
    opening, bar, _ = line.partition(b"|")
    if not bar:
        raise MisreadError(
            len(opening) - len(opening.lstrip(b" \t")),
            "the line has no |; write a label, a bar and features, such as: 1 | height:1.5 red",
        )
    label, importance = _read_opening(opening)
    return label, importance, _read_values(line, len(opening), limit)


def _read_opening(opening: bytes) -> tuple[float, float]:
    words = [(match.start(), match.group()) for match in WORD.finditer(opening)]
    for place, (start, word) in enumerate(words):
        last = place == len(words) - 1
        if word.startswith(b"'") and not last:
            raise MisreadError(start, f"the tag {quote(word)} must come right before the bar")
        if last and (word.startswith(b"'") or start + len(word) == len(opening)):
            words.pop()
    if len(words) > 2:
        raise MisreadError(
            words[2][0],
            f"{quote(words[2][1])} stands where an initial prediction does, which is not "
            "supported; leave it out, or put an apostrophe before it if it is a tag",
        )
    nouns = ("label", "importance")
    numbers = [
        _number(word, noun, start) for noun, (start, word) in zip(nouns, words, strict=False)
    ]
    if len(numbers) == 2 and numbers[1] < 0:
        raise MisreadError(
            words[1][0], f"the importance {quote(words[1][1])} is negative; give 0 or more"
        )
    return numbers[0] if numbers else math.nan, numbers[1] if len(numbers) == 2 else 1.0


def _read_values(line: bytes, start: int, limit: float) -> list[float]:
    scale, values = 1.0, []
    for match in NAMESPACE_OR_FEATURE.finditer(line, start):
        name, colon, factor = match.group().partition(b":")
        place = match.start() + len(name) + 1
        if name.startswith(b"|"):
            scale = (
                _number(factor, f"scale of namespace {quote(name[1:])}", place) if colon else 1.0
            )
            continue
        if not name:
            raise MisreadError(
                match.start(),
                f"{quote(match.group())} has no name before the colon; write name:value",
            )
        noun = f"value of feature {quote(name)}"
        value = (_number(factor, noun, place) if colon else 1.0) * scale
        if not abs(value) < limit:
            raise MisreadError(place, f"the {noun} is too large; change it or leave it out")
        values.append(value)
    return values


def _number(word: bytes, noun: str, start: int) -> float:
    if NUMBER.fullmatch(word):
        number = float(word)
        if math.isfinite(number):
            return number
    if spells_number(word):
        raise MisreadError(
            start, f"the {noun}, {quote(word)}, is not finite; change it or leave it out"
        )
    raise MisreadError(
        start,
        f"the {noun}, {quote(word)}, is not a number; write lines such as: 1 | height:1.5 red",
    )
