"""`solve`: a point of A w >= b, or a proof that there is none (theory D11, D13).

`feasibility` decides; here the answer is put into words, and its proof checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rosenblatt.certificates import Certificate, Feasible, Infeasible, Number
from rosenblatt.check.subjects import System
from rosenblatt.check.verification import proven
from rosenblatt.checker import Refused
from rosenblatt.decide.answers import REASONS, UNPROVEN, Clock, Explained, checked_steps, within
from rosenblatt.decide.closeness import nearly_feasible
from rosenblatt.decide.engine.farkas import Contradiction
from rosenblatt.decide.engine.feasibility import keeps, point_or_contradiction
from rosenblatt.decide.systems.conflicts import Conflict, Conflicts, proof_of
from rosenblatt.decide.systems.repairs import Repair, Repairs, Weights, places
from rosenblatt.decide.systems.wording import Wording, counted
from rosenblatt.errors import InputError
from rosenblatt.exact.digest import EQUAL
from rosenblatt.exact.weights import Weights as Point
from rosenblatt.matrices import check_finite
from rosenblatt.methods.classical import studied
from rosenblatt.methods.cones import SearchLimits, plain
from rosenblatt.methods.rescaled import rescaled
from rosenblatt.methods.smoothed import smoothed
from rosenblatt.pauses import OutOfTimeError, pausing

MOST_RELATED = 1000  # rows whose relations are looked for exactly
FEASIBLE, INFEASIBLE, UNDECIDED = "feasible", "infeasible", "undecided"
METHODS: dict[str, Callable[..., Any]] = {
    "perceptron": plain,
    "rescaled": rescaled,
    "smoothed": smoothed,
}


@dataclass(frozen=True)
class Solution(Explained):
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
        Sentences about what was ignored in a file, or read differently than other programs do.
    system : System or None
        The rows and bounds, for `conflict` and `repair`.
    wording : Wording
        The names of rows and unknowns, and which rows were written with <=.
    """

    verdict: str
    w: np.ndarray | None = None
    certificate: Certificate | None = None
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    method: str = "auto"
    steps: int | None = None
    stop: str = ""
    seconds: float = field(compare=False, default=0.0)
    names: Sequence[str] = ()
    notes: Sequence[str] = ()
    system: System | None = field(compare=False, repr=False, default=None)
    wording: Wording = field(compare=False, repr=False, default=Wording())

    def conflict(
        self, keep: Sequence[str | int] = (), *, max_seconds: float | None = None
    ) -> Conflict:
        """Name rows and bounds that contradict each other, none of which can be dropped.

        Parameters
        ----------
        keep : sequence of str or int
            Rows, by name or number, that are used only if there is no conflict without them.
        max_seconds : float or None, default=None
            The time limit, after which `TimeoutError` is raised.

        Returns
        -------
        Conflict
            An irreducible set of rows and bounds, with its proof.

        Examples
        --------
        >>> import rosenblatt as rb
        >>> found = rb.solve([[1, 1], [-1, 0], [0, -1], [1, -1]], [3, -1, -1, 0])
        >>> found.conflict().rows.tolist()
        [0, 1, 2]
        """
        search, proof = self._conflicts(max_seconds)
        rows, _ = places(self.wording, keep, search.system)
        return within(search.clock, lambda: search.first(proof, rows))

    def conflicts(self, limit: int = 10, *, max_seconds: float | None = None) -> list[Conflict]:
        """Name several conflicts, disjoint ones as long as there are any.

        Then some that share rows or bounds; there may be others.

        Parameters
        ----------
        limit : int, default=10
            Maximum number of conflicts.
        max_seconds : float or None, default=None
            The time limit, after which those found so far are given.

        Returns
        -------
        list of Conflict
            Different irreducible conflicts.
        """
        search, proof = self._conflicts(max_seconds)
        found: list[Conflict] = []
        with suppress(OutOfTimeError):
            found.extend(search.several(search.first(proof, set()), limit))
        return found

    def repair(
        self,
        weights: Weights = None,
        keep: Sequence[str | int] = (),
        *,
        max_seconds: float | None = None,
    ) -> Repair:
        """Find the least total change of right-hand sides and bounds that gives a solution.

        Parameters
        ----------
        weights : mapping of str or int to float, or None
            What a change of a row, or of the bounds of an unknown, costs; 1 by default.
        keep : sequence of str or int
            Rows, and unknowns with their bounds, that must not be changed.
        max_seconds : float or None, default=None
            The time limit, after which `TimeoutError` is raised.

        Returns
        -------
        Repair
            The changes, and a point of the changed system. Strict rows are taken as >=.
        """
        search, _ = self._conflicts(max_seconds, "need a repair")
        kept = places(self.wording, keep, search.system)
        repairs = Repairs(search.system, self.wording, kept, weights)
        return within(search.clock, lambda: repairs.least(search.clock))

    def _conflicts(
        self, max_seconds: float | None, why: str = "have conflicts"
    ) -> tuple[Conflicts, Infeasible]:
        if self.system is None or not isinstance(self.certificate, Infeasible):
            raise InputError(f"the system is {self.verdict}: only infeasible ones {why}")
        clock = Clock.of(max_seconds)
        search = Conflicts(self.system, self.wording, clock, self.certificate.data)
        return search, self.certificate

    def explain(self) -> str:
        """Explain the verdict.

        Returns
        -------
        str
            A paragraph.
        """
        return " ".join([*self.notes, _EXPLAIN[self.verdict](self)])


