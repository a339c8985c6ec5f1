"""Soft margins of real data: the processor time to come near the least objective, with C = 1.

LIBLINEAR (in scikit-learn's LinearSVC, dual, hinge loss) does not know how near it is: it gets the
loosest tolerance whose answer is near enough, found before the race, and as many sweeps as take it
40 seconds; where these do not suffice, its time is infinite. So does rosenblatt, though it
proves a gap; often that is the distance itself. It may use two cores; both count.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

import rosenblatt as rb
from bench.defaults import whole
from bench.kernels import census, images
from bench.race import Contestant, Figure, Race, race, ratio
from bench.sets import found, scaled, text_like

Labelled = tuple[Any, np.ndarray]
DISTANCES = (1e-2, 1e-3, 1e-4, 1e-6)  # from the least objective, relative to it
TOLERANCES = 10.0 ** -np.arange(-1.0, 5.5, 0.5)
PATIENCE, TRIAL = 40, 10  # seconds for one fit of a peer, and sweeps that tell how long one takes
INTERCEPTS = ("lifted", "none")
GROWING = (10_000, 100_000, 1_000_000)
FINEST = 3e-7  # of the least objective: sweeps over text need ten thousand passes to halve it


# ---- data


def signs(y: np.ndarray, positive: Any) -> np.ndarray:
    """Give 1 for one class and -1 for all others."""
    return np.where(y == positive, 1, -1)


def standardised(X: Any) -> np.ndarray:
    """Give columns of mean 0 and variance 1."""
    X = np.asarray(X, np.float64)
    spread = X.std(axis=0)
    return np.ascontiguousarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1))


def narrow(X: Any) -> Any:
    """Give float64 rows, with indices that LIBLINEAR takes."""
    X = X.astype(np.float64)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


@cache
def text() -> Labelled:
    """Hash the short messages to 2^18 columns."""
    from sklearn.feature_extraction.text import HashingVectorizer

    lines = found("text/sms_spam.tsv").read_text("utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return HashingVectorizer(n_features=2**18).transform(texts), signs(np.array(labels), "spam")


def sparse_file(name: str) -> Labelled:
    """Read a file of svmlight's format."""
    X, y = whole(name)
    return narrow(X), signs(y, y.max())


def table(name: str, positive: Any) -> Labelled:
    """Read a table, its columns brought to one scale."""
    X, y = whole(name)
    return standardised(X), signs(y, positive)


def parity() -> Labelled:
    """Give MNIST's images, odd against even."""
    X, y, *_ = images("mnist")
    return X.astype(np.float64), np.where(y % 2, 1, -1)


def earners() -> Labelled:
    """Give a9a."""
    X, y, *_ = census()
    return narrow(X), signs(y, y.max())


# ---- contestants


def objective(X: Any, y: np.ndarray, learner: Any, intercept: str) -> float:
    """Give ½‖w‖² + Σ hinge; a lifted intercept costs as much as a weight."""
    w, b = learner.coef_[0], float(np.ravel(learner.intercept_)[0])
    cost = w @ w / 2 + (b * b / 2 if intercept == "lifted" else 0)
    return float(cost + np.maximum(0.0, 1.0 - y * (X @ w + b)).sum())


def ours(data: Labelled, intercept: str, gap: float) -> Any:
    """Solve to a proven gap."""
    return rb.SoftMarginSVM(C=1.0, intercept=intercept, tol=gap).fit(*data)


def liblinear(data: Labelled, intercept: str, eps: float, sweeps: int) -> Any:
    """Let LIBLINEAR solve the same problem."""
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = LinearSVC(
            loss="hinge", fit_intercept=intercept == "lifted", tol=eps, max_iter=sweeps
        )
        return learner.set_params(random_state=0).fit(*data)


