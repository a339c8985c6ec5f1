"""Training under a budget: blocks of rows beside the stored ones, which may be forgotten meanwhile.

A table holds the values of the block's rows beside the stored rows and beside each other. The walk
scores each row by the slots as they are at its turn; after the block, the store takes over the
rows that are in the slots. All values are float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.kernel.budget import FORGETTING, Budget, Forgetting, Shelf, walk_within
from rosenblatt.kernel.scoring import BLOCK_ENTRIES, gram
from rosenblatt.kernel.store import Block
from rosenblatt.kernel.training import KernelPresenter, room_for
from rosenblatt.kernel.walk import DONE
from rosenblatt.online.driver import UnusableRowError
from rosenblatt.online.perceptron import MISTAKES, UPDATES, Allowance
from rosenblatt.online.plan import Plan

SMALLEST_BLOCK, LARGEST_BLOCK = 16, 256


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
