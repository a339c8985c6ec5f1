"""Many workers on one machine: shards in files, rounds, many small steps, processes that die.

What a note of `cluster_rounds` calls scheduler and network is what a round takes beyond the passes
of its busiest worker. Real data are found as those of other races.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import rosenblatt as rb
from bench import sets
from bench.kernels import Split, images
from bench.race import Contestant, Race, difference, itself, race, ratio
from rosenblatt.cluster import dual, mixing, steps, svm
from rosenblatt.cluster.inputs import shards_of
from rosenblatt.cluster.learning import train
from rosenblatt.cluster.local import LocalEngine
from rosenblatt.cluster.on_dask import DaskEngine
from rosenblatt.data.reading import Reading
from rosenblatt.data.write import write_svmlight
from rosenblatt.loops import loop
from rosenblatt.margin.descent import DualRows
from rosenblatt.online.plan import shuffle
from rosenblatt.rows import add, dot

SHARDS, ROUNDS = 8, 21
ROWS, TEST_ROWS = 60_000, 20_000  # distinct ones of a shard, and of none
BYTES = 2e9  # of all shards
WORKERS = (1, 2, 4, 8)
PASSES = (10, 30)
RUNS = 25  # with kill -9, of which a fifth lose both workers
KILLED_ROUNDS = 500  # some seconds; a process that is lost takes two to be started again
MOST_ROUNDS = 100  # to a gap of 1e-3
quiet = partial(warnings.catch_warnings, action="ignore")


# ---- races


@race
def cluster_rounds(scale: float) -> Race:
    """One round over 2 GB of svmlight text in 8 files, beside dask-ml's pass over the same rows."""
    names = {count: f"rosenblatt, workers: {count}" for count in WORKERS}
    entries = {
        name: lambda count=count: Contestant(lambda _: workers(count, scale).seconds)
        for count, name in names.items()
    }
    entries["dask-ml, workers: 2"] = lambda: dask_ml(scale)
    return Race(
        entries=entries,
        figures=[
            ratio(names[1], names[2]),
            ratio("dask-ml, workers: 2", names[2]),
            *(ratio(names[2], names[count]) for count in WORKERS[2:]),
        ],
        timed=False,
        repeats=1,
        note=lambda: " ".join(
            f"{count} worker{'s' * (count > 1)}: {workers(count, scale).told}." for count in WORKERS
        ),
    )


@race
def cluster_memory(scale: float) -> Race:
    """Memory of the largest worker, 2 GB of svmlight text in 8 files."""
    names = {count: f"rosenblatt, workers: {count}" for count in WORKERS}
    return Race(
        entries={
            name: lambda count=count: Contestant(lambda _: workers(count, scale).memory / 1e6)
            for count, name in names.items()
        },
        figures=[itself(name) for name in names.values()],
        unit="MB",
        timed=False,
        repeats=1,
    )


@race
def cluster_accuracy(scale: float) -> Race:
    """Accuracy on held-out rows, averaged weights, 8 shards against one machine."""
    entries, figures = {}, []
    for name, make in SETS.items():
        make()  # a file that is missing is told before the race
        for passes in PASSES:
            case = f"{name}, {passes} passes"
            many, one = f"rosenblatt, 8 shards, {case}", f"rosenblatt, one machine, {case}"
            for who, fit in ((many, on_shards), (one, on_one_machine)):
                entries[who] = partial(accuracy, fit, make, passes)
            figures.append(difference(many, one))
    return Race(entries, figures, unit="%", factor=100, timed=False, repeats=1)


@race
def cluster_gaps(scale: float) -> Race:
    """Gap of a soft margin on 8 shards once ours is 1e-3, against CoCoA+ after as many rounds."""
    entries, figures = {}, []
    for name, intercept in GAPS:
        SETS[name]()
        case = f"{name}, intercept {intercept}"
        solved = partial(our_gap, name, intercept)
        entries[f"rosenblatt, {case}"] = lambda it=solved: Contestant(lambda _: it().gap_)
        entries[f"CoCoA+, {case}"] = partial(cocoa_gap, name, intercept)
        figures.append(ratio(f"CoCoA+, {case}", f"rosenblatt, {case}"))
    return Race(
        entries,
        figures,
        unit="",
        timed=False,
        repeats=1,
        note=lambda: ". ".join(
            f"{name}, intercept {intercept}: {our_gap(name, intercept).n_iter_} rounds"
            for name, intercept in GAPS
        ),
    )


