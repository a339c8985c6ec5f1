"""A support vector machine that learns online: steps of dual ascent over the newest examples.

Problem     min ½‖w‖² + Σ_i C·c_i·max(0, 1 - lead_i) over all examples so far, c_i their weights
Dual        max Σ α - ½‖w‖² with w = Σ α_ir·U_ir and α >= 0, Σ_r α_ir <= C·c_i; U_ir has x_i for
            its class and -x_i for a wrong class r, so that U·w is the lead over r (`classes`)
Update      an example whose lead is below 1 calls for one step on itself and on each of the other
            newest ones, the latest first (D24):
            α ← α + δ and w ← w + δ·U with δ = (1 - U·w)/‖U‖², cut off where the box ends, for
            the best wrong class and for those with α > 0. What has left the window stays in w.
Window 1    is passive-aggressive I: δ = min(C·c, (1 - lead)/‖U‖²)
Guarantee   at most max(‖U‖², 1/C)·(‖w*‖² + 2C·Σ max(0, 1 - lead*)) mistakes whatever the window:
            the first step on a mistake raises the dual by min(1/‖U‖², C)/2 at least, no step
            lowers it, and it is below ½‖w*‖² + C·Σ max(0, 1 - lead*) for every w*         (F18)
Memory      the window is a CSR matrix with room behind: rows are copied to its end, and all move to
            the front when there is no more room. So dense rows, sparse rows and single rows are
            learned by the same instructions, to the same bits.
Sources     Crammer et al. 2006; Sculley & Wachman 2007; Shalev-Shwartz & Singer 2007 (the dual);
            Hsieh et al. 2008 (coordinate steps)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.loops import loop, part
from rosenblatt.online.band import note
from rosenblatt.online.classes import Place, ahead, lead_over, look, push, pushed, vectors
from rosenblatt.online.perceptron import (
    CLOCK,
    CURSOR,
    LOOKS,
    MISTAKES,
    SEEN,
    UNUSABLE,
    UPDATES,
    WORK,
    Allowance,
    Rule,
    State,
    mistaken,
    step,
)
from rosenblatt.online.plan import Plan, upcoming
from rosenblatt.rows import Rows, Single, Sparse, size, sqnorm, unpack

FIRST, BEHIND = range(2)  # places in `Window.ends`: the oldest example, and behind the newest
LEAST_ROOM = 256  # entries


class Window(NamedTuple):
    """The newest examples: rows FIRST to BEHIND of a CSR matrix, in the order in which they came.

    `box` has C·c of each, `square` ‖U‖², and `alpha` a column for each class, of which only those
    of wrong classes are used.
    """

    rows: Sparse
    codes: np.ndarray
    box: np.ndarray
    square: np.ndarray
    alpha: np.ndarray
    ends: np.ndarray

    @classmethod
    def empty(cls, size: int, classes: int, lift: float, entries: int = LEAST_ROOM) -> Window:
        """Make room for so many examples, and for as many again before they are moved."""
        places = 2 * size
        starts, columns = np.zeros(places + 1, np.uint64), np.zeros(entries, np.uint32)
        rows = Sparse(starts, columns, np.zeros(entries), lift)
        codes, (box, square) = np.zeros(places, np.int64), np.zeros((2, places))
        alpha = np.zeros((places, max(classes, 2)))
        return cls(rows, codes, box, square, alpha, np.zeros(2, np.int64))

    @property
    def size(self) -> int:
        """The number of examples that it holds at most."""
        return int(self.codes.size) // 2

    def held(self) -> Window:
        """Give the examples alone, without the room behind them."""
        first, behind = self.ends.tolist()
        starts = self.rows.starts[first : behind + 1]
        inside, among = slice(*starts[[0, -1]].tolist()), slice(first, behind)
        columns, values = self.rows.columns[inside], self.rows.values[inside]
        rows = Sparse(starts - starts[0], columns, values, self.rows.lift)
        return Window(
            rows,
            self.codes[among],
            self.box[among],
            self.square[among],
            self.alpha[among],
            np.array([0, behind - first]),
        )

    def with_room(self, wanted: int, size: int | None = None) -> Window:
        """Give a copy with room for so many entries more, and again as many."""
        held, size = self.held(), self.size if size is None else size
        entries = 2 * (held.rows.values.size + wanted) + LEAST_ROOM
        wide = Window.empty(size, self.alpha.shape[1], self.rows.lift, entries)
        for room, kept in zip(wide.rows[:3] + wide[1:], held.rows[:3] + held[1:], strict=True):
            room[: len(kept)] = kept
        return wide

    def among(self, places: np.ndarray, classes: int) -> Window:
        """Give the same among more classes; of two that become more, w is shared by both."""
        wide = self.with_room(0)
        alpha = np.zeros((wide.codes.size, max(classes, 2)))
        alpha[:, places] = wide.alpha * (0.5 if wide.alpha.shape[1] == 2 < classes else 1.0)
        return wide._replace(codes=places[wide.codes], alpha=alpha)


@part
def move_to_front(window: Window) -> None:
    """Make room behind the newest example, where rows that left the window still lie before it."""
    rows, ends = window.rows, window.ends
    first, before = ends[FIRST], rows.starts[ends[FIRST]]
    for i in range(first, ends[BEHIND]):
        for k in range(rows.starts[i], rows.starts[i + 1]):
            rows.columns[k - before], rows.values[k - before] = rows.columns[k], rows.values[k]
        window.codes[i - first], window.box[i - first] = window.codes[i], window.box[i]
        window.square[i - first] = window.square[i]
        for r in range(window.alpha.shape[1]):
            window.alpha[i - first, r] = window.alpha[i, r]
    for i in range(first, ends[BEHIND] + 1):
        rows.starts[i - first] = rows.starts[i] - before
    ends[BEHIND] -= first
    ends[FIRST] = 0


@part
def hold(given: Rows | Single, i: Place, y: Place, box: float, window: Window, pushes: int) -> bool:
    """Copy row i behind the newest example; tell whether there was room."""
    rows, ends = window.rows, window.ends
    wanted = np.uint64(size(given, i))
    if ends[BEHIND] == window.codes.size or (
        rows.starts[ends[BEHIND]] + wanted > np.uint64(rows.values.size)
    ):
        move_to_front(window)
    at = ends[BEHIND]
    if rows.starts[at] + wanted > np.uint64(rows.values.size):
        return False
    behind = unpack(given, i, rows.columns, rows.values, np.int64(rows.starts[at]))
    rows.starts[at + 1] = np.uint64(behind)
    window.codes[at], window.box[at] = y, box
    window.square[at] = pushes * sqnorm(rows, at)
    window.alpha[at] = 0.0
    ends[BEHIND] += 1
    return True


@part
def ascend(window: Window, i: Place, rival: Place, lead: float, state: State) -> None:
    """Make the step of example i against a rival, and move the weights with it."""
    rows, alpha, y = window.rows, window.alpha[i], window.codes[i]
    others = 0.0
    for r in range(alpha.size):
        others += alpha[r] if r != rival else 0.0
    wanted = alpha[rival] + (1.0 - lead) / window.square[i]
    wanted = min(max(wanted, 0.0), max(window.box[i] - others, 0.0))
    delta = wanted - alpha[rival]
    if delta != 0.0:
        alpha[rival] = wanted
        push(rows, i, delta, y, rival, state.w)
        if state.drift.size:
            push(rows, i, state.tally[CLOCK] * delta, y, rival, state.drift)
        state.tally[WORK] += pushed(state.w) * size(rows, i)


@part
def ascend_all(window: Window, i: Place, found: tuple[float, int], state: State) -> None:
    """Make the steps of example i: on its best rival, and on those that have a share in w."""
    lead, rival = found
    if window.square[i] == 0.0:
        return
    ascend(window, i, rival, lead, state)
    for r in range(window.alpha.shape[1]):
        if r != rival and window.alpha[i, r] > 0.0:
            y = window.codes[i]
            ascend(window, i, r, lead_over(window.rows, i, y, r, state.w), state)


@part
def learn_newest(window: Window, state: State) -> float:
    """Learn from the newest example, if its lead is below 1; give that lead, NaN if unusable."""
    ends, w, tally = window.ends, state.w, state.tally
    newest = ends[BEHIND] - 1
    found = look(window.rows, newest, window.codes[newest], w, state.scores)
    if not (abs(found[0]) < np.inf and window.square[newest] < np.inf):
        ends[BEHIND] -= 1
        return np.nan
    if ends[BEHIND] - ends[FIRST] > window.codes.size // 2:
        ends[FIRST] += 1
    tally[WORK] += vectors(w) * size(window.rows, newest)
    if state.band.size:
        note(state.band, ahead(w, found[0], state.scores), mistaken(found[0]))
    if found[0] < 1.0:
        ascend_all(window, newest, found, state)
        for i in range(newest - 1, ends[FIRST] - 1, -1):
            later = look(window.rows, i, window.codes[i], w, state.scores)
            tally[WORK] += vectors(w) * size(window.rows, i)
            ascend_all(window, i, later, state)
        tally[UPDATES] += 1
        tally[MISTAKES] += mistaken(found[0])
    for place in (LOOKS, SEEN, CLOCK):
        tally[place] += 1
    lead: float = found[0]
    return lead


@loop
def present_newest(
    rows: Rows,
    codes: np.ndarray,
    plan: Plan,
    rule: Rule,
    state: State,
    window: Window,
    counts: np.ndarray,
    allowance: Allowance,
) -> int:
    """Present examples from the cursor on; give the entries for which the window lacks room.

    Comes back at the end of the sequence, when the allowance is used up, or before a row that
    cannot be used, which is then named in the tally.
    """
    tally, n = state.tally, codes.size
    most = tally[UPDATES] + allowance.updates
    for _ in range(allowance.looks):
        if tally[CURSOR] == n or tally[UPDATES] == most:
            break
        i = upcoming(plan, int(tally[CURSOR]), n)
        if not hold(rows, i, codes[i], step(rule, i, codes[i]), window, pushed(state.w)):
            return int(size(rows, i))
        lead = learn_newest(window, state)
        if not abs(lead) < np.inf:
            tally[UNUSABLE] = i + 1
            break
        counts[i] += lead < 1.0
        tally[CURSOR] += 1
    return 0


@loop
def learn_newest_row(row: Single, y: int, box: float, state: State, window: Window) -> float:
    """Present one row; give its lead, NaN if it cannot be used, infinity if there is no room."""
    if not hold(row, 0, y, box, window, pushed(state.w)):
        return np.inf
    return learn_newest(window, state)
