"""`Perceptron`: the online and batch perceptron behind scikit-learn's interface."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from rosenblatt.errors import InputError
from rosenblatt.examples import Matrix
from rosenblatt.learners.one_row import RowReader
from rosenblatt.learners.plain import PlainPerceptron
from rosenblatt.online.driver import Progress
from rosenblatt.run import Stop

LIMITED = (Stop.PASSES, Stop.UPDATES, Stop.SECONDS)


class Perceptron(PlainPerceptron, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a hyperplane from mistakes (theory D1 to D8).

    By default `fit` passes over the data until a pass makes no mistake, which happens after at
    most (R/γ)² mistakes if a hyperplane separates the data with margin γ.

    Parameters
    ----------
    order : which example comes next: ``"cycle"`` stored order, ``"shuffle"`` a new order each
        pass, ``"random"`` a random mistaken example, ``"worst"`` the most wrong one, ``"first"``
        from the first example again after every update.
    initial : starting weights: ``"zero"``, ``"unit"`` (all equal, norm 1), ``"random"`` (norm 1),
        or an array of one number for each column, and one more for the intercept if you like.
    eta0 : learning rate. From a zero start it changes no mistake.
    renormalize : scale the weights to norm 1 after every update.
    fit_intercept : learn an affine separator, by lifting each row x to (x, lift).
    lift : the constant of the added coordinate, or ``"radius"`` for the largest norm of a row.
    output : predict with the ``"last"`` weights, the ``"averaged"`` ones, or by the weighted vote
        of all weights held (``"voted"``; keeps the mistaken rows).
    max_iter : most passes, None for no limit. A pass is as many looks as there are examples.
    max_updates, max_seconds : most updates, most seconds of one `fit`.
    warm_start : let `fit` begin from the weights of the fit before.
    class_weight : None, ``"balanced"`` or a dict from label to a factor of the update.
    random_state : seed of ``order``, ``initial``: a number, None, or a NumPy `RandomState`.
    verbose : 1 to print a line now and then during `fit`.
    tie : what a score of 0 is: ``"mistake"``, whatever the label (*I don't know*), or
        ``"positive"``, as in some textbooks.

    Attributes
    ----------
    coef_, intercept_ : the hyperplane ``x @ coef_[0] + intercept_[0] = 0``. With voted output, the
        last weights; the vote is not a hyperplane.
    classes_ : the two labels; the second one is on the positive side.
    run_ : what training did, a `Run`. `fit` begins a new one; `partial_fit` and `learn_one` go on.
    n_iter_ : passes of the run.

    Notes
    -----
    *Boundary convention.* A row with score exactly 0 is a mistake while learning; `predict_one`
    answers None there, and `predict`, which must name a class, ``classes_[0]``.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(200, 5, margin=0.05, seed=1)
    >>> learner = rb.Perceptron().fit(X, y)
    >>> learner.score(X, y), learner.run_.converged
    (1.0, True)
    >>> learner.run_.mistakes <= learner.bound(X, y, w).value
    True
    >>> print(learner.run_.stop)
    Converged: every example was looked at under the final weights without a mistake.
    """

    def fit(self, X: Any, y: Any, *, comparator: Any = None) -> Perceptron:
        """Learn from a data set, from the start (or from the weights held, with `warm_start`).

        Parameters
        ----------
        X : rows; C-order float arrays and CSR matrices are used without a copy.
        y : labels of two classes, of any hashable type.
        comparator : a vector w*; if given, ``run_.history`` records w·w* and ‖w‖² at each mistake.
        """
        self._fit(X, y, comparator, _print_progress if self.verbose else None)
        if self.run_.stop in LIMITED:
            warnings.warn(str(self.run_.stop), ConvergenceWarning, stacklevel=2)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
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


def _print_progress(progress: Progress) -> None:
    print(
        f"pass {progress.passes}: {progress.mistakes} mistakes so far, {progress.seconds:.1f} s",
        file=sys.stderr,
    )
