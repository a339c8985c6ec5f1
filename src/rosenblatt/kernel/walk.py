"""The sequential rule inside a block of rows, and on a table of the scores of all examples.

Discriminators (theory D18): each class r has a score; an example of class y is a mistake if
score_y <= score_r for some r ≠ y, which is D2's rule for their difference. Then class y gets
+K(x, ·) and the best wrong class gets -K(x, ·): of equally good ones, that of the smallest index.
Two classes are the case k = 2, where score_1 = -score_0 is that of the plain rule (F14).

A row is *in doubt* if the rounding errors of its scores could change the answer, or which wrong
class is best. The walk stops before such a row; its caller computes the scores anew in float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.loops import loop, part
from rosenblatt.online.perceptron import CURSOR, LOOKS, UNUSABLE, mistaken
from rosenblatt.online.plan import Plan, upcoming

DONE, DOUBT, UNUSABLE_SCORE, UNKNOWN = range(4)


class Doubt(NamedTuple):
    """Bounds of rounding errors for each row of a block, 0 for scores in float64.

    `slack` bounds the error of the difference of two scores; a mistake on another row adds twice
    relative·|K| + absolute to it, where the values K within the block are of single precision.
    """

    slack: np.ndarray
    relative: np.ndarray
    absolute: np.ndarray


class Within(NamedTuple):
    """The kernel's values of some rows of a block beside all of them: few rows are mistaken.

    Those of row t are in line[t] of `values`; below 0 they were not computed yet.
    """

    values: np.ndarray
    line: np.ndarray


class Found(NamedTuple):
    """Mistakes: where each was made, the best wrong class, and the looks before it.

    In a walk, `place` is that in the block, hence the looks before it, and `earlier` is not used.
    """

    place: np.ndarray
    rival: np.ndarray
    earlier: np.ndarray


@part
def rivals(scores: np.ndarray, i: int | np.int64, y: int) -> tuple[int, float, float]:
    """Give the best wrong class of row i, how far class y is ahead, and how far the next wrong."""
    best, top, runner = -1, -np.inf, -np.inf
    for r in range(scores.shape[1]):
        score = scores[i, r]
        if r == y:
            continue
        if score > top:
            best, top, runner = r, score, top
        elif score > runner:
            runner = score
    return best, scores[i, y] - top, top - runner


@part
def in_doubt(lead: float, gap: float, slack: float) -> bool:
    """Tell whether errors up to the slack could change what happens; NaN is always in doubt."""
    certain = abs(lead) > slack and (lead > 0.0 or gap > slack)
    return not (slack <= 0.0 or certain)


@loop
def walk(
    codes: np.ndarray,
    scores: np.ndarray,
    within: Within,
    doubt: Doubt,
    begin: int,
    made: int,
    allowed: int,
    found: Found,
) -> tuple[int, int, int]:
    """Present rows from `begin` on; give where it stopped, how many mistakes it made, and why.

    `made` says how many were made before.
    """
    n = codes.size
    for t in range(begin, n):
        if made == allowed:
            return t, made, DONE
        y = codes[t]
        rival, lead, gap = rivals(scores, t, y)
        if in_doubt(lead, gap, doubt.slack[t]):
            return t, made, DOUBT
        if not abs(lead) < np.inf:
            return t, made, UNUSABLE_SCORE
        if mistaken(lead):
            if within.line[t] < 0:
                return t, made, UNKNOWN
            found.place[made], found.rival[made] = t, rival
            made += 1
            values = within.values[within.line[t]]
            for m in range(t + 1, n):
                value = np.float64(values[m])
                scores[m, y] += value
                scores[m, rival] -= value
                doubt.slack[m] += 2.0 * (doubt.relative[m] * abs(value) + doubt.absolute[m])
    return n, made, DONE


@loop
def doubtful(
    codes: np.ndarray, scores: np.ndarray, doubt: Doubt, begin: int, places: np.ndarray
) -> int:
    """Write down the rows from `begin` on that are in doubt now; give how many."""
    count = 0
    for t in range(begin, codes.size):
        _, lead, gap = rivals(scores, t, codes[t])
        if in_doubt(lead, gap, doubt.slack[t]):
            places[count] = t
            count += 1
    return count


@loop
def leads(codes: np.ndarray, scores: np.ndarray, begin: int, out: np.ndarray) -> None:
    """Write how far the class of each row is ahead, from row `begin` on."""
    for t in range(begin, codes.size):
        out[t - begin] = rivals(scores, t, codes[t])[1]


@loop
def run_through(
    codes: np.ndarray,
    scores: np.ndarray,
    gram: np.ndarray,
    plan: Plan,
    tally: np.ndarray,
    looks: int,
    found: Found,
) -> int:
    """Look at examples in the order of the plan, learning from mistakes; give how many there were.

    The scores are those of all examples. Without a Gram matrix the loop comes back after the first
    mistake, from which it has not learned; else it goes on until there is no room to note more.
    """
    n, cursor, seen, made = codes.size, int(tally[CURSOR]), 0, 0
    while cursor < n and seen < looks and made < found.place.size:
        i = upcoming(plan, cursor, n)
        rival, lead, _ = rivals(scores, i, codes[i])
        cursor += 1
        if mistaken(lead):
            found.place[made], found.rival[made], found.earlier[made] = i, rival, seen
            made += 1
            cursor = 0 if plan.restart else cursor
            if gram.size and not move(scores, gram[i], codes[i], rival):
                tally[UNUSABLE] = i + 1
                break
        seen += 1
        if made and not gram.size:
            break
    tally[CURSOR] = cursor
    tally[LOOKS] += seen
    return made


@loop
def worst_mistake(codes: np.ndarray, scores: np.ndarray) -> tuple[int, int]:
    """Give the mistaken example that is furthest behind, and the best wrong class; -1 for none."""
    worst, rival, furthest = -1, -1, np.inf
    for i in range(codes.size):
        best, lead, _ = rivals(scores, i, codes[i])
        if lead < furthest and mistaken(lead):
            worst, rival, furthest = i, best, lead
    return worst, rival


@loop
def move(scores: np.ndarray, column: np.ndarray, y: int, rival: int) -> bool:
    """Let all scores follow an update: the column holds K(x, ·). Tells whether all are finite."""
    fine = True
    for i in range(column.size):
        scores[i, y] += column[i]
        scores[i, rival] -= column[i]
        fine = fine and abs(scores[i, y]) < np.inf and abs(scores[i, rival]) < np.inf
    return fine


@loop
def judge(scores: np.ndarray, y: int) -> tuple[int, float, bool]:
    """Give the best wrong class for the scores of one row, the lead of class y, and the verdict."""
    best, lead, _ = rivals(scores, 0, y)
    return best, lead, mistaken(lead)
