"""HiGHS's interior method in a process of its own.

It may not hear for seconds that it is to stop, and a process that ends while a thread of it is at
work is aborted. Another process can be ended at any time. It begins with ``python -m``, takes
programs from its standard input, one after the other, answers each, and ends when nobody holds the
other end of its input any more.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from queue import SimpleQueue
from threading import TIMEOUT_MAX, Thread
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.exact.programs import Basis
from rosenblatt.pauses import beside

GRACE = 0.1  # seconds that a solver has to come back


def patience(seconds: float) -> float:
    """Give for how long to wait for a solver that has some seconds."""
    return min(max(seconds, 0.0) + GRACE, TIMEOUT_MAX)


class Centre(NamedTuple):
    """What the method ends with: a point and multipliers, and an optimal basis if one is found."""

    x: np.ndarray
    y: np.ndarray
    basis: tuple[np.ndarray, np.ndarray] | None


class InteriorMethod:
    """A process that solves programs, to be ended by whoever leaves the `with`."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is heard by whoever waits for it
        )

    def centre(self, model: Any, seconds: float, *others: Future[Any]) -> Centre | None:
        """Give the middle of all optima, near enough; None if there is none, or others end first.

        It is among the optima what vertices are not: far from all ends but those that all keep.
        """
        return self._solved((model, seconds, False), others)

    def basis(self, model: Any, seconds: float, *others: Future[Any]) -> Basis | None:
        """Give an optimal basis, None if it finds none or others end first."""
        found = self._solved((model, seconds, True), others)
        return Basis(*found.basis) if found is not None and found.basis is not None else None

    def _solved(
        self, question: tuple[Any, float, bool], others: tuple[Future[Any], ...]
    ) -> Centre | None:
        answer = beside(lambda: self._asked(question))
        wait([answer, *others], patience(question[1]), FIRST_COMPLETED)
        return answer.result() if answer.done() else None

    def _asked(self, question: tuple[Any, float, bool]) -> Centre | None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            pickle.dump(question, self.process.stdin, protocol=5)
            self.process.stdin.flush()
            told = pickle.load(self.process.stdout)
        except (OSError, ValueError, EOFError, pickle.UnpicklingError):  # it was ended
            return None
        return Centre(*told) if told else None

    def __enter__(self) -> InteriorMethod:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(OSError, ValueError):  # what was not sent cannot be
                pipe.close()


def answer_what_is_asked() -> None:
    """Solve the programs that standard input holds, in the process that was begun for it."""
    from rosenblatt.decide.engine.solver import INTERIOR, basis_of, is_optimal, loaded

    questions: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_take, args=(questions,), daemon=True).start()
    while True:
        model, seconds, crossover = questions.get()
        ends = {"run_crossover": "on" if crossover else "off", "time_limit": seconds}
        solver = loaded(model, {**INTERIOR, **ends})
        solver.run()
        found = solver.getSolution()
        x, y = np.array(found.col_value), np.array(found.row_dual)
        basis = tuple(basis_of(solver)) if crossover and is_optimal(solver) else None
        usual = x.size == model[0].size and np.isfinite(x).all() and np.isfinite(y).all()
        pickle.dump((x, y, basis) if usual else None, sys.stdout.buffer, protocol=5)
        sys.stdout.flush()


def _take(questions: SimpleQueue[Any]) -> None:
    """Read programs while others are solved, so that the end of the input is seen at once."""
    try:
        while True:
            questions.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(1)


if __name__ == "__main__":
    answer_what_is_asked()
