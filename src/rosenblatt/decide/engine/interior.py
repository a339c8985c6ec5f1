"""HiGHS's interior method in a process of its own.

It may not hear for seconds that it is to stop, and a process that ends while a thread of it is at
work is aborted. Another process can be ended at any time. It begins with ``python -m``, takes a
program from its standard input, gives the states of an optimal basis, if it finds one, and ends
when nobody holds the other end of its input any more.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Any

from rosenblatt.exact.programs import Basis
from rosenblatt.pauses import beside


class InteriorMethod:
    """A process that solves a program: `answer` will be a basis, or None if it found none."""

    answer: Future[Basis | None]

    def __init__(self, model: Any, seconds: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is heard by whoever waits for it
        )
        self.answer = beside(lambda: self._asked(model, seconds))

    def _asked(self, model: Any, seconds: float) -> Basis | None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            pickle.dump((model, seconds), self.process.stdin, protocol=5)
            self.process.stdin.flush()
            told = self.process.stdout.read()
        except (OSError, ValueError):  # it was ended
            return None
        return Basis(*pickle.loads(told)) if told else None

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was not sent cannot be
                pipe.close()


def solve_what_is_asked() -> None:
    """Solve the program that standard input holds, in the process that was begun for it."""
    from rosenblatt.decide.engine.solver import INTERIOR, basis_of, is_optimal, loaded

    model, seconds = pickle.load(sys.stdin.buffer)
    Thread(target=_end_with_the_input, daemon=True).start()
    solver = loaded(model, {**INTERIOR, "time_limit": seconds})
    solver.run()
    if is_optimal(solver):
        pickle.dump(tuple(basis_of(solver)), sys.stdout.buffer, protocol=5)
        sys.stdout.flush()
    os._exit(0)  # the other thread still waits


def _end_with_the_input() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    solve_what_is_asked()
