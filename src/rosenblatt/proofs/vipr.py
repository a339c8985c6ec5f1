"""Proofs in VIPR, the exchange format of exact solvers of linear and integer programs.

VIPR knows no strict inequality. Where w may be scaled, z·w > 0 becomes z·w >= 1; some z·w > 0
becomes t >= 0 and Σ t >= 1 for t = z·w; and strict rows of a system become a·w - e >= b for the
largest e, which is positive, or at most zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from rosenblatt.certificate_fields import number_text
from rosenblatt.checker import EQUAL, LOWER, MORE_THAN, UPPER
from rosenblatt.errors import InputError
from rosenblatt.proofs.statement import Statement

Entries = dict[int, int]
Weight = int | Fraction


class Constraint(NamedTuple):
    """A row of a linear program: its sense is G, L or E."""

    name: str
    entries: Entries
    right: int = 0
    sense: str = "G"


class Derivation(NamedTuple):
    """A linear program, what is to be proven of it, and the proof: a point, or weights of rows."""

    variables: list[str]
    constraints: list[Constraint]
    goal: str
    point: Sequence[Weight] | None = None
    weights: Sequence[Weight] | None = None
    largest: bool = False  # whether the last variable is to be made as large as possible


def written(statement: Statement) -> str:
    """Give the file that proves what a certificate claims."""
    if statement.kind not in WRITERS:
        raise InputError(
            f"VIPR knows no squares, which a {statement.kind} needs; export to .v or .smt2"
        )
    derivation = WRITERS[statement.kind](statement)
    last = len(derivation.variables) - 1
    lines = [
        f"% {statement.sentence}",
        "VER 1.0",
        f"VAR {len(derivation.variables)}",
        " ".join(derivation.variables),
        "INT 0",
        f"OBJ max\n1 {last} 1" if derivation.largest else "OBJ min\n0",
        _constraints(derivation.constraints),
        f"RTP {derivation.goal}",
        _solutions(derivation.point),
        _derivations(derivation),
    ]
    return "\n".join(lines) + "\n"


# ---- the kinds


def separator(s: Statement) -> Derivation:
    """Give w, scaled until z·w >= 1 on all rows."""
    every = range(len(s.claim.z))
    least = abs(min(map(s.value, every))) or 1
    point = [Fraction(value, s.over) / least for value in s.w]
    return Derivation(_names(s), [_row(s, i, 1) for i in every], "range -inf 0", point)


def non_separability(s: Statement) -> Derivation:
    """Add up z·w >= 1 of the named rows."""
    return Derivation(_names(s), [_row(s, i, 1) for i in s.places], "infeas", weights=s.scales)


def inseparability(s: Statement) -> Derivation:
    """Add up z·w = t, t >= 0 and Σ t >= 1, of all rows."""
    width, count = s.claim.dimension, len(s.places)
    scales = [Fraction(scale, min(s.scales)) for scale in s.scales]
    names = [*_names(s), *(f"t{i + 1}" for i in s.places)]
    slacks = [Constraint(f"T{i + 1}", {width + k: 1}) for k, i in enumerate(s.places)]
    rows = [
        Constraint(f"R{i + 1}", s.left(i) | {width + k: -1}, sense="E")
        for k, i in enumerate(s.places)
    ]
    some = Constraint("SOME", dict.fromkeys(range(width, width + count), 1), 1)
    weights: list[Weight] = [*(scale - 1 for scale in scales), *scales, 1]
    return Derivation(names, [*slacks, *rows, some], "infeas", weights=weights)


def feasible_point(s: Statement) -> Derivation:
    """Give the point, and by how much it satisfies the strict rows."""
    places = _bounds_first(s, range(len(s.claim.z)))
    point = [Fraction(value, s.over) for value in s.w]
    strict = [s.value(i) for i in places if s.claim.rows[i].tag == MORE_THAN]
    if not strict:
        return Derivation(_names(s), [_row(s, i) for i in places], "range -inf 0", point)
    goal = f"range {number_text(abs(min(strict)) or 1)} inf"  # positive, be it true or not
    return Derivation(*_with_excess(s, places), goal, [*point, min(strict)], largest=True)


def infeasibility(s: Statement) -> Derivation:
    """Add up the named rows to 0 >= 1, or to e <= 0 if the contradiction is a strict one."""
    weight = dict(zip(s.places, s.scales, strict=True))
    places = _bounds_first(s, s.places)
    weights = [weight[i] for i in places]
    if sum(y * s.right(i) for i, y in weight.items()) > 0:
        return Derivation(_names(s), [_row(s, i) for i in places], "infeas", weights=weights)
    strict = sum(y for i, y in weight.items() if s.claim.rows[i].tag == MORE_THAN) or 1
    scaled = [Fraction(-y, strict) for y in weights]
    return Derivation(*_with_excess(s, places), "range -inf 0", weights=scaled, largest=True)


WRITERS = {
    "separator": separator,
    "non-separability": non_separability,
    "inseparability": inseparability,
    "feasible point": feasible_point,
    "infeasibility": infeasibility,
}


# ---- their parts


def _names(s: Statement) -> list[str]:
    width = s.claim.columns if s.is_system else s.claim.dimension
    return [f"w{j + 1}" for j in range(width)]


def _row(s: Statement, i: int, right: int | None = None) -> Constraint:
    sense = "E" if s.claim.rows[i].tag == EQUAL else "G"
    return Constraint(f"R{i + 1}", s.left(i), s.right(i) if right is None else right, sense)


def _with_excess(s: Statement, places: Sequence[int]) -> tuple[list[str], list[Constraint]]:
    """Give the rows with a further variable, subtracted on the left of strict ones."""
    rows = [_row(s, i) for i in places]
    for k, i in enumerate(places):
        if s.claim.rows[i].tag == MORE_THAN:
            rows[k] = rows[k]._replace(entries=rows[k].entries | {s.claim.columns: -1})
    return [*_names(s), "e"], rows


def _bounds_first(s: Statement, places: Iterable[int]) -> list[int]:
    """Give places in the order that VIPR demands."""
    return sorted(places, key=lambda i: (s.claim.rows[i].tag not in (LOWER, UPPER), i))


def _constraints(rows: Sequence[Constraint]) -> str:
    bounds = next((k for k, row in enumerate(rows) if len(row.entries) != 1), len(rows))
    lines = [f"CON {len(rows)} {bounds}", *map(_constraint, rows)]
    return "\n".join(lines)


def _constraint(row: Constraint) -> str:
    return f"{row.name} {row.sense} {number_text(row.right)}  {_entries(row.entries.items())}"


def _entries(pairs: Iterable[tuple[int, Weight]]) -> str:
    kept = [(j, value) for j, value in pairs if value]
    return "  ".join([str(len(kept)), *(f"{j} {number_text(value)}" for j, value in kept)])


def _solutions(point: Sequence[Weight] | None) -> str:
    return "SOL 0" if point is None else f"SOL 1\npoint {_entries(enumerate(point))}"


def _derivations(derivation: Derivation) -> str:
    """Give the one step: the weighted sum of the constraints."""
    if derivation.weights is None:
        return "DER 0"
    rights = zip(derivation.weights, derivation.constraints, strict=True)
    right = sum(y * row.right for y, row in rights)
    what = "L 0 OBJ" if derivation.largest else f"G {number_text(right)} 0"
    return f"DER 1\nSUM {what} {{ lin {_entries(enumerate(derivation.weights))} }} -1"
