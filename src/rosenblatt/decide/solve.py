"""`solve`: a point of A w >= b, or a proof that there is none (theory D11, D13).

Method      the exact optimum of a linear program in which rows may give way (`elastic`) is a point
            of the system, or Farkas' proof that there is none. Where a vertex would have very long
            numbers, a point inside is looked for first: floats are enough for it
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certificates import Certificate, Feasible, Infeasible, Number
from rosenblatt.check.subjects import System
from rosenblatt.check.verification import proven
from rosenblatt.checker import Refused
from rosenblatt.decide.answers import (
    REASONS,
    UNPROVEN,
    Clock,
    OutOfTimeError,
    checked_seconds,
    checked_steps,
)
from rosenblatt.decide.closeness import nearly_feasible
from rosenblatt.decide.farkas import Contradiction, ElasticSystem
from rosenblatt.decide.floats import FloatProgram
from rosenblatt.decide.optimum import optimum
from rosenblatt.errors import InputError
from rosenblatt.exact.digest import EQUAL, MORE_THAN
from rosenblatt.exact.numbers import is_exact
from rosenblatt.exact.products import Weights
from rosenblatt.exact.programs import AT_LOWER, Basis
from rosenblatt.matrices import check_finite
from rosenblatt.methods.classical import studied
from rosenblatt.methods.cones import SearchLimits, plain
from rosenblatt.methods.rescaled import rescaled
from rosenblatt.methods.smoothed import smoothed

MOST_RELATED = 1000  # rows whose relations are looked for exactly
LONG = 20_000  # binary digits of a vertex, from which on a point inside is looked for first
FEASIBLE, INFEASIBLE, UNDECIDED = "feasible", "infeasible", "undecided"
METHODS: dict[str, Callable[..., Any]] = {
    "perceptron": plain,
    "rescaled": rescaled,
    "smoothed": smoothed,
}


@dataclass(frozen=True)
class Solution:
    """Whether a system has a solution, and why.

    Attributes
    ----------
    verdict : {"feasible", "infeasible", "undecided"}
        The answer.
    w : ndarray of shape (n_unknowns,) or None
        A point that satisfies every row exactly: floats if floats can, else Fractions in an array
        of objects; None unless feasible.
    certificate : Certificate or None
        The proof, for `verify`; None if undecided.
    rows : ndarray of int
        The rows that hold with equality at w, or those that contradict each other.
    method : str
        The method that was used.
    steps : int or None
        Its steps, where it counts them.
    stop : str
        Why an undecided search ended.
    seconds : float
        The time taken.
    names : sequence of str
        The names of the unknowns, if they were read from a file.
    notes : sequence of str
        Sentences about what was left out of a file, or taken in a way that others do not.
    """

    verdict: str
    w: np.ndarray | None
    certificate: Certificate | None
    rows: np.ndarray
    method: str = "auto"
    steps: int | None = None
    stop: str = ""
    seconds: float = field(compare=False, default=0.0)
    names: Sequence[str] = ()
    notes: Sequence[str] = ()

    def explain(self) -> str:
        """Explain the verdict.

        Returns
        -------
        str
            A paragraph.
        """
        return " ".join([_EXPLAIN[self.verdict](self), *self.notes])

    def __str__(self) -> str:
        return self.explain()


def solve_system(
    system: System, method: str, max_seconds: float | None, max_steps: int | None
) -> Solution:
    """Find w with A w >= b, or prove that there is none; `rosenblatt.solve` says what is what."""
    if not (isinstance(method, str) and method in ("auto", *METHODS)):
        names = ", ".join(map(repr, ("auto", *METHODS)))
        raise InputError(f"method must be one of {names}, got {method!r}")
    if method == "auto" and max_steps is not None:
        raise InputError("method='auto' counts no steps; limit it by max_seconds")
    steps = checked_steps(max_steps)
    if not is_exact(system.X):
        check_finite(system.X, name="A")
    question = _Question(system, Clock(checked_seconds(max_seconds)), method)
    try:
        return question.decide() if method == "auto" else question.study(steps)
    except (OutOfTimeError, KeyboardInterrupt) as ended:
        return question.undecided(question.clock.stopped_by(ended))


class _Question:
    """A system, the time for it, and how it is answered."""

    def __init__(self, system: System, clock: Clock, method: str) -> None:
        self.system, self.clock, self.method = system, clock, method

    def decide(self) -> Solution:
        """Decide by the exact optimum of one or two linear programs."""
        for column, (lower, upper) in enumerate(self.system.pairs or ()):
            if lower is not None and upper is not None and lower > upper:
                once = {column: Fraction(1)}
                return self._infeasible(Contradiction({}, once, once))
        return self._decide(np.arange(self.system.tags.size))

    def _decide(self, rows: np.ndarray) -> Solution:
        """Decide about some of the rows."""
        elastic = ElasticSystem(self.system, rows)
        self.clock.left()
        inside = self._inside(elastic)
        if inside is not None:
            return self._feasible(inside)
        program, width = elastic.program(), elastic.width
        basis, found = optimum(program, elastic.start(), self.clock)
        if any(found.x.numbers[width:]):
            return self._infeasible(elastic.contradiction(found, self.clock))
        if not elastic.strict.size or self._is_solution(found.point()[:width]):
            return self._feasible(found.point()[:width])
        basis = Basis(np.append(basis.columns, np.int8(AT_LOWER)), basis.rows)
        rigid = elastic.strict_program(program)
        _, found = optimum(rigid, basis, self.clock)
        if found.x.numbers[-1]:
            return self._feasible(found.point()[:width])
        return self._infeasible(elastic.contradiction(found, self.clock))

    def _inside(self, elastic: ElasticSystem) -> list[Number] | None:
        """Give a point that keeps off the ends of all rows, if those on them may be very long."""
        if elastic.equal.any() or elastic.vertex_digits() < LONG:
            return None
        floats = FloatProgram(elastic.inside_program())
        found = floats.point(self.clock.left())[: elastic.width]
        if not np.isfinite(found).all():
            return None
        pairs = zip(found.tolist(), self.system.pairs or [(None, None)] * found.size, strict=True)
        point = [_between(value, *pair) for value, pair in pairs]
        return point if self._is_solution(point) else None

    def study(self, max_steps: int | None) -> Solution:
        """Look for a point by one of the methods that people study."""
        if (self.system.tags == EQUAL).any():
            raise InputError(
                f"method={self.method!r} looks for a point inside, and a system with equations "
                "has none; give method='auto'"
            )
        left = self.clock.left()
        limits = SearchLimits(max_steps, None if left == math.inf else left)
        found = studied(self.system, METHODS[self.method], limits)
        if found.point is not None and self._is_solution(found.point):
            return self._feasible(found.point, found.steps)
        if 0 < found.rows.size <= MOST_RELATED:
            answer = self._decide(found.rows)
            if answer.verdict == INFEASIBLE:
                return replace(answer, steps=found.steps)
        return self.undecided(found.stop, found.steps)

    def _is_solution(self, w: Sequence[Number]) -> bool:
        states, tags = self.system.compare(Weights([*w, 0])), self.system.tags
        wrong = (
            (states < 0) | ((tags == MORE_THAN) & (states == 0)) | ((tags == EQUAL) & (states > 0))
        )
        pairs = zip(w, self.system.pairs or (), strict=False)
        return not wrong.any() and all(
            (low is None or value >= low) and (high is None or value <= high)
            for value, (low, high) in pairs
        )

    # ---- answers

    def _feasible(self, w: Sequence[Number], steps: int | None = None) -> Solution:
        w = self._short(w)
        states = self.system.compare(Weights([*w, 0]))
        certificate = Feasible(data=self.system.named(), w=tuple(w))
        return self._solution(FEASIBLE, _array(w), certificate, np.flatnonzero(states == 0), steps)

    def _short(self, w: Sequence[Number]) -> Sequence[Number]:
        """Give floats in place of fractions if they satisfy every row too."""
        try:
            rounded: list[Number] = [float(value) for value in w]
        except OverflowError:
            return w
        return rounded if self._is_solution(rounded) else w

    def _infeasible(self, found: Contradiction) -> Solution:
        lower, upper = ((tuple(side), tuple(side.values())) for side in found[1:])
        certificate = Infeasible(
            data=self.system.named(),
            rows=tuple(found.rows),
            weights=tuple(found.rows.values()),
            lower=lower,
            upper=upper,
        )
        return self._solution(
            INFEASIBLE, None, certificate, np.array([*found.rows], np.int64), None
        )

    def undecided(self, stop: str, steps: int | None = None) -> Solution:
        """Say why there is no answer."""
        return self._solution(UNDECIDED, None, None, np.zeros(0, np.int64), steps, stop)

    def _solution(
        self,
        verdict: str,
        w: np.ndarray | None,
        certificate: Certificate | None,
        rows: np.ndarray,
        steps: int | None,
        stop: str = "",
    ) -> Solution:
        if certificate is not None:
            try:
                proven(certificate, self.system)
            except Refused:  # let no verdict out whose proof does not pass the check
                return self.undecided(UNPROVEN)
        seconds = time.perf_counter() - self.clock.began
        close = (
            nearly_feasible(certificate, self.system) if isinstance(certificate, Infeasible) else ""
        )
        notes = (close,) if close else ()
        return Solution(
            verdict, w, certificate, rows, self.method, steps, stop, seconds, notes=notes
        )


def _between(value: Number, lower: Number | None, upper: Number | None) -> Number:
    value = value if lower is None else max(value, lower)
    return value if upper is None else min(value, upper)


def _array(w: Sequence[Number]) -> np.ndarray:
    if all(isinstance(value, float) for value in w):
        return np.array(w)
    found = np.empty(len(w), object)
    found[:] = w
    return found


def _explain_feasible(found: Solution) -> str:
    assert found.w is not None
    kind = "floats" if found.w.dtype != object else "fractions"
    tight = f"; rows that hold with equality: {found.rows.size:,}" if found.rows.size else ""
    return (
        f"The system has a solution: {found.w.size} numbers, given as {kind}, that satisfy every "
        f"row in exact arithmetic{tight}. Anybody can put them in and check."
    )


def _explain_infeasible(found: Solution) -> str:
    proof: Any = found.certificate
    bounds = len(proof.lower[0]) + len(proof.upper[0])
    parts = [counted(found.rows.size, "row")] * bool(found.rows.size)
    parts += [counted(bounds, "bound")] * bool(bounds)
    return (
        f"The system has no solution: {' and '.join(parts)}, multiplied by suitable numbers and "
        "added up, have a left-hand side of exactly zero and a right-hand side that zero does not "
        "satisfy (Farkas). For a solution, at least one of them must be relaxed or dropped."
    )


def counted(count: int, noun: str) -> str:
    """Count things, in words that fit one of them too."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _explain_undecided(found: Solution) -> str:
    why = REASONS.get(found.stop, found.stop.rstrip("."))
    other = "" if found.method == "auto" else " Or use method='auto'."
    return (
        "Undecided: neither a solution nor a proof that there is none was found. "
        f"{why[:1].upper()}{why[1:]}.{other}"
    )


_EXPLAIN = {
    FEASIBLE: _explain_feasible,
    INFEASIBLE: _explain_infeasible,
    UNDECIDED: _explain_undecided,
}