@race
def cluster_kills(scale: float) -> Race:
    """Weights of runs in which a worker, or both, are killed, against undisturbed ones."""
    name = "rosenblatt, same weights"
    runs = max(1, int(RUNS * scale))
    return Race(
        entries={name: lambda: Contestant(lambda _: float(kills(runs).same))},
        figures=[itself(name, at_least=runs)],
        unit=f"runs of {runs}",
        timed=False,
        repeats=1,
        note=lambda: (
            f"{KILLED_ROUNDS} rounds: undisturbed {kills(runs).alone:.1f} s, the longest "
            f"{kills(runs).longest:.1f} s."
        ),
    )


def cut(X: Any, y: np.ndarray, shards: int = SHARDS) -> list[tuple[Any, np.ndarray]]:
    ends = [len(y) * k // shards for k in range(shards + 1)]
    return [(X[a:b], y[a:b]) for a, b in pairwise(ends)]


# ---- rounds


class Written(NamedTuple):
    """Shards in files, and rows that are in none of them."""

    names: list[str]
    held_out: Any
    answers: np.ndarray


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Give a folder that is removed in the end."""
    return tempfile.TemporaryDirectory()


@cache
def written(scale: float) -> Written:
    """Write shards of text-like rows, one label in 20 wrong, each repeated until it is large."""
    rows = sets.scaled(ROWS, scale)
    X, y, *_ = sets.text_like(SHARDS * rows + TEST_ROWS)
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.05, -y, y)
    jobs = [
        (f"{folder().name}/part-{k}.svm", X[k * rows :][:rows], noisy[k * rows :][:rows])
        for k in range(SHARDS)
    ]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap(write, [(*job, scale * BYTES / SHARDS) for job in jobs])
    return Written([name for name, *_ in jobs], X[SHARDS * rows :], y[SHARDS * rows :])


def write(name: str, X: Any, y: np.ndarray, size: float) -> None:
    write_svmlight(name, rb.Examples(X, y))
    text = Path(name).read_bytes()
    with open(name, "ab") as file:
        while file.tell() < size:
            file.write(text)


class Rounds(NamedTuple):
    """What rounds of so many workers showed: the best one's seconds, bytes, and all else."""

    seconds: float
    memory: float
    told: str


@contextmanager
def dask_workers(count: int) -> Iterator[Any]:
    """Start so many processes of one thread; give their client."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@cache
def workers(count: int, scale: float) -> Rounds:
    """Make rounds with so many workers."""
    data = written(scale)
    with quiet(), dask_workers(count) as client:
        return rounds_of(client, data)


def rounds_of(client: Any, data: Written) -> Rounds:
    seen: list[mixing.RoundProgress] = []
    began = time.perf_counter()
    learner, once = averaged(ROUNDS), averaged(1)
    with DaskEngine(client) as engine:
        engine.put(shards_of(data.names, None, Reading()))
        train(learner, engine, None, seen.append)
        whole = time.perf_counter() - began
        train(once, engine)
    rounds = [progress.round for progress in seen[1:]]
    best = min(rounds, key=lambda each: each.seconds)
    between = [1 - each.longest / each.seconds for each in rounds]
    memory = max(info["metrics"]["memory"] for info in client.scheduler_info()["workers"].values())
    errors = [1 - each.score(data.held_out, data.answers) for each in (once, learner)]
    told = (
        f"scheduler and network {1 - best.longest / best.seconds:.1%} of the best round, "
        f"{np.median(between):.1%} in the median, {best.moved / 1e6:.1f} MB moved, {ROUNDS} rounds "
        f"with reading {whole:.1f} s, held-out error {errors[0]:.2%} after one pass"
    )
    return Rounds(best.seconds, memory, told)


def averaged(passes: int) -> rb.Perceptron:
    """Make a learner that answers with the mean of its weights after so many passes."""
    return rb.Perceptron(output="averaged", max_iter=passes, patience=None)


def dask_ml(scale: float) -> Contestant:
    """Enter dask-ml's incremental SGD on the same rows, loaded beforehand, for one pass."""
    import dask
    import dask.array as da
    import distributed
    from dask_ml.wrappers import Incremental
    from sklearn.linear_model import SGDClassifier

    data = written(scale)

    def run(_: None) -> float:
        width, count = data.held_out.shape[1], len(rb.read(data.names[0]).y)
        parts = [dask.delayed(read)(name, width) for name in data.names]
        none = sparse.csr_matrix((0, 0))
        X = [da.from_delayed(part[0], (count, width), meta=none) for part in parts]
        y = [da.from_delayed(part[1], (count,), dtype=int) for part in parts]
        with quiet(), dask_workers(2):
            loaded = dask.persist(da.concatenate(X), da.concatenate(y))
            distributed.wait(loaded)
            for _ in range(2):  # the first one has the workers import scikit-learn
                began = time.perf_counter()
                Incremental(SGDClassifier(tol=None)).fit(*loaded, classes=[-1, 1])
            return time.perf_counter() - began

    return Contestant(run)


def read(name: str, width: int) -> tuple[Any, np.ndarray]:
    found = rb.read(name, width=width)
    return found.X, np.asarray(found.y)


# ---- accuracy


@cache
def news() -> Split:
    """Give rcv1."""
    X, y = rb.read(sets.found("binary/rcv1_24k.svm.gz"))
    return X[:18000], y[:18000], X[18000:], y[18000:]


@cache
def forests() -> Split:
    """Give covtype, its columns scaled to 1, in another order."""
    X, y = rb.read(sets.found("multiclass/covtype.csv.gz"))
    X = np.ascontiguousarray(X / np.maximum(np.abs(X).max(axis=0), 1e-9), np.float32)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    return X[:400_000], y[:400_000], X[400_000:], y[400_000:]


SETS: dict[str, Callable[[], Split]] = {
    "rcv1": news,
    "MNIST": partial(images, "mnist"),
    "covtype": forests,
}


def accuracy(fit: Callable[..., Any], make: Callable[[], Split], passes: int) -> Contestant:
    """Enter the share of held-out rows that are classified correctly."""

    def run(_: None) -> float:
        X, y, more, labels = make()
        with quiet():
            return float(fit(averaged(passes), X, y).score(more, labels))

    return Contestant(run)


def on_one_machine(learner: Any, X: Any, y: np.ndarray) -> Any:
    return learner.fit(X, y)


def on_shards(learner: Any, X: Any, y: np.ndarray) -> Any:
    with LocalEngine(2) as engine:
        return rb.cluster.fit(learner, cut(X, y), client=engine)


# ---- soft margins against CoCoA+


GAPS = (
    *(("rcv1", kind) for kind in ("free", "lifted", "none")),
    ("MNIST", "free"),
    ("covtype", "free"),
)
TWO_CLASSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rcv1": lambda y: y,
    "MNIST": lambda y: y % 2,
    "covtype": lambda y: y == 2,
}


