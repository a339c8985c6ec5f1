"""The fewest columns that still separate, and the most that no longer do.

Problem     of all sets of columns that separate, one of the fewest; the intercept is free
Start       weights with the least sum of sizes, by a linear program in floats: often few columns.
            Then none of them that can be spared, by an exact verdict each: the set is irreducible
Bound       a set that does not separate, as large as can be, leaves out columns of which every
            separating set holds one. The smallest set that holds one of all these (branch and
            bound) is no larger than the fewest; if it separates, it is the fewest
Guarantee   every set was decided about exactly; where the time is over, the bound says how many
            columns are needed at least
Sources     Chvátal 1979 (hitting sets); Reiter 1987; Davies & Bacchus 2011 (implicit ones)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from rosenblatt.decide.answers import SEPARABLE, UNDECIDED, Clock
from rosenblatt.decide.separability.explained import listed
from rosenblatt.decide.separability.separation import Separation
from rosenblatt.decide.signed import SignedRows
from rosenblatt.pauses import OutOfTimeError

Set = frozenset[int]
SHOWN = 1e-9  # a weight, beside the largest, that counts as one


@dataclass(frozen=True)
class FewestColumns:
    """Few columns that separate as all of them do.

    Attributes
    ----------
    columns : ndarray of int
        The columns.
    at_least : int
        So many columns are needed, which is proven.
    irreducible : bool
        Whether none of the columns can be spared, which is proven.
    found : Separation
        The answer about these columns alone, with its certificate.
    names : sequence of str
        The names of the columns, if they have any.
    """

    columns: np.ndarray
    at_least: int
    irreducible: bool
    found: Separation = field(repr=False)
    names: Sequence[str] = ()

    @property
    def smallest(self) -> bool:
        """Whether no set of fewer columns separates, which is proven."""
        return self.at_least >= self.columns.size

    def explain(self) -> str:
        """Say what is proven."""
        named = listed("column", self.columns, self.names)
        if self.smallest:
            return f"No fewer columns separate than {self.columns.size}: {named}."
        known = "none of these can be spared" if self.irreducible else "some may be spared"
        return (
            f"{self.columns.size} columns separate, {named}: {known}, and at least "
            f"{self.at_least} are needed; whether fewer would do was not found out in time."
        )

    def __str__(self) -> str:
        return self.explain()


class Subsets:
    """What is known of sets of columns, each decided about once."""

    def __init__(self, found: Separation, clock: Clock) -> None:
        self.found, self.clock = found, clock
        self.known: dict[Set, Separation] = {}
        self.enough: list[Set] = []
        self.too_few: list[Set] = [Set()]  # since both classes have rows

    def answer(self, columns: Set) -> Separation:
        """Decide about some columns alone."""
        if columns not in self.known:
            self.clock.left()
            made = self.found.on_columns(np.array(sorted(columns), np.int64), self.clock)
            if made.verdict == UNDECIDED:
                raise OutOfTimeError
            self.known[columns] = made
        return self.known[columns]

    def separates(self, columns: Set) -> bool:
        """Tell whether some columns separate as all of them do; more do so than fewer."""
        if any(columns <= few for few in self.too_few):
            return False
        if any(some <= columns for some in self.enough):
            return True
        separate = self.answer(columns).verdict in (self.found.verdict, SEPARABLE)
        (self.enough if separate else self.too_few).append(columns)
        return separate

    def shrunk(self, columns: Set) -> Set:
        """Spare columns until none can be."""
        for j in sorted(columns):
            if self.separates(columns - {j}):
                columns -= {j}
        return columns

    def grown(self, columns: Set, more: Iterable[int], unwanted: Callable[[Set], bool]) -> Set:
        """Add columns as long as what is unwanted does not happen."""
        for j in more:
            if not unwanted(columns | {j}):
                columns |= {j}
        return columns


def fewest_columns(found: Separation, clock: Clock) -> FewestColumns:
    """Find few columns that separate, the fewest if there is time for the proof."""
    subsets, every = Subsets(found, clock), found.used_columns
    best, at_least, irreducible = Set(every), 1, False
    subsets.known[best] = found
    try:
        best = _lightest(subsets, best)
        best, irreducible = subsets.shrunk(best), True
        cuts: list[Set] = []
        while at_least < len(best):
            few = hitting_set(cuts, at_least, clock)
            if few is None:
                at_least += 1
            elif subsets.separates(few):
                best, at_least = few, len(few)
            else:
                most = subsets.grown(few, every, subsets.separates)
                cuts.append(Set(every) - most)
    except (OutOfTimeError, KeyboardInterrupt):
        pass
    columns, subsets.clock = np.array(sorted(best), np.int64), Clock()
    return FewestColumns(columns, at_least, irreducible, subsets.answer(best), found.names)


def _lightest(subsets: Subsets, every: Set) -> Set:
    """Give the columns of the weights with the least sum of sizes, if they separate."""
    design = subsets.found.design
    assert design is not None
    rows = SignedRows(design.rows, design.signs, design.lift)
    scaled = sparse.csr_matrix(rows.scaled(np.arange(rows.size)))
    free = design.constants + bool(design.lift)
    cost = np.append(np.ones(rows.dimension - free), np.zeros(free))
    strict = subsets.found.verdict == SEPARABLE
    A = scaled if strict else sparse.vstack([scaled, scaled.sum(axis=0)])
    b = np.ones(rows.size) if strict else np.append(np.zeros(rows.size), 1.0)
    seconds = {} if subsets.clock.seconds is None else {"time_limit": subsets.clock.left() / 2}
    program = linprog(
        np.concatenate([cost, cost]),
        sparse.hstack([-A, A]),
        -b,
        method="highs",
        options={"presolve": True, **seconds},
    )
    with suppress(TypeError):  # no solution
        w = np.abs(program.x[: rows.dimension] - program.x[rows.dimension :])
        few = Set(subsets.found.columns_of(np.flatnonzero(w > SHOWN * w.max())))
        if few and subsets.separates(few):
            return few
    return every


def hitting_set(cuts: Sequence[Set], size: int, clock: Clock) -> Set | None:
    """Give at most so many elements that hold one of each cut; None if there are none."""
    clock.left()
    if not cuts:
        return Set()
    if size < _disjoint(cuts):
        return None
    for j in sorted(sorted(cuts, key=len)[0]):
        left = [cut for cut in cuts if j not in cut]
        rest = hitting_set(left, size - 1, clock)
        if rest is not None:
            return rest | {j}
    return None


def _disjoint(cuts: Sequence[Set]) -> int:
    """Count cuts that have no element in common, each of which needs one of its own."""
    held, count = Set(), 0
    for cut in sorted(cuts, key=len):
        if held.isdisjoint(cut):
            held, count = held | cut, count + 1
    return count
