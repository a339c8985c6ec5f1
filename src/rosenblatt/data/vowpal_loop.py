r"""The compiled loop of Vowpal Wabbit's format, of which `vowpal` states the rules.

`read_lines` reads a piece of whole lines and stops at the first line that breaks a rule. Rows with
numbers that it cannot round (`numbers`) are noted for the slow reader.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.numbers import HARD, MALFORMED, ONE, TEN, ZERO_DIGIT, read_number
from rosenblatt.data.svmlight_loop import BLANK, COLON, NEWLINE, NUL, RETURN, TAB, skip_blanks
from rosenblatt.loops import exact_loop, exact_part

FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
MIXERS = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
APOSTROPHE, BAR = ord("'"), ord("|")
ZERO = np.uint64(0)
OFFSET, PRIME = np.uint64(FNV_OFFSET), np.uint64(FNV_PRIME)
MIXER_1, MIXER_2 = (np.uint64(mixer) for mixer in MIXERS)
SHIFT = np.uint64(33)


class VowpalRoom(NamedTuple):
    """Where the loop writes: rows, entries, and the rows that it leaves open."""

    labels: np.ndarray  # NaN for none
    weights: np.ndarray
    lines: np.ndarray  # where the line of a row begins
    ends: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    hard: np.ndarray


class VowpalTally(NamedTuple):
    """How many of each the loop wrote, whether it stopped at an offence, and in which line."""

    rows: int
    entries: int
    hard: int
    offence: int
    line: int


@exact_part
def ends_line(text: Any, i: Any) -> Any:
    """Tell whether the line ends at i."""
    return text[i] == NEWLINE or (text[i] == RETURN and text[i + ONE] == NEWLINE)


@exact_part
def ends_word(text: Any, i: Any) -> Any:
    """Tell whether a word ends before i."""
    if text[i] > BLANK:
        return text[i] == BAR
    return text[i] == BLANK or text[i] == TAB or ends_line(text, i)


@exact_part
def stops_word(text: Any, i: Any) -> Any:
    """Tell whether a word ends before i, or a byte stands there that no word can have."""
    if text[i] > BLANK:
        return text[i] == BAR
    return (
        text[i] == BLANK
        or text[i] == TAB
        or text[i] == NEWLINE
        or text[i] == RETURN
        or text[i] == NUL
    )


@exact_part
def mixed(key: Any) -> Any:
    """Finish a hash, so that every bit of the key reaches every bit."""
    key = (key ^ (key >> SHIFT)) * MIXER_1
    key = (key ^ (key >> SHIFT)) * MIXER_2
    return key ^ (key >> SHIFT)


@exact_part
def read_name(text: Any, i: Any, seed: Any) -> Any:
    """Hash the name at i; give the hash, the name as a number, whether it is one, and its end."""
    key, number = OFFSET ^ seed, ZERO
    digital: Any = True
    while text[i] != COLON and not stops_word(text, i):
        letter = np.uint64(text[i])
        key = (key ^ letter) * PRIME
        digit = letter - ZERO_DIGIT
        digital = digital and digit < TEN
        number = number * TEN + digit
        i += ONE
    return mixed(key), number, digital, i


@exact_part
def read_factor(text: Any, i: Any) -> Any:
    """Read ``:number`` at i, or nothing, up to the end of the word.

    Gives the number, 1 if there is none, the position after it, whether it is hard, and whether
    all is well.
    """
    if text[i] != COLON:
        return 1.0, i, False, ends_word(text, i)
    number, i, kind = read_number(text, i + ONE)
    return number, i, kind == HARD, kind != MALFORMED and ends_word(text, i)


@exact_part
def read_opening(text: Any, i: Any) -> Any:
    """Read what stands before the first bar.

    Gives label (NaN for none), importance, the position of the bar, whether a number is hard, and
    whether all is well.
    """
    label, weight, hard, words = np.nan, 1.0, False, 0
    while text[i] != BAR:
        end = i
        while not stops_word(text, end):
            end += ONE
        if text[end] == BAR or text[i] == APOSTROPHE:
            i = skip_blanks(text, end)
            return label, weight, i, hard, text[i] == BAR and weight >= 0
        number, stop, kind = read_number(text, i)
        if kind == MALFORMED or stop != end or words == 2 or ends_line(text, end):
            return label, weight, i, hard, False
        hard = hard or kind == HARD
        if words == 0:
            label = number
        else:
            weight = number
        words += 1
        i = skip_blanks(text, end)
    return label, weight, i, hard, weight >= 0


@exact_part
def read_features(text: Any, i: Any, room: Any, entry: Any, columns: Any, limit: Any) -> Any:
    """Read the namespaces from the bar at i to the end of the line.

    Gives the position reached, the count of entries, whether a number is hard, and whether all is
    well.
    """
    hard = False
    seed, scale = ZERO, 1.0
    while not ends_line(text, i):
        if text[i] == BAR:
            start = i + ONE
            seed, _, _, i = read_name(text, start, ZERO)
            seed = ZERO if i == start else seed
            scale, i, unsettled, well = read_factor(text, i)
        else:
            start = i
            key, number, digital, i = read_name(text, start, seed)
            value, i, unsettled, well = read_factor(text, i)
            value *= scale
            well = well and text[start] != COLON and abs(value) < limit
            if well:
                room.columns[entry] = (number + seed if digital else key) % columns
                room.values[entry] = value
                entry += ONE
        hard = hard or unsettled
        if not well:
            return i, entry, hard, False
        i = skip_blanks(text, i)
    return i, entry, hard, True


@exact_loop
def read_lines(text: Any, room: Any, columns: Any, limit: Any) -> Any:
    """Read a piece that ends in a newline up to an offence; give the fields of a `VowpalTally`."""
    i = row = entry = unsettled = ZERO
    while i < np.uint64(text.size):
        line = i
        i = skip_blanks(text, i)
        if not ends_line(text, i):
            label, weight, i, hard, well = read_opening(text, i)
            if not well:
                return row, entry, unsettled, True, line
            i, entry, harder, well = read_features(text, i, room, entry, columns, limit)
            if not well:
                return row, entry, unsettled, True, line
            if hard or harder:
                room.hard[unsettled] = row
                unsettled += ONE
            room.labels[row] = label
            room.weights[row] = weight
            room.lines[row] = line
            room.ends[row] = entry
            row += ONE
        while text[i] != NEWLINE:
            i += ONE
        i += ONE
    return row, entry, unsettled, False, i
