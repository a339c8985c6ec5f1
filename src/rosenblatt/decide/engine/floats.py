"""Linear programs in floats (HiGHS). They find a basis; `exact.programs` makes it exact.

Rows and columns are scaled by powers of two, x = 2^column·x', which rounds nothing. If the vertex
of the basis turns out not to be optimal, what floats found is taken for the exact numbers that they
are; the program that is left there, moved to them and with its violations enlarged to about 1, is
solved from the same basis, and its answer added: floats then see what they missed, however badly
conditioned the basis is (Gleixner, Steffy & Wolter 2016).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import highspy
import numpy as np

from rosenblatt.decide.engine.solver import (
    Method,
    Model,
    basis_of,
    begin_at,
    is_optimal,
    quickest,
    run,
)
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.linear import balance, entry_powers
from rosenblatt.exact.programs import (
    Basis,
    End,
    Ends,
    Program,
    Vertex,
    largest_violations,
    power_near,
)

Floats = Sequence[float] | np.ndarray
INFINITE = 1e30
WHOLE = 2**53
GAIN = 40  # binary digits by which violations are enlarged at once, beyond those before
DIGITS = 44  # binary digits behind the point that are taken of what floats find
PATIENCE, SOME_STEPS = 2, 500  # for refinement: times the steps before, and some more
LARGE_DIGITS = 40  # binary digits of large costs, beside those of about 1 that matter
USUAL = 20  # binary digits of ends that floats need no help with


class FloatProgram:
    """A program in floats.

    Attributes
    ----------
    rows, columns : powers of two by which rows are multiplied, and x is divided.
    primal, dual : powers of two by which ends are multiplied, and costs divided.
    """

    def __init__(self, program: Program) -> None:
        self.program, A = program, program.A
        self.rows, self.columns = balance(A)
        matrix = A.floats(entry_powers(A, self.rows, self.columns))
        self.primal = _unit(program, self.rows, self.columns)
        costs = [(cost, 1) for cost in program.cost]
        self.dual = _largest(costs, self.columns)
        self.units = self.primal, self.dual
        row_ends = ends_in_floats(program.row_ends, self.primal + self.rows)
        column_ends = ends_in_floats(program.column_ends, self.primal - self.columns)
        cost = costs_in_floats(costs, self.columns - self.dual)
        self.model: Model = (cost, column_ends, row_ends, matrix)
        self.solver: Any = None

    def basis(self, seconds: float, method: Method = quickest) -> Basis:
        """Solve the program."""
        self.primal, self.dual = self.units
        self.solver = method(self.model, seconds)
        return basis_of(self.solver)

    @cached_property
    def most(self) -> int:
        """How many steps what is left of the program may take, as rows and first ones tell."""
        steps = max(self.program.A.size, self.solver.getInfo().simplex_iteration_count)
        return int(PATIENCE * (steps + SOME_STEPS))

    @property
    def is_feasible(self) -> bool:
        """Whether floats found a point, rather than that there is none."""
        return is_optimal(self.solver)

    def point(self, seconds: float) -> np.ndarray:
        """Solve the program, and give x, rounded."""
        self.basis(seconds)
        found = self.solver.getSolution().col_value
        return np.asarray(np.ldexp(found, self.columns - self.primal))

    def found(self, x: Rationals | None = None, y: Rationals | None = None) -> Vertex:
        """Give what the solver found as exact numbers, added to some before."""
        answer = self.solver.getSolution()
        return self.taken(answer.col_value, answer.row_dual, x, y)

    def taken(
        self,
        more_x: Floats,
        more_y: Floats,
        x: Rationals | None = None,
        y: Rationals | None = None,
    ) -> Vertex:
        """Give a point, without what is behind it, and multipliers as exact numbers."""
        A = self.program.A
        x = added(x or Rationals([0] * A.width, 1), more_x[: A.width], self.columns - self.primal)
        y = added(y or Rationals([0] * A.size, 1), more_y, self.rows + self.dual)
        taken = A.transposed().times(y.numbers)
        pairs = zip(self.program.cost, taken, strict=True)
        costs = [cost * y.denominator - value for cost, value in pairs]
        return Vertex(x, A.times(x.numbers), y, costs)

    def wrong(self, basis: Basis, found: Vertex) -> tuple[int | None, int | None]:
        """Tell how wrong a point and multipliers are at most, as powers of two, None for not."""
        return largest_violations(self.program, basis, found, self.rows, self.columns)

    def refined(
        self,
        basis: Basis,
        found: Vertex,
        wrong: tuple[int | None, int | None],
        seconds: float,
    ) -> tuple[Basis, Vertex] | None:
        """Solve what is left of the program at some point and multipliers; None if that fails."""
        breaks, pulls = wrong
        primal, dual = self.units  # for what is right already
        if breaks is not None:
            primal = min(-breaks, self.primal + GAIN)
        if pulls is not None:
            dual = max(pulls, self.dual - GAIN)
        for scales in self._scales(primal, dual):
            self.primal, self.dual = scales
            y = self._move(basis, found)
            run(self.solver, seconds)
            if self.is_feasible:
                return basis_of(self.solver), self.found(found.x, y)
        return None

    def _scales(self, primal: int, dual: int) -> Iterator[tuple[int, int]]:
        """Give powers for ends and costs; where they fail, some that enlarge only one of them.

        Where nothing keeps enlarged ends, rows were held by multipliers that large costs make seem
        sure; where it pays to go far, ends were enlarged that one has to reach.
        """
        yield primal, dual
        usual_costs, usual_ends = (primal, self.units[1]), (self.units[0], dual)
        infeasible = self.solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible
        yield from (usual_costs, usual_ends) if infeasible else (usual_ends, usual_costs)

    def _move(self, basis: Basis, found: Vertex) -> Rationals:
        """Give what is left of the program to the solver; give what it is to add multipliers to."""
        solver = self.solver
        held, y, costs = self._held(found)
        ends, (lower, upper) = self.ends_from(found)
        solver.changeColsBounds(ends[0].size, np.arange(ends[0].size, dtype=np.int32), *ends)
        lower, upper = np.where(held < 0, upper, lower), np.where(held > 0, lower, upper)
        solver.changeRowsBounds(lower.size, np.arange(lower.size, dtype=np.int32), lower, upper)
        enlarged = costs_in_floats(costs, self.columns - self.dual)
        solver.changeColsCost(enlarged.size, np.arange(enlarged.size, dtype=np.int32), enlarged)
        solver.setOptionValue("presolve", "off")
        solver.setOptionValue("simplex_iteration_limit", self.most)
        begin_at(solver, basis)
        return y

    def ends_from(self, found: Vertex) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Give how far the ends of columns and of rows are from a point, in floats."""
        one, program = found.x.denominator, self.program
        return (
            _moved(program.column_ends, found.x.numbers, one, self.primal - self.columns),
            _moved(program.row_ends, found.values, one, self.primal + self.rows),
        )

    def _held(self, found: Vertex) -> tuple[np.ndarray, Rationals, list[tuple[int, int]]]:
        """Give the signs of multipliers that are far from changing them, these, and costs.

        A row with such a multiplier stays at its end, so that the program that is left need not
        speak of it as an inequality: it looks for what is added to the multiplier, of any sign.
        Costs, less these rows, are given as numerators and denominators.
        """
        one, least = found.y.denominator, self.dual + LARGE_DIGITS
        quads = zip(found.y.numbers, self.rows.tolist(), *self.program.row_ends, strict=True)
        held = np.array([_side(y, one, least + power, *ends) for y, power, *ends in quads], np.int8)
        pairs = zip(found.y.numbers, held.tolist(), strict=True)
        y = Rationals([number if side else 0 for number, side in pairs], one)
        taken = self.program.A.transposed().times(y.numbers)
        pairs = zip(self.program.cost, taken, strict=True)
        return held, y, [(cost * one - value, one) for cost, value in pairs]


