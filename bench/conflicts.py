"""Which rows and bounds of an infeasible system conflict? Ours, proven, against HiGHS's `getIis`.

Both begin with a HiGHS model of rows and bounds in memory. Each strategy of HiGHS that leads to an
irreducible set takes part; a set counts if it contradicts itself in exact numbers. Its size is the
number of rows and bounds. Seconds are processor time, which other work on the machine changes
least. The systems: infeasible ones of Netlib, and made ones of 5 to 59 rows with planted conflicts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse

import rosenblatt as rb
from bench.race import Contestant, Figure, Race, race, ratio
from bench.sets import found

OURS = "rosenblatt"
STRATEGIES = {  # bits: from the elastic program, irreducible, columns first
    "rows first": 4,
    "columns first": 12,
    "elastic, rows first": 6,
    "elastic, columns first": 14,
}
MADE = 500
LIMIT, RUNS = 5, 3
SECONDS = 10.0  # that a search of HiGHS may take


@race
def conflict_sizes(scale: float) -> Race:
    """Compare the sizes of conflicts with each of HiGHS's."""
    entries, figures = {}, []
    for name, strategy in STRATEGIES.items():
        sizes = partial(both_sizes, scale, strategy)
        for who, formula in (
            (f"{OURS}, larger than {name}", lambda pairs: sum(a > b for a, b in pairs)),
            (f"{OURS}, where {name} finds one", lambda pairs: np.mean([a for a, _ in pairs])),
            (f"HiGHS, {name}", lambda pairs: np.mean([b for _, b in pairs])),
        ):
            entries[who] = partial(_counted, sizes, formula)
        larger, ours, peer = list(entries)[-3:]
        figures += [Figure(larger, (larger,), lambda count: count, at_most=0)]
        figures += [ratio(ours, peer, at_most=1)]
    return Race(entries=entries, figures=figures, unit="", timed=False, repeats=1)


@race
def conflict_seconds(scale: float) -> Race:
    """Find conflicts of all these systems, ours from decision to proof."""
    entries = {OURS: partial(_timed, scale, lambda model: rb.solve(model).conflict())}
    for name, strategy in STRATEGIES.items():
        entries[f"HiGHS, {name}"] = partial(_timed, scale, partial(named, strategy=strategy))
    figures = [ratio(OURS, peer, at_most=5) for peer in list(entries)[1:]]
    return Race(entries=entries, figures=figures, timed=False)


@race
def conflict_seconds_each(scale: float) -> Race:
    """Compare the times of single systems, the peer's by the quickest strategy that finds a set."""
    entries = {
        "times HiGHS's time, median": lambda ratios: np.median(ratios),
        "times HiGHS's time, largest of nine in ten": lambda ratios: np.quantile(ratios, 0.9),
        f"systems of {LIMIT} times its time or more": lambda ratios: np.sum(ratios > LIMIT),
        "of them, of a single row": lambda ratios: np.sum(
            ratios[np.array(our_sizes(scale)) == 1] > LIMIT
        ),
    }
    contestants = {
        name: partial(_counted, partial(each, scale), formula) for name, formula in entries.items()
    }
    median = next(iter(entries))
    figure = Figure(median, (median,), lambda value: value, at_most=LIMIT)
    return Race(entries=contestants, figures=[figure], unit="", timed=False, repeats=1)


@cache
def each(scale: float) -> np.ndarray:
    """Give how many times as long ours takes on each system, the least of some runs each."""

    def least(search: Callable[[Any], Any]) -> np.ndarray:
        found = [[_seconds(search, model) for model in models(scale)] for _ in range(RUNS)]
        return np.min(found, axis=0)

    ours = least(lambda model: rb.solve(model).conflict())
    peers = []
    for strategy in STRATEGIES.values():
        sizes = np.array([size(model, *named(model, strategy)) for model in models(scale)])
        seconds = least(partial(named, strategy=strategy))
        peers.append(np.where(sizes > 0, seconds, np.inf))
    return np.asarray(ours / np.min(peers, axis=0))


def _seconds(search: Callable[[Any], Any], model: Any) -> float:
    before = time.process_time()
    search(model)
    return time.process_time() - before


def _counted(sizes: Callable[[], Any], formula: Callable[[Any], float]) -> Contestant:
    return Contestant(lambda _: float(formula(sizes())))


def _timed(scale: float, search: Callable[[Any], Any]) -> Contestant:
    def run(fresh: Sequence[Any]) -> float:
        before = time.process_time()
        for model in fresh:
            search(model)
        return time.process_time() - before

    return Contestant(run, lambda: models(scale))


@cache
def our_sizes(scale: float) -> list[int]:
    """Give the sizes of our conflicts."""
    return [rb.solve(model).conflict().size for model in models(scale)]


