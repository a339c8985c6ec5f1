"""The fewest columns that still separate, and the most that no longer do.

Problem     of all sets of columns that separate, one of the fewest; the intercept is free
Start       weights with the least sum of sizes, by a linear program in floats: often few columns.
            Then none of them that can be spared, by an exact verdict each: the set is irreducible
Bound       a set that does not separate, as large as can be, leaves out a cut: columns of which
            every separating set holds one. The smallest set that holds one of all cuts is no larger
            than the fewest; if it separates, it is the fewest. If not, it gives a further cut, and
            so do the sets with a column more of each, until one separates: it may be smaller than
            those before
Floats      let sets grow (`guesses`) and find sets that hold one of all cuts; what these say is
            not relied on
Guarantee   every cut and every set that separates was decided about exactly; that no smaller set
            holds one of all cuts is proven in integers. Where the time is over, the bound says how
            many columns are needed at least
Sources     Chvátal 1979 (hitting sets); Reiter 1987; Davies & Bacchus 2011 (implicit ones)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, milp

from rosenblatt.decide.answers import SEPARABLE, UNDECIDED, Clock, Explained
from rosenblatt.decide.engine.solver import load, run, solver_with
from rosenblatt.decide.separability.explained import listed
from rosenblatt.decide.separability.separation import Separation
from rosenblatt.pauses import OutOfTimeError

Set = frozenset[int]
SHOWN = 1e-9  # a weight, beside the largest, that counts as one; a margin, beside 1
UNIT = 2**30  # that weights of cuts are rounded to


@dataclass(frozen=True)
class FewestColumns(Explained):
    """Few columns that separate as all of them do.

    Attributes
    ----------
    columns : ndarray of int
        The columns.
    at_least : int
        A proven lower bound: fewer columns do not separate.
    irreducible : bool
        Whether it is proven that none of the columns can be left out.
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
        """Whether it is proven that no fewer columns separate."""
        return self.at_least >= self.columns.size

    def explain(self) -> str:
        """Say what is proven."""
        named = listed("column", self.columns, self.names)
        if self.smallest:
            return f"No smaller set of columns separates than {named}."
        known = "none can be left out" if self.irreducible else "some may be superfluous"
        return (
            f"{self.columns.size} columns separate ({known}): {named}. It takes at least "
            f"{self.at_least}; there was no time to find out whether fewer would do."
        )


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


class Cuts:
    """Sets of columns of which every set that separates holds one."""

    def __init__(self, subsets: Subsets) -> None:
        self.subsets, self.every = subsets, Set(subsets.found.used_columns)
        self.guesses = Guesses(subsets.found, subsets.clock)
        self.random, self.found = np.random.default_rng(0), list[Set]()

    def missed(self, columns: Set) -> Set | None:
        """Give a cut of which a set holds none, and remember it; None if the set separates."""
        subsets = self.subsets
        if self.guesses.separates(columns) and subsets.separates(columns):
            return None
        most = self._grown(columns, self.guesses.separates)
        if subsets.separates(most):  # floats erred
            if subsets.separates(columns):
                return None
            most = self._grown(columns, subsets.separates)
        self.found.append(self.every - most)
        return self.found[-1]

    def _grown(self, columns: Set, separates: Callable[[Set], bool]) -> Set:
        """Add columns, in any order, as long as the set does not separate."""
        for j in self.random.permutation(sorted(self.every - columns)).tolist():
            if not separates(columns | {j}):
                columns |= {j}
        return columns

    def most_frequent(self, columns: Set) -> int:
        """Give the column of some that most cuts hold."""
        return max(sorted(columns), key=lambda j: sum(j in cut for cut in self.found))


class Guesses:
    """Whether columns separate, as floats see it: by a program that begins where the last ended.

    The program: the largest t with z·w >= t on all rows; for weak separation the largest sum of
    z·w >= 0. Weights are at most 1, and 0 for columns that are left out.
    """

    def __init__(self, found: Separation, clock: Clock) -> None:
        assert found.design is not None
        rows, self.clock = found.design.signed, clock
        Z = sparse.diags(1 / rows.norms) @ sparse.csr_matrix(rows.scaled(np.arange(rows.size)))
        owners = [found.columns_of(np.array([j])) for j in range(rows.dimension)]
        self.owners = np.array([of[0] if of else -1 for of in owners])
        self.ends = np.ones(rows.dimension)
        cost = np.asarray(-Z.sum(axis=0)).ravel() / rows.size
        if found.verdict == SEPARABLE:
            Z = sparse.hstack([Z, np.full((rows.size, 1), -1.0)])
            self.ends, cost = np.append(self.ends, 1.0), np.append(np.zeros(rows.dimension), -1.0)
        self.solver, above = solver_with({}), np.full(rows.size, np.inf)
        ends = -self.ends, self.ends
        load(self.solver, cost, ends, (np.zeros(rows.size), above), sparse.csr_matrix(Z))

    def separates(self, columns: Set) -> bool:
        """Guess whether some columns separate."""
        inside = np.isin(self.owners, [-1, *columns])
        ends = np.append(inside.astype(np.float64), self.ends[inside.size :])
        places = np.arange(ends.size, dtype=np.int32)
        self.solver.changeColsBounds(ends.size, places, -ends, ends)
        run(self.solver, self.clock.left())
        return bool(self.solver.getInfo().objective_function_value < -SHOWN)


