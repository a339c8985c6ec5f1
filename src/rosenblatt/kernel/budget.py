"""Budgets: at most B stored examples, for streams without end.

Each example is compared with at most B stored ones, so that time and memory stay flat. When a
mistake finds the budget full,

oldest    the row stored first makes room, as in the Forgetron (Dekel, Shalev-Shwartz & Singer
          2008), but without its shrinking, hence without its bound;
random    a row drawn at random makes room (Cavallanti, Cesa-Bianchi & Gentile 2007). If every
          K(x, x) <= R², then for every u whose norm U satisfies R·U <= (1 - ε)·√B, the expected
          number of mistakes of one pass is at most (L + B·R·U) / ε, L the sum of the hinge
          losses max(0, 1 - y·⟨u, φ(x)⟩) (docs/theory.md, Budgets, has the proof);
project   the mistake is projected on the span of the stored rows, whose coefficients take it up
          (the Projectron of Orabona, Keshet & Caputo 2008). Before the budget is full, this
          happens to rows that lie in the span already, up to rounding.

In the last case d = K⁻¹k, with K the Gram matrix of the stored rows and k the values of the new one
beside them, is found by Cholesky's factor L of K = LLᵀ: l = L⁻¹k and d = L⁻ᵀl. The squared distance
from the span is δ² = K(x, x) - l·l, and storing a row extends L by (l, δ). (To keep K⁻¹ and extend
it costs as much, but its errors grow with the square of K's condition.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rosenblatt.kernel.walk import DONE, UNUSABLE_SCORE, Found, rivals
from rosenblatt.loops import loop, part
from rosenblatt.online.perceptron import mistaken
from rosenblatt.online.plan import draw

FORGETTING = ("oldest", "random", "project")
OLDEST, RANDOM, PROJECT = range(3)
IN_THE_SPAN = 1e-9  # of K(x, x): a smaller δ² is rounding, and dividing by it would spread that


@dataclass
class Budget:
    """How many rows may be stored, and what happens when there are more.

    Attributes
    ----------
    most : B.
    forget : one of `FORGETTING`.
    oldest : the place of the row that was stored first, in an array of one number.
    seed : of the draws, in an array of one number.
    factor : L, with room for B rows, for projections.
    """

    most: int
    forget: str
    oldest: np.ndarray
    seed: np.ndarray
    factor: np.ndarray

    @classmethod
    def of(cls, most: int, forget: str, seed: int) -> Budget:
        """Begin with nothing stored."""
        room = most if forget == "project" else 0
        return cls(
            most, forget, np.zeros(1, np.int64), np.array([seed], np.uint64), np.zeros((room, room))
        )

    def copied(self) -> Budget:
        """Give a budget that can be used apart from this one."""
        oldest, seed, factor = (part.copy() for part in (self.oldest, self.seed, self.factor))
        return replace(self, oldest=oldest, seed=seed, factor=factor)


class Shelf(NamedTuple):
    """The stored rows while a block is walked through.

    Slot j holds the row whose values are in column `column[j]` of the block's table: those of the
    rows stored before the block come first, then those of the block's own rows. `example` is
    the place of a row in the data set, -1 if it is not in it, `place_of` the slot of an example.
    `used` is an array of one number, `weight` has one for each example or is empty.
    """

    alphas: np.ndarray
    counts: np.ndarray
    column: np.ndarray
    example: np.ndarray
    place_of: np.ndarray
    used: np.ndarray
    weight: np.ndarray


class Forgetting(NamedTuple):
    """A budget as the loops see it.

    `beside` has room for the values of a row beside those in the slots, `spare` for K⁻¹ times them,
    `half` for L⁻¹ times them.
    """

    most: int
    how: int
    oldest: np.ndarray
    seed: np.ndarray
    factor: np.ndarray
    beside: np.ndarray
    spare: np.ndarray
    half: np.ndarray


@loop
def walk_within(
    codes: np.ndarray,
    examples: np.ndarray,
    table: np.ndarray,
    scores: np.ndarray,
    shelf: Shelf,
    rule: Forgetting,
    allowed: int,
    found: Found,
) -> tuple[int, int, int]:
    """Present the rows of a block; give where it stopped, how many mistakes it made, and why.

    `table` holds the values of each row of the block beside those stored and those of the block.
    """
    made, stored = 0, table.shape[1] - table.shape[0]
    for t in range(codes.size):
        if made == allowed:
            return t, made, DONE
        score_slots(table, t, shelf, rule.beside, scores)
        rival, lead, _ = rivals(scores, 0, codes[t])
        if not (abs(lead) < np.inf and abs(table[t, stored + t]) < np.inf):
            return t, made, UNUSABLE_SCORE
        if mistaken(lead):
            found.place[made], found.rival[made] = t, rival
            made += 1
            slot = slot_for(table, t, examples[t], shelf, rule, stored)
            weight = shelf.weight[examples[t]] if shelf.weight.size else 1.0
            if slot >= 0:
                shelf.alphas[codes[t], slot] += weight
                shelf.alphas[rival, slot] -= weight
                shelf.counts[slot] += 1
            else:
                for j in range(shelf.used[0]):
                    shelf.alphas[codes[t], j] += weight * rule.spare[j]
                    shelf.alphas[rival, j] -= weight * rule.spare[j]
    return codes.size, made, DONE


@part
def score_slots(
    table: np.ndarray, t: int, shelf: Shelf, beside: np.ndarray, scores: np.ndarray
) -> None:
    """Collect the values of row t beside those in the slots, and score it by them."""
    for j in range(shelf.used[0]):
        beside[j] = table[t, shelf.column[j]]
    for r in range(scores.shape[1]):
        total = 0.0
        for j in range(shelf.used[0]):
            total += beside[j] * shelf.alphas[r, j]
        scores[0, r] = total


@part
def slot_for(
    table: np.ndarray, t: int, example: int, shelf: Shelf, rule: Forgetting, stored: int
) -> int:
    """Give the slot of a mistaken row, made free if need be; -1 if it was projected."""
    kept = int(shelf.place_of[example])
    if kept >= 0:
        return kept
    if rule.how == PROJECT and projected(table[t, stored + t], shelf.used[0], rule):
        return -1
    full = shelf.used[0] == rule.most
    slot = victim(rule) if full else int(shelf.used[0])
    if full:
        if shelf.example[slot] >= 0:
            shelf.place_of[shelf.example[slot]] = -1
        for r in range(shelf.alphas.shape[0]):
            shelf.alphas[r, slot] = 0.0
        shelf.counts[slot] = 0
    else:
        shelf.used[0] += 1
    shelf.column[slot] = stored + t
    shelf.example[slot] = example
    shelf.place_of[example] = slot
    return slot


@part
def victim(rule: Forgetting) -> int:
    """Choose the slot that makes room."""
    if rule.how == RANDOM:
        return int(draw(rule.seed, rule.most))
    slot = int(rule.oldest[0])
    rule.oldest[0] = (slot + 1) % rule.most
    return slot


@part
def projected(itself: float, used: int, rule: Forgetting) -> bool:
    """Write d = K⁻¹k into `spare`; tell whether the row is to be projected, else extend L."""
    L, d, half, apart = rule.factor, rule.spare, rule.half, itself
    for i in range(used):
        total = rule.beside[i]
        for j in range(i):
            total -= L[i, j] * half[j]
        half[i] = total / L[i, i]
        apart -= half[i] * half[i]
    if used < rule.most and apart > IN_THE_SPAN * itself:
        for j in range(used):
            L[used, j] = half[j]
        L[used, used] = np.sqrt(apart)
        return False
    for i in range(used - 1, -1, -1):
        d[i] = half[i] / L[i, i]
        for j in range(i):
            half[j] -= L[i, j] * d[i]
    return True
