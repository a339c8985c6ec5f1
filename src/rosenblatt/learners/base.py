"""What all learners share: options, columns with their names, labels, and being asked.

A learner is an estimator of scikit-learn, whose import takes longer than most commands. So its
class gets scikit-learn's bases (`join`) when somebody asks for ``rosenblatt.Perceptron``
or loads a learner; commands, which import it from its file, do without. Nothing that it learns or
answers depends on that.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from rosenblatt.errors import InputError, levels_inside
from rosenblatt.labels import as_labels, some_weights
from rosenblatt.learners.one_row import RowReader, as_one_row_matrix
from rosenblatt.matrices import Matrix, as_matrix
from rosenblatt.names import Columns, column_names, columns_of, names_of, refuse_disorder

L = TypeVar("L", bound="Learner")
P = ParamSpec("P")
T = TypeVar("T")

PICK = "Give the columns of the fit: X[list(learner.feature_names_in_)]."


class Unjoined:
    """In the place of scikit-learn's bases until they are asked for."""

    if TYPE_CHECKING:  # what editors are to know of them
        get_params: Callable[..., dict[str, Any]]
        set_params: Callable[..., Self]
        set_fit_request: Callable[..., Self]
        set_partial_fit_request: Callable[..., Self]
        set_score_request: Callable[..., Self]
        get_metadata_routing: Callable[[], Any]

        def __sklearn_tags__(self) -> Any: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...


