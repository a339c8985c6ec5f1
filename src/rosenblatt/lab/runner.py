"""Runs experiments: cases in processes, every result kept at once, files at the end.

Each experiment has a folder. ``cases.jsonl`` grows by a line for each case that is done, so that a
run that was stopped goes on where it was; a run with another seed, size or version starts anew.
From the rows come ``rows.csv``, ``rows.parquet``, ``figure.svg`` and ``figure.png``.
"""

from __future__ import annotations

import csv
import hashlib
import inspect
import io
import json
import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rosenblatt
from rosenblatt.blocks import cores
from rosenblatt.data.files import make_folder, write_atomically
from rosenblatt.errors import InputError, RosenblattError, optional_module
from rosenblatt.lab.catalogue import find
from rosenblatt.lab.experiment import Case, Experiment, Row, Table

JOURNAL, FAILED = "cases.jsonl", "failed"
SEEDS = 1000  # more than any experiment uses


@dataclass(frozen=True)
class Schedule:
    """What was asked for; names are those of the catalogue, or files of one's own."""

    names: tuple[str, ...]
    out: Path
    quick: bool = False
    seed: int = 0


@dataclass
class Outcome:
    """What became of an experiment."""

    name: str
    rows: list[Row]
    seconds: float
    seen: str = ""
    more: str = ""
    above: int = 0
    drawn: bool = True

    @property
    def failed(self) -> list[Row]:
        """Give the rows of cases that failed."""
        return [row for row in self.rows if row.get(FAILED)]


@dataclass
class CasesDone:
    """How far a run is: cases done of all, and those that were there before it began."""

    done: int
    total: int
    found: int
    now: str = ""


@dataclass
class _Work:
    """An experiment under way, by the name under which it was asked for."""

    name: str
    experiment: Experiment
    folder: Path
    cases: Sequence[Case]
    results: dict[str, tuple[list[Row], float]] = field(default_factory=dict)

    def missing(self) -> list[Case]:
        return [case for case in self.cases if _key(case) not in self.results]

    def is_done(self) -> bool:
        return len(self.results) == len(self.cases)

    def rows(self) -> list[Row]:
        return [row for case in self.cases for row in self.results[_key(case)][0]]

    def seconds(self) -> float:
        return sum(self.results[_key(case)][1] for case in self.cases)


def run(plan: Schedule, watch: Callable[[CasesDone], None] | None = None) -> list[Outcome]:
    """Run experiments on all cores; give their outcomes in the order of the plan."""
    _check_extras()
    _check_names(plan.names)
    works = [_opened(name, plan) for name in plan.names]
    progress = CasesDone(
        done=sum(len(work.results) for work in works),
        total=sum(len(work.cases) for work in works),
        found=sum(len(work.results) for work in works),
    )
    outcomes: dict[str, Outcome] = {}
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(cores(), mp_context=context, initializer=_begin)
    try:
        _drive(pool, works, progress, outcomes, watch or (lambda _: None))
    except BrokenProcessPool:
        raise InputError(
            f"a process of the laboratory was ended from outside, perhaps for want of memory; "
            f"what is done is kept in {plan.out}: the same command goes on from there"
        ) from None
    except BaseException:
        for process in multiprocessing.active_children():  # nobody wants to wait for a long case
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return [outcomes[name] for name in plan.names]


def _drive(
    pool: ProcessPoolExecutor,
    works: list[_Work],
    progress: CasesDone,
    outcomes: dict[str, Outcome],
    watch: Callable[[CasesDone], None],
) -> None:
    """Hand out cases in order; whenever the last one of an experiment is done, write its files."""
    running: dict[Future, tuple[_Work, Case | None]] = {}
    for work, case in _in_turn(works):
        running[_submitted(pool, _measured, work.name, case)] = (work, case)
    for work in works:
        if work.is_done():
            running[_finishing(pool, work)] = (work, None)
    while running:
        watch(progress)
        for future in wait(running, timeout=0.5, return_when=FIRST_COMPLETED).done:
            work, done = running.pop(future)
            if done is None:
                outcomes[work.name] = Outcome(
                    work.name, work.rows(), work.seconds(), *future.result()
                )
                continue
            rows, seconds = future.result()
            _keep(work, done, rows, seconds)
            progress.done, progress.now = progress.done + 1, work.experiment.name
            if work.is_done():
                running[_finishing(pool, work)] = (work, None)
    watch(progress)


def _in_turn(works: list[_Work]) -> Iterator[tuple[_Work, Case]]:
    """Give the cases to be done, the first one of each experiment before all others.

    Loops are compiled when they are first called: so each process compiles others than its peers,
    which later find them on the disk.
    """
    missing = [(work, work.missing()) for work in works]
    yield from ((work, cases[0]) for work, cases in missing if cases)
    yield from ((work, case) for work, cases in missing for case in cases[1:])


def _finishing(pool: ProcessPoolExecutor, work: _Work) -> Future:
    return _submitted(pool, _finished, work.name, work.folder, work.rows())


