"""The kernel perceptron itself, without scikit-learn, whose import takes longer than most commands.

The mathematics is in `rosenblatt.kernel`; this module turns what people hand over into rows and
codes of classes, and what was learned into attributes. `KernelPerceptron` documents them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from rosenblatt import options
from rosenblatt.errors import InputError
from rosenblatt.examples import Presented
from rosenblatt.kernel.budget import FORGETTING, Budget
from rosenblatt.kernel.expansion import Expansion
from rosenblatt.kernel.functions import Custom, Kernel, Polynomial, Precomputed, as_kernel
from rosenblatt.kernel.runs import GRAM_BYTES, Manner, fit, once
from rosenblatt.kernel.space import TRIED, Space, check_function, check_gram, check_symmetry
from rosenblatt.kernel.store import dense_pays
from rosenblatt.labels import (
    as_codes,
    as_label,
    as_labels,
    joint_classes,
    one_weight,
    several_classes,
)
from rosenblatt.learners.base import in_turn
from rosenblatt.learners.beginning import OUTPUTS, lift_of, stream_output
from rosenblatt.learners.one_row import RowReader, as_one_row_matrix
from rosenblatt.learners.stream import Journal, StreamLearner
from rosenblatt.margin.bounds import MistakeBound
from rosenblatt.margin.feature_space import mistake_bound
from rosenblatt.matrices import Matrix, as_matrix, check_finite
from rosenblatt.online.driver import ORDERS, Limits, Watch
from rosenblatt.run import Run


class PlainKernelPerceptron(StreamLearner):
    """Learn an expansion in kernels from mistakes; `KernelPerceptron` documents the options."""

    _expansion: Expansion

    def __init__(
        self,
        kernel: Any = "linear",
        *,
        order: str = "cycle",
        fit_intercept: bool = True,
        lift: float | str = 1.0,
        output: str = "auto",
        budget: int | None = None,
        forget: str = "oldest",
        max_iter: int | None = 1000,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        gram_bytes: int = GRAM_BYTES,
        random_state: Any = None,
        verbose: int = 0,
        intercept: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.order = order
        self.fit_intercept = fit_intercept
        self.lift = lift
        self.output = output
        self.budget = budget
        self.forget = forget
        self.max_iter = max_iter
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.gram_bytes = gram_bytes
        self.random_state = random_state
        self.verbose = verbose
        self.intercept = intercept

    # ---- learning

    def _fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, watch: Watch | None = None
    ) -> Self:
        """Learn from a data set, from the start; see `KernelPerceptron.fit`."""
        self._check_options()
        matrix = self._as_given(as_matrix(X))
        labels = as_labels(y, matrix.shape[0])
        classes = several_classes(labels)
        shown = Presented.of(matrix, labels, sample_weight)
        shown.check_classes(classes)
        if isinstance(as_kernel(self.kernel), Precomputed):
            check_finite(matrix)
            check_gram(matrix)
        seed = self._draw_seed()
        output = stream_output(self) if self.budget is not None else self.output
        expansion = self._begin(shown.X, classes.size, seed, output)
        limits = Limits(self.max_iter, self.max_updates, self.max_seconds)
        manner = Manner(self.order, seed, limits, watch, int(self.gram_bytes))
        run = fit(expansion, shown, as_codes(shown.labels, classes), manner)
        expansion.settle(run.converged)
        self._adopt_columns(X, matrix)
        self._hold(expansion, classes, run)
        self._weighted = shown.weighted
        return self

    @in_turn
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Present new examples once, in the order given; classes may appear at any time.

        Parameters
        ----------
        X, y : the new examples. With a precomputed kernel, row i of the t-th call is the example
            whose column comes behind those of all rows given before.
        classes : labels that are known before the examples show them.
        sample_weight : a factor of the update on each row, from 0 on; rows of weight 0 are left
            out, but have their numbers.
        """
        first = not self._is_fitted()
        new = [] if first else self._reader.new_names(X)
        matrix = self._as_given(as_matrix(X) if first else self._take(X, new))
        shown = Presented.of(matrix, as_labels(y, matrix.shape[0]), sample_weight)
        if not shown.labels.size:
            return self
        known = joint_classes(shown.labels, classes, None if first else self.classes_)
        if first:
            self._check_options()
            self._check_stream()
            expansion = self._begin(shown.X, known.size, self._draw_seed(), stream_output(self))
        else:
            expansion = self._prepared(matrix.shape[1], known, shown.labels).copied()
        self._check_numbers(expansion, matrix)
        shown = replace(shown, X=expansion.fitted_to(shown.X))
        run = once(expansion, shown, as_codes(shown.labels, known))
        if first:
            self._adopt_columns(X, matrix)
        self._hold(expansion, known, run, goes_on=True)
        self._weighted |= shown.weighted
        self._adopt_names(new)
        return self

    @in_turn
    def learn_one(self, x: Any, y: Hashable, sample_weight: float | None = None) -> bool:
        """Answer one row, learn its label, and tell whether the answer was a mistake.

        x is a dict from column to value, a (columns, values) pair, an array or a sparse row. A
        learner that has not been fitted learns its columns and classes as they come; columns may
        be numbers from 0 on, or names, which `feature_names_in_` then tells. The weight is a
        factor of the update, from 0 on; a row of weight 0 is left out, and is no mistake.

        Several threads may call it: they take turns.
        """
        weight = 1.0 if sample_weight is None else one_weight(sample_weight)
        if not weight:
            return False
        first = not self._is_fitted()
        begins = first or self._reader.undecided
        reader = RowReader.of_stream(x) if begins else self._reader
        row, new = reader.meet(x)
        needed = reader.check(row, new)
        labels = as_label(y)
        known = joint_classes(labels, None, None if first else self.classes_)
        width = max(needed, 1) if first else max(needed, self.n_features_in_)
        matrix = as_one_row_matrix(row, width)
        if first:
            self._check_options()
            self._check_stream()
            like = self._as_given(self._thin_or_not(matrix))
            expansion = self._begin(like, known.size, self._draw_seed(), stream_output(self))
        else:
            expansion = self._prepared(width, known, labels)
        shown = Presented(matrix, labels, np.array([weight]), 1)
        wrong = self._learn(expansion, shown, as_codes(labels, known))
        self._weighted |= weight != 1.0
        if first:
            self._hold(expansion, known, None)
            self._journal = Journal(None, np.zeros(8))  # which has not seen this row yet
        # A row of kernel values tells how many examples there will be.
        self._reader = RowReader(width) if expansion.space.precomputed else reader
        self._expansion, self.classes_, self.n_features_in_ = expansion, known, width
        self._adopt_names(new)
        if wrong:
            self._missed_one()
        return wrong

    def _thin_or_not(self, matrix: Matrix) -> Matrix:
        """Give a first row as dense as rows like it are best kept."""
        thin = not dense_pays(1, matrix.shape[1], matrix.nnz)
        return matrix if thin else matrix.toarray()

    def _learn(self, expansion: Expansion, shown: Presented, codes: np.ndarray) -> bool:
        self._check_numbers(expansion, shown.X)
        shown = replace(shown, X=expansion.fitted_to(shown.X))
        if expansion.budget is not None:
            return once(expansion, shown, codes).mistakes > 0
        number = np.array([expansion.presented])
        block = expansion.space.block(shown.X, slice(0, 1), number)
        kernel = expansion.space.kernel
        if isinstance(kernel, Custom) and 0 < expansion.size <= TRIED:
            check_symmetry(kernel, block.rows, expansion.store.span().rows)
        wrong = expansion.learn(block, int(codes[0]), float(shown.weights[0]))
        expansion.presented += 1
        return wrong

    # ---- predicting

    def decision_function(self, X: Any) -> np.ndarray:
        """Give the score of each row, positive for ``classes_[1]``; or one for each class.

        With voted output, the balance of the votes, between -1 and 1, or the share of each class.
        """
        self._check_fitted()
        return self._scores(self._as_given(self._take(X)))

    def _scores(self, matrix: Matrix) -> np.ndarray:
        width = matrix.shape[1]
        expansion = self._expansion
        if width > self.n_features_in_:
            expansion = expansion.widened(width)
        found = expansion.scores(expansion.fitted_to(matrix))
        if found.shape[1] > 2:
            return found
        return np.asarray(found[:, 1] - found[:, 0] if expansion.ballots else found[:, 1])

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        """Give the labels that scores stand for: of tied classes, the first."""
        if scores.ndim == 1:
            places = (scores > 0).astype(np.intp) % self.classes_.size
        else:
            places = scores.argmax(axis=1)
        labels: np.ndarray = self.classes_[places]
        return labels

    def _unsure(self, scores: np.ndarray) -> np.ndarray:
        if scores.ndim == 1:
            return np.asarray(scores == 0)
        top = scores.max(axis=1, keepdims=True)
        return np.asarray(np.count_nonzero(scores == top, axis=1) > 1)

    def predict_one(self, x: Any) -> Any:
        """Give the label of one row, or None for *I don't know*: a score of 0, or a tie.

        A learner that has seen nothing yet does not know.
        """
        if not self._is_fitted():
            return None
        try:
            row = self._reader.read(x)
        except KeyError:
            row = self._reader.known(x)
        needed = self._reader.check(row)
        found = self._scores(as_one_row_matrix(row, max(needed, self.n_features_in_)))
        if self._unsure(found)[0] or (self.classes_.size == 1 and found[0] > 0):
            return None
        return self._answers(found).tolist()[0]

    def bound(
        self, X: Any, y: Any, comparator: Any = None, sample_weight: Any = None
    ) -> MistakeBound:
        """Bound the mistakes of a run on these examples, in any order (theory F13, F15, F16).

        X, y and the weights are those of every example that was presented. The comparator is a
        fitted learner of the same kernel and classes whose output, last or averaged, makes no
        mistake on them; this one, if none is given.

        The theorem needs a positive semidefinite kernel, as those of this package are. A function
        that the examples and the stored rows show not to be is refused; that it is on other rows,
        too, is for you to know.
        """
        self._check_fitted()
        if self.budget is not None:
            raise InputError("no theorem bounds this run, which forgets; fit without a budget")
        other = self if comparator is None else comparator
        if not isinstance(other, PlainKernelPerceptron) or not other._is_fitted():
            raise InputError("the comparator must be a fitted kernel perceptron")
        space, given = self._expansion.space, other._expansion
        if (space.kernel, space.lift) != (given.space.kernel, given.space.lift):
            raise InputError("the comparator has another kernel or another lift")
        if given.ballots is not None:
            raise InputError("a vote is no comparator; give a learner of another output")
        if other.classes_.tolist() != self.classes_.tolist():
            raise InputError("the comparator has other classes")
        if space.precomputed:
            raise InputError("the bound needs rows; a precomputed kernel has none")
        matrix = self._as_given(self._take(X))
        self._check_presented(matrix.shape[0])
        shown = Presented.of(matrix, as_labels(y, matrix.shape[0]), sample_weight)
        self._check_weighted(shown)
        known = joint_classes(shown.labels, self.classes_, None)
        shown = replace(shown, X=given.fitted_to(shown.X))
        coefficients = given.coefficients()[:, : given.size]
        codes = as_codes(shown.labels, known)
        return mistake_bound(given.space, shown, codes, given.store, coefficients)

    # ---- what was learned

    @property
    def support_(self) -> np.ndarray:
        """The stored examples, as numbers of rows in the order in which they were given."""
        self._check_fitted()
        return self._expansion.store.span().numbers.copy()

    @property
    def counts_(self) -> np.ndarray:
        """How often each stored example was mistaken: how hard it was (theory D14)."""
        self._check_fitted()
        return self._expansion.counts[: self._expansion.size].copy()

    @property
    def alphas_(self) -> np.ndarray:
        """The coefficients of the stored examples: one each, or one for each class."""
        self._check_fitted()
        alphas = self._expansion.coefficients()[:, : self._expansion.size]
        return alphas[1].copy() if alphas.shape[0] == 2 else alphas.T.copy()

    def _is_fitted(self) -> bool:
        return hasattr(self, "_expansion")

    def _counters(self) -> np.ndarray:
        return self._expansion.tally

    # ---- options

    def _check_options(self) -> None:
        """Refuse options that cannot be used, before anything is read or learned."""
        as_kernel(self.kernel)
        options.one_of("order", self.order, ORDERS)
        options.one_of("output", self.output, OUTPUTS)
        options.one_of("forget", self.forget, FORGETTING)
        if isinstance(self.lift, str):
            options.one_of("lift", self.lift, ["radius"])
        else:
            options.positive("lift", self.lift)
        options.lifts(self.fit_intercept, self.intercept)
        for name in ("max_iter", "max_updates", "budget"):
            options.limit(name, getattr(self, name))
        if self.max_seconds is not None:
            options.positive("max_seconds", self.max_seconds)
        options.from_zero("gram_bytes", self.gram_bytes)
        options.random_numbers(self.random_state)
        self._check_budget()

    def _check_budget(self) -> None:
        if self.budget is None:
            return
        if self.output not in ("auto", "last"):
            raise InputError(
                f"output={self.output!r} needs all mistakes, but a budget forgets some; "
                "use output='last', or no budget"
            )
        if self.order not in ("cycle", "shuffle"):
            raise InputError(
                f"with a budget, examples are presented in the order 'cycle' or 'shuffle', "
                f"not {self.order!r}"
            )

    def _check_stream(self) -> None:
        if self.lift == "radius" and self._lifts(as_kernel(self.kernel)):
            raise InputError(
                "lift='radius' needs all rows beforehand; give a number to learn from a stream"
            )

    def _lifts(self, kernel: Kernel) -> bool:
        lifted = options.lifts(self.fit_intercept, self.intercept)
        return lifted and isinstance(kernel, Polynomial)

    def _draw_seed(self) -> int:
        return int(options.random_numbers(self.random_state).randint(2**31 - 1))

    # ---- keeping

    def _begin(self, matrix: Matrix, classes: int, seed: int, output: str) -> Expansion:
        kernel = as_kernel(self.kernel)
        if isinstance(kernel, Custom):
            check_function(kernel, matrix)
        lift = lift_of(self, matrix) if self._lifts(kernel) else 0.0
        space = Space.around(kernel, lift, matrix)
        budget = None if self.budget is None else Budget.of(int(self.budget), self.forget, seed)
        return Expansion.begin(space, matrix, max(classes, 2), output, budget)

    def _as_given(self, matrix: Matrix) -> Matrix:
        """Give rows as the kernel wants them: Gram matrices are dense."""
        precomputed = isinstance(as_kernel(self.kernel), Precomputed)
        return matrix.toarray() if precomputed and sparse.issparse(matrix) else matrix

    def _check_numbers(self, expansion: Expansion, matrix: Matrix) -> None:
        """Refuse rows of a precomputed kernel that have no column of their own."""
        last = expansion.presented + matrix.shape[0]
        if expansion.space.precomputed and last > matrix.shape[1]:
            raise InputError(
                f"with a precomputed kernel, each example of a stream has its column; example "
                f"{last - 1} has none among {matrix.shape[1]}"
            )

    def _hold(
        self,
        expansion: Expansion,
        classes: np.ndarray,
        run: Run | None,
        *,
        goes_on: bool = False,
    ) -> None:
        """Take over what was learned; until here, nothing of the learner has changed."""
        if goes_on and run is not None:
            self._go_on(run, expansion.tally)
        else:
            self._journal = Journal(run, expansion.tally)
        self._expansion = expansion
        self.classes_ = classes
        if not expansion.space.precomputed:
            self.n_features_in_ = expansion.store.width

    def _open_columns(self) -> None:
        """Let the columns grow from here on, as those of a stream do."""
        self._reader = RowReader(None)

    def _conclude(self, run: Run) -> None:
        """End a stream: its columns are known now, and what is learned later is counted anew."""
        self._hold(self._expansion, self.classes_, run)
        self._reader = RowReader(self.n_features_in_, getattr(self, "feature_names_in_", None))

    def _prepared(self, width: int, classes: np.ndarray, labels: np.ndarray) -> Expansion:
        """Give the expansion as it is for more columns and more classes."""
        expansion = self._expansion
        if width > self.n_features_in_:
            expansion = expansion.widened(width)
        if classes.size > self.classes_.size:
            expansion = _with_classes(expansion, self.classes_, classes, labels)
        return expansion


def _with_classes(
    expansion: Expansion, old: np.ndarray, new: np.ndarray, labels: np.ndarray
) -> Expansion:
    """Give the expansion for more classes.

    The other side of a single class becomes the class that appears next.
    """
    places = {label: place for place, label in enumerate(new.tolist())}
    moved = [places[label] for label in old.tolist()]
    if old.size == 1:
        later = [label for label in labels.tolist() if label not in old.tolist()]
        strangers = [label for label in new.tolist() if label not in old.tolist()]
        moved.append(places[(later or strangers)[0]])
    return expansion.with_classes(np.array(moved), max(new.size, 2))
