"""Which characters make up words, and their lower case: a fixed table, of Unicode 14.0.0.

A word character is a letter, a mark or a number (general categories L, M and N) or the underscore.
Lower case is the simple mapping of Unicode, one character to one: İ gives i, and Σ gives σ wherever
it stands. The table is part of the package, because that of Python changes with its version, and
then the same text would get other columns.
"""

from __future__ import annotations

import functools
import zlib
from pathlib import Path

import numpy as np

UNICODE_VERSION = "14.0.0"

# A step that no word character has.
NOT_IN_WORDS = 0x110000

# The steps from each character to its lower case in runs of equal ones: the lengths of the runs,
# then their steps, as little-endian int32, compressed.
RUNS = Path(__file__).with_suffix(".bin")


@functools.cache
def case_steps(lowercase: bool = True) -> np.ndarray:
    """Give for each code point what takes it to its lower case, or `NOT_IN_WORDS`, as int32.

    Without `lowercase` the step of every word character is 0.

    Examples
    --------
    >>> [int(case_steps()[ord(letter)]) for letter in "aAΣ_9"]
    [0, 32, 32, 0, 0]
    >>> bool(case_steps()[ord("-")] == NOT_IN_WORDS)
    True
    """
    runs = np.frombuffer(zlib.decompress(RUNS.read_bytes()), "<i4").reshape(2, -1)
    kept = runs[1] if lowercase else np.where(runs[1] == NOT_IN_WORDS, NOT_IN_WORDS, 0)
    steps = np.repeat(kept, runs[0]).astype(np.int32)
    steps.flags.writeable = False
    return steps
