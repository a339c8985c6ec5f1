"""Tables of text as they are written: decimals in place of the nearest floats.

The parsers give floats, which tell every number of up to 15 digits (see `rosenblatt.decimals`). So
one more look at the text is enough: where nothing longer stands, the floats are marked and no more
is done; what is longer, and not the shortest that rounds to its float, is kept beside them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.data.reading import Reading
from rosenblatt.data.written import UnusableError, exact_number_of, is_shortest
from rosenblatt.decimals import Written, is_whole, marked, written_numbers
from rosenblatt.errors import InputError
from rosenblatt.examples import Examples
from rosenblatt.loops import exact_loop, pays

TEXTS = ("svmlight", "csv", "tsv", "jsonl")
SMALL = 1 << 17  # bytes
TOLD = 15  # digits that a float tells
LONG = re.compile(r"[0-9.]{16,}(?:[eE][-+]?[0-9]+)?|[0-9.]+[eE][-+]?[0-9]{3,}")
NUMBER = re.compile(r"[0-9.]+(?:[eE][-+]?[0-9]+)?")
NINE, ZERO, POINT, PLUS, MINUS = (np.uint8(ord(sign)) for sign in "90.+-")


def exactly(examples: Examples, texts: Sequence[np.ndarray], reading: Reading) -> Examples:
    """Let the floats of examples stand for the decimals of the texts that they were read from."""
    try:
        X = examples.X
        written = _kept_beside(texts, X, reading.decimal)
        return examples if is_whole(X) and not written else replace(examples, X=marked(X, written))
    except (InputError, UnusableError) as error:
        raise InputError(f"{reading.file}: {error}") from None


def _kept_beside(texts: Sequence[np.ndarray], X: Any, point: str) -> Written:
    """Give the numbers of texts that stand in X and are not told by their floats."""
    if not any(_is_long(text, point) for text in texts):
        return {}
    content = (
        b"\n".join(text.tobytes() for text in texts).replace(point.encode(), b".").decode("latin-1")
    )
    words = set(LONG.findall(content))
    floats = [float(word) if word.count(".") < 2 else math.nan for word in words]
    odd = [word for word, value in zip(words, floats, strict=True) if repr(value) != word]
    unlike = {float(word) for word in _held(odd, X) if not is_shortest(word)}
    if not unlike:
        return {}
    alike = [word for word in _held(set(NUMBER.findall(content)), X) if float(word) in unlike]
    return written_numbers(list(map(float, alike)), list(map(exact_number_of, alike)))


def _held(words: Iterable[str], X: Any) -> list[str]:
    """Find the words that are numbers of X; others are names, labels or not read."""
    words = [word for word in words if word.count(".") < 2 and word != "."]
    for word in words:
        if not float(word) and re.match("[0.]*[1-9]", word):
            exact_number_of(word)  # which says that it cannot be used
    values = np.asarray(X.data if sparse.issparse(X) else X)
    return list(compress(words, np.isin(list(map(float, words)), np.abs(values))))


def _is_long(text: np.ndarray, point: str) -> bool:
    """Tell what `has_long` does; a small text is searched without compiling that."""
    if pays(has_long, text.size, SMALL):
        return bool(has_long(text, np.uint8(ord(point))))
    digits = rf"[1-9](?:[{point}]*[0-9]){{{TOLD}}}|[eE][-+]?[0-9]{{3}}"
    return re.search(digits.encode(), text.tobytes()) is not None


@exact_loop
def has_long(text: np.ndarray, point: Any) -> bool:
    """Tell whether digits follow each other that a float may not tell, or a large exponent."""
    digits, leading = 0, True
    for i in range(text.size):
        sign = text[i]
        if ZERO <= sign <= NINE:
            leading = leading and sign == ZERO
            digits += not leading
            if digits > TOLD:
                return True
        elif sign != point:
            if (sign | np.uint8(32)) == np.uint8(ord("e")) and i + 3 < text.size:
                first = i + 2 if text[i + 1] == PLUS or text[i + 1] == MINUS else i + 1
                if first + 2 < text.size and (
                    ZERO <= text[first] <= NINE
                    and ZERO <= text[first + 1] <= NINE
                    and ZERO <= text[first + 2] <= NINE
                ):
                    return True
            digits, leading = 0, True
    return False
