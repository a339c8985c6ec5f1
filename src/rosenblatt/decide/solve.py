"""`solve`: a point of A w >= b, or a proof that there is none (theory D11, D13).

Method      With one more unknown t > 0 the system becomes one of rows through the origin,
            a·w - b·t >= 0, and the question the one that `faces` answers: a point (w, t) that is
            positive on the strict rows and negative on none gives w / t; rows that sum to zero
            with a strict one among them (t > 0 is strict) are Farkas' proof that there is no point.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.certificates import Certificate, Feasible, Infeasible, Number
from rosenblatt.checker import Refused
from rosenblatt.decide.answers import (
    REASONS,
    UNPROVEN,
    Clock,
    OutOfTimeError,
    checked_seconds,
    checked_steps,
)
from rosenblatt.decide.check import proven
from rosenblatt.decide.cone import Cone
from rosenblatt.decide.cones import Limits, plain
from rosenblatt.decide.digest import EQUAL, MORE_THAN
from rosenblatt.decide.exact import exact_dot, exact_list, exact_row, is_exact
from rosenblatt.decide.faces import Decision, Face, Search
from rosenblatt.decide.hand import System
from rosenblatt.decide.products import Weights
from rosenblatt.decide.rescaled import rescaled
from rosenblatt.decide.smoothed import smoothed
from rosenblatt.decimals import is_decimal, marked, shortest
from rosenblatt.errors import InputError
from rosenblatt.matrices import Matrix, check_finite

MOST_RELATED = 1000  # rows whose relations are looked for exactly
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
        check_finite(system.X)
    problem = _Problem(system, Clock(checked_seconds(max_seconds)), method)
    try:
        return problem.decide() if method == "auto" else problem.try_to_decide(steps)
    except (OutOfTimeError, KeyboardInterrupt) as ended:
        return problem.undecided(problem.clock.stopped_by(ended))


class _Problem:
    """A system, and the cone that it becomes with one more unknown."""

    def __init__(self, system: System, clock: Clock, method: str) -> None:
        self.system, self.clock, self.method = system, clock, method
        self.sides = _sides(system)
        rows = homogeneous(system, self.sides)
        self.cone = Cone(rows, np.ones(rows.shape[0], np.int8), 0)
        tags = np.zeros(rows.shape[0], np.int64)
        tags[: system.tags.size] = system.tags
        tags[-1] = MORE_THAN  # t > 0
        self.strict = tags == MORE_THAN
        self.equations = np.flatnonzero(tags == EQUAL).tolist()
        self.search = Search(self.cone, self._failing, clock, equations=self.equations)
        filled = np.diff(rows.indptr) if sparse.issparse(rows) else (rows != 0).any(axis=1)
        self.empty = np.asarray(filled == 0)
        self.search.settled |= self.empty & ~self.strict  # they ask for nothing

    def _failing(self, states: np.ndarray, face: Face) -> np.ndarray:
        wrong = (states < 0) | (self.strict & (states == 0))
        wrong[self.equations] = states[self.equations] != 0
        return np.flatnonzero(wrong)

    def _contradicted(self, face: Face) -> bool:
        return any(self.strict[i] for i in face.weights)

    def decide(self) -> Solution:
        """Decide by facial reduction."""
        for face in self._impossible():
            return self._infeasible(face)
        found = self.search.run(self._contradicted)
        if found.point is not None:
            return self._feasible(found)
        if not self._contradicted(found.face):
            # All rows lie in the span of the face, t > 0 too: a relation tells which forbid it.
            relation = self.search.related({self.cone.size - 1: 1.0})
            assert relation is not None
            self.search.join(relation)
        return self._infeasible(self.search.face)

    def _impossible(self) -> list[Face]:
        """Find a strict row without coefficients: 0 > 0."""
        places = np.flatnonzero(self.empty & self.strict)[:1].tolist()
        return [Face([], {i: Fraction(1)}) for i in places]

    def try_to_decide(self, max_steps: int | None) -> Solution:
        """Look for a point by one of the methods that people study."""
        if self.equations:
            raise InputError(
                f"method={self.method!r} looks for a point inside, and a system with equations "
                "has none; give method='auto'"
            )
        left = self.clock.left()
        limits = Limits(max_steps, None if left == math.inf else left)
        rows = self.cone.floats
        direct = self._scalable()
        found = METHODS[self.method](rows[: self.system.tags.size, :-1] if direct else rows, limits)
        if found.w is not None:
            answer = self._point_of(found.w, direct)
            if answer is not None:
                return self._feasible(Decision(answer, Face()), found.steps)
        if found.weights is not None and self._proved(found.weights, direct):
            return self._infeasible(self.search.face, found.steps)
        return self.undecided(str(found.stop), found.steps)

    def _scalable(self) -> bool:
        """Tell whether every w with A w > 0 becomes a solution when it is made large enough."""
        some = bool(self.system.b.size) and not self.sides and not is_exact(self.cone.X)
        return some and bool((self.system.b > 0).all())

    def _point_of(self, w: np.ndarray, direct: bool) -> list[Number] | None:
        """Give the point (w, t) that a method's w stands for, if it is a solution."""
        if not direct:
            point = self.cone.from_floats(w)
            return None if self.search.failing_rows(point).size else point
        scale = self._enough(w)
        for factor in (scale, 2 * scale):
            point = [*(Fraction(value) * factor for value in w.tolist()), 1]
            if not self.search.failing_rows(point).size:
                return point
        return None

    def _enough(self, w: np.ndarray) -> Fraction:
        """Give a power of two that w may be multiplied by to reach every right-hand side."""
        with np.errstate(all="ignore"):
            products = self.system.X @ w
            needed = float((self.system.b / products).max())
        if products.min() > 0 and 1e-300 < needed < 1e300:
            return Fraction(2) ** math.ceil(math.log2(needed))
        exact = [exact_dot(exact_row(self.system.X, i), w.tolist()) for i in range(products.size)]
        pairs = zip(self.system.b.tolist(), exact, strict=True)
        ratio = max(Fraction(right) / value for right, value in pairs if value > 0)
        return Fraction(2) ** (ratio.numerator.bit_length() - ratio.denominator.bit_length() + 1)

    def _proved(self, weights: np.ndarray, direct: bool) -> bool:
        """Make a mean of rows that is nearly zero exact, if it forbids every point."""
        if direct:  # the right-hand sides have a positive sum, which the row t > 0 makes up for
            weights = np.append(weights, weights @ self.system.b)
        places = np.flatnonzero(weights > 0)
        if not 0 < places.size <= MOST_RELATED or weights.size != self.cone.size:
            return False
        multipliers = {int(i): float(weights[i]) for i in places}
        proved = self.search.related(multipliers)
        if proved is not None:
            self.search.join(proved)
        return self._contradicted(self.search.face)

    # ---- answers

    def _feasible(self, found: Decision, steps: int | None = None) -> Solution:
        assert found.point is not None
        *numbers, t = [Fraction(value) for value in found.point]
        w = self._short([value / t for value in numbers])
        states = self.system.compare(Weights([*w, 0]))
        certificate = Feasible(data=self.system.named(), w=tuple(w))
        tight = np.flatnonzero(states == 0)
        return self._solution(FEASIBLE, _array(w), certificate, tight, steps)

    def _short(self, w: list[Fraction]) -> Sequence[Number]:
        """Give floats in place of fractions if they satisfy every row too."""
        try:
            rounded: list[Number] = [float(value) for value in w]
        except OverflowError:
            return w
        lifted: list[Number] = [*rounded, 1]
        return w if self.search.failing_rows(lifted).size else rounded

    def _infeasible(self, face: Face, steps: int | None = None) -> Solution:
        count = self.system.tags.size
        rows = sorted(i for i in face.weights if i < count)
        sides: list[tuple[list[int], list[Fraction]]] = [([], []), ([], [])]
        for k, (column, side) in enumerate(self.sides):
            if count + k in face.weights:
                sides[side][0].append(column)
                sides[side][1].append(face.weights[count + k])
        certificate = Infeasible(
            data=self.system.named(),
            rows=tuple(rows),
            weights=tuple(face.weights[i] for i in rows),
            lower=(tuple(sides[0][0]), tuple(sides[0][1])),
            upper=(tuple(sides[1][0]), tuple(sides[1][1])),
        )
        return self._solution(INFEASIBLE, None, certificate, np.array(rows, np.int64), steps)

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
        return Solution(verdict, w, certificate, rows, self.method, steps, stop, seconds)


