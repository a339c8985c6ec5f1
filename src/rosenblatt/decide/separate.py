"""`separate`: can a hyperplane tell two classes apart? With a proof of the answer (theory D9)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

import numpy as np
from scipy import sparse

from rosenblatt.certificates import (
    Certificate,
    Data,
    Inseparability,
    NonSeparability,
    Number,
    Separator,
)
from rosenblatt.check.subjects import Labelled
from rosenblatt.check.verification import proven
from rosenblatt.checker import Refused
from rosenblatt.decide.answers import UNPROVEN, Clock, OutOfTimeError, checked_seconds
from rosenblatt.decide.blame import Design
from rosenblatt.decide.equals import contradictions, first_of_equals, without_zeros
from rosenblatt.decide.faces import FaceSearch
from rosenblatt.decide.floats import any_point
from rosenblatt.decide.newton import by_newton
from rosenblatt.decide.separation import INSEPARABLE, SEPARABLE, UNDECIDED, WEAKLY, Separation
from rosenblatt.decide.signed import SignedRows, floats_of, nearest_float
from rosenblatt.decide.stumps import Stumps, stumps
from rosenblatt.decimals import SparseDecimals, marked
from rosenblatt.errors import InputError
from rosenblatt.exact.numbers import (
    exact_dot,
    exact_matrix,
    exact_row,
    is_exact,
    root_rounded_up,
    rounded_down,
    whole,
)
from rosenblatt.exact.products import signs_of_products, smallest
from rosenblatt.exact.spans import orthogonal
from rosenblatt.labels import as_labels, as_objects, as_signs, distinct, two_classes
from rosenblatt.matrices import Matrix, check_finite, radius
from rosenblatt.memory import DECISION_BYTES, check_columns
from rosenblatt.methods.relaxation import relaxed
from rosenblatt.names import names_of
from rosenblatt.pauses import pausing

# Passes are cheap beside a linear program: some hundred, as long as they read so many entries.
FEW_PASSES, MANY_PASSES, PASS_ENTRIES = 12, 200, 5 * 10**7
AT_ONCE = 2 * 10**7  # rows times squared coordinates that take no longer than many passes
WIDE = 500  # coordinates
# Newton's method pays from so many columns on, up to so much work.
NEWTON_COLUMNS, NEWTON_WORK = 50, 4 * 10**9
TALL = 64  # rows for each coordinate, beyond which a part of them tells most
NEWTON_SHARE = 0.25  # of the entries that are not zero, at least
FEW_ROWS = 8  # for each of so many coordinates


@overload
def separate(
    X: Any, y: Any, *, fit_intercept: bool = ..., max_seconds: float | None = ..., many: None = None
) -> Separation: ...


@overload
def separate(
    X: Any, y: Any, *, fit_intercept: bool = ..., max_seconds: float | None = ..., many: str
) -> dict[Any, Separation]: ...


def separate(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    many: str | None = None,
) -> Any:
    """Decide whether a hyperplane separates two classes, and prove the answer.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples; also a data frame, or nested lists of Python integers and fractions. Nothing
        is rounded.
    y : array-like of shape (n_samples,)
        The labels.
    fit_intercept : bool, default=True
        Whether hyperplanes may have an intercept; if not, they pass through the origin.
    max_seconds : float or None, default=None
        The time limit, after which the verdict is "undecided", as it is after Ctrl-C.
    many : {"pairs", "rest"} or None, default=None
        For more than two classes: ``"pairs"`` decides each pair of classes, ``"rest"`` each class
        against all others.

    Returns
    -------
    Separation or dict of Separation
        A dict if `many` is given: by pair of labels, or by label. Each certificate in it holds for
        the whole of X and y.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> found.verdict, found.rows.tolist()
    ('inseparable', [0, 1, 2, 3])
    >>> rb.verify(found.certificate, [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).ok
    True
    """
    clock = Clock(checked_seconds(max_seconds))
    try:
        with pausing(clock.left):
            matrix, names = exact_matrix(X), names_of(X) or ()
    except OutOfTimeError:
        return _all_unknown(as_labels(y, len(y)), many, clock)
    check_columns(matrix.shape[1], DECISION_BYTES, "a decision about")
    if not is_exact(matrix):
        check_finite(matrix)
    labels = as_labels(y, matrix.shape[0])
    if many is None:
        classes = two_classes_or_advice(labels)
        found = decide(matrix, as_signs(labels, classes), classes, fit_intercept, clock)
        return replace(found, names=names)
    if many not in ("pairs", "rest"):
        raise InputError(f"many must be None, 'pairs' or 'rest', got {many!r}")
    classes = distinct(labels)
    if classes.size < 2:
        two_classes(labels)  # which says what is wrong
    each = _pairs if many == "pairs" else _rest
    answers = each(matrix, labels, classes, fit_intercept, clock)
    return {label: replace(answer, names=names) for label, answer in answers.items()}


def _all_unknown(labels: np.ndarray, many: str | None, clock: Clock) -> Any:
    """Answer when the time was over before the numbers had been looked at."""
    if many is None:
        return _unknown(two_classes_or_advice(labels).tolist(), clock)
    classes = distinct(labels).tolist()
    if many == "pairs":
        return {pair: _unknown(pair, clock) for pair in itertools.combinations(classes, 2)}
    return {label: _unknown((f"not {label}", label), clock) for label in classes}


def _unknown(classes: Sequence[Any], clock: Clock) -> Separation:
    """Answer a question that there is no time for."""
    first, second = classes
    ends, none = (-math.inf, math.inf), np.zeros(0, np.int64)
    return Separation(
        UNDECIDED,
        None,
        None,
        0.0,
        ends,
        None,
        none,
        (first, second),
        stop=clock.why,
        seconds=clock.elapsed,
    )


def two_classes_or_advice(labels: np.ndarray) -> np.ndarray:
    """Give the two classes; if there are more, say how to go about them."""
    count = distinct(labels).size
    if count > 2 and not (labels.dtype.kind == "f" and np.any(labels != np.floor(labels))):
        raise InputError(
            f"separate decides about two classes, got {count}; give many='pairs' to decide each "
            "pair of them, or many='rest' for each against the others"
        )
    return two_classes(labels)


def _pairs(
    X: Matrix, labels: np.ndarray, classes: np.ndarray, fit_intercept: bool, clock: Clock
) -> dict[tuple[Any, Any], Separation]:
    places = {label: k for k, label in enumerate(classes.tolist())}
    codes = np.array([places[label] for label in labels.tolist()])
    found = {}
    for a, b in itertools.combinations(range(classes.size), 2):
        rows, pair = np.flatnonzero((codes == a) | (codes == b)), classes[[a, b]]
        first, second = pair.tolist()
        if clock.is_over:
            found[first, second] = _unknown((first, second), clock)
            continue
        signs = as_signs(labels[rows], pair)
        answer = decide(X[rows], signs, pair, fit_intercept, clock, "left out")
        design = answer.design and replace(answer.design, X=X, chosen=rows)  # without the copy
        found[first, second] = replace(answer, rows=rows[answer.rows], design=design)
    return found


def _rest(
    X: Matrix, labels: np.ndarray, classes: np.ndarray, fit_intercept: bool, clock: Clock
) -> dict[Any, Separation]:
    found = {}
    for label in classes.tolist():
        if clock.is_over:
            found[label] = _unknown((f"not {label}", label), clock)
            continue
        signs = np.array([1 if other == label else -1 for other in labels.tolist()], np.int8)
        names = as_objects([f"not {label}", label])
        found[label] = decide(X, signs, names, fit_intercept, clock, "negative")
    return found


def decide(
    X: Matrix,
    signs: np.ndarray,
    classes: np.ndarray,
    fit_intercept: bool,
    clock: Clock,
    others: str | None = None,
) -> Separation:
    """Decide about rows that were checked, in what is left of the time.

    The certificate says what becomes of rows of `others`, if there are more than two classes.
    """
    problem = _Problem(X, signs, classes, bool(fit_intercept), clock, others)
    try:
        with pausing(clock.left):
            return problem.decide()
    except (OutOfTimeError, KeyboardInterrupt) as ended:
        return problem.undecided(clock.stopped_by(ended))


# Makes a negative quotient by a norm that is rounded up a lower bound.
OUTWARDS = Fraction(1_000_001, 1_000_000)


Tried = tuple[list[Number] | None, np.ndarray]  # a point that separates, and hints
FULL, SMALL = 4, 2**20  # sparse rows up to this size with an entry in four are no longer sparse


def as_dense_if_full(X: Matrix) -> Matrix:
    """Give sparse rows that are small and nearly full as an array, which is quicker to look at."""
    cells = X.shape[0] * X.shape[1]
    if not sparse.issparse(X) or cells > min(SMALL, FULL * X.nnz):
        return X
    dense = X.toarray()
    return marked(dense, X.written) if isinstance(X, SparseDecimals) else dense


class _Problem:
    """One question, and what is known of its answer."""

    def __init__(
        self,
        X: Matrix,
        signs: np.ndarray,
        classes: np.ndarray,
        lifted: bool,
        clock: Clock,
        others: str | None,
    ) -> None:
        self.X, self.signs, self.lifted, self.clock = X, signs, lifted, clock
        self.classes, self.others = tuple(classes.tolist()), others
        self.cone = SignedRows(as_dense_if_full(X), signs, int(lifted))
        self.lower, self.upper = -math.inf, math.inf
        self.known: tuple[list[Number], float] | None = None
        self.clashes: list[dict[int, Fraction]] = []
        self.basis = np.zeros(0, np.int64)
        self.tried: list[Number] | None = None
        self.steps: np.ndarray | None = None

    def decide(self) -> Separation:
        """Try the simple ways first, then decide."""
        self.clashes = self._clashes()
        hints = np.zeros(self.cone.size)
        if not self.clashes:
            point, hints = self._by_passes(hints)
            if point is not None:
                return self._separable(point)
        settled = stumps(self.cone, self.clock)
        if not settled.left.size:
            return self._separable(self._shorter(settled.extended(None)))
        core, hints = settled.core(), hints[settled.left]
        for simple in () if self.clashes else (self._by_newton, self._of_wide_rows):
            w, hints = simple(core, hints)
            point = None if w is None else self._confirmed(settled.extended(core.unscaled(w)))
            if point is not None:
                return self._separable(point)
        return self._by_face(settled, core, hints)

    def _by_face(self, settled: Stumps, core: SignedRows, hints: np.ndarray) -> Separation:
        """Decide by the face of the rows that single columns have left."""
        search, names = FaceSearch(core, hints, self.clock), settled.left
        clashing = [i for pair in self.clashes for i in pair]
        search.take(np.searchsorted(names, np.array(clashing, np.int64)))
        face = search.face()
        point = face.point
        if settled.rounds:
            point = settled.extended(point)
        if not face.weights:
            assert point is not None
            return self._separable(self._shorter(point))
        few = face.weights if point is None else search.circuit(face)
        few = {int(names[i]): weight for i, weight in few.items()}
        self.basis = names[face.basis]
        if point is None:
            return self._inseparable(few)
        return self._weakly(point, self.clashes[0] if self.clashes else few)

    def _by_newton(self, core: SignedRows, hints: np.ndarray) -> Tried:
        """Try Newton's method, which is quick where products of matrices are."""
        n, d = core.size, core.dimension
        suits = d >= NEWTON_COLUMNS and n <= TALL * d and n * d**2 <= NEWTON_WORK
        if not suits or core.entries < NEWTON_SHARE * n * d:
            return None, hints
        rows = core.scaled(np.arange(n))
        rows = (rows.toarray() if sparse.issparse(rows) else rows) / core.norms[:, None]
        found = by_newton(rows, self.clock.left)
        return found.w.tolist() if found.losses.max() < 1 else None, found.losses

    def _of_wide_rows(self, core: SignedRows, hints: np.ndarray) -> Tried:
        """Try a program without an objective, which is quick where there are many columns."""
        wide = core.dimension > WIDE and core.size < FEW_ROWS * core.dimension
        if not wide or not sparse.issparse(core.X):
            return None, hints
        rows = core.scaled(np.arange(core.size))
        w = any_point(sparse.diags(1 / core.norms) @ rows, self.clock.left())
        return None if w is None else w.tolist(), hints

    def _confirmed(self, point: list[Number]) -> list[Number] | None:
        return point if self._least(point) > 0 else None

    def _shorter(self, point: list[Number]) -> list[Number]:
        """Give floats in place of long integers, if they do the same."""
        largest = max(abs(Fraction(value)) for value in point)
        rounded: list[Number] = [float(Fraction(value) / largest) for value in point]
        return rounded if self._least(rounded) > 0 else point

    @cached_property
    def stored(self) -> Matrix:
        """The rows without the zeros that a sparse matrix may store."""
        return self.X if is_exact(self.X) else without_zeros(self.X)

    @cached_property
    def empty(self) -> np.ndarray:
        """Tell which rows are zero, which one proof settles for all."""
        X = self.stored
        if self.lifted:
            return np.zeros(self.cone.size, bool)
        filled = np.diff(X.indptr) if sparse.issparse(X) else (X != 0).any(axis=1)
        return np.asarray(filled == 0)

    def _clashes(self) -> list[dict[int, Fraction]]:
        """Find rows that are zero, and rows that also occur in the other class."""
        found = [{int(i): Fraction(1)} for i in np.flatnonzero(self.empty)[:1]]
        first = first_of_equals(self.stored)
        twins = contradictions(self.signs, first)[: 4 * self.cone.dimension]
        pairs = {int(first[i]): int(i) for i in twins if not self.empty[i]}
        half = Fraction(1, 2)
        return found + [{one: half, other: half} for one, other in pairs.items()]

    def _by_passes(self, hints: np.ndarray) -> Tried:
        """Make some passes; give a point if it separates, and how hard each row was."""
        largest = 0.0 if is_exact(self.X) else radius(self.X)
        if not 1e-100 < largest < 1e100:
            return None, hints
        # A power of two keeps the weights of whole numbers whole, in this unit at least.
        lift = 2.0 ** (round(math.log2(largest)) - 2) if self.lifted else 0.0
        n, d = self.cone.size, self.cone.dimension
        passes = max(FEW_PASSES, min(MANY_PASSES, PASS_ENTRIES // max(1, self.cone.entries)))
        if n * d**2 <= AT_ONCE or n > TALL * d:
            passes = FEW_PASSES
        found = relaxed(self.X, self.signs, lift, passes, self.clock.left)
        self.steps = found.steps
        point: list[Number] = found.w[:-1].tolist()
        if self.lifted:
            point.append(float(found.w[-1]) * lift)
        self.tried = point
        wrong = found.wrong or self._least(point) <= 0
        return None if wrong else point, found.steps

    def _least(self, point: list[Number]) -> float:
        """Give the smallest z·w, rounded down; kept, because the margin asks for it again."""
        if self.known is None or self.known[0] is not point:
            self.known = point, smallest(self.X, self.signs, int(self.lifted), point)[0]
        return self.known[1]

    def _signs(self, point: list[Number]) -> np.ndarray:
        return signs_of_products(self.X, self.signs, int(self.lifted), point)

    def _enclose_by_nearest(self, products: np.ndarray) -> None:
        """Bound every margin by half the distance of two rows, or by the norm of one."""
        sides = (self.signs > 0, self.signs < 0) if self.lifted else (self.signs != 0,)
        rows = [int(np.flatnonzero(side)[np.argmin(products[side])]) for side in sides]
        total: dict[int, Fraction] = {}
        for i in rows:
            for j, value in exact_row(self.X, i):
                total[j] = total.get(j, Fraction(0)) + int(self.signs[i]) * Fraction(value)
        length = norm_above(list(total.values()) or [Fraction(0)])
        self.upper = min(self.upper, nearest_float(length) / len(rows) * (1 + 1e-15))

    def _enclose_above(self, steps: np.ndarray) -> None:
        """Bound every margin: half the distance of two points of the hulls, or one's norm."""
        weights = steps.copy()
        if not np.isfinite(weights).all():
            return
        for side in (self.signs > 0, self.signs < 0) if self.lifted else (self.signs != 0,):
            if not weights[side].any():
                weights[side] = 1.0
            weights[side] /= weights[side].sum() * (2 if self.lifted else 1)
        mean = np.asarray((weights * self.signs) @ self.X).ravel()
        slack = 1 + 4e-16 * (self.cone.size + self.cone.dimension)
        largest = radius(self.X) * (4e-16 * self.cone.size)
        self.upper = min(self.upper, float(np.linalg.norm(mean)) * slack + largest)

    # ---- answers

    def _least_exactly(self, point: list[Number]) -> Fraction:
        """Give the smallest z·w where it is below all floats."""
        weights, rows = whole(point), SignedRows(self.X, self.signs, int(self.lifted))
        return min(exact_dot(rows.row(i), weights) for i in range(rows.size))

    def _separable(self, point: list[Number]) -> Separation:
        least: Number = self._least(point) or self._least_exactly(point)
        if least <= 0:  # let no verdict out that the data themselves do not bear out
            return self.undecided(UNPROVEN)
        exact = Fraction(least) / Fraction(norm_above(point[: self.X.shape[1]]))
        margin = rounded_down(exact)
        certificate = Separator(
            data=self._data(),
            classes=self.classes,
            intercept=self.lifted,
            others=self.others,
            w=tuple(point),
            margin=margin or exact,
        )
        return self._answer(SEPARABLE, point, margin, certificate, self._nearest_rows(point))

    def _nearest_rows(self, point: list[Number]) -> np.ndarray:
        products = self.cone.products_with(self.cone.nearby(point))
        self._enclose_by_nearest(products)
        least = products.min()
        return np.flatnonzero(products <= least + 1e-9 * abs(least))

    def _weakly(self, point: list[Number], few: dict[int, Fraction]) -> Separation:
        self.lower, self.upper = 0.0, 0.0
        on = np.flatnonzero(self._signs(point) == 0)
        certificate = NonSeparability(**self._proof(few), w=tuple(point))
        return self._checked(self._answer(WEAKLY, point, 0.0, certificate, on))

    def _inseparable(self, weights: dict[int, Fraction]) -> Separation:
        self.lower, self.upper = 0.0, 0.0
        used = set(self.cone.used.tolist())
        unused = tuple(j for j in range(self.cone.dimension) if j not in used)
        full = self.basis.size == len(used)
        others = () if full else tuple(map(tuple, self._complement(self.basis)))
        certificate = Inseparability(**self._proof(weights), complement=others, unused=unused)
        named = np.array(sorted(weights), np.int64)
        return self._checked(self._answer(INSEPARABLE, None, 0.0, certificate, named))

    def _complement(self, basis: np.ndarray) -> list[list[int]]:
        """Give independent vectors, 0 where unused, that are orthogonal to rows."""
        used = self.cone.used
        part = self.cone.integers(basis)[0].part(np.arange(basis.size), used)
        found = []
        for _, vector in orthogonal(part, self.clock.left):
            wide = [0] * self.cone.dimension
            for j, value in zip(used.tolist(), vector, strict=True):
                wide[j] = value
            found.append(self.cone.unscaled_direction(wide))
        return found

    def _proof(self, shares: dict[int, Fraction]) -> dict[str, Any]:
        """Give the fields of a proof by rows that sum to zero."""
        rows, total = sorted(shares), sum(shares.values(), Fraction(0))
        return {
            "data": self._data(),
            "classes": self.classes,
            "intercept": self.lifted,
            "others": self.others,
            "rows": tuple(rows),
            "weights": tuple(shares[i] / total for i in rows),
        }

    def _checked(self, answer: Separation) -> Separation:
        """Let no verdict out whose proof does not pass the check."""
        assert answer.certificate is not None
        try:
            proven(answer.certificate, Labelled.of(self.X, self.signs))
        except Refused:
            return self.undecided(UNPROVEN)
        return answer

    def undecided(self, stop: str) -> Separation:
        """Tell what is known when the search ends."""
        certificate = self._contradiction()
        if certificate is not None:
            self.upper = 0.0
        elif self.steps is not None:
            self._enclose_above(self.steps)
        if self.upper and self.tried is not None and any(self.tried[: self.X.shape[1]]):
            norm = Fraction(norm_above(self.tried[: self.X.shape[1]]))
            self.lower = rounded_down(Fraction(self._least(self.tried)) / norm * OUTWARDS)
        return Separation(
            UNDECIDED,
            None,
            None,
            0.0,
            (self.lower, self.upper),
            certificate,
            np.zeros(0, np.int64),
            self.classes,
            stop=stop,
            design=self._design(),
            seconds=self.clock.elapsed,
        )

    def _contradiction(self) -> NonSeparability | None:
        """Give the proof that nothing separates, if rows that sum to zero were found by now."""
        if not self.clashes:
            return None
        found = NonSeparability(**self._proof(self.clashes[0]))
        with suppress(Refused):
            proven(found, Labelled.of(self.X, self.signs))
            return found
        return None

    def _answer(
        self,
        verdict: str,
        point: list[Number] | None,
        margin: float,
        certificate: Certificate,
        rows: np.ndarray,
    ) -> Separation:
        width = self.X.shape[1]
        coef = intercept = None
        if point is not None:
            coef = floats_of(point[:width])
            intercept = nearest_float(point[width]) if self.lifted else 0.0
        lower = max(self.lower, margin)
        return Separation(
            verdict,
            coef,
            intercept,
            margin,
            (lower, max(lower, self.upper)),
            certificate,
            rows,
            self.classes,
            design=self._design(),
            seconds=self.clock.elapsed,
        )

    def _design(self) -> Design:
        basis = tuple(self.basis.tolist())
        return Design(self.X, self.signs, int(self.lifted), None, basis, self.clock.seconds)

    def _data(self) -> Data:
        return Labelled.of(self.X, self.signs).named()


def norm_above(numbers: Sequence[Number]) -> Number:
    """Give a number that is at least the norm of a vector, and hardly more."""
    if set(map(type, numbers)) == {float}:
        with np.errstate(over="ignore"):
            squares = np.array(numbers, np.float64) ** 2
        if 1e-200 < squares.max() < 1e200:
            # Squares err by 2^-53 of themselves, or vanish below 1e-308; their sum is rounded once.
            total = math.fsum(squares.tolist()) + len(numbers) * 1e-300
            return math.sqrt(total) * (1 + 2.0**-50)
    square = sum((Fraction(value) ** 2 for value in numbers), Fraction(0))
    root = root_rounded_up(square)
    if 0 < root < math.inf:
        return root
    p, q = square.as_integer_ratio()  # beyond all floats
    return Fraction(math.isqrt(p * q) + 1, q)
