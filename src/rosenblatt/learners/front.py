"""Scikit-learn's manners, the same for every learner: tags, and columns with their names."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from rosenblatt.errors import InputError
from rosenblatt.examples import Matrix
from rosenblatt.learners.base import PlainLearner
from rosenblatt.learners.one_row import RowReader


class Front(PlainLearner, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The scikit-learn side of a classifier; a learner derives from it and from its plain class."""

    many_classes = False

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.many_classes
        return tags

    def _adopt_columns(self, X: Any, matrix: Matrix) -> None:
        """Make the columns of X, and their names if they have any, those of the learner."""
        validate_data(self, X, reset=True, skip_check_array=True)
        self._reader = RowReader(matrix.shape[1], getattr(self, "feature_names_in_", None))

    def _check_columns(self, X: Any, matrix: Matrix) -> None:
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            raise InputError(str(error)) from error
