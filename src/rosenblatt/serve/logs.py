"""Lines of JSON on standard error, which hold nothing of what was sent."""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def place_of(error: BaseException) -> str:
    """Give where an error was raised; its text may hold what was sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


def say(event: str, **facts: Any) -> None:
    """Log an event as a line of JSON."""
    line = {"at": round(time.time(), 3), "event": event, **facts}
    print(json.dumps(line), file=sys.stderr, flush=True)
