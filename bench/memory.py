"""Memory needed to fit, beyond the data: the growth of the peak, each time in a new process.

The peak is Linux's VmHWM, set back just before the fit. The number from `getrusage` would not do:
a new process inherits it from the one that started it, and what was needed to make the data would
hide what is needed to fit them. A copy of known size is measured beside, to check the measure.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bench import sets
from bench.one_pass import our_pass, peer_pass
from bench.race import Contestant, MissingError, Race, itself, race
from bench.soft_margins import table

PEAK = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")
OURS, PEER, COPY = "rosenblatt", "scikit-learn", "copy of a tenth"
SVMS = {f"rosenblatt, SVM, intercept {kind}": kind for kind in ("free", "lifted", "none")}
WARM_ROWS = dict.fromkeys(SVMS, 40_000)  # fewer would be solved by other loops; of others, 100 do
Sets = dict[str, tuple[int, Callable[[int], tuple]]]
SETS: Sets = {
    "dense float32": (400_000, sets.dense),
    "dense float64": (200_000, partial(sets.dense, dtype=np.float64)),
    "sparse float32": (400_000, sets.text_like),
}


def narrow(rows: int) -> tuple:
    """Make rows of 20 numbers, one label in ten of which is flipped."""
    X, y = sets.dense(rows, columns=20, dtype=np.float64)
    y[np.random.default_rng(1).random(rows) < 0.1] *= -1
    return X, y


def cover(rows: int, dtype: type) -> tuple:
    """Give rows of covtype, scaled, and whether they are of class 2."""
    X, y = table("multiclass/covtype.csv.gz", 2)
    return X[:rows].astype(dtype), y[:rows].copy()


SVM_SETS: Sets = {
    "dense float32": (100_000, sets.dense),
    "sparse float32": (100_000, sets.text_like),
    "20 columns float64": (400_000, narrow),
    "covtype float32": (581_012, partial(cover, dtype=np.float32)),
    "covtype float64": (581_012, partial(cover, dtype=np.float64)),
}


@race
def extra_memory(scale: float) -> Race:
    """Memory beyond the data, while fitting one pass."""
    runs = {f"{who}, {data}": (who, data) for data in SETS for who in (OURS, PEER)}
    check = f"{COPY}, sparse float32"
    runs[check] = COPY, "sparse float32"
    return Race(
        entries={name: partial(growing, *run, scale) for name, run in runs.items()},
        figures=[
            *(itself(f"{OURS}, {data}", at_most=5) for data in SETS),
            itself(check, at_least=9.5, at_most=10.5),
        ],
        unit="% of the data",
        timed=False,
        repeats=1,
    )


@race
def svm_memory(scale: float) -> Race:
    """Memory beyond the data, while fitting a soft margin."""
    runs = {f"{who}, {data}": (who, data) for data in SVM_SETS for who in SVMS}
    return Race(
        entries={name: partial(growing, *run, scale) for name, run in runs.items()},
        figures=[itself(name, at_most=20) for name in runs],
        unit="% of the data",
        timed=False,
        repeats=1,
    )


def growing(who: str, data: str, scale: float) -> Contestant:
    """Enter a fit, the growth of which a new process measures."""
    if not PEAK.exists():
        raise MissingError("only Linux can set the peak of a process back")
    if data.startswith("covtype"):
        sets.found("multiclass/covtype.csv.gz")
    command = [sys.executable, "-m", "bench.memory", who, data, str(scale)]

    def run(_: None) -> float:
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return float(done.stdout)

    return Contestant(run)


def growth(who: str, data: str, scale: float) -> float:
    """Give the growth of this process's peak during a fit, in percent of the data."""
    rows, make = (SVM_SETS if who in SVMS else SETS)[data]
    svms = {name: partial(our_svm, kind) for name, kind in SVMS.items()}
    fit = {OURS: our_pass, PEER: peer_pass, COPY: copying, **svms}[who]
    fit(*make(WARM_ROWS.get(who, 100))).run(None)
    X, y = make(sets.scaled(rows, scale))
    contestant = fit(X, y)
    ctypes.CDLL(None).malloc_trim(0)  # memory kept for later use would hide growth
    PEAK.write_text("5")
    before = kilobytes("VmRSS")
    contestant.run(None)
    size = sum(array.nbytes for array in arrays_of(X))
    return 100 * 1024 * (kilobytes("VmHWM") - before) / size


def our_svm(intercept: str, X: Any, y: np.ndarray) -> Contestant:
    """Enter a soft margin."""
    import rosenblatt as rb

    return Contestant(lambda _: rb.SoftMarginSVM(C=1.0, intercept=intercept).fit(X, y))


def copying(X: Any, y: np.ndarray) -> Contestant:
    """Enter a copy of a tenth of every array."""
    return Contestant(lambda _: [array[: len(array) // 10].copy() for array in arrays_of(X)])


def arrays_of(X: Any) -> list[np.ndarray]:
    """Give the arrays that hold a matrix."""
    return [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]


def kilobytes(field: str) -> int:
    """Read a field of the process's status."""
    lines = (line.split() for line in STATUS.read_text().splitlines())
    return next(int(words[1]) for words in lines if words[0] == f"{field}:")


if __name__ == "__main__":
    print(growth(sys.argv[1], sys.argv[2], float(sys.argv[3])))