class Learner(Unjoined):
    """A classifier: options, `fit`, and answers to rows.

    A learner has `train`, `check_options`, `complaint`, `is_fitted` and `_scores`.
    """

    many_classes = True  # whether it learns more than two
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray  # where the columns have names
    columns_: Columns | None = None  # what a reader knew of the columns
    _reader: RowReader
    _lock: Any  # held while a row or a block of a stream is learned

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

    def __setstate__(self, state: dict[str, Any]) -> None:
        join()  # what was pickled is an estimator where it arrives
        super().__setstate__(state)

    # ---- options

    @classmethod
    def option_names(cls) -> list[str]:
        """Give the names of the options, in their order."""
        return [name for name in signature(cls.__init__).parameters if name != "self"]

    def options(self) -> dict[str, Any]:
        """Give the options by name."""
        return {name: getattr(self, name) for name in self.option_names()}

    def check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or learned."""
        raise NotImplementedError

    # ---- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on a data set; warn if the answer is not as good as was asked for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples; float arrays in C order and CSR matrices are used without a copy.
        y : array-like of shape (n_samples,)
            The labels, of any hashable type; of two classes for a `HardMarginSVM`.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A factor of the hinge loss of each sample. Of a hard margin, samples of weight 0 are
            left out, and all others count alike.

        Returns
        -------
        self : learner
            The learner itself.

        Raises
        ------
        InseparableError
            By a `HardMarginSVM`, if no hyperplane separates the classes; it carries the proof.
        """
        self.train(X, y, sample_weight)
        self.warn()
        return self

    def train(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn as `fit` does, and leave it to the caller to ask for the `complaint`."""
        raise NotImplementedError

    def complaint(self) -> str | None:
        """Say in what the answer falls short of what was asked for, and what to do; None if not."""
        raise NotImplementedError

    def warn(self) -> None:
        """Warn of the complaint, if there is one, on the line of the caller."""
        complaint = self.complaint()
        if complaint is not None:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(complaint, ConvergenceWarning, stacklevel=levels_inside() + 1)

    @property
    def is_fitted(self) -> bool:
        """Whether the learner has seen examples."""
        raise NotImplementedError

    def check_fitted(self) -> None:
        """Refuse to answer for a learner that has seen nothing yet."""
        if not self.is_fitted:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("the learner has seen no examples yet; call fit first")

    # ---- answering

    def _scores(self, matrix: Matrix) -> np.ndarray:
        """Give the score of each row, or one for each of more than two classes."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute the scores, positive for ``classes_[1]``, or one for each class.

        With voted output, the balance of the votes, between -1 and 1, or the fraction of the votes
        for each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores.
        """
        self.check_fitted()
        return self._scores(self._take(X))

    def answers(self, scores: np.ndarray) -> np.ndarray:
        """Give the labels that scores stand for: of tied classes, the first."""
        places = scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(np.intp)
        labels: np.ndarray = self.classes_[places % self.classes_.size]
        return labels

    def is_unsure(self, scores: np.ndarray) -> np.ndarray:
        """Tell for each row whether its scores mean *I don't know*: 0, or a tie of classes."""
        if scores.ndim == 1:
            return np.asarray(scores == 0)
        on_top = scores == scores.max(axis=1, keepdims=True)
        return np.asarray(np.count_nonzero(on_top, axis=1) > 1)

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels; where the score is 0, or classes tie, the first of them.
        """
        return self.answers(self.decision_function(X))

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one example.

        Parameters
        ----------
        x : dict, pair of arrays, array-like or sparse row
            One example: a dict from column (number or name) to value, a pair (columns, values), an
            array or a sparse row.

        Returns
        -------
        label or None
            None for *I don't know*: a score of 0, a tie of classes, one inside the band of learners
            that have the option `unsure`, or nothing learned yet.
        """
        if not self.is_fitted:
            return None
        row = self._reader.read_known(x)
        width = max(self._reader.check(row), self.n_features_in_)
        scores = self._scores(as_one_row_matrix(row, width))
        if self.is_unsure(scores)[0] or (self.classes_.size == 1 and scores[0] > 0):
            return None
        return self.answers(scores).tolist()[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            The true labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples.

        Returns
        -------
        float
            The fraction of samples, or of their weights, that are classified correctly.
        """
        answers = self.predict(X).tolist()
        labels = as_labels(y, len(answers)).tolist()
        right = [answer == label for answer, label in zip(answers, labels, strict=True)]
        weights = None if sample_weight is None else some_weights(sample_weight, len(right))
        return float(np.average(right, weights=weights))

    # ---- columns

    def _adopt_columns(self, X: Any, matrix: Matrix) -> None:
        """Make the columns of X, which is held as a matrix, and their names the learner's."""
        if column_names(X) is not None:
            self._compare_frame(X, reset=True)
        self.n_features_in_ = matrix.shape[1]
        self.columns_ = columns_of(X)
        names = names_of(X)
        self._name_columns(names)
        self._reader = RowReader(matrix.shape[1], names)

    def _name_columns(self, names: Iterable[str] | None) -> None:
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _adopt_names(self, new: list[str]) -> None:
        """Let a stream know names that it has met."""
        if new:
            self._reader.adopt(new)
            self.feature_names_in_ = self._reader.names

    def _take(self, X: Any, new: Iterable[str] = ()) -> Matrix:
        """Take rows of the columns that the learner knows, or of any if they are open.

        That a frame is another one is told before what is wrong with its numbers. Where a stream
        knows columns by name, they are found by it, and so are those that are new.
        """
        is_frame = column_names(X) is not None
        if is_frame and self._reader.width is not None:
            self._compare_frame(X, reset=False)
        matrix = as_matrix(X)
        if self._reader.width is not None:
            self._check_columns(X, matrix, is_frame)
        if self._reader.names_grow:
            return self._reader.arranged(matrix, names_of(X), new)
        return matrix

    def _compare_frame(self, X: Any, *, reset: bool) -> None:
        """Take note of the columns of a frame, or require them, in scikit-learn's words."""
        from sklearn.utils.validation import validate_data

        join()
        refuse_disorder(column_names(X) or [])
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except (TypeError, ValueError) as error:  # the former for names of which some are no text
            other = str(error).startswith("The feature names should match")
            raise InputError(f"{error}{PICK if other else ''}") from error

    def _check_columns(self, X: Any, matrix: Matrix, is_frame: bool) -> None:
        """Require the number of columns, and what was hashed to them; names that are known, too."""
        name, width = type(self).__name__, self.n_features_in_
        if matrix.shape[1] != width:
            raise InputError(
                f"X has {matrix.shape[1]} features, but {name} is expecting {width} features as "
                "input"
            )
        known, own = columns_of(X), self.columns_
        wanted = getattr(self, "feature_names_in_", None)
        if known is None and own is None:  # names that a file gave are not asked of arrays
            if wanted is not None and not is_frame:
                warnings.warn(
                    f"X does not have valid feature names, but {name} was fitted with feature "
                    "names",
                    UserWarning,
                    stacklevel=levels_inside() + 1,
                )
            return
        if known is not None and own is not None and known.hashing != own.hashing:
            raise InputError(
                f"X has {known.spoken()}, but the learner was fitted on {own.spoken()}; give it "
                "rows that were made in the same way"
            )
        _check_names(names_of(X), wanted)

    # ---- among scikit-learn's estimators

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.many_classes
        return tags

    def expected_failed_checks(self) -> dict[str, str]:
        """Name the checks of scikit-learn that cannot pass.

        They are for the argument of that name of scikit-learn's ``check_estimator``, which then
        passes.

        Returns
        -------
        dict of str to str
            The reason for each check.

        Examples
        --------
        >>> import rosenblatt as rb
        >>> sorted(rb.KernelPerceptron().expected_failed_checks())  # doctest: +NORMALIZE_WHITESPACE
        ['check_sample_weight_equivalence_on_dense_data',
         'check_sample_weight_equivalence_on_sparse_data']
        """
        from rosenblatt.learners.checks import expected_failed_checks

        return expected_failed_checks(type(self).__name__, self.options())


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


def in_turn(learn: Callable[Concatenate[L, P], T]) -> Callable[Concatenate[L, P], T]:
    """Let one thread at a time learn."""

    @wraps(learn)
    def alone(learner: L, /, *given: P.args, **options: P.kwargs) -> T:
        with learner._lock:
            return learn(learner, *given, **options)

    return alone


def _check_names(found: tuple[str, ...] | None, wanted: np.ndarray | None) -> None:
    if found is None or wanted is None or found == tuple(wanted):
        return
    pairs = enumerate(zip(found, wanted, strict=True))
    place = next(j for j, (name, own) in pairs if name != own)
    raise InputError(
        f"column {place} of X is {found[place]!r}, but the learner was fitted with "
        f"{wanted[place]!r} there; put the columns in its order, or read the table with "
        "like=learner"
    )


@cache
def _kinds(learner: type[Learner]) -> dict[str, Any]:
    parameters = signature(learner.__init__).parameters.values()
    return {option.name: option.kind for option in parameters}


def _check_named(learner: type[Learner], given: int, options: dict[str, Any]) -> None:
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
