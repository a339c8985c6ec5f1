"""What all learners share, without scikit-learn: their columns, their labels, and being asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from threading import RLock
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.labels import as_labels, some_weights
from rosenblatt.learners.one_row import RowReader
from rosenblatt.matrices import Matrix, as_matrix
from rosenblatt.names import Columns, columns_of, names_of

L = TypeVar("L", bound="PlainLearner")
P = ParamSpec("P")
T = TypeVar("T")


class PlainLearner:
    """A learner that answers rows with labels."""

    _reader: RowReader
    _lock: Any  # held while a row or a block of a stream is learned
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray  # where the columns have names
    _columns: Columns | None = None  # what a reader knew of them

    __signature__: ClassVar[Signature]

    def __init_subclass__(cls, **options: Any) -> None:
        """Let editors and scikit-learn see the options, which `__new__` would hide."""
        super().__init_subclass__(**options)
        own = signature(cls.__init__)
        cls.__signature__ = own.replace(parameters=[*own.parameters.values()][1:])

    def __new__(cls, *given: Any, **options: Any) -> Self:
        """Refuse options that the learner does not have, in the learner's own name."""
        _check_named(cls, len(given), options)
        learner = super().__new__(cls)
        learner._lock = RLock()
        return learner

    def __getstate__(self) -> dict[str, Any]:
        """Give all but the lock: copies have their own."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_lock"}

    def _is_fitted(self) -> bool:
        raise NotImplementedError

    def decision_function(self, X: Any) -> np.ndarray:
        """Give the score of each row."""
        raise NotImplementedError

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        """Give the labels that scores stand for."""
        raise NotImplementedError

    def _unsure(self, scores: np.ndarray) -> np.ndarray:
        """Tell for each row whether its scores mean *I don't know*: 0, or a tie of classes."""
        if scores.ndim == 1:
            return np.asarray(scores == 0)
        on_top = scores == scores.max(axis=1, keepdims=True)
        return np.asarray(np.count_nonzero(on_top, axis=1) > 1)

    def predict(self, X: Any) -> np.ndarray:
        """Give the label of each row; of tied classes, and where the score is 0, the first."""
        return self._answers(self.decision_function(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the share of rows, or of their weights, answered as y says; labels of any type."""
        answers = self.predict(X).tolist()
        labels = as_labels(y, len(answers)).tolist()
        right = [answer == label for answer, label in zip(answers, labels, strict=True)]
        weights = None if sample_weight is None else some_weights(sample_weight, len(right))
        return float(np.average(right, weights=weights))

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("the learner has seen no examples yet; call fit first")

    @classmethod
    def _option_names(cls) -> list[str]:
        """Give the names of the options: those of the class that defines them."""
        return [name for name in signature(cls.__init__).parameters if name != "self"]

    def _options(self) -> dict[str, Any]:
        """Give the options by name, as scikit-learn's `get_params` does."""
        return {name: getattr(self, name) for name in self._option_names()}

    # ---- columns

    def _adopt_columns(self, X: Any, matrix: Matrix) -> None:
        """Make the columns of X, which is held as a matrix, and their names the learner's."""
        self.n_features_in_ = matrix.shape[1]
        self._columns = columns_of(X)
        names = names_of(X)
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._reader = RowReader(matrix.shape[1], names)

    def _take(self, X: Any, new: Iterable[str] = ()) -> Matrix:
        """Take rows of the columns that the learner knows, or of any if they are open.

        Where a stream knows columns by name, they are found by it, and so are those that are new.
        """
        matrix = as_matrix(X)
        if self._reader.width is not None:
            self._check_columns(X, matrix)
        if self._reader.names_grow:
            return self._reader.arranged(matrix, names_of(X), new)
        return matrix

    def _adopt_names(self, new: list[str]) -> None:
        """Let a stream know names that it has met."""
        if new:
            self._reader.adopt(new)
            self.feature_names_in_ = self._reader.names

    def _check_columns(self, X: Any, matrix: Matrix) -> None:
        if matrix.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {matrix.shape[1]} columns, but the learner knows {self.n_features_in_}"
            )
        known, own = columns_of(X), self._columns
        if known is not None and own is not None and known.hashing != own.hashing:
            raise InputError(
                f"X has {known.spoken()}, but the learner was fitted on {own.spoken()}; give it "
                "rows that were made in the same way"
            )
        self._check_names(names_of(X), getattr(self, "feature_names_in_", None))

    def _check_names(self, found: tuple[str, ...] | None, wanted: np.ndarray | None) -> None:
        if found is None or wanted is None or found == tuple(wanted):
            return
        pairs = enumerate(zip(found, wanted, strict=True))
        place = next(j for j, (name, own) in pairs if name != own)
        raise InputError(
            f"column {place} of X is {found[place]!r}, but the learner was fitted with "
            f"{wanted[place]!r} there; put the columns in its order, or read the table with "
            "like=learner"
        )


def in_turn(learn: Callable[Concatenate[L, P], T]) -> Callable[Concatenate[L, P], T]:
    """Let one thread at a time learn."""

    @wraps(learn)
    def alone(learner: L, /, *given: P.args, **options: P.kwargs) -> T:
        with learner._lock:
            return learn(learner, *given, **options)

    return alone


@cache
def _kinds(learner: type[PlainLearner]) -> dict[str, Any]:
    parameters = signature(learner.__init__).parameters.values()
    return {option.name: option.kind for option in parameters}


def _check_named(learner: type[PlainLearner], given: int, options: dict[str, Any]) -> None:
    """Refuse what `__init__` would refuse in the name of the class that it is written in."""
    kinds = _kinds(learner)  # type: ignore[arg-type]  # classes can be hashed
    if Parameter.VAR_POSITIONAL in kinds.values() or Parameter.VAR_KEYWORD in kinds.values():
        return
    names = [name for name in kinds if name != "self"]
    if 1 + given > list(kinds.values()).count(Parameter.POSITIONAL_OR_KEYWORD):
        name = learner.__name__
        raise TypeError(
            f"{name} takes its options by name, not positional: {name}({names[-1]}=...)"
        )
    for name in options:
        if name not in names:
            near = get_close_matches(name, names, 1)
            others = f"its options are {', '.join(names)}"
            advice = f"did you mean {near[0]!r}?" if near else others
            raise TypeError(f"{learner.__name__} has no option {name!r}; {advice}")
