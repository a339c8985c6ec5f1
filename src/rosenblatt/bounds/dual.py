"""What an online SVM can cost at most, whatever its window (theory F18).

Bound       max(‖U‖², 1/min b)·(‖w*‖² + 2P·Σ b_i·max(0, 1 - y·(w*·x))), b_i = C·c_i, if each example
            is presented P times at most; ‖U‖² = R² for two classes, 2R² for more
Method      along a direction, the best length of w* is that of a parabola with kinks; without a
            comparator, the soft-margin problem with λ = 1/(2PC) gives the direction
Rigour      every number is rounded so that the bound errs upwards only
Sources     Crammer et al. 2006, Theorem 4, for a window of 1; Shalev-Shwartz & Singer 2007
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosenblatt.bounds.theorem import MistakeBound, best_length, check_radius, unit
from rosenblatt.errors import InputError
from rosenblatt.exact.extremes import loss_above, margins_of, spread
from rosenblatt.margin.problem import Problem
from rosenblatt.margin.soft import soft_margin
from rosenblatt.matrices import Matrix
from rosenblatt.online.perceptron import ALL_ONE
from rosenblatt.rows import UNIT

TOL = 0.005


@dataclass(frozen=True)
class Boxed:
    """Examples, each presented `passes` times at most, with the boxes of their shares.

    `targets` are signs, or codes where there are more than two classes.
    """

    X: Matrix
    targets: np.ndarray
    boxes: np.ndarray
    lift: float
    passes: int

    def bound(self, comparator: np.ndarray | None) -> MistakeBound:
        """Give the bound by a lifted comparator, or by the best one."""
        if comparator is None:
            comparator = self._best()
        direction = unit(comparator) if comparator.any() else comparator
        found = spread(self.X, self.targets, direction, self.lift, ALL_ONE)
        check_radius(found.radius)
        copies = 1 if comparator.ndim == 1 else 2
        longest = max(copies * found.radius**2, 1.0 / float(self.boxes.min())) * (1 + 8 * UNIT)
        if comparator.ndim == 1:
            w, loss = self._with_loss(direction)
        elif found.margin > 0:
            w, loss = direction / found.margin, 0.0
        else:
            raise InputError(
                f"the comparator leaves row {found.where} to a wrong class or to none (margin "
                f"{found.margin:.3g}); with more than two classes it must separate them"
            )
        slack = 1 + (4 * w.size + 64) * UNIT  # of the norms of w and of its direction
        value = longest * (float(np.vdot(w, w)) * slack + 2.0 * self.passes * loss) * slack
        return MistakeBound(value, found.radius, found.margin, loss, w, self._run(), 3, self.passes)

    def _with_loss(self, direction: np.ndarray) -> tuple[np.ndarray, float]:
        """Give the best multiple of a direction, and its loss, times the boxes, rounded up."""
        margins = margins_of(self.X, self.targets, direction, self.lift, ALL_ONE)
        w = direction * best_length(margins, 1.0, 2.0 * self.passes * self.boxes)
        loss = 0.0
        for box in np.unique(self.boxes):
            same = np.flatnonzero(self.boxes == box)
            part = loss_above(self.X[same], self.targets[same], w, self.lift, ALL_ONE)
            loss += float(box) * part * (1 + 4 * UNIT)
        return w, loss

    def _best(self) -> np.ndarray:
        """Minimise the bound over all w, up to the solver's tolerance and different boxes."""
        lam = 1.0 / (2.0 * self.passes * float(self.boxes.mean()))
        intercept = "lifted" if self.lift else "none"
        problem = Problem.of(self.X, self.targets, lam, intercept=intercept, lift=self.lift)
        return soft_margin(problem, tol=TOL).w

    def _run(self) -> str:
        often = "one pass" if self.passes == 1 else f"{self.passes:,} passes"
        return f"{often} of an online SVM in any order, from zero, whatever its window"