def _side(number: int, one: int, least: int, lower: End, upper: End) -> int:
    """Tell at which end a row is held by its multiplier: 1 the lower one, -1 the upper one."""
    large = number != 0 and power_near(number, one) > least
    if lower is not None and (lower == upper or (large and number > 0)):
        return 1
    return -1 if upper is not None and large and number < 0 else 0


def added(before: Rationals, more: Floats, powers: np.ndarray) -> Rationals:
    """Add floats times powers of two to numbers over a power of two."""
    whole = [int(value) for value in np.rint(np.ldexp(more, DIGITS)).tolist()]
    exponents = powers - DIGITS
    digits = max(before.denominator.bit_length() - 1, -int(exponents.min(initial=0)))
    up = digits - before.denominator.bit_length() + 1
    triples = zip(before.numbers, whole, (exponents + digits).tolist(), strict=True)
    return Rationals([(a << up) + (b << shift) for a, b, shift in triples], 1 << digits)


def _moved(ends: Ends, at: list[int], one: int, powers: np.ndarray) -> tuple[np.ndarray, ...]:
    """Give ends less values, which are integers over `one`, in floats."""

    def moved(end: Fraction | int, value: int, power: int) -> float:
        bottom = end.denominator
        return scaled(end.numerator * one - value * bottom, power, one * bottom)

    return tuple(
        np.array(
            [
                none if end is None else moved(end, value, power)
                for end, value, power in zip(side, at, powers.tolist(), strict=True)
            ]
        )
        for side, none in zip(ends, (-math.inf, math.inf), strict=True)
    )


