"""Reading files: against scikit-learn, Polars and Vowpal Wabbit, and from the shell."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench import sets
from bench.race import Contestant, Race, itself, race, ratio

MEGABYTE = 1_000_000
SVMLIGHT, VOWPAL = "{label} {pairs}\n", "{label} | {pairs}\n"
VOWPAL_CODE = "import sys, vowpalwabbit; vowpalwabbit.Workspace(sys.argv[1]).finish()"


@race
def load_svmlight(scale: float) -> Race:
    """Load 1 GB of svmlight text, 47,236 columns, about 74 entries a row."""
    path = text_file(SVMLIGHT, int(1000 * MEGABYTE * scale))
    return Race(
        entries={
            "rosenblatt": lambda: Contestant(lambda _: read(path), touched),
            "rosenblatt, one thread": lambda: Contestant(lambda _: read(path, threads=1), touched),
            "scikit-learn": lambda: peer_load(path),
        },
        figures=[
            ratio("scikit-learn", "rosenblatt", at_least=20),
            ratio("scikit-learn", "rosenblatt, one thread", at_least=10),
        ],
        unit="s",
        factor=1,
        note=lambda: f"{path.stat().st_size / MEGABYTE:,.0f} MB",
    )


@race
def hash_text(scale: float) -> Race:
    """Hash 100 MB of text into 2^18 columns."""
    documents = words(int(100 * MEGABYTE * scale))
    return Race(
        entries={
            "rosenblatt": lambda: hashing(documents, None),
            "rosenblatt, one thread": lambda: hashing(documents, 1),
            "scikit-learn": lambda: peer_hashing(documents),
        },
        figures=[
            ratio("scikit-learn", "rosenblatt", at_least=15),
            ratio("scikit-learn", "rosenblatt, one thread", at_least=8),
        ],
        unit="s",
        factor=1,
        note=lambda: f"{len(documents):,} documents of 200 words",
    )


@race
def csv_to_model(scale: float) -> Race:
    """CSV of 1 GB, 100 columns of numbers, to a model."""
    path = csv_file(int(1000 * MEGABYTE * scale))
    return Race(
        entries={
            "rosenblatt": lambda: Contestant(lambda _: learn(path), touched),
            "Polars, reading alone": lambda: polars_read(path),
        },
        figures=[ratio("rosenblatt", "Polars, reading alone", at_most=1.3)],
        unit="s",
        factor=1,
        note=lambda: f"{path.stat().st_size / MEGABYTE:,.0f} MB",
    )


@race
def command(scale: float) -> Race:
    """Whole command, 1 GB of text to a saved model, one pass, start-up included."""
    size = int(1000 * MEGABYTE * scale)
    ours, theirs = text_file(SVMLIGHT, size), text_file(VOWPAL, size)
    options = f"-d {theirs} --loss_function hinge --quiet -b 18 -f {theirs}.model"
    return Race(
        entries={
            "rosenblatt": lambda: shell(
                "-m", "rosenblatt", "fit", ours, *ONE_PASS, f"{ours}.model"
            ),
            "Vowpal Wabbit": lambda: vowpal(options),
        },
        figures=[ratio("Vowpal Wabbit", "rosenblatt", at_least=2)],
        unit="s",
        factor=1,
        note=lambda: f"{ours.stat().st_size / MEGABYTE:,.0f} MB of text each",
    )


@race
def five_passes(scale: float) -> Race:
    """Five passes over mapped arrays, against Vowpal Wabbit's cache file, of 1 GB of text."""
    size = int(1000 * MEGABYTE * scale)
    ours, theirs = text_file(SVMLIGHT, size), text_file(VOWPAL, size)
    options = f"-d {theirs} --loss_function hinge --quiet -b 18 --passes 5 --holdout_off"
    options += f" --cache_file {theirs}.cache -f {theirs}.model"
    return Race(
        entries={
            "rosenblatt": lambda: shell(
                "-m", "rosenblatt", "fit", store_of(ours), *FIVE_PASSES, f"{ours}.model"
            ),
            "Vowpal Wabbit": lambda: vowpal(options),
        },
        figures=[ratio("Vowpal Wabbit", "rosenblatt", at_least=3)],
        unit="s",
        factor=1,
        note=lambda: "the store and the cache file are made before the race",
    )


@race
def stream_time(scale: float) -> Race:
    """One pass over 4 GB of text as a stream, against reading it whole and fitting."""
    path = text_file(SVMLIGHT, int(4000 * MEGABYTE * scale))
    return Race(
        entries={
            "rosenblatt, stream": lambda: shell("-c", STREAM_CODE, *streaming(path)),
            "rosenblatt, in memory": lambda: shell("-c", IN_MEMORY_CODE, path, f"{path}.model"),
        },
        figures=[ratio("rosenblatt, stream", "rosenblatt, in memory", at_most=1.3)],
        unit="s",
        factor=1,
        note=lambda: f"{path.stat().st_size / MEGABYTE:,.0f} MB",
    )


@race
def stream_memory(scale: float) -> Race:
    """Peak of resident memory while 4 GB of text are learned as a stream."""
    path = text_file(SVMLIGHT, int(4000 * MEGABYTE * scale))

    def run(_: None) -> float:
        line = [sys.executable, "-c", STREAM_CODE, *map(str, streaming(path))]
        done = subprocess.run(line, check=True, capture_output=True, text=True)
        return int(done.stderr.split()[-1]) * 1024 / MEGABYTE

    return Race(
        entries={"rosenblatt": lambda: Contestant(run)},
        figures=[itself("rosenblatt", at_most=500)],
        unit="MB",
        timed=False,
        repeats=1,
        note=lambda: "VmHWM of a new process",
    )


