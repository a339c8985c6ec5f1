"""Examples: rows and labels together, as readers give them and as learners are shown them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.labels import ALL_ONE, ALL_ZERO, as_codes, check_every_class, sample_weights
from rosenblatt.matrices import Matrix, check_finite
from rosenblatt.names import Columns, remember
from rosenblatt.run import Run


@dataclass(frozen=True)
class Examples:
    """Samples X and their labels y; unpacks as ``X, y`` without a copy.

    A learner that is fitted on X alone still knows the names of its columns.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,) or None
        The labels; None where a file has none.
    names : tuple of str or None, default=None
        Names of the features.
    weights : ndarray of shape (n_samples,) or None, default=None
        Weights of the samples, for `sample_weight`.
    columns : Columns or None, default=None
        All that is known about the features: names, categories, hashing.

    Examples
    --------
    >>> import numpy as np, rosenblatt as rb
    >>> X, y = rb.Examples(np.eye(2), np.array([1, -1]))
    """

    X: Matrix
    y: Any
    names: tuple[str, ...] | None = None
    weights: np.ndarray | None = None
    columns: Columns | None = None

    def __post_init__(self) -> None:
        columns = self.columns
        if columns is None and self.names is not None:
            columns = Columns(tuple(self.names))
        if columns is not None:
            object.__setattr__(self, "columns", columns)
            object.__setattr__(self, "names", columns.names)
            remember(self.X, columns)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def part(self, rows: Any) -> Examples:
        """Give some of the rows, as a slice or an array of row numbers says."""
        y, weights = (None if each is None else each[rows] for each in (self.y, self.weights))
        return replace(self, X=self.X[rows], y=y, weights=weights)


@dataclass(frozen=True)
class Presented:
    """The examples that a learner is shown: those given that count, since their weight is not 0.

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
    def of(cls, X: Matrix, labels: np.ndarray, sample_weight: Any = None) -> Presented:
        """Weigh examples, by 1 if no weights are given, and leave out those of weight 0."""
        rows, places = labels.size, None
        if sample_weight is None:
            return cls(X, labels, ALL_ONE, rows)
        weights = sample_weights(sample_weight, rows)
        if not weights.all():
            check_finite(X)  # as long as rows have the numbers that were given to them
            places = np.flatnonzero(weights)
            X, labels, weights = X[places], labels[places], weights[places]
        return cls(X, labels, ALL_ONE if (weights == 1).all() else weights, rows, places)

    def check_classes(self, classes: np.ndarray) -> None:
        """Refuse a class of which no example counts."""
        if not self.labels.size:
            raise InputError(ALL_ZERO)
        if self.places is not None:
            codes = as_codes(self.labels, classes)
            check_every_class(np.bincount(codes, None, classes.size), classes)

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
