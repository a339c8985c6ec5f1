"""`python -m bench.cluster [PART...]`: many workers, in one run, with ratios.

Parts: workers (1, 2, 4, 8 processes on svmlight shards, and dask-ml on the same), accuracy (8
shards against one machine), svm (rounds to a gap of 1e-3 against CoCoA+), kills (kill -9). The
shards of `workers` take GIGABYTES (environment, default 0.25) in the folder CLUSTER_DATA, where
they stay for the next run (default: a temporary one), and WORKERS says how many (default
"1 2 4 8"). KILLS are the runs of `kills` (default 25), of which a fifth lose both workers.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import rosenblatt as rb
from bench import sets
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


def cut(X: Any, y: np.ndarray, shards: int = SHARDS) -> list[tuple[Any, np.ndarray]]:
    ends = [len(y) * k // shards for k in range(shards + 1)]
    return [(X[a:b], y[a:b]) for a, b in pairwise(ends)]


# ---- workers


class Written(NamedTuple):
    """Shards in files, and rows that are in none of them."""

    names: list[str]
    held_out: Any
    answers: np.ndarray


def written(folder: Path, gigabytes: float) -> Written:
    """Write shards of text-like rows, one label in 20 wrong, each repeated until it is large."""
    X, y, *_ = sets.text_like(SHARDS * ROWS + TEST_ROWS)
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.05, -y, y)
    jobs = [
        (str(folder / f"part-{k}.svm"), X[k * ROWS : (k + 1) * ROWS], noisy[k * ROWS :][:ROWS])
        for k in range(SHARDS)
    ]
    size = gigabytes * 1e9 / SHARDS
    missing = [(*job, size) for job in jobs if not large(job[0], size)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap(write, missing)
    return Written([name for name, *_ in jobs], X[SHARDS * ROWS :], y[SHARDS * ROWS :])


def large(name: str, size: float) -> bool:
    return os.path.exists(name) and os.path.getsize(name) >= size


def write(name: str, X: Any, y: np.ndarray, size: float) -> None:
    whole = name + ".part"
    write_svmlight(whole, rb.Examples(X, y))
    text = Path(whole).read_bytes()
    with open(whole, "ab") as file:
        while file.tell() < size:
            file.write(text)
    os.replace(whole, name)


def workers() -> None:
    import distributed

    with tempfile.TemporaryDirectory() as place:
        folder = Path(os.environ.get("CLUSTER_DATA", place))
        folder.mkdir(exist_ok=True)
        data = written(folder, float(os.environ.get("GIGABYTES", "0.25")))
        size = sum(map(os.path.getsize, data.names))
        print(f"  {size / 1e9:.2f} GB of svmlight in {SHARDS} files", flush=True)
        for count in map(int, os.environ.get("WORKERS", "1 2 4 8").split()):
            with (
                distributed.LocalCluster(
                    n_workers=count, threads_per_worker=1, dashboard_address=":0", silence_logs=50
                ) as cluster,
                distributed.Client(cluster) as client,
            ):
                print(f"  {count} workers: {rounds_of(client, data)}", flush=True)
                if count == 2:
                    dask_ml(data)


def rounds_of(client: Any, data: Written) -> str:
    seen: list[mixing.RoundProgress] = []
    made = lambda rounds: rb.Perceptron(  # noqa: E731
        max_iter=rounds, patience=None, output="averaged"
    )
    began = time.perf_counter()
    learner, once = made(ROUNDS), made(1)
    with DaskEngine(client) as engine:
        engine.put(shards_of(data.names, None, Reading()))
        train(learner, engine, None, seen.append)
        whole = time.perf_counter() - began
        train(once, engine)
    rounds = [progress.round for progress in seen[1:]]
    best = min(rounds, key=lambda each: each.seconds)
    idle = 1 - best.busy / len(client.nthreads()) / best.seconds
    between = [1 - each.longest / each.seconds for each in rounds]
    memory = max(info["metrics"]["memory"] for info in client.scheduler_info()["workers"].values())
    errors = [1 - each.score(data.held_out, data.answers) for each in (once, learner)]
    return (
        f"{best.seconds:.3f} s a round (best of {len(rounds)}), tasks {best.busy:.3f} s, workers "
        f"idle {idle:.1%}, scheduler and network {1 - best.longest / best.seconds:.1%} (median of "
        f"all rounds {np.median(between):.1%}), {best.moved / 1e6:.2f} MB moved, {whole:.1f} s "
        f"with reading, largest worker {memory / 1e6:.0f} MB; held-out error {errors[0]:.2%} after "
        f"one pass, {errors[1]:.2%} after {ROUNDS}"
    )


def dask_ml(data: Written) -> None:
    """Race dask-ml's incremental SGD on the same rows, loaded beforehand, for one pass."""
    try:
        import dask
        import dask.array as da
        import distributed
        from dask_ml.wrappers import Incremental
        from sklearn.linear_model import SGDClassifier
    except ImportError:
        print("  dask-ml is not installed: pip install dask-ml to race it")
        return
    width = data.held_out.shape[1]
    parts = [dask.delayed(rows)(name, width) for name in data.names]
    count = len(rb.read(data.names[0]).y)
    none = sparse.csr_matrix((0, 0))
    X = da.concatenate([da.from_delayed(part[0], (count, width), meta=none) for part in parts])
    y = da.concatenate([da.from_delayed(part[1], (count,), dtype=int) for part in parts])
    X, y = dask.persist(X, y)
    distributed.wait([X, y])
    began = time.perf_counter()
    found = Incremental(SGDClassifier(tol=None)).fit(X, y, classes=[-1, 1])
    seconds = time.perf_counter() - began
    error = 1 - found.estimator_.score(data.held_out, data.answers)
    print(
        f"  dask-ml Incremental(SGDClassifier): {seconds:.3f} s a pass, held-out error {error:.2%}",
        flush=True,
    )