def streaming(path: Path) -> tuple[Any, ...]:
    """Give the words of a command that learns a file as a stream, one pass."""
    return "fit", path, "--stream", *ONE_PASS, f"{path}.model"


STREAM_CODE = """
import sys
from rosenblatt.cli.main import run
try:
    run()
finally:
    lines = open("/proc/self/status").read().splitlines()
    print(next(line.split()[1] for line in lines if line.startswith("VmHWM")), file=sys.stderr)
"""
IN_MEMORY_CODE = """
import sys, rosenblatt as rb
rb.save(rb.Perceptron(max_iter=1).fit(*rb.read(sys.argv[1])), sys.argv[2])
"""
ONE_PASS = ("--max-iter", "1", "--json", "--model")
FIVE_PASSES = ("--max-iter", "5", "--json", "--model")


def read(path: Path, **options: Any) -> Any:
    """Read a file with rosenblatt."""
    import rosenblatt as rb

    return rb.read(path, **options)


def learn(path: Path) -> Any:
    """Read a file and make one pass."""
    import rosenblatt as rb
    from bench.one_pass import quietly

    return quietly(rb.Perceptron(max_iter=1), *read(path))


def peer_load(path: Path) -> Contestant:
    """Enter scikit-learn's loader."""
    from sklearn.datasets import load_svmlight_file

    return Contestant(lambda _: load_svmlight_file(str(path), dtype=np.float32), touched)


def touched() -> None:
    """Touch and free two gigabytes: who is first to do so may wait for the machine's host."""
    np.ones(2**28)


def polars_read(path: Path) -> Contestant:
    """Enter Polars' reader."""
    import polars

    return Contestant(lambda _: polars.read_csv(path), touched)


def hashing(documents: list[str], jobs: int | None) -> Contestant:
    """Enter rosenblatt's hasher."""
    import rosenblatt as rb

    return Contestant(lambda _: rb.TextHasher(n_jobs=jobs).transform(documents))


def peer_hashing(documents: list[str]) -> Contestant:
    """Enter scikit-learn's hasher."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return Contestant(lambda _: HashingVectorizer(n_features=2**18).transform(documents))


def shell(*words: Any) -> Contestant:
    """Enter a command of this interpreter."""
    line = [sys.executable, *map(str, words)]
    return Contestant(lambda _: subprocess.run(line, check=True, capture_output=True))


def vowpal(options: str) -> Contestant:
    """Enter Vowpal Wabbit's Python package, in a process of its own."""
    import vowpalwabbit  # noqa: F401  (missing: the race says so)

    return shell("-c", VOWPAL_CODE, options)


@functools.cache
def folder() -> Path:
    """Make a folder for the files of a run, which goes away with it."""
    made = tempfile.TemporaryDirectory(prefix="rosenblatt-bench")
    folder_keeper.append(made)
    return Path(made.name)


folder_keeper: list[Any] = []


@functools.cache
def text_file(line: str, size: int) -> Path:
    """Write about `size` bytes of text, a block of rows over and over."""
    return repeated("".join(rows_of(line)).encode(), size, f"{len(line)}-{size}")


@functools.cache
def rows_of(line: str) -> list[str]:
    """Make 20,000 lines of text-like rows."""
    X, y = sets.text_like(20_000)
    pairs = [f"{j + 1}:{v:.4f}" for j, v in zip(X.indices.tolist(), X.data.tolist(), strict=True)]
    starts = X.indptr.tolist()
    cuts = zip(y.tolist(), starts, starts[1:], strict=False)
    return [line.format(label=label, pairs=" ".join(pairs[a:b])) for label, a, b in cuts]


@functools.cache
def csv_file(size: int) -> Path:
    """Write about `size` bytes of CSV: 100 columns of numbers, and labels."""
    random = np.random.default_rng(0)
    values = random.standard_normal((20_000, 100))
    labels = np.where(values[:, 0] > 0, "yes", "no")
    rows = (",".join(f"{v:.6f}" for v in row) for row in values.tolist())
    block = "".join(f"{row},{label}\n" for row, label in zip(rows, labels, strict=True))
    header = ",".join([*(f"x{j}" for j in range(100)), "label"]) + "\n"
    return repeated(block.encode(), size, f"{size}.csv", header.encode())


def repeated(block: bytes, size: int, name: str, header: bytes = b"") -> Path:
    """Write a block over and over, until the file has about so many bytes."""
    path = folder() / name
    with path.open("wb") as file:
        file.write(header)
        for _ in range(max(1, round(size / len(block)))):
            file.write(block)
    return path


@functools.cache
def store_of(path: Path) -> Path:
    """Convert a file to mapped arrays."""
    store = path.with_suffix(".rows")
    line = [sys.executable, "-m", "rosenblatt", "convert", str(path), str(store)]
    subprocess.run(line, check=True, capture_output=True)
    return store


def words(size: int) -> list[str]:
    """Make documents of 200 words drawn from a skewed vocabulary."""
    random = np.random.default_rng(0)
    letters = np.frombuffer(b"etaoinshrdlcumwfgypbvkjxqz", np.uint8)
    lengths = random.integers(2, 11, 100_000)
    vocabulary = np.array(
        [letters[random.geometric(0.12, n) % 26].tobytes().decode() for n in lengths]
    )
    chosen = vocabulary[sets.popular(random.random(size // 7), vocabulary.size)]
    return [" ".join(chosen[i : i + 200]) for i in range(0, chosen.size, 200)]
