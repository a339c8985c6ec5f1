"""The machine: what it is, and what it can do at most, measured in the same run."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = (
    "rosenblatt",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "river",
    "vowpalwabbit",
    "highspy",
    "python-flint",
    "polars",
    "firthmodels",
    "dask",
    "dask-ml",
    "rich",
)
SUMMED_BYTES = 2**30
SIDE = 2048
STEPS = 10**6


def describe() -> dict[str, Any]:
    """Give the date, the machine and the versions of everything that races."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": {name: installed(name) for name in PACKAGES},
    }


def cpu_model() -> str:
    """Give the name of the processor, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def installed(name: str) -> str | None:
    """Give the version of a package, None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def limits(scale: float, repeats: int) -> dict[str, float]:
    """Measure how fast NumPy sums bytes on one core and multiplies matrices on all."""
    return {
        "float32 sum, GB/s": sum_rate(np.float32, scale, repeats),
        "float64 sum, GB/s": sum_rate(np.float64, scale, repeats),
        f"float32 product of {SIDE}×{SIDE} matrices, GF/s": product_rate(repeats),
        "Python's loop, million steps a second": STEPS / 1e6 / median_seconds(steps, repeats),
    }


def steps() -> None:
    """Do nothing, over and over: how fast the interpreter is."""
    for _ in range(STEPS):
        pass


def sum_rate(dtype: type, scale: float, repeats: int) -> float:
    """Give the gigabytes per second at which NumPy sums a large array."""
    numbers = np.ones(max(2**20, int(scale * SUMMED_BYTES)) // np.dtype(dtype).itemsize, dtype)
    return numbers.nbytes / 1e9 / median_seconds(numbers.sum, repeats)


def product_rate(repeats: int) -> float:
    """Give the billions of float32 operations per second of a large matrix product."""
    square = np.random.default_rng(0).standard_normal((SIDE, SIDE), dtype=np.float32)
    return 2 * SIDE**3 / 1e9 / median_seconds(lambda: square @ square, repeats)


def median_seconds(function: Callable[[], Any], repeats: int) -> float:
    """Give the median time of a function, after a first call that is not counted."""
    function()
    return statistics.median(_seconds(function) for _ in range(repeats))


def _seconds(function: Callable[[], Any]) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began
