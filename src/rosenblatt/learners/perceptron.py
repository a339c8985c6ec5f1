"""`Perceptron`: the online and batch perceptron behind scikit-learn's interface."""

from __future__ import annotations

import sys
from typing import Any

from rosenblatt.learners.front import Front, warn_of_limits
from rosenblatt.learners.plain import PlainPerceptron
from rosenblatt.online.driver import Progress


class Perceptron(Front, PlainPerceptron):
    """Learn a hyperplane from mistakes (theory D1 to D8), or one for each of more classes (D18).

    By default `fit` passes over the data until a pass makes no mistake, which happens after at
    most (R/γ)² mistakes if a hyperplane separates the data with margin γ. With more than two
    classes, each has its own weights, and the largest score wins; a mistake adds the row to those
    of its class and takes it from those of the best wrong class.

    Parameters
    ----------
    order : which example comes next: ``"cycle"`` stored order, ``"shuffle"`` a new order each
        pass, ``"random"`` a random mistaken example, ``"worst"`` the most wrong one, ``"first"``
        from the first example again after every update.
    initial : starting weights: ``"zero"``, ``"unit"`` (all equal, norm 1), ``"random"`` (norm 1),
        or an array of one number for each column, and one more for the intercept if you like; for
        more than two classes, such a row for each.
    eta0 : learning rate. From a zero start it changes no mistake.
    renormalize : scale the weights to norm 1 after every update.
    fit_intercept : learn an affine separator, by lifting each row x to (x, lift).
    intercept : the SVMs' spelling of the same: ``"lifted"`` or ``"none"``; None leaves it to
        ``fit_intercept``.
    lift : the constant of the added coordinate, or ``"radius"`` for the largest norm of a row.
    output : predict with the ``"last"`` weights, the ``"averaged"`` ones, or by the weighted vote
        of all weights held (``"voted"``; keeps the mistaken rows). ``"auto"`` takes the last ones
        if the run converged, since they separate the data, else the averaged ones; after a run
        that stalled, the last ones if they misclassify clearly fewer training rows, as may happen
        where columns differ wildly in scale. Streams (`partial_fit`, `learn_one`) have no end to
        judge by: they answer with the last weights, or go on as the `fit` before them chose.
    max_iter : most passes, None for no limit. A pass is as many looks as there are examples.
    patience : end the run (``Stop.STALLED``) when this many passes made no progress: the weights
        jump about without growing (see `rosenblatt.online.growth`). None to go on up to the other
        limits, as do runs with ``max_iter=None``, with ``renormalize``, and in orders other than
        ``"cycle"`` and ``"shuffle"``.
    max_updates, max_seconds : most updates, most seconds of one `fit`.
    warm_start : let `fit` begin from the weights of the fit before.
    class_weight : None, ``"balanced"`` or a dict from label to a factor of the update.
    random_state : seed of ``order``, ``initial``: a number, None, or a NumPy `RandomState`.
    verbose : 1 to print a line now and then during `fit`.
    tie : what a score of 0 is: ``"mistake"``, whatever the label (*I don't know*), or
        ``"positive"``, as in some textbooks; of two classes only.

    Attributes
    ----------
    coef_, intercept_ : the hyperplane ``x @ coef_[0] + intercept_[0] = 0``; for more than two
        classes, one row for each. With voted output, the last weights; the vote is not a
        hyperplane.
    classes_ : the labels; of two, the second one is on the positive side.
    run_ : what training did, a `Run`. `fit` begins a new one; `partial_fit` and `learn_one` go on.
    n_iter_ : passes of the run.

    Notes
    -----
    *Boundary convention.* A row with score exactly 0 is a mistake while learning; `predict_one`
    answers None there, and `predict`, which must name a class, ``classes_[0]``. With more than two
    classes, the same holds for rows on which several tie for the largest score; `predict` then
    names the first of these, and of equally good wrong classes the first one is corrected.

    *Limits.* `fit` warns (`ConvergenceWarning`) if the run ended at the default `max_iter`, or at
    any limit with the output ``"last"``: these weights still change. Averages and votes that end
    at a limit of yours are what you asked for; ``run_.stop`` tells in any case.

    *Columns of a stream* are those met so far. They may be names: the keys of dicts get columns as
    they come, ``feature_names_in_`` tells them, and names not met yet weigh nothing in an answer.

    *Threads.* Any number may ask at once while none learns; those that learn take turns.

    *Classes of a stream* may appear at any time. When a third one does, the weights w become w for
    the positive and -w for the negative class, which answer all rows as before and are what
    discriminators would have learned (theory F14); a new class begins at 0.

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

    many_classes = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.tie != "positive"
        return tags

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, comparator: Any = None
    ) -> Perceptron:
        """Learn from a data set, from the start (or from the weights held, with `warm_start`).

        Parameters
        ----------
        X : rows; C-order float arrays and CSR matrices are used without a copy.
        y : labels of two or more classes, of any hashable type.
        sample_weight : a factor of the update on each row, from 0 on, times that of its class
            (theory F16). Rows of weight 0 are left out.
        comparator : a vector w*; if given, ``run_.history`` records w·w* and ‖w‖² at each mistake.
            For more than two classes, a row for each.
        """
        watch = _print_progress if self.verbose else None
        self._fit(X, y, sample_weight, comparator=comparator, watch=watch)
        warn_of_limits(self)
        return self


def _print_progress(progress: Progress) -> None:
    print(
        f"pass {progress.passes}: {progress.mistakes} mistakes so far, {progress.seconds:.1f} s",
        file=sys.stderr,
    )
