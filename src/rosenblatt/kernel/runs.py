"""How a run is made: which of the three ways of presenting examples serves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.examples import Presented
from rosenblatt.kernel.budgeted import BudgetedTraining
from rosenblatt.kernel.expansion import Expansion
from rosenblatt.kernel.training import BlockedTraining, KernelTraining, ResidentTraining
from rosenblatt.matrices import check_finite
from rosenblatt.online.driver import Limits, UnusableRowError, Watch
from rosenblatt.run import Run

GRAM_BYTES = 2**30
GRAM_PAYS = 3  # passes from which on the whole Gram matrix is cheaper than values as needed


@dataclass(frozen=True)
class Manner:
    """How examples are presented; `block_rows` is for trying sizes of blocks."""

    order: str = "cycle"
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    watch: Watch | None = None
    gram_bytes: int = GRAM_BYTES
    block_rows: int | None = None


def fit(learned: Expansion, shown: Presented, codes: np.ndarray, manner: Manner) -> Run:
    """Pass over the examples until convergence, a limit or an interrupt."""
    check_finite(shown.X)
    options: dict[str, Any] = {
        "order": manner.order,
        "seed": manner.seed,
        "limits": manner.limits,
        "watch": manner.watch,
    }
    n, passes = codes.size, manner.limits.passes
    affordable = 8 * n * n <= manner.gram_bytes
    sequential = manner.order in ("cycle", "shuffle")
    if learned.budget is not None:
        training: KernelTraining = BudgetedTraining(
            learned, shown, codes, block_rows=manner.block_rows, **options
        )
    elif sequential and not (affordable and (passes is None or passes >= GRAM_PAYS)):
        training = BlockedTraining(learned, shown, codes, block_rows=manner.block_rows, **options)
    else:
        training = ResidentTraining(learned, shown, codes, keep_gram=affordable, **options)
    return _explained(training.run, shown)


def once(
    learned: Expansion, shown: Presented, codes: np.ndarray, block_rows: int | None = None
) -> Run:
    """Present each example once, in the order given."""
    check_finite(shown.X)
    kind = BlockedTraining if learned.budget is None else BudgetedTraining
    training = kind(learned, shown, codes, order="once", block_rows=block_rows)
    return _explained(training.once, shown)


def _explained(present: Any, shown: Presented) -> Run:
    try:
        run: Run = shown.told(present())
    except UnusableRowError as unusable:
        row = shown.numbers()[unusable.row]
        raise InputError(
            f"the score of row {row} is too large for float64; divide X by a constant"
        ) from None
    return run
