"""The laboratory at quick size: run once, whichever tests ask for it first."""

import json
import time
from pathlib import Path

from rosenblatt.data.files import write_atomically
from rosenblatt.lab.catalogue import NAMES
from rosenblatt.lab.experiment import Table
from rosenblatt.lab.report import write_report
from rosenblatt.lab.runner import Schedule, run

SECONDS = 600
TABLES = "tables.json"


def run_once(folder: Path) -> Path:
    """Run all experiments into a folder, or wait for the process that does; give the folder."""
    told = folder / TABLES
    try:
        folder.mkdir()
    except FileExistsError:
        _wait_for(told)
    else:
        rows = {}
        try:
            plan = Schedule(NAMES, folder, quick=True)
            outcomes = run(plan)
            write_report(plan, outcomes, 1.0)
            rows = {outcome.name: outcome.rows for outcome in outcomes}
        finally:  # who waits is told of a failure, too
            write_atomically(told, json.dumps(rows).encode())
    return folder


def tables_of(folder: Path) -> dict[str, Table]:
    """Give the rows of each experiment as they were measured."""
    return {name: Table(rows) for name, rows in json.loads((folder / TABLES).read_text()).items()}


def _wait_for(path: Path) -> None:
    until = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < until, f"nobody wrote {path}"
        time.sleep(0.1)


def rows_of(found, case):
    """Measure a case; give its rows with what was varied."""
    measured = found.measure(**case)
    return [{**case, **row} for row in ([measured] if isinstance(measured, dict) else measured)]