@cache
def both_sizes(scale: float, strategy: int) -> list[tuple[int, int]]:
    """Give the sizes of our conflicts and of HiGHS's, where it finds one."""
    peers = [size(model, *named(model, strategy)) for model in models(scale)]
    return [(a, b) for a, b in zip(our_sizes(scale), peers, strict=True) if b]


# ---- HiGHS


def named(model: Any, strategy: int) -> tuple[list[int], list[tuple[int, bool]]]:
    """Give the rows, and the bounds by column and whether they are upper ones, of `getIis`."""
    import highspy

    status = highspy.IisBoundStatus
    model.setOptionValue("iis_strategy", strategy)
    model.setOptionValue("iis_time_limit", SECONDS)
    iis = model.getIis()[1]
    sides = {False: status.kIisBoundStatusLower, True: status.kIisBoundStatusUpper}
    pairs = list(zip(iis.col_index_, iis.col_bound_, strict=True))
    both = status.kIisBoundStatusBoxed
    bounds = [(j, upper) for upper, one in sides.items() for j, s in pairs if s in (one, both)]
    return list(iis.row_index_), bounds


def size(model: Any, rows: list[int], bounds: list[tuple[int, bool]]) -> int:
    """Give the size of a set of rows and bounds, 0 if it does not contradict itself."""
    lp = model.getLp()
    free, everywhere = np.full(lp.num_col_, np.inf), np.arange(lp.num_col_)
    ends = {False: -free, True: free.copy()}
    for j, upper in bounds:
        ends[upper][j] = (lp.col_upper_ if upper else lp.col_lower_)[j]
    part = copy(model)
    part.changeColsBounds(free.size, everywhere.astype(np.int32), ends[False], ends[True])
    others = np.setdiff1d(np.arange(lp.num_row_), rows).astype(np.int32)
    part.deleteRows(others.size, others)
    wrong = rb.solve(part).verdict == "infeasible"
    return len(rows) + len(bounds) if wrong else 0


def copy(model: Any) -> Any:
    """Give a model of its own, which knows nothing of earlier runs."""
    made = quiet()
    made.passModel(model.getModel())
    return made


def quiet() -> Any:
    """Give an empty model that prints nothing."""
    import highspy

    made = highspy.Highs()
    made.setOptionValue("output_flag", False)
    return made


# ---- systems


def models(scale: float) -> list[Any]:
    """Give all systems as models without an objective."""
    made = [planted(seed) for seed in range(max(1, round(MADE * scale)))]
    for path in sorted(found("netlib/infeasible").glob("*.mps")):
        read = quiet()
        read.readModel(str(path))
        count = read.getNumCol()
        read.changeColsCost(count, np.arange(count, dtype=np.int32), np.zeros(count))
        made.append(read)
    return made


def planted(seed: int) -> Any:
    """Let rows through a point add up to 0 >= 1, with a last row and some bounds.

    Some rows are equations; other rows, and other bounds, lie around the point.
    """
    random = np.random.default_rng(seed)
    n, d = int(random.integers(5, 60)), int(random.integers(3, 40))
    each = int(random.choice([2, 4, d]))
    A = np.zeros((n + 1, d))
    for row in A[:-1]:
        row[random.choice(d, min(d, each), replace=False)] = random.integers(1, 10, min(d, each))
    A *= random.choice([-1, 1], A.shape)
    point, equal = random.integers(-4, 5, d), np.append(random.random(n) < 0.25, False)
    shares = random.integers(1, 4, n) * (random.random(n) < random.choice([0.2, 0.6, 1.0]))
    shares *= np.where(equal[:-1], random.choice([-1, 1], n), 1)
    left = shares @ A[:-1]
    by_row = random.random(d) < random.choice([0.3, 0.6, 1.0])
    by_row[random.integers(d)] = True
    A[-1] = np.where(by_row, -left, 0)
    loose = np.append((shares == 0) & ~equal[:-1], False)
    lower = A @ point - loose * random.integers(1, 5, n + 1)
    lower[-1] += 1
    ends = point - random.choice([0, 1, 5, np.inf], d), point + random.choice([0, 3, np.inf], d)
    low = np.where(~by_row & (left < 0), point, ends[0])
    high = np.where(~by_row & (left > 0), point, ends[1])
    return modelled(A, lower, np.where(equal, lower, np.inf), low, high)


def modelled(
    A: np.ndarray, lower: np.ndarray, upper: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Any:
    """Give a system as a model of HiGHS."""
    import highspy

    rows, lp = sparse.csr_matrix(A), highspy.HighsLp()
    lp.num_row_, lp.num_col_ = A.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.zeros(low.size), low, high
    lp.row_lower_, lp.row_upper_ = lower, upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = rows.indptr, rows.indices
    lp.a_matrix_.value_ = rows.data
    made = quiet()
    made.passModel(lp)
    return made
