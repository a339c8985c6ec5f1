"""The vote of all expansions held (theory D17): one product, then running sums over the mistakes.

The scores after the m-th mistake are those before it, plus c·K(x, x_m) for its class and minus it
for its rival, c being the weight of x_m. Each of the expansions votes for its best class, with one
vote for each example that it survived; a tie for the best is no vote. An example that causes an
update counts for the new expansion, as in Freund & Schapire 1999.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rosenblatt.kernel.store import appended
from rosenblatt.kernel.threads import Apply
from rosenblatt.loops import loop

TOGETHER = 64  # rows that a thread lets vote at a time


@dataclass
class Ballots:
    """The mistakes in order: stored row, class, rival, examples presented before it, weight."""

    place: np.ndarray
    code: np.ndarray
    rival: np.ndarray
    seen: np.ndarray
    weight: np.ndarray
    size: int = 0

    @classmethod
    def empty(cls) -> Ballots:
        """Begin without a mistake."""
        none = np.empty(0, np.int64)
        return cls(none, none, none, np.empty(0), np.empty(0))

    def add(
        self,
        places: np.ndarray,
        codes: np.ndarray,
        rivals: np.ndarray,
        seen: np.ndarray,
        weights: np.ndarray,
    ) -> None:
        """Note some mistakes."""
        self.place = appended(self.place, self.size, places)
        self.code = appended(self.code, self.size, codes)
        self.rival = appended(self.rival, self.size, rivals)
        self.seen = appended(self.seen, self.size, seen)
        self.weight = appended(self.weight, self.size, weights)
        self.size += places.size

    def columns(self) -> tuple[np.ndarray, ...]:
        """Give place, class, rival, examples presented before and weight of all mistakes."""
        columns = self.place, self.code, self.rival, self.seen, self.weight
        return tuple(column[: self.size] for column in columns)

    def copied(self) -> Ballots:
        """Give ballots that may grow instead of these; see `store` on shared buffers."""
        return replace(self)

    def renamed(self, places: np.ndarray) -> Ballots:
        """Give the ballots with class r called places[r]."""
        place, code, rival, seen, weight = self.columns()
        return Ballots(place, places[code], places[rival], seen, weight, self.size)


def vote(
    ballots: Ballots, values: np.ndarray, classes: int, seen: float, apply: Apply
) -> np.ndarray:
    """Give for each row the share of votes for each class; `values` are those of stored rows."""
    place, code, rival, before, weight = ballots.columns()
    held = np.diff(before, append=seen)  # the first expansion, 0, has no best class
    votes = np.zeros((values.shape[0], classes))
    scores = np.zeros((values.shape[0], classes))

    def work(start: int) -> None:
        inside = slice(start, start + TOGETHER)
        mistakes = place, code, rival
        count(values[inside], *mistakes, weight, held, scores[inside], votes[inside])

    apply(work, range(0, values.shape[0], TOGETHER))
    return votes / max(seen, 1.0)


@loop
def count(
    values: np.ndarray,
    place: np.ndarray,
    code: np.ndarray,
    rival: np.ndarray,
    weight: np.ndarray,
    held: np.ndarray,
    scores: np.ndarray,
    votes: np.ndarray,
) -> None:
    """Let every expansion vote on each row; `scores` are 0 at first."""
    for i in range(values.shape[0]):
        for m in range(place.size):
            value = weight[m] * values[i, place[m]]
            scores[i, code[m]] += value
            scores[i, rival[m]] -= value
            best, top, tied = 0, scores[i, 0], False
            for r in range(1, scores.shape[1]):
                if scores[i, r] > top:
                    best, top, tied = r, scores[i, r], False
                elif scores[i, r] == top:
                    tied = True
            if not tied:
                votes[i, best] += held[m]
