"""Scikit-learn's manners, the same for every learner: tags, and columns with their names."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cache
from inspect import signature
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from rosenblatt.errors import InputError, levels_inside
from rosenblatt.learners.base import PlainLearner
from rosenblatt.matrices import Matrix
from rosenblatt.names import column_names, columns_of
from rosenblatt.run import Stop

PICK = "Give the columns of the fit: X[list(learner.feature_names_in_)]."
LIMITED = (Stop.PASSES, Stop.UPDATES, Stop.SECONDS)


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

    def expected_failed_checks(self) -> dict[str, str]:
        """Give the checks of scikit-learn that cannot pass, each with its reason.

        Examples
        --------
        >>> import rosenblatt as rb
        >>> sorted(rb.KernelPerceptron().expected_failed_checks())  # doctest: +NORMALIZE_WHITESPACE
        ['check_sample_weight_equivalence_on_dense_data',
         'check_sample_weight_equivalence_on_sparse_data']
        """
        from rosenblatt.learners.checks import expected_failed_checks

        return expected_failed_checks(self)

    def _adopt_columns(self, X: Any, matrix: Matrix) -> None:
        """Make the columns of X, and their names if they have any, those of the learner."""
        self._compare_names(X, reset=True)
        super()._adopt_columns(X, matrix)

    def _take(self, X: Any, new: Iterable[str] = ()) -> Matrix:
        """Take rows; that a frame is another one is told before what is wrong with its numbers."""
        if column_names(X) is not None and self._reader.width is not None:
            self._compare_names(X, reset=False)
        return super()._take(X, new)

    def _check_columns(self, X: Any, matrix: Matrix) -> None:
        """Check the columns as scikit-learn does, but ask no array for names that a file gave."""
        if self._columns is not None or columns_of(X) is not None:
            super()._check_columns(X, matrix)
        elif column_names(X) is None:
            self._compare_names(X, reset=False)

    def _compare_names(self, X: Any, *, reset: bool) -> None:
        """Take note of the columns of X, or require them to be those of the learner."""
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except (TypeError, ValueError) as error:  # the former for names of which some are no text
            other = str(error).startswith("The feature names should match")
            raise InputError(f"{error}{PICK if other else ''}") from error


def warn_of_limits(learner: Any) -> None:
    """Warn if a limit that nobody set ended the run, or if it left weights that still change.

    Averages and votes are made to be stopped: where a limit was set for them, it was the intention.
    A run that stalled has been judged, and is answered by averages unless others were asked for.
    """
    stop = learner.run_.stop
    if stop is Stop.CONVERGED:
        return
    option = _default_of(type(learner), "max_iter")  # type: ignore[arg-type]  # can be hashed
    unasked = stop is Stop.PASSES and learner.max_iter == option
    unsettled = stop in LIMITED and learner.output in ("auto", "last")
    if unasked or unsettled or (stop is Stop.STALLED and learner.output == "last"):
        warnings.warn(str(stop), ConvergenceWarning, stacklevel=levels_inside() + 1)


@cache
def _default_of(kind: type, option: str) -> Any:
    return signature(kind).parameters[option].default
