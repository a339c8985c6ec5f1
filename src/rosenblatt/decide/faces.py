"""Deciding a cone exactly: facial reduction around a float oracle.

Problem     rows z_i; some are equations z·w = 0, the others inequalities. Find an exact w that is
            positive on as many inequalities as possible and negative on none, and an exact proof
            that it must vanish on the rest.
Method      The *face* is a set of rows on which every w with Z w >= 0 vanishes, proved by
            Σ λ·z = 0 with λ > 0 on all of them (any sign on equations). Ask the oracle about the
            rows off the face. It finds a point: make it exact, and look at every row. Or it finds
            rows that sum to zero up to the face: make that exact, and they join the face. Each
            time the face gains a dimension, so this ends.
Exactness   every point and every relation is checked in integers. Where floats mislead, the same
            question is answered by `nearest`, without floats.
Sources     Borwein & Wolkowicz 1981 (facial reduction)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import flint
import numpy as np
from scipy.linalg import qr

from rosenblatt.certificates import Number
from rosenblatt.decide.answers import Answer, Clock
from rosenblatt.decide.cone import Cone
from rosenblatt.decide.nearest import Corral, nearest
from rosenblatt.decide.oracle import Oracle
from rosenblatt.decide.products import signs_of_products
from rosenblatt.decide.relations import (
    Relation,
    dependencies,
    independent_columns,
    independent_rows,
    part_of,
    relation,
)

# Bits behind the point of coordinates that are kept: few make short numbers, which people like,
# but each try looks at all rows.
SHORT, LONG = (4, 16, 45), (45,)
FEW_ENTRIES = 10**5
Failing = Callable[[np.ndarray, "Face"], np.ndarray]


@dataclass
class Face:
    """Rows on which every w of the closed cone vanishes.

    Attributes
    ----------
    basis : linearly independent rows that span them.
    weights : Σ weight·z = 0 exactly; positive on every inequality.
    first : the same for the rows that came first, of which there are fewest.
    """

    basis: list[int] = field(default_factory=list)
    weights: dict[int, Fraction] = field(default_factory=dict)
    first: dict[int, Fraction] = field(default_factory=dict)


@dataclass
class Decision:
    """A point, if there is one off the face, and the face."""

    point: list[Number] | None
    face: Face


class Search:
    """One decision: the cone, what counts as an answer, and the face found so far.

    Parameters
    ----------
    cone : the rows.
    failing : gives the rows that a point, whose signs it gets, does not satisfy.
    equations : rows that are equations.
    hints : a number for each row, larger for those likely to matter.
    """

    def __init__(
        self,
        cone: Cone,
        failing: Failing,
        clock: Clock,
        *,
        equations: Iterable[int] = (),
        hints: np.ndarray | None = None,
    ) -> None:
        self.cone, self.failing, self.clock = cone, failing, clock
        self.equations = frozenset(equations)
        self.hints = np.zeros(cone.size) if hints is None else hints
        self.face = Face(self._independent(sorted(self.equations)))
        self.settled = np.zeros(cone.size, bool)  # rows known to lie in the span of the face
        self.settled[list(self.equations)] = True
        self._off: tuple[list[int], list[list[int]]] | None = None

    def run(self, enough: Callable[[Face], bool] = lambda face: False) -> Decision:
        """Go on until a point is found, nothing is left off the face, or the face is enough."""
        while len(self.face.basis) < self.cone.used.size and not enough(self.face):
            oracle = Oracle(self.cone, self.face.basis, self.hints, self.clock, self.settled)
            if not oracle.live.any():
                strays = self._strays()
                if not strays.size:
                    break
                oracle.revive(strays)
            found = self._round(oracle)
            if not isinstance(found, Relation):
                return Decision(found, self.face)
            self.join(found)
        return Decision(None, self.face)

    # ---- one round

    def _round(self, oracle: Oracle) -> list[Number] | Relation:
        while True:
            answer = oracle.ask()
            if answer.point is None:
                proved = self.related(answer.multipliers)
                return proved if proved is not None else self._exactly(oracle, answer)
            for bits in SHORT if self.cone.entries < FEW_ENTRIES else LONG:
                point = self._on_face(answer.point, bits)
                failing = self.failing_rows(point)
                if not failing.size:
                    return point
            if not oracle.take(self._some(failing, answer.point)):
                return self._exactly(oracle, answer)

    def failing_rows(self, point: list[Number]) -> np.ndarray:
        """Give the rows that a point does not satisfy, exactly."""
        cone = self.cone
        return self.failing(signs_of_products(cone.X, cone.signs, cone.lift, point), self.face)

    def _some(self, rows: np.ndarray, point: np.ndarray) -> np.ndarray:
        """Choose the worst of many rows."""
        most = 2 * self.cone.dimension + 20
        if rows.size <= most:
            return rows
        products = (self.cone.products(point) / self.cone.norms)[rows]
        return np.asarray(rows[np.argpartition(products, most)[:most]])

    def related(self, multipliers: dict[int, float]) -> Relation | None:
        """Make a relation that the floats suggest exact."""
        if not multipliers:
            return None
        names = [*self.face.basis, *multipliers]
        table = self.cone.table(names)
        return relation(table, names, len(self.face.basis), list(multipliers.values()))

    def join(self, found: Relation) -> None:
        """Take the rows of a relation into the face; its proof becomes one of all its rows."""
        inequalities = {b: mu for b, mu in found.free.items() if b not in self.equations}
        ratios = [-mu / self.face.weights[b] for b, mu in inequalities.items()]
        times = 1 + math.ceil(max([Fraction(0), *ratios]))
        weights = {i: times * weight for i, weight in self.face.weights.items()}
        for i, weight in (*found.free.items(), *found.positive.items()):
            weights[i] = weights.get(i, Fraction(0)) + weight
        self.settled[list(found.positive)] = True
        basis = self._independent([*self.face.basis, *found.positive])
        first = self.face.first or found.positive
        self.face = Face(basis, {i: weight for i, weight in weights.items() if weight}, first)

    def _independent(self, rows: list[int]) -> list[int]:
        if not rows:
            return []
        return [rows[k] for k in independent_rows(self.cone.table(rows).integers)]

    def complement(self) -> list[list[int]]:
        """Give independent integer vectors, 0 where unused, that are orthogonal to the face."""
        if self._off is None or self._off[0] != self.face.basis:
            frame = _frame(self.cone, self.face.basis)
            if frame is None:
                unit = [[int(j == k) for j in range(self.cone.dimension)] for k in self.cone.used]
                self._off = [], unit
            else:
                vectors = [[int(v) for v in vector] for vector in frame.tolist()]
                self._off = self.face.basis, [self.cone.unscaled_direction(v) for v in vectors]
        return self._off[1]

    def _strays(self) -> np.ndarray:
        """Find rows that do not lie in the span of the face, exactly."""
        strays = np.zeros(self.cone.size, bool)
        for vector in self.complement():
            self.clock.left()
            cone = self.cone
            strays |= signs_of_products(cone.X, cone.signs, cone.lift, vector) != 0
        return np.flatnonzero(strays)

    # ---- points on the face

    def _on_face(self, w: np.ndarray, bits: int) -> list[Number]:
        """Give a point near w, in the coordinates of the rows, that is exactly 0 on the face.

        As many coordinates as the face has dimensions are solved for; the others are rounded.
        """
        whole = [round(math.ldexp(value, bits)) for value in w.tolist()]
        exact = [Fraction(value, 1 << bits) for value in whole]
        if self.face.basis:
            table = self.cone.table(self.face.basis)
            floats = np.array([_top(row) for row in table.integers.tolist()])
            order = qr(floats, mode="r", pivoting=True)[1]
            kept = [exact[j] for j in table.columns]
            solved = _solved(table.integers, order[: len(floats)].tolist(), kept)
            if solved is None:
                solved = _solved(table.integers, independent_columns(table.integers), kept)
            for place, value in (solved or {}).items():
                exact[table.columns[place]] = value
        return self.cone.unscaled(exact)

    # ---- without floats

    def _exactly(self, oracle: Oracle, answer: Answer) -> list[Number] | Relation:
        """Answer the oracle's question in exact arithmetic, for its working set and beyond."""
        names = list(oracle.program.rows)
        frame = _frame(self.cone, self.face.basis)
        rows = self._seen(names, frame)
        corral = _corral(names, rows, answer.multipliers)
        while True:
            found = nearest(rows, corral, self._pause)
            if not any(found.point):
                chosen = {names[k]: float(w) for k, w in zip(*found.corral, strict=True)}
                proved = self.related(chosen)
                if proved is None:
                    raise AssertionError("an exact relation was lost")
                return proved
            point = self._placed(found.point, frame)
            failing = self.failing_rows(point)
            if not failing.size:
                return self._shorter(point)
            known = set(names)
            fresh = self._some(failing, _floats(point, self.cone)).tolist()
            fresh = [i for i in fresh if i not in known]
            if not fresh:
                raise AssertionError("an exact point fails on a row that it was made for")
            names += fresh
            rows = self._seen(names, frame)
            corral = found.corral

    def _pause(self) -> None:
        self.clock.left()

    def _seen(self, names: list[int], frame: flint.fmpz_mat | None) -> flint.fmpz_mat:
        """Give rows as integers, in coordinates of the space off the face."""
        table = self.cone.table(names)
        wide = _widened(table.integers, table.columns, self.cone.dimension)
        return wide if frame is None else wide * frame.transpose()

    def _placed(self, point: list[int], frame: flint.fmpz_mat | None) -> list[Number]:
        """Give a point of the space off the face in the coordinates of the rows."""
        if frame is not None:
            sums = flint.fmpz_mat(1, len(point), point) * frame
            point = [int(value) for value in sums.entries()]
        size = max(map(abs, point)).bit_length()
        return self.cone.unscaled([Fraction(value, 1 << size) for value in point])

    def _shorter(self, point: list[Number]) -> list[Number]:
        """Give a point of fewer digits that does the same, if rounding finds one."""
        if self.face.basis:
            return point
        rounded: list[Number] = _rounded(point)
        return point if self.failing_rows(rounded).size else rounded


