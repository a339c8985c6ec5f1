"""Columns brought to one scale before they are learned: x becomes (x - centre) / spread.

`standard` divides by the standard deviation and centres, but not sparse rows, which would fill up;
`maxabs` divides by the largest absolute value. A model file keeps the numbers, so that whoever
loads it hands over rows as they were: in Python as a scikit-learn `Pipeline`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.examples import Examples
from rosenblatt.names import columns_of, remember

FEW_ROUNDINGS = 10
SCALERS = {"standard": "StandardScaler", "maxabs": "MaxAbsScaler"}


@dataclass(frozen=True)
class Scaling:
    """What a scaler of scikit-learn has learned.

    Attributes
    ----------
    kind : "standard" or "maxabs".
    spread : what columns are divided by.
    centre : what is taken from them before, None for nothing.
    """

    kind: str
    spread: np.ndarray
    centre: np.ndarray | None = None

    @classmethod
    def of(cls, kind: str, X: Any) -> Scaling:
        """Learn the scale of the columns of a matrix, as scikit-learn does but without its import.

        A column that is constant, or zero but for rounding, stays as it is.
        """
        if kind == "maxabs":
            largest = abs(X).max(axis=0)
            largest = np.asarray(largest.toarray()[0] if sparse.issparse(X) else largest, float)
            return cls(kind, np.where(largest < FEW_ROUNDINGS * np.finfo(X.dtype).eps, 1, largest))
        n, rounding = X.shape[0], np.finfo(np.float64).eps
        mean, variance = _moments(X)
        constant = variance <= n * rounding * variance + (n * mean * rounding) ** 2
        spread = np.where(constant, 1.0, np.sqrt(variance))
        return cls(kind, spread, None if sparse.issparse(X) else mean)

    @classmethod
    def of_scaler(cls, scaler: Any) -> Scaling:
        """Take it from a fitted scaler."""
        kinds = {name: kind for kind, name in SCALERS.items()}
        name, module = type(scaler).__name__, type(scaler).__module__
        if name not in kinds or not module.startswith("sklearn."):
            raise InputError(
                f"a pipeline is saved if it is a {' or '.join(kinds)} and a learner, got a {name}"
            )
        spread = np.ones(scaler.n_features_in_) if scaler.scale_ is None else scaler.scale_
        centred = getattr(scaler, "with_mean", False)
        centre = np.asarray(scaler.mean_, np.float64) if centred else None
        return cls(kinds[name], np.asarray(spread, np.float64), centre)

    def scaler(self) -> Any:
        """Give it as a fitted scaler."""
        from sklearn import preprocessing

        if self.kind == "maxabs":
            made = preprocessing.MaxAbsScaler()
            made.max_abs_ = self.spread
        else:
            made = preprocessing.StandardScaler(with_mean=self.centre is not None)
            made.mean_, made.var_ = self.centre, self.spread**2
        made.scale_, made.n_features_in_ = self.spread, self.spread.size
        return made

    def arrays(self) -> dict[str, np.ndarray]:
        """Give the numbers for a model file."""
        return {"spread": self.spread} | ({} if self.centre is None else {"centre": self.centre})

    @classmethod
    def of_parts(cls, kind: Any, tensors: dict[str, np.ndarray], width: int) -> Scaling:
        """Give it back, refusing with a ValueError what does not fit so many columns."""
        found = cls(kind, tensors["scaling.spread"], tensors.get("scaling.centre"))
        sound = all(
            a.shape == (width,) and a.dtype == np.float64 and np.isfinite(a).all()
            for a in found.arrays().values()
        )
        if kind not in SCALERS or not sound or not found.spread.all():
            raise ValueError("what it says of the scale of its columns is damaged")
        return found

    def rows(self, examples: Examples) -> Examples:
        """Give examples on this scale; their columns keep their names."""
        X, columns = self.matrix(examples.X), columns_of(examples.X)
        if columns is not None:
            remember(X, columns)
        return replace(examples, X=X)

    def matrix(self, X: Any) -> Any:
        """Give rows on this scale, in the type that they have."""
        if sparse.issparse(X):
            if self.centre is not None:
                X = X.toarray()
            else:
                values = (X.data / self.spread[X.indices]).astype(X.dtype, copy=False)
                return sparse.csr_matrix((values, X.indices, X.indptr), shape=X.shape)
        moved = X if self.centre is None else X - self.centre
        return (moved / self.spread).astype(X.dtype, copy=False)

    def hyperplanes(self, learner: Any) -> tuple[np.ndarray, np.ndarray]:
        """Give the weights and the intercepts of a learner for columns as they were."""
        coef = learner.coef_ / self.spread
        if self.centre is None:
            return coef, learner.intercept_
        return coef, learner.intercept_ - coef @ self.centre


def _moments(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Give the mean and the variance of each column in float64, without zeros of sparse rows."""
    n, width = X.shape
    if not sparse.issparse(X):
        mean = X.mean(axis=0, dtype=np.float64)
        moved = X - mean
        return mean, (np.einsum("ij,ij->j", moved, moved) - moved.sum(axis=0) ** 2 / n) / n
    mean = np.bincount(X.indices, X.data, width) / n  # in float64, as X.sum is not
    moved = X.data - mean[X.indices]
    absent = n - np.bincount(X.indices, minlength=width)  # each of them moved by -mean
    squares = np.bincount(X.indices, moved**2, width) + absent * mean**2
    total = np.bincount(X.indices, moved, width) - absent * mean
    return mean, (squares - total**2 / n) / n


def taken_apart(model: Any) -> tuple[Any, Scaling | None]:
    """Give the learner of a pipeline and its scaling; that of a learner alone is None."""
    steps = [step for _, step in getattr(model, "steps", [])]
    return (steps[1], Scaling.of_scaler(steps[0])) if len(steps) == 2 else (model, None)