def fewest_columns(found: Separation, clock: Clock) -> FewestColumns:
    """Find few columns that separate, the fewest if there is time for the proof."""
    subsets = Subsets(found, clock)
    best, at_least, irreducible = Set(found.used_columns), 1, False
    subsets.known[best] = found
    try:
        best = _lightest(subsets, best)
        best, irreducible = subsets.shrunk(best), True
        cuts = Cuts(subsets)
        while at_least < len(best):
            few = hitting_set(cuts.found, at_least, clock)
            if few is None:
                at_least += 1
                continue
            while len(few) < len(best) and (missed := cuts.missed(few)) is not None:
                few |= {cuts.most_frequent(missed)}
            best = subsets.shrunk(few) if len(few) < len(best) else best
    except (OutOfTimeError, KeyboardInterrupt):
        pass
    columns, subsets.clock = np.array(sorted(best), np.int64), Clock()
    return FewestColumns(columns, at_least, irreducible, subsets.answer(best), found.names)


def _lightest(subsets: Subsets, every: Set) -> Set:
    """Give the columns of the weights with the least sum of sizes, if they separate."""
    design = subsets.found.design
    assert design is not None
    rows = design.signed
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


# ---- sets that hold one of all cuts


def hitting_set(cuts: Sequence[Set], size: int, clock: Clock) -> Set | None:
    """Give at most so many elements that hold one of each cut; None if there are none.

    Floats find the elements; that there are none is shown by branching, with a bound in integers.
    """
    few = _smallest(cuts, clock)
    return few if len(few) <= size else _branched(cuts, size, clock)


def _smallest(cuts: Sequence[Set], clock: Clock) -> Set:
    """Give few elements that hold one of each cut: as floats see it, no fewer do."""
    if not cuts:
        return Set()
    elements, A = _table(cuts)
    seconds = {} if clock.seconds is None else {"time_limit": clock.left()}
    one = np.ones(len(elements))
    found = milp(one, integrality=one, bounds=(0, 1), constraints=(A, 1, np.inf), options=seconds)
    clock.left()
    few = Set() if found.x is None else Set(elements[found.x > 0.5].tolist())
    return few if all(few & cut for cut in cuts) else Set(elements.tolist())


def _branched(cuts: Sequence[Set], size: int, clock: Clock) -> Set | None:
    """Give at most so many elements that hold one of each cut; None if it is proven to be none."""
    clock.left()
    if not cuts:
        return Set()
    if size <= 0 or not all(cuts):
        return None
    elements, A = _table(cuts)
    found = linprog(np.ones(len(elements)), -A, -np.ones(len(cuts)))
    if _exceeds(A, -found.ineqlin.marginals, size):
        return None
    taken = int(elements[np.abs(found.x - 0.5).argmin()])
    rest = _branched([cut for cut in cuts if taken not in cut], size - 1, clock)
    if rest is not None:
        return rest | {taken}
    return _branched([cut - {taken} for cut in cuts], size, clock)


def _exceeds(A: np.ndarray, weights: np.ndarray, size: int) -> bool:
    """Tell whether cuts need more elements: weights of which each element holds at most 1 in all.

    The weights are rounded to integers, so that none of it rests on floats.
    """
    whole = np.floor(np.clip(weights, 0, 1) * UNIT).astype(np.int64)
    return int(whole.sum()) > size * max(UNIT, int((whole @ A.astype(np.int64)).max()))


def _table(cuts: Sequence[Set]) -> tuple[np.ndarray, np.ndarray]:
    """Give all elements, and for each cut which of them it holds."""
    elements = np.array(sorted(Set().union(*cuts)))
    return elements, np.array([[float(j in cut) for j in elements.tolist()] for cut in cuts])
