"""`cheapest_counts`: the smallest counts in the dual form that separate two classes (theory D12).

Problem     min Σ a_i  subject to  y_i Σ_j a_j y_j K(x_j, x_i) >= 1 for all i, and a >= 0; or, with
            G_ij = y_i y_j K(x_i, x_j), min Σ a subject to G a >= 1
Method      a linear program (HiGHS). For the linear kernel it is given as w = Σ a_i z_i and
            z_i·w >= 1, where that has fewer entries.
Proof       any u >= 0 with Gᵀu <= 1 has Σ u <= Σ a for all such a, by Σ u <= uᵀG a <= Σ a. What the
            solver gives is not trusted: a is divided by the smallest (G a)_i and u by the largest
            (Gᵀu)_i, computed anew, so that both hold but for the rounding of these products.
Infeasible  for a kernel that is an inner product, if and only if the classes are not separable in
            its feature space: a separable problem has a = λ/γ² (theory D10)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from rosenblatt.decide.answers import SEPARABLE, UNDECIDED, Clock, Explained
from rosenblatt.decide.engine.solver import load, run, solver_with
from rosenblatt.decide.equals import contradictions, first_of_equals, without_zeros
from rosenblatt.decide.separability.separate import decide
from rosenblatt.errors import InputError, InseparableError
from rosenblatt.exact.numbers import exact_matrix
from rosenblatt.kernel.functions import (
    Custom,
    Kernel,
    Linear,
    Precomputed,
    as_kernel,
    squared_norms,
)
from rosenblatt.kernel.space import Space, check_function, check_gram
from rosenblatt.labels import as_labels, as_signs, two_classes
from rosenblatt.matrices import Matrix, as_matrix, check_finite, stored, without_duplicates
from rosenblatt.options import flag, positive
from rosenblatt.pauses import OutOfTimeError, pause, pausing

AT_A_TIME = 500  # rows of a Gram matrix between two looks at the clock
MOST_ROWS = 5_000  # whose Gram matrix, with the solver's copies, takes about 2 GiB
DUAL_SIMPLEX, PRIMAL_SIMPLEX = 1, 4  # as HiGHS numbers them
TOO_LARGE = "the kernel's values are too large for float64; divide X by a constant"


@dataclass(frozen=True, eq=False)
class CheapestCounts(Explained):
    """The smallest counts of the dual form, and a lower bound for all counts.

    Attributes
    ----------
    counts : ndarray of shape (n_samples,)
        a >= 0: Σ a_j y_j K(x_j, x) is at least 1 for samples of the second class and at most -1
        for those of the first.
    total : float
        Their sum.
    bound : float
        No such counts have a smaller sum.
    multipliers : ndarray of shape (n_samples,)
        The proof of the bound: u >= 0 with Σ_i u_i y_i y_j K(x_i, x_j) <= 1 for all j, and Σ u the
        bound.
    support : ndarray of int
        The samples with a positive count.
    classes : tuple of two labels
        The second one is positive.
    seconds : float
        The time taken.
    """

    counts: np.ndarray = field(repr=False)
    total: float
    bound: float
    multipliers: np.ndarray = field(repr=False)
    support: np.ndarray = field(repr=False)
    classes: tuple[Any, Any]
    seconds: float

    def __post_init__(self) -> None:
        for array in (self.counts, self.multipliers, self.support):
            array.flags.writeable = False

    @property
    def gap(self) -> float:
        """(total - bound) / total: 0 but for rounding."""
        return (self.total - self.bound) / self.total

    def explain(self) -> str:
        """Explain the result.

        Returns
        -------
        str
            A sentence.
        """
        a, b = self.classes
        return (
            f"Counts that add up to {self.total:.9g}, on {self.support.size:,} of "
            f"{self.counts.size:,} rows, separate the classes {a!r} and {b!r} with scores of at "
            f"least 1; none that do add up to less than {self.bound:.9g}."
        )


def cheapest_counts(
    X: Any,
    y: Any,
    *,
    kernel: Any = "linear",
    fit_intercept: bool = False,
    lift: float = 1.0,
    max_seconds: float | None = None,
) -> CheapestCounts:
    """Find the counts of smallest sum with which the dual form separates two classes (theory D12).

    If there are none, no run of a `KernelPerceptron` with the same kernel and lift (its
    `fit_intercept` is True by default) and without a budget converges; if there are, every run
    with a positive semidefinite kernel does, given time, up to rounding. X may have 5,000 samples,
    or more for a linear kernel with few features.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples; with ``kernel="precomputed"`` the matrix of all K(x_i, x_j).
    y : array-like of shape (n_samples,)
        The labels, of two classes.
    kernel : Linear, Polynomial, Gaussian, str or callable, default="linear"
        A kernel, a function of two blocks of rows that gives a matrix, or a name such as
        ``"linear"``, ``"polynomial:2:1"``, ``"gaussian:0.1"`` and ``"precomputed"``.
    fit_intercept : bool, default=False
        Whether to add a constant feature to the samples, which adds lift² to x·z. As for
        `KernelPerceptron`, this changes neither kernels of differences nor your own functions.
    lift : float, default=1.0
        That constant.
    max_seconds : float or None, default=None
        The time limit; an `InputError` is raised when it is over.

    Returns
    -------
    CheapestCounts
        The counts, their sum, and a lower bound with its proof.

    Raises
    ------
    InseparableError
        If there are none: nothing linear in the features of this kernel separates the classes. For
        the linear kernel it carries the proof of `separate`.

    See Also
    --------
    separate : For hyperplanes, with an exact proof.
    KernelPerceptron : Learns such counts.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> found = rb.cheapest_counts(X, [-1, 1, 1, -1, -1, 1])
    >>> round(found.total, 9), round(found.bound, 9)
    (1.0, 1.0)
    >>> rb.Perceptron(fit_intercept=False).fit(X, [-1, 1, 1, -1, -1, 1]).run_.mistakes
    3
    """
    clock = Clock.of(max_seconds)
    chosen, matrix = as_kernel(kernel), as_matrix(X)
    check_finite(matrix)
    classes = two_classes(as_labels(y, matrix.shape[0]))
    signs = as_signs(as_labels(y, matrix.shape[0]), classes)
    added = flag("fit_intercept", fit_intercept) * positive("lift", lift)
    try:
        with pausing(clock.left):
            problem = _problem(chosen, matrix, signs.astype(np.float64), added)
            found = problem.solve(clock)
            if found is None:
                raise _refusal(chosen, X, signs, classes, bool(fit_intercept), clock)
    except OutOfTimeError:
        raise InputError(
            f"the cheapest counts were not found in max_seconds={max_seconds:g}; allow more "
            "seconds, or give fewer rows"
        ) from None
    return _answer(problem, *found, tuple(classes.tolist()), clock)


# ---- the program, in two forms


class _ByGram:
    """min Σ a subject to G a >= 1, from the matrix G."""

    def __init__(self, gram: np.ndarray, signs: np.ndarray) -> None:
        gram *= signs
        gram *= signs[:, None]
        self.G = gram

    def products(self, a: np.ndarray) -> np.ndarray:
        return np.asarray(self.G @ a)

    def transposed_products(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(self.G.T @ u)

    def solve(self, clock: Clock) -> tuple[np.ndarray, np.ndarray] | None:
        n = self.G.shape[0]
        values = self.G.ravel() / (max(-self.G.min(), self.G.max()) or 1.0)
        clock.left()
        columns = np.tile(np.arange(n, dtype=np.int32), n)
        matrix = sparse.csr_matrix((values, columns, np.arange(0, n * n + 1, n)), (n, n))
        return _solved(matrix, np.ones(n), np.full(n, np.inf), np.ones(n), np.zeros(n), clock)


class _ByWeights:
    """min Σ a subject to Z w >= 1 and w = Zᵀa, from the signed rows Z."""

    def __init__(self, rows: sparse.csr_matrix, signs: np.ndarray) -> None:
        self.Z = sparse.csr_matrix(sparse.diags(signs) @ rows)
        with np.errstate(over="ignore"):
            self.largest = float(squared_norms(self.Z).max())
        if not self.largest < np.inf:
            raise InputError(TOO_LARGE)

    def products(self, a: np.ndarray) -> np.ndarray:
        return np.asarray(self.Z @ (self.Z.T @ a))

    transposed_products = products

    def solve(self, clock: Clock) -> tuple[np.ndarray, np.ndarray] | None:
        n, d = self.Z.shape
        Z = self.Z / (np.sqrt(self.largest) or 1.0)
        matrix = sparse.bmat([[None, Z], [-Z.T, sparse.identity(d)]], format="csr")
        lower = np.append(np.ones(n), np.zeros(d))
        upper = np.append(np.full(n, np.inf), np.zeros(d))
        costs = np.append(np.ones(n), np.zeros(d))
        least = np.append(np.zeros(n), np.full(d, -np.inf))
        found = _solved(matrix, lower, upper, costs, least, clock)
        return found and (found[0][:n], found[1][:n])


def _solved(
    matrix: sparse.csr_matrix | sparse.csc_matrix,
    lower: np.ndarray,
    upper: np.ndarray,
    costs: np.ndarray,
    least: np.ndarray,
    clock: Clock,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Give a point of least cost with lower <= A x <= upper, and multipliers; None if none is."""
    solver = solver_with({"solver": "choose"})
    clock.left()
    load(solver, costs, (least, np.full(costs.size, np.inf)), (lower, upper), matrix)
    for strategy in (DUAL_SIMPLEX, PRIMAL_SIMPLEX):  # where one breaks down, the other may not
        solver.setOptionValue("simplex_strategy", strategy)
        run(solver, clock.left())
        if solver.getModelStatus() != highspy.HighsModelStatus.kNotset:
            break
    status, kinds = solver.getModelStatus(), highspy.HighsModelStatus
    if status in (kinds.kInfeasible, kinds.kUnboundedOrInfeasible):
        return None  # no cost is negative, so that it is not unbounded
    if status != kinds.kOptimal:
        raise InputError(
            f"the cheapest counts were not found ({solver.modelStatusToString(status)}); divide "
            "X by a constant, or leave out rows that are equal but for rounding"
        )
    solution = solver.getSolution()
    return np.array(solution.col_value), np.array(solution.row_dual)