@cache
def our_gap(name: str, intercept: str) -> Any:
    """Solve to a gap of 1e-3."""
    return solved(svm.solver_for, name, intercept, MOST_ROUNDS)


def cocoa_gap(name: str, intercept: str) -> Contestant:
    """Enter the gap of CoCoA+ after as many rounds."""

    def run(_: None) -> float:
        rounds = our_gap(name, intercept).n_iter_
        return float(solved(lambda _: CoCoA, name, intercept, rounds).gap_)

    return Contestant(run)


def solved(solver: Any, name: str, intercept: str, rounds: int) -> Any:
    """Solve on 8 shards with one solver or the other; each use of all shards is a round."""
    X, labels, *_ = SETS[name]()
    y = TWO_CLASSES[name](labels)
    learner = rb.SoftMarginSVM(max_iter=rounds, lam=len(y) / 20_000, intercept=intercept)
    svm.solver_for, kept = solver, svm.solver_for
    try:
        with quiet():
            return on_shards(learner, X, y)
    finally:
        svm.solver_for = kept


@loop
def cautious_sweep(
    problem: DualRows, order: np.ndarray, w: np.ndarray, betas: np.ndarray, caution: float
) -> None:
    """Sweep as if w moved so many times as far: the local problem of CoCoA+."""
    _, rows, signs, centre, squares, caps = problem
    for k in range(order.size):
        i = np.int64(order[k])
        slope = signs[i] * (dot(rows, i, w) + centre) - 1.0
        step = slope / (caution * squares[i]) if squares[i] > 0.0 else 0.0
        moved = min(max(betas[i] - step, 0.0), caps[i])
        if moved != betas[i]:
            add(rows, i, caution * (moved - betas[i]) * signs[i], w)
            betas[i] = moved


