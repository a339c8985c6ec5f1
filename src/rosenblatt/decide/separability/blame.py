"""Which columns are to blame that a logistic regression has no finite solution (theory D9).

Problem     columns in order, the intercept first. One that is a linear combination of earlier ones
            is *aliased* and set apart, as R does. C = {β : z·β >= 0 on all rows} holds the
            directions in which the likelihood never falls. The coefficient of a column that is not
            aliased runs to infinity exactly if some β of C is not zero there.
Method      The *face* holds the rows on which every β of C vanishes. Some β of C is positive on all
            other rows, and stays so when moved a little on the face, so that C spans
            {β : z·β = 0 on the face}. A column is innocent if all of that is zero there.
Exactness   what depends on what is found among few rows, in integers, and tried on all rows,
            exactly
Sources     Albert & Anderson 1984; Konis 2007; Kosmidis & Schumacher (R's detectseparation)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from rosenblatt.certificates import (
    Certificate,
    Inseparability,
    Joint,
    NonSeparability,
    Number,
    Separator,
)
from rosenblatt.decide.answers import REASONS, Clock
from rosenblatt.errors import InputError
from rosenblatt.exact.digest import labelled_digest
from rosenblatt.exact.integers import scattered
from rosenblatt.exact.numbers import exact_row
from rosenblatt.exact.products import signs_of_products
from rosenblatt.exact.signed import SignedRows
from rosenblatt.exact.spans import orthogonal
from rosenblatt.matrices import Matrix
from rosenblatt.pauses import OutOfTimeError, Pause

MOST_COLUMNS = 1000  # exact elimination of more takes minutes
MOSTLY_EMPTY = 2  # times as many columns as have entries: they are left out
MORE_ROWS = 100  # than columns, to begin with

Vector = dict[int, int]  # coordinates that are not zero


@dataclass(frozen=True)
class Blame:
    """What is known of the columns.

    Attributes
    ----------
    columns : those that matter.
    aliased : those set apart, None for unknown.
    doubt : why either is uncertain.
    signs : to which infinity the coefficients go that do, the intercept behind the columns.
    """

    columns: np.ndarray
    aliased: np.ndarray | None = None
    doubt: str = ""
    signs: dict[int, int] = field(default_factory=dict)

    def among(self, coordinates: np.ndarray, columns: np.ndarray, width: int) -> Blame:
        """Give what is known of some of many columns, all others of which are empty."""
        aliased = self.aliased
        if aliased is not None:
            apart = np.ones(width, bool)
            apart[np.delete(columns, aliased)] = False
            aliased = np.flatnonzero(apart)
        signs = {int(coordinates[j]): sign for j, sign in self.signs.items()}
        return Blame(columns[self.columns], aliased, self.doubt, signs)


@dataclass(frozen=True)
class Design:
    """The rows that a verdict is about, kept for questions about their columns.

    Attributes
    ----------
    X, signs, lift : all rows, the signs of those that count, and the constant added to each.
    chosen : the rows that count, None for all.
    basis : of the rows that count, some that span the face, if there is one.
    seconds : how long an answer may take, None for any time.
    constants : how many of the last columns of X stand for intercepts.
    """

    X: Matrix
    signs: np.ndarray
    lift: int
    chosen: np.ndarray | None = None
    basis: Sequence[int] = ()
    seconds: float | None = None
    constants: int = 0

    @property
    def rows(self) -> Matrix:
        """The rows that count."""
        return self.X if self.chosen is None else self.X[self.chosen]

    @property
    def signed(self) -> SignedRows:
        """The rows that count, signed, with a coordinate for the intercept."""
        return SignedRows(self.rows, self.signs, self.lift)

    def blame(self, claim: Certificate) -> Blame:
        """Give the columns that a proven verdict rests on, aliased ones set apart."""
        cone, data = self.signed, claim.data
        if not isinstance(claim, Joint) and labelled_digest(cone.X, cone.signs) != data.digest:
            raise InputError("X was changed since separate decided about it; ask separate again")
        w = () if isinstance(claim, Inseparability) else _weights(claim)
        columns = cone.used[cone.used < cone.X.shape[1]]
        if not sparse.issparse(cone.X) or not 0 < MOSTLY_EMPTY * columns.size < cone.X.shape[1]:
            return self._blame(claim, w)
        constants = int(np.count_nonzero(columns >= cone.X.shape[1] - self.constants))
        narrow = replace(self, X=cone.X[:, columns], chosen=None, constants=constants)
        found = narrow._blame(claim, [w[j] for j in cone.used] if w else ())
        return found.among(cone.used, columns, cone.X.shape[1])

    def _blame(self, claim: Certificate, w: Sequence[Number]) -> Blame:
        """Give the columns that a verdict rests on, whose hyperplane, if there is one, is w."""
        cone, clock = self.signed, Clock(self.seconds)
        aliases: dict[int, Vector] | None = None
        try:
            order = _in_order(cone, self.constants)
            aliases = _aliases(cone, order, clock)
            kept = [j for j in order if j not in aliases]
            columns, signs = _to_blame(cone, claim, w, self.basis, aliases, kept)
            return Blame(_sorted(cone, columns), _set_apart(cone, aliases), "", signs)
        except (OutOfTimeError, KeyboardInterrupt) as ended:
            doubt = REASONS[clock.stopped_by(ended)]
        except _TooLargeError as error:
            doubt = str(error)
        columns = _of_the_proof(cone, claim, w, aliases or {})
        return Blame(_sorted(cone, columns), _set_apart(cone, aliases), doubt)


class _TooLargeError(Exception):
    """Exact elimination would take too long, for the reason given."""


def _sorted(cone: SignedRows, coordinates: set[int]) -> np.ndarray:
    """Put columns in order, and leave the intercept out."""
    return np.array(sorted(coordinates - {cone.X.shape[1]}), np.int64)


def _set_apart(cone: SignedRows, aliases: dict[int, Vector] | None) -> np.ndarray | None:
    """Give the aliased columns, those without an entry included."""
    if aliases is None:
        return None
    return _sorted(cone, {*range(cone.dimension)} - {*cone.used.tolist()} | aliases.keys())


def _weights(claim: Certificate) -> Sequence[Number]:
    """Give the hyperplane of a claim, nothing if it has none."""
    assert isinstance(claim, Separator | NonSeparability)
    return claim.w or ()


# ---- aliased columns


def _aliases(cone: SignedRows, order: list[int], clock: Clock) -> dict[int, Vector]:
    """Give, for each column that depends on earlier ones, a vector that tells how."""
    if cone.used.size > MOST_COLUMNS:
        raise _TooLargeError(f"exact elimination is for at most {MOST_COLUMNS:,} columns")
    spread = np.linspace(0, cone.size - 1, cone.used.size + MORE_ROWS)
    rows, tried = set(spread.astype(np.int64).tolist()), set[tuple[tuple[int, int], ...]]()
    while True:
        found = _null_vectors(cone, sorted(rows), order)
        strays = set()
        for vector in found.values():
            clock.left()
            key = tuple(vector.items())
            stray = None if key in tried else _stray(cone, vector)
            if stray is None:
                tried.add(key)
            else:
                strays.add(stray)
        if not strays:
            return found
        rows |= strays


def _stray(cone: SignedRows, vector: Vector) -> int | None:
    """Find a row that a vector is not orthogonal to, exactly."""
    weights = [vector.get(j, 0) for j in range(cone.dimension)]
    signs = signs_of_products(cone, weights)
    return int(np.abs(signs).argmax()) if signs.any() else None


def _in_order(cone: SignedRows, constants: int) -> list[int]:
    """Give the coordinates in which some row is not zero, those of intercepts first."""
    used: list[int] = cone.used.tolist()
    first = cone.dimension - constants - bool(cone.lift)
    return [j for j in used if j >= first] + [j for j in used if j < first]


def _null_vectors(
    cone: SignedRows, rows: Sequence[int], columns: Sequence[int]
) -> dict[int, Vector]:
    """Give vectors that span {v : z·v = 0 on some rows, v = 0 outside of some columns}.

    Each is named by a column that depends on those before it, and in which all others are zero.
    """
    found = {}
    for last, wide in null_vectors(cone, np.array(rows, np.int64), columns, lambda: None):
        divisor = math.gcd(*wide)
        found[last] = {j: value // divisor for j, value in enumerate(wide) if value}
    return found


def null_vectors(
    cone: SignedRows, rows: np.ndarray, columns: Sequence[int], pause: Pause
) -> Iterator[tuple[int, list[int]]]:
    """Give such vectors, up to positive factors, each with the column that it is named by."""
    table, _ = cone.integers(rows)
    ordered = table.part(np.arange(table.size), np.array(columns, np.int64))
    for last, vector in orthogonal(ordered, pause):
        wide = scattered(columns, vector, cone.dimension)
        yield columns[last], cone.unscaled_direction(wide)


# ---- columns that matter


def _to_blame(
    cone: SignedRows,
    claim: Certificate,
    w: Sequence[Number],
    basis: Sequence[int],
    aliases: dict[int, Vector],
    kept: list[int],
) -> tuple[set[int], dict[int, int]]:
    """Give the columns that matter, and the signs of coefficients that run to infinity."""
    if isinstance(claim, Inseparability):
        return _of_the_proof(cone, claim, w, aliases), {}
    if isinstance(claim, Separator):
        free = {j: {j: 1} for j in kept}
        columns = _of_the_proof(cone, claim, w, aliases)
    else:
        free = _null_vectors(cone, basis, kept)
        columns = set[int]().union(*free.values())
    return columns, _signs(_moved(aliases, w), free.values())


def _signs(w: Mapping[int, Fraction], free: Iterable[Vector]) -> dict[int, int]:
    """Give the signs of a direction in which the likelihood never falls and most coefficients move.

    Where w is zero without need, it is moved a little in a free direction, which may go both ways.
    """
    found = {j: 1 if value > 0 else -1 for j, value in w.items() if value}
    for vector in free:
        found = {j: 1 if value > 0 else -1 for j, value in vector.items()} | found
    return found


def _of_the_proof(
    cone: SignedRows, claim: Certificate, w: Sequence[Number], aliases: dict[int, Vector]
) -> set[int]:
    """Give the columns of the hyperplane, or those of the rows that sum to zero."""
    if isinstance(claim, Inseparability):
        held = {j for i in claim.rows for j, _ in exact_row(cone.X, i)}
        return held - aliases.keys()
    return _without(aliases, w)


def _without(aliases: dict[int, Vector], w: Sequence[Number]) -> set[int]:
    """Give the coordinates of a hyperplane that is the same on all rows and spares aliased ones."""
    return {j for j, value in _moved(aliases, w).items() if value}


def _moved(aliases: dict[int, Vector], w: Sequence[Number]) -> dict[int, Fraction]:
    """Give a hyperplane that is the same on all rows and zero in aliased coordinates."""
    moved = {j: Fraction(value) for j, value in enumerate(w) if value}
    for column, vector in aliases.items():
        share = moved.get(column, Fraction(0)) / vector[column]
        for j, value in vector.items() if share else ():
            moved[j] = moved.get(j, Fraction(0)) - share * value
    return moved
