"""`mistake_bound`: how many mistakes a perceptron can make at most, with a proof (theory F5 to F9).

Problem     the least of Theorem 1, (R/γ)² for any number of looks at a row, and Theorem 2,
            R²‖w‖² + 2·P·Σ max(0, 1 - z·w) for at most P looks at each, over all w; z = s·(x, lift)
Method      Theorem 2 at its least is 2·P times the soft-margin problem with λ = R²/(2P), which its
            dual encloses from below. The w found is then scaled to the length that is best, and
            also to the one that leaves no loss, where it can be: that is Theorem 1.
            For any number of looks, the hard margin.
Rigour      the value is recomputed from the rows, rounded up, and is that of the certificate, which
            has passed the check. It holds whatever the solvers did; they decide how small it is.
Sources     Block 1962; Novikoff 1962; Freund & Schapire 1999; Shalev-Shwartz & Singer 2005
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.bounds.theorem import (
    MistakeBound,
    Runs,
    best_length,
    check_radius,
    lifted,
    theorem_one,
    unit,
)
from rosenblatt.certificates import MistakeProof
from rosenblatt.check.subjects import Labelled
from rosenblatt.check.verification import proven
from rosenblatt.decide.answers import (
    INTERRUPTED,
    REASONS,
    SEPARABLE,
    UNDECIDED,
    Clock,
)
from rosenblatt.decide.separability.separate import decide
from rosenblatt.errors import CertificateError, InputError, InseparableError
from rosenblatt.exact.extremes import Extremes, loss_above, margins_of, spread
from rosenblatt.exact.weights import Weights
from rosenblatt.labels import as_labels, as_signs, two_classes
from rosenblatt.margin.hard import hard_margin
from rosenblatt.margin.problem import Problem, Solution
from rosenblatt.margin.soft import soft_margin
from rosenblatt.matrices import Matrix, as_matrix, check_finite, radius, without_duplicates
from rosenblatt.memory import DECISION_BYTES, check_columns
from rosenblatt.options import from_zero, limit, positive
from rosenblatt.pauses import OutOfTimeError, until
from rosenblatt.rows import UNIT

TIGHTER = (1.0, 1 / 8, 1 / 64)  # what the tolerance is multiplied by, one after the other
SHORTEST = 1e-140  # norm of rows below which their squares lose digits
NUDGES = 14
BY_PASSES = "give rosenblatt.mistake_bound the number of passes (passes=)"


def mistake_bound(
    X: Any,
    y: Any,
    comparator: Any = None,
    fit_intercept: bool = True,
    *,
    lift: float | str = 1.0,
    passes: int | None = 1,
    initial: Any = None,
    eta0: float = 1.0,
    margin: float = 0.0,
    tol: float = 0.005,
    max_seconds: float | None = None,
) -> MistakeBound:
    """Bound the mistakes of any perceptron run on these data, and prove it (theory F5 to F9).

    The intercept is learned as `Perceptron` learns it, as the weight of an added constant feature.
    The bound is for one pass unless you say otherwise, while `Perceptron.fit` makes as many as it
    needs; `bound` of a fitted learner is about the run that it made. Printing the result says
    which runs it is about.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        The labels, of two classes; the second one, in sorted order, is positive.
    comparator : array-like of shape (n_features,) or (n_features + 1,) or None, default=None
        A vector w* to compare with, possibly with an intercept. If it separates the classes,
        Theorem 1 gives the bound, else Theorem 2 with w* scaled to make the bound smallest. None
        finds the best one.
    fit_intercept : bool, default=True
        Whether the run learns an intercept.
    lift : float or "radius", default=1.0
        The constant feature that is added for it; ``"radius"`` is the largest norm of a sample.
    passes : int or None, default=1
        The maximum number of times that a sample is presented, in any order. None for any number:
        then the classes must be separable.
    initial : array-like or None, default=None
        Starting weights of the run; None for zero. From any other start only Theorem 1 gives a
        bound, so that the classes must be separable.
    eta0 : float, default=1.0
        Learning rate of the run.
    margin : float, default=0.0
        That of the learner (theory D23). If it is not 0, updates are bounded, mistakes among them.
    tol : float, default=0.005
        Without a comparator, the bound is at most 1 + 2·tol times the smallest one that any
        comparator gives, if time allows.
    max_seconds : float or None, default=None
        The time limit of the search for a comparator. The bound holds in any case.

    Returns
    -------
    MistakeBound
        The bound, what it is computed from, and its proof.

    See Also
    --------
    Perceptron : Its ``bound`` is about the run that was made.
    max_margin : The margin of Theorem 1.
    verify : Check the certificate.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, w = rb.make_separable(100, 4, margin=0.1, seed=0)
    >>> bound = rb.mistake_bound(X, y, w, fit_intercept=False)
    >>> print(f"{bound.radius:.3f} {bound.margin:.3f} {bound.value:.1f}")
    1.000 0.100 100.0
    >>> y[:3] *= -1  # now nothing separates them
    >>> bound = rb.mistake_bound(X, y)
    >>> bound.theorem, bound.value < 1.01 * bound.minimum
    (2, True)
    >>> bound.run
    'one pass in any order, from zero, with the intercept as a lifted coordinate of 1'
    >>> rb.verify(bound.certificate, X, y).ok
    True
    """
    X = as_matrix(X)
    check_columns(X.shape[1], DECISION_BYTES, "a bound for")
    check_finite(X)
    X = without_duplicates(X)
    labels = as_labels(y, X.shape[0])
    classes = two_classes(labels)
    constant = _checked_lift(lift, X) if fit_intercept else 0.0
    start = np.zeros(X.shape[1]) if initial is None else initial
    runs = Runs(
        constant,
        lifted(start, X.shape[1], constant, name="initial"),
        positive("eta0", eta0),
        passes=limit("passes", passes),
        margin=from_zero("margin", margin),
    )
    clock = Clock.of(max_seconds)
    problem = BoundedRuns(X, as_signs(labels, classes), classes, runs, positive("tol", tol), clock)
    return problem.bound(comparator)


def _checked_lift(lift: Any, X: Matrix) -> float:
    if not isinstance(lift, str):
        return positive("lift", lift)
    if lift != "radius":
        raise InputError(f"lift must be a positive number or 'radius', got {lift!r}")
    return radius(X) or 1.0


@dataclass(frozen=True)
class BoundedRuns:
    """Examples that were taken and checked, and the runs on them that a bound is for."""

    X: Matrix
    signs: np.ndarray
    classes: np.ndarray
    runs: Runs
    tol: float = 0.005
    clock: Clock = field(default_factory=Clock)

    def bound(self, comparator: Any = None) -> MistakeBound:
        """Give the bound by a comparator, or the least one."""
        runs = self.runs
        if comparator is not None:
            found = self._by(unit(lifted(comparator, self.X.shape[1], runs.lift)))
        elif runs.passes is None or not runs.from_zero:
            found = self._widest()
        else:
            found = self._least()
        return self._proved(found) if self._is_plain else found

    @property
    def _is_plain(self) -> bool:
        """Whether there are certificates for such runs."""
        return self.runs.from_zero and not (self.runs.weighted or self.runs.margin)

    # ---- a comparator that is given

    def _by(self, direction: np.ndarray) -> MistakeBound:
        longest, margin, where, _ = self._spread(direction)
        if margin > 0:
            return self._theorem_one(direction)
        if self.runs.passes is None or not self.runs.from_zero:
            advice = (
                BY_PASSES
                if self.runs.from_zero
                else "Theorem 2, which does without, needs a start from zero"
            )
            raise InputError(
                f"the comparator leaves row {where} on the wrong side or on its boundary (margin "
                f"{margin:.3g}), and Theorem 1 needs one that separates the data; {advice}"
            )
        check_radius(longest)
        return self._theorem_two(direction, longest, margin)

    # ---- the least bound in some passes

    def _least(self) -> MistakeBound:
        """Minimise Theorem 2 over all w, and look what is left of Theorem 1 there."""
        nothing = np.zeros(self.X.shape[1] + 1)
        longest = self._spread(nothing).radius
        check_radius(longest)
        if longest < SHORTEST:
            raise InputError(
                "the rows are zero, or too short for their squares; multiply X by a constant"
            )
        best, least, found = self._theorem_two(nothing, longest, math.nan), 0.0, None
        if self.clock.seconds is not None and self._is_plain:
            replace(self, X=self.X[:1], signs=self.signs[:1])._compile_proof()
        for tighter in TIGHTER:
            try:
                with until(self._seconds()):  # for loops that are to be compiled
                    found = self._soft_margin(longest, self.tol * tighter, found)
            except OutOfTimeError:
                break
            best = min(best, self._by_direction(self._as_held(found.w), longest), key=_value)
            least = max(least, 2.0 * self._passes * found.dual)
            if best.value <= (1 + 2 * self.tol) * least or self.clock.is_over:
                break
        return replace(best, minimum=min(least, best.value))

    def _soft_margin(self, longest: float, tol: float, near: Solution | None) -> Solution:
        """Minimise half of Theorem 2 over the passes; its dual is a bound from below."""
        X, intercept = self._as_solved()
        lam, lift = self.runs.reach(longest) ** 2 / (2.0 * self._passes), self.runs.lift
        return soft_margin(
            Problem.of(X, self.signs, lam, intercept=intercept, lift=lift),
            tol=tol,
            start=None if near is None else (near.w, near.alphas),
            max_seconds=self._seconds(),
        )

    def _by_direction(self, w: np.ndarray, longest: float) -> MistakeBound:
        """Give the lesser of the bounds that a vector yields by both theorems."""
        if not (np.isfinite(w).all() and w.any()):
            return self._theorem_two(np.zeros(w.size), longest, math.nan)
        direction = unit(w)
        margin = self._spread(direction).margin
        by_loss = self._theorem_two(direction, longest, margin)
        return min(by_loss, self._theorem_one(direction), key=_value) if margin > 0 else by_loss

    # ---- the least bound in any number of passes

    def _widest(self) -> MistakeBound:
        """Look for the widest margin, which makes Theorem 1 least."""
        w = self._separator()
        found = [self._theorem_one(w)] if self._spread(unit(w)).margin > 0 else []
        X, intercept = self._as_solved()
        wide = hard_margin(
            X, self.signs, intercept=intercept, lift=self.runs.lift, max_seconds=self._seconds()
        )
        w = self._as_held(wide.w)
        if np.isfinite(w).all() and w.any() and self._spread(unit(w)).margin > 0:
            found.append(self._theorem_one(w))
        if not found:
            raise InputError(
                "a hyperplane separates these data, but by a margin too small for float64; "
                f"{BY_PASSES}"
            )
        best = min(found, key=_value)
        if not self.runs.from_zero:
            return best
        if self.runs.weighted:
            return best  # another comparator may have a smaller R of F16
        least = (self.runs.reach(best.radius) / self._largest_margin(wide.alphas)) ** 2
        return replace(best, minimum=min(least, best.value))

    def _separator(self) -> np.ndarray:
        """Give a vector that separates the rows, or say that there is none."""
        runs = self.runs
        answer = decide(self.X, self.signs, self.classes, runs.lift > 0, self.clock)
        if answer.stop == INTERRUPTED:
            raise KeyboardInterrupt
        if answer.verdict == UNDECIDED:
            raise InputError(
                "it was not decided whether a hyperplane separates these data, because "
                f"{REASONS[answer.stop]}, or {BY_PASSES}"
            )
        if answer.verdict != SEPARABLE:
            reason = (
                f"no bound holds for any number of passes; {BY_PASSES}"
                if runs.from_zero
                else "only a run from zero has a bound"
            )
            raise InseparableError(
                "no hyperplane separates these data (`rosenblatt separate` proves it), so that "
                f"{reason}",
                answer,
            )
        assert answer.coef is not None
        assert answer.intercept is not None
        added = answer.intercept / runs.lift if runs.lift else 0.0
        return np.append(answer.coef, added)

    def _largest_margin(self, duals: np.ndarray) -> float:
        """Bound every margin by the norm of a mean of the rows, up to rounding."""
        total = float(duals.sum())
        if not 0 < total < math.inf:
            return math.inf
        shares = duals / total * self.signs
        mean = np.asarray(shares @ self.X, np.float64).ravel()
        return float(np.linalg.norm(np.append(mean, shares.sum() * self.runs.lift)))

    # ---- what the solvers see

    def _as_solved(self) -> tuple[Matrix, str]:
        """Give the rows, in place, and the kind of intercept; a copy if rows have weights."""
        runs = self.runs
        if not runs.weighted:
            return self.X, "lifted" if runs.lift else "none"
        factors = runs.weights.astype(self.X.dtype)[:, np.newaxis]
        added = factors * self.X.dtype.type(runs.lift)
        if sparse.issparse(self.X):
            stacked = [self.X.multiply(factors), sparse.csr_matrix(added)]
            return sparse.hstack(stacked, format="csr", dtype=self.X.dtype), "none"
        return np.hstack([self.X * factors, added]), "none"

    def _as_held(self, w: np.ndarray) -> np.ndarray:
        """Give weights that were found as those of the lifted rows."""
        return w[:-1] if self.runs.weighted else w

    def _seconds(self) -> float | None:
        if self.clock.seconds is None:
            return None
        return max(self.clock.seconds - self.clock.elapsed, 1e-3)

    # ---- the theorems, rounded up and proved

    @property
    def _passes(self) -> int:
        assert self.runs.passes is not None
        return self.runs.passes

    def _spread(self, w: np.ndarray) -> Extremes:
        return spread(self.X, self.signs, w, self.runs.lift, self.runs.weights)

    def _theorem_one(self, comparator: np.ndarray) -> MistakeBound:
        return theorem_one(self.X, self.signs, comparator, self.runs)

    def _theorem_two(self, direction: np.ndarray, longest: float, margin: float) -> MistakeBound:
        """Give the bound by the best multiple of a unit vector, or by zero."""
        runs, w, far = self.runs, direction, self.runs.reach(longest)
        if w.any():
            margins = margins_of(self.X, self.signs, w, runs.lift, runs.weights)
            w = w * best_length(margins, far**2, 2.0 * self._passes)
        loss = self._loss(w)
        value = self._above(w, far, 2.0 * self._passes * loss)
        run = runs.described(self._passes)
        return MistakeBound(value, longest, margin, loss, w, run, 2, self._passes)

    def _proved(self, found: MistakeBound) -> MistakeBound:
        """Give the bound with its certificate, whose bound it then is."""
        w = found.comparator if found.theorem == 2 else self._without_loss(found)
        if w is None:
            return found
        value = found.value if found.theorem == 2 else self._above(w, found.radius, 0.0)
        proof = self._proof(w, found.passes, value)
        return found if proof is None else replace(found, value=value, certificate=proof)

    def _compile_proof(self) -> None:
        """Prove something: else a proof would wait for the loops of a search that is given up."""
        nothing = np.zeros(self.X.shape[1] + 1)
        self._proved(self._theorem_two(nothing, self._spread(nothing).radius, math.nan))

    def _without_loss(self, found: MistakeBound) -> np.ndarray | None:
        """Give the shortest multiple of a comparator that leaves no loss to the check either."""
        w = found.comparator / found.margin
        for k in range(NUDGES):
            if not np.isfinite(w).all():
                return None
            if self._loss(w) == 0:
                return w
            w = w * (1 + 2.0**-51 * 8**k)
        return None

    def _loss(self, w: np.ndarray) -> float:
        """Bound the hinge loss from above, as the check does."""
        lifted = Weights.of(w.tolist(), self.X.shape[1], self.runs.lift)
        return loss_above(self.X, self.signs, lifted.floats, 1.0, self.runs.weights)

    def _above(self, w: np.ndarray, longest: float, losses: float) -> float:
        """Give R²‖w‖² and losses, rounded up by as much as the check may round."""
        with np.errstate(over="ignore"):
            product = w * longest  # whose squares are in range where those of w may not be
            square = float(product @ product)
        return (square + losses) * (1 + (4 * self.signs.size + 16 * w.size + 64) * UNIT)

    def _proof(self, w: np.ndarray, passes: int | None, value: float) -> MistakeProof | None:
        """Give the certificate, checked; None if the labels cannot be written in one."""
        data = Labelled(self.X, self.signs)
        try:
            proof = MistakeProof(
                data=data.named(),
                classes=tuple(self.classes.tolist()),
                lift=self.runs.lift,
                w=tuple(w.tolist()),
                passes=passes,
                bound=value,
            )
        except CertificateError:
            return None
        proven(proof, data)
        return proof


def _value(bound: MistakeBound) -> float:
    return bound.value
