"""The compiled loop of `features`, which states its rules."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.text_lines import NEWLINE, TAB
from rosenblatt.data.text_loops import ONE, ZERO, mix, sort_keys
from rosenblatt.loops import exact_loop, exact_part, loop
from rosenblatt.mail.features import BITS, HEAD_TAG, LONGEST, NAME, REGIONS, START_TAG, WORD
from rosenblatt.online.band import threshold
from rosenblatt.online.perceptron import State
from rosenblatt.online.window import Window, hold, learn_newest
from rosenblatt.rows import Sparse

COLON, SPACE = ord(":"), ord(" ")
MOST, FOUR = np.uint64(LONGEST), np.uint64(4)
SHIFT = np.uint64(64 - BITS - 1)  # a key is a column followed by the bit of a sign, which is 0
COLUMN_BITS = np.uint64((1 << BITS) - 1 << 1)
HEAD, START = np.uint64(HEAD_TAG), np.uint64(START_TAG)
AFTER_HEAD = np.uint64(HEAD_TAG + 1)
BETWEEN = len(REGIONS)  # regions between the head and the start
CHUNK_BITS, BYTE_BITS, NEXT_BYTE = np.uint64(64), np.uint64(8), np.uint64(8)


def _letters(pattern: re.Pattern[bytes]) -> np.ndarray:
    """Give for each byte its small letter, and 0 where the pattern does not match that."""
    small = bytes(range(256)).lower()
    return np.array([byte * bool(pattern.fullmatch(bytes([byte]))) for byte in small], np.uint8)


WORDS, NAMES = _letters(WORD), _letters(NAME)


class Sorting(NamedTuple):
    """How many digits of how many bits `sort_keys` takes."""

    digit_bits: np.uint64
    digits: np.uint64


SORTING = Sorting(np.uint64(BITS // 2), np.uint64(2))


class Learning(NamedTuple):
    """An online SVM of two classes, as the loop takes it."""

    box: float
    share: float
    state: State
    window: Window


class RowBuffers(NamedTuple):
    """Where the loop writes: the result, and what it needs for one row."""

    starts: np.ndarray
    columns: np.ndarray
    keys: np.ndarray
    spare_keys: np.ndarray
    counters: np.ndarray


def make_room(lengths: np.ndarray) -> RowBuffers:
    """Make the arrays that documents of so many bytes may fill.

    A byte begins two features at most: a word and a pair, or a name and a pair of names.
    """
    most, total = 2 * int(lengths.max(initial=0)) + 1, 2 * int(lengths.sum()) + 1
    return RowBuffers(
        starts=np.zeros(lengths.size + 1, np.uint64),
        columns=np.empty(total, np.uint32),
        keys=np.empty(most, np.uint32),
        spare_keys=np.empty(most, np.uint32),
        counters=np.empty(1 << BITS // 2, np.uint64),
    )


@exact_part
def key_of(h: Any) -> Any:
    """Give the key of a hash."""
    return np.uint32((h >> SHIFT) & COLUMN_BITS)


@exact_part
def read_word(text: Any, i: Any, stop: Any, h: Any, letters: Any) -> Any:
    """Hash the bytes from i on up to one that is none of the letters; give where that is, too."""
    chunk = shift = taken = ZERO
    while i < stop and letters[text[i]] != 0:
        if taken < MOST:
            chunk |= np.uint64(letters[text[i]]) << shift
            shift += BYTE_BITS
            taken += ONE
        if shift == CHUNK_BITS:
            h = mix(h ^ chunk)
            chunk = shift = ZERO
        i += ONE
    return (mix(h ^ chunk) if chunk != ZERO else h), i


@exact_part
def collect_head(text: Any, i: Any, stop: Any, keys: Any) -> Any:
    """Write the keys of header lines; give their number."""
    size = tag = before = previous = ZERO
    named = follows = False
    new_line = True
    while i < stop:
        byte = text[i]
        if new_line and byte != SPACE and byte != TAB and byte != NEWLINE:
            tag, i = read_word(text, i, stop, mix(HEAD), NAMES)
            keys[size] = key_of(mix(tag))
            size += ONE
            if named:
                keys[size] = key_of(mix(mix(before) ^ tag))
                size += ONE
            before, named, follows, new_line = tag, True, False, False
            continue
        new_line = byte == NEWLINE
        if WORDS[byte] == 0 or not named:
            i += ONE
            continue
        h, i = read_word(text, i, stop, tag, WORDS)
        keys[size] = key_of(h)
        size += ONE
        if follows:
            keys[size] = key_of(mix(mix(previous) ^ h))
            size += ONE
        previous, follows = h, True
    return size


@exact_part
def collect_words(text: Any, i: Any, stop: Any, tag: Any, size: Any, keys: Any) -> Any:
    """Write the keys of the words of a region; give the keys so far."""
    while i < stop:
        if WORDS[text[i]] == 0:
            i += ONE
            continue
        h, i = read_word(text, i, stop, tag, WORDS)
        keys[size] = key_of(h)
        size += ONE
    return size


@exact_part
def collect_pieces(text: Any, i: Any, stop: Any, size: Any, keys: Any) -> Any:
    """Write the keys of every four bytes in a row; give the keys so far."""
    tag, piece, read = mix(START), ZERO, ZERO
    while i < stop:
        piece = piece >> NEXT_BYTE | np.uint64(text[i]) << np.uint64(24)
        i += ONE
        read += ONE
        if read >= FOUR:
            keys[size] = key_of(mix(tag ^ piece))
            size += ONE
    return size


@exact_part
def keep_distinct(size: Any, entry: Any, room: Any) -> Any:
    """Write the columns of sorted keys, each once; give the entry after them."""
    previous = ZERO
    for k in range(size):
        key = np.uint64(room.keys[k])
        if k == ZERO or key != previous:
            room.columns[entry] = key >> ONE
            entry += ONE
        previous = key
    return entry


@exact_loop
def hash_documents(text: Any, bounds: Any, room: Any) -> Any:
    """Write the columns of each document, in order and each once, and where they end."""
    entry = ZERO
    for row in range(np.uint64(bounds.shape[0])):
        at = bounds[row]
        size = collect_head(text, at[0], at[1], room.keys)
        for region in range(BETWEEN):
            tag = mix(AFTER_HEAD + np.uint64(region))
            begin, end = at[region + 1], at[region + 2]
            size = collect_words(text, begin, end, tag, size, room.keys)
        size = collect_pieces(text, at[BETWEEN + 1], at[BETWEEN + 2], size, room.keys)
        sort_keys(size, SORTING, room)
        entry = keep_distinct(size, entry, room)
        room.starts[row + ONE] = entry


@loop
def answer_and_learn(
    rows: Sparse, codes: np.ndarray, first: int, machine: Learning, told: np.ndarray
) -> int:
    """Test each row from the first on, then learn it; give the row that the window lacks room for.

    What is told of it is from before it is learned: the lead of its true class over the other, and
    the threshold of doubt.
    """
    for i in range(first, codes.size):
        told[1, i] = threshold(machine.state.band, machine.share)
        if not hold(rows, i, codes[i], machine.box, machine.window, 1):
            return i
        told[0, i] = learn_newest(machine.window, machine.state)
    return codes.size
