"""Engines that tests run on, and data for them."""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np

import rosenblatt as rb
from rosenblatt.cluster.local import LocalEngine


def cut(X, y, shards):
    """Give rows as shards, one after the other."""
    ends = [len(y) * k // shards for k in range(shards + 1)]
    return [(X[a:b], y[a:b]) for a, b in pairwise(ends)]


def planted(n=400, d=6, margin=0.05, seed=0):
    """Give rows that are separable by a known margin, in an order of no meaning."""
    X, y, w = rb.make_separable(n, d, margin=margin, seed=seed)
    order = np.random.default_rng(seed).permutation(n)
    return X[order], y[order], w


@contextmanager
def local_cluster(workers=2):
    """Start a scheduler and worker processes of one thread each; at the end, wait for none long."""
    import dask
    from distributed import LocalCluster

    dask.config.set({"logging.distributed": "critical"})
    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        memory_limit=None,
        silence_logs=50,
    )
    try:
        yield cluster
    finally:
        cluster.close(timeout=60)


def processes(count=2):
    """Start processes of this machine."""
    return LocalEngine(count)
