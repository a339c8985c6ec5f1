"""Conflicts are irreducible, and repairs are the least ones."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linprog

import rosenblatt as rb
from amount import amount
from bench import conflicts
from naive_certificates import mix
from planted_systems import drawn
from rosenblatt.check.subjects import System
from rosenblatt.data.systems import read_system
from rosenblatt.decide.engine.alone import row_alone
from rosenblatt.decide.systems.filters import AROUND, Filters, searched
from rosenblatt.decide.systems.tableaus import Tableau, begun
from rosenblatt.exact.digest import EQUAL, MORE_THAN

PLAN = """Minimize
 cost: 3 a + 2 b
Subject To
 cap_march: a + b <= 40
 cap_april: c <= 30
 demand_total: a + b + c >= 95
 mix: a - 2 b >= 0
Bounds
 a <= 25
End
"""


FILES = {"plan.lp": PLAN}


@pytest.fixture
def plan(folder: Path) -> Path:
    return folder / "plan.lp"


def part(system: System, rows: list[int], bounds: list[tuple[int, str]]) -> rb.Solution:
    """Solve some rows and bounds of a system."""
    ends: list[list[Any]] = [[None, None] for _ in range(system.columns)]
    for j, side in bounds:
        assert system.pairs is not None
        ends[j][side == "upper"] = system.pairs[j][side == "upper"]
    if not rows:  # bounds of one unknown
        assert any(low is not None and high is not None and low > high for low, high in ends)
    tags = system.tags[rows]
    return rb.solve(
        system.X[rows], system.b[rows], strict=tags == MORE_THAN, equal=tags == EQUAL, bounds=ends
    )


def infeasible(seed: int) -> bool:
    return drawn(seed).verdict == "infeasible"


def require_irreducible(system: System, found: rb.Conflict) -> None:
    """Require a contradiction that is none any more without any one row or bound."""
    rows, bounds = found.rows.tolist(), list(found.bounds)
    if rows:
        assert part(system, rows, bounds).verdict == "infeasible"
    for i in rows if len(rows) > 1 else ():
        assert part(system, [k for k in rows if k != i], bounds).verdict == "feasible"
    for bound in bounds if rows else ():
        assert part(system, rows, [b for b in bounds if b != bound]).verdict == "feasible"


# Strict rows, of which a proof needs one, and of which a part proves the contradiction alone.
STRICT = [1030, 1131, 1172]


@pytest.mark.parametrize("seed", sorted({*filter(infeasible, range(amount(90, 1200))), *STRICT}))
def test_planted_conflicts_are_irreducible(seed: int) -> None:
    given, how = drawn(seed).given()
    solved = rb.solve(*given, **how)
    assert solved.system is not None
    found = solved.conflict()
    require_irreducible(solved.system, found)
    assert rb.verify(found.certificate, *given, **how).ok
    for other in solved.conflicts(3):
        require_irreducible(solved.system, other)
        assert rb.verify(other.certificate, *given, **how).ok


class Filtering:
    """Sets that are left of all members, turn by turn, each by linear programs of its own."""

    def __init__(self, filters: Filters, table: np.ndarray) -> None:
        self.table, self.draws = table, 0
        self.is_bound = [kind != "row" for (kind, _), _ in filters.members]
        numbers = [number for (_, number), _ in filters.members]
        self.order = sorted(range(len(numbers)), key=numbers.__getitem__)

    def contradict(self, members: list[int]) -> bool:
        some = linprog(np.ones(len(members)), A_eq=self.table[members].T, b_eq=self.table[-1])
        return bool(some.status == 0)

    def needs(self, k: int) -> bool:
        return not self.contradict([j for j in range(len(self.order)) if j != k])

    def left(self, turn: int, held: list[int]) -> list[int]:
        if turn >= 0:
            for k in range(len(self.order) - 1, 0, -1):
                self.draws += 1
                j = mix(self.draws) % (k + 1)
                self.order[k], self.order[j] = self.order[j], self.order[k]
        if turn % 5 < len(AROUND):
            first = [k for k in self.order if k in held and not self.needs(k)][: AROUND[turn % 5]]
            self.order.sort(key=lambda k: 0 if k in first else 2 if k in held else 1)
        else:
            self.order.sort(key=lambda k: self.is_bound[k] == (turn % 5 == 3))
        kept = [*self.order]
        for k in self.order:
            others = [j for j in kept if j != k]
            kept = others if self.contradict(others) else kept
        return sorted(kept)


@pytest.mark.twin_of("decide.systems.tableaus.begin", "decide.systems.filters.searched")
@pytest.mark.parametrize("seed", range(6))
def test_filters_drop_each_row_and_bound_without_which_there_is_a_contradiction(seed: int) -> None:
    random = np.random.default_rng(seed)
    A, b = random.integers(-3, 4, (12, 3)), random.integers(0, 4, 12)
    system = System(A, b, False, random.random(12) < 0.2, (-1, 1))
    filters = Filters(system, set())
    table, turns = filters._table(), filters._turns()
    some = linprog(np.ones(len(filters.members)), A_eq=table[:-1].T, b_eq=table[-1])
    given, twin = Tableau.of(table), Filtering(filters, table)
    held = sorted(np.flatnonzero(some.x > 1e-9).tolist())
    best = now = begun(given, np.array(held))
    assert sorted(now.positive.tolist()) == held
    for turn in range(-2, 12):
        turns.needed[:] = [twin.needs(k) for k in range(len(filters.members))]
        now = Tableau(*map(np.copy, best))
        smaller = searched(given, best, now, turns, turn + 1, 2**40)
        left = twin.left(turn, held)
        assert smaller == (len(left) < len(held))
        if len(left) <= len(held):
            assert sorted(now.positive.tolist()) == left
            held, best = left, begun(given, np.array(left))


def test_a_search_ends_where_no_other_conflict_can_be_smaller() -> None:
    """Each conflict has rows 0 and 1, and x <= 0 or x <= 1: none is smaller than another."""
    system = System([[1, 1], [0, -1], [-1, 0], [-2, 0]], [3, -1, 0, -2], False, None, (-9, 9))
    filters = Filters(system, set())
    given, turns = Tableau.of(filters._table()), filters._turns()
    best = begun(given, np.array([0, 1, 2]))
    assert not searched(given, best, Tableau(*map(np.copy, best)), turns, 10_000, 2**40)
    assert turns.counts[0] == 10_000
    assert turns.counts[1] < 100 * given.table.size


def test_one_row_that_its_bounds_contradict_is_found_at_once() -> None:
    rows, right = [[1, 1, 1], [2, -1, 0], [1, 2, 3], [1, 0, 0]], [-5, 7, 2, 1]
    for equal, found in (([0, 0, 0, 0], [1]), ([0, 0, 0, 1], [1]), ([0, 0, 1, 0], [1])):
        told = row_alone(
            System(rows, right, False, np.array(equal, bool), [(0, 2), (-1, 3), (0, None)]),
            np.arange(4),
        )
        assert told is not None
        assert [*told.rows] == found
    below = System([[1, 1], [0.1, 0.2]], [5, 0.2], False, [False, True], [(1, 9), (0.5, None)])
    told = row_alone(below, np.arange(2))
    assert told is None  # 0.1 + 0.1 is 0.2
    nearer = System([[0.1, 0.2]], [0.2], False, True, [(1, 9), (0.5000001, None)])
    told = row_alone(nearer, np.arange(1))
    assert told == ({0: -1}, {0: Fraction(0.1), 1: Fraction(0.2)}, {})
    assert rb.solve([[0.1, 0.2]], [0.2], equal=True, bounds=nearer.pairs).conflict().size == 3


@pytest.mark.parametrize("strategy", [4, 6, 12, 14])
def test_no_conflict_is_larger_than_the_one_that_highs_names(strategy: int) -> None:
    for seed in range(amount(12, 300)):
        model = conflicts.planted(seed)
        peer = conflicts.size(model, *conflicts.named(model, strategy))
        ours = rb.solve(conflicts.planted(seed)).conflict()
        assert not peer or ours.size <= peer


def test_contradictions_with_too_much_in_them_are_reduced() -> None:
    """x >= 1 and x <= 0 are a conflict; multipliers on more rows than these are only a proof."""
    from rosenblatt.decide.answers import Clock
    from rosenblatt.decide.engine.farkas import Contradiction
    from rosenblatt.decide.systems.conflicts import Conflicts
    from rosenblatt.decide.systems.wording import Wording

    rows = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]]
    system = System(rows, [1, 0, 1, 0, 2, -1], False, None, None)
    search = Conflicts(system, Wording(), Clock())
    every = Contradiction({i: Fraction(i // 2 + 1) for i in range(6)}, {}, {})
    assert len(search._irreducible(every).rows) == 2


@pytest.mark.parametrize("strict", [[True, False], [False, True]])
def test_strict_rows_that_touch(strict: list[bool]) -> None:
    found = rb.solve([[1, 1], [-1, -1]], [1, -1], strict=strict).conflict()
    assert found.rows.tolist() == [0, 1]
    assert found.explain().endswith("gives 0 > 0.")


def test_disjoint_conflicts_come_first_and_then_others() -> None:
    rows = [[1, 0], [-1, 0], [0, 1], [0, -1], [-1, 0]]
    found = rb.solve(rows, [1, 0, 1, 0, -0.5]).conflicts(10)
    sets = [set(one.rows.tolist()) for one in found]
    assert len(sets) == 3
    assert sets[0].isdisjoint(sets[1])
    assert {frozenset(one) for one in sets} == {*map(frozenset, ({0, 1}, {2, 3}, {0, 4}))}
    assert len(rb.solve(rows, [1, 0, 1, 0, -0.5]).conflicts(2)) == 2


def test_rows_to_keep_are_used_only_if_they_must_be() -> None:
    rows, right = [[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 0, 1, 0]
    solved = rb.solve(rows, right)
    assert solved.conflict(keep=[0]).rows.tolist() == [2, 3]
    assert solved.conflict(keep=[2, 3]).rows.tolist() == [0, 1]
    assert solved.conflict(keep=[0, 2]).size == 2  # each conflict has one of them
    with pytest.raises(rb.InputError, match="no row 7"):
        solved.conflict(keep=[7])
    with pytest.raises(rb.InputError, match="'demand'"):
        solved.conflict(keep=["demand"])


def test_only_infeasible_systems_have_conflicts_and_need_repairs() -> None:
    solved = rb.solve([[1.0]], [1])
    with pytest.raises(rb.InputError, match="is feasible: only infeasible ones have conflicts"):
        solved.conflict()
    with pytest.raises(rb.InputError, match="is feasible: only infeasible ones need a repair"):
        solved.repair()


def test_the_contradiction_is_arithmetic_in_the_words_of_the_file(plan: Path) -> None:
    assert rb.solve(plan).conflict().names == ("cap_march", "cap_april", "demand_total")
    found = rb.solve(plan).conflict(keep=["cap_march"])
    assert found.names == ("cap_april", "demand_total", "mix", "a ≤ 25")
    *_, total = found.explain().splitlines()
    assert total == "- 2 × cap_april + 2 × demand_total + 1 × mix - 3 × (a ≤ 25) gives 0 ≥ 55."
    assert "  mix: a - 2 b ≥ 0" in found.explain().splitlines()


# ---- repairs


def least_change(solved: rb.Solution) -> float:
    """Give the least total change in floats."""
    assert solved.system is not None
    rows = [solved.system.row(i) for i in range(solved.system.tags.size)]
    rows += [[(j, 1), (solved.system.columns, low)] for j, (low, _) in
             enumerate(solved.system.pairs or ()) if low is not None]  # fmt: skip
    rows += [[(j, -1), (solved.system.columns, -high)] for j, (_, high) in
             enumerate(solved.system.pairs or ()) if high is not None]  # fmt: skip
    equal = [*(solved.system.tags == EQUAL), *[False] * (len(rows) - solved.system.tags.size)]
    width, n = solved.system.columns, len(rows)
    A = np.zeros((n, width + 2 * n))
    right = np.zeros(n)
    for i, (*entries, (_, end)) in enumerate(rows):
        for j, value in entries:
            A[i, j] = value
        right[i] = end
        A[i, width + i], A[i, width + n + i] = 1, -1
    equal = np.array(equal)
    cost = np.append(np.zeros(width), np.ones(2 * n))
    bounds = [(None, None)] * width + [(0, None)] * (2 * n)
    found = linprog(cost, -A[~equal] if (~equal).any() else None,
                    -right[~equal] if (~equal).any() else None,
                    A[equal] if equal.any() else None, right[equal] if equal.any() else None,
                    bounds)  # fmt: skip
    return float(found.fun)


@pytest.mark.parametrize("seed", range(40))
def test_repairs_are_the_least_ones(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, d = random.integers(4, 12), random.integers(2, 5)
    A, b = random.integers(-4, 5, (n, d)), random.integers(-3, 9, n)
    equal = random.random(n) < 0.2
    solved = rb.solve(A, b, equal=equal, bounds=(0, 2))
    if solved.verdict == "feasible":
        return
    found: rb.Repair = solved.repair()
    assert float(found.total) == pytest.approx(least_change(solved), rel=1e-7)
    changed = rb.solve(A, found.b, equal=equal, bounds=found.bounds)
    assert changed.verdict == "feasible"
    values = A.astype(object) @ found.w
    assert all(v == r if e else v >= r for v, r, e in zip(values, found.b, equal, strict=True))
    assert all(low <= v <= high for v, (low, high) in zip(found.w, found.bounds or (), strict=True))


def test_what_is_kept_stays_and_weights_count(plan: Path) -> None:
    solved = rb.solve(plan)
    assert "demand_total" not in solved.repair(keep=["demand_total"]).changes
    assert solved.repair(keep=["a", "b", "c"]).changes == {"demand_total": Fraction(-55, 2)}
    assert "demand_total" not in solved.repair({"demand_total": 1000}).changes
    with pytest.raises(rb.InputError, match="contradicts itself"):
        solved.repair(keep=["cap_april", "demand_total", "mix", "a"])
    with pytest.raises(rb.InputError, match="positive"):
        solved.repair({"mix": 0})


# ---- other doors


def test_frames_name_unknowns_and_rows() -> None:
    orders = pd.DataFrame([[1, 1], [1, -1]], ["June", "balance"], ["north", "south"])
    bounds = [(0, 45), (0, 40)]
    for found in (
        rb.solve(A_eq=orders, b_eq=[140, 0], bounds=bounds),
        rb.solve(orders, [140, 0], equal=True, bounds=bounds),
    ):
        assert found.names == ("north", "south")
        told = found.conflict().explain()
        assert "June: north + south = 140" in told
        assert "south ≤ 40" in told
    with pytest.raises(rb.InputError, match="name their columns differently"):
        rb.solve(A_eq=orders, b_eq=[1, 1], A_ub=orders[["south", "north"]], b_ub=[1, 1])


def test_arguments_of_linprog_and_models_of_highs(plan: Path) -> None:
    A_ub, b_ub = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, 2.0, 0.0]], None
    b_ub = [40, 30, -95, 0]
    bounds = [(0, 25), (0, None), (0, None)]
    found = rb.solve(A_ub=A_ub, b_ub=b_ub, bounds=bounds)
    assert linprog(np.zeros(3), A_ub, b_ub, bounds=bounds).status == 2
    assert found.verdict == "infeasible"
    assert found.conflict().names == ("row 0", "row 1", "row 2")
    assert found.conflict(keep=[0]).names == ("row 1", "row 2", "row 3", "x0 ≤ 25")
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.readModel(str(plan))
    assert rb.solve(model).conflict().names == rb.solve(plan).conflict().names
    assert rb.solve(A_eq=sparse.csr_array([[1.0, 1.0]]), b_eq=[-1]).verdict == "infeasible"
    assert rb.solve(A_eq=[[1.0, 1.0]], b_eq=[-1], bounds=(None, None)).verdict == "feasible"
    for wrong in ({"A_ub": [[1.0]]}, {"A": [[1.0]], "A_eq": [[1.0]], "b_eq": [1]}, {}):
        with pytest.raises(rb.InputError):
            rb.solve(**wrong)


def test_shell_names_the_conflict_and_writes_it(shell) -> None:
    words = "--conflict", "--keep", "mix", "--out", "reduced.lp", "--json"
    status, shown, _ = shell("solve", "plan.lp", *words)
    assert status == 1
    fighting = ["cap_march", "cap_april", "demand_total"]
    assert json.loads(shown)["conflict"]["names"] == fighting
    assert list(read_system("reduced.lp").rows) == fighting
    assert list(rb.solve("reduced.lp").conflict().names) == fighting


@pytest.mark.parametrize("name", ["repaired.csv", "repaired.lp"])
def test_shell_repairs(shell, name: str) -> None:
    status, shown, _ = shell("solve", "plan.lp", "--repair", "--keep", "a", "--out", name)
    assert status == 1
    assert "The least total change is 27.5, by 1 change" in shown
    assert rb.solve(name).verdict == "feasible"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--keep", "mix"], "--conflict"),
        (["--conflict", "--out", "x.mps"], ".lp"),
        (["--conflict", "--repair", "--out", "x.lp"], "either"),
        (["--conflict", "--keep", "nothing"], "'nothing'"),
    ],
)
def test_shell_refuses(refused, words: list[str], said: str) -> None:
    assert said in refused("solve", "plan.lp", *words)