def _submitted(pool: ProcessPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Future:
    """Hand work to a process; one begun for it hears no Ctrl-C, not even before `_begin`."""
    if not hasattr(signal, "pthread_sigmask"):
        return pool.submit(function, *arguments)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(function, *arguments)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Prepare a process: Ctrl-C is for the parent, and each process has one core."""
    import scipy.linalg  # noqa: F401  (brings a BLAS of its own, which must be there to be limited)
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)


def _measured(name: str, case: Case) -> tuple[list[Row], float]:
    """Measure a case; what it raises becomes a row."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a limit was reached is a measurement here
            given = find(name).measure(**case)
        rows = [{**case, **_plain(row)} for row in (given if isinstance(given, list) else [given])]
    except Exception as error:
        rows = [{**case, FAILED: f"{type(error).__name__}: {error}"}]
    return rows, time.process_time() - began


def _plain(row: Row) -> Row:
    """Give NumPy's numbers as Python's, which JSON knows."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in row.items()}


def _finished(name: str, folder: Path, rows: list[Row]) -> tuple[str, str, int, bool]:
    """Write an experiment's files; give what an `Outcome` tells of them."""
    experiment = find(name)
    _write_rows(folder, rows)
    table = Table(row for row in rows if not row.get(FAILED))
    if not table.rows:
        return "Every case failed; the rows say why.", "", 0, False
    above = 0
    try:
        above = len(experiment.above(table))
        return *_told(experiment, table, folder), above, True
    except RosenblattError:  # what cannot be written, for want of room or rights
        raise
    except Exception as error:  # too many cases failed, or the experiment is still being written
        return f"The rows could not be drawn: {type(error).__name__}: {error}", "", above, False


def _told(experiment: Experiment, table: Table, folder: Path) -> tuple[str, str]:
    """Draw; give what is seen, and HTML."""
    from rosenblatt.lab.style import look, new_figure, write_figure

    figure = new_figure(*experiment.size)
    with look():
        experiment.draw(figure, table)
    for kind in ("svg", "png"):
        write_figure(figure, folder / f"figure.{kind}")
    more = experiment.more(table, folder) if experiment.more else ""
    return experiment.seen(table), more


def _write_rows(folder: Path, rows: list[Row]) -> None:
    import polars

    names = list(dict.fromkeys(name for row in rows for name in row))
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, names)
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(folder / "rows.csv", buffer.getvalue().encode())
    columns = [{name: row.get(name) for name in names} for row in rows]
    frame = polars.DataFrame(columns, infer_schema_length=None, strict=False)
    table = io.BytesIO()
    frame.write_parquet(table)
    write_atomically(folder / "rows.parquet", table.getvalue())


# ---- what was done before


def _opened(name: str, plan: Schedule) -> _Work:
    """Make the folder of an experiment, and take over what was done there before."""
    experiment = find(name)
    folder = plan.out / experiment.name
    make_folder(folder)
    cases = [_moved(case, plan.seed) for case in experiment.cases(plan.quick)]
    work = _Work(name, experiment, folder, cases)
    header = _header(experiment, plan)
    wanted = {_key(case) for case in cases}
    kept = [
        (line["case"], line["rows"], line["seconds"])
        for line in _journal(folder / JOURNAL, header)
        if _key(line["case"]) in wanted and not any(row.get(FAILED) for row in line["rows"])
    ]
    lines = [header, *(_line(*entry) for entry in kept)]
    write_atomically(folder / JOURNAL, "".join(f"{line}\n" for line in lines).encode())
    work.results = {_key(case): (rows, seconds) for case, rows, seconds in kept}
    return work


def _moved(case: Case, seed: int) -> Case:
    """Move the seed so far that runs with different seeds share no problem."""
    return {**case, "seed": case["seed"] + SEEDS * seed} if "seed" in case else case


def _header(experiment: Experiment, plan: Schedule) -> str:
    source = inspect.getsource(inspect.getmodule(experiment.measure))  # type: ignore[arg-type]
    return json.dumps(
        {
            "experiment": experiment.name,
            "rosenblatt": rosenblatt.__version__,
            "source": hashlib.sha256(source.encode()).hexdigest()[:16],
            "quick": plan.quick,
            "seed": plan.seed,
        }
    )


def _journal(path: Path, header: str) -> Iterable[Any]:
    """Give the entries of a journal with this header, up to a line that is damaged or cut off."""
    try:
        first, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
    except (OSError, UnicodeDecodeError):
        return
    if first != header:
        return
    for line in lines:
        try:
            entry = json.loads(line)
            usable = (
                isinstance(entry["case"], dict)
                and all(isinstance(row, dict) for row in entry["rows"])
                and isinstance(entry["seconds"], float | int)
            )
        except (ValueError, TypeError, KeyError):
            usable = False
        if not usable:
            return
        yield entry


def _keep(work: _Work, case: Case, rows: list[Row], seconds: float) -> None:
    work.results[_key(case)] = (rows, seconds)
    with (work.folder / JOURNAL).open("a", encoding="utf-8") as file:
        file.write(_line(case, rows, seconds) + "\n")


def _line(case: Case, rows: list[Row], seconds: float) -> str:
    return json.dumps({"case": case, "rows": rows, "seconds": round(seconds, 6)})


def _key(case: Case) -> str:
    return json.dumps(case, sort_keys=True)


def _check_names(names: Sequence[str]) -> None:
    """Refuse, before any folder is made, names of no experiment, and two of the same name."""
    found = [find(name).name for name in names]
    for name in found:
        if found.count(name) > 1:
            raise InputError(f"two experiments are called {name!r}; run them one after the other")


def _check_extras() -> None:
    """Find out before the work, not after it, that a library is missing."""
    for name in ("matplotlib", "polars"):
        optional_module(name, "lab")
