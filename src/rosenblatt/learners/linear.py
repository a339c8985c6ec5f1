"""Learners that answer by hyperplanes: one for two classes, one for each class if there are more.

Two classes     score w·x + b, positive for the second class; 0 is *I don't know*
More            score w_r·x + b_r for class r, the largest one wins; a tie for it is *I don't know*
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.learners.base import PlainLearner
from rosenblatt.learners.one_row import as_one_row_matrix
from rosenblatt.matrices import Matrix, as_rows, refuse_unusable
from rosenblatt.rows import scores


class PlainLinear(PlainLearner):
    """A learner whose state is its hyperplanes, one row (w, b) for each."""

    _planes: np.ndarray
    support_: Any

    def decision_function(self, X: Any) -> np.ndarray:
        """Give the score of each row, positive for ``classes_[1]``; or one for each class."""
        self._check_fitted()
        return self._scores(self._take(X))

    def _scores(self, matrix: Matrix) -> np.ndarray:
        out = np.empty((self._planes.shape[0], matrix.shape[0]))
        rows = as_rows(matrix, 1.0)
        for plane, found in zip(self._planes, out, strict=True):
            scores(rows, plane, found)
        fine = np.isfinite(out).all(axis=0)
        if not fine.all():
            refuse_unusable(matrix, int(np.argmin(fine)), scored=True)
        return out[0] if out.shape[0] == 1 else np.ascontiguousarray(out.T)

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        """Give the labels that scores stand for: of tied classes, the first."""
        places = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: np.ndarray = self.classes_[places]
        return labels

    def _unsure(self, scores: np.ndarray) -> np.ndarray:
        if scores.ndim == 1:
            return np.asarray(scores == 0)
        on_top = scores == scores.max(axis=1, keepdims=True)
        return np.asarray(np.count_nonzero(on_top, axis=1) > 1)

    def predict_one(self, x: Any) -> Any:
        """Give the label of one row, or None for *I don't know*: a score of 0, or a tie.

        x is a dict from column to value, a (columns, values) pair, an array or a sparse row. A
        learner that has seen nothing yet does not know.
        """
        if not self._is_fitted():
            return None
        row = self._reader.read(x)
        self._reader.check(row)
        found = self._scores(as_one_row_matrix(row, self.n_features_in_))
        return None if self._unsure(found)[0] else self._answers(found).tolist()[0]

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the columns: one row, or one for each class."""
        self._check_fitted()
        return _read_only(self._planes[:, :-1])

    @property
    def intercept_(self) -> np.ndarray:
        """The constant terms."""
        self._check_fitted()
        return _read_only(self._planes[:, -1])

    def _is_fitted(self) -> bool:
        return hasattr(self, "_planes")


def _read_only(view: np.ndarray) -> np.ndarray:
    """Give a view that cannot be written to: the learner answers by what lies under it."""
    view.flags.writeable = False
    return view
