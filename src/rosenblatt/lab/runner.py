"""Runs experiments: cases in processes, every result remembered at once, files at the end.

Each experiment has a folder, and in it the memory of joblib: a case that was measured is not
measured again, so that a run that was stopped goes on where it was. What is remembered belongs to
the version of the package and to the source of the experiment. From the rows come ``rows.csv``,
``rows.parquet``, ``figure.svg`` and ``figure.png``.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Memory, Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError

import rosenblatt
from rosenblatt.blocks import cores
from rosenblatt.data.files import make_folder, write_atomically
from rosenblatt.errors import InputError, RosenblattError, optional_module
from rosenblatt.lab.catalogue import find
from rosenblatt.lab.experiment import Case, Experiment, Row, Table

MEMORY, FAILED = "cases", "failed"
SEEDS = 1000  # more than any experiment uses

_Key = tuple[str, int]  # the name of an experiment, and the number of a case
_Measured = tuple[list[Row], float]  # and the seconds of one core


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


class _Work(NamedTuple):
    """A case, the name under which its experiment was asked for, and where that is kept."""

    name: str
    folder: Path
    number: int
    case: Case


def run(plan: Schedule, watch: Callable[[CasesDone], None] | None = None) -> list[Outcome]:
    """Run experiments on all cores; give their outcomes in the order of the plan."""
    for library in ("matplotlib", "polars"):  # that one is missing is told before the work
        optional_module(library, "lab")
    _check_names(plan.names)
    works = [work for name in plan.names for work in _works(name, plan)]
    found = sum(_remembered(work).check_call_in_cache(*_call(work)) for work in works)
    progress, processes = CasesDone(found, len(works), found), cores()
    if watch is not None:
        watch(progress)
    try:
        # The memory is that of the processes: each one keeps what it has measured. joblib ends
        # those that have grown and starts others; its warning, where it is an error, would end
        # the thread that waits for them, and leave this one waiting forever.
        with (
            warnings.catch_warnings(action="ignore", category=UserWarning),
            Parallel(processes, return_as="generator_unordered") as pool,
        ):
            results: dict[_Key, _Measured] = {}
            for key, measured in pool(map(delayed(_measured), _in_turn(works))):
                results[key] = measured
                progress.done, progress.now = max(found, len(results)), find(key[0]).name
                if watch is not None:
                    watch(progress)
            outcomes = {
                outcome.name: outcome
                for outcome in pool(
                    delayed(_finished)(
                        work.name,
                        work.folder,
                        [results[key] for key in sorted(results) if key[0] == work.name],
                    )
                    for work in works
                    if work.number == 0
                )
            }
    except TerminatedWorkerError:
        raise InputError(
            f"a process of the laboratory was ended from outside, perhaps for want of memory; "
            f"what is done is kept in {plan.out}: the same command goes on from there"
        ) from None
    finally:  # else they wait for more, and keep the terminal
        if processes > 1:  # of one core there are none
            get_reusable_executor(reuse=True).terminate(kill_workers=True)
    return [outcomes[name] for name in plan.names]


def _works(name: str, plan: Schedule) -> list[_Work]:
    """Make the folder of an experiment, and give its cases."""
    experiment = find(name)
    folder = plan.out / experiment.name
    make_folder(folder)
    cases = [_moved(case, plan.seed) for case in experiment.cases(plan.quick)]
    return [_Work(name, folder, number, case) for number, case in enumerate(cases)]


def _moved(case: Case, seed: int) -> Case:
    """Move the seed so far that runs with different seeds share no problem."""
    return {**case, "seed": case["seed"] + SEEDS * seed} if "seed" in case else case


def _in_turn(works: list[_Work]) -> list[_Work]:
    """Put the first case of each experiment before all others.

    Loops are compiled when they are first called: so each process compiles others than its peers,
    which later find them on the disk.
    """
    return sorted(works, key=lambda work: work.number > 0)


def _remembered(work: _Work) -> Any:
    """Give `_rows` with a memory."""
    return Memory(work.folder / MEMORY, verbose=0).cache(_rows)


def _call(work: _Work) -> tuple[str, Case, str]:
    """Give what a measurement depends on: its arguments, and the code."""
    source = inspect.getsource(inspect.getmodule(find(work.name).measure))  # type: ignore[arg-type]
    digest = hashlib.sha256(f"{rosenblatt.__version__} {source}".encode()).hexdigest()
    return work.name, work.case, digest


def _rows(name: str, case: Case, code: str) -> _Measured:
    """Measure a case; give its rows and the processor time."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a limit was reached is a measurement here
        with _heard_interrupts():
            given = find(name).measure(**case)
    rows = [{**case, **_plain(row)} for row in (given if isinstance(given, list) else [given])]
    return rows, time.process_time() - began


@contextmanager
def _heard_interrupts() -> Iterator[None]:
    """Let an interrupt end what is done inside, though learners keep what they have and go on."""
    usual, heard = signal.getsignal(signal.SIGINT), list[int]()
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def hear(number: int, frame: Any) -> Any:
        heard.append(number)
        return usual(number, frame)

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if heard:
        raise KeyboardInterrupt


def _measured(work: _Work) -> tuple[_Key, _Measured]:
    """Measure a case unless it is remembered; what it raises becomes a row, and is forgotten."""
    from rosenblatt.loops import COMPILING  # loads Numba, which whoever waits here does without

    COMPILING.told = True  # by the line of progress, which is not to be broken
    try:
        measured = _remembered(work)(*_call(work))
    except Exception as error:
        measured = [{**work.case, FAILED: f"{type(error).__name__}: {error}"}], 0.0
    return (work.name, work.number), measured


def _plain(row: Row) -> Row:
    """Give NumPy's numbers as Python's."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in row.items()}


def _finished(name: str, folder: Path, measured: list[_Measured]) -> Outcome:
    """Write an experiment's files; tell what became of it."""
    experiment = find(name)
    outcome = Outcome(name, [r for rows, _ in measured for r in rows], sum(s for _, s in measured))
    _write_rows(folder, outcome.rows)
    table = Table(row for row in outcome.rows if not row.get(FAILED))
    if not table.rows:
        return replace(outcome, seen="Every case failed; the rows say why.", drawn=False)
    try:
        outcome.above = len(experiment.above(table))
        outcome.seen, outcome.more = _told(experiment, table, folder)
    except RosenblattError:  # what cannot be written, for want of room or rights
        raise
    except Exception as error:  # too many cases failed, or the experiment is still being written
        told = f"The rows could not be drawn: {type(error).__name__}: {error}"
        return replace(outcome, seen=told, drawn=False)
    return outcome


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

    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    frame = polars.DataFrame(columns, strict=False)
    for write, file in ((frame.write_csv, "rows.csv"), (frame.write_parquet, "rows.parquet")):
        buffer = io.BytesIO()
        write(buffer)
        write_atomically(folder / file, buffer.getvalue())


def _check_names(names: Sequence[str]) -> None:
    """Refuse, before any folder is made, names of no experiment, and two of the same name."""
    found = [find(name).name for name in names]
    for name in found:
        if found.count(name) > 1:
            raise InputError(f"two experiments are called {name!r}; run them one after the other")
