"""How much memory there is to be had; what needs more is refused before it is made."""

from __future__ import annotations

import os
from pathlib import Path

from rosenblatt.errors import InputError

# For each column, measured: what `separate`, `max_margin` and `mistake_bound` hold.
DECISION_BYTES = 300
LITTLE = 2**24  # bytes, for which it is not worth 0.1 ms to ask how many there are
FEWER_COLUMNS = "number the columns densely, or hash them to fewer"


class TooLargeError(InputError):
    """Something that needs more memory than there is to spare."""


def memory() -> int:
    """Give the bytes of memory that are to be had, or all there are where nothing tells."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 2**63  # such a system will say so itself


def check_memory(needed: int, what: str, advice: str) -> None:
    """Refuse what would take more than half of the memory: others want some too."""
    if needed > LITTLE and needed > memory() // 2:
        raise TooLargeError(
            f"{what} need about {needed / 2**30:,.1f} GiB, more than this machine can spare; "
            f"{advice}"
        )


def check_columns(columns: int, bytes_each: int, what: str) -> None:
    """Refuse a number of columns with which something would fill the memory."""
    check_memory(columns * bytes_each, f"{what} {columns:,} columns", FEWER_COLUMNS)
