"""Learners become estimators of scikit-learn: what needs its import, and nothing else.

`Learner` is written once, for commands, which start without scikit-learn, and for its users, who
get ``rosenblatt.Perceptron`` as a `BaseEstimator` whose options, tags, requests for metadata and
pictures in notebooks are scikit-learn's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rosenblatt.errors import InputError
from rosenblatt.learners.base import PICK, Learner, Unjoined
from rosenblatt.names import column_names, refuse_disorder


def join() -> None:
    """Give learners the bases of scikit-learn's classifiers, once."""
    if Unjoined not in Learner.__bases__:
        return
    from sklearn.base import BaseEstimator, ClassifierMixin

    Learner.__bases__ = (ClassifierMixin, BaseEstimator)
    for kind in _derived(Learner):  # which makes set_fit_request and its like
        super(Learner, kind).__init_subclass__()


def _derived(kind: type[Learner]) -> Iterator[type[Learner]]:
    for derived in kind.__subclasses__():
        yield derived
        yield from _derived(derived)


def compare_frame(learner: Learner, X: Any, *, reset: bool) -> None:
    """Let scikit-learn take note of a frame's columns, or require them to be the learner's."""
    from sklearn.utils.validation import validate_data

    join()
    refuse_disorder(column_names(X) or [])
    try:
        validate_data(learner, X, reset=reset, skip_check_array=True)
    except (TypeError, ValueError) as error:  # the former for names of which some are no text
        other = str(error).startswith("The feature names should match")
        raise InputError(f"{error}{PICK if other else ''}") from error
