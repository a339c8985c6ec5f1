"""Strings as an array."""

from __future__ import annotations

import numpy as np

from rosenblatt.data.svmlight import LARGE_STRINGS, WIDEST_STRINGS


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
    size = len(words) * width * np.dtype("U1").itemsize
    affordable = max(LARGE_STRINGS, WIDEST_STRINGS * sum(map(len, words)))
    return np.array(words, dtype=None if size <= affordable else object)
