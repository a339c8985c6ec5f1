"""What `solve` adds for systems without a solution: a conflict, a repair, and files of them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rosenblatt as rb
from rosenblatt.certificate_fields import number_text
from rosenblatt.cli.outputs import check_writable
from rosenblatt.cli.printing import doing
from rosenblatt.data.lp_writing import write_lp
from rosenblatt.data.systems import write_system_csv
from rosenblatt.errors import InputError
from rosenblatt.exact.digest import EQUAL, MORE_THAN

SIDES = ("lower", "upper")


class Wishes(NamedTuple):
    """What is wanted beside the verdict."""

    conflict: bool
    repair: bool
    keep: tuple[str, ...]
    out: Path | None
    max_seconds: float | None

    def check(self, name: str) -> None:
        """Refuse what does not go together."""
        if (self.keep or self.out) and not (self.conflict or self.repair):
            raise InputError("--keep and --out go with --conflict or --repair")
        if self.conflict and self.repair and self.out:
            raise InputError("--out writes one system; give either --conflict or --repair")
        if self.out is not None:
            if self.out.suffix.lower() not in (".lp", ".csv"):
                raise InputError(f"{self.out} is neither .lp nor .csv; name it so")
            check_writable(self.out, name)


def answered(found: rb.Solution, asked: Wishes) -> dict[str, Any]:
    """Find what is asked, write it, and give it as facts; nothing for feasible systems."""
    if found.verdict != "infeasible" or not (asked.conflict or asked.repair):
        return {}
    facts: dict[str, Any] = {}
    if asked.conflict:
        with doing("looking for a conflict"):
            conflict = found.conflict(asked.keep, max_seconds=asked.max_seconds)
        facts["conflict"] = {
            "names": list(conflict.names),
            "rows": conflict.rows.tolist(),
            "bounds": [list(bound) for bound in conflict.bounds],
            "explanation": conflict.explain(),
        }
        if asked.out is not None:
            _write_part(asked.out, found, conflict)
    if asked.repair:
        with doing("looking for the least change"):
            repair = found.repair(keep=asked.keep, max_seconds=asked.max_seconds)
        facts["repair"] = {
            "total": number_text(repair.total),
            "changes": {name: number_text(change) for name, change in repair.changes.items()},
            "explanation": repair.explain(),
        }
        if asked.out is not None:
            _write_repaired(asked.out, found, repair)
    return facts | ({"out": str(asked.out)} if asked.out is not None else {})


def _write_part(path: Path, found: rb.Solution, conflict: rb.Conflict) -> None:
    system = found.system
    assert system is not None
    if path.suffix.lower() == ".lp":
        write_lp(path, system, found.wording, conflict.rows, conflict.bounds)
        return
    tags = system.tags[conflict.rows]
    pairs = system.pairs or [(None, None)] * system.columns
    chosen = set(conflict.bounds)
    bounds = [
        tuple(end if (j, side) in chosen else None for side, end in zip(SIDES, pair, strict=True))
        for j, pair in enumerate(pairs)
    ]
    write_system_csv(
        path,
        system.X[conflict.rows],
        system.b[conflict.rows],
        tags == MORE_THAN,
        tags == EQUAL,
        bounds,
        names=found.names or None,
    )


def _write_repaired(path: Path, found: rb.Solution, repair: rb.Repair) -> None:
    system = copy.copy(found.system)
    assert system is not None
    if path.suffix.lower() == ".csv":
        strict, equal = system.tags == MORE_THAN, system.tags == EQUAL
        bounds, names = repair.bounds, found.names or None
        write_system_csv(path, system.X, repair.b, strict, equal, bounds, names=names)
        return
    system.b, system.pairs = np.array(repair.b, object), repair.bounds
    sides = [(j, side) for j in range(system.columns) for side in SIDES]
    write_lp(path, system, found.wording, range(system.tags.size), sides)
