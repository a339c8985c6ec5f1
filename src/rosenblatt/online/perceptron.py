"""The perceptron's rule, and the loops that present examples to it.

Problem     find w with y·(w·x) > 0 on every example (x, y), y in {-1, +1}
Answer      +1 if w·x > 0, -1 if w·x < 0, *I don't know* if w·x = 0                  (theory D1)
Mistake     y·(w·x) <= 0: not knowing is a mistake, whatever the label               (D2)
Update      on a mistake only: w ← w + η·c·y·x, c the weight of the example           (D3)
Ends        when every example has been looked at under one w without a mistake      (D4)
Guarantee   at most (R/γ)² mistakes if some unit w* has y·(w*·x) >= γ > 0            (F5)

Symbols     w weights, x row, y sign, s = w·x score, η rate, R = max ‖x‖, γ margin.
Sources     Rosenblatt 1958; Block 1962; Novikoff 1962; Freund & Schapire 1999 for averaging.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import exact_part, loop, part
from rosenblatt.rows import Rows, add, dot, prefetch, rows_ahead, size

# Places in `State.tally`. Counts are kept as float64, which is exact up to 2^53.
#   CURSOR     place in the plan               LOOKS      dot products computed
#   MISTAKES   updates made                    WORK       multiply-adds spent
#   SEEN       examples presented              CLOCK      those that count in CLOCK·w - drift
#   LOGGED     entries of the log in use       UNUSABLE   1 + the row that cannot be used, or 0
#   LOST       Σ -2η·c·y·s over mistakes: what the length of w lost by them (see `growth`)
CURSOR, LOOKS, MISTAKES, WORK, SEEN, CLOCK, LOGGED, UNUSABLE, LOST = range(9)
PLACES = 9

ALL_ONE = np.zeros(0)  # in the place of weights of examples that are all 1


class Rule(NamedTuple):
    """What an update does: its weight is that of the class times that of the example.

    `sample_weight` has one factor for each example of a run, or is `ALL_ONE`.
    """

    eta: float
    negative_weight: float
    positive_weight: float
    renormalize: bool
    zero_is_positive: bool
    sample_weight: np.ndarray = ALL_ONE


class State(NamedTuple):
    """What a learner knows: loops write into these arrays, so an interrupt loses nothing.

    `drift` is empty unless an average is wanted. The sum of all w held so far, one for each
    example looked at, is then CLOCK·w - drift (theory D17).
    """

    w: np.ndarray
    drift: np.ndarray
    tally: np.ndarray

    @classmethod
    def start(cls, w: np.ndarray, averaging: bool) -> State:
        """Begin from the weights w (taken, not copied)."""
        return cls(w, np.zeros(w.size if averaging else 0), np.zeros(PLACES))


class Plan(NamedTuple):
    """Which example comes next.

    The examples are looked at in the order of `sequence` (of their numbers, if it is empty). After
    a mistake the next one comes first again if `restart`; the rest of the sequence is drawn anew,
    at random and only as far as needed, if `lazy`.
    """

    sequence: np.ndarray
    restart: bool
    lazy: bool
    seed: np.ndarray


class Log(NamedTuple):
    """One entry for each mistake: enough to replay every w. Empty arrays switch it off."""

    example: np.ndarray
    score: np.ndarray
    norm: np.ndarray
    seen: np.ndarray

    @classmethod
    def empty(cls, capacity: int) -> Log:
        """Make room for `capacity` mistakes."""
        return cls(
            np.empty(capacity, np.int64),
            np.empty(capacity),
            np.empty(capacity),
            np.empty(capacity, np.int64),
        )


class Allowance(NamedTuple):
    """How much a call of `present` may do before it gives control back."""

    looks: int
    mistakes: int


@part
def mistaken(sign: float, score: float, zero_is_positive: bool) -> bool:
    """Apply the tie rule, theory D2: the one place where it is written."""
    if score == 0.0 and zero_is_positive:
        return sign < 0
    return sign * score <= 0.0


@part
def draw(seed: np.ndarray, bound: int) -> np.int64:
    """Draw an integer in [0, bound) by splitmix64 (Steele, Lea & Flood 2014): the same anywhere."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    z = seed[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    # Taking a remainder favours small numbers by less than bound / 2^64.
    return np.int64(z % np.uint64(bound))


