"""`KernelPerceptron`: the perceptron in its dual form, behind scikit-learn's interface."""

from __future__ import annotations

from typing import Any, Self

from rosenblatt.errors import InputError
from rosenblatt.learners.front import Front, warn_of_limits
from rosenblatt.learners.kernel_plain import PlainKernelPerceptron
from rosenblatt.learners.perceptron import _print_progress


class KernelPerceptron(Front, PlainKernelPerceptron):
    """Learn Σ_j α_j K(x_j, x) from mistakes, for two or more classes (theory D14, D15, D18).

    The mistakes are stored, and nothing else: the score of x is a sum of kernel values beside them.
    With two classes, α_j is the label's sign times how often x_j was mistaken, times its weight.
    With more, each class has a score, and the largest wins; a mistake adds K(x, ·) to its own class
    and takes it off the best wrong one, of equally good ones the first in ``classes_``.

    Parameters
    ----------
    kernel : ``Linear()``, ``Polynomial(degree, c)``, ``Gaussian(gamma)``, or their names
        ``"linear"``, ``"polynomial:4:1"``, ``"gaussian:0.02"``; a symmetric function that takes
        two blocks of rows (both arrays, or both CSR matrices if X is sparse) and gives the matrix
        of its values, K(x, z) for each row x of the first and z of the second; or
        ``"precomputed"``: X then holds K(x_i, x_j), n × n for `fit`, and for `predict` m × n, the
        columns being the training examples in their order.
    order : which example comes next: ``"cycle"`` stored order, ``"shuffle"`` a new order each
        pass, ``"random"`` a random mistaken example, ``"worst"`` the most wrong one, ``"first"``
        from the first example again after every update.
    fit_intercept : lift each row x to (x, lift) before the kernel: x·z becomes x·z + lift², and
        (c + x·z)^p becomes (c + lift² + x·z)^p. That does nothing for kernels that ignore shifts,
        such as the Gaussian; functions and Gram matrices of yours are taken as they are, too.
    intercept : the SVMs' spelling of the same: ``"lifted"`` or ``"none"``; None leaves it to
        ``fit_intercept``.
    lift : the constant of the added coordinate, or ``"radius"`` for the largest norm of a row.
    output : predict with the ``"last"`` coefficients, the ``"averaged"`` ones, or by the weighted
        vote of all that were held (``"voted"``). ``"auto"`` takes the last ones if the run
        converged, else the averaged ones; with a budget, and in streams, the last ones.
    budget : most examples to store, None for all mistakes. Goes with the last coefficients and the
        orders ``"cycle"`` and ``"shuffle"`` only.
    forget : what makes room when the budget is used up: the ``"oldest"`` example, a ``"random"``
        one (the expected mistakes are at most (L + B·R·U) / ε for every comparator of norm U and
        hinge loss L with R·U <= (1 - ε)·√B), or none: ``"project"`` spreads the new mistake over
        those stored (Projectron).
    max_iter : most passes, None for no limit. A pass is as many looks as there are examples.
    max_updates, max_seconds : most updates, most seconds of one `fit`.
    gram_bytes : keep the Gram matrix of the training set during `fit` if it is no larger, 8n².
    random_state : seed of ``order`` and ``forget``: a number, None, or a NumPy `RandomState`.
    verbose : 1 to print a line now and then during `fit`.

    Attributes
    ----------
    support_ : the stored examples, in the order of their first mistakes: row numbers of the
        training set, or of the stream from its start. With a budget, in no order.
    counts_ : how often each of them was mistaken. Without a budget, their sum is the number
        of mistakes (F11).
    alphas_ : their coefficients, one each, or one for each class.
    classes_ : the labels; of two, the second one has the positive scores.
    run_ : what training did, a `Run`. `fit` begins a new one; `partial_fit` and `learn_one` go on.
    n_iter_ : passes of the run.

    Notes
    -----
    Examples are compared with those stored in blocks, by matrix products; data in single precision
    are multiplied in single precision, and rows whose answer the rounding could change are
    compared again in double precision. The mistakes are those of one example at a time.

    *Boundary convention.* A row with score exactly 0, or with two classes on top, is a mistake
    while learning; `predict_one` answers None there, and `predict` the first of the tied classes.

    *Limits.* `fit` warns (`ConvergenceWarning`) if the run ended at the default `max_iter`, or at
    any limit with the output ``"last"``: these weights still change. Averages and votes that end
    at a limit of yours are what you asked for; ``run_.stop`` tells in any case.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> learner = rb.KernelPerceptron(rb.Polynomial(2, c=1)).fit(X, y)
    >>> learner.predict(X).tolist(), learner.run_.converged
    ([0, 1, 1, 0], True)
    >>> int(learner.counts_.sum()) == learner.run_.mistakes <= learner.bound(X, y).value
    True
    """

    many_classes = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, comparator: Any = None) -> Self:
        """Learn from a data set, from the start.

        Parameters
        ----------
        X : rows; C-order float arrays and CSR matrices are used without a copy.
        y : labels of two or more classes, of any hashable type.
        sample_weight : a factor of the update on each row, from 0 on (theory F16). Rows of weight 0
            are left out.
        comparator : not here, where no history is recorded; `bound` takes one.
        """
        if comparator is not None:
            raise InputError(
                "a kernel run records no history, so that fit takes no comparator; give bound a "
                "fitted KernelPerceptron to compare with"
            )
        self._fit(X, y, sample_weight, watch=_print_progress if self.verbose else None)
        warn_of_limits(self)
        return self
