"""The perceptron's rule, and the loops that present examples to it.

Problem     find w that gives every example (x, y) a positive lead: y·(w·x) > 0 for two classes,
            y in {-1, +1}; w_y·x > w_r·x for every wrong class r of many
Answer      +1 if w·x > 0, -1 if w·x < 0, *I don't know* if w·x = 0                  (theory D1)
            the class with the largest w_r·x; *I don't know* if two of them tie for it     (D18)
Mistake     lead <= 0: not knowing is a mistake, whatever the label                  (D2)
Update      on a mistake only: w ← w + η·c·y·x, c the weight of the example           (D3)
            with a margin β > 0, also on a right answer whose lead is <= β                (D23)
            w_y ← w_y + η·c·x and w_r ← w_r - η·c·x, r the best wrong class          (D18)
Ends        when every example has been looked at under one w without a mistake      (D4)
Guarantee   at most (R/γ)² mistakes if some unit w* has leads >= γ > 0               (F5)
            2(R/γ)² of many classes (F15); (R² + 2β/η)/γ² updates with a margin      (F17)

The loops know neither the number of classes nor how rows lie in memory: `classes` has the lead and
the push, `rows` the products. A rule is a type with two parts, `teaches` (whether a lead calls for
an update) and `step` (by how much); all else is shared.

Symbols     w weights, x row, y class, η rate, R = max ‖x‖, γ margin of the data, β of the rule.
Sources     Rosenblatt 1958; Block 1962; Novikoff 1962; Krauth & Mézard 1987 for the margin;
            Freund & Schapire 1999 for averaging.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import exact_part, loop, part
from rosenblatt.online.band import NO_BAND, empty_band, note
from rosenblatt.online.classes import (
    Place,
    ahead,
    look,
    push,
    pushed,
    stays_finite,
    vector,
    vectors,
)
from rosenblatt.online.plan import Plan, prefetch_later, rows_early, upcoming
from rosenblatt.rows import Rows, Single, dot, dots, size

# Places in `State.tally`. Counts are kept as float64, which is exact up to 2^53.
#   CURSOR     place in the plan               LOOKS      dot products computed
#   MISTAKES   examples answered wrongly       WORK       multiply-adds spent
#   SEEN       examples presented              CLOCK      those that count in CLOCK·w - drift
#   LOGGED     entries of the log in use       UNUSABLE   1 + the row that cannot be used, or 0
#   LOST       Σ -2η·c·y·s over updates: what the length of w lost by them (see `growth`)
#   UPDATES    examples that the weights were moved for
CURSOR, LOOKS, MISTAKES, WORK, SEEN, CLOCK, LOGGED, UNUSABLE, LOST, UPDATES = range(10)
PLACES = 10

ALL_ONE = np.zeros(0)  # in the place of weights of examples that are all 1


class Rule(NamedTuple):
    """What an update does: its weight is that of the class times that of the example.

    `weights` has one factor for each class, `sample_weight` one for each example of a run, unless
    it is `ALL_ONE`. That zero is positive is for two classes.
    """

    eta: float
    weights: np.ndarray
    renormalize: bool
    zero_is_positive: bool = False
    sample_weight: np.ndarray = ALL_ONE
    margin: float = 0.0


class State(NamedTuple):
    """What a learner knows: loops write into these arrays, so an interrupt loses nothing.

    `w` is one vector for two classes, else it has a row for each. `drift` has its shape, without a
    column unless an average is wanted: the sum of all w held so far, one for each example looked
    at, is then CLOCK·w - drift (theory D17). The scores of a row of many classes go to `scores`.
    `band` counts answers by their leads, unless it is `NO_BAND` (D25).
    """

    w: np.ndarray
    drift: np.ndarray
    tally: np.ndarray
    scores: np.ndarray
    band: np.ndarray = NO_BAND

    @classmethod
    def start(cls, w: np.ndarray, averaging: bool, calibrating: bool = False) -> State:
        """Begin from the weights w (taken, not copied)."""
        *before, width = w.shape
        drift = np.zeros((*before, width if averaging else 0), order=order_of(w))
        band = empty_band() if calibrating else NO_BAND
        return cls(w, drift, np.zeros(PLACES), np.zeros(before or 1), band)

    def without_band(self) -> State:
        """Give the same, which counts no answers: where examples are presented once more."""
        return self._replace(band=NO_BAND)


def order_of(w: np.ndarray) -> Any:
    """Give the order of memory in which an array lies."""
    return "C" if w.flags.c_contiguous else "F"


class Log(NamedTuple):
    """One entry for each update: enough to replay every w. Empty arrays switch it off."""

    example: np.ndarray
    lead: np.ndarray
    norm: np.ndarray
    seen: np.ndarray
    rival: np.ndarray

    @classmethod
    def empty(cls, capacity: int) -> Log:
        """Make room for `capacity` updates."""
        whole, real = np.empty((3, capacity), np.int64), np.empty((2, capacity))
        return cls(whole[0], real[0], real[1], whole[1], whole[2])

    def first(self, used: int) -> Log:
        """Give the entries in use."""
        return Log(*(column[:used].copy() for column in self))

    def doubled(self) -> Log:
        """Give a log with room for as many updates again."""
        wider = Log.empty(2 * self.example.size)
        for column, room in zip(self, wider, strict=True):
            room[: column.size] = column
        return wider


NO_LOG = Log.empty(0)


class Allowance(NamedTuple):
    """How much a call of `present` may do before it gives control back."""

    looks: int
    updates: int


@part
def mistaken(lead: float, tie_is_right: bool = False) -> bool:
    """Apply the tie rule, theory D2: the one place where it is written."""
    return lead <= 0.0 and not (tie_is_right and lead == 0.0)


@part
def wrong(rule: Rule, y: Place, lead: float) -> bool:
    """Tell whether an example of class y with such a lead is a mistake."""
    return mistaken(lead, rule.zero_is_positive and bool(y > 0))


@part
def teaches(rule: Rule, y: Place, lead: float) -> bool:
    """Tell whether it calls for an update: a mistake does, and a lead inside the margin."""
    return lead <= rule.margin and (rule.margin > 0.0 or wrong(rule, y, lead))


@exact_part
def step(rule: Rule, i: Place, y: Place) -> float:
    """Give by how much an update on example i of class y moves the weights."""
    plain: float = rule.eta * rule.weights[y]
    return plain * rule.sample_weight[i] if rule.sample_weight.size else plain


@part
def is_plain(rule: Rule, state: State, log: Log) -> bool:
    """Tell whether an update moves the weights at each mistake, and does no more."""
    extra = state.band.size + state.drift.size + log.example.size > 0 or rule.margin > 0.0
    return not (extra or rule.renormalize or rule.zero_is_positive)


@part
def make_ready(
    rows: Rows, i: Place, y: Place, rival: int, a: float, rule: Rule, state: State
) -> None:
    """Note what the average of the weights wants to know before they move."""
    if state.drift.size and not rule.renormalize:
        push(rows, i, state.tally[CLOCK] * a, y, rival, state.drift)
    if state.drift.size and rule.renormalize:
        settle(state)


@part
def book(tally: np.ndarray, updates: int, mistakes: int, lost: float, work: int) -> None:
    """Note what updates were made, and what they cost."""
    tally[UPDATES] += updates
    tally[MISTAKES] += mistakes
    tally[LOST] += lost
    tally[WORK] += work


@part
def settle(state: State) -> None:
    """Note what w has earned before it is rescaled as a whole."""
    clock = state.tally[CLOCK]
    for r in range(vectors(state.w)):
        (w,), (drift,) = vector(state.w, r), vector(state.drift, r)
        for j in range(w.size):
            drift[j] -= clock * w[j]
    state.tally[CLOCK] = 0.0


@exact_part
def rescale(w: np.ndarray) -> float:
    """Divide w by its norm, if it has one; give that norm (theory D6)."""
    largest = 0.0
    for r in range(vectors(w)):
        (v,) = vector(w, r)
        for j in range(v.size):
            largest = max(largest, abs(v[j]))
    if largest == 0.0 or largest == np.inf:
        return 1.0
    total = 0.0  # of squares of w / largest, since those of huge or tiny numbers would be lost
    for r in range(vectors(w)):
        (v,) = vector(w, r)
        for j in range(v.size):
            v[j] /= largest
            total += v[j] * v[j]
    norm = math.sqrt(total)
    for r in range(vectors(w)):
        (v,) = vector(w, r)
        for j in range(v.size):
            v[j] /= norm
    return largest * norm


@part
def record(log: Log, state: State, i: Place, found: tuple[float, int], norm: float) -> None:
    """Note an update in the log."""
    k = int(state.tally[LOGGED])
    log.example[k] = i
    log.lead[k], log.rival[k] = found
    log.norm[k] = norm
    log.seen[k] = int(state.tally[SEEN])
    state.tally[LOGGED] += 1


@part
def seen(tally: np.ndarray, looks: int) -> int:
    """Count examples that were looked at; give 0, the number of those not counted yet."""
    tally[LOOKS] += looks
    tally[SEEN] += looks
    tally[CLOCK] += looks
    return 0


@part
def updates_left(log: Log, tally: np.ndarray, allowance: Allowance) -> int:
    """Give how many updates are allowed, and have room in the log."""
    room = log.example.size - int(tally[LOGGED])
    return min(allowance.updates, room) if log.example.size else allowance.updates


@loop
def present(
    rows: Rows,
    codes: np.ndarray,
    plan: Plan,
    rule: Rule,
    state: State,
    counts: np.ndarray,
    log: Log,
    allowance: Allowance,
) -> None:
    """Present examples from the cursor on, learning from each mistake, and inside the margin.

    Comes back at the end of the sequence, when the allowance or the log is used up, or before a
    row whose score is not a finite number, which is then named in the tally.
    """
    tally, n, each = state.tally, codes.size, vectors(state.w)
    cursor, looks, new, work = int(tally[CURSOR]), allowance.looks, 0, 0
    room, mistakes, lost = updates_left(log, tally, allowance), 0, 0.0
    in_turn, early, left = plan.sequence.size == 0, rows_early(rows, plan), room
    plain = is_plain(rule, state, log)
    enough = np.inf if state.band.size else rule.margin  # leads above that ask for nothing
    while looks > 0 and left > 0 and cursor < n:
        first, last = cursor, min(n, cursor + looks)
        while cursor < last:  # most examples need no more than this
            i = upcoming(plan, cursor, n)
            if early:
                prefetch_later(rows, codes, counts, plan, cursor, early)
            y = codes[np.uint64(i)]
            lead, rival = look(rows, i, y, state.w, state.scores, in_turn)
            cursor += 1
            work += each * size(rows, i)
            if lead == np.inf:  # asked by itself: both at once take the processor longer
                break
            if not lead > enough:
                break
        looks -= cursor - first
        new += cursor - first - 1
        if not abs(lead) < np.inf:
            tally[UNUSABLE] = i + 1
            cursor -= 1
            work -= each * size(rows, i)
            break
        if state.band.size:
            note(state.band, ahead(state.w, lead, state.scores), wrong(rule, y, lead))
        if lead <= 0.0 if plain else teaches(rule, y, lead):
            a = step(rule, i, y)
            if not plain:
                new = seen(tally, new)
                make_ready(rows, i, y, rival, a, rule, state)
            push(rows, i, a, y, rival, state.w)
            if not plain:
                norm = rescale(state.w) if rule.renormalize else 1.0
                if log.example.size:
                    record(log, state, i, (lead, rival), norm)
            mistakes += plain or wrong(rule, y, lead)
            lost -= 2.0 * a * lead
            work += pushed(state.w) * size(rows, i)
            counts[np.uint64(i)] += 1
            cursor = 0 if plan.restart else cursor
            left -= 1
        new += 1
    seen(tally, new)
    tally[CURSOR] = cursor
    book(tally, room - left, mistakes, lost, work)


@loop
def most_wrong(rows: Rows, codes: np.ndarray, rule: Rule, state: State) -> int:
    """Look at all examples; give that of smallest lead which calls for an update, or -1."""
    tally, n, worst, smallest = state.tally, codes.size, -1, np.inf
    for i in range(n):
        lead, _ = look(rows, i, codes[i], state.w, state.scores, True)
        if not abs(lead) < np.inf:
            tally[UNUSABLE] = i + 1
            return -1
        tally[WORK] += vectors(state.w) * size(rows, i)
        if lead < smallest and teaches(rule, codes[i], lead):
            worst, smallest = i, lead
    tally[LOOKS] += n
    return worst


@loop
def correct_one(
    rows: Rows,
    i: Place,
    y: Place,
    rule: Rule,
    state: State,
    counts: np.ndarray,
    log: Log,
) -> None:
    """Learn from one example that is known to call for an update."""
    found = look(rows, i, y, state.w, state.scores)
    a = step(rule, i, y)
    make_ready(rows, i, y, found[1], a, rule, state)
    push(rows, i, a, y, found[1], state.w)
    norm = rescale(state.w) if rule.renormalize else 1.0
    if log.example.size:
        record(log, state, i, found, norm)
    work = pushed(state.w) * size(rows, i)
    book(state.tally, 1, wrong(rule, y, found[0]), -2.0 * a * found[0], work)
    counts[i] += 1
    state.tally[SEEN] += 1
    state.tally[CLOCK] += 1


@loop
def learn_row(
    columns: np.ndarray,
    values: np.ndarray,
    given: tuple[int, float, float, float],
    w: np.ndarray,
    drift: np.ndarray,
    tally: np.ndarray,
    scores: np.ndarray,
    band: np.ndarray,
) -> float:
    """Present one sparse row to the plain rule, with flat arguments: calls cost a fifth as much.

    What is `given` is its class, its step η·c, the lift and the margin. Gives the rival r of a
    mistake, -2 - r for an update on a right answer, -1 for none, NaN if the row cannot be used.
    """
    y, a, lift, margin = given
    row, late = Single(columns, values, lift), tally[CLOCK] * a
    lead, rival = look(row, 0, y, w, scores)
    if not abs(lead) < np.inf:
        return np.nan
    missed, gap = mistaken(lead), ahead(w, lead, scores) if band.size else 0.0
    moved = missed or lead <= margin
    if moved:
        fine = stays_finite(row, a, y, rival, w)
        if not (fine and (not drift.size or stays_finite(row, late, y, rival, drift))):
            return np.nan
        push(row, 0, a, y, rival, w)
        if drift.size:
            push(row, 0, late, y, rival, drift)
        tally[MISTAKES] += missed
        tally[UPDATES] += 1
        tally[WORK] += pushed(w) * size(row, 0)
    if band.size:
        note(band, gap, missed)
    tally[LOOKS] += 1
    tally[SEEN] += 1
    tally[CLOCK] += 1
    tally[WORK] += vectors(w) * size(row, 0)
    if missed:
        return float(rival)
    return -2.0 - rival if moved else -1.0


@loop
def score_row(columns: np.ndarray, values: np.ndarray, lift: float, w: np.ndarray) -> float:
    """Give w·x of one sparse row; NaN if a column lies outside w."""
    score: float = dot(Single(columns, values, lift), 0, w)
    return score


@loop
def score_class_row(
    columns: np.ndarray,
    values: np.ndarray,
    lift: float,
    W: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the scores of one sparse row; NaN if a column lies outside W."""
    dots(Single(columns, values, lift), 0, W, out)