@loop
def shuffle(sequence: np.ndarray, seed: np.ndarray) -> None:
    """Put the sequence into a uniformly random order (Fisher & Yates)."""
    for t in range(sequence.size - 1):
        other = t + draw(seed, sequence.size - t)
        sequence[t], sequence[other] = sequence[other], sequence[t]


@part
def weight_of(rule: Any, i: int | np.int64) -> float:
    """Give the weight of an example among those of its class."""
    return rule.sample_weight[i] if rule.sample_weight.size else 1.0


@part
def correct(
    rows: Rows, i: int | np.int64, sign: float, score: float, rule: Rule, state: State
) -> float:
    """Update the state on a mistaken example; give the norm that w was divided by."""
    weight = rule.positive_weight if sign > 0 else rule.negative_weight
    step = rule.eta * weight * sign * weight_of(rule, i)
    clock = state.tally[CLOCK]
    if state.drift.size and not rule.renormalize:
        add(rows, i, clock * step, state.drift)
    if state.drift.size and rule.renormalize:
        # w is about to be rescaled as a whole, so what it has earned is settled first.
        for j in range(state.w.size):
            state.drift[j] -= clock * state.w[j]
        state.tally[CLOCK] = 0.0
    add(rows, i, step, state.w)
    state.tally[LOST] -= 2.0 * step * score
    state.tally[MISTAKES] += 1
    state.tally[WORK] += size(rows, i)
    return rescale(state.w) if rule.renormalize else 1.0


@exact_part
def rescale(w: np.ndarray) -> float:
    """Divide w by its norm, if it has one; give that norm (theory D6)."""
    largest = 0.0
    for j in range(w.size):
        largest = max(largest, abs(w[j]))
    if largest == 0.0 or largest == np.inf:
        return 1.0
    total = 0.0  # of squares of w / largest, since those of huge or tiny numbers would be lost
    for j in range(w.size):
        w[j] /= largest
        total += w[j] * w[j]
    norm = math.sqrt(total)
    for j in range(w.size):
        w[j] /= norm
    return largest * norm


@part
def record(log: Any, state: Any, i: int | np.int64, score: float, norm: float) -> None:
    """Note a mistake in the log."""
    k = int(state.tally[LOGGED])
    log.example[k] = i
    log.score[k] = score
    log.norm[k] = norm
    log.seen[k] = int(state.tally[SEEN])
    state.tally[LOGGED] += 1


@part
def upcoming(plan: Plan, cursor: int, n: int) -> np.int64:
    """Give the example at the cursor."""
    if plan.lazy:
        other = cursor + draw(plan.seed, n - cursor)
        first = plan.sequence[other]
        plan.sequence[other] = plan.sequence[cursor]
        plan.sequence[cursor] = first
    return np.int64(plan.sequence[cursor]) if plan.sequence.size else np.int64(cursor)


@part
def prefetch_later(rows: Rows, plan: Plan, cursor: int, n: int) -> None:
    """Ask the memory for the row whose turn comes soon, if that is known."""
    shuffled = plan.sequence.size > 0
    ahead = rows_ahead(rows, shuffled)
    later = cursor + ahead
    if ahead and later < n and not plan.lazy:
        prefetch(rows, np.int64(plan.sequence[later] if shuffled else later))


@loop
def present(
    rows: Rows,
    signs: np.ndarray,
    plan: Plan,
    rule: Rule,
    state: State,
    counts: np.ndarray,
    log: Log,
    allowance: Allowance,
) -> None:
    """Present examples from the cursor on, learning from each mistake.

    Comes back at the end of the sequence, when the allowance or the log is used up, or before a
    row whose score is not a finite number, which is then named in the tally.
    """
    tally, n = state.tally, signs.size
    cursor, work, mistakes = int(tally[CURSOR]), 0, 0
    for _ in range(allowance.looks):
        if cursor == n or mistakes == allowance.mistakes:
            break
        if log.example.size and tally[LOGGED] == log.example.size:
            break
        i = upcoming(plan, cursor, n)
        prefetch_later(rows, plan, cursor, n)
        sign = float(signs[i])
        score = dot(rows, i, state.w)
        if not abs(score) < np.inf:
            tally[UNUSABLE] = i + 1
            break
        cursor += 1
        work += size(rows, i)
        if mistaken(sign, score, rule.zero_is_positive):
            norm = correct(rows, i, sign, score, rule, state)
            if log.example.size:
                record(log, state, i, score, norm)
            counts[i] += 1
            mistakes += 1
            cursor = 0 if plan.restart else cursor
        tally[LOOKS] += 1
        tally[SEEN] += 1
        tally[CLOCK] += 1
    tally[CURSOR] = cursor
    tally[WORK] += work