def _unit(program: Program, rows: np.ndarray, columns: np.ndarray) -> int:
    """Give a power of two that brings the largest end to a usual size: tolerances are absolute."""
    sized = [
        power_near(*end.as_integer_ratio()) + power
        for ends, powers in ((program.row_ends, rows), (program.column_ends, -columns))
        for side in ends
        for end, power in zip(side, powers.tolist(), strict=True)
        if end
    ]
    top = max(sized, default=0)
    return -top if top < 0 else min(0, USUAL - top)


def _largest(costs: Sequence[tuple[int, int]], powers: np.ndarray) -> int:
    """Give the power of two near the largest of some fractions times powers of two."""
    pairs = zip(costs, powers.tolist(), strict=True)
    return max((power_near(*cost) + power for cost, power in pairs if cost[0]), default=0)


def costs_in_floats(
    costs: Sequence[tuple[int, int]], powers: np.ndarray, large_digits: int = LARGE_DIGITS
) -> np.ndarray:
    """Give fractions times powers of two as floats; large ones only have to stay large."""
    large = 2.0**large_digits
    if all(bottom == 1 and -WHOLE < top < WHOLE for top, bottom in costs):
        found = np.ldexp(np.array([top for top, _ in costs], np.float64), powers)
    else:
        pairs = zip(costs, powers.tolist(), strict=True)
        found = np.array([scaled(top, power, bottom) for (top, bottom), power in pairs])
    return np.asarray(np.clip(found, -large, large))


def ends_in_floats(ends: Sequence[Sequence[End]], powers: np.ndarray) -> tuple[np.ndarray, ...]:
    """Give lower and upper ends as floats, each times a power of two."""
    sides = zip(ends, (-math.inf, math.inf), strict=True)
    return tuple(_side_in_floats(side, powers, none) for side, none in sides)


def _side_in_floats(side: Sequence[End], powers: np.ndarray, none: float) -> np.ndarray:
    if all(type(end) is int and -WHOLE < end < WHOLE for end in side):
        return np.asarray(np.ldexp(np.array(side, np.float64), powers))
    pairs = zip(side, powers.tolist(), strict=True)
    return np.array(
        [none if e is None else scaled(e.numerator, p, e.denominator) for e, p in pairs]
    )


def scaled(top: int, power: int, bottom: int = 1) -> float:
    """Give top / bottom·2^power in floats."""
    if not top:
        return 0.0
    shift = bottom.bit_length() - top.bit_length() + 64
    digits = (top << shift) // bottom if shift >= 0 else top // (bottom << -shift)
    exponent = power - shift
    if exponent + 65 > 1000:
        return INFINITE if top > 0 else -INFINITE
    return math.ldexp(digits, exponent)