def cautious_steps(shard: Any, given: Any, own: Any) -> Any:
    problem = given.of(shard)
    before = own.betas
    betas, w = before.copy(), given.w.copy()
    seed = np.array([own.seed + given.number], np.uint64)
    order = np.arange(betas.size, dtype=np.uint32)
    shuffle(order, seed)
    cautious_sweep(problem, order, w, betas, float(SHARDS))
    return betas, (w - given.w) / SHARDS


class CoCoA(dual.DualSteps):
    """Rounds of CoCoA+: each shard as if w moved S times as far, all steps added up."""

    def _round(self) -> float:
        given = self.given
        own = [steps.Own(*each) for each in zip(self.seeds, self.lengths, self.betas, strict=True)]
        parts = list(self.engine.map(cautious_steps, given, own))
        self.betas = [betas for betas, _ in parts]
        w = given.w + sum(step for _, step in parts)
        self.number += 1
        self.given = given._replace(number=self.number, w=w)
        return 1.0  # look at the gap at the end, and every so many rounds


# ---- kills


class Killed(NamedTuple):
    """How many runs ended with the same weights, and seconds: undisturbed, the longest."""

    same: int
    alone: float
    longest: float


@cache
def kills(runs: int) -> Killed:
    """Kill workers in a random round of each run."""
    import dask
    import distributed

    X, y, _ = rb.make_separable(200_000, 30, margin=0.01, seed=1)
    wrong = np.random.default_rng(0).random(len(y)) < 0.01  # or the run would end before its time
    shards = cut(X, np.where(wrong, -y, y))
    # 15 s after a loss, a LocalCluster gives up a worker that is not there, even one that was
    # killed again just then and is about to come back, as happens here.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    with (
        quiet(),
        patient,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):

        def run(watch: Callable | None) -> tuple[Any, float]:
            with distributed.Client(cluster) as client:
                client.wait_for_workers(2)
                began = time.perf_counter()
                found = rb.cluster.fit(averaged(KILLED_ROUNDS), shards, client=client, watch=watch)
                return found, time.perf_counter() - began

        whole, alone = min((run(None) for _ in range(3)), key=lambda pair: pair[1])
        assert whole.run_.rounds == KILLED_ROUNDS
        killed = [run(killing(cluster, trial, runs)) for trial in range(runs)]
        same = sum(bool(np.array_equal(found.coef_, whole.coef_)) for found, _ in killed)
        return Killed(same, alone, max(seconds for _, seconds in killed))


def killing(cluster: Any, trial: int, runs: int) -> Callable[[Any], None]:
    """Give what kills a worker, or both, in a round drawn at random."""
    moment = int(np.random.default_rng(trial).integers(1, KILLED_ROUNDS - 10))
    count = 1 if trial < runs * 4 / 5 else 2

    def kill(progress: Any) -> None:
        if progress.rounds == moment:
            alive = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
            for pid in np.random.default_rng(moment).permutation(alive)[:count]:
                os.kill(int(pid), signal.SIGKILL)

    return kill