def processor(work: Callable[[], Any]) -> tuple[float, Any]:
    """Give the seconds of processor time that something takes, and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def timed(work: Callable[[], Any]) -> Contestant:
    """Enter something with its processor time, warmed up."""
    work()
    return Contestant(lambda _: processor(work)[0])


class Course:
    """What is known of a problem before the race: its least objective, how near peers come."""

    def __init__(self, make: Callable[[], Labelled], intercept: str) -> None:
        self.data, self.intercept = make(), intercept
        best = ours(self.data, intercept, FINEST)
        self.least = best.dual_objective_
        trial = processor(partial(liblinear, self.data, intercept, 1e-9, TRIAL))[0]
        self.sweeps = int(PATIENCE * TRIAL / trial)
        self.tried: list[tuple[float, float]] = []  # tolerances, and how far they end
        self.spent = False  # one of them took all sweeps, and so would all that are tighter

    def far(self, learner: Any) -> float:
        """Give the distance from the least objective."""
        return objective(*self.data, learner, self.intercept) / self.least - 1

    def peer(self, distance: float) -> Contestant:
        """Enter LIBLINEAR with the loosest tolerance that comes near enough."""
        for eps in TOLERANCES[len(self.tried) :]:
            if self.spent or (self.tried and self.tried[-1][1] <= distance):
                break
            learner = liblinear(self.data, self.intercept, eps, self.sweeps)
            self.tried.append((eps, self.far(learner)))
            self.spent = learner.n_iter_ >= self.sweeps
        enough = [eps for eps, far in self.tried if far <= distance]
        if not enough:
            return Contestant(lambda _: math.inf)
        return timed(partial(liblinear, self.data, self.intercept, enough[0], self.sweeps))

    def ours(self, distance: float) -> Contestant:
        """Enter rosenblatt with the loosest gap that comes near enough."""
        for gap in (30 * distance, 10 * distance, 3 * distance, distance):
            if self.far(learner := ours(self.data, self.intercept, gap)) <= distance:
                break
        return timed(partial(ours, self.data, self.intercept, learner.tol))


def to_the_optimum(
    make: Callable[[], Labelled], bar: float = 1.0, repeats: int | None = None
) -> Race:
    """Race to all distances, with a lifted intercept and without."""
    entries, figures = {}, []
    for intercept in INTERCEPTS:
        course = cache(partial(Course, make, intercept))
        for distance in DISTANCES:
            names = [f"{who}, {intercept}, {distance:g}" for who in ("LIBLINEAR", "rosenblatt")]
            entries[names[0]] = lambda course=course, far=distance: course().peer(far)
            entries[names[1]] = lambda course=course, far=distance: course().ours(far)
            figures.append(ratio(*names, at_least=bar))
    return Race(entries, figures, unit="ms", factor=1e3, timed=False, repeats=repeats)


def against_libsvm(make: Callable[[], Labelled]) -> Race:
    """Race with a free intercept, to LIBSVM's objective; LIBSVM solves once."""
    X, y = make()

    @cache
    def solved() -> tuple[float, float]:
        from sklearn.svm import SVC

        seconds, learner = processor(lambda: SVC(kernel="linear", C=1.0).fit(X, y))
        w = np.asarray(
            learner.coef_.todense() if hasattr(learner.coef_, "todense") else learner.coef_
        )
        scores = X @ w[0] + learner.intercept_[0]
        return seconds, float(w[0] @ w[0] / 2 + np.maximum(0.0, 1.0 - y * scores).sum())

    def enter() -> Contestant:
        gaps = 10.0 ** -np.arange(1.0, 8.0, 0.5)
        enough = next(gap for gap in gaps if ours((X, y), "free", gap).objective_ <= solved()[1])
        return timed(partial(ours, (X, y), "free", enough))

    return Race(
        entries={"LIBSVM": lambda: Contestant(lambda _: solved()[0]), "rosenblatt": enter},
        figures=[ratio("LIBSVM", "rosenblatt", at_least=10)],
        unit="ms",
        factor=1e3,
        timed=False,
    )


@race
def soft_rcv1(scale: float) -> Race:
    """Soft margin to the optimum, rcv1, 23,749 × 47,236."""
    return to_the_optimum(partial(sparse_file, "binary/rcv1_24k.svm.gz"), bar=2)


@race
def soft_a9a(scale: float) -> Race:
    """Soft margin to the optimum, a9a, 32,561 × 123."""
    return to_the_optimum(earners)


@race
def soft_phishing(scale: float) -> Race:
    """Soft margin to the optimum, phishing, 11,055 × 68."""
    return to_the_optimum(partial(sparse_file, "binary/phishing.svm"))


@race
def soft_sms(scale: float) -> Race:
    """Soft margin to the optimum, 5,574 short messages, hashed to 262,144 columns."""
    return to_the_optimum(text)


@race
def soft_spambase(scale: float) -> Race:
    """Soft margin to the optimum, spambase, 4,601 × 57, scaled."""
    return to_the_optimum(partial(table, "binary/spambase.csv", "spam"))


@race
def soft_mnist(scale: float) -> Race:
    """Soft margin to the optimum, MNIST, 60,000 × 784, odd against even."""
    return to_the_optimum(parity, bar=2)


@race
def soft_covtype(scale: float) -> Race:
    """Soft margin to the optimum, covtype, 581,012 × 54, scaled, class 2 against the rest."""
    return to_the_optimum(partial(table, "multiclass/covtype.csv.gz", 2), repeats=1)


@race
def free_phishing(scale: float) -> Race:
    """Soft margin with a free intercept against LIBSVM, phishing."""
    return against_libsvm(partial(sparse_file, "binary/phishing.svm"))


@race
def free_spambase(scale: float) -> Race:
    """Soft margin with a free intercept against LIBSVM, spambase, scaled."""
    return against_libsvm(partial(table, "binary/spambase.csv", "spam"))


@race
def free_sms(scale: float) -> Race:
    """Soft margin with a free intercept against LIBSVM, short messages, hashed."""
    return against_libsvm(text)


@race
def free_a9a(scale: float) -> Race:
    """Soft margin with a free intercept against LIBSVM, a9a."""
    return against_libsvm(earners)


@race
def soft_growth(scale: float) -> Race:
    """Growth of a soft margin's time with the rows, rows like text, 10,000 to 1,000,000."""
    sizes = sorted({scaled(rows, scale) for rows in GROWING})
    figures = [
        exponent(few, many, intercept)
        for intercept in ("free", "lifted")
        for few, many in pairwise(sizes)
    ]
    return Race(
        entries={
            f"rosenblatt, {rows:,} rows, {intercept}": partial(growing, rows, intercept)
            for intercept in ("free", "lifted")
            for rows in sizes
        },
        figures=figures,
        unit="ms",
        factor=1e3,
        timed=False,
        repeats=1,
    )


def growing(rows: int, intercept: str) -> Contestant:
    """Enter a fit of so many rows, which only a run holds in memory."""
    return Contestant(
        lambda data: processor(lambda: rb.SoftMarginSVM(C=1.0, intercept=intercept).fit(*data))[0],
        fresh=partial(text_like, rows),
    )


def exponent(few: int, many: int, intercept: str) -> Figure:
    """Give the power of the rows that the time grows with: 1 if it grows as they do."""
    names = tuple(f"rosenblatt, {rows:,} rows, {intercept}" for rows in (few, many))

    def formula(less: float, more: float) -> float:
        return math.log(more / less) / math.log(many / few)

    return Figure(f"exponent, {few:,} to {many:,}, {intercept}", names, formula, at_most=1.1)