def _frame(cone: Cone, basis: list[int]) -> flint.fmpz_mat | None:
    """Give integer vectors that span what is orthogonal to the basis, in scaled coordinates."""
    if not basis:
        return None
    used = cone.used.tolist()
    table = cone.table(basis)
    rows = part_of(_widened(table.integers, table.columns, cone.dimension), range(len(basis)), used)
    vectors = flint.fmpz_mat(dependencies(rows.transpose()))
    return _widened(vectors, used, cone.dimension)


def _widened(matrix: flint.fmpz_mat, columns: list[int], width: int) -> flint.fmpz_mat:
    """Put the columns of a matrix where they belong among others, which are zero."""
    if columns == list(range(width)):
        return matrix
    wide = [[0] * width for _ in range(matrix.nrows())]
    for row, values in zip(wide, matrix.tolist(), strict=True):
        for j, value in zip(columns, values, strict=True):
            row[j] = int(value)
    return flint.fmpz_mat(wide)


def _solved(
    rows: flint.fmpz_mat, places: list[int], point: list[Fraction]
) -> dict[int, Fraction] | None:
    """Solve rows·x = 0 for the coordinates at some places, the others being given."""
    common = math.lcm(*(value.denominator for value in point))
    given = [0 if k in set(places) else int(value * common) for k, value in enumerate(point)]
    right = rows * flint.fmpz_mat(len(given), 1, [-value for value in given])
    try:
        solution = part_of(rows, range(rows.nrows()), places).solve(right)
    except ZeroDivisionError:
        return None
    values = [Fraction(int(v.p), int(v.q) * common) for v in solution.entries()]
    return dict(zip(places, values, strict=True))