def solve_system(
    take: Callable[[], System], method: str, max_seconds: float | None, max_steps: int | None
) -> Solution:
    """Find w with A w >= b, or prove that there is none; `rosenblatt.solve` says what is what.

    To take the numbers of the system counts as part of the time.
    """
    if not (isinstance(method, str) and method in ("auto", *METHODS)):
        names = ", ".join(map(repr, ("auto", *METHODS)))
        raise InputError(f"method must be one of {names}, got {method!r}")
    if method == "auto" and max_steps is not None:
        raise InputError("method='auto' counts no steps; limit it by max_seconds")
    steps, clock = checked_steps(max_steps), Clock.of(max_seconds)
    try:
        with pausing(clock.left):
            question = _Question(take(), clock, method)
            check_finite(question.system.X, name="A")
            return question.decide() if method == "auto" else question.study(steps)
    except (OutOfTimeError, KeyboardInterrupt) as ended:
        return _undecided(clock, method, clock.stopped_by(ended))


class _Question:
    """A system, the time for it, and how it is answered."""

    def __init__(self, system: System, clock: Clock, method: str) -> None:
        self.system, self.clock, self.method = system, clock, method

    def decide(self, rows: np.ndarray | None = None) -> Solution:
        """Decide about some rows, or all of them."""
        rows = np.arange(self.system.tags.size) if rows is None else rows
        found = point_or_contradiction(self.system, rows, self.clock)
        if isinstance(found, Contradiction):
            return self._infeasible(found)
        return self._feasible(found)

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
        if found.point is not None and keeps(self.system, found.point):
            return self._feasible(found.point, found.steps)
        if 0 < found.rows.size <= MOST_RELATED:
            answer = self.decide(found.rows)
            if answer.verdict == INFEASIBLE:
                return replace(answer, steps=found.steps)
        return _undecided(self.clock, self.method, found.stop, found.steps)

    # ---- answers

    def _feasible(self, w: Sequence[Number], steps: int | None = None) -> Solution:
        w = self._short(w)
        states = self.system.compare(Point([*w, 0]))
        certificate = Feasible(data=self.system.named(), w=tuple(w))
        return self._solution(FEASIBLE, _array(w), certificate, np.flatnonzero(states == 0), steps)

    def _short(self, w: Sequence[Number]) -> Sequence[Number]:
        """Give floats in place of fractions if they satisfy every row too."""
        try:
            rounded: list[Number] = [float(value) for value in w]
        except OverflowError:
            return w
        return rounded if keeps(self.system, rounded) else w

    def _infeasible(self, found: Contradiction) -> Solution:
        certificate = proof_of(self.system.named(), found)
        return self._solution(
            INFEASIBLE, None, certificate, np.array([*found.rows], np.int64), None
        )

    def _solution(
        self,
        verdict: str,
        w: np.ndarray | None,
        certificate: Certificate,
        rows: np.ndarray,
        steps: int | None,
    ) -> Solution:
        try:
            proven(certificate, self.system)
        except Refused:  # let no verdict out whose proof does not pass the check
            return _undecided(self.clock, self.method, UNPROVEN)
        seconds = self.clock.elapsed
        return Solution(
            verdict, w, certificate, rows, self.method, steps, "", seconds, (), (), self.system
        )


def _undecided(clock: Clock, method: str, stop: str, steps: int | None = None) -> Solution:
    """Say why there is no answer."""
    seconds = clock.elapsed
    return Solution(UNDECIDED, method=method, steps=steps, stop=stop, seconds=seconds)


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
        f"The system has a solution: {counted(found.w.size, 'number')}, given as {kind}, for "
        f"which every row holds in exact arithmetic{tight}. Substitute to check."
    )


def _explain_infeasible(found: Solution) -> str:
    proof: Any = found.certificate
    bounds = len(proof.lower[0]) + len(proof.upper[0])
    parts = [counted(found.rows.size, "row")] * bool(found.rows.size)
    parts += [counted(bounds, "bound")] * bool(bounds)
    close = "" if found.system is None else nearly_feasible(proof, found.system)
    return (
        f"The system has no solution: {' and '.join(parts)}, multiplied by suitable numbers and "
        "added up, give a contradiction such as 0 ≥ 1 (Farkas' lemma). For a solution, at least "
        f"one of them must be relaxed or dropped.{close and f' {close}'}"
    )


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