def _problem(kernel: Kernel, X: Matrix, signs: np.ndarray, lift: float) -> _ByGram | _ByWeights:
    n, columns = X.shape
    if isinstance(kernel, Linear) and 2 * (stored(X) + n) + columns < n * n:
        rows = sparse.csr_matrix(X, dtype=np.float64)
        lifted = sparse.hstack([rows, np.full((n, 1), lift)]) if lift else rows
        return _ByWeights(sparse.csr_matrix(lifted), signs)
    if n > MOST_ROWS:
        raise InputError(
            f"the program for {n:,} rows has {n:,} × {n:,} entries; give at most {MOST_ROWS:,} "
            "rows, such as those that a KernelPerceptron keeps"
        )
    return _ByGram(gram_matrix(kernel, X, lift), signs)


def gram_matrix(kernel: Kernel, X: Matrix, lift: float) -> np.ndarray:
    """Give all K(x_i, x_j) of some (lifted) rows in float64, and refuse what is no kernel's."""
    if isinstance(kernel, Precomputed):
        X = X.toarray() if sparse.issparse(X) else X
        check_gram(X)
    if isinstance(kernel, Custom):
        check_function(kernel, X)
    space = Space.around(kernel, lift, X)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = space.block(X, slice(None), np.arange(X.shape[0])).doubled()
        values = np.empty((X.shape[0], X.shape[0]))
        for first in range(0, X.shape[0], AT_A_TIME):
            pause()
            part = slice(first, first + AT_A_TIME)
            values[part] = space.values(rows.picked(part), rows)
            if not np.isfinite(values[part]).all():
                raise InputError(TOO_LARGE)
    return values


