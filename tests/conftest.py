"""Fixtures that several files of tests share."""

import gc
import signal
import sys
from pathlib import Path

import pytest

from experiments import run_once, tables_of
from rosenblatt.cli.main import run

# What tests share has no examples to run: looking for some would import it all a second time.
collect_ignore = [
    path.name for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_")
]


def pytest_collection_finish():
    """Hear SIGINT, and keep the tests, half a million objects, from collections of garbage.

    Shells start background jobs with SIGINT ignored, and Python then leaves it so.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.collect()
    gc.freeze()


@pytest.fixture
def shell(folder, monkeypatch, capsys):
    """Run a command in the folder; give its exit status, output and complaints."""
    monkeypatch.setattr("rosenblatt.cli.main._listen", lambda: None)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["rosenblatt", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            run()
        shown = capsys.readouterr()
        return ended.value.code or 0, shown.out, shown.err

    return call


@pytest.fixture(scope="session")
def laboratory(tmp_path_factory, request):
    """Give the folder of all experiments at quick size, run once for all workers of pytest."""
    base = tmp_path_factory.getbasetemp()
    return run_once((base.parent if hasattr(request.config, "workerinput") else base) / "lab")


@pytest.fixture(scope="session")
def tables(laboratory):
    """Give the rows of each experiment."""
    return tables_of(laboratory)
