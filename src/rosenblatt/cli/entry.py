"""Where the command begins and ends: signals, standard output and the exit status.

Python's own manners would not do:

- Ctrl-C while a module is imported, a loop compiled or a process begun shows a traceback, or is
  swallowed by code that cannot pass it on. It is put off until that is done, `PATIENCE` seconds at
  most.
- An unbuffered standard output (``python -u``) takes a write that a full disk cut short for a
  whole one.
- Click and Rich leave with status 1 when nobody reads the output any more, and 1 is an answer.

Little is imported here, not even `typing`, so that the first Ctrl-C is heard early.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

INTERRUPTED = 130  # what a shell reports for Ctrl-C
READER_GONE = 141  # and for a command whose output nobody reads any more
OBJECTS_BETWEEN_COLLECTIONS = 200_000
PATIENCE, PAUSE = 10.0, 0.02
BUSY = ("_frozen_importlib", "importlib", "numba", "llvmlite", "multiprocessing")


class ReaderGoneError(Exception):
    """Nobody reads the output any more; no error of the system, for libraries would act on that."""


def enter() -> None:
    """Run the command, and leave without taking the interpreter down, which takes 0.2 s."""
    # Imports make many objects that stay; to look for garbage among them takes another 0.1 s.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    status: Any = INTERRUPTED
    try:
        listen()
        sys.stdout = faithful(sys.stdout)
        from rosenblatt.cli.main import run

        run()
    except SystemExit as ended:
        status = ended.code
    except KeyboardInterrupt:
        print("rosenblatt: interrupted", file=sys.stderr)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:  # noqa: SIM105 (contextlib is not loaded)
            stream.flush()
        except (OSError, ValueError, ReaderGoneError):
            pass  # what there was to say about it was said
    os._exit(status if isinstance(status, int) else int(bool(status)))


def listen() -> None:
    """Let SIGTERM keep the work as Ctrl-C does, and hear SIGINT in background jobs of scripts too.

    Shells start those with SIGINT ignored, and Python then leaves it so.
    """
    first: list[float] = []

    def interrupt(number: int, frame: Any) -> None:
        first.append(time.monotonic())
        if hasattr(signal, "setitimer") and is_busy(frame) and first[-1] - first[0] < PATIENCE:
            signal.setitimer(signal.ITIMER_REAL, PAUSE)  # and then look again
            return
        first.clear()
        raise KeyboardInterrupt

    for name in ("SIGINT", "SIGTERM", "SIGALRM"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), interrupt)


def is_busy(frame: Any) -> bool:
    """Tell whether something is under way that an exception would break."""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in BUSY:
            return True
        frame = frame.f_back
    return False


def faithful(stream: TextIO | None) -> TextIO | None:
    """Give standard output as one that writes all or raises; that of a terminal is left alone."""
    if not isinstance(stream, io.TextIOWrapper) or stream.isatty():
        return stream
    raw = _Output(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, stream.errors)


def give_up(stream: TextIO | None) -> None:
    """Let what is still held of the output go: it would be tried again, and complained of."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    if isinstance(raw, _Output):
        raw.given_up = True


class _Output(io.FileIO):
    given_up = False

    def write(self, data: Any, /) -> int:
        if self.given_up:
            return len(data)
        try:
            return super().write(data)
        except BrokenPipeError:
            raise ReaderGoneError from None
