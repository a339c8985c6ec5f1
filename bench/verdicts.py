"""Which classes of scikit-learn's data sets a hyperplane can tell apart, each answer proved.

``python -m bench.verdicts`` prints the table of docs/certificates.md. No race: nothing is timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

HEADER = ("data", "rows × columns", "classes", "verdict", "margin found")
LONG = 10  # with more pairs than this, a line for all of them


def main() -> None:
    """Print the table in Markdown."""
    print(f"| {' | '.join(HEADER)} |")
    print(f"|{'---|' * len(HEADER)}")
    for line in lines():
        print(f"| {' | '.join(line)} |")


def lines(names: tuple[str, ...] = ("iris", "wine", "breast_cancer", "digits")) -> Iterator[Any]:
    """Decide each pair of classes of each data set, and check the proofs."""
    from sklearn import datasets

    for name in names:
        data = getattr(datasets, f"load_{name}")()
        words = np.array([str(word) for word in data.target_names])
        yield from _lines_of(name.replace("_", " "), data.data, words[data.target])


def _lines_of(name: str, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, ...]]:
    import rosenblatt as rb

    found = rb.separate(X, y, many="pairs")
    for pair, answer in found.items():
        rows = np.isin(y, pair)
        checked = rb.verify(answer.certificate, X[rows], y[rows])
        if not checked:
            raise AssertionError(f"{name}, {pair}: {checked}")
    size = f"{X.shape[0]:,} × {X.shape[1]}"
    if len(found) <= LONG:
        for (a, b), answer in found.items():
            yield name, size, f"{a}, {b}", answer.verdict, _margin(answer)
        return
    for verdict in sorted({answer.verdict for answer in found.values()}):
        chosen = {pair: one for pair, one in found.items() if one.verdict == verdict}
        (a, b), least = min(chosen.items(), key=lambda item: item[1].margin)
        pairs = f"{len(chosen)} of {len(found)} pairs"
        yield name, size, pairs, verdict, f"{_margin(least)} ({a}, {b}) and more"


def _margin(answer: Any) -> str:
    return f"{answer.margin:.3g}" if answer.margin else "none"


if __name__ == "__main__":
    main()
