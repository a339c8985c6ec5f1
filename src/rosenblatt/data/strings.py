"""Strings as an array."""

from __future__ import annotations

from typing import Any

import numpy as np

# Strings of one width are the type that NumPy and its friends know best. They may take so many
# bytes, or so many times the bytes of the text, lest one long label make them fill the memory.
LARGE_STRINGS, WIDEST_STRINGS = 1 << 24, 16


def string_array(words: list[str]) -> np.ndarray:
    """Give strings of one width, or as objects where one long string would make all as long.

    Examples
    --------
    >>> string_array(["spam", "ham"])
    array(['spam', 'ham'], dtype='<U4')
    >>> string_array(["a"] * 9999 + ["b" * 9999]).dtype
    dtype('O')
    """
    width = max(map(len, words), default=1)
    return np.array(words, dtype=string_type(len(words), width, sum(map(len, words))))


def string_type(count: int, width: int, total: int) -> Any:
    """Give the dtype of so many strings, the longest and all of them so many characters long."""
    size = count * width * np.dtype("U1").itemsize
    affordable = max(LARGE_STRINGS, WIDEST_STRINGS * total)
    return np.dtype(("U", max(width, 1))) if size <= affordable else np.dtype(object)


def coded_strings(words: list[str], codes: np.ndarray) -> np.ndarray:
    """Give the words that codes stand for, each made once.

    Examples
    --------
    >>> coded_strings(["ham", "spam"], np.array([1, 0, 1]))
    array(['spam', 'ham', 'spam'], dtype='<U4')
    """
    lengths = np.array([len(word) for word in words], np.int64)
    kind = string_type(codes.size, int(lengths.max(initial=1)), int(lengths[codes].sum()))
    cut_short = any(word.endswith("\0") for word in words)  # by strings of one width
    distinct = np.empty(len(words), object if cut_short else kind)
    distinct[:] = words
    found: np.ndarray = distinct[codes]
    return found