def _top(row: list[flint.fmpz]) -> list[float]:
    """Give integers that may be too large for floats, divided by a power of two."""
    size = max(int(value).bit_length() for value in row)
    return [float(int(value) >> max(0, size - 900)) for value in row]


def _corral(names: list[int], rows: flint.fmpz_mat, multipliers: dict[int, float]) -> Corral | None:
    """Give the rows with multipliers as a start, if they are affinely independent."""
    places = [k for k, name in enumerate(names) if name in multipliers]
    if not places:
        return None
    listed = rows.tolist()
    lifted = flint.fmpz_mat([[*listed[k], 1] for k in places])
    if len(independent_rows(lifted)) < len(places):
        return None
    shares = [Fraction(multipliers[names[k]]) for k in places]
    return Corral(places, [share / sum(shares) for share in shares])


def _rounded(point: list[Number]) -> list[Number]:
    try:
        return [float(value) for value in point]
    except OverflowError:
        return point


def _floats(point: list[Number], cone: Cone) -> np.ndarray:
    """Give a point in scaled coordinates, in floats."""
    scaled = [Fraction(v) / Fraction(2) ** cone.scale.get(j, 0) for j, v in enumerate(point)]
    largest = max(map(abs, scaled)) or Fraction(1)
    return np.array([float(v / largest) for v in scaled])