def _sides(system: System) -> list[tuple[int, int]]:
    """Give the bounds that there are, as pairs of a column and 0 for lower or 1 for upper."""
    pairs = system.pairs or []
    ends = [(j, side) for j, pair in enumerate(pairs) for side in (0, 1) if pair[side] is not None]
    return ends


def homogeneous(system: System, sides: list[tuple[int, int]]) -> Matrix:
    """Give the rows (a, -b), those of the bounds, and (0, 1)."""
    X, b = system.X, system.b
    values: list[Any] = [(system.pairs or [])[j][side] for j, side in sides]
    ends = [-value if side == 0 else value for (_, side), value in zip(sides, values, strict=True)]
    decimal = is_decimal(X)
    held = all(_is_held(end, decimal) for end in ends) and not (is_exact(X) or is_exact(b))
    if not held or (is_decimal(X) and is_decimal(b) and (X.written or b.written)):
        return _homogeneous_objects(X, b, sides, ends)
    made = _homogeneous_floats(X, b, sides, ends)
    return marked(made) if decimal else made


def _homogeneous_floats(
    X: Matrix, b: np.ndarray, sides: list[tuple[int, int]], ends: list[Number]
) -> Matrix:
    width = X.shape[1]
    signs = [1.0 if side == 0 else -1.0 for _, side in sides]
    columns = [j for j, _ in sides]
    count = len(sides)
    places = (np.arange(count), np.array(columns, np.int64))
    unit = sparse.csr_matrix((np.array(signs), places), shape=(count, width))
    right = np.concatenate([-np.asarray(b, np.float64), np.array(ends, np.float64), [1.0]])
    left = [X, unit, sparse.csr_matrix((1, width))]
    if not sparse.issparse(X):
        stacked = np.vstack([X, unit.toarray(), np.zeros((1, width))])
        return np.column_stack([stacked, right]).astype(np.float64) + 0.0
    joined = sparse.hstack([sparse.vstack(left), sparse.csr_matrix(right[:, None])], format="csr")
    return sparse.csr_matrix(joined, dtype=np.float64)


