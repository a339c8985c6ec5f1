"""The slow, obvious twin of the svmlight parser: one line, one word, one rule at a time."""

import math
import re
from decimal import Decimal

import numpy as np

WORD = re.compile(rb"[^ \t]+")
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
DIGITS = re.compile(rb"[0-9]+")
NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
NO_LABEL = re.compile(rb"[:\x00-\x1f\x7f]")


class Refusal(Exception):
    """The place of the first word that breaks a rule; lines and columns count from 1."""

    def __init__(self, column):
        super().__init__()
        self.line = 0
        self.column = column


class NoExamples(Exception):
    """There is no example at all."""


def parse(data, *, zero_based=False, width=None, dtype=np.float32):
    """Give each row as a dictionary from columns, ascending, to values, and the labels.

    The labels are integers or floats if all of them are, and otherwise strings.
    """
    rows, labels = [], []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            example = parse_line(line.removesuffix(b"\r"), zero_based, width, np.dtype(dtype))
        except Refusal as refusal:
            refusal.line = number
            raise
        if example is not None:
            labels.append(example[0])
            rows.append(example[1])
    if not rows:
        raise NoExamples
    words = [label.decode() for label in labels]
    if not all(map(NUMBER.fullmatch, labels)):
        return rows, words
    doubles = list(map(float, words))
    if max(map(abs, doubles)) < 2**53:
        whole = all(map(float.is_integer, doubles))
        return rows, list(map(int, doubles)) if whole else doubles
    values = list(map(Decimal, words))
    if all(v == v.to_integral_value() and -(2**63) <= v < 2**63 for v in values):
        return rows, list(map(int, values))
    for value, word in zip(values, words, strict=True):
        whole = "e" not in word.lower() and not word.partition(".")[2].strip("0")
        if whole and value != float(word):
            return rows, words
    return rows, doubles


def parse_line(line, zero_based, width, dtype):
    """Give the label and the row of a line, or None if it holds no example."""
    text, hash_sign, comment = line.partition(b"#")
    words = [(match.start(), match.group()) for match in WORD.finditer(text)]
    row: dict[int, list[float]] = {}
    label = read_label(*words[0]) if words else None
    for index, (start, word) in enumerate(words[1:]):
        if index == 0 and word.startswith(b"qid:"):
            refuse_unless(DIGITS.fullmatch(word[4:]), start + 4)
        else:
            column, value = read_pair(start, word, zero_based, width, dtype)
            row.setdefault(column, []).append(value)
    if b"\0" in comment:
        raise Refusal(len(text) + len(hash_sign) + comment.index(b"\0") + 1)
    if label is None:
        return None
    sums = {column: add_up(row[column]) for column in sorted(row)}
    refuse_unless(all(is_finite(value, dtype) for value in sums.values()), words[0][0])
    return label, sums


def read_label(start, word):
    """Give a label if it is a finite number, or UTF-8 text that spells no other number."""
    if NUMBER.fullmatch(word):
        refuse_unless(math.isfinite(float(word)), start)
    else:
        refuse_unless(not NO_LABEL.search(word) and not NOT_FINITE.fullmatch(word), start)
        refuse_unless(is_utf8(word), start)
    return word


def is_utf8(word):
    """Tell whether a word can be decoded."""
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_pair(start, word, zero_based, width, dtype):
    """Give the column, counted from 0, and the value of a pair."""
    written, colon, value = word.partition(b":")
    refuse_unless(colon and DIGITS.fullmatch(written), start)
    refuse_unless(len(written.lstrip(b"0")) <= 10 and int(written) < 2**31, start)
    column = int(written) - (0 if zero_based else 1)
    refuse_unless(column >= 0 and (width is None or column < width), start)
    return column, read_number(start + len(written) + 1, value, dtype)


def read_number(start, word, dtype):
    """Give the double nearest to a number that the dtype can hold."""
    refuse_unless(NUMBER.fullmatch(word), start)
    refuse_unless(is_finite(float(word), dtype), start)
    return float(word)


def is_finite(value, dtype):
    """Tell whether a value stays finite in a dtype."""
    with np.errstate(over="ignore"):
        return math.isfinite(dtype.type(value))


def add_up(values):
    """Add values from left to right."""
    total = values[0]
    for value in values[1:]:
        total += value
    return total


def refuse_unless(condition, start):
    """Refuse the line at a position counted from 0."""
    if not condition:
        raise Refusal(start + 1)
