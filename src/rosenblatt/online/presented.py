"""The examples that a perceptron is shown, with their weights; of weight 0, they are left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rosenblatt.examples import Matrix, check_finite
from rosenblatt.online.perceptron import ALL_ONE
from rosenblatt.run import Run


@dataclass(frozen=True)
class Presented:
    """The examples that count, out of those given.

    Attributes
    ----------
    X, labels : their rows and labels.
    weights : their weights, `ALL_ONE` if all of them are 1.
    rows : how many rows were given.
    places : which of them count, None for all.
    """

    X: Matrix
    labels: np.ndarray
    weights: np.ndarray
    rows: int
    places: np.ndarray | None = None

    @classmethod
    def of(cls, X: Matrix, labels: np.ndarray, weights: np.ndarray) -> Presented:
        """Leave out the examples of weight 0."""
        rows, places = labels.size, None
        if not weights.all():
            check_finite(X)  # as long as rows have the numbers that were given to them
            places = np.flatnonzero(weights)
            X, labels, weights = X[places], labels[places], weights[places]
        return cls(X, labels, ALL_ONE if (weights == 1).all() else weights, rows, places)

    @property
    def weighted(self) -> bool:
        """Whether some weight is another one than 1."""
        return self.weights.size > 0

    def numbers(self) -> np.ndarray:
        """Give the numbers of the rows among those given."""
        return np.arange(self.rows) if self.places is None else self.places

    def times(self, factors: np.ndarray) -> np.ndarray:
        """Give the weights times those of the classes of the examples; `ALL_ONE` if all are 1."""
        weights = factors * self.weights if self.weights.size else factors
        return ALL_ONE if (weights == 1).all() else weights

    def told(self, run: Run) -> Run:
        """Give a run on the examples that count, told by the rows given."""
        if self.places is None:
            return run
        counts, history = np.zeros(self.rows, np.uint32), run.history
        counts[self.places] = run.counts
        if history is not None:
            history = replace(history, example=self.places[history.example])
        return replace(run, counts=counts, history=history)
