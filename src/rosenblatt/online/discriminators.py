"""Many classes: the rule of the discriminators, and the loops that present examples to it.

Problem     find w_1, …, w_k with w_y·x > w_r·x for every example (x, y) and every wrong class r
Answer      the class with the largest w_r·x; *I don't know* if two of them tie for it  (theory D18)
Mistake     w_y·x <= w_r·x for some r ≠ y: D2's rule for the lead w_y·x - w_r·x of class y over
            the best wrong class
Update      on a mistake only: w_y ← w_y + η·c·x and w_r ← w_r - η·c·x, where r is the best wrong
            class, of equally good ones that of the smallest index; c is the weight of the example
Ends        when every example has been looked at under one W without a mistake         (D4)
Guarantee   at most 2(R/γ)² mistakes if some W* of Frobenius norm 1 has leads >= γ > 0  (F15)

W holds one row for each class; read as one long vector, it is learned by the rule of two classes,
with U = (…, x, …, -x, …) for y·x. For k = 2, W = (-w, w) makes the mistakes of that rule (F14).

Sources     Crammer & Singer 2003, with one rival; Duda & Hart 1973 (Kesler's construction).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import exact_part, loop, part
from rosenblatt.online.perceptron import (
    ALL_ONE,
    CLOCK,
    CURSOR,
    LOGGED,
    LOOKS,
    LOST,
    MISTAKES,
    PLACES,
    SEEN,
    UNUSABLE,
    WORK,
    Allowance,
    Plan,
    add_row,
    mistaken,
    prefetch_later,
    record,
    stays_finite,
    upcoming,
    weight_of,
)
from rosenblatt.rows import Rows, add, dot, dots, prefetch, rows_ahead, size, sqnorm


class ClassRule(NamedTuple):
    """What an update does; `weights` has a factor for each class, `sample_weight` as in `Rule`."""

    eta: float
    weights: np.ndarray
    renormalize: bool
    sample_weight: np.ndarray = ALL_ONE


class ClassState(NamedTuple):
    """What a learner of many classes knows: as `State`, with one row of w for each class.

    `scores` is where the loops put those of the row that they look at.
    """

    w: np.ndarray
    drift: np.ndarray
    tally: np.ndarray
    scores: np.ndarray

    @classmethod
    def start(cls, w: np.ndarray, averaging: bool) -> ClassState:
        """Begin from the weights w (taken, not copied)."""
        order: Any = "C" if w.flags.c_contiguous else "F"
        drift = np.zeros((w.shape[0], w.shape[1] if averaging else 0), order=order)
        return cls(w, drift, np.zeros(PLACES), np.zeros(w.shape[0]))


class ClassLog(NamedTuple):
    """One entry for each mistake; `score` is the lead of the class over its rival."""

    example: np.ndarray
    score: np.ndarray
    norm: np.ndarray
    seen: np.ndarray
    rival: np.ndarray

    @classmethod
    def empty(cls, capacity: int) -> ClassLog:
        """Make room for `capacity` mistakes."""
        whole, real = np.empty(capacity, np.int64), np.empty(capacity)
        return cls(whole, real, real.copy(), whole.copy(), whole.copy())


@part
def best_rival(scores: np.ndarray, y: int | np.int64) -> tuple[int, float]:
    """Give the best class other than y and the lead of y over it; NaN unless all are finite."""
    best, top, fine = -1, -np.inf, True
    for r in range(scores.size):
        fine = fine and abs(scores[r]) < np.inf
        if r != y and scores[r] > top:
            best, top = r, scores[r]
    return best, scores[y] - top if fine else np.nan


@part
def correct_classes(
    rows: Rows,
    i: int | np.int64,
    y: int | np.int64,
    beside: tuple[int, float],
    rule: ClassRule,
    state: ClassState,
) -> float:
    """Update the state on a mistaken example; give the norm that W was divided by.

    `beside` is its best wrong class and its lead over it.
    """
    rival, lead = beside
    step = rule.eta * rule.weights[y] * weight_of(rule, i)
    clock = state.tally[CLOCK]
    if state.drift.size and not rule.renormalize:
        add(rows, i, clock * step, state.drift[y])
        add(rows, i, -clock * step, state.drift[rival])
    if state.drift.size and rule.renormalize:
        settle(state)
    add(rows, i, step, state.w[y])
    add(rows, i, -step, state.w[rival])
    state.tally[LOST] -= 2.0 * step * lead
    state.tally[MISTAKES] += 1
    state.tally[WORK] += 2 * size(rows, i)
    return rescale_classes(state.w) if rule.renormalize else 1.0


@part
def settle(state: ClassState) -> None:
    """Note what W has earned before it is rescaled as a whole."""
    clock = state.tally[CLOCK]
    for r in range(state.w.shape[0]):
        for j in range(state.w.shape[1]):
            state.drift[r, j] -= clock * state.w[r, j]
    state.tally[CLOCK] = 0.0


@exact_part
def rescale_classes(w: np.ndarray) -> float:
    """Divide W by its Frobenius norm, if it has one; give that norm (theory D6)."""
    largest = 0.0
    for r in range(w.shape[0]):
        for j in range(w.shape[1]):
            largest = max(largest, abs(w[r, j]))
    if largest == 0.0 or largest == np.inf:
        return 1.0
    total = 0.0  # of squares of w / largest, since those of huge or tiny numbers would be lost
    for r in range(w.shape[0]):
        for j in range(w.shape[1]):
            w[r, j] /= largest
            total += w[r, j] * w[r, j]
    norm = math.sqrt(total)
    for r in range(w.shape[0]):
        for j in range(w.shape[1]):
            w[r, j] /= norm
    return largest * norm


@part
def record_rival(
    log: ClassLog, state: ClassState, i: int | np.int64, rival: int, lead: float, norm: float
) -> None:
    """Note a mistake in the log."""
    log.rival[int(state.tally[LOGGED])] = rival
    record(log, state, i, lead, norm)


@loop
def present_classes(
    rows: Rows,
    codes: np.ndarray,
    plan: Plan,
    rule: ClassRule,
    state: ClassState,
    counts: np.ndarray,
    log: ClassLog,
    allowance: Allowance,
) -> None:
    """Present examples from the cursor on, as `present` does for two classes."""
    tally, n, classes = state.tally, codes.size, state.w.shape[0]
    cursor, work, mistakes = int(tally[CURSOR]), 0, 0
    for _ in range(allowance.looks):
        if cursor == n or mistakes == allowance.mistakes:
            break
        if log.example.size and tally[LOGGED] == log.example.size:
            break
        i = upcoming(plan, cursor, n)
        prefetch_later(rows, plan, cursor, n)
        dots(rows, i, state.w, state.scores)
        rival, lead = best_rival(state.scores, codes[i])
        if not abs(lead) < np.inf:
            tally[UNUSABLE] = i + 1
            break
        cursor += 1
        work += classes * size(rows, i)
        if mistaken(1.0, lead, False):
            norm = correct_classes(rows, i, codes[i], (rival, lead), rule, state)
            if log.example.size:
                record_rival(log, state, i, rival, lead, norm)
            counts[i] += 1
            mistakes += 1
            cursor = 0 if plan.restart else cursor
        tally[LOOKS] += 1
        tally[SEEN] += 1
        tally[CLOCK] += 1
    tally[CURSOR] = cursor
    tally[WORK] += work


@loop
def furthest_behind(rows: Rows, codes: np.ndarray, state: ClassState) -> int:
    """Look at every example; give the mistaken one with the smallest lead, or -1 for none."""
    tally, n, ahead = state.tally, codes.size, rows_ahead(rows, False)
    worst, smallest = -1, np.inf
    for i in range(n):
        if ahead and i + ahead < n:
            prefetch(rows, i + ahead)
        dots(rows, i, state.w, state.scores)
        _, lead = best_rival(state.scores, codes[i])
        if not abs(lead) < np.inf:
            tally[UNUSABLE] = i + 1
            return -1
        tally[WORK] += state.w.shape[0] * size(rows, i)
        if lead < smallest and mistaken(1.0, lead, False):
            worst, smallest = i, lead
    tally[LOOKS] += n
    return worst


@loop
def correct_one_of_many(
    rows: Rows,
    i: int | np.int64,
    y: int | np.int64,
    rule: ClassRule,
    state: ClassState,
    counts: np.ndarray,
    log: ClassLog,
) -> None:
    """Learn from one example that is known to be mistaken."""
    dots(rows, i, state.w, state.scores)
    rival, lead = best_rival(state.scores, y)
    norm = correct_classes(rows, i, y, (rival, lead), rule, state)
    if log.example.size:
        record_rival(log, state, i, rival, lead, norm)
    counts[i] += 1
    state.tally[SEEN] += 1
    state.tally[CLOCK] += 1


@loop
def replay_classes(
    rows: Rows,
    log: ClassLog,
    codes: np.ndarray,
    factors: np.ndarray,
    comparator: np.ndarray,
    start: tuple[float, float],
    projection: np.ndarray,
    square: np.ndarray,
) -> None:
    """Follow W·W* and ‖W‖² through the mistakes of a log (theory F6, F15)."""
    along, squared = start
    for k in range(factors.size):
        i, a, norm = log.example[k], factors[k], log.norm[k]
        gain = dot(rows, i, comparator[codes[i]]) - dot(rows, i, comparator[log.rival[k]])
        along = (along + a * gain) / norm
        squared = (squared + 2 * a * log.score[k] + 2 * a * a * sqnorm(rows, i)) / (norm * norm)
        projection[k], square[k] = along, squared


@loop
def learn_class_row(
    columns: np.ndarray,
    values: np.ndarray,
    length: int,
    y: int,
    step: float,
    lift: float,
    state: ClassState,
) -> float:
    """Present one sparse row to the plain rule; `step` is η·c.

    Gives 1 for a mistake, 0 for none, NaN if the row cannot be used.
    """
    w, drift, tally = state.w, state.drift, state.tally
    score_class_row(columns, values, length, lift, w, state.scores)
    rival, lead = best_rival(state.scores, y)
    if not abs(lead) < np.inf:
        return np.nan
    wrong = mistaken(1.0, lead, False)
    if wrong:
        late = tally[CLOCK] * step
        fine = stays_finite(columns, values, length, step, lift, w[y])
        fine = fine and stays_finite(columns, values, length, -step, lift, w[rival])
        if drift.size:
            fine = fine and stays_finite(columns, values, length, late, lift, drift[y])
            fine = fine and stays_finite(columns, values, length, -late, lift, drift[rival])
        if not fine:
            return np.nan
        add_row(columns, values, length, step, lift, w[y])
        add_row(columns, values, length, -step, lift, w[rival])
        if drift.size:
            add_row(columns, values, length, late, lift, drift[y])
            add_row(columns, values, length, -late, lift, drift[rival])
        tally[MISTAKES] += 1
        tally[WORK] += 2 * (length + (lift != 0.0))
    tally[LOOKS] += 1
    tally[SEEN] += 1
    tally[CLOCK] += 1
    tally[WORK] += w.shape[0] * (length + (lift != 0.0))
    return 1.0 if wrong else 0.0


@loop
def score_class_row(
    columns: np.ndarray,
    values: np.ndarray,
    length: int,
    lift: float,
    W: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the scores of one sparse row; NaN if a column lies outside W."""
    last = W.shape[1] - 1
    for r in range(W.shape[0]):
        out[r] = lift * W[r, last]
    for k in range(length):
        column, x = columns[k], values[k]
        if column < 0 or column >= last:
            out[:] = np.nan
            return
        for r in range(W.shape[0]):
            out[r] += x * W[r, column]