# ---- answers


def _answer(
    problem: _ByGram | _ByWeights,
    a: np.ndarray,
    u: np.ndarray,
    classes: tuple[Any, Any],
    clock: Clock,
) -> CheapestCounts:
    """Make both vectors feasible, which proves how good they are."""
    a, u = _cleaned(a), _cleaned(u)
    least, most = problem.products(a).min(), problem.transposed_products(u).max()
    if not least > 0:
        raise InputError(
            "the classes are separable by so little that floats do not find the counts; "
            "rosenblatt.separate decides such data exactly"
        )
    a = a / least
    u = u / most if most > 0 else np.zeros_like(u)
    return CheapestCounts(
        counts=a,
        total=float(a.sum()),
        bound=float(u.sum()),
        multipliers=u,
        support=np.flatnonzero(a),
        classes=classes,
        seconds=clock.elapsed,
    )


def _cleaned(values: np.ndarray) -> np.ndarray:
    """Set to zero what the solver's tolerances left."""
    return np.where(values > 1e-12 * values.max(initial=0.0), values, 0.0)


def _clash(X: Matrix, signs: np.ndarray) -> str | None:
    """Name two equal rows of different classes, if there are such."""
    first = first_of_equals(without_zeros(without_duplicates(X)))
    clashes = contradictions(signs, first)
    if not clashes.size:
        return None
    return (
        f"rows {first[clashes[0]]} and {clashes[0]} are equal but have different labels; leave one "
        "of them out"
    )


def _refusal(
    kernel: Kernel, X: Any, signs: np.ndarray, classes: np.ndarray, lifted: bool, clock: Clock
) -> InputError:
    """Say that nothing separates the classes, with a proof if the kernel is linear."""
    clash = _clash(as_matrix(X), signs)
    if not isinstance(kernel, Linear):
        if clash:
            return InseparableError(f"no counts separate the classes by any kernel: {clash}")
        return InseparableError(
            f"no counts separate the classes by the kernel {kernel}, as far as floats tell; choose "
            "one with more features, such as a higher degree or a larger gamma"
        )
    proof = decide(exact_matrix(X), signs, classes, lifted, clock)
    if proof.verdict == UNDECIDED:
        clock.left()  # which says so if the time is over
    if proof.verdict in (SEPARABLE, UNDECIDED):
        return InputError(
            "the classes are separable by so little, if at all, that floats do not find the "
            "counts; rosenblatt.separate decides such data exactly"
        )
    a, b = (repr(label) for label in proof.classes)
    through = "" if lifted else " through the origin"
    advice = clash or "choose another kernel" + ("" if lifted else ", or allow an intercept")
    return InseparableError(
        f"no counts separate the classes {a} and {b}, because no hyperplane{through} does, as the "
        f"certificate of this error proves ({proof.verdict}); {advice}",
        proof,
    )
