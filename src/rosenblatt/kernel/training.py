"""Training of an expansion: three ways to present examples, for the one driver.

Blocked    The next B rows meet all stored rows by one matrix product; then the rule runs through
           the block in order, and a mistake corrects the scores of the rows behind it, by values
           that are computed for the rows that look like mistakes. Stored order and shuffles only.
           Memory: the stored rows, twice if they are mostly zeros, and up to B² values.
Resident   The scores of all n examples are kept and follow each mistake by one column of the Gram
           matrix, which is kept if it fits, else computed when it is needed. Any order.
Budgeted   As blocked, but stored rows may be forgotten within a block (see `budget`).

With weights of examples the values K(x, ·) of a mistake are multiplied by its weight where they are
computed, so that the walks need not know of them.

All make the mistakes that presenting one example at a time in float64 makes. Where the products are
in single precision, a rigorous bound of their errors tells which rows are in doubt; these are
scored again in float64. If that happens too often, single precision is given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rosenblatt.examples import Presented
from rosenblatt.kernel.expansion import Expansion
from rosenblatt.kernel.scoring import weighed, wide_gram
from rosenblatt.kernel.space import TILE
from rosenblatt.kernel.store import Block
from rosenblatt.kernel.threads import Apply, in_turn
from rosenblatt.kernel.walk import (
    DONE,
    DOUBT,
    UNKNOWN,
    Doubt,
    Found,
    Within,
    doubtful,
    leads,
    move,
    run_through,
    walk,
    worst_mistake,
)
from rosenblatt.kernel.zeros import Panels, skipping_pays
from rosenblatt.online.driver import UnusableRowError
from rosenblatt.online.perceptron import CLOCK, CURSOR, LOOKS, SEEN, WORK, Allowance
from rosenblatt.online.plan import Plan

SMALLEST_BLOCK, LARGEST_BLOCK = 256, 1024
STORED_FOR_EACH = 4  # rows stored for each row of a block, so that values within it cost little
TOO_DOUBTFUL = 0.25  # the share of rows in doubt from which on double precision is faster
WORTH_PANELS = 1024  # rows presented from which on stored rows are kept in panels, too
CHEAP = 2**24  # multiply-adds that take no longer than to stop in a block once more
AT_LEAST = 8  # rows of values within a block, whenever some are missing
NOTED = 1024  # mistakes noted before they are learned from
JUDGED = 2048  # rows after which that share is looked at


class KernelPresenter:
    """Examples and the expansion that learns from them; those that derive from it present them."""

    def __init__(
        self, expansion: Expansion, shown: Presented, codes: np.ndarray, apply: Apply
    ) -> None:
        self.expansion, self.X, self.weights = expansion, shown.X, shown.weights
        self.codes, self.apply = np.ascontiguousarray(codes, np.int64), apply
        self.tally, self.counts = expansion.tally, np.zeros(codes.size, np.uint32)
        self.numbers = expansion.presented + shown.numbers()
        self.place_of = np.full(codes.size, -1, np.int64)  # where a row is stored

    def present(self, plan: Plan, allowance: Allowance) -> None:
        """Present examples from the cursor on."""
        raise NotImplementedError

    def correct_worst(self) -> bool:
        """Look at all examples and learn from the worst; tell whether one was a mistake."""
        raise NotImplementedError

    def stalled(self, updates_per_pass: Sequence[int], patience: int) -> bool:
        """Tell whether passes made no progress: runs of kernels are not judged by that."""
        return False

    def _block(self, places: np.ndarray | slice) -> Block:
        return self.expansion.space.block(self.X, places, self.numbers[places])

    def _numbers(self, places: np.ndarray | slice) -> np.ndarray:
        if isinstance(places, slice):
            return np.arange(*places.indices(self.codes.size))
        return places

    def _upcoming(self, plan: Plan, most: int) -> np.ndarray | slice:
        """Give the examples whose turn comes next; a slice where they lie side by side."""
        cursor = int(self.tally[CURSOR])
        inside = slice(cursor, min(cursor + most, self.codes.size))
        return plan.sequence[inside].astype(np.int64) if plan.sequence.size else inside

    def _weighed(self, values: np.ndarray, examples: Any) -> np.ndarray:
        """Give the values of examples beside others, a row each, times their weights."""
        weights = self.weights
        return values * weights[examples][..., np.newaxis] if weights.size else values

    def _passed(self, rows: int) -> None:
        """Count rows that were presented; each was compared with the stored ones."""
        tally = self.tally
        tally[[CURSOR, LOOKS, SEEN, CLOCK]] += rows
        tally[WORK] += rows * self.expansion.size * self._width

    @property
    def _width(self) -> int:
        return max(1, self.expansion.store.width)

    def _correct(self, examples: np.ndarray, rivals: np.ndarray, earlier: np.ndarray) -> None:
        """Learn from mistakes in order, storing the examples that are not stored yet."""
        new = examples[self.place_of[examples] < 0]
        if new.size:
            new = new[np.sort(np.unique(new, return_index=True)[1])]
            self.place_of[new] = self.expansion.keep(self._block(new))
        places = self.place_of[examples]
        weights = self.weights[examples] if self.weights.size else np.ones(examples.size)
        self.expansion.correct(places, self.codes[examples], rivals, earlier, weights)
        np.add.at(self.counts, examples, 1)


class Blocked(KernelPresenter):
    """Presents blocks of examples, in stored order or shuffled."""

    def __init__(self, *given: Any, block_rows: int | None = None) -> None:
        super().__init__(*given)
        self.block_rows = block_rows
        self.single = True
        self.doubted = self.walked = 0
        self.panels = Panels()

    def present(self, plan: Plan, allowance: Allowance) -> None:
        """Present the next block."""
        rows = self.block_rows or min(
            max(SMALLEST_BLOCK, self.expansion.size // STORED_FOR_EACH), LARGEST_BLOCK
        )
        chosen = self._upcoming(plan, rows)
        self._present(self._block(chosen), self._numbers(chosen), allowance.updates)

    def _present(self, block: Block, examples: np.ndarray, allowed: int) -> None:
        """Walk through a block; where it stops for something to be computed, do so and go on."""
        block, scores, doubt = self._scored(block)
        codes, found = self.codes[examples], room_for(examples.size)
        within = Within(np.empty((0, codes.size), block.rows.dtype), np.full(codes.size, -1))
        place, made, learned = 0, 0, 0
        while True:
            place, made, why = walk(codes, scores, within, doubt, place, made, allowed, found)
            if why == UNKNOWN:
                within = self._more_within(within, block, examples, scores, place)
                continue
            new = found.place[learned:made]
            self._correct(examples[new], found.rival[learned:made], new.astype(float))
            learned = made
            if why != DOUBT:
                break
            self._score_again(block, codes, scores, doubt, place)
        self._passed(place)
        self.walked += place
        if why != DONE:
            raise UnusableRowError(int(examples[place]))

    def _more_within(
        self, within: Within, block: Block, examples: np.ndarray, scores: np.ndarray, begin: int
    ) -> Within:
        """Compute the values of rows that are mistakes as it stands, and of the next to be some."""
        codes = self.codes[examples]
        ahead = np.empty(codes.size - begin)
        leads(codes, scores, begin, ahead)
        ahead[within.line[begin:] >= 0] = np.inf
        most = min(2 * int(np.count_nonzero(ahead <= 0)) + AT_LEAST, ahead.size)
        if codes.size**2 * self._width <= CHEAP:
            most = ahead.size
        places = begin + np.sort(np.argpartition(ahead, most - 1)[:most])
        values = wide_gram(self.expansion.space, block.picked(places), block, self.apply)
        values = self._weighed(values, examples[places])
        within.line[places] = within.values.shape[0] + np.arange(places.size)
        return within._replace(values=np.concatenate([within.values, values]))

    def _scored(self, block: Block) -> tuple[Block, np.ndarray, Doubt]:
        """Give the scores of a block, and what is known of their errors."""
        learned = self.expansion
        n, sizes = block.squares.size, learned.sizes
        doubt = Doubt(np.zeros(n), np.zeros(n), np.zeros(n))
        single = self._in_single(block)
        if not single:
            block = block.doubled()
        scores, spread = weighed(
            learned.space,
            block,
            learned.store,
            learned.alphas,
            self.apply,
            sizes if single else None,
            self._panels(block),
        )
        if single:
            doubt = self._doubt(block, spread, float(sizes.sum()))
        return block, scores, doubt

    def _panels(self, block: Block) -> Panels | None:
        """Give the stored rows in panels where products that skip zeros are faster."""
        learned, dense = self.expansion, isinstance(block.rows, np.ndarray)
        possible = dense and learned.space.kernel.by_products and not learned.store.is_sparse
        if not (possible and self.codes.size >= WORTH_PANELS and skipping_pays(block.rows)):
            return None
        self.panels.follow(learned.store)
        return self.panels

    def _in_single(self, block: Block) -> bool:
        """Tell whether this block is worth a try in single precision."""
        if self.walked >= JUDGED and self.doubted > TOO_DOUBTFUL * self.walked:
            self.single = False
        learned = self.expansion
        dense = isinstance(block.rows, np.ndarray) and block.rows.dtype == np.float32
        if self.weights.size:
            return False  # the bounds of errors are those of plain values
        return self.single and dense and learned.space.kernel.by_products and learned.store.single

    def _doubt(self, block: Block, spread: np.ndarray, total: float) -> Doubt:
        relative, absolute = self.expansion.space.rounding(block, self.expansion.store)
        with np.errstate(invalid="ignore", over="ignore"):
            slack = relative * spread + absolute * total
        slack[np.isnan(slack)] = np.inf
        return Doubt(slack, relative, absolute)

    def _score_again(
        self, block: Block, codes: np.ndarray, scores: np.ndarray, doubt: Doubt, begin: int
    ) -> None:
        """Score the rows in doubt in float64, by all that is stored by now."""
        places = np.empty(codes.size, np.int64)
        places = places[: doubtful(codes, scores, doubt, begin, places)]
        self.doubted += places.size
        learned = self.expansion
        again = block.picked(places).doubled()
        panels = self._panels(again)
        scores[places] = weighed(
            learned.space, again, learned.store, learned.alphas, self.apply, None, panels
        )[0]
        doubt.slack[places] = 0.0


class Resident(KernelPresenter):
    """Keeps the scores of all examples; and their Gram matrix, if that fits."""

    def __init__(self, *given: Any, keep_gram: bool) -> None:
        super().__init__(*given)
        self.keep_gram = keep_gram

    @cached_property
    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """The scores of all examples, and the Gram matrix; empty if it is not kept."""
        learned, n = self.expansion, self.codes.size
        scores = np.zeros((n, learned.classes))
        gram = np.zeros((n, n) if self.keep_gram else (0, 0))
        everything = self._block(slice(None)).doubled() if self.keep_gram else None

        def work(start: int) -> None:
            inside = slice(start, min(start + TILE, n))
            block = self._block(inside).doubled()
            if learned.size:
                scores[inside] = weighed(
                    learned.space, block, learned.store, learned.alphas, in_turn
                )[0]
            if everything is not None:
                # Row i holds K(·, x_i), not K(x_i, ·): values need not be symmetric to the last
                # bit, and blocks of rows use the former.
                values = learned.space.values(everything, block).T
                gram[inside] = self._weighed(values, inside)

        self.apply(work, range(0, n, TILE))
        return scores, gram

    def present(self, plan: Plan, allowance: Allowance) -> None:
        """Go on until there is no room to note mistakes."""
        (scores, gram), tally, before = self.kept, self.tally, int(self.tally[LOOKS])
        found = room_for(min(NOTED, allowance.updates))
        made = run_through(self.codes, scores, gram, plan, tally, allowance.looks, found)
        examples, rivals, earlier = (column[:made] for column in found)
        if made and not gram.size:
            self._move(examples[0], rivals[0])
        self._correct(examples, rivals, earlier.astype(np.float64))
        tally[[SEEN, CLOCK]] += int(tally[LOOKS]) - before
        tally[WORK] += made * self.codes.size * self._width

    def correct_worst(self) -> bool:
        """Look at all examples and learn from the worst; tell whether one was a mistake."""
        worst, rival = worst_mistake(self.codes, self.kept[0])
        self.tally[LOOKS] += self.codes.size
        if worst < 0:
            return False
        self._move(worst, rival)
        self._correct(np.array([worst]), np.array([rival]), np.zeros(1))
        self.tally[[SEEN, CLOCK]] += 1
        self.tally[WORK] += self.codes.size * self._width
        return True

    def _move(self, example: int, rival: int) -> None:
        if not move(self.kept[0], self._column(example), self.codes[example], rival):
            raise UnusableRowError(int(example))

    def _column(self, example: int) -> np.ndarray:
        """Give the kernel's values of all examples beside one, times its weight."""
        if self.keep_gram:
            kept: np.ndarray = self.kept[1][example]
            return kept
        one = self._block(np.array([example])).doubled()

        def work(start: int) -> np.ndarray:
            block = self._block(slice(start, start + TILE)).doubled()
            return self.expansion.space.values(block, one)[:, 0]

        column = np.concatenate(self.apply(work, range(0, self.codes.size, TILE)))
        return self._weighed(column, example)


def room_for(rows: int) -> Found:
    """Make room for as many mistakes as there are rows."""
    return Found(*np.empty((3, rows), np.int64))
