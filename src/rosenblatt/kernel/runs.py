"""How a run is made: which of the three ways of presenting examples serves it.

Under a budget, stored rows may be forgotten while a block is presented: a table holds the values of
the block's rows beside the stored rows and beside each other. The walk scores each row by the slots
as they are at its turn; after the block, the store takes over the rows that are in the slots. All
values are float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.examples import Presented
from rosenblatt.kernel.budget import FORGETTING, Budget, Forgetting, Shelf, walk_within
from rosenblatt.kernel.expansion import Expansion
from rosenblatt.kernel.scoring import BLOCK_ENTRIES, gram
from rosenblatt.kernel.store import Block
from rosenblatt.kernel.threads import Apply, working_on
from rosenblatt.kernel.training import Blocked, KernelPresenter, Resident, room_for
from rosenblatt.kernel.walk import DONE
from rosenblatt.matrices import check_finite
from rosenblatt.online.driver import Limits, Training, UnusableRowError, Watch
from rosenblatt.online.perceptron import MISTAKES, UPDATES, Allowance
from rosenblatt.online.plan import Plan
from rosenblatt.run import Run

GRAM_BYTES = 2**30
BLOCKWISE = ("cycle", "shuffle", "once")  # orders that are known before a block begins
SMALLEST_BLOCK, LARGEST_BLOCK = 16, 256  # rows, under a budget
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


class Budgeted(KernelPresenter):
    """Presents blocks of examples to a learner that stores at most B of them."""

    def __init__(self, *given: Any, block_rows: int | None = None) -> None:
        super().__init__(*given)
        assert self.expansion.budget is not None
        budget: Budget = self.expansion.budget
        affordable = min(max(BLOCK_ENTRIES // budget.most, SMALLEST_BLOCK), LARGEST_BLOCK)
        self.block_rows = block_rows or affordable
        self.expansion.reserve(budget.most)
        self.example_of = np.full(budget.most, -1, np.int64)
        self.column = np.arange(budget.most)
        self.rule_of_forgetting = Forgetting(
            budget.most,
            FORGETTING.index(budget.forget),
            budget.oldest,
            budget.seed,
            budget.factor,
            np.empty(budget.most),
            np.empty(budget.most),
            np.empty(budget.most),
        )

    def present(self, plan: Plan, allowance: Allowance) -> None:
        """Present the next block."""
        chosen = self._upcoming(plan, self.block_rows)
        examples = self._numbers(chosen)
        block = self._block(chosen).doubled()
        before = self.expansion.size
        place, made, why = self._walk(block, examples, allowance.updates)
        self.counts[examples[made]] += 1
        self.tally[[MISTAKES, UPDATES]] += made.size
        self._take_over(block, before)
        self._passed(place)
        if why != DONE:
            raise UnusableRowError(int(examples[place]))

    def _walk(
        self, block: Block, examples: np.ndarray, allowed: int
    ) -> tuple[int, np.ndarray, int]:
        learned = self.expansion
        own = gram(learned.space, block, block, self.apply)
        others = gram(learned.space, block, learned.store.span(), self.apply)
        table, found = np.hstack([others, own]), room_for(examples.size)
        used = np.array([learned.size])
        rows = self.column, self.example_of, self.place_of
        shelf = Shelf(learned.alphas, learned.counts, *rows, used, self.weights)
        place, made, why = walk_within(
            self.codes[examples],
            examples,
            table,
            np.zeros((1, learned.classes)),
            shelf,
            self.rule_of_forgetting,
            allowed,
            found,
        )
        self.used = int(used[0])
        return place, found.place[:made], why

    def _take_over(self, block: Block, before: int) -> None:
        """Store the rows that are in the slots now."""
        column = self.column[: self.used]
        if self.used > before or (column != np.arange(self.used)).any():
            learned = self.expansion
            both = learned.store.extended(learned.space.kept(block))
            learned.store = both.chosen(column)
        self.column = np.arange(self.column.size)
