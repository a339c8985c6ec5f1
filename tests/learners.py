"""Every public learner with a few sets of options: the parameters of the contract tests.

A new learner joins all of them by a line in `LEARNERS`. Labels are -1 and +1 throughout; a test
that wants others asks for ``case(labels=(negative, positive))``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
import pytest

import rosenblatt as rb

LEARNERS: dict[type, dict[str, dict[str, Any]]] = {
    rb.Perceptron: {
        "default": {},
        "averaged": {"output": "averaged", "lift": 3.0, "eta0": 0.5},
        "voted": {"output": "voted", "fit_intercept": False},
        "shuffle": {"order": "shuffle", "random_state": 0, "class_weight": {-1: 1.0, 1: 3.0}},
        "random": {"order": "random", "random_state": 0, "lift": "radius"},
        "worst": {"order": "worst", "initial": "unit"},
        "first": {"order": "first", "class_weight": "balanced"},
        "renormalize averaged": {"renormalize": True, "output": "averaged", "max_iter": 50},
        "renormalize voted": {"renormalize": True, "output": "voted", "max_iter": 50},
        "margin": {"margin": 0.5, "output": "last", "max_iter": 50},
        "margin voted": {"margin": 0.2, "output": "voted", "eta0": 0.5},
        "random start": {"initial": "random", "random_state": 0, "tie": "positive"},
    },
    rb.OnlineSVM: {
        "default": {},
        "passive-aggressive": {"window": 1, "C": 2.0, "fit_intercept": False, "max_iter": 5},
        "averaged": {"output": "averaged", "lift": 3.0, "class_weight": {-1: 1.0, 1: 3.0}},
        "shuffle": {"order": "shuffle", "random_state": 0, "window": 7, "max_iter": 3},
    },
    rb.KernelPerceptron: {
        "gaussian": {"kernel": "gaussian:0.5"},
        "averaged": {"kernel": "polynomial:2:1", "output": "averaged", "lift": 3.0},
        "voted": {"kernel": "linear", "output": "voted", "order": "worst"},
        "budget": {"kernel": "gaussian:0.5", "budget": 40, "forget": "oldest"},
    },
    # Solved so closely that ways to the solution, which differ in rounding, hardly differ in w.
    rb.SoftMarginSVM: {
        "default": {"tol": 1e-12},
        "lifted": {
            "intercept": "lifted",
            "lift": 3.0,
            "lam": 0.1,
            "tol": 1e-12,
            "class_weight": {-1: 1.0, 1: 3.0},
        },
        "one against the rest": {
            "intercept": "none",
            "C": 0.5,
            "multiclass": "one-vs-rest",
            "tol": 1e-12,
            "random_state": 3,
        },
    },
    rb.HardMarginSVM: {"default": {}, "through the origin": {"intercept": "none"}},
}


@dataclass(frozen=True)
class Case:
    """A learner with its options; a call makes a new one that has not been fitted.

    More options may be given in a call; those that this learner does not have, such as a limit on
    the passes of something that makes none, are left out.
    """

    learner: type
    name: str
    options: dict[str, Any]
    classes: tuple[int, ...] = (-1, 1)

    def __call__(self, *, labels: tuple[Any, Any] = (-1, 1), **more: Any) -> Any:
        known = signature(self.learner).parameters
        options = {**self.options, **{k: value for k, value in more.items() if k in known}}
        weights = options.get("class_weight")
        if isinstance(weights, dict):
            options["class_weight"] = {labels[k > 0]: factor for k, factor in weights.items()}
        return self.learner(**options)

    def __str__(self) -> str:
        more = ", 3 classes" if len(self.classes) > 2 else ""
        return f"{self.learner.__name__}: {self.name}{more}"

    @property
    def examples(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of its classes."""
        return separable() if len(self.classes) == 2 else three_classes()

    @property
    def rtol(self) -> float:
        """How closely two runs on the same examples agree.

        Perceptrons add up the same numbers: about 100 roundings of relative size 1e-16. An SVM is
        solved to a gap, whose root is what the weights may differ by.
        """
        return 1e-12 if self.has("learn_one") else 1e-5

    def has(self, method: str) -> bool:
        """Tell whether the learner has such a method."""
        return hasattr(self.learner, method)

    @property
    def streams(self) -> bool:
        """Whether it can learn from pieces: it needs nothing that only the whole data set tells."""
        whole = (
            self.options.get("class_weight") == "balanced" or self.options.get("lift") == "radius"
        )
        return self.has("partial_fit") and not whole

    @property
    def starts_blank(self) -> bool:
        """Whether `learn_one` may come first, before columns and classes are known."""
        plain = self.options.get("initial", "zero") == "zero" and "tie" not in self.options
        return self.streams and plain