def rows(name: str, width: int) -> tuple[Any, np.ndarray]:
    found = rb.read(name, width=width)
    return found.X, np.asarray(found.y)


# ---- accuracy


def named_sets() -> Iterator[tuple[str, Any, Any, Any, Any]]:
    X, y = rb.read(sets.found("binary/rcv1_24k.svm.gz"))
    yield "rcv1_24k", X[:18000], y[:18000], X[18000:], y[18000:]
    train_X, train_y = rb.read(sets.found("mnist/train-images-idx3-ubyte.gz"))
    held_out, answers = rb.read(sets.found("mnist/t10k-images-idx3-ubyte.gz"))
    yield "mnist", train_X / 255, train_y, held_out / 255, answers
    X, y = rb.read(sets.found("multiclass/covtype.csv.gz"))
    X = np.ascontiguousarray(X / np.maximum(np.abs(X).max(axis=0), 1e-9), np.float32)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    yield "covtype", X[:400_000], y[:400_000], X[400_000:], y[400_000:]


def accuracy() -> None:
    for name, X, y, test, labels in named_sets():
        for passes in (10, 30):
            made = lambda passes=passes: rb.Perceptron(  # noqa: E731
                output="averaged", max_iter=passes, patience=None
            )
            one = made().fit(X, y).score(test, labels)
            with LocalEngine(2) as engine:
                many = rb.cluster.fit(made(), cut(X, y), client=engine).score(test, labels)
            print(
                f"  {name}, {passes} passes: one machine {one:.2%}, 8 shards {many:.2%}, "
                f"{100 * (many - one):+.2f} points",
                flush=True,
            )


# ---- SVM against CoCoA+


MOST_ROUNDS = 100


def gaps() -> None:
    """Count rounds to a gap of 1e-3, and tell the gap of CoCoA+ after as many."""
    for name, X, labels, *_ in named_sets():
        y = {"mnist": labels % 2, "covtype": labels == 2}.get(name, labels)
        lam = len(y) / 20_000
        for intercept in ("free", "lifted", "none") if name == "rcv1_24k" else ("free",):
            ours = rounds_to_gap(svm.solver_for, X, y, lam=lam, intercept=intercept)
            options = {"lam": lam, "intercept": intercept, "max_iter": ours.n_iter_}
            theirs = rounds_to_gap(lambda _: CoCoA, X, y, **options)
            print(
                f"  {name}, intercept {intercept}: {ours.n_iter_} rounds to a gap of "
                f"{ours.gap_:.1e}; CoCoA+ has {theirs.gap_:.1e} after {theirs.n_iter_}",
                flush=True,
            )


def rounds_to_gap(solver: Any, X: Any, y: Any, max_iter: int = MOST_ROUNDS, **options: Any) -> Any:
    learner = rb.SoftMarginSVM(max_iter=max_iter, **options)
    svm.solver_for, kept = solver, svm.solver_for
    try:
        with LocalEngine(2) as engine:
            return rb.cluster.fit(learner, cut(X, y), client=engine)
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

KILLED_ROUNDS = 500  # some seconds; a process that is lost takes two to be started again


def kills() -> None:
    import dask
    import distributed

    X, y, _ = rb.make_separable(200_000, 30, margin=0.01, seed=1)
    wrong = np.random.default_rng(0).random(len(y)) < 0.01  # or the run would end before its time
    shards = cut(X, np.where(wrong, -y, y))
    made = lambda: rb.Perceptron(max_iter=KILLED_ROUNDS, patience=None, output="averaged")  # noqa: E731
    # 15 s after a loss, a LocalCluster gives up a worker that is not there, even one that was
    # killed again just then and is about to come back, as happens here.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    with (
        patient,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):

        def run(watch: Callable | None) -> tuple[Any, float]:
            with distributed.Client(cluster) as client:
                client.wait_for_workers(2)
                began = time.perf_counter()
                found = rb.cluster.fit(made(), shards, client=client, watch=watch)
                return found, time.perf_counter() - began

        whole, alone = min((run(None) for _ in range(3)), key=lambda pair: pair[1])
        assert whole.run_.rounds == KILLED_ROUNDS
        same, longest = 0, 0.0
        runs = int(os.environ.get("KILLS", "25"))
        for trial in range(runs):
            draw = np.random.default_rng(trial)
            moment, count = (
                int(draw.integers(1, KILLED_ROUNDS - 10)),
                1 if trial < runs * 4 // 5 else 2,
            )

            def kill(progress: Any, moment: int = moment, count: int = count) -> None:
                if progress.rounds == moment:
                    alive = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
                    for pid in np.random.default_rng(moment).permutation(alive)[:count]:
                        os.kill(int(pid), signal.SIGKILL)

            found, seconds = run(kill)
            same += bool(np.array_equal(found.coef_, whole.coef_))
            longest = max(longest, seconds)
            print(f"    {count} killed in round {moment}: {seconds:.1f} s", flush=True)
        print(
            f"  kill -9: {same} of {runs} runs end with the same weights; undisturbed {alone:.1f} "
            f"s, the longest {longest:.1f} s ({longest / alone:.1f} times)"
        )


PARTS = {"workers": workers, "accuracy": accuracy, "svm": gaps, "kills": kills}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for part in sys.argv[1:] or PARTS:
        print(part, flush=True)
        PARTS[part]()
