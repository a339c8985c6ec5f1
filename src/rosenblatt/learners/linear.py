"""Learners that answer by hyperplanes: one for two classes, one for each class if there are more.

Two classes     score w·x + b, positive for the second class; 0 is *I don't know*
More            score w_r·x + b_r for class r, the largest one wins; a tie for it is *I don't know*
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.learners.base import Learner
from rosenblatt.matrices import Matrix, as_rows, refuse_unusable
from rosenblatt.rows import scores


class LinearLearner(Learner):
    """A learner whose state is its hyperplanes, one row (w, b) for each."""

    _planes: np.ndarray
    support_: Any

    def _scores(self, matrix: Matrix) -> np.ndarray:
        out = np.empty((self._planes.shape[0], matrix.shape[0]))
        rows = as_rows(matrix, 1.0)
        for plane, found in zip(self._planes, out, strict=True):
            scores(rows, plane, found)
        fine = np.isfinite(out).all(axis=0)
        if not fine.all():
            refuse_unusable(matrix, int(np.argmin(fine)), scored=True)
        return out[0] if out.shape[0] == 1 else np.ascontiguousarray(out.T)

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the columns: one row, or one for each class."""
        self.check_fitted()
        return _read_only(self._planes[:, :-1])

    @property
    def intercept_(self) -> np.ndarray:
        """The constant terms."""
        self.check_fitted()
        return _read_only(self._planes[:, -1])

    @property
    def is_fitted(self) -> bool:
        """Whether the learner has seen examples."""
        return hasattr(self, "_planes")


def _read_only(view: np.ndarray) -> np.ndarray:
    """Give a view that cannot be written to: the learner answers by what lies under it."""
    view.flags.writeable = False
    return view