@loop
def most_wrong(rows: Rows, signs: np.ndarray, rule: Rule, state: State) -> int:
    """Look at every example; give the mistaken one with the smallest y·(w·x), or -1 for none."""
    tally, n, ahead = state.tally, signs.size, rows_ahead(rows, False)
    worst, smallest = -1, np.inf
    for i in range(n):
        if ahead and i + ahead < n:
            prefetch(rows, i + ahead)
        score = dot(rows, i, state.w)
        if not abs(score) < np.inf:
            tally[UNUSABLE] = i + 1
            return -1
        tally[WORK] += size(rows, i)
        if signs[i] * score < smallest and mistaken(signs[i], score, rule.zero_is_positive):
            worst, smallest = i, signs[i] * score
    tally[LOOKS] += n
    return worst


@loop
def correct_one(
    rows: Rows,
    i: int | np.int64,
    sign: float,
    rule: Rule,
    state: State,
    counts: np.ndarray,
    log: Log,
) -> None:
    """Learn from one example that is known to be mistaken."""
    score = dot(rows, i, state.w)
    norm = correct(rows, i, sign, score, rule, state)
    if log.example.size:
        record(log, state, i, score, norm)
    counts[i] += 1
    state.tally[SEEN] += 1
    state.tally[CLOCK] += 1


@loop
def learn_row(
    columns: np.ndarray,
    values: np.ndarray,
    length: int,
    step: float,
    lift: float,
    w: np.ndarray,
    drift: np.ndarray,
    tally: np.ndarray,
) -> float:
    """Present one sparse row to the plain rule, with flat arguments: calls cost half as much.

    `step` is η·c·y. Gives 1 for a mistake, 0 for none, NaN if the row cannot be used.
    """
    score = score_row(columns, values, length, lift, w)
    if not abs(score) < np.inf:
        return np.nan
    wrong = mistaken(1.0 if step > 0 else -1.0, score, False)
    if wrong:
        late = tally[CLOCK] * step
        if not stays_finite(columns, values, length, step, lift, w):
            return np.nan
        if drift.size and not stays_finite(columns, values, length, late, lift, drift):
            return np.nan
        add_row(columns, values, length, step, lift, w)
        if drift.size:
            add_row(columns, values, length, late, lift, drift)
        tally[MISTAKES] += 1
        tally[WORK] += length + (lift != 0.0)
    tally[LOOKS] += 1
    tally[SEEN] += 1
    tally[CLOCK] += 1
    tally[WORK] += length + (lift != 0.0)
    return 1.0 if wrong else 0.0


@part
def stays_finite(
    columns: np.ndarray, values: np.ndarray, length: int, a: float, lift: float, w: np.ndarray
) -> bool:
    """Tell whether adding a·x would leave w finite; a column given twice might still overflow."""
    fine = bool(abs(w[w.size - 1] + a * lift) < np.inf)
    for k in range(length):
        fine = fine and abs(w[columns[k]] + a * values[k]) < np.inf
    return fine


@part
def add_row(
    columns: np.ndarray, values: np.ndarray, length: int, a: float, lift: float, w: np.ndarray
) -> None:
    """Add a·x to w for one sparse row."""
    for k in range(length):
        w[columns[k]] += a * values[k]
    w[w.size - 1] += a * lift


@loop
def score_row(
    columns: np.ndarray, values: np.ndarray, length: int, lift: float, w: np.ndarray
) -> float:
    """Give w·x of one sparse row; NaN if a column lies outside w."""
    last = w.size - 1
    score: float = lift * w[last]
    for k in range(length):
        column = columns[k]
        if column < 0 or column >= last:
            return np.nan
        score += values[k] * w[column]
    return score
