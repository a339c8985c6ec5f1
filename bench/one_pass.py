"""One pass over a large set: against scikit-learn, and against reading the bytes at all."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from bench import sets
from bench.race import Contestant, Figure, Race, race, ratio

OURS, PEER, UNSHUFFLED = "rosenblatt", "scikit-learn", "scikit-learn, not shuffled"
SUM, WIDE_SUM = "sum of the bytes", "sum as 64-bit numbers"


@race
def sparse_pass(scale: float) -> Race:
    """One pass, 400,000 × 47,236 sparse float32 rows."""
    X, y = sets.text_like(sets.scaled(400_000, scale))
    return Race(
        entries={
            OURS: lambda: our_pass(X, y),
            PEER: lambda: peer_pass(X, y),
            UNSHUFFLED: lambda: peer_pass(X, y, shuffle=False),
            SUM: lambda: summing(X.data, X.indices),
            WIDE_SUM: lambda: summing(widened(X.data), widened(X.indices)),
        },
        figures=figures(faster=6, in_order=2.8, within=1.3),
        unit="ms",
        factor=1e3,
        note=lambda: described(X, y),
    )


@race
def dense_pass(scale: float) -> Race:
    """One pass, 400,000 × 784 dense float32 rows."""
    X, y = sets.dense(sets.scaled(400_000, scale))
    return Race(
        entries={
            OURS: lambda: our_pass(X, y),
            PEER: lambda: peer_pass(X, y),
            UNSHUFFLED: lambda: peer_pass(X, y, shuffle=False),
            SUM: lambda: summing(X),
            WIDE_SUM: lambda: summing(widened(X.ravel())),
        },
        figures=figures(faster=5, in_order=2.8, within=1.2),
        unit="ms",
        factor=1e3,
        note=lambda: described(X, y),
    )


@race
def rcv1_pass(scale: float) -> Race:
    """One pass in stored order, rcv1, 23,749 × 47,236."""
    return in_stored_order("binary/rcv1_24k.svm.gz")


@race
def a9a_pass(scale: float) -> Race:
    """One pass in stored order, a9a, 32,561 × 123."""
    return in_stored_order("binary/a9a.svm")


def in_stored_order(name: str) -> Race:
    """Race over the rows of a file."""
    import rosenblatt as rb

    X, y = rb.read(sets.found(name))
    return Race(
        entries={
            OURS: lambda: our_pass(X, y),
            UNSHUFFLED: lambda: peer_pass(X, y, shuffle=False),
        },
        figures=[ratio(UNSHUFFLED, OURS, at_least=3)],
        unit="ms",
        factor=1e3,
        note=lambda: described(X, y),
    )


@race
def shuffled_pass(scale: float) -> Race:
    """One pass in shuffled and in stored order, covtype, 581,012 × 54, class 2 against the rest."""
    import rosenblatt as rb

    X, y = rb.read(sets.found("multiclass/covtype.csv.gz"))
    X, y = np.asarray(X, np.float64), y == 2
    return Race(
        entries={
            f"{OURS}, stored": lambda: our_pass(X, y),
            f"{OURS}, shuffled": lambda: our_pass(X, y, order="shuffle", random_state=0),
        },
        figures=[ratio(f"{OURS}, shuffled", f"{OURS}, stored", at_most=2)],
        unit="ms",
        factor=1e3,
        note=lambda: f"{described(X, y)} Shuffled: {mistaken(X, y, order='shuffle'):.1%}.",
    )


def figures(faster: float, in_order: float, within: float) -> list[Figure]:
    """Give what both races of made data compare."""
    return [
        ratio(PEER, OURS, at_least=faster),
        ratio(UNSHUFFLED, OURS, at_least=in_order),
        ratio(OURS, SUM, at_most=within),
        ratio(OURS, WIDE_SUM),
    ]


def our_pass(X: Any, y: np.ndarray, **options: Any) -> Contestant:
    """Enter rosenblatt's perceptron, which takes the rows as they lie by default."""
    import rosenblatt as rb

    return Contestant(lambda _: quietly(rb.Perceptron(max_iter=1, output="last", **options), X, y))


def peer_pass(X: Any, y: np.ndarray, **options: Any) -> Contestant:
    """Enter scikit-learn's perceptron, which shuffles the rows by default."""
    from sklearn.linear_model import Perceptron

    return Contestant(lambda _: quietly(Perceptron(max_iter=1, tol=None, **options), X, y))


def quietly(learner: Any, X: Any, y: np.ndarray) -> Any:
    """Fit a learner without the warning that one pass is not enough."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(X, y)


def summing(*arrays: np.ndarray) -> Contestant:
    """Enter NumPy's sum over the arrays."""

    def run(_: None) -> None:
        # Numbers whose bits were made for another type may add up to anything.
        with np.errstate(all="ignore"):
            for array in arrays:
                array.sum()

    return Contestant(run)


def widened(array: np.ndarray) -> np.ndarray:
    """View numbers of 32 bits as half as many of 64 bits and the same kind."""
    return array[: array.size // 2 * 2].view(f"{array.dtype.kind}8")


def described(X: Any, y: np.ndarray) -> str:
    """Tell what the data are like, and how much there is to learn."""
    n, d = X.shape
    share = mistaken(X, y)
    size = (X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes) / 1e6
    filled = f", {X.nnz / n:.1f} entries a row" if sparse.issparse(X) else ""
    return f"{n:,} × {d:,}{filled}, {size:,.0f} MB; mistakes in the pass: {share:.1%} of the rows."


def mistaken(X: Any, y: np.ndarray, **options: Any) -> float:
    """Give the share of rows that a pass makes mistakes at."""
    import rosenblatt as rb

    learner = quietly(rb.Perceptron(max_iter=1, random_state=0, **options), X, y)
    return float(learner.run_.mistakes / y.size)