def _homogeneous_objects(
    X: Matrix, b: np.ndarray, sides: list[tuple[int, int]], ends: list[Number]
) -> np.ndarray:
    count, width = X.shape
    rows = np.zeros((count + len(sides) + 1, width + 1), object)
    for i in range(count):
        for column, value in exact_row(X, i):
            rows[i, column] = value
    rows[:count, width] = [-value for value in exact_list(b)]
    for k, ((column, side), end) in enumerate(zip(sides, ends, strict=True)):
        rows[count + k, column] = 1 if side == 0 else -1
        rows[count + k, width] = end
    rows[-1, width] = 1
    return rows


def _is_held(value: Number, decimal: bool) -> bool:
    """Tell whether a float stands for a number."""
    try:
        return (shortest(float(value)) if decimal else float(value)) == value
    except OverflowError:
        return False


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
        f"row in exact arithmetic{tight}. The certificate holds them, so that anybody can put them "
        "in and check."
    )


def _explain_infeasible(found: Solution) -> str:
    proof: Any = found.certificate
    bounds = len(proof.lower[0]) + len(proof.upper[0])
    more = f" and {bounds} bounds" if bounds else ""
    return (
        f"The system has no solution. {found.rows.size:,} rows{more}, multiplied by the numbers in "
        "the certificate and added up, have a left-hand side of exactly zero and a right-hand side "
        "that zero does not satisfy (Farkas). Whoever wants a solution must give up or relax one "
        "of these rows."
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
