"""How a run is made: which of the three ways of presenting examples serves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.examples import Presented
from rosenblatt.kernel.budgeted import Budgeted
from rosenblatt.kernel.expansion import Expansion
from rosenblatt.kernel.threads import Apply, working_on
from rosenblatt.kernel.training import Blocked, KernelPresenter, Resident
from rosenblatt.matrices import check_finite
from rosenblatt.online.driver import Limits, Training, UnusableRowError, Watch
from rosenblatt.run import Run

GRAM_BYTES = 2**30
BLOCKWISE = ("cycle", "shuffle", "once")  # orders that are known before a block begins
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

    def train(apply: Apply) -> Run:
        presenter = _presenter(learned, shown, codes, manner, apply)
        order, seed, limits, watch = manner.order, manner.seed, manner.limits, manner.watch
        return Training(presenter, order, seed, limits, watch).run()

    return _told(train, learned, shown)


def _presenter(
    learned: Expansion, shown: Presented, codes: np.ndarray, manner: Manner, apply: Apply
) -> KernelPresenter:
    n, passes = codes.size, manner.limits.passes
    affordable = 8 * n * n <= manner.gram_bytes
    many = passes is None or passes >= GRAM_PAYS
    if learned.budget is not None:
        return Budgeted(learned, shown, codes, apply, block_rows=manner.block_rows)
    if manner.order in BLOCKWISE and not (affordable and many):
        return Blocked(learned, shown, codes, apply, block_rows=manner.block_rows)
    return Resident(learned, shown, codes, apply, keep_gram=affordable)


def once(learned: Expansion, shown: Presented, codes: np.ndarray) -> Run:
    """Present each example once, in the order given."""
    manner = Manner("once", gram_bytes=0)

    def train(apply: Apply) -> Run:
        return Training(_presenter(learned, shown, codes, manner, apply), "once").once()

    return _told(train, learned, shown)


def _told(train: Callable[[Apply], Run], learned: Expansion, shown: Presented) -> Run:
    """Train with threads, where they pay; say which row cannot be used."""
    check_finite(shown.X)
    try:
        with working_on(shown.labels.size) as apply:
            run = train(apply)
    except UnusableRowError as unusable:
        row = shown.numbers()[unusable.row]
        raise InputError(
            f"the score of row {row} is too large for float64; divide X by a constant"
        ) from None
    learned.presented += shown.rows
    return shown.told(run)