CASES = [
    Case(learner, name, options)
    for learner in LEARNERS
    for name, options in LEARNERS[learner].items()
]
# One of each learner, for what does not depend on its options: how rows and labels are taken.
FIRST = [next(case for case in CASES if case.learner is learner) for learner in LEARNERS]
ONLINE = [case for case in CASES if case.has("learn_one")]
PERCEPTRONS = [case for case in CASES if case.learner is rb.Perceptron]
STREAMS = [case for case in CASES if case.streams]
BLANK_STREAMS = [case for case in CASES if case.starts_blank]
# The same with a class more, for learners and options that are not about two alone.
THREE = [
    replace(case, classes=(-1, 0, 1))
    for case in CASES
    if case.learner is not rb.HardMarginSVM and "tie" not in case.options
]
THREE_STREAMS = [case for case in THREE if case.streams]


def every(cases: list[Case]) -> pytest.MarkDecorator:
    """Run a test for each of the cases."""
    return pytest.mark.parametrize("case", cases, ids=str)


def without(*names: str, among: list[Case] = CASES) -> list[Case]:
    """Give the cases that set none of these options."""
    return [case for case in among if not set(names) & set(case.options)]


def separable(n: int = 60, d: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Make rows that a hyperplane separates, with labels -1 and +1; the first row is a -1.

    About half of the entries are 0, the norms of the rows differ, and all are multiples of 1/64 of
    at most 2, so that single precision holds them and sums of a few thousand of them are exact.
    """
    random = np.random.default_rng(seed)
    w = random.choice([-3.0, -2.0, 2.0, 3.0], d)
    X = random.integers(-128, 129, (20 * n, d)) / 64 * (random.random((20 * n, d)) < 0.6)
    score = X @ w
    X, score = X[np.abs(score) > 1], score[np.abs(score) > 1]
    first = int(np.argmax(score < 0))
    return X[first : first + n].copy(), np.where(score > 0, 1, -1)[first : first + n]


def three_classes(n: int = 60, d: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Make rows like those of `separable`, which three vectors tell apart: -1, 0 and +1."""
    random = np.random.default_rng(seed)
    W = random.choice([-3.0, -2.0, 2.0, 3.0], (d, 3))
    X = random.integers(-128, 129, (20 * n, d)) / 64 * (random.random((20 * n, d)) < 0.6)
    scores = np.sort(X @ W, axis=1)
    X = X[scores[:, 2] - scores[:, 1] > 1][:n]
    return X, (X @ W).argmax(axis=1) - 1


def assert_same(one: Any, other: Any, X: Any, *, rtol: float = 1e-12) -> None:
    """Hold two learners to the same mistakes, the same scores on X and the same weights."""
    if hasattr(other, "run_"):
        assert one.run_.mistakes == other.run_.mistakes
    assert one.classes_.tolist() == other.classes_.tolist()
    scores = other.decision_function(X)
    scale = np.abs(scores).max()
    np.testing.assert_allclose(one.decision_function(X), scores, rtol=0, atol=rtol * scale)
    if hasattr(other, "coef_") and one.coef_.shape == other.coef_.shape:
        scale = max(np.abs(other.coef_).max(), np.abs(other.intercept_).max())
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=rtol * scale)
        np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=0, atol=rtol * scale)


def unless_refused(match: str, action: Callable[[], Any]) -> Any:
    """Give what the action gives, or None if it was refused in words that match."""
    try:
        return action()
    except rb.InputError as refusal:
        if not re.search(match, str(refusal)):
            raise
        return None


def refused(match: str) -> Any:
    """Expect a refusal in words that match."""
    return pytest.raises(rb.InputError, match=match)


def snapshot(learner: Any, X: Any) -> dict[str, Any]:
    """Give what must not change when something is refused, as plain values to compare."""
    known = {
        "scores": learner.decision_function(X).tolist(),
        "classes": learner.classes_.tolist(),
        "width": learner.n_features_in_,
        "names": getattr(learner, "feature_names_in_", np.empty(0)).tolist(),
    }
    if hasattr(learner, "run_"):
        run = learner.run_
        known["run"] = run.mistakes, run.passes, run.mistakes_per_pass, run.stop, run.operations
        known["counts"] = run.counts.tolist()
    return known
